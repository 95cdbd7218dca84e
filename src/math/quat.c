#include "math/quat.h"

#include "base/constants.h"
#include "math/trig.h"

double rb_quat_normalize(double q[4])
{
    double scale = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
    if (scale == 0.0) {
        q[0] = 1.0;
        q[1] = q[2] = q[3] = 0.0;
        return 0.0;
    }

    /* squares of entries far from 1 would over- or underflow */
    if (scale < 0x1p-500 || scale > 0x1p500) {
        for (int i = 0; i < 4; i++) q[i] /= scale;
    } else {
        scale = 1.0;
    }
    double length = sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int i = 0; i < 4; i++) q[i] /= length;
    return scale * length;
}

/* [Shepperd 1978]: the largest of the four components is found from the diagonal, the others from
 * sums and differences divided by it, so that nothing cancels. */
void rb_quat_from_rot(const double R[9], double q[4])
{
    double trace = R[0] + R[4] + R[8];
    if (trace >= R[0] && trace >= R[4] && trace >= R[8]) {
        q[0] = 1.0 + trace;
        q[1] = R[7] - R[5];
        q[2] = R[2] - R[6];
        q[3] = R[3] - R[1];
    } else if (R[0] >= R[4] && R[0] >= R[8]) {
        q[0] = R[7] - R[5];
        q[1] = 1.0 + R[0] - R[4] - R[8];
        q[2] = R[1] + R[3];
        q[3] = R[2] + R[6];
    } else if (R[4] >= R[8]) {
        q[0] = R[2] - R[6];
        q[1] = R[1] + R[3];
        q[2] = 1.0 + R[4] - R[0] - R[8];
        q[3] = R[5] + R[7];
    } else {
        q[0] = R[3] - R[1];
        q[1] = R[2] + R[6];
        q[2] = R[5] + R[7];
        q[3] = 1.0 + R[8] - R[0] - R[4];
    }
    if (q[0] < 0.0) {
        for (int i = 0; i < 4; i++) q[i] = -q[i];
    }
    rb_quat_normalize(q);
}

void rb_quat_axis_angle(const double axis[3], double angle, double q[4])
{
    double s, c;
    rb_sincos(0.5 * angle, &s, &c);
    rb_scale3(s, axis, q + 1);
    q[0] = c;
}

void rb_quat_exp(const double r[3], double q[4])
{
    double angle = rb_norm3(r), s, c;
    rb_sincos(0.5 * angle, &s, &c);
    double factor = angle > RB_TINY_ANGLE ? s / angle : 0.5;
    rb_scale3(factor, r, q + 1);
    q[0] = c;
}

void rb_quat_log(const double q[4], double r[3])
{
    double w = fabs(q[0]), s = rb_norm3(q + 1);
    double factor = s > RB_TINY_ANGLE ? 2.0 * rb_atan2(s, w) / s : 2.0 / w;
    rb_scale3(q[0] < 0.0 ? -factor : factor, q + 1, r);
}
