/* Rows as what they are: problems by hand, against known answers, redundant rows, any start. */
#include "solve/mixed.h"
#include "test.h"

enum { MOST = 60 };

typedef struct problem {
    int n;
    int r; /* 0: solved by W, else by G */
    double G[MOST * MOST];
    double W[MOST * MOST], q[MOST], compliance[MOST];
    unsigned char kind[MOST];
    int ndisc;
    rb_disc disc[MOST];
} problem;

static rb_mixed view(const problem *x)
{
    return (rb_mixed){ .n = x->n,
                       .ld = x->n,
                       .W = x->r > 0 ? NULL : x->W,
                       .G = x->G,
                       .r = x->r,
                       .q = x->q,
                       .kind = x->kind,
                       .compliance = x->compliance,
                       .ndisc = x->ndisc,
                       .disc = x->disc };
}

static rb_certificate certify(const problem *x, const double *p)
{
    double u[MOST], diagonal[MOST];
    rb_mixed mixed = view(x);
    rb_certificate cert;
    for (int i = 0; i < x->n; i++) {
        u[i] = x->q[i];
        for (int j = 0; j < x->n; j++) u[i] += x->W[i * x->n + j] * p[j];
        diagonal[i] = x->W[i * (x->n + 1)];
    }
    rb_mixed_residual(&mixed, diagonal, p, u, &cert);
    return cert;
}

/* Solves from p; the certificate, measured here from W and q. What may be rough takes no more
 * factorisations and is within the tolerance too. */
static rb_certificate solve(const problem *x, double tol, double *p, unsigned char *mode)
{
    double start[MOST];
    unsigned char rough_mode[MOST];
    rb_mixed mixed = view(x);
    rb_mixed_result result, rough;
    rb_arena *arena = rb_arena_new(NULL, 0);
    memcpy(start, p, (size_t)x->n * sizeof *p);
    CHECK_INT(rb_mixed_solve(&mixed, tol, arena, p, mode, &result), RB_OK);
    mixed.rough = 1;
    CHECK_INT(rb_mixed_solve(&mixed, tol, arena, start, rough_mode, &rough), RB_OK);
    rb_certificate cert = certify(x, p);
    CHECK(rough.factorisations <= result.factorisations);
    CHECK(!(cert.relative <= tol) || certify(x, start).relative <= tol);
    rb_arena_free(arena);
    return cert;
}

/* One body of mass 1 on a floor: W = 1. */
static void make_block(problem *x, double down, double along, double mu)
{
    *x = (problem){ .n = 3, .ndisc = 1, .q = { down, along, 0.0 } };
    for (int i = 0; i < 3; i++) {
        x->W[4 * i] = 1.0;
        x->compliance[i] = 1e-8;
        x->kind[i] = i == 0 ? RB_ROW_NORMAL : RB_ROW_FRICTION;
    }
    x->disc[0] = (rb_disc){ 1, 2, 0, mu, 0.0 };
}

TEST(a_block_leaves_sticks_or_slides)
{
    problem x;
    unsigned char mode[3];
    double open[3] = { 0.0 }, stick[3] = { 0.0 }, slide[3] = { 0.0 };
    make_block(&x, 0.1, 1.0, 0.5);
    CHECK(solve(&x, 1e-9, open, mode).relative <= 1e-9);
    CHECK(open[0] == 0.0 && open[1] == 0.0);
    CHECK_INT(mode[0], RB_MODE_OPEN);

    make_block(&x, -1.0, 0.4, 0.5);
    CHECK(solve(&x, 1e-9, stick, mode).relative <= 1e-9);
    CHECK_NEAR(stick[0], 1.0, 1e-9);
    CHECK_NEAR(stick[1], -0.4, 1e-9);
    CHECK_INT(mode[1], RB_MODE_STICK);

    make_block(&x, -1.0, 0.8, 0.5);
    CHECK(solve(&x, 1e-9, slide, mode).relative <= 1e-9);
    CHECK_NEAR(slide[1], -0.5, 1e-9);
    CHECK_INT(mode[1], RB_MODE_SLIDE);
}

