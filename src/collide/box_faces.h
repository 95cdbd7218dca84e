/* What two faces have in common, seen along n (G.27). The region in which they lie over each other
 * is a convex polygon. Its corners are
 *
 *     a vertex of one over the other     gap and normal: the true distance of vertex and face
 *     a crossing of two edges            gap measured along n
 *
 * and are named by these features, not by the order of some clipping. Which face counts as the
 * reference does not enter, so exchanging the boxes changes nothing. */
#ifndef RB_COLLIDE_BOX_FACES_H
#define RB_COLLIDE_BOX_FACES_H

#include "collide/box_face.h"

/* Corners over the face, at most `slack` beside it, and no higher than `limit`: a bit each. Higher
 * corners have larger gaps, wherever their feet are. */
RB_INLINE int corners_over(const face *f, const corners *c, double slack, double limit)
{
    rb_v4 u = rb_v4_abs(rb_v4_load(c->at[0])), v = rb_v4_abs(rb_v4_load(c->at[1]));
    rb_v4 height = rb_v4_load(c->height);
    return rb_v4_bits((rb_v4_truth)(u <= rb_v4_all(f->h[f->u] + slack)) &
                      (rb_v4_truth)(v <= rb_v4_all(f->h[f->v] + slack)) &
                      (rb_v4_truth)(height <= rb_v4_all(limit)));
}

/* The vertex x of the other box, beyond an edge of the face or on it within rounding: gap, foot q
 * and unit vector outward from there to x. In front of the plane and beyond an edge: the distance
 * from that edge. Where the foot lies on an edge within rounding, or x is behind the plane, the
 * normal of the face is one of many, and d is taken: `along` is the gap in that direction. */
static inline double foot_aside(const face *f, const double x[3], double along, double tie,
                                double q[3], double outward[3])
{
    double height = f->side * x[f->axis] - f->h[f->axis];
    double du = fabs(x[f->u]) - f->h[f->u], dv = fabs(x[f->v]) - f->h[f->v];
    rb_copy3(x, q);
    if (height <= tie || (du <= tie && dv <= tie)) {
        rb_axpy3(-along, f->d, q);
        rb_copy3(f->d, outward);
        return along;
    }
    double over[3] = { 0.0, 0.0, 0.0 };
    over[f->axis] = height;
    over[f->u] = rb_larger(du, 0.0);
    over[f->v] = rb_larger(dv, 0.0);
    for (int k = 0; k < 3; k++) {
        double sign = k == f->axis ? f->side : rb_sign_of(x[k]);
        outward[k] = sign * over[k];
        if (over[k] > 0.0) q[k] = sign * f->h[k];
    }
    return rb_normalize3(outward);
}

/* The same of any vertex over the face. A foot inside it has the normal of the face. */
RB_INLINE double foot(const face *f, const corners *c, int k, double tie, double q[3],
                      double outward[3])
{
    double x[3] = { c->x[0][k], c->x[1][k], c->x[2][k] };
    double x_a = c->x[f->axis][k], x_u = c->x[f->u][k], x_v = c->x[f->v][k];
    if (!(fabs(x_u) - f->h[f->u] < -tie && fabs(x_v) - f->h[f->v] < -tie))
        return foot_aside(f, x, c->along[k], tie, q, outward);
    rb_copy3(x, q);
    rb_zero3(outward);
    q[f->axis] = f->side * f->h[f->axis];
    outward[f->axis] = f->side;
    return f->side * x_a - f->h[f->axis];
}

RB_INLINE void add_vertices_of_2(rb_boxes *p, const face *f1, const face *f2, const corners *c)
{
    uint32_t half1 = rb_feature_half(RB_FACE, rb_box_face_of(f1->axis, f1->side));
    int over = corners_over(f1, c, p->grain.tie, p->limit);
    for (int k = 0; over >> k; k++) {
        if (!(over >> k & 1)) continue;
        double q[3], n[3], gap = foot(f1, c, k, p->grain.tie, q, n);
        rb_boxes_add(p, gap, q, n,
                     rb_feature(half1, rb_feature_half(RB_VERTEX, face_vertex(f2, k))));
    }
}

