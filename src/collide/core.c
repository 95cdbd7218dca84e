#include "collide/core.h"

#include <math.h>
#include <stddef.h>

#include "collide/box.h"
#include "collide/feature.h"
#include "collide/segment.h"
#include "math/vec3.h"

/* Polyhedra with more vertices are climbed, in smaller ones all are compared. */
enum { CLIMB_FROM = 24 };

/* ---- boxes ------------------------------------------------------------------------------------
 */

/* Faces in the order of rb_box_face_of, vertices as rb_box_vertex numbers them. */
static const int box_loopadr[6] = { 0, 4, 8, 12, 16, 20 };
static const int box_loopnum[6] = { 4, 4, 4, 4, 4, 4 };
static const int box_loop[24] = { 4, 6, 2, 0, 1, 3, 7, 5, 1, 5, 4, 0,
                                  2, 6, 7, 3, 2, 3, 1, 0, 4, 5, 7, 6 };
static const int box_twin[24] = { 23, 12, 19, 10, 17, 14, 21, 8, 7, 20, 3,  18,
                                  1,  22, 5,  16, 15, 4,  11, 2, 9, 6,  13, 0 };
static const int box_turn[24] = { 20, 13, 16, 11, 18, 15, 22, 9, 4,  21, 0,  19,
                                  2,  23, 6,  17, 12, 5,  8,  3, 10, 7,  14, 1 };
static const int box_owner[24] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2,
                                   3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5 };
static const int box_leave[8] = { 3, 4, 2, 5, 0, 7, 1, 6 };

/* Half sizes 1: signs of the vertices, and planes. */
static const double unit_vert[24] = { -1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                      -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1 };
static const double unit_plane[24] = { -1, 0, 0, 1, 1, 0, 0,  1, 0, -1, 0, 1,
                                       0,  1, 0, 1, 0, 0, -1, 1, 0, 0,  1, 1 };

const rb_poly rb_unit_box = { .nvert = 8,
                              .nface = 6,
                              .vert = unit_vert,
                              .plane = unit_plane,
                              .loopadr = box_loopadr,
                              .loopnum = box_loopnum,
                              .loop = box_loop,
                              .twin = box_twin,
                              .owner = box_owner,
                              .turn = box_turn,
                              .leave = box_leave };

static void make_box(const double h[3], rb_core *core)
{
    double *vert = core->room, *plane = core->room + 24;
    for (int v = 0; v < 8; v++) rb_box_vertex(h, v, vert + 3 * v);
    for (int f = 0; f < 6; f++) {
        rb_zero3(plane + 4 * f);
        plane[4 * f + f / 2] = f % 2 ? 1.0 : -1.0;
        plane[4 * f + 3] = h[f / 2];
    }
    core->kind = RB_CORE_POLY;
    core->extent = rb_norm3(h);
    core->poly = rb_unit_box;
    core->poly.vert = vert;
    core->poly.plane = plane;
}

/* ---- all shapes -------------------------------------------------------------------------------
 */

static int make_hull(const rb_shape *shape, rb_core *core)
{
    if (!rb_core_hull(shape, &core->poly)) return 0;
    core->kind = RB_CORE_POLY;
    core->extent = rb_norm3(shape->model->mesh_half + 3 * (ptrdiff_t)shape->asset);
    return 1;
}

int rb_core_make(const rb_shape *shape, const double origin[3], rb_core *core)
{
    const double *s = shape->size;
    rb_sub3(shape->p, origin, core->c);
    core->R = shape->R;
    core->size = s;
    core->radius = 0.0;
    core->hint = 0;
    core->poly.nvert = core->poly.nface = 0;
    switch ((rb_geom_type)shape->type) {
    case RB_GEOM_SPHERE:
        core->kind = RB_CORE_POINT;
        core->radius = s[0];
        core->extent = 0.0;
        return 1;
    case RB_GEOM_CAPSULE:
        core->kind = RB_CORE_SEGMENT;
        core->radius = s[0];
        core->extent = s[1];
        return 1;
    case RB_GEOM_CYLINDER:
        core->kind = RB_CORE_CYLINDER;
        core->extent = sqrt(s[0] * s[0] + s[1] * s[1]);
        return 1;
    case RB_GEOM_ELLIPSOID:
        core->kind = RB_CORE_ELLIPSOID;
        core->extent = rb_larger(s[0], rb_larger(s[1], s[2]));
        return 1;
    case RB_GEOM_BOX:
        make_box(s, core);
        return 1;
    case RB_GEOM_MESH:
        return make_hull(shape, core);
    case RB_GEOM_PLANE:
    case RB_GEOM_HFIELD:
        return 0;
    }
    return 0;
}

int rb_core_is_box(const rb_core *core)
{
    return core->kind == RB_CORE_POLY && core->poly.loop == box_loop;
}

/* ---- support ----------------------------------------------------------------------------------
 */

