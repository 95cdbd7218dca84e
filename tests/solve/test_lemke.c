#include "lcp_cases.h"

#include "base/arena.h"
#include "solve/lemke.h"

TEST(two_rows_by_hand)
{
    /* 2 z1 + z2 = 5, z1 + 2 z2 = 6 */
    lcp_case c;
    case_begin(&c, "hand", 0, 2);
    const double W[4] = { 2, 1, 1, 2 };
    memcpy(c.W, W, sizeof W);
    c.q[0] = -5.0;
    c.q[1] = -6.0;
    double z[2];
    rb_info info = { 0 };
    CHECK_INT(case_solve(&c, "lemke", z, &info), RB_SOLVED);
    CHECK_NEAR(z[0], 4.0 / 3.0, 1e-15);
    CHECK_NEAR(z[1], 7.0 / 3.0, 1e-15);
    CHECK(info.rcond > 0.1 && info.rcond <= 1.0);
}

TEST(no_pivot_where_zero_solves)
{
    lcp_case c;
    case_posdef(&c, 3, 8);
    for (int i = 0; i < c.n; i++) c.q[i] = i;
    double z[CASE_MAX];
    rb_info info = { 0 };
    CHECK_INT(case_solve(&c, "lemke", z, &info), RB_SOLVED);
    CHECK_INT(info.iterations, 0);
    for (int i = 0; i < c.n; i++) CHECK(z[i] == 0.0);
}

/* An open contact of two links of a planar linkage, with its directions across and along the plane:
 * the first are rounding of the normal. All that there is to find is the slip speed. */
TEST(a_direction_that_cannot_move_is_not_a_heavy_body)
{
    const double y[5] = { 2.129, -0.1898, 6.6e-13, 0.1898, -6.6e-13 };
    const double q[6] = { 0.29768, 4.6052e-5, -1.6e-16, -4.6052e-5, 1.6e-16, 0.0 };
    static const char *const words[] = { "lemke", "auto" };
    lcp_case c;
    case_begin(&c, "held", 0, 6);
    memcpy(c.q, q, sizeof q);
    memset(c.W, 0, 36 * sizeof *c.W);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++) c.W[6 * i + j] = y[i] * y[j];
        c.W[6 * i + 5] = i > 0 ? 1.0 : 0.0;
        c.W[30 + i] = i > 0 ? -1.0 : 1.1;
    }
    for (int k = 0; k < 2; k++) {
        double z[6];
        rb_info info = { 0 };
        CHECK_INT(case_solve(&c, words[k], z, &info), RB_SOLVED);
        for (int i = 0; i < 5; i++) CHECK(z[i] == 0.0);
        CHECK_NEAR(z[5], 4.6052e-5, 1e-18);
    }
}

TEST(certificates_of_every_class)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 30);
        case_posdef(&c, seed, n);
        case_must_solve(&c, "lemke");
        case_skewed(&c, seed, n);
        case_must_solve(&c, "lemke");
        case_semidefinite(&c, seed, n);
        case_must_solve(&c, "lemke");
        case_box(&c, seed, n);
        case_must_solve(&c, "lemke");
        case_mixed(&c, seed, n);
        case_must_solve(&c, "lemke");
    }
}

TEST(exponential_and_cyclic_examples)
{
    lcp_case c;
    case_kostreva(&c);
    case_must_solve(&c, "lemke");
    for (int n = 1; n <= 14; n++) {
        case_murty(&c, n);
        case_must_solve(&c, "lemke");
        case_fathi(&c, n);
        case_must_solve(&c, "lemke");
    }
}

/* Small integers and q = -1: every ratio test has ties. The strict rule must end too. */
TEST(degenerate_problems_end)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_mark start = rb_arena_mark(arena);
    int solved = 0, rays = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        lcp_case c;
        case_begin(&c, "ties", seed, 3 + (int)(seed % 4));
        for (int i = 0; i < c.n * c.n; i++) c.W[i] = (double)(rb_rng_next(&rng) % 7) - 3.0;
        for (int i = 0; i < c.n; i++) {
            c.W[i * c.n + i] = 1.0;
            c.q[i] = -1.0;
        }
        rb_problem p = case_problem(&c);
        rb_boxed b;
        rb_partition t;
        rb_measure m;
        CHECK_INT(rb_boxed_view(&p, arena, &b), RB_OK);
        CHECK_INT(rb_partition_make(c.n, arena, &t), RB_OK);
        for (int strict = 0; strict < 2; strict++) {
            rb_lemke_job job = { .lcp = &b, .max_pivots = 10000, .strict = strict };
            CHECK_INT(rb_lemke_polished(&job, &t, arena, &m), RB_OK);
            CHECK(job.end == RB_LEMKE_SOLVED || job.end == RB_LEMKE_RAY);
            solved += job.end == RB_LEMKE_SOLVED;
            rays += job.end == RB_LEMKE_RAY;
            if (job.end == RB_LEMKE_SOLVED) CHECK(case_grade(&c, t.z) <= 1e-12);
        }
        rb_arena_reset(arena, start);
    }
    CHECK(solved > 100 && rays > 100);
    rb_arena_free(arena);
}

TEST(infeasible_ends_on_a_ray_that_proves_it)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        case_infeasible(&c, seed, 2 + (int)(seed % 20));
        double z[CASE_MAX], ray[CASE_MAX];
        rb_info info = { .ray = ray };
        rb_problem p = case_problem(&c);
        CHECK_INT(rb_ray_check(&p, c.farkas), 2);
        CHECK_INT(case_solve(&c, "lemke", z, &info), RB_RAY);
        CHECK_INT(rb_ray_check(&p, ray), 2);
    }
}

