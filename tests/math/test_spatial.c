/* Packed symmetric 6x6 matrices against full ones, and the eigenvalues of symmetric 3x3. */
#include "math/spatial.h"
#include "test.h"
#include "tree_support.h"

/* phi of the header as 36 numbers. */
static void full_phi(const double l[3], double phi[36])
{
    const double sk[9] = { 0.0, -l[2], l[1], l[2], 0.0, -l[0], -l[1], l[0], 0.0 };
    for (int i = 0; i < 36; i++) phi[i] = i % 7 == 0 ? 1.0 : 0.0;
    for (int i = 0; i < 9; i++) phi[6 * (i / 3) + 3 + i % 3] = sk[i];
}

/* (X Y X')_ij, X as it is or transposed */
static double congruence(const double X[36], int transposed, const double Y[36], int i, int j)
{
    double sum = 0.0;
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            double left = transposed ? X[6 * a + i] : X[6 * i + a];
            double right = transposed ? X[6 * b + j] : X[6 * j + b];
            sum += left * Y[6 * a + b] * right;
        }
    }
    return sum;
}

typedef struct sample {
    double l[3], x[6], y[6], P[21], full[36], phi[36];
} sample;

static sample draw(uint64_t seed)
{
    sample s;
    rb_rng rng = rb_rng_make(seed);
    tree_vector(&rng, 1.0, s.l);
    for (int i = 0; i < 6; i++) s.x[i] = rb_rng_uniform(&rng, -1.0, 1.0);
    for (int i = 0; i < 6; i++) s.y[i] = rb_rng_uniform(&rng, -1.0, 1.0);
    for (int i = 0; i < 21; i++) s.P[i] = rb_rng_uniform(&rng, -1.0, 1.0);
    rb_sym6_full(s.P, s.full);
    full_phi(s.l, s.phi);
    return s;
}

TEST(the_full_matrix_is_symmetric_and_holds_every_number)
{
    sample s = draw(1);
    double sum = 0.0, twice = 0.0;
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            CHECK(s.full[6 * i + j] == s.full[6 * j + i]);
            twice += s.full[6 * i + j] * (i == j ? 2.0 : 1.0);
        }
    }
    for (int i = 0; i < 21; i++) sum += s.P[i];
    CHECK_NEAR(twice, 2.0 * sum, 1e-14);
    CHECK(s.full[0] == s.P[0] && s.full[1] == s.P[3] && s.full[3] == s.P[6]);
    CHECK(s.full[4] == s.P[7] && s.full[9] == s.P[9] && s.full[21] == s.P[15]);
}

TEST(vectors_are_shifted_by_phi)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        sample s = draw(seed);
        double f[6], a[6], power = 0.0, at_O = 0.0;
        rb_shift_wrench(s.l, s.x, f);
        rb_shift_motion(s.l, s.y, a);
        for (int i = 0; i < 6; i++) {
            double phi_x = 0.0, phi_t_y = 0.0;
            for (int j = 0; j < 6; j++) {
                phi_x += s.phi[6 * i + j] * s.x[j];
                phi_t_y += s.phi[6 * j + i] * s.y[j];
            }
            CHECK_NEAR(f[i], phi_x, 1e-15);
            CHECK_NEAR(a[i], phi_t_y, 1e-15);
        }

        /* power is the same at both points */
        for (int i = 0; i < 6; i++) power += s.x[i] * a[i];
        for (int i = 0; i < 6; i++) at_O += f[i] * s.y[i];
        CHECK_NEAR(power, at_O, 4e-15);
        rb_shift_wrench(s.l, s.x, s.x); /* in place */
        for (int i = 0; i < 6; i++) CHECK(s.x[i] == f[i]);
    }
}

TEST(matrices_are_shifted_by_phi_on_both_sides)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        sample s = draw(seed);
        double inertia[21], compliance[21], Q[36], Y[36];
        rb_sym6_shift(s.l, s.P, inertia);
        rb_sym6_shift_compliance(s.l, s.P, compliance);
        rb_sym6_full(inertia, Q);
        rb_sym6_full(compliance, Y);
        for (int i = 0; i < 36; i++) {
            CHECK_NEAR(Q[i], congruence(s.phi, 0, s.full, i / 6, i % 6), 1e-14);
            CHECK_NEAR(Y[i], congruence(s.phi, 1, s.full, i / 6, i % 6), 1e-14);
        }
        rb_sym6_shift(s.l, s.P, s.P);
        CHECK(memcmp(s.P, inertia, sizeof inertia) == 0);
    }
}

