/* Faces that lie clearly over each other, or edges that cross clearly: the manifold of
 * rb_boxes_faces without its candidates. */
#ifndef RB_COLLIDE_BOX_STACK_H
#define RB_COLLIDE_BOX_STACK_H

#include "collide/box_face.h"

/* Candidates as rb_boxes_faces has them, but the normals by name and the places in face 1. */
enum { OF_FACE_1, OF_FACE_2, OF_BOTH };

typedef struct stack {
    rb_choice pick;
    double beyond[4][4]; /* how far the corners of face 2 are beyond the sides of face 1        */
    int known;           /* 1: the first point is a crossing, 2: and one of faces as well       */
    double x[RB_POINTS_MAX][3];
    int normal[RB_POINTS_MAX];
} stack;

RB_INLINE rb_v4_truth less(rb_v4 a, rb_v4 b)
{
    return (rb_v4_truth)(a < b);
}

/* How the corners lie to the sides of the face, each as four bits: those beyond side k of the order
 * of edges_crossing from bit 4 k on; those over the face from bit 16 on; from bit 20 on those
 * within `clear` of a side, or over the face with their own foot beside it. */
RB_INLINE int sides_seen(const face *f, const corners *c, double clear, double beyond[4][4])
{
    rb_v4 u = rb_v4_load(c->at[0]), v = rb_v4_load(c->at[1]), near = rb_v4_all(clear);
    rb_v4 h_u = rb_v4_all(f->h[f->u]), h_v = rb_v4_all(f->h[f->v]);
    rb_v4 x_u = rb_v4_abs(rb_v4_load(c->x[f->u])), x_v = rb_v4_abs(rb_v4_load(c->x[f->v]));
    rb_v4 side_u = rb_v4_abs(u) - h_u, side_v = rb_v4_abs(v) - h_v; /* the nearer one of two */
    rb_v4 side[4] = { -u - h_u, u - h_u, -v - h_v, v - h_v };
    rb_v4_truth vague = less(rb_v4_abs(side_u), near) | less(rb_v4_abs(side_v), near);
    rb_v4_truth in = less(side_u, near) & less(side_v, near);
    vague |= in & ~(less(x_u - h_u, -near) & less(x_v - h_v, -near));
    rb_v4_truth seen = rb_v4_bits_at(in, 16) | rb_v4_bits_at(vague, 20);
    for (int k = 0; k < 4; k++) {
        seen |= rb_v4_bits_at(less(near, side[k]), 4 * k);
        if (beyond) rb_v4_store(side[k], beyond[k]);
    }
    return rb_v4_join(seen);
}

/* Its corners do not coincide. */
RB_INLINE int is_wide(const face *f, double clear)
{
    return f->h[f->u] > clear && f->h[f->v] > clear;
}

RB_INLINE void stack_add(stack *s, double gap, double reach, int normal, uint32_t feature)
{
    int i = s->pick.n;
    s->pick.gap[i] = gap;
    s->pick.feature[i] = feature;
    s->pick.pick[i] = i;
    s->normal[i] = normal;
    s->pick.n += gap <= reach;
}

/* A crossing that is the first point already. */
RB_INLINE int is_first(stack *s, double gap, const double x[3], uint32_t feature)
{
    double r[3];
    if (!s->known || feature != s->pick.feature[0] || gap < s->pick.gap[0] - s->pick.grain.tie)
        return 0;
    rb_sub3(x, s->x[0], r);
    if (rb_dot3(r, r) < s->pick.grain.merge * s->pick.grain.merge) s->known = 2;
    return 1;
}

RB_INLINE void stack_vertices_of_2(stack *s, double reach, const face f[2], const corners *c,
                                   int over)
{
    uint32_t half1 = rb_feature_half(RB_FACE, f[0].name);
    for (; over; over &= over - 1) {
        int k = rb_lowest_bit((unsigned)over);
        double *x = s->x[s->pick.n];
        for (int i = 0; i < 3; i++) x[i] = c->x[i][k];
        x[f[0].axis] = f[0].side * f[0].h[f[0].axis];
        stack_add(s, c->height[k], reach, OF_FACE_1,
                  rb_feature(half1, rb_feature_half(RB_VERTEX, face_vertex(&f[1], k))));
    }
}

RB_INLINE void stack_vertices_of_1(stack *s, double reach, const face f[2], const corners *c,
                                   int over)
{
    uint32_t half2 = rb_feature_half(RB_FACE, f[1].name);
    for (; over; over &= over - 1) {
        int k = rb_lowest_bit((unsigned)over), vertex = face_vertex(&f[0], k);
        rb_box_vertex(f[0].h, vertex, s->x[s->pick.n]);
        stack_add(s, c->height[k], reach, OF_FACE_2,
                  rb_feature(rb_feature_half(RB_VERTEX, vertex), half2));
    }
}

/* Every edge of face 2 whose ends lie on different sides of a side of face 1; not that which is
 * there already as the first point, unless it is elsewhere here. */
