/* A face of each of two boxes that look at each other, and where the corners of one are over the
 * other: four at a time. */
#ifndef RB_COLLIDE_BOX_FACE_H
#define RB_COLLIDE_BOX_FACE_H

#include "collide/box_box.h"
#include "collide/point_v4.h"
#include "math/spatial_v4.h"

/* One face seen from its own box: outward direction d of the contact in that frame. */
typedef struct face {
    const double *h;
    double d[3];
    int axis, u, v; /* axis of its normal, the two in its plane */
    int name;       /* as rb_box_face_of                        */
    double side;    /* +-1                                      */
} face;

/* Four points, one in each place: those of the other face in the frame of this one, how high they
 * are over its plane, how far from it along d, and where in u, v these lines meet it. */
typedef struct corners {
    double x[3][4], height[4], along[4], at[2][4];
} corners;

RB_INLINE face face_towards(const double h[3], const double d[3])
{
    static const int next[4] = { 1, 2, 0, 1 };
    face f = { .h = h, .d = { d[0], d[1], d[2] }, .axis = rb_main_axis(d) };
    f.u = next[f.axis];
    f.v = next[f.axis + 1];
    f.side = rb_sign_of(d[f.axis]);
    f.name = rb_box_face_of(f.axis, f.side);
    return f;
}

/* Vertices counter-clockwise about the axis: (-,-) (+,-) (+,+) (-,+) in u, v. */
RB_INLINE int face_vertex(const face *f, int k)
{
    static const unsigned char vertex[6][4] = { { 0, 2, 6, 4 }, { 1, 3, 7, 5 }, { 0, 4, 5, 1 },
                                                { 2, 6, 7, 3 }, { 0, 1, 3, 2 }, { 4, 5, 7, 6 } };
    return vertex[f->name][k];
}

/* The edge from vertex k to the next. */
RB_INLINE int face_edge(const face *f, int k)
{
    static const unsigned char edge[6][4] = { { 4, 10, 5, 8 },  { 6, 11, 7, 9 }, { 8, 2, 9, 0 },
                                              { 10, 3, 11, 1 }, { 0, 6, 1, 4 },  { 2, 7, 3, 5 } };
    return edge[f->name][k];
}

/* The edge of sides 0 to 3: those where u, then v are -h, +h. */
RB_INLINE int face_side(const face *f, int side)
{
    static const unsigned char edge[4] = { 3, 1, 0, 2 };
    return face_edge(f, edge[side]);
}

/* Of bits 4 side + k, one for each corner k: those of the next corner instead. */
RB_INLINE int next_corner(int bits)
{
    return (bits >> 1 & 0x7777) | (bits << 3 & 0x8888);
}

/* Of edges 4 side + k that cross a side, or its continuation: those that are wholly beyond the side
 * before or after it, and miss it. `out`: corners beyond the sides. */
RB_INLINE int edges_beside(int out)
{
    int whole = out & next_corner(out),
        either = whole | (whole >> 4 & 0x0f0f) | (whole << 4 & 0xf0f0);
    return (either >> 8 & 0x00ff) | (either << 8 & 0xff00);
}

/* Its four vertices in its own frame. */
RB_INLINE void vertices_of(const face *f, rb_v4 y[3])
{
    double h_u = f->h[f->u], h_v = f->h[f->v];
    y[f->axis] = rb_v4_all(f->side * f->h[f->axis]);
    y[f->u] = (rb_v4){ -h_u, h_u, h_u, -h_u };
    y[f->v] = (rb_v4){ -h_v, -h_v, h_v, h_v };
}

/* The points out->x seen along d from the face. */
RB_INLINE void project(const face *f, corners *out)
{
    rb_v4 x_a = rb_v4_load(out->x[f->axis]), x_u = rb_v4_load(out->x[f->u]),
          x_v = rb_v4_load(out->x[f->v]);
    rb_v4 height = rb_v4_all(f->side) * x_a - rb_v4_all(f->h[f->axis]);
    rb_v4 along = height;
    double facing = fabs(f->d[f->axis]);
    if (facing != 1.0) along /= rb_v4_all(facing);
    rb_v4_store(height, out->height);
    rb_v4_store(along, out->along);
    rb_v4_store(x_u - along * rb_v4_all(f->d[f->u]), out->at[0]);
    rb_v4_store(x_v - along * rb_v4_all(f->d[f->v]), out->at[1]);
}

/* The vertices of face 2 in frame 1, and of face 1 in frame 2, as rb_boxes_to_1 and _2 have them.
 */
RB_INLINE void see_face_2(const rb_boxes *p, const face *f1, const face *f2, corners *out)
{
    rb_v4 y[3];
    vertices_of(f2, y);
    for (int k = 0; k < 3; k++)
        rb_v4_store(rb_v4_mix(y, p->R + 3 * k) + rb_v4_all(p->t[k]), out->x[k]);
    project(f1, out);
}

RB_INLINE void see_face_1(const rb_boxes *p, const face *f1, const face *f2, corners *out)
{
    rb_v4 x[3];
    vertices_of(f1, x);
    for (int k = 0; k < 3; k++) x[k] -= rb_v4_all(p->t[k]);
    for (int k = 0; k < 3; k++) {
        double column[3] = { p->R[k], p->R[3 + k], p->R[6 + k] };
        rb_v4_store(rb_v4_mix(x, column), out->x[k]);
    }
    project(f2, out);
}

/* Where box 1 is. */
typedef struct rb_world {
    rb_v4 col[3], p;
} rb_world;

RB_INLINE void rb_world_make(const rb_shape *a, rb_world *w)
{
    rb_v4 row[3];
    for (int k = 0; k < 3; k++) row[k] = rb_v4_load3(a->R + 3 * k);
    rb_v4_transpose(row, w->col);
    w->p = rb_v4_load3(a->p);
}

/* The point x of box 1 and the one that is `gap` away along n, a vector of the world: operations as
 * in rb_rot and rb_point_set. */
RB_INLINE void rb_world_point(const rb_world *w, double gap, const double x[3], rb_v4 n,
                              uint32_t feature, rb_manifold_point *out)
{
    rb_v4 pos1 = (rb_v4_mix(w->col, x) + w->p) + rb_v4_all(0.0) * n;
    rb_point_write(out, gap, pos1, n, feature);
}

#endif
