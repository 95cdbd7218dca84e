/* Within src/step: options are checked once per step. */
#ifndef RB_STEP_OPTIONS_H
#define RB_STEP_OPTIONS_H

#include "rattleback/step.h"

rb_status rb_step_opts_check(const rb_step_opts *o, double h, rb_error *err);

#endif
