/* Each triangle near the convex shape is a flat polyhedron with one face that counts. What keeps a
 * box from catching on the seams of a floor: a contact at an edge or corner of a triangle counts
 * only if no neighbour leans towards the shape, that is, if the point is the closest of the whole
 * surface around it:
 *
 *     n.(x - p) <= 0      for the corners x beyond the edges that p lies on               (G.19)
 *
 * On a flat seam only n = normal of the face satisfies this. */
#include "collide/surface.h"

#include <math.h>
#include <stddef.h>

#include "base/constants.h"
#include "collide/bounds.h"
#include "collide/buried.h"
#include "collide/convex.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/patch.h"
#include "collide/segment.h"
#include "math/vec3.h"

/* Sine [1] by which a neighbour may lean towards the shape and still be flat. */
static const double seam = 1e-7;

typedef struct triangle {
    double x[3][3];      /* corners in the frame of the surface              */
    double beyond[3][3]; /* corner beyond the edge k, k + 1                  */
    int border[3];       /* there is none                                    */
    int id, corner[3];   /* numbers for features                             */
    double normal[3];
} triangle;

typedef struct walk {
    const rb_shape *surface, *convex;
    double reach;
    const rb_surface_motion *motion;
    rb_couple couple; /* core 2: the convex shape */
    int room, ngroup, full;
    rb_surface_group *groups;
} walk;

int rb_geom_is_surface(const rb_model *m, int g)
{
    return m->geom_type[g] == RB_GEOM_MESH && m->geom_link[g] == 0 &&
           m->mesh_facenum[m->geom_asset[g]] > 0 && !m->mesh_convex[m->geom_asset[g]];
}

int rb_surface_sort(const rb_surface_group *groups, int ngroup, rb_manifold_point *sorted)
{
    int n = 0;
    for (int i = 0; i < ngroup; i++) {
        for (int j = 0; j < groups[i].n; j++) {
            const rb_manifold_point *p = &groups[i].at[j];
            int k = n;
            while (k > 0 && sorted[k - 1].feature > p->feature) k--;
            if (k > 0 && sorted[k - 1].feature == p->feature) {
                if (p->gap < sorted[k - 1].gap) sorted[k - 1] = *p;
                continue;
            }
            for (int l = n++; l > k; l--) sorted[l] = sorted[l - 1];
            sorted[k] = *p;
        }
    }
    return n;
}

/* ---- one triangle -----------------------------------------------------------------------------
 */

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

/* About its centre, so that its own size decides what rounding is. 0: no area. */
static int make_core(const walk *k, triangle *t, rb_core *core)
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
    core->R = k->surface->R;
    core->size = k->surface->size;
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

/* The core of a triangle becomes a solid. */
static void make_solid(const triangle *t, rb_core *core)
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

/* A point of the grid; 0: beyond its border. */
static int grid_point(const walk *k, int row, int col, double x[3])
{
    const rb_model *m = k->surface->model;
    int field = k->surface->asset, nrow = m->hfield_nrow[field], ncol = m->hfield_ncol[field];
    const double *size = m->hfield_size + 4 * (ptrdiff_t)field;
    if (row < 0 || col < 0 || row >= nrow || col >= ncol) return 0;
    x[0] = size[0] * (2.0 * col / (ncol - 1) - 1.0);
    x[1] = size[1] * (2.0 * row / (nrow - 1) - 1.0);
    x[2] = size[2] * m->hfield_elev[m->hfield_adr[field] + row * ncol + col];
    return 1;
}

/* (G.19) across the edge i; d in the frame of the surface. */
static int edge_allows(const triangle *t, int i, const double d[3])
{
    double u[3], r[3];
    if (t->border[i]) return 1;
    rb_sub3(t->x[(i + 1) % 3], t->x[i], u);
    rb_unit(u);
    rb_sub3(t->beyond[i], t->x[i], r);
    rb_axpy3(-rb_dot3(r, u), u, r);
    rb_unit(r);
    return rb_dot3(d, r) <= seam;
}

/* One neighbour of a corner does not lean towards the shape. */
static int is_below(const double x[3], const double p[3], const double d[3])
{
    double r[3];
    rb_sub3(x, p, r);
    rb_unit(r);
    return rb_dot3(d, r) <= seam;
}

