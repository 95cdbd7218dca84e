/* Spatial algebra in the sense of docs/theory/dynamics.md (D.1): six numbers, angular first, world
 * axes at the origin O of a link. Motions are (angular; linear of O), wrenches (moment about O;
 * force). Symmetric 6x6 matrices [[A, B], [B', C]] are 21 numbers: A xx yy zz xy xz yz, B row
 * major, C like A. With l = O_k - O_parent,
 *
 *     phi = [[1, l~], [0, 1]]      wrench at O_k  -> the same wrench at O_parent
 *     phi'                         motion of O_parent -> motion of O_k as part of the parent
 *
 * Outputs may be inputs where nothing else is said. */
#ifndef RB_MATH_SPATIAL_H
#define RB_MATH_SPATIAL_H

#include "math/vec3.h"
#include "math/vector.h"

RB_INLINE void rb_zero6(double out[6])
{
    for (int i = 0; i < 6; i++) out[i] = 0.0;
}

RB_INLINE void rb_copy6(const double *restrict a, double *restrict out)
{
    for (int i = 0; i < 6; i++) out[i] = a[i];
}

/* y += s x; x and y are different */
RB_INLINE void rb_axpy6(double s, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < 6; i++) y[i] += s * x[i];
}

RB_INLINE double rb_dot6(const double a[6], const double b[6])
{
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

/* phi' a: the motion of O + l. */
RB_INLINE void rb_shift_motion(const double l[3], const double a[6], double out[6])
{
    double x = a[3] + (a[1] * l[2] - a[2] * l[1]);
    double y = a[4] + (a[2] * l[0] - a[0] * l[2]);
    double z = a[5] + (a[0] * l[1] - a[1] * l[0]);
    rb_copy3(a, out);
    out[3] = x;
    out[4] = y;
    out[5] = z;
}

/* phi f: the wrench at O + l, seen at O. */
RB_INLINE void rb_shift_wrench(const double l[3], const double f[6], double out[6])
{
    double x = f[0] + (l[1] * f[5] - l[2] * f[4]);
    double y = f[1] + (l[2] * f[3] - l[0] * f[5]);
    double z = f[2] + (l[0] * f[4] - l[1] * f[3]);
    rb_copy3(f + 3, out + 3);
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* ---- symmetric 6x6 ------------------------------------------------------------------------- */

enum { RB_SYM6 = 21 };

RB_INLINE void rb_sym6_zero(double P[21])
{
    for (int i = 0; i < RB_SYM6; i++) P[i] = 0.0;
}

/* Inertia of a link: mass m, com at c from O, rotational inertia I about O. */
RB_INLINE void rb_sym6_inertia(double m, const double c[3], const double I[6], double P[21])
{
    double x = m * c[0], y = m * c[1], z = m * c[2];
    for (int i = 0; i < 6; i++) P[i] = I[i];
    P[6] = P[10] = P[14] = 0.0;
    P[7] = -z; /* B = m c~ */
    P[8] = y;
    P[9] = z;
    P[11] = -x;
    P[12] = -y;
    P[13] = x;
    P[15] = P[16] = P[17] = m;
    P[18] = P[19] = P[20] = 0.0;
}

/* P += Q; different arrays */
RB_INLINE void rb_sym6_add(const double *restrict Q, double *restrict P)
{
    for (int i = 0; i < RB_SYM6; i++) P[i] += Q[i];
}

/* y = P x */
RB_INLINE void rb_sym6_mul(const double P[21], const double x[6], double y[6])
{
    const double *A = P, *B = P + 6, *C = P + 15;
    double a = A[0] * x[0] + A[3] * x[1] + A[4] * x[2] + (B[0] * x[3] + B[1] * x[4] + B[2] * x[5]);
    double b = A[3] * x[0] + A[1] * x[1] + A[5] * x[2] + (B[3] * x[3] + B[4] * x[4] + B[5] * x[5]);
    double c = A[4] * x[0] + A[5] * x[1] + A[2] * x[2] + (B[6] * x[3] + B[7] * x[4] + B[8] * x[5]);
    double d = B[0] * x[0] + B[3] * x[1] + B[6] * x[2] + (C[0] * x[3] + C[3] * x[4] + C[4] * x[5]);
    double e = B[1] * x[0] + B[4] * x[1] + B[7] * x[2] + (C[3] * x[3] + C[1] * x[4] + C[5] * x[5]);
    double f = B[2] * x[0] + B[5] * x[1] + B[8] * x[2] + (C[4] * x[3] + C[5] * x[4] + C[2] * x[5]);
    y[0] = a;
    y[1] = b;
    y[2] = c;
    y[3] = d;
    y[4] = e;
    y[5] = f;
}

/* P += s (u v' + v u') / 2, with u = v the rank-1 update P += s u u'. Neither is part of P. */
RB_INLINE void rb_sym6_rank2(double s, const double *restrict u, const double *restrict v,
                             double *restrict P)
{
    double h = 0.5 * s;
    for (int i = 0; i < 3; i++) {
        P[i] += s * (u[i] * v[i]);
        P[15 + i] += s * (u[3 + i] * v[3 + i]);
    }
    P[3] += h * (u[0] * v[1] + u[1] * v[0]);
    P[4] += h * (u[0] * v[2] + u[2] * v[0]);
    P[5] += h * (u[1] * v[2] + u[2] * v[1]);
    P[18] += h * (u[3] * v[4] + u[4] * v[3]);
    P[19] += h * (u[3] * v[5] + u[5] * v[3]);
    P[20] += h * (u[4] * v[5] + u[5] * v[4]);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            P[6 + 3 * i + j] += h * (u[i] * v[3 + j] + v[i] * u[3 + j]);
        }
    }
}

