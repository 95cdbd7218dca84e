/* `rattleback bench toss`: real tosses of a cube beside simulated ones; fits friction and
 * restitution on one part of them and judges the rest. */
#include "bench/bench.h"

#include "commands.h"
#include "model.h"
#include "toss.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64, MOST_SUBSTEPS = 10000, HALVINGS = 2 };

static const char help[] =
    "usage: rattleback bench toss [options]\n"
    "\n"
    "Simulates the tosses of ../shared/data/cube_toss from their first frames and compares every\n"
    "later frame: loss |dp|^2 / 0.0524 + angle^2 (m, rad), position in cube widths, angle.\n"
    "\n"
    "  --fit             search friction and restitution on the tosses with an even number among\n"
    "                    those present, then judge all\n"
    "  --friction MU     sliding coefficient (the model's)\n"
    "  --restitution E   (the model's)\n"
    "  --law WORD        newton, poisson or stronge (stronge)\n"
    "  --accuracy WORD   of steps: standard, strict or fast (standard)\n"
    "  --substeps N      steps a frame of 1/148 s (10)\n"
    "  --model FILE      the cube and its board (scenes/toss/cube.xml)\n"
    "  --data DIR        folder with initial.csv and tosses.csv\n"
    "  --threads K       (1); the answer does not depend on it\n"
    "  --csv FILE        every toss\n"
    "  --json            for programs\n"
    "\n"
    "Example: rattleback bench toss --friction 0.18 --restitution 0\n";

typedef enum part { PART_ALL, PART_FIT, PART_REST } part;

typedef struct options {
    const char *friction, *restitution, *law, *accuracy, *substeps, *model, *data, *threads, *csv;
    int fit, json;
} options;

typedef struct tossing {
    const rb_model *m;
    rb_tosses tosses;
    rb_step_opts step;
    int substeps, threads;
    rb_toss_error *error; /* of each toss (tosses.n) */
} tossing;

/* ---- one set of parameters ----------------------------------------------------------------------
 */

typedef struct worker {
    tossing *all;
    part part;
    int first;
    rb_status status;
    rb_error err;
} worker;

/* Every other toss of those present, by their order. */
static int belongs(part p, int k)
{
    return p == PART_ALL || (p == PART_FIT) == (k % 2 == 0);
}

static void *work(void *handle)
{
    worker *w = handle;
    tossing *t = w->all;
    rb_data *d = rb_data_new(t->m, NULL);
    w->status = d ? RB_OK : RB_NOMEM;
    for (int k = w->first; k < t->tosses.n && w->status == RB_OK; k += t->threads)
        if (belongs(w->part, k))
            w->status = rb_toss_run(t->m, &t->step, t->substeps, &t->tosses.toss[k], &d,
                                    &t->error[k], &w->err);
    rb_data_free(d);
    return NULL;
}

