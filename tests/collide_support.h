/* Shapes for collision tests, and a slow second method that shares nothing with src/collide.
 *
 * Spheres, capsules and boxes are zonotopes with a radius: centre + sum a_k g_k, |a_k| <= 1, with
 * 0, 1 or 3 generators. The difference of two is a zonotope Z with up to 6 generators. Where Z does
 * not contain the origin, its closest point is found by trying every face: each a_k at -1, at 1, or
 * one of at most two that are free (a quadratic program by enumeration). Where it does, the depth
 * is the maximum of the separation over directions, found by a sweep and refinement. All in long
 * double. */
#ifndef RB_COLLIDE_SUPPORT_H
#define RB_COLLIDE_SUPPORT_H

#include "math/quat.h"
#include "math/vec3.h"
#include "rattleback/collide.h"
#include "test.h"

/* A shape that owns its numbers. */
typedef struct body {
    int type;
    double size[3], p[3], q[4], R[9];
} body;

static inline rb_shape shape_of(const body *b)
{
    return (rb_shape){ .type = b->type, .size = b->size, .p = b->p, .R = b->R, .asset = -1 };
}

static inline const rb_manifold_point *closest_of(const rb_manifold *m)
{
    const rb_manifold_point *best = &m->point[0];
    for (int i = 1; i < m->n; i++) {
        if (m->point[i].gap < best->gap) best = &m->point[i];
    }
    return best;
}

/* The manifold; its least gap is also that of rb_pair_closest, to the accuracy of both. */
static inline rb_manifold collide_shapes(const rb_shape *s1, const rb_shape *s2, double reach)
{
    rb_manifold m = { .n = 0 };
    rb_manifold_point point;
    int found;
    CHECK_INT(rb_pair_manifold(s1, s2, reach, &m), RB_OK);
    CHECK_INT(rb_pair_closest(s1, s2, reach, &point, &found), RB_OK);
    CHECK_INT(found, m.n > 0);
    if (!found) return m;
    double size = fabs(point.gap), w[3];
    rb_sub3(s2->p, s1->p, w);
    for (int k = 0; k < 3; k++) size = fmax(size, fmax(s1->size[k], s2->size[k]));
    CHECK_NEAR(point.gap, closest_of(&m)->gap, 1e-9 * fmax(size, rb_norm3(w)));

    /* the rounding of places in the world */
    double far = fmax(rb_norm3(point.pos1), rb_norm3(point.pos2));
    far = fmax(fmax(far, size), fmax(rb_norm3(s1->p), rb_norm3(s2->p)));
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(point.pos2[k], point.pos1[k] + point.gap * point.normal[k], 1e-13 * far);
    }
    return m;
}

static inline rb_manifold collide_bodies(const body *a, const body *b, double reach)
{
    rb_shape s1 = shape_of(a), s2 = shape_of(b);
    return collide_shapes(&s1, &s2, reach);
}

/* ---- the slow method --------------------------------------------------------------------------
 */

typedef long double real;

typedef struct zonotope {
    real c[3], g[6][3];
    real u[6][3], h[6]; /* g = h u, u exactly as the matrix has it */
    int n;
    real radius;
} zonotope;

