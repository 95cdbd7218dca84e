/* Cottle and Dantzig's principal pivoting on boxed problems with symmetric positive semidefinite W
 * [Cottle & Dantzig 1968; Baraff 1994], eqs. (P.16) to (P.18).
 *
 * Rows are taken up one after the other. For row d with a wrong sign, z_d moves and the rows of the
 * free set F follow so that their w are zero:
 *     dz_F = -W_FF^-1 W_Fd dz_d,    dw = W_.F dz_F + W_.d dz_d
 * until w_d = 0, z_d meets a bound, a row of F meets a bound (it leaves F) or a w at a bound
 * becomes zero (it enters F). Signs that are right remain right. W_FF = L D L' is updated:
 * appending and deleting a row cost O(|F|^2).
 *
 * Semidefinite W: a row that enters has dw != 0, which a row depending on F cannot have, so that
 * W_FF remains regular. A row between its bounds that depends on F has w = 0 without being in it;
 * it waits (RB_MODE_UNKNOWN) and enters as soon as F loses what it depends on. */
#include <math.h>
#include <string.h>

#include "base/meter.h"
#include "math/dense.h"
#include "solve/internal.h"
#include "solve/partition.h"

/* Rates |dw_i| below this do not move a row, in scaled units [1]: for a row that depends on F the
 * rate is zero up to rounding. */
#define RATE_TOL 1e-10

/* W counts as symmetric up to this, relative to sqrt(W_ii W_jj) [1]. */
#define SYMMETRY_TOL 1e-9

enum { NOT_YET = 255 };

typedef struct dantzig {
    int n, nfree;
    const rb_boxed *b;
    double *A;          /* S W S                                             (n x n) */
    double *L;          /* unit lower factor of A_FF, row stride n           (n x n) */
    double *D;          /* its diagonal                                      (n)     */
    int *F;             /* rows of the free set, in the order of L           (n)     */
    unsigned char *set; /* rb_mode, NOT_YET before its turn                  (n)     */
    double *z, *w;      /* scaled                                            (n)     */
    double *lo, *hi;    /* scaled                                            (n)     */
    double *dz, *dw;    /* direction                                         (n)     */
    double *y;          /* work                                              (n)     */
    rb_meter *meter;    /* NULL: work is not counted                                 */
    double level;       /* largest |S q|                                             */
} dantzig;

static rb_status dantzig_make(const rb_boxed *b, rb_arena *scratch, dantzig *s)
{
    size_t n = (size_t)b->n;
    *s = (dantzig){ .n = b->n, .b = b, .meter = scratch->meter };
    s->A = rb_push(scratch, double, n *n);
    s->L = rb_push(scratch, double, n *n);
    double *v = rb_push(scratch, double, 8 * n);
    s->F = rb_push(scratch, int, n);
    s->set = rb_push(scratch, unsigned char, n);
    if (!s->A || !s->L || !v || !s->F || !s->set) return RB_NOMEM;
    s->D = v;
    s->z = v + n;
    s->w = v + 2 * n;
    s->lo = v + 3 * n;
    s->hi = v + 4 * n;
    s->dz = v + 5 * n;
    s->dw = v + 6 * n;
    s->y = v + 7 * n;
    for (int i = 0; i < b->n; i++) {
        const double *W_i = b->W + (ptrdiff_t)i * b->n;
        double *A_i = s->A + (ptrdiff_t)i * b->n;
        for (int j = 0; j < b->n; j++) A_i[j] = b->s[i] * W_i[j] * b->s[j];
        s->lo[i] = b->lo[i] / b->s[i];
        s->hi[i] = b->hi[i] / b->s[i];
        s->set[i] = NOT_YET;
        s->z[i] = fmin(fmax(0.0, s->lo[i]), s->hi[i]);
    }
    rb_gemv(s->A, b->n, b->n, b->n, s->z, s->w);
    for (int i = 0; i < b->n; i++) {
        s->w[i] += b->s[i] * b->q[i];
        s->level = fmax(s->level, fabs(b->s[i] * b->q[i]));
    }
    return RB_OK;
}

static int is_symmetric(const dantzig *s)
{
    for (int i = 0; i < s->n; i++) {
        for (int j = 0; j < i; j++) {
            double a = s->A[(ptrdiff_t)i * s->n + j], b = s->A[(ptrdiff_t)j * s->n + i];
            if (fabs(a - b) > SYMMETRY_TOL) return 0;
        }
        if (s->A[(ptrdiff_t)i * s->n + i] < 0.0) return 0;
    }
    return 1;
}

