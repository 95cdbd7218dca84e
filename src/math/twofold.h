/* Twofold arithmetic: a number as the unevaluated sum of two doubles, about 32 decimal digits, for
 * the few problems whose answer is the small difference of large terms [Dekker 1971]. Products are
 * split, not fused, so that every target has the same bits.
 *
 * Each operation has an error of a few 2^-104 of its larger operand: like rounding in double, but
 * 2^51 times smaller. Numbers beyond 1e300 or below 1e-290 lose this; then results are NaN,
 * infinite or merely double, and the caller's certificate decides. */
#ifndef RB_MATH_TWOFOLD_H
#define RB_MATH_TWOFOLD_H

#include <math.h>

typedef struct rb_two {
    double hi, lo; /* |lo| <= half a unit in the last place of hi */
} rb_two;

static inline rb_two rb_two_of(double x)
{
    return (rb_two){ x, 0.0 };
}

/* a + b for |a| >= |b|, or a = 0. */
static inline rb_two rb_two_fast_sum(double a, double b)
{
    double s = a + b;
    return (rb_two){ s, b - (s - a) };
}

/* a + b exactly. */
static inline rb_two rb_two_sum(double a, double b)
{
    double s = a + b, from_b = s - a;
    return (rb_two){ s, (a - (s - from_b)) + (b - from_b) };
}

/* a b exactly. */
static inline rb_two rb_two_product(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double ca = split * a, cb = split * b, p = a * b;
    double ah = ca - (ca - a), al = a - ah;
    double bh = cb - (cb - b), bl = b - bh;
    return (rb_two){ p, ((ah * bh - p) + ah * bl + al * bh) + al * bl };
}

static inline rb_two rb_two_neg(rb_two x)
{
    return (rb_two){ -x.hi, -x.lo };
}

static inline rb_two rb_two_add(rb_two x, rb_two y)
{
    rb_two s = rb_two_sum(x.hi, y.hi), t = rb_two_sum(x.lo, y.lo);
    s = rb_two_fast_sum(s.hi, s.lo + t.hi);
    return rb_two_fast_sum(s.hi, s.lo + t.lo);
}

static inline rb_two rb_two_sub(rb_two x, rb_two y)
{
    return rb_two_add(x, rb_two_neg(y));
}

static inline rb_two rb_two_mul(rb_two x, rb_two y)
{
    rb_two p = rb_two_product(x.hi, y.hi);
    return rb_two_fast_sum(p.hi, p.lo + (x.hi * y.lo + x.lo * y.hi));
}

/* x a for a plain a. */
static inline rb_two rb_two_scale(rb_two x, double a)
{
    rb_two p = rb_two_product(x.hi, a);
    return rb_two_fast_sum(p.hi, p.lo + x.lo * a);
}

/* x / y, y != 0: a quotient and two corrections. */
static inline rb_two rb_two_div(rb_two x, rb_two y)
{
    double q0 = x.hi / y.hi;
    rb_two rest = rb_two_sub(x, rb_two_scale(y, q0));
    double q1 = rest.hi / y.hi;
    rest = rb_two_sub(rest, rb_two_scale(y, q1));
    return rb_two_add(rb_two_fast_sum(q0, q1), rb_two_of(rest.hi / y.hi));
}

/* The root of x >= 0: one Newton step on the root of x.hi doubles its digits. */
static inline rb_two rb_two_sqrt(rb_two x)
{
    if (!(x.hi > 0.0)) return rb_two_of(0.0);
    double root = sqrt(x.hi);
    rb_two rest = rb_two_sub(x, rb_two_product(root, root));
    return rb_two_fast_sum(root, rest.hi / (2.0 * root));
}

static inline int rb_two_less(rb_two x, rb_two y)
{
    return x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo);
}

static inline double rb_two_round(rb_two x)
{
    return x.hi + x.lo;
}

/* y += a x, arrays of high and of low parts (n). The bits do not depend on the vector width. */
void rb_two_axpy(rb_two a, const double *x_hi, const double *x_lo, double *y_hi, double *y_lo,
                 int n);

/* b + sum a_i (x_hi_i + x_lo_i) for plain a. */
rb_two rb_two_dot(const double *a, const double *x_hi, const double *x_lo, int n, rb_two b);

#endif