RB_INLINE void add_vertices_of_1(rb_boxes *p, const face *f1, const face *f2, const corners *c)
{
    uint32_t half2 = rb_feature_half(RB_FACE, rb_box_face_of(f2->axis, f2->side));
    int over = corners_over(f2, c, 2.0 * p->grain.tie, p->limit);
    for (int k = 0; over >> k; k++) {
        double x[3], q[3], outward[3], n[3];
        if (!(over >> k & 1)) continue;
        double gap = foot(f2, c, k, p->grain.tie, q, outward);
        rb_box_vertex(f1->h, face_vertex(f1, k), x);
        rb_rot(p->R, outward, n);
        rb_scale3(-1.0, n, n);
        rb_boxes_add(p, gap, x, n,
                     rb_feature(rb_feature_half(RB_VERTEX, face_vertex(f1, k)), half2));
    }
}

/* Which edges k of face 2 cross side `side` of face 1, bit 4 side + k; sides 0 to 3 are those where
 * u, then v are -h, +h. An end within `slack` of a side is a vertex over it and no crossing. Edges
 * both ends of which are higher than `limit` are left out. */
RB_INLINE int edges_crossing(const face *f, const corners *c, double slack, double limit)
{
    rb_v4 u = rb_v4_load(c->at[0]), v = rb_v4_load(c->at[1]), near = rb_v4_all(slack);
    rb_v4 h_u = rb_v4_all(f->h[f->u]), h_v = rb_v4_all(f->h[f->v]);
    rb_v4 beyond[4] = { -u - h_u, u - h_u, -v - h_v, v - h_v };
    rb_v4_truth out = { 0 }, in = { 0 };
    for (int k = 0; k < 4; k++) {
        out |= rb_v4_bits_at((rb_v4_truth)(beyond[k] > near), 4 * k);
        in |= rb_v4_bits_at((rb_v4_truth)(beyond[k] < -near), 4 * k);
    }
    out |= rb_v4_bits_at((rb_v4_truth)(rb_v4_load(c->along) <= rb_v4_all(limit)), 16);
    int o = rb_v4_join(out), i = rb_v4_join(in), low = o >> 16;
    low |= low >> 1 | (low << 3 & 8);
    int across = (o & next_corner(i)) | (i & next_corner(o));
    return across & 0x1111 * low & ~edges_beside(o);
}

/* Edge k of face 2 against the side of face 1 where coordinate c is sign h_c, which it crosses. */
RB_INLINE void add_side_crossing(rb_boxes *p, const face *f1, const face *f2, const corners *at,
                                 int k, int c, double sign)
{
    int next = (k + 1) & 3, axis_c = c ? f1->v : f1->u, axis_o = c ? f1->u : f1->v;
    double slack = p->grain.tie, h_c = f1->h[axis_c];
    double here = sign * at->at[c][k] - h_c, there = sign * at->at[c][next] - h_c;
    double part = here / (here - there), from = at->at[1 - c][k];
    double other = from + part * (at->at[1 - c][next] - from);
    if (!(fabs(other) < f1->h[axis_o] - slack)) return;

    double gap = at->along[k] + part * (at->along[next] - at->along[k]), x[3];
    x[axis_c] = sign * h_c;
    x[axis_o] = other;
    x[f1->axis] = f1->side * f1->h[f1->axis];
    rb_boxes_add(p, gap, x, f1->d,
                 rb_feature(rb_feature_half(RB_EDGE, face_side(f1, 2 * c + (sign > 0.0))),
                            rb_feature_half(RB_EDGE, face_edge(f2, k))));
}

/* n: unit, frame 1, from 1 to 2. */
static inline void rb_boxes_faces(rb_boxes *p, const double n[3])
{
    double n2[3];
    corners of_2, of_1;
    rb_rot_t(p->R, n, n2);
    rb_scale3(-1.0, n2, n2);
    face f1 = face_towards(p->h1, n), f2 = face_towards(p->h2, n2);
    see_face_2(p, &f1, &f2, &of_2);
    see_face_1(p, &f1, &f2, &of_1);
    add_vertices_of_2(p, &f1, &f2, &of_2);
    add_vertices_of_1(p, &f1, &f2, &of_1);

    int crossed = edges_crossing(&f1, &of_2, p->grain.tie, p->limit + p->grain.tie);
    for (int k = 0; k < 4 && crossed; k++) {
        int here = crossed >> k & 0x1111;
        for (int side = 0; here >> 4 * side; side++) {
            if (!(here >> 4 * side & 1)) continue;
            add_side_crossing(p, &f1, &f2, &of_2, k, side >> 1, side & 1 ? 1.0 : -1.0);
        }
    }
}

#endif
