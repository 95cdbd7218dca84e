/* `rattleback bench square`: measured impacts of a square, beside a simulation and beside the plain
 * model of one point; friction and restitution of each are fitted on one part and judged on the
 * rest. */
#include "bench/bench.h"

#include "commands.h"
#include "model.h"
#include "square.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SUBSTEPS = 1000, HALVINGS = 5 };

static const char help[] =
    "usage: rattleback bench square [options]\n"
    "\n"
    "Takes the first impact of every drop of ../shared/data/planar_square_drop from two frames\n"
    "before it to two frames after it and compares the velocity with two models: a simulation,\n"
    "in which both corners may touch one after the other, and one jump at the lowest corner\n"
    "(Newton, Coulomb). Each has one friction and one restitution for all impacts, fitted on "
    "every\n"
    "other one and judged on the rest.\n"
    "\n"
    "  --steep           only impacts on a corner, with 20 degrees or more to the nearest side\n"
    "  --friction MU     do not fit: sliding coefficient (with --restitution)\n"
    "  --restitution E   do not fit\n"
    "  --stepper WORD    fixed, located, impulse or hybrid (located)\n"
    "  --law WORD        newton, poisson or stronge (stronge)\n"
    "  --substeps N      steps a frame of 4 ms (10)\n"
    "  --model FILE      the square and its ground (scenes/toss/square.xml)\n"
    "  --data FILE       drops.csv\n"
    "  --csv FILE        every impact\n"
    "  --json            for programs\n"
    "\n"
    "Example: rattleback bench square --friction 0.2 --restitution 0.5\n";

typedef struct options {
    const char *friction, *restitution, *stepper, *law, *substeps, *model, *data, *csv;
    int steep, json;
} options;

typedef struct squaring {
    const rb_model *m;
    rb_data *d;
    rb_squares data;
    rb_step_opts step;
    int substeps;
    int point; /* 1: the model of one point */
    rb_status status;
    rb_error err;
    double (*v)[3]; /* what the model says          (n)  */
    double *sorted; /* scratch                      (n)  */
} squaring;

typedef enum part { PART_FIT, PART_REST, PART_ALL } part;

static int belongs(part p, int k)
{
    return p == PART_ALL || (p == PART_FIT) == (k % 2 == 0);
}

/* ---- the models ---------------------------------------------------------------------------------
 */

static int apply(squaring *s, part p, double mu, double e)
{
    s->step.friction = mu;
    s->step.restitution = e;
    for (int k = 0; k < s->data.n && s->status == RB_OK; k++) {
        const rb_square_impact *i = &s->data.impact[k];
        if (!belongs(p, k)) continue;
        if (s->point)
            rb_square_point(i, mu, e, s->v[k]);
        else
            s->status = rb_square_simulate(s->m, &s->step, s->substeps, i, &s->d, s->v[k], &s->err);
    }
    return s->status == RB_OK;
}

typedef struct errors {
    int n;
    double mean, median; /* |v - measured| [m/s]                                            */
    double share;        /* mean of |v - measured| / |change of the velocity|               */
    double part[3];      /* root mean square of vx, vz, gyration * vtheta [m/s]             */
} errors;

static errors measure(squaring *s, part p)
{
    errors e = { 0 };
    for (int k = 0; k < s->data.n; k++) {
        const rb_square_impact *i = &s->data.impact[k];
        if (!belongs(p, k)) continue;
        double off = rb_square_distance(s->v[k], i->after.v);
        s->sorted[e.n++] = off;
        e.mean += off;
        e.share += off / fmax(1e-3, rb_square_distance(i->after.v, i->before.v));
        for (int a = 0; a < 3; a++) {
            double d = (a == 2 ? RB_SQUARE_GYRATION : 1.0) * (s->v[k][a] - i->after.v[a]);
            e.part[a] += d * d;
        }
    }
    double n = fmax(1.0, e.n);
    e.mean /= n;
    e.share /= n;
    for (int a = 0; a < 3; a++) e.part[a] = sqrt(e.part[a] / n);
    e.median = bench_median(s->sorted, (size_t)e.n);
    return e;
}

/* Mean error on the part to fit; INFINITY after a failed step. */
static double loss(squaring *s, const double x[2])
{
    return apply(s, PART_FIT, x[0], x[1]) ? measure(s, PART_FIT).mean : INFINITY;
}

