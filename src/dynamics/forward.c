/* Forward dynamics in three sweeps over the links, each with all it can do while a link is at hand:
 *
 *     root to tips    pose, velocity, inertia, bias wrench        (D.1) to (D.5)
 *     tips to root    P and z                                     (D.10) to (D.12)
 *     root to tips    accelerations                               (D.13)
 *
 * The same operations in the same order as rb_kinematics, rb_velocity, rb_aba_factor, rb_aba_solve,
 * and the same bits. */
#include "dynamics/aba_link.h"
#include "rattleback/dynamics.h"

static void sweep_out(const rb_model *m, rb_data *d)
{
    for (int k = 1; k < m->nlink; k++) {
        rb_place_link(m, d, k);
        rb_move_link(m, d, k);
        rb_sym6_inertia(m->link_mass[k], d->link_c + 3 * k, d->link_I + 6 * k, d->P + 21 * k);
        rb_bias_wrench(m, d, k, d->link_work + 12 * k);
    }
}

static int sweep_in(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    for (int k = m->nlink - 1; k > 0; k--) {
        double *P = d->P + 21 * k, *z = d->link_work + 12 * k, moved[21];
        int p = m->link_parent[k], first = m->link_dofadr[k];
        for (int j = first + m->link_dofnum[k] - 1; j >= first; j--) {
            if (!rb_eliminate_dof(d, j, m->dof_armature[j], P)) return 0;
        }
        rb_pass_dofs(m, d, k, tau, z, qdd);
        if (m->link_tree[p] < 0) continue;
        rb_sym6_mul(P, d->link_a + 6 * k, moved);
        rb_axpy6(1.0, moved, z);
        rb_shift_wrench(d->link_l + 3 * k, z, moved);
        rb_axpy6(1.0, moved, d->link_work + 12 * p);
        rb_sym6_shift(d->link_l + 3 * k, P, moved);
        rb_sym6_add(moved, d->P + 21 * p);
    }
    return 1;
}

static void sweep_accelerations(const rb_model *m, rb_data *d, double *qdd)
{
    rb_zero6(d->link_work + 6);
    for (int k = 1; k < m->nlink; k++) {
        double *alpha = d->link_work + 12 * k + 6;
        rb_shift_motion(d->link_l + 3 * k, d->link_work + 12 * m->link_parent[k] + 6, alpha);
        rb_axpy6(1.0, d->link_a + 6 * k, alpha);
        rb_accelerate_dofs(m, d, k, alpha, qdd);
    }
}

rb_status rb_forward(const rb_model *m, rb_data *d, const double *tau, double *qdd)
{
    rb_place_world(m, d);
    rb_stop_world(d);
    rb_hinge_sines(m, d);
    sweep_out(m, d);
    if (!sweep_in(m, d, tau, qdd)) return RB_SINGULAR;
    sweep_accelerations(m, d, qdd);
    return RB_OK;
}
