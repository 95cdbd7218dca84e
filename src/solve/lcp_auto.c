/* `auto` for LCPs and boxes: independent islands, and for each a sequence of methods (rb_rung).
 * It ends with the first certified answer.
 *
 *     trivial     the point of the box nearest to zero
 *     warm        the given modes, factored once
 *     exchange    up to 8 block exchanges (cold only where every diagonal entry is positive: with
 *                 the zero diagonals of friction they rarely end, Lemke costs less)
 *     lemke-warm  Lemke from the best partition so far, covering the violated rows
 *     lemke       Lemke cold, then with perturbed covering vectors
 *     homotopy    compliance 1e-3 -> 1e-8 on the rows that have some, with warm partitions; then
 *                 proximal steps with a constant one (P.21)
 *     enumerate   all complementary cones, n <= 14
 *
 * Boxes and mixed problems reach Lemke's methods through reduce.c. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/enumerate.h"
#include "solve/canonical.h"
#include "solve/internal.h"
#include "solve/decouple.h"
#include "solve/judice_pires.h"
#include "solve/lcp_uniform.h"
#include "solve/lemke.h"
#include "solve/lemke_twofold.h"
#include "solve/matrix.h"
#include "solve/reduce.h"

enum {
    EXCHANGES = 8,       /* block exchanges of `exchange`                                      */
    PATIENCE = 3,        /* of these without progress                                          */
    TRIALS = 5,          /* cold Lemke: ones, ones with coarse pivots, then perturbed covers   */
    ENUMERATE_ROWS = 14, /* 2^14 cones take a fraction of a second                             */
    HOMOTOPY_STEPS = 6   /* 1e-3 .. 1e-8                                                       */
};

/* Pivots of Lemke's method before another one may do better: 4/3 n is usual, the exponential
 * examples need 2^n with one covering vector and a few n with another. */
static int pivot_budget(int n, int max_iter)
{
    int budget = 200 + 20 * n;
    return budget < max_iter ? budget : max_iter;
}

/* Strict measure (P.5) up to which a certified answer ends the sequence at once [1]; a worse one is
 * kept, and used if the methods up to Lemke find none better. */
#define STRICT_TOL 1e-10

/* First compliance of the homotopy [1], relative to the mean positive diagonal entry. Plain Lemke
 * is reliable from here on: smaller values make pivots of rounding size. */
#define HOMOTOPY_START 1e-3

/* Compliance of the proximal steps [1], relative to each diagonal entry: at first large enough for
 * exchanges to end, below PROXIMAL_EASY it only shrinks while the partition hardly changes. Signs
 * count beyond PROXIMAL_SIGN / eps: rounding in a block of that condition. */
#define PROXIMAL_FIRST 1e-1
#define PROXIMAL_EASY  1e-4
#define PROXIMAL_LAST  1e-8
#define PROXIMAL_SIGN  1e-15
enum { PROXIMAL_STEPS = 60 };

/* Compliance of Lemke in twofold arithmetic [1], relative to each diagonal entry: a thousand times
 * the rounding of W in a sum of hundreds, and so little that z up to 1e5 of the data hides it.
 * Where it gives an answer, the next one is found around it with less, else with more. */
#define TWOFOLD_EPS  1e-11
#define TWOFOLD_LESS 0.1
#define TWOFOLD_MORE 10.0
enum { TWOFOLD_RUNS = 4 };

/* Farkas' vector, scaled [1]: W'y may exceed zero by rounding, q.y must be clearly negative. */
#define FARKAS_TOL    1e-12
#define FARKAS_MARGIN 1e-6

typedef struct ladder {
    const rb_boxed *box;
    const rb_solve_opts *o;
    rb_arena *scratch;
    rb_info *info;
    rb_partition t; /* of the box                                                         */
    double *best_z; /* best certified or least bad answer                          (n)    */
    unsigned char *best_set, *start;
    rb_measure best;
    int has_start; /* start holds a partition worth a warm Lemke                         */

    int is_reduced;
    rb_reduction r;      /* where the box is not an LCP                                        */
    const rb_boxed *lcp; /* the box itself or its reduction                                    */
    rb_partition y;      /* of the LCP                                                         */
    unsigned char *y_start;
    double *ray; /* of the LCP                                                         */
    int has_ray;
    unsigned tried; /* bit per method                                                     */
} ladder;