/* A joint of inertia 0.1 with friction that takes at most 0.2 N m s, at 5 and at 1 rad/s; beside it
 * a bilateral row and a limit. */
TEST(joints_have_rows_of_their_own)
{
    problem x = { .n = 4, .ndisc = 2, .q = { 5.0, 1.0, 0.3, -0.7 } };
    unsigned char mode[4];
    double p[4] = { 0.0 };
    for (int i = 0; i < 4; i++) {
        x.W[5 * i] = 10.0;
        x.compliance[i] = 1e-7;
    }
    x.kind[0] = x.kind[1] = RB_ROW_FRICTION;
    x.kind[2] = RB_ROW_BILATERAL;
    x.kind[3] = RB_ROW_NORMAL;
    x.disc[0] = (rb_disc){ 0, 1, -1, 0.0, 0.2 };
    x.disc[1] = (rb_disc){ 1, 1, -1, 0.0, 0.2 };
    CHECK(solve(&x, 1e-9, p, mode).relative <= 1e-9);
    CHECK_NEAR(p[0], -0.2, 1e-9);
    CHECK_NEAR(p[1], -0.1, 1e-9);
    CHECK_NEAR(p[2], -0.03, 1e-9);
    CHECK_NEAR(p[3], 0.07, 1e-9);
    CHECK_INT(mode[0], RB_MODE_SLIDE);
    CHECK_INT(mode[1], RB_MODE_STICK);
}

/* Torsion and roll are bounded by the normal impulse, without copies of it. */
TEST(torsion_and_roll_follow_the_normal)
{
    problem x = { .n = 6, .ndisc = 3, .q = { -2.0, 0.1, 0.0, 3.0, 0.0, -4.0 } };
    unsigned char mode[6];
    double p[6] = { 0.0 };
    for (int i = 0; i < 6; i++) {
        x.W[7 * i] = 1.0;
        x.compliance[i] = 1e-8;
        x.kind[i] = i == 0 ? RB_ROW_NORMAL : RB_ROW_FRICTION;
    }
    x.disc[0] = (rb_disc){ 1, 2, 0, 0.5, 0.0 };
    x.disc[1] = (rb_disc){ 3, 1, 0, 0.02, 0.0 };
    x.disc[2] = (rb_disc){ 4, 2, 0, 0.01, 0.0 };
    CHECK(solve(&x, 1e-9, p, mode).relative <= 1e-9);
    CHECK_NEAR(p[0], 2.0, 1e-9);
    CHECK_NEAR(p[1], -0.1, 1e-9);
    CHECK_NEAR(p[3], -0.04, 1e-9);
    CHECK_NEAR(p[5], 0.02, 1e-9);
}

static double uniform(rb_rng *rng)
{
    return rb_rng_uniform(rng, -1.0, 1.0);
}

/* Contacts, joints and a loop on `dofs` freedoms of random rows: redundant where there are more
 * rows than freedoms. */
static void make_random(uint64_t seed, int contacts, int joints, int dofs, problem *x)
{
    rb_rng rng = rb_rng_make(seed);
    double J[MOST][MOST];
    *x = (problem){ .n = 3 * contacts + joints + 1 };
    for (int i = 0; i < x->n; i++) {
        for (int k = 0; k < dofs; k++) J[i][k] = uniform(&rng) / sqrt((double)dofs);
        x->q[i] = uniform(&rng);
    }
    for (int c = 0; c < contacts; c++) {
        x->kind[3 * c] = RB_ROW_NORMAL;
        x->kind[3 * c + 1] = x->kind[3 * c + 2] = RB_ROW_FRICTION;
        x->disc[x->ndisc++] = (rb_disc){ 3 * c + 1, 2, 3 * c, rb_rng_uniform(&rng, 0.2, 0.8), 0.0 };
        for (int k = 0; k < dofs; k++) J[3 * c][k] = fabs(J[3 * c][k]); /* one motion opens all */
    }
    for (int i = 3 * contacts; i < x->n - 1; i++) {
        x->kind[i] = RB_ROW_FRICTION;
        x->disc[x->ndisc++] = (rb_disc){ i, 1, -1, 0.0, rb_rng_uniform(&rng, 0.0, 0.3) };
    }
    x->kind[x->n - 1] = RB_ROW_BILATERAL;
    for (int i = 0; i < x->n; i++) {
        for (int j = 0; j < x->n; j++) {
            double sum = 0.0;
            for (int k = 0; k < dofs; k++) sum += J[i][k] * J[j][k];
            x->W[i * x->n + j] = sum;
        }
        memcpy(x->G + i * dofs, J[i], (size_t)dofs * sizeof *x->G);
        x->compliance[i] = 1e-8;
    }
}