/* (G.19) for all neighbours of a point of the grid. */
static int grid_corner_allows(const walk *k, const triangle *t, int corner, const double d[3])
{
    static const int around[6][2] = {
        { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, -1 }, { -1, -1 }, { -1, 0 }
    };
    int ncol = k->surface->model->hfield_ncol[k->surface->asset];
    int row = t->corner[corner] / ncol, col = t->corner[corner] % ncol;
    for (int i = 0; i < 6; i++) {
        double x[3];
        if (!grid_point(k, row + around[i][0], col + around[i][1], x)) continue;
        if (!is_below(x, t->x[corner], d)) return 0;
    }
    return 1;
}

/* (G.19) for the ends of all edges that leave a corner of a mesh: one way around it and, where that
 * ends at a border, the other way. */
static int mesh_corner_allows(const walk *k, const triangle *t, int corner, const double d[3])
{
    enum { MOST_EDGES = 256 };
    const rb_model *m = k->surface->model;
    int mesh = k->surface->asset, adr = m->mesh_faceadr[mesh];
    const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    const int *face = m->mesh_face + 3 * (ptrdiff_t)adr, *twin = m->mesh_twin + 3 * (ptrdiff_t)adr;
    int first = 3 * t->id + corner, entry = first;
    for (int i = 0; i < MOST_EDGES; i++) { /* over the edge that arrives */
        int f = entry / 3 * 3, before = f + (entry + 2) % 3;
        if (!is_below(vert + 3 * (ptrdiff_t)face[f + (entry + 1) % 3], t->x[corner], d)) return 0;
        if (!is_below(vert + 3 * (ptrdiff_t)face[before], t->x[corner], d)) return 0;
        entry = twin[before];
        if (entry == first) return 1;
        if (entry < 0) break;
    }
    entry = first;
    for (int i = 0; i < MOST_EDGES; i++) { /* over the edge that leaves */
        int other = twin[entry];
        if (other < 0) break;
        int f = other / 3 * 3;
        entry = f + (other + 1) % 3;
        if (!is_below(vert + 3 * (ptrdiff_t)face[f + (entry + 1) % 3], t->x[corner], d)) return 0;
    }
    return 1;
}

/* Whether a contact at this part of the triangle, with normal n, is one of the whole surface. */
static int is_allowed(const walk *k, const triangle *t, uint32_t half, const double n[3])
{
    double d[3];
    int kind = (int)(half >> 14), which = (int)(half & 0x3fff);
    if (which > (kind == RB_FACE ? 0 : 2)) return 0; /* the back, or inside a solid */
    rb_rot_t(k->surface->R, n, d);
    if (rb_dot3(d, t->normal) < -seam) return 0;
    if (kind == RB_FACE) return rb_dot3(d, t->normal) > 0.0;
    if (kind == RB_EDGE) return edge_allows(t, which, d);
    return k->surface->type == RB_GEOM_HFIELD ? grid_corner_allows(k, t, which, d)
                                              : mesh_corner_allows(k, t, which, d);
}

/* The half of the id, from this triangle to the whole surface. */
static uint32_t number(const triangle *t, uint32_t half)
{
    int kind = (int)(half >> 14), which = (int)(half & 0x3fff);
    int id = kind == RB_FACE ? t->id : kind == RB_EDGE ? 3 * t->id + which : t->corner[which % 3];
    return rb_feature_half(kind, id & 0x3fff);
}

/* ---- groups of points -------------------------------------------------------------------------
 */

static void shrink(const walk *k, rb_surface_group *g)
{
    rb_points points;
    rb_manifold kept = { .most = RB_MANIFOLD_KEEP };
    points.n = g->n;
    for (int i = 0; i < g->n; i++) points.at[i] = g->at[i];
    double extent = k->couple.core2.extent + k->couple.core2.radius;
    rb_points_finish(&points, g->at[0].normal, INFINITY, rb_grain_of(extent, extent, 0.0), &kept);
    g->n = kept.n;
    for (int i = 0; i < kept.n; i++) g->at[i] = kept.point[i];
}

