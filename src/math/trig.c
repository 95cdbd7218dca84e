/* sin, cos: x = k pi/2 + r + t with |r| <= pi/4 and t the rounding error of r, then polynomials
 *     sin(r + t) = r + r^3 S(r^2) + t (1 - r^2/2),    cos(r + t) = 1 - r^2/2 + r^4 C(r^2) - r t
 * and k mod 4 selects between them and gives the signs. atan2: the quotient is brought below 1/16
 * with a table of arctangents of i/8. The polynomials are minimax in the relative error; their
 * error is below 2^-57 of the result. */
#include "math/trig.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/vector.h"

/* Adding and subtracting it rounds to an integer, which is then in the low bits of the sum [1]. */
#define ROUND_MAGIC 0x1.8p52

/* Largest |x| of the quick reduction [rad]: k is below 2^20, and k times a part of pi/2 with 33
 * bits is exact. */
#define QUICK_LIMIT 0x1p20

/* pi/2 = PIO2_1 + .. + PIO2_4, the first three with 33 bits. */
#define TWO_OVER_PI 0.6366197723675814
#define PIO2_1      0x1.921fb54400000p+0
#define PIO2_2      0x1.0b4611a600000p-34
#define PIO2_3      0x1.3198a2e000000p-69
#define PIO2_4      0x1.b839a252049c1p-104

/* pi/2 and pi as unevaluated sums of two doubles. */
#define PIO2_HI 1.5707963267948966
#define PIO2_LO 6.123233995736766e-17
#define PI_HI   3.141592653589793
#define PI_LO   1.2246467991473532e-16

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- error-free sums and products ---------------------------------------------------------- */

/* a + b = *s + *e exactly [Knuth 1969]. */
static inline void two_sum(double a, double b, double *s, double *e)
{
    double sum = a + b;
    double b_part = sum - a;
    *e = (a - (sum - b_part)) + (b - b_part);
    *s = sum;
}

/* a = hi + lo with 26 bits each [Dekker 1971]; |a| < 2^996. */
static inline void halve_digits(double a, double *hi, double *lo)
{
    double big = 134217729.0 * a; /* 2^27 + 1 */
    *hi = big - (big - a);
    *lo = a - *hi;
}

