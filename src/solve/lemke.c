/* Lemke's method with lexicographic degeneracy resolution [Lemke 1965; Cottle 1992, 4.4].
 *
 *     w = M z + q + d z0,   z, w, z0 >= 0,   z.w = 0
 *
 * z0 enters first; then always the complement of the variable that left, until z0 leaves (a
 * solution (P.8)) or nothing blocks the entering variable (a secondary ray (P.9)).
 *
 * Revised form: the dictionary is never stored. The basis is B = E_1^-1 .. E_k^-1, one
 * elementary column (eta) per pivot, and a pivot needs exactly one column B^-1 a, which costs one
 * axpy per eta whose pivot entry meets a nonzero. For n = 100 that is a fifth of the rank-1 update
 * of the tableau, and read-only. The etas are rebuilt from the basis every n + 64 pivots.
 *
 * Ties (friction problems have 0.26 n of them per solve) are broken by the perturbation
 * q + (p, e_1, .., e_n)(eps, eps^2, ..)' with a fixed generic p > 0, eq. (P.10): p is updated
 * as a second right side and decides nearly every tie without touching B^-1. */
#include "base/meter.h"
#include "solve/lemke.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/vector.h"
#include "solve/internal.h"
#include "solve/reduce.h"

/* Entries of a column below this, relative to its largest one, cannot be pivots [1]. Smaller: noise
 * becomes a pivot and the answer is off by 1e14. Larger: rays are seen where there are none. */
#define PIVOT_TOL 1e-9

/* What is tried before a ray is believed [1]. */
#define PIVOT_TOL_RAY 1e-11

/* Both in a coarse run [1]: for compliances that are the small difference of large ones (bodies
 * held by joints, mass ratio 1e6), where a pivot of 1e-9 is rounding of the data. */
#define PIVOT_TOL_COARSE 1e-7

/* Width of the Harris window [1], relative to the largest right side: rows whose ratio could be the
 * least one within this error take part in the choice of the pivot. */
#define HARRIS_TOL 1e-12

/* The same in the strict rule: only what rounding makes of a true tie [1]. */
#define EXACT_TOL 1e-14

/* Among them, pivots below this share of the largest are passed over [1]. */
#define PIVOT_SHARE 0.1

/* Two lexicographic ratios closer than this are equal [1], relative to the larger. */
#define TIE_TOL 1e-12

/* A pivot below this share of its column [1] is not believed before the basis has been factored
 * again: with mass ratios of 1e6 the noise of a long product of etas is larger than PIVOT_TOL, and
 * such a pivot sends x to 1e14. Larger: bad mass ratios rebuild at every pivot. */
#define PIVOT_DOUBTED 1e-6

/* Strict measure at which the polished answer is taken without a look at the other [1]. */
#define POLISHED_TOL 1e-11

/* Etas beyond n that may pile up before the basis is factored again. */
enum { ETA_SLACK = 64 };

typedef struct lemke {
    int n, strict, coarse;
    const rb_boxed *lcp;
    rb_meter *meter; /* NULL: work is not counted                                            */
    int *basis;      /* variable of each row: w_k = k, z_k = n + k, z0 = 2 n   (n)               */
    double *d, *p;   /* raw covering and perturbation vectors, scaled rows     (n)               */
    double *x, *px;  /* B^-1 q and B^-1 p                                      (n)               */
    double *col;     /* B^-1 a of the entering variable                        (n)               */
    double *probe;   /* B^-1 e_k in the strict rule                            (n)               */
    unsigned char *mark; /* work                                               (n)               */
    int *tied;    /* rows in the window                                     (n)               */
    double *eta;  /* column k of the eta file                               (cap x ld)        */
    double *inv;  /* reciprocal pivots                                      (cap)             */
    int *eta_row; /* pivot rows                                             (cap)             */
    int neta, cap, ld, rebuilds;
    int fresh;    /* etas of the last rebuild */
    double level; /* largest entry of x */
} lemke;

