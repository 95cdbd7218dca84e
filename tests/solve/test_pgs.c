#include "lcp_cases.h"

#include "corpus.h"

TEST(well_conditioned_problems)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 20);
        case_posdef(&c, seed, n);
        c.unique = 0; /* 1e-9 of the residual is not 1e-8 of z */
        case_must_solve(&c, "pgs");
        case_box(&c, seed, n);
        c.unique = 0;
        case_must_solve(&c, "pgs");
        case_mixed(&c, seed, n);
        c.unique = 0;
        case_must_solve(&c, "pgs");
    }
}

/* One row: one sweep is the answer. */
TEST(one_row_by_hand)
{
    lcp_case c;
    double z[1];
    rb_info info = { 0 };
    case_begin(&c, "one", 0, 1);
    c.W[0] = 4.0;
    c.q[0] = -2.0;
    CHECK_INT(case_solve(&c, "pgs", z, &info), RB_SOLVED);
    CHECK(z[0] == 0.5);
}

TEST(rows_without_diagonal)
{
    /* a satisfied row without compliance does no harm; one that needs its variable fails */
    lcp_case c;
    double z[2];
    rb_info info = { 0 };
    case_begin(&c, "flat", 0, 2);
    c.W[0] = 1.0;
    c.q[0] = -1.0;
    c.q[1] = 1.0;
    CHECK_INT(case_solve(&c, "pgs", z, &info), RB_SOLVED);
    c.W[1] = 1.0;
    c.W[2] = -1.0;
    c.q[1] = -1.0;
    CHECK_INT(case_solve(&c, "pgs", z, &info), RB_FAILED);
    CHECK(isfinite(z[0]) && isfinite(z[1]));
}

/* Where it diverges, the best iterate is returned, finite. */
TEST(divergence_is_survived)
{
    lcp_case c;
    double z[3];
    rb_info info = { 0 };
    case_begin(&c, "diverge", 0, 3);
    const double W[9] = { 1, -4, 2, 3, 1, -5, -6, 2, 1 };
    memcpy(c.W, W, sizeof W);
    for (int i = 0; i < 3; i++) c.q[i] = -1.0;
    case_solve(&c, "pgs", z, &info);
    CHECK(isfinite(z[0]) && isfinite(z[1]) && isfinite(z[2]));
    CHECK(info.cert.relative <= 1.0);
}

/* The same sweeps on blocks and on the dense matrix. */
TEST(blocks_and_dense_agree)
{
    lcp_case c;
    case_posdef(&c, 9, 12);
    double val[144], z[12], y[12];
    int ptr[7], col[36];
    for (int i = 0; i < 6; i++) {
        ptr[i] = 6 * i;
        for (int j = 0; j < 6; j++) {
            col[6 * i + j] = j;
            for (int k = 0; k < 4; k++) {
                val[(6 * i + j) * 4 + k] = c.W[(2 * i + k / 2) * 12 + 2 * j + k % 2];
            }
        }
    }
    ptr[6] = 36;
    rb_problem p = case_problem(&c);
    rb_solve_opts o = rb_solve_opts_default();
    rb_info info = { 0 };
    o.solver = rb_solver_find("pgs");
    o.unique = 0;
    CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
    p.W = (rb_matrix){ .form = RB_BSR, .bs = 2, .ptr = ptr, .col = col, .val = val };
    CHECK_INT(rb_solve(&p, &o, y, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
    for (int i = 0; i < 12; i++) CHECK_NEAR(y[i], z[i], 1e-9);
}

TEST(never_wrong_on_infeasible_problems)
{
    lcp_case c;
    double z[CASE_MAX];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        TEST_SEED(seed);
        rb_info info = { 0 };
        case_infeasible(&c, seed, 2 + (int)(seed % 12));
        CHECK_INT(case_solve(&c, "pgs", z, &info), RB_FAILED);
    }
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_posdef(&c, 4, 9);
    case_starve(&c, "pgs", 0);
}

TEST_MAIN(RUN(well_conditioned_problems), RUN(one_row_by_hand), RUN(rows_without_diagonal),
          RUN(divergence_is_survived), RUN(blocks_and_dense_agree),
          RUN(never_wrong_on_infeasible_problems), RUN(memory_may_run_out))