static inline real dot_of(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void add_generators(zonotope *z, const body *b)
{
    real size[3] = { 0.0L, 0.0L, 0.0L };
    if (b->type == RB_GEOM_SPHERE || b->type == RB_GEOM_CAPSULE) z->radius += b->size[0];
    if (b->type == RB_GEOM_CAPSULE) size[2] = b->size[1];
    for (int k = 0; k < 3; k++) {
        if (b->type == RB_GEOM_BOX) size[k] = b->size[k];
        if (size[k] == 0.0L) continue;
        for (int i = 0; i < 3; i++) {
            z->u[z->n][i] = (real)b->R[3 * i + k];
            z->g[z->n][i] = size[k] * z->u[z->n][i];
        }
        z->h[z->n] = size[k];
        z->n++;
    }
}

/* b minus a. */
static inline zonotope difference_of(const body *a, const body *b)
{
    zonotope z = { .n = 0, .radius = 0.0L };
    for (int i = 0; i < 3; i++) z.c[i] = (real)b->p[i] - (real)a->p[i];
    add_generators(&z, a);
    add_generators(&z, b);
    return z;
}

static inline void cross_of(const real a[3], const real b[3], real out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* g_i x g_j; nearly parallel axes are subtracted before they are multiplied. */
static inline void cross_generators(const zonotope *z, int i, int j, real m[3])
{
    real rest[3], sign = dot_of(z->u[i], z->u[j]) < 0.0L ? 1.0L : -1.0L;
    for (int k = 0; k < 3; k++) rest[k] = z->u[j][k] + sign * z->u[i][k];
    cross_of(z->u[i], rest, m);
    for (int k = 0; k < 3; k++) m[k] *= z->h[i] * z->h[j];
}

/* Separation of the cores along n. */
static inline real separation(const zonotope *z, const real n[3])
{
    real s = dot_of(z->c, n);
    for (int k = 0; k < z->n; k++) s -= fabsl(dot_of(z->g[k], n));
    return s;
}

/* Closest point to the origin of x + s g_i + t g_j, |s|, |t| <= 1, in the interior of the face; 0
 * where it is not there. i or j < 0: that one is absent. */
static inline int free_minimum(const zonotope *z, const real x[3], int i, int j, real out[3])
{
    real s = 0.0L, t = 0.0L;
    if (i >= 0 && j >= 0) {
        const real *a = z->g[i], *b = z->g[j];
        real m[3], xb[3], y[3];
        cross_generators(z, i, j, m);
        real det = dot_of(m, m);
        if (!(det > 0.0L)) return 0;

        /* s from the normal, t as the best for that s */
        cross_of(x, b, xb);
        s = -dot_of(xb, m) / det;
        for (int k = 0; k < 3; k++) y[k] = x[k] + s * a[k];
        t = -dot_of(y, b) / dot_of(b, b);
    } else if (i >= 0) {
        s = -dot_of(x, z->g[i]) / dot_of(z->g[i], z->g[i]);
    }
    if (fabsl(s) > 1.0L || fabsl(t) > 1.0L) return 0;
    for (int k = 0; k < 3; k++) {
        out[k] = x[k] + (i >= 0 ? s * z->g[i][k] : 0.0L) + (j >= 0 ? t * z->g[j][k] : 0.0L);
    }
    return 1;
}

/* Least distance of the origin from all faces, inner ones included, and that point. */
static inline real least_of_faces(const zonotope *z, real closest[3])
{
    real best = INFINITY;
    for (int i = -1; i < z->n; i++) {
        for (int j = i < 0 ? -1 : i + 1; j <= (i < 0 ? -1 : z->n); j++) {
            int free_j = j == z->n ? -1 : j;
            for (int signs = 0; signs < 1 << z->n; signs++) {
                if ((i >= 0 && signs >> i & 1) || (free_j >= 0 && signs >> free_j & 1)) continue;
                real x[3] = { z->c[0], z->c[1], z->c[2] }, y[3];
                for (int k = 0; k < z->n; k++) {
                    if (k == i || k == free_j) continue;
                    real sign = signs >> k & 1 ? 1.0L : -1.0L;
                    for (int l = 0; l < 3; l++) x[l] += sign * z->g[k][l];
                }
                if (!free_minimum(z, x, i, free_j, y)) continue;
                real d = dot_of(y, y);
                if (d >= best) continue;
                best = d;
                for (int l = 0; l < 3; l++) closest[l] = y[l];
            }
        }
    }
    return sqrtl(best);
}

static inline real unit_of(real n[3])
{
    real length = sqrtl(dot_of(n, n));
    for (int k = 0; k < 3 && length > 0.0L; k++) n[k] /= length;
    return length;
}

/* Climbs from a direction by shrinking steps; creeping along a ridge is ended after a while. */
static inline real refine(const zonotope *z, real n[3])
{
    real best = separation(z, n);
    real step = 0.3L;
    for (int round = 0; round < 160 && step > 1e-12L; round++) {
        real start[3] = { n[0], n[1], n[2] };
        int better = 0;
        for (int k = 0; k < 26; k++) {
            int code = k < 13 ? k : k + 1;
            real trial[3] = { start[0] + step * (code % 3 - 1),
                              start[1] + step * (code / 3 % 3 - 1),
                              start[2] + step * (code / 9 - 1) };
            unit_of(trial);
            real s = separation(z, trial);
            if (s <= best) continue;
            best = s;
            better = 1;
            for (int l = 0; l < 3; l++) n[l] = trial[l];
        }
        if (!better) step *= 0.5L;
    }
    return best;
}

/* Maximum of the separation over all directions, as far as a sweep finds it. */
static inline real sweep(const zonotope *z, int ndirection, int nrefined)
{
    real best = -INFINITY;
    for (int round = 0; round < nrefined; round++) {
        /* the best of each share of a spiral over the sphere */
        real top[3] = { 0.0L, 0.0L, 1.0L }, top_s = -INFINITY;
        for (int i = round; i < ndirection; i += nrefined) {
            real height = 1.0L - 2.0L * (i + 0.5L) / ndirection, angle = 2.399963229728653L * i;
            real r = sqrtl(1.0L - height * height);
            real n[3] = { r * cosl(angle), r * sinl(angle), height };
            real s = separation(z, n);
            if (s <= top_s) continue;
            top_s = s;
            for (int l = 0; l < 3; l++) top[l] = n[l];
        }
        best = fmaxl(best, refine(z, top));
    }
    return best;
}

/* The same over the normals of all faces that two generators span: where Z has a volume and
 * contains the origin, one of them attains it. Flat ones are left along any normal, at once. */
static inline real depth_of(const zonotope *z)
{
    real best = -INFINITY;
    if (z->n < 3) return 0.0L;
    for (int i = 0; i < z->n; i++) {
        for (int j = i + 1; j < z->n; j++) {
            real n[3];
            cross_generators(z, i, j, n);
            if (!(unit_of(n) > 0.0L)) continue;
            best = fmaxl(best, separation(z, n));
            for (int k = 0; k < 3; k++) n[k] = -n[k];
            best = fmaxl(best, separation(z, n));
        }
    }
    return best;
}

typedef struct slow_gap {
    real gap, core; /* core: signed distance without the radii        */
    int apart;      /* the cores do not meet: normal holds            */
    real normal[3];
} slow_gap;

static inline slow_gap slow_gap_of(const body *a, const body *b)
{
    zonotope z = difference_of(a, b);
    slow_gap out;
    real x[3] = { 0.0L, 0.0L, 0.0L }, distance = least_of_faces(&z, x), depth = depth_of(&z);
    out.apart = unit_of(x) > 0.0L && (depth > 0.0L || z.n < 3);
    for (int k = 0; k < 3; k++) out.normal[k] = x[k];
    out.core = out.apart ? distance : depth;
    out.gap = out.core - z.radius;
    return out;
}

/* Signed distance of a point from a shape that is not a plane: how far it is off the surface. */
static inline real off_surface(const body *b, const double x[3])
{
    real y[3] = { 0.0L, 0.0L, 0.0L }, out = 0.0L, in = -INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            y[k] += (real)b->R[3 * i + k] * ((real)x[i] - (real)b->p[i]);
        }
        real h = b->type == RB_GEOM_BOX                 ? b->size[k]
                 : b->type == RB_GEOM_CAPSULE && k == 2 ? b->size[1]
                                                        : 0.0;
        real over = fabsl(y[k]) - h;
        if (over > 0.0L) out += over * over;
        in = fmaxl(in, over);
    }
    real distance = out > 0.0L ? sqrtl(out) : in;
    return b->type == RB_GEOM_BOX ? distance : distance - (real)b->size[0];
}