/* y := B^-1 y */
RB_VECTOR static void ftran(const double *restrict eta, const double *restrict inv,
                            const int *restrict row, int neta, int ld, double *restrict y)
{
    for (int k = 0; k < neta; k++) {
        int r = row[k];
        double t = y[r];
        if (t == 0.0) continue;
        const double *restrict e = eta + (ptrdiff_t)k * ld;
        for (int i = 0; i < ld; i += 8) {
            for (int j = 0; j < 8; j++) y[i + j] -= t * e[i + j];
        }
        y[r] = t * inv[k];
    }
}

static void apply_inverse(const lemke *l, double *y)
{
    ftran(l->eta, l->inv, l->eta_row, l->neta, l->ld, y);
}

/* The column of a variable in the scaled system I w - S M S z - d z0 = S q. */
static void raw_column(const lemke *l, int variable, double *y)
{
    int n = l->n;
    memset(y, 0, (size_t)l->ld * sizeof *y);
    if (variable < n) {
        y[variable] = 1.0;
    } else if (variable < 2 * n) {
        int j = variable - n;
        const double *M_j = l->lcp->W + j, *s = l->lcp->s;
        double s_j = s[j];
        for (int i = 0; i < n; i++) y[i] = -s[i] * M_j[(ptrdiff_t)i * n] * s_j;
    } else {
        for (int i = 0; i < n; i++) y[i] = -l->d[i];
    }
}

/* Appends the eta of a pivot on col[r]. */
static void push_eta(lemke *l, const double *col, int r)
{
    double *e = l->eta + (ptrdiff_t)l->neta * l->ld;
    double inv = 1.0 / col[r];
    for (int i = 0; i < l->ld; i++) e[i] = col[i] * inv;
    l->inv[l->neta] = inv;
    l->eta_row[l->neta++] = r;
}

/* Factors the basis again: w_k takes row k, the others the largest free pivot of their column.
 * Returns 0 where the basis is singular. */
static int rebuild(lemke *l)
{
    int n = l->n, count = 0;
    int *others = l->tied;
    for (int i = 0; i < n; i++) {
        if (l->basis[i] >= n) others[count++] = l->basis[i];
    }

    /* rows whose w is basic are taken: -1 marks a row without a variable yet */
    for (int i = 0; i < n; i++) l->mark[i] = 0;
    for (int i = 0; i < n; i++) {
        if (l->basis[i] < n) l->mark[l->basis[i]] = 1;
    }
    for (int i = 0; i < n; i++) l->basis[i] = l->mark[i] ? i : -1;

    l->neta = 0;
    l->rebuilds++;
    for (int c = 0; c < count; c++) {
        raw_column(l, others[c], l->col);
        apply_inverse(l, l->col);
        int best = -1;
        double largest = 0.0, top = 0.0;
        for (int i = 0; i < n; i++) {
            double a = fabs(l->col[i]);
            top = fmax(top, a);
            if (l->basis[i] < 0 && a > largest) {
                largest = a;
                best = i;
            }
        }
        if (best < 0 || largest < PIVOT_TOL_RAY * top) return 0;
        push_eta(l, l->col, best);
        l->basis[best] = others[c];
    }
    l->fresh = l->neta;
    return 1;
}

/* x = B^-1 S q, px = B^-1 p. */
static void refresh(lemke *l)
{
    memcpy(l->px, l->p, (size_t)l->ld * sizeof *l->px);
    apply_inverse(l, l->px);
    memset(l->x, 0, (size_t)l->ld * sizeof *l->x);
    for (int i = 0; i < l->n; i++) l->x[i] = l->lcp->s[i] * l->lcp->q[i];
    apply_inverse(l, l->x);
    l->level = rb_norm_inf(l->x, l->n);
}

/* Both right sides follow a pivot and the eta is written: x -= theta col, px -= theta_p col,
 * e = inv col. A row may fall below zero by HARRIS_TOL in the window: that is noise, not
 * information, and is cleared. Returns the largest x. All lengths are padded to eights. */
