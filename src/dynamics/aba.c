/* Articulated bodies: M^-1 without M, O(links).
 *
 *     tips to root    P of each link, its dofs eliminated, goes to the parent  (D.10), (D.11)
 *                     z, the wrench that the dofs do not take                          (D.12)
 *     root to tips    accelerations                                                    (D.13)
 *
 * d->P is P when all dofs of the link but the first are eliminated. A link whose parent does not
 * move (fixed to the world, or kinematic) passes nothing on. */
#include "dynamics/aba_link.h"
#include "rattleback/dynamics.h"

/* The inertia that the parent of link k feels, with its first dof j eliminated (D.11). */
static void pass_inertia(const rb_model *m, rb_data *d, int k, int j)
{
    const double *l = d->link_l + 3 * k;
    double moved[21], U[6];
    rb_sym6_shift(l, d->P + 21 * k, moved);
    rb_shift_wrench(l, d->dof_U + 6 * j, U);
    rb_sym6_rank1(-1.0 / d->dof_D[j], U, moved);
    rb_sym6_add(moved, d->P + 21 * m->link_parent[k]);
}

rb_status rb_aba_factor(const rb_model *m, rb_data *d, const double *extra, int *bad)
{
    if (bad) *bad = -1;
    for (int k = 1; k < m->nlink; k++) {
        rb_sym6_inertia(m->link_mass[k], d->link_c + 3 * k, d->link_I + 6 * k, d->P + 21 * k);
    }
    for (int k = m->nlink - 1; k > 0; k--) {
        double *P = d->P + 21 * k;
        int first = m->link_dofadr[k];
        for (int j = first + m->link_dofnum[k] - 1; j >= first; j--) {
            double added = m->dof_armature[j] + (extra ? extra[j] : 0.0);
            if (!rb_stage_dof(d, j, added, P)) {
                if (bad) *bad = j;
                return RB_SINGULAR;
            }
            if (j > first) rb_sym6_rank1(-1.0 / d->dof_D[j], d->dof_U + 6 * j, P);
        }
        if (m->link_tree[m->link_parent[k]] >= 0) pass_inertia(m, d, k, first);
    }
    return RB_OK;
}

/* ---- solves -----------------------------------------------------------------------------------
 */

enum { WORK = 12 }; /* numbers a link: z, alpha */

/* z + P a + U (e - U'a) / D, the wrench that the parent feels at O of link k; without velocities
 * a is zero. */
static void accelerate_first(const rb_model *m, rb_data *d, int k, double e, int with_a,
                             double z[6])
{
    int j = m->link_dofadr[k];
    const double *a = d->link_a + 6 * k, *U = d->dof_U + 6 * j;
    double D_inv = 1.0 / d->dof_D[j], held[6];
    if (with_a) {
        e -= rb_dot6(U, a);
        rb_sym6_mul(d->P + 21 * k, a, held);
        rb_axpy6(1.0, held, z);
    }
    rb_axpy6(e * D_inv, U, z);
}

static void sweep_up(const rb_model *m, rb_data *d, const double *tau, double *qdd, int with_a)
{
    for (int k = m->nlink - 1; k > 0; k--) {
        double *z = d->link_work + WORK * k, moved[6];
        int p = m->link_parent[k];
        rb_pass_dofs(m, d, k, tau, z, qdd);
        if (m->link_tree[p] < 0) continue;
        accelerate_first(m, d, k, qdd[m->link_dofadr[k]], with_a, z);
        rb_shift_wrench(d->link_l + 3 * k, z, moved);
        rb_axpy6(1.0, moved, d->link_work + WORK * p);
    }
}

static void sweep_down(const rb_model *m, rb_data *d, double *qdd, int with_a)
{
    rb_zero6(d->link_work + 6);
    for (int k = 1; k < m->nlink; k++) {
        double *alpha = d->link_work + WORK * k + 6;
        rb_shift_motion(d->link_l + 3 * k, d->link_work + WORK * m->link_parent[k] + 6, alpha);
        if (with_a) rb_axpy6(1.0, d->link_a + 6 * k, alpha);
        rb_accelerate_dofs(m, d, k, alpha, qdd);
    }
}

void rb_aba_solve(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    for (int k = 1; k < m->nlink; k++) rb_bias_wrench(m, d, k, d->link_work + WORK * k);
    sweep_up(m, d, tau, qdd, 1);
    sweep_down(m, d, qdd, 1);
}

void rb_aba_apply(const rb_model *m, rb_data *d, double *x)
{
    for (int k = 1; k < m->nlink; k++) rb_zero6(d->link_work + WORK * k);
    sweep_up(m, d, x, x, 0);
    sweep_down(m, d, x, 0);
}