TEST(random_rows_are_certified_at_both_accuracies)
{
    static const double tol[] = { 1e-6, 1e-9 };
    for (uint64_t seed = 1; seed <= 400; seed++) {
        TEST_SEED(seed);
        for (int k = 0; k < 2; k++) {
            problem x;
            double p[MOST] = { 0.0 };
            unsigned char mode[MOST];
            make_random(seed, 1 + (int)(seed % 6), (int)(seed % 4), 24, &x);
            CHECK(solve(&x, tol[k], p, mode).relative <= tol[k]);
        }
    }
}

/* Cold, or from the answer of a neighbour: velocities agree to 1e-6 of their size. */
TEST(the_start_does_not_matter)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        problem x, other;
        double cold[MOST] = { 0.0 }, warm[MOST] = { 0.0 }, worst = 0.0, size = 0.0;
        unsigned char mode[MOST];
        TEST_SEED(seed);
        make_random(seed, 4, 2, 24, &x);
        make_random(seed, 4, 2, 24, &other);
        for (int i = 0; i < x.n; i++) other.q[i] *= 1.0 + 0.1 * (i % 3);
        CHECK(solve(&x, 1e-6, cold, mode).relative <= 1e-6);
        CHECK(solve(&other, 1e-6, warm, mode).relative <= 1e-6);
        CHECK(solve(&x, 1e-6, warm, mode).relative <= 1e-6);
        for (int i = 0; i < x.n; i++) {
            double u = 0.0;
            for (int j = 0; j < x.n; j++) u += x.W[i * x.n + j] * (cold[j] - warm[j]);
            worst = fmax(worst, fabs(u));
            size = fmax(size, fabs(x.q[i]));
        }
        CHECK(worst <= 1e-6 * size);
    }
}

/* Many contacts of few freedoms, whose velocities they can have: the side of the freedoms (K.34)
 * finds the motion that the side of the rows does. */
TEST(both_sides_find_the_same_motion)
{
    enum { CONTACTS = 16, DOFS = 9 };
    int found = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        problem x;
        rb_rng rng = rb_rng_make(seed);
        double rows[MOST] = { 0.0 }, freedoms[MOST] = { 0.0 }, worst = 0.0, size = 0.0, v[DOFS];
        unsigned char mode[MOST];
        TEST_SEED(seed);
        make_random(seed, CONTACTS, 2, DOFS, &x);
        for (int k = 0; k < DOFS; k++) v[k] = uniform(&rng);
        for (int i = 0; i < x.n; i++) {
            x.q[i] = 0.0;
            for (int k = 0; k < DOFS; k++) x.q[i] += x.G[i * DOFS + k] * v[k];
        }
        double by_rows = solve(&x, 1e-6, rows, mode).relative;
        x.r = DOFS;
        double by_freedoms = solve(&x, 1e-6, freedoms, mode).relative;
        if (by_rows > 1e-6) continue; /* friction from all sides: neither needs to find an answer */
        CHECK(by_freedoms <= 1e-6);
        found++;
        for (int i = 0; i < x.n; i++) {
            double u = 0.0;
            for (int j = 0; j < x.n; j++) u += x.W[i * x.n + j] * (rows[j] - freedoms[j]);
            worst = fmax(worst, fabs(u));
            size = fmax(size, fabs(x.q[i]));
        }
        CHECK(worst <= 1e-5 * size);
    }
    CHECK(found >= 150);
}

