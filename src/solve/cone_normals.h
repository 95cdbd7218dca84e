/* Normal impulses that keep bodies apart, whatever friction is. */
#ifndef RB_SOLVE_CONE_NORMALS_H
#define RB_SOLVE_CONE_NORMALS_H

#include "solve/cone.h"

/* Replaces the normal impulses in r, its tangential ones as they are, so that
 *
 *     0 <= r_n  perp  u_n >= 0                                                            (K.21)
 *
 * up to `tol` [m/s], for contacts whose W is symmetric. *steps: products with W that this took.
 * Where that is not reached r has what was found. */
rb_status rb_cone_normals(const rb_cones *k, double tol, rb_arena *scratch, double *r, int *steps);

#endif
