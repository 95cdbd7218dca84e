/* Convex solids of every kind, and slow methods that share nothing with src/collide: supports in
 * long double by looking at every vertex, the gap of solids that are apart by the ellipsoid method,
 * the depth of those that overlap by a sweep of directions with refinement. */
#ifndef RB_CONVEX_SUPPORT_H
#define RB_CONVEX_SUPPORT_H

#include "collide_support.h"
#include "rattleback/load.h"

/* A body that may be a hull of a model. */
typedef struct solid {
    body b;
    const rb_model *m;
    int mesh;
} solid;

static inline rb_shape shape_of_solid(const solid *s)
{
    rb_shape shape = shape_of(&s->b);
    shape.model = s->m;
    shape.asset = s->mesh;
    return shape;
}

/* ---- hulls ------------------------------------------------------------------------------------
 */

enum { NHULL = 64 };

/* Points on a sphere, in a box, on a prism, on a grid, or a cylinder as meshes have it; some flat
 * (to 1 um), some long, some large (1 km). */
static inline int random_points(rb_rng *rng, double (*x)[3])
{
    uint32_t kind = rb_rng_next(rng) % 5;
    int n = 4 + (int)(rb_rng_next(rng) % 60);
    double stretch[3];
    for (int k = 0; k < 3; k++) stretch[k] = rb_rng_uniform(rng, 0.2, 1.0);
    uint32_t shape = rb_rng_next(rng) % 16;
    if (shape < 4) stretch[rb_rng_next(rng) % 3] *= 1e-3;
    if (shape == 4) stretch[rb_rng_next(rng) % 3] = 1e-6;
    if (shape == 5 || shape == 6) {
        for (int k = 0; k < 3; k++) stretch[k] *= 1e3;
    }
    if (shape == 7 || shape == 8) {
        for (int k = 0; k < 3; k++) stretch[k] = random_power(rng, -4.0, 0.0);
    }
    if (kind == 4) n = 2 * (3 + n / 2);
    for (int i = 0; i < n; i++) {
        if (kind == 0) random_unit(rng, x[i]);
        if (kind == 1) {
            for (int k = 0; k < 3; k++) x[i][k] = rb_rng_uniform(rng, -1.0, 1.0);
        }
        if (kind == 2) {
            for (int k = 0; k < 3; k++) x[i][k] = floor(rb_rng_uniform(rng, 0.0, 4.0)) / 4.0 - 0.4;
        }
        if (kind == 3) {
            random_unit(rng, x[i]);
            x[i][2] = i % 2 ? 0.5 : -0.5;
        }
        if (kind == 4) {
            double angle = 6.283185307179586 * (i / 2) / (n / 2);
            x[i][0] = cos(angle);
            x[i][1] = sin(angle);
            x[i][2] = i % 2 ? 1.0 : -1.0;
        }
        for (int k = 0; k < 3; k++) x[i][k] *= stretch[k];
    }
    return n;
}

/* A model of NHULL meshes with their hulls. */
static inline rb_model *hull_model(void)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    uint64_t seed = 1;
    for (int i = 0; i < NHULL; seed++) {
        double x[160][3];
        rb_rng rng = rb_rng_make(seed);
        rb_mesh_def mesh = rb_mesh_default();
        mesh.nvert = random_points(&rng, x);
        mesh.vert = &x[0][0];
        int at = rb_spec_add_mesh(spec, &mesh, &err);
        rb_geom_def geom = rb_geom_default();
        geom.type = RB_GEOM_MESH;
        geom.asset = at;
        geom.density = 0.0;
        rb_spec_add_geom(spec, &geom, &err);
        i++;
    }
    CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK_STR(err.text, "");
    rb_spec_free(spec);
    CHECK(m != NULL);
    return m;
}

/* ---- supports ---------------------------------------------------------------------------------
 */

static inline void into_frame(const solid *s, const real n[3], real d[3])
{
    for (int k = 0; k < 3; k++) {
        d[k] = 0.0L;
        for (int i = 0; i < 3; i++) d[k] += (real)s->b.R[3 * i + k] * n[i];
    }
}

