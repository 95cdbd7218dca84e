/* Each triangle near the convex shape is a flat polyhedron with one face that counts. What keeps a
 * box from catching on the seams of a floor: a contact at an edge or corner of a triangle counts
 * only if no neighbour leans towards the shape, that is, if the point is the closest of the whole
 * surface around it:
 *
 *     n.(x - p) <= 0      for the corners x beyond the edges that p lies on               (G.23)
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
#include "collide/surface_far.h"
#include "collide/triangle.h"
#include "math/vec3.h"

static const double TRIANGLE_WORK = 20.0; /* units of rb_meter: 10 to 50 us a triangle */

int rb_geom_is_surface(const rb_model *m, int g)
{
    return m->geom_triangles[g];
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

/* ---- groups of points -------------------------------------------------------------------------
 */

static void shrink(const rb_walk *k, rb_surface_group *g)
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

/* What is less deep than that touches [m]. */
static double near_of(const rb_walk *k)
{
    return RB_SAME_POINT * (k->couple.core2.extent + k->couple.core2.radius);
}

/* Puts the point to those of its plane. */
static void put(rb_walk *k, const rb_manifold_point *p)
{
    double near = near_of(k);
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

/* Points that overlap wait until all are known. */
void rb_walk_add(rb_walk *k, const rb_triangle *t, const rb_manifold_point *p)
{
    rb_manifold_point point = *p;
    rb_add3(p->pos1, k->surface->p, point.pos1);
    rb_add3(p->pos2, k->surface->p, point.pos2);
    if (!t || p->gap > -near_of(k) || k->ndeep == RB_DEEP_MAX)
        put(k, &point);
    else
        k->deep[k->ndeep++] = (rb_deep_point){ .at = *t, .point = point };
}

/* ---- separating ------------------------------------------------------------------------------
 */

/* Whether the direction of a counts where b is, and separates from the triangle there sooner than
 * that of b. */
static int is_shorter(rb_walk *k, const rb_manifold_point *a, rb_deep_point *b)
{
    rb_extreme e;
    if (!rb_triangle_core(k->surface, &b->at, &k->couple.core1)) return 0;
    k->couple.seen = 0;
    rb_extreme_make(&k->couple.core1, a->normal, &e);
    if (!rb_triangle_frees(k->surface, &b->at, e.half, a->normal)) return 0;
    double s = rb_couple_separation(&k->couple, a->normal) - k->couple.core2.radius;
    return s > b->point.gap + near_of(k);
}

/* A place from which another point shows a shorter way out is no contact of its own. */
static void put_deep(rb_walk *k)
{
    int kept = 0;
    for (int i = 1; i < k->ndeep; i++) { /* the shallow ones first */
        rb_deep_point p = k->deep[i];
        int j = i;
        for (; j > 0 && k->deep[j - 1].point.gap < p.point.gap; j--) k->deep[j] = k->deep[j - 1];
        k->deep[j] = p;
    }
    for (int i = 0; i < k->ndeep; i++) {
        int j = 0;
        while (j < kept && !is_shorter(k, &k->deep[j].point, &k->deep[i])) j++;
        if (j < kept) continue;
        k->deep[kept++] = k->deep[i];
        put(k, &k->deep[i].point);
    }
}

/* ---- a triangle and the shape -----------------------------------------------------------------
 */

/* Whether the moving shape can reach the triangle: as rb_sweep_meets, tangents to a convex
 * distance (G.31). */
static int can_reach(rb_walk *k, double gap, const double n[3])
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
static double as_shallow(const rb_walk *k, double depth)
{
    return RB_AS_SHALLOW * fabs(depth) + RB_CLEAR * k->couple.scale;
}

/* The direction in which the triangle and the shape are seen: that of their gap where it is one of
 * the whole surface; where they overlap otherwise the normal of the face, if that is about as
 * shallow. */
static int choose_direction(rb_walk *k, const rb_triangle *t, rb_closest *closest)
{
    rb_extreme e;
    double nu[3], tie = RB_GAP_TIE * k->couple.scale;
    rb_rot(k->surface->R, t->normal, nu);
    rb_extreme_make(&k->couple.core1, closest->at.n, &e);
    if (rb_triangle_allows(k->surface, t, e.half, closest->at.n)) return 1;
    if (closest->at.s > tie) return 0;
    double along = rb_couple_separation(&k->couple, nu);
    if (-along > as_shallow(k, closest->at.s)) return 0;
    closest->at.s = along;
    rb_copy3(nu, closest->at.n);
    return 1;
}

typedef enum outcome { NOTHING, POINTS, OVERLAPS } outcome;

/* Points of the core of the triangle, at most `most` deep; *depth becomes that of the core, below 0
 * where it is apart. OVERLAPS: one should touch, and none does. */
static outcome meet_core(rb_walk *k, const rb_triangle *t, double most, double *depth)
{
    rb_closest closest;
    rb_closest_find(&k->couple, NULL, &closest);
    double gap = closest.at.s - k->couple.core2.radius, tie = RB_GAP_TIE * k->couple.scale;
    *depth = -closest.at.s;
    if (gap > k->reach) return NOTHING;
    outcome found = closest.at.s <= tie ? OVERLAPS : NOTHING;
    if (-closest.at.s > most || !choose_direction(k, t, &closest)) return found;
    if (!can_reach(k, gap, closest.at.n)) return NOTHING;
    rb_manifold m = { .most = RB_MANIFOLD_KEEP };
    rb_contact_points(&k->couple, &closest, k->reach, 0, &m);
    for (int i = 0; i < m.n; i++) {
        rb_manifold_point *p = &m.point[i];
        if (!rb_triangle_allows(k->surface, t, p->feature >> 16, p->normal)) continue;
        p->feature = rb_feature(rb_triangle_number(t, p->feature >> 16), p->feature & 0xffff);
        rb_walk_add(k, t, p);
        if (p->gap <= RB_SAME_POINT * k->couple.scale) found = POINTS;
    }
    return found;
}

/* The shortest displacement out of a triangle, which is thin, may go through it or past its sides,
 * where it does not leave the surface; what is behind the triangle decides the others. */
static void meet_triangle(rb_walk *k, rb_triangle *t)
{
    rb_core *core = &k->couple.core1;
    double nu[3], back[3], x[3], w[3];
    if (!rb_triangle_core(k->surface, t, core)) return;
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

    if (rb_walk_core_is_far(k, k->far)) return;
    if (k->motion && !rb_meter_add(k->motion->meter, RB_WORK_PAIR, TRIANGLE_WORK)) return;
    rb_meet_valleys(k, t);
    double depth, most;
    if (meet_core(k, t, INFINITY, &depth) != OVERLAPS) return;
    most = as_shallow(k, depth);
    rb_triangle_solid(t, core);
    k->couple.seen = 0;
    if (meet_core(k, t, most, &depth) != OVERLAPS) return;
    for (int i = 0; i < 3; i++) rb_meet_peak(k, t, i, most);
    for (int i = 0; i < 3; i++) rb_meet_ridge(k, t, i, most);
}

/* ---- which triangles --------------------------------------------------------------------------
 */

typedef struct box {
    double lo[3], hi[3];
    double centre[3], far2; /* of the shape; squared distance beyond which nothing is in reach */
} box;

/* Around the shape and its reach, in the frame of the surface. */
static box box_in_surface(const rb_walk *k)
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

static void meet_mesh_face(rb_walk *k, const box *b, int f)
{
    const rb_model *m = k->surface->model;
    int mesh = k->surface->asset;
    const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
    const int *face = m->mesh_face + 3 * (ptrdiff_t)(m->mesh_faceadr[mesh] + f);
    const int *twin = m->mesh_twin + 3 * (ptrdiff_t)(m->mesh_faceadr[mesh] + f);
    rb_triangle t = { .id = f };
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
static void walk_mesh(rb_walk *k, const box *b, int lo, int hi)
{
    enum { FEW = 4 }; /* triangles that are examined rather than their box */
    const rb_model *m = k->surface->model;
    int adr = m->mesh_faceadr[k->surface->asset], middle = lo + (hi - lo) / 2;
    if (hi - lo == 1) {
        meet_mesh_face(k, b, m->mesh_order[adr + lo]);
        return;
    }
    const double *node = m->mesh_box + 6 * (ptrdiff_t)(adr + middle);
    if (!boxes_meet(b, node, node + 3) || is_far(b, node, node + 3)) return;
    if (hi - lo >= FEW && rb_walk_box_is_far(k, node, node + 3, k->far)) return;
    walk_mesh(k, b, lo, middle);
    walk_mesh(k, b, middle, hi);
}

static int any_overlaps(const rb_walk *k)
{
    if (k->ndeep > 0) return 1;
    for (int i = 0; i < k->ngroup; i++) {
        for (int j = 0; j < k->groups[i].n; j++) {
            if (k->groups[i].at[j].gap < 0.0) return 1;
        }
    }
    return 0;
}

/* Whether c is inside the solid; p, then: the nearest point of its surface. */
static int is_inside(const rb_shape *surface, const double c[3], double p[3], int *face)
{
    if (surface->type == RB_GEOM_HFIELD)
        return rb_grid_buried(surface->model, surface->asset, c, p, face);
    return rb_buried(surface->model, surface->asset, c, p, face);
}

/* A shape that no triangle overlaps may be inside the solid altogether (G.26). */
static void meet_inside(rb_walk *k)
{
    rb_core *core = &k->couple.core2;
    double c[3], p[3], n[3], lowest[3];
    int face;
    rb_rot_t(k->surface->R, core->c, c);
    if (any_overlaps(k) || !is_inside(k->surface, c, p, &face)) return;
    rb_sub3(p, c, n);
    rb_rot(k->surface->R, p, p);
    rb_rot(k->surface->R, n, n);
    if (!(rb_unit(n) > 0.0)) return;
    double back[3] = { -n[0], -n[1], -n[2] };
    int vertex = rb_core_support(core, back, lowest);
    rb_axpy3(-core->radius, n, lowest);
    rb_manifold_point point = { .feature =
                                    rb_feature(rb_feature_half(RB_FACE, face & 0x3fff),
                                               rb_feature_half(RB_VERTEX, vertex & 0x3fff)) };
    rb_copy3(n, point.normal);
    rb_copy3(lowest, point.pos2);
    rb_sub3(lowest, p, lowest);
    point.gap = rb_dot3(n, lowest);
    rb_copy3(point.pos2, point.pos1);
    rb_axpy3(-point.gap, n, point.pos1);
    rb_walk_add(k, NULL, &point);
}

/* Two triangles of a cell, cut along the diagonal from its first corner, as MuJoCo does. The second
 * three are the corners beyond their edges. */
static const int cell_corner[2][6][2] = {
    { { 0, 0 }, { 1, 1 }, { 1, 0 }, { 0, 1 }, { 2, 1 }, { 0, -1 } },
    { { 0, 0 }, { 0, 1 }, { 1, 1 }, { -1, 0 }, { 1, 2 }, { 1, 0 } }
};

/* x: corners of the cell by row and column. */
static void meet_half_cell(rb_walk *k, const box *b, int row, int col, int half, double x[2][2][3])
{
    int ncol = k->surface->model->hfield_ncol[k->surface->asset];
    rb_triangle t = { .id = 2 * (row * ncol + col) + half };
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
        t.border[i] = !rb_grid_point(k->surface, r, c, t.beyond[i]);
    }
    meet_triangle(k, &t);
}

static void meet_cell(rb_walk *k, const box *b, int row, int col)
{
    double x[2][2][3], lo[3], hi[3];
    for (int i = 0; i < 4; i++)
        rb_grid_point(k->surface, row + i / 2, col + i % 2, x[i / 2][i % 2]);
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

static void walk_grid(rb_walk *k, const box *b)
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
    rb_deep_point deep[RB_DEEP_MAX];
    rb_walk k = { .surface = surface,
                  .convex = convex,
                  .reach = reach,
                  .motion = motion,
                  .room = room,
                  .groups = groups,
                  .deep = deep };
    *ngroup = 0;
    if (!surface->model || surface->asset < 0 || rb_is_surface(convex)) return RB_UNSUPPORTED;
    if (!rb_core_make(convex, surface->p, &k.couple.core2)) return RB_UNSUPPORTED;
    k.couple.curved = k.couple.core2.kind >= RB_CORE_CYLINDER;
    k.couple.enough = INFINITY;
    k.far = rb_walk_far(&k);
    box b = box_in_surface(&k);
    if (surface->type == RB_GEOM_HFIELD) {
        walk_grid(&k, &b);
        meet_inside(&k);
    } else if (surface->model->mesh_facenum[surface->asset] > 0) {
        if (rb_walk_hull_is_far(&k, reach + k.couple.core2.radius)) return RB_OK;
        walk_mesh(&k, &b, 0, surface->model->mesh_facenum[surface->asset]);
        meet_inside(&k);
    }
    put_deep(&k);
    for (int i = 0; i < k.ngroup; i++) shrink(&k, &groups[i]);
    *ngroup = k.ngroup;
    return k.full ? RB_TOO_LARGE : RB_OK;
}