/* ---- random pairs -----------------------------------------------------------------------------
 */

static inline double extent_of(const body *b)
{
    switch (b->type) {
    case RB_GEOM_SPHERE:
        return b->size[0];
    case RB_GEOM_CAPSULE:
    case RB_GEOM_CYLINDER:
        return b->size[0] + b->size[1];
    default:
        return rb_norm3(b->size);
    }
}

static inline double scale_of(const body *a, const body *b)
{
    double w[3];
    rb_sub3(b->p, a->p, w);
    return fmax(fmax(extent_of(a), extent_of(b)), rb_norm3(w));
}

static inline void random_unit(rb_rng *rng, double n[3])
{
    do {
        for (int k = 0; k < 3; k++) n[k] = rb_rng_uniform(rng, -1.0, 1.0);
    } while (rb_norm3(n) > 1.0 || rb_norm3(n) < 0.1);
    rb_normalize3(n);
}

static inline void random_quat(rb_rng *rng, double q[4])
{
    for (int k = 0; k < 4; k++) q[k] = rb_rng_normal(rng);
    rb_quat_normalize(q);
}

static inline void pose_body(body *b, const double p[3], const double q[4])
{
    rb_copy3(p, b->p);
    for (int k = 0; k < 4; k++) b->q[k] = q[k];
    rb_quat_normalize(b->q);
    rb_quat_to_rot(b->q, b->R);
}

/* 10^lo .. 10^hi */
static inline double random_power(rb_rng *rng, double lo, double hi)
{
    return pow(10.0, rb_rng_uniform(rng, lo, hi));
}

/* Sizes: ordinary, thin (1 um), large (1 km), aspect up to 1e4. */
static inline void random_size(rb_rng *rng, body *b)
{
    uint32_t kind = rb_rng_next(rng) % 8;
    for (int k = 0; k < 3; k++) b->size[k] = rb_rng_uniform(rng, 0.1, 1.0);
    if (kind == 0) b->size[rb_rng_next(rng) % 3] = 1e-6;
    if (kind == 1) {
        for (int k = 0; k < 3; k++) b->size[k] *= 1e3;
    }
    if (kind == 2) {
        for (int k = 0; k < 3; k++) b->size[k] = random_power(rng, -4.0, 0.0);
    }
}

