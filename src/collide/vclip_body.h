/* Closest features of two convex polyhedra by clipping against Voronoi regions [Mirtich 1998].
 *
 * The region of a vertex, edge or face is where it is the closest part of its polyhedron. Two
 * features whose closest points lie in each other's regions are the closest ones. Otherwise some
 * plane between regions is violated, and the feature on its other side is closer: go there. Plane
 * tests are written once and used with the same operands from both sides of a plane, so that no
 * rounding sends the walk back across the plane it has just crossed. */
#ifndef RB_COLLIDE_VCLIP_BODY_H
#define RB_COLLIDE_VCLIP_BODY_H

#include <math.h>

#include "collide/vclip.h"

/* Distance, in units of the larger extent, below which closest points give no direction [1].
 * Larger: the walk is not trusted where it is right. Smaller: normals lose their digits. */
#define RB_VCLIP_TOUCH 1e-11

/* Squared sine of the angle between edges that are parallel to rounding [1]. Larger: edges at a
 * small angle are answered by clipping, less exactly. Smaller: closest points of parallel lines are
 * noise. */
#define RB_VCLIP_PARALLEL 1e-20

/* Slope of an edge that is parallel to a face to rounding [1]. Larger: distances are too large by
 * this share of an edge. Smaller: walks go back and forth between the ends of such an edge. */
#define RB_VCLIP_LEVEL 1e-14

/* Squared sine of the angle from the planes of a region, and share of an edge from its ends, at
 * which a point is clearly inside: nothing has to be cut. Larger: more edges are cut. Smaller:
 * rounding decides what is inside [1]. */
#define RB_VCLIP_CLEAR 1e-16
#define RB_VCLIP_SHARE 1e-8

/* Squared distance, in units of an edge, from which the direction of it is known that well [1]. */
#define RB_VCLIP_APART 1e-12

/* Pairs of features of one walk, over which another one begins elsewhere, and then another method
 * answers. Larger: circles that rounding makes are walked longer. Smaller: long walks from a cold
 * start are given up. */
enum { MOST_STEPS = 200 };

/* ---- planes between regions -------------------------------------------------------------------
 */

/* > 0: x lies on the side of the edge from a to b, < 0: on that of the vertex a. */
RB_INLINE double along(rb_v4 a, rb_v4 b, rb_v4 x)
{
    return rb_v4_dot(x - a, b - a);
}

/* > 0: x lies on the side of the edge from a to b, < 0: on that of its face with normal n. */
RB_INLINE double across(rb_v4 a, rb_v4 b, rb_v4 n, rb_v4 x)
{
    return rb_v4_dot(x - a, rb_v4_cross(b - a, n));
}

/* Normal of the face that an entry belongs to. */
RB_INLINE rb_v4 normal_at(const rb_vside *s, int entry)
{
    return rb_v_normal(s, s->poly.owner[entry]);
}

RB_INLINE double above(const rb_vside *s, int face, rb_v4 x)
{
    return rb_v4_dot(rb_v_normal(s, face), x) - rb_v_offset(s, face);
}

/* An edge along u that rises by `rise` above a plane is parallel to it. */
RB_INLINE int is_level(double rise, rb_v4 u)
{
    rb_v4 size = rb_v4_abs(u);
    return fabs(rise) <= RB_VCLIP_LEVEL * ((size[0] + size[1]) + size[2]);
}

RB_INLINE rb_vstep go(rb_vside *s, int kind, int index)
{
    s->kind = kind;
    s->index = index;
    return RB_V_GOES_ON;
}

/* ---- an edge cut by planes ---------------------------------------------------------------------
 */

/* What is left of the segment x0 + t u from 0 to 1, and which plane cut its ends; -1: none. */
typedef struct segment {
    rb_v4 x0, u;
    double lo, hi;
    int cut_lo, cut_hi;
} segment;

RB_INLINE segment whole(rb_v4 x0, rb_v4 u)
{
    return (segment){ .x0 = x0, .u = u, .lo = 0.0, .hi = 1.0, .cut_lo = -1, .cut_hi = -1 };
}

