/* Lemke in twofold arithmetic: by hand, boxes and equalities, what it must not solve, memory. */
#include "lcp_cases.h"

#include "corpus.h"
#include "memory_budget.h"
#include "solve/lemke_twofold.h"

typedef struct answer {
    double z[CASE_MAX];
    unsigned char set[CASE_MAX];
    int solved, pivots;
} answer;

static answer run(const lcp_case *c, double eps, const double *center)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_problem p = case_problem(c);
    rb_boxed b;
    answer a = { .solved = -1 };
    CHECK_INT(rb_boxed_view(&p, arena, &b), RB_OK);
    rb_lemke_twofold_job job = {
        .b = &b, .eps = eps, .center = center, .max_pivots = 1000, .z = a.z, .set = a.set
    };
    CHECK_INT(rb_lemke_twofold_run(&job, arena), RB_OK);
    a.solved = job.solved;
    a.pivots = job.pivots;
    rb_arena_free(arena);
    return a;
}

/* w1 = 2 z1 + z2 - 5, w2 = z1 + 2 z2 - 4: z = (2, 1). */
TEST(by_hand)
{
    lcp_case c;
    case_begin(&c, "hand", 0, 2);
    c.W[0] = c.W[3] = 2.0;
    c.W[1] = c.W[2] = 1.0;
    c.q[0] = -5.0;
    c.q[1] = -4.0;
    answer a = run(&c, 0.0, NULL);
    CHECK_INT(a.solved, 1);
    CHECK_NEAR(a.z[0], 2.0, 1e-12);
    CHECK_NEAR(a.z[1], 1.0, 1e-12);
    CHECK(a.set[0] == RB_MODE_STICK && a.set[1] == RB_MODE_STICK);

    /* with compliance 1/2 of the diagonal: 3 z1 + z2 = 5, z1 + 3 z2 = 4 */
    a = run(&c, 0.5, NULL);
    CHECK_NEAR(a.z[0], 11.0 / 8.0, 1e-12);
    CHECK_NEAR(a.z[1], 7.0 / 8.0, 1e-12);

    /* around the solution compliance does not show */
    const double center[2] = { 2.0, 1.0 };
    a = run(&c, 0.5, center);
    CHECK_NEAR(a.z[0], 2.0, 1e-12);
    CHECK_NEAR(a.z[1], 1.0, 1e-12);
}

/* Nothing to do: z = 0 without a pivot. */
TEST(no_row_is_violated)
{
    lcp_case c;
    case_begin(&c, "trivial", 0, 2);
    c.W[0] = c.W[3] = 1.0;
    c.q[0] = 1.0;
    answer a = run(&c, 0.0, NULL);
    CHECK(a.solved == 1 && a.pivots == 0 && a.z[0] == 0.0 && a.z[1] == 0.0);
    CHECK(a.set[0] == RB_MODE_OPEN);
}

/* One row at its upper bound, one at a lower bound that is not zero, one with an upper bound only,
 * one fixed, one free. */
TEST(every_kind_of_bound)
{
    static const double lo[5] = { 0.0, -1.0, -INFINITY, 3.0, -INFINITY };
    static const double hi[5] = { 2.0, INFINITY, 1.0, 3.0, INFINITY };
    static const double q[5] = { -9.0, 4.0, -9.0, 1.0, -5.0 };
    lcp_case c;
    case_begin(&c, "bounds", 0, 5);
    c.kind = RB_BOX;
    for (int i = 0; i < 5; i++) {
        c.W[i * 6] = 1.0;
        c.lo[i] = lo[i];
        c.hi[i] = hi[i];
        c.q[i] = q[i];
    }
    c.W[4 * 5] = c.W[4] = 0.5; /* the free one feels the first: z5 = 5 - 1 */
    answer a = run(&c, 0.0, NULL);
    const double z[5] = { 2.0, -1.0, 1.0, 3.0, 4.0 };
    CHECK_INT(a.solved, 1);
    for (int i = 0; i < 5; i++) CHECK_NEAR(a.z[i], z[i], 1e-12);
    CHECK(a.set[0] == RB_MODE_UPPER && a.set[1] == RB_MODE_OPEN && a.set[2] == RB_MODE_UPPER);
    CHECK(a.set[4] == RB_MODE_STICK);
}

