/* Closest features of two convex polyhedra by clipping against Voronoi regions [Mirtich 1998].
 *
 * The region of a vertex, edge or face is where it is the closest part of its polyhedron. Two
 * features whose closest points lie in each other's regions are the closest ones. Otherwise some
 * plane between regions is violated, and the feature on its other side is closer: go there. Plane
 * tests are written once and used with the same operands from both sides of a plane, so that no
 * rounding sends the walk back across the plane it has just crossed. */
#include "collide/vclip.h"

#include <math.h>

#include "collide/convex.h"

/* Distance, in units of the larger extent, below which closest points give no direction [1].
 * Larger: the walk is not trusted where it is right. Smaller: normals lose their digits. */
#define RB_VCLIP_TOUCH 1e-11

/* Squared sine of the angle between edges that are parallel to rounding [1]. Larger: edges at a
 * small angle are answered by clipping, less exactly. Smaller: closest points of parallel lines are
 * noise. */
#define RB_VCLIP_PARALLEL 1e-20

/* Slope of an edge that is parallel to a face to rounding [1]. Larger: distances are too large by
 * this share of an edge. Smaller: walks go to and fro between the ends of such an edge. */
#define RB_VCLIP_LEVEL 1e-14

/* Pairs of features of one query, over which another method answers. Larger: circles that rounding
 * makes are walked longer. Smaller: long walks from a cold start are given up. */
enum { MOST_STEPS = 200 };

/* ---- planes between regions -------------------------------------------------------------------
 */

/* > 0: x lies on the side of the edge, < 0: on that of the vertex where the entry begins. */
static double along(const rb_vside *s, int entry, const double x[3])
{
    const double *a = rb_v_origin(s, entry), *b = rb_v_end(s, entry);
    return (x[0] - a[0]) * (b[0] - a[0]) + (x[1] - a[1]) * (b[1] - a[1]) +
           (x[2] - a[2]) * (b[2] - a[2]);
}

/* > 0: x lies on the side of the edge, < 0: on that of the face that the entry belongs to. */
static double across(const rb_vside *s, int entry, const double x[3])
{
    const double *a = rb_v_origin(s, entry), *b = rb_v_end(s, entry);
    const double *n = s->poly->plane + 4 * (ptrdiff_t)s->poly->owner[entry];
    double d[3], m[3], y[3];
    rb_sub3(b, a, d);
    rb_cross3(d, n, m);
    rb_sub3(x, a, y);
    return rb_dot3(y, m);
}

static double above(const rb_vside *s, int face, const double x[3])
{
    const double *n = s->poly->plane + 4 * (ptrdiff_t)face;
    return rb_dot3(n, x) - n[3];
}

/* An edge along u that rises by `rise` above a plane is parallel to it. */
static int is_level(double rise, const double u[3])
{
    return fabs(rise) <= RB_VCLIP_LEVEL * (fabs(u[0]) + fabs(u[1]) + fabs(u[2]));
}

static rb_vstep go(rb_vside *s, int kind, int index)
{
    s->kind = kind;
    s->index = index;
    return RB_V_GOES_ON;
}

/* ---- an edge cut by planes ---------------------------------------------------------------------
 */

/* What is left of the segment x0 + t (x1 - x0), and which plane cut its ends; -1: none. */
typedef struct segment {
    double x0[3], u[3];
    double lo, hi;
    int cut_lo, cut_hi;
} segment;

static segment see_edge(const rb_vside *s, const rb_vside *other)
{
    segment e = { .lo = 0.0, .hi = 1.0, .cut_lo = -1, .cut_hi = -1 };
    double x1[3];
    rb_v_see(s, rb_v_origin(other, other->index), e.x0);
    rb_v_see(s, rb_v_end(other, other->index), x1);
    rb_sub3(x1, e.x0, e.u);
    return e;
}

static void point_at(const segment *e, double t, double x[3])
{
    rb_copy3(e->x0, x);
    rb_axpy3(t, e->u, x);
}

/* Takes off the part outside of plane `name`: s0, s1 are the values of the plane at the ends, > 0
 * outside. 1: all of it lies outside. Several planes together may leave nothing: then lo > hi. */
static int cut(segment *e, double s0, double s1, int name)
{
    if (s0 <= 0.0 && s1 <= 0.0) return 0;
    if (s0 > 0.0 && s1 > 0.0) return 1;
    double t = s0 / (s0 - s1);
    if (s0 > 0.0 && t > e->lo) {
        e->lo = t;
        e->cut_lo = name;
    } else if (s1 > 0.0 && t < e->hi) {
        e->hi = t;
        e->cut_hi = name;
    }
    return 0;
}

