/* A box in its own frame: |x_k| <= h_k. Vertices are numbered by the signs of their coordinates,
 * bit k set where x_k > 0; edges by their axis and the signs of the two others; faces by axis and
 * sign. */
#ifndef RB_COLLIDE_BOX_H
#define RB_COLLIDE_BOX_H

#include <stdint.h>

#include "collide/feature.h"
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
    return 4 * axis + (vertex >> (axis + 1) % 3 & 1) + 2 * (vertex >> (axis + 2) % 3 & 1);
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

/* Signed distance of the point x, its closest point q on the surface, the outward normal there and
 * the feature (half an id) that q lies on (G.4). */
double rb_box_point(const double h[3], const double x[3], double q[3], double normal[3],
                    uint32_t *feature);

#endif
