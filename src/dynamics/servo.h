/* PID actuators (D.33) and DC motors (D.34): forces, and states that follow the motion. */
#ifndef RB_DYNAMICS_SERVO_H
#define RB_DYNAMICS_SERVO_H

#include "rattleback/model.h"

/* Where an actuator is: its controls within their bounds, its states, its transmission. */
typedef struct rb_servo_at {
    const double *ctrl, *act;
    double length, rate;
} rb_servo_at;

static inline int rb_is_servo(const rb_model *m, int i)
{
    return m->act_gain_law[i] == RB_LAW_PID || m->act_gain_law[i] == RB_LAW_DCMOTOR;
}

/* Force within the bounds of the actuator, which hold for what the current of a motor does: cogging
 * and friction are mechanical. h: the step whose end a set point is followed to [s]. */
double rb_servo_force(const rb_model *m, int i, const rb_servo_at *at, double h);

void rb_servo_rates(const rb_model *m, int i, const rb_servo_at *at, double h, double *rate);

/* States after h with the motion as it is: bristles and currents exactly, so that none is too stiff
 * for a step. */
void rb_servo_next(const rb_model *m, int i, const rb_servo_at *at, double h, double *next);

/* -d force / d length and -d force / d rate over a step; a servo that pushes counts 0. */
void rb_servo_slopes(const rb_model *m, int i, const rb_servo_at *at, double *hold, double *brake);

/* 1: state k of the actuator enters forces as it was at the start of a step. */
int rb_servo_keeps(const rb_model *m, int i, int k);

#endif