static rb_status ladder_make(ladder *l)
{
    size_t n = (size_t)l->box->n;
    l->best_z = rb_push(l->scratch, double, n);
    l->best_set = rb_push(l->scratch, unsigned char, n);
    l->start = rb_push(l->scratch, unsigned char, n);
    l->best = rb_measure_worst();
    if (!l->best_z || !l->best_set || !l->start) return RB_NOMEM;
    return rb_partition_make(l->box->n, l->scratch, &l->t);
}

/* Keeps an answer if it is the best so far; 1: it ends the sequence. */
static int offer(ladder *l, rb_measure m, const double *z, const unsigned char *set)
{
    int n = l->box->n;
    int certified = rb_measure_accepts(m, l->o->tol);
    int known = rb_measure_accepts(l->best, l->o->tol);
    if (certified > known || (certified == known && m.strict < l->best.strict)) {
        memcpy(l->best_z, z, (size_t)n * sizeof *z);
        memcpy(l->best_set, set, (size_t)n);
        l->best = m;
    }
    return certified && m.strict <= STRICT_TOL;
}

static int certified(const ladder *l)
{
    return rb_measure_accepts(l->best, l->o->tol);
}

/* ---- methods on the box itself ---- */

static int try_trivial(ladder *l)
{
    const rb_boxed *b = l->box;
    rb_partition *t = &l->t;
    for (int i = 0; i < b->n; i++) {
        t->z[i] = b->lo[i] > 0.0 ? b->lo[i] : b->hi[i] < 0.0 ? b->hi[i] : 0.0;
        t->set[i] = (unsigned char)(t->z[i] == b->lo[i]   ? RB_MODE_OPEN
                                    : t->z[i] == b->hi[i] ? RB_MODE_UPPER
                                                          : RB_MODE_STICK);
        if (b->lcp && b->q[i] < 0.0) return 0;
    }
    rb_measure m = rb_boxed_measure(b, t->z, t->w);
    return m.strict == 0.0 && offer(l, m, t->z, t->set);
}

static int try_warm(ladder *l, const unsigned char *mode, const double *z)
{
    rb_partition_guess(l->box, mode, z, l->t.set);
    l->info->factorisations++;
    rb_measure m = rb_partition_polish(l->box, &l->t);
    while (!l->t.regular) {
        rb_partition_drop(l->box, &l->t, l->t.dependent);
        l->info->factorisations++;
        m = rb_partition_polish(l->box, &l->t);
    }
    memcpy(l->start, l->t.set, (size_t)l->box->n);
    l->has_start = 1;
    return offer(l, m, l->t.z, l->t.set);
}

/* Where nothing is known: rows that would move without impulses are taken as free. */
static void guess_cold(const rb_boxed *b, unsigned char *set)
{
    rb_partition_guess(b, NULL, NULL, set);
    for (int i = 0; i < b->n; i++) {
        int inside = b->lo[i] < 0.0 && b->hi[i] > 0.0;
        if (b->lo[i] < b->hi[i] && (inside || b->q[i] < 0.0)) set[i] = RB_MODE_STICK;
    }
}

static int has_compliance(const rb_boxed *b)
{
    for (int i = 0; i < b->n; i++) {
        if (!(b->W[(ptrdiff_t)i * b->n + i] > 0.0)) return 0;
    }
    return 1;
}

static rb_status try_exchange(ladder *l, int *done)
{
    *done = 0;
    if (!l->has_start) {
        if (!has_compliance(l->box)) return RB_OK;
        guess_cold(l->box, l->start);
    }
    l->tried |= 1u << RB_RUNG_EXCHANGE;
    memcpy(l->t.set, l->start, (size_t)l->box->n);
    rb_exchange_job job = {
        .b = l->box, .t = &l->t, .best_set = l->start, .max_steps = EXCHANGES, .blocks = PATIENCE
    };
    rb_status status = rb_exchange_run(&job, l->scratch);
    if (status != RB_OK) return status;
    l->has_start = 1;
    l->info->iterations += job.steps;
    l->info->factorisations += job.steps;
    if (job.end != RB_EXCHANGE_SOLVED) return RB_OK;
    *done = offer(l, rb_partition_polish(l->box, &l->t), l->t.z, l->t.set);
    return RB_OK;
}

