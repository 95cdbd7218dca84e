/* Articulated bodies: M^-1 without M, O(links).
 *
 *     tips to root    P of each link, its dofs eliminated, goes to the parent         (D.10),
 * (D.11) z, the wrench that is left when the dofs yield                  (D.12) root to tips
 * accelerations                                                   (D.13)
 *
 * d->P is what is left of P when the dofs of the link are eliminated: the inertia its parent feels.
 * A link whose parent does not move (fixed to the world, or led by the caller) passes nothing on.
 */
#include "dynamics/aba_link.h"
#include "rattleback/dynamics.h"

rb_status rb_aba_factor(const rb_model *m, rb_data *d, const double *extra, int *bad)
{
    if (bad) *bad = -1;
    for (int k = 1; k < m->nlink; k++) {
        rb_sym6_inertia(m->link_mass[k], d->link_c + 3 * k, d->link_I + 6 * k, d->P + 21 * k);
    }
    for (int k = m->nlink - 1; k > 0; k--) {
        double *P = d->P + 21 * k;
        int p = m->link_parent[k], first = m->link_dofadr[k];
        for (int j = first + m->link_dofnum[k] - 1; j >= first; j--) {
            double added = m->dof_armature[j] + (extra ? extra[j] : 0.0);
            if (!rb_eliminate_dof(d, j, added, P)) {
                if (bad) *bad = j;
                return RB_SINGULAR;
            }
        }
        if (m->link_tree[p] < 0) continue;
        double moved[21];
        rb_sym6_shift(d->link_l + 3 * k, P, moved);
        rb_sym6_add(moved, d->P + 21 * p);
    }
    return RB_OK;
}

/* ---- solves -----------------------------------------------------------------------------------
 */

enum { WORK = 12 }; /* numbers a link: z, alpha */

/* z goes up; with_a adds what the velocities accelerate, P a. */
static void sweep_up(const rb_model *m, rb_data *d, const double *tau, double *qdd, int with_a)
{
    for (int k = m->nlink - 1; k > 0; k--) {
        double *z = d->link_work + WORK * k, moved[6];
        int p = m->link_parent[k];
        rb_pass_dofs(m, d, k, tau, z, qdd);
        if (m->link_tree[p] < 0) continue;
        if (with_a) {
            rb_sym6_mul(d->P + 21 * k, d->link_a + 6 * k, moved);
            rb_axpy6(1.0, moved, z);
        }
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
