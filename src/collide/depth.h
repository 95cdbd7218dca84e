/* Depth of two overlapping convex cores. */
#ifndef RB_COLLIDE_DEPTH_H
#define RB_COLLIDE_DEPTH_H

#include "collide/gjk.h"

enum { RB_DEPTH_STARTS = 6 }; /* directions from which the best one is sought */

typedef struct rb_depth {
    double lower; /* the depth is at least this [m]                                      */
    int n;        /* faces next to the origin, nearest first                             */
    double normal[RB_DEPTH_STARTS][3]; /* along which they separate, from 1 to 2            */
    double distance[RB_DEPTH_STARTS];  /* of their planes: nothing above them is nearer [m]     */
    rb_corner face[RB_DEPTH_STARTS][3];
    int steps;
    int complete; /* the nearest face belongs to the surface, to `tol`                   */
} rb_depth;

/* Grows a polyhedron in the difference of the cores until its nearest face is within tol [m] of the
 * surface. `gjk`: what rb_gjk_run found. */
void rb_depth_run(rb_couple *couple, const rb_gjk *gjk, double tol, rb_depth *out);

#endif
