/* What two faces have in common, seen along n (G.11). The region in which they lie over each other
 * is a convex polygon. Its corners are
 *
 *     a vertex of one over the other     gap and normal: the true distance of vertex and face
 *     a crossing of two edges            gap measured along n
 *
 * and are named by these features, not by the order of some clipping. Which face counts as the
 * reference does not enter, so exchanging the boxes changes nothing. */
#include "collide/box_box.h"

/* One face seen from its own box: outward direction d of the contact in that frame. */
typedef struct face {
    const double *h;
    double d[3];
    int axis, u, v; /* axis of its normal, the two in its plane */
    double side;    /* +-1                                      */
} face;

static face face_towards(const double h[3], const double d[3])
{
    face f = { .h = h, .d = { d[0], d[1], d[2] }, .axis = rb_main_axis(d) };
    f.u = (f.axis + 1) % 3;
    f.v = (f.axis + 2) % 3;
    f.side = rb_sign_of(d[f.axis]);
    return f;
}

/* Vertices counter-clockwise about the axis: (-,-) (+,-) (+,+) (-,+) in u, v. */
static int face_vertex(const face *f, int k)
{
    int plus_u = k == 1 || k == 2, plus_v = k >= 2;
    return plus_u << f->u | plus_v << f->v | (f->side > 0.0) << f->axis;
}

/* The edge from vertex k to the next. */
static int face_edge(const face *f, int k)
{
    return rb_box_edge_of(k % 2 == 0 ? f->u : f->v, face_vertex(f, k));
}

/* How far x is from the plane of the face along d, and where in u, v that line meets it. */
static double project(const face *f, const double x[3], double at[2])
{
    double along = (f->side * x[f->axis] - f->h[f->axis]) / fabs(f->d[f->axis]);
    at[0] = x[f->u] - along * f->d[f->u];
    at[1] = x[f->v] - along * f->d[f->v];
    return along;
}

static int is_over(const face *f, const double at[2], double slack)
{
    return fabs(at[0]) <= f->h[f->u] + slack && fabs(at[1]) <= f->h[f->v] + slack;
}

/* The vertex x of the other box over the face: gap, foot q and unit vector outward from there to x.
 * A foot inside the face: the normal of the face. In front of the plane and beyond an edge: the
 * distance from that edge. Where the foot lies on an edge within rounding, or x is behind the
 * plane, the normal of the face is one of many, and d is taken: `along` is the gap in that
 * direction. */
