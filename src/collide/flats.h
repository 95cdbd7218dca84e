/* Two polyhedra whose faces lie on each other. */
#ifndef RB_COLLIDE_FLATS_H
#define RB_COLLIDE_FLATS_H

#include "collide/convex.h"

/* The direction along which they are farthest apart or overlap least, where it is next to n and two
 * faces there are nearly parallel and over each other. 0: that is not so, or not proved. */
int rb_flats_meet(rb_couple *couple, const double n[3], rb_closest *out);

#endif
