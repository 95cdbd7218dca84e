/* The rows of RB_EQ_CHAIN: frame 1 follows frame 2 through a chain of joints. */
#ifndef RB_DYNAMICS_CHAIN_H
#define RB_DYNAMICS_CHAIN_H

#include "rattleback/model.h"

enum { RB_CHAIN_DOFS = 3 * RB_CHAIN_JOINTS };

/* With V the motion of frame 1 and V_2 that of the same point as part of body 2,
 *     row i:   N_i.(V - V_2 - sum S_r v_r) = 0,     r the dofs of the rotors. */
typedef struct rb_chain {
    double p[3]; /* origin of frame 1, world                                             */
    int n;       /* rows                                                                 */
    double N[6][6];
    double error[6], bias[6];
    int nrotor;
    int dof[RB_CHAIN_DOFS];
    double S[RB_CHAIN_DOFS][6];

    /* joints without rotor: coordinates from the reference; for each of their dofs the joint,
     *     rate = C.(V - V_2 - sum S_r v_r),     and d rate/dt at qdd = 0 */
    double turn[RB_CHAIN_JOINTS][4], shift[RB_CHAIN_JOINTS];
    int nopen;
    int open[RB_CHAIN_DOFS];
    double C[RB_CHAIN_DOFS][6], rate[RB_CHAIN_DOFS], open_bias[RB_CHAIN_DOFS];
} rb_chain;

/* Needs velocity. */
void rb_chain_place(const rb_model *m, const rb_data *d, int e, rb_chain *chain);

#endif
