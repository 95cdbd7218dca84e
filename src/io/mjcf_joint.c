/* Joints, and when something is limited. */
#include "io/mjcf.h"

#include <string.h>

#include "math/quat.h"

#define PI 3.14159265358979323846

/* Angle of a ball joint with the range 0 0: the limit has a direction only away from 0, so that the
 * joint is limited to a small cone [rad]. Smaller is stiffer: a step that rotates by more than this
 * is repeated from the start. */
#define BALL_RANGE_0 1e-3

/* ---- limits ---------------------------------------------------------------------------------- */

rb_status rb_mjcf_limited(rb_mjcf *r, const rb_xml_node *node, const char *attr, int limited,
                          const double range[2], int *out)
{
    int has_range = range[0] != 0.0 || range[1] != 0.0;
    *out = limited == RB_MJCF_AUTO ? range[0] < range[1] : limited;
    if (limited == RB_MJCF_AUTO && has_range && !r->compiler.autolimits)
        return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT,
                             "a range is given, but neither is this \"true\" or \"false\" nor is "
                             "autolimits=\"true\" in <compiler>");
    if (limited == RB_MJCF_AUTO && range[0] > range[1])
        return rb_mjcf_warn(r, node, "range", 2,
                            "a range whose first number is the larger one limits nothing, as in "
                            "MuJoCo; limited=\"true\" makes it an error");
    return RB_OK;
}

/* ---- attributes ------------------------------------------------------------------------------ */

#define JOINT(attr, member, type, least, most, words)                                              \
    {                                                                                              \
        attr, RB_MJCF_##type, offsetof(rb_mjcf_joint, member), least, most, words                  \
    }

static const rb_mjcf_field fields[] = {
    JOINT("pos", def.pos, NUMBERS, 3, 3, NULL),
    JOINT("axis", def.axis, NUMBERS, 3, 3, NULL),
    JOINT("range", def.range, NUMBERS, 2, 2, NULL),
    JOINT("ref", def.ref, NUMBERS, 1, 1, NULL),
    JOINT("springref", def.springref, NUMBERS, 1, 1, NULL),
    JOINT("armature", def.armature, NUMBERS, 1, 1, NULL),
    JOINT("frictionloss", def.frictionloss, NUMBERS, 1, 1, NULL),
    JOINT("actuatorfrcrange", def.force_range, NUMBERS, 2, 2, NULL),
    JOINT("springdamper", springdamper, NUMBERS, 2, 2, NULL),
    JOINT("limited", limited, WORD, 0, 0, RB_MJCF_AUTO_WORDS),
    JOINT("actuatorfrclimited", force_limited, WORD, 0, 0, RB_MJCF_AUTO_WORDS),
    { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL }
};

rb_status rb_mjcf_apply_joint(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_joint *joint = state;
    int type = (int)joint->def.type;
    RB_TRY(rb_xml_word(node, "type", "free ball slide hinge", &type, r->err));
    joint->def.type = (rb_joint_type)type;
    RB_TRY(rb_mjcf_fields(r, node, fields, joint));
    RB_TRY(rb_mjcf_at_least_zero(r, node, "frictionloss", &joint->def.frictionloss, 1));
    RB_TRY(rb_mjcf_law_of(r, node, "stiffness", &joint->def.stiffness, joint->def.stiffness_poly));
    RB_TRY(rb_mjcf_law_of(r, node, "damping", &joint->def.damping, joint->def.damping_poly));
    return rb_xml_bool(node, "actuatorgravcomp", &joint->def.driven_gravcomp, r->err);
}

/* ---- the joint ------------------------------------------------------------------------------- */

static rb_status resolve_limits(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_joint *joint)
{
    rb_joint_def *def = &joint->def;
    if (def->driven_gravcomp && r->flags.no_actuation) def->driven_gravcomp = 2;
    int is_scalar = def->type == RB_JOINT_HINGE || def->type == RB_JOINT_SLIDE;
    if (def->type != RB_JOINT_FREE)
        RB_TRY(rb_mjcf_limited(r, node, "limited", joint->limited, def->range, &def->limited));
    if (is_scalar)
        RB_TRY(rb_mjcf_limited(r, node, "actuatorfrclimited", joint->force_limited,
                               def->force_range, &def->force_limited));

    if (def->limited && is_scalar && !(def->range[0] < def->range[1]))
        return rb_xml_refuse(node, "range", r->err, RB_BAD_INPUT,
                             "the first number must be smaller than the second");
    if (def->limited && def->type == RB_JOINT_BALL && def->range[0] != 0.0)
        return rb_xml_refuse(node, "range", r->err, RB_BAD_INPUT,
                             "the first number of a ball joint is 0");
    if (def->limited && def->type == RB_JOINT_BALL && def->range[1] == 0.0) {
        def->range[1] = r->compiler.degree ? BALL_RANGE_0 * 180.0 / PI : BALL_RANGE_0;
        RB_TRY(rb_mjcf_warn(r, node, "joint/range", 0,
                            "a ball joint that is limited to an angle of 0 is held within 0.001 "
                            "rad; without the joint the body is held exactly"));
    }
    if (def->force_limited && !(def->force_range[0] < def->force_range[1]))
        return rb_xml_refuse(node, "actuatorfrcrange", r->err, RB_BAD_INPUT,
                             "the first number must be smaller than the second");
    return RB_OK;
}

