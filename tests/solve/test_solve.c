/* rb_solve around the solvers: who accepts what, warm starts, memory, honesty. Every solver of the
 * table on a small problem of every kind that it accepts. */
#include "corpus_support.h"
#include "memory_budget.h"
#include "solve/internal.h"

static const int kinds[] = { RB_LCP, RB_BOX, RB_CONE };
static const int form_of[] = { RB_CORPUS_CONE, RB_CORPUS_BOX, RB_CORPUS_CONE };

/* The contacts of a cone problem without friction: an LCP with a symmetric semidefinite W, which
 * Dantzig's method asks for. Its z are normal impulses. */
static void drop_friction(rb_corpus_problem *p)
{
    static double W[64 * 64], q[64];
    int nc = p->nc, n = p->problem.n;
    for (int c = 0; c < nc; c++) {
        q[c] = p->problem.q[3 * c];
        for (int d = 0; d < nc; d++) W[c * nc + d] = p->W[3 * c * n + 3 * d];
    }
    p->problem = (rb_problem){ .kind = RB_LCP, .n = nc, .q = q };
    p->problem.W.dense = W;
}

static rb_corpus_problem make_problem(int kind, uint64_t seed, int family, int contacts)
{
    rb_corpus_problem p = support_make(seed, family, form_of[kind], contacts);
    if (kinds[kind] == RB_LCP) drop_friction(&p);
    return p;
}

/* Three contacts of a pile: small enough to enumerate, regular enough for everybody. */
static rb_corpus_problem small_problem(int kind, uint64_t seed)
{
    return make_problem(kind, seed, RB_CORPUS_PILE, 3);
}

typedef void case_body(const rb_solver *s, const rb_corpus_problem *p);

/* Calls body for every solver and kind that go together. */
static void for_all_cases(uint64_t seed, case_body *body)
{
    int cases = 0;
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        for (int k = 0; k < 3; k++) {
            if (!((*s)->accepts & (unsigned)kinds[k])) continue;
            rb_corpus_problem p = small_problem(k, seed);
            body(*s, &p);
            rb_corpus_free(&p);
            cases++;
        }
    }
    CHECK(cases >= 15); /* the table did not lose half of its solvers */
}

/* ---- the table ---------------------------------------------------------------------------------
 */

TEST(the_table_is_complete)
{
    static const char *const names[] = { "auto", "lemke", "murty",  "dantzig", "judice-pires",
                                         "pgs",  "nsgs",  "newton", "admm" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const rb_solver *s = rb_solver_find(names[k]);
        CHECK(s != NULL);
        CHECK_STR(s->name, names[k]);
        CHECK(s->summary && *s->summary && s->accepts && s->solve);
    }
    for (const rb_solver *const *s = rb_solvers; *s; s++) CHECK(rb_solver_find((*s)->name) == *s);
    CHECK(rb_solver_find("") == NULL);
    CHECK(rb_solver_find("AUTO") == NULL);
    CHECK(rb_solver_find("lemk") == NULL);
    CHECK_INT(rb_solver_find("auto")->accepts, RB_LCP | RB_BOX | RB_CONE);
}

TEST(defaults)
{
    rb_solve_opts o = rb_solve_opts_default();
    CHECK(o.solver == rb_solver_find("auto"));
    CHECK(o.tol == 1e-9 && o.max_iter == 100000 && o.warm == 0 && o.unique == 1);
    CHECK(o.arena == NULL && o.alloc == NULL);
}

