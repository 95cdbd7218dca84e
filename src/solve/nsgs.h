/* One block Gauss-Seidel sweep, for the solvers that start from a few of them. */
#ifndef RB_SOLVE_NSGS_H
#define RB_SOLVE_NSGS_H

#include "solve/cone.h"

/* Solves each contact exactly in turn with the others fixed, forward or backward, with compliance
 * eps[c] added to contact c (NULL: none). Returns the largest change of velocity that a contact's
 * own impulse change made [m/s]. */
double rb_nsgs_sweep(const rb_cones *k, const double *eps, double *r, int backward);

#endif
