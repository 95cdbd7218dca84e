/* Box against box.
 *
 * For any unit vector n the separation  s(n) = n.t - width1(n) - width2(n)  is a lower bound of the
 * signed distance, and the distance is its maximum (G.9). Overlapping boxes attain it on one of 15
 * directions: 6 face normals, 9 products of edges. So do boxes that are apart, unless a vertex
 * or parallel edges are closest; this shows as a candidate point whose gap equals s(n), or does
 * not, and then all features are compared (box_apart.c).
 *
 * Everything happens in the frame of box 1. The product m = e_i x c_j is made of entries of R
 * alone, all terms of s carry the factor |m| and it is divided out at the end: for nearly parallel
 * edges nothing is lost but what R itself does not know (G.10). No direction has to be left out. */
#include "collide/box_box.h"

#include "collide/pairs.h"
#include "collide/segment.h"

typedef struct direction {
    double s;    /* separation [m]                                        */
    double n[3]; /* unit, frame 1, from 1 to 2                            */
    int i, j;    /* edges along axis i of 1 and j of 2; -1: a face normal */
} direction;

void rb_boxes_add(rb_boxes *p, double gap, const double x1[3], const double n[3], uint32_t feature)
{
    double pos1[3], normal[3];
    rb_rot(p->a->R, x1, pos1);
    rb_add3(pos1, p->a->p, pos1);
    rb_rot(p->a->R, n, normal);
    rb_points_add(&p->points, gap, pos1, normal, feature);
}

static direction best_face(const rb_boxes *p)
{
    const double *R = p->R, *t = p->t, *h1 = p->h1, *h2 = p->h2;
    direction best = { .s = -INFINITY, .i = -1, .j = -1 };
    for (int k = 0; k < 3; k++) {
        const double *r = R + 3 * k;
        double s =
            fabs(t[k]) - h1[k] - (h2[0] * fabs(r[0]) + h2[1] * fabs(r[1]) + h2[2] * fabs(r[2]));
        if (s > best.s + p->grain.tie) {
            best.s = s;
            for (int i = 0; i < 3; i++) best.n[i] = i == k ? rb_sign_of(t[k]) : 0.0;
        }
    }
    for (int k = 0; k < 3; k++) {
        double c[3] = { R[k], R[3 + k], R[6 + k] }, ct = rb_dot3(c, t);
        double s =
            fabs(ct) - h2[k] - (h1[0] * fabs(c[0]) + h1[1] * fabs(c[1]) + h1[2] * fabs(c[2]));
        if (s > best.s + p->grain.tie) {
            best.s = s;
            rb_scale3(rb_sign_of(ct), c, best.n);
        }
    }
    return best;
}

/* A product of edges has to be better than a face by more than rounding: faces give more points. */
static void try_edges(const rb_boxes *p, int i, int j, direction *best)
{
    const double *R = p->R;
    int k = (i + 1) % 3, l = (i + 2) % 3;
    double m_k = -R[3 * l + j], m_l = R[3 * k + j];
    double mt = m_k * p->t[k] + m_l * p->t[l];
    double width = p->h1[k] * fabs(m_k) + p->h1[l] * fabs(m_l);
    for (int step = 1; step <= 2; step++) {
        int c = (j + step) % 3;
        width += p->h2[c] * fabs(m_k * R[3 * k + c] + m_l * R[3 * l + c]);
    }
    double over = fabs(mt) - width, bar = best->s + p->grain.tie;
    if (bar >= 0.0 && over <= 0.0) return;
    double length = sqrt(m_k * m_k + m_l * m_l);
    if (!(over > bar * length)) return;
    double scale = rb_sign_of(mt) / length;
    best->s = over / length;
    best->n[i] = 0.0;
    best->n[k] = scale * m_k;
    best->n[l] = scale * m_l;
    best->i = i;
    best->j = j;
}

/* The crossing of the two edges that are extreme along n. Returns how far its witnesses are from
 * lying s n apart: not at all, unless the crossing is beyond the end of an edge. */
static double add_crossing(rb_boxes *p, const direction *d)
{
    double n2[3], sign1[3], sign2[3], m[3], s, t, x1[3], x2[3];
    rb_rot_t(p->R, d->n, n2);
    rb_segment e1 = { .u = { d->i == 0, d->i == 1, d->i == 2 }, .half = p->h1[d->i] };
    rb_segment e2 = { .u = { p->R[d->j], p->R[3 + d->j], p->R[6 + d->j] }, .half = p->h2[d->j] };
    double middle[3];
    for (int k = 0; k < 3; k++) {
        sign1[k] = rb_sign_of(d->n[k]);
        sign2[k] = -rb_sign_of(n2[k]);
        e1.c[k] = k == d->i ? 0.0 : sign1[k] * p->h1[k];
        middle[k] = k == d->j ? 0.0 : sign2[k] * p->h2[k];
    }
    rb_boxes_to_1(p, middle, e2.c);
    if (!rb_lines_cross(&e1, &e2, m, &s, &t)) s = t = 0.0;
    rb_segment_at(&e1, rb_clamp_to(s, e1.half), x1);
    rb_segment_at(&e2, rb_clamp_to(t, e2.half), x2);

    uint32_t half1 = rb_feature_half(RB_EDGE, rb_box_edge_of(d->i, rb_box_vertex_at(sign1)));
    uint32_t half2 = rb_feature_half(RB_EDGE, rb_box_edge_of(d->j, rb_box_vertex_at(sign2)));
    rb_boxes_add(p, d->s, x1, d->n, rb_feature(half1, half2));
    rb_sub3(x2, x1, x2);
    rb_axpy3(-d->s, d->n, x2);
    return rb_norm3(x2);
}

/* The vertex of 2 that is extreme along -n: where rounding left no other candidate. */
static void add_support(rb_boxes *p, const direction *d)
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

/* Candidates along the best direction; returns 1 where one of them proves it. */
static int add_along(rb_boxes *p, const direction *d)
{
    if (d->i >= 0) {
        double off = add_crossing(p, d);
        if (d->s > 0.0 && off > p->grain.tie) return 0;
    }
    rb_boxes_faces(p, d->n);
    if (least_gap(&p->points) <= d->s + p->grain.tie) return 1;
    if (d->s > 0.0) return 0;
    add_support(p, d);
    return 1;
}

void rb_box_box(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out)
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
    rb_mul33_t(a->R, b->R, p.R);
    p.grain = rb_grain_of(rb_norm3(p.h1), rb_norm3(p.h2), rb_norm3(w));

    direction best = best_face(&p);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) try_edges(&p, i, j, &best);
    }
    if (best.s > reach) {
        out->n = 0;
        return;
    }
    if (!add_along(&p, &best)) {
        p.points.n = 0;
        rb_boxes_apart(&p, best.n);
    }
    rb_rot(a->R, best.n, best.n);
    rb_points_finish(&p.points, best.n, reach, p.grain, out);
}
