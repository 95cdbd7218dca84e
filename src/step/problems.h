/* Within src/step: the complementarity problems of the islands. */
#ifndef RB_STEP_PROBLEMS_H
#define RB_STEP_PROBLEMS_H

#include "step/stage.h"

/* refine.c: makes the residual of a certified answer of a cone problem ten times smaller, where
 * doubles can hold it (S.31). Scratch from o->arena. */
rb_status rb_sharpen(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info);

/* solve_islands.c: the guess for constraint c: its impulse and mode in the step before, or in
 * the round before a repair, along its present tangents. */
void rb_stage_recall(const rb_stage *s, const rb_constraint *c, double *p, unsigned char *mode);
void rb_stage_recall_round(const rb_stage *s, const rb_constraint *c, double *guess);

/* solve_islands.c: fills u, bias, p_prev and what else the stepper gives to an island. */
void rb_stage_fill(const rb_stage *s, rb_island *island);

/* active_rows.c: computes p and mode of an island with rows of their own kind. Rows that are
 * predicted to slide or to stay open are left out (S.30). *done 0: no certified answer. */
rb_status rb_stage_solve_active(rb_stage *s, int island, rb_arena *arena, rb_info *info, int *rows,
                                int *done);

/* solve_islands.c: prepares what the problems of this set need; before rb_stage_solve_others. */
rb_status rb_stage_solve_begin(rb_stage *s);

/* solve_islands.c: computes p and mode of the islands that are not still. */
rb_status rb_stage_solve(rb_stage *s);

/* solve_islands.c: computes p and mode of the islands that skip does not mark. */
rb_status rb_stage_solve_others(rb_stage *s, const unsigned char *skip);

/* solve_islands.c: an answer within `loose` was met and may be accepted: the step need not look for
 * it any longer. */
int rb_stage_is_near(const rb_stage *s);

/* restitution.c: adds to the impulses of compression, p, those of restitution. */
rb_status rb_stage_restitute(rb_stage *s);

/* jam.c: after a problem without answer that halving the step cannot help. RB_JAMMED: the rows
 * of an island prove that there is none; info and err say which. RB_UNSOLVED elsewhere. */
rb_status rb_stage_jam(rb_stage *s);

#endif