RB_VECTOR static double advance(const double *restrict col, double theta, double theta_p,
                                double inv, double *restrict x, double *restrict px,
                                double *restrict e, int ld)
{
    double m[8] = { 0.0 };
    for (int i = 0; i < ld; i += 8) {
        for (int k = 0; k < 8; k++) {
            double c = col[i + k], moved = x[i + k] - theta * c;
            moved = moved > 0.0 ? moved : 0.0;
            x[i + k] = moved;
            m[k] = moved > m[k] ? moved : m[k];
            px[i + k] -= theta_p * c;
            e[i + k] = inv * c;
        }
    }
    for (int k = 1; k < 8; k++) m[0] = m[k] > m[0] ? m[k] : m[0];
    return m[0];
}

/* A pivot on row r of the column in l->col. */
static void pivot(lemke *l, int r, int entering)
{
    double inv = 1.0 / l->col[r], theta = l->x[r] * inv, theta_p = l->px[r] * inv;
    double *e = l->eta + (ptrdiff_t)l->neta * l->ld;
    l->level = advance(l->col, theta, theta_p, inv, l->x, l->px, e, l->ld);
    l->inv[l->neta] = inv;
    l->eta_row[l->neta++] = r;
    l->x[r] = theta > 0.0 ? theta : 0.0;
    l->px[r] = theta_p;
    l->level = l->x[r] > l->level ? l->x[r] : l->level;
    l->basis[r] = entering;
}

/* Keeps of the tied rows those whose ratio y_i / col_i is least. */
static int keep_least(lemke *l, int count, const double *y)
{
    double least = INFINITY, size = 0.0;
    for (int t = 0; t < count; t++) {
        double ratio = y[l->tied[t]] / l->col[l->tied[t]];
        least = ratio < least ? ratio : least;
        size = fmax(size, fabs(ratio));
    }
    int kept = 0;
    for (int t = 0; t < count; t++) {
        int i = l->tied[t];
        if (y[i] / l->col[i] <= least + TIE_TOL * size) l->tied[kept++] = i;
    }
    return kept;
}

/* The lexicographic choice among the tied rows, eq. (P.10). */
static int lexicographic_row(lemke *l, int count)
{
    count = keep_least(l, count, l->px);
    for (int k = 0; k < l->n && count > 1; k++) {
        memset(l->probe, 0, (size_t)l->ld * sizeof *l->probe);
        l->probe[k] = 1.0;
        apply_inverse(l, l->probe);
        count = keep_least(l, count, l->probe);
    }
    return l->tied[0];
}

/* The least (x_i + slack) / col_i over the rows with col_i > tiny. */
RB_VECTOR static double ratio_bound(const double *restrict col, const double *restrict x,
                                    double tiny, double slack, int ld)
{
    double m[8];
    for (int k = 0; k < 8; k++) m[k] = INFINITY;
    for (int i = 0; i < ld; i += 8) {
        for (int k = 0; k < 8; k++) {
            double c = col[i + k];
            double ratio = (x[i + k] + slack) / (c > tiny ? c : 1.0);
            ratio = c > tiny ? ratio : INFINITY;
            m[k] = ratio < m[k] ? ratio : m[k];
        }
    }
    for (int k = 1; k < 8; k++) m[0] = m[k] < m[0] ? m[k] : m[0];
    return m[0];
}

/* The rows that block within the Harris window, in l->tied. */
static int window(lemke *l, double tiny, double slack)
{
    const double *col = l->col, *x = l->x;
    double bound = ratio_bound(col, x, tiny, slack, l->ld);
    if (bound == INFINITY) return 0;
    int count = 0;
    for (int i = 0; i < l->n; i++) {
        if (x[i] <= bound * col[i] && col[i] > tiny) l->tied[count++] = i;
    }
    return count;
}

