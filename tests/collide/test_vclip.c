/* V-Clip: against every pair of features, against the general method, coherent motion, degenerate
 * poses, bad caches. */
#include "math/quat.h"
#include "math/vec3.h"
#include "rattleback/collide.h"
#include "rattleback/load.h"
#include "test.h"

/* ---- polyhedra --------------------------------------------------------------------------------
 */

enum { NHULL = 40, MAX_VERT = 100 };

/* Points on a sphere, on a grid (coplanar ones, parallel edges), on a prism; some flat or long. */
static int draw_points(uint64_t seed, double (*x)[3])
{
    rb_rng rng = rb_rng_make(seed);
    int kind = (int)(seed % 3), n = 6 + (int)(rb_rng_next(&rng) % 60);
    double stretch[3] = { 1.0, 1.0, 1.0 };
    if (seed % 4 == 1) stretch[seed % 3] = 1e-2;
    for (int i = 0; i < n; i++) {
        double length = 0.0, turn = 6.283185307179586 * (i / 2) / (n / 2);
        for (int k = 0; k < 3; k++) {
            x[i][k] = rb_rng_uniform(&rng, -1.0, 1.0);
            if (kind == 1) x[i][k] = floor(4.0 * x[i][k]) / 4.0;
            length += x[i][k] * x[i][k];
        }
        for (int k = 0; k < 3 && kind == 0; k++) x[i][k] /= sqrt(length);
        if (kind == 2) {
            x[i][0] = cos(turn);
            x[i][1] = sin(turn);
            x[i][2] = i % 2 ? 0.7 : -0.7;
        }
        for (int k = 0; k < 3; k++) x[i][k] *= stretch[k];
    }
    return n;
}

static rb_model *hulls(void)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    for (uint64_t seed = 1; seed <= NHULL; seed++) {
        double x[MAX_VERT][3];
        rb_mesh_def mesh = rb_mesh_default();
        mesh.nvert = draw_points(seed, x);
        mesh.vert = &x[0][0];
        rb_geom_def geom = rb_geom_default();
        geom.type = RB_GEOM_MESH;
        geom.asset = rb_spec_add_mesh(spec, &mesh, &err);
        geom.density = 0.0;
        CHECK(rb_spec_add_geom(spec, &geom, &err) >= 0);
    }
    CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_spec_free(spec);
    return m;
}

static void turn_at_random(rb_rng *rng, double R[9])
{
    double q[4], length = 0.0;
    for (int i = 0; i < 4; i++) {
        q[i] = rb_rng_normal(rng);
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
    rb_quat_to_rot(q, R);
}

/* ---- the slow method: all pairs of features ---------------------------------------------------
 */

/* Hull vertices in the world and triangles of its faces. */
typedef struct soup {
    int nvert, ntri, nedge;
    double vert[MAX_VERT][3];
    int tri[4 * MAX_VERT][3], edge[6 * MAX_VERT][2];
} soup;

static void make_soup(const rb_shape *s, soup *out)
{
    const rb_model *m = s->model;
    int vert = m->mesh_hullvertadr[s->asset], face = m->mesh_hullfaceadr[s->asset];
    out->nvert = m->mesh_hullvertnum[s->asset];
    out->ntri = out->nedge = 0;
    for (int i = 0; i < out->nvert; i++) {
        rb_rot(s->R, m->hull_vert + 3 * (vert + i), out->vert[i]);
        rb_add3(out->vert[i], s->p, out->vert[i]);
    }
    for (int f = face; f < face + m->mesh_hullfacenum[s->asset]; f++) {
        const int *loop = m->hull_loop + m->hull_loopadr[f];
        int n = m->hull_loopnum[f];
        for (int k = 0; k < n; k++) {
            int a = loop[k], b = loop[(k + 1) % n];
            if (a < b) {
                out->edge[out->nedge][0] = a;
                out->edge[out->nedge++][1] = b;
            }
            if (k < 2) continue;
            out->tri[out->ntri][0] = loop[0];
            out->tri[out->ntri][1] = loop[k - 1];
            out->tri[out->ntri++][2] = loop[k];
        }
    }
}

static double segments(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], r[3], least = INFINITY;
    rb_sub3(b, a, u);
    rb_sub3(d, c, v);
    rb_sub3(a, c, r);
    double uu = rb_dot3(u, u), vv = rb_dot3(v, v), uv = rb_dot3(u, v);
    double ur = rb_dot3(u, r), vr = rb_dot3(v, r), det = uu * vv - uv * uv;

    /* inside both, and each end of one against the other */
    for (int k = 0; k < 5; k++) {
        double s = k == 0 ? 0.0 : k == 1 ? 1.0 : 0.0, t = 0.0, w[3];
        if (k < 2) t = fmin(1.0, fmax(0.0, (uv * s + vr) / vv));
        if (k == 2 || k == 3) {
            t = k - 2;
            s = fmin(1.0, fmax(0.0, (uv * t - ur) / uu));
        }
        if (k == 4) {
            if (!(det > 1e-14 * uu * vv)) continue;
            s = (uv * vr - ur * vv) / det;
            t = (uu * vr - uv * ur) / det;
            if (s < 0.0 || s > 1.0 || t < 0.0 || t > 1.0) continue;
        }
        rb_copy3(r, w);
        rb_axpy3(s, u, w);
        rb_axpy3(-t, v, w);
        least = fmin(least, rb_norm3(w));
    }
    return least;
}

