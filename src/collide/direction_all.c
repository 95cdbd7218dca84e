/* Every direction that can be the depth of two cores with edges. The difference of two polyhedra
 * has faces of three kinds: a face of one of them, and the parallelogram of an edge of each. On the
 * sphere of directions an edge is the arc between the normals of its two faces; such a
 * parallelogram is there where the arc of one crosses the reversed arc of the other. A cylinder
 * adds its two caps and has its axis as an edge that faces all around.
 *
 * Where a search that follows one polytope loses its way in rounding, on shapes that are a thousand
 * times longer than thick, this one cannot: it has no memory. It costs the product of the numbers
 * of edges. */
#include <math.h>
#include <stddef.h>

#include "collide/direction.h"
#include "collide/segment.h"
#include "math/vec3.h"

/* What triple products of unit vectors may have lost by rounding [1]. Larger: more pairs are judged
 * by their separation. */
static const double arc_rounding = 1e-12;

typedef struct edge {
    double u[3];       /* unit vector, axes of core 2                        */
    double a[3], b[3]; /* normals of its faces; not set where it is an axis  */
    int is_axis;
} edge;

static void consider(rb_couple *couple, const double n[3], rb_direction *best)
{
    double s = rb_couple_separation(couple, n);
    if (!(s > best->s)) return;
    best->s = s;
    best->exact = 1;
    rb_copy3(n, best->n);
}

static void try_faces(rb_couple *couple, const rb_core *core, double sign, rb_direction *best)
{
    double n[3];
    for (int f = 0; f < core->poly.nface; f++) {
        rb_rot(core->R, core->poly.plane + 4 * (ptrdiff_t)f, n);
        rb_scale3(sign, n, n);
        consider(couple, n, best);
    }
    if (core->kind != RB_CORE_CYLINDER) return;
    for (int end = -1; end <= 1; end += 2) {
        rb_core_axis(core, 2, n);
        rb_scale3(end, n, n);
        consider(couple, n, best);
    }
}

/* Entries of the loops of a polyhedron, or 1 for an axis. */
static int entries_of(const rb_core *core)
{
    const rb_poly *p = &core->poly;
    if (core->kind == RB_CORE_SEGMENT || core->kind == RB_CORE_CYLINDER) return 1;
    if (core->kind != RB_CORE_POLY) return 0;
    return p->loopadr[p->nface - 1] + p->loopnum[p->nface - 1] - p->first;
}

/* 0: the other entry of the same edge is used instead, or it has no length. */
static int edge_make(const rb_core *core, int entry, edge *e)
{
    const rb_poly *p = &core->poly;
    e->is_axis = core->kind != RB_CORE_POLY;
    if (e->is_axis) {
        e->u[0] = e->u[1] = 0.0;
        e->u[2] = 1.0;
        return 1;
    }
    entry += p->first;
    int twin = p->twin[entry];
    if (entry > twin) return 0;
    rb_sub3(p->vert + 3 * (ptrdiff_t)p->loop[twin], p->vert + 3 * (ptrdiff_t)p->loop[entry], e->u);
    rb_copy3(p->plane + 4 * (ptrdiff_t)p->owner[entry], e->a);
    rb_copy3(p->plane + 4 * (ptrdiff_t)p->owner[twin], e->b);
    return rb_unit(e->u) > 0.0;
}

static void turn(const double R[9], double x[3])
{
    double y[3];
    rb_copy3(x, y);
    rb_rot(R, y, x);
}

/* Whether the arc a b may cross the arc -c -d; an axis crosses what its great circle passes. */
static int arcs_may_cross(const edge *e, const edge *f)
{
    double ac = 0.0, bc = 0.0, ca = 0.0, da = 0.0;
    if (!e->is_axis) {
        ac = rb_dot3(e->a, f->u);
        bc = rb_dot3(e->b, f->u);
        if (ac * bc > arc_rounding) return 0;
    }
    if (!f->is_axis) {
        ca = rb_dot3(f->a, e->u);
        da = rb_dot3(f->b, e->u);
        if (ca * da > arc_rounding) return 0;
    }
    return 1;
}

static void try_pair(rb_couple *couple, const edge *e, const edge *f, rb_direction *best)
{
    double rest[3], m[3], n[3];
    rb_copy3(f->u, rest);
    rb_axpy3(rb_dot3(e->u, f->u) < 0.0 ? 1.0 : -1.0, e->u, rest);
    rb_cross3(e->u, rest, m);
    if (!(rb_unit(m) > 0.0)) return;
    rb_rot(couple->core2.R, m, n);
    for (int side = 0; side < 2; side++) {
        double outward = side ? -1.0 : 1.0;
        rb_scale3(outward, n, n);
        int facing = e->is_axis || outward * (rb_dot3(m, e->a) + rb_dot3(m, e->b)) > 0.0;
        facing = facing && (f->is_axis || outward * (rb_dot3(m, f->a) + rb_dot3(m, f->b)) < 0.0);
        if (facing) consider(couple, n, best);
    }
}

int rb_direction_all(rb_couple *couple, int pairs, rb_direction *best)
{
    const rb_core *core1 = &couple->core1, *core2 = &couple->core2;
    int n1 = entries_of(core1), n2 = entries_of(core2);
    double R[9];
    try_faces(couple, core1, 1.0, best);
    try_faces(couple, core2, -1.0, best);
    if ((double)n1 * n2 > (double)pairs) return 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0.0;
            for (int k = 0; k < 3; k++) R[3 * i + j] += core2->R[3 * k + i] * core1->R[3 * k + j];
        }
    }
    for (int i = 0; i < n1; i++) {
        edge e, f;
        if (!edge_make(core1, i, &e)) continue;
        turn(R, e.u);
        if (!e.is_axis) {
            turn(R, e.a);
            turn(R, e.b);
        }
        for (int j = 0; j < n2; j++) {
            if (edge_make(core2, j, &f) && arcs_may_cross(&e, &f)) try_pair(couple, &e, &f, best);
        }
    }
    return 1;
}
