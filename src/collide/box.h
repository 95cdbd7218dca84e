/* A box in its own frame: |x_k| <= h_k. Vertices are numbered by the signs of their coordinates,
 * bit k set where x_k > 0; edges by their axis and the signs of the two others; faces by axis and
 * sign. */
#ifndef RB_COLLIDE_BOX_H
#define RB_COLLIDE_BOX_H

#include <stdint.h>

#include "collide/feature.h"
#include "collide/segment.h"
#include "math/vec3.h"

static inline double rb_sign_of(double x)
{
    return x < 0.0 ? -1.0 : 1.0;
}

static inline void rb_box_vertex(const double h[3], int vertex, double x[3])
{
    for (int k = 0; k < 3; k++) x[k] = vertex >> k & 1 ? h[k] : -h[k];
}

static inline int rb_box_vertex_at(const double sign[3])
{
    return (sign[0] > 0.0) | (sign[1] > 0.0) << 1 | (sign[2] > 0.0) << 2;
}

/* The edge along `axis` that the vertex belongs to. */
static inline int rb_box_edge_of(int axis, int vertex)
{
    static const unsigned char edge[3][8] = { { 0, 0, 1, 1, 2, 2, 3, 3 },
                                              { 4, 6, 4, 6, 5, 7, 5, 7 },
                                              { 8, 9, 10, 11, 8, 9, 10, 11 } };
    return edge[axis][vertex];
}

static inline int rb_box_face_of(int axis, double sign)
{
    return 2 * axis + (sign > 0.0);
}

/* The axis with the largest component. */
static inline int rb_main_axis(const double n[3])
{
    int axis = fabs(n[1]) > fabs(n[0]) ? 1 : 0;
    return fabs(n[2]) > fabs(n[axis]) ? 2 : axis;
}

/* Outside, beyond two or three faces: bit k of `beyond` where |x_k| > h_k. The differences |x_k| -
 * h_k are exact to rounding of x itself, and so is the direction. */
RB_INLINE double rb_box_corner_point(const double x[3], const double over[3], int beyond,
                                     double normal[3], uint32_t *feature)
{
    int vertex = (x[0] >= 0.0) | (x[1] >= 0.0) << 1 | (x[2] >= 0.0) << 2;
    int free_axis = beyond == 6 ? 0 : beyond == 5 ? 1 : 2;
    for (int k = 0; k < 3; k++) normal[k] = rb_sign_of(x[k]) * rb_larger(over[k], 0.0);
    *feature = beyond == 7 ? rb_feature_half(RB_VERTEX, vertex)
                           : rb_feature_half(RB_EDGE, rb_box_edge_of(free_axis, vertex));
    return rb_unit(normal);
}

/* Signed distance of the point x, its closest point q on the surface, the outward normal there and
 * the feature (half an id) that q lies on (G.4). */
RB_INLINE double rb_box_point(const double h[3], const double x[3], double q[3], double normal[3],
                              uint32_t *feature)
{
    double over[3] = { fabs(x[0]) - h[0], fabs(x[1]) - h[1], fabs(x[2]) - h[2] };
    int beyond = (over[0] > 0.0) | (over[1] > 0.0) << 1 | (over[2] > 0.0) << 2;
    if (beyond & (beyond - 1)) {
        for (int k = 0; k < 3; k++) q[k] = rb_clamp_to(x[k], h[k]);
        return rb_box_corner_point(x, over, beyond, normal, feature);
    }

    /* over a face; inside, out through the nearest one */
    int axis = over[1] > over[0] ? 1 : 0;
    if (over[2] > over[axis]) axis = 2;
    double side = rb_sign_of(x[axis]);
    for (int k = 0; k < 3; k++) {
        q[k] = k == axis ? side * h[k] : x[k];
        normal[k] = k == axis ? side : 0.0;
    }
    *feature = rb_feature_half(RB_FACE, rb_box_face_of(axis, side));
    return over[axis];
}

#endif
