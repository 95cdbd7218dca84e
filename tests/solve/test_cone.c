/* One Coulomb cone: projection, the exact solution of one contact, modes, the prepared problem. */
#include "corpus_support.h"

#include "solve/cone.h"

/* ---- projection --------------------------------------------------------------------------------
 */

TEST(projection_by_hand)
{
    /* inside, in the polar cone, and on the side: (0, 2) onto |t| <= n is (1, 1) */
    double inside[3] = { 2.0, 0.6, 0.8 }, polar[3] = { -3.0, 1.0, 1.0 },
           side[3] = { 0.0, 0.0, 2.0 };
    rb_cone_project(inside, 1.0, 3);
    CHECK(inside[0] == 2.0 && inside[1] == 0.6 && inside[2] == 0.8);
    rb_cone_project(polar, 1.0, 3);
    CHECK(polar[0] == 0.0 && polar[1] == 0.0 && polar[2] == 0.0);
    rb_cone_project(side, 1.0, 3);
    CHECK_NEAR(side[0], 1.0, 1e-15);
    CHECK_NEAR(side[2], 1.0, 1e-15);
    double flat[2] = { 0.0, -2.0 };
    rb_cone_project(flat, 1.0, 2);
    CHECK(flat[0] == 1.0 && flat[1] == -1.0);
}

TEST(projection_without_friction)
{
    double up[3] = { 2.0, 5.0, 1.0 }, down[3] = { -2.0, 5.0, 1.0 }, axis[3] = { -2.0, 0.0, 0.0 };
    rb_cone_project(up, 0.0, 3);
    CHECK(up[0] == 2.0 && up[1] == 0.0 && up[2] == 0.0);
    rb_cone_project(down, 0.0, 3);
    CHECK(down[0] == 0.0 && down[1] == 0.0 && down[2] == 0.0);
    rb_cone_project(axis, 0.0, 3);
    CHECK(axis[0] == 0.0 && axis[1] == 0.0 && axis[2] == 0.0);
}

/* y = P_K(x) is characterised by y in K, x - y in the polar cone, y . (x - y) = 0. */
TEST(projection_has_its_properties)
{
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int dim = 2 + (int)(seed % 2);
        double mu = seed % 5 ? rb_rng_uniform(&rng, 0.0, 2.0) : 0.0, x[3], y[3], rest[3];
        for (int i = 0; i < dim; i++) x[i] = y[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        rb_cone_project(y, mu, dim);
        double dot = 0.0;
        for (int i = 0; i < dim; i++) rest[i] = x[i] - y[i];
        for (int i = 0; i < dim; i++) dot += rest[i] * y[i];
        CHECK(support_tangent(y, dim) <= mu * y[0] + 1e-15);
        CHECK(mu * support_tangent(rest, dim) <= -rest[0] + 1e-15);
        CHECK_NEAR(dot, 0.0, 1e-15);
    }
}

/* ---- one contact -------------------------------------------------------------------------------
 */

/* |r - P_K(r - rho (u + mu |u_t| n))| / rho with 1 / rho the mean diagonal: a velocity. Written
 * here, in long double. */
static double contact_error(const double *W, const double *b, double mu, int dim, const double *r)
{
    long double u[3], x[3] = { 0.0L }, mean = 0.0L, sum = 0.0L;
    for (int i = 0; i < dim; i++) {
        u[i] = b[i];
        for (int j = 0; j < dim; j++) u[i] += (long double)W[i * dim + j] * r[j];
        mean += W[i * dim + i] / (long double)dim;
    }
    long double slip = dim == 3 ? sqrtl(u[1] * u[1] + u[2] * u[2]) : fabsl(u[1]);
    for (int i = 0; i < dim; i++) x[i] = r[i] - u[i] / mean;
    x[0] -= mu * slip / mean;
    long double t = dim == 3 ? sqrtl(x[1] * x[1] + x[2] * x[2]) : fabsl(x[1]);
    long double n = (x[0] + mu * t) / (1.0L + (long double)mu * mu);
    int inside = x[0] >= 0.0L && t <= mu * x[0];
    for (int i = 0; i < dim; i++) {
        long double best = inside ? x[i] : n <= 0.0L ? 0.0L : i == 0 ? n : mu * n * x[i] / t;
        sum += (r[i] - best) * (r[i] - best);
    }
    return (double)(mean * sqrtl(sum));
}

