/* Strings over spheres and cylinders (D.27). All is decided in a plane: that of both ends and the
 * centre of a sphere, that across the axis of a cylinder. There the solid is a circle of radius r
 * and the string, seen from its centre, runs through the angle
 *
 *     theta = angle from a to b, or from a to the side and on to b, each at most half a turn
 *
 * It touches the circle along the angle |theta| - acos(r/|a|) - acos(r/|b|) between two tangents,
 * and is straight where that is negative. The angle is that of a product of complex numbers: one
 * arctangent instead of four. */
#include "math/wrap.h"

#include <math.h>
#include <stddef.h>

#include "base/constants.h"
#include "math/trig.h"
#include "math/vec3.h"

#define RIGHT_ANGLE 1.5707963267948966
#define TURN        6.283185307179586

enum { MAX_STEPS = 60 };

static double dot2(const double a[2], const double b[2])
{
    return a[0] * b[0] + a[1] * b[1];
}

static double cross2(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

static double norm2(const double a[2])
{
    return sqrt(dot2(a, a));
}

static void scale_to(double length, double a[2])
{
    double n = norm2(a);
    if (n < RB_WRAP_MIN) {
        a[0] = length;
        a[1] = 0.0;
        return;
    }
    a[0] *= length / n;
    a[1] *= length / n;
}

static double arcsine(double x)
{
    return rb_atan2(x, sqrt(fmax(0.0, (1.0 - x) * (1.0 + x))));
}

/* ---- around a circle -------------------------------------------------------------------------
 */

/* Where the tangent from p meets the circle: clockwise of p for sense 1, else -1. */
static void tangent_point(const double p[2], double radius, double sense, double out[2])
{
    double d2 = dot2(p, p), along = radius * radius / d2;
    double across = sense * radius * sqrt(d2 - radius * radius) / d2;
    out[0] = along * p[0] + across * p[1];
    out[1] = along * p[1] - across * p[0];
}

/* Rotates z back by the angle at the centre between p and the point where its tangent meets the
 * circle. */
static void turn_back(const double p[2], double radius, double z[2])
{
    double x = radius, y = sqrt(dot2(p, p) - radius * radius);
    double real = z[0] * x + z[1] * y;
    z[1] = z[1] * x - z[0] * y;
    z[0] = real;
}

/* 1: the string runs counterclockwise. Where the parts to the side and from it oppose each other
 * they make less than half a turn; where they agree they may make more, which takes b to the other
 * side of a. */
static int turns_left(const double a[2], const double b[2], const double *side, int *more)
{
    double first = side ? cross2(a, side) : 0.0, second = side ? cross2(side, b) : 0.0;
    double straight = cross2(a, b);
    *more = (first > 0.0 && second > 0.0 && straight < 0.0) ||
            (first < 0.0 && second < 0.0 && straight > 0.0);
    return *more ? first > 0.0 : straight > 0.0;
}

static int has_room(const double a[2], const double b[2], double radius)
{
    double ab[2] = { b[0] - a[0], b[1] - a[1] }, r2 = radius * radius;
    return dot2(a, a) >= r2 && dot2(b, b) >= r2 && radius >= RB_WRAP_MIN &&
           dot2(ab, ab) >= RB_WRAP_MIN;
}

/* The straight line clearly misses the circle on the side of the string: its angles are not needed.
 */
static int passes_by(const double a[2], const double b[2], const double *side, double radius)
{
    const double clear = 1.0 + 1e-9; /* rounding of angles [1] */
    double ab[2] = { b[0] - a[0], b[1] - a[1] }, turn = cross2(a, b);
    if (side && !(cross2(a, side) * turn > 0.0 && cross2(side, b) * turn > 0.0)) return 0;
    double s = -dot2(ab, a) / dot2(ab, ab);
    s = s > 0.0 ? rb_smaller(s, 1.0) : 0.0;
    double near[2] = { a[0] + s * ab[0], a[1] + s * ab[1] };
    return dot2(near, near) > clear * radius * radius;
}

/* Length of the arc, or -1: the string is straight. */
static double wrap_around(const double a[2], const double b[2], const double *side, double radius,
                          double t[4])
{
    if (!has_room(a, b, radius) || passes_by(a, b, side, radius)) return -1.0;
    int more, left = turns_left(a, b, side, &more);
    double sense = left ? -1.0 : 1.0, z[2] = { dot2(a, b), -sense * cross2(a, b) };
    turn_back(a, radius, z);
    turn_back(b, radius, z);
    if (!more && z[1] < 0.0) return -1.0;
    double arc = rb_atan2(z[1], z[0]);
    if (arc < 0.0) arc += TURN;
    tangent_point(a, radius, sense, t);
    tangent_point(b, radius, -sense, t + 2);
    return radius * arc;
}

/* ---- inside of a circle ----------------------------------------------------------------------
 */

/* The angle beta between both ends and the radius at the point of contact, where the string pulls
 * along the radius:
 *
 *     g(beta) = 2 beta - asin(A sin beta) - asin(B sin beta) - G = 0                        (D.28)
 *
 * with A, B the radius by the distances of the ends and G the angle between them. g grows: Newton's
 * method within bounds. NAN: no root up to a right angle. */
static double inside_angle(double A, double B, double G)
{
    double lo = 0.0, hi = RIGHT_ANGLE, beta = 0.5 * G < hi ? 0.5 * G : hi;
    if (2.0 * hi - arcsine(A) - arcsine(B) < G) return NAN;
    for (int i = 0; i < MAX_STEPS; i++) {
        double s, c;
        rb_sincos(beta, &s, &c);
        double g = 2.0 * beta - arcsine(A * s) - arcsine(B * s) - G;
        double slope = 2.0 - A * c / sqrt(1.0 - A * A * s * s) - B * c / sqrt(1.0 - B * B * s * s);
        if (g > 0.0)
            hi = beta;
        else
            lo = beta;
        double next = slope > 0.0 ? beta - g / slope : lo;
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - beta) <= RB_WRAP_TOL) return next;
        beta = next;
    }
    return beta;
}

