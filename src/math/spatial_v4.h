/* Vectors of three numbers in a register of four, the last one zero: the same operations in the
 * same order as vec3.h and spatial.h, and the same bits. For files that are compiled for processors
 * with such registers. */
#ifndef RB_MATH_SPATIAL_V4_H
#define RB_MATH_SPATIAL_V4_H

#include <string.h>

#include "math/vector.h"

typedef double rb_v4 __attribute__((vector_size(32)));
typedef double rb_v2 __attribute__((vector_size(16)));
typedef long long rb_v4_truth __attribute__((vector_size(32))); /* of a comparison: -1 or 0 */

RB_INLINE rb_v4 rb_v4_load3(const double x[3])
{
    return (rb_v4){ x[0], x[1], x[2], 0.0 };
}

RB_INLINE rb_v4 rb_v4_load(const double x[4])
{
    rb_v4 a;
    memcpy(&a, x, sizeof a);
    return a;
}

RB_INLINE void rb_v4_store(rb_v4 a, double x[4])
{
    memcpy(x, &a, sizeof a);
}

RB_INLINE void rb_v4_store3(rb_v4 a, double x[3])
{
    rb_v2 low = __builtin_shufflevector(a, a, 0, 1);
    memcpy(x, &low, sizeof low);
    x[2] = a[2];
}

RB_INLINE rb_v4 rb_v4_all(double x)
{
    return (rb_v4){ x, x, x, x };
}

RB_INLINE rb_v4 rb_v4_abs(rb_v4 a)
{
    return (rb_v4)((rb_v4_truth)a & 0x7fffffffffffffff);
}

/* Bit k of four from place k of a vector of truths, `shift` bits up. */
RB_INLINE rb_v4_truth rb_v4_bits_at(rb_v4_truth a, int shift)
{
    return a & (rb_v4_truth){ 1LL << shift, 2LL << shift, 4LL << shift, 8LL << shift };
}

/* The bits of all places together. */
RB_INLINE int rb_v4_join(rb_v4_truth a)
{
    return (int)((a[0] | a[1]) | (a[2] | a[3]));
}

RB_INLINE int rb_v4_bits(rb_v4_truth a)
{
#if defined(__AVX__) && !defined(__clang__)
    return __builtin_ia32_movmskpd256((rb_v4)a);
#else
    return rb_v4_join(rb_v4_bits_at(a, 0));
#endif
}

/* y z x */
RB_INLINE rb_v4 rb_v4_next(rb_v4 a)
{
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}

RB_INLINE rb_v4 rb_v4_cross(rb_v4 a, rb_v4 b)
{
    rb_v4 a_yzx = __builtin_shufflevector(a, a, 1, 2, 0, 3);
    rb_v4 a_zxy = __builtin_shufflevector(a, a, 2, 0, 1, 3);
    rb_v4 b_yzx = __builtin_shufflevector(b, b, 1, 2, 0, 3);
    rb_v4 b_zxy = __builtin_shufflevector(b, b, 2, 0, 1, 3);
    return a_yzx * b_zxy - a_zxy * b_yzx;
}

RB_INLINE double rb_v4_dot(rb_v4 a, rb_v4 b)
{
    rb_v4 p = a * b;
    return (p[0] + p[1]) + p[2];
}

/* M[0] x + M[1] y + M[2] z: columns of a matrix times a vector, or a vector times its rows. */
RB_INLINE rb_v4 rb_v4_mix(const rb_v4 M[3], const double x[3])
{
    return (M[0] * rb_v4_all(x[0]) + M[1] * rb_v4_all(x[1])) + M[2] * rb_v4_all(x[2]);
}

/* The same with a vector in a register. */
RB_INLINE rb_v4 rb_v4_turn(const rb_v4 M[3], rb_v4 x)
{
    return (M[0] * rb_v4_all(x[0]) + M[1] * rb_v4_all(x[1])) + M[2] * rb_v4_all(x[2]);
}

RB_INLINE void rb_v4_transpose(const rb_v4 M[3], rb_v4 T[3])
{
    rb_v4 a = __builtin_shufflevector(M[0], M[1], 0, 4, 2, 6); /* 00 10 02 12 */
    rb_v4 b = __builtin_shufflevector(M[0], M[1], 1, 5, 3, 7); /* 01 11  .  . */
    T[0] = __builtin_shufflevector(a, M[2], 0, 1, 4, 7);       /* M[2][3] is 0 */
    T[1] = __builtin_shufflevector(b, M[2], 0, 1, 5, 7);
    T[2] = __builtin_shufflevector(a, M[2], 2, 3, 6, 7);
}

#endif