static void solve_local(const double *W, const double *b, double mu, int dim, double *r)
{
    memset(r, 0, 3 * sizeof *r);
    CHECK_INT(rb_cone_local(W, b, mu, dim, r), 1);
    double size = 0.0;
    for (int i = 0; i < dim; i++) size += fabs(b[i]);
    CHECK_NEAR(contact_error(W, b, mu, dim, r), 0.0, 1e-14 * size);
}

/* W = diag(1, 2, 2). Stick: r = -W^-1 b = (4, -1, 0) is inside for mu = 1/2. */
TEST(stick_slide_and_leave_by_hand)
{
    const double W[9] = { 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0 };
    const double press[3] = { -4.0, 2.0, 0.0 }, leave[3] = { 0.5, 2.0, 1.0 };
    double r[3];
    solve_local(W, press, 0.5, 3, r);
    CHECK_NEAR(r[0], 4.0, 1e-15);
    CHECK_NEAR(r[1], -1.0, 1e-15);
    CHECK(r[2] == 0.0);
    solve_local(W, leave, 0.5, 3, r);
    CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);

    /* slides along (0.6, 0.8): r_t = -mu r_n (0.6, 0.8) with mu = 1/4, so u_t = 10 - 2 = 8 of it */
    const double fast[3] = { -4.0, 6.0, 8.0 };
    solve_local(W, fast, 0.25, 3, r);
    CHECK_NEAR(r[0], 4.0, 1e-14);
    CHECK_NEAR(r[1], -0.6, 1e-14);
    CHECK_NEAR(r[2], -0.8, 1e-14);
}

/* Planar: W = [[2, 1], [1, 3]]. Friction feeds back on the normal impulse. */
TEST(planar_by_hand)
{
    const double W[4] = { 2.0, 1.0, 1.0, 3.0 };
    double r[3];

    /* b = (-5, -5): r = (2, 1) sticks from mu = 1/2 on */
    const double b[2] = { -5.0, -5.0 };
    solve_local(W, b, 0.5, 2, r);
    CHECK_NEAR(r[0], 2.0, 1e-15);
    CHECK_NEAR(r[1], 1.0, 1e-15);

    /* mu = 1/4: r_t = r_n / 4, r_n = 5 / (2 + 1/4) = 20/9, u_t = 20/9 * 7/4 - 5 < 0 */
    solve_local(W, b, 0.25, 2, r);
    CHECK_NEAR(r[0], 20.0 / 9.0, 1e-15);
    CHECK_NEAR(r[1], 5.0 / 9.0, 1e-15);
    const double leave[2] = { 1.0, -5.0 };
    solve_local(W, leave, 0.25, 2, r);
    CHECK(r[0] == 0.0 && r[1] == 0.0);
}

TEST(touching_without_approach)
{
    const double W[9] = { 1.0, 0.2, 0.1, 0.2, 2.0, 0.3, 0.1, 0.3, 2.0 };
    const double graze[3] = { 0.0, 1.0, 1.0 }, rest[3] = { 0.0, 0.0, 0.0 };
    const double minus_zero[3] = { -0.0, 1.0, -1.0 };
    double r[3];
    solve_local(W, graze, 0.5, 3, r);
    CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
    solve_local(W, rest, 0.5, 3, r);
    CHECK(r[0] == 0.0);
    solve_local(W, minus_zero, 0.5, 3, r);
    CHECK(r[0] == 0.0);

    /* straight down, frictionless and not */
    const double down[3] = { -2.0, 0.0, 0.0 };
    solve_local(W, down, 0.0, 3, r);
    CHECK_NEAR(r[0], 2.0, 1e-15);
    CHECK(r[1] == 0.0 && r[2] == 0.0);
    solve_local(W, down, 5.0, 3, r);
    CHECK(r[0] > 0.0);
}

/* W = J J' + least I with unequal scales of the rows of J. */
static void random_contact(rb_rng *rng, int dim, double least, double *W, double *b)
{
    double J[9];
    for (int i = 0; i < dim * dim; i++) J[i] = rb_rng_uniform(rng, -1.0, 1.0);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            double sum = i == j ? least : 0.0;
            for (int k = 0; k < dim; k++) sum += J[i * dim + k] * J[j * dim + k];
            W[i * dim + j] = sum;
        }
        b[i] = rb_rng_uniform(rng, -1.0, 1.0);
    }
}

typedef struct tally {
    int solved, failed;
    int open, stick, slide;
    double worst; /* error of the solved ones over |b| + |W| |r| [1] */
} tally;

