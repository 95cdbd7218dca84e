/* Sphere against box: rb_box_point (G.4) for all three axes at once. Compiled twice: for every
 * processor, and for those with AVX2. */
#ifndef RB_COLLIDE_SPHERE_BOX_H
#define RB_COLLIDE_SPHERE_BOX_H

#include "collide/box.h"
#include "collide/pairs.h"
#include "collide/point_v4.h"

/* The centre x of the sphere in the frame of the box, whose faces it is beyond by `over`. Of the
 * fourth numbers none is used. */
typedef struct centre {
    rb_v4 x, over;
    int beyond; /* bit k where over_k > 0 */
} centre;

/* Beyond two or three faces. Returns the distance of x; outward: the unit vector to it. */
RB_INLINE double from_corner(const centre *c, rb_v4 *outward, uint32_t *feature)
{
    rb_v4 nil = rb_v4_all(0.0);
    rb_v4_truth back = (rb_v4_truth)(c->x < nil), out = (rb_v4_truth)(c->over > nil);
    int vertex = ~rb_v4_bits(back) & 7;
    int free_axis = c->beyond == 6 ? 0 : c->beyond == 5 ? 1 : 2;
    *feature = c->beyond == 7 ? rb_feature_half(RB_VERTEX, vertex)
                              : rb_feature_half(RB_EDGE, rb_box_edge_of(free_axis, vertex));
    rb_v4 to = (rb_v4)((rb_v4_truth)c->over & out);
    double square = rb_v4_dot(to, to);
    to = (rb_v4)((rb_v4_truth)to ^ (back & (rb_v4_truth)rb_v4_all(-0.0)));
    if (!(square > 1e-200 && square < 1e200)) {
        double n[3] = { to[0], to[1], to[2] }, length = rb_unit(n);
        *outward = rb_v4_load3(n);
        return length;
    }
    double length = sqrt(square);
    *outward = to * rb_v4_all(1.0 / length);
    return length;
}

/* Over a face; inside, out through the nearest one. */
RB_INLINE double from_face(const centre *c, rb_v4 *outward, uint32_t *feature)
{
    static const double normal[6][4] = { { -1, 0, 0 }, { 1, 0, 0 },  { 0, -1, 0 },
                                         { 0, 1, 0 },  { 0, 0, -1 }, { 0, 0, 1 } };
    int axis = c->over[1] > c->over[0] ? 1 : 0;
    double over = rb_larger(c->over[1], c->over[0]);
    if (c->over[2] > over) {
        axis = 2;
        over = c->over[2];
    }
    int which = 2 * axis + !(rb_v4_bits((rb_v4_truth)(c->x < rb_v4_all(0.0))) >> axis & 1);
    *outward = rb_v4_load(normal[which]);
    *feature = rb_feature_half(RB_FACE, which);
    return over;
}

RB_INLINE int rb_sphere_box_body(const rb_shape *sphere, const rb_shape *box, double reach,
                                 rb_manifold_point *out)
{
    rb_v4 row[3] = { rb_v4_load(box->R), rb_v4_load(box->R + 3), rb_v4_load3(box->R + 6) };
    rb_v4 col[3], outward;
    double r[3], radius = sphere->size[0];
    uint32_t half2;
    centre c;
    rb_sub3(sphere->p, box->p, r);
    c.x = rb_v4_mix(row, r);
    rb_v4_transpose(row, col);
    c.over = rb_v4_abs(c.x) - rb_v4_load3(box->size);
    c.beyond = rb_v4_bits((rb_v4_truth)(c.over > rb_v4_all(0.0))) & 7;
    double distance = c.beyond & (c.beyond - 1) ? from_corner(&c, &outward, &half2)
                                                : from_face(&c, &outward, &half2);
    double gap = distance - radius;
    rb_v4 n = -rb_v4_turn(col, outward);
    rb_point_write(out, gap, rb_v4_load3(sphere->p) + rb_v4_all(radius) * n, n,
                   rb_feature(rb_feature_half(RB_CURVED, 0), half2));
    return gap <= reach;
}

#ifdef RB_AVX2
int rb_sphere_box_avx2(const rb_shape *sphere, const rb_shape *box, double reach,
                       rb_manifold_point *out);
#endif

#endif
