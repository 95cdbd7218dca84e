/* Partitions of a boxed problem, eqs. (P.1) to (P.6).
 *
 *     z_L = lo_L,  z_U = hi_U,  W_FF z_F = -(q_F + W_FL lo_L + W_FU hi_U),  w = W z + q
 *
 * The free block is always factored afresh from W: a partition has no memory, so that rounding
 * never accumulates over the pivots that led to it. */
#include "solve/partition.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "math/dense.h"
#include "solve/matrix.h"

/* Strict measure (P.5) at which an answer counts as exact up to rounding [1]. Above: refine.
 * Smaller: every answer is refined, which costs as much as the factorisation. */
#define ROUNDING_LEVEL 1e-13

/* Residual over max(1, |q|) up to which the rest of the scale of the certificate is not computed
 * [1]: it could only make a good measure better. Larger: tolerances below it would be missed. */
#define SCALE_MATTERS 1e-12

/* Above this strict measure the partition is wrong, not inexact, and nothing is refined [1]. */
#define REFINE_LIMIT 1e-4

/* See rb_measure_accepts [1]. Smaller: right answers with |z| = 1e9 |q| are refused. */
#define HONEST_TOL 1e-6

/* A diagonal entry below this counts as zero [unit of W]: its reciprocal square would overflow. */
#define DIAGONAL_TINY 1e-150

/* The same relative to the largest diagonal entry [1]: the square of a direction that is zero but
 * for rounding, 1e-9 where the normal of two bodies that are almost parallel is off by that.
 * Larger: light bodies in problems of extreme mass ratios are scaled like slip speeds. */
#define DIAGONAL_NOISE 1e-18

