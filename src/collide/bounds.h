/* How far a geom extends. */
#ifndef RB_COLLIDE_BOUNDS_H
#define RB_COLLIDE_BOUNDS_H

#include "rattleback/collide.h"

/* Half extents of the box around the shape, world axes, about its centre p [m]; INFINITY for
 * planes. Shapes that are not symmetric about p get one that is. */
void rb_bounds_half(const rb_shape *shape, double half[3]);

/* Largest distance by which a turn about the centre p displaces the surface, per radian [m]: 0 for
 * spheres, the half axis for capsules. */
double rb_bounds_arm(const rb_shape *shape);

/* Radius of a ball about the centre p that fits into a convex shape [m]; 0 for surfaces and for
 * hulls that do not contain p. */
double rb_bounds_inner(const rb_shape *shape);

#endif
