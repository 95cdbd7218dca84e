/* Within src/step: what the schemes of the papers have in common. They are kept as printed: rows at
 * one place, a problem in velocities, one update of the position, no second look at gaps. */
#ifndef RB_STEP_PRINTED_H
#define RB_STEP_PRINTED_H

#include "step/stage.h"

/* What a scheme asks of the rows of constraint c, beside the free velocity [m/s]. u_hat: velocity
 * of the row by which the place of the rows lies ahead of the start, 0: it does not. */
typedef struct rb_printed {
    double (*normal)(const rb_stage *s, const rb_constraint *c, double u_hat);
    double (*loop)(const rb_stage *s, const rb_constraint *c, int r, double u_hat);
    double (*bounce)(const rb_stage *s, const rb_constraint *c, double gap, double u_free);
} rb_printed;

/* Smooth motion without contact, and the place of the first rows: s->q_hat, s->v_hat. */
rb_status rb_printed_begin(rb_stage *s);

/* Rows at s->q_hat, their problem, restitution, v_new, pushed, resting. */
rb_status rb_printed_round(rb_stage *s, const rb_printed *how);

/* After q_new: bodies at rest stay where they were; overlap and energy are measured, nothing is
 * refused. worst: as rb_stage_check has it. */
rb_status rb_printed_end(rb_stage *s, double *worst);

/* semi_implicit.c, moreau_jean.c: computes the motion of s by the schemes of the papers, as
 * printed. */
rb_status rb_stage_semi_implicit(rb_stage *s);
rb_status rb_stage_moreau_jean(rb_stage *s);

#endif
