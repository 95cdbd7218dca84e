/* Bodies of a URDF: pose, mass, inertia.
 *
 * Published files have inertias that no body can have: A + B < C by a wrong frame or a typing
 * error. They are kept, as every other reader does, and named. A negative principal moment is
 * refused unless the link is welded to others that outweigh it: only their sum moves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    return RB_INERTIA_SLACK * fabs(w[2]) + mass * NOISE_LENGTH * NOISE_LENGTH;
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

/* "world" is the world itself. A link of that name, the root of many files, has another one. */
static rb_status name_body(rb_urdf *r, const rb_urdf_link *link, const char **out)
{
    *out = link->name;
    if (strcmp(link->name, "world") != 0) return RB_OK;
    *out = "world_link";
    for (int l = 0; l < r->nlink; l++)
        if (!strcmp(r->link[l].name, *out)) *out = NULL;
    return rb_urdf_warn(r, link->node, "link world", 0,
                        "\"world\" is the name of the world: the body of this link is called "
                        "\"world_link\"");
}

int rb_urdf_root_is_fixed(const rb_urdf *r, const rb_urdf_link *root)
{
    if (!r->opts->floating_base) return 1;
    if (rb_xml_child(root->node, "inertial") || rb_xml_child(root->node, "collision")) return 0;
    for (int j = root->first; j >= 0; j = r->joint[j].next)
        if (r->joint[j].type != RB_URDF_FLOATING) return 0;
    return root->first >= 0;
}

rb_status rb_urdf_add_body(rb_urdf *r, int l)
{
    rb_urdf_link *link = r->link + l;
    rb_body_def body = rb_body_default();
    RB_URDF_TRY(name_body(r, link, &body.name));
    body.where = rb_urdf_where(link->node);
    body.inertia_source = RB_INERTIA_GIVEN;
    RB_URDF_TRY(read_inertial(r, link, &body));
    if (link->joint < 0) {
        link->fixed_to_world = rb_urdf_root_is_fixed(r, link);
    } else {
        const rb_urdf_joint *joint = r->joint + link->joint;
        const rb_urdf_link *parent = r->link + joint->parent;
        RB_URDF_TRY(rb_urdf_origin(r, joint->node, &body.pose));
        link->fixed_to_world = parent->fixed_to_world && joint->type == RB_URDF_FIXED;

        /* a free joint needs the world as its parent: the fixed root has the frame of the world */
        int is_free =
            joint->type == RB_URDF_FLOATING && parent->joint < 0 && parent->fixed_to_world;
        body.parent = is_free ? 0 : parent->body;
    }
    link->body = rb_spec_add_body(r->spec, &body, r->err);
    return rb_urdf_added(r, link->body);
}

/* ---- bodies that move together ---- */

/* The inertia of each link, in its frame. */
static void link_inertias(rb_urdf *r, rb_inertia *out)
{
    for (int l = 0; l < r->nlink; l++) {
        const rb_body_def *body = rb_spec_body(r->spec, r->link[l].body);
        out[l] = (rb_inertia){ .mass = body->mass };
        rb_copy3(body->com, out[l].com);
        for (int k = 0; k < 6; k++) out[l].I[k] = body->inertia[k];
    }
}

/* Adds what hangs on each link, by fixed joints only or by all of them at coordinate 0, from the
 * leaves on: children come later in the order. */
static void add_to_parents(rb_urdf *r, int fixed_only, rb_inertia *sum)
{
    for (int i = r->nlink - 1; i > 0; i--) {
        int l = r->order[i], j = r->link[l].joint;
        if (fixed_only && r->joint[j].type != RB_URDF_FIXED) continue;
        const rb_body_def *body = rb_spec_body(r->spec, r->link[l].body);
        double R[9];
        rb_inertia moved = sum[l];
        rb_quat_to_rot(body->pose.quat, R);
        rb_inertia_move(body->pose.pos, R, &moved);
        rb_inertia_add(sum + r->joint[j].parent, &moved);
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

static rb_status check_groups(rb_urdf *r, rb_inertia *group, int *head)
{
    link_inertias(r, group);
    add_to_parents(r, 1, group);
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

/* What a joint moves by its own: a mass [kg] or a moment about its axis [kg m^2]; for joints of
 * several degrees of freedom the least of them. */
static double moved_by(const rb_urdf *r, int j, const rb_inertia *below)
{
    static const double origin[3] = { 0 };
    const rb_urdf_joint *joint = r->joint + j;
    if (joint->index >= 0) {
        const rb_joint_def *def = rb_spec_joint(r->spec, joint->index);
        if (def->type == RB_JOINT_SLIDE) return below->mass;
        double moment = rb_inertia_about(below, origin, def->axis);
        return fmax(0.0, moment - below->mass * NOISE_LENGTH * NOISE_LENGTH);
    }
    double w[3];
    rb_sym3_eigen(below->I, w, NULL);
    return fmin(below->mass, w[0]);
}

/* Joints that move nothing are common in grippers whose fingers have no inertia. They can be read
 * and shown; their forward dynamics has no answer. */
static rb_status warn_of_massless(rb_urdf *r, rb_inertia *below)
{
    link_inertias(r, below);
    add_to_parents(r, 0, below);
    for (int j = 0; j < r->njoint; j++) {
        const rb_urdf_joint *joint = r->joint + j;
        if (joint->type == RB_URDF_FIXED || moved_by(r, j, below + joint->child) > 0.0) continue;
        RB_URDF_TRY(rb_urdf_warn(r, joint->node, "joint without inertia", 1,
                                 "the joint moves links that have no mass or no inertia about its "
                                 "axis: forward dynamics is singular until they have"));
    }
    return RB_OK;
}

rb_status rb_urdf_check_inertia(rb_urdf *r)
{
    rb_inertia *sum = rb_xml_take(r->doc, (size_t)r->nlink, sizeof *sum);
    int *head = rb_xml_take(r->doc, (size_t)r->nlink, sizeof *head);
    if (!sum || !head) return rb_xml_refuse(r->doc->root, NULL, r->err, RB_NOMEM, "out of memory");
    RB_URDF_TRY(check_groups(r, sum, head));
    return warn_of_massless(r, sum);
}
