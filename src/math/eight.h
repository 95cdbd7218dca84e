/* Eight numbers side by side, as lanes.h has four. Each number is a sum of its own in one order, so
 * that the bits do not depend on how many a processor takes at a time. */
#ifndef RB_MATH_EIGHT_H
#define RB_MATH_EIGHT_H

#include <string.h>

#include "math/vector.h"

enum { RB_EIGHT = 8 };

/* In a browser loops take half of the room. */
#if defined(RB_VECTORS) && !defined(__wasm__)
#define RB_EIGHT_VECTORS
#endif

#ifdef RB_EIGHT_VECTORS
typedef double rb_eight __attribute__((vector_size(64)));
#else
typedef struct rb_eight {
    double at[RB_EIGHT];
} rb_eight;
#endif

RB_INLINE void rb_eight_load(const double *x, rb_eight *to)
{
    memcpy(to, x, sizeof *to);
}

RB_INLINE void rb_eight_store(const rb_eight *x, double *to)
{
    memcpy(to, x, sizeof *x);
}

/* sum = a_0 x_0 + a_1 x_1 + .. */
RB_INLINE void rb_eight_combine(const double *a, const rb_eight *x, rb_eight *sum, int n)
{
#ifdef RB_EIGHT_VECTORS
    *sum = a[0] * x[0];
    for (int k = 1; k < n; k++) *sum += a[k] * x[k];
#else
    for (int l = 0; l < RB_EIGHT; l++) {
        sum->at[l] = a[0] * x[0].at[l];
        for (int k = 1; k < n; k++) sum->at[l] += a[k] * x[k].at[l];
    }
#endif
}

/* x -= y */
RB_INLINE void rb_eight_less(rb_eight *x, const rb_eight *y)
{
#ifdef RB_EIGHT_VECTORS
    *x -= *y;
#else
    for (int l = 0; l < RB_EIGHT; l++) x->at[l] -= y->at[l];
#endif
}

/* x += y */
RB_INLINE void rb_eight_more(rb_eight *x, const rb_eight *y)
{
#ifdef RB_EIGHT_VECTORS
    *x += *y;
#else
    for (int l = 0; l < RB_EIGHT; l++) x->at[l] += y->at[l];
#endif
}

/* x /= a */
RB_INLINE void rb_eight_divide(rb_eight *x, double a)
{
#ifdef RB_EIGHT_VECTORS
    *x /= a;
#else
    for (int l = 0; l < RB_EIGHT; l++) x->at[l] /= a;
#endif
}

#endif