static double foot(const face *f, const double x[3], double along, double tie, double q[3],
                   double outward[3])
{
    double height = f->side * x[f->axis] - f->h[f->axis];
    double du = fabs(x[f->u]) - f->h[f->u], dv = fabs(x[f->v]) - f->h[f->v];
    rb_copy3(x, q);
    if (du < -tie && dv < -tie) {
        q[f->axis] = f->side * f->h[f->axis];
        rb_zero3(outward);
        outward[f->axis] = f->side;
        return height;
    }
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

static void add_vertices_of_2(rb_boxes *p, const face *f1, const face *f2, const double x[4][3],
                              const double at[4][2], const double along[4])
{
    uint32_t half1 = rb_feature_half(RB_FACE, rb_box_face_of(f1->axis, f1->side));
    for (int k = 0; k < 4; k++) {
        if (!is_over(f1, at[k], p->grain.tie)) continue;
        double q[3], n[3], gap = foot(f1, x[k], along[k], p->grain.tie, q, n);
        rb_boxes_add(p, gap, q, n,
                     rb_feature(half1, rb_feature_half(RB_VERTEX, face_vertex(f2, k))));
    }
}

static void add_vertices_of_1(rb_boxes *p, const face *f1, const face *f2)
{
    uint32_t half2 = rb_feature_half(RB_FACE, rb_box_face_of(f2->axis, f2->side));
    for (int k = 0; k < 4; k++) {
        double x[3], y[3], at[2], q[3], outward[3], n[3];
        rb_box_vertex(f1->h, face_vertex(f1, k), x);
        rb_boxes_to_2(p, x, y);
        double along = project(f2, y, at);
        if (!is_over(f2, at, 2.0 * p->grain.tie)) continue;
        double gap = foot(f2, y, along, p->grain.tie, q, outward);
        rb_rot(p->R, outward, n);
        rb_scale3(-1.0, n, n);
        rb_boxes_add(p, gap, x, n,
                     rb_feature(rb_feature_half(RB_VERTEX, face_vertex(f1, k)), half2));
    }
}

/* On which side of the sides of face 1 a point is: bit 2 c + (sign > 0) of `out` where it is beyond
 * the side where coordinate c (0: u, 1: v) is sign h_c, of `in` where it is not; neither within
 * rounding of it: ends there are vertices over the side and no crossings. */
typedef struct sides {
    int out, in;
} sides;

static sides sides_of(const face *f, const double at[2], double slack)
{
    sides s = { 0, 0 };
    for (int bit = 0; bit < 4; bit++) {
        int c = bit >> 1;
        double beyond = (bit & 1 ? at[c] : -at[c]) - f->h[c ? f->v : f->u];
        s.out |= (beyond > slack) << bit;
        s.in |= (beyond < -slack) << bit;
    }
    return s;
}

/* Edge k of face 2 against the side of face 1 where coordinate c is sign h_c, which it crosses. */
static void add_crossing(rb_boxes *p, const face *f1, const face *f2, const double at[4][2],
                         const double along[4], int k, int c, double sign)
{
    int next = (k + 1) % 4, axis_c = c ? f1->v : f1->u, axis_o = c ? f1->u : f1->v;
    double slack = p->grain.tie, h_c = f1->h[axis_c];
    double here = sign * at[k][c] - h_c, there = sign * at[next][c] - h_c;
    double part = here / (here - there);
    double other = at[k][1 - c] + part * (at[next][1 - c] - at[k][1 - c]);
    if (!(fabs(other) < f1->h[axis_o] - slack)) return;

    double gap = along[k] + part * (along[next] - along[k]), x[3];
    x[axis_c] = sign * h_c;
    x[axis_o] = other;
    x[f1->axis] = f1->side * f1->h[f1->axis];
    int edge1 = rb_box_edge_of(axis_o, (sign > 0.0) << axis_c | (f1->side > 0.0) << f1->axis);
    rb_boxes_add(p, gap, x, f1->d,
                 rb_feature(rb_feature_half(RB_EDGE, edge1),
                            rb_feature_half(RB_EDGE, face_edge(f2, k))));
}

void rb_boxes_faces(rb_boxes *p, const double n[3])
{
    double n2[3], x[4][3], at[4][2], along[4];
    rb_rot_t(p->R, n, n2);
    rb_scale3(-1.0, n2, n2);
    face f1 = face_towards(p->h1, n), f2 = face_towards(p->h2, n2);
    for (int k = 0; k < 4; k++) {
        double y[3];
        rb_box_vertex(p->h2, face_vertex(&f2, k), y);
        rb_boxes_to_1(p, y, x[k]);
        along[k] = project(&f1, x[k], at[k]);
    }

    add_vertices_of_2(p, &f1, &f2, (const double(*)[3])x, (const double(*)[2])at, along);
    add_vertices_of_1(p, &f1, &f2);
    sides side[4];
    for (int k = 0; k < 4; k++) side[k] = sides_of(&f1, at[k], p->grain.tie);
    for (int k = 0; k < 4; k++) {
        sides here = side[k], there = side[(k + 1) % 4];
        int crossed = (here.out & there.in) | (here.in & there.out);
        for (int bit = 0; crossed >> bit; bit++) {
            if (!(crossed >> bit & 1)) continue;
            add_crossing(p, &f1, &f2, (const double(*)[2])at, along, k, bit >> 1,
                         bit & 1 ? 1.0 : -1.0);
        }
    }
}