static inline void support_in_frame(const solid *s, const real d[3], real y[3])
{
    const double *size = s->b.size;
    real across = sqrtl(d[0] * d[0] + d[1] * d[1]), length = sqrtl(dot_of(d, d));
    y[0] = y[1] = y[2] = 0.0L;
    switch (s->b.type) {
    case RB_GEOM_SPHERE:
        for (int k = 0; k < 3; k++) y[k] = size[0] * d[k] / length;
        break;
    case RB_GEOM_CAPSULE:
        for (int k = 0; k < 3; k++) y[k] = size[0] * d[k] / length;
        y[2] += d[2] > 0.0L ? size[1] : -size[1];
        break;
    case RB_GEOM_CYLINDER:
        for (int k = 0; k < 2; k++) y[k] = across > 0.0L ? size[0] * d[k] / across : 0.0L;
        y[2] = d[2] > 0.0L ? size[1] : -size[1];
        break;
    case RB_GEOM_ELLIPSOID: {
        real a[3] = { size[0] * d[0], size[1] * d[1], size[2] * d[2] };
        real l = sqrtl(dot_of(a, a));
        for (int k = 0; k < 3; k++) y[k] = l > 0.0L ? size[k] * a[k] / l : 0.0L;
        break;
    }
    case RB_GEOM_BOX:
        for (int k = 0; k < 3; k++) y[k] = d[k] > 0.0L ? size[k] : -size[k];
        break;
    case RB_GEOM_MESH: {
        const double *v = s->m->mesh_vert + 3 * s->m->mesh_vertadr[s->mesh];
        real most = -INFINITY;
        for (int i = 0; i < s->m->mesh_vertnum[s->mesh]; i++) {
            real x[3] = { v[3 * i], v[3 * i + 1], v[3 * i + 2] };
            if (dot_of(x, d) <= most) continue;
            most = dot_of(x, d);
            for (int k = 0; k < 3; k++) y[k] = x[k];
        }
        break;
    }
    default:
        break;
    }
}

/* A point relative to `about` that is extreme along n. */
static inline void support_of(const solid *s, const real n[3], const double about[3], real x[3])
{
    real d[3], y[3];
    into_frame(s, n, d);
    support_in_frame(s, d, y);
    for (int i = 0; i < 3; i++) {
        x[i] = (real)s->b.p[i] - (real)about[i];
        for (int k = 0; k < 3; k++) x[i] += (real)s->b.R[3 * i + k] * y[k];
    }
}

/* Separation along n, times |n|, and the point of the difference that attains it. */
static inline real slow_separation(const solid *a, const solid *b, const real n[3], real w[3])
{
    real x1[3], x2[3], back[3] = { -n[0], -n[1], -n[2] };
    support_of(a, n, a->b.p, x1);
    support_of(b, back, a->b.p, x2);
    for (int k = 0; k < 3; k++) w[k] = x2[k] - x1[k];
    return dot_of(w, n);
}

/* ---- apart: the ellipsoid method --------------------------------------------------------------
 */

/* Keeps the half of the ellipsoid (x, P) in `dim` dimensions on the side where g.(y - x) >= 0. */
static inline int cut_ellipsoid(int dim, const real *g, real *x, real P[3][3])
{
    real Pg[3] = { 0.0L, 0.0L, 0.0L }, gPg = 0.0L, n = dim;
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) Pg[i] += P[i][j] * g[j];
        gPg += g[i] * Pg[i];
    }
    if (!(gPg > 0.0L)) return 0;
    real root = sqrtl(gPg);
    for (int i = 0; i < dim; i++) x[i] += Pg[i] / root / (n + 1.0L);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            P[i][j] = n * n / (n * n - 1.0L) * (P[i][j] - 2.0L / (n + 1.0L) * Pg[i] * Pg[j] / gPg);
        }
    }
    return 1;
}