TEST(a_ray_is_not_a_proof_outside_the_class)
{
    /* w1 = z2 - 1, w2 = 0: z = (0, 1) solves it, but nothing blocks z1 */
    lcp_case c;
    case_begin(&c, "ray", 0, 2);
    c.W[1] = 1.0;
    c.q[0] = -1.0;
    double z[2], ray[2];
    rb_info info = { .ray = ray };
    rb_problem p = case_problem(&c);
    CHECK_INT(case_solve(&c, "lemke", z, &info), RB_RAY);
    CHECK_INT(rb_ray_check(&p, ray), 1);

    /* w = -z - 1: no solution; its ray has z0 in it and is none by (C.5) */
    case_begin(&c, "none", 0, 1);
    c.W[0] = -1.0;
    c.q[0] = -1.0;
    CHECK_INT(case_solve(&c, "lemke", z, &info), RB_FAILED);
}

TEST(warm_start_takes_fewer_pivots)
{
    lcp_case c;
    long cold_pivots = 0, warm_pivots = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        case_skewed(&c, seed, 20);
        double z[CASE_MAX], warm_z[CASE_MAX];
        unsigned char mode[CASE_MAX] = { 0 };
        rb_info info = { .mode = mode };
        rb_solve_opts o = rb_solve_opts_default();
        rb_problem p = case_problem(&c);
        o.solver = rb_solver_find("lemke");
        o.unique = 0;
        CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
        cold_pivots += info.iterations;

        /* three rows flipped: the violated rows are covered, the others stay */
        for (int i = 0; i < 3; i++) {
            mode[5 * i] = mode[5 * i] == RB_MODE_STICK ? RB_MODE_OPEN : RB_MODE_STICK;
        }
        o.warm = 1;
        memcpy(warm_z, z, sizeof z);
        CHECK_INT(rb_solve(&p, &o, warm_z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        warm_pivots += info.iterations;
        for (int i = 0; i < c.n; i++) CHECK_NEAR(warm_z[i], z[i], 1e-12);
    }
    CHECK(2 * warm_pivots < cold_pivots);
}

TEST(rows_in_another_order_or_unit)
{
    lcp_case c, d;
    double z[CASE_MAX], y[CASE_MAX];
    rb_info info = { 0 };
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        case_skewed(&c, seed, 12);
        CHECK_INT(case_solve(&c, "lemke", z, &info), RB_SOLVED);
        case_begin(&d, "moved", seed, 12);
        for (int i = 0; i < 12; i++) {
            int a = (5 * i + 3) % 12;
            double s = i % 2 ? 1e3 : 1e-3;
            d.q[i] = s * c.q[a];
            for (int j = 0; j < 12; j++) {
                d.W[i * 12 + j] = s * c.W[a * 12 + (5 * j + 3) % 12] * (j % 2 ? 1e3 : 1e-3);
            }
        }
        CHECK_INT(case_solve(&d, "lemke", y, &info), RB_SOLVED);
        for (int i = 0; i < 12; i++) {
            CHECK_NEAR(y[i] * (i % 2 ? 1e3 : 1e-3), z[(5 * i + 3) % 12], 1e-10);
        }
    }
}

TEST(pivot_limit_is_kept)
{
    lcp_case c;
    case_posdef(&c, 5, 30);
    rb_problem p = case_problem(&c);
    rb_solve_opts o = rb_solve_opts_default();
    double z[CASE_MAX];
    rb_info info = { 0 };
    o.solver = rb_solver_find("lemke");
    o.max_iter = 2;
    CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
    CHECK_INT(info.outcome, RB_FAILED);
    for (int i = 0; i < c.n; i++) CHECK(isfinite(z[i]));
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_semidefinite(&c, 2, 12);
    case_starve(&c, "lemke", 0);
    case_starve(&c, "lemke", 1);
    case_mixed(&c, 2, 12);
    case_starve(&c, "lemke", 0);
}

TEST(sizes_out_of_range_are_refused)
{
    lcp_case c;
    case_posdef(&c, 1, 3);
    rb_problem p = case_problem(&c);
    rb_solve_opts o = rb_solve_opts_default();
    double z[CASE_MAX];
    rb_info info = { 0 };
    o.solver = rb_solver_find("lemke");
    p.n = 0;
    CHECK(rb_solve(&p, &o, z, &info) != RB_OK);
    p.n = -1;
    CHECK(rb_solve(&p, &o, z, &info) != RB_OK);
    p = case_problem(&c);
    c.q[1] = NAN;
    CHECK_INT(rb_solve(&p, &o, z, &info), RB_BAD_INPUT);
}

TEST_MAIN(RUN(two_rows_by_hand), RUN(no_pivot_where_zero_solves),
          RUN(a_direction_that_cannot_move_is_not_a_heavy_body), RUN(certificates_of_every_class),
          RUN(exponential_and_cyclic_examples), RUN(degenerate_problems_end),
          RUN(infeasible_ends_on_a_ray_that_proves_it), RUN(a_ray_is_not_a_proof_outside_the_class),
          RUN(warm_start_takes_fewer_pivots), RUN(rows_in_another_order_or_unit),
          RUN(pivot_limit_is_kept), RUN(memory_may_run_out), RUN(sizes_out_of_range_are_refused))
