/* Within src/step: a part of a step. */
#ifndef RB_STEP_ADVANCE_H
#define RB_STEP_ADVANCE_H

#include "step/stage.h"

/* From q0, v0, act0, time0 to v_new, q_new, act_free, by h; mocap bodies move too. */
rb_status rb_stage_motion(rb_stage *s);

/* The state by h, in halves where needed. */
rb_status rb_stage_advance(rb_stage *s, double h, int splits);

#endif