/* Puts the point to those of its plane. */
static void add_point(walk *k, const rb_manifold_point *p)
{
    double extent = k->couple.core2.extent + k->couple.core2.radius, near = RB_SAME_POINT * extent;
    for (int i = 0; i < k->ngroup; i++) {
        rb_surface_group *g = &k->groups[i];
        double r[3], turn[3];
        rb_sub3(p->pos1, g->at[0].pos1, r);
        rb_sub3(p->normal, g->at[0].normal, turn);
        if (fabs(rb_dot3(r, g->at[0].normal)) > near || rb_norm3(turn) > RB_SAME_POINT) continue;
        if (g->n == RB_GROUP_MAX) shrink(k, g);
        g->at[g->n++] = *p;
        return;
    }
    if (k->ngroup == k->room) {
        k->full = 1;
        return;
    }
    k->groups[k->ngroup].n = 1;
    k->groups[k->ngroup++].at[0] = *p;
}

/* ---- a triangle and the shape -----------------------------------------------------------------
 */

/* Whether the moving shape can reach the triangle: as rb_sweep_meets, tangents to a convex
 * distance (G.14). */
static int can_reach(walk *k, double gap, const double n[3])
{
    enum { MAX_TANGENTS = 24 };
    const rb_surface_motion *m = k->motion;
    double v[3], c[3], normal[3], t = 0.0, spread, first = gap;
    if (!m || gap <= 0.0) return 1;
    rb_sub3(m->convex.v, m->surface.v, v);
    spread = m->convex.spread + m->surface.spread;
    rb_copy3(k->couple.core2.c, c);
    rb_copy3(n, normal);
    int meets = 1;
    for (int i = 0; i < MAX_TANGENTS; i++) {
        double f = gap - spread * t, fall = spread - rb_dot3(normal, v);
        if (f <= RB_SAME_POINT * first) break;
        meets = fall > 0.0 && t + f / fall <= m->h;
        if (!meets) break;
        t += f / fall;
        rb_closest closest;
        rb_copy3(c, k->couple.core2.c);
        rb_axpy3(t, v, k->couple.core2.c);
        rb_closest_find(&k->couple, NULL, &closest);
        gap = closest.at.s - k->couple.core2.radius;
        rb_copy3(closest.at.n, normal);
    }
    rb_copy3(c, k->couple.core2.c);
    k->couple.seen = 0;
    return meets;
}

/* What is about as shallow as that. */
static double as_shallow(const walk *k, double depth)
{
    return 8.0 * fabs(depth) + RB_CLEAR * k->couple.scale;
}

/* The direction in which the triangle and the shape are seen: that of their gap where it is one of
 * the whole surface; where they overlap otherwise the normal of the face, if that is about as
 * shallow. */
static int choose_direction(walk *k, const triangle *t, rb_closest *closest)
{
    rb_extreme e;
    double nu[3], tie = RB_GAP_TIE * k->couple.scale;
    rb_rot(k->surface->R, t->normal, nu);
    rb_extreme_make(&k->couple.core1, closest->at.n, &e);
    if (is_allowed(k, t, e.half, closest->at.n)) return 1;
    if (closest->at.s > tie) return 0;
    double along = rb_couple_separation(&k->couple, nu);
    if (-along > as_shallow(k, closest->at.s)) return 0;
    closest->at.s = along;
    rb_copy3(nu, closest->at.n);
    return 1;
}

static void to_world(const walk *k, rb_manifold_point *p)
{
    rb_add3(p->pos1, k->surface->p, p->pos1);
    rb_add3(p->pos2, k->surface->p, p->pos2);
}

/* Of the triangle beyond edge i. */
static void normal_beyond(const triangle *t, int i, double n[3])
{
    double a[3], b[3];
    rb_sub3(t->x[i], t->x[(i + 1) % 3], a);
    rb_sub3(t->beyond[i], t->x[(i + 1) % 3], b);
    rb_cross3(a, b, n);
    rb_unit(n);
}

/* ---- valleys ----------------------------------------------------------------------------------
 */

