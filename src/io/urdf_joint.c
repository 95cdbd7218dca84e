/* Joints of a URDF.
 *
 *     revolute, continuous  hinge                     prismatic  slide
 *     planar    two slides NAME.x, NAME.y across the axis, then the hinge NAME about it
 *     floating  a free joint where the parent is the root that is fixed to the world, else three
 *               slides NAME.x, NAME.y, NAME.z and the ball NAME: same coordinates
 *     spherical ball (Bullet's extension)
 *
 * A range without room, lower >= upper, means "no limit" in published files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/urdf_read.h"
#include "math/vec3.h"

/* Bytes of a joint name with ".x" after it; longer ones are refused. */
enum { NAME_MAX_BYTES = 1024 };

static rb_status read_axis(rb_urdf *r, const rb_xml_node *joint, double axis[3])
{
    const rb_xml_node *node = rb_xml_child(joint, "axis");
    axis[0] = 1.0;
    axis[1] = axis[2] = 0.0;
    if (!node) return RB_OK;
    RB_URDF_TRY(rb_xml_numbers(node, "xyz", 3, 3, axis, NULL, r->err));
    if (axis[0] == 0.0 && axis[1] == 0.0 && axis[2] == 0.0)
        return rb_xml_refuse(node, "xyz", r->err, RB_BAD_INPUT,
                             "joint \"%.100s\": expected an axis that has a length",
                             rb_xml_get(joint, "name"));
    rb_normalize3(axis);
    return RB_OK;
}

/* Range, effort and velocity of <limit>. */
static rb_status read_limit(rb_urdf *r, const rb_urdf_joint *joint, rb_joint_def *def)
{
    const rb_xml_node *node = rb_xml_child(joint->node, "limit");
    int has_range = joint->type == RB_URDF_REVOLUTE || joint->type == RB_URDF_PRISMATIC;
    double effort = 0.0;
    if (!node) {
        if (!has_range) return RB_OK;
        return rb_urdf_warn(r, joint->node, "joint without limit", 0,
                            "a revolute or prismatic joint without <limit> is not limited");
    }
    RB_URDF_TRY(rb_xml_number(node, "lower", def->range, r->err));
    RB_URDF_TRY(rb_xml_number(node, "upper", def->range + 1, r->err));
    RB_URDF_TRY(rb_xml_number(node, "effort", &effort, r->err));
    RB_URDF_TRY(rb_xml_number(node, "velocity", &def->max_velocity, r->err));
    def->limited = has_range && def->range[0] < def->range[1];
    if (effort > 0.0) {
        def->force_limited = 1;
        def->force_range[0] = -effort;
        def->force_range[1] = effort;
    }
    if (!has_range || def->limited) return RB_OK;
    return rb_urdf_warn(r, node, "limit without room", 0,
                        "lower is not below upper: the joint is not limited");
}

static rb_status read_dynamics(rb_urdf *r, const rb_urdf_joint *joint, rb_joint_def *def)
{
    const rb_xml_node *node = rb_xml_child(joint->node, "dynamics");
    if (!node) return RB_OK;
    RB_URDF_TRY(rb_xml_number(node, "damping", &def->damping, r->err));
    RB_URDF_TRY(rb_xml_number(node, "friction", &def->frictionloss, r->err));
    const char *negative = def->damping < 0.0        ? "damping"
                           : def->frictionloss < 0.0 ? "friction"
                                                     : NULL;
    if (!negative) return RB_OK;
    return rb_xml_refuse(node, negative, r->err, RB_BAD_INPUT,
                         "joint \"%.100s\": expected a number >= 0", joint->name);
}

/* Adds a joint called NAME, or NAME.suffix. */
static rb_status add_named(rb_urdf *r, const rb_urdf_joint *joint, rb_joint_def *def,
                           const char *suffix, int *index)
{
    char name[NAME_MAX_BYTES];
    if (strlen(joint->name) + 2 >= sizeof name)
        return rb_xml_refuse(joint->node, "name", r->err, RB_TOO_LARGE, "longer than %d bytes",
                             (int)NAME_MAX_BYTES);
    snprintf(name, sizeof name, "%s%s%s", joint->name, *suffix ? "." : "", suffix);
    def->name = name;
    *index = rb_spec_add_joint(r->spec, def, r->err);
    def->name = NULL;
    return rb_urdf_added(r, *index);
}

/* Two directions across `axis`: x and y where it is z. */
static void span_plane(const double axis[3], double u[3], double v[3])
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(axis[i]) > fabs(axis[k])) k = i;
    rb_zero3(u);
    u[(k + 1) % 3] = 1.0;
    rb_axpy3(-axis[(k + 1) % 3], axis, u);
    rb_normalize3(u);
    rb_cross3(axis, u, v);
}

static rb_status add_planar(rb_urdf *r, rb_urdf_joint *joint, rb_joint_def *def)
{
    int ignored;
    double axis[3], u[3], v[3];
    rb_copy3(def->axis, axis);
    span_plane(axis, u, v);
    def->type = RB_JOINT_SLIDE;
    rb_copy3(u, def->axis);
    RB_URDF_TRY(add_named(r, joint, def, "x", &ignored));
    rb_copy3(v, def->axis);
    RB_URDF_TRY(add_named(r, joint, def, "y", &ignored));
    def->type = RB_JOINT_HINGE;
    rb_copy3(axis, def->axis);
    return add_named(r, joint, def, "", &ignored);
}