/* ---- methods on the pure LCP ---- */

/* The LCP of the box; `*bad`: an equality contradicts the others. */
static rb_status reduce(ladder *l, int *bad)
{
    *bad = 0;
    l->lcp = l->box;
    if (!l->box->lcp) {
        rb_status status = rb_reduce(l->box, l->scratch, &l->r);
        if (status != RB_OK) return status;
        l->is_reduced = 1;
        l->lcp = &l->r.lcp;
        *bad = l->r.bad_row >= 0;
    }
    l->ray = rb_push(l->scratch, double, l->lcp->n);
    l->y_start = rb_push(l->scratch, unsigned char, l->lcp->n);
    if (!l->ray || !l->y_start) return RB_NOMEM;
    return rb_partition_make(l->lcp->n, l->scratch, &l->y);
}

/* Offers an answer of the LCP, in l->y, as one of the box. */
static int offer_reduced(ladder *l, rb_measure m)
{
    if (!l->is_reduced) return offer(l, m, l->y.z, l->y.set);
    rb_reduce_back(&l->r, l->y.z, l->t.z);
    rb_reduce_set_back(&l->r, l->y.set, l->t.set);
    return offer(l, rb_boxed_measure(l->box, l->t.z, l->t.w), l->t.z, l->t.set);
}

static rb_status run_lemke(ladder *l, rb_lemke_job *job, int *done)
{
    rb_measure m;
    rb_mark mark = rb_arena_mark(l->scratch);
    job->ray = l->ray;
    rb_status status = rb_lemke_polished(job, &l->y, l->scratch, &m);
    rb_arena_reset(l->scratch, mark);
    if (status != RB_OK) return status;
    l->info->iterations += job->pivots;
    l->info->factorisations += job->rebuilds + 1;
    *done = offer_reduced(l, m);
    return RB_OK;
}

static rb_status try_lemke_warm(ladder *l, int *done)
{
    *done = 0;
    if (!l->has_start) return RB_OK;
    l->tried |= 1u << RB_RUNG_LEMKE_WARM;
    if (l->is_reduced) {
        rb_reduce_set(&l->r, l->start, l->y_start);
    } else {
        memcpy(l->y_start, l->start, (size_t)l->lcp->n);
    }
    rb_lemke_job job = { .lcp = l->lcp,
                         .start = l->y_start,
                         .max_pivots = pivot_budget(l->lcp->n, l->o->max_iter) };
    return run_lemke(l, &job, done);
}

static rb_status try_lemke(ladder *l, int *done)
{
    l->tried |= 1u << RB_RUNG_LEMKE;
    rb_mark mark = rb_arena_mark(l->scratch);
    double *cover = rb_push(l->scratch, double, l->lcp->n);
    if (!cover) return RB_NOMEM;
    for (int trial = 0; trial < TRIALS; trial++) {
        if (trial > 1) rb_lemke_cover(l->lcp->n, (unsigned)trial, cover);
        rb_lemke_job job = { .lcp = l->lcp,
                             .cover = trial > 1 ? cover : NULL,
                             .coarse = trial % 2,
                             .max_pivots = pivot_budget(l->lcp->n, l->o->max_iter) };
        rb_status status = run_lemke(l, &job, done);
        if (status != RB_OK) return status;
        if (*done) break;
        if (job.end == RB_LEMKE_RAY && trial == 0 && l->info->ray && !l->is_reduced) {
            l->has_ray = 1;
            memcpy(l->info->ray, l->ray, (size_t)l->lcp->n * sizeof *l->ray);
        }
    }
    rb_arena_reset(l->scratch, mark);
    return RB_OK;
}

/* Lemke in twofold arithmetic with a trace of compliance. Where its effect is too large, again
 * around the answer with less of it; where the method does not end, with more. */
