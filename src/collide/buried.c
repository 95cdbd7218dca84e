/* A triangle detects only shapes in front of it. A shape behind all of them is inside a closed
 * mesh, and leaves it through the closest triangle:
 *
 *     gap = min over the shape of n.(x - p),     n = (p - c) / |p - c|                     (G.26)
 *
 * with p the point of the surface that is closest to the centre c of the shape; -(d + r) for a
 * sphere. A height field is solid down to its base, and p the foot of c on the triangle above it.
 */
#include "collide/buried.h"

#include <math.h>
#include <stddef.h>

#include "collide/segment.h"
#include "math/vec3.h"

typedef struct search {
    const rb_model *m;
    int mesh, adr;
    const double *c;
    int above, below; /* triangles over and under c                */
    double best;      /* squared distance of the closest one [m^2] */
    double out[3];
    int face;
} search;

static void corners(const search *s, int face, const double *x[3])
{
    const double *vert = s->m->mesh_vert + 3 * (ptrdiff_t)s->m->mesh_vertadr[s->mesh];
    const int *f = s->m->mesh_face + 3 * (ptrdiff_t)(s->adr + face);
    for (int i = 0; i < 3; i++) x[i] = vert + 3 * (ptrdiff_t)f[i];
}

/* ---- above and below ----------------------------------------------------------------------------
 */

/* Twice the area of c, a and b seen from above. The same number, but for its sign, from both sides
 * of an edge, so that what is over an edge is over one of its triangles. */
static double area(const double *c, const double *a, const double *b)
{
    if (a[0] > b[0] || (a[0] == b[0] && a[1] > b[1])) return -area(c, b, a);
    return (a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0]);
}

/* On which side of the edge c counts: one where it is on it, the other way round for the neighbour.
 */
static int is_left(const double *c, const double *a, const double *b)
{
    double twice = area(c, a, b);
    if (twice != 0.0) return twice > 0.0;
    return a[1] < b[1] || (a[1] == b[1] && a[0] > b[0]);
}

static void count(search *s, int face)
{
    const double *x[3];
    corners(s, face, x);
    int left = is_left(s->c, x[0], x[1]);
    if (is_left(s->c, x[1], x[2]) != left || is_left(s->c, x[2], x[0]) != left) return;
    double a[3], b[3], normal[3], r[3];
    rb_sub3(x[1], x[0], a);
    rb_sub3(x[2], x[0], b);
    rb_cross3(a, b, normal);
    if (normal[2] == 0.0) return;
    rb_sub3(x[0], s->c, r);
    if (rb_dot3(r, normal) / normal[2] > 0.0)
        s->above++;
    else
        s->below++;
}

static void count_within(search *s, int lo, int hi)
{
    int middle = lo + (hi - lo) / 2;
    if (hi - lo == 1) {
        count(s, s->m->mesh_order[s->adr + lo]);
        return;
    }
    const double *box = s->m->mesh_box + 6 * (ptrdiff_t)(s->adr + middle);
    for (int k = 0; k < 2; k++) {
        if (s->c[k] < box[k] || s->c[k] > box[3 + k]) return;
    }
    count_within(s, lo, middle);
    count_within(s, middle, hi);
}

/* ---- the way out --------------------------------------------------------------------------------
 */

static void try_point(search *s, int face, const double p[3])
{
    double r[3];
    rb_sub3(p, s->c, r);
    double square = rb_dot3(r, r);
    if (!(square < s->best)) return;
    s->best = square;
    s->face = face;
    rb_copy3(p, s->out);
}

static void try_side(search *s, int face, const double a[3], const double b[3])
{
    double u[3], r[3], p[3];
    rb_sub3(b, a, u);
    rb_sub3(s->c, a, r);
    double uu = rb_dot3(u, u), t = uu > 0.0 ? rb_dot3(r, u) / uu : 0.0;
    rb_copy3(a, p);
    rb_axpy3(t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t, u, p);
    try_point(s, face, p);
}

/* The foot of c where it is on the triangle, else the closest point of its sides. */
static void try_face(search *s, int face)
{
    const double *x[3];
    double a[3], b[3], normal[3], foot[3];
    corners(s, face, x);
    rb_sub3(x[1], x[0], a);
    rb_sub3(x[2], x[0], b);
    rb_cross3(a, b, normal);
    int over = rb_unit(normal) > 0.0;
    rb_sub3(s->c, x[0], foot);
    double height = rb_dot3(foot, normal);
    rb_copy3(s->c, foot);
    rb_axpy3(-height, normal, foot);
    for (int i = 0; i < 3; i++) {
        double side[3], r[3], inward[3];
        rb_sub3(x[(i + 1) % 3], x[i], side);
        rb_sub3(foot, x[i], r);
        rb_cross3(normal, side, inward);
        over = over && rb_dot3(inward, r) >= 0.0;
    }
    if (over) try_point(s, face, foot);
    for (int i = 0; i < 3 && !over; i++) try_side(s, face, x[i], x[(i + 1) % 3]);
}