static rb_status add_floating(rb_urdf *r, rb_urdf_joint *joint, rb_joint_def *def)
{
    static const char *const suffix[3] = { "x", "y", "z" };
    int ignored;
    if (rb_spec_body(r->spec, def->body)->parent == 0) {
        def->type = RB_JOINT_FREE;
        return add_named(r, joint, def, "", &ignored);
    }
    def->type = RB_JOINT_SLIDE;
    for (int i = 0; i < 3; i++) {
        rb_zero3(def->axis);
        def->axis[i] = 1.0;
        RB_URDF_TRY(add_named(r, joint, def, suffix[i], &ignored));
    }
    def->type = RB_JOINT_BALL;
    return add_named(r, joint, def, "", &ignored);
}

/* The free joint of a robot whose root is not fixed. A joint of the file may have its name. */
static rb_status add_base(rb_urdf *r, const rb_urdf_link *root)
{
    rb_joint_def def = rb_joint_default();
    def.where = rb_urdf_where(root->node);
    def.type = RB_JOINT_FREE;
    def.body = root->body;
    def.name = "floating_base";
    if (rb_urdf_find_joint(r, def.name) >= 0) def.name = NULL;
    return rb_urdf_added(r, rb_spec_add_joint(r->spec, &def, r->err));
}

rb_status rb_urdf_add_joints(rb_urdf *r, int l)
{
    const rb_urdf_link *link = r->link + l;
    if (link->joint < 0) return rb_urdf_root_is_fixed(r, link) ? RB_OK : add_base(r, link);
    rb_urdf_joint *joint = r->joint + link->joint;
    RB_URDF_TRY(rb_urdf_warn_children(r, joint->node,
                                      "parent child origin axis limit dynamics mimic", "joint/"));
    if (joint->type == RB_URDF_FIXED) return RB_OK;

    rb_joint_def def = rb_joint_default();
    def.where = rb_urdf_where(joint->node);
    def.body = link->body;
    RB_URDF_TRY(read_axis(r, joint->node, def.axis));
    RB_URDF_TRY(read_limit(r, joint, &def));
    RB_URDF_TRY(read_dynamics(r, joint, &def));
    switch (joint->type) {
    case RB_URDF_PLANAR:
        return add_planar(r, joint, &def);
    case RB_URDF_FLOATING:
        return add_floating(r, joint, &def);
    case RB_URDF_SPHERICAL:
        def.type = RB_JOINT_BALL;
        return add_named(r, joint, &def, "", &(int){ 0 });
    case RB_URDF_PRISMATIC:
        def.type = RB_JOINT_SLIDE;
        return add_named(r, joint, &def, "", &joint->index);
    default:
        def.type = RB_JOINT_HINGE;
        return add_named(r, joint, &def, "", &joint->index);
    }
}

/* The joint that is mimicked: *index in the spec, or -1 where it cannot move. 0: there is none with
 * one coordinate. */
static int find_mimicked(const rb_urdf *r, const char *name, int *index)
{
    int j = rb_urdf_find_joint(r, name);
    *index = j >= 0 ? r->joint[j].index : -1;
    return j >= 0 && (*index >= 0 || r->joint[j].type == RB_URDF_FIXED);
}

/* q = multiplier q_other + offset. Published files have mimics of joints that are not there, and
 * fixed joints with a mimic element: the robot is read without these. */
rb_status rb_urdf_add_mimic(rb_urdf *r, int j)
{
    const rb_urdf_joint *joint = r->joint + j;
    const rb_xml_node *node = rb_xml_child(joint->node, "mimic");
    if (!node) return RB_OK;
    rb_equality_def def = rb_equality_default();
    const char *name = NULL;
    double multiplier = 1.0, offset = 0.0;
    RB_URDF_TRY(rb_xml_need(node, "joint", &name, r->err));
    RB_URDF_TRY(rb_xml_number(node, "multiplier", &multiplier, r->err));
    RB_URDF_TRY(rb_xml_number(node, "offset", &offset, r->err));
    if (!strcmp(name, joint->name))
        return rb_xml_refuse(node, "joint", r->err, RB_BAD_INPUT, "the joint mimics itself");
    if (joint->index < 0)
        return rb_urdf_warn(r, node, "mimic of a joint without one coordinate",
                            joint->type != RB_URDF_FIXED,
                            "only revolute, continuous and prismatic joints mimic: no effect");
    if (!find_mimicked(r, name, &def.obj2))
        return rb_urdf_warn(r, node, "mimic of an unknown joint", 1,
                            "there is no joint of this name with one coordinate: no effect");

    def.where = rb_urdf_where(node);
    def.type = RB_EQ_JOINT;
    def.obj1 = joint->index;
    def.poly[0] = offset;
    def.poly[1] = multiplier;
    for (int i = 2; i < 5; i++) def.poly[i] = 0.0;
    return rb_urdf_added(r, rb_spec_add_equality(r->spec, &def, r->err));
}