static rb_status try_twofold(ladder *l, int *done)
{
    const rb_boxed *b = l->box;
    rb_mark mark = rb_arena_mark(l->scratch);
    double *center = rb_push(l->scratch, double, b->n), eps = TWOFOLD_EPS;
    if (!center) return RB_NOMEM;
    *done = 0;
    l->tried |= 1u << RB_RUNG_LEMKE_TWOFOLD;
    for (int run = 0, known = 0; run < TWOFOLD_RUNS && !certified(l); run++) {
        rb_lemke_twofold_job job = { .b = b,
                                     .eps = eps,
                                     .center = known ? center : NULL,
                                     .max_pivots = pivot_budget(b->n, l->o->max_iter) / 2,
                                     .z = l->t.z,
                                     .set = l->t.set };
        rb_status status = rb_lemke_twofold_run(&job, l->scratch);
        if (status != RB_OK) return status;
        l->info->iterations += job.pivots;
        eps *= job.solved ? TWOFOLD_LESS : TWOFOLD_MORE;

        /* a ray ends soon; what takes too long once will do so again */
        if (!job.solved && job.pivots >= job.max_pivots) break;
        if (!job.solved) continue;
        *done = offer(l, rb_boxed_measure(b, l->t.z, l->t.w), l->t.z, l->t.set);
        memcpy(center, l->t.z, (size_t)b->n * sizeof *center);
        known = 1;
    }
    rb_arena_reset(l->scratch, mark);
    return RB_OK;
}

/* One compliance: exchanges from the last partition, Lemke cold where they do not end. The final
 * partition is in l->y.set; 0: neither found one. */
static rb_status follow(ladder *l, const double *c, double eps, double *shift, double *W,
                        int *found)
{
    int n = l->lcp->n;
    for (int i = 0; i < n; i++) shift[i] = eps * c[i];
    rb_exchange_job job = { .b = l->lcp,
                            .shift = shift,
                            .t = &l->y,
                            .max_steps = 2 * EXCHANGES,
                            .blocks = PATIENCE,
                            .single = 1 };
    rb_status status = rb_exchange_run(&job, l->scratch);
    l->info->iterations += job.steps;
    l->info->factorisations += job.steps;
    *found = job.end == RB_EXCHANGE_SOLVED;
    if (status != RB_OK || *found) return status;

    memcpy(W, l->lcp->W, (size_t)n * (size_t)n * sizeof *W);
    for (int i = 0; i < n; i++) W[(ptrdiff_t)i * n + i] += shift[i];
    rb_boxed softer = *l->lcp;
    softer.W = W;
    rb_measure m;
    rb_mark mark = rb_arena_mark(l->scratch);
    rb_lemke_job lemke = { .lcp = &softer, .max_pivots = pivot_budget(n, l->o->max_iter) };
    status = rb_lemke_polished(&lemke, &l->y, l->scratch, &m);
    rb_arena_reset(l->scratch, mark);
    l->info->iterations += lemke.pivots;
    *found = status == RB_OK && rb_measure_accepts(m, l->o->tol);
    return status;
}

static rb_status try_homotopy(ladder *l, int *done)
{
    size_t n = (size_t)l->lcp->n;
    rb_mark mark = rb_arena_mark(l->scratch);
    double *c = rb_push(l->scratch, double, n), *shift = rb_push(l->scratch, double, n);
    double *W = rb_push(l->scratch, double, n *n);
    if (!c || !shift || !W) return RB_NOMEM;
    *done = 0;
    l->tried |= 1u << RB_RUNG_HOMOTOPY;
    rb_status status = RB_OK;
    double eps = HOMOTOPY_START;
    int found = rb_boxed_compliance(l->lcp, c);
    memset(l->y.set, RB_MODE_OPEN, n);
    for (int step = 0; step < HOMOTOPY_STEPS && found && !*done; step++, eps *= 0.1) {
        status = follow(l, c, eps, shift, W, &found);
        if (status != RB_OK) return status;
        if (!found) break;
        memcpy(l->y_start, l->y.set, n);
        rb_lemke_job job = { .lcp = l->lcp,
                             .start = l->y_start,
                             .max_pivots = pivot_budget(l->lcp->n, l->o->max_iter) };
        rb_measure m = rb_partition_polish(l->lcp, &l->y);
        *done = offer_reduced(l, m);
        if (!*done) status = run_lemke(l, &job, done);
        if (status != RB_OK) return status;
        memcpy(l->y.set, l->y_start, n);
    }
    rb_arena_reset(l->scratch, mark);
    return RB_OK;
}

/* Proximal point steps on the box: z <- solution with W + eps D and q - eps D z, D the positive
 * part of the diagonal. Every subproblem is regular, and for monotone problems the steps converge
 * for any rank of W and any eps: the remedy where rounding of the data makes a self-stress look
 * contradictory. eps shrinks after a step that worked and grows after one that did
 * not. */
