/* Newton with the impulses in twofold arithmetic: on problems that double solves too, on one that
 * it does not, how impulses are rounded, memory. */
#include "cone_support.h"

#include "corpus_grade.h"
#include "memory_budget.h"
#include "solve/newton_twofold.h"

typedef struct bench {
    rb_arena *arena;
    rb_cones k;
    rb_newton plain;
    rb_newton_twofold t;
} bench;

static void bench_make(const rb_corpus_problem *p, bench *b)
{
    b->arena = rb_arena_new(NULL, 0);
    CHECK_INT(rb_cones_make(&p->problem, b->arena, &b->k), RB_OK);
    CHECK_INT(rb_newton_make(&b->k, b->arena, &b->plain), RB_OK);
    CHECK_INT(rb_newton_twofold_make(&b->plain, b->arena, &b->t), RB_OK);
}

/* Where double finds the path, so does this, and ends at the same velocities up to the compliance
 * at which the path in double stops, 1e-7. */
TEST(agrees_with_double)
{
    int compared = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, RB_CORPUS_GRASP, (int)(seed % 4), 6);
        double r[SUPPORT_ROWS] = { 0.0 }, s[SUPPORT_ROWS] = { 0.0 };
        rb_solve_opts opts = support_opts("auto");
        opts.tol = 1e-11; /* far below what is compared */
        rb_info info = support_solve(&p.problem, &opts, r, NULL);
        bench b;
        int arrived;
        bench_make(&p, &b);
        double error = rb_newton_twofold_path(&b.t, RB_COMPLIANCE_UNIFORM, opts.tol, s, &arrived);
        if (arrived) {
            CHECK(error <= opts.tol);
            CHECK_NEAR(error, rb_grade(&p.problem, s), 1e-13);
        }
        if (arrived && info.unique == RB_UNIQUE_PLAIN) {
            double u[SUPPORT_ROWS], v[SUPPORT_ROWS];
            rb_cones_velocity(&b.k, r, u);
            rb_cones_velocity(&b.k, s, v);
            for (int i = 0; i < b.k.n; i++) CHECK_NEAR(u[i], v[i], 1e-6 * b.k.q_norm);
            compared++;
        }
        rb_arena_free(b.arena);
        rb_corpus_free(&p);
    }
    CHECK(compared >= 10);
}

/* Nine contacts, masses a million apart: the same path in double loses its modes. */
TEST(finds_what_double_loses)
{
    rb_corpus_problem p;
    CHECK_INT(rb_corpus_make(191619, NULL, &p), RB_OK);
    bench b;
    double r[SUPPORT_ROWS] = { 0.0 };
    int arrived;
    bench_make(&p, &b);
    int in_double = rb_newton_path(&b.plain, RB_COMPLIANCE_UNIFORM, 1.0, r);
    double error = rb_newton_polish(&b.plain, r, 1e-8);
    CHECK(!in_double || error > 1e-8);
    error = rb_newton_twofold_path(&b.t, RB_COMPLIANCE_UNIFORM, 1e-8, r, &arrived);
    CHECK(arrived && error <= 1e-9 && rb_grade(&p.problem, r) <= 1e-9);
    rb_arena_free(b.arena);
    rb_corpus_free(&p);
}

/* Impulses of 1e3 on compliances of 1e3, |q| = 0.05: rounding to the nearest doubles is off by
 * 1e-8, rounding with a look at the neighbours is not. */
TEST(impulses_are_rounded_together)
{
    rb_corpus_problem p;
    CHECK_INT(rb_corpus_make(119292, NULL, &p), RB_OK);
    bench b;
    double r[SUPPORT_ROWS] = { 0.0 };
    int arrived;
    bench_make(&p, &b);
    double error = rb_newton_twofold_path(&b.t, RB_COMPLIANCE_UNIFORM, 1e-8, r, &arrived);
    CHECK(error <= 5e-9);
    CHECK_NEAR(rb_grade(&p.problem, r), error, 1e-11);
    rb_arena_free(b.arena);
    rb_corpus_free(&p);
}

TEST(every_budget_of_memory)
{
    rb_corpus_problem p;
    CHECK_INT(rb_corpus_make(191619, NULL, &p), RB_OK);
    rb_status status = RB_NOMEM;
    for (size_t bytes = 0; status != RB_OK; bytes += 8192) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        rb_solve_opts opts = support_opts("auto");
        rb_info info = { 0 };
        double r[SUPPORT_ROWS] = { 0.0 };
        opts.alloc = &alloc;
        status = rb_solve(&p.problem, &opts, r, &info);
        CHECK(status == RB_OK || status == RB_NOMEM);
        CHECK_INT(budget.memory.live, 0);
        CHECK(status != RB_OK || info.outcome == RB_SOLVED);
        CHECK(bytes < (size_t)1 << 24);
    }
    rb_corpus_free(&p);
}

TEST_MAIN(RUN(agrees_with_double), RUN(finds_what_double_loses), RUN(impulses_are_rounded_together),
          RUN(every_budget_of_memory))