TEST(rung_names_are_distinct)
{
    for (int r = 0; r < RB_RUNG_COUNT; r++) {
        CHECK(rb_rung_name(r) != NULL && strcmp(rb_rung_name(r), "?") != 0);
        for (int s = 0; s < r; s++) CHECK(strcmp(rb_rung_name(r), rb_rung_name(s)) != 0);
    }
    CHECK_STR(rb_rung_name(RB_RUNG_TRIVIAL), "trivial");
    CHECK_STR(rb_rung_name(RB_RUNG_LEMKE_WARM), "lemke-warm");
    CHECK_STR(rb_rung_name(RB_RUNG_ENUMERATE), "enumerate");
    CHECK_STR(rb_rung_name(RB_RUNG_NEWTON), "newton");
    CHECK_STR(rb_rung_name(RB_RUNG_NSGS), "nsgs");
    CHECK_STR(rb_rung_name(-1), "?");
    CHECK_STR(rb_rung_name(RB_RUNG_COUNT), "?");
}

TEST(other_kinds_are_refused)
{
    int refused = 0;
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        for (int k = 0; k < 3; k++) {
            if ((*s)->accepts & (unsigned)kinds[k]) continue;
            rb_corpus_problem p = small_problem(k, 1);
            rb_solve_opts opts = support_opts((*s)->name);
            rb_info info = { 0 };
            double z[SUPPORT_ROWS] = { 3.0 };
            CHECK_INT(rb_solve(&p.problem, &opts, z, &info), RB_UNSUPPORTED);
            CHECK(z[0] == 3.0);
            rb_corpus_free(&p);
            refused++;
        }
    }
    CHECK(refused >= 6);
}

TEST(zeroed_options_are_refused)
{
    rb_corpus_problem p = small_problem(0, 1);
    rb_solve_opts opts = { 0 }, usual = rb_solve_opts_default();
    rb_info info = { 0 };
    double z[SUPPORT_ROWS] = { 3.0 };
    CHECK_INT(rb_solve(&p.problem, &opts, z, &info), RB_BAD_INPUT);
    usual.max_iter = 0;
    CHECK_INT(rb_solve(&p.problem, &usual, z, &info), RB_BAD_INPUT);
    CHECK(z[0] == 3.0);
    rb_corpus_free(&p);
}

TEST(the_two_doors_check_the_kind)
{
    for (int k = 0; k < 3; k++) {
        rb_corpus_problem p = small_problem(k, 1);
        rb_solve_opts opts = support_opts("auto");
        rb_info info = { 0 };
        double z[SUPPORT_ROWS] = { 0.0 };
        CHECK_INT(rb_lcp_solve(&p.problem, &opts, z, &info), k < 2 ? RB_OK : RB_UNSUPPORTED);
        CHECK_INT(rb_cone_solve(&p.problem, &opts, z, &info), k < 2 ? RB_UNSUPPORTED : RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        rb_corpus_free(&p);
    }
}

/* ---- the path ----------------------------------------------------------------------------------
 */

TEST(paths_are_cut_and_never_overrun)
{
    struct {
        rb_info info;
        char guard[8];
    } s = { .guard = "guarded" };
    rb_path_add(&s.info, "warm");
    CHECK_STR(s.info.path, "warm");
    rb_path_add(&s.info, "exchange");
    CHECK_STR(s.info.path, "warm > exchange");
    for (int i = 0; i < 50; i++) {
        size_t before = strlen(s.info.path);
        rb_path_add(&s.info, "lemke-warm");
        size_t after = strlen(s.info.path);
        CHECK(after < sizeof s.info.path);
        CHECK(after > before || after == sizeof s.info.path - 1);
        CHECK(strncmp(s.info.path, "warm > exchange > lemke-warm", 28) == 0);
    }
    CHECK_STR(s.guard, "guarded");
}

/* ---- answers -----------------------------------------------------------------------------------
 */

/* Solver and problem, with the reason. */
static int is_known_failure(const char *solver, const char *problem)
{
    static const struct {
        const char *solver, *problem;
    } known[] = {
        { "pgs", "pile-box:000003" }, /* 400 sweeps gain less than 0.1 %: it gives up */
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!strcmp(solver, known[k].solver) && !strcmp(problem, known[k].problem)) return 1;
    }
    return 0;
}

