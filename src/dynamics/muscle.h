/* Muscles (D.31): force by length, velocity and activation. */
#ifndef RB_DYNAMICS_MUSCLE_H
#define RB_DYNAMICS_MUSCLE_H

#include "rattleback/spec.h"

/* What the activation is multiplied with, and what there is without it [N]; negative: muscles pull.
 * `length` is that of the transmission, range the lengths that rb_muscle.range maps to. */
double rb_muscle_gain(const rb_muscle *p, const double range[2], double length, double rate);
double rb_muscle_bias(const rb_muscle *p, const double range[2], double length);

/* Time constant at this control and activation [s]. */
double rb_muscle_time(const double time[2], double smooth, double ctrl, double act);

/* Derivatives of the gain by length and by rate, and of the bias by length. */
void rb_muscle_gain_slopes(const rb_muscle *p, const double range[2], double length, double rate,
                           double slope[2]);
double rb_muscle_bias_slope(const rb_muscle *p, const double range[2], double length);

#endif
