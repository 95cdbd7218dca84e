/* Two boxes, seen from the first: what the stages of rb_box_box share. Its text is that of
 * box_body.h, compiled twice: for every processor, and for those with AVX2. */
#ifndef RB_COLLIDE_BOX_BOX_H
#define RB_COLLIDE_BOX_BOX_H

#include "base/assert.h"
#include "collide/box.h"
#include "collide/manifold.h"
#include "rattleback/collide.h"

typedef struct rb_boxes {
    const rb_shape *a, *b;
    const double *h1, *h2;
    double R[9]; /* frame 2 to frame 1                */
    double t[3]; /* centre of 2 in frame 1            */
    rb_grain grain;
    double limit;     /* candidates with a larger gap are beyond reach [m] */
    int single;       /* the closest point is enough        */
    rb_points points; /* in frame 1 */
} rb_boxes;

/* The crossing of two edges, one of each box, seen along the unit vector between them. */
typedef struct rb_crossing {
    double x[4]; /* on box 1, frame 1; the last one is 0                                         */
    double off;  /* where they are apart: how far its witnesses are from lying where that vector
                    and the separation say; 0, unless it is beyond the end of an edge [m]        */
    uint32_t feature;
} rb_crossing;

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

/* A candidate, seen from box 1. */
RB_INLINE void rb_boxes_add(rb_boxes *p, double gap, const double x1[3], const double n[3],
                            uint32_t feature)
{
    if (!(gap <= p->limit)) return;
    RB_ASSERT(p->points.n < RB_POINTS_MAX);
    if (p->points.n == RB_POINTS_MAX) return;
    rb_point_set(&p->points.at[p->points.n++], INFINITY, gap, x1, 0.0, n, feature);
}

/* Boxes that are apart: closest points by comparing all features (G.10). Adds the closest pair and
 * the vertices near it that belong to the same contact; s: largest separation; n: the unit vector
 * between the pair. */
void rb_boxes_apart(rb_boxes *p, double s, double n[3]);

#ifdef RB_AVX2
void rb_box_box_avx2(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out);
#endif

#endif
