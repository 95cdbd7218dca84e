/* Within src/step: which contacts a step has, and what passes through each other. */
#ifndef RB_STEP_CONTACTS_H
#define RB_STEP_CONTACTS_H

#include "step/stage.h"

/* adhesion_contacts.c: finds the contacts of the start, where adhesion needs them and no step
 * was made yet. */
void rb_step_first_contacts(const rb_model *m, rb_data *d);

/* adhesion_contacts.c: stores problem.contacts in the table of touching constraints, where adhesion
 * needs them. */
void rb_stage_keep_adhesion_contacts(rb_stage *s);

/* near_pairs.c: leaves out the contacts that fly towards their impact, or away from one. */
void rb_stage_drop_flying(rb_stage *s);

/* near_pairs.c: find notes the pairs that it sees while it looks for contacts at the velocity of
 * d. holds returns 1 where q_new is so near that only those can touch. */
rb_status rb_stage_near_find(rb_stage *s, double slack);
int rb_stage_near_holds(rb_stage *s);

/* separation.c: returns 1 where nothing touches at q_new, nor on the way there from q0 (S.28).
 * Sets moves_far. */
int rb_stage_nothing_touches(rb_stage *s);

/* tunnelling.c: after rb_stage_check. RB_UNSOLVED: a geom passes through another one between q0
 * and q_new (S.19). Moves d. */
rb_status rb_stage_tunnelling(rb_stage *s);

/* tunnelling.c: 1: the two geoms overlap anywhere on the way from the start to answer.q, at which d
 * is, before and after; v_way is known. */
int rb_stage_meets(rb_stage *s, int geom1, int geom2);

/* support_points.c: adds corners of faces that the four points of a contact left out, where
 * weight passes through them. */
rb_status rb_stage_support_points(rb_stage *s);

#endif