/* Height of a grid at x and y; -INFINITY beyond its border. */
static double grid_height(const walk *k, const double x[3])
{
    const rb_model *m = k->surface->model;
    int field = k->surface->asset, nrow = m->hfield_nrow[field], ncol = m->hfield_ncol[field];
    const double *size = m->hfield_size + 4 * (ptrdiff_t)field;
    double c = 0.5 * (x[0] / size[0] + 1.0) * (ncol - 1),
           r = 0.5 * (x[1] / size[1] + 1.0) * (nrow - 1);
    if (!(c >= 0.0 && r >= 0.0 && c <= ncol - 1 && r <= nrow - 1)) return -INFINITY;
    int col = (int)rb_smaller(c, ncol - 2), row = (int)rb_smaller(r, nrow - 2);
    const double *z = m->hfield_elev + m->hfield_adr[field] + row * ncol + col;
    double a = c - col, b = r - row;
    double up = a > b ? a * (z[1] - z[0]) + b * (z[ncol + 1] - z[1])
                      : b * (z[ncol] - z[0]) + a * (z[ncol + 1] - z[ncol]);
    return size[2] * (z[0] + up);
}

static int is_buried(const walk *k, const double x[3])
{
    if (k->surface->type == RB_GEOM_HFIELD) return x[2] < grid_height(k, x);
    return rb_is_under(k->surface->model, k->surface->asset, x);
}

/* Whether x is in the solid, not less deep than that: planes next to a valley are not farther than
 * the surface. */
static int is_as_deep(const walk *k, const double x[3], double depth)
{
    double out[3];
    int face;
    if (k->surface->type == RB_GEOM_HFIELD) return grid_height(k, x) - x[2] >= depth;
    if (!rb_buried(k->surface->model, k->surface->asset, x, out, &face)) return 0;
    rb_sub3(out, x, out);
    return rb_norm3(out) >= (1.0 - RB_CLEAR) * depth;
}

/* Whether the foot of a vertex on the plane of the triangle is beyond some of its edges, all of
 * which lie in valleys. `up`: between the normals of the sides of these. */
static int is_beyond_valley(const triangle *t, const int valley[3], const double foot[3],
                            double far, double up[3])
{
    int any = 0;
    rb_copy3(t->normal, up);
    for (int i = 0; i < 3; i++) {
        double u[3], inward[3], r[3];
        rb_sub3(t->x[(i + 1) % 3], t->x[i], u);
        rb_cross3(t->normal, u, inward);
        rb_unit(inward);
        rb_sub3(foot, t->x[i], r);
        double inside = rb_dot3(inward, r);
        if (inside >= 0.0) continue;
        if (!valley[i] || inside < -far) return 0;
        normal_beyond(t, i, r);
        rb_add3(up, r, up);
        any = 1;
    }
    return any && rb_unit(up) > 0.0 && rb_dot3(up, t->normal) > RB_KINK;
}

/* Next to a valley what is free is above both planes: a vertex that comes to it stands over one of
 * its sides, and the other one stops it. So the plane of a triangle goes on beyond an edge to a
 * neighbour that rises from it, as long as it is under the surface there,
 *
 *     gap = n.(x - p),     the foot of x beyond edges in valleys, x - gap/(n.u) u buried   (G.29)
 *
 * with u between the normals of both sides. */
static void meet_valleys(walk *k, const triangle *t)
{
    rb_core *core = &k->couple.core2;
    int valley[3], any = 0;
    double nu[3];
    if (core->kind != RB_CORE_POLY) return;
    for (int i = 0; i < 3; i++) {
        double r[3];
        rb_sub3(t->beyond[i], t->x[i], r);
        valley[i] = !t->border[i] && rb_dot3(r, t->normal) > seam * rb_norm3(r);
        any |= valley[i];
    }
    if (!any) return;
    rb_rot(k->surface->R, t->normal, nu);
    double far = k->couple.core1.extent;
    for (int v = 0; v < core->poly.nvert; v++) {
        double x[3], y[3], foot[3], r[3], up[3];
        rb_core_vertex(core, v, x);
        rb_rot_t(k->surface->R, x, y);
        rb_sub3(y, t->x[0], r);
        double height = rb_dot3(r, t->normal);
        if (height > k->reach || height < -far) continue;
        rb_copy3(y, foot);
        rb_axpy3(-height, t->normal, foot);
        if (!is_beyond_valley(t, valley, foot, far, up)) continue;
        if (height < -RB_CLEAR * far && !is_as_deep(k, y, -height)) continue;
        rb_axpy3(-height / rb_dot3(up, t->normal) - RB_CLEAR * far, up, y);
        if (!is_buried(k, y)) continue;
        rb_manifold_point p = { .gap = height };
        p.feature = rb_feature(number(t, rb_feature_half(RB_FACE, 0)),
                               rb_feature_half(RB_VERTEX, v & 0x3fff));
        rb_copy3(nu, p.normal);
        rb_copy3(x, p.pos2);
        rb_copy3(x, p.pos1);
        rb_axpy3(-height, nu, p.pos1);
        to_world(k, &p);
        add_point(k, &p);
    }
}

