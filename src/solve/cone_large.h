/* The ladder for islands of many contacts whose bodies are known. */
#ifndef RB_SOLVE_CONE_LARGE_H
#define RB_SOLVE_CONE_LARGE_H

#include "solve/newton.h"

/* r: guess in, best impulses found out; *error their measure, *rung what found them. *sweeps counts
 * Gauss-Seidel sweeps. newton->bodies must be there. */
rb_status rb_cone_large(const rb_cones *k, rb_newton *newton, double tol, rb_arena *scratch,
                        double *r, double *error, rb_rung *rung, int *sweeps);

#endif