/* a b = *p + *e exactly, where nothing under- or overflows. */
static inline void two_product(double a, double b, double *p, double *e)
{
    double a_hi, a_lo, b_hi, b_lo;
    halve_digits(a, &a_hi, &a_lo);
    halve_digits(b, &b_hi, &b_lo);
    *p = a * b;
    *e = ((a_hi * b_hi - *p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo;
}

/* ---- sine and cosine ----------------------------------------------------------------------- */

/* sin and cos of (r + t) + q pi/2. Without branches: rb_sincos_n does several at once. */
static inline void sincos_reduced(double r, double t, uint64_t q, double *s, double *c)
{
    double z = r * r;
    double S = -2.505074640297101e-08 + z * 1.5896148953597572e-10;
    S = 2.7557313612978328e-06 + z * S;
    S = -0.00019841269829566166 + z * S;
    S = 0.00833333333332209 + z * S;
    S = -0.1666666666666663 + z * S;
    double half_z = 0.5 * z;
    double sin_r = r + ((r * z) * S + (t - half_z * t));

    double C = 2.0875699770954413e-09 + z * -1.1358479819799009e-11;
    C = -2.7557314171599355e-07 + z * C;
    C = 2.4801587288825703e-05 + z * C;
    C = -0.0013888888888873017 + z * C;
    C = 0.041666666666666595 + z * C;
    double w = 1.0 - half_z;
    double cos_r = w + (((1.0 - w) - half_z) + ((z * z) * C - r * t));

    /* odd quadrants swap the two; the second bit of q and of q + 1 are the signs */
    uint64_t sin_bits = bits_of(sin_r), cos_bits = bits_of(cos_r);
    uint64_t swap = (sin_bits ^ cos_bits) & (UINT64_C(0) - (q & 1));
    *s = of_bits((sin_bits ^ swap) ^ ((q & 2) << 62));
    *c = of_bits((cos_bits ^ swap) ^ (((q + 1) & 2) << 62));
}

/* |x| <= QUICK_LIMIT: subtracts k times the parts of pi/2 [Cody, Waite 1980]. The first difference
 * is exact, the roundings of the next two are kept in t. */
static inline void sincos_quick(double x, double *s, double *c)
{
    double shifted = x * TWO_OVER_PI + ROUND_MAGIC;
    double k = shifted - ROUND_MAGIC;
    double r1, r2, e1, e2;
    two_sum(x - k * PIO2_1, -(k * PIO2_2), &r1, &e1);
    two_sum(r1, -(k * PIO2_3), &r2, &e2);
    double tail = (e1 + e2) - k * PIO2_4;
    double r = r2 + tail;
    sincos_reduced(r, (r2 - r) + tail, bits_of(shifted), s, c);
}

/* 2/pi in words of 32 bits after two words of zeros. */
static const uint32_t two_over_pi[40] = {
    0x00000000, 0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041,
    0xfe5163ab, 0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b,
    0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d,
    0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

enum { WORDS = 6 }; /* of x 2/pi mod 4: 2 bits for the quadrant, 190 after the point */

/* f = x 2/pi mod 4 as WORDS words, the first with weight 2^-30, for x = m 2^e, e >= -32. Bits of
 * 2/pi that make multiples of 4 with the integer m are left out. */
static void multiply_two_over_pi(uint64_t m, int e, uint32_t f[WORDS])
{
    /* the bit of weight 2 after scaling by 2^e comes first */
    int first = e - 2 + 64;
    const uint32_t *table = two_over_pi + (first >> 5);
    uint64_t word[WORDS], carry = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t pair = ((uint64_t)table[i] << 32) | table[i + 1];
        word[i] = (pair << (first & 31)) >> 32;
    }

    uint64_t m_lo = m & 0xffffffff, m_hi = m >> 32;
    for (int i = WORDS - 1; i >= 0; i--) {
        carry += word[i] * m_lo;
        f[i] = (uint32_t)carry;
        carry >>= 32;
    }
    carry = 0;
    for (int i = WORDS - 1; i > 0; i--) {
        carry += word[i] * m_hi + f[i - 1];
        f[i - 1] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* f = 4 - f, or -f modulo 4. */
static void negate(uint32_t f[WORDS])
{
    uint64_t carry = 1;
    for (int i = WORDS - 1; i >= 0; i--) {
        carry += (uint32_t)~f[i];
        f[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Any finite |x| > QUICK_LIMIT [Payne, Hanek 1983]; NaN for the rest. */
static void sincos_large(double x, double *s, double *c)
{
    if (!(fabs(x) <= 0x1.fffffffffffffp1023)) {
        *s = *c = NAN;
        return;
    }
    uint64_t bits = bits_of(fabs(x));
    uint64_t m = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
    uint32_t f[WORDS];
    multiply_two_over_pi(m, (int)(bits >> 52) - 1075, f);

    /* nearest quadrant, then the rest in -1/2 .. 1/2 */
    uint64_t q = f[0] >> 30;
    int above = (f[0] >> 29) & 1;
    if (above) {
        q++;
        negate(f);
    }
    f[0] &= 0x3fffffff;

    /* (hi + lo) = rest, then times pi/2 */
    double hi = 0.0, lo = 0.0;
    double weight = 0x1p-30;
    for (int i = 0; i < WORDS; i++) {
        double e;
        two_sum(hi, f[i] * weight, &hi, &e);
        lo += e;
        weight *= 0x1p-32;
    }
    double p, e;
    two_product(hi, PIO2_HI, &p, &e);
    double tail = e + (hi * PIO2_LO + lo * PIO2_HI);
    double r = p + tail;
    double t = (p - r) + tail;
    sincos_reduced(above ? -r : r, above ? -t : t, q, s, c);
    if (x < 0.0) *s = -*s;
}

void rb_sincos(double x, double *s, double *c)
{
    if (fabs(x) <= QUICK_LIMIT) {
        sincos_quick(x, s, c);
    } else {
        sincos_large(x, s, c);
    }
}

double rb_sin(double x)
{
    double s, c;
    rb_sincos(x, &s, &c);
    return s;
}

double rb_cos(double x)
{
    double s, c;
    rb_sincos(x, &s, &c);
    return c;
}

/* All as if small; returns how many were not. */
RB_VECTOR static int sincos_quick_n(int n, const double *restrict x, double *restrict s,
                                    double *restrict c)
{
    int large = 0;
    for (int i = 0; i < n; i++) {
        sincos_quick(x[i], &s[i], &c[i]);
        large += !(fabs(x[i]) <= QUICK_LIMIT);
    }
    return large;
}

void rb_sincos_n(int n, const double *x, double *s, double *c)
{
    if (sincos_quick_n(n, x, s, c) == 0) return;
    for (int i = 0; i < n; i++) {
        if (!(fabs(x[i]) <= QUICK_LIMIT)) sincos_large(x[i], &s[i], &c[i]);
    }
}

/* ---- arctangent ---------------------------------------------------------------------------- */

/* atan(i/8) as hi + lo. */
static const double atan_hi[9] = { 0.0,
                                   0.12435499454676144,
                                   0.24497866312686414,
                                   0.35877067027057225,
                                   0.4636476090008061,
                                   0.5585993153435624,
                                   0.6435011087932844,
                                   0.7188299996216245,
                                   0.7853981633974483 };
static const double atan_lo[9] = { 0.0,
                                   -3.1253241424539383e-18,
                                   1.0698755618734451e-17,
                                   -2.4623815582638635e-17,
                                   2.2698777452961687e-17,
                                   -5.4556305485916264e-18,
                                   1.5834785051444286e-17,
                                   -2.1478388444456983e-17,
                                   3.061616997868383e-17 };

/* Below it atan x = x to rounding [1]. */
#define TINY_QUOTIENT 0x1p-60

/* atan(n / d) = *hi + *lo for 0 <= n <= d, d > 0 and of moderate size. With a = i/8 near n/d,
 *     atan(n / d) = atan(a) + atan(u),      u = (n - a d) / (d + a n),   |u| <= 1/16. */
static void atan_quotient(double n, double d, double *hi, double *lo)
{
    int i = (int)(8.0 * (n / d) + 0.5);
    double a = 0.125 * i;
    double ad, ad_e, an, an_e, num, num_e, den, den_e;
    two_product(a, d, &ad, &ad_e);
    two_product(a, n, &an, &an_e);
    two_sum(n, -ad, &num, &num_e);
    two_sum(d, an, &den, &den_e);
    num_e -= ad_e;
    den_e += an_e;

    double u = num / den, p, p_e;
    two_product(u, den, &p, &p_e);
    double u_e = (((num - p) - p_e) + (num_e - u * den_e)) / den;

    double z = u * u;
    double A = -0.0909042940016496 + z * 0.07602091464571256;
    A = 0.11111109854939996 + z * A;
    A = -0.14285714284050424 + z * A;
    A = 0.19999999999998985 + z * A;
    A = -0.3333333333333333 + z * A;
    two_sum(atan_hi[i], u, hi, lo);
    *lo += atan_lo[i] + (u_e + (u * z) * A);
}

/* (hi + lo) = (a_hi + a_lo) - (hi + lo) */
static void subtract_from(double a_hi, double a_lo, double *hi, double *lo)
{
    double e;
    two_sum(a_hi, -*hi, hi, &e);
    *lo = e + (a_lo - *lo);
}

double rb_atan2(double y, double x)
{
    if (isnan(x) || isnan(y)) return NAN;
    double n = fabs(y), d = fabs(x);

    /* infinities as their limits, one zero or none */
    if (isinf(n) || isinf(d)) {
        double n_limit = isinf(n) ? 1.0 : 0.0;
        d = isinf(d) ? 1.0 : 0.0;
        n = n_limit;
    }
    int swapped = n > d;
    if (swapped) {
        double y_abs = n;
        n = d;
        d = y_abs;
    }

    double hi = 0.0, lo = 0.0;
    if (d > 0.0 && n / d < TINY_QUOTIENT) {
        hi = n / d;
    } else if (d > 0.0) {
        /* products of the digits must neither overflow nor vanish */
        double scale = d > 0x1p500 ? 0x1p-600 : d < 0x1p-500 ? 0x1p600 : 1.0;
        atan_quotient(n * scale, d * scale, &hi, &lo);
    }
    if (swapped) subtract_from(PIO2_HI, PIO2_LO, &hi, &lo);
    if (signbit(x)) subtract_from(PI_HI, PI_LO, &hi, &lo);
    return copysign(hi + lo, y);
}

/* ---- exponential --------------------------------------------------------------------------- */

/* Arguments [1] beyond which the result is infinite or zero. */
#define EXP_OVERFLOW  709.79
#define EXP_UNDERFLOW (-745.14)

double rb_exp(double x)
{
    if (isnan(x)) return NAN;
    if (x > EXP_OVERFLOW) return INFINITY;
    if (x < EXP_UNDERFLOW) return 0.0;

    /* x = k ln 2 + r; the first part of ln 2 has 32 bits, so that k times it is exact */
    double k = (x * 1.4426950408889634 + ROUND_MAGIC) - ROUND_MAGIC;
    double hi = x - k * 0x1.62e42fee00000p-1;
    double lo = k * 1.9082149292705877e-10;
    double r = hi - lo;

    double E = 2.511234867858087e-08 + r * 2.0927001310756144e-09;
    E = 2.755723315396602e-07 + r * E;
    E = 2.7557233928901138e-06 + r * E;
    E = 2.4801587374012135e-05 + r * E;
    E = 0.00019841269897362418 + r * E;
    E = 0.001388888888885828 + r * E;
    E = 0.008333333333316617 + r * E;
    E = 0.04166666666666673 + r * E;
    E = 0.16666666666666685 + r * E;
    E = 0.5 + r * E;
    return ldexp(1.0 + (hi + ((r * r) * E - lo)), (int)k);
}