/* ---- ridges -----------------------------------------------------------------------------------
 */

/* The edge i as a core of its own, where the triangle was. */
static void make_edge(walk *k, const triangle *t, int i)
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
static int arc_of(const walk *k, const triangle *t, int i, arc *a)
{
    double u[3], m[3], r[3];
    rb_sub3(t->x[(i + 1) % 3], t->x[i], u);
    rb_unit(u);
    rb_sub3(t->beyond[i], t->x[i], r);
    if (t->border[i])
        rb_cross3(u, t->normal, m);
    else if (rb_dot3(r, t->normal) < -seam * rb_norm3(r))
        normal_beyond(t, i, m);
    else
        return 0;
    rb_rot(k->surface->R, t->normal, a->n);
    rb_rot(k->surface->R, m, a->m);
    rb_rot(k->surface->R, u, a->u);
    return 1;
}

/* How the separation changes along the arc, at the share `at` of it: (u x n).w, w the corner at n.
 */
static double slope_of_arc(walk *k, const arc *a, double at, rb_direction *there)
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
static int best_of_arc(walk *k, const arc *a, rb_direction *best)
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

/* A shape across a ridge, whose way out of one triangle, or of what is behind it, is none of the
 * surface, being shorter past its corners: of the edge the best direction that counts. */
static void meet_ridge(walk *k, const triangle *t, int i, double most)
{
    arc a;
    rb_direction best;
    if (!arc_of(k, t, i, &a)) return;
    make_edge(k, t, i);
    if (!best_of_arc(k, &a, &best) || -best.s > most) return;
    if (best.s - k->couple.core2.radius > k->reach) return;
    const rb_extreme *e = rb_couple_extremes(&k->couple, best.n);
    const rb_core *edge = &k->couple.core1;
    rb_segment line = { .half = edge->size[1] };
    rb_copy3(edge->c, line.c);
    rb_core_axis(edge, 2, line.u);
    double foot[3], r[3];
    rb_sub3(e[1].x, line.c, r);
    if (fabs(rb_dot3(r, line.u)) > line.half) return;
    rb_segment_at(&line, rb_segment_foot(&line, e[1].x), foot);
    rb_manifold_point p = { .gap = best.s - k->couple.core2.radius };
    p.feature = rb_feature(number(t, rb_feature_half(RB_EDGE, i)), e[1].half & 0xffff);
    rb_copy3(best.n, p.normal);
    rb_copy3(foot, p.pos1);
    rb_copy3(foot, p.pos2);
    rb_axpy3(p.gap, best.n, p.pos2);
    to_world(k, &p);
    add_point(k, &p);
}

typedef enum outcome { NOTHING, POINTS, OVERLAPS } outcome;

/* Points of the core of the triangle, at most `most` deep; *depth becomes that of the core, below 0
 * where it is apart. OVERLAPS: one should touch, and none does. */
