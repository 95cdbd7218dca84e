#include "collide/patch.h"

#include <stddef.h>

#include "base/constants.h"
#include "collide/feature.h"
#include "math/vec3.h"

/* ---- polyhedra --------------------------------------------------------------------------------
 */

/* The face at a vertex that looks most along d, and the edge that rises least; in the frame of the
 * core. */
typedef struct around {
    int face, edge;
    double facing; /* cosine between d and the normal of the face */
    double slope;  /* sine of the angle by which the edge falls   */
    int sure;      /* edges that are as good as orthogonal to d   */
} around;

static around look_around(const rb_poly *p, int vertex, const double d[3])
{
    around a = { .face = 0, .edge = p->leave[vertex], .facing = -INFINITY, .slope = INFINITY };
    const double *x = p->vert + 3 * (ptrdiff_t)vertex;
    int first = p->leave[vertex], entry = first;
    do {
        double facing = rb_dot3(d, p->plane + 4 * (ptrdiff_t)p->owner[entry]), k[3];
        if (facing > a.facing) {
            a.facing = facing;
            a.face = p->owner[entry];
        }
        rb_sub3(p->vert + 3 * (ptrdiff_t)rb_poly_end(p, entry), x, k);
        rb_unit(k);
        double slope = -rb_dot3(d, k);
        if (slope <= RB_KINK_SURE) a.sure++;
        if (slope < a.slope) {
            a.slope = slope;
            a.edge = entry;
        }
        entry = rb_poly_turn(p, entry);
    } while (entry != first);
    return a;
}

static uint32_t half_of_vertex(int vertex)
{
    return rb_feature_half(RB_VERTEX, vertex & 0x3fff);
}

static uint32_t half_of_face(int face)
{
    return rb_feature_half(RB_FACE, face & 0x3fff);
}

static void add_corner(const rb_core *core, int entry, rb_patch *patch)
{
    const rb_poly *p = &core->poly;
    rb_core_vertex(core, p->loop[entry], patch->x[patch->n]);
    patch->corner[patch->n] = half_of_vertex(p->loop[entry]);
    patch->side[patch->n] = rb_core_half_edge(p, entry);
    patch->n++;
}

static void poly_patch(rb_core *core, const double n[3], rb_patch *patch)
{
    const rb_poly *p = &core->poly;
    double d[3], x[3];
    int vertex = rb_core_support(core, n, x);
    rb_rot_t(core->R, n, d);
    around a = look_around(p, vertex, d);
    if (a.facing >= RB_FACING) {
        int adr = p->loopadr[a.face], num = p->loopnum[a.face];
        int stride = (num + RB_PATCH_MAX - 1) / RB_PATCH_MAX;
        for (int i = 0; i < num; i += stride) add_corner(core, adr + i, patch);
        patch->face = half_of_face(a.face);
        rb_rot(core->R, p->plane + 4 * (ptrdiff_t)a.face, patch->normal);
        return;
    }
    if (a.slope > RB_KINK) {
        rb_copy3(x, patch->x[0]);
        patch->corner[0] = half_of_vertex(vertex);
        patch->n = 1;
        return;
    }
    int least = a.edge < p->twin[a.edge] ? a.edge : p->twin[a.edge];
    add_corner(core, least, patch);
    add_corner(core, p->twin[least], patch);
    rb_sub3(patch->x[1], patch->x[0], patch->axis);
    rb_unit(patch->axis);
}

static void poly_extreme(rb_core *core, const double n[3], rb_extreme *out)
{
    const rb_poly *p = &core->poly;
    double d[3], y[3];
    int vertex = rb_core_support(core, n, out->x);
    rb_rot_t(core->R, n, d);
    around a = look_around(p, vertex, d);
    out->freedom = a.sure > 2 ? 2 : a.sure;
    out->half = a.sure == 0   ? half_of_vertex(vertex)
                : a.sure == 1 ? rb_core_half_edge(p, a.edge)
                              : half_of_face(a.face);
    out->face = a.face;
    if (a.sure != 1) return;
    rb_core_vertex(core, rb_poly_end(p, a.edge), y);
    rb_sub3(y, out->x, out->line.u);
    out->line.half = 0.5 * rb_unit(out->line.u);
    for (int k = 0; k < 3; k++) out->line.c[k] = 0.5 * (out->x[k] + y[k]);
}