/* A coarse grid, then neighbours on finer ones: impacts change modes, the loss has kinks. */
static int fit(squaring *s, double x[2])
{
    static const double lo[2] = { 0.0, 0.0 }, hi[2] = { 2.0, 1.0 };
    double best = INFINITY, step[2] = { 0.05, 0.05 };
    for (int k = 0; k < 36; k++) {
        double y[2] = { 0.02 + 0.1 * (k % 6), 0.2 + 0.12 * (k / 6) }, l = loss(s, y);
        if (l >= best) continue;
        best = l;
        memcpy(x, y, sizeof y);
    }
    for (int halvings = 0; halvings <= HALVINGS && s->status == RB_OK;) {
        int better = 0;
        for (int k = 0; k < 4; k++) {
            double y[2] = { x[0], x[1] };
            int a = k / 2;
            y[a] = fmin(hi[a], fmax(lo[a], y[a] + (k % 2 ? -step[a] : step[a])));
            double l = loss(s, y);
            if (l >= best) continue;
            best = l;
            memcpy(x, y, sizeof y);
            better = 1;
        }
        if (better) continue;
        halvings++;
        step[0] *= 0.5;
        step[1] *= 0.5;
    }
    return s->status == RB_OK;
}

/* ---- report -------------------------------------------------------------------------------------
 */

static void print_part(squaring *s, part p, const double x[2], int json)
{
    static const char *const parts[] = { "fitted", "rest", "all" };
    const char *name = s->point ? "one point" : "simulated";
    errors e = measure(s, p);
    if (json)
        printf("{\"model\":\"%s\",\"part\":\"%s\",\"impacts\":%d,\"friction\":%.6g,"
               "\"restitution\":%.6g,\"mean\":%.6g,\"median\":%.6g,\"share\":%.6g,\"vx\":%.6g,"
               "\"vz\":%.6g,\"turn\":%.6g}\n",
               name, parts[p], e.n, x[0], x[1], e.mean, e.median, e.share, e.part[0], e.part[1],
               e.part[2]);
    else
        printf("%-10s %-7s %5d %8.3f %6.3f %9.3f %9.3f %9.1f %7.3f %7.3f %7.3f\n", name, parts[p],
               e.n, x[0], x[1], e.mean, e.median, 100.0 * e.share, e.part[0], e.part[1], e.part[2]);
}

static int write_csv(const squaring *s, FILE *out)
{
    for (int k = 0; k < s->data.n; k++) {
        const rb_square_impact *i = &s->data.impact[k];
        fprintf(out, "%s,%d,%d", s->point ? "point" : "simulated", i->drop, i->frames);
        for (int a = 0; a < 3; a++) fprintf(out, ",%.9g", i->before.v[a]);
        for (int a = 0; a < 3; a++) fprintf(out, ",%.9g", i->after.v[a]);
        for (int a = 0; a < 3; a++) fprintf(out, ",%.9g", s->v[k][a]);
        fputc('\n', out);
    }
    return !ferror(out);
}

/* Both models, one after the other. */
static int judge(squaring *s, const options *o, const double given[2], FILE *csv)
{
    if (!o->json)
        printf("%d first impacts of %d drops; errors in m/s\n%-10s %-7s %5s %8s %6s %9s %9s %9s "
               "%7s %7s %7s\n",
               s->data.n, s->data.drops, "model", "part", "n", "friction", "e", "mean", "median",
               "share [%]", "vx", "vz", "turn");
    for (s->point = 0; s->point <= 1; s->point++) {
        double x[2] = { given[0], given[1] };
        if (isnan(x[0]) && !fit(s, x)) return 0;
        if (!apply(s, PART_ALL, x[0], x[1])) return 0;
        for (int p = PART_FIT; p <= PART_ALL; p++) print_part(s, (part)p, x, o->json);
        if (csv && !write_csv(s, csv)) return 0;
    }
    return 1;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int word(const char *option, const char *text, const char *const *words, int n)
{
    for (int k = 0; k < n; k++)
        if (strcmp(text, words[k]) == 0) return k;
    fprintf(stderr, "rattleback bench square: %s %s: expected", option, text);
    for (int k = 0; k < n; k++) fprintf(stderr, "%s %s", k ? "," : "", words[k]);
    fputc('\n', stderr);
    return -1;
}

static int coefficient(const char *name, const char *text, double hi, double *out)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : NAN;
    if (!text || (end != text && *end == '\0' && *out >= 0.0 && *out <= hi)) return 1;
    fprintf(stderr, "rattleback bench square: %s \"%s\": expected a number from 0 to %g\n", name,
            text, hi);
    return 0;
}