RB_INLINE segment see_edge(rb_vside *s, const rb_vside *other)
{
    s->seen = rb_v_see(s, rb_v_origin(other, other->index));
    s->edge = rb_v_see(s, rb_v_end(other, other->index)) - s->seen;
    return whole(s->seen, s->edge);
}

RB_INLINE rb_v4 see_vertex(rb_vside *s, const rb_vside *other)
{
    return s->seen = rb_v_see(s, rb_v_vertex(other, other->index));
}

RB_INLINE rb_v4 point_at(const segment *e, double t)
{
    return e->x0 + rb_v4_all(t) * e->u;
}

/* Takes off the part outside of plane `name`: s0, s1 are the values of the plane at the ends, > 0
 * outside. 1: all of it lies outside. Several planes together may leave nothing: then lo > hi. */
RB_INLINE int cut(segment *e, double s0, double s1, int name)
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

/* How the distance to a point changes along the segment at t, and that to the plane of a face. */
RB_INLINE double slope_from(const segment *e, double t, rb_v4 from)
{
    return rb_v4_dot(point_at(e, t) - from, e->u);
}

RB_INLINE double slope_above(const rb_vside *s, int face, const segment *e, double t)
{
    double slope = rb_v4_dot(rb_v_normal(s, face), e->u);
    if (is_level(slope, e->u)) return 0.0;
    return above(s, face, point_at(e, t)) < 0.0 ? -slope : slope;
}

/* ---- closest points ----------------------------------------------------------------------------
 */

/* Where on the line from a along d x is closest, in parts of d. */
RB_INLINE double foot_on(rb_v4 a, rb_v4 d, rb_v4 x)
{
    return rb_v4_dot(x - a, d) / rb_v4_dot(d, d);
}

/* Closest points of the lines of two edges, in the frame of the second. */
typedef struct points {
    rb_v4 q, p;  /* on the second and on the first                       */
    rb_v4 m;     /* product of the edges; 0 where they are parallel      */
    double s, t; /* where on the second and on the first [of the edge]  */
} points;

/* s sees the other edge. Points of parallel edges lie anywhere along the part that is left after
 * clipping against the region of s. */
RB_INLINE void edge_points(const rb_vside *s, points *at)
{
    rb_v4 a = rb_v_origin(s, s->index), b = rb_v_end(s, s->index), d = b - a;
    segment c = whole(s->seen, s->edge);
    at->m = rb_v4_cross(d, c.u);
    double mm = rb_v4_dot(at->m, at->m);
    at->t = rb_v4_dot(rb_v4_cross(c.x0 - a, d), at->m) / mm;
    if (!(mm > RB_VCLIP_PARALLEL * rb_v4_dot(d, d) * rb_v4_dot(c.u, c.u))) {
        rb_v4 x1 = c.x0 + c.u;
        cut(&c, -along(a, b, c.x0), -along(a, b, x1), 0);
        cut(&c, -along(b, a, c.x0), -along(b, a, x1), 1);
        if (!(at->t >= c.lo && at->t <= c.hi)) at->t = 0.5 * (c.lo + c.hi);
        at->m = rb_v4_all(0.0);
    }
    at->p = point_at(&c, at->t);
    at->s = foot_on(a, d, at->p);
    at->q = a + rb_v4_all(at->s) * d;
}

/* Whether a slope or a height over a plane, made of vectors whose squares are xx and yy, is > 0 by
 * more than rounding. */
RB_INLINE int is_clear(double product, double xx, double yy)
{
    return product > 0.0 && product * product > RB_VCLIP_CLEAR * xx * yy;
}

/* Whether w, which leads away from the edge of s at a right angle, lies clearly in its region. */
RB_INLINE int is_over_edge(const rb_vside *s, rb_v4 w, double ww)
{
    int twin = s->poly.twin[s->index];
    rb_v4 d = rb_v_origin(s, twin) - rb_v_origin(s, s->index);
    double dd = rb_v4_dot(d, d);
    return is_clear(rb_v4_dot(w, rb_v4_cross(d, normal_at(s, s->index))), ww, dd) &&
           is_clear(-rb_v4_dot(w, rb_v4_cross(d, normal_at(s, twin))), ww, dd);
}

