/* Within src/step: the state before the first part of a step, constraints of the last step
 * included. */
#ifndef RB_STEP_SAVED_H
#define RB_STEP_SAVED_H

#include "step/stage.h"

enum {
    RB_SAVED_Q,
    RB_SAVED_V,
    RB_SAVED_ACT,
    RB_SAVED_SLOPE,
    RB_SAVED_KICK,
    RB_SAVED_SERVO,
    RB_SAVED_MOCAP,
    RB_SAVED_MOCAP_WAS,
    RB_SAVED_COUNT
};

typedef struct rb_saved {
    double *of[RB_SAVED_COUNT], slope_h[RB_SLOPES];
    double time, slope_time, touch_h, correct_end, correct_from;
    rb_touch *touch;
    int ntouch;
} rb_saved;

/* Copies to the arena; 0: no memory. */
int rb_saved_keep(const rb_stage *s, rb_saved *x);

void rb_saved_restore(rb_stage *s, const rb_saved *x);

#endif
