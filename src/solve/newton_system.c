/* Newton's linear system (A + B (W + eps)) dr = -F of the cones: a sparse block LU over the whole
 * pattern, or, where there are few rows, a dense LU of the contacts that are not open. A factored
 * system can be solved again for other right sides with the same modes. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/newton.h"

/* Pivots below this are noise in a scaled system, whose entries are of order one [1]: compliances
 * down to 1e-12 count, rounding of the entries does not. */
#define SCALED_TINY 1e-15

/* out = A + B (W + eps_c I) for the block of contact c with contact j, dim a constant where it is
 * inlined. */
static inline void fill_block(const rb_newton *s, int c, int j, const double *W, int dim,
                              double *out)
{
    const double *A = s->A + (ptrdiff_t)c * dim * dim, *B = s->B + (ptrdiff_t)c * dim * dim;
    for (int i = 0; i < dim; i++) {
        for (int l = 0; l < dim; l++) {
            double sum = B[i * dim] * W[l];
            for (int m = 1; m < dim; m++) sum += B[i * dim + m] * W[m * dim + l];
            out[i * dim + l] = sum;
        }
    }
    if (j != c) return;
    for (int i = 0; i < dim * dim; i++) out[i] += A[i] + s->eps[c] * B[i];
}

void rb_newton_block(const rb_newton *s, int c, int j, const double *W, double *out)
{
    int dim = s->k->dim;
    if (s->mode[c] == RB_MODE_STICK) {
        for (int i = 0; i < dim * dim; i++) out[i] = W[i];
        for (int i = 0; j == c && i < dim; i++) out[i * (dim + 1)] += s->eps[c];
    } else if (dim == 3) {
        fill_block(s, c, j, W, 3, out);
    } else {
        fill_block(s, c, j, W, 2, out);
    }
}

/* The whole pattern; open rows are the identity and cost nothing in the factorisation. */
static void factor_sparse(rb_newton *s)
{
    const rb_cones *k = s->k;
    int bb = k->dim * k->dim;
    for (int c = 0; c < k->nc; c++) {
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
            rb_newton_block(s, c, k->W.col[e], k->W.val + (ptrdiff_t)e * bb,
                            s->G + (ptrdiff_t)e * bb);
        }
    }
    rb_block_lu_factor(&s->lu, s->G);
    s->pivot_ratio = s->lu.pivot_ratio;
}

/* Pivots of bodies show nothing of redundant contacts: the answer is not known to be unique. */
static void factor_bodies(rb_newton *s)
{
    rb_bodies_linearise(s->bodies, s->A, s->B, s->eps);
    rb_bodies_factor(s->bodies, s->mode);
    s->pivot_ratio = 0.0;
}

/* Rows of one active contact in the dense matrix. */
static void fill_rows(rb_newton *s, int a)
{
    const rb_cones *k = s->k;
    int dim = k->dim, m = s->nactive * dim, c = s->active[a];
    double block[9];
    for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
        int j = s->index[k->W.col[e]];
        if (j < 0) continue;
        rb_newton_block(s, c, k->W.col[e], k->W.val + (ptrdiff_t)e * dim * dim, block);
        double *G = s->G + (ptrdiff_t)a * dim * m + (ptrdiff_t)j * dim;
        double scale = s->scale ? s->scale[c] * s->scale[k->W.col[e]] : 1.0;
        for (int i = 0; i < dim; i++) {
            for (int l = 0; l < dim; l++) G[(ptrdiff_t)i * m + l] = scale * block[i * dim + l];
        }
    }
}

static int factor_dense(rb_newton *s)
{
    const rb_cones *k = s->k;
    s->nactive = 0;
    for (int c = 0; c < k->nc; c++) {
        s->index[c] = s->mode[c] == RB_MODE_OPEN ? -1 : s->nactive;
        if (s->mode[c] != RB_MODE_OPEN) s->active[s->nactive++] = c;
    }
    int m = s->nactive * k->dim;
    memset(s->G, 0, (size_t)m * (size_t)m * sizeof *s->G);
    for (int a = 0; a < s->nactive; a++) fill_rows(s, a);
    int rank = s->scale ? rb_lu_factor_above(s->G, m, s->perm, SCALED_TINY)
                        : rb_lu_factor(s->G, m, s->perm);
    if (rank < m) return 0;
    double least = INFINITY, largest = 0.0;
    for (int i = 0; i < m; i++) {
        double pivot = fabs(s->G[(ptrdiff_t)i * m + i]);
        least = fmin(least, pivot);
        largest = fmax(largest, pivot);
    }
    s->pivot_ratio = m > 0 ? least / largest : 1.0;
    return 1;
}

