#include "show/quantise.h"

#include <math.h>

enum { WORD = 65535, HALF = 32767 };

void rb_show_quantise_bounds(const double *x, long n, long stride, double lo[3], double hi[3])
{
    for (int k = 0; k < 3; k++) {
        lo[k] = hi[k] = n > 0 ? x[k] : 0.0;
        for (long i = 1; i < n; i++) {
            lo[k] = fmin(lo[k], x[i * stride + k]);
            hi[k] = fmax(hi[k], x[i * stride + k]);
        }
    }
}

double rb_show_quantise_point(const double x[3], const double lo[3], const double hi[3],
                              uint16_t out[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double size = hi[k] - lo[k], share = size > 0.0 ? (x[k] - lo[k]) / size : 0.0;
        share = fmin(fmax(share, 0.0), 1.0);
        out[k] = (uint16_t)floor(share * WORD + 0.5);
        double error = lo[k] + size * out[k] / WORD - x[k];
        sum += error * error;
    }
    return sqrt(sum);
}

void rb_show_quantise_rotation_back(const uint16_t in[3], double quat[4])
{
    int left_out = 2 * (in[0] >> 15) + (in[1] >> 15);
    double sum = 0.0;
    for (int k = 0, at = 0; k < 4; k++) {
        if (k == left_out) continue;
        quat[k] = (2.0 * (in[at++] & HALF) / HALF - 1.0) * sqrt(0.5);
        sum += quat[k] * quat[k];
    }
    quat[left_out] = sqrt(fmax(0.0, 1.0 - sum));
}

/* Angle between two unit quaternions, from the vector part of their quotient: exact where small. */
static double angle_between(const double a[4], const double b[4])
{
    double x = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2];
    double y = a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1];
    double z = a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0];
    return 2.0 * sqrt(x * x + y * y + z * z);
}

double rb_show_quantise_rotation(const double quat[4], uint16_t out[3])
{
    int largest = 0;
    for (int k = 1; k < 4; k++)
        if (fabs(quat[k]) > fabs(quat[largest])) largest = k;
    double sign = quat[largest] < 0.0 ? -1.0 : 1.0;
    for (int k = 0, at = 0; k < 4; k++) {
        if (k == largest) continue;
        double share = 0.5 * (sign * quat[k] / sqrt(0.5) + 1.0);
        out[at++] = (uint16_t)floor(fmin(fmax(share, 0.0), 1.0) * HALF + 0.5);
    }
    out[0] |= (uint16_t)((largest >> 1) << 15);
    out[1] |= (uint16_t)((largest & 1) << 15);
    double back[4];
    rb_show_quantise_rotation_back(out, back);
    return angle_between(quat, back);
}

static double with_sign_of(double x, double y)
{
    return y < 0.0 ? -x : x;
}

static void direction_back(const int16_t in[2], double n[3])
{
    double x = in[0] / (double)HALF, y = in[1] / (double)HALF, z = 1.0 - fabs(x) - fabs(y);
    n[0] = z < 0.0 ? with_sign_of(1.0 - fabs(y), x) : x;
    n[1] = z < 0.0 ? with_sign_of(1.0 - fabs(x), y) : y;
    n[2] = z;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int k = 0; k < 3; k++) n[k] /= length; /* |x| + |y| + |z| = 1 */
}

double rb_show_quantise_direction(const double n[3], int16_t out[2])
{
    double sum = fabs(n[0]) + fabs(n[1]) + fabs(n[2]);
    double x = sum > 0.0 ? n[0] / sum : 0.0, y = sum > 0.0 ? n[1] / sum : 0.0;
    double fold_x = with_sign_of(1.0 - fabs(y), x), fold_y = with_sign_of(1.0 - fabs(x), y);
    if (n[2] < 0.0) x = fold_x, y = fold_y;
    out[0] = (int16_t)floor(x * HALF + 0.5);
    out[1] = (int16_t)floor(y * HALF + 0.5);
    double back[3], cross[3];
    direction_back(out, back);
    for (int k = 0; k < 3; k++)
        cross[k] = n[(k + 1) % 3] * back[(k + 2) % 3] - n[(k + 2) % 3] * back[(k + 1) % 3];
    return sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
}

/* The largest of the four is found first: no cancellation. */
void rb_show_quantise_quat(const double R[9], double quat[4])
{
    double trace = R[0] + R[4] + R[8];
    double square[4] = { 1.0 + trace, 1.0 + 2.0 * R[0] - trace, 1.0 + 2.0 * R[4] - trace,
                         1.0 + 2.0 * R[8] - trace };
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (square[i] > square[k]) k = i;
    double w[4][4] = { { square[0], R[7] - R[5], R[2] - R[6], R[3] - R[1] },
                       { R[7] - R[5], square[1], R[1] + R[3], R[2] + R[6] },
                       { R[2] - R[6], R[1] + R[3], square[2], R[5] + R[7] },
                       { R[3] - R[1], R[2] + R[6], R[5] + R[7], square[3] } };
    double length = 0.0;
    for (int i = 0; i < 4; i++) length += w[k][i] * w[k][i];
    for (int i = 0; i < 4; i++) quat[i] = w[k][i] / sqrt(length);
}