static int scan(const rb_poly *p, const double d[3])
{
    int best = 0;
    double most = rb_dot3(d, p->vert);
    for (int v = 1; v < p->nvert; v++) {
        double here = rb_dot3(d, p->vert + 3 * (ptrdiff_t)v);
        if (here <= most) continue;
        most = here;
        best = v;
    }
    return best;
}

/* From neighbour to neighbour while it rises: on a convex polyhedron the last one is the highest.
 */
static int climb(const rb_poly *p, const double d[3], int from)
{
    double most = rb_dot3(d, p->vert + 3 * (ptrdiff_t)from);
    for (int left = p->nvert; left > 0; left--) {
        const int *v = p->next + p->star[2 * from], *end = p->next + p->star[2 * from + 1];
        int best = from;
        for (; v < end; v++) {
            double here = rb_dot3(d, p->vert + 3 * (ptrdiff_t)*v);
            if (here <= most) continue;
            most = here;
            best = *v;
        }
        if (best == from) break;
        from = best;
    }
    return from;
}

double rb_poly_height(const rb_poly *p, const double d[3], int *vertex)
{
    int from = *vertex >= 0 && *vertex < p->nvert ? *vertex : 0;
    *vertex = p->nvert < CLIMB_FROM ? scan(p, d) : climb(p, d, from);
    return rb_dot3(d, p->vert + 3 * (ptrdiff_t)*vertex);
}

void rb_core_vertex(const rb_core *core, int vertex, double x[3])
{
    rb_rot(core->R, core->poly.vert + 3 * (ptrdiff_t)vertex, x);
    rb_add3(x, core->c, x);
}

/* Parts of a cylinder: 0 lower rim, 2 upper rim; of a segment: 0 and 2 its ends. */
static int support_curved(const rb_core *core, const double d[3], double y[3])
{
    const double *s = core->size;
    double end = d[2] < 0.0 ? -1.0 : 1.0;
    rb_zero3(y);
    if (core->kind == RB_CORE_POINT) return 0;
    if (core->kind == RB_CORE_ELLIPSOID) {
        double a[3] = { s[0] * d[0], s[1] * d[1], s[2] * d[2] };
        if (!(rb_unit(a) > 0.0)) return 0;
        for (int k = 0; k < 3; k++) y[k] = s[k] * a[k];
        return 0;
    }
    y[2] = end * s[1];
    if (core->kind == RB_CORE_CYLINDER) {
        double across = sqrt(d[0] * d[0] + d[1] * d[1]), over = s[0] / across;
        y[0] = across > 0.0 ? over * d[0] : s[0];
        y[1] = across > 0.0 ? over * d[1] : 0.0;
    }
    return end > 0.0 ? 2 : 0;
}

/* The vertex of the last support, or that of its cell where that is higher. */
static int start_of(const rb_poly *p, const double d[3], int hint)
{
    if (!p->aim) return hint;
    int aim = p->aim[rb_aim_of(d)];
    double here = rb_dot3(d, p->vert + 3 * (ptrdiff_t)hint);
    return rb_dot3(d, p->vert + 3 * (ptrdiff_t)aim) > here ? aim : hint;
}

int rb_core_support(rb_core *core, const double n[3], double x[3])
{
    double d[3], y[3];
    if (core->kind == RB_CORE_POINT) {
        rb_copy3(core->c, x);
        return 0;
    }
    rb_rot_t(core->R, n, d);
    if (core->kind == RB_CORE_POLY) {
        const rb_poly *p = &core->poly;
        if (p->loop == box_loop)
            core->hint = rb_box_vertex_at(d);
        else
            core->hint =
                p->nvert < CLIMB_FROM ? scan(p, d) : climb(p, d, start_of(p, d, core->hint));
        rb_core_vertex(core, core->hint, x);
        return core->hint;
    }
    int part = support_curved(core, d, y);
    rb_rot(core->R, y, x);
    rb_add3(x, core->c, x);
    return part;
}

int rb_core_corner(const rb_core *core, int id, double x[3])
{
    double y[3] = { 0.0, 0.0, id ? core->size[1] : -core->size[1] };
    if (core->kind == RB_CORE_POLY) {
        if (id < 0 || id >= core->poly.nvert) return 0;
        rb_core_vertex(core, id, x);
    } else if (core->kind == RB_CORE_SEGMENT) {
        if (id != 0 && id != 2) return 0;
        rb_rot(core->R, y, x);
        rb_add3(x, core->c, x);
    } else {
        if (core->kind != RB_CORE_POINT || id != 0) return 0;
        rb_copy3(core->c, x);
    }
    return 1;
}

int rb_core_aim(rb_core *core, const double n[3])
{
    const rb_poly *p = &core->poly;
    double d[3];
    if (core->kind != RB_CORE_POLY || p->nvert < CLIMB_FROM) return 0;
    rb_rot_t(core->R, n, d);
    if (p->aim) core->hint = p->aim[rb_aim_of(d)];
    return 1;
}

uint32_t rb_core_half_edge(const rb_poly *p, int entry)
{
    int twin = p->twin[entry], least = entry < twin ? entry : twin;
    return rb_feature_half(RB_EDGE, (least - p->first) & 0x3fff);
}
