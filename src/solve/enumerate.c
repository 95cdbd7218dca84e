/* All 2^n complementary cones, eqs. (P.19), (P.20).
 *
 *     q in pos C(a),   C(a) = columns e_i (i not in a) and -M_i (i in a)
 *
 * A regular cone is settled by one factorisation. On a singular or nearly singular one the least
 * |C x - q| over x >= 0 (Lawson and Hanson's NNLS) is either zero, which is a solution with zero
 * determinant that no pivoting method sees, or a distance. If every distance is clear, none of the
 * cones holds q: the problem provably has no solution. */
#include "solve/enumerate.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/internal.h"
#include "solve/reduce.h"

/* Negative part of x = C^-1 q beyond which a regular cone is refused at once [1], relative to |x|.
 */
#define REFUSE_TOL 1e-7

/* Reciprocal condition above which that is trusted [1]. */
#define RCOND_TRUSTED 1e-8

/* Distance of q from a cone that counts as clear [1], relative to |q|. */
#define CLEAR_DISTANCE 1e-8

/* NNLS: gradient [1] relative to |q| from which on a column enters. */
#define GRADIENT_TOL 1e-13

enum { N = RB_ENUMERATE_MAX };

/* A least squares problem with columns of length one. */
typedef struct nnls {
    int n;
    double C[N][N]; /* column j                       */
    double q[N];
    double x[N];
    double Q[N][N]; /* orthonormal basis of the passive columns, in their order */
    double R[N][N]; /* passive column j = sum_k R[k][j] Q[k]                     */
    int passive[N], npassive;
} nnls;

/* x of the passive columns by modified Gram-Schmidt; 0 where they are dependent. */
static int least_squares(nnls *s, double *y)
{
    int n = s->n, k = s->npassive;
    double rest[N];
    memcpy(rest, s->q, sizeof rest);
    for (int j = 0; j < k; j++) {
        double v[N];
        memcpy(v, s->C[s->passive[j]], sizeof v);
        for (int i = 0; i < j; i++) {
            s->R[i][j] = rb_dot(s->Q[i], v, n);
            rb_axpy(-s->R[i][j], s->Q[i], v, n);
        }
        double length = rb_norm2(v, n);
        if (length < GRADIENT_TOL) return 0;
        s->R[j][j] = length;
        for (int i = 0; i < n; i++) s->Q[j][i] = v[i] / length;
        y[j] = rb_dot(s->Q[j], rest, n);
        rb_axpy(-y[j], s->Q[j], rest, n);
    }
    for (int j = k - 1; j >= 0; j--) {
        for (int i = j + 1; i < k; i++) y[j] -= s->R[j][i] * y[i];
        y[j] /= s->R[j][j];
    }
    return 1;
}

static void remove_passive(nnls *s, int position)
{
    s->x[s->passive[position]] = 0.0;
    s->npassive--;
    for (int j = position; j < s->npassive; j++) s->passive[j] = s->passive[j + 1];
}

/* Moves x to the least squares point of the passive columns, dropping those that would become
 * negative on the way. */
static void settle(nnls *s)
{
    double y[N];
    while (s->npassive > 0) {
        if (!least_squares(s, y)) {
            remove_passive(s, s->npassive - 1);
            continue;
        }
        double step = 1.0;
        int blocking = -1;
        for (int j = 0; j < s->npassive; j++) {
            double x = s->x[s->passive[j]];
            if (y[j] <= 0.0 && x / (x - y[j]) < step) {
                step = x / (x - y[j]);
                blocking = j;
            }
        }
        for (int j = 0; j < s->npassive; j++) {
            double *x = &s->x[s->passive[j]];
            *x += step * (y[j] - *x);
        }
        if (blocking < 0) return;
        remove_passive(s, blocking);
    }
}

/* Least |C x - q| over x >= 0; returns it [|q|]. */
static double nnls_solve(nnls *s)
{
    int n = s->n;
    s->npassive = 0;
    memset(s->x, 0, sizeof s->x);
    double size = rb_norm2(s->q, n), rest[N];
    for (int round = 0; round < 4 * N; round++) {
        memcpy(rest, s->q, sizeof rest);
        for (int j = 0; j < n; j++) rb_axpy(-s->x[j], s->C[j], rest, n);
        int best = -1;
        double top = GRADIENT_TOL * size;
        for (int j = 0; j < n; j++) {
            double gradient = rb_dot(s->C[j], rest, n);
            if (s->x[j] == 0.0 && gradient > top) {
                top = gradient;
                best = j;
            }
        }
        if (best < 0 || s->npassive == n) break;
        s->passive[s->npassive++] = best;
        s->x[best] = 0.0;
        settle(s);
    }
    double distance = rb_norm2(rest, n);
    return size > 0.0 ? distance / size : 0.0;
}

