/* Shapes across the ridges of a surface. */
#include <math.h>

#include "collide/convex.h"
#include "collide/feature.h"
#include "collide/triangle.h"
#include "math/vec3.h"

/* The edge i as a core of its own, where the triangle was. */
static void make_edge(rb_walk *k, const rb_triangle *t, int i)
{
    rb_core *core = &k->couple.core1;
    const double *a = t->x[i], *b = t->x[(i + 1) % 3];
    double u[3], v[3], w[3], middle[3], *R = core->room, *size = core->room + 9;
    rb_sub3(b, a, u);
    rb_rot(k->surface->R, u, u);
    size[0] = size[2] = 0.0;
    size[1] = 0.5 * rb_unit(u);
    rb_orthogonal(u, v);
    rb_cross3(u, v, w);
    for (int j = 0; j < 3; j++) {
        middle[j] = 0.5 * (a[j] + b[j]);
        R[3 * j] = v[j];
        R[3 * j + 1] = w[j];
        R[3 * j + 2] = u[j];
    }
    core->kind = RB_CORE_SEGMENT;
    core->R = R;
    core->size = size;
    core->extent = size[1];
    rb_rot(k->surface->R, middle, core->c);
    k->couple.seen = 0;
}

/* Directions between the normals of the two sides of a ridge along u; world axes. */
typedef struct arc {
    double n[3], m[3], u[3];
} arc;

/* 0: edge i is no ridge. Beyond a border there is nothing: to the side of it. */
static int arc_of(const rb_walk *k, const rb_triangle *t, int i, arc *a)
{
    double u[3], m[3], r[3];
    rb_sub3(t->x[(i + 1) % 3], t->x[i], u);
    rb_unit(u);
    rb_sub3(t->beyond[i], t->x[i], r);
    if (t->border[i])
        rb_cross3(u, t->normal, m);
    else if (rb_dot3(r, t->normal) < -RB_SEAM * rb_norm3(r))
        rb_normal_beyond(t, i, m);
    else
        return 0;
    rb_rot(k->surface->R, t->normal, a->n);
    rb_rot(k->surface->R, m, a->m);
    rb_rot(k->surface->R, u, a->u);
    return 1;
}

/* How the separation changes along the arc, at the share `at` of it: (u x n).w, w the corner at n.
 */
static double slope_of_arc(rb_walk *k, const arc *a, double at, rb_direction *there)
{
    rb_corner corner;
    double turn[3];
    rb_scale3(1.0 - at, a->n, there->n);
    rb_axpy3(at, a->m, there->n);
    rb_unit(there->n);
    rb_cross3(a->u, there->n, turn);
    rb_couple_corner(&k->couple, there->n, &corner);
    there->s = rb_dot3(there->n, corner.w);
    return rb_dot3(turn, corner.w);
}

/* The best direction of an arc: the separation rises to it and falls. 0: it is at an end, that is,
 * of a face. */
static int best_of_arc(rb_walk *k, const arc *a, rb_direction *best)
{
    enum { HALVINGS = 60 };
    double lo = 0.0, hi = 1.0;
    if (slope_of_arc(k, a, lo, best) <= 0.0 || slope_of_arc(k, a, hi, best) >= 0.0) return 0;
    for (int i = 0; i < HALVINGS; i++) {
        double at = 0.5 * (lo + hi);
        if (slope_of_arc(k, a, at, best) > 0.0)
            lo = at;
        else
            hi = at;
    }
    return 1;
}

/* The half of a feature id, from the edge as a core to the triangle. */
static uint32_t half_of(uint32_t half, int i)
{
    switch (half & 0x3fff) {
    case 0:
        return rb_feature_half(RB_VERTEX, i);
    case 2:
        return rb_feature_half(RB_VERTEX, (i + 1) % 3);
    default:
        return rb_feature_half(RB_EDGE, i);
    }
}

/* A shape across a ridge, whose way out of one triangle, or of what is behind it, is none of the
 * surface, being shorter past its corners: of the edge the best direction that counts. */
void rb_meet_ridge(rb_walk *k, const rb_triangle *t, int i, double most)
{
    arc a;
    rb_closest closest = { .met = 0 };
    rb_manifold m = { .most = RB_MANIFOLD_KEEP };
    if (!arc_of(k, t, i, &a)) return;
    make_edge(k, t, i);
    if (!best_of_arc(k, &a, &closest.at) || -closest.at.s > most) return;
    rb_contact_points(&k->couple, &closest, k->reach, 0, &m);
    for (int j = 0; j < m.n; j++) {
        rb_manifold_point *p = &m.point[j];
        if (!rb_triangle_frees(k->surface, t, rb_feature_half(RB_EDGE, i), p->normal)) continue;
        p->feature =
            rb_feature(rb_triangle_number(t, half_of(p->feature >> 16, i)), p->feature & 0xffff);
        rb_walk_add(k, t, p);
    }
}