/* Distance of a point from the inside of a triangle; INFINITY where it does not project there. */
static double point_triangle(const double *p, const double *a, const double *b, const double *c)
{
    double u[3], v[3], n[3], w[3], x[3];
    rb_sub3(b, a, u);
    rb_sub3(c, a, v);
    rb_cross3(u, v, n);
    double nn = rb_dot3(n, n);
    if (!(nn > 0.0)) return INFINITY;
    rb_sub3(p, a, w);
    rb_cross3(w, v, x);
    double s = rb_dot3(x, n) / nn;
    rb_cross3(u, w, x);
    double t = rb_dot3(x, n) / nn;
    if (s < 0.0 || t < 0.0 || s + t > 1.0) return INFINITY;
    return fabs(rb_dot3(w, n)) / sqrt(nn);
}

/* Distance of polyhedra that do not overlap. */
static double slow_distance(const rb_shape *s1, const rb_shape *s2)
{
    static soup a, b;
    make_soup(s1, &a);
    make_soup(s2, &b);
    double least = INFINITY;
    for (int i = 0; i < a.nedge; i++)
        for (int j = 0; j < b.nedge; j++)
            least = fmin(least, segments(a.vert[a.edge[i][0]], a.vert[a.edge[i][1]],
                                         b.vert[b.edge[j][0]], b.vert[b.edge[j][1]]));
    for (int i = 0; i < a.nvert; i++)
        for (int j = 0; j < b.ntri; j++)
            least = fmin(least, point_triangle(a.vert[i], b.vert[b.tri[j][0]], b.vert[b.tri[j][1]],
                                               b.vert[b.tri[j][2]]));
    for (int i = 0; i < b.nvert; i++)
        for (int j = 0; j < a.ntri; j++)
            least = fmin(least, point_triangle(b.vert[i], a.vert[a.tri[j][0]], a.vert[a.tri[j][1]],
                                               a.vert[a.tri[j][2]]));
    return least;
}

/* ---- checks ------------------------------------------------------------------------------------
 */

/* Separation along n of all vertices: a certificate of the distance from below. */
static double vertex_separation(const rb_shape *s1, const rb_shape *s2, const double n[3])
{
    static soup a, b;
    make_soup(s1, &a);
    make_soup(s2, &b);
    double most = -INFINITY, least = INFINITY;
    for (int i = 0; i < a.nvert; i++) most = fmax(most, rb_dot3(a.vert[i], n));
    for (int i = 0; i < b.nvert; i++) least = fmin(least, rb_dot3(b.vert[i], n));
    return least - most;
}

static double size_of_pair(const rb_shape *s1, const rb_shape *s2)
{
    double d[3];
    rb_sub3(s1->p, s2->p, d);
    return fmax(2.0, rb_norm3(d));
}

/* The distance is the length between the points, points lie where the normal says, and no
 * direction separates more: from above and from below. */
