/* ADMM on Coulomb cones, as a method of `auto`. */
#ifndef RB_SOLVE_ADMM_H
#define RB_SOLVE_ADMM_H

#include "solve/cone.h"

/* Runs at most max_iter iterations from r; stops when the certificate's measure is below tol.
 * Returns the measure of the best r, which replaces r. RB_NOMEM, RB_TOO_LARGE possible. */
rb_status rb_admm_run(const rb_cones *k, rb_arena *scratch, double *r, int max_iter, double tol,
                      int *iterations, int *factorisations, double *error);

#endif