TEST(products_and_updates)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        sample s = draw(seed);
        double y[6], Q[21], full[36];
        rb_sym6_mul(s.P, s.x, y);
        for (int i = 0; i < 6; i++) {
            double sum = 0.0;
            for (int j = 0; j < 6; j++) sum += s.full[6 * i + j] * s.x[j];
            CHECK_NEAR(y[i], sum, 2e-15);
        }
        memcpy(Q, s.P, sizeof Q);
        rb_sym6_rank1(0.7, s.x, Q);
        rb_sym6_rank2(-0.3, s.x, s.y, Q);
        rb_sym6_add(s.P, Q);
        rb_sym6_full(Q, full);
        for (int i = 0; i < 36; i++) {
            int a = i / 6, b = i % 6;
            double pair = 0.5 * (s.x[a] * s.y[b] + s.y[a] * s.x[b]);
            CHECK_NEAR(full[i], 2.0 * s.full[i] + 0.7 * s.x[a] * s.x[b] - 0.3 * pair, 2e-15);
        }
    }
}

/* A point mass: the wrench of an acceleration is m a at its place. */
TEST(inertia_of_a_link_by_hand)
{
    const double c[3] = { 0.0, 2.0, 0.0 }, x[6] = { 0.0, 0.0, 3.0, 1.0, 0.0, 0.0 };
    double I[6] = { 0.0 }, P[21], f[6];
    rb_sym3_steiner(5.0, c, I);
    rb_sym6_inertia(5.0, c, I, P);
    rb_sym6_mul(P, x, f);

    /* acceleration of the point: 1 - 3 * 2 = -5 along x; force -25, moment c x F = +50 about z */
    CHECK_NEAR(f[3], -25.0, 0.0);
    CHECK_NEAR(f[2], 50.0, 0.0);
    CHECK(f[0] == 0.0 && f[1] == 0.0 && f[4] == 0.0 && f[5] == 0.0);
}

TEST(eigenvalues_come_in_order_with_a_rotation)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double A[6], w[3], V[9], back[6];
        for (int i = 0; i < 6; i++) A[i] = rb_rng_uniform(&rng, -1.0, 1.0);
        if (seed % 5 == 0) A[3] = A[4] = A[5] = 0.0;
        if (seed % 7 == 0) A[0] = A[1] = A[2];
        rb_sym3_eigen(A, w, V);
        CHECK(w[0] <= w[1] && w[1] <= w[2]);
        CHECK_NEAR(rb_det3(V), 1.0, 2e-15);
        const double diagonal[6] = { w[0], w[1], w[2], 0.0, 0.0, 0.0 };
        rb_sym3_rotate(V, diagonal, back);
        for (int i = 0; i < 6; i++) CHECK_NEAR(back[i], A[i], 4e-15);
        CHECK_NEAR(w[0] + w[1] + w[2], A[0] + A[1] + A[2], 4e-15);
    }
}

/* A needle: moments 1 and 1e-12 about axes that are no coordinate axes. */
TEST(small_eigenvalues_keep_their_digits)
{
    const double R[9] = { 0.6, -0.8, 0.0, 0.8, 0.6, 0.0, 0.0, 0.0, 1.0 };
    const double needle[6] = { 1.0, 1.0, 1e-12, 0.0, 0.0, 0.0 };
    double A[6], w[3];
    rb_sym3_rotate(R, needle, A);
    rb_sym3_eigen(A, w, NULL);
    CHECK_NEAR(w[0], 1e-12, 1e-26);
    CHECK_NEAR(w[2], 1.0, 4e-16);
}

TEST_MAIN(RUN(the_full_matrix_is_symmetric_and_holds_every_number), RUN(vectors_are_shifted_by_phi),
          RUN(matrices_are_shifted_by_phi_on_both_sides), RUN(products_and_updates),
          RUN(inertia_of_a_link_by_hand), RUN(eigenvalues_come_in_order_with_a_rotation),
          RUN(small_eigenvalues_keep_their_digits))