/* Which end of what is left the closest point lies beyond, from the slopes of a convex distance
 * there: the plane that cut it, -1: none. Where nothing is left it lies beyond one of both. */
static int beyond(const segment *e, double slope_lo, double slope_hi)
{
    if (e->cut_lo >= 0 && slope_lo > 0.0) return e->cut_lo;
    if (e->cut_hi >= 0 && (slope_hi < 0.0 || e->lo > e->hi)) return e->cut_hi;
    return -1;
}

/* How the distance to a point changes along the segment at t, and that to the plane of a face. */
static double slope_from(const segment *e, double t, const double from[3])
{
    double x[3];
    point_at(e, t, x);
    rb_sub3(x, from, x);
    return rb_dot3(x, e->u);
}

static double slope_above(const rb_vside *s, int face, const segment *e, double t)
{
    double x[3], slope = rb_dot3(s->poly->plane + 4 * (ptrdiff_t)face, e->u);
    if (is_level(slope, e->u)) return 0.0;
    point_at(e, t, x);
    return above(s, face, x) < 0.0 ? -slope : slope;
}

/* ---- pairs of features -------------------------------------------------------------------------
 */

static rb_vstep vertex_vertex(rb_vwalk *w)
{
    for (int k = 0; k < 2; k++) {
        rb_vside *s = &w->side[k];
        const rb_vside *o = &w->side[1 - k];
        double x[3];
        rb_v_see(s, rb_v_vertex(o, o->index), x);
        int first = s->poly->leave[s->index], entry = first;
        do {
            if (along(s, entry, x) > 0.0) return go(s, RB_EDGE, entry);
            entry = rb_poly_turn(s->poly, entry);
        } while (entry != first);
    }
    return RB_V_CLOSEST;
}

/* The vertex in the region of the edge, then the closest point of the edge in that of the vertex.
 */
static rb_vstep vertex_edge(rb_vside *v, rb_vside *e)
{
    double x[3];
    int entry = e->index, twin = e->poly->twin[entry];
    rb_v_see(e, rb_v_vertex(v, v->index), x);
    if (along(e, entry, x) <= 0.0) return go(e, RB_VERTEX, e->poly->loop[entry]);
    if (along(e, twin, x) <= 0.0) return go(e, RB_VERTEX, e->poly->loop[twin]);
    if (across(e, entry, x) < 0.0) return go(e, RB_FACE, e->poly->owner[entry]);
    if (across(e, twin, x) < 0.0) return go(e, RB_FACE, e->poly->owner[twin]);

    segment c = see_edge(v, e);
    double x1[3];
    rb_add3(c.x0, c.u, x1);
    int first = v->poly->leave[v->index], k = first;
    do {
        if (cut(&c, along(v, k, c.x0), along(v, k, x1), k)) return go(v, RB_EDGE, k);
        k = rb_poly_turn(v->poly, k);
    } while (k != first);

    int past = beyond(&c, slope_from(&c, c.lo, rb_v_vertex(v, v->index)),
                      slope_from(&c, c.hi, rb_v_vertex(v, v->index)));
    return past >= 0 ? go(v, RB_EDGE, past) : RB_V_CLOSEST;
}

/* The edge of `o` against the region of the edge of `s`. */
static rb_vstep edge_in_region(rb_vside *s, const rb_vside *o)
{
    int entry[2] = { s->index, s->poly->twin[s->index] };
    segment c = see_edge(s, o);
    double x1[3];
    rb_add3(c.x0, c.u, x1);
    for (int k = 0; k < 2; k++)
        if (cut(&c, -along(s, entry[k], c.x0), -along(s, entry[k], x1), k))
            return go(s, RB_VERTEX, s->poly->loop[entry[k]]);
    int k_lo = c.cut_lo >= 0 ? c.cut_lo : 0, k_hi = c.cut_hi >= 0 ? c.cut_hi : 0;
    int past = beyond(&c, slope_from(&c, c.lo, rb_v_origin(s, entry[k_lo])),
                      slope_from(&c, c.hi, rb_v_origin(s, entry[k_hi])));
    if (past >= 0) return go(s, RB_VERTEX, s->poly->loop[entry[past]]);

    c.cut_lo = c.cut_hi = -1;
    for (int k = 0; k < 2; k++)
        if (cut(&c, -across(s, entry[k], c.x0), -across(s, entry[k], x1), k))
            return go(s, RB_FACE, s->poly->owner[entry[k]]);
    k_lo = c.cut_lo >= 0 ? c.cut_lo : 0;
    k_hi = c.cut_hi >= 0 ? c.cut_hi : 0;
    past = beyond(&c, slope_above(s, s->poly->owner[entry[k_lo]], &c, c.lo),
                  slope_above(s, s->poly->owner[entry[k_hi]], &c, c.hi));
    return past >= 0 ? go(s, RB_FACE, s->poly->owner[entry[past]]) : RB_V_CLOSEST;
}

