/* Within src/step: islands that rest (S.22). */
#ifndef RB_STEP_REST_H
#define RB_STEP_REST_H

#include "step/stage.h"

/* rest.c: sets p, mode, still, resting of islands that rest with the impulses of the step
 * before. */
rb_status rb_stage_rest_on(rb_stage *s);

/* rest.c: a search for rest costs islands that interior points solve more than a step, and arches
 * that creep never rest: 1 for others, and for those now and then. */
int rb_stage_rest_is_due(const rb_stage *s, int island);

/* rest.c: computes v_new, which is zero where an island rests. p may change by rounding there. */
rb_status rb_stage_rest(rb_stage *s);

#endif
