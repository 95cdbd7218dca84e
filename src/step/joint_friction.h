/* Within src/step: dry friction of joints and tendons that slide, as a force of smooth motion. */
#ifndef RB_STEP_JOINT_FRICTION_H
#define RB_STEP_JOINT_FRICTION_H

#include "step/stage.h"

/* The model has dry friction. */
int rb_joint_friction_any(const rb_model *m);

/* Dry friction c stuck in the step before. */
int rb_joint_friction_sticks(const rb_stage *s, const rb_constraint *c);

/* It may be held where it is: it acts on a coordinate. Then that coordinate at q (nq_all) [m] or
 * [rad]. */
int rb_joint_friction_may_hold(const rb_stage *s, const rb_constraint *c);
double rb_joint_friction_place(const rb_stage *s, const rb_constraint *c, const double *q);

/* Where it is held: where it stuck first, if that is known, so that nothing creeps by rounding. */
double rb_joint_friction_goal(const rb_stage *s, const rb_constraint *c);

/* p (set.nrow) of the rows of the island that slide, to begin with; u, their velocities at the
 * start of the step. */
void rb_joint_friction_begin(const rb_constraints *set, const unsigned char *sticks, int island,
                             const double *u, double *p);

/* force (nv_all), the sum of p over the step. */
void rb_joint_friction_force(const rb_stage *s, const rb_constraints *set, const double *p,
                             double *force);

/* p of what slides in the island by (S.49), with the velocities u_end at the end, rows of `end`.
 * Returns the largest change, in units of the bound [1]. */
double rb_joint_friction_turn(const rb_constraints *set, const unsigned char *sticks, int island,
                              const double *u, const rb_constraints *end, const double *u_end,
                              double *p);

#endif