static void check_case_solved(const rb_solver *s, const rb_corpus_problem *p)
{
    rb_solve_opts opts = support_opts(s->name);
    double z[SUPPORT_ROWS] = { 0.0 };
    rb_info info = support_solve(&p->problem, &opts, z, NULL);
    int expected = is_known_failure(s->name, p->name) ? RB_FAILED : RB_SOLVED;
    if ((int)info.outcome != expected) {
        print_error("%s on %s: %.3g\n", s->name, p->name, info.cert.relative);
    }
    CHECK_INT(info.outcome, expected);
    CHECK_INT(info.bad_row, -1);
    CHECK(info.islands >= 1 && info.islands <= p->problem.n);
    CHECK(info.rcond >= 0.0 && info.rcond <= 1.0);
    CHECK(info.path[0] != '\0');
}

TEST(every_solver_solves_what_it_accepts)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        TEST_SEED(seed);
        for_all_cases(seed, check_case_solved);
    }
}

static void check_case_cold(const rb_solver *s, const rb_corpus_problem *p)
{
    double zero[SUPPORT_ROWS] = { 0.0 }, junk[SUPPORT_ROWS];
    unsigned char mode[SUPPORT_ROWS] = { 0 };
    int n = p->problem.n;
    for (int i = 0; i < n; i++) junk[i] = i % 3 ? 1e30 * i : NAN;
    rb_solve_opts opts = support_opts(s->name);
    rb_info a = support_solve(&p->problem, &opts, zero, mode);

    /* what z and the modes hold is no guess unless the caller says so */
    rb_info b = support_solve(&p->problem, &opts, junk, NULL);
    CHECK(memcmp(zero, junk, (size_t)n * sizeof *zero) == 0);
    CHECK(memcmp(&a.cert, &b.cert, sizeof a.cert) == 0);
    CHECK_INT(a.iterations, b.iterations);
    memset(mode, RB_MODE_STICK, sizeof mode);
    double again[SUPPORT_ROWS] = { 0.0 };
    support_solve(&p->problem, &opts, again, mode);
    CHECK(memcmp(zero, again, (size_t)n * sizeof *zero) == 0);
}

TEST(cold_means_cold)
{
    for_all_cases(1, check_case_cold);
}

/* From its own answer every solver finishes at once, at the same velocity. */
static void check_case_warm(const rb_solver *s, const rb_corpus_problem *p)
{
    double z[SUPPORT_ROWS] = { 0.0 }, warm[SUPPORT_ROWS], u[SUPPORT_ROWS], v[SUPPORT_ROWS];
    unsigned char mode[SUPPORT_ROWS] = { 0 };
    int n = p->problem.n;
    rb_solve_opts opts = support_opts(s->name);
    rb_info cold = support_solve(&p->problem, &opts, z, mode);
    memcpy(warm, z, sizeof z);
    opts.warm = 1;
    rb_info again = support_solve(&p->problem, &opts, warm, mode);
    CHECK_INT(again.outcome, RB_SOLVED);
    if (again.iterations > cold.iterations) {
        print_error("%s on %s: %d iterations warm, %d cold\n", s->name, p->name, again.iterations,
                    cold.iterations);
    }
    CHECK(again.iterations <= cold.iterations);
    CHECK_INT(rb_problem_apply(&p->problem, z, NULL, u), RB_OK);
    CHECK_INT(rb_problem_apply(&p->problem, warm, NULL, v), RB_OK);
    double apart = support_apart(u, v, n);
    if (apart > 1e-6 * rb_corpus_speed(p)) {
        print_error("%s on %s: %.3g m/s apart\n", s->name, p->name, apart);
    }
    CHECK(apart <= 1e-6 * rb_corpus_speed(p));

    /* a guess that is no number is none */
    for (int i = 0; i < n; i++) warm[i] = NAN;
    again = support_solve(&p->problem, &opts, warm, NULL);
    for (int i = 0; i < n; i++) CHECK(isfinite(warm[i]));
    if (again.outcome != RB_SOLVED) {
        print_error("%s on %s: %.3g\n", s->name, p->name, again.cert.relative);
    }
    CHECK_INT(again.outcome, RB_SOLVED);
}