static rb_status try_proximal(ladder *l, int *done)
{
    const rb_boxed *b = l->box;
    size_t n = (size_t)b->n;
    rb_mark mark = rb_arena_mark(l->scratch);
    double *shift = rb_push(l->scratch, double, n), *q = rb_push(l->scratch, double, n);
    double *z = rb_push(l->scratch, double, n), eps = PROXIMAL_FIRST;
    unsigned char *set = rb_push(l->scratch, unsigned char, n);
    if (!shift || !q || !z || !set) return RB_NOMEM;
    *done = 0;
    rb_boxed near = *b;
    near.q = q;
    guess_cold(b, set);
    for (int i = 0; i < b->n; i++) z[i] = rb_clamp(0.0, b->lo[i], b->hi[i]);
    for (int step = 0; step < PROXIMAL_STEPS && !*done; step++) {
        for (int i = 0; i < b->n; i++) {
            double d = b->W[(ptrdiff_t)i * b->n + i];
            shift[i] = d > 0.0 ? eps * d : 0.0;
            q[i] = b->q[i] - shift[i] * z[i];
        }
        memcpy(l->t.set, set, n);
        rb_exchange_job job = { .b = &near,
                                .shift = shift,
                                .t = &l->t,
                                .max_steps = 100 + b->n,
                                .blocks = PATIENCE,
                                .sign_tol = PROXIMAL_SIGN / eps,
                                .single = 1 };
        rb_status status = rb_exchange_run(&job, l->scratch);
        if (status != RB_OK) return status;
        l->info->iterations += job.steps;
        l->info->factorisations += job.steps;
        if (job.end != RB_EXCHANGE_SOLVED) {
            eps *= 10.0;
            continue;
        }
        if (eps > PROXIMAL_EASY || (eps > PROXIMAL_LAST && job.steps <= 3)) eps *= 0.1;
        memcpy(set, l->t.set, n);
        memcpy(z, l->t.z, n * sizeof *z);
        *done = offer(l, rb_boxed_measure(b, z, l->t.w), z, l->t.set);
    }
    rb_arena_reset(l->scratch, mark);
    return RB_OK;
}

static rb_status try_enumerate(ladder *l, int *done, int *proven)
{
    *done = *proven = 0;
    if (l->lcp->n > ENUMERATE_ROWS) return RB_OK;
    l->tried |= 1u << RB_RUNG_ENUMERATE;
    rb_enumerate_job job = { .lcp = l->lcp, .tol = l->o->tol, .t = &l->y };
    rb_status status = rb_enumerate_run(&job, l->scratch);
    l->info->iterations += job.cones;
    l->info->factorisations += job.cones;
    *proven = job.end == RB_ENUMERATE_NONE;
    if (status == RB_OK && job.end == RB_ENUMERATE_SOLVED) *done = offer_reduced(l, job.m);
    return status;
}

/* ---- the sequence ---- */

/* Farkas: y >= 0, W'y <= 0 and q.y < 0 leave no z >= 0 with W z + q >= 0. In scaled units, y of
 * largest entry one. */
static int proves_infeasible(const rb_boxed *b, const double *y)
{
    double size = 0.0, q_y = 0.0;
    for (int i = 0; i < b->n; i++) size = fmax(size, y[i] / b->s[i]);
    if (!(size > 0.0)) return 0;
    for (int j = 0; j < b->n; j++) {
        double sum = 0.0;
        for (int i = 0; i < b->n; i++) sum += b->W[(ptrdiff_t)i * b->n + j] * y[i];
        if (b->s[j] * sum > FARKAS_TOL * size) return 0;
        q_y += b->q[j] * y[j];
    }
    return q_y < -FARKAS_MARGIN * size * b->data;
}

