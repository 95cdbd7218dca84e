/* Box against box.
 *
 * For any unit vector n the separation  s(n) = n.t - width1(n) - width2(n)  is a lower bound of the
 * signed distance, and the distance is its maximum (G.1). Overlapping boxes attain it on one of 15
 * directions: 6 face normals, 9 products of edges. So do boxes that are apart, unless a vertex
 * or parallel edges are closest; this shows as a candidate point whose gap equals s(n), or does
 * not, and then all features are compared (box_apart.c).
 *
 * Everything happens in the frame of box 1. The product m = e_i x c_j is made of entries of R
 * alone, all terms of s carry the factor |m| and it is divided out at the end: for nearly parallel
 * edges nothing is lost but what R itself does not know (G.9). No direction has to be left out. */
#ifndef RB_COLLIDE_BOX_BODY_H
#define RB_COLLIDE_BOX_BODY_H

#include "collide/box_faces.h"
#include "collide/box_stack.h"
#include "collide/pairs.h"
#include "collide/segment.h"

typedef struct direction {
    double s;    /* separation [m]                                        */
    double n[3]; /* unit, frame 1, from 1 to 2                            */
    int i, j;    /* edges along axis i of 1 and j of 2; -1: a face normal */
} direction;

/* What the separating directions need of R: rows, columns, their sizes; in the last place nothing.
 */
typedef struct turn {
    rb_v4 row[3], col[3];
} turn;

/* R = R1'R2, as rb_mul33_t has it. */
RB_INLINE void turn_of(const double R1[9], const double R2[9], double R[9], turn *q)
{
    rb_v4 B[3];
    for (int k = 0; k < 3; k++) B[k] = rb_v4_load3(R2 + 3 * k);
    for (int k = 0; k < 3; k++) {
        q->row[k] =
            (rb_v4_all(R1[k]) * B[0] + rb_v4_all(R1[3 + k]) * B[1]) + rb_v4_all(R1[6 + k]) * B[2];
        rb_v4_store3(q->row[k], R + 3 * k);
    }
    rb_v4_transpose(q->row, q->col);
}

/* Separation along the three normals of a box with half sizes h; t: centre of the other one in its
 * frame; M: its axes there; g: half sizes of the other. */
RB_INLINE rb_v4 face_separations(rb_v4 t, rb_v4 h, const rb_v4 M[3], const double g[3])
{
    rb_v4 width = (rb_v4_all(g[0]) * rb_v4_abs(M[0]) + rb_v4_all(g[1]) * rb_v4_abs(M[1])) +
                  rb_v4_all(g[2]) * rb_v4_abs(M[2]);
    return (rb_v4_abs(t) - h) - width;
}

RB_INLINE void best_face(const rb_boxes *p, const turn *q, direction *best)
{
    rb_v4 t = rb_v4_load3(p->t), ct = rb_v4_mix(q->row, p->t);
    rb_v4 s1 = face_separations(t, rb_v4_load3(p->h1), q->col, p->h2);
    rb_v4 s2 = face_separations(ct, rb_v4_load3(p->h2), q->row, p->h1);
    int which = -1;
    best->s = -INFINITY;
    best->i = best->j = -1;
    for (int k = 0; k < 6; k++) {
        double s = k < 3 ? s1[k] : s2[k - 3];
        if (!(s > best->s + p->grain.tie)) continue;
        best->s = s;
        which = k;
    }
    if (which < 3) {
        for (int k = 0; k < 3; k++) best->n[k] = k == which ? rb_sign_of(p->t[k]) : 0.0;
    } else {
        double side = rb_sign_of(ct[which - 3]);
        for (int k = 0; k < 3; k++) best->n[k] = side * p->R[3 * k + which - 3];
    }
}

/* The products of edge i of box 1 with the three edges of box 2, m = e_i x c_j: m.t, how far they
 * separate the boxes, both times |m|, and m.m. */
typedef struct products {
    rb_v4 mt, over, mm;
} products;

