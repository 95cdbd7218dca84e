/* Vectors and quaternions (w x y z) of the comparison; on purpose not those of the library. */
#include "peer.h"

#include <math.h>

double peer_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void peer_cross(const double *a, const double *b, double *out)
{
    double c[3] = { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                    a[0] * b[1] - a[1] * b[0] };
    for (int i = 0; i < 3; i++) out[i] = c[i];
}

void peer_quat_multiply(const double *a, const double *b, double *out)
{
    double c[3];
    peer_cross(a + 1, b + 1, c);
    double w = a[0] * b[0] - peer_dot(a + 1, b + 1);
    for (int i = 0; i < 3; i++) c[i] += a[0] * b[1 + i] + b[0] * a[1 + i];
    out[0] = w;
    for (int i = 0; i < 3; i++) out[1 + i] = c[i];
}

void peer_turn(const double *q, const double *a, double *out)
{
    double t[3], c[3];
    peer_cross(q + 1, a, t);
    peer_cross(q + 1, t, c);
    for (int i = 0; i < 3; i++) out[i] = a[i] + 2.0 * (q[0] * t[i] + c[i]);
}

void peer_turn_back(const double *q, const double *a, double *out)
{
    double back[4] = { q[0], -q[1], -q[2], -q[3] };
    peer_turn(back, a, out);
}

void peer_quat_axis(const double *axis, double angle, double *q)
{
    double s = sin(0.5 * angle) / sqrt(peer_dot(axis, axis));
    q[0] = cos(0.5 * angle);
    for (int i = 0; i < 3; i++) q[1 + i] = s * axis[i];
}

void peer_quat_of(const double *R, double *q)
{
    /* Shepperd: the largest of the four is positive by construction, and at least 1/2 */
    double trace = R[0] + R[4] + R[8];
    double four[4] = { trace, R[0], R[4], R[8] };
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (four[i] > four[k]) k = i;
    if (k == 0) {
        q[0] = 0.5 * sqrt(1.0 + trace);
        q[1] = (R[7] - R[5]) / (4.0 * q[0]);
        q[2] = (R[2] - R[6]) / (4.0 * q[0]);
        q[3] = (R[3] - R[1]) / (4.0 * q[0]);
        return;
    }
    int a = k - 1, b = (a + 1) % 3, c = (a + 2) % 3;
    q[1 + a] = 0.5 * sqrt(1.0 + R[4 * a] - R[4 * b] - R[4 * c]);
    q[0] = (R[3 * c + b] - R[3 * b + c]) / (4.0 * q[1 + a]);
    q[1 + b] = (R[3 * a + b] + R[3 * b + a]) / (4.0 * q[1 + a]);
    q[1 + c] = (R[3 * a + c] + R[3 * c + a]) / (4.0 * q[1 + a]);
}

double peer_servo(const peer_body *b, double angle, double rate)
{
    return -b->kp * angle - b->kd * rate;
}