/* ---- L D L' of the free block ---- */

static void append(dantzig *s, int i)
{
    int k = s->nfree, n = s->n;
    double *row = s->L + (ptrdiff_t)k * n, pivot = s->A[(ptrdiff_t)i * n + i];
    for (int j = 0; j < k; j++) {
        const double *L_j = s->L + (ptrdiff_t)j * n;
        s->y[j] = s->A[(ptrdiff_t)i * n + s->F[j]] - rb_dot(L_j, s->y, j);
    }
    for (int j = 0; j < k; j++) {
        row[j] = s->y[j] / s->D[j];
        pivot -= row[j] * s->y[j];
    }
    row[k] = 1.0;
    s->D[k] = pivot > RATE_TOL * RATE_TOL ? pivot : RATE_TOL * RATE_TOL;
    s->F[k] = i;
    s->set[i] = RB_MODE_STICK;
    s->nfree++;
}

/* Deletes position r: the rows after it move up, and their block takes the rank-1 update D_r l l'
 * of the deleted column [Gill 1974, method C1]. */
static void delete_position(dantzig *s, int r)
{
    int k = s->nfree, n = s->n;
    double *v = s->y, alpha = s->D[r];
    for (int i = r + 1; i < k; i++) v[i - 1] = s->L[(ptrdiff_t)i * n + r];
    for (int i = r + 1; i < k; i++) {
        double *to = s->L + (ptrdiff_t)(i - 1) * n;
        const double *from = s->L + (ptrdiff_t)i * n;
        memcpy(to, from, (size_t)r * sizeof *to);
        memmove(to + r, from + r + 1, (size_t)(i - r) * sizeof *to);
        s->D[i - 1] = s->D[i];
        s->F[i - 1] = s->F[i];
    }
    s->nfree = --k;
    for (int j = r; j < k; j++) {
        double p = v[j], old = s->D[j], fresh = old + alpha * p * p;
        double beta = alpha * p / fresh;
        s->D[j] = fresh;
        alpha *= old / fresh;
        for (int i = j + 1; i < k; i++) {
            double *L_ij = s->L + (ptrdiff_t)i * n + j;
            v[i] -= p * *L_ij;
            *L_ij += beta * v[i];
        }
    }
}

static void leave_free(dantzig *s, int i, int mode)
{
    for (int r = 0; r < s->nfree; r++) {
        if (s->F[r] == i) {
            delete_position(s, r);
            break;
        }
    }
    s->set[i] = (unsigned char)mode;
}

/* ---- the direction and how far it goes ---- */

/* dz and dw for dz_d = sign, eq. (P.17). */
static void direction(dantzig *s, int d, double sign)
{
    int n = s->n, k = s->nfree;
    double *y = s->y;
    for (int j = 0; j < k; j++) {
        y[j] = -sign * s->A[(ptrdiff_t)d * n + s->F[j]] - rb_dot(s->L + (ptrdiff_t)j * n, y, j);
    }
    for (int j = k - 1; j >= 0; j--) {
        double sum = y[j] / s->D[j];
        for (int i = j + 1; i < k; i++) sum -= s->L[(ptrdiff_t)i * n + j] * y[i];
        y[j] = sum;
    }
    memset(s->dz, 0, (size_t)n * sizeof *s->dz);
    for (int j = 0; j < k; j++) s->dz[s->F[j]] = y[j];
    s->dz[d] = sign;
    rb_gemv(s->A, n, n, n, s->dz, s->dw);
}

typedef struct stop {
    double length; /* INFINITY: nothing stops the move  */
    int row;
    int mode; /* where that row goes               */
} stop;

static void consider(stop *best, double length, int row, int mode)
{
    if (length < best->length) *best = (stop){ length < 0.0 ? 0.0 : length, row, mode };
}

static stop how_far(const dantzig *s, int d)
{
    stop best = { INFINITY, -1, 0 };
    double sign = s->dz[d];
    if (s->dw[d] * sign > RATE_TOL) consider(&best, -s->w[d] / s->dw[d], d, RB_MODE_STICK);
    if (sign > 0.0) consider(&best, s->hi[d] - s->z[d], d, RB_MODE_UPPER);
    if (sign < 0.0) consider(&best, s->z[d] - s->lo[d], d, RB_MODE_OPEN);
    for (int i = 0; i < s->n; i++) {
        if (s->set[i] == RB_MODE_STICK && s->dz[i] < 0.0) {
            consider(&best, (s->lo[i] - s->z[i]) / s->dz[i], i, RB_MODE_OPEN);
        } else if (s->set[i] == RB_MODE_STICK && s->dz[i] > 0.0) {
            consider(&best, (s->hi[i] - s->z[i]) / s->dz[i], i, RB_MODE_UPPER);
        } else if (s->set[i] == RB_MODE_UNKNOWN && fabs(s->dw[i]) > RATE_TOL) {
            consider(&best, 0.0, i, RB_MODE_STICK);
        } else if (s->lo[i] == s->hi[i]) {
            continue;
        } else if ((s->set[i] == RB_MODE_OPEN && s->dw[i] < -RATE_TOL) ||
                   (s->set[i] == RB_MODE_UPPER && s->dw[i] > RATE_TOL)) {
            consider(&best, -s->w[i] / s->dw[i], i, RB_MODE_STICK);
        }
    }
    return best;
}

