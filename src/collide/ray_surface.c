/* Rays against triangles: meshes by their tree of boxes, height fields cell by cell. */
#include <math.h>
#include <stddef.h>

#include "collide/ray.h"
#include "collide/triangle.h"
#include "math/vec3.h"

/* Corners seen along the ray, a_k - o. The ray passes inside where the three volumes u.(a_i x a_j)
 * have one sign. A side that two triangles share gives both the same number, as its corners are
 * taken in one order, so that no ray slips through between them. */
static double side_volume(const double u[3], const double a[3], const double b[3])
{
    double c[3];
    int swap = a[0] > b[0] || (a[0] == b[0] && (a[1] > b[1] || (a[1] == b[1] && a[2] > b[2])));
    if (swap)
        rb_cross3(b, a, c);
    else
        rb_cross3(a, b, c);
    return swap ? -rb_dot3(u, c) : rb_dot3(u, c);
}

static void meet_triangle(const rb_local_ray *ray, const double x[3][3], rb_crossing *best)
{
    double a[3][3], e[3], f[3], n[3];
    for (int i = 0; i < 3; i++) rb_sub3(x[i], ray->o, a[i]);
    double v0 = side_volume(ray->u, a[1], a[2]), v1 = side_volume(ray->u, a[2], a[0]),
           v2 = side_volume(ray->u, a[0], a[1]);
    int below = v0 < 0.0 || v1 < 0.0 || v2<0.0, above = v0> 0.0 || v1 > 0.0 || v2 > 0.0;
    if (below == above) return; /* beside it, or along it */
    rb_sub3(x[1], x[0], e);
    rb_sub3(x[2], x[0], f);
    rb_cross3(e, f, n);
    double rate = rb_dot3(n, ray->u);
    if (rate == 0.0) return;
    rb_crossing_take(best, rb_dot3(n, a[0]) / rate, n);
}

/* ---- meshes -----------------------------------------------------------------------------------
 */

/* Whether the ray enters a box before the nearest crossing; 1e-12 of its size more, so that
 * rounding hides no triangle. */
static int enters(const rb_local_ray *ray, const double *lo, const double *hi,
                  const rb_crossing *best)
{
    double t0 = 0.0, t1 = best->t >= 0.0 ? best->t : INFINITY;
    for (int i = 0; i < 3; i++) {
        double more = 1e-12 * (fabs(lo[i]) + fabs(hi[i]) + fabs(ray->o[i]));
        double a = lo[i] - more - ray->o[i], b = hi[i] + more - ray->o[i], u = ray->u[i];
        if (u == 0.0) {
            if (a > 0.0 || b < 0.0) return 0;
            continue;
        }
        double ta = (u > 0.0 ? a : b) / u, tb = (u > 0.0 ? b : a) / u;
        t0 = rb_larger(t0, ta);
        t1 = rb_smaller(t1, tb);
    }
    return t0 <= t1 * (1.0 + 1e-12);
}

static void walk(const rb_model *m, int mesh, int lo, int hi, const rb_local_ray *ray,
                 rb_crossing *best)
{
    int adr = m->mesh_faceadr[mesh], middle = lo + (hi - lo) / 2;
    if (hi - lo == 1) {
        const int *face = m->mesh_face + 3 * (ptrdiff_t)(adr + m->mesh_order[adr + lo]);
        const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
        double x[3][3];
        for (int i = 0; i < 3; i++) rb_copy3(vert + 3 * (ptrdiff_t)face[i], x[i]);
        meet_triangle(ray, (const double(*)[3])x, best);
        return;
    }
    const double *node = m->mesh_box + 6 * (ptrdiff_t)(adr + middle);
    if (!enters(ray, node, node + 3, best)) return;
    walk(m, mesh, lo, middle, ray, best);
    walk(m, mesh, middle, hi, ray, best);
}

void rb_ray_mesh(const rb_model *m, int mesh, const rb_local_ray *ray, rb_crossing *best)
{
    int nface = m->mesh_facenum[mesh];
    if (nface > 0) walk(m, mesh, 0, nface, ray, best);
}

/* ---- height fields ----------------------------------------------------------------------------
 */

typedef struct grid {
    rb_shape shape; /* for rb_grid_point                         */
    int nrow, ncol;
    const double *size;
    const rb_local_ray *ray;
    rb_crossing *best;
} grid;

/* The two triangles of a cell, cut along the diagonal from its first corner. */
static void meet_cell(const grid *g, int row, int col)
{
    double x[4][3], upper[3][3], lower[3][3];
    for (int i = 0; i < 4; i++) rb_grid_point(&g->shape, row + i / 2, col + i % 2, x[i]);
    for (int k = 0; k < 3; k++) {
        upper[0][k] = lower[0][k] = x[0][k];
        lower[1][k] = x[1][k];
        lower[2][k] = upper[1][k] = x[3][k];
        upper[2][k] = x[2][k];
    }
    meet_triangle(g->ray, (const double(*)[3])upper, g->best);
    meet_triangle(g->ray, (const double(*)[3])lower, g->best);
}

