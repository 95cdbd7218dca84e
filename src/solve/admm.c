/* Alternating directions for Coulomb cones [Carpentier et al. 2024], (K.12). The impulse is split
 * into x, which meets the linear equation, and z, which lies in the cones; y is the multiplier:
 *
 *     x := solve (W + R) x = -(q + s) + R z - y        R = diag(beta / rho_c): one scalar a contact
 *     z := P_K(x + R^-1 y)
 *     y := y + R (x - z)
 *     s := mu |u_t| n with u = W z + q                 De Saxce shift, makes it Coulomb
 *
 * R is one scalar per contact so that projections remain projections. beta is moved by powers of
 * four while the two residuals differ by more than ten, each time with a new factorisation.
 * Robust where W is badly conditioned, slow in the end: `auto` lets Newton finish. */
#include "solve/admm.h"

#include <math.h>
#include <string.h>

#include "math/block_lu.h"
#include "solve/internal.h"

enum { MAX_FILL = 40000000, FIRST_CHECK = 10 };

typedef struct admm {
    const rb_cones *k;
    rb_block_lu lu;
    double beta, *G, *x, *z, *y, *u, *z_old, *best, *work;
} admm;

static rb_status take_memory(admm *s, rb_arena *scratch)
{
    const rb_cones *k = s->k;
    rb_status status =
        rb_block_lu_analyse(&s->lu, k->nc, k->dim, k->W.ptr, k->W.col, MAX_FILL, scratch);
    if (status != RB_OK) return status;
    s->G = rb_push(scratch, double, (size_t)k->W.ptr[k->nc] * (size_t)(k->dim * k->dim));
    double **vectors[] = { &s->x, &s->z, &s->y, &s->u, &s->z_old, &s->best, &s->work };
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
        *vectors[v] = rb_push(scratch, double, k->n);
        if (!*vectors[v]) return RB_NOMEM;
    }
    return s->G ? RB_OK : RB_NOMEM;
}

static void factor(admm *s)
{
    const rb_cones *k = s->k;
    int bb = k->dim * k->dim;
    memcpy(s->G, k->W.val, (size_t)k->W.ptr[k->nc] * (size_t)bb * sizeof *s->G);
    for (int c = 0; c < k->nc; c++) {
        double *D = s->G + (ptrdiff_t)k->diag[c] * bb;
        for (int i = 0; i < k->dim; i++) D[i * k->dim + i] += s->beta / k->rho[c];
    }
    rb_block_lu_factor(&s->lu, s->G);
}

/* One iteration; returns the primal and dual residuals in velocity units. */
static void iterate(admm *s, double *primal, double *dual)
{
    const rb_cones *k = s->k;
    int dim = k->dim;
    for (int c = 0; c < k->nc; c++) {
        ptrdiff_t at = (ptrdiff_t)c * dim;
        double R = s->beta / k->rho[c];
        for (int i = 0; i < dim; i++) {
            s->x[at + i] = -k->q[at + i] + R * s->z[at + i] - s->y[at + i];
        }
        s->x[at] -= k->mu[c] * rb_cone_tangent(s->u + at, dim);
    }
    rb_block_lu_solve(&s->lu, s->x, s->work);
    memcpy(s->z_old, s->z, (size_t)k->n * sizeof *s->z);
    *primal = *dual = 0.0;
    for (int c = 0; c < k->nc; c++) {
        ptrdiff_t at = (ptrdiff_t)c * dim;
        double R = s->beta / k->rho[c], *z = s->z + at;
        for (int i = 0; i < dim; i++) z[i] = s->x[at + i] + s->y[at + i] / R;
        rb_cone_project(z, k->mu[c], dim);
        for (int i = 0; i < dim; i++) {
            double gap = s->x[at + i] - z[i];
            s->y[at + i] += R * gap;
            *primal = fmax(*primal, fabs(gap) / k->rho[c]);
            *dual = fmax(*dual, R * fabs(z[i] - s->z_old[at + i]));
        }
    }
    rb_cones_velocity(k, s->z, s->u);
}

rb_status rb_admm_run(const rb_cones *k, rb_arena *scratch, double *r, int max_iter, double tol,
                      int *iterations, int *factorisations, double *error)
{
    admm s = { .k = k, .beta = 0.1 };
    rb_status status = take_memory(&s, scratch);
    if (status != RB_OK) return status;
    memcpy(s.z, r, (size_t)k->n * sizeof *r);
    rb_cones_velocity(k, r, s.u);
    for (int i = 0; i < k->n; i++) s.y[i] = -s.u[i];
    for (int c = 0; c < k->nc; c++) {
        ptrdiff_t at = (ptrdiff_t)c * k->dim;
        s.y[at] -= k->mu[c] * rb_cone_tangent(s.u + at, k->dim);
    }
    memcpy(s.best, r, (size_t)k->n * sizeof *r);
    *error = rb_cones_error(k, r, s.u);
    factor(&s);
    (*factorisations)++;
    int patience = FIRST_CHECK;
    for (int it = 1; it <= max_iter && *error > 0.1 * tol; it++) {
        if (rb_meter_stopped(k->meter)) break;
        double primal, dual;
        iterate(&s, &primal, &dual);
        (*iterations)++;
        double now = rb_cones_error(k, s.z, s.u);
        if (now < *error) {
            *error = now;
            memcpy(s.best, s.z, (size_t)k->n * sizeof *r);
        }
        if (--patience > 0 || (primal < 10.0 * dual && dual < 10.0 * primal)) continue;
        patience =
            FIRST_CHECK + it / 4; /* ever rarer: a step size that keeps moving never settles */
        s.beta *= primal > dual ? 4.0 : 0.25;
        factor(&s);
        (*factorisations)++;
    }
    memcpy(r, s.best, (size_t)k->n * sizeof *r);
    return RB_OK;
}

static rb_status solve_admm(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                            double *r, rb_info *info)
{
    rb_cones k;
    rb_status status = rb_cones_make(p, scratch, &k);
    if (status != RB_OK) return status;
    double error;
    status = rb_admm_run(&k, scratch, r, o->max_iter, o->tol, &info->iterations,
                         &info->factorisations, &error);
    if (status != RB_OK) return status;
    double *u = rb_push(scratch, double, k.n);
    if (!u) return RB_NOMEM;
    rb_cones_velocity(&k, r, u);
    rb_cones_modes(&k, r, u, info->mode);
    info->outcome = error <= o->tol ? RB_SOLVED : RB_FAILED;
    rb_path_add(info, "admm");
    return RB_OK;
}

const rb_solver rb_solver_admm = { "admm", "alternating directions on exact cones", RB_CONE,
                                   solve_admm };
