/* The ladder of `auto` on LCPs and boxes, every LCP solver on every family, and the stored
 * problems. */
#include "lcp_cases.h"

#include "corpus.h"
#include "corpus_grade.h"
#include "rattleback/io.h"

/* ---- every solver on every family ---- */

typedef struct gap {
    const char *solver, *family, *reason;
} gap;

/* What a solver does not take on, by name; a success here fails the test too. */
static const gap gaps[] = {
    { "dantzig", "skewed", "needs a symmetric matrix" },
    { "dantzig", "murty", "needs a symmetric matrix" },
    { "dantzig", "kostreva", "needs a symmetric matrix" },
    { "pgs", "kostreva", "not diagonally dominant: the sweeps go round in circles" },
};

static int expected_to_fail(const char *solver, const char *family)
{
    for (size_t k = 0; k < sizeof gaps / sizeof gaps[0]; k++) {
        if (!strcmp(gaps[k].solver, solver) && !strcmp(gaps[k].family, family)) return 1;
    }
    return 0;
}

static const char *const families[] = { "posdef", "skewed", "box",     "mixed",
                                        "murty",  "fathi",  "kostreva" };
enum { FAMILIES = sizeof families / sizeof families[0] };

static void make_family(int f, uint64_t seed, int n, lcp_case *c)
{
    switch (f) {
    case 0:
        case_posdef(c, seed, n);
        break;
    case 1:
        case_skewed(c, seed, n);
        break;
    case 2:
        case_box(c, seed, n);
        break;
    case 3:
        case_mixed(c, seed, n);
        break;
    case 4:
        case_murty(c, n);
        break;
    case 5:
        case_fathi(c, n);
        break;
    default:
        case_kostreva(c);
        break;
    }
}

TEST(every_solver_on_every_family)
{
    lcp_case c;
    double z[CASE_MAX];
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        if (!((*s)->accepts & RB_LCP)) continue;
        for (int f = 0; f < FAMILIES; f++) {
            for (uint64_t seed = 1; seed <= 20; seed++) {
                TEST_SEED(seed);
                make_family(f, seed, 2 + (int)(seed % 5), &c);
                rb_info info = { 0 };
                int solved = case_solve(&c, (*s)->name, z, &info) == RB_SOLVED;
                if (solved == expected_to_fail((*s)->name, families[f])) {
                    test_fail(__FILE__, __LINE__, "%s on %s: solved = %d", (*s)->name, c.name,
                              solved);
                }
            }
        }
    }
}

/* ---- the ladder ---- */

static int rung_of(const rb_info *info)
{
    int rung = -1;
    for (int k = 0; k < RB_RUNG_COUNT; k++) {
        if (info->rungs[k]) rung = k;
    }
    return rung;
}

TEST(trivial_rung)
{
    lcp_case c;
    double z[CASE_MAX];
    rb_info info = { 0 };
    case_skewed(&c, 1, 9);
    for (int i = 0; i < c.n; i++) c.q[i] = 1.0;
    CHECK_INT(case_solve(&c, "auto", z, &info), RB_SOLVED);
    CHECK_INT(rung_of(&info), RB_RUNG_TRIVIAL);
    CHECK_INT(info.iterations, 0);
}

