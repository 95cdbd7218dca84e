/* Runs a campaign: batches of seeds, each batch split over the threads by remainder. */
#include "corpus_campaign.h"

#include "corpus_grade.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH         512  /* seeds between two reports of progress                             */
#define AGREE         1e-8 /* of the problem's speed: when two velocities are called equal     */
#define GRADE_SLACK   1e-6 /* relative: two correct summations differ by rounding              */
#define MAX_THREADS   64
#define BINS_PER_BIT  16
#define FIRST_BIN_BIT (-4) /* 2^-4 us: shorter times are counted there                         */

campaign_opts campaign_opts_default(void)
{
    return (campaign_opts){ .count = 1000,
                            .corpus = rb_corpus_opts_default(),
                            .solver = rb_solver_find("auto"),
                            .tol_lcp = 1e-9,
                            .tol_cone = 1e-8,
                            .perturb = 0.01,
                            .sample = 16,
                            .unique_every = 1,
                            .threads = 1 };
}

const char *campaign_finding_name(campaign_finding what)
{
    static const char *const names[] = { "wrong", "uncertified", "differs" };
    return names[what];
}

/* One solve with the arrays it needs. */
typedef struct attempt {
    double *z;
    unsigned char *mode;
    double *velocity; /* 3 nc */
    rb_info info;
    double grade, microseconds;
} attempt;

typedef struct worker {
    const campaign_opts *o;
    uint64_t first, count; /* of the batch */
    int index;
    campaign_result *own;
    pthread_mutex_t *lock; /* around o->found */
    rb_arena *arena;
    rb_status status;
} worker;

static rb_status attempt_make(attempt *a, const rb_corpus_problem *p)
{
    memset(a, 0, sizeof *a);
    a->z = calloc((size_t)p->problem.n, sizeof *a->z);
    a->mode = calloc((size_t)p->problem.n, sizeof *a->mode);
    a->velocity = calloc((size_t)(3 * p->nc), sizeof *a->velocity);
    a->info.mode = a->mode;
    return a->z && a->mode && a->velocity ? RB_OK : RB_NOMEM;
}

