/* Steps a model and tells what each cost, or keeps its large cone problems as a corpus.
 *
 *     towers MODEL [--time T] [--from T] [--limit SECONDS] [--accuracy NAME] [--tol X] [--trace]
 *            [--budget UNITS] [--in-turn N] [--keep DIR LEAST EVERY]
 * --in-turn N: shares of N threads, one after the other on one; `critical` is the time of a step
 * without all but the longest share of each round, which is what N idle cores would take if they
 * had no pauses.
 *
 *     towers --solve TOL FILE..       solves kept problems, one line each
 *
 * Prints one line of JSON: processor time of a step in the mean and at most [us], contacts, worst
 * residual, overlap, repairs, parts, problems. --trace: a line for each step on standard error. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "rattleback/load.h"
#include "rattleback/rattleback.h"
#include "towers.h"

typedef struct options {
    const char *model, *keep;
    double time, from, limit, tol, budget;
    rb_accuracy accuracy;
    int trace, least, every, seen, in_turn;
} options;

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Most of it that was held [kB]. */
static long memory(void)
{
    struct rusage used;
    return getrusage(RUSAGE_SELF, &used) == 0 ? used.ru_maxrss : 0;
}

static int keep_problem(void *ctx, const char *name, const rb_problem *p)
{
    options *o = ctx;
    char path[1024];
    if (p->kind != RB_CONE || p->nc < o->least || !p->W.op) return 0;
    if (o->seen++ % o->every != 0) return 0;
    snprintf(path, sizeof path, "%s/%s.island", o->keep, name);
    return towers_write(path, p);
}

static int usage(const char *text)
{
    fprintf(stderr,
            "towers: %s\nusage: towers MODEL [--time T] [--from T] [--limit SECONDS] [--accuracy "
            "NAME]\n"
            "              [--tol X] [--budget UNITS] [--in-turn N] [--trace] "
            "[--keep DIR LEAST EVERY]\n"
            "       towers --solve TOL "
            "FILE..\n",
            text);
    return 2;
}

static int read_options(int argc, char **argv, options *o)
{
    *o = (options){ .time = NAN, .limit = INFINITY, .tol = NAN, .every = 1 };
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int left = argc - i - 1;
        if (strcmp(word, "--time") == 0 && left > 0)
            o->time = atof(argv[++i]);
        else if (strcmp(word, "--from") == 0 && left > 0)
            o->from = atof(argv[++i]);
        else if (strcmp(word, "--limit") == 0 && left > 0)
            o->limit = atof(argv[++i]);
        else if (strcmp(word, "--tol") == 0 && left > 0)
            o->tol = atof(argv[++i]);
        else if (strcmp(word, "--budget") == 0 && left > 0)
            o->budget = atof(argv[++i]);
        else if (strcmp(word, "--in-turn") == 0 && left > 0)
            o->in_turn = atoi(argv[++i]);
        else if (strcmp(word, "--accuracy") == 0 && left > 0) {
            if (!rb_accuracy_find(argv[++i], &o->accuracy)) return 0;
        } else if (strcmp(word, "--trace") == 0)
            o->trace = 1;
        else if (strcmp(word, "--keep") == 0 && left > 2) {
            o->keep = argv[++i];
            o->least = atoi(argv[++i]);
            o->every = atoi(argv[++i]) > 0 ? atoi(argv[i]) : 1;
        } else if (word[0] != '-' && !o->model)
            o->model = word;
        else
            return 0;
    }
    return o->model != NULL;
}

typedef struct totals {
    int steps, parts, repairs, solves, splits, below, contacts;
    double spent, slowest, passed, residual, penetration;
} totals;

static void add(totals *t, const rb_step_info *info, double spent)
{
    t->steps++;
    t->parts += info->parts;
    t->repairs += info->repairs;
    t->solves += info->solves;
    t->splits += info->splits;
    t->below += info->below_accuracy > 0;
    t->contacts = info->contacts > t->contacts ? info->contacts : t->contacts;
    t->spent += spent;
    t->slowest = fmax(t->slowest, spent);
    t->residual = fmax(t->residual, info->residual);
    t->penetration = fmax(t->penetration, info->penetration);
}