static outcome meet_core(walk *k, const triangle *t, double most, double *depth)
{
    rb_closest closest;
    rb_closest_find(&k->couple, NULL, &closest);
    double gap = closest.at.s - k->couple.core2.radius, near = RB_SAME_POINT * k->couple.scale;
    *depth = -closest.at.s;
    if (gap > k->reach) return NOTHING;
    outcome found = closest.at.s <= near ? OVERLAPS : NOTHING;
    if (-closest.at.s > most || !choose_direction(k, t, &closest)) return found;
    if (!can_reach(k, gap, closest.at.n)) return NOTHING;
    rb_manifold m = { .most = RB_MANIFOLD_KEEP };
    rb_contact_points(&k->couple, &closest, k->reach, 0, &m);
    for (int i = 0; i < m.n; i++) {
        rb_manifold_point *p = &m.point[i];
        if (!is_allowed(k, t, p->feature >> 16, p->normal)) continue;
        p->feature = rb_feature(number(t, p->feature >> 16), p->feature & 0xffff);
        to_world(k, p);
        add_point(k, p);
        if (p->gap <= near) found = POINTS;
    }
    return found;
}

/* The shortest way out of a triangle, which is thin, may lead through it or past its sides. None of
 * these is a way out of the surface; what stands behind the triangle tells the others. */
static void meet_triangle(walk *k, triangle *t)
{
    rb_core *core = &k->couple.core1;
    double nu[3], back[3], x[3], w[3];
    if (!make_core(k, t, core)) return;
    rb_sub3(k->couple.core2.c, core->c, w);
    k->couple.scale = fmax(rb_norm3(w), fmax(core->extent, k->couple.core2.extent));
    k->couple.scale = fmax(k->couple.scale, k->couple.core2.radius);

    /* in front of the plane within reach, and not behind it altogether */
    double radius = k->couple.core2.radius;
    rb_rot(core->R, t->normal, nu);
    rb_scale3(-1.0, nu, back);
    rb_core_support(&k->couple.core2, back, x);
    rb_sub3(x, core->c, x);
    if (rb_dot3(x, nu) - core->room[27] - radius > k->reach) return;
    rb_core_support(&k->couple.core2, nu, x);
    rb_sub3(x, core->c, x);
    if (rb_dot3(x, nu) - core->room[27] + radius < 0.0) return;

    meet_valleys(k, t);
    double depth, most;
    if (meet_core(k, t, INFINITY, &depth) != OVERLAPS) return;
    most = as_shallow(k, depth);
    make_solid(t, core);
    k->couple.seen = 0;
    if (meet_core(k, t, most, &depth) != OVERLAPS) return;
    for (int i = 0; i < 3; i++) meet_ridge(k, t, i, most);
}

/* ---- which triangles --------------------------------------------------------------------------
 */

typedef struct box {
    double lo[3], hi[3];
    double centre[3], far2; /* of the shape; squared distance beyond which nothing is in reach */
} box;

/* Around the shape and its reach, in the frame of the surface. */
static box box_in_surface(const walk *k)
{
    double R[9], p[3], half[3];
    box b;
    rb_shape shape = *k->convex;
    rb_mul33_t(k->surface->R, k->convex->R, R);
    rb_sub3(k->convex->p, k->surface->p, p);
    rb_rot_t(k->surface->R, p, p);
    shape.R = R;
    shape.p = p;
    rb_bounds_half(&shape, half);
    const rb_core *core = &k->couple.core2;
    double far = (core->extent + core->radius + k->reach) * (1.0 + RB_CLEAR);
    rb_rot_t(k->surface->R, core->c, b.centre);
    b.far2 = far * far;
    for (int i = 0; i < 3; i++) {
        double grow = (half[i] + k->reach) * (1.0 + RB_GAP_TIE) + RB_GAP_TIE * fabs(p[i]);
        b.lo[i] = p[i] - grow;
        b.hi[i] = p[i] + grow;
    }
    return b;
}

static int boxes_meet(const box *b, const double lo[3], const double hi[3])
{
    for (int i = 0; i < 3; i++) {
        if (b->lo[i] > hi[i] || b->hi[i] < lo[i]) return 0;
    }
    return 1;
}

/* What the box lo .. hi holds is beyond the reach of all points of the shape. */
static int is_far(const box *b, const double lo[3], const double hi[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        double out = fmax(0.0, fmax(lo[i] - b->centre[i], b->centre[i] - hi[i]));
        sum += out * out;
    }
    return sum > b->far2;
}

