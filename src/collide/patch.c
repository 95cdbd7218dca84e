#include "collide/patch.h"

#include <stddef.h>

#include "base/constants.h"
#include "collide/feature.h"
#include "math/vec3.h"

/* ---- polyhedra --------------------------------------------------------------------------------
 */

static uint32_t half_of_vertex(int vertex)
{
    return rb_feature_half(RB_VERTEX, vertex & 0x3fff);
}

static void add_corner(const rb_core *core, int entry, rb_patch *patch)
{
    const rb_poly *p = &core->poly;
    rb_core_vertex(core, p->loop[entry], patch->x[patch->n]);
    patch->corner[patch->n] = half_of_vertex(p->loop[entry]);
    patch->side[patch->n] = rb_core_half_edge(p, entry);
    patch->n++;
}

static void poly_patch(const rb_core *core, const rb_extreme *e, rb_patch *patch)
{
    const rb_poly *p = &core->poly;
    if (e->facing >= RB_FACING) {
        int adr = p->loopadr[e->face], num = p->loopnum[e->face];
        int stride = (num + RB_PATCH_MAX - 1) / RB_PATCH_MAX;
        for (int i = 0; i < num; i += stride) add_corner(core, adr + i, patch);
        patch->face = rb_feature_half(RB_FACE, e->face & 0x3fff);
        rb_rot(core->R, p->plane + 4 * (ptrdiff_t)e->face, patch->normal);
        return;
    }
    if (e->slope > RB_KINK) {
        rb_copy3(e->x, patch->x[0]);
        patch->corner[0] = half_of_vertex(e->part);
        patch->n = 1;
        return;
    }
    int least = e->edge < p->twin[e->edge] ? e->edge : p->twin[e->edge];
    add_corner(core, least, patch);
    add_corner(core, p->twin[least], patch);
    rb_sub3(patch->x[1], patch->x[0], patch->axis);
    rb_unit(patch->axis);
}

/* ---- cylinders and segments -------------------------------------------------------------------
 */

/* Four points fixed to the rim at the end that faces n, and the one that is extreme. */
static void cap_patch(const rb_core *core, const rb_extreme *e, double along, rb_patch *patch)
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
    rb_copy3(e->x, patch->x[4]);
    patch->corner[4] = rb_feature_half(RB_CURVED, e->part);
    patch->n = 5;
}

static void axis_patch(const rb_core *core, const double n[3], const rb_extreme *e, rb_patch *patch)
{
    double u[3];
    rb_core_axis(core, 2, u);
    double along = rb_dot3(u, n), across = sqrt(rb_larger(0.0, 1.0 - along * along));
    if (core->kind == RB_CORE_CYLINDER && across < RB_KINK) {
        cap_patch(core, e, along, patch);
        return;
    }
    if (fabs(along) >= RB_KINK) {
        rb_copy3(e->x, patch->x[0]);
        patch->corner[0] = rb_feature_half(RB_CURVED, e->part);
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

/* ---- all cores --------------------------------------------------------------------------------
 */

void rb_patch_make(const rb_core *core, const double n[3], const rb_extreme *e, rb_patch *patch)
{
    patch->n = 0;
    patch->tube = patch->disc = 0.0;
    if (core->kind == RB_CORE_POLY) {
        poly_patch(core, e, patch);
    } else if (core->kind == RB_CORE_SEGMENT || core->kind == RB_CORE_CYLINDER) {
        axis_patch(core, n, e, patch);
    } else {
        rb_copy3(e->x, patch->x[0]);
        patch->corner[0] = rb_feature_half(RB_CURVED, 0);
        patch->n = 1;
    }
}

/* ---- the nearest point ------------------------------------------------------------------------
 */

static double distance_of(const double x[3], const double y[3])
{
    double r[3];
    rb_sub3(x, y, r);
    return rb_norm3(r);
}

static void foot_on_disc(const rb_patch *disc, const double x[3], double foot[3])
{
    double r[3];
    rb_sub3(x, disc->centre, r);
    rb_axpy3(-rb_dot3(r, disc->normal), disc->normal, r);
    double far = rb_norm3(r);
    if (far > disc->disc) rb_scale3(disc->disc / far, r, r);
    rb_add3(disc->centre, r, foot);
}

static void foot_on_side(const double a[3], const double b[3], const double x[3], double foot[3])
{
    double u[3], r[3];
    rb_sub3(b, a, u);
    rb_sub3(x, a, r);
    double length = rb_unit(u), t = rb_dot3(r, u);
    rb_copy3(a, foot);
    if (length > 0.0) rb_axpy3(t < 0.0 ? 0.0 : t > length ? length : t, u, foot);
}

/* Whether x, seen along the normal of the face, is on the inner side of the side from a to b. */
static int is_within(const rb_patch *face, const double a[3], const double b[3], const double x[3])
{
    double u[3], r[3], m[3];
    rb_sub3(b, a, u);
    rb_sub3(x, a, r);
    rb_cross3(u, r, m);
    return rb_dot3(m, face->normal) >= 0.0;
}

double rb_patch_foot(const rb_patch *patch, const double x[3], double foot[3])
{
    if (patch->disc > 0.0) {
        foot_on_disc(patch, x, foot);
        return distance_of(x, foot);
    }
    double least = INFINITY;
    int inside = patch->n > 2;
    for (int i = 0; i < patch->n; i++) {
        const double *a = patch->x[i], *b = patch->x[(i + 1) % patch->n];
        double y[3];
        foot_on_side(a, b, x, y);
        inside = inside && is_within(patch, a, b, x);
        if (distance_of(x, y) >= least) continue;
        least = distance_of(x, y);
        rb_copy3(y, foot);
    }
    if (!inside) return least;
    double r[3];
    rb_sub3(x, patch->x[0], r);
    rb_copy3(x, foot);
    rb_axpy3(-rb_dot3(r, patch->normal), patch->normal, foot);
    return distance_of(x, foot);
}
