/* Many contacts of known bodies: the system of the bodies against that of the contacts, mixed
 * sweeps, the ladder. */
#include "cone_support.h"
#include "memory_budget.h"

#include "solve/cone_knot.h"
#include "solve/cone_large.h"
#include "solve/cone_mix.h"
#include "solve/cone_part.h"
#include "solve/nsgs.h"

enum { CONTACTS = 140 };

typedef struct large_case {
    rb_corpus_problem p;
    rb_arena *arena;
    rb_cones k;
    rb_newton s;
} large_case;

/* An operator problem; bodies = 0: its parts are not told. */
static void open_case(uint64_t seed, int family, int bodies, large_case *t)
{
    t->p = support_make(seed, family, RB_CORPUS_CONE_OP, CONTACTS);
    t->arena = rb_arena_new(NULL, 0);
    CHECK_INT(rb_cones_make(&t->p.problem, t->arena, &t->k), RB_OK);
    if (!bodies) t->k.parts = NULL;
    CHECK_INT(rb_newton_make(&t->k, t->arena, &t->s), RB_OK);
    CHECK((t->s.bodies != NULL) == bodies);
}

static rb_status solve_large(large_case *t, double tol, double *r, rb_large *found)
{
    rb_large_opts opts = { .tol = tol, .limit = 10000 };
    return rb_cone_large(&t->k, &opts, t->arena, r, found);
}

static void close_case(large_case *t)
{
    rb_arena_free(t->arena);
    rb_corpus_free(&t->p);
}

/* All three modes in turn, and derivatives as Newton would have them. */
static void fill_system(rb_newton *s)
{
    double r[3 * CONTACTS];
    for (int c = 0; c < s->k->nc; c++) {
        double rho = s->k->rho[c], mu = s->k->mu[c], *u = s->u + 3 * c;
        s->mode[c] = (unsigned char)(c % 3 == 0   ? RB_MODE_STICK
                                     : c % 3 == 1 ? RB_MODE_SLIDE
                                                  : RB_MODE_OPEN);
        r[3 * c] = rho * (1.0 + 0.01 * c);
        r[3 * c + 1] = mu * r[3 * c];
        r[3 * c + 2] = 0.0;
        u[0] = 0.0;
        u[1] = -0.3;
        u[2] = 0.1;
        for (int i = 0; i < 3; i++) s->F[3 * c + i] = 0.1 * ((7 * c + i) % 11 - 5);
    }
    memcpy(s->rho_t, s->k->rho, (size_t)s->k->nc * sizeof *s->rho_t);
    rb_newton_compliance(s, RB_COMPLIANCE_SCALED, 1e-3);
    rb_newton_linearise(s, r);
}

/* Two eliminations of one system. */
TEST(bodies_give_the_directions_of_the_contacts)
{
    static const int families[] = { RB_CORPUS_PILE, RB_CORPUS_STACK, RB_CORPUS_CHAIN };
    for (uint64_t seed = 1; seed <= 6; seed++) {
        large_case a, b;
        TEST_SEED(seed);
        open_case(seed, families[seed % 3], 1, &a);
        open_case(seed, families[seed % 3], 0, &b);
        fill_system(&a.s);
        fill_system(&b.s);
        CHECK(rb_newton_factor(&a.s) && rb_newton_solve(&a.s));
        CHECK(rb_newton_factor(&b.s) && rb_newton_solve(&b.s));
        double largest = 0.0, worst = 0.0;
        for (int i = 0; i < a.k.n; i++) {
            double rho = a.k.rho[i / 3];
            largest = fmax(largest, fabs(b.s.dr[i]) / rho);
            worst = fmax(worst, fabs(a.s.dr[i] - b.s.dr[i]) / rho);
        }
        CHECK(largest > 0.0);
        CHECK(worst <= 1e-8 * largest);
        close_case(&a);
        close_case(&b);
    }
}

/* From an answer whose impulses are changed a little, contacts that are solved by themselves, each
 * in a mode of its own, lead back to it: the others are in their modes, whose step is exact. */
TEST(a_knot_leads_back_to_the_answer)
{
    int checked = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        large_case t;
        rb_large found;
        double r[3 * CONTACTS] = { 0.0 }, u[3 * CONTACTS];
        const int knot[] = { 3, 40, 77 };
        int done;
        TEST_SEED(seed);
        open_case(seed, RB_CORPUS_PILE, 1, &t);
        CHECK_INT(solve_large(&t, 1e-11, r, &found), RB_OK);
        if (found.error <= 1e-11) {
            for (int i = 0; i < 9; i++) r[3 * knot[i / 3] + i % 3] *= 1.0 + 1e-7 * (i - 4);
            rb_cones_velocity(&t.k, r, u);
            double before = rb_cones_error(&t.k, r, u);
            rb_newton_compliance(&t.s, RB_COMPLIANCE_SCALED, 1e-7);
            CHECK_INT(rb_cone_knot(&t.s, knot, 3, t.arena, r, &done), RB_OK);
            rb_cones_velocity(&t.k, r, u);
            double after = rb_cones_error(&t.k, r, u);

            /* the rest is compliance; before <= 1e-8: all of them are open */
            CHECK(before <= 1e-8 || (done && after <= fmax(1e-2 * before, 1e-10)));
            checked += before > 1e-8;
        }
        close_case(&t);
    }
    CHECK(checked > 0);
}

/* An answer stays one. On the way to it mixed sweeps are far ahead of as many plain ones where
 * modes are found early, and never far behind. */
