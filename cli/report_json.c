#include "report.h"

const char *outcome_name(rb_outcome outcome)
{
    switch (outcome) {
    case RB_SOLVED:
        return "solved";
    case RB_RAY:
        return "ray";
    default:
        return "failed";
    }
}

static void put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ",\"%s\":", key);
    rb_json_put_string(out, text);
}

static void put_number(FILE *out, const char *key, double x)
{
    fprintf(out, ",\"%s\":", key);
    rb_json_put_number(out, x);
}

static void put_int(FILE *out, const char *key, int k)
{
    fprintf(out, ",\"%s\":%d", key, k);
}

static void put_vector(FILE *out, const char *key, const double *x, int n)
{
    fprintf(out, ",\"%s\":[", key);
    for (int i = 0; i < n; i++) {
        if (i) putc(',', out);
        rb_json_put_number(out, x[i]);
    }
    putc(']', out);
}

static void put_modes(FILE *out, const unsigned char *mode, int count)
{
    static const char *const names[] = { "unknown", "open", "stick", "slide", "upper" };
    fputs(",\"modes\":[", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "",
                mode[i] <= RB_MODE_UPPER ? names[mode[i]] : "unknown");
    putc(']', out);
}

/* The certificate and how the answer was found: the same keys for all kinds. */
static void put_certificate(FILE *out, const answer *a)
{
    static const char *const unique[] = { "off", "plain", "chosen", "not" };
    const rb_info *info = &a->info;
    put_number(out, "scale", info->cert.scale);
    put_number(out, "relative", info->cert.relative);
    put_number(out, "velocity", info->cert.velocity);
    put_number(out, "min_z", info->cert.min_z);
    put_number(out, "min_w", info->cert.min_w);
    put_number(out, "gap", info->cert.gap);
    put_number(out, "rcond", info->rcond);
    put_text(out, "path", info->path);
    put_text(out, "unique", unique[info->unique <= RB_UNIQUE_NOT ? info->unique : RB_UNIQUE_NOT]);
    put_int(out, "islands", info->islands);
    put_int(out, "factorisations", info->factorisations);
    put_number(out, "time_us", a->seconds * 1e6);
    if (info->bad_row >= 0) put_int(out, "bad_row", info->bad_row);
}

void report_json(FILE *out, const answer *a)
{
    const rb_problem *p = &a->entry->problem;
    int cone = p->kind == RB_CONE;
    fputs("{\"name\":", out);
    rb_json_put_string(out, a->entry->name);
    put_text(out, "status", a->status == RB_OK ? outcome_name(a->info.outcome) : "failed");
    put_text(out, "solver", a->solver->name);
    if (a->status != RB_OK) {
        put_text(out, "error", a->error.text);
        fputs("}\n", out);
        return;
    }

    put_int(out, cone ? "nc" : "n", cone ? p->nc : p->n);
    put_vector(out, cone ? "r" : "z", a->z, p->n);
    if (cone) put_vector(out, "u", a->u, p->n);
    if (a->info.outcome == RB_RAY) put_vector(out, "ray", a->info.ray, p->n);

    /* for cones the customary measure is relative to |q| */
    put_number(out, "residual", cone ? a->info.cert.relative : a->info.cert.residual);
    put_int(out, cone ? "iterations" : "pivots", a->info.iterations);
    put_modes(out, a->info.mode, cone ? p->nc : p->n);
    put_certificate(out, a);
    fputs("}\n", out);
}
