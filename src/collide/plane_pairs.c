/* Plane against everything convex: the lowest points (G.6). The normal is that of the plane and
 * constant, so the gap of a vertex is exact for any motion. */
#include <stdint.h>

#include "base/constants.h"
#include "collide/box.h"
#include "collide/core.h"
#include "collide/feature.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/segment.h"

typedef struct half_space {
    const double *o; /* a point of the plane */
    double n[3];
} half_space;

static half_space half_space_of(const rb_shape *plane)
{
    const double *R = plane->R;
    return (half_space){ .o = plane->p, .n = { R[2], R[5], R[8] } };
}

static double height(const half_space *s, const double x[3])
{
    double r[3];
    rb_sub3(x, s->o, r);
    return rb_dot3(r, s->n);
}

/* The point x of the other shape, at the given height. */
static void add(rb_points *points, const half_space *s, double gap, const double x[3],
                uint32_t half2)
{
    double foot[3];
    rb_copy3(x, foot);
    rb_axpy3(-gap, s->n, foot);
    rb_points_add(points, gap, foot, s->n, rb_feature(rb_feature_half(RB_FACE, 0), half2));
    rb_copy3(x, points->at[points->n - 1].pos2);
}

static void keep_one(const rb_points *points, double reach, rb_manifold *out)
{
    out->n = points->at[0].gap <= reach;
    out->point[0] = points->at[0];
}

void rb_plane_sphere(const rb_shape *plane, const rb_shape *sphere, double reach, rb_manifold *out)
{
    half_space s = half_space_of(plane);
    rb_points points;
    points.n = 0;
    double r = sphere->size[0], x[3];
    rb_copy3(sphere->p, x);
    rb_axpy3(-r, s.n, x);
    add(&points, &s, height(&s, sphere->p) - r, x, rb_feature_half(RB_CURVED, 0));
    keep_one(&points, reach, out);
}

void rb_plane_capsule(const rb_shape *plane, const rb_shape *capsule, double reach,
                      rb_manifold *out)
{
    half_space s = half_space_of(plane);
    rb_segment axis = rb_capsule_axis(capsule);
    rb_points points;
    points.n = 0;
    double r = capsule->size[0];
    for (int end = -1; end <= 1; end += 2) {
        double x[3];
        rb_segment_at(&axis, end * axis.half, x);
        double gap = height(&s, x) - r;
        rb_axpy3(-r, s.n, x);
        add(&points, &s, gap, x, rb_feature_half(RB_CURVED, end + 1));
    }
    rb_points_finish(&points, s.n, reach, rb_grain_of(r + axis.half, r + axis.half, 0.0), out);
}

/* The four lowest vertices. Seen along the normal they are the lowest face, or the lowest vertex
 * with its three neighbours where that face is steep. */
void rb_plane_box(const rb_shape *plane, const rb_shape *box, double reach, rb_manifold *out)
{
    half_space s = half_space_of(plane);
    const double *h = box->size;
    double d[3], lift[3], sign[3];
    rb_rot_t(box->R, s.n, d);
    for (int k = 0; k < 3; k++) {
        sign[k] = -rb_sign_of(d[k]);
        lift[k] = 2.0 * h[k] * fabs(d[k]);
    }
    int lowest = rb_box_vertex_at(sign);

    int steep = 0;
    for (int k = 1; k < 3; k++) {
        if (lift[k] > lift[steep]) steep = k;
    }
    int i = (steep + 1) % 3, j = (steep + 2) % 3, diagonal = 1 << i | 1 << j;
    int last = lift[steep] < lift[i] + lift[j] ? 1 << steep : diagonal;
    int flip[4] = { 0, 1 << i, 1 << j, last };

    double centre = height(&s, box->p), h_max = rb_norm3(h);
    rb_points points;
    points.n = 0;
    for (int k = 0; k < 4; k++) {
        int vertex = lowest ^ flip[k];
        double y[3], x[3];
        rb_box_vertex(h, vertex, y);
        rb_rot(box->R, y, x);
        rb_add3(x, box->p, x);
        add(&points, &s, centre + rb_dot3(d, y), x, rb_feature_half(RB_VERTEX, vertex));
    }
    rb_points_finish(&points, s.n, reach, rb_grain_of(h_max, h_max, fabs(centre)), out);
}

/* Support point of x'A^-2 x = 1 along -d:  -A^2 d / |A d|. */
void rb_plane_ellipsoid(const rb_shape *plane, const rb_shape *ellipsoid, double reach,
                        rb_manifold *out)
{
    half_space s = half_space_of(plane);
    double d[3], Ad[3], y[3], x[3];
    rb_rot_t(ellipsoid->R, s.n, d);
    for (int k = 0; k < 3; k++) Ad[k] = ellipsoid->size[k] * d[k];
    double depth = rb_normalize3(Ad);
    for (int k = 0; k < 3; k++) y[k] = -ellipsoid->size[k] * Ad[k];
    rb_rot(ellipsoid->R, y, x);
    rb_add3(x, ellipsoid->p, x);

    rb_points points;
    points.n = 0;
    add(&points, &s, height(&s, ellipsoid->p) - depth, x, rb_feature_half(RB_CURVED, 0));
    keep_one(&points, reach, out);
}

