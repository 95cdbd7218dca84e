#include "io/urdf.h"

#include <stdio.h>
#include <string.h>

#include "io/urdf_read.h"
#include "math/trig.h"

rb_where rb_urdf_where(const rb_xml_node *node)
{
    return (rb_where){ node->file, node->line };
}

rb_status rb_urdf_added(const rb_urdf *r, int index)
{
    if (index >= 0) return RB_OK;
    return r->err->status != RB_OK ? r->err->status : RB_NOMEM;
}

rb_status rb_urdf_warn(rb_urdf *r, const rb_xml_node *node, const char *element, int physics,
                       const char *text)
{
    for (int i = 0; i < r->nwarned; i++)
        if (!strcmp(r->warned[i], element)) return RB_OK;
    if (r->nwarned == RB_URDF_MAX_WARNED) return RB_OK;
    if (r->nwarned == RB_URDF_MAX_WARNED - 1) {
        element = "more elements";
        text = "there are more kinds of elements without effect than are listed";
    }
    rb_warning warning = { rb_urdf_where(node), element, text, physics };
    char *kept = rb_xml_copy(r->doc, element, strlen(element));
    rb_status status = kept ? rb_spec_warn(r->spec, &warning) : RB_NOMEM;
    if (status != RB_OK) return rb_xml_refuse(node, NULL, r->err, status, "out of memory");
    r->warned[r->nwarned++] = kept;
    return RB_OK;
}

/* What is known about elements that have no effect here. */
typedef struct remark {
    const char *element;
    int physics;
    const char *text;
} remark;

static const remark remarks[] = {
    { "gazebo", 0, "settings of Gazebo have no effect; friction is an option of loading" },
    { "transmission", 0, "transmissions have no effect: joints are driven by forces" },
    { "mujoco", 0, "settings of MuJoCo in a URDF have no effect; convert the model to MJCF" },
    { "joint/safety_controller", 0, "soft limits have no effect, those of <limit> have" },
    { "joint/calibration", 0, "has no effect on the motion" },
    { "link/contact", 0,
      "contact settings of Bullet have no effect; friction is an option of "
      "loading" },
    { "drake:linear_bushing_rpy", 0, "bushings have no effect" },
    { "force_element", 0, "force elements have no effect" },
    { "loop_joint", 0, "loops of joints have no effect: write the model in MJCF" },
    { "drake:ball_constraint", 0, "constraints have no effect: write the model in MJCF" },
    { "drake:mimic", 0, "has no effect, <mimic> has" },
};

static rb_status warn_element(rb_urdf *r, const rb_xml_node *node, const char *element)
{
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (!strcmp(remarks[i].element, element))
            return rb_urdf_warn(r, node, element, remarks[i].physics, remarks[i].text);
    return rb_urdf_warn(r, node, element, 0, "has no effect");
}

rb_status rb_urdf_warn_children(rb_urdf *r, const rb_xml_node *node, const char *known,
                                const char *prefix)
{
    for (const rb_xml_node *child = node->child; child; child = child->next) {
        if (rb_xml_in(child->name, known)) continue;
        if (strncmp(child->name, "xacro:", 6) == 0)
            return rb_xml_refuse(child, NULL, r->err, RB_UNSUPPORTED,
                                 "this is a xacro file: expand it first (xacro FILE > robot.urdf)");
        char element[128];
        snprintf(element, sizeof element, "%s%.100s", prefix, child->name);
        RB_URDF_TRY(warn_element(r, child, element));
    }
    return RB_OK;
}

/* Roll about x, pitch about y, yaw about z, all fixed axes, in this order: q = qz qy qx. */
static void quat_of_rpy(const double rpy[3], double q[4])
{
    double s[3], c[3];
    for (int i = 0; i < 3; i++) rb_sincos(0.5 * rpy[i], s + i, c + i);
    q[0] = c[0] * c[1] * c[2] + s[0] * s[1] * s[2];
    q[1] = s[0] * c[1] * c[2] - c[0] * s[1] * s[2];
    q[2] = c[0] * s[1] * c[2] + s[0] * c[1] * s[2];
    q[3] = c[0] * c[1] * s[2] - s[0] * s[1] * c[2];
}

rb_status rb_urdf_origin(rb_urdf *r, const rb_xml_node *node, rb_pose *pose)
{
    double rpy[3] = { 0 };
    const rb_xml_node *origin = rb_xml_child(node, "origin");
    *pose = (rb_pose){ { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } };
    if (!origin) return RB_OK;
    RB_URDF_TRY(rb_xml_numbers(origin, "xyz", 3, 3, pose->pos, NULL, r->err));
    RB_URDF_TRY(rb_xml_numbers(origin, "rpy", 3, 3, rpy, NULL, r->err));
    quat_of_rpy(rpy, pose->quat);
    return RB_OK;
}

/* Bodies that cannot be simulated must not be passed over. */
static rb_status check_elements(rb_urdf *r)
{
    const rb_xml_node *root = r->doc->root;
    for (const rb_xml_node *node = root->child; node; node = node->next)
        if (rb_xml_in(node->name, "deformable reduced_deformable"))
            return rb_xml_refuse(node, NULL, r->err, RB_UNSUPPORTED,
                                 "deformable bodies cannot be simulated");
    return rb_urdf_warn_children(r, root, "link joint material drake:collision_filter_group", "");
}

/* Calls of unknown macros are left in what xacro writes; definitions are the source of
 * something else. */
static int is_empty(const rb_xml_node *root)
{
    for (const rb_xml_node *node = root->child; node; node = node->next)
        if (rb_xml_in(node->name, "link joint deformable reduced_deformable xacro:macro "
                                  "xacro:include xacro:property xacro:arg"))
            return 0;
    return 1;
}

static rb_status read_robot(rb_urdf *r)
{
    if (is_empty(r->doc->root))
        return rb_urdf_warn(r, r->doc->root, "robot", 2,
                            "there is no <link>: the model is empty; macros (xacro) have to be "
                            "expanded first: xacro FILE > robot.urdf");
    RB_URDF_TRY(check_elements(r));
    RB_URDF_TRY(rb_urdf_tree(r));
    for (int i = 0; i < r->nlink; i++) {
        int l = r->order[i];
        RB_URDF_TRY(
            rb_urdf_warn_children(r, r->link[l].node, "inertial visual collision", "link/"));
        RB_URDF_TRY(rb_urdf_add_body(r, l));
        RB_URDF_TRY(rb_urdf_add_joints(r, l));
        RB_URDF_TRY(rb_urdf_add_geoms(r, l));
    }
    RB_URDF_TRY(rb_urdf_check_inertia(r));
    for (int j = 0; j < r->njoint; j++) RB_URDF_TRY(rb_urdf_add_mimic(r, j));
    return rb_urdf_add_excludes(r);
}

rb_status rb_io_urdf_read(rb_xml_doc *doc, const rb_io_search *search, const rb_load_opts *opts,
                          rb_spec *spec, rb_error *err)
{
    rb_error unseen = { 0 };
    rb_urdf r = { .spec = spec, .doc = doc, .opts = opts, .search = *search };
    r.err = err ? err : &unseen;
    r.search.climb = 1;
    rb_option *option = rb_spec_option(spec);
    option->filter_parent = 1;
    option->keep_inertia = 1;
    option->keep_massless = 1;
    return read_robot(&r);
}
