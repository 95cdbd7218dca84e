/* The iteration of the midpoint rule where springs, dampers, muscles or servos act on several dofs.
 * With C of (D.55) and a factor that is made once for the step,
 *
 *     r   = F(q_m, v_m) - A dv/h - M(q_m) dv/h - c(q_m, v_m)      (D.6) gives the last two at once
 *     dv := dv + h (M_0 + E + C)^-1 r                                                      (D.57)
 *
 * It is (D.37) with C beside E and M_0 for M(q_m) on the left; the fixed point, r = 0, is that of
 * the rule. It contracts as far as M, E and C do not change in the step. */
#include "dynamics/smooth_coupled.h"

#include <string.h>

#include "dynamics/passive.h"
#include "rattleback/dynamics.h"

int rb_smooth_coupled_push(const rb_model *m, rb_arena *arena, rb_smooth_coupled *x)
{
    x->on = rb_coupling_any(m);
    if (!x->on) return 1;
    x->M = rb_push(arena, double, m->nM);
    x->L = rb_push(arena, double, m->nM);
    x->f = rb_push(arena, double, m->nv);
    return x->M && x->L && x->f && rb_coupling_push(m, arena, &x->terms);
}

/* M and its factor in d are those of somebody else. */
typedef struct kept {
    double *M, *L;
} kept;

static kept lend(rb_data *d, rb_smooth_coupled *x)
{
    kept own = { d->M, d->L };
    d->M = x->M;
    d->L = x->L;
    return own;
}

static void give_back(rb_data *d, kept own)
{
    d->M = own.M;
    d->L = own.L;
}

/* The inertia that a dof meets is a pivot of M with all bounds, less its own. */
rb_status rb_smooth_coupled_hold(const rb_model *m, rb_data *d, double h, const double *k,
                                 const double *b, rb_smooth_coupled *x, double *A)
{
    kept own = lend(d, x);
    for (int j = 0; j < m->nv; j++) A[j] = 0.5 * h * (b[j] + 0.5 * h * k[j]);
    rb_mass(m, d);
    rb_status status = rb_mass_factor_with(m, d, A, NULL);
    for (int j = 0; j < m->nv; j++)
        A[j] = b[j] == 0.0 ? 0.0 : rb_passive_hold(h, b[j], x->L[m->dof_Madr[j]] - A[j]);
    give_back(d, own);
    return status;
}

rb_status rb_smooth_coupled_factor(const rb_model *m, rb_data *d, const double *E,
                                   rb_smooth_coupled *x)
{
    kept own = lend(d, x);
    rb_mass(m, d);
    rb_status status = rb_mass_factor_with(m, d, E, x->terms.C);
    give_back(d, own);
    return status;
}

void rb_smooth_coupled_next(const rb_model *m, rb_data *d, double h, const double *dv,
                            const double *force, rb_smooth_coupled *x, double *qdd)
{
    for (int j = 0; j < m->nv && dv; j++) qdd[j] = dv[j] / h;
    rb_inverse(m, d, dv ? qdd : NULL, x->f);
    for (int j = 0; j < m->nv; j++) x->f[j] = force[j] - x->f[j];
    kept own = { d->M, d->L };
    if (!x->lent) d->L = x->L;
    rb_mass_solve(m, d, x->f);
    give_back(d, own);
    for (int j = 0; j < m->nv; j++) qdd[j] = (dv ? qdd[j] : 0.0) + x->f[j];
}