/* The row that blocks the entering column, -1 where none does. */
static int leaving_row(lemke *l)
{
    double top = rb_norm_inf(l->col, l->ld);
    double slack = (l->strict ? EXACT_TOL : HARRIS_TOL) * l->level;
    int count = window(l, (l->coarse ? PIVOT_TOL_COARSE : PIVOT_TOL) * top, slack);
    if (count == 0 && !l->coarse) count = window(l, PIVOT_TOL_RAY * top, slack);
    if (count <= 1) return count ? l->tied[0] : -1;

    /* z0 leaves as soon as it can */
    double largest = 0.0;
    for (int t = 0; t < count; t++) {
        if (l->basis[l->tied[t]] == 2 * l->n) return l->tied[t];
        largest = fmax(largest, l->col[l->tied[t]]);
    }
    if (!l->strict) {
        int kept = 0;
        for (int t = 0; t < count; t++) {
            if (l->col[l->tied[t]] >= PIVOT_SHARE * largest) l->tied[kept++] = l->tied[t];
        }
        count = kept;
    }
    return count > 1 ? lexicographic_row(l, count) : l->tied[0];
}

static rb_status lemke_make(lemke *l, const rb_lemke_job *job, rb_arena *scratch)
{
    int n = job->lcp->n;
    *l = (lemke){ .n = n, .lcp = job->lcp, .cap = n + ETA_SLACK, .ld = (n + 7) / 8 * 8 };
    l->meter = scratch->meter;
    size_t ld = (size_t)l->ld, m = (size_t)n, cap = (size_t)l->cap;
    double *vectors = rb_push(scratch, double, 6 * ld);
    l->basis = rb_push(scratch, int, m);
    l->tied = rb_push(scratch, int, m);
    l->mark = rb_push(scratch, unsigned char, m);
    l->inv = rb_push(scratch, double, cap);
    l->eta_row = rb_push(scratch, int, cap);
    l->eta = rb_push(scratch, double, cap *ld);
    if (!vectors || !l->basis || !l->tied || !l->mark || !l->inv || !l->eta_row || !l->eta) {
        return RB_NOMEM;
    }
    memset(vectors, 0, 6 * ld * sizeof *vectors);
    l->d = vectors;
    l->p = vectors + ld;
    l->x = vectors + 2 * ld;
    l->px = vectors + 3 * ld;
    l->col = vectors + 4 * ld;
    l->probe = vectors + 5 * ld;
    return RB_OK;
}

/* A fixed number in [1, 2) for every index: Knuth's multiplicative hash. */
static double generic(unsigned i, unsigned seed)
{
    uint32_t h = (i + 1u) * UINT32_C(2654435761) + seed * UINT32_C(40503);
    h = (h ^ (h >> 15)) * UINT32_C(2246822519);
    h ^= h >> 13;
    return 1.0 + (double)h * 0x1p-32;
}

void rb_lemke_cover(int n, unsigned seed, double *cover)
{
    for (int i = 0; i < n; i++) cover[i] = generic((unsigned)i, seed + 17u);
}

/* All w basic; the covering column is -d. */
static void begin_cold(lemke *l, const rb_lemke_job *job)
{
    l->neta = l->fresh = 0;
    for (int i = 0; i < l->n; i++) {
        l->basis[i] = i;
        l->d[i] = job->cover ? job->cover[i] : 1.0;
        l->p[i] = generic((unsigned)i, 0u);
        l->col[i] = -l->d[i];
    }
    refresh(l);
}

/* raw := B y, for the two vectors that are chosen in the coordinates of the start basis. */
static void to_raw(lemke *l, const double *y, double *raw)
{
    memset(raw, 0, (size_t)l->ld * sizeof *raw);
    for (int i = 0; i < l->n; i++) {
        if (y[i] == 0.0) continue;
        raw_column(l, l->basis[i], l->probe);
        rb_axpy(y[i], l->probe, raw, l->n);
    }
}

/* The given partition is the basis; z0 covers the rows that it violates, eq. (P.11). Returns 0
 * where the partition is singular. */