/* The methods that need the pure LCP. */
static rb_status climb_lcp(ladder *l, rb_rung *rung)
{
    int done = 0, bad = 0, proven = 0;
    rb_status status = reduce(l, &bad);
    if (status != RB_OK) return status;
    if (bad) {
        /* or do rounded coefficients only look like a contradiction? */
        *rung = RB_RUNG_LEMKE_TWOFOLD;
        return try_twofold(l, &done);
    }
    *rung = RB_RUNG_LEMKE_WARM;
    status = try_lemke_warm(l, &done);
    if (status != RB_OK || done) return status;
    *rung = RB_RUNG_LEMKE;
    status = try_lemke(l, &done);
    if (status != RB_OK || done || certified(l)) return status;

    if (l->has_ray && proves_infeasible(l->lcp, l->info->ray)) return RB_OK;
    *rung = RB_RUNG_LEMKE_TWOFOLD;
    status = try_twofold(l, &done);
    if (status != RB_OK || certified(l)) return status;
    *rung = RB_RUNG_HOMOTOPY;
    status = try_homotopy(l, &done);
    if (status != RB_OK || done || certified(l)) return status;
    status = try_proximal(l, &done);
    if (status != RB_OK || certified(l)) return status;
    *rung = RB_RUNG_ENUMERATE;
    status = try_enumerate(l, &done, &proven);
    if (status != RB_OK || certified(l) || proven) return status;

    /* nothing helped: one more cold run with every pivot that the caller allows */
    *rung = RB_RUNG_LEMKE;
    rb_lemke_job job = { .lcp = l->lcp, .max_pivots = l->o->max_iter };
    if (!l->has_ray) status = run_lemke(l, &job, &done);
    return status;
}

static rb_status climb(ladder *l, const unsigned char *mode, const double *z, rb_rung *rung)
{
    int done = 0;
    *rung = RB_RUNG_TRIVIAL;
    if (try_trivial(l)) return RB_OK;
    if (l->o->warm) {
        *rung = RB_RUNG_WARM;
        l->tried |= 1u << RB_RUNG_WARM;
        if (try_warm(l, mode, z)) return RB_OK;
    }
    *rung = RB_RUNG_EXCHANGE;
    rb_status status = try_exchange(l, &done);
    if (status != RB_OK || done) return status;
    return climb_lcp(l, rung);
}

/* Solves one island by the methods in order: z and mode are guess in, answer out. */
static rb_status climb_island(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch,
                              double *z, unsigned char *mode, rb_info *info, unsigned *tried)
{
    ladder l = { .box = b, .o = o, .scratch = scratch, .info = info };
    rb_rung rung;
    rb_status status = ladder_make(&l);
    if (status == RB_OK) status = climb(&l, mode, z, &rung);
    if (status != RB_OK) return status;
    *tried |= l.tried | 1u << rung;

    if (l.best.relative < INFINITY) {
        memcpy(z, l.best_z, (size_t)b->n * sizeof *z);
        memcpy(mode, l.best_set, (size_t)b->n);
    }
    rb_boxed_finish(b, o->tol, l.best, z, info);
    if (info->outcome == RB_SOLVED) {
        info->rungs[rung]++;
        if (l.t.regular && rung != RB_RUNG_TRIVIAL) {
            rb_partition_rcond(b, &l.t);
            info->rcond = info->rcond > 0.0 ? fmin(info->rcond, l.t.rcond) : l.t.rcond;
        }
    } else if (l.has_ray) {
        info->outcome = RB_RAY;
    }
    if (l.is_reduced && l.r.bad_row >= 0 && info->outcome != RB_SOLVED) {
        info->bad_row = l.r.bad_row;
    }
    return RB_OK;
}

rb_status rb_lcp_canonical(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch, double *z,
                           unsigned char *mode, rb_info *info)
{
    rb_mark mark = rb_arena_mark(scratch);
    rb_solve_opts cold = *o;
    rb_info own = { .ray = rb_push(scratch, double, b->n), .bad_row = -1 };
    int *order = rb_push(scratch, int, b->n);
    unsigned tried = 0;
    rb_island s;
    cold.warm = 0;
    if (!own.ray || !order) return RB_NOMEM;
    rb_status status = rb_canonical_rows(b, scratch, order);
    if (status == RB_OK) status = rb_island_of_rows(b, b->n, order, scratch, &s);
    if (status != RB_OK) return status;
    for (int i = 0; i < b->n; i++) s.z[i] = rb_clamp(0.0, s.b.lo[i], s.b.hi[i]);
    memset(s.mode, RB_MODE_UNKNOWN, (size_t)b->n);
    status = climb_island(&s.b, &cold, scratch, s.z, s.mode, &own, &tried);
    if (status == RB_OK && own.outcome == RB_SOLVED) rb_island_scatter(&s, z, mode);
    info->iterations += own.iterations;
    info->factorisations += own.factorisations;
    rb_arena_reset(scratch, mark);
    return status;
}