TEST(warm_starts)
{
    for_all_cases(1, check_case_warm);
}

static void check_case_modes(const rb_solver *s, const rb_corpus_problem *p)
{
    double z[SUPPORT_ROWS] = { 0.0 };
    unsigned char mode[SUPPORT_ROWS];
    memset(mode, 99, sizeof mode);
    rb_solve_opts opts = support_opts(s->name);
    support_solve(&p->problem, &opts, z, mode);
    int count = p->problem.kind == RB_CONE ? p->nc : p->problem.n;
    for (int i = 0; i < count; i++) {
        if (mode[i] > RB_MODE_UPPER) print_error("%s on %s: mode %d\n", s->name, p->name, mode[i]);
        CHECK(mode[i] <= RB_MODE_UPPER);
    }
    for (int i = count; i < SUPPORT_ROWS; i++) CHECK_INT(mode[i], 99); /* not one too many */
}

TEST(modes_are_written_and_no_more)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        TEST_SEED(seed);
        for_all_cases(seed, check_case_modes);
    }
}

/* One iteration is too few for most; whatever comes out is a number and graded as it is. */
static void check_case_short(const rb_solver *s, const rb_corpus_problem *p)
{
    rb_solve_opts opts = support_opts(s->name);
    double z[SUPPORT_ROWS];
    for (int i = 0; i < SUPPORT_ROWS; i++) z[i] = NAN;
    opts.max_iter = 1;
    support_solve(&p->problem, &opts, z, NULL);
    for (int i = 0; i < p->problem.n; i++) CHECK(isfinite(z[i]));
    for (int i = p->problem.n; i < SUPPORT_ROWS; i++) CHECK(isnan(z[i]));
}

TEST(failing_solves_write_an_honest_answer)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        TEST_SEED(seed);
        for_all_cases(seed, check_case_short);
    }
    rb_corpus_problem p = support_make(3, RB_CORPUS_STACK, RB_CORPUS_CONE, 24);
    rb_solve_opts opts = support_opts("nsgs");
    double z[SUPPORT_ROWS] = { 0.0 };
    opts.max_iter = 1;
    rb_info info = support_solve(&p.problem, &opts, z, NULL);
    CHECK_INT(info.outcome, RB_FAILED);
    CHECK(info.cert.relative > opts.tol && info.cert.relative < 1.0);
    rb_corpus_free(&p);
}

/* An unreachable tolerance is not called solved. */
static void check_case_tolerance(const rb_solver *s, const rb_corpus_problem *p)
{
    rb_solve_opts opts = support_opts(s->name);
    double z[SUPPORT_ROWS] = { 0.0 };
    opts.tol = 1e-300;
    opts.max_iter = 200;
    rb_info info = support_solve(&p->problem, &opts, z, NULL);
    CHECK(info.outcome == RB_FAILED || info.cert.relative <= 1e-300);
}

TEST(tolerances_are_kept)
{
    for_all_cases(4, check_case_tolerance);
}

/* ---- rays --------------------------------------------------------------------------------------
 */