/* The string is pulled inwards over one point of the circle: length 0, or -1: straight. */
static double wrap_inside(const double a[2], const double b[2], double radius, double t[4])
{
    double la = norm2(a), lb = norm2(b), ab[2] = { b[0] - a[0], b[1] - a[1] };
    double dd = dot2(ab, ab);
    if (la <= radius || lb <= radius || radius < RB_WRAP_MIN) return -1.0;
    if (dd > RB_WRAP_MIN) {
        double s = -dot2(ab, a) / dd, near[2] = { a[0] + s * ab[0], a[1] + s * ab[1] };
        if (s > 0.0 && s < 1.0 && norm2(near) <= radius) return -1.0;
    }
    double cosine = (la * la + lb * lb - dd) / (2.0 * la * lb);
    if (cosine < -1.0 + RB_WRAP_MIN) return -1.0;

    /* where the equation has no root: halfway between the ends */
    t[0] = t[2] = 0.5 * (a[0] + b[0]);
    t[1] = t[3] = 0.5 * (a[1] + b[1]);
    scale_to(radius, t);
    scale_to(radius, t + 2);
    if (cosine > 1.0 - RB_WRAP_MIN) return 0.0;
    double A = radius / la, B = radius / lb;
    double G = rb_atan2(sqrt(fmax(0.0, (1.0 - cosine) * (1.0 + cosine))), cosine);
    double beta = inside_angle(A, B, G);
    if (isnan(beta)) return 0.0;

    /* turn from the end that comes first */
    int first = cross2(a, b) > 0.0;
    double from[2] = { first ? a[0] : b[0], first ? a[1] : b[1] }, s, c;
    rb_sincos(beta, &s, &c);
    rb_sincos(beta - arcsine((first ? A : B) * s), &s, &c);
    scale_to(radius, from);
    t[0] = t[2] = c * from[0] - s * from[1];
    t[1] = t[3] = s * from[0] + c * from[1];
    return 0.0;
}