/* Where the unique answer is wanted it is searched close to the last one first; if it is not there,
 * the methods find any answer, and the whole path the unique one. Where that fails, the
 * answer is at least one that neither the guess nor the order of the rows has chosen. */
static rb_status solve_island(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch,
                              double *z, unsigned char *mode, rb_info *info, unsigned *tried)
{
    rb_mark mark = rb_arena_mark(scratch);
    rb_unique unique = RB_UNIQUE_CHOSEN;
    int found = 0;
    rb_status status = RB_OK;
    if (o->unique && o->warm) {
        status = rb_uniform_again(b, o, scratch, z, mode, info, &found);
        rb_arena_reset(scratch, mark);
    }
    if (found) {
        info->outcome = RB_SOLVED;
        info->rungs[RB_RUNG_WARM]++;
        *tried |= 1u << RB_RUNG_WARM;
    } else if (status == RB_OK) {
        status = climb_island(b, o, scratch, z, mode, info, tried);
        rb_arena_reset(scratch, mark);
        if (status == RB_OK && o->unique && info->outcome == RB_SOLVED) {
            status = rb_uniform_island(b, o, scratch, z, mode, info, &unique);
        }
        rb_arena_reset(scratch, mark);
        if (status == RB_OK && unique == RB_UNIQUE_NOT)
            status = rb_lcp_canonical(b, o, scratch, z, mode, info);
    }
    if (o->unique && unique > info->unique) info->unique = unique;
    return status;
}

/* Solves island `which` inside the arrays of the whole problem. */
static rb_status solve_one(const rb_boxed *all, const int *label, int which, const rb_solve_opts *o,
                           rb_arena *scratch, double *z, rb_info *info, unsigned *tried)
{
    rb_island s;
    rb_status status = rb_island_extract(all, label, which, scratch, &s);
    if (status != RB_OK) return status;
    rb_island_gather(&s, z, info->mode);
    double *ray = info->ray;
    int bad_row = info->bad_row;
    info->ray = s.ray;
    info->bad_row = -1;
    status = solve_island(&s.b, o, scratch, s.z, s.mode, info, tried);
    info->ray = ray;
    info->bad_row = info->bad_row >= 0 ? s.row[info->bad_row] : bad_row;
    if (status != RB_OK) return status;
    rb_island_scatter(&s, z, info->mode);
    for (int i = 0; i < s.b.n && info->outcome == RB_RAY; i++) ray[s.row[i]] = s.ray[i];
    return RB_OK;
}

static void write_path(rb_info *info, unsigned tried)
{
    for (int rung = 0; rung < RB_RUNG_COUNT; rung++) {
        if (tried >> rung & 1u) rb_path_add(info, rb_rung_name(rung));
    }
}

rb_status rb_lcp_auto(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                      rb_info *info)
{
    rb_boxed b;
    rb_status status = rb_boxed_view(p, scratch, &b);
    int *label = rb_push(scratch, int, p->n);
    if (status != RB_OK || !label) return status != RB_OK ? status : RB_NOMEM;
    unsigned tried = 0;
    int rays = 0, failures = 0;
    info->islands = rb_islands_find(&b, scratch, label);
    if (info->islands < 0) return RB_NOMEM;
    if (info->islands == 1) {
        status = solve_island(&b, o, scratch, z, info->mode, info, &tried);
        write_path(info, tried);
        return status;
    }
    memset(info->ray, 0, (size_t)p->n * sizeof *info->ray);
    for (int k = 0; k < info->islands; k++) {
        rb_mark mark = rb_arena_mark(scratch);
        status = solve_one(&b, label, k, o, scratch, z, info, &tried);
        rb_arena_reset(scratch, mark);
        if (status != RB_OK) return status;
        rays += info->outcome == RB_RAY;
        failures += info->outcome != RB_SOLVED;
    }
    info->outcome = rays ? RB_RAY : failures ? RB_FAILED : RB_SOLVED;
    write_path(info, tried);
    return RB_OK;
}
