/* Quaternions w x y z that rotate: x -> q x q*. Every output may be one of the inputs. */
#ifndef RB_MATH_QUAT_H
#define RB_MATH_QUAT_H

#include "math/vec3.h"
#include "math/vector.h"

/* p q: first q, then p. */
RB_INLINE void rb_quat_mul(const double p[4], const double q[4], double out[4])
{
    double w = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    double x = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    double y = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    double z = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
    out[0] = w;
    out[1] = x;
    out[2] = y;
    out[3] = z;
}

/* The inverse of a unit quaternion. */
RB_INLINE void rb_quat_conj(const double q[4], double out[4])
{
    double w = q[0], x = -q[1], y = -q[2], z = -q[3];
    out[0] = w;
    out[1] = x;
    out[2] = y;
    out[3] = z;
}

/* Rotation matrix of a unit quaternion. */
RB_INLINE void rb_quat_to_rot(const double q[4], double R[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double x2 = x + x, y2 = y + y, z2 = z + z;
    double xx = x * x2, yy = y * y2, zz = z * z2;
    double xy = x * y2, xz = x * z2, yz = y * z2;
    double wx = w * x2, wy = w * y2, wz = w * z2;
    R[0] = 1.0 - (yy + zz);
    R[1] = xy - wz;
    R[2] = xz + wy;
    R[3] = xy + wz;
    R[4] = 1.0 - (xx + zz);
    R[5] = yz - wx;
    R[6] = xz - wy;
    R[7] = yz + wx;
    R[8] = 1.0 - (xx + yy);
}

/* q x q* for a unit quaternion. */
RB_INLINE void rb_quat_rotate(const double q[4], const double a[3], double out[3])
{
    /* x + 2 u x (u x x + w x), u the vector part */
    double t[3], s[3];
    rb_cross3(q + 1, a, t);
    rb_axpy3(q[0], a, t);
    rb_cross3(q + 1, t, s);
    double x = a[0] + 2.0 * s[0], y = a[1] + 2.0 * s[1], z = a[2] + 2.0 * s[2];
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

/* To unit length; returns the length before. One without length becomes 1 0 0 0, one that is not
 * finite NaN. */
double rb_quat_normalize(double q[4]);

/* Unit quaternion with w >= 0 of a rotation matrix. */
void rb_quat_from_rot(const double R[9], double q[4]);

/* Rotation by `angle` [rad] about the unit vector `axis`. */
void rb_quat_axis_angle(const double axis[3], double angle, double q[4]);

/* Exponential map: rotation by |r| about r (D.48), and its inverse: the rotation vector with
 * |r| <= pi of a unit quaternion, q and -q alike. Exact to rounding for small angles too. */
void rb_quat_exp(const double r[3], double q[4]);
void rb_quat_log(const double q[4], double r[3]);

#endif
