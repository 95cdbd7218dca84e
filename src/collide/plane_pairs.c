/* Plane against everything convex: the lowest points (G.6). The normal is that of the plane and
 * constant, so the gap of a vertex is exact for any motion. */
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
 * rim, on which the cylinder stands. */
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

/* Of the vertices not higher than `top` along d those that are extreme across it, in `ways`
 * directions that a box of twelve and its corners give. Returns how many. */
static int spread_vertices(const rb_poly *p, const double d[3], double top, int ways, int *pick)
{
    int n = 0;
    double u[3], v[3];
    rb_orthogonal(d, u);
    rb_cross3(d, u, v);
    for (int k = 0; k < ways; k++) {
        /* around a square: directions evenly spread to within a factor of two */
        double a = 8.0 * k / ways, x = a < 2.0 ? a - 1.0 : a < 4.0 ? 1.0 : a < 6.0 ? 5.0 - a : -1.0;
        double y = a < 2.0   ? -1.0
                   : a < 4.0 ? a - 3.0
                   : a < 6.0 ? 1.0
                             : 7.0 - a,
               m[3], most = -INFINITY;
        int best = -1, known = 0;
        rb_scale3(x, u, m);
        rb_axpy3(y, v, m);
        for (int i = 0; i < p->nvert; i++) {
            const double *at = p->vert + 3 * (ptrdiff_t)i;
            if (rb_dot3(d, at) > top || rb_dot3(m, at) <= most) continue;
            most = rb_dot3(m, at);
            best = i;
        }
        for (int i = 0; i < n; i++) known |= pick[i] == best;
        if (best >= 0 && !known) pick[n++] = best;
    }
    return n;
}

/* The lowest vertex and those within reach. Where these are more than there is room for, the lowest
 * in front of the plane in each of several directions across it: their hull is what it stands on.
 */
void rb_plane_hull(const rb_shape *plane, const rb_shape *hull, double reach, rb_manifold *out)
{
    enum { WAYS = RB_POINTS_MAX - 2 };
    half_space s = half_space_of(plane);
    rb_core core;
    out->n = 0;
    if (!rb_core_make(hull, hull->p, &core)) return;
    const rb_poly *p = &core.poly;
    double d[3], x[3], centre = height(&s, hull->p);
    rb_rot_t(hull->R, s.n, d);
    int lowest = 0, near = 0, pick[WAYS] = { 0 };
    double bottom = INFINITY;
    for (int v = 0; v < p->nvert; v++) {
        double h = rb_dot3(d, p->vert + 3 * (ptrdiff_t)v);
        if (h < bottom) {
            bottom = h;
            lowest = v;
        }
        if (centre + h > reach) continue;
        if (near < WAYS) pick[near] = v;
        near++;
    }
    if (centre + bottom > reach) return;

    rb_points points;
    points.n = 0;
    int npick = near;
    if (near > WAYS) {
        npick = spread_vertices(p, d, fmin(reach, RB_KINK * core.extent) - centre, WAYS, pick);
    }
    for (int k = -1; k < npick; k++) {
        int v = k < 0 ? lowest : pick[k];
        if (k >= 0 && v == lowest) continue;
        rb_core_vertex(&core, v, x);
        rb_add3(x, hull->p, x);
        add(&points, &s, centre + rb_dot3(d, p->vert + 3 * (ptrdiff_t)v), x,
            rb_feature_half(RB_VERTEX, v & 0x3fff));
    }
    rb_points_finish(&points, s.n, reach, rb_grain_of(core.extent, core.extent, fabs(centre)), out);
}