/* Two equalities that say the same are regular with compliance; two that contradict each other have
 * no answer that is certified, and auto still names the row. */
TEST(redundant_and_contradictory_equalities)
{
    lcp_case c;
    case_begin(&c, "equalities", 0, 2);
    c.kind = RB_BOX;
    for (int i = 0; i < 4; i++) c.W[i] = 1.0;
    for (int i = 0; i < 2; i++) {
        c.lo[i] = -INFINITY;
        c.hi[i] = INFINITY;
        c.q[i] = -2.0;
    }
    answer a = run(&c, 1e-11, NULL);
    CHECK_INT(a.solved, 1);
    CHECK_NEAR(a.z[0] + a.z[1], 2.0, 1e-10);
    CHECK_INT(run(&c, 0.0, NULL).solved, 0);
    c.q[1] = -3.0;
    double z[CASE_MAX];
    rb_info info = { 0 };
    CHECK(case_solve(&c, "auto", z, &info) != RB_SOLVED);
    CHECK(info.bad_row >= 0);
}

/* w1 = -z1 - 1: infeasible, a ray at once. */
TEST(a_ray_is_not_solved)
{
    lcp_case c;
    double z[CASE_MAX];
    rb_info info = { 0 };
    case_begin(&c, "ray", 0, 1);
    c.W[0] = -1.0;
    c.q[0] = -1.0;
    CHECK_INT(run(&c, 1e-11, NULL).solved, 0);
    CHECK(case_solve(&c, "auto", z, &info) != RB_SOLVED);
}

/* The pivot limit is kept, the answer untouched. */
TEST(the_limit_is_kept)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_corpus_problem p;
    CHECK_INT(rb_corpus_make(63924, NULL, &p), RB_OK);
    rb_boxed b;
    double z[CASE_MAX] = { 7.0 };
    unsigned char set[CASE_MAX] = { 9 };
    CHECK_INT(rb_boxed_view(&p.problem, arena, &b), RB_OK);
    rb_lemke_twofold_job job = { .b = &b, .eps = 1e-11, .max_pivots = 3, .z = z, .set = set };
    CHECK_INT(rb_lemke_twofold_run(&job, arena), RB_OK);
    CHECK(!job.solved && job.pivots == 3 && z[0] == 7.0 && set[0] == 9);
    rb_corpus_free(&p);
    rb_arena_free(arena);
}

/* Every budget of memory is an RB_NOMEM or the answer. */
TEST(every_budget_of_memory)
{
    rb_corpus_problem p;
    CHECK_INT(rb_corpus_make(63924, NULL, &p), RB_OK);
    double *z = calloc((size_t)p.problem.n, sizeof *z);
    rb_status status = RB_NOMEM;
    for (size_t bytes = 0; status != RB_OK; bytes += 16384) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { 0 };
        o.alloc = &alloc;
        memset(z, 0, (size_t)p.problem.n * sizeof *z);
        status = rb_solve(&p.problem, &o, z, &info);
        CHECK(status == RB_OK || status == RB_NOMEM);
        CHECK_INT(budget.memory.live, 0);
        CHECK(status != RB_OK || info.outcome == RB_SOLVED);
        CHECK(bytes < (size_t)1 << 26);
    }
    free(z);
    rb_corpus_free(&p);
}

TEST_MAIN(RUN(by_hand), RUN(no_row_is_violated), RUN(every_kind_of_bound),
          RUN(redundant_and_contradictory_equalities), RUN(a_ray_is_not_solved),
          RUN(the_limit_is_kept), RUN(every_budget_of_memory))
