/* Positions, rotations and directions in a few bytes. docs/design/viewer.md has the formulas. */
#ifndef RB_SHOW_QUANTISE_H
#define RB_SHOW_QUANTISE_H

#include <stdint.h>

/* Bounds of n points (n x 3) that lie `stride` numbers apart; n = 0: zeros. */
void rb_show_quantise_bounds(const double *x, long n, long stride, double lo[3], double hi[3]);

/* 16 bits for each axis between lo and hi; the distance that this moved the point. */
double rb_show_quantise_point(const double x[3], const double lo[3], const double hi[3],
                              uint16_t out[3]);

/* A unit quaternion in three words of which the first two carry the index of the component that is
 * left out; the angle by which this turned it [rad]. */
double rb_show_quantise_rotation(const double quat[4], uint16_t out[3]);
void rb_show_quantise_rotation_back(const uint16_t in[3], double quat[4]);

/* A unit vector on an octahedron; the angle that it lost [rad]. */
double rb_show_quantise_direction(const double n[3], int16_t out[2]);

/* Quaternion of a rotation, row major. */
void rb_show_quantise_quat(const double R[9], double quat[4]);

#endif
