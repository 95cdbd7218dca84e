/* Vertices of polyhedra in the valleys of a surface. */
#include <math.h>
#include <stddef.h>

#include "base/constants.h"
#include "collide/buried.h"
#include "collide/feature.h"
#include "collide/triangle.h"
#include "math/vec3.h"

static int is_buried(const rb_walk *k, const double x[3])
{
    const rb_shape *surface = k->surface;
    if (surface->type == RB_GEOM_HFIELD)
        return x[2] < rb_grid_height(surface->model, surface->asset, x);
    return rb_is_under(surface->model, surface->asset, x);
}

/* Whether x, so deep under the plane of a triangle, is not less deep in the solid: planes next to a
 * valley are not farther than the surface, in a grid straight up. */
static int is_as_deep(const rb_walk *k, const rb_triangle *t, const double x[3], double depth)
{
    double out[3];
    int face;
    if (k->surface->type == RB_GEOM_HFIELD) {
        double clear = RB_SAME_POINT * k->couple.core1.extent;
        double height = rb_grid_height(k->surface->model, k->surface->asset, x);
        return (height - x[2]) * t->normal[2] >= (1.0 - RB_CLEAR) * depth - clear;
    }
    if (depth < RB_CLEAR * k->couple.core1.extent) return 1;
    if (!rb_buried(k->surface->model, k->surface->asset, x, out, &face)) return 0;
    rb_sub3(out, x, out);
    return rb_norm3(out) >= (1.0 - RB_CLEAR) * depth;
}

/* Whether the foot of a vertex on the plane of the triangle is beyond some of its edges, all of
 * which lie in valleys. `up`: between the normals of the sides of these. */
static int is_beyond_valley(const rb_triangle *t, const int valley[3], const double foot[3],
                            double far, double up[3])
{
    int any = 0;
    rb_copy3(t->normal, up);
    for (int i = 0; i < 3; i++) {
        double u[3], inward[3], r[3];
        rb_sub3(t->x[(i + 1) % 3], t->x[i], u);
        rb_cross3(t->normal, u, inward);
        rb_unit(inward);
        rb_sub3(foot, t->x[i], r);
        double inside = rb_dot3(inward, r);
        if (inside >= 0.0) continue;
        if (!valley[i] || inside < -far) return 0;
        rb_normal_beyond(t, i, r);
        rb_add3(up, r, up);
        any = 1;
    }
    return any && rb_unit(up) > 0.0 && rb_dot3(up, t->normal) > RB_KINK;
}

/* Next to a valley free space is above both planes: a vertex that comes to it is above one of its
 * sides, and the other one stops it. So the plane of a triangle extends beyond an edge to a
 * neighbour that rises from it, as long as it is under the surface there,
 *
 *     gap = n.(x - p),     the foot of x beyond edges in valleys, x - gap/(n.u) u buried   (G.24)
 *
 * with u between the normals of both sides. */
void rb_meet_valleys(rb_walk *k, const rb_triangle *t)
{
    rb_core *core = &k->couple.core2;
    int valley[3], any = 0;
    double nu[3];
    if (core->kind != RB_CORE_POLY) return;
    for (int i = 0; i < 3; i++) {
        double r[3];
        rb_sub3(t->beyond[i], t->x[i], r);
        valley[i] = !t->border[i] && rb_dot3(r, t->normal) > RB_SEAM * rb_norm3(r);
        any |= valley[i];
    }
    if (!any) return;
    rb_rot(k->surface->R, t->normal, nu);
    double far = k->couple.core1.extent;
    for (int v = 0; v < core->poly.nvert; v++) {
        double x[3], y[3], foot[3], r[3], up[3];
        rb_core_vertex(core, v, x);
        rb_rot_t(k->surface->R, x, y);
        rb_sub3(y, t->x[0], r);
        double height = rb_dot3(r, t->normal);
        if (height > k->reach || height < -far) continue;
        rb_copy3(y, foot);
        rb_axpy3(-height, t->normal, foot);
        if (!is_beyond_valley(t, valley, foot, far, up)) continue;
        if (height < 0.0 && !is_as_deep(k, t, y, -height)) continue;
        rb_axpy3(-height / rb_dot3(up, t->normal) - RB_CLEAR * far, up, y);
        if (!is_buried(k, y)) continue;
        rb_manifold_point p = { .gap = height };
        p.feature = rb_feature(rb_triangle_number(t, rb_feature_half(RB_FACE, 0)),
                               rb_feature_half(RB_VERTEX, v & 0x3fff));
        rb_copy3(nu, p.normal);
        rb_copy3(x, p.pos2);
        rb_copy3(x, p.pos1);
        rb_axpy3(-height, nu, p.pos1);
        rb_walk_add(k, t, &p);
    }
}
