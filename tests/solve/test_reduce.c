#include "lcp_cases.h"

#include "base/arena.h"
#include "solve/reduce.h"

typedef struct fixture {
    rb_arena *arena;
    rb_problem p;
    rb_boxed b;
    rb_reduction r;
} fixture;

static void reduce(const lcp_case *c, fixture *f)
{
    *f = (fixture){ .arena = rb_arena_new(NULL, 0), .p = case_problem(c) };
    CHECK(f->arena != NULL);
    CHECK_INT(rb_boxed_view(&f->p, f->arena, &f->b), RB_OK);
    CHECK_INT(rb_reduce(&f->b, f->arena, &f->r), RB_OK);
}

/* y for a known z must solve the reduced problem, and come back as z. */
static void check_round_trip(const lcp_case *c)
{
    fixture f;
    reduce(c, &f);
    CHECK_INT(f.r.bad_row, -1);
    CHECK_INT(f.r.lcp.n, f.r.ncomp + f.r.nslack);
    double y[2 * CASE_MAX] = { 0 }, w[2 * CASE_MAX], z[CASE_MAX];
    for (int k = 0; k < f.r.ncomp; k++) {
        int i = f.r.comp[k];
        y[k] = f.r.sign[i] * (c->z[i] - f.r.base[i]);
    }
    for (int t = 0; t < f.r.nslack; t++) {
        int i = f.r.comp[f.r.slack[t]];
        double w_i = c->q[i];
        for (int j = 0; j < c->n; j++) w_i += c->W[i * c->n + j] * c->z[j];
        y[f.r.ncomp + t] = w_i < 0.0 ? -w_i : 0.0;
    }
    CHECK(rb_boxed_measure(&f.r.lcp, y, w).strict <= 1e-12);
    rb_reduce_back(&f.r, y, z);
    for (int i = 0; i < c->n; i++) CHECK_NEAR(z[i], c->z[i], 1e-10);
    rb_arena_free(f.arena);
}

TEST(known_answers_survive_the_round_trip)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        case_box(&c, seed, 1 + (int)(seed % 30));
        check_round_trip(&c);
        case_mixed(&c, seed, 1 + (int)(seed % 30));
        check_round_trip(&c);
    }
}

TEST(partitions_survive_the_round_trip)
{
    lcp_case c;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        TEST_SEED(seed);
        case_box(&c, seed, 21);
        fixture f;
        reduce(&c, &f);
        unsigned char set[CASE_MAX], reduced[2 * CASE_MAX], back[CASE_MAX];
        rb_partition_guess(&f.b, NULL, c.z, set);
        rb_reduce_set(&f.r, set, reduced);
        rb_reduce_set_back(&f.r, reduced, back);
        for (int i = 0; i < c.n; i++) CHECK_INT(back[i], set[i]);
        rb_arena_free(f.arena);
    }
}

/* x1 + x2 + z = 1 twice, and z - 0.25 >= 0 complementary to z. */
static void redundant_pair(lcp_case *c, double second)
{
    case_begin(c, "redundant", 0, 3);
    c->kind = RB_BOX;
    c->lo[0] = c->lo[1] = -INFINITY;
    const double W[9] = { 1, 1, 1, 1, 1, 1, 0, 0, 1 };
    memcpy(c->W, W, sizeof W);
    c->q[0] = -1.0;
    c->q[1] = second;
    c->q[2] = -0.25;
}

TEST(redundant_equalities_are_fine)
{
    lcp_case c;
    double z[3];
    static const char *const solvers[] = { "lemke", "judice-pires", "enumerate", "auto" };
    redundant_pair(&c, -1.0);
    for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; k++) {
        rb_info info = { 0 };
        CHECK_INT(case_solve(&c, solvers[k], z, &info), RB_SOLVED);
        CHECK_INT(info.bad_row, -1);
        CHECK_NEAR(z[0] + z[1], 0.75, 1e-14);
    }
}

TEST(contradictory_equalities_are_named)
{
    lcp_case c;
    double z[3];
    static const char *const solvers[] = { "lemke", "enumerate", "auto" };
    redundant_pair(&c, -2.0);
    for (size_t k = 0; k < sizeof solvers / sizeof solvers[0]; k++) {
        rb_info info = { 0 };
        CHECK_INT(case_solve(&c, solvers[k], z, &info), RB_FAILED);
        CHECK(info.bad_row == 0 || info.bad_row == 1);
    }
}

/* A free variable with an empty block, coupled to a complementary row: x is the multiplier of the
 * equality z = 2. w = z + x + 1 = 0 gives x = -3. */
TEST(multipliers_without_a_block_are_split)
{
    lcp_case c;
    for (int sign = -1; sign <= 1; sign += 2) {
        double z[2];
        rb_info info = { 0 };
        case_begin(&c, "multiplier", 0, 2);
        c.kind = RB_BOX;
        c.lo[0] = -INFINITY;
        const double W[4] = { 0, sign, 1, 1 };
        memcpy(c.W, W, sizeof W);
        c.q[0] = -2.0 * sign;
        c.q[1] = 1.0;
        CHECK_INT(case_solve(&c, "lemke", z, &info), RB_SOLVED);
        CHECK_NEAR(z[0], -3.0, 1e-14);
        CHECK_NEAR(z[1], 2.0, 1e-14);
    }
}

/* A body held by its joint: nothing of the contact's compliance is left but rounding. */
TEST(cancelled_compliance_is_zero)
{
    lcp_case c;
    case_begin(&c, "held", 0, 2);
    c.kind = RB_BOX;
    c.lo[0] = -INFINITY;
    const double W[4] = { 0.3, 0.1 * 0.7, 0.1 * 0.7, 0.07 * 0.07 / 0.3 };
    memcpy(c.W, W, sizeof W);
    c.q[0] = 0.5;
    c.q[1] = 0.07 * 0.5 / 0.3;
    fixture f;
    reduce(&c, &f);
    CHECK_INT(f.r.lcp.n, 1);
    CHECK(f.r.lcp.W[0] == 0.0);
    CHECK(f.r.lcp.q[0] == 0.0);
    rb_arena_free(f.arena);
}

TEST_MAIN(RUN(known_answers_survive_the_round_trip), RUN(partitions_survive_the_round_trip),
          RUN(redundant_equalities_are_fine), RUN(contradictory_equalities_are_named),
          RUN(multipliers_without_a_block_are_split), RUN(cancelled_compliance_is_zero))