TEST(mixed_sweeps_are_ahead_of_plain_ones)
{
    int ahead = 0, still = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        large_case t;
        rb_mix mix;
        rb_large found;
        double r[3 * CONTACTS] = { 0.0 }, plain[3 * CONTACTS] = { 0.0 }, u[3 * CONTACTS];
        TEST_SEED(seed);
        open_case(seed, RB_CORPUS_PILE, 1, &t);
        CHECK_INT(rb_mix_make(&t.k, t.arena, &mix), RB_OK);
        for (int i = 0; i < 30; i++) {
            rb_mix_step(&mix, r);
            for (int k = 0; k < 2; k++) rb_nsgs_sweep(&t.k, NULL, plain, k);
        }
        for (int c = 0; c < t.k.nc; c++)
            CHECK(rb_cone_tangent(r + 3 * c, 3) <= t.k.mu[c] * r[3 * c] * (1.0 + 1e-12));
        rb_cones_velocity(&t.k, r, u);
        double mixed_error = rb_cones_error(&t.k, r, u);
        rb_cones_velocity(&t.k, plain, u);
        double plain_error = rb_cones_error(&t.k, plain, u);
        ahead += mixed_error < 0.1 * plain_error;
        CHECK(mixed_error <= 10.0 * plain_error);

        CHECK_INT(solve_large(&t, 1e-12, r, &found), RB_OK);
        CHECK_INT(rb_mix_make(&t.k, t.arena, &mix), RB_OK);
        for (int i = 0; i < 5 && found.error <= 1e-12; i++) rb_mix_step(&mix, r);
        rb_cones_velocity(&t.k, r, u);
        still += found.error <= 1e-12 && rb_cones_error(&t.k, r, u) <= 1e-10;
        close_case(&t);
    }
    CHECK(ahead >= 3); /* masses and friction of the others are such that modes change */
    CHECK(still >= 3);
}

/* Some contacts of a problem are a problem with the entries of W that are between them. */
TEST(a_part_has_the_entries_of_the_whole)
{
    large_case t;
    rb_cone_part part;
    int contact[CONTACTS / 2], local[CONTACTS];
    double r[3 * CONTACTS], u[3 * CONTACTS], u_part[3 * CONTACTS];
    open_case(5, RB_CORPUS_PILE, 1, &t);
    for (int c = 0; c < t.k.nc; c++) local[c] = -1;
    for (int i = 0; i < t.k.nc / 2; i++) contact[i] = t.k.nc - 1 - 2 * i;
    for (int i = 0; i < t.k.n; i++) r[i] = 0.01 * (i % 13);
    int n = t.k.nc / 2;
    for (int c = 0; c < t.k.nc; c++) {
        int listed = 0;
        for (int i = 0; i < n; i++) listed |= contact[i] == c;
        if (!listed) memset(r + 3 * c, 0, 3 * sizeof *r);
    }
    CHECK_INT(rb_cone_part_make(&t.k, n, contact, local, t.arena, r, &part), RB_OK);
    rb_cones_velocity(&t.k, r, u);
    rb_cones_velocity(&part.k, part.r, u_part);
    double largest = t.k.q_norm;
    for (int i = 0; i < t.k.n; i++) largest = fmax(largest, fabs(u[i]));
    for (int i = 0; i < 3 * n; i++)
        CHECK_NEAR(u_part[i], u[3 * contact[i / 3] + i % 3], 1e-12 * largest);
    close_case(&t);
}

/* Contact problems of known bodies are certified, cold and warm. */
TEST(known_bodies_are_solved)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    for (uint64_t seed = 1; seed <= 24; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, seed % 2 ? RB_CORPUS_PILE : RB_CORPUS_STACK,
                                           RB_CORPUS_CONE_OP, CONTACTS);
        rb_solve_opts opts = support_opts("auto");
        opts.unique = 0; /* the unique answer is that of the path */
        static double r[SUPPORT_ROWS];
        memset(r, 0, sizeof r);
        rb_info info = support_solve(&p.problem, &opts, r, NULL);
        CHECK_INT(info.outcome, RB_SOLVED);
        for (int i = 0; i < p.problem.n; i++) r[i] *= 1.0 + 1e-6 * (i % 2 ? 1.0 : -1.0);
        opts.warm = 1;
        CHECK_INT(support_solve(&p.problem, &opts, r, NULL).outcome, RB_SOLVED);
        rb_corpus_free(&p);
    }
}

/* A budget that grows in small steps reaches every push of the ladder: a status, and no block left.
 */
TEST(too_little_memory_is_a_status)
{
    rb_corpus_problem p = support_make(5, RB_CORPUS_PILE, RB_CORPUS_CONE_OP, CONTACTS);
    rb_solve_opts opts = support_opts("auto");
    rb_status status = RB_NOMEM;
    int refused = 0;
    opts.unique = 0;
    opts.max_iter = 60;
    for (size_t bytes = 20000; status != RB_OK; bytes += bytes / 20, refused++) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        static double r[SUPPORT_ROWS];
        rb_info info = { 0 };
        memset(r, 0, sizeof r);
        opts.alloc = &alloc;
        status = rb_solve(&p.problem, &opts, r, &info);
        CHECK(status == RB_OK || status == RB_NOMEM);
        CHECK_INT(budget.memory.live, 0);
        CHECK(bytes < (size_t)256 << 20);
    }
    CHECK(refused > 10);
    rb_corpus_free(&p);
}

TEST_MAIN(RUN(bodies_give_the_directions_of_the_contacts), RUN(a_knot_leads_back_to_the_answer),
          RUN(mixed_sweeps_are_ahead_of_plain_ones), RUN(a_part_has_the_entries_of_the_whole),
          RUN(known_bodies_are_solved), RUN(too_little_memory_is_a_status))
