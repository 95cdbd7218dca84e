/* What kinematics would otherwise compute in every step: the inertia of a link about its origin,
 * and its rotation in the parent as a function of the hinge angle, R (a a' + cos (1 - a a') + sin
 * a~) = T0 + cos T1 + sin T2 */
#include "model/build.h"

#include "math/quat.h"

static void fill_turn(rb_model *m, int k)
{
    double *T0 = m->link_turn + 27 * k, *T1 = T0 + 9, *T2 = T0 + 18, R[9];
    rb_quat_to_rot(m->link_quat + 4 * k, R);
    memcpy(T0, R, sizeof R);
    int j = m->link_jntadr[k];
    if (m->link_jntnum[k] != 1 || m->jnt_type[j] != RB_JOINT_HINGE) return;

    const double *a = m->jnt_axis + 3 * j;
    double along[9], across[9];
    const double skew[9] = { 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0 };
    for (int i = 0; i < 9; i++) {
        along[i] = a[i / 3] * a[i % 3];
        across[i] = (i % 4 == 0 ? 1.0 : 0.0) - along[i];
    }
    rb_mul33(R, along, T0);
    rb_mul33(R, across, T1);
    rb_mul33(R, skew, T2);
}

void rb_fill_turns(rb_build *b)
{
    rb_model *m = b->m;
    for (int k = 0; k < m->nlink; k++) {
        double *I = m->link_inertia_O + 6 * k;
        memcpy(I, m->link_inertia + 6 * k, 6 * sizeof *I);
        rb_sym3_steiner(m->link_mass[k], m->link_com + 3 * k, I);
        fill_turn(m, k);
    }
}
