/* Faces that lie clearly over each other: the manifold of rb_boxes_faces without its candidates. */
#ifndef RB_COLLIDE_BOX_STACK_H
#define RB_COLLIDE_BOX_STACK_H

#include "collide/box_face.h"

/* Candidates as rb_boxes_faces has them, but the normals by name and the places in face 1. */
enum { STACK_MAX = 16 };
enum { OF_FACE_1, OF_FACE_2, OF_BOTH };

typedef struct stack {
    rb_choice pick;
    double x[STACK_MAX][3];
    int normal[STACK_MAX];
} stack;

RB_INLINE rb_v4_truth less(rb_v4 a, rb_v4 b)
{
    return (rb_v4_truth)(a < b);
}

/* How the corners lie to the sides of the face, each as four bits: those beyond side k of the order
 * of edges_crossing from bit 4 k on; those over the face from bit 16 on; from bit 20 on those
 * within `clear` of a side, or over the face with their own foot beside it. */
RB_INLINE int sides_seen(const face *f, const corners *c, double clear)
{
    rb_v4 u = rb_v4_load(c->at[0]), v = rb_v4_load(c->at[1]), near = rb_v4_all(clear);
    rb_v4 h_u = rb_v4_all(f->h[f->u]), h_v = rb_v4_all(f->h[f->v]);
    rb_v4 x_u = rb_v4_abs(rb_v4_load(c->x[f->u])), x_v = rb_v4_abs(rb_v4_load(c->x[f->v]));
    rb_v4 side_u = rb_v4_abs(u) - h_u, side_v = rb_v4_abs(v) - h_v; /* the nearer one of two */
    rb_v4_truth vague = less(rb_v4_abs(side_u), near) | less(rb_v4_abs(side_v), near);
    rb_v4_truth in = less(side_u, near) & less(side_v, near);
    vague |= in & ~(less(x_u - h_u, -near) & less(x_v - h_v, -near));
    rb_v4_truth seen =
        rb_v4_bits_at(less(near, -u - h_u), 0) | rb_v4_bits_at(less(near, u - h_u), 4) |
        rb_v4_bits_at(less(near, -v - h_v), 8) | rb_v4_bits_at(less(near, v - h_v), 12);
    return rb_v4_join(seen | rb_v4_bits_at(in, 16) | rb_v4_bits_at(vague, 20));
}

/* Its corners do not coincide. */
RB_INLINE int is_wide(const face *f, double clear)
{
    return f->h[f->u] > clear && f->h[f->v] > clear;
}

RB_INLINE void stack_add(stack *s, double gap, double reach, const double x[3], int normal,
                         uint32_t feature)
{
    int i = s->pick.n;
    s->pick.gap[i] = gap;
    s->pick.feature[i] = feature;
    s->pick.pick[i] = i;
    s->normal[i] = normal;
    rb_copy3(x, s->x[i]);
    s->pick.n += gap <= reach;
}

RB_INLINE void stack_vertices(stack *s, const rb_boxes *p, double reach, const face f[2],
                              const corners *of_2, const corners *of_1, int over_1, int over_2)
{
    uint32_t half1 = rb_feature_half(RB_FACE, rb_box_face_of(f[0].axis, f[0].side));
    uint32_t half2 = rb_feature_half(RB_FACE, rb_box_face_of(f[1].axis, f[1].side));
    for (int k = 0; k < 4; k++) {
        if (!(over_1 >> k & 1)) continue;
        double x[3] = { of_2->x[0][k], of_2->x[1][k], of_2->x[2][k] };
        double gap = f[0].side * x[f[0].axis] - f[0].h[f[0].axis];
        x[f[0].axis] = f[0].side * f[0].h[f[0].axis];
        stack_add(s, gap, reach, x, OF_FACE_1,
                  rb_feature(half1, rb_feature_half(RB_VERTEX, face_vertex(&f[1], k))));
    }
    for (int k = 0; k < 4; k++) {
        if (!(over_2 >> k & 1)) continue;
        double x[3];
        int vertex = face_vertex(&f[0], k);
        double gap = f[1].side * of_1->x[f[1].axis][k] - f[1].h[f[1].axis];
        rb_box_vertex(p->h1, vertex, x);
        stack_add(s, gap, reach, x, OF_FACE_2,
                  rb_feature(rb_feature_half(RB_VERTEX, vertex), half2));
    }
}

