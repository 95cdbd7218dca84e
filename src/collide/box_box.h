/* Two boxes, seen from the first: what the stages of rb_box_box share. */
#ifndef RB_COLLIDE_BOX_BOX_H
#define RB_COLLIDE_BOX_BOX_H

#include "collide/box.h"
#include "collide/manifold.h"
#include "rattleback/collide.h"

typedef struct rb_boxes {
    const rb_shape *a, *b;
    const double *h1, *h2;
    double R[9]; /* frame 2 to frame 1                */
    double t[3]; /* centre of 2 in frame 1            */
    rb_grain grain;
    int single; /* the closest point is enough        */
    rb_points points;
} rb_boxes;

static inline void rb_boxes_to_1(const rb_boxes *p, const double y[3], double x[3])
{
    rb_rot(p->R, y, x);
    rb_add3(x, p->t, x);
}

static inline void rb_boxes_to_2(const rb_boxes *p, const double x[3], double y[3])
{
    rb_sub3(x, p->t, y);
    rb_rot_t(p->R, y, y);
}

/* A candidate, witness 1 and normal in frame 1. */
void rb_boxes_add(rb_boxes *p, double gap, const double x1[3], const double n[3], uint32_t feature);

/* Adds what the two faces that look at each other along n have in common (G.11): vertices of one
 * over the other and crossings of their edges. n: unit, frame 1, from 1 to 2. */
void rb_boxes_faces(rb_boxes *p, const double n[3]);

/* Boxes that are apart: closest points by comparing all features (G.12). Adds the closest pair and
 * the vertices near it that belong to the same contact; n: the unit vector between the pair. */
void rb_boxes_apart(rb_boxes *p, double n[3]);

#endif
