/* One link of the articulated-body recursions: the inner loops of aba.c.
 *
 * Dofs are eliminated one by one, from the last of a link to the first, all at the same origin O,
 * so that joints of any kind need no small matrices to be inverted (D.10):
 *
 *     U_j = P S_j,    D_j = S_j' U_j + armature_j,    P -= U_j U_j' / D_j
 *
 * The first dof is the last to go. It is eliminated on the way to the parent,
 *
 *     phi (P - U U'/D) phi' = phi P phi' - (phi U)(phi U)'/D
 *
 * so that shifting P need not wait for the division by D: in a chain that is what takes the time.
 * A motion vector has an angular part only (hinge through O), a linear part only (slide) or both;
 * the first two cost less than half of the third. */
#ifndef RB_DYNAMICS_ABA_LINK_H
#define RB_DYNAMICS_ABA_LINK_H

#include "base/constants.h"
#include "dynamics/kinematics_link.h"
#include "dynamics/rnea_link.h"

/* U = P S; returns S' P S. */
RB_INLINE double rb_stage_U(const double P[21], const double S[6], double U[6])
{
    const double *A = P, *B = P + 6, *C = P + 15;
    if (rb_is_zero3(S + 3)) {
        rb_sym3_mul(A, S, U);
        rb_rot_t(B, S, U + 3);
        return rb_dot3(S, U);
    }
    if (rb_is_zero3(S)) {
        rb_rot(B, S + 3, U);
        rb_sym3_mul(C, S + 3, U + 3);
        return rb_dot3(S + 3, U + 3);
    }
    rb_sym6_mul(P, S, U);
    return rb_dot6(S, U);
}

/* Twice an upper bound of S' P S for P >= 0 with the given traces of A and C, to separate an
 * inertia from rounding. */
RB_INLINE double rb_noise_scale(const double S[6], double trace_A, double trace_C)
{
    return 2.0 * (rb_dot3(S, S) * trace_A + rb_dot3(S + 3, S + 3) * trace_C);
}

/* U and D of dof j with `added` inertia; 0: it meets none. */
RB_INLINE int rb_stage_dof(rb_data *d, int j, double added, const double P[21])
{
    const double *S = d->dof_S + 6 * j;
    double scale = rb_noise_scale(S, P[0] + P[1] + P[2], P[15] + P[16] + P[17]);
    double D = rb_stage_U(P, S, d->dof_U + 6 * j) + added;
    d->dof_D[j] = D;
    return D > RB_NO_INERTIA * (scale + added);
}

/* z of link k past its dofs (D.12): e_j = tau_j - S_j' z, z += U_j e_j / D_j; e is left in qdd. The
 * first dof does not change z yet. */
RB_INLINE void rb_pass_dofs(const rb_model *m, const rb_data *d, int k, const double *tau,
                            double z[6], double *qdd)
{
    int first = m->link_dofadr[k];
    for (int j = first + m->link_dofnum[k] - 1; j >= first; j--) {
        double D_inv = 1.0 / d->dof_D[j];
        qdd[j] = tau[j] - rb_dot6(d->dof_S + 6 * j, z);
        if (j > first) rb_axpy6(qdd[j] * D_inv, d->dof_U + 6 * j, z);
    }
}

/* Accelerations of the dofs of link k (D.13); alpha holds what the link would have without them. */
RB_INLINE void rb_accelerate_dofs(const rb_model *m, const rb_data *d, int k, double alpha[6],
                                  double *qdd)
{
    int first = m->link_dofadr[k], end = first + m->link_dofnum[k];
    for (int j = first; j < end; j++) {
        double D_inv = 1.0 / d->dof_D[j]; /* ready before alpha is */
        qdd[j] = (qdd[j] - rb_dot6(d->dof_U + 6 * j, alpha)) * D_inv;
        rb_axpy6(qdd[j], d->dof_S + 6 * j, alpha);
    }
}

#endif
