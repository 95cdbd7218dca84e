#include "lcp_cases.h"

#include "corpus.h"
#include "corpus_grade.h"

TEST(symmetric_semidefinite_boxes)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        int n = 1 + (int)(seed % 36);
        case_posdef(&c, seed, n);
        case_must_solve(&c, "dantzig");
        case_semidefinite(&c, seed, n);
        case_must_solve(&c, "dantzig");
        case_box(&c, seed, n);
        case_must_solve(&c, "dantzig");
        case_mixed(&c, seed, n);
        case_must_solve(&c, "dantzig");
    }
}

/* Redundant contacts with box friction: dependent rows between their bounds wait and come back. */
TEST(redundant_contacts)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_opts opts = rb_corpus_opts_default();
        rb_corpus_problem p;
        opts.form = seed % 2 ? RB_CORPUS_BOX : RB_CORPUS_MIXED_BOX;
        opts.contacts = 4 + (int)(seed % 13);
        CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
        double *z = calloc((size_t)p.problem.n, sizeof *z);
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { 0 };
        o.solver = rb_solver_find("dantzig");
        o.unique = 0;
        CHECK_INT(rb_solve(&p.problem, &o, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK(rb_grade(&p.problem, z) <= 1e-10);
        free(z);
        rb_corpus_free(&p);
    }
}

TEST(says_where_it_does_not_apply)
{
    lcp_case c;
    double z[CASE_MAX];
    rb_info info = { 0 };
    case_skewed(&c, 1, 6);
    CHECK_INT(case_solve(&c, "dantzig", z, &info), RB_FAILED);
    CHECK_CONTAINS(info.path, "not symmetric");
}

TEST(infeasible_is_unbounded)
{
    lcp_case c;
    double z[CASE_MAX];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_info info = { 0 };
        case_infeasible(&c, seed, 2 + (int)(seed % 24));
        CHECK_INT(case_solve(&c, "dantzig", z, &info), RB_FAILED);
    }
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_box(&c, 4, 9);
    case_starve(&c, "dantzig", 0);
}

TEST_MAIN(RUN(symmetric_semidefinite_boxes), RUN(redundant_contacts),
          RUN(says_where_it_does_not_apply), RUN(infeasible_is_unbounded), RUN(memory_may_run_out))