static int begin_warm(lemke *l, const rb_lemke_job *job)
{
    int n = l->n;
    for (int i = 0; i < n; i++) l->basis[i] = job->start[i] == RB_MODE_STICK ? n + i : i;
    if (!rebuild(l)) return 0;
    refresh(l);
    double level = rb_norm_inf(l->x, n);
    memset(l->col, 0, (size_t)l->ld * sizeof *l->col);
    for (int i = 0; i < n; i++) {
        l->col[i] = l->x[i] < -HARRIS_TOL * level ? 1.0 : 0.0;
        l->px[i] = generic((unsigned)i, 0u);
        if (l->col[i] == 0.0 && l->x[i] < 0.0) l->x[i] = 0.0;
    }
    to_raw(l, l->col, l->d);
    to_raw(l, l->px, l->p);
    for (int i = 0; i < n; i++) l->col[i] = -l->col[i];
    return 1;
}

/* z0 enters where the violation per unit of cover is largest; -1: nothing is violated. */
static int first_row(const lemke *l)
{
    int r = -1;
    for (int i = 0; i < l->n; i++) {
        if (!(l->x[i] < 0.0)) continue;
        if (r < 0) {
            r = i;
            continue;
        }
        double a = l->x[i] / -l->col[i], b = l->x[r] / -l->col[r];
        if (a < b || (a == b && l->px[i] / -l->col[i] < l->px[r] / -l->col[r])) r = i;
    }
    return r;
}

static int complement(const lemke *l, int variable)
{
    return variable < l->n ? variable + l->n : variable - l->n;
}