/* Four feet, two freedoms: load is shared evenly, whatever the guess. */
TEST(redundant_rows_share_their_load)
{
    static const double guess[3][4] = { { 0.0 }, { 1.0, 0.0, 0.0, 0.0 }, { 0.0, 0.3, 0.1, 0.9 } };
    for (int k = 0; k < 3; k++) {
        problem x = { .n = 4 };
        unsigned char mode[4];
        double p[4];
        memcpy(p, guess[k], sizeof p);
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) x.W[4 * i + j] = 1.0 + (i % 2 == j % 2 ? 1.0 : -1.0);
            x.q[i] = -1.0;
            x.compliance[i] = 2e-8;
        }
        CHECK(solve(&x, 1e-6, p, mode).relative <= 1e-6);
        for (int i = 0; i < 4; i++) CHECK_NEAR(p[i], 0.25, 1e-6);
    }
}

/* A car on four wheels, two points each: chassis (velocity of its centre, angular velocity) and the
 * spins of the wheels; masses in the rows, J M^-1/2. */
static void make_car(uint64_t seed, double later, problem *x)
{
    enum { DOFS = 10, POINTS = 8 };
    static const double mass[DOFS] = { 3.2, 3.2, 3.2, 0.02, 0.05, 0.06, 6e-4, 6e-4, 6e-4, 6e-4 };
    rb_rng rng = rb_rng_make(seed);
    double J[MOST][DOFS] = { { 0.0 } }, v[DOFS];
    *x = (problem){ .n = 3 * POINTS };
    for (int k = 0; k < DOFS; k++) v[k] = uniform(&rng) * (k < 6 ? 0.5 : 10.0);
    v[2] = -0.02;
    for (int k = 0; k < DOFS; k++) v[k] += later * uniform(&rng);
    for (int c = 0; c < POINTS; c++) {
        int wheel = c / 2;
        double at[3] = { wheel < 2 ? 0.15 : -0.15, wheel % 2 ? -0.13 : 0.13, -0.11 };
        at[1] += c % 2 ? 0.02 : -0.02;
        double(*row)[DOFS] = &J[3 * c];
        row[0][2] = row[1][0] = row[2][1] = 1.0;
        row[0][3] = at[1], row[0][4] = -at[0];
        row[1][4] = at[2], row[1][5] = -at[1];
        row[2][5] = at[0], row[2][3] = -at[2];
        row[1][6 + wheel] = -0.06;
        x->kind[3 * c] = RB_ROW_NORMAL;
        x->kind[3 * c + 1] = x->kind[3 * c + 2] = RB_ROW_FRICTION;
        x->disc[x->ndisc++] = (rb_disc){ 3 * c + 1, 2, 3 * c, 0.9, 0.0 };
    }
    for (int i = 0; i < x->n; i++) {
        for (int k = 0; k < DOFS; k++) x->q[i] += J[i][k] * v[k];
        for (int j = 0; j < x->n; j++) {
            for (int k = 0; k < DOFS; k++) x->W[i * x->n + j] += J[i][k] * J[j][k] / mass[k];
        }
        x->compliance[i] = 1e-8 * 5.0;
    }
}

/* Points that slide and share their load: the path turns back at a compliance above that of the
 * problem for some of them, and a larger one leads to the answer (K.33). */
TEST(wheels_that_slide_on_two_points_each)
{
    int missed = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        problem x;
        double p[MOST] = { 0.0 };
        unsigned char mode[MOST];
        TEST_SEED(seed);
        for (int step = 0; step < 3; step++) {
            make_car(seed, 0.02 * step, &x);
            missed += solve(&x, 1e-6, p, mode).relative > 1e-6;
        }
    }
    CHECK_INT(missed, 0);
}

/* Feet of a mechanism in a plane: nothing moves their points across it, where W has a row of zeros.
 * Newton's method does with a few steps what it does elsewhere. */