/* The vertex below the plane of a face that is closest to it: inside, or in front of another. */
static rb_vstep below(rb_vside *f, const double x[3])
{
    int best = 0;
    double most = -INFINITY;
    for (int k = 0; k < f->poly->nface; k++) {
        double height = above(f, k, x);
        if (height <= most) continue;
        most = height;
        best = k;
    }
    if (most <= 0.0) return RB_V_OVERLAP;
    return go(f, RB_FACE, best);
}

static rb_vstep vertex_face(rb_vside *v, rb_vside *f)
{
    double x[3], most = 0.0;
    int adr = f->poly->loopadr[f->index], worst = -1;
    rb_v_see(f, rb_v_vertex(v, v->index), x);
    for (int k = adr; k < adr + f->poly->loopnum[f->index]; k++) {
        double out = across(f, k, x);
        if (out <= most) continue;
        most = out;
        worst = k;
    }
    if (worst >= 0) return go(f, RB_EDGE, worst);

    /* an edge of the vertex that leads towards the plane */
    double height = above(f, f->index, x), n[3];
    const double *at = rb_v_vertex(v, v->index);
    rb_rot(v->R, f->poly->plane + 4 * (ptrdiff_t)f->index, n);
    if (height < 0.0) rb_scale3(-1.0, n, n);
    int first = v->poly->leave[v->index], k = first;
    do {
        double d[3];
        rb_sub3(rb_v_end(v, k), at, d);
        double slope = rb_dot3(d, n);
        if (slope < 0.0 && !is_level(slope, d)) return go(v, RB_EDGE, k);
        k = rb_poly_turn(v->poly, k);
    } while (k != first);
    return height >= 0.0 ? RB_V_CLOSEST : below(f, x);
}

/* Squared distance of two segments a + s u and b + t v. */
static double segments_apart(const double a[3], const double u[3], const double b[3],
                             const double v[3])
{
    double r[3], uu = rb_dot3(u, u), vv = rb_dot3(v, v), uv = rb_dot3(u, v), s = 0.0, t;
    rb_sub3(a, b, r);
    double ur = rb_dot3(u, r), vr = rb_dot3(v, r), det = uu * vv - uv * uv;
    if (det > 0.0) s = fmin(1.0, fmax(0.0, (uv * vr - ur * vv) / det));
    t = fmin(1.0, fmax(0.0, (uv * s + vr) / vv));
    s = fmin(1.0, fmax(0.0, (uv * t - ur) / uu));
    rb_axpy3(s, u, r);
    rb_axpy3(-t, v, r);
    return rb_dot3(r, r);
}

/* The edge around a face that is closest to a segment outside of the region of the face. */
static rb_vstep around(rb_vside *f, const segment *c)
{
    int adr = f->poly->loopadr[f->index], best = adr;
    double least = INFINITY;
    for (int k = adr; k < adr + f->poly->loopnum[f->index]; k++) {
        double d[3];
        rb_sub3(rb_v_end(f, k), rb_v_origin(f, k), d);
        double apart = segments_apart(rb_v_origin(f, k), d, c->x0, c->u);
        if (apart >= least) continue;
        least = apart;
        best = k;
    }
    return go(f, RB_EDGE, best);
}

static rb_vstep edge_face(rb_vside *e, rb_vside *f)
{
    segment c = see_edge(f, e);
    double x[3], x1[3];
    rb_add3(c.x0, c.u, x1);
    int adr = f->poly->loopadr[f->index];
    for (int k = adr; k < adr + f->poly->loopnum[f->index]; k++)
        if (cut(&c, across(f, k, c.x0), across(f, k, x1), k) || c.lo > c.hi) return around(f, &c);

    point_at(&c, c.lo, x);
    double at_lo = above(f, f->index, x);
    point_at(&c, c.hi, x);
    double at_hi = above(f, f->index, x);
    if (at_lo * at_hi <= 0.0 && (at_lo < 0.0 || at_hi < 0.0)) return RB_V_OVERLAP;

    /* towards the end that is closer to the plane */
    int low = fabs(at_lo) <= fabs(at_hi), plane = low ? c.cut_lo : c.cut_hi;
    if (plane >= 0) return go(f, RB_EDGE, plane);
    return go(e, RB_VERTEX, low ? e->poly->loop[e->index] : rb_poly_end(e->poly, e->index));
}