static void trace(const rb_data *d, const rb_step_info *info, double spent)
{
    fprintf(
        stderr,
        "t %.4f %9.0f us contacts %d islands %d solves %d repairs %d parts %d splits %d rows %d "
        "residual %.1e overlap %.1e below %d path %s\n",
        d->time, 1e6 * spent, info->contacts, info->islands, info->solves, info->repairs,
        info->parts, info->splits, info->rows_max, info->residual, info->penetration,
        info->below_accuracy, info->path);
}

static rb_status advance(const rb_model *m, rb_data **d, const rb_step_opts *o, rb_step_info *info,
                         rb_error *err)
{
    rb_status status = rb_step(m, *d, o, info, err);
    while (status == RB_FULL) {
        if (rb_data_reserve(m, d, 2 * info->contacts + 16) != RB_OK) return RB_NOMEM;
        status = rb_step(m, *d, o, info, err);
    }
    return status;
}

/* Members that work in turn. What a round saves is known by the clock on the wall, where nobody
 * interrupted it; what rounds take in all by that of the processor, which takes long to read. */
enum { MOST_MEMBERS = 64 };
typedef struct turns {
    rb_parallel parallel;
    rb_arena *arena[MOST_MEMBERS];
    double look;          /* what reading the clock of the processor takes                  [s] */
    double shared;        /* processor time of all rounds                                   [s] */
    double passed, saved; /* of rounds that nobody interrupted: all shares, all but longest [s] */
    double looks;         /* how often                                                          */
} turns;

/* A share that takes longer was interrupted [s]. */
#define INTERRUPTED 2.5e-3

static void run_in_turn(void *ctx, void (*task)(void *work, int k), void *work)
{
    turns *t = ctx;
    double most = 0.0, all = 0.0, before = seconds();
    for (int k = 0; k < t->parallel.workers; k++) {
        double start = seconds_of(CLOCK_MONOTONIC);
        task(work, k);
        double spent = seconds_of(CLOCK_MONOTONIC) - start;
        most = fmax(most, spent);
        all += spent;
    }
    t->shared += fmax(seconds() - before - t->look, 0.0);
    t->looks += 2.0;
    if (most >= INTERRUPTED) return;
    t->passed += all;
    t->saved += all - most;
}

/* Time of a step on as many cores as there are members [s], from what it took on one. */
static double critical(const turns *t, double spent)
{
    double saved = t->passed > 0.0 ? t->saved / t->passed : 0.0;
    return spent - t->looks * t->look - saved * t->shared;
}

static int make_turns(turns *t, int n)
{
    *t = (turns){ .parallel = { n < MOST_MEMBERS ? n : MOST_MEMBERS, run_in_turn, t, t->arena } };
    for (int k = 0; k < t->parallel.workers; k++) {
        if (!(t->arena[k] = rb_arena_new(NULL, 0))) return 0;
    }
    double start = seconds();
    for (int i = 0; i < 10000; i++) (void)seconds();
    t->look = 1e-4 * (seconds() - start);
    return 1;
}

static void free_turns(turns *t)
{
    for (int k = 0; k < t->parallel.workers; k++) rb_arena_free(t->arena[k]);
}

/* To compare ends by. */
static double sum_of(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i];
    return sum;
}

static double end_time(const rb_model *m, const options *o)
{
    if (!isnan(o->time)) return o->time;
    int k = rb_model_find(m, RB_KIND_CUSTOM, "rb.time");
    return k >= 0 && m->custom_num[k] > 0 ? m->custom_data[m->custom_adr[k]] : 1.0;
}

