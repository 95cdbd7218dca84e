/* Within the core: options are checked once per step. */
#ifndef RB_OPTIONS_OPTIONS_H
#define RB_OPTIONS_OPTIONS_H

#include "rattleback/step.h"

rb_status rb_step_opts_check(const rb_step_opts *o, double h, rb_error *err);

/* control.c: calls the controller, where this step is to. */
rb_status rb_step_control(const rb_model *m, rb_data *d, const rb_step_opts *o, double h,
                          rb_error *err);

/* inputs.c: RB_BAD_INPUT where a number of the state or of the inputs is not finite; it is named.
 */
rb_status rb_step_inputs_check(const rb_model *m, const rb_data *d, rb_error *err);

/* inputs.c: err names the joint without inertia at the state of d, where there is one. */
void rb_step_name_singular(const rb_model *m, rb_data *d, rb_error *err);

#endif
