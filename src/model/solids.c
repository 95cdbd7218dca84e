/* Inertia of spheres, capsules, ellipsoids, cylinders and boxes, full or hollow (D.49). All are
 * symmetric about their frame: the com is the origin and the products of inertia vanish. */
#include "model/solids.h"

#include "base/constants.h"
#include "math/trig.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

/* Hollow ellipsoids are this thick [m]. A surface of constant thickness has no closed form; MuJoCo
 * takes the same small one and the same surface, and inertias agree to all digits. */
#define SHELL_THICKNESS 1e-6

static rb_inertia diagonal(double mass, double xx, double yy, double zz)
{
    return (rb_inertia){ .mass = mass, .I = { xx, yy, zz, 0.0, 0.0, 0.0 } };
}

static rb_inertia sphere(double r, int shell)
{
    double mass = shell ? 4.0 * PI * r * r : 4.0 / 3.0 * PI * r * r * r;
    double moment = mass * r * r * (shell ? 2.0 / 3.0 : 2.0 / 5.0);
    return diagonal(mass, moment, moment, moment);
}

/* Without the two discs where it is a shell. */
static rb_inertia tube(double r, double half, int shell)
{
    double mass = shell ? 4.0 * PI * r * half : 2.0 * PI * r * r * half;
    double around = mass * r * r * (shell ? 1.0 : 0.5);
    double across = 0.5 * around + mass * half * half / 3.0;
    return diagonal(mass, across, across, around);
}

static rb_inertia cylinder(double r, double half, int shell)
{
    rb_inertia body = tube(r, half, shell);
    if (!shell) return body;
    double discs = 2.0 * PI * r * r;
    double across = discs * (0.25 * r * r + half * half);
    rb_inertia caps = diagonal(discs, across, across, 0.5 * discs * r * r);
    rb_inertia_add(&body, &caps);
    return body;
}

/* A tube and a sphere cut in two. A half has its com at distance c from the cut; moving it by h
 * along the axis adds m h (h + 2 c) to the moments across. */
static rb_inertia capsule(double r, double half, int shell)
{
    rb_inertia body = tube(r, half, shell), ends = sphere(r, shell);
    double c = r * (shell ? 0.5 : 0.375);
    ends.I[0] += ends.mass * half * (half + 2.0 * c);
    ends.I[1] = ends.I[0];
    rb_inertia_add(&body, &ends);
    return body;
}

static rb_inertia full_ellipsoid(const double s[3])
{
    double a = s[0] * s[0], b = s[1] * s[1], c = s[2] * s[2];
    double mass = 4.0 / 3.0 * PI * s[0] * s[1] * s[2], fifth = mass / 5.0;
    return diagonal(mass, fifth * (b + c), fifth * (a + c), fifth * (a + b));
}

/* ln x for x > 0, by Halley's iteration on e^y = x: each step gains a factor e^2 or, once close,
 * triples the digits. */
static double logarithm(double x)
{
    double y = 0.0;
    for (int k = 0; k < 200; k++) {
        double e = rb_exp(y), step = 2.0 * (x - e) / (x + e);
        y += step;
        if (fabs(step) <= RB_EPS * fabs(y)) break;
    }
    return y;
}

/* x^p for x > 0 */
static double power(double x, double p)
{
    return rb_exp(p * logarithm(x));
}

/* The difference of two ellipsoids whose semi-axes differ by e, with the mass of the surface. With
 * V and V + dV their volumes, the moment about x per mass is
 *     ((b+e)^2 + (c+e)^2 + V/dV (2 e (b + c) + 2 e^2)) / 5,
 * which is the difference of the two moments without its cancellation. The surface is Thomsen's
 * approximation, within 1.1 %. */
static rb_inertia hollow_ellipsoid(const double s[3])
{
    const double p = 1.6075, e = SHELL_THICKNESS;
    double sum = power(s[0] * s[1], p) + power(s[1] * s[2], p) + power(s[2] * s[0], p);
    double mass = 4.0 * PI * power(sum / 3.0, 1.0 / p);

    double V = s[0] * s[1] * s[2];
    double dV = e * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0] + e * (s[0] + s[1] + s[2] + e));
    double square[3];
    for (int i = 0; i < 3; i++) {
        square[i] = (s[i] + e) * (s[i] + e) + V / dV * (2.0 * e * s[i] + e * e);
    }
    double fifth = mass / 5.0;
    return diagonal(mass, fifth * (square[1] + square[2]), fifth * (square[0] + square[2]),
                    fifth * (square[0] + square[1]));
}

/* A face with half sides a, b at distance d: of the pair, the moments about the a and b axes and
 * about the normal. */
static rb_inertia face_pair(double a, double b, double d)
{
    double mass = 8.0 * a * b;
    return diagonal(mass, mass * (b * b / 3.0 + d * d), mass * (a * a / 3.0 + d * d),
                    mass * (a * a + b * b) / 3.0);
}

static rb_inertia box(const double s[3], int shell)
{
    double a = s[0] * s[0], b = s[1] * s[1], c = s[2] * s[2];
    if (!shell) {
        double mass = 8.0 * s[0] * s[1] * s[2], third = mass / 3.0;
        return diagonal(mass, third * (b + c), third * (a + c), third * (a + b));
    }
    rb_inertia z = face_pair(s[0], s[1], s[2]);
    rb_inertia x = face_pair(s[1], s[2], s[0]);
    rb_inertia y = face_pair(s[2], s[0], s[1]);
    return diagonal(x.mass + y.mass + z.mass, z.I[0] + x.I[2] + y.I[1], z.I[1] + x.I[0] + y.I[2],
                    z.I[2] + x.I[1] + y.I[0]);
}

rb_inertia rb_solid(rb_geom_type type, const double size[3], int shell)
{
    switch (type) {
    case RB_GEOM_SPHERE:
        return sphere(size[0], shell);
    case RB_GEOM_CAPSULE:
        return capsule(size[0], size[1], shell);
    case RB_GEOM_ELLIPSOID:
        return shell ? hollow_ellipsoid(size) : full_ellipsoid(size);
    case RB_GEOM_CYLINDER:
        return cylinder(size[0], size[1], shell);
    case RB_GEOM_BOX:
        return box(size, shell);
    case RB_GEOM_PLANE:
    case RB_GEOM_HFIELD:
    case RB_GEOM_MESH:
        break;
    }
    return (rb_inertia){ 0 };
}