/* Every edge of face 2 whose ends lie on different sides of a side of face 1. */
RB_INLINE void stack_crossings(stack *s, double reach, double slack, const face f[2],
                               const corners *c, int seen)
{
    const face *f1 = &f[0];
    rb_v4 limit = rb_v4_all(reach + slack);
    int low = rb_v4_bits((rb_v4_truth)(rb_v4_load(c->along) <= limit));
    low |= low >> 1 | (low << 3 & 8); /* edges an end of which is within reach */
    int crossing = (seen ^ next_corner(seen)) & 0x1111 * low & ~edges_beside(seen);
    for (int side = 0; side < 4; side++) {
        int crossed = crossing >> 4 * side & 15, of = side >> 1;
        if (!crossed) continue;
        int axis_c = of ? f1->v : f1->u, axis_o = of ? f1->u : f1->v;
        double sign = side & 1 ? 1.0 : -1.0, h_c = f1->h[axis_c];
        for (int k = 0; crossed >> k; k++) {
            int next = (k + 1) & 3;
            if (!(crossed >> k & 1)) continue;
            double here = sign * c->at[of][k] - h_c, there = sign * c->at[of][next] - h_c;
            double part = here / (here - there), from = c->at[1 - of][k], x[3];
            double other = from + part * (c->at[1 - of][next] - from);
            if (!(fabs(other) < f1->h[axis_o] - slack)) continue;
            x[axis_c] = sign * h_c;
            x[axis_o] = other;
            x[f1->axis] = f1->side * f1->h[f1->axis];
            int corner = (side & 1) << axis_c | (f1->side > 0.0) << f1->axis;
            stack_add(s, c->along[k] + part * (c->along[next] - c->along[k]), reach, x, OF_BOTH,
                      rb_feature(rb_feature_half(RB_EDGE, rb_box_edge_of(axis_o, corner)),
                                 rb_feature_half(RB_EDGE, face_edge(&f[1], k))));
        }
    }
}

/* Of more points than are asked for: how far the normals are from n, the places across n, and
 * which of them stay. */
static inline void stack_reduce(stack *s, const double normal[3][3], const double n[3], int most)
{
    double off[3], u[3], v[3];
    for (int k = 0; k < 3; k++) {
        double r[3];
        rb_sub3(normal[k], n, r);
        off[k] = rb_larger(fabs(r[0]), rb_larger(fabs(r[1]), fabs(r[2])));
    }
    rb_orthogonal(n, u);
    rb_cross3(n, u, v);
    for (int i = 0; i < s->pick.n; i++) {
        double middle[3]; /* halfway between its witnesses: neither box is the first */
        rb_copy3(s->x[i], middle);
        rb_axpy3(0.5 * s->pick.gap[i], normal[s->normal[i]], middle);
        s->pick.off[i] = off[s->normal[i]];
        s->pick.flat[i][0] = rb_dot3(middle, u);
        s->pick.flat[i][1] = rb_dot3(middle, v);
    }
    rb_choice_lead(&s->pick);
    rb_choice_reduce(&s->pick, most);
}

/* The normals in frame 1. */
RB_INLINE void stack_normals(const rb_boxes *p, const face f[2], const double n[3],
                             double normal[3][3])
{
    double outward[3] = { 0.0, 0.0, 0.0 };
    rb_zero3(normal[OF_FACE_1]);
    normal[OF_FACE_1][f[0].axis] = f[0].side;
    outward[f[1].axis] = f[1].side;
    rb_rot(p->R, outward, normal[OF_FACE_2]);
    rb_scale3(-1.0, normal[OF_FACE_2], normal[OF_FACE_2]);
    rb_copy3(n, normal[OF_BOTH]);
}

RB_INLINE void stack_write(const stack *s, const rb_shape *a, double normal[3][3], rb_manifold *out)
{
    rb_world world;
    rb_v4 turned[3];
    rb_world_make(a, &world);
    for (int k = 0; k < 3; k++) turned[k] = rb_v4_mix(world.col, normal[k]);
    out->n = s->pick.n;
    for (int i = 0; i < s->pick.n; i++) {
        int k = s->pick.pick[i];
        rb_world_point(&world, s->pick.gap[k], s->x[k], turned[s->normal[k]], &out->point[i]);
        out->point[i].feature = s->pick.feature[k];
    }
}

/* The manifold in the world for a normal n of a face that separates by `least`, with every vertex
 * clearly over the other face or clearly not, where nothing coincides. 0: that is not so, or no
 * point lies that far apart. */
RB_INLINE int rb_boxes_stack(const rb_boxes *p, const double n[3], double least, double reach,
                             rb_manifold *out)
{
    double n2[3], normal[3][3], best = INFINITY;
    corners of_2, of_1;
    rb_rot_t(p->R, n, n2);
    rb_scale3(-1.0, n2, n2);
    face f[2] = { face_towards(p->h1, n), face_towards(p->h2, n2) };
    double clear = 4.0 * p->grain.merge; /* seen along n and along the normals of the faces */
    if (!is_wide(&f[0], clear) || !is_wide(&f[1], clear)) return 0;
    see_face_2(p, &f[0], &f[1], &of_2);
    see_face_1(p, &f[0], &f[1], &of_1);
    int seen_1 = sides_seen(&f[0], &of_2, clear), seen_2 = sides_seen(&f[1], &of_1, clear);
    if ((seen_1 | seen_2) >> 20) return 0;

    stack s;
    s.pick.n = 0;
    s.pick.grain = p->grain;
    stack_vertices(&s, p, reach, f, &of_2, &of_1, seen_1 >> 16, seen_2 >> 16);
    stack_crossings(&s, reach, p->grain.tie, f, &of_2, seen_1);
    for (int i = 0; i < s.pick.n; i++) best = rb_smaller(best, s.pick.gap[i]);
    if (!(best <= least + p->grain.tie)) return 0;
    stack_normals(p, f, n, normal);
    if (s.pick.n > out->most)
        stack_reduce(&s, (const double(*)[3])normal, n, out->most);
    else
        rb_choice_sort(&s.pick);
    stack_write(&s, p->a, normal, out);
    return 1;
}

#endif
