/* Twofold arithmetic: by hand, against telescoping sums, inverses, and the kernels against their
 * scalar twins. */
#include "test.h"

#include "math/twofold.h"

/* A few units of the last place that twofold numbers have [1]. */
#define UNIT 0x1p-102

static rb_two draw(rb_rng *rng)
{
    double hi = rb_rng_uniform(rng, -1.0, 1.0);
    return rb_two_fast_sum(hi, 0x1p-54 * rb_rng_uniform(rng, -1.0, 1.0) * hi);
}

/* |x - y| as a plain number. */
static double apart(rb_two x, rb_two y)
{
    return fabs(rb_two_round(rb_two_sub(x, y)));
}

TEST(by_hand)
{
    rb_two tiny = rb_two_sum(1.0, 0x1p-80);
    CHECK(tiny.hi == 1.0 && tiny.lo == 0x1p-80);
    tiny = rb_two_sub(tiny, rb_two_of(1.0));
    CHECK(tiny.hi == 0x1p-80 && tiny.lo == 0.0);

    /* (1 + e)(1 - e) = 1 - e^2 */
    rb_two p = rb_two_product(1.0 + 0x1p-50, 1.0 - 0x1p-50);
    CHECK(p.hi == 1.0 && p.lo == -0x1p-100);
    CHECK(rb_two_less(p, rb_two_of(1.0)) && !rb_two_less(rb_two_of(1.0), p));
    CHECK(rb_two_round(p) == 1.0);

    /* 3 times a third */
    rb_two third = rb_two_div(rb_two_of(1.0), rb_two_of(3.0));
    CHECK(third.lo != 0.0 && apart(rb_two_scale(third, 3.0), rb_two_of(1.0)) <= UNIT);
    rb_two root = rb_two_sqrt(rb_two_of(2.0));
    CHECK(root.hi == sqrt(2.0) && apart(rb_two_mul(root, root), rb_two_of(2.0)) <= 2.0 * UNIT);
    CHECK(rb_two_sqrt(rb_two_of(0.0)).hi == 0.0);
}

/* sum 1 / (k (k + 1)) = 1 - 1 / (n + 1): thirty digits where double has sixteen. */
TEST(a_telescoping_sum)
{
    rb_two sum = rb_two_of(0.0);
    for (int k = 1; k <= 1000; k++) {
        sum = rb_two_add(sum, rb_two_div(rb_two_of(1.0), rb_two_product(k, k + 1.0)));
    }
    rb_two exact = rb_two_div(rb_two_of(1000.0), rb_two_of(1001.0));
    CHECK(apart(sum, exact) <= 1000.0 * UNIT);
    CHECK(apart(sum, rb_two_of(sum.hi)) > 1e-20);
}

TEST(inverses)
{
    rb_rng rng = rb_rng_make(7);
    for (int k = 0; k < 1000; k++) {
        rb_two x = draw(&rng), y = draw(&rng);
        rb_two back = rb_two_div(rb_two_mul(x, y), y);
        CHECK(apart(back, x) <= 4.0 * UNIT * fabs(x.hi));
        back = rb_two_sub(rb_two_add(x, y), y);
        CHECK(apart(back, x) <= 2.0 * UNIT * (fabs(x.hi) + fabs(y.hi)));
        rb_two square = rb_two_mul(x, x);
        rb_two size = x.hi < 0.0 ? rb_two_neg(x) : x;
        CHECK(apart(rb_two_sqrt(square), size) <= 4.0 * UNIT * fabs(x.hi));
    }
}

TEST(kernels_follow_the_scalars)
{
    enum { N = 37 };
    rb_rng rng = rb_rng_make(8);
    double x_hi[N], x_lo[N], y_hi[N], y_lo[N], a[N];
    for (int round = 0; round < 50; round++) {
        rb_two factor = draw(&rng), y[N], sum = rb_two_of(0.5), expected = sum;
        for (int i = 0; i < N; i++) {
            rb_two x = draw(&rng);
            y[i] = draw(&rng);
            x_hi[i] = x.hi;
            x_lo[i] = x.lo;
            y_hi[i] = y[i].hi;
            y_lo[i] = y[i].lo;
            a[i] = rb_rng_uniform(&rng, -1.0, 1.0);
            y[i] = rb_two_add(y[i], rb_two_mul(factor, x));
            expected = rb_two_add(expected, rb_two_scale(x, a[i]));
        }
        sum = rb_two_dot(a, x_hi, x_lo, N, sum);
        rb_two_axpy(factor, x_hi, x_lo, y_hi, y_lo, N);
        CHECK(apart(sum, expected) <= N * UNIT);
        for (int i = 0; i < N; i++) {
            CHECK(apart((rb_two){ y_hi[i], y_lo[i] }, y[i]) <= 2.0 * UNIT);
        }
    }
}

/* The bits of a kernel do not depend on where in a vector an element lies. */
TEST(kernels_have_the_same_bits_at_any_offset)
{
    enum { N = 23 };
    rb_rng rng = rb_rng_make(9);
    double x_hi[N], x_lo[N], all_hi[N], all_lo[N], one_hi[N], one_lo[N];
    rb_two factor = draw(&rng);
    for (int i = 0; i < N; i++) {
        rb_two x = draw(&rng), y = draw(&rng);
        x_hi[i] = x.hi;
        x_lo[i] = x.lo;
        all_hi[i] = one_hi[i] = y.hi;
        all_lo[i] = one_lo[i] = y.lo;
    }
    rb_two_axpy(factor, x_hi, x_lo, all_hi, all_lo, N);
    for (int i = 0; i < N; i++) rb_two_axpy(factor, x_hi + i, x_lo + i, one_hi + i, one_lo + i, 1);
    CHECK(memcmp(all_hi, one_hi, sizeof all_hi) == 0);
    CHECK(memcmp(all_lo, one_lo, sizeof all_lo) == 0);
}

TEST_MAIN(RUN(by_hand), RUN(a_telescoping_sum), RUN(inverses), RUN(kernels_follow_the_scalars),
          RUN(kernels_have_the_same_bits_at_any_offset))
