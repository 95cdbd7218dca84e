#include "lcp_cases.h"

#include "base/arena.h"
#include "solve/judice_pires.h"

TEST(p_matrices_boxed_and_mixed)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 36);
        case_posdef(&c, seed, n);
        case_must_solve(&c, "judice-pires");
        case_skewed(&c, seed, n);
        case_must_solve(&c, "judice-pires");
        case_box(&c, seed, n);
        case_must_solve(&c, "judice-pires");
        case_mixed(&c, seed, n);
        case_must_solve(&c, "judice-pires");
    }
}

/* Where block exchanges alone go round in circles the single ones must take over. */
TEST(single_exchanges_break_the_cycle)
{
    lcp_case c;
    case_kostreva(&c);
    case_must_solve(&c, "judice-pires");

    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_problem p = case_problem(&c);
    rb_boxed b;
    rb_partition t;
    CHECK_INT(rb_boxed_view(&p, arena, &b), RB_OK);
    CHECK_INT(rb_partition_make(3, arena, &t), RB_OK);
    t.set[0] = RB_MODE_STICK;
    rb_exchange_job job = { .b = &b, .t = &t, .max_steps = 1000, .blocks = 20 };
    CHECK_INT(rb_exchange_run(&job, arena), RB_OK);
    CHECK_INT(job.end, RB_EXCHANGE_CYCLE);
    rb_arena_free(arena);
}

/* Blocks need a few steps where single exchanges need 2^n. */
TEST(blocks_beat_murty_on_his_example)
{
    lcp_case c;
    double z[CASE_MAX];
    for (int n = 2; n <= 12; n++) {
        rb_info info = { 0 };
        case_murty(&c, n);
        CHECK_INT(case_solve(&c, "judice-pires", z, &info), RB_SOLVED);
        CHECK(info.iterations <= 4 * n + 8);
    }
}

/* Two identical rows: the block of both is singular, one of them is dropped and stays right. */
TEST(dependent_rows_are_dropped)
{
    lcp_case c;
    case_begin(&c, "twins", 0, 3);
    const double W[9] = { 2, 2, 1, 2, 2, 1, 1, 1, 3 };
    memcpy(c.W, W, sizeof W);
    c.q[0] = c.q[1] = -4.0;
    c.q[2] = -1.0;
    double z[CASE_MAX];
    rb_info info = { 0 };
    CHECK_INT(case_solve(&c, "judice-pires", z, &info), RB_SOLVED);
    CHECK_NEAR(z[0] + z[1], 2.0, 1e-14);
}

TEST(warm_start_needs_one_factorisation)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        case_box(&c, seed, 24);
        double z[CASE_MAX] = { 0 };
        unsigned char mode[CASE_MAX] = { 0 };
        rb_info info = { .mode = mode };
        rb_problem p = case_problem(&c);
        rb_solve_opts o = rb_solve_opts_default();
        o.solver = rb_solver_find("judice-pires");
        o.unique = 0;
        CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
        for (int i = 0; i < c.n; i++) c.q[i] *= 1.0 + 1e-6 * i;
        o.warm = 1;
        CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK_INT(info.iterations, 1);
    }
}

TEST(never_wrong_on_infeasible_problems)
{
    lcp_case c;
    double z[CASE_MAX];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_info info = { 0 };
        case_infeasible(&c, seed, 2 + (int)(seed % 24));
        CHECK_INT(case_solve(&c, "judice-pires", z, &info), RB_FAILED);
    }
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_mixed(&c, 4, 9);
    case_starve(&c, "judice-pires", 0);
    case_starve(&c, "judice-pires", 1);
}

TEST_MAIN(RUN(p_matrices_boxed_and_mixed), RUN(single_exchanges_break_the_cycle),
          RUN(blocks_beat_murty_on_his_example), RUN(dependent_rows_are_dropped),
          RUN(warm_start_needs_one_factorisation), RUN(never_wrong_on_infeasible_problems),
          RUN(memory_may_run_out))
