/* Certificates: by hand, against a slow second implementation, on numbers that are none; rays. */
#include "test.h"

#include "corpus.h"
#include "rattleback/solve.h"

enum { MOST = 400 };

static rb_certificate grade(const rb_problem *p, const double *z)
{
    rb_certificate cert;
    CHECK_INT(rb_residual(p, z, NULL, &cert), RB_OK);
    return cert;
}

/* ---- by hand -----------------------------------------------------------------------------------
 */

/* W = [[2, 1], [1, 4]], q = (-1, 3). z = (1, 0): w = (1, 4), mid(z, w, inf) = (1, 0). */
TEST(lcp_by_hand)
{
    const double W[4] = { 2.0, 1.0, 1.0, 4.0 }, q[2] = { -1.0, 3.0 };
    rb_problem p = { .kind = RB_LCP, .n = 2, .q = q };
    p.W.dense = W;
    const double z[2] = { 1.0, 0.0 }, solution[2] = { 0.5, 0.0 }, negative[2] = { -2.0, 0.0 };
    rb_certificate c = grade(&p, z);
    CHECK(c.residual == 1.0 && c.scale == 4.0 && c.relative == 0.25);
    CHECK(c.velocity == 1.0); /* 2 |1 - (1 - 1/2)| */
    CHECK(c.min_z == 0.0 && c.min_w == 1.0 && c.gap == 1.0);

    c = grade(&p, solution);
    CHECK(c.residual == 0.0 && c.relative == 0.0 && c.velocity == 0.0 && c.gap == 0.0);
    CHECK(c.min_z == 0.0 && c.min_w == 0.0);

    /* z = (-2, 0): w = (-5, 1); the first row misses by 5; in velocity 2 |-2 - 0.5| */
    c = grade(&p, negative);
    CHECK(c.residual == 5.0 && c.min_z == -2.0 && c.min_w == -5.0 && c.gap == 10.0);
    CHECK(c.velocity == 5.0);
    CHECK(c.scale == 8.0); /* |W| |z| = 4 * 2 */
}

