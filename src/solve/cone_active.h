/* Interior points without the contacts that are clearly open: they join where the answer of the
 * others closes them. */
#ifndef RB_SOLVE_CONE_ACTIVE_H
#define RB_SOLVE_CONE_ACTIVE_H

#include "solve/cone_interior.h"

/* rb_cone_interior; what takes part is chosen by the guess, where there is one. */
rb_status rb_cone_active_interior(const rb_cones *k, const rb_interior_opts *opts,
                                  rb_arena *scratch, double *r, rb_interior *out);

#endif