/* Open contacts first: dr = -r = -rho F; what they change at an active contact c moves to its right
 * side. */
static void active_side(const rb_newton *s, int c, double *side)
{
    const rb_cones *k = s->k;
    int dim = k->dim;
    double du[3] = { 0.0 };
    for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
        int j = k->W.col[e];
        if (s->index[j] >= 0) continue;
        const double *W = k->W.val + (ptrdiff_t)e * dim * dim;
        for (int i = 0; i < dim; i++) {
            for (int l = 0; l < dim; l++) du[i] -= W[i * dim + l] * s->F[j * dim + l] * k->rho[j];
        }
    }
    for (int i = 0; i < dim; i++) {
        const double *B = s->B + ((ptrdiff_t)c * dim + i) * dim;
        double sum = -s->F[c * dim + i];
        for (int l = 0; l < dim; l++) sum -= B[l] * du[l];
        side[i] = sum;
    }
}

static void solve_dense(rb_newton *s)
{
    const rb_cones *k = s->k;
    int dim = k->dim;
    for (int a = 0; a < s->nactive; a++) {
        double *side = s->work + (ptrdiff_t)a * dim;
        active_side(s, s->active[a], side);
        for (int i = 0; s->scale && i < dim; i++) side[i] *= s->scale[s->active[a]];
    }
    rb_lu_solve(s->G, s->nactive * dim, s->perm, s->work);
    for (int c = 0; c < k->nc; c++) {
        int a = s->index[c];
        double scale = s->scale ? s->scale[c] : 1.0;
        for (int i = 0; i < dim; i++) {
            s->dr[c * dim + i] =
                a < 0 ? -s->F[c * dim + i] * k->rho[c] : scale * s->work[a * dim + i];
        }
    }
}

/* Where contacts hold more rows than there are degrees of freedom, some are redundant. */
static int factor_thin(rb_newton *s)
{
    s->pivot_ratio = rb_thin_crowded(s->thin, s->mode) ? RB_UNIFORM_EPS : -1.0;
    return rb_thin_factor(s->thin, s->A, s->B, s->eps, s->mode);
}

double rb_newton_pivots(rb_newton *s)
{
    if (s->pivot_ratio >= 0.0) return s->pivot_ratio;
    s->factorisations++;
    if (!factor_dense(s)) s->pivot_ratio = 0.0;
    return s->pivot_ratio;
}

/* Units of the factorisation that is about to be made. */
static double work(const rb_newton *s)
{
    if (s->bodies) return rb_bodies_units(s->bodies);
    if (s->thin)
        return rb_work_dense(s->thin->rank) + 1e-3 * s->k->n * s->thin->rank * s->thin->rank;
    return s->sparse ? rb_block_lu_work(&s->lu) : rb_work_dense(s->k->n);
}

int rb_newton_factor(rb_newton *s)
{
    if (!rb_meter_add(s->k->meter, RB_WORK_FACTOR, work(s))) return 0;
    s->factorisations++;
    memset(s->factored, RB_MODE_UNKNOWN, (size_t)s->k->nc);
    int regular = 1;
    if (s->bodies)
        factor_bodies(s);
    else if (s->thin)
        regular = factor_thin(s);
    else if (s->sparse)
        factor_sparse(s);
    else
        regular = factor_dense(s);
    if (!regular) return 0;
    memcpy(s->factored, s->mode, (size_t)s->k->nc);
    return 1;
}

int rb_newton_solve(rb_newton *s)
{
    if (memcmp(s->factored, s->mode, (size_t)s->k->nc) != 0) return 0;
    if (s->bodies) {
        rb_bodies_newton(s->bodies, s->F, s->dr);
    } else if (s->thin) {
        rb_thin_solve(s->thin, s->F, s->dr);
    } else if (s->sparse) {
        for (int i = 0; i < s->k->n; i++) s->dr[i] = -s->F[i];
        rb_block_lu_solve(&s->lu, s->dr, s->work);
    } else {
        solve_dense(s);
    }
    for (int i = 0; i < s->k->n; i++) {
        if (!isfinite(s->dr[i])) return 0;
    }
    return 1;
}