/* Bounds [-1, 1] in each row, W = I: w = z + q. */
TEST(box_by_hand)
{
    const double W[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    const double q[4] = { 5.0, -5.0, 0.5, 3.0 };
    const double lo[4] = { -1.0, -1.0, -1.0, -INFINITY }, hi[4] = { 1.0, 1.0, 1.0, INFINITY };
    rb_problem p = { .kind = RB_BOX, .n = 4, .q = q, .lo = lo, .hi = hi };
    p.W.dense = W;

    /* at lo with w = 4, at hi with w = -4, between with w = 0, free with w = 0 */
    const double solution[4] = { -1.0, 1.0, -0.5, -3.0 };
    rb_certificate c = grade(&p, solution);
    CHECK(c.residual == 0.0 && c.velocity == 0.0 && c.gap == 0.0 && c.min_z == 0.0);
    CHECK(c.min_w == 0.0 && c.scale == 5.0);

    /* the wrong bound: w = 6 at hi misses by min(6, 2) = 2 */
    const double wrong[4] = { 1.0, 1.0, -0.5, -3.0 };
    c = grade(&p, wrong);
    CHECK(c.residual == 2.0 && c.min_w == -6.0 && c.gap == 0.0);

    /* the free row off by 1/4, the third outside by 1/2 */
    const double off[4] = { -1.0, 1.0, 1.5, -2.75 };
    c = grade(&p, off);
    CHECK(c.residual == 2.0); /* w = 2 where z is above hi: mid(2.5, 2, 0.5) */
    CHECK(c.min_z == -0.5);
    const double free_off[4] = { -1.0, 1.0, -0.5, -2.75 };
    c = grade(&p, free_off);
    CHECK(c.residual == 0.25 && c.velocity == 0.25 && c.min_w == -0.25);
}

/* A fixed variable may have any w: nothing about it is a violation. */
TEST(fixed_rows_have_no_sign)
{
    const double W[1] = { 1.0 }, fixed[1] = { 2.0 };
    for (int k = 0; k < 2; k++) {
        const double q[1] = { k ? 4.0 : -9.0 };
        rb_problem p = { .kind = RB_BOX, .n = 1, .q = q, .lo = fixed, .hi = fixed };
        p.W.dense = W;
        rb_certificate c = grade(&p, fixed);
        CHECK(c.residual == 0.0 && c.velocity == 0.0 && c.gap == 0.0 && c.min_z == 0.0);
        CHECK(c.min_w >= 0.0);
    }
}

/* A row without diagonal, as friction LCPs have: the velocity measure is the natural one. */
TEST(rows_without_diagonal)
{
    const double W[4] = { 0.0, 1.0, -1.0, 0.0 }, q[2] = { -3.0, 1.0 }, z[2] = { 2.0, 1.0 };
    rb_problem p = { .kind = RB_LCP, .n = 2, .q = q };
    p.W.dense = W;
    rb_certificate c = grade(&p, z); /* w = (-2, -1) */
    CHECK(c.residual == 2.0 && c.velocity == 2.0);
}

/* One contact, mu = 1/2, W = I. */
TEST(cone_by_hand)
{
    const double W[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, mu[1] = { 0.5 };
    const double q[3] = { -3.0, 4.0, 0.0 };
    rb_problem p = { .kind = RB_CONE, .n = 3, .q = q, .nc = 1, .dim = 3, .mu = mu };
    p.W.dense = W;

    /* slides: r = (3, -3/2, 0), u = (0, 5/2, 0), on the cone and opposite */
    const double slide[3] = { 3.0, -1.5, 0.0 };
    rb_certificate c = grade(&p, slide);
    CHECK_NEAR(c.residual, 0.0, 1e-15);
    CHECK(c.scale == 5.0 && c.min_w == 0.0);
    CHECK_NEAR(c.min_z, 0.0, 1e-15);
    CHECK_NEAR(c.gap, 0.0, 1e-15);

    /* nothing: r - (u + mu |u_t| n) = (3 - 2, -4, 0) projects to 2.4 (1, -1/2, 0) */
    const double none[3] = { 0.0, 0.0, 0.0 };
    c = grade(&p, none);
    CHECK_NEAR(c.residual, sqrt(2.4 * 2.4 + 1.2 * 1.2), 1e-15);
    CHECK_NEAR(c.relative, c.residual / 5.0, 1e-16);
    CHECK(c.min_w == -3.0 && c.gap == 0.0);

    /* outside the cone by 1: |r_t| = 2.5, mu r_n = 1.5 */
    const double outside[3] = { 3.0, -1.5, 2.0 };
    c = grade(&p, outside);
    CHECK(c.min_z == -1.0);
    CHECK(c.residual > 0.1);
}

/* Frictionless and leaving: no impulse, residual zero, in 2D as well. */
TEST(frictionless_contacts)
{
    const double W[4] = { 1.0, 0.5, 0.5, 2.0 }, q[2] = { 2.0, 7.0 }, mu[1] = { 0.0 };
    const double none[2] = { 0.0, 0.0 }, pull[2] = { -1.0, 0.0 };
    rb_problem p = { .kind = RB_CONE, .n = 2, .q = q, .nc = 1, .dim = 2, .mu = mu };
    p.W.dense = W;
    rb_certificate c = grade(&p, none);
    CHECK(c.residual == 0.0 && c.min_w == 2.0);
    CHECK(grade(&p, pull).residual == 1.0);

    /* pressed: r_n = 2 leaves u_n = 0 and any tangential velocity */
    const double press[2] = { -2.0, 3.0 }, r[2] = { 2.0, 0.0 };
    p.q = press;
    c = grade(&p, r);
    CHECK(c.residual == 0.0 && c.gap == 0.0);
}

/* ---- a slow second implementation --------------------------------------------------------------
 */

/* P_K by its three cases in long double. */
static void slow_project(const long double *x, long double mu, int dim, long double *out)
{
    long double t = dim == 3 ? sqrtl(x[1] * x[1] + x[2] * x[2]) : fabsl(x[1]);
    int inside = t <= mu * x[0] && x[0] >= 0.0L, polar = mu * t <= -x[0];
    long double n = (x[0] + mu * t) / (1.0L + mu * mu);
    for (int k = 0; k < dim; k++) {
        if (inside)
            out[k] = x[k];
        else if (polar)
            out[k] = 0.0L;
        else
            out[k] = k == 0 ? n : mu * n * x[k] / t;
    }
}

static long double slow_contact(const double *r, const double *u, double mu, int dim)
{
    long double x[3] = { 0.0L }, best[3], sum = 0.0L,
                slip = dim == 3 ? hypotl(u[1], u[2]) : fabsl(u[1]);
    for (int k = 0; k < dim; k++) x[k] = (long double)r[k] - u[k];
    x[0] -= mu * slip;
    slow_project(x, mu, dim, best);
    for (int k = 0; k < dim; k++) sum += (r[k] - best[k]) * (r[k] - best[k]);
    return sum;
}

static double slow_residual(const rb_problem *p, const double *z)
{
    static double w[2 * MOST];
    CHECK(p->n <= 2 * MOST);
    CHECK_INT(rb_problem_apply(p, z, NULL, w), RB_OK);
    for (int i = 0; i < p->n; i++) w[i] += p->q[i];
    long double sum = 0.0L, worst = 0.0L;
    for (int c = 0; p->kind == RB_CONE && c < p->nc; c++) {
        sum += slow_contact(z + c * p->dim, w + c * p->dim, p->mu[c], p->dim);
    }
    if (p->kind == RB_CONE) return (double)sqrtl(sum);
    for (int i = 0; i < p->n; i++) {
        double lo = p->kind == RB_BOX ? p->lo[i] : 0.0;
        double hi = p->kind == RB_BOX ? p->hi[i] : INFINITY;

        /* how far z is from where a unit step along -w would be stopped by the bounds */
        long double moved = (long double)z[i] - w[i];
        long double best = moved < lo ? lo : moved > hi ? hi : moved;
        worst = fmaxl(worst, fabsl(z[i] - best));
    }
    return (double)worst;
}

TEST(every_form_against_a_second_implementation)
{
    static double z[2 * MOST];
    int seen[RB_CORPUS_FORMS] = { 0 };
    for (uint64_t seed = 1; seed <= 240; seed++) {
        TEST_SEED(seed);
        rb_corpus_opts opts = rb_corpus_opts_default();
        rb_corpus_problem p;
        opts.form = (int)(seed % RB_CORPUS_FORMS);
        opts.contacts = 1 + (int)(seed % 20);
        CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
        rb_rng rng = rb_rng_make(seed);
        double size = rb_rng_uniform(&rng, 0.001, 2.0);
        for (int i = 0; i < p.problem.n; i++) z[i] = size * rb_rng_uniform(&rng, -1.0, 1.0);
        rb_certificate c = grade(&p.problem, z);
        double slow = slow_residual(&p.problem, z);
        CHECK(slow > 0.0);
        CHECK_NEAR(c.residual, slow, 1e-12 * (1.0 + slow + c.scale));
        CHECK_NEAR(c.relative, c.residual / c.scale, 1e-15 * c.relative);
        seen[opts.form]++;
        rb_corpus_free(&p);
    }
    for (int k = 0; k < RB_CORPUS_FORMS; k++) CHECK_INT(seen[k], 20);
}

/* The three forms of one cone problem get one certificate. */
TEST(forms_get_the_same_certificate)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_certificate c[3];
        double z[192];
        for (int k = 0; k < 3; k++) {
            rb_corpus_opts opts = rb_corpus_opts_default();
            rb_corpus_problem p;
            opts.form = RB_CORPUS_CONE + k;
            CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
            rb_rng rng = rb_rng_make(seed);
            for (int i = 0; i < p.problem.n; i++) z[i] = rb_rng_uniform(&rng, -0.1, 0.3);
            c[k] = grade(&p.problem, z);
            rb_corpus_free(&p);
        }
        for (int k = 1; k < 3; k++) {
            double tol = 1e-11 * (1.0 + c[0].residual + c[0].scale + c[0].gap);
            CHECK_NEAR(c[k].residual, c[0].residual, tol);
            CHECK_NEAR(c[k].velocity, c[0].velocity, tol);
            CHECK_NEAR(c[k].min_z, c[0].min_z, tol);
            CHECK_NEAR(c[k].min_w, c[0].min_w, tol);
            CHECK_NEAR(c[k].gap, c[0].gap, tol);
            CHECK_NEAR(c[k].scale, c[0].scale, 1e-14 * c[0].scale);
        }
    }
}