RB_INLINE products products_of(const rb_boxes *p, const turn *q, int i)
{
    int k = (i + 1) % 3, l = (i + 2) % 3;
    rb_v4 r_k = q->row[k], r_l = q->row[l], m_k = -r_l, m_l = r_k;
    rb_v4 mt = m_k * rb_v4_all(p->t[k]) + m_l * rb_v4_all(p->t[l]);
    rb_v4 width = rb_v4_all(p->h1[k]) * rb_v4_abs(m_k) + rb_v4_all(p->h1[l]) * rb_v4_abs(m_l);
    rb_v4 h = rb_v4_load3(p->h2);
    for (int step = 1; step <= 2; step++) {
        r_k = rb_v4_next(r_k);
        r_l = rb_v4_next(r_l);
        h = rb_v4_next(h);
        width += h * rb_v4_abs(m_k * r_k + m_l * r_l);
    }
    return (products){ .mt = mt, .over = rb_v4_abs(mt) - width, .mm = m_k * m_k + m_l * m_l };
}

/* Which of them may be better than a separation `bar`, as bits: compared by squares, without a
 * root. */
RB_INLINE rb_v4_truth better_than(const products *e, double bar)
{
    rb_v4 square = e->over * e->over, bound = rb_v4_all(bar * bar) * e->mm;
    rb_v4_truth apart = (rb_v4_truth)(e->over > rb_v4_all(0.0));
    if (bar >= 0.0) return apart & (rb_v4_truth)(square > bound);
    return apart | (rb_v4_truth)(square < bound);
}

/* A product of edges has to be better than a face by more than rounding: faces give more points. */
static inline void try_edges(const rb_boxes *p, const products *e, int i, int j, direction *best)
{
    static const int next[4] = { 1, 2, 0, 1 };
    double over = e->over[j], bar = best->s + p->grain.tie, length = sqrt(e->mm[j]);
    if (!(over > bar * length)) return;
    int k = next[i], l = next[i + 1];
    double scale = rb_sign_of(e->mt[j]) / length;
    best->s = over / length;
    best->n[i] = 0.0;
    best->n[k] = scale * -p->R[3 * l + j];
    best->n[l] = scale * p->R[3 * k + j];
    best->i = i;
    best->j = j;
}

RB_INLINE void best_edges(const rb_boxes *p, const turn *q, direction *best)
{
    products e[3];
    double bar = best->s + p->grain.tie;
    rb_v4_truth seen = { 0 };
    for (int i = 0; i < 3; i++) {
        e[i] = products_of(p, q, i);
        seen |= rb_v4_bits_at(better_than(&e[i], bar), 4 * i);
    }
    for (int left = rb_v4_join(seen) & 0x777; left; left &= left - 1) {
        int which = __builtin_ctz((unsigned)left);
        try_edges(p, &e[which >> 2], which >> 2, which & 3, best);
    }
}

/* Vertex of a box with half sizes h, as rb_box_vertex numbers them, moved along `axis` to the
 * middle of its edge. */
RB_INLINE rb_v4 middle_of(const double h[3], int vertex, int axis)
{
    static const double sign[8][4] = { { -1, -1, -1 }, { 1, -1, -1 }, { -1, 1, -1 }, { 1, 1, -1 },
                                       { -1, -1, 1 },  { 1, -1, 1 },  { -1, 1, 1 },  { 1, 1, 1 } };
    static const double rest[3][4] = { { 0, 1, 1 }, { 1, 0, 1 }, { 1, 1, 0 } };
    return rb_v4_load3(h) * rb_v4_load(sign[vertex]) * rb_v4_load(rest[axis]);
}

/* The crossing of the two edges that are extreme along n, as rb_lines_cross finds it (G.5). */
RB_INLINE void cross_edges(const rb_boxes *p, const turn *q, const direction *d, rb_crossing *out)
{
    static const double axes[3][4] = { { 1.0 }, { 0.0, 1.0 }, { 0.0, 0.0, 1.0 } };
    const double *n = d->n;
    int vertex1 = (n[0] >= 0.0) | (n[1] >= 0.0) << 1 | (n[2] >= 0.0) << 2;
    int vertex2 = rb_v4_bits((rb_v4_truth)(rb_v4_mix(q->row, n) < rb_v4_all(0.0))) & 7;
    double middle[4], s = 0.0, t = 0.0;
    rb_v4_store(middle_of(p->h2, vertex2, d->j), middle);
    rb_v4 c1 = middle_of(p->h1, vertex1, d->i), e = rb_v4_load(axes[d->i]), u = q->col[d->j];
    rb_v4 c2 = rb_v4_mix(q->col, middle) + rb_v4_load3(p->t), m = rb_v4_cross(e, u), w = c2 - c1;
    double mm = rb_v4_dot(m, m);
    if (mm > 0.0) {
        s = rb_v4_dot(rb_v4_cross(w, u), m) / mm;
        t = rb_v4_dot(rb_v4_all(s) * e - w, u);
    }
    rb_v4 x1 = c1 + rb_v4_all(rb_clamp_to(s, p->h1[d->i])) * e;
    rb_v4_store(x1, out->x);
    out->feature = rb_feature(rb_feature_half(RB_EDGE, rb_box_edge_of(d->i, vertex1)),
                              rb_feature_half(RB_EDGE, rb_box_edge_of(d->j, vertex2)));
    rb_v4 x2 = c2 + rb_v4_all(rb_clamp_to(t, p->h2[d->j])) * u;
    out->off = 0.0;
    if (d->s > 0.0) {
        rb_v4 off = (x2 - x1) - rb_v4_all(d->s) * rb_v4_load3(n);
        out->off = sqrt(rb_v4_dot(off, off));
    }
}

