#include "collide/bounds.h"

#include <math.h>
#include <stddef.h>

#include "math/vec3.h"

/* sum_k |R_ik| h_k */
static void box_half(const double R[9], const double h[3], double half[3])
{
    for (int i = 0; i < 3; i++) {
        half[i] = fabs(R[3 * i]) * h[0] + fabs(R[3 * i + 1]) * h[1] + fabs(R[3 * i + 2]) * h[2];
    }
}

/* Half extents of the stored points of a mesh or height field about its frame. */
static void asset_half(const rb_shape *shape, double h[3])
{
    const rb_model *m = shape->model;
    rb_zero3(h);
    if (shape->type == RB_GEOM_HFIELD) {
        const double *size = m->hfield_size + 4 * (ptrdiff_t)shape->asset;
        h[0] = size[0];
        h[1] = size[1];
        h[2] = rb_larger(size[2], size[3]);
        return;
    }
    rb_copy3(m->mesh_half + 3 * (ptrdiff_t)shape->asset, h);
}

void rb_bounds_half(const rb_shape *shape, double half[3])
{
    const double *s = shape->size, *R = shape->R;
    double h[3];
    switch ((rb_geom_type)shape->type) {
    case RB_GEOM_PLANE:
        half[0] = half[1] = half[2] = INFINITY;
        break;
    case RB_GEOM_SPHERE:
        half[0] = half[1] = half[2] = s[0];
        break;
    case RB_GEOM_CAPSULE:
        for (int i = 0; i < 3; i++) half[i] = fabs(R[3 * i + 2]) * s[1] + s[0];
        break;
    case RB_GEOM_ELLIPSOID:
        for (int i = 0; i < 3; i++) {
            double a[3] = { R[3 * i] * s[0], R[3 * i + 1] * s[1], R[3 * i + 2] * s[2] };
            half[i] = rb_norm3(a);
        }
        break;
    case RB_GEOM_CYLINDER:
        for (int i = 0; i < 3; i++) {
            double c = R[3 * i], d = R[3 * i + 1];
            half[i] = fabs(R[3 * i + 2]) * s[1] + s[0] * sqrt(c * c + d * d);
        }
        break;
    case RB_GEOM_BOX:
        box_half(R, s, half);
        break;
    case RB_GEOM_HFIELD:
    case RB_GEOM_MESH:
        asset_half(shape, h);
        box_half(R, h, half);
        break;
    }
}

double rb_bounds_arm(const rb_shape *shape)
{
    const double *s = shape->size;
    double h[3];
    switch ((rb_geom_type)shape->type) {
    case RB_GEOM_SPHERE:
        return 0.0;
    case RB_GEOM_CAPSULE:
        return s[1];
    case RB_GEOM_CYLINDER:
        return sqrt(s[0] * s[0] + s[1] * s[1]);
    case RB_GEOM_ELLIPSOID:
        return rb_larger(s[0], rb_larger(s[1], s[2]));
    case RB_GEOM_BOX:
        return rb_norm3(s);
    case RB_GEOM_PLANE:
        return INFINITY;
    case RB_GEOM_HFIELD:
    case RB_GEOM_MESH:
        asset_half(shape, h);
        return rb_norm3(h);
    }
    return INFINITY;
}

double rb_bounds_inner(const rb_shape *shape)
{
    const double *s = shape->size;
    switch ((rb_geom_type)shape->type) {
    case RB_GEOM_SPHERE:
    case RB_GEOM_CAPSULE:
        return s[0];
    case RB_GEOM_CYLINDER:
        return rb_smaller(s[0], s[1]);
    case RB_GEOM_ELLIPSOID:
    case RB_GEOM_BOX:
        return rb_smaller(s[0], rb_smaller(s[1], s[2]));
    case RB_GEOM_MESH:
        return shape->surface ? 0.0 : shape->model->mesh_inner[shape->asset];
    case RB_GEOM_PLANE:
    case RB_GEOM_HFIELD:
        break;
    }
    return 0.0;
}
