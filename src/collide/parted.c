/* A lower bound of the gap of a pair: its separation along a direction (G.1), that of the last look
 * or one that GJK finds. */
#include <math.h>

#include "collide/bounds.h"
#include "collide/convex.h"
#include "collide/kept.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "model/cache.h"

/* Part of the distance of two points that a bound should reach before the search ends [1]. Larger:
 * more corners. Smaller: the pair is examined more often. */
static const double share = 0.75;

/* How far the shape extends from its centre along n [m]. */
static double extends(const rb_shape *shape, const double n[3], int *hint)
{
    const double *s = shape->size;
    double d[3];
    rb_poly poly;
    rb_rot_t(shape->R, n, d);
    switch ((rb_geom_type)shape->type) {
    case RB_GEOM_SPHERE:
        return s[0];
    case RB_GEOM_CAPSULE:
        return fabs(d[2]) * s[1] + s[0];
    case RB_GEOM_CYLINDER:
        return fabs(d[2]) * s[1] + s[0] * sqrt(d[0] * d[0] + d[1] * d[1]);
    case RB_GEOM_ELLIPSOID:
        for (int k = 0; k < 3; k++) d[k] *= s[k];
        return rb_norm3(d);
    case RB_GEOM_BOX:
        return fabs(d[0]) * s[0] + fabs(d[1]) * s[1] + fabs(d[2]) * s[2];
    case RB_GEOM_MESH:
        return rb_core_hull(shape, &poly) ? rb_poly_height(&poly, d, hint) : INFINITY;
    case RB_GEOM_PLANE:
    case RB_GEOM_HFIELD:
        break;
    }
    return INFINITY;
}

/* Separation of two convex shapes along n. */
static double separation(const rb_shape *a, const rb_shape *b, const double n[3], int hint[2])
{
    double r[3], back[3] = { -n[0], -n[1], -n[2] };
    rb_sub3(b->p, a->p, r);
    return rb_dot3(n, r) - extends(a, n, &hint[0]) - extends(b, back, &hint[1]);
}

/* The height of the lowest point above a plane. */
static double height(const rb_shape *plane, const rb_shape *shape, double n[3], int *hint)
{
    double r[3], down[3];
    for (int k = 0; k < 3; k++) n[k] = plane->R[3 * k + 2];
    rb_scale3(-1.0, n, down);
    rb_sub3(shape->p, plane->p, r);
    return rb_dot3(n, r) - extends(shape, down, hint);
}

/* Radius of a ball about its centre that contains the shape [m]. */
static double outer(const rb_shape *shape)
{
    int is_round = shape->type == RB_GEOM_SPHERE || shape->type == RB_GEOM_CAPSULE;
    return rb_bounds_arm(shape) + (is_round ? shape->size[0] : 0.0);
}

/* Gap of that ball to the box around a height field. */
static double gap_of_box(const rb_shape *field, const rb_shape *shape)
{
    const double *size = field->model->hfield_size + 4 * (ptrdiff_t)field->asset;
    double half[3] = { size[0], size[1], rb_larger(size[2], size[3]) }, r[3], x[3];
    rb_sub3(shape->p, field->p, r);
    rb_rot_t(field->R, r, x);
    for (int k = 0; k < 3; k++) x[k] = rb_larger(0.0, fabs(x[k]) - half[k]);
    return rb_norm3(x) - outer(shape);
}

static double keep(rb_keeper *k, int pair, double gap, const double *n)
{
    rb_kept_note(k, pair, gap, n, k->d->cache->kept[pair].near);
    return gap;
}

double rb_kept_measure(rb_keeper *k, int pair, double n[3])
{
    rb_kept_pair *kept = &k->d->cache->kept[pair];
    const int *geom = k->m->meet[pair].geom;
    rb_shape a = rb_geom_shape(k->m, k->d, geom[0]), b = rb_geom_shape(k->m, k->d, geom[1]);
    int field = a.type == RB_GEOM_HFIELD;
    rb_zero3(n);
    switch ((rb_kept_kind)kept->kind) {
    case RB_KEPT_NEVER:
    case RB_KEPT_ALWAYS:
        return -INFINITY;
    case RB_KEPT_PLANE1:
        return keep(k, pair, height(&a, &b, n, &kept->hint[1]), NULL);
    case RB_KEPT_PLANE2: {
        double gap = height(&b, &a, n, &kept->hint[0]);
        rb_scale3(-1.0, n, n);
        return keep(k, pair, gap, NULL);
    }
    case RB_KEPT_FIELD:
        return keep(k, pair, gap_of_box(field ? &a : &b, field ? &b : &a), NULL);
    case RB_KEPT_CONVEX:
    case RB_KEPT_SURFACE:
        break;
    }
    rb_rot(k->d->link_R + 9 * (ptrdiff_t)k->m->geom_link[geom[0]], kept->n, n);
    if (!(rb_dot3(n, n) > 0.5)) return -INFINITY;
    return keep(k, pair, separation(&a, &b, n, kept->hint), NULL);
}

double rb_kept_search(rb_keeper *k, int pair, double reach, double n[3])
{
    enum { FEW = 4, MOST = 32 };
    rb_kept_pair *kept = &k->d->cache->kept[pair];
    const int *geom = k->m->meet[pair].geom;
    rb_couple couple;
    rb_gjk gjk;
    if (kept->kind != RB_KEPT_CONVEX && kept->kind != RB_KEPT_SURFACE) return -INFINITY;
    rb_shape a = rb_geom_shape(k->m, k->d, geom[0]), b = rb_geom_shape(k->m, k->d, geom[1]);
    if (!rb_couple_make(&a, &b, &couple)) return -INFINITY;
    double radii = couple.core1.radius + couple.core2.radius;
    rb_gjk_begin(&couple, NULL, &gjk);
    for (int steps = FEW; steps <= MOST; steps += FEW) {
        rb_gjk_run(&couple, 0.0, steps, &gjk);
        double gap = gjk.lower - radii, most = gjk.distance - radii;
        if (gjk.overlap || gjk.steps < steps || most <= reach) break;
        if (gap > reach && gap > share * most) break;
    }
    rb_copy3(gjk.normal, n);
    return keep(k, pair, gjk.lower - radii, n);
}
