/* Closest points of points and segments. A segment is centre + t axis, |t| <= half, axis of unit
 * length. */
#ifndef RB_COLLIDE_SEGMENT_H
#define RB_COLLIDE_SEGMENT_H

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

/* Where the lines cross, seen along m = u1 x u2 (G.5). 0 where they do not, being parallel. */
int rb_lines_cross(const rb_segment *a, const rb_segment *b, double m[3], double *s, double *t);

/* A unit vector orthogonal to u, which has unit length. */
void rb_orthogonal(const double u[3], double n[3]);

/* Turns the unit vector n until it is orthogonal to u; by a little: rounding of short distances. */
void rb_straighten(const double u[3], double n[3]);

#endif
