/* Within src/step: what src/events, the room above, gives to the step. */
#ifndef RB_STEP_STEPPERS_H
#define RB_STEP_STEPPERS_H

#include "step/stage.h"

/* located.c: a step of length h that is divided where bodies meet. */
rb_status rb_stage_located(rb_stage *s);

/* impulse.c: a step of length h in which bodies go from impact to impact. */
rb_status rb_stage_impulse(rb_stage *s);

/* hybrid.c: a step in which each pair has either impulses or constraints. After each part,
 * rb_paradigms_shift moves pairs from one to the other by what the part has shown, and reports
 * that as an event. */
rb_status rb_stage_hybrid(rb_stage *s);
void rb_paradigms_shift(rb_stage *s);

/* flight.c: returns 1 where the contact has rows. Always so where nothing flies. */
int rb_flight_holds(const rb_flight *flight, int geom1, int geom2, uint32_t feature);

#endif
