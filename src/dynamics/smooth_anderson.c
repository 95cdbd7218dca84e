/* Anderson's acceleration: the next x is that combination of the last values G for which the same
 * combination of the residuals is smallest,
 *
 *     min | f - sum c_k df_k |,     x = g - sum c_k dg_k,
 *
 * by normal equations of at most RB_ANDERSON unknowns, scaled to unit diagonal. Differences that
 * depend on others are left out, so that near the solution rounding does not mix anything in. */
#include "dynamics/smooth_anderson.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "math/dense.h"

/* Pivot of the normal equations of Anderson's acceleration, unit diagonal, below which a difference
 * repeats others [1]. Larger: less acceleration. Smaller: squared rounding is mixed in. */
#define ANDERSON_RANK_TOL 1e-12

int rb_anderson_push(rb_arena *arena, int n, rb_anderson *a)
{
    double *x = rb_push(arena, double, (2 * RB_ANDERSON + 2) * (size_t)n);
    a->n = n;
    a->count = 0;
    if (!x) return 0;
    a->f = x;
    a->g = x + n;
    for (int k = 0; k < RB_ANDERSON; k++) {
        a->df[k] = x += 2 * (ptrdiff_t)n;
        a->dg[k] = x + n;
    }
    return 1;
}

void rb_anderson_reset(rb_anderson *a)
{
    a->count = 0;
}

/* Differences to the evaluation before replace the oldest ones. */
static void remember(rb_anderson *a, const double *f, const double *g)
{
    if (a->count > 0) {
        int slot = (a->count - 1) % RB_ANDERSON;
        for (int i = 0; i < a->n; i++) {
            a->df[slot][i] = f[i] - a->f[i];
            a->dg[slot][i] = g[i] - a->g[i];
        }
    }
    memcpy(a->f, f, (size_t)a->n * sizeof *f);
    memcpy(a->g, g, (size_t)a->n * sizeof *g);
    a->count++;
}

/* Coefficients of the m differences that explain f best. */
static void fit(const rb_anderson *a, const double *f, int m, double *c)
{
    double A[RB_ANDERSON * RB_ANDERSON], scale[RB_ANDERSON], work[RB_ANDERSON];
    int perm[RB_ANDERSON];
    for (int k = 0; k < m; k++) {
        double norm = rb_norm2(a->df[k], a->n);
        scale[k] = norm > 0.0 ? 1.0 / norm : 0.0;
        c[k] = scale[k] * rb_dot(a->df[k], f, a->n);
    }
    for (int k = 0; k < m; k++) {
        for (int l = 0; l < m; l++) {
            A[k * m + l] = scale[k] * scale[l] * rb_dot(a->df[k], a->df[l], a->n);
        }
    }
    int rank = rb_ldl_factor(A, m, perm, ANDERSON_RANK_TOL);
    rb_ldl_solve(A, m, rank, perm, c, work);
    for (int k = 0; k < m; k++) c[k] *= scale[k];
}

void rb_anderson_mix(rb_anderson *a, const double *f, double *g)
{
    double c[RB_ANDERSON];
    remember(a, f, g);
    int m = a->count - 1 < RB_ANDERSON ? a->count - 1 : RB_ANDERSON;
    if (m == 0) return;
    fit(a, f, m, c);
    for (int k = 0; k < m; k++) rb_axpy(-c[k], a->dg[k], g, a->n);
}
