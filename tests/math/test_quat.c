/* Quaternions against rotation matrices, and the exponential map both ways. */
#include "math/quat.h"
#include "test.h"
#include "tree_support.h"

static const double pi = 3.141592653589793;

static double distance(const double *a, const double *b, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

TEST(a_quarter_turn_about_z_by_hand)
{
    const double z[3] = { 0.0, 0.0, 1.0 }, x[3] = { 1.0, 0.0, 0.0 };
    double q[4], R[9], y[3];
    rb_quat_axis_angle(z, 0.5 * pi, q);
    CHECK_NEAR(q[0], sqrt(0.5), 2e-16);
    CHECK_NEAR(q[3], sqrt(0.5), 2e-16);
    rb_quat_rotate(q, x, y);
    CHECK_NEAR(y[1], 1.0, 4e-16);
    rb_quat_to_rot(q, R);
    CHECK_NEAR(R[3], 1.0, 4e-16); /* row 1, column 0 */
    CHECK_NEAR(R[1], -1.0, 4e-16);
}

TEST(products_rotations_and_matrices_agree)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double p[4], q[4], pq[4], P[9], Q[9], PQ[9], R[9], x[3], a[3], b[3];
        tree_quaternion(&rng, p);
        tree_quaternion(&rng, q);
        tree_vector(&rng, 3.0, x);
        rb_quat_mul(p, q, pq);
        rb_quat_to_rot(p, P);
        rb_quat_to_rot(q, Q);
        rb_quat_to_rot(pq, R);
        rb_mul33(P, Q, PQ);
        CHECK(distance(R, PQ, 9) < 2e-15);
        CHECK_NEAR(rb_det3(R), 1.0, 4e-15);

        rb_quat_rotate(pq, x, a);
        rb_rot(R, x, b);
        CHECK(distance(a, b, 3) < 1e-14);
        rb_rot_t(R, b, b);
        CHECK(distance(x, b, 3) < 1e-14);

        double back[4], one[4] = { 1.0, 0.0, 0.0, 0.0 };
        rb_quat_conj(p, back);
        rb_quat_mul(back, p, back);
        CHECK(distance(back, one, 4) < 1e-15);
    }
}

/* All four branches: the largest component is each of w x y z in turn. */
TEST(matrix_to_quaternion_and_back)
{
    int largest_seen[4] = { 0 };
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        double q[4], R[9], back[4];
        tree_quaternion(&rng, q);
        if (q[0] < 0.0) {
            for (int i = 0; i < 4; i++) q[i] = -q[i];
        }
        rb_quat_to_rot(q, R);
        rb_quat_from_rot(R, back);
        CHECK(distance(q, back, 4) < 2e-15);
        int largest = 0;
        for (int i = 1; i < 4; i++) {
            if (fabs(q[i]) > fabs(q[largest])) largest = i;
        }
        largest_seen[largest]++;
    }
    for (int i = 0; i < 4; i++) CHECK(largest_seen[i] > 100);
}

TEST(exponential_and_logarithm_are_inverse_at_every_size)
{
    for (int exponent = -300; exponent <= 0; exponent++) {
        rb_rng rng = rb_rng_make((uint64_t)(1000 + exponent));
        double axis[3], r[3], q[4], back[3];
        tree_direction(&rng, axis);
        double angle = 3.14 * pow(10.0, exponent);
        rb_scale3(angle, axis, r);
        rb_quat_exp(r, q);
        rb_quat_log(q, back);
        for (int i = 0; i < 3; i++) CHECK_NEAR(back[i], r[i], 2e-15 * angle);

        /* -q is the same rotation */
        for (int i = 0; i < 4; i++) q[i] = -q[i];
        rb_quat_log(q, back);
        for (int i = 0; i < 3; i++) CHECK_NEAR(back[i], r[i], 2e-15 * angle);
    }
}

TEST(logarithm_takes_the_short_way)
{
    const double axis[3] = { 0.6, 0.0, 0.8 };
    double q[4], r[3];
    rb_quat_axis_angle(axis, 1.5 * pi, q);
    rb_quat_log(q, r);
    for (int i = 0; i < 3; i++) CHECK_NEAR(r[i], -0.5 * pi * axis[i], 1e-15);
    rb_quat_axis_angle(axis, pi, q);
    rb_quat_log(q, r);
    CHECK_NEAR(rb_norm3(r), pi, 1e-15);
}

TEST(normalising_survives_every_size)
{
    const double sizes[] = { 1e-320, 1e-200, 1e-3, 1.0, 1e3, 1e200, 1e308 };
    for (int i = 0; i < 7; i++) {
        double q[4] = { 0.5 * sizes[i], -0.5 * sizes[i], 0.5 * sizes[i], 0.5 * sizes[i] };
        double length = rb_quat_normalize(q);
        CHECK_NEAR(length / sizes[i], 1.0, i == 0 ? 1e-3 : 4e-16); /* few digits below 1e-308 */
        CHECK_NEAR(q[0], 0.5, 2e-16);
        CHECK_NEAR(q[1], -0.5, 2e-16);
    }
    double none[4] = { 0.0 }, nan[4] = { NAN, 1.0, 0.0, 0.0 }, inf[4] = { INFINITY, 1.0, 0.0, 0.0 };
    CHECK(rb_quat_normalize(none) == 0.0);
    CHECK(none[0] == 1.0 && none[1] == 0.0);
    rb_quat_normalize(nan);
    rb_quat_normalize(inf);
    CHECK(isnan(nan[0]) && isnan(inf[0]));
}

TEST_MAIN(RUN(a_quarter_turn_about_z_by_hand), RUN(products_rotations_and_matrices_agree),
          RUN(matrix_to_quaternion_and_back),
          RUN(exponential_and_logarithm_are_inverse_at_every_size),
          RUN(logarithm_takes_the_short_way), RUN(normalising_survives_every_size))
