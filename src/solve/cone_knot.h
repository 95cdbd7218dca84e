/* A few contacts that keep Newton's method from arriving, solved as a small problem of their own.
 */
#ifndef RB_SOLVE_CONE_KNOT_H
#define RB_SOLVE_CONE_KNOT_H

#include "solve/newton.h"

/* A step of Newton from r in which the contacts `knot` (n) are not linearised: their modes are
 * found with all others in the modes they have at r. The compliance is that of s. *done = 0: no
 * modes were found, r is as before. Needs s->bodies. */
rb_status rb_cone_knot(rb_newton *s, const int *knot, int n, rb_arena *scratch, double *r,
                       int *done);

#endif
