/* Closest points of boxes that are apart, where no single separating direction decides (G.10). The
 * closest pair is a vertex of one and a point of the other, or a crossing of two edges inside both.
 * The direction m of two closest edges separates the boxes, and they are extreme along it: of
 * 144 crossings few are left. */
#include "base/constants.h"
#include "collide/box_box.h"
#include "collide/segment.h"

/* A pair of points in frame 1 with what they lie on. */
typedef struct witness {
    double distance;
    double x1[3], n[3]; /* n: unit, from 1 to 2 */
    uint32_t feature;
} witness;

static witness vertex_of_2(const rb_boxes *p, int vertex)
{
    witness w;
    double y[3], x[3];
    uint32_t half1;
    rb_box_vertex(p->h2, vertex, y);
    rb_boxes_to_1(p, y, x);
    w.distance = rb_box_point(p->h1, x, w.x1, w.n, &half1);
    w.feature = rb_feature(half1, rb_feature_half(RB_VERTEX, vertex));
    return w;
}

static witness vertex_of_1(const rb_boxes *p, int vertex)
{
    witness w;
    double y[3], q[3], outward[3];
    uint32_t half2;
    rb_box_vertex(p->h1, vertex, w.x1);
    rb_boxes_to_2(p, w.x1, y);
    w.distance = rb_box_point(p->h2, y, q, outward, &half2);
    rb_rot(p->R, outward, w.n);
    rb_scale3(-1.0, w.n, w.n);
    w.feature = rb_feature(rb_feature_half(RB_VERTEX, vertex), half2);
    return w;
}

/* The edges along i of 1 and j of 2 with the signs of the vertices v1, v2, if they cross. */
static void try_crossing(const rb_boxes *p, int i, int j, int v1, int v2, witness *best)
{
    double y[3], m[3], s, t, x2[3];
    rb_segment e1 = { .u = { i == 0, i == 1, i == 2 }, .half = p->h1[i] };
    rb_segment e2 = { .u = { p->R[j], p->R[3 + j], p->R[6 + j] }, .half = p->h2[j] };
    rb_box_vertex(p->h1, v1, e1.c);
    rb_box_vertex(p->h2, v2, y);
    e1.c[i] = y[j] = 0.0;
    rb_boxes_to_1(p, y, e2.c);
    if (!rb_lines_cross(&e1, &e2, m, &s, &t)) return;
    if (fabs(s) >= e1.half || fabs(t) >= e2.half) return;

    witness w;
    rb_segment_at(&e1, s, w.x1);
    rb_segment_at(&e2, t, x2);
    rb_sub3(x2, w.x1, w.n);
    w.distance = rb_unit(w.n);
    if (w.distance >= best->distance - p->grain.tie) return;
    w.feature = rb_feature(rb_feature_half(RB_EDGE, rb_box_edge_of(i, v1)),
                           rb_feature_half(RB_EDGE, rb_box_edge_of(j, v2)));
    *best = w;
}

/* The 16 pairs of edges along i and j. Their lines are |m.(centre 2 - centre 1)| / |m| apart, which
 * is known from the signs alone; of extreme ones it is the least, what m parts the boxes by. */
static void try_edges(const rb_boxes *p, int i, int j, witness *best)
{
    int k1 = (i + 1) % 3, l1 = (i + 2) % 3, k2 = (j + 1) % 3, l2 = (j + 2) % 3;
    const double *R = p->R;
    double m_k = -R[3 * l1 + j], m_l = R[3 * k1 + j], mm = m_k * m_k + m_l * m_l;
    double mt = m_k * p->t[k1] + m_l * p->t[l1];
    double a = p->h1[k1] * m_k, b = p->h1[l1] * m_l;
    double c = p->h2[k2] * (m_k * R[3 * k1 + k2] + m_l * R[3 * l1 + k2]);
    double d = p->h2[l2] * (m_k * R[3 * k1 + l2] + m_l * R[3 * l1 + l2]);
    double parts = fabs(mt) - fabs(a) - fabs(b) - fabs(c) - fabs(d), length = sqrt(mm);
    double rounding = 16.0 * p->grain.tie * length;
    if (parts < -rounding || parts - rounding >= best->distance * length) return;
    for (int at = 0; at < 16; at++) {
        double lines =
            mt + (at & 1 ? -a : a) + (at & 2 ? -b : b) + (at & 4 ? c : -c) + (at & 8 ? d : -d);
        if (fabs(lines) > parts + rounding) continue;
        if (!(lines * lines < best->distance * best->distance * mm)) continue;
        int v1 = (at & 1) << k1 | (at >> 1 & 1) << l1;
        int v2 = (at >> 2 & 1) << k2 | (at >> 3 & 1) << l2;
        try_crossing(p, i, j, v1, v2, best);
    }
}

