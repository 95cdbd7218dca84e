/* Capsule against capsule: the axes as segments, then the radii (G.2). Candidates are the crossing
 * of the axes, where it lies within both, and the four ends against the other axis. Nearly parallel
 * capsules rest on the ends of the part they have in common, each with its own gap. */
#include "base/constants.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

typedef struct axes {
    rb_segment a, b;
    double r_a, r_b;
    double far;    /* larger of both extents and the distance of the centres, squared [m^2] */
    double m[3];   /* orthogonal to both axes, no length where they are parallel            */
    double mm;     /* its square                                                            */
    double wm;     /* m.(centre 2 - centre 1): |m| times the distance of the lines          */
    double s, t;   /* crossing of the lines, where they are not parallel                    */
    double c;      /* u1.u2                                                                 */
    double wa, wb; /* (centre 2 - centre 1).u1, .u2                                       */
} axes;

/* The spheres at s and t on both axes. */
typedef struct place {
    double s, t, square; /* of their distance */
    double w[3];         /* from 1 to 2       */
} place;

/* The lines clearly cross: u1 x u2 and m.m have all their digits. */
RB_INLINE int is_clear(const axes *p)
{
    return p->mm > RB_KINK * RB_KINK;
}

RB_INLINE void axes_make(const rb_shape *a, const rb_shape *b, axes *p)
{
    double w[3];
    p->a = rb_capsule_axis(a);
    p->b = rb_capsule_axis(b);
    p->r_a = a->size[0];
    p->r_b = b->size[0];
    rb_sub3(b->p, a->p, w);
    double large = rb_larger(p->r_a + p->a.half, p->r_b + p->b.half);
    p->far = rb_larger(large * large, rb_dot3(w, w));

    rb_cross3(p->a.u, p->b.u, p->m);
    p->mm = rb_dot3(p->m, p->m);
    p->c = rb_dot3(p->a.u, p->b.u);
    p->wa = rb_dot3(w, p->a.u);
    p->wb = rb_dot3(w, p->b.u);
    if (is_clear(p)) {
        p->s = (p->wa - p->c * p->wb) / p->mm;
        p->t = p->c * p->s - p->wb;
    } else {
        p->mm = p->s = p->t = 0.0;
        if (rb_lines_cross(&p->a, &p->b, p->m, &p->s, &p->t)) p->mm = rb_dot3(p->m, p->m);
    }
    p->wm = rb_dot3(p->m, w);
}

/* A distance that is rounding, given its square. */
RB_INLINE int is_tiny(const axes *p, double square)
{
    return square <= RB_GAP_TIE * RB_GAP_TIE * p->far;
}

RB_INLINE place place_at(const axes *p, double s, double t)
{
    place at = { .s = s, .t = t };
    double x[3];
    rb_segment_at(&p->a, s, x);
    rb_segment_at(&p->b, t, at.w);
    rb_sub3(at.w, x, at.w);
    at.square = rb_dot3(at.w, at.w);
    return at;
}

/* Ends 0, 1 of a and 2, 3 of b. */
RB_INLINE double end_of(const axes *p, int i)
{
    double half = i < 2 ? p->a.half : p->b.half;
    return i % 2 ? half : -half;
}

/* End i against the other axis. *within: not over an end of that. */
RB_INLINE place end_against(const axes *p, int i, int *within)
{
    const rb_segment *own = i < 2 ? &p->a : &p->b, *other = i < 2 ? &p->b : &p->a;
    double x[3], end = end_of(p, i);
    rb_segment_at(own, end, x);
    double foot = rb_segment_foot(other, x);
    *within = !rb_segment_end(other, foot);
    return i < 2 ? place_at(p, end, foot) : place_at(p, foot, end);
}

/* ---- the closest pair -------------------------------------------------------------------------
 */

RB_INLINE int is_inside(const axes *p)
{
    return fabs(p->s) < p->a.half && fabs(p->t) < p->b.half;
}

/* Lines that clearly cross, outside of one axis: the end of that one is closest, or, where the
 * other one ends before, the end of the other and its own foot; the distance is convex in s, t. */
RB_INLINE place closest_end(const axes *p)
{
    double s = rb_clamp_to(p->s, p->a.half), t = s * p->c - p->wb;
    if (!(fabs(t) <= p->b.half)) {
        t = rb_clamp_to(t, p->b.half);
        s = rb_clamp_to(t * p->c + p->wa, p->a.half);
    }
    return place_at(p, s, t);
}

/* Nearly parallel ones: the crossing, unless an end is closer by more than rounding. */
static place closest_parallel(const axes *p)
{
    place best = { .square = INFINITY };
    double tie = RB_GAP_TIE * sqrt(p->far);
    int within;
    if (p->mm > 0.0 && is_inside(p)) best = place_at(p, p->s, p->t);
    for (int i = 0; i < 4; i++) {
        place end = end_against(p, i, &within);
        if (end.square >= best.square) continue;
        if (sqrt(end.square) < sqrt(best.square) - tie) best = end;
    }
    return best;
}

/* ---- points -----------------------------------------------------------------------------------
 */

/* Where the axes cross at s, t; the normal is orthogonal to both. 0: it is beyond reach. */
RB_INLINE int crossing_point(const axes *p, double s, double t, double reach,
                             rb_manifold_point *out)
{
    double x[3], n[3], over = (p->wm < 0.0 ? -1.0 : 1.0) / sqrt(p->mm);
    uint32_t half1 = rb_feature_half(RB_CURVED, rb_segment_end(&p->a, s) + 1);
    uint32_t half2 = rb_feature_half(RB_CURVED, rb_segment_end(&p->b, t) + 1);
    rb_segment_at(&p->a, s, x);
    rb_scale3(over, p->m, n);
    return rb_point_set(out, reach, p->wm * over - (p->r_a + p->r_b), x, p->r_a, n,
                        rb_feature(half1, half2));
}

