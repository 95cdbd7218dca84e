/* Orientations in all their spellings, and frames inside frames. */
#include "io/mjcf.h"

#include <string.h>

#include "math/quat.h"
#include "math/trig.h"

#define PI 3.14159265358979323846

rb_mjcf_orient rb_mjcf_orient_default(void)
{
    return (rb_mjcf_orient){ .quat = { 1.0, 0.0, 0.0, 0.0 } };
}

rb_status rb_mjcf_read_orient(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_orient *orient)
{
    static const struct {
        const char *attr;
        int count;
        rb_mjcf_spelling spelling;
    } others[] = { { "axisangle", 4, RB_MJCF_AXISANGLE },
                   { "xyaxes", 6, RB_MJCF_XYAXES },
                   { "zaxis", 3, RB_MJCF_ZAXIS },
                   { "euler", 3, RB_MJCF_EULER } };

    int found = rb_xml_get(node, "quat") != NULL;
    RB_TRY(rb_xml_numbers(node, "quat", 4, 4, orient->quat, NULL, r->err));
    const double *q = orient->quat;
    if (q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0)
        return rb_xml_refuse(node, "quat", r->err, RB_BAD_INPUT, "the quaternion is zero");

    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        int count, n = others[k].count;
        RB_TRY(rb_xml_numbers(node, others[k].attr, n, n, orient->numbers, &count, r->err));
        if (count == 0) continue;
        orient->spelling = others[k].spelling;
        if (++found > 1)
            return rb_xml_refuse(node, others[k].attr, r->err, RB_BAD_INPUT,
                                 "the orientation is given twice; quat, axisangle, xyaxes, zaxis "
                                 "and euler exclude each other");
    }
    return RB_OK;
}

static double radians(const rb_mjcf *r, double angle)
{
    return r->compiler.degree ? angle / 180.0 * PI : angle;
}

/* Lower-case letters turn about axes that turn along, upper-case ones about fixed axes. */
void rb_mjcf_euler(const rb_mjcf *r, const double euler[3], double quat[4])
{
    double q[4] = { 1.0, 0.0, 0.0, 0.0 };
    for (int k = 0; k < 3; k++) {
        double turn[4] = { 0.0, 0.0, 0.0, 0.0 }, sine;
        char letter = r->compiler.eulerseq[k];
        int fixed = letter <= 'Z';
        rb_sincos(0.5 * radians(r, euler[k]), &sine, &turn[0]);
        turn[1 + letter - (fixed ? 'X' : 'x')] = sine;
        if (fixed)
            rb_quat_mul(turn, q, q);
        else
            rb_quat_mul(q, turn, q);
    }
    rb_quat_normalize(q);
    memcpy(quat, q, sizeof q);
}

/* Shortest rotation from z to the unit vector: cos and sin of half the angle are the roots of
 * (1 + z) / 2 and (1 - z) / 2. The smaller of the two sums would lose its digits:
 * (1 + z) (1 - z) = x^2 + y^2 gives it. */
static void z_to(const double axis[3], double quat[4])
{
    double across = axis[0] * axis[0] + axis[1] * axis[1];
    double length = sqrt(across);
    if (length < RB_MJCF_TINY) {
        quat[0] = axis[2] < 0.0 ? 0.0 : 1.0;
        quat[1] = axis[2] < 0.0 ? 1.0 : 0.0;
        quat[2] = quat[3] = 0.0;
        return;
    }
    double plus = axis[2] < 0.0 ? across / (1.0 - axis[2]) : 1.0 + axis[2];
    double minus = axis[2] < 0.0 ? 1.0 - axis[2] : across / (1.0 + axis[2]);
    double s = sqrt(0.5 * minus);
    quat[0] = sqrt(0.5 * plus);
    quat[1] = -s * axis[1] / length;
    quat[2] = s * axis[0] / length;
    quat[3] = 0.0;
    rb_quat_normalize(quat);
}

static rb_status too_small(const rb_mjcf *r, const rb_xml_node *node, const char *attr)
{
    return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT, "an axis has no length");
}

/* x is kept, y is made orthogonal to it. */
static rb_status from_xyaxes(rb_mjcf *r, const rb_xml_node *node, const double numbers[6],
                             double quat[4])
{
    double x[3], y[3], z[3];
    rb_copy3(numbers, x);
    rb_copy3(numbers + 3, y);
    if (rb_normalize3(x) < RB_MJCF_TINY) return too_small(r, node, "xyaxes");
    rb_axpy3(-rb_dot3(x, y), x, y);
    if (rb_normalize3(y) < RB_MJCF_TINY) return too_small(r, node, "xyaxes");
    rb_cross3(x, y, z);
    double R[9] = { x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2] };
    rb_quat_from_rot(R, quat);
    return RB_OK;
}

rb_status rb_mjcf_resolve_orient(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_orient *orient,
                                 double quat[4])
{
    double axis[3];
    rb_copy3(orient->numbers, axis);
    switch (orient->spelling) {
    case RB_MJCF_QUAT:
        memcpy(quat, orient->quat, sizeof orient->quat);
        rb_quat_normalize(quat);
        return RB_OK;
    case RB_MJCF_AXISANGLE:
        if (rb_normalize3(axis) < RB_MJCF_TINY) return too_small(r, node, "axisangle");
        rb_quat_axis_angle(axis, radians(r, orient->numbers[3]), quat);
        return RB_OK;
    case RB_MJCF_XYAXES:
        return from_xyaxes(r, node, orient->numbers, quat);
    case RB_MJCF_ZAXIS:
        if (rb_normalize3(axis) < RB_MJCF_TINY) return too_small(r, node, "zaxis");
        z_to(axis, quat);
        return RB_OK;
    case RB_MJCF_EULER:
        rb_mjcf_euler(r, orient->numbers, quat);
        return RB_OK;
    }
    return RB_OK;
}

rb_status rb_mjcf_read_pose(rb_mjcf *r, const rb_xml_node *node, rb_pose *pose)
{
    rb_mjcf_orient orient = rb_mjcf_orient_default();
    rb_zero3(pose->pos);
    RB_TRY(rb_xml_numbers(node, "pos", 3, 3, pose->pos, NULL, r->err));
    RB_TRY(rb_mjcf_read_orient(r, node, &orient));
    return rb_mjcf_resolve_orient(r, node, &orient, pose->quat);
}

rb_status rb_mjcf_segment(rb_mjcf *r, const rb_xml_node *node, const double fromto[6],
                          rb_pose *pose, double *half)
{
    double axis[3];
    rb_sub3(fromto, fromto + 3, axis);
    *half = 0.5 * rb_normalize3(axis);
    if (*half < RB_MJCF_TINY)
        return rb_xml_refuse(node, "fromto", r->err, RB_BAD_INPUT, "the two points are the same");
    for (int k = 0; k < 3; k++) pose->pos[k] = 0.5 * (fromto[k] + fromto[3 + k]);
    z_to(axis, pose->quat);
    return RB_OK;
}

void rb_mjcf_compose(const rb_pose *a, const rb_pose *b, rb_pose *out)
{
    rb_pose c;
    rb_quat_rotate(a->quat, b->pos, c.pos);
    rb_add3(a->pos, c.pos, c.pos);
    rb_quat_mul(a->quat, b->quat, c.quat);
    rb_quat_normalize(c.quat);
    *out = c;
}
