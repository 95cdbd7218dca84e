/* Sphere against a hull: the feature of the hull that is closest to the centre y, in the frame of
 * the hull. Inside, the way out is through the face whose plane is nearest, exactly. Outside, a
 * walk begins at the face whose plane is farthest below y and goes from a feature to a neighbour
 * that is closer, until y is in the Voronoi region of the feature: the walk of V-Clip with a point
 * (V.1). Where rounding goes in circles, or a direction has too few digits, rb_convex_pair takes
 * over. */
#include "base/constants.h"
#include "collide/core.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"
#include "math/vec3.h"

/* Hulls with more faces are left to the general method, which climbs; steps of a walk. */
enum { MOST_FACES = 400, MOST_STEPS = 32 };

typedef struct foot {
    double distance; /* signed [m]                         */
    double out[3];   /* unit, outward, frame of the hull   */
    uint32_t half;   /* names the feature                  */
} foot;

typedef enum step { GO_FACE, GO_EDGE, GO_VERTEX, FOUND, LOST } step;

static const double *vertex_of(const rb_poly *p, int v)
{
    return p->vert + 3 * (ptrdiff_t)v;
}

static int farthest_plane(const rb_poly *p, const double y[3])
{
    int best = 0;
    double most = -INFINITY;
    for (int f = 0; f < p->nface; f++) {
        const double *plane = p->plane + 4 * (ptrdiff_t)f;
        double height = rb_dot3(plane, y) - plane[3];
        if (height <= most) continue;
        most = height;
        best = f;
    }
    return best;
}

/* Over its vertices: its offset is that of merged facets. */
static double height_over(const rb_poly *p, int face, const double y[3])
{
    const double *normal = p->plane + 4 * (ptrdiff_t)face;
    double least = INFINITY, r[3];
    for (int i = 0; i < p->loopnum[face]; i++) {
        rb_sub3(y, vertex_of(p, p->loop[p->loopadr[face] + i]), r);
        least = rb_smaller(least, rb_dot3(normal, r));
    }
    return least;
}

/* How far y is inside the side `entry` of its face, times the length of that. */
static double inside_side(const rb_poly *p, int entry, const double y[3])
{
    const double *a = vertex_of(p, p->loop[entry]);
    double k[3], m[3], r[3];
    rb_sub3(vertex_of(p, rb_poly_end(p, entry)), a, k);
    rb_cross3(p->plane + 4 * (ptrdiff_t)p->owner[entry], k, m);
    rb_sub3(y, a, r);
    return rb_dot3(m, r);
}

static step leave_face(const rb_poly *p, const double y[3], int *at, foot *out)
{
    int adr = p->loopadr[*at], num = p->loopnum[*at], worst = -1;
    double least = 0.0;
    for (int i = adr; i < adr + num; i++) {
        double inside = inside_side(p, i, y);
        if (inside >= least) continue;
        least = inside;
        worst = i;
    }
    if (worst >= 0) {
        *at = worst;
        return GO_EDGE;
    }
    out->distance = height_over(p, *at, y);
    rb_copy3(p->plane + 4 * (ptrdiff_t)*at, out->out);
    out->half = rb_feature_half(RB_FACE, *at & 0x3fff);
    return out->distance > 0.0 ? FOUND : LOST;
}

static step leave_edge(const rb_poly *p, const double y[3], int *at, foot *out)
{
    int entry = *at, twin = p->twin[entry];
    const double *a = vertex_of(p, p->loop[entry]), *b = vertex_of(p, p->loop[twin]);
    double k[3], r[3];
    rb_sub3(b, a, k);
    rb_sub3(y, a, r);
    double along = rb_dot3(r, k), whole = rb_dot3(k, k);
    if (!(along > 0.0) || !(along < whole)) {
        *at = along > 0.0 ? p->loop[twin] : p->loop[entry];
        return GO_VERTEX;
    }
    for (int side = 0; side < 2; side++) {
        int own = side ? twin : entry;
        if (!(inside_side(p, own, y) > 0.0)) continue;
        *at = p->owner[own];
        return GO_FACE;
    }
    rb_copy3(r, out->out);
    rb_axpy3(-along / whole, k, out->out);
    rb_unit(k);
    out->distance = rb_unit_across(k, out->out); /* at both ends of a long edge as far */
    out->half = rb_core_half_edge(p, entry);
    return FOUND;
}

static step leave_vertex(const rb_poly *p, const double y[3], int *at, foot *out)
{
    const double *a = vertex_of(p, *at);
    int first = p->leave[*at], entry = first;
    double r[3], k[3];
    rb_sub3(y, a, r);
    do {
        rb_sub3(vertex_of(p, rb_poly_end(p, entry)), a, k);
        if (rb_dot3(r, k) > 0.0) {
            *at = entry;
            return GO_EDGE;
        }
        entry = rb_poly_turn(p, entry);
    } while (entry != first);
    rb_copy3(r, out->out);
    out->distance = rb_unit(out->out);
    out->half = rb_feature_half(RB_VERTEX, *at & 0x3fff);
    return FOUND;
}

/* 0: the walk got nowhere. */
static int walk(const rb_poly *p, const double y[3], int face, foot *out)
{
    step next = GO_FACE;
    int at = face;
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        if (next == GO_FACE)
            next = leave_face(p, y, &at, out);
        else if (next == GO_EDGE)
            next = leave_edge(p, y, &at, out);
        else
            next = leave_vertex(p, y, &at, out);
        if (next == FOUND) return 1;
        if (next == LOST) return 0;
    }
    return 0;
}

static int foot_of(const rb_core *core, const double y[3], foot *out)
{
    const rb_poly *p = &core->poly;
    int face = farthest_plane(p, y);
    double clear = RB_CLEAR * rb_larger(core->extent, rb_norm3(y));
    out->distance = height_over(p, face, y);
    if (out->distance <= 0.0) {
        rb_copy3(p->plane + 4 * (ptrdiff_t)face, out->out);
        out->half = rb_feature_half(RB_FACE, face & 0x3fff);
        return out->distance < -clear;
    }
    return walk(p, y, face, out) && out->distance > clear;
}

void rb_sphere_hull(const rb_shape *sphere, const rb_shape *hull, double reach, rb_manifold *out)
{
    rb_core core;
    double r = sphere->size[0], w[3], y[3], n[3];
    foot at;
    out->n = 0;
    if (!rb_core_make(hull, hull->p, &core)) return;
    rb_sub3(sphere->p, hull->p, w);
    if (rb_norm3(w) - core.extent - r > reach) return;
    rb_rot_t(hull->R, w, y);
    if (core.poly.nface > MOST_FACES || !foot_of(&core, y, &at)) {
        rb_convex_pair(sphere, hull, reach, out);
        return;
    }
    rb_rot(hull->R, at.out, n);
    rb_scale3(-1.0, n, n);
    out->n = rb_point_set(&out->point[0], reach, at.distance - r, sphere->p, r, n,
                          rb_feature(rb_feature_half(RB_CURVED, 0), at.half));
}
