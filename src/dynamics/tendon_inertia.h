/* Inertia of tendons that several dofs move (D.24). */
#ifndef RB_DYNAMICS_TENDON_INERTIA_H
#define RB_DYNAMICS_TENDON_INERTIA_H

#include "rattleback/model.h"

/* Whether a tendon of the model has such an inertia; one of a single joint is armature of its dof.
 */
int rb_tendon_inertia_any(const rb_model *m);

/* d->M += A. Needs kinematics. */
void rb_tendon_inertia_add(const rb_model *m, rb_data *d);

/* f += A x */
void rb_tendon_inertia_multiply(const rb_model *m, const rb_data *d, const double *x, double *f);

/* f += J' a dJ/dt v. d is placed and moves, and does so afterwards. NaN: out of memory. */
void rb_tendon_inertia_bias(const rb_model *m, rb_data *d, double *f);

/* v' A v */
double rb_tendon_inertia_twice(const rb_model *m, const rb_data *d);

#endif
