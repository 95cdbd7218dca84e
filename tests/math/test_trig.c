/* Own elementary functions against long double, and their bits against stored ones. */
#include <float.h>

#include "math/trig.h"
#include "test.h"

/* Distance of x from the reference in units of the last place of the result. */
static double ulps(double x, long double reference)
{
    double nearest = (double)reference;
    if (isnan(x) || isnan(nearest)) return isnan(x) == isnan(nearest) ? 0.0 : INFINITY;
    if (x == nearest) return 0.0; /* infinities too */
    double ulp = nextafter(fabs(nearest), INFINITY) - fabs(nearest);
    return (double)(fabsl((long double)x - reference) / (long double)ulp);
}

static void need_long_double(void)
{
    if (LDBL_MANT_DIG <= DBL_MANT_DIG) SKIP("long double has no more digits than double");
}

/* Angles of size `scale`, a quarter of them next to multiples of pi/2, where reduction is hard. */
static double draw_angle(rb_rng *rng, double scale)
{
    double x = rb_rng_uniform(rng, -scale, scale);
    if (rb_rng_next(rng) % 4 == 0) x = floor(x / 1.5707963267948966) * 1.5707963267948966;
    return x;
}

static const double angle_scales[] = { 1e-300, 1e-8, 0.1, 0.8, 3.2,   100.0,
                                       1e4,    1e6,  1e7, 1e9, 1e100, 8e307 };
enum { NSCALE = sizeof angle_scales / sizeof angle_scales[0] };

TEST(sine_and_cosine_are_within_one_ulp)
{
    need_long_double();
    rb_rng rng = rb_rng_make(1);
    for (int n = 0; n < 240000; n++) {
        double x = draw_angle(&rng, angle_scales[n % NSCALE]), s, c;
        rb_sincos(x, &s, &c);
        CHECK(ulps(s, sinl(x)) < 0.8);
        CHECK(ulps(c, cosl(x)) < 0.8);
        CHECK(rb_sin(x) == s && rb_cos(x) == c);
    }
}

TEST(known_values_of_large_angles)
{
    /* 1e22 and 2^1023: published to 20 digits, hopeless with any fixed number of digits of pi */
    CHECK_NEAR(rb_sin(1e22), -0.85220084976718880177, 1e-16);
    CHECK_NEAR(rb_cos(1e22), 0.52321478539513894549, 1e-16);
    CHECK_NEAR(rb_sin(0x1p1023), 0.56312777985088401345, 1e-16);
    CHECK(rb_sin(-1e22) == -rb_sin(1e22));
}

TEST(angles_that_are_none)
{
    double bad[] = { NAN, INFINITY, -INFINITY }, s, c;
    for (int i = 0; i < 3; i++) {
        rb_sincos(bad[i], &s, &c);
        CHECK(isnan(s) && isnan(c));
    }
    rb_sincos(0.0, &s, &c);
    CHECK(s == 0.0 && c == 1.0);
}

TEST(many_at_once_give_the_same_bits)
{
    double x[45], s[45], c[45];
    rb_rng rng = rb_rng_make(3);
    for (int n = 0; n <= 45; n++) {
        for (int i = 0; i < n; i++) x[i] = draw_angle(&rng, angle_scales[(n + i) % NSCALE]);
        if (n > 7) x[n / 2] = n % 2 ? NAN : INFINITY;
        rb_sincos_n(n, x, s, c);
        for (int i = 0; i < n; i++) {
            double s_one, c_one;
            rb_sincos(x[i], &s_one, &c_one);
            if (isnan(s_one)) {
                CHECK(isnan(s[i]) && isnan(c[i]));
            } else {
                CHECK(memcmp(&s_one, &s[i], sizeof s_one) == 0);
                CHECK(memcmp(&c_one, &c[i], sizeof c_one) == 0);
            }
        }
    }
}

TEST(arctangent_is_within_one_ulp)
{
    need_long_double();
    rb_rng rng = rb_rng_make(2);
    for (int n = 0; n < 200000; n++) {
        double y = rb_rng_uniform(&rng, -1.0, 1.0), x = rb_rng_uniform(&rng, -1.0, 1.0);
        if (n % 3 == 0) y = ldexp(y, -(int)(rb_rng_next(&rng) % 70));
        if (n % 5 == 0) {
            y = ldexp(y, (int)(rb_rng_next(&rng) % 1000) - 500);
            x = ldexp(x, (int)(rb_rng_next(&rng) % 1000) - 500);
        }
        CHECK(ulps(rb_atan2(y, x), atan2l(y, x)) < 0.6);
    }
}

TEST(arctangent_of_special_points_is_that_of_the_standard)
{
    const double special[] = { 0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, 5e-324, 1e308 };
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            double got = rb_atan2(special[i], special[j]), want = atan2(special[i], special[j]);
            CHECK_NEAR(got, want, 4e-16);
            CHECK_INT(signbit(got) != 0, signbit(want) != 0);
        }
    }
    CHECK(isnan(rb_atan2(NAN, 1.0)) && isnan(rb_atan2(1.0, NAN)));
}

TEST(exponential_is_within_one_ulp)
{
    need_long_double();
    rb_rng rng = rb_rng_make(4);
    for (int n = 0; n < 100000; n++) {
        double x = rb_rng_uniform(&rng, -700.0, 709.0);
        if (n % 3) x *= 1e-3;
        CHECK(ulps(rb_exp(x), expl(x)) < 0.9);
    }
    CHECK(rb_exp(0.0) == 1.0);
    CHECK(rb_exp(-INFINITY) == 0.0 && rb_exp(-800.0) == 0.0);
    CHECK(isinf(rb_exp(INFINITY)) && isinf(rb_exp(710.0)));
    CHECK(isnan(rb_exp(NAN)));
    CHECK(rb_exp(-740.0) > 0.0); /* subnormal, not zero */
}

/* The same bits with every compiler, optimisation and processor. */
TEST(bits_are_those_of_every_machine)
{
    rb_rng rng = rb_rng_make(5);
    uint64_t hash = RB_HASH_INIT;
    for (int n = 0; n < 24000; n++) {
        double r[4], x = draw_angle(&rng, angle_scales[n % NSCALE]);
        rb_sincos(x, &r[0], &r[1]);
        r[2] = rb_atan2(r[0], x);
        r[3] = rb_exp(r[1] * 100.0);
        hash = rb_hash(hash, r, sizeof r);
    }
    if (hash != UINT64_C(0x6e769de59c142f59)) {
        test_fail(__FILE__, __LINE__, "hash of the results is 0x%016" PRIx64, hash);
    }
}

TEST_MAIN(RUN(sine_and_cosine_are_within_one_ulp), RUN(known_values_of_large_angles),
          RUN(angles_that_are_none), RUN(many_at_once_give_the_same_bits),
          RUN(arctangent_is_within_one_ulp),
          RUN(arctangent_of_special_points_is_that_of_the_standard),
          RUN(exponential_is_within_one_ulp), RUN(bits_are_those_of_every_machine))
