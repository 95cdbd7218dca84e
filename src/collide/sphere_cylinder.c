/* Sphere against cylinder: the centre in the frame of the cylinder, as (r, z) in the half plane
 * through the axis, against the rectangle r <= radius, |z| <= half (G.2). */
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

/* The point of the rectangle next to (r, z): signed distance, outward direction, and which part of
 * the cylinder it is: 1 the side, 0 and 2 rims, or a cap. */
RB_INLINE double nearest(const double size[3], double r, double z, double outward[2],
                         uint32_t *half)
{
    double over_r = r - size[0], over_z = fabs(z) - size[1], sign = z < 0.0 ? -1.0 : 1.0;
    int rim = 2 * (z >= 0.0);
    if (over_r > 0.0 && over_z > 0.0) {
        double distance = sqrt(over_r * over_r + over_z * over_z);
        outward[0] = over_r / distance;
        outward[1] = sign * over_z / distance;
        *half = rb_feature_half(RB_CURVED, rim);
        return distance;
    }
    int side = over_r >= over_z;
    outward[0] = side ? 1.0 : 0.0;
    outward[1] = side ? 0.0 : sign;
    *half = side ? rb_feature_half(RB_CURVED, 1) : rb_feature_half(RB_FACE, z >= 0.0);
    return side ? over_r : over_z;
}

RB_SHORT int rb_sphere_cylinder(const rb_shape *sphere, const rb_shape *cylinder, double reach,
                                rb_manifold_point *out)
{
    double w[3], x[3], to[2], y[3], m[3];
    uint32_t half2;
    rb_sub3(sphere->p, cylinder->p, w);
    rb_rot_t(cylinder->R, w, x);
    double r = sqrt(x[0] * x[0] + x[1] * x[1]), radius = sphere->size[0];
    double distance = nearest(cylinder->size, r, x[2], to, &half2);
    if (distance - radius > reach) return 0;

    /* on the axis every way out to the side is as good */
    y[0] = r > 0.0 ? to[0] * x[0] / r : to[0];
    y[1] = r > 0.0 ? to[0] * x[1] / r : 0.0;
    y[2] = to[1];
    rb_rot(cylinder->R, y, m);
    rb_scale3(-1.0, m, m);
    return rb_point_set(out, reach, distance - radius, sphere->p, radius, m,
                        rb_feature(rb_feature_half(RB_CURVED, 0), half2));
}
