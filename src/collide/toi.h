/* When two moving shapes first touch; shapes move as a function says. */
#ifndef RB_COLLIDE_TOI_H
#define RB_COLLIDE_TOI_H

#include "rattleback/collide.h"

/* Where a shape is at a time and how it moves there. */
typedef struct rb_placement {
    double p[3], R[9]; /* of the shape, world                                                    */
    double v[3];       /* velocity of p [m/s]                                                    */
    double w[3];       /* angular velocity, world axes [rad/s]                                   */
} rb_placement;

/* A shape on its way. Every point of it has an acceleration of `a` plus at most `bend` at all times
 * of the search. */
typedef struct rb_mover {
    rb_shape shape; /* p and R are not used                                                      */
    void (*pose)(const void *ctx, double t, rb_placement *out);
    const void *ctx;
    double a[3]; /* [m/s^2]                                                                      */
    double bend; /* [m/s^2]                                                                      */
    double path; /* the same of p alone; rb_toi_apart does not look at it                        */
} rb_mover;

/* As rb_toi_shapes. */
rb_status rb_toi_find(const rb_mover *m1, const rb_mover *m2, double horizon, rb_toi *out);

/* How long shapes whose closest points are given are certainly more than `shell` apart [s], at
 * most `most`: one advance of (T.3). 0: they are not, or a shape is not convex. The pose functions
 * of the movers are not called. */
double rb_toi_apart(const rb_mover m[2], const rb_placement at[2], const rb_manifold_point *closest,
                    double shell, double most);

#endif