/* One point of the rim at the end `end` (-1, 1) of a cylinder, in the direction (a, b) of its x and
 * y axes. */
static void add_rim(rb_points *points, const half_space *s, const rb_shape *cylinder, int end,
                    double a, double b, uint32_t half2)
{
    double r = cylinder->size[0], y[3] = { r * a, r * b, end * cylinder->size[1] }, x[3];
    rb_rot(cylinder->R, y, x);
    rb_add3(x, cylinder->p, x);
    double d[3];
    rb_rot_t(cylinder->R, s->n, d);
    add(points, s, height(s, cylinder->p) + rb_dot3(d, y), x, half2);
}

/* The lowest point of each rim; where the lower disc faces the plane also four points fixed to its
 * rim, which support the cylinder. */
void rb_plane_cylinder(const rb_shape *plane, const rb_shape *cylinder, double reach,
                       rb_manifold *out)
{
    half_space s = half_space_of(plane);
    double d[3], size = cylinder->size[0] + cylinder->size[1];
    rb_rot_t(cylinder->R, s.n, d);
    int low = d[2] > 0.0 ? -1 : 1;
    double slope = sqrt(d[0] * d[0] + d[1] * d[1]);

    rb_points points;
    points.n = 0;
    if (fabs(d[2]) >= RB_FACING) {
        for (int k = 0; k < 4; k++) {
            double a = k == 0 ? 1.0 : k == 2 ? -1.0 : 0.0, b = k == 1 ? 1.0 : k == 3 ? -1.0 : 0.0;
            add_rim(&points, &s, cylinder, low, a, b,
                    rb_feature_half(RB_VERTEX, 4 * (low > 0) + k));
        }
    }
    double a = slope > 0.0 ? -d[0] / slope : 1.0, b = slope > 0.0 ? -d[1] / slope : 0.0;
    for (int end = -1; end <= 1; end += 2) {
        add_rim(&points, &s, cylinder, end, a, b, rb_feature_half(RB_CURVED, end + 1));
    }
    rb_points_finish(&points, s.n, reach, rb_grain_of(size, size, 0.0), out);
}

/* Vertices of a hull that are not above a height. */
enum { MOST_BELOW = 2048, MOST_CLIMBED = 8192, FEW_VERTICES = 32, WAYS = RB_POINTS_MAX - 2 };

typedef struct below {
    int n;                  /* how many there are                                       */
    int all;                /* 1: more than there is room for; all are to be examined   */
    int vertex[MOST_BELOW]; /* ascending                                                */
    int lowest;
    double bottom; /* its height */
} below;

/* Directions across the normal, and the vertex that is farthest along each. */
typedef struct spread {
    double m[3][WAYS];
    double most[WAYS];
    int64_t best[WAYS]; /* -1: none */
} spread;

/* Around a square: directions evenly spread to within a factor of two. */
static void aim_around(const double d[3], spread *to)
{
    double u[3], v[3], m[3];
    rb_orthogonal(d, u);
    rb_cross3(d, u, v);
    for (int k = 0; k < WAYS; k++) {
        double a = 8.0 * k / WAYS, x = a < 2.0 ? a - 1.0 : a < 4.0 ? 1.0 : a < 6.0 ? 5.0 - a : -1.0;
        double y = a < 2.0 ? -1.0 : a < 4.0 ? a - 3.0 : a < 6.0 ? 1.0 : 7.0 - a;
        rb_scale3(x, u, m);
        rb_axpy3(y, v, m);
        for (int i = 0; i < 3; i++) to->m[i][k] = m[i];
        to->most[k] = -INFINITY;
        to->best[k] = -1;
    }
}

/* All directions at a time: of each the first of the vertices that are farthest. */
RB_SHORT static void spread_over(const rb_poly *p, const double d[3], const below *low, double top,
                                 spread *to)
{
    for (int i = 0; i < (low->all ? p->nvert : low->n); i++) {
        int64_t at = low->all ? i : low->vertex[i];
        const double *vert = p->vert + 3 * at, x = vert[0], y = vert[1], z = vert[2];
        if (rb_dot3(d, vert) > top) continue;
        for (int k = 0; k < WAYS; k++) {
            double far = to->m[0][k] * x + to->m[1][k] * y + to->m[2][k] * z, most = to->most[k];
            to->best[k] = far > most ? at : to->best[k];
            to->most[k] = far > most ? far : most;
        }
    }
}

/* Of the vertices not higher than `top` along d those that are extreme across it, in WAYS
 * directions. Returns how many. */
