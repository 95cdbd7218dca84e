/* Within src/step: rows of constraints, and the factor of M. */
#ifndef RB_STEP_ROWS_H
#define RB_STEP_ROWS_H

#include "step/stage.h"

/* rows.c: takes the arrays of problem and answer for the set, cleared. */
rb_status rb_stage_take_rows(rb_stage *s);

/* What rb_stage_factor hands out beside the factor; NULL: not wanted. */
typedef struct rb_stage_stiff {
    double *L;   /* factor without springs and dampers, but with A                     (nM) */
    double *E;   /* what springs, dampers and A add to the diagonal of M               (nv) */
    double *all; /* where they couple dofs: M with all of them (D.55), else untouched  (nM) */
    double *A;   /* likewise: inertia of joints that creep (D.38), from the start of a step:
                    d->act is that of its beginning                                    (nv) */
    int again;   /* likewise: 1: A and M stay, d is in the middle of the step               */
} rb_stage_stiff;

/* rows.c: factors M at d->q, with springs, dampers and servos of a step of h, those of
 * smooth.memory where they are known. out may be NULL. The second does that once more for other
 * servos, where no dofs are coupled: L_node and E are L and E of the first. */
rb_status rb_stage_factor(rb_stage *s, const rb_stage_stiff *out);
rb_status rb_stage_factor_again(rb_stage *s, double *L_node, double *E);

/* rows.c: gap up to which the constraint counts as closed [m]. */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c);

/* rows.c: how far the gap of a constraint may be relaxed where rows have no answer (S.21) [m]. */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c);

/* redundant_rows.c: takes redundant rows out of the set, and finds them the first time (S.8).
 * is_redundant returns 1 where row r of equality e is one. */
rb_status rb_stage_drop_redundant(rb_stage *s, int first);
int rb_stage_is_redundant(const rb_stage *s, int e, int r);

#endif
