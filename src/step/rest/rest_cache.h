/* Within src/step: steps that change nothing but the time (S.34). */
#ifndef RB_STEP_REST_CACHE_H
#define RB_STEP_REST_CACHE_H

#include "rattleback/step.h"

/* The step that began with this state and these inputs is known to lead back to it: info is its
 * report (info was cleared before), and only the time is left to move. */
int rb_rest_cache_find(const rb_model *m, const rb_data *d, const rb_step_opts *o,
                       rb_step_info *info);

/* After a step that began with q, v, act, slope, servo and the constraints touch. */
typedef struct rb_rest_cache_start {
    const double *q, *v, *act;
    const double *slope, *slope_h, *servo;
    const rb_touch *touch;
    int ntouch;
} rb_rest_cache_start;

void rb_rest_cache_store(const rb_model *m, rb_data *d, const rb_step_opts *o,
                         const rb_step_info *info, const rb_rest_cache_start *start);

#endif