TEST(planar_feet_are_solved_as_fast_as_others)
{
    enum { PLANAR_DOFS = 6, FEET = 3 };
    int most = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        problem x = { .n = 3 * FEET };
        double J[3 * FEET][PLANAR_DOFS] = { { 0.0 } }, v[PLANAR_DOFS], p[3 * FEET] = { 0.0 };
        unsigned char mode[3 * FEET];
        rb_rng rng = rb_rng_make(seed);
        TEST_SEED(seed);
        for (int k = 0; k < PLANAR_DOFS; k++) v[k] = rb_rng_uniform(&rng, -1.0, 1.0);
        for (int i = 0; i < x.n; i++) {
            for (int k = 0; k < PLANAR_DOFS && i % 3 < 2; k++)
                J[i][k] = rb_rng_uniform(&rng, -1.0, 1.0);
            x.kind[i] = i % 3 == 0 ? RB_ROW_NORMAL : RB_ROW_FRICTION;
            x.compliance[i] = 1e-7;
            if (i % 3 == 0) x.disc[x.ndisc++] = (rb_disc){ i + 1, 2, i, 0.4, 0.0 };
        }
        for (int i = 0; i < x.n; i++) {
            for (int k = 0; k < PLANAR_DOFS; k++) x.q[i] += J[i][k] * v[k];
            for (int j = 0; j < x.n; j++) {
                for (int k = 0; k < PLANAR_DOFS; k++) x.W[i * x.n + j] += J[i][k] * J[j][k];
            }
        }
        rb_mixed mixed = view(&x);
        rb_mixed_result result;
        rb_arena *arena = rb_arena_new(NULL, 0);
        CHECK_INT(rb_mixed_solve(&mixed, 1e-6, arena, p, mode, &result), RB_OK);
        CHECK(certify(&x, p).relative <= 1e-6);
        if (result.factorisations > most) most = result.factorisations;
        rb_arena_free(arena);
    }
    CHECK(most <= 30); /* 21; along all paths 60 and more */
}

/* Two bilateral rows that ask one freedom for different velocities: no answer, which is said after
 * a few factorisations. With the same velocity there is one. */
TEST(rows_that_contradict_each_other_are_seen_soon)
{
    for (int k = 0; k < 2; k++) {
        problem x = { .n = 2, .q = { 0.3, k == 0 ? 0.31 : 0.3 } };
        double p[2] = { 0.0 };
        unsigned char mode[2];
        rb_mixed mixed = view(&x);
        rb_mixed_result result;
        for (int i = 0; i < 4; i++) x.W[i] = 2.0;
        for (int i = 0; i < 2; i++) x.kind[i] = RB_ROW_BILATERAL, x.compliance[i] = 2e-8;
        rb_arena *arena = rb_arena_new(NULL, 0);
        CHECK_INT(rb_mixed_solve(&mixed, 1e-6, arena, p, mode, &result), RB_OK);
        CHECK_INT(result.solved, k);
        CHECK(result.factorisations <= 8);
        rb_arena_free(arena);
    }
}

/* What the certificate must not pass: a push on an open contact, friction beyond the cone, slip
 * along friction. */
TEST(the_certificate_sees_each_kind_of_error)
{
    static const double wrong[3][3] = { { 0.5, 0.0, 0.0 }, { 1.0, -0.9, 0.0 }, { 1.0, 0.5, 0.0 } };
    for (int k = 0; k < 3; k++) {
        problem x;
        rb_certificate cert;
        double u[3], diagonal[3] = { 1.0, 1.0, 1.0 };
        make_block(&x, k == 0 ? 1.0 : -1.0, 0.8, 0.5);
        rb_mixed mixed = view(&x);
        for (int i = 0; i < 3; i++) u[i] = x.q[i] + wrong[k][i];
        rb_mixed_residual(&mixed, diagonal, wrong[k], u, &cert);
        CHECK(cert.relative > 0.05);
    }
}

TEST_MAIN(RUN(a_block_leaves_sticks_or_slides), RUN(joints_have_rows_of_their_own),
          RUN(torsion_and_roll_follow_the_normal),
          RUN(random_rows_are_certified_at_both_accuracies), RUN(the_start_does_not_matter),
          RUN(both_sides_find_the_same_motion), RUN(redundant_rows_share_their_load),
          RUN(wheels_that_slide_on_two_points_each), RUN(planar_feet_are_solved_as_fast_as_others),
          RUN(rows_that_contradict_each_other_are_seen_soon),
          RUN(the_certificate_sees_each_kind_of_error))
