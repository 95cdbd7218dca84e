/* Any two convex shapes: their gap, and the points of their contact. */
#ifndef RB_COLLIDE_CONVEX_H
#define RB_COLLIDE_CONVEX_H

#include "collide/direction.h"
#include "collide/gjk.h"

typedef struct rb_closest {
    rb_direction at; /* direction, and separation of the cores along it               */
    double x1[3];    /* a point of core 1 that is closest, as far as the search knows */
    int met;         /* it is: a point of core 2 lies at->s before it                 */
    double error;    /* the separation is at most this much below the truth [m]       */
    int capped;      /* no search came to its end: `error` is all that is known       */
    int steps;       /* support points that were computed                             */
} rb_closest;

/* 0: a shape is not convex. */
int rb_couple_make(const rb_shape *shape1, const rb_shape *shape2, rb_couple *couple);

/* A cylinder (core 1) and a box without a search, (G.17): every gap of which the direction is that
 * of a face, a cap, the side of the cylinder or its rim and an edge. 0: it is another one, nothing
 * proves that they overlap, or they are other shapes. */
int rb_cylinder_box(rb_couple *couple, rb_closest *out);

/* The gap of two cores, apart or not. From where `warm` says that a search ended before, if it is
 * given, and says where this one did: of polyhedra the answer is the same. */
void rb_closest_find(rb_couple *couple, rb_warm *warm, rb_closest *out);

/* The same from a direction near that of the gap: a face whose normal is near it, or a pair of
 * edges, if it is proved to be where the cores touch, or are so close that rb_closest_find would
 * name it as well. 0: it is not. Witnesses are not sought. */
int rb_closest_warm(rb_couple *couple, const double n[3], rb_closest *out);

/* The points of the contact of the cores along the direction of `closest`. whole = 0: the direction
 * need not be that of their gap, there may be none. */
void rb_contact_points(rb_couple *couple, const rb_closest *closest, double reach, int whole,
                       rb_manifold *out);

#endif