/* Moves until row d is settled; 0 where nothing stops it (no solution) or the cap is reached. */
static int drive(dantzig *s, int d, int *budget)
{
    for (;;) {
        double w = s->w[d];
        int at_lo = s->z[d] <= s->lo[d], at_hi = s->z[d] >= s->hi[d];
        if ((at_lo && w >= 0.0) || (at_lo && at_hi)) {
            s->set[d] = RB_MODE_OPEN;
            return 1;
        }
        if (at_hi && w <= 0.0) {
            s->set[d] = RB_MODE_UPPER;
            return 1;
        }
        if (--*budget < 0 || !rb_meter_add(s->meter, RB_WORK_FACTOR, rb_work_dense(s->n))) return 0;
        direction(s, d, w < 0.0 ? 1.0 : -1.0);
        stop first = how_far(s, d);

        /* a redundant row: nothing moves it and nothing needs to */
        int stuck = !(s->dw[d] * s->dz[d] > RATE_TOL) && fabs(w) <= RATE_TOL * s->level;
        if (stuck || first.row < 0) {
            s->set[d] = RB_MODE_UNKNOWN;
            return stuck;
        }
        rb_axpy(first.length, s->dz, s->z, s->n);
        rb_axpy(first.length, s->dw, s->w, s->n);
        int i = first.row;
        if (first.mode == RB_MODE_STICK) {
            s->w[i] = 0.0;
            append(s, i);
        } else {
            s->z[i] = first.mode == RB_MODE_OPEN ? s->lo[i] : s->hi[i];
            leave_free(s, i, first.mode);
        }
        if (i == d) return 1;
    }
}

static int drive_all(dantzig *s, int *budget)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int d = 0; d < s->n; d++) {
            if (rb_boxed_is_free(s->b, d) != (pass == 0)) continue;
            if (!drive(s, d, budget)) return 0;
        }
    }
    return 1;
}

static rb_status solve_dantzig(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                               double *z, rb_info *info)
{
    rb_boxed b;
    rb_partition t;
    dantzig s;
    rb_status status = rb_boxed_view(p, scratch, &b);
    if (status == RB_OK) status = rb_partition_make(p->n, scratch, &t);
    if (status == RB_OK) status = dantzig_make(&b, scratch, &s);
    if (status != RB_OK) return status;
    if (!is_symmetric(&s)) {
        rb_path_add(info, "W is not symmetric positive semidefinite");
        return RB_OK;
    }
    int budget = o->max_iter;
    int done = drive_all(&s, &budget);
    info->iterations = o->max_iter - (budget > 0 ? budget : 0);
    rb_path_add(info, done ? "driven" : budget < 0 ? "limit" : "unbounded");
    for (int i = 0; i < p->n; i++) {
        z[i] = fmin(fmax(s.z[i] * b.s[i], b.lo[i]), b.hi[i]);
        t.set[i] = s.set[i] == NOT_YET ? RB_MODE_OPEN : s.set[i];
    }
    rb_measure m = rb_boxed_measure(&b, z, t.w);
    if (done) {
        rb_measure fresh = rb_partition_polish(&b, &t);
        if (fresh.strict < m.strict) {
            memcpy(z, t.z, (size_t)p->n * sizeof *z);
            m = fresh;
        }
        info->factorisations = 1;
        rb_partition_rcond(&b, &t);
        info->rcond = t.rcond;
    }
    rb_boxed_finish(&b, o->tol, m, z, info);
    if (info->mode) memcpy(info->mode, t.set, (size_t)p->n);
    return RB_OK;
}

const rb_solver rb_solver_dantzig = { "dantzig",
                                      "Cottle-Dantzig principal pivoting; symmetric positive "
                                      "semidefinite, boxed",
                                      RB_LCP | RB_BOX, solve_dantzig };
