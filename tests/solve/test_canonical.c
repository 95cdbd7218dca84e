/* Several answers: which one is returned depends on the problem alone. */
#include "corpus_support.h"

#include "solve/canonical.h"

/* Velocities, relative to the speed of the problem, that count as the same [1]. */
#define SAME 1e-8

static double apart(const rb_corpus_problem *p, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < 3 * p->nc; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most / rb_corpus_speed(p);
}

/* 0: the solver did not find an answer. */
static int velocities(const rb_corpus_problem *p, const char *solver, const double *guess,
                      double *out, rb_info *info)
{
    static double z[SUPPORT_ROWS];
    rb_solve_opts opts = support_opts(solver);
    opts.max_iter = 20000;
    opts.warm = guess != NULL;
    memset(z, 0, sizeof z);
    if (guess) memcpy(z, guess, (size_t)p->problem.n * sizeof *z);
    *info = support_solve(&p->problem, &opts, z, NULL);
    CHECK_INT(rb_corpus_velocities(p, z, out), RB_OK);
    return info->outcome == RB_SOLVED;
}

/* Problems of which solvers have been seen to find different answers, all certified. */
TEST(several_answers_do_not_depend_on_the_way)
{
    static const uint64_t seeds[] = { 900042, 900087, 900129, 900177, 900203, 900208 };
    static double cold[SUPPORT_ROWS], other[SUPPORT_ROWS];
    int compared = 0;
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        TEST_SEED(seeds[s]);
        rb_corpus_problem p, permuted;
        rb_info info;
        CHECK_INT(rb_corpus_make(seeds[s], NULL, &p), RB_OK);
        CHECK(velocities(&p, "auto", NULL, cold, &info));
        CHECK_INT(info.unique, RB_UNIQUE_NOT);
        for (uint64_t k = 1; k <= 3; k++) {
            CHECK_INT(rb_corpus_permute(&p, seeds[s] + k, &permuted), RB_OK);
            CHECK(velocities(&permuted, "auto", NULL, other, &info));
            CHECK_NEAR(apart(&p, cold, other), 0.0, SAME);
            rb_corpus_free(&permuted);
        }
        for (const rb_solver *const *solver = rb_solvers; *solver; solver++) {
            if (!((*solver)->accepts & p.problem.kind)) continue;
            if (!velocities(&p, (*solver)->name, NULL, other, &info)) continue;
            CHECK_NEAR(apart(&p, cold, other), 0.0, SAME);
            compared++;
        }
        rb_corpus_free(&p);
    }
    CHECK(compared > 12);
}

/* The rows of a permuted problem are sorted to the same sequence of numbers. */
TEST(the_order_is_that_of_the_numbers)
{
    enum { N = 12 };
    double W[N * N], W2[N * N], q[N], q2[N], lo[N] = { 0.0 }, hi[N];
    rb_rng rng = rb_rng_make(7);
    for (int i = 0; i < N; i++) {
        hi[i] = INFINITY;
        q[i] = i % 3 ? rb_rng_uniform(&rng, -1.0, 1.0) : 0.0; /* rows told apart by others only */
        for (int j = 0; j < N; j++)
            W[i * N + j] = i % 3 == 0 && i == j ? 0.0 : rb_rng_uniform(&rng, -1.0, 1.0);
    }
    rb_arena *arena = rb_arena_new(NULL, 0);
    rb_boxed b = { .n = N, .W = W, .q = q, .lo = lo, .hi = hi }, b2 = b;
    int order[N], order2[N], place[N];
    CHECK_INT(rb_canonical_rows(&b, arena, order), RB_OK);
    for (int shift = 1; shift < N; shift++) {
        for (int i = 0; i < N; i++) place[i] = (i * 5 + shift) % N;
        for (int i = 0; i < N; i++) {
            q2[i] = q[place[i]];
            for (int j = 0; j < N; j++) W2[i * N + j] = W[place[i] * N + place[j]];
        }
        b2.W = W2;
        b2.q = q2;
        CHECK_INT(rb_canonical_rows(&b2, arena, order2), RB_OK);
        for (int i = 0; i < N; i++) CHECK_INT(place[order2[i]], order[i]);
    }
    rb_arena_free(arena);
}

TEST_MAIN(RUN(several_answers_do_not_depend_on_the_way), RUN(the_order_is_that_of_the_numbers))