rb_vstep rb_vclip_step(rb_vwalk *w)
{
    rb_vside *a = &w->side[0], *b = &w->side[1];
    if (a->kind > b->kind) {
        a = &w->side[1];
        b = &w->side[0];
    }
    if (b->kind == RB_VERTEX) return vertex_vertex(w);
    if (b->kind == RB_EDGE) {
        if (a->kind == RB_VERTEX) return vertex_edge(a, b);
        rb_vstep step = edge_in_region(a, b);
        return step == RB_V_CLOSEST ? edge_in_region(b, a) : step;
    }
    if (a->kind == RB_VERTEX) return vertex_face(a, b);
    if (a->kind == RB_EDGE) return edge_face(a, b);
    return go(a, RB_VERTEX, a->poly->loop[a->poly->loopadr[a->index]]); /* only a cache says so */
}

/* ---- the query ---------------------------------------------------------------------------------
 */

/* A feature of the cache where it fits the polyhedron, else the first vertex. */
static void place(rb_vside *s, int feature)
{
    int kind = feature & 3, index = feature >> 2, last = s->poly->nface - 1;
    int end = s->poly->loopadr[last] + s->poly->loopnum[last];
    int fits = kind == RB_VERTEX ? index >= 0 && index < s->poly->nvert
               : kind == RB_EDGE ? index >= s->poly->first && index < end
                                 : kind == RB_FACE && index >= 0 && index <= last;
    s->kind = fits ? kind : RB_VERTEX;
    s->index = fits ? index : 0;
}

/* Closest point of the line of an edge to x. */
static void project(const double a[3], const double b[3], const double x[3], double out[3])
{
    double d[3], y[3];
    rb_sub3(b, a, d);
    rb_sub3(x, a, y);
    rb_copy3(a, out);
    rb_axpy3(rb_dot3(y, d) / rb_dot3(d, d), d, out);
}

/* Closest points of the lines of two edges, in the frame of s; parallel ones anywhere along the
 * part that is left after clipping against the region of s. m: d x u. */
static void edge_points(const rb_vside *s, const rb_vside *o, double on_s[3], double on_o[3],
                        double m[3])
{
    const double *a = rb_v_origin(s, s->index), *b = rb_v_end(s, s->index);
    segment c = see_edge(s, o);
    double d[3], r[3], rd[3];
    rb_sub3(b, a, d);
    rb_cross3(d, c.u, m);
    rb_sub3(c.x0, a, r);
    rb_cross3(r, d, rd);
    double mm = rb_dot3(m, m), t = rb_dot3(rd, m) / mm;
    if (!(mm > RB_VCLIP_PARALLEL * rb_dot3(d, d) * rb_dot3(c.u, c.u))) {
        double x1[3];
        int twin = s->poly->twin[s->index];
        rb_add3(c.x0, c.u, x1);
        cut(&c, -along(s, s->index, c.x0), -along(s, s->index, x1), 0);
        cut(&c, -along(s, twin, c.x0), -along(s, twin, x1), 1);
        if (!(t >= c.lo && t <= c.hi)) t = 0.5 * (c.lo + c.hi);
        rb_zero3(m);
    }
    point_at(&c, t, on_o);
    project(a, b, on_o, on_s);
}

/* The closest points p of the lower and q of the higher feature in the frame of the higher, and the
 * unit vector n from q to p. Returns their distance. */
static double witnesses(const rb_vside *low, const rb_vside *high, double q[3], double n[3])
{
    double p[3], m[3] = { 0.0, 0.0, 0.0 };
    if (low->kind == RB_EDGE) {
        edge_points(high, low, q, p, m);
    } else {
        rb_v_see(high, rb_v_vertex(low, low->index), p);
        if (high->kind == RB_FACE) {
            double height = above(high, high->index, p);
            rb_copy3(high->poly->plane + 4 * (ptrdiff_t)high->index, n);
            rb_copy3(p, q);
            rb_axpy3(-height, n, q);
            return height;
        }
        if (high->kind == RB_VERTEX)
            rb_copy3(rb_v_vertex(high, high->index), q);
        else
            project(rb_v_origin(high, high->index), rb_v_end(high, high->index), p, q);
    }
    double apart[3], mm = rb_dot3(m, m);
    rb_sub3(p, q, apart);
    if (mm > 0.0) { /* the normal of two edges is known better than their small distance */
        double side = rb_dot3(m, apart), length = sqrt(mm);
        rb_scale3(copysign(1.0 / length, side), m, n);
        return fabs(side) / length;
    }
    double distance = rb_norm3(apart);
    rb_scale3(1.0 / distance, apart, n);
    return distance;
}