TEST(warm_and_exchange_rungs)
{
    lcp_case c;
    int warm = 0, exchange = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        case_box(&c, seed, 30);
        double z[CASE_MAX] = { 0 };
        unsigned char mode[CASE_MAX] = { 0 };
        rb_info info = { .mode = mode };
        rb_problem p = case_problem(&c);
        rb_solve_opts o = rb_solve_opts_default();
        o.unique = 0;
        CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
        o.warm = 1;
        for (int i = 0; i < c.n; i++) c.q[i] += 1e-3 * ((i % 3) - 1);
        CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        warm += rung_of(&info) == RB_RUNG_WARM;
        for (int i = 0; i < c.n; i++) c.q[i] += 0.1 * ((i % 5) - 2);
        CHECK_INT(rb_solve(&p, &o, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        exchange += rung_of(&info) == RB_RUNG_EXCHANGE;
    }
    CHECK(warm >= 20 && exchange >= 20);
}

/* Lemke ends on a ray, z = (0, 1) lies in a singular cone: only the last rung sees it. */
TEST(enumerate_rung)
{
    lcp_case c;
    double z[2];
    rb_info info = { 0 };
    case_begin(&c, "singular", 0, 2);
    c.W[1] = 1.0;
    c.q[0] = -1.0;
    CHECK_INT(case_solve(&c, "auto", z, &info), RB_SOLVED);
    CHECK_INT(rung_of(&info), RB_RUNG_ENUMERATE);
    CHECK_CONTAINS(info.path, "lemke > lemke-twofold > homotopy > enumerate");
}

/* Small integers without any structure: Lemke ends on rays with every covering vector, a little
 * compliance on the diagonal shows the way. */
TEST(homotopy_rung)
{
    static const uint64_t seeds[] = { 69, 352, 421, 746 };
    int reached = 0;
    for (int k = 0; k < 4; k++) {
        TEST_SEED(seeds[k]);
        rb_rng rng = rb_rng_make(seeds[k]);
        lcp_case c;
        case_begin(&c, "integers", seeds[k], 15 + (int)(seeds[k] % 3));
        for (int i = 0; i < c.n * c.n; i++) c.W[i] = (double)(rb_rng_next(&rng) % 5) - 2.0;
        for (int i = 0; i < c.n; i++) {
            c.W[i * c.n + i] = 1.0 + rb_rng_next(&rng) % 2;
            c.q[i] = -1.0;
        }
        double z[CASE_MAX];
        rb_info info = { 0 };
        CHECK_INT(case_solve(&c, "auto", z, &info), RB_SOLVED);
        reached += rung_of(&info) == RB_RUNG_HOMOTOPY;
    }
    CHECK(reached > 0);
}

/* Problems at velocity level that double cannot solve: rounding of W makes redundant joints look
 * contradictory, or ends Lemke on rays. By seed; forms and sizes are those of the seed. */
TEST(twofold_rung)
{
    static const uint64_t seeds[] = { 63924, 353077, 449586, 462120, 224055, 290707 };
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        TEST_SEED(seeds[k]);
        rb_corpus_problem p;
        CHECK_INT(rb_corpus_make(seeds[k], NULL, &p), RB_OK);
        double *z = calloc((size_t)p.problem.n, sizeof *z);
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { 0 };
        o.unique = 0;
        CHECK_INT(rb_solve(&p.problem, &o, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK_INT(info.rungs[RB_RUNG_LEMKE_TWOFOLD], 1);
        CHECK_INT(info.bad_row, -1);
        CHECK(rb_grade(&p.problem, z) <= 1e-9);
        free(z);
        rb_corpus_free(&p);
    }
}

/* Friction problems finish on the Lemke rungs, cold and warm from a bad guess. */
TEST(lemke_rungs)
{
    int rungs[RB_RUNG_COUNT] = { 0 };
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        rb_corpus_opts opts = rb_corpus_opts_default();
        rb_corpus_problem p;
        opts.form = RB_CORPUS_ST4_V;
        opts.contacts = 8;
        CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
        int n = p.problem.n;
        double *z = calloc((size_t)n, sizeof *z);
        unsigned char *mode = calloc((size_t)n, 1);
        rb_info info = { .mode = mode };
        rb_solve_opts o = rb_solve_opts_default();
        o.unique = 0;
        for (int warm = 0; warm < 2; warm++) {
            o.warm = warm;
            CHECK_INT(rb_solve(&p.problem, &o, z, &info), RB_OK);
            CHECK_INT(info.outcome, RB_SOLVED);
            CHECK(rb_grade(&p.problem, z) <= 1e-10);
            for (int k = 0; k < RB_RUNG_COUNT; k++) rungs[k] += info.rungs[k];
            for (int i = 0; i < n; i += 3) mode[i] = RB_MODE_STICK;
        }
        free(z);
        free(mode);
        rb_corpus_free(&p);
    }
    CHECK(rungs[RB_RUNG_LEMKE] >= 100);
    CHECK(rungs[RB_RUNG_LEMKE_WARM] >= 20);
}

/* Joints as free variables, redundant ones and held bodies among them. */
TEST(mixed_problems_of_the_corpus)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_corpus_opts opts = rb_corpus_opts_default();
        rb_corpus_problem p;
        opts.form = seed % 2 ? RB_CORPUS_MIXED_ST : RB_CORPUS_MIXED_BOX;
        CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
        double *z = calloc((size_t)p.problem.n, sizeof *z);
        rb_info info = { 0 };
        rb_solve_opts o = rb_solve_opts_default();
        o.unique = 0;
        CHECK_INT(rb_solve(&p.problem, &o, z, &info), RB_OK);
        if (p.velocity_level) CHECK_INT(info.outcome, RB_SOLVED);
        if (info.outcome == RB_SOLVED) CHECK(rb_grade(&p.problem, z) <= 1e-9);
        free(z);
        rb_corpus_free(&p);
    }
}

/* Exponential for one order or one covering vector, not for the ladder. */
TEST(exponential_examples_of_any_size)
{
    lcp_case c;
    for (int n = 2; n <= 36; n += 2) {
        case_murty(&c, n);
        case_must_solve(&c, "auto");
        case_fathi(&c, n);
        case_must_solve(&c, "auto");
    }
}

TEST(infeasible_is_a_ray)
{
    lcp_case c;
    double z[CASE_MAX], ray[CASE_MAX];
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        rb_info info = { .ray = ray };
        case_infeasible(&c, seed, 2 + (int)(seed % 30));
        rb_problem p = case_problem(&c);
        CHECK_INT(case_solve(&c, "auto", z, &info), RB_RAY);
        CHECK_INT(rb_ray_check(&p, ray), 2);
    }
}

