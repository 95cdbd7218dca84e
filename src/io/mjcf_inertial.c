/* <inertial>: mass and inertia that are written down. */
#include "io/mjcf.h"

#include <string.h>

#include "math/quat.h"

/* diaginertia, about axes that may be turned against the body. */
static rb_status read_diagonal(rb_mjcf *r, const rb_xml_node *node, rb_body_def *body)
{
    rb_mjcf_orient orient = rb_mjcf_orient_default();
    double quat[4], R[9], moments[6] = { 0.0 };
    RB_TRY(rb_xml_numbers(node, "diaginertia", 3, 3, moments, NULL, r->err));
    RB_TRY(rb_mjcf_read_orient(r, node, &orient));
    RB_TRY(rb_mjcf_resolve_orient(r, node, &orient, quat));
    rb_quat_to_rot(quat, R);
    rb_sym3_rotate(R, moments, body->inertia);
    memcpy(body->axes, quat, sizeof body->axes);
    return RB_OK;
}

rb_status rb_mjcf_read_inertial(rb_mjcf *r, const rb_xml_node *node, rb_body_def *body)
{
    const char *given;
    int count;
    RB_TRY(rb_xml_need(node, "pos", &given, r->err));
    RB_TRY(rb_xml_need(node, "mass", &given, r->err));
    RB_TRY(rb_xml_numbers(node, "pos", 3, 3, body->com, NULL, r->err));
    RB_TRY(rb_xml_number(node, "mass", &body->mass, r->err));
    RB_TRY(rb_xml_numbers(node, "fullinertia", 6, 6, body->inertia, &count, r->err));
    if (count == 0)
        RB_TRY(read_diagonal(r, node, body));
    else if (rb_xml_get(node, "diaginertia") || rb_xml_get(node, "quat") ||
             rb_xml_get(node, "axisangle") || rb_xml_get(node, "xyaxes") ||
             rb_xml_get(node, "zaxis") || rb_xml_get(node, "euler"))
        return rb_xml_refuse(node, "fullinertia", r->err, RB_BAD_INPUT,
                             "diaginertia or an orientation is given too; fullinertia says both");
    body->inertia_source = RB_INERTIA_GIVEN;
    return RB_OK;
}