static void search_within(search *s, int lo, int hi)
{
    int middle = lo + (hi - lo) / 2;
    if (hi - lo == 1) {
        try_face(s, s->m->mesh_order[s->adr + lo]);
        return;
    }
    const double *box = s->m->mesh_box + 6 * (ptrdiff_t)(s->adr + middle);
    double square = 0.0;
    for (int k = 0; k < 3; k++) {
        double beyond = fmax(0.0, fmax(box[k] - s->c[k], s->c[k] - box[3 + k]));
        square += beyond * beyond;
    }
    if (square > s->best) return;
    search_within(s, lo, middle);
    search_within(s, middle, hi);
}

int rb_is_under(const rb_model *m, int mesh, const double c[3])
{
    search s = { .m = m, .mesh = mesh, .adr = m->mesh_faceadr[mesh], .c = c };
    if (m->mesh_facenum[mesh] == 0) return 0;
    count_within(&s, 0, m->mesh_facenum[mesh]);
    return s.above % 2 == 1;
}

int rb_buried(const rb_model *m, int mesh, const double c[3], double out[3], int *face)
{
    search s = { .m = m, .mesh = mesh, .adr = m->mesh_faceadr[mesh], .c = c, .best = INFINITY };
    int nface = m->mesh_facenum[mesh];
    if (nface == 0) return 0;
    count_within(&s, 0, nface);
    if (s.above % 2 == 0 || s.below % 2 == 0) return 0;
    search_within(&s, 0, nface);
    rb_copy3(s.out, out);
    *face = s.face;
    return s.best > 0.0;
}

/* ---- grids --------------------------------------------------------------------------------------
 */

/* The triangle of a grid above or below a point. */
typedef struct cell {
    int row, col, half; /* half 0: the one of larger columns */
    double height;      /* over the frame of the grid [m]    */
    double slope[2];    /* along x and y [1]                 */
} cell;

/* 0: beyond the border. */
static int find_cell(const rb_model *m, int field, const double x[3], cell *at)
{
    int nrow = m->hfield_nrow[field], ncol = m->hfield_ncol[field];
    const double *size = m->hfield_size + 4 * (ptrdiff_t)field;
    double c = 0.5 * (x[0] / size[0] + 1.0) * (ncol - 1),
           r = 0.5 * (x[1] / size[1] + 1.0) * (nrow - 1);
    if (!(c >= 0.0 && r >= 0.0 && c <= ncol - 1 && r <= nrow - 1)) return 0;
    at->col = (int)rb_smaller(c, ncol - 2);
    at->row = (int)rb_smaller(r, nrow - 2);
    const double *z = m->hfield_elev + m->hfield_adr[field] + at->row * ncol + at->col;
    double a = c - at->col, b = r - at->row;
    at->half = a > b ? 0 : 1;
    double along = at->half ? z[ncol + 1] - z[ncol] : z[1] - z[0];
    double across = at->half ? z[ncol] - z[0] : z[ncol + 1] - z[1];
    double up = at->half ? b * across + a * along : a * along + b * across;
    at->height = size[2] * (z[0] + up);
    at->slope[0] = size[2] * along * 0.5 * (ncol - 1) / size[0];
    at->slope[1] = size[2] * across * 0.5 * (nrow - 1) / size[1];
    return 1;
}

double rb_grid_height(const rb_model *m, int field, const double x[3])
{
    cell at;
    return find_cell(m, field, x, &at) ? at.height : -INFINITY;
}

int rb_grid_buried(const rb_model *m, int field, const double c[3], double out[3], int *face)
{
    cell at;
    double base = m->hfield_size[4 * (ptrdiff_t)field + 3];
    if (!(c[2] > -base) || !find_cell(m, field, c, &at) || !(c[2] < at.height)) return 0;
    double n[3] = { -at.slope[0], -at.slope[1], 1.0 };
    rb_unit(n);
    rb_copy3(c, out);
    rb_axpy3((at.height - c[2]) * n[2], n, out);
    *face = 2 * (at.row * m->hfield_ncol[field] + at.col) + at.half;
    return 1;
}