/* What the general method says, where the walk went in circles or a distance without a direction
 * was left. */
static void escape(const rb_shape *shape1, const rb_shape *shape2, rb_vclip_result *out)
{
    rb_couple couple;
    rb_closest closest;
    rb_couple_make(shape1, shape2, &couple);
    rb_closest_find(&couple, NULL, &closest);
    out->escaped = 1;
    out->distance = closest.at.s;
    out->overlap = out->distance < 0.0;
    rb_copy3(closest.at.n, out->normal);
    rb_add3(closest.x1, shape1->p, out->pos1);
    rb_copy3(out->pos1, out->pos2);
    rb_axpy3(out->distance, out->normal, out->pos2);
}

/* 0: a shape is no polyhedron. */
static int prepare(const rb_shape *shape1, const rb_shape *shape2, rb_core core[2],
                   const rb_vclip *cache, rb_vwalk *w)
{
    const rb_shape *shape[2] = { shape1, shape2 };
    for (int k = 0; k < 2; k++) {
        if (!rb_core_make(shape[k], shape1->p, &core[k]) || core[k].kind != RB_CORE_POLY) return 0;
        w->side[k].poly = &core[k].poly;
        place(&w->side[k], cache->feature[k]);
    }
    rb_vside *a = &w->side[0], *b = &w->side[1];
    rb_mul33_t(shape1->R, shape2->R, a->R);
    rb_rot_t(shape1->R, core[1].c, a->t);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) b->R[3 * i + j] = a->R[3 * j + i];
    rb_rot(b->R, a->t, b->t);
    rb_scale3(-1.0, b->t, b->t);
    return 1;
}

/* Four sums: none waits for the other. What is not finite in a pose shows in one of them. */
static int is_finite(const rb_vside *s)
{
    const double *R = s->R, *t = s->t;
    double sum =
        (R[0] + R[1] + R[2]) + (R[3] + R[4] + R[5]) + ((R[6] + R[7] + R[8]) + (t[0] + t[1] + t[2]));
    return isfinite(sum);
}

rb_status rb_vclip_query(const rb_shape *shape1, const rb_shape *shape2, rb_vclip *cache,
                         rb_vclip_result *out)
{
    rb_core core[2];
    rb_vwalk w;
    if (!prepare(shape1, shape2, core, cache, &w)) return RB_UNSUPPORTED;
    if (!is_finite(&w.side[0])) return RB_BAD_INPUT;
    out->steps = out->overlap = out->escaped = 0;

    rb_vstep step = RB_V_GOES_ON;
    while (step == RB_V_GOES_ON && out->steps < MOST_STEPS) {
        step = rb_vclip_step(&w);
        out->steps++;
    }
    for (int k = 0; k < 2; k++) cache->feature[k] = 4 * w.side[k].index + w.side[k].kind;
    if (step == RB_V_OVERLAP) {
        out->overlap = 1;
        return RB_OK;
    }
    if (step == RB_V_GOES_ON) {
        escape(shape1, shape2, out);
        return RB_OK;
    }

    int swap = w.side[0].kind > w.side[1].kind;
    const rb_shape *high = swap ? shape1 : shape2;
    double q[3], n[3], *at_high = swap ? out->pos1 : out->pos2;
    double *at_low = swap ? out->pos2 : out->pos1;
    out->distance = witnesses(&w.side[swap], &w.side[!swap], q, n);
    if (!(out->distance > RB_VCLIP_TOUCH * fmax(core[0].extent, core[1].extent))) {
        escape(shape1, shape2, out);
        return RB_OK;
    }
    rb_rot(high->R, n, n);
    rb_rot(high->R, q, at_high);
    rb_add3(at_high, high->p, at_high);
    rb_copy3(at_high, at_low);
    rb_axpy3(out->distance, n, at_low);
    rb_scale3(swap ? 1.0 : -1.0, n, out->normal);
    return RB_OK;
}
