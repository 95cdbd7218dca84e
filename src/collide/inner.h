/* How deep two overlapping cores are at least: a ball inside their difference. */
#ifndef RB_COLLIDE_INNER_H
#define RB_COLLIDE_INNER_H

#include "collide/gjk.h"

/* Where on an edge of a core the foot of the origin lies. */
typedef struct rb_inner_edge {
    const double *u; /* its unit vector                     */
    double room;     /* distance from its nearer end [m]    */
    int second;      /* of core 2                           */
} rb_inner_edge;

/* Radius [m] of a ball inside D that touches its surface where n is the direction, at the corner
 * that the curved parts and, unless it is NULL, the edge have in common. 0: none is known. */
double rb_inner_curved(const rb_couple *couple, const double n[3], const rb_inner_edge *edge);

/* Whether the foot of the origin on the flat part of D with the direction n and separation s, a
 * face of a core or the parallelogram of two edges, proves that s is the gap: because it lies on
 * that part, and where the cores overlap because a ball touches there. x1 is then the point of core
 * 1 that belongs to it. */
int rb_inner_flat(rb_couple *couple, const double n[3], double s, double x1[3]);

/* Whether a ball of more than `more` - s, within the cone on a flat part of D with a disc of radius
 * `room` about the foot, touches it there (G.16). */
int rb_inner_cone(rb_couple *couple, const double n[3], double s, double room, double more);

/* Depth [m] that a ball of this radius proves, touching the surface at w = s n + aside. */
double rb_inner_depth(double radius, double s, double aside);

#endif
