#include "collide/triangle.h"

#include <math.h>
#include <stddef.h>

#include "collide/feature.h"
#include "math/vec3.h"

static const int tri_loopadr[2] = { 0, 3 }, tri_loopnum[2] = { 3, 3 };
static const int tri_loop[6] = { 0, 1, 2, 0, 2, 1 }, tri_twin[6] = { 5, 4, 3, 2, 1, 0 };
static const int tri_owner[6] = { 0, 0, 0, 1, 1, 1 }, tri_leave[3] = { 0, 1, 2 };
static const int tri_turn[6] = { 3, 5, 4, 0, 2, 1 };

/* The same with a point below it. */
static const int solid_loopadr[4] = { 0, 3, 6, 9 }, solid_loopnum[4] = { 3, 3, 3, 3 };
static const int solid_loop[12] = { 0, 1, 2, 0, 3, 1, 1, 3, 2, 2, 3, 0 };
static const int solid_twin[12] = { 5, 8, 11, 10, 6, 0, 4, 9, 1, 7, 3, 2 };
static const int solid_owner[12] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3 };
static const int solid_turn[12] = { 11, 5, 8, 0, 10, 6, 1, 4, 9, 2, 7, 3 };
static const int solid_leave[4] = { 0, 1, 2, 4 };

int rb_triangle_core(const rb_shape *surface, rb_triangle *t, rb_core *core)
{
    double a[3], b[3], centre[3], *vert = core->room, *plane = core->room + 24;
    rb_sub3(t->x[1], t->x[0], a);
    rb_sub3(t->x[2], t->x[0], b);
    rb_cross3(a, b, t->normal);
    if (!(rb_unit(t->normal) > 0.0)) return 0;
    for (int i = 0; i < 3; i++) centre[i] = (t->x[0][i] + t->x[1][i] + t->x[2][i]) / 3.0;
    core->extent = 0.0;
    for (int i = 0; i < 3; i++) {
        rb_sub3(t->x[i], centre, vert + 3 * i);
        core->extent = fmax(core->extent, rb_norm3(vert + 3 * i));
    }
    rb_copy3(t->normal, plane);
    plane[3] = rb_dot3(t->normal, vert);
    rb_scale3(-1.0, plane, plane + 4);
    plane[7] = -plane[3];
    core->kind = RB_CORE_POLY;
    core->radius = 0.0;
    core->R = surface->R;
    core->size = surface->size;
    core->hint = 0;
    rb_rot(core->R, centre, core->c);
    core->poly = (rb_poly){ .nvert = 3,
                            .nface = 2,
                            .vert = vert,
                            .plane = plane,
                            .loopadr = tri_loopadr,
                            .loopnum = tri_loopnum,
                            .loop = tri_loop,
                            .twin = tri_twin,
                            .owner = tri_owner,
                            .turn = tri_turn,
                            .leave = tri_leave };
    return 1;
}

void rb_triangle_solid(const rb_triangle *t, rb_core *core)
{
    double *vert = core->room, *plane = core->room + 24;
    rb_scale3(-core->extent, t->normal, vert + 9);
    for (int f = 1; f < 4; f++) {
        const int *loop = solid_loop + solid_loopadr[f];
        const double *x = vert + 3 * (ptrdiff_t)loop[0];
        double a[3], b[3];
        rb_sub3(vert + 3 * (ptrdiff_t)loop[1], x, a);
        rb_sub3(vert + 3 * (ptrdiff_t)loop[2], x, b);
        rb_cross3(a, b, plane + 4 * (ptrdiff_t)f);
        rb_unit(plane + 4 * (ptrdiff_t)f);
        plane[4 * f + 3] = rb_dot3(plane + 4 * (ptrdiff_t)f, x);
    }
    core->hint = 0;
    core->poly = (rb_poly){ .nvert = 4,
                            .nface = 4,
                            .vert = vert,
                            .plane = plane,
                            .loopadr = solid_loopadr,
                            .loopnum = solid_loopnum,
                            .loop = solid_loop,
                            .twin = solid_twin,
                            .owner = solid_owner,
                            .turn = solid_turn,
                            .leave = solid_leave };
}

int rb_grid_point(const rb_shape *surface, int row, int col, double x[3])
{
    const rb_model *m = surface->model;
    int field = surface->asset, nrow = m->hfield_nrow[field], ncol = m->hfield_ncol[field];
    const double *size = m->hfield_size + 4 * (ptrdiff_t)field;
    if (row < 0 || col < 0 || row >= nrow || col >= ncol) return 0;
    x[0] = size[0] * (2.0 * col / (ncol - 1) - 1.0);
    x[1] = size[1] * (2.0 * row / (nrow - 1) - 1.0);
    x[2] = size[2] * m->hfield_elev[m->hfield_adr[field] + row * ncol + col];
    return 1;
}

/* (G.23) across the edge i, which is a ridge; d in the frame of the surface. */
static int edge_frees(const rb_triangle *t, int i, const double d[3])
{
    double u[3], r[3];
    if (t->border[i]) return 1;
    rb_sub3(t->x[(i + 1) % 3], t->x[i], u);
    rb_unit(u);
    rb_sub3(t->beyond[i], t->x[i], r);
    rb_axpy3(-rb_dot3(r, u), u, r);
    rb_unit(r);
    if (rb_dot3(d, r) > RB_SEAM) return 0;
    double rise = rb_dot3(r, t->normal);
    return rise <= -RB_SEAM || (rise <= RB_SEAM && rb_dot3(d, t->normal) > 0.0);
}

