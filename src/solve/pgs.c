/* Projected Gauss-Seidel, the baseline everybody knows [Cottle 1992, 5.2].
 *
 *     z_i := clamp(z_i - w_i / W_ii, lo_i, hi_i),   w_i = W_i z + q_i with the newest z
 *
 * Converges for symmetric positive semidefinite W with positive diagonal, linearly and often very
 * slowly. A row with W_ii <= 0 cannot be solved for its own variable: it is left alone, and unless
 * it is satisfied in the end the outcome is RB_FAILED. */
#include <math.h>
#include <string.h>

#include "base/meter.h"
#include "math/dense.h"
#include "solve/internal.h"
#include "solve/matrix.h"
#include "solve/partition.h"

/* Sweeps between two evaluations of the residual: it costs as much as a sweep. */
enum { LOOK_EVERY = 8 };

/* A residual that shrinks by less than this factor over STALL_SWEEPS sweeps has converged as far as
 * it will [1]. */
#define STALL_FACTOR 0.999
enum { STALL_SWEEPS = 400 };

typedef struct rows {
    const rb_problem *p;
    rb_matrix W;  /* dense or blocks                        */
    double *diag; /* W_ii                              (n)  */
    double w_max; /* largest |W_ij|                         */
} rows;

static double row_dot(const rows *r, int i, const double *z)
{
    const rb_matrix *W = &r->W;
    if (W->form == RB_DENSE) return rb_dot(W->dense + (ptrdiff_t)i * r->p->n, z, r->p->n);
    int bs = W->bs, b = i / bs;
    double sum = 0.0;
    for (int e = W->ptr[b]; e < W->ptr[b + 1]; e++) {
        const double *B = W->val + ((ptrdiff_t)e * bs + i % bs) * bs, *x = z + W->col[e] * bs;
        for (int c = 0; c < bs; c++) sum += B[c] * x[c];
    }
    return sum;
}

static rb_status rows_make(const rb_problem *p, rb_arena *scratch, rows *r)
{
    *r = (rows){ .p = p, .W = p->W };
    r->diag = rb_push(scratch, double, p->n);
    if (!r->diag) return RB_NOMEM;
    if (p->W.form == RB_OPERATOR) {
        rb_status status = rb_matrix_to_bsr(&p->W, p->n, 1, scratch, &r->W);
        if (status != RB_OK) return status;
    }
    memset(r->diag, 0, (size_t)p->n * sizeof *r->diag);
    if (r->W.form == RB_DENSE) {
        for (int i = 0; i < p->n; i++) {
            const double *W_i = r->W.dense + (ptrdiff_t)i * p->n;
            r->diag[i] = W_i[i];
            r->w_max = fmax(r->w_max, rb_norm_inf(W_i, p->n));
        }
        return RB_OK;
    }
    int bs = r->W.bs;
    for (int b = 0; b < p->n / bs; b++) {
        for (int e = r->W.ptr[b]; e < r->W.ptr[b + 1]; e++) {
            const double *B = r->W.val + (ptrdiff_t)e * bs * bs;
            r->w_max = fmax(r->w_max, rb_norm_inf(B, bs * bs));
            for (int c = 0; c < bs && r->W.col[e] == b; c++) r->diag[b * bs + c] = B[c * bs + c];
        }
    }
    return RB_OK;
}

static double lower(const rb_problem *p, int i)
{
    return p->kind == RB_BOX ? p->lo[i] : 0.0;
}

static double upper(const rb_problem *p, int i)
{
    return p->kind == RB_BOX ? p->hi[i] : INFINITY;
}

static void sweep(const rows *r, double *z)
{
    for (int i = 0; i < r->p->n; i++) {
        if (!(r->diag[i] > 0.0)) continue;
        double w = row_dot(r, i, z) + r->p->q[i];
        z[i] = rb_clamp(z[i] - w / r->diag[i], lower(r->p, i), upper(r->p, i));
    }
}

typedef struct grade {
    double absolute; /* largest |mid(z - lo, w, z - hi)|; not a number after an overflow */
    double relative; /* the same over the scale of rb_certificate                        */
} grade;

static grade look(const rows *r, const double *z)
{
    const rb_problem *p = r->p;
    double worst = 0.0, z_max = 1.0, q_max = 1.0;
    for (int i = 0; i < p->n; i++) {
        double w = row_dot(r, i, z) + p->q[i];
        double error = fabs(rb_mid(z[i] - lower(p, i), w, z[i] - upper(p, i)));
        worst = error <= worst ? worst : error;
        z_max = fmax(z_max, fabs(z[i]));
        q_max = fmax(q_max, fabs(p->q[i]));
    }
    return (grade){ worst, worst / fmax(q_max, r->w_max * z_max) };
}

static void read_modes(const rows *r, const double *z, unsigned char *mode)
{
    for (int i = 0; i < r->p->n; i++) {
        double lo = lower(r->p, i), hi = upper(r->p, i);
        mode[i] = z[i] > lo && z[i] < hi ? RB_MODE_STICK
                  : z[i] >= hi           ? RB_MODE_UPPER
                                         : RB_MODE_OPEN;
    }
}

/* Sweeps until the residual is small, stalls or overflows; `best` keeps the best iterate that was
 * measured. Best is the least absolute residual: the relative one falls where z runs away. */
static grade iterate(const rows *r, const rb_solve_opts *o, double *z, double *best, int *sweeps)
{
    double n = r->p->n;
    size_t bytes = (size_t)r->p->n * sizeof *z;
    grade least = look(r, z);
    double before = INFINITY;
    memcpy(best, z, bytes);
    for (int checkpoint = 0; *sweeps < o->max_iter && least.relative > o->tol;) {
        if (!rb_meter_add(o->arena ? o->arena->meter : NULL, RB_WORK_SWEEP, 1e-3 * n * n)) break;
        sweep(r, z);
        ++*sweeps;
        if (*sweeps % LOOK_EVERY == 0 || *sweeps == o->max_iter) {
            grade now = look(r, z);
            if (!(now.absolute < INFINITY)) break;
            if (now.absolute < least.absolute) {
                least = now;
                memcpy(best, z, bytes);
            }
        }
        if (*sweeps - checkpoint >= STALL_SWEEPS) {
            if (least.absolute > STALL_FACTOR * before) break;
            before = least.absolute;
            checkpoint = *sweeps;
        }
    }
    return least;
}

static rb_status solve_pgs(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                           double *z, rb_info *info)
{
    rows r;
    rb_status status = rows_make(p, scratch, &r);
    double *best = rb_push(scratch, double, p->n);
    if (status != RB_OK || !best) return status != RB_OK ? status : RB_NOMEM;
    grade least = iterate(&r, o, z, best, &info->iterations);
    memcpy(z, best, (size_t)p->n * sizeof *z);
    info->outcome = least.relative <= o->tol ? RB_SOLVED : RB_FAILED;
    rb_path_add(info, "sweeps");
    if (info->mode) read_modes(&r, z, info->mode);
    return RB_OK;
}

const rb_solver rb_solver_pgs = { "pgs", "projected Gauss-Seidel, boxed; the baseline",
                                  RB_LCP | RB_BOX, solve_pgs };