static int run(const rb_model *m, options *o)
{
    rb_data *d = rb_data_new(m, NULL);
    if (!d) return 1;
    if (m->nkey > 0) rb_data_reset_key(m, d, 0);
    rb_step_opts opts = rb_step_opts_default();
    if (!isnan(o->tol)) opts.tol = o->tol;
    opts.budget = o->budget;
    opts.accuracy = o->accuracy;
    turns in_turn = { 0 };
    if (o->in_turn > 1 && make_turns(&in_turn, o->in_turn)) opts.parallel = &in_turn.parallel;
    if (o->keep) opts.sink = (rb_problem_sink){ keep_problem, o };
    totals t = { 0 };
    rb_error err = { 0 };
    rb_status status = RB_OK;
    double T = end_time(m, o);
    while (d->time < T - 1e-9 && t.spent < o->limit && status == RB_OK) {
        rb_step_info info = { 0 };
        double start = seconds(), now = seconds_of(CLOCK_MONOTONIC);
        status = advance(m, &d, &opts, &info, &err);
        double spent = seconds() - start;
        t.passed += seconds_of(CLOCK_MONOTONIC) - now;
        if (status == RB_OK && d->time > o->from) add(&t, &info, spent);
        if (d->time <= o->from) o->limit -= spent;
        if (o->trace) trace(d, &info, spent);
    }
    double n = t.steps > 0 ? t.steps : 1;
    printf("{\"steps\":%d,\"time\":%g,\"done\":%d,\"us\":%.1f,\"slowest\":%.1f,\"contacts\":%d,"
           "\"residual\":%.2e,\"penetration\":%.2e,\"repairs\":%.3f,\"parts\":%.3f,\"solves\":%.3f,"
           "\"below\":%d,\"kb\":%ld,\"passed\":%.3f,\"critical\":%.1f,\"shared\":%.1f,"
           "\"ends\":%.17g,\"error\":\"%"
           "s\"}\n",
           t.steps, d->time, d->time >= T - 1e-9, 1e6 * t.spent / n, 1e6 * t.slowest, t.contacts,
           t.residual, t.penetration, t.repairs / n, t.parts / n, t.solves / n, t.below, memory(),
           t.passed, 1e6 * critical(&in_turn, t.spent) / n, 1e6 * in_turn.shared / n,
           sum_of(d->q, m->nq), status == RB_OK ? "" : rb_status_text(status));
    if (status != RB_OK) fprintf(stderr, "towers: t = %g: %s\n", d->time, err.text);
    free_turns(&in_turn);
    rb_data_free(d);
    return status != RB_OK;
}

static int solve_kept(double tol, int n, char **path)
{
    int failed = 0;
    for (int i = 0; i < n; i++) {
        towers_island x;
        if (towers_read(path[i], &x) != 0) {
            fprintf(stderr, "towers: %s: cannot be read\n", path[i]);
            return 2;
        }
        rb_solve_opts opts = rb_solve_opts_default();
        rb_info info = { .mode = calloc((size_t)x.problem.nc, 1) };
        double *r = calloc((size_t)x.problem.n, sizeof *r);
        opts.tol = tol;
        opts.unique = 0;
        opts.loose = 1.0; /* the ladder takes what is left otherwise */
        double start = seconds();
        rb_status status = rb_solve(&x.problem, &opts, r, &info);
        double spent = seconds() - start;
        failed += status != RB_OK || info.outcome != RB_SOLVED;
        printf(
            "%s contacts %d bodies %d residual %.2e factorisations %d iterations %d ms %.2f %s\n",
            path[i], x.problem.nc, x.op.nblock, info.cert.relative, info.factorisations,
            info.iterations, 1e3 * spent, info.path);
        fflush(stdout);
        free(r);
        free(info.mode);
        towers_free(&x);
    }
    return failed > 0;
}

int main(int argc, char **argv)
{
    options o;
    rb_error err = { 0 };
    if (argc > 3 && strcmp(argv[1], "--solve") == 0)
        return solve_kept(atof(argv[2]), argc - 3, argv + 3);
    if (!read_options(argc, argv, &o)) return usage("what is to be stepped?");
    rb_spec *spec = rb_spec_read(o.model, NULL, NULL, &err);
    if (spec && rb_spec_hulls(spec, &err) != RB_OK) {
        rb_spec_free(spec);
        spec = NULL;
    }
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_spec_free(spec);
    if (!m) {
        fprintf(stderr, "towers: %s:%d: %s\n", o.model, err.line, err.text);
        return 2;
    }
    int status = run(m, &o);
    rb_model_free(m, NULL);
    return status;
}
