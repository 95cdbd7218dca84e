/* Vectors of three numbers, 3x3 matrices (row major, 9 numbers) and symmetric 3x3 matrices (xx yy
 * zz xy xz yz). Every output may be one of the inputs. */
#ifndef RB_MATH_VEC3_H
#define RB_MATH_VEC3_H

#include <math.h>

#include "math/vector.h"

/* fmin and fmax of two numbers, in line: those of libm are calls, for the sake of NaN. */
RB_INLINE double rb_smaller(double a, double b)
{
    return a < b ? a : b;
}

RB_INLINE double rb_larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- vectors ------------------------------------------------------------------------------- */

RB_INLINE void rb_zero3(double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
}

RB_INLINE void rb_copy3(const double a[3], double out[3])
{
    double x = a[0], y = a[1], z = a[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

RB_INLINE void rb_add3(const double a[3], const double b[3], double out[3])
{
    double x = a[0] + b[0], y = a[1] + b[1], z = a[2] + b[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

RB_INLINE void rb_sub3(const double a[3], const double b[3], double out[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

RB_INLINE void rb_scale3(double s, const double a[3], double out[3])
{
    double x = s * a[0], y = s * a[1], z = s * a[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* y += s x */
RB_INLINE void rb_axpy3(double s, const double x[3], double y[3])
{
    double a = y[0] + s * x[0], b = y[1] + s * x[1], c = y[2] + s * x[2];
    y[0] = a;
    y[1] = b;
    y[2] = c;
}

RB_INLINE double rb_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

RB_INLINE void rb_cross3(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1];
    double y = a[2] * b[0] - a[0] * b[2];
    double z = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

RB_INLINE double rb_norm3(const double a[3])
{
    return sqrt(rb_dot3(a, a));
}

/* Unit length, to half of the digits. */
RB_INLINE int rb_is_unit3(const double a[3])
{
    return fabs(rb_dot3(a, a) - 1.0) <= 1e-8;
}

/* To unit length; returns the length before. A vector without length becomes +z. */
RB_INLINE double rb_normalize3(double a[3])
{
    double scale = rb_larger(fabs(a[0]), rb_larger(fabs(a[1]), fabs(a[2])));
    if (!(scale > 0.0)) {
        a[0] = a[1] = 0.0;
        a[2] = 1.0;
        return 0.0;
    }

    /* the largest entry is 1: squares neither overflow nor vanish */
    for (int i = 0; i < 3; i++) a[i] /= scale;
    double length = rb_norm3(a);
    for (int i = 0; i < 3; i++) a[i] /= length;
    return scale * length;
}

/* ---- 3x3 matrices -------------------------------------------------------------------------- */

/* R x */
RB_INLINE void rb_rot(const double R[9], const double a[3], double out[3])
{
    double x = R[0] * a[0] + R[1] * a[1] + R[2] * a[2];
    double y = R[3] * a[0] + R[4] * a[1] + R[5] * a[2];
    double z = R[6] * a[0] + R[7] * a[1] + R[8] * a[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* R' x */
RB_INLINE void rb_rot_t(const double R[9], const double a[3], double out[3])
{
    double x = R[0] * a[0] + R[3] * a[1] + R[6] * a[2];
    double y = R[1] * a[0] + R[4] * a[1] + R[7] * a[2];
    double z = R[2] * a[0] + R[5] * a[1] + R[8] * a[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* A B */
RB_INLINE void rb_mul33(const double A[9], const double B[9], double out[9])
{
    double C[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
        }
    }
    for (int i = 0; i < 9; i++) out[i] = C[i];
}

/* A' B */
RB_INLINE void rb_mul33_t(const double A[9], const double B[9], double out[9])
{
    double C[9];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
        }
    }
    for (int i = 0; i < 9; i++) out[i] = C[i];
}

RB_INLINE double rb_det3(const double A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
           A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* ---- symmetric 3x3 matrices ---------------------------------------------------------------- */

/* A x */
RB_INLINE void rb_sym3_mul(const double A[6], const double a[3], double out[3])
{
    double x = A[0] * a[0] + A[3] * a[1] + A[4] * a[2];
    double y = A[3] * a[0] + A[1] * a[1] + A[5] * a[2];
    double z = A[4] * a[0] + A[5] * a[1] + A[2] * a[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* R A R': the same tensor in the axes that R maps to. */
RB_INLINE void rb_sym3_rotate(const double R[9], const double A[6], double out[6])
{
    double T[9]; /* R A */
    for (int i = 0; i < 3; i++) {
        const double *r = R + 3 * i;
        T[3 * i] = r[0] * A[0] + r[1] * A[3] + r[2] * A[4];
        T[3 * i + 1] = r[0] * A[3] + r[1] * A[1] + r[2] * A[5];
        T[3 * i + 2] = r[0] * A[4] + r[1] * A[5] + r[2] * A[2];
    }
    double xx = rb_dot3(T, R), yy = rb_dot3(T + 3, R + 3), zz = rb_dot3(T + 6, R + 6);
    double xy = rb_dot3(T, R + 3), xz = rb_dot3(T, R + 6), yz = rb_dot3(T + 3, R + 6);
    out[0] = xx;
    out[1] = yy;
    out[2] = zz;
    out[3] = xy;
    out[4] = xz;
    out[5] = yz;
}

/* I += m (c'c 1 - c c'): an inertia about the com becomes one about a point at distance c from it,
 * and, with -m, the other way round. */
RB_INLINE void rb_sym3_steiner(double m, const double c[3], double I[6])
{
    double mx = m * c[0], my = m * c[1], mz = m * c[2];
    double xx = mx * c[0], yy = my * c[1], zz = mz * c[2];
    I[0] += yy + zz;
    I[1] += xx + zz;
    I[2] += xx + yy;
    I[3] -= mx * c[1];
    I[4] -= mx * c[2];
    I[5] -= my * c[2];
}

/* Eigenvalues w in ascending order and eigenvectors as the columns of the rotation V (may be NULL),
 * by cyclic Jacobi rotations: small eigenvalues keep their digits. */
void rb_sym3_eigen(const double A[6], double w[3], double V[9]);

#endif