/* Largest separation over unit vectors where it is positive: a concave function on a ball. */
static inline real slow_distance(const solid *a, const solid *b)
{
    real x[3] = { 0.1L, 0.2L, 0.3L }, P[3][3] = { { 4.0L } }, w[3], best = -INFINITY;
    P[1][1] = P[2][2] = 4.0L;
    for (int i = 0; i < 1400; i++) {
        real length = sqrtl(dot_of(x, x));
        if (length > 1.0L) {
            real back[3] = { -x[0], -x[1], -x[2] };
            if (!cut_ellipsoid(3, back, x, P)) break;
            continue;
        }
        real s = slow_separation(a, b, x, w);
        if (length > 0.0L && s / length > best) best = s / length;
        if (!cut_ellipsoid(3, w, x, P)) break;
    }
    return best;
}

/* ---- overlap: a sweep -------------------------------------------------------------------------
 */

/* The best separation near the unit vector n0, by the same method on the tangent plane. */
static inline real slow_refine(const solid *a, const solid *b, const real n0[3], real radius)
{
    real T[2][3], P[3][3] = { { radius * radius } }, y[3] = { 0.0L }, best = -INFINITY;
    real e[3] = { 0.0L, 0.0L, 0.0L };
    int least = fabsl(n0[0]) < fabsl(n0[1]) ? 0 : 1;
    if (fabsl(n0[2]) < fabsl(n0[least])) least = 2;
    e[least] = 1.0L;
    cross_of(n0, e, T[0]);
    unit_of(T[0]);
    cross_of(n0, T[0], T[1]);
    P[1][1] = radius * radius;
    for (int i = 0; i < 420; i++) {
        real n[3], w[3], g[2];
        for (int k = 0; k < 3; k++) n[k] = n0[k] + y[0] * T[0][k] + y[1] * T[1][k];
        unit_of(n);
        real s = slow_separation(a, b, n, w);
        best = fmaxl(best, s);
        for (int k = 0; k < 3; k++) w[k] -= s * n[k];
        for (int k = 0; k < 2; k++) g[k] = dot_of(T[k], w);
        if (!cut_ellipsoid(2, g, y, P)) break;
    }
    return best;
}

/* Largest separation over all directions, as far as a sweep finds it: never above the truth. */
static inline real slow_depth(const solid *a, const solid *b, int ndirection, int nrefined)
{
    real best = -INFINITY;
    for (int round = 0; round < nrefined; round++) {
        real top[3] = { 0.0L, 0.0L, 1.0L }, most = -INFINITY, w[3];
        for (int i = round; i < ndirection; i += nrefined) {
            real height = 1.0L - 2.0L * (i + 0.5L) / ndirection, angle = 2.399963229728653L * i;
            real r = sqrtl(1.0L - height * height);
            real n[3] = { r * cosl(angle), r * sinl(angle), height };
            real s = slow_separation(a, b, n, w);
            if (s <= most) continue;
            most = s;
            for (int k = 0; k < 3; k++) top[k] = n[k];
        }
        best = fmaxl(best, slow_refine(a, b, top, 0.3L));
        best = fmaxl(best, slow_refine(a, b, top, 0.05L));
    }
    return best;
}

/* ---- inside or not ----------------------------------------------------------------------------
 */