/* Unit, orthogonal to both axes, along w: the normal where nearly parallel ones meet. */
static void across(const axes *p, const double w[3], double n[3])
{
    rb_copy3(p->m, n);
    if (!(p->mm > 0.0)) rb_orthogonal(p->a.u, n);
    if (rb_dot3(w, n) < 0.0) rb_scale3(-1.0, n, n);
    rb_unit(n);
    rb_straighten(p->a.u, n);
}

/* 0: it is beyond reach. */
RB_INLINE int point_of(const axes *p, const place *at, double reach, rb_manifold_point *out)
{
    double x[3], n[3];
    int end_a = rb_segment_end(&p->a, at->s), end_b = rb_segment_end(&p->b, at->t);
    rb_copy3(at->w, n);
    double distance = !end_a   ? rb_unit_across(p->a.u, n)
                      : !end_b ? rb_unit_across(p->b.u, n)
                               : rb_unit(n);
    if (is_tiny(p, at->square) || (!end_a && !end_b))
        across(p, at->w, n); /* rounding has no direction, and a crossing has exactly this one */
    rb_segment_at(&p->a, at->s, x);
    uint32_t half1 = rb_feature_half(RB_CURVED, end_a + 1);
    uint32_t half2 = rb_feature_half(RB_CURVED, end_b + 1);
    return rb_point_set(out, reach, distance - (p->r_a + p->r_b), x, p->r_a, n,
                        rb_feature(half1, half2));
}

/* *s, *t: where the closest point is on the axes. */
RB_INLINE int closest_point(const axes *p, double reach, rb_manifold_point *out, double *s,
                            double *t)
{
    if (is_clear(p) && is_inside(p)) {
        *s = p->s;
        *t = p->t;
        return crossing_point(p, *s, *t, reach, out);
    }
    place best = is_clear(p) ? closest_end(p) : closest_parallel(p);
    *s = best.s;
    *t = best.t;
    return point_of(p, &best, reach, out);
}

RB_SHORT int rb_capsule_capsule_closest(const rb_shape *a, const rb_shape *b, double reach,
                                        rb_manifold_point *out)
{
    axes p;
    double s, t;
    axes_make(a, b, &p);
    return closest_point(&p, reach, out, &s, &t);
}

/* ---- the line of contact ----------------------------------------------------------------------
 */

/* Most ends look elsewhere than n, which is known without a root; slack for rounding. */
static int looks_along(const axes *p, const place *at, const double n[3])
{
    double along = rb_dot3(n, at->w), least = 0.99 * RB_FACING;
    if (is_tiny(p, at->square)) return 1;
    return along >= 0.0 && along * along >= least * least * at->square;
}

/* What else belongs to the line of contact: ends over the other axis, not over its end. */
static void add_end(const axes *p, int i, double reach, const rb_manifold_point *first,
                    rb_points *points)
{
    int within;
    place end = end_against(p, i, &within);
    if (!within || !looks_along(p, &end, first->normal)) return;
    if (points->n == 0) points->at[points->n++] = *first;
    rb_manifold_point *next = &points->at[points->n];
    if (point_of(p, &end, reach, next) && rb_dot3(first->normal, next->normal) >= RB_FACING)
        points->n++;
}

/* End i is over an end of the other axis: known from sums, to rounding. */
RB_INLINE int is_beyond(const axes *p, int i, double end)
{
    double foot = end * p->c + (i < 2 ? -p->wb : p->wa), half = i < 2 ? p->b.half : p->a.half;
    return fabs(foot) > half + RB_TINY_ANGLE * (half + fabs(end));
}

/* How far from the crossing an end may be and still be within reach of the other axis, squared
 * [m^2]: with z from the crossing the distance is  (w.m)^2 / m.m + z^2 m.m  at least, squared. */
RB_INLINE double most_aside(const axes *p, double reach)
{
    double near = (1.0 + RB_TINY_ANGLE) * (p->r_a + p->r_b + reach);
    return is_clear(p) ? (near * near * p->mm - p->wm * p->wm) / (p->mm * p->mm) : INFINITY;
}

RB_SHORT void rb_capsule_capsule(const rb_shape *a, const rb_shape *b, double reach,
                                 rb_manifold *out)
{
    axes p;
    double at[2], n[3];
    axes_make(a, b, &p);
    rb_manifold_point *first = &out->point[0];
    out->n = closest_point(&p, reach, first, &at[0], &at[1]);
    if (out->n == 0) return;

    rb_points points;
    points.n = 0;
    double most = most_aside(&p, reach);
    for (int i = 0; i < 4; i++) {
        double end = end_of(&p, i), z = end - (i < 2 ? p.s : p.t);
        if (at[i / 2] == end || z * z > most) continue; /* the closest itself, or far from it */
        if (is_beyond(&p, i, end)) continue;
        add_end(&p, i, reach, first, &points);
    }
    if (points.n < 2) return;
    rb_copy3(first->normal, n);
    rb_grain grain = rb_grain_of(p.r_a + p.a.half, p.r_b + p.b.half, sqrt(p.far));
    rb_points_finish(&points, n, reach, grain, out);
}