RB_INLINE void stack_crossings(stack *s, double reach, double slack, const face f[2],
                               const corners *c, int seen)
{
    const face *f1 = &f[0];
    const int in[2] = { f1->u, f1->v };
    int crossing = (seen ^ next_corner(seen)) & 0xffff;
    if (!crossing) return;
    int low = rb_v4_bits((rb_v4_truth)(rb_v4_load(c->along) <= rb_v4_all(reach + slack)));
    low |= low >> 1 | (low << 3 & 8); /* edges an end of which is within reach */
    for (crossing &= 0x1111 * low & ~edges_beside(seen); crossing; crossing &= crossing - 1) {
        int which = rb_lowest_bit((unsigned)crossing), side = which >> 2, of = which >> 3;
        int k = which & 3, next = (which + 1) & 3, axis_c = in[of], axis_o = in[1 - of];
        double here = s->beyond[side][k], there = s->beyond[side][next];
        double part = here / (here - there);
        double gap = c->along[k] + part * (c->along[next] - c->along[k]);
        if (!(gap <= reach)) continue;
        const double *at = c->at[1 - of];
        double other = at[k] + part * (at[next] - at[k]), *x = s->x[s->pick.n];
        if (!(fabs(other) < f1->h[axis_o] - slack)) continue;
        x[axis_c] = side & 1 ? f1->h[axis_c] : -f1->h[axis_c];
        x[axis_o] = other;
        x[f1->axis] = f1->side * f1->h[f1->axis];
        uint32_t feature = rb_feature(rb_feature_half(RB_EDGE, face_side(f1, side)),
                                      rb_feature_half(RB_EDGE, face_edge(&f[1], k)));
        if (is_first(s, gap, x, feature)) continue;
        stack_add(s, gap, reach, OF_BOTH, feature);
    }
}

/* Whether no two points would be merged by rb_points_finish, seen along n, the normal of face 1 or
 * where it is given that of face 2. */
RB_INLINE int is_distinct(const stack *s, const face *f1, const double n[3], const double *n2)
{
    const double slant = 0.5, far = 400.0; /* cosine^2; in merge^2 [1] */
    double least = far * s->pick.grain.merge * s->pick.grain.merge, middle[RB_POINTS_MAX][3];
    for (int i = 0; i < s->pick.n; i++) {
        double half = 0.5 * s->pick.gap[i];
        rb_copy3(s->x[i], middle[i]);
        if (s->normal[i] == OF_FACE_1)
            middle[i][f1->axis] += half * f1->side;
        else
            rb_axpy3(half, s->normal[i] == OF_BOTH ? n : n2, middle[i]);
        for (int j = 0; j < i; j++) {
            double r[3];
            rb_sub3(middle[i], middle[j], r);
            double rr = rb_dot3(r, r), most = rb_larger(fabs(rb_dot3(r, n)), fabs(r[f1->axis]));
            if (n2) most = rb_larger(most, fabs(rb_dot3(r, n2)));
            if (!(rr > least && most * most < slant * rr)) return 0;
        }
    }
    return 1;
}

/* Of more points than are wanted: how far the normals are from n, the positions across n, and which
 * of them are kept. */
static inline void stack_reduce(stack *s, double normal[3][3], const double n[3], int most)
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
        rb_world_point(&world, s->pick.gap[k], s->x[k], turned[s->normal[k]], s->pick.feature[k],
                       &out->point[i]);
    }
}

/* The manifold in the world for the direction n that separates by `least`, the normal of a face or
 * that of two edges that cross, with every vertex clearly over the other face or clearly not, where
 * nothing coincides. 0: that is not so, or no point lies that far apart. */
RB_NOINLINE static int rb_boxes_stack(const rb_boxes *p, const double n[3], double least,
                                      const rb_crossing *crossing, double reach, rb_manifold *out)
{
    double n2[3], normal[3][3], best = INFINITY;
    corners of_2, of_1;
    rb_rot_t(p->R, n, n2);
    rb_scale3(-1.0, n2, n2);
    face f[2] = { face_towards(p->h1, n), face_towards(p->h2, n2) };
    double clear = 4.0 * p->grain.merge; /* seen along n and along the normals of the faces */
    if (!is_wide(&f[0], clear) || !is_wide(&f[1], clear)) return 0;
    stack s;
    s.pick.n = 0;
    s.pick.grain = p->grain;
    s.known = crossing != NULL;
    see_face_2(p, &f[0], &f[1], &of_2);
    int seen = sides_seen(&f[0], &of_2, clear, s.beyond), over = 0;
    if (seen >> 20) return 0;
    if (seen >> 16 != 15) { /* face 1 has no vertex over a face 2 that is all inside of it */
        see_face_1(p, &f[0], &f[1], &of_1);
        over = sides_seen(&f[1], &of_1, clear, NULL) >> 16;
        if (over >> 4) return 0;
    }

    if (crossing) {
        rb_copy3(crossing->x, s.x[0]);
        stack_add(&s, least, reach, OF_BOTH, crossing->feature);
    }
    stack_vertices_of_2(&s, reach, f, &of_2, seen >> 16);
    stack_vertices_of_1(&s, reach, f, &of_1, over);
    int bare = s.pick.n <= 1; /* no vertices */
    stack_crossings(&s, reach, p->grain.tie, f, &of_2, seen);
    for (int i = 0; i < s.pick.n; i++) best = rb_smaller(best, s.pick.gap[i]);
    if (!(best <= least + p->grain.tie)) return 0;
    stack_normals(p, f, n, normal);
    int many = s.pick.n > out->most;
    if (crossing) {
        /* crossings are as far from each other as corners are from sides */
        int sure = s.pick.n == 1 || (bare && s.known == 2);
        const double *of_2nd = over ? normal[OF_FACE_2] : NULL;
        if (many || !(sure || is_distinct(&s, &f[0], n, of_2nd))) return 0;
    }
    if (many)
        stack_reduce(&s, normal, n, out->most);
    else
        rb_choice_sort(&s.pick);
    stack_write(&s, p->a, normal, out);
    return 1;
}

#endif
