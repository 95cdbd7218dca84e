#include "toi_cases.h"

#include "rattleback/load.h"

#include <math.h>
#include <string.h>

enum { NHULL = 12 };

rb_model *toi_hulls(void)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    if (!spec) return NULL;
    for (uint64_t k = 0; k < NHULL; k++) {
        rb_rng rng = rb_rng_make(900 + k);
        double x[40][3];
        int n = 6 + 3 * (int)k;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 3; j++) x[i][j] = rb_rng_uniform(&rng, -0.5, 0.5);
        rb_mesh_def mesh = rb_mesh_default();
        rb_geom_def geom = rb_geom_default();
        mesh.nvert = n;
        mesh.vert = &x[0][0];
        geom.type = RB_GEOM_MESH;
        geom.asset = rb_spec_add_mesh(spec, &mesh, &err);
        geom.density = 0.0;
        if (geom.asset < 0 || rb_spec_add_geom(spec, &geom, &err) < 0) break;
    }
    rb_model *m = rb_spec_hulls(spec, &err) == RB_OK ? rb_spec_compile(spec, NULL, &err) : NULL;
    rb_spec_free(spec);
    return m;
}

/* ---- cases ------------------------------------------------------------------------------------
 */

static void multiply(const double A[9], const double B[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

/* Rotation by the vector r [Rodrigues]: nothing of the library is in it. */
static void rotation(const double r[3], double R[9])
{
    double angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    double s = angle > 1e-9 ? sin(angle) / angle : 1.0;
    double c = angle > 1e-9 ? 2.0 * sin(0.5 * angle) * sin(0.5 * angle) / (angle * angle) : 0.5;
    double X[9] = { 0, -r[2], r[1], r[2], 0, -r[0], -r[1], r[0], 0 }, XX[9];
    multiply(X, X, XX);
    for (int i = 0; i < 9; i++) R[i] = (i % 4 == 0) + s * X[i] + c * XX[i];
}

static void draw_size(rb_rng *rng, double size[3])
{
    for (int i = 0; i < 3; i++) size[i] = rb_rng_uniform(rng, 0.05, 0.5);
    if (rb_rng_next(rng) % 6 == 0)
        size[rb_rng_next(rng) % 3] = pow(10.0, rb_rng_uniform(rng, -6.0, -2.0));
}

void toi_case_make(const rb_model *hulls, uint64_t seed, toi_case *c)
{
    static const int types[] = { RB_GEOM_SPHERE, RB_GEOM_CAPSULE,  RB_GEOM_BOX,
                                 RB_GEOM_MESH,   RB_GEOM_CYLINDER, RB_GEOM_ELLIPSOID };
    rb_rng rng = rb_rng_make(seed);
    double speed = rb_rng_next(&rng) % 5 == 0 ? 100.0 : 3.0;
    memset(c, 0, sizeof *c);
    for (int k = 0; k < 2; k++) {
        rb_ballistic *f = &c->flight[k];
        double r[3];
        draw_size(&rng, c->size[k]);
        for (int i = 0; i < 3; i++) r[i] = rb_rng_uniform(&rng, -3.0, 3.0);
        rotation(r, c->R[k]);
        for (int i = 0; i < 3; i++) {
            c->p[k][i] = (i == 0 ? (k ? 2.0 : 0.0) : 0.0) + rb_rng_uniform(&rng, -0.5, 0.5);
            f->c[i] = c->p[k][i] + rb_rng_uniform(&rng, -0.1, 0.1);
            f->v[i] = rb_rng_uniform(&rng, -1.0, 1.0) + (i == 0 ? (k ? -speed : speed) / 2.0 : 0.0);
            f->w[i] = rb_rng_uniform(&rng, -8.0, 8.0);
        }
        if (rb_rng_next(&rng) % 2) f->a[2] = -9.81;
        if (rb_rng_next(&rng) % 8 == 0) memset(f->w, 0, sizeof f->w);
        c->shape[k] = (rb_shape){ .type = types[rb_rng_next(&rng) % 6],
                                  .size = c->size[k],
                                  .p = c->p[k],
                                  .R = c->R[k],
                                  .model = hulls,
                                  .asset = (int)(rb_rng_next(&rng) % NHULL) };
    }
    if (rb_rng_next(&rng) % 10 == 0) { /* a plane in the way, its normal towards the other one */
        c->shape[1].type = RB_GEOM_PLANE;
        memset(c->flight[1].w, 0, sizeof c->flight[1].w);
        double toward[9] = { 0, 0, -1, 0, 1, 0, 1, 0, 0 };
        memcpy(c->R[1], toward, sizeof toward);
    }
}

/* ---- the slow way -----------------------------------------------------------------------------
 */

double toi_case_gap(const toi_case *c, double t)
{
    double p[2][3], R[2][9];
    rb_shape s[2];
    for (int k = 0; k < 2; k++) {
        const rb_ballistic *f = &c->flight[k];
        double turn[3], Q[9];
        for (int i = 0; i < 3; i++) turn[i] = t * f->w[i];
        rotation(turn, Q);
        multiply(Q, c->R[k], R[k]);
        for (int i = 0; i < 3; i++) {
            p[k][i] = f->c[i] + t * f->v[i] + 0.5 * t * t * f->a[i];
            for (int j = 0; j < 3; j++) p[k][i] += Q[3 * i + j] * (c->p[k][j] - f->c[j]);
        }
        s[k] = c->shape[k];
        s[k].p = p[k];
        s[k].R = R[k];
    }
    rb_manifold m = { .n = 0 };
    double gap = INFINITY;
    if (rb_pair_manifold(&s[0], &s[1], INFINITY, &m) != RB_OK) return NAN;
    for (int i = 0; i < m.n; i++) gap = fmin(gap, m.point[i].gap);
    return gap;
}

double toi_case_slow(const toi_case *c, double horizon, int samples)
{
    double lo = 0.0;
    for (int k = 0; k <= samples; k++) {
        double hi = horizon * k / samples;
        if (toi_case_gap(c, hi) > 0.0) {
            lo = hi;
            continue;
        }
        for (int i = 0; i < 60 && k > 0; i++) {
            double middle = 0.5 * (lo + hi);
            if (toi_case_gap(c, middle) > 0.0)
                lo = middle;
            else
                hi = middle;
        }
        return hi;
    }
    return INFINITY;
}