/* ---- pairs of features -------------------------------------------------------------------------
 */

RB_INLINE rb_vstep vertex_vertex(rb_vside *a, rb_vside *b)
{
    for (int k = 0; k < 2; k++) {
        rb_vside *s = k ? b : a;
        const rb_vside *o = k ? a : b;
        rb_v4 x = see_vertex(s, o), at = rb_v_vertex(s, s->index);
        int first = s->poly.leave[s->index], entry = first;
        do {
            if (along(at, rb_v_end(s, entry), x) > 0.0) return go(s, RB_EDGE, entry);
            entry = rb_poly_turn(&s->poly, entry);
        } while (entry != first);
    }
    return RB_V_CLOSEST;
}

/* The edge of `e` cut by the region of the vertex of `v`. Where something is left, the closest
 * point lies beyond an end where the slope of the distance there says so; where nothing is, beyond
 * one of both. */
RB_INLINE rb_vstep edge_at_vertex(rb_vside *v, const rb_vside *e)
{
    segment c = see_edge(v, e);
    rb_v4 x1 = c.x0 + c.u, at = rb_v_vertex(v, v->index);
    int first = v->poly.leave[v->index], k = first;
    do {
        rb_v4 end = rb_v_end(v, k);
        if (cut(&c, along(at, end, c.x0), along(at, end, x1), k)) return go(v, RB_EDGE, k);
        k = rb_poly_turn(&v->poly, k);
    } while (k != first);
    if (c.cut_lo >= 0 && slope_from(&c, c.lo, at) > 0.0) return go(v, RB_EDGE, c.cut_lo);
    if (c.cut_hi >= 0 && (c.lo > c.hi || slope_from(&c, c.hi, at) < 0.0))
        return go(v, RB_EDGE, c.cut_hi);
    return RB_V_CLOSEST;
}

/* Whether w, which leads away from the vertex of v, lies clearly in its region. */
RB_INLINE int is_over_vertex(const rb_vside *v, rb_v4 w, double ww)
{
    rb_v4 at = rb_v_vertex(v, v->index);
    int first = v->poly.leave[v->index], k = first;
    do {
        rb_v4 d = rb_v_end(v, k) - at;
        if (!is_clear(-rb_v4_dot(w, d), ww, rb_v4_dot(d, d))) return 0;
        k = rb_poly_turn(&v->poly, k);
    } while (k != first);
    return 1;
}

/* The vertex in the region of the edge, then the closest point of the edge in that of the vertex.
 */
RB_INLINE rb_vstep vertex_edge(rb_vside *v, rb_vside *e)
{
    int entry = e->index, twin = e->poly.twin[entry];
    rb_v4 x = see_vertex(e, v);
    rb_v4 a = rb_v_origin(e, entry), b = rb_v_origin(e, twin);
    if (along(a, b, x) <= 0.0) return go(e, RB_VERTEX, e->poly.loop[entry]);
    if (along(b, a, x) <= 0.0) return go(e, RB_VERTEX, e->poly.loop[twin]);
    if (across(a, b, normal_at(e, entry), x) < 0.0) return go(e, RB_FACE, e->poly.owner[entry]);
    if (across(b, a, normal_at(e, twin), x) < 0.0) return go(e, RB_FACE, e->poly.owner[twin]);
    rb_v4 d = b - a, w = (a + rb_v4_all(foot_on(a, d, x)) * d) - x;
    double ww = rb_v4_dot(w, w);
    if (ww > RB_VCLIP_APART * rb_v4_dot(d, d) && is_over_vertex(v, rb_v_turn(v, w), ww))
        return RB_V_CLOSEST;
    return edge_at_vertex(v, e);
}

/* The edge of `o` against the region of the edge of `s`: the planes of its ends, then those of its
 * faces. */
