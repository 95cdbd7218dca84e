/* Sphere against sphere and capsule: the closest point of the other shape's core to the centre,
 * then the radii (G.2). */
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

/* From the centre x of a sphere of radius r to the point q of a core of radius s: `normal` is the
 * unit vector from x to q, `distance` its length. */
RB_INLINE int emit(const double x[3], double r, double s, double distance, const double normal[3],
                   uint32_t half2, double reach, rb_manifold_point *out)
{
    return rb_point_set(out, reach, distance - (r + s), x, r, normal,
                        rb_feature(rb_feature_half(RB_CURVED, 0), half2));
}

RB_SHORT int rb_sphere_sphere(const rb_shape *a, const rb_shape *b, double reach,
                              rb_manifold_point *out)
{
    double n[3];
    rb_sub3(b->p, a->p, n);
    double distance = rb_unit(n);
    return emit(a->p, a->size[0], b->size[0], distance, n, rb_feature_half(RB_CURVED, 0), reach,
                out);
}

RB_SHORT int rb_sphere_capsule(const rb_shape *sphere, const rb_shape *capsule, double reach,
                               rb_manifold_point *out)
{
    rb_segment axis = rb_capsule_axis(capsule);
    double n[3];
    rb_sub3(axis.c, sphere->p, n);
    double t = rb_clamp_to(-rb_dot3(n, axis.u), axis.half);
    rb_axpy3(t, axis.u, n);

    int end = rb_segment_end(&axis, t);
    double distance = end ? rb_unit(n) : rb_unit_across(axis.u, n);
    rb_grain grain = rb_grain_of(sphere->size[0], capsule->size[0] + axis.half, distance);
    if (distance <= grain.tie) rb_straighten(axis.u, n);
    return emit(sphere->p, sphere->size[0], capsule->size[0], distance, n,
                rb_feature_half(RB_CURVED, end + 1), reach, out);
}