static void check_certificate(const rb_shape *s1, const rb_shape *s2, const rb_vclip_result *r)
{
    double size = size_of_pair(s1, s2), d[3];
    rb_sub3(r->pos2, r->pos1, d);
    CHECK_NEAR(rb_norm3(d), r->distance, 1e-12 * size);
    CHECK_NEAR(rb_norm3(r->normal), 1.0, 1e-14);
    CHECK_NEAR(rb_dot3(d, r->normal), r->distance, 1e-12 * size);
    CHECK_NEAR(vertex_separation(s1, s2, r->normal), r->distance, 1e-11 * size);
}

static double general_gap(const rb_shape *s1, const rb_shape *s2)
{
    rb_manifold m = { .n = 0 };
    CHECK_INT(rb_pair_manifold(s1, s2, INFINITY, &m), RB_OK);
    double gap = INFINITY;
    for (int i = 0; i < m.n; i++) gap = fmin(gap, m.point[i].gap);
    return gap;
}

typedef struct scene {
    rb_model *m;
    double p[2][3], R[2][9], size[3];
    rb_shape s[2];
} scene;

static void place_scene(scene *c, rb_rng *rng, double reach)
{
    for (int k = 0; k < 2; k++) {
        turn_at_random(rng, c->R[k]);
        for (int i = 0; i < 3; i++) c->p[k][i] = rb_rng_uniform(rng, -reach, reach);
        c->s[k] = (rb_shape){ .type = RB_GEOM_MESH,
                              .size = c->size,
                              .p = c->p[k],
                              .R = c->R[k],
                              .model = c->m,
                              .asset = (int)(rb_rng_next(rng) % NHULL) };
    }
}

/* Cold starts from a random vertex: agrees with all pairs of features and with the general
 * method. */
TEST(cold_starts_agree_with_slow_methods)
{
    scene c = { .m = hulls() };
    int apart = 0, over = 0, escaped = 0, steps = 0, count = test_count(3000);
    for (int i = 0; i < count; i++) {
        int seed = test_first_seed() + i;
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        place_scene(&c, &rng, 1.6);
        rb_vclip cache = { { 4 * (seed % 4), 4 * (seed % 3) } };
        rb_vclip_result r;
        CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_OK);
        double gap = general_gap(&c.s[0], &c.s[1]);
        steps += r.steps;
        escaped += r.escaped;
        if (fabs(gap) > 1e-9) CHECK_INT(r.overlap, gap < 0.0);
        if (r.overlap) {
            over++;
            continue;
        }
        apart++;
        CHECK_NEAR(r.distance, gap, 1e-10);
        check_certificate(&c.s[0], &c.s[1], &r);
        if (seed % 10 == 0) CHECK_NEAR(slow_distance(&c.s[0], &c.s[1]), r.distance, 1e-11);
    }
    CHECK(apart > count / 6 && over > count / 6);
    CHECK(escaped <= count / 10000); /* none of these; 4 of 100,000 others */
    CHECK(steps < count * 40);
    rb_model_free(c.m, NULL);
}

/* Poses 1 ms apart: one pair of features per query, nearly always, and always the right one. */
TEST(coherent_motion_takes_one_look)
{
    scene c = { .m = hulls() };
    int queries = 0, steps = 0, apart = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        place_scene(&c, &rng, 0.0);
        double q[4] = { 1.0, 0.0, 0.0, 0.0 }, phase = rb_rng_uniform(&rng, 0.0, 6.0);
        rb_vclip cache = { { 0, 0 } };
        for (int k = 0; k < 400; k++) {
            double angle = phase + 2e-3 * k;
            q[1] += 1e-3;
            q[2] -= 2e-3;
            rb_quat_normalize(q);
            rb_quat_to_rot(q, c.R[1]);
            c.p[1][0] = 2.1 * cos(angle);
            c.p[1][1] = 2.1 * sin(angle);
            c.p[1][2] = 0.8 * sin(3.0 * angle);
            rb_vclip_result r;
            CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_OK);
            CHECK_INT(r.escaped, 0);
            if (k > 0) {
                queries++;
                steps += r.steps;
            }
            if (r.overlap || k % 20) continue;
            apart++;
            check_certificate(&c.s[0], &c.s[1], &r);
        }
    }
    CHECK(apart > 500);
    CHECK(steps < 1.1 * queries);
    rb_model_free(c.m, NULL);
}

