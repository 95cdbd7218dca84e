/* Forward dynamics with loop closures, by the Schur complement (D.21).
 *
 *     W lam = -(J qdd_f + b),   W = J M^-1 J',   qdd = qdd_f + M^-1 J' lam
 *
 * Each column of M^-1 J' is one pass of the articulated-body algorithm; W is dense. Right for
 * mechanisms with tens of rows; O(rows^3) for the maximal form of long chains. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/forward.h"
#include "dynamics/tendon_inertia.h"
#include "math/dense.h"
#include "rattleback/dynamics.h"

enum { REFINEMENTS = 2 };

typedef struct schur {
    const rb_rows *rows;
    int n, nv, rank;
    double *X;     /* M^-1 J', one row of nv numbers per row of J           (n x nv) */
    double *W;     /* scaled to unit diagonal, then its L D L'              (n x n)  */
    double *scale; /* 1 / sqrt(W_ii), 0 for rows that nothing can move      (n)      */
    double *r;     /* J qdd + b                                             (n)      */
    double *step;  /* scratch                                               (n)      */
    double *work;  /* scratch                                               (n)      */
    double *sum;   /* multipliers so far                                    (n)      */
    int *perm;     /*                                                       (n)      */
} schur;

static double row_dot(const rb_rows *rows, int i, const double *x)
{
    double sum = 0.0;
    for (int k = rows->start[i]; k < rows->start[i + 1]; k++) sum += rows->J[k] * x[rows->dof[k]];
    return sum;
}

static int allocate(rb_arena *arena, schur *s)
{
    size_t n = (size_t)s->n, nv = (size_t)s->nv;
    s->X = rb_push(arena, double, n *nv);
    s->W = rb_push(arena, double, n *n);
    s->scale = rb_push(arena, double, n);
    s->r = rb_push(arena, double, n);
    s->step = rb_push(arena, double, n);
    s->work = rb_push(arena, double, n);
    s->sum = rb_push(arena, double, n);
    s->perm = rb_push(arena, int, n);
    return s->X && s->W && s->scale && s->r && s->step && s->work && s->sum && s->perm;
}

/* Tendons couple joints (D.24): the factor of the mass matrix is there instead. */
static void apply(const rb_model *m, rb_data *d, double *x)
{
    if (rb_tendon_inertia_any(m))
        rb_mass_solve(m, d, x);
    else
        rb_aba_apply(m, d, x);
}

static rb_status move_open(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    if (!rb_tendon_inertia_any(m)) {
        rb_aba_solve(m, d, tau, qdd);
        return RB_OK;
    }
    rb_status status = rb_forward_solve(m, d, NULL, tau, qdd);
    rb_mass(m, d);
    return status == RB_OK ? rb_mass_factor(m, d) : status;
}

static void build(const rb_model *m, rb_data *d, schur *s)
{
    const rb_rows *rows = s->rows;
    for (int i = 0; i < s->n; i++) {
        double *x = s->X + (ptrdiff_t)i * s->nv;
        memset(x, 0, (size_t)s->nv * sizeof *x);
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) x[rows->dof[k]] = rows->J[k];
        apply(m, d, x);
    }
    for (int i = 0; i < s->n; i++) {
        double W_ii = row_dot(rows, i, s->X + (ptrdiff_t)i * s->nv);
        s->scale[i] = W_ii > 0.0 ? 1.0 / sqrt(W_ii) : 0.0;
    }
    for (int i = 0; i < s->n; i++) {
        for (int j = 0; j <= i; j++) {
            double W_ij = row_dot(rows, i, s->X + (ptrdiff_t)j * s->nv);
            s->W[(ptrdiff_t)i * s->n + j] = s->W[(ptrdiff_t)j * s->n + i] =
                s->scale[i] * W_ij * s->scale[j];
        }
    }
    s->rank = rb_ldl_factor(s->W, s->n, s->perm, RB_LOOP_RANK_TOL * s->n);
}

/* r = J qdd + b; returns its largest entry */
static double defect(const schur *s, const double *qdd)
{
    for (int i = 0; i < s->n; i++) s->r[i] = row_dot(s->rows, i, qdd) + s->rows->bias[i];
    return rb_norm_inf(s->r, s->n);
}

/* The defect is taken off by multipliers of the independent rows. */
static void correct(schur *s, double *qdd)
{
    for (int i = 0; i < s->n; i++) s->step[i] = -s->scale[i] * s->r[i];
    rb_ldl_solve(s->W, s->n, s->rank, s->perm, s->step, s->work);
    for (int i = 0; i < s->n; i++) {
        double lam = s->scale[i] * s->step[i];
        s->sum[i] += lam;
        if (lam != 0.0) rb_axpy(lam, s->X + (ptrdiff_t)i * s->nv, qdd, s->nv);
    }
}

static void solve(const rb_model *m, rb_data *d, schur *s, double *qdd, rb_loop_info *info)
{
    double size = 1.0;
    for (int i = 0; i < s->n; i++) {
        size = fmax(size, fmax(fabs(s->rows->bias[i]), fabs(row_dot(s->rows, i, qdd))));
    }
    build(m, d, s);
    memset(s->sum, 0, (size_t)s->n * sizeof *s->sum);
    for (int round = 0; round <= REFINEMENTS; round++) {
        defect(s, qdd);
        correct(s, qdd);
    }
    *info = (rb_loop_info){ .rows = s->n, .rank = s->rank, .residual = defect(s, qdd) / size };
}

rb_status rb_forward_loops(const rb_model *m, rb_data *d, const double *tau, double *qdd,
                           double *lam, rb_loop_info *info)
{
    rb_rows rows;
    rb_status status = rb_loop_rows(m, d, &rows);
    if (status != RB_OK) return status;

    schur s = { .rows = &rows, .n = rows.n, .nv = m->nv };
    rb_loop_info told = { 0 };
    if (allocate(d->arena, &s)) {
        status = move_open(m, d, tau, qdd);
        if (status == RB_OK) solve(m, d, &s, qdd, &told);
        if (lam) memcpy(lam, s.sum, (size_t)s.n * sizeof *lam);
        if (info) *info = told;
    } else {
        status = RB_NOMEM;
    }
    rb_rows_release(d, &rows);
    return status;
}