static uint64_t mix(uint64_t x)
{
    x = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Brent's cycle detection on a stream of states: one remembered state, moved at powers of two. */
typedef struct cycle {
    uint64_t basis, saved;
    int seen, next;
} cycle;

static int cycle_step(cycle *c, int left, int entered, int entering)
{
    c->basis ^= mix((uint64_t)left) ^ mix((uint64_t)entered);
    uint64_t state = c->basis ^ (mix((uint64_t)entering) << 1);
    if (c->seen > 0 && state == c->saved) return 1;
    if (++c->seen == c->next) {
        c->saved = state;
        c->next *= 2;
    }
    return 0;
}

/* The z part of the ray along which the entering variable grows without bound, eq. (P.9). */
static void read_ray(const lemke *l, int entering, double *ray)
{
    if (!ray) return;
    int n = l->n;
    memset(ray, 0, (size_t)n * sizeof *ray);
    if (entering >= n) ray[entering - n] = l->lcp->s[entering - n];
    for (int i = 0; i < n; i++) {
        int j = l->basis[i] - n;
        if (j >= 0 && j < n) ray[j] = fmax(0.0, -l->col[i]) * l->lcp->s[j];
    }
}

static void read_answer(const lemke *l, rb_lemke_job *job)
{
    int n = l->n;
    memset(job->z, 0, (size_t)n * sizeof *job->z);
    memset(job->set, RB_MODE_OPEN, (size_t)n);
    for (int i = 0; i < n; i++) {
        int j = l->basis[i] - n;
        if (j < 0 || j >= n) continue;
        job->z[j] = l->lcp->s[j] * l->x[i];
        job->set[j] = RB_MODE_STICK;
    }
}

/* Factors the basis again in the middle of a run; 0 where it is singular. */
static int renew(lemke *l)
{
    if (!rebuild(l)) return 0;
    refresh(l);
    for (int i = 0; i < l->n; i++) l->x[i] = l->x[i] > 0.0 ? l->x[i] : 0.0;
    return 1;
}

/* Column and leaving row of the entering variable. A doubtful pivot or a ray counts only on a fresh
 * basis. Row -1: a ray; -2: the basis is singular. */
static int choose_row(lemke *l, int entering)
{
    if (l->neta == l->cap && !renew(l)) return -2;
    for (;;) {
        raw_column(l, entering, l->col);
        apply_inverse(l, l->col);
        int r = leaving_row(l);
        int doubted = r < 0 || l->col[r] < PIVOT_DOUBTED * rb_norm_inf(l->col, l->ld);
        if (!doubted || l->neta == l->fresh) return r;
        if (!renew(l)) return -2;
    }
}

/* The pivots after the first; 1: a basis repeated. */
static int pivot_on(lemke *l, rb_lemke_job *job, int left)
{
    cycle seen = { .next = 1 };
    for (;;) {
        int entering = complement(l, left);
        int stop = !rb_meter_add(l->meter, RB_WORK_SWEEP, 2e-3 * l->n * l->n);
        if (stop || job->pivots >= job->max_pivots) {
            job->end = RB_LEMKE_LIMIT;
            return 0;
        }
        int r = choose_row(l, entering);
        if (r < 0) {
            job->end = r == -1 ? RB_LEMKE_RAY : RB_LEMKE_LOST;
            if (r == -1) read_ray(l, entering, job->ray);
            return 0;
        }
        left = l->basis[r];
        pivot(l, r, entering);
        job->pivots++;
        if (left == 2 * l->n) {
            job->end = RB_LEMKE_SOLVED;
            return 0;
        }
        if (cycle_step(&seen, left, entering, complement(l, left))) return 1;
    }
}

/* One run by one rule; returns 1 where a basis repeated. */
static int run_once(lemke *l, rb_lemke_job *job)
{
    job->end = RB_LEMKE_SOLVED;
    if (job->start) {
        if (!begin_warm(l, job)) {
            job->end = RB_LEMKE_LOST;
            return 0;
        }
    } else {
        begin_cold(l, job);
    }
    int r = first_row(l);
    if (r < 0) return 0;
    int left = l->basis[r];
    pivot(l, r, 2 * l->n);
    job->pivots++;
    return pivot_on(l, job, left);
}

rb_status rb_lemke_run(rb_lemke_job *job, rb_arena *scratch)
{
    rb_mark mark = rb_arena_mark(scratch);
    lemke l;
    rb_status status = lemke_make(&l, job, scratch);
    if (status == RB_OK) {
        job->pivots = 0;
        l.strict = job->strict;
        l.coarse = job->coarse;
        int repeated = run_once(&l, job);
        if (repeated && !l.strict) {
            l.strict = 1;
            repeated = run_once(&l, job);
        }
        if (repeated) job->end = RB_LEMKE_LIMIT;
        if (job->end == RB_LEMKE_LOST) {
            memset(job->z, 0, (size_t)l.n * sizeof *job->z);
            memset(job->set, RB_MODE_OPEN, (size_t)l.n);
        } else {
            read_answer(&l, job);
        }
        job->rebuilds = l.rebuilds;
    }
    rb_arena_reset(scratch, mark);
    return status;
}

rb_status rb_lemke_polished(rb_lemke_job *job, rb_partition *t, rb_arena *scratch, rb_measure *m)
{
    int n = job->lcp->n;
    if (!job->z) job->z = rb_push(scratch, double, n);
    if (!job->set) job->set = rb_push(scratch, unsigned char, n);
    if (!job->z || !job->set) return RB_NOMEM;
    rb_status status = rb_lemke_run(job, scratch);
    if (status != RB_OK) return status;

    *m = rb_measure_worst();
    memcpy(t->set, job->set, (size_t)n);
    if (job->end == RB_LEMKE_SOLVED) *m = rb_partition_polish(job->lcp, t);
    if (m->strict <= POLISHED_TOL) return RB_OK;

    /* the pivots may know better than a nearly singular block */
    rb_measure raw = rb_boxed_measure(job->lcp, job->z, t->w);
    if (raw.strict < m->strict) {
        memcpy(t->z, job->z, (size_t)n * sizeof *t->z);
        *m = raw;
    } else {
        rb_boxed_measure(job->lcp, t->z, t->w);
    }
    return RB_OK;
}

/* Warm where wanted, cold, cold by the strict rule: the first certified answer ends it. */
static rb_status attempt(const rb_boxed *lcp, const unsigned char *start, const rb_solve_opts *o,
                         rb_arena *scratch, rb_partition *t, rb_info *info)
{
    for (int trial = start ? 0 : 1; trial < 3; trial++) {
        static const char *const words[] = { "warm", "cold", "strict" };
        rb_lemke_job job = { .lcp = lcp,
                             .start = trial == 0 ? start : NULL,
                             .strict = trial == 2,
                             .max_pivots = o->max_iter,
                             .ray = info->ray };
        rb_measure m;
        rb_mark mark = rb_arena_mark(scratch);
        rb_status status = rb_lemke_polished(&job, t, scratch, &m);
        rb_arena_reset(scratch, mark);
        if (status != RB_OK) return status;
        rb_path_add(info, words[trial]);
        info->iterations += job.pivots;
        info->factorisations += job.rebuilds + 1;
        rb_boxed_finish(lcp, o->tol, m, t->z, info);
        if (info->outcome == RB_FAILED && job.end == RB_LEMKE_RAY) info->outcome = RB_RAY;
        if (info->outcome == RB_SOLVED || (trial > 0 && job.end == RB_LEMKE_RAY)) break;
    }
    rb_partition_rcond(lcp, t);
    info->rcond = t->rcond;
    return RB_OK;
}

static rb_status solve_reduced(const rb_boxed *box, const rb_solve_opts *o, rb_arena *scratch,
                               double *z, rb_info *info)
{
    rb_reduction r;
    rb_partition t;
    rb_status status = rb_reduce(box, scratch, &r);
    if (status != RB_OK) return status;
    if (r.bad_row >= 0) {
        info->bad_row = r.bad_row;
        rb_path_add(info, "contradictory equality");
        return RB_OK;
    }
    unsigned char *set = rb_push(scratch, unsigned char, (size_t)box->n + (size_t)r.lcp.n);
    double *own_ray = info->ray, *ray = rb_push(scratch, double, r.lcp.n);
    if (!set || !ray || rb_partition_make(r.lcp.n, scratch, &t) != RB_OK) return RB_NOMEM;
    unsigned char *start = o->warm ? set + box->n : NULL;
    if (start) {
        rb_partition_guess(box, info->mode, z, set);
        rb_reduce_set(&r, set, start);
    }
    info->ray = ray;
    status = attempt(&r.lcp, start, o, scratch, &t, info);
    info->ray = own_ray;
    if (status != RB_OK) return status;
    rb_reduce_back(&r, t.z, z);
    if (info->mode) rb_reduce_set_back(&r, t.set, info->mode);

    /* a ray of the reduced problem is no statement about the boxed one */
    double *w = rb_push(scratch, double, box->n);
    if (!w) return RB_NOMEM;
    rb_boxed_finish(box, o->tol, rb_boxed_measure(box, z, w), z, info);
    return RB_OK;
}

static rb_status solve_lemke(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                             double *z, rb_info *info)
{
    rb_boxed box;
    rb_status status = rb_boxed_view(p, scratch, &box);
    if (status != RB_OK) return status;
    if (!box.lcp) return solve_reduced(&box, o, scratch, z, info);

    rb_partition t;
    unsigned char *start = rb_push(scratch, unsigned char, p->n);
    status = rb_partition_make(p->n, scratch, &t);
    if (!start || status != RB_OK) return RB_NOMEM;
    if (o->warm) rb_partition_guess(&box, info->mode, z, start);
    status = attempt(&box, o->warm ? start : NULL, o, scratch, &t, info);
    if (status != RB_OK) return status;
    memcpy(z, t.z, (size_t)p->n * sizeof *z);
    if (info->mode) memcpy(info->mode, t.set, (size_t)p->n);
    return RB_OK;
}

const rb_solver rb_solver_lemke = { "lemke", "complementary pivoting, lexicographic; any LCP",
                                    RB_LCP | RB_BOX, solve_lemke };
