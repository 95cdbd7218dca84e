/* Few contacts with a good guess: the first thing auto tries. */
#ifndef RB_SOLVE_CONE_SMALL_H
#define RB_SOLVE_CONE_SMALL_H

#include "base/arena.h"
#include "rattleback/solve.h"

/* Problems it takes: cones of three dimensions, dense W, a guess, few rows. */
int rb_cone_small_takes(const rb_problem *p, const rb_solve_opts *o);

/* *done = 1: r, info->mode, unique, iterations, factorisations and rcond are those of the answer,
 * measured to tol; 0: nothing but counts is changed, and the other methods have to be tried. */
rb_status rb_cone_small(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double tol,
                        double *r, rb_info *info, int *done);

#endif
