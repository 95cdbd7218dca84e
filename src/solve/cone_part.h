/* Some contacts of a cone problem as a problem of their own. */
#ifndef RB_SOLVE_CONE_PART_H
#define RB_SOLVE_CONE_PART_H

#include "solve/cone.h"

typedef struct rb_cone_part {
    rb_cones k;
    const int *contact; /* contacts of the whole problem                        (k.nc) */
    double *r;          /* their impulses, gathered                             (k.n)  */
} rb_cone_part;

/* The contacts `contact` (nc) of `all`, in that order; what they have in common with others is left
 * out. local (all->nc) becomes their index there; where it is -1 before, the contact is not one of
 * them. Measures are relative to the whole problem. */
rb_status rb_cone_part_make(const rb_cones *all, int nc, const int *contact, int *local,
                            rb_arena *scratch, const double *r, rb_cone_part *out);

#endif