static void random_contacts(int dim, double least, uint64_t count, tally *t)
{
    *t = (tally){ 0 };
    for (uint64_t seed = 1; seed <= count; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double W[9], b[3], r[3] = { 0.0 };
        double mu = seed % 16 ? rb_rng_uniform(&rng, 0.0, 1.5) : 0.0;
        random_contact(&rng, dim, least, W, b);
        int warm = seed % 3 == 0; /* any guess will do */
        for (int i = 0; warm && i < dim; i++) r[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        int solved = rb_cone_local(W, b, mu, dim, r);
        for (int i = 0; i < dim; i++) CHECK(isfinite(r[i]));
        CHECK(r[0] >= 0.0);
        CHECK(support_tangent(r, dim) <= mu * r[0] * (1.0 + 1e-14));
        t->solved += solved;
        t->failed += !solved;
        if (!solved) continue;
        double size = 0.0, r_size = 0.0;
        for (int i = 0; i < dim; i++) size += fabs(b[i]);
        for (int i = 0; i < dim; i++) r_size += fabs(r[i]);
        for (int i = 0; i < dim * dim; i++) size = fmax(size, fabs(W[i]) * r_size);
        t->worst = fmax(t->worst, contact_error(W, b, mu, dim, r) / size);
        if (r[0] == 0.0)
            t->open++;
        else if (support_tangent(r, dim) < mu * r[0] * (1.0 - 1e-12))
            t->stick++;
        else
            t->slide++;
    }
}

/* Well conditioned: all solved, to rounding of |b| ~ 1 and |W| ~ 1. */
TEST(random_contacts_in_space)
{
    tally t;
    random_contacts(3, 0.05, 100000, &t);
    if (t.failed || t.worst > 1e-12) {
        print_error("%d failed, worst %.3g of the terms\n", t.failed, t.worst);
    }
    CHECK_INT(t.failed, 0);
    CHECK(t.worst <= 1e-12);
    CHECK(t.open > 10000 && t.stick > 5000 && t.slide > 10000);
}

TEST(random_contacts_in_the_plane)
{
    tally t;
    random_contacts(2, 0.05, 100000, &t);
    if (t.failed || t.worst > 1e-12) {
        print_error("%d failed, worst %.3g of the terms\n", t.failed, t.worst);
    }
    CHECK_INT(t.failed, 0);
    CHECK(t.worst <= 1e-12);
    CHECK(t.open > 10000 && t.stick > 5000 && t.slide > 10000);
}

/* Nearly singular: impulses reach 1e6 and more, so that u has lost their digits. */
TEST(random_contacts_nearly_singular)
{
    for (int dim = 2; dim <= 3; dim++) {
        tally t;
        random_contacts(dim, 1e-9, 100000, &t);
        if (t.failed || t.worst > 1e-8) {
            print_error("dim %d: %d failed, worst %.3g of the terms\n", dim, t.failed, t.worst);
        }
        CHECK_INT(t.failed, 0);
        CHECK(t.worst <= 1e-8);
    }
}

/* A contact that nothing can move (W = 0) has no solution; that is said, and r stays a number. */
TEST(hopeless_contacts)
{
    const double W[9] = { 0.0 }, b[3] = { -1.0, 0.5, 0.5 };
    double r[3] = { 0.0 };
    CHECK_INT(rb_cone_local(W, b, 0.5, 3, r), 0);
    for (int i = 0; i < 3; i++) CHECK(isfinite(r[i]));
    CHECK(r[0] >= 0.0 && support_tangent(r, 3) <= 0.5 * r[0] * (1.0 + 1e-15));
    CHECK_INT(rb_cone_local(W, b, 0.5, 2, r), 0);
}

/* A frame turned about the normal turns the answer. */
TEST(turning_the_frame_turns_the_answer)
{
    const double c = 0.8, s = 0.6;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double W[9], b[3], r[3] = { 0.0 }, mu = rb_rng_uniform(&rng, 0.0, 1.0);
        random_contact(&rng, 3, 0.05, W, b);
        CHECK_INT(rb_cone_local(W, b, mu, 3, r), 1);
        const double R[9] = { 1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c };
        double V[9], RW[9], d[3], y[3] = { 0.0 };
        for (int i = 0; i < 9; i++) {
            RW[i] = 0.0;
            for (int k = 0; k < 3; k++) RW[i] += R[i / 3 * 3 + k] * W[k * 3 + i % 3];
        }
        for (int i = 0; i < 9; i++) {
            V[i] = 0.0;
            for (int k = 0; k < 3; k++) V[i] += RW[i / 3 * 3 + k] * R[i % 3 * 3 + k];
        }
        for (int i = 0; i < 3; i++)
            d[i] = R[i * 3] * b[0] + R[i * 3 + 1] * b[1] + R[i * 3 + 2] * b[2];
        CHECK_INT(rb_cone_local(V, d, mu, 3, y), 1);
        CHECK_NEAR(y[0], r[0], 1e-10);
        CHECK_NEAR(y[1], c * r[1] - s * r[2], 1e-10);
        CHECK_NEAR(y[2], s * r[1] + c * r[2], 1e-10);
    }
}

