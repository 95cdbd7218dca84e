/* The second opinion on an answer. It differs from the library's residual on purpose: sums in
 * long double, W applied entry by entry, projections written from their definition.
 *
 *     LCP, box   max_i | z_i - clamp(z_i - w_i, lo_i, hi_i) |
 *                over max(1, |q|, |W| max(1, |z|)), largest entries
 *     cone       | r - P_K(r - (u + mu |u_t| n)) |_2 over |q|_2 */
#include "corpus_grade.h"

#include <math.h>
#include <stdlib.h>

typedef long double wide;

static void apply_dense(const rb_problem *p, const double *z, wide *w)
{
    for (int i = 0; i < p->n; i++) {
        const double *row = p->W.dense + (size_t)i * (size_t)p->n;
        for (int j = 0; j < p->n; j++) w[i] += (wide)row[j] * (wide)z[j];
    }
}

static void apply_blocks(const rb_problem *p, const double *z, wide *w)
{
    int bs = p->W.bs;
    for (int i = 0; i < p->n; i++)
        for (int k = p->W.ptr[i / bs]; k < p->W.ptr[i / bs + 1]; k++) {
            const double *row = p->W.val + (size_t)(k * bs + i % bs) * (size_t)bs;
            for (int j = 0; j < bs; j++) w[i] += (wide)row[j] * (wide)z[p->W.col[k] * bs + j];
        }
}

/* w += J Minv J' z; `dof` holds J' z and Minv J' z, 2 m. */
static void apply_operator(const rb_problem *p, const double *z, wide *dof, wide *w)
{
    const rb_operator *op = p->W.op;
    wide *force = dof, *change = dof + op->m;
    for (int i = 0; i < p->n; i++)
        for (int k = op->jptr[i]; k < op->jptr[i + 1]; k++)
            force[op->jcol[k]] += (wide)op->jval[k] * (wide)z[i];
    const double *block = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        int first = op->start[b], size = op->start[b + 1] - first;
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++)
                change[first + i] += (wide)block[i * size + j] * force[first + j];
        block += (size_t)size * (size_t)size;
    }
    for (int i = 0; i < p->n; i++)
        for (int k = op->jptr[i]; k < op->jptr[i + 1]; k++)
            w[i] += (wide)op->jval[k] * change[op->jcol[k]];
}

/* Largest entry of W; only dense and block sparse LCPs and boxes are scaled by it. */
static wide largest_entry(const rb_problem *p)
{
    wide most = 0.0L;
    size_t n = (size_t)p->n, count = 0;
    const double *entry = NULL;
    if (p->W.form == RB_DENSE) {
        entry = p->W.dense;
        count = n * n;
    } else if (p->W.form == RB_BSR) {
        entry = p->W.val;
        count = (size_t)p->W.ptr[p->n / p->W.bs] * (size_t)p->W.bs * (size_t)p->W.bs;
    }
    for (size_t k = 0; k < count; k++) most = fmaxl(most, fabsl((wide)entry[k]));
    return most;
}

static double grade_box(const rb_problem *p, const double *z, const wide *w)
{
    wide worst = 0.0L, q_most = 0.0L, z_most = 0.0L;
    for (int i = 0; i < p->n; i++) {
        wide lo = p->kind == RB_BOX ? (wide)p->lo[i] : 0.0L;
        wide hi = p->kind == RB_BOX ? (wide)p->hi[i] : (wide)INFINITY;
        wide step = (wide)z[i] - w[i];
        wide nearest = step < lo ? lo : step > hi ? hi : step;
        worst = fmaxl(worst, fabsl((wide)z[i] - nearest));
        q_most = fmaxl(q_most, fabsl((wide)p->q[i]));
        z_most = fmaxl(z_most, fabsl((wide)z[i]));
    }
    wide scale = fmaxl(fmaxl(1.0L, q_most), largest_entry(p) * fmaxl(1.0L, z_most));
    return (double)(worst / scale);
}

/* x <- nearest point of { x_n >= 0, |x_t| <= mu x_n }; mu = 0: the half line. */
static void project_cone(wide mu, int dim, wide *x)
{
    wide t2 = 0.0L;
    for (int k = 1; k < dim; k++) t2 += x[k] * x[k];
    wide t = sqrtl(t2);
    if (x[0] >= 0.0L && t <= mu * x[0]) return;      /* mu = 0: the sign of x_n decides */
    wide along = (x[0] + mu * t) / (1.0L + mu * mu); /* normal part of the nearest point */
    if (along < 0.0L) along = 0.0L;
    for (int k = 1; k < dim; k++) x[k] = t > 0.0L ? x[k] / t * mu * along : 0.0L;
    x[0] = along;
}

static double grade_cone(const rb_problem *p, const double *r, const wide *u)
{
    wide sum = 0.0L, q2 = 0.0L;
    int dim = p->dim;
    for (int c = 0; c < p->nc; c++) {
        wide x[3] = { 0 }, slip2 = 0.0L, mu = (wide)p->mu[c];
        for (int k = 1; k < dim; k++) slip2 += u[dim * c + k] * u[dim * c + k];
        for (int k = 0; k < dim; k++) x[k] = (wide)r[dim * c + k] - u[dim * c + k];
        x[0] -= mu * sqrtl(slip2);
        project_cone(mu, dim, x);
        for (int k = 0; k < dim; k++) {
            wide apart = (wide)r[dim * c + k] - x[k];
            sum += apart * apart;
            q2 += (wide)p->q[dim * c + k] * (wide)p->q[dim * c + k];
        }
    }
    return q2 > 0.0L ? (double)sqrtl(sum / q2) : (double)sqrtl(sum);
}

double rb_grade(const rb_problem *p, const double *z)
{
    size_t dofs = p->W.form == RB_OPERATOR ? 2 * (size_t)p->W.op->m : 0;
    for (int i = 0; i < p->n; i++)
        if (!isfinite(z[i])) return INFINITY;
    wide *w = calloc((size_t)p->n + dofs, sizeof *w);
    if (!w) return -1.0;

    if (p->W.form == RB_DENSE) apply_dense(p, z, w);
    if (p->W.form == RB_BSR) apply_blocks(p, z, w);
    if (p->W.form == RB_OPERATOR) apply_operator(p, z, w + p->n, w);
    for (int i = 0; i < p->n; i++) w[i] += (wide)p->q[i];
    double grade = p->kind == RB_CONE ? grade_cone(p, z, w) : grade_box(p, z, w);
    free(w);
    return grade;
}