/* ---- units -------------------------------------------------------------------------------------
 */

/* Impulses in other units: W s, z / s. The velocity measure does not notice. */
TEST(velocity_measure_has_no_units_of_z)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_corpus_opts opts = rb_corpus_opts_default();
        rb_corpus_problem p;
        static double W[192 * 192], z[192];
        opts.form = RB_CORPUS_CONE;
        CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
        int n = p.problem.n;
        rb_rng rng = rb_rng_make(seed);
        for (int i = 0; i < n; i++) z[i] = rb_rng_uniform(&rng, -0.1, 0.3);
        rb_certificate before = grade(&p.problem, z);
        for (int i = 0; i < n * n; i++) W[i] = 1024.0 * p.W[i]; /* a power of two: no rounding */
        for (int i = 0; i < n; i++) z[i] /= 1024.0;
        p.problem.W.dense = W;
        rb_certificate after = grade(&p.problem, z);
        CHECK_NEAR(after.velocity, before.velocity, 1e-13 * before.velocity);
        CHECK(after.residual != before.residual);
        rb_corpus_free(&p);
    }
}

/* One contact of a mechanism with one freedom, a = (1.793, 0, 1.838): to open as fast as asked it
 * would have to slide against friction that holds it. Impulses of 1e14 that nearly cancel in W r do
 * not solve it, though r - P(r - u) and W r + q both round to nothing. */