/* The vertex of 2 that is extreme along -n: where rounding left no other candidate. */
static inline void add_support(rb_boxes *p, const direction *d)
{
    double n2[3], sign[3], y[3], x[3];
    rb_rot_t(p->R, d->n, n2);
    for (int k = 0; k < 3; k++) sign[k] = -rb_sign_of(n2[k]);
    rb_box_vertex(p->h2, rb_box_vertex_at(sign), y);
    rb_boxes_to_1(p, y, x);
    rb_axpy3(-d->s, d->n, x);
    int axis = rb_main_axis(d->n);
    rb_boxes_add(p, d->s, x, d->n,
                 rb_feature(rb_feature_half(RB_FACE, rb_box_face_of(axis, d->n[axis])),
                            rb_feature_half(RB_VERTEX, rb_box_vertex_at(sign))));
}

static double least_gap(const rb_points *points)
{
    double least = INFINITY;
    for (int i = 0; i < points->n; i++) least = rb_smaller(least, points->at[i].gap);
    return least;
}

/* Candidates along the best direction, the crossing of edges among them where there is one; returns
 * 1 where one of them proves it. */
static inline int add_along(rb_boxes *p, const direction *d, const rb_crossing *crossing)
{
    if (crossing) rb_boxes_add(p, d->s, crossing->x, d->n, crossing->feature);
    rb_boxes_faces(p, d->n);
    if (least_gap(&p->points) <= d->s + p->grain.tie) return 1;
    if (d->s > 0.0) return 0;
    add_support(p, d);
    return 1;
}

RB_INLINE void rb_box_box_body(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out)
{
    rb_boxes p;
    p.a = a;
    p.b = b;
    p.h1 = a->size;
    p.h2 = b->size;
    p.points.n = 0;
    p.single = out->most == 1;
    double w[3];
    rb_sub3(b->p, a->p, w);
    rb_rot_t(a->R, w, p.t);
    turn q;
    turn_of(a->R, b->R, p.R, &q);
    double hh1 = rb_dot3(p.h1, p.h1), hh2 = rb_dot3(p.h2, p.h2), ww = rb_dot3(w, w);
    p.grain =
        rb_grain_of(sqrt(rb_smaller(hh1, hh2)), sqrt(rb_larger(rb_larger(hh1, hh2), ww)), 0.0);

    direction best;
    best_face(&p, &q, &best);
    best_edges(&p, &q, &best);
    if (best.s > reach) {
        out->n = 0;
        return;
    }
    p.limit = reach + p.grain.tie; /* one of them may prove a gap that is as large as reach */
    rb_crossing crossing, *crossed = best.i >= 0 ? &crossing : NULL;
    if (crossed) cross_edges(&p, &q, &best, crossed);
    int beside = crossed && crossing.off > p.grain.tie;
    if (!beside && rb_boxes_stack(&p, best.n, best.s, crossed, reach, out)) return;
    if (beside || !add_along(&p, &best, crossed)) {
        p.points.n = 0;
        p.limit = INFINITY;
        rb_boxes_apart(&p, best.s, best.n);
    }
    rb_points_finish(&p.points, best.n, reach, p.grain, out);
    rb_world world;
    rb_world_make(a, &world);
    for (int i = 0; i < out->n; i++) {
        rb_manifold_point *point = &out->point[i];
        rb_world_point(&world, point->gap, point->pos1, rb_v4_mix(world.col, point->normal),
                       point->feature, point);
    }
}

#endif