static void to_radians(const rb_mjcf *r, rb_joint_def *def)
{
    if (!r->compiler.degree || def->type == RB_JOINT_SLIDE || def->type == RB_JOINT_FREE) return;
    if (def->limited) {
        def->range[0] *= PI / 180.0;
        def->range[1] *= PI / 180.0;
    }
    if (def->type != RB_JOINT_HINGE) return;
    def->ref *= PI / 180.0;
    def->springref *= PI / 180.0;
}

/* What the type of a joint leaves no choice about. */
static void settle(rb_joint_def *def)
{
    if (def->type == RB_JOINT_HINGE || def->type == RB_JOINT_SLIDE) return;
    def->axis[0] = def->axis[1] = 0.0;
    def->axis[2] = 1.0;
    def->ref = def->springref = 0.0;
    def->force_limited = 0;
    if (def->type != RB_JOINT_FREE) return;
    def->limited = 0;
    def->range[0] = def->range[1] = 0.0;
    rb_zero3(def->pos);
}

/* Stiffness and damping that follow from a time constant need the inertia of the finished model. */
static rb_status remember_springdamper(rb_mjcf *r, const rb_xml_node *node,
                                       const double springdamper[2], int index)
{
    if (springdamper[0] == 0.0 && springdamper[1] == 0.0) return RB_OK;
    if (!(springdamper[0] > 0.0 && springdamper[1] > 0.0))
        return rb_xml_refuse(node, "springdamper", r->err, RB_BAD_INPUT,
                             "both numbers must be positive");
    rb_mjcf_later *later = rb_xml_take(r->doc, 1, sizeof *later);
    if (!later) return rb_mjcf_nomem(r, node);
    *later = (rb_mjcf_later){
        RB_MJCF_SPRINGDAMPER, index, { springdamper[0], springdamper[1] }, r->later
    };
    r->top->later = later;
    return RB_OK;
}

static rb_status read_freejoint(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_joint *joint)
{
    int align = RB_MJCF_AUTO;
    *joint = (rb_mjcf_joint){ .def = rb_joint_default() };
    joint->def.type = RB_JOINT_FREE;
    RB_TRY(rb_xml_word(node, "align", RB_MJCF_AUTO_WORDS, &align, r->err));
    if (align == RB_MJCF_FALSE || (align == RB_MJCF_AUTO && !r->compiler.alignfree)) return RB_OK;
    return rb_mjcf_warn(r, node, "freejoint/align", 0,
                        "the frame of a free body stays as it is written: the motion is that of "
                        "MuJoCo, the coordinates are those of the body's frame");
}

rb_status rb_mjcf_add_joint(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    rb_mjcf_joint joint;
    rb_joint_def *def = &joint.def;
    if (place->body == 0)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "the world cannot have joints");
    if (rb_xml_is(node, "freejoint"))
        RB_TRY(read_freejoint(r, node, &joint));
    else
        RB_TRY(rb_mjcf_state(r, node, RB_MJCF_JOINT, place->class, &joint));
    RB_TRY(resolve_limits(r, node, &joint));
    to_radians(r, def);

    /* anchor and axis are in the innermost frame */
    rb_quat_rotate(place->frame.quat, def->axis, def->axis);
    rb_quat_rotate(place->frame.quat, def->pos, def->pos);
    rb_add3(place->frame.pos, def->pos, def->pos);
    settle(def);

    def->where = rb_mjcf_where(node);
    def->body = place->body;
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_JOINT, &def->name));
    int index = rb_spec_add_joint(r->spec, def, r->err);
    RB_TRY(rb_mjcf_added(r, index));
    return remember_springdamper(r, node, joint.springdamper, index);
}