/* ---- in space --------------------------------------------------------------------------------
 */

/* Some unit vector across a. */
static void across(const double a[3], double n[3])
{
    int most = 0;
    for (int i = 1; i < 3; i++) most = fabs(a[i]) > fabs(a[most]) ? i : most;
    double other[3] = { most != 0, most != 1, most != 2 };
    rb_cross3(a, other, n);
    rb_normalize3(n);
}

/* The axes of the plane of a, b and the centre. */
static void plane_of(const double a[3], const double b[3], double e0[3], double e1[3])
{
    double n[3], length;
    rb_copy3(a, e0);
    rb_normalize3(e0);
    rb_cross3(a, b, n);
    length = rb_norm3(n);
    if (length < RB_WRAP_MIN)
        across(e0, n);
    else
        rb_scale3(1.0 / length, n, n);
    rb_cross3(n, e0, e1);
    rb_normalize3(e1);
}

static void to_solid(const rb_wrap_solid *s, const double x[3], double out[3])
{
    double r[3];
    rb_sub3(x, s->p, r);
    rb_rot_t(s->R, r, out);
}

/* A helix climbs evenly with the length along the way (D.29). */
static double climb(const double a[3], const double b[3], double arc, double t0[3], double t1[3])
{
    double in[2] = { a[0] - t0[0], a[1] - t0[1] }, out[2] = { b[0] - t1[0], b[1] - t1[1] };
    double l0 = norm2(in), l1 = norm2(out), all = l0 + arc + l1, rise = b[2] - a[2];
    t0[2] = a[2] + rise * l0 / all;
    t1[2] = a[2] + rise * (l0 + arc) / all;
    double height = t1[2] - t0[2];
    return sqrt(arc * arc + height * height);
}

double rb_wrap(const rb_wrap_solid *solid, const double x0[3], const double x1[3], double points[6])
{
    double e0[3] = { 1.0, 0.0, 0.0 }, e1[3] = { 0.0, 1.0, 0.0 }, a[3], b[3], s[3];
    to_solid(solid, x0, a);
    to_solid(solid, x1, b);
    if (rb_norm3(a) < RB_WRAP_MIN || rb_norm3(b) < RB_WRAP_MIN) return -1.0;
    if (!solid->cylinder) plane_of(a, b, e0, e1);
    double a2[2] = { rb_dot3(a, e0), rb_dot3(a, e1) }, b2[2] = { rb_dot3(b, e0), rb_dot3(b, e1) };
    double side[2], t[4] = { 0.0, 0.0, 0.0, 0.0 }, arc;
    int sided = 0;
    if (solid->side) {
        to_solid(solid, solid->side, s);
        side[0] = rb_dot3(s, e0);
        side[1] = rb_dot3(s, e1);
        sided = norm2(side) >= RB_WRAP_MIN;
    }
    if (solid->side && rb_norm3(s) < solid->radius)
        arc = wrap_inside(a2, b2, solid->radius, t);
    else
        arc = wrap_around(a2, b2, sided ? side : NULL, solid->radius, t);
    if (arc < 0.0) return -1.0;

    double local[6];
    for (int i = 0; i < 3; i++) {
        local[i] = t[0] * e0[i] + t[1] * e1[i];
        local[3 + i] = t[2] * e0[i] + t[3] * e1[i];
    }
    if (solid->cylinder) arc = climb(a, b, arc, local, local + 3);
    for (int k = 0; k < 2; k++) {
        rb_rot(solid->R, local + 3 * k, points + 3 * k);
        rb_add3(points + 3 * k, solid->p, points + 3 * k);
    }
    return arc;
}
