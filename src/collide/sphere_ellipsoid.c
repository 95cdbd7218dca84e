/* Sphere against ellipsoid with half axes a_i. The point x of the surface that is nearest to the
 * centre y, in the frame of the ellipsoid, is the foot of a normal: y - x = t (x_i / a_i^2). With
 * z_i = y_i / a_i, a the least axis, r_i = (a_i / a)^2 and u = 1 + t / a^2 it is x_i = a_i e_i with
 *
 *     e_i = r_i z_i / (u + (r_i - 1)),      g(u) = sum e_i^2 - 1 = 0                      (G.22)
 *
 * For u > 0 g is convex and falls: Newton's method from where one e_i is 1 comes from the left and
 * never passes the root, for centres inside as well as outside. Where y lies so deep on the plane
 * across the least axis that g(0) < 0 without that axis, both ends of it are nearest. */
#include "base/constants.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

enum { MAX_STEPS = 64 };

/* e of (G.22), a point of the unit sphere; `least`: the axis with r = 1. */
static void foot(const double z[3], const double r[3], int least, double e[3])
{
    double u = 0.0;
    for (int k = 0; k < 3; k++) u = rb_larger(u, r[k] * fabs(z[k]) - (r[k] - 1.0));
    for (int step = 0; step < MAX_STEPS; step++) {
        double g = -1.0, slope = 0.0;
        for (int k = 0; k < 3; k++) {
            double below = u + (r[k] - 1.0);
            if (!(below > 0.0)) continue; /* z = 0: this axis has no share */
            e[k] = r[k] * z[k] / below;
            g += e[k] * e[k];
            slope -= 2.0 * e[k] * e[k] / below;
        }
        double next = u - g / slope;
        if (!(g > 0.0) || !(next > u * (1.0 + RB_EPS))) break;
        u = next;
    }
    double others = 0.0;
    for (int k = 0; k < 3; k++) {
        if (k == least) continue;
        double below = u + (r[k] - 1.0);
        e[k] = below > 0.0 ? r[k] * z[k] / below : 0.0;
        others += e[k] * e[k];
    }
    if (u > 0.0 && fabs(z[least]) <= u) {
        e[least] = z[least] / u;
    } else {
        e[least] = (z[least] < 0.0 ? -1.0 : 1.0) * sqrt(rb_larger(0.0, 1.0 - others));
    }
}

void rb_sphere_ellipsoid(const rb_shape *sphere, const rb_shape *ellipsoid, double reach,
                         rb_manifold *out)
{
    const double *a = ellipsoid->size;
    int least = a[0] <= a[1] ? 0 : 1;
    double w[3], y[3], z[3], r[3], e[3], m[3], back[3];
    if (a[2] < a[least]) least = 2;
    rb_sub3(sphere->p, ellipsoid->p, w);
    double most = rb_larger(a[0], rb_larger(a[1], a[2]));
    if (rb_norm3(w) - most - sphere->size[0] > reach) {
        out->n = 0;
        return;
    }
    if (!(a[least] > RB_GAP_TIE * most)) {
        rb_convex_pair(sphere, ellipsoid, reach, out);
        return;
    }
    rb_rot_t(ellipsoid->R, w, y);
    for (int k = 0; k < 3; k++) {
        z[k] = y[k] / a[k];
        r[k] = a[k] / a[least] * (a[k] / a[least]);
    }
    foot(z, r, least, e);

    /* the normal is that of the surface at the foot, whose digits do not depend on the distance */
    for (int k = 0; k < 3; k++) m[k] = e[k] * (a[least] / a[k]);
    rb_unit(m);
    double distance = 0.0;
    for (int k = 0; k < 3; k++) distance += m[k] * (y[k] - a[k] * e[k]);
    rb_rot(ellipsoid->R, m, back);
    rb_scale3(-1.0, back, back);
    uint32_t half = rb_feature_half(RB_CURVED, 0);
    out->n = rb_point_set(&out->point[0], reach, distance - sphere->size[0], sphere->p,
                          sphere->size[0], back, rb_feature(half, half));
}