/* Two islands in one matrix, interleaved: a solvable and an infeasible one. */
TEST(islands_are_independent)
{
    lcp_case a, b, c;
    double z[CASE_MAX], ray[CASE_MAX];
    unsigned char mode[CASE_MAX] = { 0 };
    case_skewed(&a, 3, 8);
    for (int infeasible = 0; infeasible < 2; infeasible++) {
        if (infeasible) {
            case_infeasible(&b, 5, 8);
        } else {
            case_posdef(&b, 4, 8);
        }
        case_begin(&c, "islands", 0, 16);
        for (int i = 0; i < 8; i++) {
            c.q[2 * i] = a.q[i];
            c.q[2 * i + 1] = b.q[i];
            for (int j = 0; j < 8; j++) {
                c.W[2 * i * 16 + 2 * j] = a.W[i * 8 + j];
                c.W[(2 * i + 1) * 16 + 2 * j + 1] = b.W[i * 8 + j];
            }
        }
        rb_info info = { .ray = ray, .mode = mode };
        rb_problem p = case_problem(&c);
        CHECK_INT(case_solve(&c, "auto", z, &info), infeasible ? RB_RAY : RB_SOLVED);
        CHECK_INT(info.islands, 2);
        for (int i = 0; i < 8; i++) CHECK_NEAR(z[2 * i], a.z[i], 1e-9);
        if (infeasible) CHECK_INT(rb_ray_check(&p, ray), 2);
    }
}

TEST(same_bits_twice)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        TEST_SEED(seed);
        rb_corpus_opts opts = rb_corpus_opts_default();
        rb_corpus_problem p;
        opts.form = RB_CORPUS_ST8_V;
        opts.contacts = 6;
        CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
        size_t bytes = (size_t)p.problem.n * sizeof(double);
        double *a = calloc(1, bytes), *b = calloc(1, bytes);
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { 0 };
        CHECK_INT(rb_solve(&p.problem, &o, a, &info), RB_OK);
        CHECK_INT(rb_solve(&p.problem, &o, b, &info), RB_OK);
        CHECK(memcmp(a, b, bytes) == 0);
        free(a);
        free(b);
        rb_corpus_free(&p);
    }
}

TEST(memory_may_run_out)
{
    lcp_case c;
    case_semidefinite(&c, 6, 12);
    case_starve(&c, "auto", 0);
    case_starve(&c, "auto", 1);
    case_mixed(&c, 6, 12);
    case_starve(&c, "auto", 0);
    case_infeasible(&c, 6, 6);
    case_starve(&c, "auto", 0);
}

/* ---- stored problems ---- */

static void check_file(const char *file, int least)
{
    rb_error err;
    rb_problem_entry *entry;
    rb_problem_reader *reader = rb_problem_open(test_shared(file), RB_FORMAT_LCP, NULL, &err);
    CHECK(reader != NULL);
    int count = 0;
    while (rb_problem_next(reader, &entry, &err) == RB_OK && entry) {
        const rb_problem *p = &entry->problem;
        double *z = calloc((size_t)p->n, sizeof *z), *ray = calloc((size_t)p->n, sizeof *ray);
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { .ray = ray };
        CHECK_INT(rb_solve(p, &o, z, &info), RB_OK);
        int solved = info.outcome == RB_SOLVED, wanted = strcmp(entry->expected, "solvable") == 0;
        if (entry->expected[0] && solved != wanted) {
            test_fail(__FILE__, __LINE__, "%s: solved = %d, %s", entry->name, solved, info.path);
        }
        if (!entry->expected[0] && !solved) {
            test_fail(__FILE__, __LINE__, "%s is not solved: %s", entry->name, info.path);
        }
        if (solved) CHECK(rb_grade(p, z) <= 1e-9);
        if (info.outcome == RB_RAY) CHECK(rb_ray_check(p, ray) >= 1);
        count++;
        free(z);
        free(ray);
        rb_problem_entry_free(entry);
    }
    rb_problem_close(reader);
    CHECK(count >= least);
}

TEST(stored_lcps)
{
    check_file("data/lcp/lcp.jsonl", 19);
}

TEST(stored_mixed_problems)
{
    check_file("data/lcp/mlcp.jsonl", 9);
}

TEST(stored_generated_problems)
{
    check_file("data/lcp/generated.jsonl", 140);
}

TEST_MAIN(RUN(every_solver_on_every_family), RUN(trivial_rung), RUN(warm_and_exchange_rungs),
          RUN(enumerate_rung), RUN(homotopy_rung), RUN(twofold_rung), RUN(lemke_rungs),
          RUN(mixed_problems_of_the_corpus), RUN(exponential_examples_of_any_size),
          RUN(infeasible_is_a_ray), RUN(islands_are_independent), RUN(same_bits_twice),
          RUN(memory_may_run_out), RUN(stored_lcps), RUN(stored_mixed_problems),
          RUN(stored_generated_problems))