static void meet_mesh_face(walk *k, const box *b, int f)
{
    const rb_model *m = k->surface->model;
    int mesh = k->surface->asset;
    const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    const int *face = m->mesh_face + 3 * (ptrdiff_t)(m->mesh_faceadr[mesh] + f);
    const int *twin = m->mesh_twin + 3 * (ptrdiff_t)(m->mesh_faceadr[mesh] + f);
    triangle t = { .id = f };
    double lo[3], hi[3];
    for (int i = 0; i < 3; i++) {
        t.corner[i] = face[i];
        t.border[i] = twin[i] < 0;
        rb_copy3(vert + 3 * (ptrdiff_t)face[i], t.x[i]);
        if (t.border[i]) continue;
        const int *next = face + 3 * (ptrdiff_t)(twin[i] / 3 - f);
        rb_copy3(vert + 3 * (ptrdiff_t)next[(twin[i] + 2) % 3], t.beyond[i]);
    }
    for (int j = 0; j < 3; j++) {
        lo[j] = fmin(t.x[0][j], fmin(t.x[1][j], t.x[2][j]));
        hi[j] = fmax(t.x[0][j], fmax(t.x[1][j], t.x[2][j]));
    }
    if (boxes_meet(b, lo, hi) && !is_far(b, lo, hi)) meet_triangle(k, &t);
}

/* The tree of src/model/surfaces.c: lists of two and more have a box at their middle. */
static void walk_mesh(walk *k, const box *b, int lo, int hi)
{
    const rb_model *m = k->surface->model;
    int adr = m->mesh_faceadr[k->surface->asset], middle = lo + (hi - lo) / 2;
    if (hi - lo == 1) {
        meet_mesh_face(k, b, m->mesh_order[adr + lo]);
        return;
    }
    const double *node = m->mesh_box + 6 * (ptrdiff_t)(adr + middle);
    if (!boxes_meet(b, node, node + 3)) return;
    walk_mesh(k, b, lo, middle);
    walk_mesh(k, b, middle, hi);
}

static int any_overlaps(const walk *k)
{
    for (int i = 0; i < k->ngroup; i++) {
        for (int j = 0; j < k->groups[i].n; j++) {
            if (k->groups[i].at[j].gap < 0.0) return 1;
        }
    }
    return 0;
}

/* A shape that no triangle overlaps may be inside the mesh altogether (G.27). */
static void meet_inside(walk *k)
{
    rb_core *core = &k->couple.core2;
    double c[3], p[3], n[3], lowest[3];
    int face;
    rb_rot_t(k->surface->R, core->c, c);
    if (any_overlaps(k) || !rb_buried(k->surface->model, k->surface->asset, c, p, &face)) return;
    rb_sub3(p, c, n);
    rb_rot(k->surface->R, p, p);
    rb_rot(k->surface->R, n, n);
    if (!(rb_unit(n) > 0.0)) return;
    double back[3] = { -n[0], -n[1], -n[2] };
    int vertex = rb_core_support(core, back, lowest);
    rb_axpy3(-core->radius, n, lowest);
    rb_add3(lowest, k->surface->p, lowest);
    rb_add3(p, k->surface->p, p);
    rb_manifold_point point = { .feature =
                                    rb_feature(rb_feature_half(RB_FACE, face & 0x3fff),
                                               rb_feature_half(RB_VERTEX, vertex & 0x3fff)) };
    rb_copy3(n, point.normal);
    rb_copy3(lowest, point.pos2);
    rb_sub3(lowest, p, lowest);
    point.gap = rb_dot3(n, lowest);
    rb_copy3(point.pos2, point.pos1);
    rb_axpy3(-point.gap, n, point.pos1);
    add_point(k, &point);
}

/* Two triangles of a cell, cut along the diagonal from its first corner, as MuJoCo does. The second
 * three are the corners beyond their edges. */
static const int cell_corner[2][6][2] = {
    { { 0, 0 }, { 1, 1 }, { 1, 0 }, { 0, 1 }, { 2, 1 }, { 0, -1 } },
    { { 0, 0 }, { 0, 1 }, { 1, 1 }, { -1, 0 }, { 1, 2 }, { 1, 0 } }
};