TEST(huge_impulses_hide_nothing)
{
    const double a[3] = { 1.7930443, 0.0, 1.8381448 };
    const double q[3] = { -0.0227, 0.0, 1.6e-12 }, mu = 1.0;
    double W[9], r[3] = { 2.8e14, 0.0, 0.0 };
    for (int i = 0; i < 9; i++) W[i] = a[i / 3] * a[i % 3];
    r[2] = -r[0] * a[0] / a[2];
    rb_problem p = { .kind = RB_CONE, .n = 3, .q = q, .nc = 1, .dim = 3, .mu = &mu };
    p.W.dense = W;
    rb_certificate c = grade(&p, r);
    CHECK(c.relative > 0.1);
    CHECK(c.velocity > 0.002);
}

/* ---- numbers that are none ---------------------------------------------------------------------
 */

TEST(no_number_no_certificate)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int form = 0; form < RB_CORPUS_FORMS; form++) {
        for (int k = 0; k < 3; k++) {
            TEST_SEED(form);
            rb_corpus_opts opts = rb_corpus_opts_default();
            rb_corpus_problem p;
            static double z[MOST];
            opts.form = form;
            opts.contacts = 5;
            CHECK_INT(rb_corpus_make(3, &opts, &p), RB_OK);
            for (int i = 0; i < p.problem.n; i++) {
                memset(z, 0, sizeof z);
                z[i] = bad[k];
                rb_certificate c = grade(&p.problem, z);
                CHECK(c.residual == INFINITY);
                CHECK(c.relative == INFINITY);
            }
            rb_corpus_free(&p);
        }
    }
}

/* Finite numbers whose products are not: nothing can be certified, least of all because the scale
 * is infinite. */
TEST(overflow_is_not_a_solution)
{
    const double W[1] = { 1e200 }, q[1] = { -1.0 }, z[1] = { 1e200 };
    rb_problem p = { .kind = RB_LCP, .n = 1, .q = q };
    p.W.dense = W;
    CHECK(grade(&p, z).relative == INFINITY);

    const double I[4] = { 1.0, 0.0, 0.0, 1.0 }, mu[1] = { 0.5 };
    const double huge[2] = { -1e155, 1e155 }, r[2] = { 0.99e155, -0.49e155 };
    rb_problem cone = { .kind = RB_CONE, .n = 2, .q = huge, .nc = 1, .dim = 2, .mu = mu };
    cone.W.dense = I;
    CHECK(grade(&cone, r).relative > 1e-3); /* one per cent off */
}

/* ---- rays --------------------------------------------------------------------------------------
 */

static int ray(const double *W, const double *q, int n, const double *d)
{
    rb_problem p = { .kind = RB_LCP, .n = n, .q = q };
    p.W.dense = W;
    int verdict = rb_ray_check(&p, d);

    /* the same matrix as blocks */
    static const int ptr[3] = { 0, 2, 4 }, col[4] = { 0, 1, 0, 1 }, one_ptr[2] = { 0, 1 };
    rb_problem sparse = p;
    sparse.W = (rb_matrix){ .form = RB_BSR, .bs = 1, .ptr = ptr, .col = col, .val = W };
    if (n == 1) sparse.W.ptr = one_ptr;
    CHECK_INT(rb_ray_check(&sparse, d), verdict);
    sparse.W = (rb_matrix){ .form = RB_BSR, .bs = n, .ptr = one_ptr, .col = col, .val = W };
    CHECK_INT(rb_ray_check(&sparse, d), verdict);
    return verdict;
}