/* How far the point is outside of the solid, at least: positive only where it is. */
static inline real outside_of(const solid *s, const double x[3])
{
    const double *size = s->b.size;
    real y[3] = { 0.0L, 0.0L, 0.0L }, most = -INFINITY;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) {
            y[k] += (real)s->b.R[3 * i + k] * ((real)x[i] - (real)s->b.p[i]);
        }
    }
    switch (s->b.type) {
    case RB_GEOM_CYLINDER:
        return fmaxl(sqrtl(y[0] * y[0] + y[1] * y[1]) - size[0], fabsl(y[2]) - size[1]);
    case RB_GEOM_ELLIPSOID: {
        /* |A^-1 y| - 1 over the gradient, first order */
        real f = 0.0L, g = 0.0L;
        for (int k = 0; k < 3; k++) {
            real t = y[k] / size[k];
            f += t * t;
            g += t * t / size[k] / size[k];
        }
        return (f - 1.0L) / (2.0L * sqrtl(g) + 1e-30L);
    }
    case RB_GEOM_MESH: {
        const rb_model *m = s->m;
        const double *plane = m->hull_plane + 4 * m->mesh_hullfaceadr[s->mesh];
        for (int f = 0; f < m->mesh_hullfacenum[s->mesh]; f++) {
            real n[3] = { plane[4 * f], plane[4 * f + 1], plane[4 * f + 2] };
            most = fmaxl(most, dot_of(n, y) - plane[4 * f + 3]);
        }
        return most;
    }
    default:
        return off_surface(&s->b, x);
    }
}

/* ---- random pairs -----------------------------------------------------------------------------
 */

static inline double extent_of_solid(const solid *s)
{
    return s->b.type == RB_GEOM_MESH ? rb_norm3(s->m->mesh_half + 3 * s->mesh) : extent_of(&s->b);
}

static inline double scale_of_solids(const solid *a, const solid *b)
{
    double w[3];
    rb_sub3(b->b.p, a->b.p, w);
    return fmax(fmax(extent_of_solid(a), extent_of_solid(b)), rb_norm3(w));
}

static inline rb_manifold collide_solids(const solid *a, const solid *b, double reach)
{
    rb_shape s1 = shape_of_solid(a), s2 = shape_of_solid(b);
    return collide_shapes(&s1, &s2, reach);
}

/* As random_pair of collide_support.h, with hulls. `m`: where hulls come from. */
static inline void random_solids(rb_rng *rng, const rb_model *m, int type1, int type2, solid *a,
                                 solid *b)
{
    *a = (solid){ .b = { .type = type1 }, .m = m, .mesh = -1 };
    *b = (solid){ .b = { .type = type2 }, .m = m, .mesh = -1 };
    random_size(rng, &a->b);
    random_size(rng, &b->b);
    if (type1 == RB_GEOM_MESH) a->mesh = (int)(rb_rng_next(rng) % NHULL);
    if (type2 == RB_GEOM_MESH) b->mesh = (int)(rb_rng_next(rng) % NHULL);
    double p[3] = { 0.0, 0.0, 0.0 }, q[4] = { 1.0, 0.0, 0.0, 0.0 }, q2[4], n[3];
    if (rb_rng_next(rng) % 4) {
        random_quat(rng, q);
        for (int k = 0; k < 3; k++) p[k] = rb_rng_uniform(rng, -1.0, 1.0);
    }
    pose_body(&a->b, p, q);
    random_turn(rng, q, q2);
    double reach = extent_of_solid(a) + extent_of_solid(b);
    random_unit(rng, n);
    if (rb_rng_next(rng) % 3 == 0) {
        double e[3] = { 0.0, 0.0, 0.0 };
        e[rb_rng_next(rng) % 3] = rb_rng_next(rng) % 2 ? 1.0 : -1.0;
        rb_rot(a->b.R, e, n);
    }
    rb_axpy3(rb_rng_uniform(rng, 0.0, 1.5) * reach, n, p);
    pose_body(&b->b, p, q2);

    /* a half of them just apart, touching or just overlapping, along the normal that is found */
    uint32_t kind = rb_rng_next(rng) % 4;
    if (kind > 1) return;
    double goal = 0.0;
    if (kind == 1) {
        goal = random_power(rng, -9.0, -1.0) * fmin(extent_of_solid(a), extent_of_solid(b));
        if (rb_rng_next(rng) % 2) goal = -goal;
    }
    for (int i = 0; i < 2; i++) {
        rb_manifold found = collide_solids(a, b, INFINITY);
        const rb_manifold_point *c = closest_of(&found);
        rb_axpy3(goal - c->gap, c->normal, b->b.p);
    }
}

#endif