static void attempt_free(attempt *a)
{
    free(a->z);
    free(a->mode);
    free(a->velocity);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

/* Solves from what is in the attempt (warm) or from zero, grades, and computes the velocities. */
static rb_status attempt_run(const worker *w, const rb_solver *solver, const rb_corpus_problem *p,
                             int warm, attempt *a)
{
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = solver;
    opts.tol = p->problem.kind == RB_CONE ? w->o->tol_cone : w->o->tol_lcp;
    opts.warm = warm;
    opts.unique = p->seed % (uint64_t)w->o->unique_every == 0;
    opts.arena = w->arena;
    double start = now_us();
    rb_status status = rb_solve(&p->problem, &opts, a->z, &a->info);
    a->microseconds = now_us() - start;
    if (status != RB_OK) return status;
    a->grade = rb_grade(&p->problem, a->z);
    if (a->grade < 0.0) return RB_NOMEM;
    return rb_corpus_velocities(p, a->z, a->velocity);
}

static void report(const worker *w, const rb_corpus_problem *p, campaign_finding what,
                   double number)
{
    if (!w->o->found) return;
    pthread_mutex_lock(w->lock);
    w->o->found(w->o->ctx, p, what, number);
    pthread_mutex_unlock(w->lock);
}

static int time_bin(double microseconds)
{
    int bit = 0;
    double mantissa = 2.0 * frexp(microseconds, &bit) - 1.0; /* 0 .. 1 within its octave */
    int bin = (bit - 1 - FIRST_BIN_BIT) * BINS_PER_BIT + (int)(mantissa * BINS_PER_BIT);
    if (bin < 0) return 0;
    return bin < CAMPAIGN_TIME_BINS ? bin : CAMPAIGN_TIME_BINS - 1;
}

static void count(const worker *w, const rb_corpus_problem *p, int start, const attempt *a,
                  campaign_tally *t)
{
    double tol = p->problem.kind == RB_CONE ? w->o->tol_cone : w->o->tol_lcp;
    if (a->info.outcome != RB_SOLVED) {
        t->uncertified[start]++;
        report(w, p, CAMPAIGN_UNCERTIFIED, a->grade);
    } else if (!(a->grade <= tol * (1.0 + GRADE_SLACK))) {
        t->wrong[start]++;
        report(w, p, CAMPAIGN_WRONG, a->grade);
    } else {
        t->solved[start]++;
        t->worst[start] = fmax(t->worst[start], a->grade);
    }
    t->time[start][time_bin(a->microseconds)]++;
    for (int k = 0; k < RB_RUNG_COUNT; k++) t->rungs[start][k] += (uint64_t)a->info.rungs[k];
}

static void compare(const worker *w, const rb_corpus_problem *p, int kind, const attempt *a,
                    const attempt *b, campaign_tally *t)
{
    if (a->info.outcome != RB_SOLVED || b->info.outcome != RB_SOLVED) return;
    double most = 0.0;
    for (int i = 0; i < 3 * p->nc; i++) most = fmax(most, fabs(a->velocity[i] - b->velocity[i]));
    most /= rb_corpus_speed(p);
    t->compared[kind]++;
    if (!(most <= AGREE)) {
        t->differ[kind]++;
        report(w, p, CAMPAIGN_DIFFERS, most);
    }
}

/* Another solver for this kind of problem, the next one in the table. */
static const rb_solver *other_solver(const rb_solver *solver, unsigned kind)
{
    for (const rb_solver *const *s = rb_solvers; *s; s++)
        if (*s != solver && ((*s)->accepts & kind)) return *s;
    return NULL;
}

/* The same problem by other ways; the velocities must not depend on the way. */
static rb_status compare_ways(const worker *w, const rb_corpus_problem *p,
                              const rb_corpus_problem *changed, const attempt *cold,
                              const attempt *warm, campaign_tally *t)
{
    rb_corpus_problem permuted = { 0 };
    attempt again = { 0 }, other = { 0 }, fresh = { 0 };
    const rb_solver *second = other_solver(w->o->solver, p->problem.kind);
    rb_status status = rb_corpus_permute(p, p->seed + 1, &permuted);
    if (status == RB_OK) status = attempt_make(&again, p);
    if (status == RB_OK) status = attempt_make(&other, p);
    if (status == RB_OK) status = attempt_make(&fresh, p);

    if (status == RB_OK) status = attempt_run(w, w->o->solver, changed, 0, &fresh);
    if (status == RB_OK) compare(w, changed, CAMPAIGN_VS_COLD, warm, &fresh, t);
    if (status == RB_OK) status = attempt_run(w, w->o->solver, &permuted, 0, &again);
    if (status == RB_OK) compare(w, p, CAMPAIGN_VS_PERMUTED, cold, &again, t);
    if (status == RB_OK && second) status = attempt_run(w, second, p, 0, &other);
    if (status == RB_OK && second) compare(w, p, CAMPAIGN_VS_OTHER, cold, &other, t);

    attempt_free(&again);
    attempt_free(&other);
    attempt_free(&fresh);
    rb_corpus_free(&permuted);
    return status;
}

static rb_status run_seed(worker *w, uint64_t seed)
{
    rb_corpus_problem p = { 0 }, changed = { 0 };
    attempt cold = { 0 }, warm = { 0 };
    rb_status status = rb_corpus_make(seed, &w->o->corpus, &p);
    if (status != RB_OK) return status;
    if (!(w->o->solver->accepts & p.problem.kind)) goto done;
    campaign_tally *t = &w->own->tally[p.opts.family][p.opts.form];
    t->problems++;

    /* cold */
    status = attempt_make(&cold, &p);
    if (status == RB_OK) status = attempt_make(&warm, &p);
    if (status == RB_OK) status = attempt_run(w, w->o->solver, &p, 0, &cold);
    if (status != RB_OK) goto done;
    count(w, &p, CAMPAIGN_COLD, &cold, t);

    /* warm, from the answer and the modes of the cold one */
    status = rb_corpus_perturb(&p, w->o->perturb, &changed);
    if (status != RB_OK) goto done;
    memcpy(warm.z, cold.z, (size_t)p.problem.n * sizeof *warm.z);
    memcpy(warm.mode, cold.mode, (size_t)p.problem.n * sizeof *warm.mode);
    status = attempt_run(w, w->o->solver, &changed, 1, &warm);
    if (status != RB_OK) goto done;
    count(w, &changed, CAMPAIGN_WARM, &warm, t);

    if (w->o->sample > 0 && seed % (uint64_t)w->o->sample == 0)
        status = compare_ways(w, &p, &changed, &cold, &warm, t);

done:
    attempt_free(&cold);
    attempt_free(&warm);
    rb_corpus_free(&p);
    rb_corpus_free(&changed);
    return status;
}

static void *run_worker(void *ctx)
{
    worker *w = ctx;
    w->arena = rb_arena_new(NULL, 0);
    w->status = w->arena ? RB_OK : RB_NOMEM;
    for (uint64_t k = (uint64_t)w->index; k < w->count && w->status == RB_OK;
         k += (uint64_t)w->o->threads)
        w->status = run_seed(w, w->first + k);
    rb_arena_free(w->arena);
    return NULL;
}

static void add_tally(const campaign_tally *from, campaign_tally *to)
{
    to->problems += from->problems;
    for (int s = 0; s < CAMPAIGN_STARTS; s++) {
        to->solved[s] += from->solved[s];
        to->wrong[s] += from->wrong[s];
        to->uncertified[s] += from->uncertified[s];
        to->worst[s] = fmax(to->worst[s], from->worst[s]);
        for (int k = 0; k < RB_RUNG_COUNT; k++) to->rungs[s][k] += from->rungs[s][k];
        for (int k = 0; k < CAMPAIGN_TIME_BINS; k++) to->time[s][k] += from->time[s][k];
    }
    for (int k = 0; k < CAMPAIGN_COMPARISONS; k++) {
        to->compared[k] += from->compared[k];
        to->differ[k] += from->differ[k];
    }
}

static void add_result(const campaign_result *from, campaign_result *to)
{
    for (int f = 0; f < RB_CORPUS_FAMILIES; f++)
        for (int k = 0; k < RB_CORPUS_FORMS; k++) add_tally(&from->tally[f][k], &to->tally[f][k]);
}

/* One batch on all threads; the calling thread is the first of them. */
static rb_status run_batch(const campaign_opts *o, worker *workers, campaign_result *result,
                           uint64_t size)
{
    pthread_t thread[MAX_THREADS];
    int started = 1;
    rb_status status = RB_OK;
    for (int k = 0; k < o->threads; k++) {
        workers[k].first = o->first + result->done;
        workers[k].count = size;
        memset(workers[k].own, 0, sizeof *workers[k].own);
    }
    while (started < o->threads &&
           pthread_create(&thread[started], NULL, run_worker, &workers[started]) == 0)
        started++;
    for (int k = started; k < o->threads; k++) run_worker(&workers[k]);
    run_worker(&workers[0]);
    for (int k = 1; k < started; k++) pthread_join(thread[k], NULL);

    for (int k = 0; k < o->threads; k++)
        if (workers[k].status != RB_OK) status = workers[k].status;
    if (status != RB_OK) return status;
    for (int k = 0; k < o->threads; k++) add_result(workers[k].own, result);
    result->done += size;
    return RB_OK;
}

rb_status campaign_run(const campaign_opts *o, campaign_result *result)
{
    if (o->threads < 1 || o->threads > MAX_THREADS || !o->solver || o->unique_every < 1)
        return RB_BAD_INPUT;
    worker workers[MAX_THREADS] = { 0 };
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    rb_status status = RB_OK;
    for (int k = 0; k < o->threads; k++) {
        workers[k] = (worker){ .o = o, .index = k, .lock = &lock };
        workers[k].own = malloc(sizeof *workers[k].own);
        if (!workers[k].own) status = RB_NOMEM;
    }
    while (status == RB_OK && result->done < o->count) {
        uint64_t left = o->count - result->done;
        status = run_batch(o, workers, result, left < BATCH ? left : BATCH);
        if (status == RB_OK && o->progress && o->progress(o->ctx, result)) break;
    }
    for (int k = 0; k < o->threads; k++) free(workers[k].own);
    pthread_mutex_destroy(&lock);
    return status;
}

void campaign_sum(const campaign_result *r, int family, int form, campaign_tally *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int f = 0; f < RB_CORPUS_FAMILIES; f++)
        for (int k = 0; k < RB_CORPUS_FORMS; k++)
            if ((family < 0 || family == f) && (form < 0 || form == k))
                add_tally(&r->tally[f][k], sum);
}

double campaign_quantile(const campaign_tally *t, int start, double share)
{
    uint64_t total = 0, seen = 0;
    for (int k = 0; k < CAMPAIGN_TIME_BINS; k++) total += t->time[start][k];
    for (int k = 0; k < CAMPAIGN_TIME_BINS; k++) {
        seen += t->time[start][k];
        if (total > 0 && (double)seen >= share * (double)total)
            return ldexp(1.0 + (k % BINS_PER_BIT + 0.5) / BINS_PER_BIT,
                         k / BINS_PER_BIT + FIRST_BIN_BIT);
    }
    return 0.0;
}
