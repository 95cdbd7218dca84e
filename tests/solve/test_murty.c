#include "lcp_cases.h"

TEST(p_matrices)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 14);
        case_posdef(&c, seed, n);
        case_must_solve(&c, "murty");
        case_skewed(&c, seed, n);
        case_must_solve(&c, "murty");
        case_box(&c, seed, n);
        case_must_solve(&c, "murty");
        case_mixed(&c, seed, n);
        case_must_solve(&c, "murty");
    }
}

/* Murty's example with its rows in the opposite order. */
static void case_reversed(lcp_case *c, int n)
{
    case_murty(c, n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) c->W[i * n + j] = j < i ? 0.0 : i == j ? 1.0 : 2.0;
        c->z[i] = i == n - 1;
    }
}

/* There the least-index rule visits every one of the 2^n bases; in the given order it needs two. */
TEST(its_own_example_is_exponential)
{
    lcp_case c;
    double z[CASE_MAX];
    for (int n = 1; n <= 12; n++) {
        rb_info info = { 0 };
        case_reversed(&c, n);
        CHECK_INT(case_solve(&c, "murty", z, &info), RB_SOLVED);
        CHECK_INT(info.iterations, 1 << n);
        case_murty(&c, n);
        CHECK_INT(case_solve(&c, "murty", z, &info), RB_SOLVED);
        CHECK_INT(info.iterations, 2);
    }
}

TEST(step_limit_is_kept)
{
    lcp_case c;
    case_reversed(&c, 12);
    rb_problem p = case_problem(&c);
    rb_solve_opts o = rb_solve_opts_default();
    double z[CASE_MAX];
    rb_info info = { 0 };
    o.solver = rb_solver_find("murty");
    o.max_iter = 100;
    CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
    CHECK_INT(info.outcome, RB_FAILED);
    CHECK_INT(info.iterations, 100);
    CHECK_CONTAINS(info.path, "limit");
}

TEST(never_wrong_on_infeasible_problems)
{
    lcp_case c;
    double z[CASE_MAX];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_info info = { 0 };
        case_infeasible(&c, seed, 2 + (int)(seed % 10));
        CHECK_INT(case_solve(&c, "murty", z, &info), RB_FAILED);
    }
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_posdef(&c, 4, 9);
    case_starve(&c, "murty", 0);
}

TEST_MAIN(RUN(p_matrices), RUN(its_own_example_is_exponential), RUN(step_limit_is_kept),
          RUN(never_wrong_on_infeasible_problems), RUN(memory_may_run_out))