TEST(rays_where_asked)
{
    /* skew, q_2 < 0: no solution, Farkas (0, 1) */
    const double W[4] = { 0.0, 1.0, -1.0, 0.0 }, q[2] = { 1.0, -1.0 };
    rb_problem p = { .kind = RB_LCP, .n = 2, .q = q };
    p.W.dense = W;
    static const char *const names[] = { "lemke", "auto" };
    for (int k = 0; k < 2; k++) {
        rb_solve_opts opts = support_opts(names[k]);
        double z[2] = { 0.0 }, ray[3] = { 5.0, 5.0, 5.0 };
        rb_info info = { .ray = ray };
        CHECK_INT(rb_solve(&p, &opts, z, &info), RB_OK);
        CHECK_INT(info.outcome, RB_RAY);
        CHECK(info.ray == ray);
        CHECK_INT(rb_ray_check(&p, ray), 2);
        CHECK(ray[2] == 5.0);
        CHECK(info.cert.relative > opts.tol);

        /* nobody asks for it: the verdict is the same */
        rb_info plain = { 0 };
        CHECK_INT(rb_solve(&p, &opts, z, &plain), RB_OK);
        CHECK_INT(plain.outcome, RB_RAY);
        CHECK(plain.ray == NULL && plain.mode == NULL);
    }
}

/* No solver of the table calls an infeasible problem solved. */
TEST(nobody_solves_the_unsolvable)
{
    static const double W[3][4] = { { 0.0, 1.0, -1.0, 0.0 },
                                    { 1.0, -1.0, -1.0, 1.0 },
                                    { 0.0, 0.0, 0.0, 0.0 } };
    const double q[2] = { -1.0, -1.0 }, apart[2] = { 1.0, -1.0 };
    for (const rb_solver *const *s = rb_solvers; *s; s++) {
        for (int k = 0; k < 3; k++) {
            TEST_SEED(k);
            if (!((*s)->accepts & RB_LCP)) continue;
            rb_problem p = { .kind = RB_LCP, .n = 2, .q = k == 0 ? apart : q };
            p.W.dense = W[k];
            rb_solve_opts opts = support_opts((*s)->name);
            double z[2] = { 0.0 };
            rb_info info = support_solve(&p, &opts, z, NULL);
            CHECK(info.outcome != RB_SOLVED);
        }
    }
}

/* ---- memory ------------------------------------------------------------------------------------
 */

/* Larger than the first block of the arena, so that allocations happen inside the solvers. */
static rb_corpus_problem larger_problem(unsigned kind)
{
    if (kind == RB_LCP) return make_problem(0, 2, RB_CORPUS_PILE, 60);
    return make_problem(kind == RB_BOX ? 1 : 2, 2, RB_CORPUS_PILE, 30);
}

static void check_case_fail_at(const rb_solver *s, const rb_corpus_problem *small)
{
    rb_corpus_problem p = larger_problem(small->problem.kind);
    rb_solve_opts opts = support_opts(s->name);
    opts.max_iter = 500;
    int refused = 0;
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_info info = { 0 };
        double z[SUPPORT_ROWS] = { 0.0 };
        opts.alloc = &alloc;
        rb_status status = rb_solve(&p.problem, &opts, z, &info);
        CHECK(status == RB_OK || status == RB_NOMEM);
        CHECK(status == RB_OK || memory.requests >= k);
        CHECK_INT(memory.live, 0);
        CHECK(info.mode == NULL && info.ray == NULL);
        refused += status == RB_NOMEM;
        if (memory.requests < k) break;
    }
    CHECK(refused >= 2);
    rb_corpus_free(&p);
}

TEST(every_allocation_fails_in_turn)
{
    for_all_cases(1, check_case_fail_at);
}

/* One solve in an arena whose first block is full, so that no push is hidden by it. */
static rb_status solve_with_budget(const rb_problem *p, rb_solve_opts opts, size_t bytes)
{
    test_budget budget = { .left = bytes };
    rb_alloc alloc = test_budget_alloc(&budget);
    rb_info info = { 0 };
    double z[SUPPORT_ROWS] = { 0.0 };
    opts.arena = rb_arena_new(&alloc, 0);
    if (!opts.arena) return RB_NOMEM;
    CHECK(rb_push(opts.arena, char, rb_arena_bytes(opts.arena)) != NULL);
    rb_status status = rb_solve(p, &opts, z, &info);
    rb_arena_free(opts.arena);
    CHECK_INT(budget.memory.live, 0);
    CHECK(info.mode == NULL && info.ray == NULL);
    return status;
}

