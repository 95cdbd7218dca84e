/* Anderson's mixing of Gauss-Seidel sweeps [Anderson 1965; Walker & Ni 2011]. With G(r) the
 * impulses after a sweep forward and one backward, and f = G(r) - r,
 *
 *     gamma = argmin | f_k - sum_i gamma_i df_i |,    r_{k+1} = P_K( G_k - sum_i gamma_i dg_i )
 * (K.19)
 *
 * over the differences of the last steps, in velocity units. Where modes stay this is what GMRES
 * makes of the linear iteration: 60 pairs of sweeps lead as far as 400 without it. Where they do
 * not, |f| grows, and the differences are forgotten. */
#include "solve/cone_mix.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/nsgs.h"

/* Growth of |f|^2 after which the past says nothing [1]. */
#define FORGET 4.0

/* Part of the trace that is added to the diagonal of the small system: differences that are nearly
 * parallel must not cancel [1]. */
#define LIFT 1e-10

rb_status rb_mix_make(const rb_cones *k, rb_arena *scratch, rb_mix *m)
{
    size_t n = (size_t)k->n;
    *m = (rb_mix){ .k = k, .last = INFINITY };
    m->g = rb_push(scratch, double, n);
    m->f = rb_push(scratch, double, n);
    m->dg = rb_push(scratch, double, RB_MIX_DEPTH *n);
    m->df = rb_push(scratch, double, RB_MIX_DEPTH *n);
    m->weight = rb_push(scratch, double, n);
    m->work = rb_push(scratch, double, n);
    if (!m->g || !m->f || !m->dg || !m->df || !m->weight || !m->work) return RB_NOMEM;
    for (int i = 0; i < k->n; i++) m->weight[i] = 1.0 / k->rho[i / k->dim];
    return RB_OK;
}

/* Differences to the last step go into the oldest slot; r and f are the new g and f. */
static void remember(rb_mix *m, const double *g, const double *f)
{
    int n = m->k->n, slot = m->next;
    double *dg = m->dg + (ptrdiff_t)slot * n, *df = m->df + (ptrdiff_t)slot * n;
    for (int i = 0; i < n; i++) {
        dg[i] = g[i] - m->g[i];
        df[i] = m->weight[i] * (f[i] - m->f[i]);
    }
    m->next = (slot + 1) % RB_MIX_DEPTH;
    if (m->known < RB_MIX_DEPTH) m->known++;
    for (int i = 0; i < m->known; i++) {
        double dot = rb_dot(df, m->df + (ptrdiff_t)i * n, n);
        m->gram[slot * RB_MIX_DEPTH + i] = m->gram[i * RB_MIX_DEPTH + slot] = dot;
    }
}

/* gamma of (K.19), f in m->work, weighed; 0: there is none. */
static int weights(const rb_mix *m, double *gamma)
{
    int n = m->known, perm[RB_MIX_DEPTH];
    double A[RB_MIX_DEPTH * RB_MIX_DEPTH], trace = 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[i * n + j] = m->gram[i * RB_MIX_DEPTH + j];
        trace += A[i * n + i];
        gamma[i] = rb_dot(m->df + (ptrdiff_t)i * m->k->n, m->work, m->k->n);
    }
    for (int i = 0; i < n; i++) A[i * n + i] += LIFT * trace;
    if (n == 0 || !(trace > 0.0) || rb_lu_factor(A, n, perm) < n) return 0;
    rb_lu_solve(A, n, perm, gamma);
    return 1;
}

void rb_mix_step(rb_mix *m, double *r)
{
    const rb_cones *k = m->k;
    double *f = m->work, gamma[RB_MIX_DEPTH], size = 0.0;
    memcpy(f, r, (size_t)k->n * sizeof *f);
    for (int i = 0; i < 2; i++) rb_nsgs_sweep(k, NULL, r, i);
    for (int i = 0; i < k->n; i++) {
        f[i] = r[i] - f[i];
        size += m->weight[i] * f[i] * (m->weight[i] * f[i]);
    }
    if (size > FORGET * m->last)
        m->known = m->next = 0;
    else if (m->begun)
        remember(m, r, f);
    memcpy(m->g, r, (size_t)k->n * sizeof *r);
    memcpy(m->f, f, (size_t)k->n * sizeof *f);
    m->last = size;
    m->begun = 1;
    for (int i = 0; i < k->n; i++) f[i] *= m->weight[i];
    if (!weights(m, gamma)) return;
    for (int i = 0; i < m->known; i++) rb_axpy(-gamma[i], m->dg + (ptrdiff_t)i * k->n, r, k->n);
    for (int c = 0; c < k->nc; c++) rb_cone_project(r + (ptrdiff_t)c * k->dim, k->mu[c], k->dim);
}
