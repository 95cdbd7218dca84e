/* Cones as pyramids: by hand, against Stewart-Trinkle problems of the corpus, and how close a fan
 * of edges gets. */
#include "cone_support.h"

#include "solve/polyhedron.h"

static double solve_pyramid(const rb_corpus_problem *p, double spread, double *r, int *solved)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_cones k;
    int pivots = 0;
    double u[SUPPORT_ROWS], spreads[SUPPORT_ROWS];
    CHECK_INT(rb_cones_make(&p->problem, arena, &k), RB_OK);
    for (int c = 0; c < k.nc; c++) spreads[c] = spread;
    CHECK_INT(rb_polyhedron_solve(&k, RB_POLYHEDRON_FINE, spread > 0.0 ? spreads : NULL, arena, r,
                                  solved, &pivots),
              RB_OK);
    CHECK(!*solved || pivots >= 0);
    rb_cones_velocity(&k, r, u);
    double error = rb_cones_error(&k, r, u);
    rb_arena_free(arena);
    return error;
}

/* One contact that slides along t1, an edge of the pyramid: the cone's own answer. */
TEST(an_edge_is_exact)
{
    const double W[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, mu[1] = { 0.5 };
    const double q[3] = { -2.0, 5.0, 0.0 };
    rb_corpus_problem p = { .nc = 1 };
    p.problem = (rb_problem){ .kind = RB_CONE, .n = 3, .q = q, .nc = 1, .dim = 3, .mu = mu };
    p.problem.W.dense = W;
    double r[3] = { 0.0 };
    int solved;
    CHECK(solve_pyramid(&p, 0.0, r, &solved) <= 1e-14);
    CHECK_INT(solved, 1);
    CHECK_NEAR(r[0], 2.0, 1e-14);
    CHECK_NEAR(r[1], -1.0, 1e-14);
    CHECK_NEAR(r[2], 0.0, 1e-14);
}

/* In the plane two edges are the whole cone. */
TEST(planar_pyramids_are_exact)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, -1, RB_CORPUS_CONE_2D, 1 + (int)(seed % 12));
        double r[SUPPORT_ROWS] = { 0.0 };
        int solved;
        double error = solve_pyramid(&p, 0.0, r, &solved);
        CHECK_INT(solved, 1);
        CHECK(error <= 1e-8);
        rb_corpus_free(&p);
    }
}

/* Impulses lie in the pyramid, hence in the cone, and bodies do not approach. */
TEST(answers_are_admissible)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, -1, RB_CORPUS_CONE, 1 + (int)(seed % 16));
        double r[SUPPORT_ROWS] = { 0.0 };
        int solved;
        solve_pyramid(&p, 0.0, r, &solved);
        CHECK_INT(solved, 1);
        rb_certificate cert;
        CHECK_INT(rb_residual(&p.problem, r, NULL, &cert), RB_OK);

        /* the linear problem is certified to 1e-9 of max(1, |q|, |W| max(1, |r|)); five of its
         * edges may add up to one friction */
        double W = 0.0, size = 1.0;
        for (int i = 0; i < p.problem.n * p.problem.n; i++) W = fmax(W, fabs(p.W[i]));
        for (int i = 0; i < p.problem.n; i++) size = fmax(size, fabs(r[i]));
        double tol = 5e-9 * fmax(1.0, W * size);
        CHECK(cert.min_z >= -tol);
        CHECK(cert.min_w >= -tol);
        rb_corpus_free(&p);
    }
}

/* The eight-sided pyramid of one contact is the corpus's own st8-v: one velocity by two ways. */
TEST(agrees_with_stewart_trinkle)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem cone = support_make(seed, RB_CORPUS_PILE, RB_CORPUS_CONE, 1);
        rb_corpus_problem st = support_make(seed, RB_CORPUS_PILE, RB_CORPUS_ST8_V, 1);
        double r[3] = { 0.0 }, z[SUPPORT_ROWS] = { 0.0 }, u[3], v[3];
        int solved;
        solve_pyramid(&cone, 0.0, r, &solved);
        CHECK_INT(solved, 1);
        rb_solve_opts opts = support_opts("lemke");
        CHECK_INT(support_solve(&st.problem, &opts, z, NULL).outcome, RB_SOLVED);
        CHECK_INT(rb_corpus_velocities(&cone, r, u), RB_OK);
        CHECK_INT(rb_corpus_velocities(&st, z, v), RB_OK);
        CHECK(support_apart(u, v, 3) <= 1e-9 * rb_corpus_speed(&cone));
        rb_corpus_free(&cone);
        rb_corpus_free(&st);
    }
}

/* Each round with a fan a quarter as wide gets closer: after six the cone is met to 1e-4 of q. */
TEST(a_narrower_fan_is_closer)
{
    int close = 0, all = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, RB_CORPUS_PILE, RB_CORPUS_CONE, 1 + (int)seed % 6);
        double r[SUPPORT_ROWS] = { 0.0 }, spread = 0.0, first = 0.0, last = 0.0;
        int solved;
        for (int round = 0; round < 6; round++) {
            last = solve_pyramid(&p, spread, r, &solved);
            CHECK_INT(solved, 1);
            if (round == 0) first = last;
            spread = round == 0 ? 0.2 : 0.25 * spread;
        }
        CHECK(last <= first + 1e-9);
        close += last <= 1e-4;
        all++;
        rb_corpus_free(&p);
    }
    CHECK(close >= all * 9 / 10);
}

/* Above 133 contacts the linear problem is over its row limit: r is left alone. */
TEST(large_islands_are_left_alone)
{
    enum { NC = 134 };
    static double W[9 * NC * NC], q[3 * NC], mu[NC], r[3 * NC];
    for (int i = 0; i < 3 * NC; i++) W[i * 3 * NC + i] = 1.0;
    for (int i = 0; i < 3 * NC; i++) q[i] = i % 3 ? 0.0 : -1.0;
    for (int i = 0; i < 3 * NC; i++) r[i] = i;
    rb_corpus_problem p = { .nc = NC };
    p.problem = (rb_problem){ .kind = RB_CONE, .n = 3 * NC, .q = q, .nc = NC, .dim = 3, .mu = mu };
    p.problem.W.dense = W;
    int solved = 1;
    solve_pyramid(&p, 0.0, r, &solved);
    CHECK_INT(solved, 0);
    for (int i = 0; i < 3 * NC; i++) CHECK(r[i] == i);
}

TEST_MAIN(RUN(an_edge_is_exact), RUN(planar_pyramids_are_exact), RUN(answers_are_admissible),
          RUN(agrees_with_stewart_trinkle), RUN(a_narrower_fan_is_closer),
          RUN(large_islands_are_left_alone))