static int spread_vertices(const rb_poly *p, const double d[3], const below *low, double top,
                           int *pick)
{
    int n = 0;
    spread of;
    aim_around(d, &of);
    spread_over(p, d, low, top, &of);
    for (int k = 0; k < WAYS; k++) {
        int best = (int)of.best[k], known = 0;
        for (int i = 0; i < n; i++) known |= pick[i] == best;
        if (best >= 0 && !known) pick[n++] = best;
    }
    return n;
}

/* ---- vertices below a height -------------------------------------------------------------------
 */

static double height_of(const rb_poly *p, const double d[3], int v)
{
    return rb_dot3(d, p->vert + 3 * (ptrdiff_t)v);
}

/* All vertices are examined. */
static void scan_below(const rb_poly *p, const double d[3], double top, below *out)
{
    for (int v = 0; v < p->nvert; v++) {
        double h = height_of(p, d, v);
        if (h < out->bottom) out->bottom = h, out->lowest = v;
        if (h > top) continue;
        if (out->n < MOST_BELOW) out->vertex[out->n] = v;
        out->n++;
    }
    out->all = out->n > MOST_BELOW;
}

/* Those below a plane hang together: from the lowest one on, neighbours and theirs. 0: there are
 * too many of them. */
static int spread_below(const rb_poly *p, const double d[3], int lowest, double top, below *out)
{
    uint64_t seen[MOST_CLIMBED / 64] = { 0 };
    out->vertex[out->n++] = lowest;
    seen[lowest / 64] |= UINT64_C(1) << lowest % 64;
    for (int i = 0; i < out->n; i++) {
        int first = p->leave[out->vertex[i]], entry = first;
        do {
            int v = rb_poly_end(p, entry);
            entry = rb_poly_turn(p, entry);
            if (seen[v / 64] >> v % 64 & 1 || height_of(p, d, v) > top) continue;
            if (out->n == MOST_BELOW) return 0;
            seen[v / 64] |= UINT64_C(1) << v % 64;
            out->vertex[out->n++] = v;
        } while (entry != first);
    }
    out->n = 0;
    for (int i = 0; i < p->nvert; i++) { /* in ascending order */
        if (seen[i / 64] == 0)
            i |= 63;
        else if (seen[i / 64] >> i % 64 & 1)
            out->vertex[out->n++] = i;
    }
    return 1;
}

/* Of large hulls the lowest vertex is climbed down to. The answer is that of the scan, and so is
 * the choice among vertices that are as low. */
static void find_below(rb_core *core, const double n[3], const double d[3], double top, below *out)
{
    const rb_poly *p = &core->poly;
    double down[3], x[3];
    out->n = out->all = 0;
    out->bottom = INFINITY;
    if (p->nvert > FEW_VERTICES && p->nvert <= MOST_CLIMBED) {
        rb_scale3(-1.0, n, down);
        rb_core_aim(core, down);
        int lowest = rb_core_support(core, down, x);
        double bottom = height_of(p, d, lowest);
        if (bottom > top) {
            out->bottom = bottom;
            return;
        }
        if (spread_below(p, d, lowest, top, out)) {
            for (int i = 0; i < out->n; i++) {
                double h = height_of(p, d, out->vertex[i]);
                if (h < out->bottom) out->bottom = h, out->lowest = out->vertex[i];
            }
            return;
        }
        out->n = 0;
    }
    scan_below(p, d, top, out);
}

/* The lowest vertex and those within reach. Where these are more than there is room for, the lowest
 * in front of the plane in each of several directions across it: their hull supports the body. */
void rb_plane_hull(const rb_shape *plane, const rb_shape *hull, double reach, rb_manifold *out)
{
    half_space s = half_space_of(plane);
    rb_core core;
    below low;
    out->n = 0;
    if (!rb_core_make(hull, hull->p, &core)) return;
    const rb_poly *p = &core.poly;
    double d[3], x[3], centre = height(&s, hull->p);
    rb_rot_t(hull->R, s.n, d);
    find_below(&core, s.n, d, reach - centre, &low);
    if (centre + low.bottom > reach) return;

    rb_points points;
    points.n = 0;
    int npick = low.n < WAYS ? low.n : WAYS, *pick = low.vertex, across[WAYS];
    if (low.n > WAYS) {
        double top = fmin(reach, RB_KINK * core.extent) - centre;
        npick = spread_vertices(p, d, &low, top, across);
        pick = across;
    }
    for (int k = -1; k < npick; k++) {
        int v = k < 0 ? low.lowest : pick[k];
        if (k >= 0 && v == low.lowest) continue;
        rb_core_vertex(&core, v, x);
        rb_add3(x, hull->p, x);
        add(&points, &s, centre + height_of(p, d, v), x, rb_feature_half(RB_VERTEX, v & 0x3fff));
    }
    rb_points_finish(&points, s.n, reach, rb_grain_of(core.extent, core.extent, fabs(centre)), out);
}