/* Fills error[] of the part. 0: a sentence was printed. */
static int simulate(tossing *t, part p)
{
    worker w[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    int started = 1, ok = 1;
    for (int k = 0; k < t->threads; k++) w[k] = (worker){ .all = t, .part = p, .first = k };
    while (started < t->threads && pthread_create(&thread[started], NULL, work, &w[started]) == 0)
        started++;
    work(&w[0]);
    for (int k = 1; k < started; k++) pthread_join(thread[k], NULL);
    for (int k = started; k < t->threads; k++) work(&w[k]);
    for (int k = 0; k < t->threads && ok; k++) {
        if (w[k].status == RB_OK) continue;
        fprintf(stderr, "rattleback bench toss: %s: %s\n", rb_status_text(w[k].status),
                w[k].err.text);
        ok = 0;
    }
    return ok;
}

static rb_toss_error mean(const tossing *t, part p, int *count)
{
    rb_toss_error sum = { 0 };
    *count = 0;
    for (int k = 0; k < t->tosses.n; k++) {
        if (!belongs(p, k)) continue;
        sum.loss += t->error[k].loss;
        sum.position += t->error[k].position;
        sum.angle += t->error[k].angle;
        ++*count;
    }
    double n = fmax(1.0, *count);
    return (rb_toss_error){ sum.loss / n, sum.position / n, sum.angle / n };
}

/* ---- the fit ------------------------------------------------------------------------------------
 */

static double loss_at(tossing *t, const double x[2], int *ok)
{
    int count;
    t->step.friction = x[0];
    t->step.restitution = x[1];
    *ok = *ok && simulate(t, PART_FIT);
    return *ok ? mean(t, PART_FIT, &count).loss : INFINITY;
}

/* The best place of a coarse grid: far from it the loss has valleys of its own. */
static double survey(tossing *t, double x[2], int *ok)
{
    static const double friction[] = { 0.12, 0.16, 0.2, 0.24 };
    static const double restitution[] = { 0.0, 0.15, 0.3, 0.45 };
    double best = loss_at(t, x, ok);
    for (int k = 0; k < 16 && *ok; k++) {
        double y[2] = { friction[k % 4], restitution[k / 4] };
        double loss = loss_at(t, y, ok);
        if (loss >= best) continue;
        best = loss;
        x[0] = y[0];
        x[1] = y[1];
    }
    return best;
}

/* Pattern search: tosses are chaotic, the loss has no slope worth following, so neighbours on a
 * grid are tried and the grid is halved where none is better. */
static int fit(tossing *t, double x[2])
{
    static const double lo[2] = { 0.0, 0.0 }, hi[2] = { 2.0, 1.0 };
    double step[2] = { 0.02, 0.08 };
    int ok = 1, halvings = 0;
    double best = survey(t, x, &ok);
    while (ok && halvings <= HALVINGS) {
        int better = 0;
        for (int k = 0; k < 4 && ok; k++) {
            double y[2] = { x[0], x[1] };
            y[k / 2] =
                fmin(hi[k / 2], fmax(lo[k / 2], y[k / 2] + (k % 2 ? -1.0 : 1.0) * step[k / 2]));
            if (y[k / 2] == x[k / 2]) continue;
            double loss = loss_at(t, y, &ok);
            if (loss >= best) continue;
            best = loss;
            x[0] = y[0];
            x[1] = y[1];
            better = 1;
        }
        fprintf(stderr, "friction %.4f  restitution %.4f  loss %.5f\n", x[0], x[1], best);
        if (better) continue;
        halvings++;
        step[0] *= 0.5;
        step[1] *= 0.5;
    }
    return ok;
}

/* ---- report -------------------------------------------------------------------------------------
 */

static void print_part(const tossing *t, part p, const char *name, int json)
{
    int n;
    rb_toss_error e = mean(t, p, &n);
    double degrees = 57.29577951308232 * e.angle;
    if (json)
        printf("{\"part\":\"%s\",\"tosses\":%d,\"friction\":%.6g,\"restitution\":%.6g,"
               "\"loss\":%.6g,\"position\":%.6g,\"angle\":%.6g}\n",
               name, n, t->step.friction, t->step.restitution, e.loss, e.position, degrees);
    else
        printf("%-8s %6d %10.5f %12.2f %12.2f\n", name, n, e.loss, 100.0 * e.position, degrees);
}

static void print(const tossing *t, int json)
{
    if (!json) {
        printf("friction %.4f, restitution %.4f (%s), %d steps a frame\n", t->step.friction,
               t->step.restitution,
               t->step.law == RB_NEWTON    ? "newton"
               : t->step.law == RB_POISSON ? "poisson"
                                           : "stronge",
               t->substeps);
        printf("%-8s %6s %10s %12s %12s\n", "part", "tosses", "loss", "position [%]",
               "angle [deg]");
    }
    print_part(t, PART_FIT, "fitted", json);
    print_part(t, PART_REST, "rest", json);
    print_part(t, PART_ALL, "all", json);
}

static int write_csv(const tossing *t, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "rattleback bench toss: %s cannot be written\n", path);
        return 0;
    }
    fputs("toss,loss,position,angle\n", out);
    for (int k = 0; k < t->tosses.n; k++)
        fprintf(out, "%d,%.9g,%.9g,%.9g\n", t->tosses.toss[k].id, t->error[k].loss,
                t->error[k].position, t->error[k].angle);
    return fclose(out) == 0;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int coefficient(const char *name, const char *text, double otherwise, double *out)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : otherwise;
    if (!text || (end != text && *end == '\0' && *out >= 0.0 && *out < 1e3)) return 1;
    fprintf(stderr, "rattleback bench toss: %s \"%s\" is not a coefficient\n", name, text);
    return 0;
}