RB_INLINE rb_vstep edge_in_region(rb_vside *s, const rb_vside *o)
{
    int entry[2] = { s->index, s->poly.twin[s->index] };
    segment c = see_edge(s, o);
    rb_v4 x1 = c.x0 + c.u, end[2] = { rb_v_origin(s, entry[0]), rb_v_origin(s, entry[1]) };
    for (int k = 0; k < 2; k++)
        if (cut(&c, -along(end[k], end[1 - k], c.x0), -along(end[k], end[1 - k], x1), k))
            return go(s, RB_VERTEX, s->poly.loop[entry[k]]);
    if (c.cut_lo >= 0 && slope_from(&c, c.lo, end[c.cut_lo]) > 0.0)
        return go(s, RB_VERTEX, s->poly.loop[entry[c.cut_lo]]);
    if (c.cut_hi >= 0 && (c.lo > c.hi || slope_from(&c, c.hi, end[c.cut_hi]) < 0.0))
        return go(s, RB_VERTEX, s->poly.loop[entry[c.cut_hi]]);

    c.cut_lo = c.cut_hi = -1;
    int face[2] = { s->poly.owner[entry[0]], s->poly.owner[entry[1]] };
    for (int k = 0; k < 2; k++) {
        rb_v4 out = rb_v4_cross(end[1 - k] - end[k], rb_v_normal(s, face[k]));
        if (cut(&c, -rb_v4_dot(c.x0 - end[k], out), -rb_v4_dot(x1 - end[k], out), k))
            return go(s, RB_FACE, face[k]);
    }
    if (c.cut_lo >= 0 && slope_above(s, face[c.cut_lo], &c, c.lo) > 0.0)
        return go(s, RB_FACE, face[c.cut_lo]);
    if (c.cut_hi >= 0 && (c.lo > c.hi || slope_above(s, face[c.cut_hi], &c, c.hi) < 0.0))
        return go(s, RB_FACE, face[c.cut_hi]);
    return RB_V_CLOSEST;
}

/* Whether a share of an edge is clearly between its ends. */
RB_INLINE int is_between(double t)
{
    return fabs(t - 0.5) < 0.5 - RB_VCLIP_SHARE;
}

/* Edges whose lines are closest between their ends, clearly in each other's regions: (V.7) without
 * cutting. */
RB_INLINE int are_closest_edges(const rb_vside *a, rb_vside *b, points *at)
{
    const double askew = 1e-6; /* squared sine of their angle [1] */
    rb_v4 d = rb_v_end(b, b->index) - rb_v_origin(b, b->index);
    see_edge(b, a);
    edge_points(b, at);
    rb_v4 w = at->p - at->q;
    double ww = rb_v4_dot(w, w), dd = rb_v4_dot(d, d), uu = rb_v4_dot(b->edge, b->edge);
    return rb_v4_dot(at->m, at->m) > askew * dd * uu && ww > RB_VCLIP_APART * rb_larger(dd, uu) &&
           is_between(at->s) && is_between(at->t) && is_over_edge(b, w, ww) &&
           is_over_edge(a, rb_v_turn(a, -w), ww);
}

RB_INLINE rb_vstep edge_edge(rb_vside *a, rb_vside *b, points *at)
{
    if (are_closest_edges(a, b, at)) return RB_V_CLOSEST;
    rb_vstep step = edge_in_region(a, b);
    if (step == RB_V_CLOSEST) step = edge_in_region(b, a);
    if (step == RB_V_CLOSEST) edge_points(b, at);
    return step;
}

/* The vertex below the plane of a face that is closest to it: inside, or in front of another. */
static inline rb_vstep below(rb_vside *f, rb_v4 x)
{
    int best = 0;
    double most = -INFINITY;
    for (int k = 0; k < f->poly.nface; k++) {
        double height = above(f, k, x);
        if (height <= most) continue;
        most = height;
        best = k;
    }
    if (most <= 0.0) return RB_V_OVERLAP;
    return go(f, RB_FACE, best);
}

