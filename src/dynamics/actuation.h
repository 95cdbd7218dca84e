/* Actuators, for the stepper: how stiff they are and how their activations advance. */
#ifndef RB_DYNAMICS_ACTUATION_H
#define RB_DYNAMICS_ACTUATION_H

#include "dynamics/coupling.h"

/* Adds per dof the stiffness k and the damping b (nv_all each) of the servos that `holds` marks
 * (nu; NULL: all), bounded from above as in rb_passive_stiffness_apart; a servo that pushes instead
 * of holding adds 0. Those on several dofs go to `apart` where M has room for them (NULL: none do).
 * Needs velocity. */
void rb_actuation_stiffness_of(const rb_model *m, const rb_data *d, const signed char *holds,
                               double *k, double *b, rb_coupling *apart);

/* After rb_actuation: -1, 1: the force of the actuator, or that on its joint, is at its lower or
 * upper bound. Then: d->actuation of a hinge or slide as if it had none. */
int rb_actuator_side(const rb_model *m, const rb_data *d, int i);
void rb_actuator_unbind(const rb_model *m, rb_data *d, int i);

/* After rb_actuation: by how much the force on the joint of actuator i would be beyond its bound
 * without one [N], [N m]; INFINITY: not a plain one. */
double rb_actuator_excess(const rb_model *m, const rb_data *d, int i);

/* The activations that forces of the step are found with.                              (na) */
void rb_activation_middle(const rb_model *m, const double *act, const double *next, double *middle);

/* Activations after a step h with constant controls, exact for integrators and filters, then
 * clamped; those of PIDs and motors with the motion of d. */
void rb_activation_step(const rb_model *m, const rb_data *d, double h, double *next);

/* Those of PIDs and motors once more, which began at act, with the motion of d at the middle of the
 * step: d->act gets those of the middle, next those of the end. Stiff bristles need it. */
void rb_activation_follow(const rb_model *m, rb_data *d, const double *act, double h, double *next);

#endif
