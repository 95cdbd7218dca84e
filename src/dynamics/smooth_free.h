/* Smooth motion of bodies that nothing but gravity and given forces acts on. */
#ifndef RB_DYNAMICS_SMOOTH_FREE_H
#define RB_DYNAMICS_SMOOTH_FREE_H

#include "rattleback/dynamics.h"

/* Everything that moves is a body on a free joint, its origin in its centre of mass, without
 * springs, dampers, armature, actuators, tendons or wrenches. */
int rb_smooth_free_takes(const rb_model *m, const rb_data *d);

/* One step of them by the midpoint rule (D.36); moves q and v, not the time. info->converged = 0: a
 * body rotates too fast, and the state is unchanged. */
void rb_smooth_free_step(const rb_model *m, rb_data *d, double h, rb_smooth_info *info);

#endif