RB_INLINE rb_vstep vertex_face(rb_vside *v, rb_vside *f)
{
    double most = 0.0;
    int adr = f->poly.loopadr[f->index], end = adr + f->poly.loopnum[f->index], worst = -1;
    rb_v4 at = rb_v_vertex(v, v->index), x = see_vertex(f, v), n = rb_v_normal(f, f->index);
    rb_v4 a = rb_v_origin(f, adr);
    for (int k = adr; k < end; k++) {
        rb_v4 b = rb_v_origin(f, k + 1 < end ? k + 1 : adr);
        double out = across(a, b, n, x);
        a = b;
        if (out <= most) continue;
        most = out;
        worst = k;
    }
    if (worst >= 0) return go(f, RB_EDGE, worst);

    /* an edge of the vertex that leads towards the plane */
    double height = above(f, f->index, x);
    rb_v4 up = rb_v_turn(v, n);
    if (height < 0.0) up = -up;
    int first = v->poly.leave[v->index], k = first;
    do {
        rb_v4 d = rb_v_end(v, k) - at;
        double slope = rb_v4_dot(d, up);
        if (slope < 0.0 && !is_level(slope, d)) return go(v, RB_EDGE, k);
        k = rb_poly_turn(&v->poly, k);
    } while (k != first);
    return height >= 0.0 ? RB_V_CLOSEST : below(f, x);
}

/* Squared distance of two segments a + s u and b + t v. */
RB_INLINE double segments_apart(rb_v4 a, rb_v4 u, rb_v4 b, rb_v4 v)
{
    double uu = rb_v4_dot(u, u), vv = rb_v4_dot(v, v), uv = rb_v4_dot(u, v), s = 0.0, t;
    rb_v4 r = a - b;
    double ur = rb_v4_dot(u, r), vr = rb_v4_dot(v, r), det = uu * vv - uv * uv;
    if (det > 0.0) s = fmin(1.0, fmax(0.0, (uv * vr - ur * vv) / det));
    t = fmin(1.0, fmax(0.0, (uv * s + vr) / vv));
    s = fmin(1.0, fmax(0.0, (uv * t - ur) / uu));
    r = (r + rb_v4_all(s) * u) + rb_v4_all(-t) * v;
    return rb_v4_dot(r, r);
}

/* The edge around a face that is closest to a segment outside of the region of the face. */
static inline rb_vstep around(rb_vside *f, const segment *c)
{
    int adr = f->poly.loopadr[f->index], best = adr;
    double least = INFINITY;
    for (int k = adr; k < adr + f->poly.loopnum[f->index]; k++) {
        rb_v4 a = rb_v_origin(f, k);
        double apart = segments_apart(a, rb_v_end(f, k) - a, c->x0, c->u);
        if (apart >= least) continue;
        least = apart;
        best = k;
    }
    return go(f, RB_EDGE, best);
}

RB_INLINE rb_vstep edge_face(rb_vside *e, rb_vside *f)
{
    segment c = see_edge(f, e);
    rb_v4 x1 = c.x0 + c.u, n = rb_v_normal(f, f->index);
    int adr = f->poly.loopadr[f->index];
    for (int k = adr; k < adr + f->poly.loopnum[f->index]; k++) {
        rb_v4 a = rb_v_origin(f, k), b = rb_v_end(f, k);
        if (cut(&c, across(a, b, n, c.x0), across(a, b, n, x1), k) || c.lo > c.hi)
            return around(f, &c);
    }

    double at_lo = above(f, f->index, point_at(&c, c.lo));
    double at_hi = above(f, f->index, point_at(&c, c.hi));
    if (at_lo * at_hi <= 0.0 && (at_lo < 0.0 || at_hi < 0.0)) return RB_V_OVERLAP;

    /* towards the end that is closer to the plane: by the slope, as a vertex there will look at it;
     * heights of a short edge that is far away differ by rounding */
    double rise = rb_v4_dot(n, c.u);
    int low = (at_lo + at_hi < 0.0 ? -rise : rise) >= 0.0, plane = low ? c.cut_lo : c.cut_hi;
    if (plane >= 0) return go(f, RB_EDGE, plane);
    return go(e, RB_VERTEX, low ? e->poly.loop[e->index] : rb_poly_end(&e->poly, e->index));
}

/* Replaces one feature by a neighbour that is closer, or says why there is none (V.2) .. (V.6).
 * `at`: of edges that are the closest. */
