/* What of a surface is out of reach, found without looking at its triangles. */
#ifndef RB_COLLIDE_SURFACE_FAR_H
#define RB_COLLIDE_SURFACE_FAR_H

#include "collide/triangle.h"

/* How far from the core of the shape what counts may be at most [m]: reach and radius, and where
 * the shape overlaps a valley the other side of it (G.24). */
double rb_walk_far(const rb_walk *k);

/* 1: core 1 of the walk is farther than that from core 2. 0: it is not, or it is not known. */
int rb_walk_core_is_far(rb_walk *k, double far);

/* The same for the box lo .. hi in the frame of the surface, */
int rb_walk_box_is_far(rb_walk *k, const double lo[3], const double hi[3], double far);

/* and for the hull of a mesh: then no triangle of it is in reach. */
int rb_walk_hull_is_far(rb_walk *k, double far);

#endif