/* Turns: any; aligned; nearly aligned by 1e-16 .. 1e-1; turned about one axis. */
static inline void random_turn(rb_rng *rng, const double q1[4], double q2[4])
{
    static const double quarter[4][4] = { { 1.0, 0.0, 0.0, 0.0 },
                                          { 0.7071067811865476, 0.7071067811865476, 0.0, 0.0 },
                                          { 0.7071067811865476, 0.0, 0.7071067811865476, 0.0 },
                                          { 0.7071067811865476, 0.0, 0.0, 0.7071067811865476 } };
    uint32_t kind = rb_rng_next(rng) % 4;
    double axis[3] = { 0.0, 0.0, 0.0 }, turn[4];
    if (kind == 0) {
        random_quat(rng, q2);
        return;
    }
    rb_quat_mul(q1, quarter[rb_rng_next(rng) % 4], q2);
    if (kind == 1) return;
    if (kind == 2) {
        random_unit(rng, axis);
        rb_quat_axis_angle(axis, random_power(rng, -16.0, -1.0), turn);
    } else {
        axis[rb_rng_next(rng) % 3] = 1.0;
        rb_quat_axis_angle(axis, rb_rng_uniform(rng, -3.0, 3.0), turn);
    }
    rb_quat_mul(q2, turn, q2);
}

/* Moves b along n until the cores are about `gap` apart by the slow method. */
static inline void place_at_gap(const body *a, body *b, double gap)
{
    for (int i = 0; i < 2; i++) {
        slow_gap s = slow_gap_of(a, b);
        if (!s.apart) return;
        for (int k = 0; k < 3; k++) b->p[k] += (gap - (double)s.gap) * (double)s.normal[k];
    }
}

static inline void random_pair(rb_rng *rng, int type1, int type2, body *a, body *b)
{
    *a = (body){ .type = type1 };
    *b = (body){ .type = type2 };
    random_size(rng, a);
    random_size(rng, b);
    double p[3] = { 0.0, 0.0, 0.0 }, q[4] = { 1.0, 0.0, 0.0, 0.0 }, q2[4], n[3];
    if (rb_rng_next(rng) % 4) {
        random_quat(rng, q);
        for (int k = 0; k < 3; k++) p[k] = rb_rng_uniform(rng, -1.0, 1.0);
    }
    pose_body(a, p, q);
    random_turn(rng, q, q2);

    /* somewhere around, along an axis, or so that faces lie over each other */
    double reach = extent_of(a) + extent_of(b);
    random_unit(rng, n);
    if (rb_rng_next(rng) % 3 == 0) {
        double e[3] = { 0.0, 0.0, 0.0 };
        e[rb_rng_next(rng) % 3] = rb_rng_next(rng) % 2 ? 1.0 : -1.0;
        rb_rot(a->R, e, n);
    }
    rb_axpy3(rb_rng_uniform(rng, 0.0, 1.5) * reach, n, p);
    pose_body(b, p, q2);

    /* a third of them just apart, touching or just overlapping */
    uint32_t kind = rb_rng_next(rng) % 6;
    if (kind == 0) place_at_gap(a, b, 0.0);
    if (kind == 1) {
        double small = random_power(rng, -9.0, -1.0) * fmin(extent_of(a), extent_of(b));
        place_at_gap(a, b, rb_rng_next(rng) % 2 ? small : -small);
    }
}

/* Ordinary sizes and any turn: features are unique, nothing is decided by rounding. */
static inline void generic_pair(rb_rng *rng, int type1, int type2, body *a, body *b)
{
    double p[3], q[4], n[3];
    *a = (body){ .type = type1 };
    *b = (body){ .type = type2 };
    for (int k = 0; k < 3; k++) {
        a->size[k] = rb_rng_uniform(rng, 0.1, 1.0);
        b->size[k] = rb_rng_uniform(rng, 0.1, 1.0);
        p[k] = rb_rng_uniform(rng, -1.0, 1.0);
    }
    random_quat(rng, q);
    pose_body(a, p, q);
    random_quat(rng, q);
    random_unit(rng, n);
    rb_axpy3(rb_rng_uniform(rng, 0.2, 1.3) * (extent_of(a) + extent_of(b)), n, p);
    pose_body(b, p, q);
}

/* Moves a body by a rotation vector about its centre and a shift. */
static inline void move_body(body *b, const double turn[3], const double shift[3])
{
    double q[4], p[3];
    rb_quat_exp(turn, q);
    rb_quat_mul(q, b->q, q);
    rb_add3(b->p, shift, p);
    pose_body(b, p, q);
}

/* Configurations per family. */
static inline int pair_count(void)
{
    return test_count(20000);
}

#endif