/* Hulls and boxes in the same axes: faces, edges and corners face each other exactly. */
TEST(aligned_poses)
{
    scene c = { .m = hulls() };
    int escaped = 0, apart = 0;
    for (int pose = 0; pose < test_count(3000); pose++) {
        int seed = test_first_seed() + pose;
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make((uint64_t)seed);
        place_scene(&c, &rng, 0.0);
        double axis[3] = { 0.0, 0.0, 0.0 }, q[4], size[2][3];
        for (int k = 0; k < 2; k++) {
            axis[rb_rng_next(&rng) % 3] = 1.5707963267948966 * (double)(rb_rng_next(&rng) % 4);
            rb_quat_exp(axis, q);
            rb_quat_to_rot(q, c.R[k]);
            for (int i = 0; i < 3; i++) {
                c.p[k][i] = 0.25 * floor(rb_rng_uniform(&rng, -8.0, 8.0));
                size[k][i] = 0.25 * (1.0 + (double)(rb_rng_next(&rng) % 4));
            }
            if (seed % 2) {
                c.s[k].type = RB_GEOM_BOX;
                c.s[k].size = size[k];
            }
        }
        rb_vclip cache = { { 0, 0 } }, turned = { { 0, 0 } };
        rb_vclip_result r, back;
        CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_OK);
        CHECK_INT(rb_vclip_query(&c.s[1], &c.s[0], &turned, &back), RB_OK);
        double gap = general_gap(&c.s[0], &c.s[1]);
        escaped += r.escaped && gap > 1e-9;
        if (fabs(gap) > 1e-9) CHECK_INT(r.overlap, gap < 0.0);
        if (fabs(gap) > 1e-9) CHECK_INT(back.overlap, r.overlap);
        if (r.overlap || back.overlap) continue;
        apart++;
        CHECK_NEAR(r.distance, gap, 1e-10);
        CHECK_NEAR(back.distance, r.distance, 1e-12);
        if (gap > 1e-9 && seed % 2 == 0) check_certificate(&c.s[0], &c.s[1], &r);
    }
    CHECK(apart > test_count(3000) / 3);
    /* none of these; 1 to 3 of 100,000 others, which the general method answers */
    CHECK(escaped <= test_count(3000) / 20000);
    rb_model_free(c.m, NULL);
}

/* Any number as a cache, the same answer. */
TEST(bad_caches_are_starts_like_others)
{
    scene c = { .m = hulls() };
    rb_rng rng = rb_rng_make(3);
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        TEST_SEED(seed);
        if (seed % 20 == 1) place_scene(&c, &rng, 1.8);
        rb_vclip fresh = { { 0, 0 } }, cache = { { (int)rb_rng_next(&rng), (int)(seed % 9000) } };
        rb_vclip_result r, other;
        if (seed % 3 == 0) cache.feature[0] = -1 - (int)seed;
        CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &fresh, &r), RB_OK);
        CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &other), RB_OK);
        CHECK_INT(other.overlap, r.overlap);
        if (!r.overlap) CHECK_NEAR(other.distance, r.distance, 1e-12);
    }
    rb_model_free(c.m, NULL);
}

TEST(refused_shapes_and_poses)
{
    scene c = { .m = hulls() };
    rb_rng rng = rb_rng_make(5);
    place_scene(&c, &rng, 1.0);
    rb_vclip cache = { { 0, 0 } };
    rb_vclip_result r;
    c.p[1][2] = NAN;
    CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_BAD_INPUT);
    c.p[1][2] = INFINITY;
    CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_BAD_INPUT);
    c.p[1][2] = 0.0;
    c.R[0][4] = NAN;
    CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_BAD_INPUT);
    c.s[1].type = RB_GEOM_SPHERE;
    CHECK_INT(rb_vclip_query(&c.s[0], &c.s[1], &cache, &r), RB_UNSUPPORTED);
    rb_model_free(c.m, NULL);
}

TEST_MAIN(RUN(cold_starts_agree_with_slow_methods), RUN(coherent_motion_takes_one_look),
          RUN(aligned_poses), RUN(bad_caches_are_starts_like_others), RUN(refused_shapes_and_poses))