/* ---- the prepared problem ----------------------------------------------------------------------
 */

TEST(velocity_and_error_agree_with_the_certificate)
{
    for (uint64_t seed = 1; seed <= 80; seed++) {
        TEST_SEED(seed);
        static const int forms[] = { RB_CORPUS_CONE, RB_CORPUS_CONE_BSR, RB_CORPUS_CONE_OP,
                                     RB_CORPUS_CONE_2D };
        rb_corpus_problem p = support_make(seed, -1, forms[seed % 4], 0);
        rb_arena *arena = rb_arena_new(NULL, 0);
        rb_rng rng = rb_rng_make(seed);
        rb_cones k;
        double r[192], u[192], plain[192];
        CHECK_INT(rb_cones_make(&p.problem, arena, &k), RB_OK);
        CHECK_INT(k.n, p.problem.n);
        for (int i = 0; i < k.n; i++) r[i] = rb_rng_uniform(&rng, -0.2, 0.5);
        rb_cones_velocity(&k, r, u);
        CHECK_INT(rb_problem_apply(&p.problem, r, NULL, plain), RB_OK);
        double size = 1.0;
        for (int i = 0; i < k.n; i++) {
            plain[i] += p.problem.q[i];
            size = fmax(size, fabs(plain[i]));
        }
        CHECK(support_apart(u, plain, k.n) <= 1e-12 * size);
        rb_certificate cert;
        CHECK_INT(rb_residual(&p.problem, r, NULL, &cert), RB_OK);
        CHECK_NEAR(rb_cones_error(&k, r, u), cert.relative, 1e-11 * (1.0 + cert.relative));
        for (int c = 0; c < k.nc; c++) {
            double trace = 0.0;
            const double *D = k.W.val + k.diag[c] * k.dim * k.dim;
            CHECK_INT(k.W.col[k.diag[c]], c);
            for (int i = 0; i < k.dim; i++) trace += D[i * k.dim + i];
            CHECK_NEAR(k.rho[c] * trace / k.dim, 1.0, 1e-14);
        }
        rb_arena_free(arena);
        rb_corpus_free(&p);
    }
}

TEST(modes_by_hand)
{
    /* three contacts, W = I: leaving, sticking, sliding */
    double W[81] = { 0.0 };
    for (int i = 0; i < 9; i++) W[i * 10] = 1.0;
    const double q[9] = { 1.0, 0.0, 0.0, -2.0, 0.5, 0.0, -2.0, 3.0, 0.0 };
    const double mu[3] = { 0.5, 0.5, 0.5 };
    const double r[9] = { 0.0, 0.0, 0.0, 2.0, -0.5, 0.0, 2.0, -1.0, 0.0 };
    rb_problem p = { .kind = RB_CONE, .n = 9, .q = q, .nc = 3, .dim = 3, .mu = mu };
    p.W.dense = W;
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_cones k;
    double u[9];
    unsigned char mode[3];
    CHECK_INT(rb_cones_make(&p, arena, &k), RB_OK);
    rb_cones_velocity(&k, r, u);
    rb_cones_modes(&k, r, u, mode);
    CHECK_INT(mode[0], RB_MODE_OPEN);
    CHECK_INT(mode[1], RB_MODE_STICK);
    CHECK_INT(mode[2], RB_MODE_SLIDE);
    rb_arena_free(arena);
}

TEST_MAIN(RUN(projection_by_hand), RUN(projection_without_friction),
          RUN(projection_has_its_properties), RUN(stick_slide_and_leave_by_hand),
          RUN(planar_by_hand), RUN(touching_without_approach), RUN(random_contacts_in_space),
          RUN(random_contacts_in_the_plane), RUN(random_contacts_nearly_singular),
          RUN(hopeless_contacts), RUN(turning_the_frame_turns_the_answer),
          RUN(velocity_and_error_agree_with_the_certificate), RUN(modes_by_hand))
