/* Nonsmooth Newton: the solver over the corpus, symmetries, the compliance it adds, its path. */
#include "cone_support.h"

#include "solve/newton.h"

static const cone_known none[] = { { NULL, NULL } };

TEST(certificates_over_the_corpus)
{
    rb_solve_opts opts = support_opts("newton");
    opts.unique = 0;
    cone_check_matrix(&opts, none, 16);
}

TEST(answers_follow_the_symmetries)
{
    rb_solve_opts opts = support_opts("newton");
    opts.unique = 0;
    opts.tol = 1e-10;
    cone_check_symmetries(&opts, none, 3, 60, 1e-7);
}

/* Quadratic at the end: from a solution disturbed by 1e-4 a handful of steps reach rounding. */
TEST(few_steps_from_nearby)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, RB_CORPUS_GRASP, RB_CORPUS_CONE, 6);
        rb_solve_opts opts = support_opts("newton");
        double r[SUPPORT_ROWS] = { 0.0 };
        opts.unique = 0;
        CHECK_INT(support_solve(&p.problem, &opts, r, NULL).outcome, RB_SOLVED);
        for (int i = 0; i < p.problem.n; i++) r[i] *= 1.0 + 1e-4 * (i % 2 ? 1.0 : -1.0);
        opts.warm = 1;
        rb_info info = support_solve(&p.problem, &opts, r, NULL);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK(info.iterations <= 15);
        rb_corpus_free(&p);
    }
}

typedef struct bench_top {
    rb_corpus_problem p;
    rb_arena *arena;
    rb_cones k;
    rb_newton s;
} bench_top;

static void open_newton(uint64_t seed, int contacts, bench_top *t)
{
    t->p = support_make(seed, RB_CORPUS_STACK, RB_CORPUS_CONE, contacts);
    t->arena = rb_arena_new(NULL, 0);
    CHECK_INT(rb_cones_make(&t->p.problem, t->arena, &t->k), RB_OK);
    CHECK_INT(rb_newton_make(&t->k, t->arena, &t->s), RB_OK);
}

static void close_newton(bench_top *t)
{
    rb_arena_free(t->arena);
    rb_corpus_free(&t->p);
}

/* The certificate of r for the problem with `diagonal` added to W, around `center`. */
static double regularised_residual(const bench_top *t, const double *diagonal, const double *center,
                                   const double *r)
{
    static double W[192 * 192], q[192];
    int n = t->k.n;
    memcpy(W, t->p.W, (size_t)(n * n) * sizeof *W);
    for (int i = 0; i < n; i++) {
        W[i * n + i] += diagonal[i / 3];
        q[i] = t->k.q[i] - diagonal[i / 3] * (center ? center[i] : 0.0);
    }
    rb_problem p = t->p.problem;
    rb_certificate cert;
    p.W.dense = W;
    p.q = q;
    CHECK_INT(rb_residual(&p, r, NULL, &cert), RB_OK);
    return cert.velocity / rb_corpus_speed(&t->p);
}

/* A run says that it solved the problem with compliance only if that is so, by the certificate of
 * that problem; large compliance makes even redundant stacks easy. */
TEST(a_run_solves_the_problem_with_compliance)
{
    int arrived = 0, runs = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        for (int kind = RB_COMPLIANCE_UNIFORM; kind <= RB_COMPLIANCE_SCALED; kind++) {
            bench_top t;
            double r[192] = { 0.0 }, center[192];
            open_newton(seed, 4 + (int)(seed % 40), &t); /* dense and sparse */
            for (int i = 0; i < t.k.n; i++) center[i] = i % 3 ? 0.0 : 0.01;
            rb_newton_compliance(&t.s, (rb_compliance)kind, 0.1);
            int solved = rb_newton_run(&t.s, center, r, 100);
            if (solved) CHECK(regularised_residual(&t, t.s.eps, center, r) <= 1e-9);
            arrived += solved;
            runs++;
            close_newton(&t);
        }
    }
    CHECK(arrived >= runs * 9 / 10);
}

/* eps times the mean diagonal for all, or times each contact's own. */
TEST(compliance_by_hand)
{
    bench_top t;
    open_newton(3, 8, &t);
    rb_newton_compliance(&t.s, RB_COMPLIANCE_UNIFORM, 0.5);
    for (int c = 0; c < 8; c++) CHECK_NEAR(t.s.eps[c], 0.5 * t.k.mean, 1e-15 * t.k.mean);
    rb_newton_compliance(&t.s, RB_COMPLIANCE_SCALED, 0.5);
    for (int c = 0; c < 8; c++) CHECK_NEAR(t.s.eps[c] * t.k.rho[c], 0.5, 1e-15);
    close_newton(&t);
}

/* The path ends at its least compliance, and polishing takes that away. */
TEST(the_path_arrives_and_polish_finishes)
{
    int arrived = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        bench_top t;
        double r[192] = { 0.0 };
        open_newton(seed, 4 + (int)(seed % 24), &t);
        if (rb_newton_path(&t.s, RB_COMPLIANCE_UNIFORM, 1.0, r)) {
            CHECK(regularised_residual(&t, t.s.eps, NULL, r) <= 1e-9);
            double error = rb_newton_polish(&t.s, r, 1e-8);
            rb_certificate cert;
            CHECK_INT(rb_residual(&t.p.problem, r, NULL, &cert), RB_OK);
            CHECK_NEAR(error, cert.relative, 1e-10); /* two ways to sum W r */
            CHECK(error <= 1e-8);
            arrived++;
        }
        close_newton(&t);
    }
    CHECK(arrived >= 36);
}

/* Up to 96 rows dense, beyond sparse: both sides of the seam give the same velocities. */
TEST(dense_and_sparse_steps_agree)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        bench_top t;
        double r[192] = { 0.0 }, s[192] = { 0.0 }, u[192], v[192];
        open_newton(seed, 12, &t);
        CHECK(!t.s.sparse);
        rb_newton sparse;
        CHECK_INT(rb_newton_make(&t.k, t.arena, &sparse), RB_OK);
        sparse.sparse = 1;
        CHECK_INT(rb_block_lu_analyse(&sparse.lu, t.k.nc, 3, t.k.W.ptr, t.k.W.col, 10000, t.arena),
                  RB_OK);
        sparse.G = rb_push(t.arena, double, t.k.W.ptr[t.k.nc] * 9);
        CHECK(sparse.G != NULL);
        rb_newton_compliance(&t.s, RB_COMPLIANCE_UNIFORM, 1e-2);
        rb_newton_compliance(&sparse, RB_COMPLIANCE_UNIFORM, 1e-2);
        int dense_ok = rb_newton_run(&t.s, NULL, r, 60);
        int sparse_ok = rb_newton_run(&sparse, NULL, s, 60);
        CHECK_INT(dense_ok, sparse_ok);
        rb_cones_velocity(&t.k, r, u);
        rb_cones_velocity(&t.k, s, v);
        if (dense_ok) CHECK(support_apart(u, v, t.k.n) <= 1e-8 * rb_corpus_speed(&t.p));
        close_newton(&t);
    }
}

TEST_MAIN(RUN(certificates_over_the_corpus), RUN(answers_follow_the_symmetries),
          RUN(few_steps_from_nearby), RUN(a_run_solves_the_problem_with_compliance),
          RUN(compliance_by_hand), RUN(the_path_arrives_and_polish_finishes),
          RUN(dense_and_sparse_steps_agree))
