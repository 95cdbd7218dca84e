/* Four numbers side by side. Compilers take plain loops over four for something else than they are
 * (gcc 12 transposes sixteen numbers to add four sums), so kernels say what they mean. Operations
 * are those of the plain loops, number by number: the bits do not depend on what a processor has.
 * Everything goes by pointer: passing such values needs no calling convention then. */
#ifndef RB_MATH_LANES_H
#define RB_MATH_LANES_H

#include <string.h>

#include "math/vector.h"

enum { RB_LANES = 4 };

#ifdef RB_VECTORS
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

/* to := a x */
RB_INLINE void rb_lanes_times(double a, const rb_lanes *x, rb_lanes *to)
{
#ifdef RB_VECTORS
    *to = a * *x;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] = a * x->at[k];
#endif
}

/* to += x */
RB_INLINE void rb_lanes_plus(rb_lanes *to, const rb_lanes *x)
{
#ifdef RB_VECTORS
    *to += *x;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] += x->at[k];
#endif
}

/* to += x y */
RB_INLINE void rb_lanes_add(rb_lanes *to, const rb_lanes *x, const rb_lanes *y)
{
#ifdef RB_VECTORS
    *to += *x * *y;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] += x->at[k] * y->at[k];
#endif
}

/* to += a x */
RB_INLINE void rb_lanes_more(rb_lanes *to, double a, const rb_lanes *x)
{
#ifdef RB_VECTORS
    *to += a * *x;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] += a * x->at[k];
#endif
}

/* to -= a x */
RB_INLINE void rb_lanes_less(rb_lanes *to, double a, const rb_lanes *x)
{
#ifdef RB_VECTORS
    *to -= a * *x;
#else
    for (int k = 0; k < RB_LANES; k++) to->at[k] -= a * x->at[k];
#endif
}

/* to := |x| where that is larger; NaN is passed over */
RB_INLINE void rb_lanes_largest(rb_lanes *to, const rb_lanes *x)
{
#ifdef RB_VECTORS
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

/* ---- rows of any length ------------------------------------------------------------------------
 */

/* y -= a x */
RB_INLINE void rb_lanes_subtract(double a, const double *x, double *y, int n)
{
    int i = 0;
    for (; i + RB_LANES <= n; i += RB_LANES) {
        rb_lanes c, b;
        rb_lanes_load(y + i, &c);
        rb_lanes_load(x + i, &b);
        rb_lanes_less(&c, a, &b);
        rb_lanes_store(&c, y + i);
    }
    if (i < n) y[i] -= a * x[i];
    if (i + 1 < n) y[i + 1] -= a * x[i + 1];
    if (i + 2 < n) y[i + 2] -= a * x[i + 2];
}

/* Four rows and their factors. */
typedef struct rb_four {
    double a[4];
    const double *b[4];
} rb_four;

RB_INLINE void rb_four_less(const rb_four *f, int j, double *c)
{
    c[j] = (((c[j] - f->a[0] * f->b[0][j]) - f->a[1] * f->b[1][j]) - f->a[2] * f->b[2][j]) -
           f->a[3] * f->b[3][j];
}

/* c -= a_0 b_0 + a_1 b_1 + a_2 b_2 + a_3 b_3, one after the other */
RB_INLINE void rb_four_subtract(const rb_four *f, double *c, int n)
{
    int j = 0;
    for (; j + RB_LANES <= n; j += RB_LANES) {
        rb_lanes sum, b;
        rb_lanes_load(c + j, &sum);
        for (int k = 0; k < 4; k++) {
            rb_lanes_load(f->b[k] + j, &b);
            rb_lanes_less(&sum, f->a[k], &b);
        }
        rb_lanes_store(&sum, c + j);
    }
    if (j < n) rb_four_less(f, j, c);
    if (j + 1 < n) rb_four_less(f, j + 1, c);
    if (j + 2 < n) rb_four_less(f, j + 2, c);
}

#endif
