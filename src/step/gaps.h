/* Within src/step: where gaps, limits and loops may end, and where they ended. */
#ifndef RB_STEP_GAPS_H
#define RB_STEP_GAPS_H

#include "step/stage.h"

/* gaps.c: how far joint j, or tendon t, is beyond its limits at q_new, in units of what a step may
 * make [1]. d is at q_new. */
double rb_stage_limit_deepened(const rb_stage *s, int j);
double rb_stage_tendon_deepened(const rb_stage *s, int t);

/* gaps.c: the constraint of that identity, NULL: there is none. */
const rb_constraint *rb_stage_find(const rb_constraints *set, const rb_touch_id *id);

/* allowed_overlap.c: what is given to a step, in units of this model. */
rb_step_given rb_step_find_given(const rb_model *m, const rb_step_opts *o);

/* allowed_overlap.c: overlap that a step may make of a pair of geoms, and of a constraint; and
 * how far overlap of the model may grow in a step [m]. */
double rb_stage_pair_overlap(const rb_stage *s, int geom1, int geom2);
double rb_stage_deep(const rb_stage *s, const rb_touch_id *id);
double rb_stage_growth(const rb_stage *s);

/* allowed_overlap.c: lowest gap that a constraint may end with, when it was `start` before the
 * step and may be made `deep` too deep [m]. */
double rb_stage_lowest(const rb_stage *s, double start, double deep);

/* gaps.c: gap of a constraint at the start of the step, 0: it was not near. For a contact the
 * least gap of its pair, since features may change on the way. */
double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: where overlap that the pair of a contact began with may end (F.8), 0: there was none. */
double rb_stage_start_floor(const rb_stage *s, const rb_touch_id *id);

/* How deep the pair was: that floor, and overlap below it. */
double rb_stage_start_depth(const rb_stage *s, const rb_touch_id *id);

/* gaps.c: computes the array start, that gap of all constraints, from first. */
rb_status rb_stage_find_starts(rb_stage *s);

/* gaps.c: share of the closure error of loops that this part of the step takes off (S.56). */
double rb_stage_loop_share(const rb_stage *s);

/* gaps.c: closure error that row r of an equality is asked to end with. */
double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r);

/* gaps.c: overlap, or excess of a limit, from which on it is an error of the start: more than
 * steps make [m] or [rad]. */
double rb_stage_error_least(const rb_stage *s);

/* gaps.c: rotation angle of a ball joint [rad]; length of a tendon [m]. */
double rb_stage_ball_angle(const double *q);
double rb_stage_tendon_length(const rb_model *m, int t, const double *q);

/* gaps.c: *worst is the deepest overlap that the step made, or the worst loop, at q_new, in
 * units of what is allowed. Above 1 the step is repaired. Sets overlaps. */
rb_status rb_stage_check(rb_stage *s, double *worst);

/* gaps.c: the same for n contacts that were found there, and for limits, but not for loops. */
double rb_stage_measure_gaps(rb_stage *s, const rb_contact *found, int n);

/* gaps.c: returns 1 where contacts have a stiffness. Their overlap refuses no step. */
int rb_stage_is_soft(const rb_stage *s);

/* gaps.c: RB_UNSOLVED, with a sentence that names the worst gap of the last check. */
rb_status rb_stage_refuse_gaps(rb_stage *s, int repairs);

#endif