TEST(rays_by_hand)
{
    /* w = 0 z - 1 is never >= 0: z = 1 is a ray, and Farkas */
    const double zero[1] = { 0.0 }, minus[1] = { -1.0 }, plus[1] = { 1.0 }, one[1] = { 1.0 };
    CHECK_INT(ray(zero, minus, 1, one), 2);

    /* with q = 1 it is a ray of a problem that z = 0 solves */
    CHECK_INT(ray(zero, plus, 1, one), 1);

    /* not rays: zero, negative, a positive definite W, W d < 0 */
    CHECK_INT(ray(zero, minus, 1, zero), 0);
    CHECK_INT(ray(zero, minus, 1, minus), 0);
    CHECK_INT(ray(one, minus, 1, one), 0);
    CHECK_INT(ray(minus, minus, 1, one), 0);

    /* skew [[0, 1], [-1, 0]]: W (1, 0) = (0, -1) is no ray, W (0, 1) = (1, 0) is one; as W' (0, 1)
     * = (-1, 0) <= 0 it is Farkas where q_2 < 0 */
    const double skew[4] = { 0.0, 1.0, -1.0, 0.0 };
    const double first[2] = { 1.0, 0.0 }, second[2] = { 0.0, 1.0 };
    const double q_neg[2] = { 1.0, -1.0 }, q_pos[2] = { -1.0, 1.0 };
    CHECK_INT(ray(skew, q_neg, 2, first), 0);
    CHECK_INT(ray(skew, q_neg, 2, second), 2);
    CHECK_INT(ray(skew, q_pos, 2, second), 1);

    /* W >= 0 on the ray but W' d > 0: a ray without proof */
    const double upper[4] = { 0.0, 0.0, 1.0, 1.0 };
    CHECK_INT(ray(upper, q_neg, 2, first), 1);
}

TEST(rays_of_any_length_and_of_none)
{
    const double skew[4] = { 0.0, 1.0, -1.0, 0.0 }, q[2] = { 1.0, -1.0 };
    const double small[2] = { 0.0, 1e-200 }, large[2] = { 0.0, 1e200 };
    const double noise[2] = { -1e-12, 1.0 }, off[2] = { 1e-3, 1.0 };
    const double nan_ray[2] = { NAN, 1.0 }, infinite[2] = { 0.0, INFINITY };
    CHECK_INT(ray(skew, q, 2, small), 2);
    CHECK_INT(ray(skew, q, 2, large), 2);
    CHECK_INT(ray(skew, q, 2, noise), 2);
    CHECK_INT(ray(skew, q, 2, off), 0); /* (W d)_2 = -1e-3 */
    CHECK_INT(ray(skew, q, 2, nan_ray), 0);
    CHECK_INT(ray(skew, q, 2, infinite), 0);

    /* LCPs only */
    const double lo[2] = { 0.0, 0.0 }, hi[2] = { INFINITY, INFINITY }, d[2] = { 0.0, 1.0 };
    rb_problem box = { .kind = RB_BOX, .n = 2, .q = q, .lo = lo, .hi = hi };
    box.W.dense = skew;
    CHECK_INT(rb_ray_check(&box, d), 0);
}

/* The caller's scratch is given back, and its absence is said. */
TEST(scratch)
{
    rb_corpus_opts opts = rb_corpus_opts_default();
    rb_corpus_problem p;
    static double z[192];
    opts.form = RB_CORPUS_CONE_OP;
    opts.contacts = 64;
    CHECK_INT(rb_corpus_make(9, &opts, &p), RB_OK);
    rb_certificate own = grade(&p.problem, z), c;
    int refused = 0;
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_arena *arena = rb_arena_new(&alloc, 0);
        rb_status status = arena ? rb_residual(&p.problem, z, arena, &c) : RB_NOMEM;
        refused += status == RB_NOMEM;
        rb_arena_free(arena);
        CHECK_INT(memory.live, 0);
        CHECK(status == RB_NOMEM || memcmp(&c, &own, sizeof c) == 0);
        if (memory.requests < k) break;
    }
    CHECK(refused >= 2);
    rb_corpus_free(&p);
}

TEST_MAIN(RUN(lcp_by_hand), RUN(box_by_hand), RUN(fixed_rows_have_no_sign),
          RUN(rows_without_diagonal), RUN(cone_by_hand), RUN(frictionless_contacts),
          RUN(every_form_against_a_second_implementation), RUN(forms_get_the_same_certificate),
          RUN(velocity_measure_has_no_units_of_z), RUN(no_number_no_certificate),
          RUN(overflow_is_not_a_solution), RUN(huge_impulses_hide_nothing), RUN(rays_by_hand),
          RUN(rays_of_any_length_and_of_none), RUN(scratch))