static int read_options(const options *o, squaring *s, double given[2])
{
    static const char *const laws[] = { "newton", "poisson", "stronge" };
    static const rb_restitution_law codes[] = { RB_NEWTON, RB_POISSON, RB_STRONGE };
    static const char *const steppers[] = { "fixed", "located", "impulse", "hybrid" };
    static const rb_stepper kinds[] = { RB_STEPPER_FIXED, RB_STEPPER_LOCATED, RB_STEPPER_IMPULSE,
                                        RB_STEPPER_HYBRID };
    unsigned long long substeps = 10;
    if (o->substeps && !bench_number("--substeps", o->substeps, 1, MOST_SUBSTEPS, &substeps))
        return 0;
    int law = word("--law", o->law, laws, 3);
    int stepper = word("--stepper", o->stepper, steppers, (int)(sizeof kinds / sizeof *kinds));
    if (law < 0 || stepper < 0) return 0;
    if (!coefficient("--friction", o->friction, 1e3, &given[0]) ||
        !coefficient("--restitution", o->restitution, 1.0, &given[1]))
        return 0;
    if (!o->friction != !o->restitution) {
        fputs("rattleback bench square: --friction and --restitution: expected both or none\n",
              stderr);
        return 0;
    }
    s->substeps = (int)substeps;
    s->step = rb_step_opts_default();
    s->step.law = codes[law];
    s->step.stepper = kinds[stepper];
    return 1;
}

/* Impacts in which the second corner comes late or never. */
static void keep_steep(rb_squares *all)
{
    const double least = 20.0 / 57.29577951308232;
    int n = 0;
    for (int k = 0; k < all->n; k++)
        if (rb_square_tilt(&all->impact[k]) >= least) all->impact[n++] = all->impact[k];
    all->n = n;
}

static int run(const options *o, squaring *s)
{
    char path[4096];
    double given[2];
    rb_error err = { 0 };
    if (s->m->nq != 7 || s->m->njnt != 1 || s->m->jnt_type[0] != RB_JOINT_FREE) {
        fputs("rattleback bench square: the model must be one free body\n", stderr);
        return EXIT_BAD_INPUT;
    }
    if (!read_options(o, s, given)) return EXIT_BAD_INPUT;
    if (!o->data && !bench_find_shared("planar_square_drop/drops.csv", path, sizeof path)) {
        fputs("rattleback bench square: there is no ../shared/data/planar_square_drop; --data "
              "names drops.csv\n",
              stderr);
        return EXIT_BAD_INPUT;
    }
    if (!rb_squares_read(o->data ? o->data : path, &s->data, &err)) {
        model_say(&err);
        return EXIT_BAD_INPUT;
    }
    if (o->steep) keep_steep(&s->data);
    s->v = calloc((size_t)s->data.n + 1, sizeof *s->v);
    s->sorted = calloc((size_t)s->data.n + 1, sizeof *s->sorted);
    s->d = rb_data_new(s->m, NULL);
    FILE *csv = o->csv ? fopen(o->csv, "w") : NULL;
    if (!s->v || !s->sorted || !s->d || (o->csv && !csv)) {
        fprintf(stderr, "rattleback bench square: %s\n",
                o->csv && !csv ? "the CSV file cannot be written" : "out of memory");
        if (csv) fclose(csv);
        return EXIT_BAD_INPUT;
    }
    if (csv)
        fputs("model,drop,frames,vx0,vz0,vtheta0,vx,vz,vtheta,model_vx,model_vz,model_vtheta\n",
              csv);
    int ok = judge(s, o, given, csv);
    if (csv && fclose(csv) != 0) ok = 0;
    if (s->status != RB_OK)
        fprintf(stderr, "rattleback bench square: %s: %s\n", rb_status_text(s->status),
                s->err.text);
    return ok ? EXIT_CERTIFIED : EXIT_UNCERTIFIED;
}

int bench_square(int argc, char **argv)
{
    options o = { .model = "scenes/toss/square.xml", .stepper = "located", .law = "stronge" };
    int status = EXIT_BAD_INPUT;
    const bench_option table[] = {
        { "--friction", &o.friction, NULL },
        { "--restitution", &o.restitution, NULL },
        { "--stepper", &o.stepper, NULL },
        { "--law", &o.law, NULL },
        { "--substeps", &o.substeps, NULL },
        { "--model", &o.model, NULL },
        { "--data", &o.data, NULL },
        { "--csv", &o.csv, NULL },
        { "--steep", NULL, &o.steep },
        { "--json", NULL, &o.json },
        { NULL, NULL, NULL },
    };
    if (!bench_parse(argc, argv, table, help, &status)) return status;
    model_options mo = model_options_default("bench square");
    rb_model *m = model_load(&mo, o.model);
    if (!m) return EXIT_BAD_INPUT;
    squaring s = { .m = m };
    status = run(&o, &s);
    rb_squares_free(&s.data);
    rb_data_free(s.d);
    free(s.v);
    free(s.sorted);
    rb_model_free(m, NULL);
    return status;
}