/* Cells of an axis that an interval of places on it touches, one more on either side. */
static void cells(double a, double b, double half, int count, int *from, int *to)
{
    double scale = (count - 1) / (2.0 * half), lo = (rb_smaller(a, b) + half) * scale - 1.0,
           hi = (rb_larger(a, b) + half) * scale + 1.0;
    *from = lo <= 0.0 ? 0 : lo >= count ? count : (int)lo;
    *to = hi < 0.0 ? -1 : hi >= count - 2 ? count - 2 : (int)hi;
}

/* Row by row, and in each row the columns that the ray passes over between t0 and t1. */
static void meet_top(const grid *g, double t0, double t1)
{
    const double *o = g->ray->o, *u = g->ray->u;
    double width = 2.0 * g->size[1] / (g->nrow - 1);
    int row0, row1, col0, col1;
    cells(o[1] + t0 * u[1], o[1] + t1 * u[1], g->size[1], g->nrow, &row0, &row1);
    for (int r = row0; r <= row1; r++) {
        double a = t0, b = t1;
        if (u[1] != 0.0) {
            double low = (-g->size[1] + (r - 1) * width - o[1]) / u[1];
            double high = (-g->size[1] + (r + 2) * width - o[1]) / u[1];
            a = rb_larger(t0, rb_smaller(low, high));
            b = rb_smaller(t1, rb_larger(low, high));
        }
        if (a > b) continue;
        cells(o[0] + a * u[0], o[0] + b * u[0], g->size[0], g->ncol, &col0, &col1);
        for (int c = col0; c <= col1; c++) meet_cell(g, r, c);
    }
}

/* Height of the border of the field at `along` on the side of an axis. */
static double border_height(const grid *g, int axis, int high, double along)
{
    int count = axis == 0 ? g->nrow : g->ncol, side = axis == 0 ? g->ncol : g->nrow;
    double half = g->size[1 - axis], x = (along + half) / (2.0 * half) * (count - 1), a[3], b[3];
    int i = x <= 0.0 ? 0 : x >= count - 2 ? count - 2 : (int)x, at = high ? side - 1 : 0;
    rb_grid_point(&g->shape, axis == 0 ? i : at, axis == 0 ? at : i, a);
    rb_grid_point(&g->shape, axis == 0 ? i + 1 : at, axis == 0 ? at : i + 1, b);
    return a[2] + (x - i) * (b[2] - a[2]);
}

/* Walls from the bottom to the border. */
static void meet_walls(const grid *g)
{
    const double *o = g->ray->o, *u = g->ray->u;
    for (int k = 0; k < 4; k++) {
        int axis = k / 2, high = k % 2, other = 1 - axis;
        double n[3] = { 0.0, 0.0, 0.0 };
        n[axis] = high ? 1.0 : -1.0;
        if (u[axis] == 0.0) continue;
        double t = (n[axis] * g->size[axis] - o[axis]) / u[axis];
        double along = o[other] + t * u[other], z = o[2] + t * u[2];
        if (fabs(along) > g->size[other] || z < -g->size[3]) continue;
        if (z <= border_height(g, axis, high, along)) rb_crossing_take(g->best, t, n);
    }
}

static void meet_bottom(const grid *g)
{
    static const double down[3] = { 0.0, 0.0, -1.0 };
    const double *o = g->ray->o, *u = g->ray->u;
    if (u[2] == 0.0) return;
    double t = (-g->size[3] - o[2]) / u[2];
    for (int i = 0; i < 2; i++)
        if (fabs(o[i] + t * u[i]) > g->size[i]) return;
    rb_crossing_take(g->best, t, down);
}

/* Where the ray is above the field, from 0 on: t0 > t1: nowhere. */
static void above_field(const grid *g, double *t0, double *t1)
{
    *t0 = 0.0;
    *t1 = INFINITY;
    double lo[3] = { -g->size[0], -g->size[1], 0.0 },
           hi[3] = { g->size[0], g->size[1], g->size[2] };
    for (int i = 0; i < 3; i++) {
        double more = 1e-9 * (hi[i] - lo[i]), u = g->ray->u[i];
        double a = lo[i] - more - g->ray->o[i], b = hi[i] + more - g->ray->o[i];
        if (u == 0.0 && (a > 0.0 || b < 0.0)) *t1 = -1.0;
        if (u == 0.0) continue;
        *t0 = rb_larger(*t0, (u > 0.0 ? a : b) / u);
        *t1 = rb_smaller(*t1, (u > 0.0 ? b : a) / u);
    }
}

void rb_ray_hfield(const rb_model *m, int field, const rb_local_ray *ray, rb_crossing *best)
{
    grid g = { .shape = { .type = RB_GEOM_HFIELD, .model = m, .asset = field },
               .nrow = m->hfield_nrow[field],
               .ncol = m->hfield_ncol[field],
               .size = m->hfield_size + 4 * (ptrdiff_t)field,
               .ray = ray,
               .best = best };
    double t0, t1;
    above_field(&g, &t0, &t1);
    if (t0 <= t1) meet_top(&g, t0, t1);
    meet_walls(&g);
    meet_bottom(&g);
}