double rb_pow2_floor(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double coupling(const rb_boxed *b, int i, int j)
{
    double W_ij = b->W[(ptrdiff_t)i * b->n + j], W_ji = b->W[(ptrdiff_t)j * b->n + i];
    return fmax(fabs(W_ij), fabs(W_ji));
}

/* The scale of a row without a diagonal entry. with: its largest coupling with rows that have one,
 * 0 for those rows themselves. */
static double coupled_scale(const rb_boxed *b, int i, const double *with)
{
    double largest = with[i], W_ii = b->W[(ptrdiff_t)i * b->n + i];
    for (int j = 0; j < b->n; j++) {
        if (with[j] > with[i]) largest = fmax(largest, coupling(b, i, j) / with[j]);
    }
    if (W_ii > 0.0) largest = fmax(largest, sqrt(W_ii));
    int sane = largest > DIAGONAL_TINY && largest < 1.0 / DIAGONAL_TINY;
    return sane ? rb_pow2_floor(1.0 / largest) : 1.0;
}

/* s_i = 1 / sqrt(W_ii) where the diagonal is positive, eq. (P.2). A row without one (the slip speed
 * of a friction problem) takes the scale that makes its largest coupling with scaled rows one. A
 * direction that cannot move has only noise to offer there; what counts is its coupling with its
 * slip speed, which has its scale from other directions. */
static void scale_rows(const rb_boxed *b, double *s, double *with)
{
    int n = b->n;
    double tiny = DIAGONAL_TINY;
    for (int i = 0; i < n; i++) {
        tiny = fmax(tiny, DIAGONAL_NOISE * b->W[(ptrdiff_t)i * n + i]);
    }
    for (int i = 0; i < n; i++) {
        double d = b->W[(ptrdiff_t)i * n + i];
        s[i] = d > tiny ? rb_pow2_floor(1.0 / sqrt(d)) : 0.0;
    }
    for (int i = 0; i < n; i++) {
        with[i] = 0.0;
        for (int j = 0; j < n && s[i] == 0.0; j++) {
            if (s[j] > 0.0) with[i] = fmax(with[i], coupling(b, i, j) * s[j]);
        }
    }
    for (int i = 0; i < n; i++) {
        if (s[i] == 0.0) s[i] = coupled_scale(b, i, with);
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

rb_status rb_boxed_prepare(rb_boxed *b, rb_arena *scratch)
{
    double *s = rb_push(scratch, double, b->n);
    rb_mark mark = rb_arena_mark(scratch);
    double *with = rb_push(scratch, double, b->n);
    if (!s || !with) return RB_NOMEM;
    scale_rows(b, s, with);
    rb_arena_reset(scratch, mark);
    b->s = s;
    b->q_max = rb_norm_inf(b->q, b->n);
    b->data = 0.0;
    for (int i = 0; i < b->n; i++) {
        double lo = fabs(b->lo[i]) / s[i], hi = fabs(b->hi[i]) / s[i];
        b->data = larger(b->data, s[i] * fabs(b->q[i]));
        b->data = larger(b->data, lo < INFINITY ? lo : 0.0);
        b->data = larger(b->data, hi < INFINITY ? hi : 0.0);
    }
    b->lcp = 1;
    for (int i = 0; i < b->n && b->lcp; i++) b->lcp = b->lo[i] == 0.0 && b->hi[i] == INFINITY;
    return RB_OK;
}

rb_status rb_boxed_view(const rb_problem *p, rb_arena *scratch, rb_boxed *out)
{
    *out = (rb_boxed){ .n = p->n, .q = p->q, .lo = p->lo, .hi = p->hi };
    out->W = rb_matrix_dense(&p->W, p->n, scratch);
    if (!out->W) return RB_NOMEM;
    if (p->kind == RB_LCP) {
        double *lo = rb_push(scratch, double, 2 * (size_t)p->n);
        if (!lo) return RB_NOMEM;
        for (int i = 0; i < p->n; i++) {
            lo[i] = 0.0;
            lo[p->n + i] = INFINITY;
        }
        out->lo = lo;
        out->hi = lo + p->n;
    }
    return rb_boxed_prepare(out, scratch);
}

rb_measure rb_measure_worst(void)
{
    return (rb_measure){ INFINITY, INFINITY, INFINITY };
}

int rb_measure_accepts(rb_measure m, double tol)
{
    return m.relative <= tol && m.honest <= HONEST_TOL;
}

void rb_boxed_finish(const rb_boxed *b, double tol, rb_measure m, double *z, rb_info *info)
{
    info->outcome = rb_measure_accepts(m, tol) ? RB_SOLVED : RB_FAILED;
    if (info->outcome == RB_SOLVED || (m.relative > tol && m.relative < INFINITY)) return;
    for (int i = 0; i < b->n; i++) z[i] = rb_clamp(0.0, b->lo[i], b->hi[i]);
}

/* max |W_ij|. */
static double largest(const rb_boxed *b)
{
    double top = 0.0;
    for (int i = 0; i < b->n; i++) {
        top = larger(top, rb_norm_inf(b->W + (ptrdiff_t)i * b->n, b->n));
    }
    return top;
}

int rb_boxed_compliance(const rb_boxed *b, double *c)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < b->n; i++) {
        double d = b->W[(ptrdiff_t)i * b->n + i];
        if (d > 0.0) {
            sum += d;
            count++;
        }
    }
    for (int i = 0; i < b->n; i++) {
        c[i] = b->W[(ptrdiff_t)i * b->n + i] > 0.0 ? sum / count : 0.0;
    }
    return count > 0;
}

/* The largest entry of W enters the scale only where the answer is not exact anyway: finding it
 * costs as much as the product. */
rb_measure rb_boxed_measure(const rb_boxed *b, const double *z, double *w)
{
    int n = b->n;
    rb_gemv(b->W, n, n, n, z, w);
    double plain = 0.0, scaled = 0.0, z_max = 0.0, level = 0.0;
    int finite = 1;
    for (int i = 0; i < n; i++) {
        double s = b->s[i], below = z[i] - b->lo[i], above = z[i] - b->hi[i];
        w[i] += b->q[i];
        plain = larger(plain, fabs(rb_mid(below, w[i], above)));
        scaled = larger(scaled, fabs(rb_mid(below / s, s * w[i], above / s)));
        z_max = larger(z_max, fabs(z[i]));
        level = larger(level, larger(fabs(z[i]) / s, s * fabs(b->q[i])));
        finite &= z[i] - z[i] == 0.0 && w[i] - w[i] == 0.0;
    }
    if (!finite) return rb_measure_worst();
    double scale = larger(1.0, b->q_max);
    if (plain > SCALE_MATTERS * scale) scale = larger(scale, largest(b) * larger(1.0, z_max));
    return (rb_measure){ .relative = plain / scale,
                         .strict = scaled > 0.0 ? scaled / level : 0.0,
                         .honest = scaled > 0.0 ? scaled / b->data : 0.0 };
}

rb_status rb_partition_make(int n, rb_arena *scratch, rb_partition *t)
{
    size_t m = (size_t)n;
    *t = (rb_partition){ .n = n, .meter = scratch->meter };
    t->set = rb_push(scratch, unsigned char, m);
    t->z = rb_push(scratch, double, m);
    t->w = rb_push(scratch, double, m);
    t->LU = rb_push(scratch, double, m *m);
    t->rhs = rb_push(scratch, double, 2 * m);
    t->perm = rb_push(scratch, int, m);
    t->free = rb_push(scratch, int, m);
    if (!t->set || !t->z || !t->w || !t->LU || !t->rhs || !t->perm || !t->free) return RB_NOMEM;
    memset(t->set, RB_MODE_OPEN, m);
    memset(t->z, 0, m * sizeof *t->z);
    memset(t->w, 0, m * sizeof *t->w);
    return RB_OK;
}

/* The free rows, and S W_FF S (+ S C S) ready to be factored. Equalities come first: where rows
 * depend on each other, it is never an equality that depends on a contact. */
static void gather_free(const rb_boxed *b, const double *c, rb_partition *t)
{
    int k = 0;
    for (int i = 0; i < b->n && !b->lcp; i++) {
        if (t->set[i] == RB_MODE_STICK && rb_boxed_is_free(b, i)) t->free[k++] = i;
    }
    for (int i = 0; i < b->n; i++) {
        if (t->set[i] == RB_MODE_STICK && !rb_boxed_is_free(b, i)) t->free[k++] = i;
    }
    t->nfree = k;
    for (int r = 0; r < k; r++) {
        int i = t->free[r];
        const double *W_i = b->W + (ptrdiff_t)i * b->n;
        double *A_r = t->LU + (ptrdiff_t)r * k;
        double s = b->s[i];
        for (int j = 0; j < k; j++) A_r[j] = s * W_i[t->free[j]] * b->s[t->free[j]];
        if (c) A_r[r] += s * c[i] * s;
    }
}

/* z of the rows at a bound into t->z, zero for free rows; returns 1 if any of them is not zero. */
static int place_bounds(const rb_boxed *b, rb_partition *t)
{
    int moved = 0;
    for (int i = 0; i < b->n; i++) {
        t->z[i] = t->set[i] == RB_MODE_OPEN    ? b->lo[i]
                  : t->set[i] == RB_MODE_UPPER ? b->hi[i]
                                               : 0.0;
        moved |= t->z[i] != 0.0;
    }
    return moved;
}

/* z of (P.3); 0 where the free block is singular. */
static int solve_free(const rb_boxed *b, const double *c, rb_partition *t)
{
    int n = b->n;
    gather_free(b, c, t);
    int k = t->nfree, go_on = rb_meter_add(t->meter, RB_WORK_FACTOR, rb_work_dense(k));
    int rank = go_on || k == 0 ? rb_lu_factor(t->LU, k, t->perm) : 0;
    t->regular = rank == k;
    if (!t->regular) {
        t->dependent = t->free[rank];
        return 0;
    }

    /* right side of (P.3) */
    int moved = place_bounds(b, t);
    for (int r = 0; r < k; r++) {
        int i = t->free[r];
        double sum = b->q[i];
        if (moved) sum += rb_dot(b->W + (ptrdiff_t)i * n, t->z, n);
        t->rhs[r] = -b->s[i] * sum;
    }
    rb_lu_solve(t->LU, k, t->perm, t->rhs);
    for (int r = 0; r < k; r++) t->z[t->free[r]] = b->s[t->free[r]] * t->rhs[r];
    return 1;
}

int rb_partition_solve_shifted(const rb_boxed *b, const double *c, rb_partition *t)
{
    int n = b->n;
    if (!solve_free(b, c, t)) return 0;
    rb_gemv(b->W, n, n, n, t->z, t->w);
    for (int i = 0; i < n; i++) t->w[i] += b->q[i];
    if (c) {
        for (int i = 0; i < n; i++) t->w[i] += c[i] * t->z[i];
    }
    return 1;
}

int rb_partition_solve(const rb_boxed *b, rb_partition *t)
{
    return rb_partition_solve_shifted(b, NULL, t);
}

void rb_partition_refine(const rb_boxed *b, rb_partition *t)
{
    int n = b->n, k = t->nfree;
    for (int r = 0; r < k; r++) {
        int i = t->free[r];
        t->rhs[r] = -b->s[i] * rb_dot_comp(b->W + (ptrdiff_t)i * n, t->z, n, b->q[i]);
    }
    rb_lu_solve(t->LU, k, t->perm, t->rhs);
    for (int r = 0; r < k; r++) t->z[t->free[r]] += b->s[t->free[r]] * t->rhs[r];
}

void rb_partition_correct(const rb_boxed *b, rb_partition *t)
{
    int k = t->nfree;
    for (int r = 0; r < k; r++) t->rhs[r] = -b->s[t->free[r]] * t->w[t->free[r]];
    rb_lu_solve(t->LU, k, t->perm, t->rhs);
    for (int r = 0; r < k; r++) t->z[t->free[r]] += b->s[t->free[r]] * t->rhs[r];
}

void rb_partition_rcond(const rb_boxed *b, rb_partition *t)
{
    int k = t->nfree;
    double norm1 = 0.0;
    t->rcond = 0.0;
    if (!t->regular) return;
    for (int c = 0; c < k; c++) {
        double sum = 0.0;
        for (int r = 0; r < k; r++) {
            int i = t->free[r];
            sum += fabs(b->s[i] * b->W[(ptrdiff_t)i * b->n + t->free[c]]);
        }
        norm1 = fmax(norm1, sum * b->s[t->free[c]]);
    }
    t->rcond = k > 0 ? rb_lu_rcond(t->LU, k, t->perm, norm1, t->rhs) : 1.0;
}

rb_measure rb_partition_polish(const rb_boxed *b, rb_partition *t)
{
    if (!solve_free(b, NULL, t)) return rb_measure_worst();
    rb_measure plain = rb_boxed_measure(b, t->z, t->w);
    if (plain.strict <= ROUNDING_LEVEL || plain.strict > REFINE_LIMIT) return plain;

    /* keep the refined answer only if it is better: a nearly singular block can make it worse */
    int n = b->n;
    double *before = t->rhs + n;
    for (int r = 0; r < t->nfree; r++) before[r] = t->z[t->free[r]];
    rb_partition_refine(b, t);
    rb_measure refined = rb_boxed_measure(b, t->z, t->w);
    if (refined.strict <= plain.strict) return refined;
    for (int r = 0; r < t->nfree; r++) t->z[t->free[r]] = before[r];
    return rb_boxed_measure(b, t->z, t->w);
}

int rb_partition_wrong(const rb_boxed *b, const rb_partition *t, double tol, unsigned char *wrong)
{
    double z_level = 0.0, w_level = 0.0;
    for (int i = 0; i < b->n; i++) {
        z_level = larger(z_level, fabs(t->z[i]) / b->s[i]);
        w_level = larger(w_level, b->s[i] * fabs(b->q[i]));
    }
    w_level = larger(w_level, z_level);

    int count = 0;
    for (int i = 0; i < b->n; i++) {
        double s = b->s[i], slack = tol * z_level * s, w = s * t->w[i];
        wrong[i] = 0;
        if (t->set[i] == RB_MODE_STICK) {
            if (t->z[i] < b->lo[i] - slack) wrong[i] = RB_MODE_OPEN;
            if (t->z[i] > b->hi[i] + slack) wrong[i] = RB_MODE_UPPER;
        } else if (t->set[i] != RB_MODE_UNKNOWN && b->lo[i] < b->hi[i]) {
            double inward = t->set[i] == RB_MODE_OPEN ? w : -w;
            if (inward < -tol * w_level) wrong[i] = RB_MODE_STICK;
        }
        count += wrong[i] != 0;
    }
    return count;
}

void rb_partition_guess(const rb_boxed *b, const unsigned char *mode, const double *z,
                        unsigned char *set)
{
    for (int i = 0; i < b->n; i++) {
        int lower = b->lo[i] != -INFINITY, upper = b->hi[i] != INFINITY;
        int guess = mode ? mode[i] : RB_MODE_UNKNOWN;
        if (guess == RB_MODE_UNKNOWN || guess == RB_MODE_SLIDE) {
            guess = z && z[i] > b->lo[i] && z[i] < b->hi[i] ? RB_MODE_STICK
                    : z && z[i] >= b->hi[i]                 ? RB_MODE_UPPER
                                                            : RB_MODE_OPEN;
        }
        if (!lower && !upper) guess = RB_MODE_STICK;
        if (guess == RB_MODE_OPEN && !lower) guess = RB_MODE_UPPER;
        if (guess == RB_MODE_UPPER && !upper) guess = RB_MODE_OPEN;
        if (b->lo[i] == b->hi[i]) guess = RB_MODE_OPEN;
        set[i] = (unsigned char)guess;
    }
}

void rb_partition_drop(const rb_boxed *b, rb_partition *t, int i)
{
    t->set[i] = b->lo[i] != -INFINITY  ? RB_MODE_OPEN
                : b->hi[i] != INFINITY ? RB_MODE_UPPER
                                       : RB_MODE_UNKNOWN;
}

int rb_partition_solve_dropping(const rb_boxed *b, const double *c, rb_partition *t)
{
    int drops = 0;
    while (!rb_partition_solve_shifted(b, c, t)) {
        rb_partition_drop(b, t, t->dependent);
        drops++;
    }
    return drops;
}

uint64_t rb_partition_hash(const unsigned char *set, int n)
{
    return rb_hash(RB_HASH_INIT, set, (size_t)n);
}