/* x: corners of the cell by row and column. */
static void meet_half_cell(walk *k, const box *b, int row, int col, int half, double x[2][2][3])
{
    int ncol = k->surface->model->hfield_ncol[k->surface->asset];
    triangle t = { .id = 2 * (row * ncol + col) + half };
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int i = 0; i < 3; i++) {
        int r = cell_corner[half][i][0], c = cell_corner[half][i][1];
        rb_copy3(x[r][c], t.x[i]);
        t.corner[i] = (row + r) * ncol + col + c;
        for (int j = 0; j < 3; j++) {
            lo[j] = fmin(lo[j], x[r][c][j]);
            hi[j] = fmax(hi[j], x[r][c][j]);
        }
    }
    if (b->lo[2] > hi[2] || b->hi[2] < lo[2] || is_far(b, lo, hi)) return;
    for (int i = 0; i < 3; i++) {
        int r = row + cell_corner[half][3 + i][0], c = col + cell_corner[half][3 + i][1];
        t.border[i] = !grid_point(k, r, c, t.beyond[i]);
    }
    meet_triangle(k, &t);
}

static void meet_cell(walk *k, const box *b, int row, int col)
{
    double x[2][2][3], lo[3], hi[3];
    for (int i = 0; i < 4; i++) grid_point(k, row + i / 2, col + i % 2, x[i / 2][i % 2]);
    for (int j = 0; j < 3; j++) {
        lo[j] = fmin(fmin(x[0][0][j], x[0][1][j]), fmin(x[1][0][j], x[1][1][j]));
        hi[j] = fmax(fmax(x[0][0][j], x[0][1][j]), fmax(x[1][0][j], x[1][1][j]));
    }
    if (b->lo[2] > hi[2] || b->hi[2] < lo[2] || is_far(b, lo, hi)) return;
    for (int half = 0; half < 2; half++) meet_half_cell(k, b, row, col, half, x);
}

/* Cells that the interval lo .. hi of an axis touches. */
static void cells_of(double lo, double hi, double half, int count, int *from, int *to)
{
    double scale = (count - 1) / (2.0 * half), a = (lo + half) * scale, b = (hi + half) * scale;
    *from = a <= 0.0 ? 0 : a >= count - 1 ? count - 1 : (int)a;
    *to = b < 0.0 ? -1 : b >= count - 2 ? count - 2 : (int)b;
    if (a > count - 1) *from = count; /* beyond: nothing */
}

static void walk_grid(walk *k, const box *b)
{
    const rb_model *m = k->surface->model;
    int field = k->surface->asset, row0, row1, col0, col1;
    const double *size = m->hfield_size + 4 * (ptrdiff_t)field;
    cells_of(b->lo[1], b->hi[1], size[1], m->hfield_nrow[field], &row0, &row1);
    cells_of(b->lo[0], b->hi[0], size[0], m->hfield_ncol[field], &col0, &col1);
    for (int r = row0; r <= row1 && !k->full; r++) {
        for (int c = col0; c <= col1 && !k->full; c++) meet_cell(k, b, r, c);
    }
}

rb_status rb_surface_points(const rb_shape *surface, const rb_shape *convex, double reach,
                            const rb_surface_motion *motion, int room, rb_surface_group *groups,
                            int *ngroup)
{
    walk k = { .surface = surface,
               .convex = convex,
               .reach = reach,
               .motion = motion,
               .room = room,
               .groups = groups };
    *ngroup = 0;
    if (!surface->model || surface->asset < 0 || rb_is_surface(convex)) return RB_UNSUPPORTED;
    if (!rb_core_make(convex, surface->p, &k.couple.core2)) return RB_UNSUPPORTED;
    k.couple.curved = k.couple.core2.kind >= RB_CORE_CYLINDER;
    box b = box_in_surface(&k);
    if (surface->type == RB_GEOM_HFIELD) {
        walk_grid(&k, &b);
    } else if (surface->model->mesh_facenum[surface->asset] > 0) {
        walk_mesh(&k, &b, 0, surface->model->mesh_facenum[surface->asset]);
        meet_inside(&k);
    }
    for (int i = 0; i < k.ngroup; i++) shrink(&k, &groups[i]);
    *ngroup = k.ngroup;
    return k.full ? RB_TOO_LARGE : RB_OK;
}
