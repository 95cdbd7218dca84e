/* Closest points of points and segments. A segment is centre + t axis, |t| <= half, axis of unit
 * length. */
#ifndef RB_COLLIDE_SEGMENT_H
#define RB_COLLIDE_SEGMENT_H

#include "base/constants.h"
#include "math/vec3.h"
#include "rattleback/collide.h"

typedef struct rb_segment {
    double c[3], u[3];
    double half;
} rb_segment;

static inline double rb_clamp_to(double x, double bound)
{
    return x < -bound ? -bound : x > bound ? bound : x;
}

/* rb_normalize3 with one division where squares neither overflow nor vanish. */
static inline double rb_unit(double a[3])
{
    double square = rb_dot3(a, a);
    if (!(square > 1e-200 && square < 1e200)) return rb_normalize3(a);
    double length = sqrt(square), inverse = 1.0 / length;
    for (int k = 0; k < 3; k++) a[k] *= inverse;
    return length;
}

static inline void rb_segment_at(const rb_segment *s, double t, double x[3])
{
    rb_copy3(s->c, x);
    rb_axpy3(t, s->u, x);
}

/* The axis of a capsule. */
static inline rb_segment rb_capsule_axis(const rb_shape *capsule)
{
    const double *R = capsule->R;
    return (rb_segment){ .c = { capsule->p[0], capsule->p[1], capsule->p[2] },
                         .u = { R[2], R[5], R[8] },
                         .half = capsule->size[1] };
}

/* Where on the segment the point x is closest to it. */
static inline double rb_segment_foot(const rb_segment *s, const double x[3])
{
    double r[3];
    rb_sub3(x, s->c, r);
    return rb_clamp_to(rb_dot3(r, s->u), s->half);
}

/* -1 and 1 at the ends, 0 between. */
static inline int rb_segment_end(const rb_segment *s, double t)
{
    return t <= -s->half ? -1 : t >= s->half ? 1 : 0;
}

/* Where the lines cross, seen along m = u1 x u2 (G.5). 0 where they do not, being parallel.
 *
 * u1 x u2 as u1 x (u2 -+ u1): nearly parallel axes are subtracted first, which is exact, and m
 * keeps its digits however small it is. With w = c2 - c1: s = (w x u2).m / m.m,  t = foot of x1(s)
 * on line 2. For nearly parallel lines s is uncertain by eps/|m|, but the lines leave each other by
 * |m| per metre only: the distance from the foot is not uncertain. */
RB_INLINE int rb_lines_cross(const rb_segment *a, const rb_segment *b, double m[3], double *s,
                             double *t)
{
    double rest[3], w[3], k[3];
    rb_copy3(b->u, rest);
    rb_axpy3(rb_dot3(a->u, b->u) < 0.0 ? 1.0 : -1.0, a->u, rest);
    rb_cross3(a->u, rest, m);
    double mm = rb_dot3(m, m);
    if (!(mm > 0.0)) return 0;

    rb_sub3(b->c, a->c, w);
    rb_cross3(w, b->u, k);
    *s = rb_dot3(k, m) / mm;
    rb_scale3(*s, a->u, k);
    rb_sub3(k, w, k);
    *t = rb_dot3(k, b->u);
    return 1;
}

/* A unit vector orthogonal to u, which has unit length. */
void rb_orthogonal(const double u[3], double n[3]);

/* To unit length, of a vector that is orthogonal to u; where it has none any of these. */
void rb_straighten_far(const double u[3], double n[3]);

/* Rotates the unit vector n until it is orthogonal to u; by a small angle: rounding of short
 * distances. What it is shortened by is the square of that. */
static inline void rb_straighten(const double u[3], double n[3])
{
    double lean = rb_dot3(u, n);
    rb_axpy3(-lean, u, n);
    if (fabs(lean) > RB_TINY_ANGLE) rb_straighten_far(u, n);
}

/* rb_unit and rb_straighten at once: root, division and the second do not wait for each other. */
RB_INLINE double rb_unit_across(const double u[3], double n[3])
{
    double lean = rb_dot3(u, n), square = rb_dot3(n, n), length;
    int usual = square > 1e-200 && square < 1e200;
    if (usual && lean * lean <= RB_TINY_ANGLE * RB_TINY_ANGLE * square) {
        length = sqrt(square);
        double inverse = 1.0 / square * length;
        for (int k = 0; k < 3; k++) n[k] = (n[k] - lean * u[k]) * inverse;
        return length;
    }
    length = rb_unit(n);
    rb_straighten(u, n);
    return length;
}

#endif