RB_INLINE rb_vstep step_of(rb_vside side[2], points *at)
{
    int swap = side[0].kind > side[1].kind;
    rb_vside *a = &side[swap], *b = &side[!swap];
    if (b->kind == RB_VERTEX) return vertex_vertex(&side[0], &side[1]);
    if (b->kind == RB_EDGE) {
        return a->kind == RB_VERTEX ? vertex_edge(a, b) : edge_edge(a, b, at);
    }
    if (a->kind == RB_VERTEX) return vertex_face(a, b);
    if (a->kind == RB_EDGE) return edge_face(a, b);
    return go(a, RB_VERTEX, a->poly.loop[a->poly.loopadr[a->index]]); /* only a cache says so */
}

/* ---- the query ---------------------------------------------------------------------------------
 */

/* Number of entries of the loops up to the last one. */
RB_INLINE int entries_of(const rb_poly *p)
{
    return p->loopadr[p->nface - 1] + p->loopnum[p->nface - 1];
}

/* A feature of the cache where it fits the polyhedron, else the first vertex. */
RB_INLINE void place(rb_vside *s, int feature)
{
    int kind = feature & 3, index = feature >> 2, first = 0, end = s->poly.nvert;
    if (kind == RB_EDGE) {
        first = s->poly.first;
        end = entries_of(&s->poly);
    }
    if (kind == RB_FACE) end = s->poly.nface;
    int fits = kind != RB_CURVED && index >= first && index < end;
    s->kind = fits ? kind : RB_VERTEX;
    s->index = fits ? index : 0;
}

/* The closest point q of the higher feature in its frame, as of the last step, and the
 * unit vector n from there to that of the lower one. Returns their distance. */
RB_INLINE double witnesses(int low, const rb_vside *high, points *at, rb_v4 *n)
{
    if (low != RB_EDGE) {
        at->m = rb_v4_all(0.0);
        at->p = high->seen;
        if (high->kind == RB_FACE) {
            double height = above(high, high->index, at->p);
            *n = rb_v_normal(high, high->index);
            at->q = at->p + rb_v4_all(-height) * *n;
            return height;
        }
        int vertex = high->kind == RB_VERTEX;
        at->q = vertex ? rb_v_vertex(high, high->index) : rb_v_origin(high, high->index);
        if (!vertex) {
            rb_v4 d = rb_v_end(high, high->index) - at->q;
            at->q += rb_v4_all(foot_on(at->q, d, at->p)) * d;
        }
    }
    rb_v4 apart = at->p - at->q;
    double mm = rb_v4_dot(at->m, at->m);
    if (mm > 0.0) { /* the normal of two edges is known better than their small distance */
        double side = rb_v4_dot(at->m, apart), length = sqrt(mm);
        *n = rb_v4_all(copysign(1.0 / length, side)) * at->m;
        return fabs(side) / length;
    }
    double distance = sqrt(rb_v4_dot(apart, apart));
    *n = rb_v4_all(1.0 / distance) * apart;
    return distance;
}

/* The polyhedron of a shape and the square of its extent, 0: it is none. */
RB_INLINE int prepare(const rb_shape *shape, rb_vside *s, double *square)
{
    if (shape->type == RB_GEOM_BOX) {
        s->poly = rb_unit_box;
        s->half = shape->size;
        s->scale = rb_v4_load3(shape->size);
        *square = rb_dot3(shape->size, shape->size);
        return 1;
    }
    if (shape->type != RB_GEOM_MESH || !rb_core_hull(shape, &s->poly)) return 0;
    const double *half = shape->model->mesh_half + 3 * (ptrdiff_t)shape->asset;
    s->half = NULL;
    s->scale = rb_v4_all(1.0);
    *square = rb_dot3(half, half);
    return 1;
}

/* How the two lie to each other: R = R1'R2 and its transpose. 0: not all numbers are finite; tested
 * by four independent sums. */
