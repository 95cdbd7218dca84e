/* Four numbers side by side. Compilers take plain loops over four for something else than they are
 * (gcc 12 transposes sixteen numbers to add four sums), so kernels say what they mean. Operations
 * are those of the plain loops, number by number: the bits do not depend on what a processor has.
 * Everything goes by pointer: passing such values needs no calling convention then. */
#ifndef RB_MATH_LANES_H
#define RB_MATH_LANES_H

#include <string.h>

#include "math/vector.h"

enum { RB_LANES = 4 };

#if defined(__GNUC__)
typedef double rb_lanes __attribute__((vector_size(32)));
typedef long long rb_lanes_bits __attribute__((vector_size(32)));
#else
typedef struct rb_lanes {
    double at[RB_LANES];
} rb_lanes;
#endif

RB_INLINE void rb_lanes_load(const double *x, rb_lanes *to)
{
    memcpy(to, x, sizeof *to);
}

RB_INLINE void rb_lanes_store(const rb_lanes *x, double *to)
{
    memcpy(to, x, sizeof *x);
}

/* to += x y */
RB_INLINE void rb_lanes_add(rb_lanes *to, const rb_lanes *x, const rb_lanes *y)
{
#if defined(__GNUC__)
    *to += *x * *y;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] += x->at[k] * y->at[k];
#endif
}

/* to += a x */
RB_INLINE void rb_lanes_more(rb_lanes *to, double a, const rb_lanes *x)
{
#if defined(__GNUC__)
    *to += a * *x;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] += a * x->at[k];
#endif
}

/* to -= a x */
RB_INLINE void rb_lanes_less(rb_lanes *to, double a, const rb_lanes *x)
{
#if defined(__GNUC__)
    *to -= a * *x;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] -= a * x->at[k];
#endif
}

/* to := |x| where that is larger; NaN is passed over */
RB_INLINE void rb_lanes_largest(rb_lanes *to, const rb_lanes *x)
{
#if defined(__GNUC__)
    const rb_lanes_bits size = (rb_lanes_bits)*x & 0x7fffffffffffffff, before = (rb_lanes_bits)*to;
    const rb_lanes_bits more = (rb_lanes)size > *to;
    *to = (rb_lanes)((size & more) | (before & ~more));
#else
    for (int k = 0; k < RB_LANES; k++) {
        double size = x->at[k] < 0.0 ? -x->at[k] : x->at[k];
        to->at[k] = size > to->at[k] ? size : to->at[k];
    }
#endif
}

/* (s0 + s2) + (s1 + s3), the order of all sums in dense.h */
RB_INLINE double rb_lanes_sum(const rb_lanes *s)
{
    double at[RB_LANES];
    rb_lanes_store(s, at);
    return (at[0] + at[2]) + (at[1] + at[3]);
}

#endif