/* P += s u u', every product u_i u_j first: a full matrix updated row by row has the same bits. */
RB_INLINE void rb_sym6_rank1(double s, const double *restrict u, double *restrict P)
{
    double x = u[0], y = u[1], z = u[2], a = u[3], b = u[4], c = u[5];
    P[0] += s * (x * x);
    P[1] += s * (y * y);
    P[2] += s * (z * z);
    P[3] += s * (x * y);
    P[4] += s * (x * z);
    P[5] += s * (y * z);
    P[6] += s * (x * a);
    P[7] += s * (x * b);
    P[8] += s * (x * c);
    P[9] += s * (y * a);
    P[10] += s * (y * b);
    P[11] += s * (y * c);
    P[12] += s * (z * a);
    P[13] += s * (z * b);
    P[14] += s * (z * c);
    P[15] += s * (a * a);
    P[16] += s * (b * b);
    P[17] += s * (c * c);
    P[18] += s * (a * b);
    P[19] += s * (a * c);
    P[20] += s * (b * c);
}

/* phi P phi': an inertia at O + l, seen at O. With X = l~ C:
 *     B+ = B + X,      A+ = A + Z + Z',   Z = l~ (B + X/2)'                      (D.11) */
RB_INLINE void rb_sym6_shift(const double l[3], const double P[21], double out[21])
{
    double x = l[0], y = l[1], z = l[2];
    const double *A = P, *B = P + 6, *C = P + 15;
    double xx = C[0], yy = C[1], zz = C[2], xy = C[3], xz = C[4], yz = C[5];
    double X[9] = { y * xz - z * xy, y * yz - z * yy, y * zz - z * yz,
                    z * xx - x * xz, z * xy - x * yz, z * xz - x * zz,
                    x * xy - y * xx, x * yy - y * xy, x * yz - y * xz };
    double H[9]; /* B + X/2 */
    for (int i = 0; i < 9; i++) H[i] = B[i] + 0.5 * X[i];

    /* Z_ij = (l x row j of H)_i */
    double a0 = A[0] + 2.0 * (y * H[2] - z * H[1]);
    double a1 = A[1] + 2.0 * (z * H[3] - x * H[5]);
    double a2 = A[2] + 2.0 * (x * H[7] - y * H[6]);
    double a3 = A[3] + ((y * H[5] - z * H[4]) + (z * H[0] - x * H[2]));
    double a4 = A[4] + ((y * H[8] - z * H[7]) + (x * H[1] - y * H[0]));
    double a5 = A[5] + ((z * H[6] - x * H[8]) + (x * H[4] - y * H[3]));
    for (int i = 0; i < 9; i++) out[6 + i] = B[i] + X[i];
    out[0] = a0;
    out[1] = a1;
    out[2] = a2;
    out[3] = a3;
    out[4] = a4;
    out[5] = a5;
    out[15] = xx;
    out[16] = yy;
    out[17] = zz;
    out[18] = xy;
    out[19] = xz;
    out[20] = yz;
}

/* phi' Y phi: a compliance at O, carried rigidly to O + l. With X = A l~:
 *     B+ = B + X,      C+ = C + W + W',   W = (B + X/2)' l~                      (D.14) */
RB_INLINE void rb_sym6_shift_compliance(const double l[3], const double Y[21], double out[21])
{
    double x = l[0], y = l[1], z = l[2];
    const double *A = Y, *B = Y + 6, *C = Y + 15;
    double xx = A[0], yy = A[1], zz = A[2], xy = A[3], xz = A[4], yz = A[5];

    /* row i of A l~ is (row i of A) x l */
    double X[9] = { xy * z - xz * y, xz * x - xx * z, xx * y - xy * x,
                    yy * z - yz * y, yz * x - xy * z, xy * y - yy * x,
                    yz * z - zz * y, zz * x - xz * z, xz * y - yz * x };
    double H[9]; /* B + X/2 */
    for (int i = 0; i < 9; i++) H[i] = B[i] + 0.5 * X[i];

    /* W_ij = (column i of H x l)_j */
    double c0 = C[0] + 2.0 * (H[3] * z - H[6] * y);
    double c1 = C[1] + 2.0 * (H[7] * x - H[1] * z);
    double c2 = C[2] + 2.0 * (H[2] * y - H[5] * x);
    double c3 = C[3] + ((H[6] * x - H[0] * z) + (H[4] * z - H[7] * y));
    double c4 = C[4] + ((H[0] * y - H[3] * x) + (H[5] * z - H[8] * y));
    double c5 = C[5] + ((H[1] * y - H[4] * x) + (H[8] * x - H[2] * z));
    for (int i = 0; i < 9; i++) out[6 + i] = B[i] + X[i];
    out[0] = xx;
    out[1] = yy;
    out[2] = zz;
    out[3] = xy;
    out[4] = xz;
    out[5] = yz;
    out[15] = c0;
    out[16] = c1;
    out[17] = c2;
    out[18] = c3;
    out[19] = c4;
    out[20] = c5;
}

/* All 36 numbers, row major: for tests and for callers that need few of them. */
RB_INLINE void rb_sym6_full(const double P[21], double F[36])
{
    static const int at[36] = {
        0, 3, 4,  6,  7,  8,  3, 1,  5,  9,  10, 11, 4, 5,  2,  12, 13, 14,
        6, 9, 12, 15, 18, 19, 7, 10, 13, 18, 16, 20, 8, 11, 14, 19, 20, 17
    };
    for (int i = 0; i < 36; i++) F[i] = P[at[i]];
}

#endif