static int read_numbers(const options *o, tossing *t)
{
    static const char *const laws[] = { "newton", "poisson", "stronge" };
    static const rb_restitution_law codes[] = { RB_NEWTON, RB_POISSON, RB_STRONGE };
    unsigned long long substeps = 10, threads = 1;
    if (o->substeps && !bench_number("--substeps", o->substeps, 1, MOST_SUBSTEPS, &substeps))
        return 0;
    if (o->threads && !bench_number("--threads", o->threads, 1, MOST_THREADS, &threads)) return 0;
    t->substeps = (int)substeps;
    t->threads = (int)threads;
    t->step = rb_step_opts_default();
    if (!bench_accuracy(o->accuracy, &t->step.accuracy)) return 0;
    const rb_material *own = &t->m->geom_material[t->m->ngeom - 1];
    double e = isnan(own->restitution) ? 0.0 : own->restitution;
    if (!coefficient("--friction", o->friction, own->friction, &t->step.friction) ||
        !coefficient("--restitution", o->restitution, e, &t->step.restitution))
        return 0;
    for (int k = 0; o->law; k++) {
        if (k == 3) {
            fputs("rattleback bench toss: --law is newton, poisson or stronge\n", stderr);
            return 0;
        }
        if (strcmp(o->law, laws[k]) != 0) continue;
        t->step.law = codes[k];
        break;
    }
    return 1;
}

static int find_data(const options *o, char *path, size_t size)
{
    if (o->data) {
        snprintf(path, size, "%s", o->data);
        return 1;
    }
    if (!bench_find_shared("cube_toss/initial.csv", path, size)) {
        fputs("rattleback bench toss: there is no ../shared/data/cube_toss; --data names it\n",
              stderr);
        return 0;
    }
    *strrchr(path, '/') = '\0';
    return 1;
}

static int run(const options *o, tossing *t)
{
    char folder[4096];
    rb_error err = { 0 };
    if (t->m->nq != 7 || t->m->njnt != 1 || t->m->jnt_type[0] != RB_JOINT_FREE) {
        fputs("rattleback bench toss: the model must be one free body\n", stderr);
        return EXIT_BAD_INPUT;
    }
    if (!read_numbers(o, t) || !find_data(o, folder, sizeof folder)) return EXIT_BAD_INPUT;
    if (!rb_tosses_read(folder, &t->tosses, &err)) {
        model_say(&err);
        return EXIT_BAD_INPUT;
    }
    t->error = calloc((size_t)t->tosses.n + 1, sizeof *t->error);
    if (!t->error) return EXIT_BAD_INPUT;
    double x[2] = { t->step.friction, t->step.restitution };
    if (o->fit && !fit(t, x)) return EXIT_UNCERTIFIED;
    t->step.friction = x[0];
    t->step.restitution = x[1];
    if (!simulate(t, PART_ALL)) return EXIT_UNCERTIFIED;
    print(t, o->json);
    return !o->csv || write_csv(t, o->csv) ? EXIT_CERTIFIED : EXIT_BAD_INPUT;
}

int bench_toss(int argc, char **argv)
{
    options o = { .model = "scenes/toss/cube.xml" };
    int status = EXIT_BAD_INPUT;
    const bench_option table[] = {
        { "--friction", &o.friction, NULL }, { "--restitution", &o.restitution, NULL },
        { "--law", &o.law, NULL },           { "--accuracy", &o.accuracy, NULL },
        { "--substeps", &o.substeps, NULL }, { "--model", &o.model, NULL },
        { "--data", &o.data, NULL },         { "--threads", &o.threads, NULL },
        { "--csv", &o.csv, NULL },           { "--fit", NULL, &o.fit },
        { "--json", NULL, &o.json },         { NULL, NULL, NULL },
    };
    if (!bench_parse(argc, argv, table, help, &status)) return status;
    model_options mo = model_options_default("bench toss");
    rb_model *m = model_load(&mo, o.model);
    if (!m) return EXIT_BAD_INPUT;
    tossing t = { .m = m };
    status = run(&o, &t);
    rb_tosses_free(&t.tosses);
    free(t.error);
    rb_model_free(m, NULL);
    return status;
}