/* ---- touch ------------------------------------------------------------------------------------
 */

/* The direction m of frame 1, of any length, in the sense in which it separates more. 0: none. */
static int separation_of(const rb_boxes *p, double m[3], double *s)
{
    double m2[3];
    if (!(rb_unit(m) > RB_KINK_SURE)) return 0;
    if (rb_dot3(m, p->t) < 0.0) rb_scale3(-1.0, m, m);
    rb_rot_t(p->R, m, m2);
    *s = rb_dot3(m, p->t);
    for (int k = 0; k < 3; k++) *s -= p->h1[k] * fabs(m[k]) + p->h2[k] * fabs(m2[k]);
    return 1;
}

/* Separating direction `which` of 15, as long as it comes. */
static void direction_of(const rb_boxes *p, int which, double m[3])
{
    double e[3] = { which % 3 == 0, which % 3 == 1, which % 3 == 2 };
    int j = which / 3 - 2;
    if (which < 3) {
        rb_copy3(e, m);
    } else if (which < 6) {
        rb_rot(p->R, e, m);
    } else {
        double c[3] = { p->R[j], p->R[3 + j], p->R[6 + j] };
        rb_cross3(e, c, m);
    }
}

/* Boxes that touch: the distance of their closest points is rounding, and the normal of the face
 * that one of them seems to lie on separates the boxes only if that is no border. Of the separating
 * directions that are as good as the best one, s, the one next to it. */
static void separate_touch(const rb_boxes *p, double s, double n[3])
{
    double nearest = -INFINITY, found[3];
    rb_copy3(n, found);
    for (int which = 0; which < 15; which++) {
        double m[3], here;
        direction_of(p, which, m);
        if (!separation_of(p, m, &here) || here < s - p->grain.tie) continue;
        if (!(rb_dot3(m, n) > nearest + RB_GAP_TIE)) continue;
        nearest = rb_dot3(m, n);
        rb_copy3(m, found);
    }
    rb_copy3(found, n);
}

static void add(rb_boxes *p, const witness *w)
{
    rb_boxes_add(p, w->distance, w->x1, w->n, w->feature);
}

/* Whether the vertex is on the side of its box that d points to, where d decides it. */
static int is_extreme(int vertex, const double d[3])
{
    for (int k = 0; k < 3; k++) {
        int decided = d[k] * d[k] > 1.0 - RB_FACING * RB_FACING;
        if (decided && (vertex >> k & 1) != (d[k] > 0.0)) return 0;
    }
    return 1;
}

RB_SHORT void rb_boxes_apart(rb_boxes *p, double s, double n[3])
{
    witness of_2[8], of_1[8];
    for (int v = 0; v < 8; v++) {
        of_2[v] = vertex_of_2(p, v);
        of_1[v] = vertex_of_1(p, v);
    }
    witness best = of_2[0];
    for (int v = 0; v < 16; v++) {
        const witness *w = v < 8 ? &of_2[v] : &of_1[v - 8];
        if (w->distance < best.distance - p->grain.tie) best = *w;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) try_edges(p, i, j, &best);
    }
    if (best.distance <= p->grain.tie) separate_touch(p, s, best.n);
    add(p, &best);
    rb_copy3(best.n, n);
    if (p->single) return;

    /* parallel edges touch along a line: further vertices that are extreme along the normal, or
     * nearly, and see the other box in nearly the same direction */
    double n2[3];
    rb_rot_t(p->R, best.n, n2);
    rb_scale3(-1.0, n2, n2);
    for (int v = 0; v < 8; v++) {
        if (is_extreme(v, n2) && rb_dot3(of_2[v].n, best.n) >= RB_FACING) add(p, &of_2[v]);
    }
    for (int v = 0; v < 8; v++) {
        if (is_extreme(v, best.n) && rb_dot3(of_1[v].n, best.n) >= RB_FACING) add(p, &of_1[v]);
    }
}
