/* The answer among several: independent of solver, guess and order, and the limit it claims to be.
 */
#include "lcp_cases.h"

#include "corpus.h"
#include "corpus_grade.h"

static rb_unique solve_unique(const rb_problem *p, const char *solver, double *z)
{
    rb_solve_opts o = rb_solve_opts_default();
    rb_info info = { 0 };
    o.solver = rb_solver_find(solver);
    CHECK_INT(rb_solve(p, &o, z, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
    return info.unique;
}

TEST(regular_answers_are_left_alone)
{
    lcp_case c;
    double z[CASE_MAX];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        case_skewed(&c, seed, 1 + (int)(seed % 20));
        rb_problem p = case_problem(&c);
        CHECK_INT(solve_unique(&p, "auto", z), RB_UNIQUE_PLAIN);
        for (int i = 0; i < c.n; i++) CHECK_NEAR(z[i], c.z[i], 1e-9);
    }
}

/* A table on four legs, one above each corner: the load of 4 is shared equally, and moved off the
 * centre it is the least-norm sharing, linear in the position. */
TEST(a_table_on_four_legs)
{
    static const double x[4] = { 1, -1, -1, 1 }, y[4] = { 1, 1, -1, -1 };
    static const double at[2][2] = { { 0.0, 0.0 }, { 0.2, 0.1 } };
    static const char *const solvers[] = { "auto", "lemke", "dantzig", "judice-pires",
                                           "enumerate" };
    for (int k = 0; k < 2; k++) {
        lcp_case c;
        case_begin(&c, "table", (uint64_t)k, 4);
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) c.W[4 * i + j] = 1.0 + x[i] * x[j] + y[i] * y[j];
        }
        for (int i = 0; i < 4; i++) {
            c.z[i] = 1.0 + at[k][0] * x[i] + at[k][1] * y[i];
            c.q[i] = -4.0 * (1.0 + at[k][0] * x[i] + at[k][1] * y[i]);
        }
        rb_problem p = case_problem(&c);
        for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
            double z[4];
            CHECK_INT(solve_unique(&p, solvers[s], z), RB_UNIQUE_CHOSEN);
            for (int i = 0; i < 4; i++) CHECK_NEAR(z[i], c.z[i], 1e-6);
        }
    }
}

/* Semidefinite: among all answers the chosen one has the least norm; no other solver's is less. */
TEST(least_norm_among_semidefinite_answers)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        case_semidefinite(&c, seed, 4 + (int)(seed % 20));
        rb_problem p = case_problem(&c);
        double z[CASE_MAX], other[CASE_MAX], norm = 0.0, other_norm = 0.0, known_norm = 0.0;
        rb_info info = { 0 };
        rb_unique unique = solve_unique(&p, "auto", z);
        CHECK(unique == RB_UNIQUE_CHOSEN || unique == RB_UNIQUE_PLAIN);
        CHECK_INT(case_solve(&c, "lemke", other, &info), RB_SOLVED);
        for (int i = 0; i < c.n; i++) {
            norm += z[i] * z[i];
            other_norm += other[i] * other[i];
            known_norm += c.z[i] * c.z[i];
        }
        CHECK(norm <= other_norm * (1.0 + 1e-5));
        CHECK(norm <= known_norm * (1.0 + 1e-5));
    }
}

typedef struct agreement {
    int runs, agree, chosen;
} agreement;

/* Contact velocities of cold, warm, permuted and other-solver runs on one problem. */
static void compare(uint64_t seed, int form, agreement *total)
{
    rb_corpus_opts opts = rb_corpus_opts_default();
    rb_corpus_problem p, moved;
    opts.form = form;
    opts.contacts = 1 + (int)(seed % 12);
    CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
    CHECK_INT(rb_corpus_permute(&p, seed + 7, &moved), RB_OK);
    size_t n = (size_t)p.problem.n, rows = 3 * (size_t)p.nc;
    double *z = calloc(n, sizeof *z), *u = calloc(rows, sizeof *u), *v = calloc(rows, sizeof *v);
    unsigned char *mode = calloc(n, 1);
    static const char *const solvers[] = { "auto", "auto", "auto", "lemke" };
    for (int run = 0; run < 4; run++) {
        const rb_corpus_problem *now = run == 2 ? &moved : &p;
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { .mode = mode };
        o.solver = rb_solver_find(solvers[run]);
        o.warm = run == 1;
        for (size_t i = 0; i < n && run == 1; i++) z[i] *= 0.9;
        if (run != 1) memset(mode, 0, n);
        CHECK_INT(rb_solve(&now->problem, &o, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK(rb_grade(&now->problem, z) <= 1e-9);
        CHECK_INT(rb_corpus_velocities(now, z, run ? v : u), RB_OK);
        double worst = 0.0;
        for (size_t i = 0; i < rows && run; i++) worst = fmax(worst, fabs(u[i] - v[i]));
        total->runs += run > 0;
        total->agree += run > 0 && worst <= 1e-8 * rb_corpus_speed(&p);
        total->chosen += run == 0 && info.unique == RB_UNIQUE_CHOSEN;
    }
    free(z);
    free(u);
    free(v);
    free(mode);
    rb_corpus_free(&p);
    rb_corpus_free(&moved);
}

/* Box friction is a convex problem: the velocity is unique, and every run must find it. */
TEST(box_friction_agrees_always)
{
    agreement total = { 0 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        compare(seed, RB_CORPUS_BOX, &total);
    }
    CHECK_INT(total.agree, total.runs);
    CHECK(total.chosen > 10);
}

/* A friction LCP may have isolated solutions with different velocities (Painleve); those are not
 * what the limit decides. They are rare. */
TEST(friction_agrees)
{
    agreement total = { 0 };
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        compare(seed, RB_CORPUS_ST4_V, &total);
    }
    CHECK_INT(total.runs, 300);
    CHECK(total.agree >= 294);
    CHECK(total.chosen > 50);
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_semidefinite(&c, 2, 10);
    case_starve(&c, "pgs", 0);
    case_starve(&c, "auto", 0);
}

TEST_MAIN(RUN(regular_answers_are_left_alone), RUN(a_table_on_four_legs),
          RUN(least_norm_among_semidefinite_answers), RUN(box_friction_agrees_always),
          RUN(friction_agrees), RUN(memory_may_run_out))
