/* A mechanism of r freedoms with many more rows: W = G G' has rank r, and the system of a Newton
 * step is solved by r equations instead of m,
 *
 *     (B C' + L)^-1 = L^-1 - L^-1 B K^-1 C' L^-1,     K = 1 + C' L^-1 B (K.34)
 *
 * [Woodbury 1950]. L is a trace of compliance, 1e-8: half of the digits cancel, and one round of
 * refinement brings them back. */
#include "solve/mixed_freedoms.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/vector.h"

int rb_freedoms_push(rb_arena *arena, int most, int r, rb_freedoms *t)
{
    size_t n = (size_t)most, pad = (size_t)rb_padded(r);
    *t = (rb_freedoms){ .r = r, .pad = (int)pad };
    t->B = rb_push(arena, double, n *pad + 1);
    t->C = rb_push(arena, double, n *pad + 1);
    t->lam = rb_push(arena, double, 2 * n + 1);
    t->K = rb_push(arena, double, (size_t)r *pad + 1);
    t->y = rb_push(arena, double, pad + 1);
    t->perm = rb_push(arena, int, r + 1);
    if (!t->B || !t->C || !t->lam || !t->K || !t->y || !t->perm) return 0;
    t->left = t->lam + n;
    return 1;
}

/* K += c b' / lam of one unknown. */
RB_VECTOR static void add_unknown(double *restrict K, ptrdiff_t pad, int r,
                                  const double *restrict c, const double *restrict b, double lam)
{
    for (int i = 0; i < r; i++) {
        double c_i = c[i] / lam;
        if (c_i == 0.0) continue;
        double *K_i = K + i * pad;
        for (int j = 0; j < pad; j++) K_i[j] += c_i * b[j];
    }
}

static void fill(rb_freedoms *t)
{
    ptrdiff_t pad = t->pad;
    memset(t->K, 0, (size_t)t->r * (size_t)pad * sizeof *t->K);
    for (int i = 0; i < t->r; i++) t->K[i * (pad + 1)] = 1.0;
    for (int j = 0; j < t->m; j++)
        add_unknown(t->K, pad, t->r, t->C + j * pad, t->B + j * pad, t->lam[j]);
}

int rb_freedoms_factor(rb_freedoms *t, int symmetric)
{
    fill(t);
    t->symmetric = symmetric;
    if (symmetric && rb_ldl_positive(t->K, t->r)) return 1;
    if (symmetric) fill(t); /* the factorisation wrote over it */
    t->symmetric = 0;
    return rb_lu_factor_padded(t->K, t->r, t->perm) == t->r;
}

/* z := the answer with the digits that are left; y: K^-1 C' L^-1 z */
static void solve_once(rb_freedoms *t, double *z)
{
    ptrdiff_t pad = t->pad;
    memset(t->y, 0, (size_t)pad * sizeof *t->y);
    for (int j = 0; j < t->m; j++) rb_axpy(z[j] / t->lam[j], t->C + j * pad, t->y, t->r);
    if (t->symmetric)
        rb_ldl_positive_solve(t->K, t->r, t->y);
    else
        rb_lu_solve_padded(t->K, t->r, t->perm, t->y);
    for (int j = 0; j < t->m; j++) z[j] = (z[j] - rb_dot(t->B + j * pad, t->y, t->r)) / t->lam[j];
}

void rb_freedoms_solve(rb_freedoms *t, double *z)
{
    ptrdiff_t pad = t->pad;
    memcpy(t->left, z, (size_t)t->m * sizeof *z);
    solve_once(t, z);
    memset(t->y, 0, (size_t)pad * sizeof *t->y);
    for (int j = 0; j < t->m; j++) rb_axpy(z[j], t->C + j * pad, t->y, t->r);
    for (int j = 0; j < t->m; j++)
        t->left[j] -= t->lam[j] * z[j] + rb_dot(t->B + j * pad, t->y, t->r);
    solve_once(t, t->left);
    for (int j = 0; j < t->m; j++) z[j] += t->left[j];
}