/* A budget that grows in small steps reaches every push of the solver. */
static void check_case_budget(const rb_solver *s, const rb_corpus_problem *small)
{
    rb_corpus_problem p = larger_problem(small->problem.kind);
    rb_solve_opts opts = support_opts(s->name);
    opts.max_iter = 300;
    rb_status status = RB_NOMEM;
    int refused = 0;
    for (size_t bytes = 16600; status != RB_OK; bytes += 500 + bytes / 100, refused++) {
        status = solve_with_budget(&p.problem, opts, bytes);
        CHECK(status == RB_OK || status == RB_NOMEM);
        CHECK(bytes < (size_t)8 << 20);
    }
    if (refused <= 3) print_error("%s on %s: %d refusals\n", s->name, p.name, refused);
    CHECK(refused > 3);
    rb_corpus_free(&p);
}

TEST(every_budget_of_memory)
{
    for_all_cases(1, check_case_budget);
}

static void check_case_warm_up(const rb_solver *s, const rb_corpus_problem *small)
{
    rb_corpus_problem p = larger_problem(small->problem.kind);
    test_memory memory = { 0 };
    rb_alloc alloc = test_alloc(&memory);
    rb_solve_opts opts = support_opts(s->name);
    opts.max_iter = 500;
    opts.arena = rb_arena_new(&alloc, 0);
    CHECK(opts.arena != NULL);
    double first[SUPPORT_ROWS] = { 0.0 }, z[SUPPORT_ROWS];
    support_solve(&p.problem, &opts, first, NULL);
    int growths = rb_arena_growths(opts.arena);
    long requests = memory.requests;
    for (int round = 0; round < 3; round++) {
        memset(z, 0, sizeof z);
        support_solve(&p.problem, &opts, z, NULL);
        CHECK(memcmp(z, first, sizeof z) == 0); /* what the arena held before does not matter */
        CHECK_INT(rb_arena_growths(opts.arena), growths);
        CHECK_INT(memory.requests, requests);
    }
    rb_arena_free(opts.arena);
    CHECK_INT(memory.live, 0);
    rb_corpus_free(&p);
}

TEST(nothing_is_allocated_after_warm_up)
{
    for_all_cases(1, check_case_warm_up);
}

/* The caller's arena keeps what the caller pushed. */
TEST(the_callers_scratch_survives)
{
    rb_arena *arena = rb_arena_new(NULL, 0);
    double *mine = rb_push(arena, double, 100);
    for (int i = 0; i < 100; i++) mine[i] = i;
    rb_corpus_problem p = larger_problem(RB_CONE);
    rb_solve_opts opts = support_opts("auto");
    double z[SUPPORT_ROWS] = { 0.0 };
    opts.arena = arena;
    CHECK_INT(support_solve(&p.problem, &opts, z, NULL).outcome, RB_SOLVED);
    for (int i = 0; i < 100; i++) CHECK(mine[i] == i);
    rb_corpus_free(&p);
    rb_arena_free(arena);
}

TEST_MAIN(RUN(the_table_is_complete), RUN(defaults), RUN(rung_names_are_distinct),
          RUN(other_kinds_are_refused), RUN(the_two_doors_check_the_kind),
          RUN(paths_are_cut_and_never_overrun), RUN(every_solver_solves_what_it_accepts),
          RUN(cold_means_cold), RUN(warm_starts), RUN(modes_are_written_and_no_more),
          RUN(failing_solves_write_an_honest_answer), RUN(tolerances_are_kept),
          RUN(rays_where_asked), RUN(nobody_solves_the_unsolvable),
          RUN(every_allocation_fails_in_turn), RUN(every_budget_of_memory),
          RUN(nothing_is_allocated_after_warm_up), RUN(the_callers_scratch_survives),
          RUN(zeroed_options_are_refused))
