/* The pair functions: one for each unordered pair of types, called with the smaller type first. */
#ifndef RB_COLLIDE_PAIRS_H
#define RB_COLLIDE_PAIRS_H

#include "rattleback/collide.h"

/* Fills out with the points whose gap is at most reach. The numbers of the shapes are finite. */
typedef void (*rb_pair_fn)(const rb_shape *shape1, const rb_shape *shape2, double reach,
                           rb_manifold *out);

/* The closest point alone. 0: its gap is larger than reach, and out has no meaning. */
typedef int (*rb_point_fn)(const rb_shape *shape1, const rb_shape *shape2, double reach,
                           rb_manifold_point *out);

void rb_plane_sphere(const rb_shape *plane, const rb_shape *sphere, double reach, rb_manifold *out);
void rb_plane_capsule(const rb_shape *plane, const rb_shape *capsule, double reach,
                      rb_manifold *out);
void rb_plane_box(const rb_shape *plane, const rb_shape *box, double reach, rb_manifold *out);
void rb_plane_ellipsoid(const rb_shape *plane, const rb_shape *ellipsoid, double reach,
                        rb_manifold *out);
void rb_plane_cylinder(const rb_shape *plane, const rb_shape *cylinder, double reach,
                       rb_manifold *out);
int rb_sphere_sphere(const rb_shape *a, const rb_shape *b, double reach, rb_manifold_point *out);
int rb_sphere_capsule(const rb_shape *sphere, const rb_shape *capsule, double reach,
                      rb_manifold_point *out);
int rb_sphere_box(const rb_shape *sphere, const rb_shape *box, double reach,
                  rb_manifold_point *out);
int rb_sphere_cylinder(const rb_shape *sphere, const rb_shape *cylinder, double reach,
                       rb_manifold_point *out);
void rb_sphere_ellipsoid(const rb_shape *sphere, const rb_shape *ellipsoid, double reach,
                         rb_manifold *out);
void rb_capsule_capsule(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out);
int rb_capsule_capsule_closest(const rb_shape *a, const rb_shape *b, double reach,
                               rb_manifold_point *out);
void rb_capsule_box(const rb_shape *capsule, const rb_shape *box, double reach, rb_manifold *out);
void rb_box_box(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out);
void rb_sphere_hull(const rb_shape *sphere, const rb_shape *hull, double reach, rb_manifold *out);
void rb_convex_pair(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_manifold *out);
void rb_convex_pair_warm(const rb_shape *shape1, const rb_shape *shape2, double reach,
                         rb_warm *warm, rb_manifold *out);
void rb_plane_hull(const rb_shape *plane, const rb_shape *hull, double reach, rb_manifold *out);

/* Calls the function of the pair, exchanging where needed. 0: no entry. */
int rb_pair_call(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_manifold *out);

/* The same from where the last search ended, NULL: nowhere. */
int rb_pair_call_warm(const rb_shape *shape1, const rb_shape *shape2, double reach, rb_warm *warm,
                      rb_manifold *out);

/* 1: the table has an entry for these shapes. */
int rb_pair_is_known(const rb_shape *shape1, const rb_shape *shape2);

/* Whether that is of use for the pair, and gives the bits that a search from nowhere gives: they
 * are polyhedra without a method of their own. */
int rb_pair_is_sought(const rb_shape *shape1, const rb_shape *shape2);

#endif
