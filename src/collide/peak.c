/* Polyhedra on the corners of a surface. */
#include <math.h>
#include <stddef.h>

#include "collide/extreme.h"
#include "collide/feature.h"
#include "collide/triangle.h"
#include "math/vec3.h"

/* A corner p with the edges that leave it; world axes. */
typedef struct peak {
    double p[3];
    rb_ring ring;
    double best, n[3]; /* the shortest way out so far */
} peak;

/* What may be a way out along n: a point x of the shape is no deeper than the best so far. */
static int may_lead(const peak *at, const double n[3], const double x[3])
{
    double r[3];
    rb_sub3(x, at->p, r);
    double s = rb_dot3(n, r);
    return s >= 0.0 || s * s < at->best * at->best * rb_dot3(n, n);
}

/* Against n, and n itself: whether they count (G.23) and separate sooner. x: any point of the
 * shape. */
static void try_way(rb_core *core, peak *at, const double along[3], const double x[3])
{
    for (int side = -1; side <= 1; side += 2) {
        double n[3], back[3], low[3];
        rb_scale3(side, along, n);
        if (!may_lead(at, n, x)) continue;
        if (!(rb_unit(n) > 0.0)) return;
        if (!rb_ring_frees(&at->ring, n)) continue;
        rb_scale3(-1.0, n, back);
        rb_core_support(core, back, low);
        rb_sub3(low, at->p, low);
        if (!(rb_dot3(n, low) > at->best)) continue;
        at->best = rb_dot3(n, low);
        rb_copy3(n, at->n);
    }
}

/* The faces of the polyhedron. */
static void try_faces(rb_core *core, peak *at)
{
    for (int f = 0; f < core->poly.nface; f++) {
        double n[3], x[3];
        rb_rot(core->R, core->poly.plane + 4 * (ptrdiff_t)f, n);
        rb_core_vertex(core, core->poly.loop[core->poly.loopadr[f]], x);
        try_way(core, at, n, x);
    }
}

/* Its edges with those of the ring. */
static void try_edges(rb_core *core, peak *at)
{
    const rb_poly *poly = &core->poly;
    for (int f = 0; f < poly->nface; f++) {
        for (int l = poly->loopadr[f]; l < poly->loopadr[f] + poly->loopnum[f]; l++) {
            double a[3], b[3], n[3];
            if (l > poly->twin[l]) continue;
            rb_core_vertex(core, poly->loop[l], a);
            rb_core_vertex(core, rb_poly_end(poly, l), b);
            rb_sub3(b, a, b);
            for (int i = 0; i < at->ring.n; i++) {
                rb_cross3(at->ring.r[i], b, n);
                try_way(core, at, n, a);
            }
        }
    }
}

/* Planes through two edges of the ring. */
static void try_sides(rb_core *core, peak *at)
{
    for (int i = 0; i < at->ring.n; i++) {
        for (int j = 0; j < i; j++) {
            double n[3];
            rb_cross3(at->ring.r[i], at->ring.r[j], n);
            try_way(core, at, n, core->c);
        }
    }
}

/* How far a point is outside of one of the planes, or negative, how far inside of all [m]. */
static double outside(const rb_core *core, const double p[3])
{
    double r[3], most = -INFINITY;
    rb_sub3(p, core->c, r);
    rb_rot_t(core->R, r, r);
    for (int f = 0; f < core->poly.nface; f++) {
        const double *plane = core->poly.plane + 4 * (ptrdiff_t)f;
        most = fmax(most, rb_dot3(plane, r) - plane[3]);
    }
    return most;
}

/* Notes corners inside the shape, which the triangles around them share. */
static int is_known(rb_walk *k, int corner)
{
    for (int i = 0; i < k->npeak; i++) {
        if (k->peak[i] == corner) return 1;
    }
    if (k->npeak < RB_DEEP_MAX) k->peak[k->npeak++] = corner;
    return 0;
}

/* All directions that count at a corner p free the surface around it; the shortest way,
 *
 *     gap = max over n of min over the shape of n.(x - p),     n as in (G.23)             (G.25)
 *
 * is normal to a face of the polyhedron, to one of its edges and one of the ring, or to two of the
 * ring. */
void rb_meet_peak(rb_walk *k, const rb_triangle *t, int i, double most)
{
    rb_core *core = &k->couple.core2;
    peak at;
    if (core->kind != RB_CORE_POLY) return;
    rb_rot(k->surface->R, t->x[i], at.p);
    double away = outside(core, at.p);
    if (away > RB_AS_SHALLOW * most || -away > RB_PEAK_INSIDE * core->extent) return;
    if (away <= 0.0 && is_known(k, t->corner[i])) return;
    rb_corner_ring(k->surface, t, i, &at.ring);
    for (int j = 0; j < at.ring.n; j++) rb_rot(k->surface->R, at.ring.r[j], at.ring.r[j]);
    at.best = -INFINITY;
    try_sides(core, &at);
    if (!(at.best > -INFINITY)) return; /* no direction counts */
    try_faces(core, &at);
    try_edges(core, &at);
    if (!(at.best < 0.0)) return;                                                   /* it is free */
    if (away > 0.0 && (-at.best > most || away > RB_AS_SHALLOW * -at.best)) return; /* elsewhere */

    rb_extreme e;
    double back[3];
    rb_scale3(-1.0, at.n, back);
    rb_extreme_make(core, back, &e);
    rb_manifold_point p = { .gap = at.best };
    p.feature = rb_feature(rb_triangle_number(t, rb_feature_half(RB_VERTEX, i)), e.half & 0xffff);
    rb_copy3(at.n, p.normal);
    rb_copy3(at.p, p.pos1);
    rb_copy3(at.p, p.pos2);
    rb_axpy3(at.best, at.n, p.pos2);
    rb_walk_add(k, t, &p);
}