/* NNLS on the cone of t->set; z is written, the distance returned. */
static double cone_distance(const rb_boxed *lcp, rb_partition *t, nnls *s)
{
    int n = lcp->n;
    double length[N];
    s->n = n;
    for (int j = 0; j < n; j++) {
        memset(s->C[j], 0, sizeof s->C[j]);
        if (t->set[j] == RB_MODE_STICK) {
            for (int i = 0; i < n; i++) {
                s->C[j][i] = -lcp->s[i] * lcp->W[(ptrdiff_t)i * n + j] * lcp->s[j];
            }
        } else {
            s->C[j][j] = 1.0;
        }
        length[j] = rb_norm2(s->C[j], n);
        for (int i = 0; i < n && length[j] > 0.0; i++) s->C[j][i] /= length[j];
    }
    memset(s->q, 0, sizeof s->q);
    for (int i = 0; i < n; i++) s->q[i] = lcp->s[i] * lcp->q[i];
    double distance = nnls_solve(s);
    for (int j = 0; j < n; j++) {
        int basic = t->set[j] == RB_MODE_STICK && length[j] > 0.0;
        t->z[j] = basic ? lcp->s[j] * s->x[j] / length[j] : 0.0;
    }
    return distance;
}

/* A regular cone: 1 it holds q (t->z is the answer), 0 it clearly does not, -1 look closer. */
static int regular_cone(const rb_boxed *lcp, rb_partition *t)
{
    if (!rb_partition_solve(lcp, t)) return -1;
    double top = 0.0, least = 0.0;
    for (int i = 0; i < lcp->n; i++) {
        double x = t->set[i] == RB_MODE_STICK ? t->z[i] / lcp->s[i] : t->w[i] * lcp->s[i];
        top = fmax(top, fabs(x));
        least = fmin(least, x);
    }
    if (least >= 0.0) return 1;
    if (least > -REFUSE_TOL * top) return -1;
    rb_partition_rcond(lcp, t);
    return t->rcond > RCOND_TRUSTED ? 0 : -1;
}

rb_status rb_enumerate_run(rb_enumerate_job *job, rb_arena *scratch)
{
    const rb_boxed *lcp = job->lcp;
    rb_partition *t = job->t;
    rb_mark mark = rb_arena_mark(scratch);
    nnls *s = rb_push(scratch, nnls, 1);
    if (!s) return RB_NOMEM;
    job->end = RB_ENUMERATE_NONE;
    job->cones = 0;
    for (unsigned long a = 0; a < 1ul << lcp->n; a++) {
        for (int i = 0; i < lcp->n; i++) t->set[i] = a >> i & 1 ? RB_MODE_STICK : RB_MODE_OPEN;
        job->cones++;
        int verdict = regular_cone(lcp, t);
        if (verdict == 0) continue;
        if (verdict > 0) {
            job->m = rb_partition_polish(lcp, t);
        } else {
            if (cone_distance(lcp, t, s) > CLEAR_DISTANCE) continue;
            job->m = rb_boxed_measure(lcp, t->z, t->w);
        }
        if (rb_measure_accepts(job->m, job->tol)) {
            job->end = RB_ENUMERATE_SOLVED;
            break;
        }
        job->end = RB_ENUMERATE_UNCLEAR;
    }
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

static rb_status solve_enumerate(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                                 double *z, rb_info *info)
{
    rb_boxed box;
    rb_reduction r;
    rb_partition t;
    rb_status status = rb_boxed_view(p, scratch, &box);
    if (status == RB_OK) status = rb_reduce(&box, scratch, &r);
    if (status != RB_OK) return status;
    if (r.bad_row >= 0 || r.lcp.n > RB_ENUMERATE_MAX) {
        info->bad_row = r.bad_row;
        rb_path_add(info, r.bad_row >= 0 ? "contradictory equality" : "too many cones");
        return RB_OK;
    }
    status = rb_partition_make(r.lcp.n, scratch, &t);
    double *w = rb_push(scratch, double, p->n);
    if (status != RB_OK || !w) return RB_NOMEM;
    rb_enumerate_job job = { .lcp = &r.lcp, .tol = o->tol, .t = &t };
    status = rb_enumerate_run(&job, scratch);
    if (status != RB_OK) return status;
    info->iterations = info->factorisations = job.cones;
    if (job.end == RB_ENUMERATE_SOLVED) {
        rb_reduce_back(&r, t.z, z);
        if (info->mode) rb_reduce_set_back(&r, t.set, info->mode);
    }
    rb_boxed_finish(&box, o->tol, rb_boxed_measure(&box, z, w), z, info);
    rb_path_add(info, job.end == RB_ENUMERATE_SOLVED ? "found a cone"
                      : job.end == RB_ENUMERATE_NONE ? "none of 2^n cones"
                                                     : "cones unclear");
    return RB_OK;
}

const rb_solver rb_solver_enumerate = { "enumerate",
                                        "all 2^n complementary cones, n <= 16; proves absence",
                                        RB_LCP | RB_BOX, solve_enumerate };
