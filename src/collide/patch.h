/* The part of a convex core that faces a direction: a point, a line, a face or a disc. */
#ifndef RB_COLLIDE_PATCH_H
#define RB_COLLIDE_PATCH_H

#include "collide/extreme.h"

enum { RB_PATCH_MAX = 64 }; /* corners of a face; of larger ones every second, third, .. is kept */

typedef struct rb_patch {
    int n;                         /* 1: a point; 2: a line; more: a face                       */
    double x[RB_PATCH_MAX][3];     /* corners, counter-clockwise seen from outside              */
    uint32_t corner[RB_PATCH_MAX]; /* halves of feature ids                                     */
    uint32_t side[RB_PATCH_MAX];   /* from corner i to the next                                 */
    uint32_t face;
    double normal[3]; /* of a face, outward                                                     */
    double tube;      /* radius of the disc around a line, orthogonal to its axis [m]           */
    double axis[3];
    double disc; /* > 0: the corners lie on a circle of this radius about centre, and it counts  */
    double centre[3];
} rb_patch;

/* The patch of the core that faces the unit vector n, along which it is extreme in e: faces, lines
 * and points within RB_KINK of the tangent plane. */
void rb_patch_make(const rb_core *core, const double n[3], const rb_extreme *e, rb_patch *patch);

/* The point of the patch that is nearest to x; returns how far that is [m]. */
double rb_patch_foot(const rb_patch *patch, const double x[3], double foot[3]);

#endif