/* ---- cylinders and segments -------------------------------------------------------------------
 */

/* Four points fixed to the rim at the end that looks along n, and the one that is extreme. */
static void cap_patch(rb_core *core, const double n[3], double along, rb_patch *patch)
{
    double end = along < 0.0 ? -1.0 : 1.0, x[3];
    rb_core_axis(core, 2, patch->normal);
    rb_scale3(end, patch->normal, patch->normal);
    rb_copy3(core->c, patch->centre);
    rb_axpy3(core->size[1], patch->normal, patch->centre);
    patch->disc = core->size[0];
    patch->face = rb_feature_half(RB_FACE, end > 0.0);
    for (int k = 0; k < 4; k++) {
        rb_core_axis(core, k % 2, x);
        rb_scale3(k < 2 ? core->size[0] : -core->size[0], x, x);
        rb_add3(x, patch->centre, patch->x[k]);
        patch->corner[k] = rb_feature_half(RB_VERTEX, 4 * (end > 0.0) + k);
    }
    int part = rb_core_support(core, n, patch->x[4]);
    patch->corner[4] = rb_feature_half(RB_CURVED, part);
    patch->n = 5;
}

static void axis_patch(rb_core *core, const double n[3], rb_patch *patch)
{
    double u[3];
    rb_core_axis(core, 2, u);
    double along = rb_dot3(u, n), across = sqrt(rb_larger(0.0, 1.0 - along * along));
    if (core->kind == RB_CORE_CYLINDER && across < RB_KINK) {
        cap_patch(core, n, along, patch);
        return;
    }
    if (fabs(along) >= RB_KINK) {
        int part = rb_core_support(core, n, patch->x[0]);
        patch->corner[0] = rb_feature_half(RB_CURVED, part);
        patch->n = 1;
        return;
    }
    for (int end = 0; end < 2; end++) {
        rb_copy3(core->c, patch->x[end]);
        rb_axpy3(end ? core->size[1] : -core->size[1], u, patch->x[end]);
        patch->corner[end] = rb_feature_half(RB_CURVED, 2 * end);
        patch->side[end] = rb_feature_half(RB_CURVED, 1);
    }
    rb_copy3(u, patch->axis);
    if (core->kind == RB_CORE_CYLINDER) patch->tube = core->size[0];
    patch->n = 2;
}

static void axis_extreme(rb_core *core, const double n[3], rb_extreme *out)
{
    double u[3], m[3];
    int part = rb_core_support(core, n, out->x);
    rb_core_axis(core, 2, u);
    double along = rb_dot3(u, n);
    rb_copy3(n, m);
    rb_axpy3(-along, u, m);
    double across = rb_unit(m);
    out->half = rb_feature_half(RB_CURVED, part);
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

/* ---- all cores --------------------------------------------------------------------------------
 */

void rb_patch_make(rb_core *core, const double n[3], rb_patch *patch)
{
    patch->n = 0;
    patch->tube = patch->disc = 0.0;
    if (core->kind == RB_CORE_POLY) {
        poly_patch(core, n, patch);
    } else if (core->kind == RB_CORE_SEGMENT || core->kind == RB_CORE_CYLINDER) {
        axis_patch(core, n, patch);
    } else {
        rb_core_support(core, n, patch->x[0]);
        patch->corner[0] = rb_feature_half(RB_CURVED, 0);
        patch->n = 1;
    }
}

void rb_extreme_make(rb_core *core, const double n[3], rb_extreme *out)
{
    out->freedom = 0;
    if (core->kind == RB_CORE_POLY) {
        poly_extreme(core, n, out);
    } else if (core->kind == RB_CORE_SEGMENT || core->kind == RB_CORE_CYLINDER) {
        axis_extreme(core, n, out);
    } else {
        rb_core_support(core, n, out->x);
        out->half = rb_feature_half(RB_CURVED, 0);
    }
}