/* Puts the direction to a neighbour of a corner into its ring. */
static void add_edge(rb_ring *ring, const double x[3], const double p[3])
{
    if (ring->n == RB_RING_MAX) return;
    rb_sub3(x, p, ring->r[ring->n]);
    rb_unit(ring->r[ring->n++]);
}

/* From behind the border, where there is one. */
static void grid_ring(const rb_shape *surface, const rb_triangle *t, int corner, rb_ring *ring)
{
    static const int around[6][2] = {
        { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, -1 }, { -1, -1 }, { -1, 0 }
    };
    int ncol = surface->model->hfield_ncol[surface->asset], first = 0;
    int row = t->corner[corner] / ncol, col = t->corner[corner] % ncol;
    double x[3];
    for (int i = 0; i < 6; i++) {
        if (!rb_grid_point(surface, row + around[i][0], col + around[i][1], x)) first = i + 1;
    }
    for (int i = first; i < first + 6; i++) {
        if (rb_grid_point(surface, row + around[i % 6][0], col + around[i % 6][1], x))
            add_edge(ring, x, t->x[corner]);
    }
    ring->closed = ring->n == 6;
}

/* Clockwise to a border or once around, and back. */
static void mesh_ring(const rb_shape *surface, const rb_triangle *t, int corner, rb_ring *ring)
{
    const rb_model *m = surface->model;
    int mesh = surface->asset, adr = m->mesh_faceadr[mesh];
    const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh], *p = t->x[corner];
    const int *face = m->mesh_face + 3 * (ptrdiff_t)adr, *twin = m->mesh_twin + 3 * (ptrdiff_t)adr;
    int first = 3 * t->id + corner, entry = first;
    for (int i = 0; i < RB_RING_MAX && twin[entry] >= 0; i++) { /* over the edge that leaves */
        entry = twin[entry] / 3 * 3 + (twin[entry] + 1) % 3;
        if (entry == first) break;
    }
    ring->closed = twin[entry] >= 0;
    for (first = entry; ring->n < RB_RING_MAX;) { /* over the edge that arrives */
        int f = entry / 3 * 3, before = f + (entry + 2) % 3;
        add_edge(ring, vert + 3 * (ptrdiff_t)face[f + (entry + 1) % 3], p);
        entry = twin[before];
        if (entry < 0) add_edge(ring, vert + 3 * (ptrdiff_t)face[before], p);
        if (entry < 0 || entry == first) return;
    }
}

void rb_corner_ring(const rb_shape *surface, const rb_triangle *t, int corner, rb_ring *ring)
{
    ring->n = 0;
    if (surface->type == RB_GEOM_HFIELD)
        grid_ring(surface, t, corner, ring);
    else
        mesh_ring(surface, t, corner, ring);
}

/* The edge that falls least from d is a ridge where d leads out, and lies in a valley where it
 * leads in. */
int rb_ring_frees(const rb_ring *ring, const double d[3])
{
    int high = 0;
    double normal[3];
    for (int i = 0; i < ring->n; i++) {
        if (rb_dot3(d, ring->r[i]) > RB_SEAM) return 0;
        if (rb_dot3(d, ring->r[i]) > rb_dot3(d, ring->r[high])) high = i;
    }
    if (!ring->closed && (high == 0 || high == ring->n - 1)) return 1;
    const double *before = ring->r[(high + ring->n - 1) % ring->n];
    rb_cross3(before, ring->r[high], normal);
    rb_unit(normal);
    double rise = rb_dot3(normal, ring->r[(high + 1) % ring->n]);
    return rise <= -RB_SEAM || (rise <= RB_SEAM && rb_dot3(d, normal) > 0.0);
}

int rb_triangle_frees(const rb_shape *surface, const rb_triangle *t, uint32_t half,
                      const double n[3])
{
    double d[3];
    int kind = (int)(half >> 14), which = (int)(half & 0x3fff);
    if (which > (kind == RB_FACE ? 0 : 2)) return 0; /* the back, or inside a solid */
    rb_rot_t(surface->R, n, d);
    if (kind == RB_FACE) return rb_dot3(d, t->normal) > 0.0;
    if (kind == RB_EDGE) return edge_frees(t, which, d);
    rb_ring ring;
    rb_corner_ring(surface, t, which, &ring);
    return rb_ring_frees(&ring, d);
}

int rb_triangle_allows(const rb_shape *surface, const rb_triangle *t, uint32_t half,
                       const double n[3])
{
    double d[3];
    rb_rot_t(surface->R, n, d);
    return rb_dot3(d, t->normal) >= -RB_SEAM && rb_triangle_frees(surface, t, half, n);
}

uint32_t rb_triangle_number(const rb_triangle *t, uint32_t half)
{
    int kind = (int)(half >> 14), which = (int)(half & 0x3fff);
    int id = kind == RB_FACE ? t->id : kind == RB_EDGE ? 3 * t->id + which : t->corner[which % 3];
    return rb_feature_half(kind, id & 0x3fff);
}

void rb_normal_beyond(const rb_triangle *t, int i, double n[3])
{
    double a[3], b[3];
    rb_sub3(t->x[i], t->x[(i + 1) % 3], a);
    rb_sub3(t->beyond[i], t->x[(i + 1) % 3], b);
    rb_cross3(a, b, n);
    rb_unit(n);
}
