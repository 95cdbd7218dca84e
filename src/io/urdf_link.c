/* Bodies of a URDF: pose, mass, inertia.
 *
 * Published files have inertias that no body can have: A + B < C by a wrong frame or a typing
 * error. They are kept, as every other reader does, and named. A negative principal moment is
 * refused unless the link is welded to others that outweigh it: only their sum moves. */
#include <math.h>
#include <stdio.h>

#include "base/constants.h"
#include "io/urdf_read.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "model/inertia.h"

/* Lengths below this [m] are the noise of a file: moments of inertia below mass times its square
 * are zero. Larger: small links are let through. */
#define NOISE_LENGTH 1e-6

static double noise_of(double mass, const double w[3])
{
    return RB_INERTIA_TOL * fabs(w[2]) + mass * NOISE_LENGTH * NOISE_LENGTH;
}

/* Numbers of <inertia>; xx yy zz xy xz yz. */
static rb_status read_moments(rb_urdf *r, const rb_xml_node *node, double I[6])
{
    static const char *const names[6] = { "ixx", "iyy", "izz", "ixy", "ixz", "iyz" };
    for (int i = 0; i < 6; i++) {
        const char *text = NULL;
        if (i < 3) RB_URDF_TRY(rb_xml_need(node, names[i], &text, r->err));
        RB_URDF_TRY(rb_xml_number(node, names[i], I + i, r->err));
    }
    return RB_OK;
}

/* Warns of moments that no body has and marks negative ones. */
static rb_status judge_moments(rb_urdf *r, rb_urdf_link *link, const rb_xml_node *node, double mass,
                               const double I[6])
{
    double w[3];
    char text[256], element[160];
    rb_sym3_eigen(I, w, NULL);
    double noise = noise_of(mass, w);
    link->impossible = w[0] < -noise;
    if (!link->impossible && w[0] + w[1] >= w[2] - noise) return RB_OK;
    snprintf(element, sizeof element, "inertia of %.120s", link->name);
    snprintf(text, sizeof text,
             "link \"%.100s\" has the principal moments %.6g, %.6g, %.6g kg m^2: no body has %s; "
             "kept as it is",
             link->name, w[0], w[1], w[2], link->impossible ? "a negative one" : "A + B < C");
    rb_warning warning = { rb_urdf_where(node), element, text, 0 };
    rb_status status = rb_spec_warn(r->spec, &warning);
    return status == RB_OK ? RB_OK : rb_xml_refuse(node, NULL, r->err, status, "out of memory");
}

static rb_status read_inertial(rb_urdf *r, rb_urdf_link *link, rb_body_def *body)
{
    const rb_xml_node *node = rb_xml_child(link->node, "inertial");
    if (!node) return RB_OK;
    const rb_xml_node *mass = rb_xml_child(node, "mass"), *inertia = rb_xml_child(node, "inertia");
    const char *text = NULL;
    if (!mass)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "expected <mass value=\"...\"/>");
    RB_URDF_TRY(rb_xml_need(mass, "value", &text, r->err));
    RB_URDF_TRY(rb_xml_number(mass, "value", &body->mass, r->err));
    if (body->mass < 0.0)
        return rb_xml_refuse(mass, "value", r->err, RB_BAD_INPUT,
                             "%g kg, link \"%.100s\": expected a mass >= 0", body->mass,
                             link->name);

    rb_pose pose;
    double I[6] = { 0 }, R[9];
    RB_URDF_TRY(rb_urdf_origin(r, node, &pose));
    if (inertia) {
        RB_URDF_TRY(read_moments(r, inertia, I));
        RB_URDF_TRY(judge_moments(r, link, inertia, body->mass, I));
    }
    rb_quat_to_rot(pose.quat, R);
    rb_copy3(pose.pos, body->com);
    rb_sym3_rotate(R, I, body->inertia);
    return RB_OK;
}

