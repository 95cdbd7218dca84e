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

static inline int rb_tendon_is_elastic(const rb_model *m, int t)
{
    const double *k = m->tendon_stiffness_poly + 2 * t, *b = m->tendon_damping_poly + 2 * t;
    return m->tendon_stiffness[t] != 0.0 || m->tendon_damping[t] != 0.0 || k[0] != 0.0 ||
           k[1] != 0.0 || b[0] != 0.0 || b[1] != 0.0;
}

/* rb_tendons of those that are marked (ntendon; NULL: all); marks those that have forces within a
 * step, or inertia: others are looked at when it is over. */
void rb_tendons_of(const rb_model *m, rb_data *d, const unsigned char *marks);
void rb_tendons_felt(const rb_model *m, unsigned char *marks);

#endif
