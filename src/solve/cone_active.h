/* Interior points without the contacts that are clearly open: they join where the answer of the
 * others closes them. */
#ifndef RB_SOLVE_CONE_ACTIVE_H
#define RB_SOLVE_CONE_ACTIVE_H

#include "solve/cone_interior.h"

/* rb_cone_interior. guessed: r holds a guess, by which those that take part are chosen, also where
 * the points do not begin at it. */
rb_status rb_cone_active_interior(const rb_cones *k, const rb_interior_opts *opts, int guessed,
                                  rb_arena *scratch, double *r, rb_interior *out);

#endif
