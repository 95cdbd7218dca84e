/* Whether two moving shapes could touch within a time. */
#ifndef RB_COLLIDE_SWEEP_H
#define RB_COLLIDE_SWEEP_H

#include "collide/pairs.h"

/* How a shape may move: its centre with velocity v, and every point off that by at most `spread`
 * metres per second (turning, bending of the path, changes of velocity). */
typedef struct rb_motion {
    double v[3];
    double spread;
} rb_motion;

/* 0 only where the shapes are certainly apart for h seconds. `now` is the closest point at the
 * start. */
int rb_sweep_meets(const rb_shape *shape1, const rb_motion *motion1, const rb_shape *shape2,
                   const rb_motion *motion2, double h, const rb_manifold_point *now);

#endif