rb_status rb_urdf_add_body(rb_urdf *r, int l)
{
    rb_urdf_link *link = r->link + l;
    rb_body_def body = rb_body_default();
    body.where = rb_urdf_where(link->node);
    body.name = link->name;
    body.inertia_source = RB_INERTIA_GIVEN;
    RB_URDF_TRY(read_inertial(r, link, &body));
    if (link->joint < 0) {
        link->fixed_to_world = !r->opts->floating_base;
    } else {
        const rb_urdf_joint *joint = r->joint + link->joint;
        const rb_urdf_link *parent = r->link + joint->parent;
        RB_URDF_TRY(rb_urdf_origin(r, joint->node, &body.pose));
        link->fixed_to_world = parent->fixed_to_world && joint->type == RB_URDF_FIXED;

        /* a free joint needs the world as its parent: the fixed root stands where the world does */
        int is_free =
            joint->type == RB_URDF_FLOATING && parent->joint < 0 && parent->fixed_to_world;
        body.parent = is_free ? 0 : parent->body;
    }
    link->body = rb_spec_add_body(r->spec, &body, r->err);
    return rb_urdf_added(r, link->body);
}

/* ---- rigid groups ---- */

/* Adds what is fixed to each link, from the leaves on: children come later in the order. */
static void add_to_parents(rb_urdf *r, rb_inertia *group)
{
    for (int i = r->nlink - 1; i > 0; i--) {
        int l = r->order[i], j = r->link[l].joint;
        if (r->joint[j].type != RB_URDF_FIXED) continue;
        const rb_body_def *body = rb_spec_body(r->spec, r->link[l].body);
        double R[9];
        rb_inertia moved = group[l];
        rb_quat_to_rot(body->pose.quat, R);
        rb_inertia_move(body->pose.pos, R, &moved);
        rb_inertia_add(group + r->joint[j].parent, &moved);
    }
}

/* head[l]: the link that begins the rigid group of link l. Parents come first in the order. */
static void find_heads(const rb_urdf *r, int *head)
{
    for (int i = 0; i < r->nlink; i++) {
        int l = r->order[i], j = r->link[l].joint;
        head[l] = j >= 0 && r->joint[j].type == RB_URDF_FIXED ? head[r->joint[j].parent] : l;
    }
}

rb_status rb_urdf_check_groups(rb_urdf *r)
{
    int any = 0;
    for (int l = 0; l < r->nlink; l++) any = any || r->link[l].impossible;
    if (!any) return RB_OK;
    rb_inertia *group = rb_xml_take(r->doc, (size_t)r->nlink, sizeof *group);
    int *head = rb_xml_take(r->doc, (size_t)r->nlink, sizeof *head);
    if (!group || !head)
        return rb_xml_refuse(r->doc->root, NULL, r->err, RB_NOMEM, "out of memory");
    for (int l = 0; l < r->nlink; l++) {
        const rb_body_def *body = rb_spec_body(r->spec, r->link[l].body);
        group[l] = (rb_inertia){ .mass = body->mass };
        rb_copy3(body->com, group[l].com);
        for (int k = 0; k < 6; k++) group[l].I[k] = body->inertia[k];
    }
    add_to_parents(r, group);
    find_heads(r, head);

    for (int l = 0; l < r->nlink; l++) {
        if (!r->link[l].impossible || r->link[l].fixed_to_world) continue;
        double w[3];
        const rb_inertia *whole = group + head[l];
        rb_sym3_eigen(whole->I, w, NULL);
        if (w[0] >= -noise_of(whole->mass, w)) continue;
        return rb_xml_refuse(rb_xml_child(r->link[l].node, "inertial"), NULL, r->err, RB_BAD_INPUT,
                             "link \"%.100s\" and what is fixed to it have the principal moments "
                             "%.6g, %.6g, %.6g kg m^2: expected none to be negative",
                             r->link[l].name, w[0], w[1], w[2]);
    }
    return RB_OK;
}
