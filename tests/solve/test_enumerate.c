#include "lcp_cases.h"

TEST(every_class)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 9);
        case_posdef(&c, seed, n);
        case_must_solve(&c, "enumerate");
        case_semidefinite(&c, seed, n);
        case_must_solve(&c, "enumerate");
        case_box(&c, seed, n);
        case_must_solve(&c, "enumerate");
        case_mixed(&c, seed, n);
        case_must_solve(&c, "enumerate");
    }
}

/* w1 = z2 - 1, w2 = 0: the only solution has z2 basic in a singular cone. Pivoting ends on a ray.
 */
TEST(singular_cones_hold_solutions_too)
{
    lcp_case c;
    double z[2];
    rb_info info = { 0 };
    case_begin(&c, "singular", 0, 2);
    c.W[1] = 1.0;
    c.q[0] = -1.0;
    CHECK_INT(case_solve(&c, "enumerate", z, &info), RB_SOLVED);
    CHECK_NEAR(z[0], 0.0, 1e-12);
    CHECK(z[1] >= 1.0 - 1e-12);
}

TEST(absence_is_proven)
{
    lcp_case c;
    double z[CASE_MAX];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        int n = 2 + (int)(seed % 9);
        rb_info info = { 0 };
        case_infeasible(&c, seed, n);
        CHECK_INT(case_solve(&c, "enumerate", z, &info), RB_FAILED);
        CHECK_STR(info.path, "none of 2^n cones");
        CHECK_INT(info.iterations, 1 << n);
    }

    /* feasible (z = (2, 4) gives w >= 0) and without a complementary solution */
    rb_info info = { 0 };
    case_begin(&c, "nosolution", 0, 2);
    const double W[4] = { -2, 1, -2, 2 };
    memcpy(c.W, W, sizeof W);
    c.q[0] = -2.0;
    c.q[1] = 2.0;
    CHECK_INT(case_solve(&c, "enumerate", z, &info), RB_FAILED);
    CHECK_STR(info.path, "none of 2^n cones");
}

/* q just inside and just outside the only cone that could hold it: w1 = -z1 + q1 + ... */
TEST(a_near_miss_is_not_a_proof)
{
    lcp_case c;
    double z[1];
    rb_info info = { 0 };
    case_begin(&c, "near", 0, 1);
    c.W[0] = 0.0;
    c.q[0] = -1e-3;
    CHECK_INT(case_solve(&c, "enumerate", z, &info), RB_FAILED);
    CHECK_STR(info.path, "none of 2^n cones");
    c.q[0] = 0.0;
    CHECK_INT(case_solve(&c, "enumerate", z, &info), RB_SOLVED);
}

TEST(too_many_cones_are_refused)
{
    lcp_case c;
    double z[CASE_MAX];
    rb_info info = { 0 };
    case_posdef(&c, 1, 17);
    CHECK_INT(case_solve(&c, "enumerate", z, &info), RB_FAILED);
    CHECK_CONTAINS(info.path, "too many");
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_box(&c, 4, 6);
    case_starve(&c, "enumerate", 0);
}

TEST_MAIN(RUN(every_class), RUN(singular_cones_hold_solutions_too), RUN(absence_is_proven),
          RUN(a_near_miss_is_not_a_proof), RUN(too_many_cones_are_refused), RUN(memory_may_run_out))