RB_INLINE int see_each_other(const rb_shape *shape1, const rb_shape *shape2, rb_vside side[2])
{
    rb_v4 A[3], B[3], *row = side[1].col;
    const double *R1 = shape1->R;
    double c[3];
    rb_sub3(shape2->p, shape1->p, c);
    for (int k = 0; k < 3; k++) {
        A[k] = rb_v4_load3(R1 + 3 * k);
        B[k] = rb_v4_load3(shape2->R + 3 * k);
    }
    for (int k = 0; k < 3; k++)
        row[k] =
            (rb_v4_all(R1[k]) * B[0] + rb_v4_all(R1[3 + k]) * B[1]) + rb_v4_all(R1[6 + k]) * B[2];
    rb_v4_transpose(row, side[0].col);
    side[0].t = rb_v4_mix(A, c);
    side[1].t = -rb_v_turn(&side[1], side[0].t);
    rb_v4 sum = (row[0] + row[1]) + (row[2] + side[0].t);
    return isfinite((sum[0] + sum[1]) + sum[2]);
}

/* The points q of the higher feature and that `distance` from it along n, in the world. */
RB_INLINE void write_out(const rb_shape *high, int swap, rb_v4 q, rb_v4 n, rb_vclip_result *out)
{
    rb_v4 col[3];
    for (int k = 0; k < 3; k++) col[k] = rb_v4_load3(high->R + 3 * k);
    rb_v4_transpose(col, col);
    rb_v4 at = rb_v4_turn(col, q) + rb_v4_load3(high->p), along = rb_v4_turn(col, n);
    rb_v4_store3(at, swap ? out->pos1 : out->pos2);
    rb_v4_store3(at + rb_v4_all(out->distance) * along, swap ? out->pos2 : out->pos1);
    rb_v4_store3(rb_v4_all(swap ? 1.0 : -1.0) * along, out->normal);
}

/* The vertex that is closest to the middle of the other one. */
static inline void place_towards(rb_vside *s)
{
    double least = INFINITY;
    s->kind = RB_VERTEX;
    for (int v = 0; v < s->poly.nvert; v++) {
        rb_v4 r = rb_v_vertex(s, v) - s->t;
        double apart = rb_v4_dot(r, r);
        if (apart >= least) continue;
        least = apart;
        s->index = v;
    }
}

/* From feature to feature, MOST_STEPS of them. */
RB_INLINE rb_vstep walk(rb_vside side[2], points *at, int *steps)
{
    rb_vstep step = RB_V_GOES_ON;
    for (int i = 0; step == RB_V_GOES_ON && i < MOST_STEPS; i++) {
        step = step_of(side, at);
        ++*steps;
    }
    return step;
}

/* A walk that goes in a circle begins once more, elsewhere. Out of line: it is rare. */
RB_NOINLINE static rb_vstep walk_again(rb_vside side[2], points *at, int *steps)
{
    for (int k = 0; k < 2; k++) place_towards(&side[k]);
    return walk(side, at, steps);
}

RB_INLINE rb_status rb_vclip_body(const rb_shape *shape1, const rb_shape *shape2, rb_vclip *cache,
                                  rb_vclip_result *out)
{
    rb_vside side[2];
    points at;
    double square[2];
    if (!prepare(shape1, &side[0], &square[0]) || !prepare(shape2, &side[1], &square[1]))
        return RB_UNSUPPORTED;
    if (!see_each_other(shape1, shape2, side)) return RB_BAD_INPUT;
    for (int k = 0; k < 2; k++) place(&side[k], cache->feature[k]);
    out->steps = out->overlap = out->escaped = 0;

    at.m = at.p = at.q = rb_v4_all(0.0);
    rb_vstep step = walk(side, &at, &out->steps);
    if (step == RB_V_GOES_ON) step = walk_again(side, &at, &out->steps);
    for (int k = 0; k < 2; k++) cache->feature[k] = 4 * side[k].index + side[k].kind;
    if (step == RB_V_OVERLAP) {
        out->overlap = 1;
        return RB_OK;
    }
    if (step == RB_V_GOES_ON) return rb_vclip_escape(shape1, shape2, out);

    int swap = side[0].kind > side[1].kind;
    rb_v4 n;
    out->distance = witnesses(side[swap].kind, &side[!swap], &at, &n);
    if (!(out->distance > RB_VCLIP_TOUCH * sqrt(rb_larger(square[0], square[1]))))
        return rb_vclip_escape(shape1, shape2, out);
    write_out(swap ? shape1 : shape2, swap, at.q, n, out);
    return RB_OK;
}

#endif
