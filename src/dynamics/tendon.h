/* Lengths, rates and Jacobians of tendons (D.27). */
#ifndef RB_DYNAMICS_TENDON_H
#define RB_DYNAMICS_TENDON_H

#include "rattleback/dynamics.h"

/* The Jacobian: rate = sum J_i v[dof_i]. */
typedef struct rb_tendon_row {
    int n;
    const int *dof;
    const double *J;
} rb_tendon_row;

static inline rb_tendon_row rb_tendon_row_of(const rb_model *m, const rb_data *d, int t)
{
    int at = m->tendon_rowadr[t];
    const double *J = m->tendon_pathnum[t] > 0 ? d->ten_J : m->tendon_coef;
    return (rb_tendon_row){ m->tendon_rownum[t], m->tendon_dof + at, J + at };
}

#endif
