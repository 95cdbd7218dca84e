#include "collide/extreme.h"

#include <stddef.h>

#include "base/constants.h"
#include "collide/feature.h"
#include "math/vec3.h"

/* Deviation of a face normal from d: the square of the chord, which resolves angles of 1e-8, where
 * the cosine is 1. */
static inline double off_face(const double normal[3], const double d[3], double facing)
{
    const double near = 1e-12;
    double r[3];
    if (facing < 1.0 - near) return 2.0 * (1.0 - facing);
    rb_sub3(normal, d, r);
    return rb_dot3(r, r);
}

/* The face at the vertex whose normal is nearest to d, and the edge that falls least; in the frame
 * of the core. Returns how many edges are as good as orthogonal to d. */
static int look_around(const rb_poly *p, const double d[3], rb_extreme *out)
{
    const double *x = p->vert + 3 * (ptrdiff_t)out->part;
    int first = p->leave[out->part], entry = first, sure = 0;
    double least = INFINITY;
    out->slope = INFINITY;
    do {
        const double *normal = p->plane + 4 * (ptrdiff_t)p->owner[entry];
        double facing = rb_dot3(d, normal), off = off_face(normal, d, facing), k[3];
        if (off < least) {
            least = off;
            out->facing = facing;
            out->face = p->owner[entry];
        }
        rb_sub3(p->vert + 3 * (ptrdiff_t)rb_poly_end(p, entry), x, k);
        rb_unit(k);
        double slope = -rb_dot3(d, k);
        if (slope <= RB_KINK_SURE) sure++;
        if (slope < out->slope) {
            out->slope = slope;
            out->edge = entry;
        }
        entry = rb_poly_turn(p, entry);
    } while (entry != first);
    return sure;
}

static void poly_extreme(rb_core *core, const double n[3], rb_extreme *out)
{
    const rb_poly *p = &core->poly;
    double d[3], y[3];
    out->part = rb_core_support(core, n, out->x);
    rb_rot_t(core->R, n, d);
    int sure = look_around(p, d, out);
    out->freedom = sure > 2 ? 2 : sure;
    out->half = sure == 0   ? rb_feature_half(RB_VERTEX, out->part & 0x3fff)
                : sure == 1 ? rb_core_half_edge(p, out->edge)
                            : rb_feature_half(RB_FACE, out->face & 0x3fff);
    if (sure != 1) return;
    rb_core_vertex(core, rb_poly_end(p, out->edge), y);
    rb_sub3(y, out->x, out->line.u);
    out->line.half = 0.5 * rb_unit(out->line.u);
    for (int k = 0; k < 3; k++) out->line.c[k] = 0.5 * (out->x[k] + y[k]);
}

static void axis_extreme(rb_core *core, const double n[3], rb_extreme *out)
{
    double u[3], m[3];
    out->part = rb_core_support(core, n, out->x);
    rb_core_axis(core, 2, u);
    double along = rb_dot3(u, n);
    rb_copy3(n, m);
    rb_axpy3(-along, u, m);
    double across = rb_unit(m);
    out->half = rb_feature_half(RB_CURVED, out->part);
    if (core->kind == RB_CORE_CYLINDER && across <= RB_KINK_SURE) {
        out->freedom = 2;
        out->face = along > 0.0;
        out->half = rb_feature_half(RB_FACE, along > 0.0);
    }
    if (fabs(along) > RB_KINK_SURE) return;
    out->freedom = 1;
    out->half = rb_feature_half(RB_CURVED, 1);
    rb_copy3(core->c, out->line.c);
    if (core->kind == RB_CORE_CYLINDER) rb_axpy3(core->size[0], m, out->line.c);
    rb_copy3(u, out->line.u);
    out->line.half = core->size[1];
}

void rb_extreme_make(rb_core *core, const double n[3], rb_extreme *out)
{
    out->freedom = 0;
    if (core->kind == RB_CORE_POLY) {
        poly_extreme(core, n, out);
    } else if (core->kind == RB_CORE_SEGMENT || core->kind == RB_CORE_CYLINDER) {
        axis_extreme(core, n, out);
    } else {
        out->part = rb_core_support(core, n, out->x);
        out->half = rb_feature_half(RB_CURVED, 0);
    }
}
