/* <actuator>. All kinds are one description with the laws
 *     force = gain u + bias,  gain = g0 + g1 l + g2 ldot,  bias = b0 + b1 l +
 * b2 ldot and the names motor, position, ... are short for some of its numbers.
 * What computes its force in another way (muscles, plugins, ...) is counted and
 * named, but has no effect. */
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- attributes
 * ------------------------------------------------------------------------------
 */

#define ACT(attr, member, type, least, most, words)                                                \
    {                                                                                              \
        attr, RB_MJCF_##type, offsetof(rb_mjcf_actuator, member), least, most, words               \
    }

static const rb_mjcf_field fields[] = {
    ACT("group", group, INTS, 1, 1, NULL),
    ACT("ctrlrange", range[RB_MJCF_CTRL], NUMBERS, 2, 2, NULL),
    ACT("forcerange", range[RB_MJCF_FORCE], NUMBERS, 2, 2, NULL),
    ACT("actrange", range[RB_MJCF_ACT], NUMBERS, 2, 2, NULL),
    ACT("ctrllimited", limited[RB_MJCF_CTRL], WORD, 0, 0, RB_MJCF_AUTO_WORDS),
    ACT("forcelimited", limited[RB_MJCF_FORCE], WORD, 0, 0, RB_MJCF_AUTO_WORDS),
    ACT("actlimited", limited[RB_MJCF_ACT], WORD, 0, 0, RB_MJCF_AUTO_WORDS),
    ACT("gear", gear, NUMBERS, 1, 6, NULL),
    ACT("armature", armature, NUMBERS, 1, 1, NULL),
    ACT("inheritrange", inheritrange, NUMBERS, 1, 1, NULL),
    ACT("actdim", nact, INTS, 1, 1, NULL),
    ACT("lengthrange", lengthrange, NUMBERS, 2, 2, NULL),
    ACT("cranklength", cranklength, NUMBERS, 1, 1, NULL),
    ACT("actearly", actearly, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    ACT("dynprm", dynprm, NUMBERS, 1, RB_MJCF_NPRM, NULL),
    ACT("gainprm", gainprm, NUMBERS, 1, RB_MJCF_NPRM, NULL),
    ACT("biasprm", biasprm, NUMBERS, 1, RB_MJCF_NPRM, NULL),
    ACT("posrange", range[RB_MJCF_CTRL], NUMBERS, 2, 2, NULL),
    ACT("velrange", velrange, NUMBERS, 2, 2, NULL),
    ACT("ffrange", ffrange, NUMBERS, 2, 2, NULL),
    ACT("damping", damping, NUMBERS, 1, 3, NULL),
    ACT("nsample", nsample, INTS, 1, 1, NULL),
    ACT("interp", interpolate, WORD, 0, 0, "zoh linear cubic"),
    ACT("delay", delay, NUMBERS, 1, 1, NULL),
    { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL }
};

static rb_status read_laws(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    static const int dynamics_of[] = { RB_ACT_NONE,         RB_ACT_INTEGRATOR,     RB_ACT_FILTER,
                                       RB_ACT_FILTER_EXACT, RB_ACT_MUSCLE,         RB_ACT_SERVO,
                                       RB_ACT_SERVO,        RB_MJCF_OTHER_DYNAMICS };
    int dynamics = -1, gain = act->gain_law, bias = act->bias_law, was = act->gain_law;
    RB_TRY(rb_xml_word(node, "dyntype",
                       "none integrator filter filterexact muscle dcmotor pid user", &dynamics,
                       r->err));
    RB_TRY(
        rb_xml_word(node, "gaintype", "fixed affine muscle dcmotor so3 pid user", &gain, r->err));
    RB_TRY(rb_xml_word(node, "biastype", "none affine muscle dcmotor so3 user", &bias, r->err));
    if (dynamics >= 0) act->dynamics = dynamics_of[dynamics];
    act->gain_law = gain < RB_MJCF_OTHER_LAW ? gain : RB_MJCF_OTHER_LAW;
    act->bias_law = bias <= RB_MJCF_SO3 ? bias : RB_MJCF_OTHER_LAW;
    if (rb_xml_is(node, "general") && act->gain_law != was) act->inputs = -1;
    return rb_xml_is(node, "general") ? rb_mjcf_read_inputs(r, node, act) : RB_OK;
}

/* ---- short forms
 * -----------------------------------------------------------------------------
 */

static rb_status not_negative(const rb_mjcf *r, const rb_xml_node *node, const char *attr,
                              double number)
{
    if (number >= 0.0) return RB_OK;
    return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT, "cannot be negative");
}

/* A servo: kp (u - l) - kv ldot. A damping ratio is stored in the place of kv, with
 * the opposite sign, until the inertia is known. */
static rb_status set_position(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double kp = act->gainprm[0], kv = 0.0, ratio = 0.0, time_constant = 0.0;
    int has_kv, has_ratio, has_time;
    RB_TRY(rb_xml_number(node, "kp", &kp, r->err));
    RB_TRY(rb_xml_numbers(node, "kv", 1, 1, &kv, &has_kv, r->err));
    RB_TRY(rb_xml_numbers(node, "dampratio", 1, 1, &ratio, &has_ratio, r->err));
    RB_TRY(rb_xml_numbers(node, "timeconst", 1, 1, &time_constant, &has_time, r->err));
    RB_TRY(not_negative(r, node, "kv", kv));
    RB_TRY(not_negative(r, node, "dampratio", ratio));
    RB_TRY(not_negative(r, node, "timeconst", time_constant));
    if (has_kv && has_ratio)
        return rb_xml_refuse(node, "dampratio", r->err, RB_BAD_INPUT,
                             "kv is given too; one of them is enough");

    act->gainprm[0] = kp;
    act->biasprm[1] = -kp;
    if (has_kv) act->biasprm[2] = -kv;
    if (has_ratio) act->biasprm[2] = ratio;
    if (has_time) {
        act->dynprm[0] = time_constant;
        act->dynamics = time_constant == 0.0 ? RB_ACT_NONE : RB_ACT_FILTER_EXACT;
    }
    act->gain_law = RB_MJCF_FIXED;
    act->bias_law = RB_MJCF_AFFINE;
    return RB_OK;
}

static rb_status set_velocity(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double kv = act->gainprm[0];
    RB_TRY(rb_xml_number(node, "kv", &kv, r->err));
    memset(act->biasprm, 0, sizeof act->biasprm);
    act->gainprm[0] = kv;
    act->biasprm[2] = -kv;
    act->dynamics = RB_ACT_NONE;
    act->gain_law = RB_MJCF_FIXED;
    act->bias_law = RB_MJCF_AFFINE;
    return RB_OK;
}

static rb_status set_damper(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double kv = act->gain_law == RB_MJCF_AFFINE ? -act->gainprm[2] : 0.0;
    const double *range = act->range[RB_MJCF_CTRL];
    RB_TRY(rb_xml_number(node, "kv", &kv, r->err));
    RB_TRY(not_negative(r, node, "kv", kv));
    RB_TRY(not_negative(r, node, "ctrlrange", fmin(range[0], range[1])));
    memset(act->gainprm, 0, sizeof act->gainprm);
    act->gainprm[2] = -kv;
    act->limited[RB_MJCF_CTRL] = RB_MJCF_TRUE;
    act->dynamics = RB_ACT_NONE;
    act->gain_law = RB_MJCF_AFFINE;
    act->bias_law = RB_MJCF_FIXED;
    return RB_OK;
}

static rb_status set_cylinder(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double diameter = -1.0;
    RB_TRY(rb_xml_number(node, "timeconst", &act->dynprm[0], r->err));
    RB_TRY(rb_xml_numbers(node, "bias", 3, 3, act->biasprm, NULL, r->err));
    RB_TRY(rb_xml_number(node, "area", &act->gainprm[0], r->err));
    RB_TRY(rb_xml_number(node, "diameter", &diameter, r->err));
    if (diameter >= 0.0) act->gainprm[0] = PI / 4.0 * diameter * diameter;
    act->dynamics = RB_ACT_FILTER;
    act->gain_law = RB_MJCF_FIXED;
    act->bias_law = RB_MJCF_AFFINE;
    return RB_OK;
}

/* Of a range and inheritrange, one in the class and one in the element, the element's own counts,
 * as in MuJoCo; of both at one place the range. */
static rb_status choose_range(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    int which = rb_xml_is(node, "intvelocity") ? RB_MJCF_ACT : RB_MJCF_CTRL;
    double *range = act->range[which];
    int given = rb_xml_get(node, which == RB_MJCF_ACT ? "actrange" : "ctrlrange") != NULL;
    int inherits = rb_xml_get(node, "inheritrange") && act->inheritrange > 0.0;
    if (!(act->inheritrange > 0.0) || (range[0] == 0.0 && range[1] == 0.0)) return RB_OK;
    if (inherits && !given) {
        range[0] = range[1] = 0.0;
        return rb_mjcf_warn(r, node, "actuator/inheritrange", 0,
                            "inheritrange outweighs the range of the class");
    }
    act->inheritrange = 0.0;
    return rb_mjcf_warn(r, node, "actuator/inheritrange", 0,
                        given && !inherits
                            ? "the range given here outweighs inheritrange of the class"
                            : "a range is given too, and outweighs it; one of them is enough");
}

/* What a file does not say of a muscle, unless a class did. */
static void muscle_defaults(rb_mjcf_actuator *act)
{
    static const double prm[9] = { 0.75, 1.05, -1.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2 };
    if (act->dynprm[0] == 1.0) act->dynprm[0] = 0.01;
    if (act->dynprm[1] == 0.0) act->dynprm[1] = 0.04;
    if (act->gainprm[0] == 1.0) act->gainprm[0] = prm[0];
    for (int k = 1; k < 9; k++)
        if (act->gainprm[k] == 0.0) act->gainprm[k] = prm[k];
}

static rb_status set_muscle(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    static const char *const names[] = {
        "force", "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax"
    };
    muscle_defaults(act);
    RB_TRY(rb_xml_numbers(node, "timeconst", 2, 2, act->dynprm, NULL, r->err));
    RB_TRY(rb_xml_number(node, "tausmooth", &act->dynprm[2], r->err));
    RB_TRY(rb_xml_numbers(node, "range", 2, 2, act->gainprm, NULL, r->err));
    for (int k = 0; k < 7; k++) RB_TRY(rb_xml_number(node, names[k], &act->gainprm[2 + k], r->err));
    RB_TRY(not_negative(r, node, "tausmooth", act->dynprm[2]));
    memcpy(act->biasprm, act->gainprm, sizeof act->biasprm);
    act->dynamics = RB_ACT_MUSCLE;
    act->gain_law = act->bias_law = RB_MJCF_MUSCLE;
    return RB_OK;
}

static rb_status set_adhesion(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    RB_TRY(rb_xml_number(node, "gain", &act->gainprm[0], r->err));
    RB_TRY(not_negative(r, node, "gain", act->gainprm[0]));
    RB_TRY(not_negative(r, node, "ctrlrange", act->range[RB_MJCF_CTRL][0]));
    act->limited[RB_MJCF_CTRL] = RB_MJCF_TRUE;
    act->dynamics = RB_ACT_NONE;
    act->gain_law = act->bias_law = RB_MJCF_FIXED;
    return RB_OK;
}

rb_status rb_mjcf_apply_actuator(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_actuator *act = state;
    RB_TRY(rb_mjcf_fields(r, node, fields, act));
    RB_TRY(choose_range(r, node, act));
    RB_TRY(read_laws(r, node, act));
    if (rb_xml_is(node, "general")) return RB_OK;
    if (rb_xml_is(node, "motor")) {
        act->gainprm[0] = 1.0;
        act->dynamics = RB_ACT_NONE;
        act->gain_law = act->bias_law = RB_MJCF_FIXED;
        return RB_OK;
    }
    if (rb_xml_is(node, "position")) return set_position(r, node, act);
    if (rb_xml_is(node, "intvelocity")) {
        RB_TRY(set_position(r, node, act));
        act->dynamics = RB_ACT_INTEGRATOR;
        return RB_OK;
    }
    if (rb_xml_is(node, "velocity")) return set_velocity(r, node, act);
    if (rb_xml_is(node, "damper")) return set_damper(r, node, act);
    if (rb_xml_is(node, "cylinder")) return set_cylinder(r, node, act);

    if (rb_xml_is(node, "muscle")) return set_muscle(r, node, act);
    if (rb_xml_is(node, "adhesion")) return set_adhesion(r, node, act);

    if (rb_xml_is(node, "pid")) return rb_mjcf_set_pid(r, node, act);
    if (rb_xml_is(node, "orientation")) return rb_mjcf_set_orientation(r, node, act);
    if (rb_xml_is(node, "dcmotor")) return rb_mjcf_set_dcmotor(r, node, act);

    act->gain_law = act->bias_law = RB_MJCF_OTHER_LAW;
    return RB_OK;
}

/* ---- transmission
 * ----------------------------------------------------------------------------
 */

static rb_status read_joint_target(rb_mjcf *r, const rb_xml_node *node, rb_actuator_def *def)
{
    int in_parent = rb_xml_get(node, "jointinparent") != NULL;
    def->transmission = in_parent ? RB_TRN_JOINT_IN_PARENT : RB_TRN_JOINT;
    return rb_mjcf_find(r, node, in_parent ? "jointinparent" : "joint", RB_KIND_JOINT, 1,
                        &def->target);
}

static rb_status read_target(rb_mjcf *r, const rb_xml_node *node, rb_actuator_def *def)
{
    def->reference = -1;
    if (rb_xml_get(node, "body")) {
        def->transmission = RB_TRN_BODY;
        RB_TRY(rb_mjcf_find(r, node, "body", RB_KIND_BODY, 1, &def->target));
    } else if (rb_xml_get(node, "site")) {
        def->transmission = RB_TRN_SITE;
        RB_TRY(rb_mjcf_find(r, node, "site", RB_KIND_SITE, 1, &def->target));
        RB_TRY(rb_mjcf_find(r, node, "refsite", RB_KIND_SITE, 0, &def->reference));
    } else if (rb_xml_get(node, "cranksite")) {
        def->transmission = RB_TRN_SLIDER_CRANK;
        RB_TRY(rb_mjcf_find(r, node, "cranksite", RB_KIND_SITE, 1, &def->target));
        RB_TRY(rb_mjcf_find(r, node, "slidersite", RB_KIND_SITE, 1, &def->reference));
    } else if (rb_xml_get(node, "tendon")) {
        def->transmission = RB_TRN_TENDON;
        RB_TRY(rb_mjcf_find(r, node, "tendon", RB_KIND_TENDON, 1, &def->target));
    } else if (rb_xml_get(node, "joint") || rb_xml_get(node, "jointinparent")) {
        RB_TRY(read_joint_target(r, node, def));
    } else {
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                             "acts on nothing; give a joint, tendon, site, slider-crank or body");
    }
    return RB_OK;
}

/* ---- ranges
 * ----------------------------------------------------------------------------------
 */

/* The range of the target, widened by a factor about its middle. */
static rb_status inherit_range(rb_mjcf *r, const rb_xml_node *node, const rb_actuator_def *def,
                               rb_mjcf_actuator *act)
{
    double *range = act->range[act->dynamics == RB_ACT_INTEGRATOR ? RB_MJCF_ACT : RB_MJCF_CTRL];
    const double *from = NULL;
    if (!(act->inheritrange > 0.0)) return RB_OK;
    if (def->transmission == RB_TRN_JOINT) from = rb_spec_joint(r->spec, def->target)->range;
    if (def->transmission == RB_TRN_TENDON) from = rb_spec_tendon(r->spec, def->target)->range;
    if (!from || from[0] == from[1])
        return rb_xml_refuse(node, "inheritrange", r->err, RB_BAD_INPUT,
                             "the joint or tendon has no range");
    double mean = 0.5 * (from[0] + from[1]), radius = 0.5 * (from[1] - from[0]) * act->inheritrange;
    range[0] = mean - radius;
    range[1] = mean + radius;
    return RB_OK;
}

static rb_status set_range(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act,
                           int which, int *limited, double range[2])
{
    static const char *const attr[] = { "ctrllimited", "forcelimited", "actlimited" };
    static const char *const range_attr[] = { "ctrlrange", "forcerange", "actrange" };
    RB_TRY(rb_mjcf_limited(r, node, attr[which], act->limited[which], act->range[which], limited));
    memcpy(range, act->range[which], sizeof act->range[which]);
    if (!*limited || range[0] < range[1]) return RB_OK;
    return rb_xml_refuse(node, range_attr[which], r->err, RB_BAD_INPUT,
                         "the first number must be smaller than the second");
}

static rb_status set_ranges(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act,
                            rb_actuator_def *def)
{
    RB_TRY(set_range(r, node, act, RB_MJCF_CTRL, &def->ctrl_limited, def->ctrl_range));
    RB_TRY(set_range(r, node, act, RB_MJCF_FORCE, &def->force_limited, def->force_range));
    RB_TRY(set_range(r, node, act, RB_MJCF_ACT, &def->act_limited, def->act_range));
    if (def->act_limited && act->dynamics == RB_ACT_NONE)
        return rb_xml_refuse(node, "actrange", r->err, RB_BAD_INPUT,
                             "the actuator has no activation: dyntype is \"none\"");
    return RB_OK;
}

/* ---- the actuator
 * ----------------------------------------------------------------------------
 */

static rb_muscle muscle_of(const double prm[9])
{
    return (
        rb_muscle){ { prm[0], prm[1] }, prm[2], prm[3], prm[4], prm[5], prm[6], prm[7], prm[8] };
}

static void set_laws(const rb_mjcf_actuator *act, rb_actuator_def *def)
{
    static const rb_law gain_laws[] = {
        [RB_MJCF_FIXED] = RB_LAW_AFFINE,    [RB_MJCF_AFFINE] = RB_LAW_AFFINE,
        [RB_MJCF_MUSCLE] = RB_LAW_MUSCLE,   [RB_MJCF_DCMOTOR] = RB_LAW_DCMOTOR,
        [RB_MJCF_SO3] = RB_LAW_ORIENTATION, [RB_MJCF_PID] = RB_LAW_PID,
        [RB_MJCF_OTHER_LAW] = RB_LAW_AFFINE
    };
    int affine_gain = act->gain_law == RB_MJCF_AFFINE,
        affine_bias = act->bias_law == RB_MJCF_AFFINE || act->bias_law == RB_MJCF_SO3;
    for (int k = 0; k < 3; k++) {
        def->gain[k] = k == 0 || affine_gain ? act->gainprm[k] : 0.0;
        def->bias[k] = affine_bias ? act->biasprm[k] : 0.0;
    }
    if (act->gain_law == RB_MJCF_MUSCLE) def->gain_muscle = muscle_of(act->gainprm);
    if (act->bias_law == RB_MJCF_MUSCLE) def->bias_muscle = muscle_of(act->biasprm);
    rb_mjcf_fill_servo(act, def);
    def->gain_law = gain_laws[act->gain_law];
    def->bias_law = act->bias_law == RB_MJCF_MUSCLE ? RB_LAW_MUSCLE : RB_LAW_AFFINE;
    memcpy(def->length_range, act->lengthrange, sizeof def->length_range);
    memcpy(def->muscle_time, act->dynprm, sizeof def->muscle_time);
    def->muscle_smooth = act->dynprm[2];
    def->crank_length = act->cranklength;
    def->early = act->actearly;
    memcpy(def->gear, act->gear, sizeof def->gear);
    def->activation = (rb_activation)act->dynamics;
    def->time_constant = fmax(RB_MJCF_MIN_DIVISOR, act->dynprm[0]); /* 0: at once, as in MuJoCo */
}

/* No force, but as many controls and activations as MuJoCo has. */
static void make_idle(const rb_mjcf_actuator *act, rb_actuator_def *def)
{
    def->off = 1;
    if (act->gain_law == RB_MJCF_PID || act->gain_law == RB_MJCF_SO3) return;
    if (act->gain_law == RB_MJCF_DCMOTOR) return;
    memset(def->gain, 0, sizeof def->gain);
    memset(def->bias, 0, sizeof def->bias);
    def->gain_law = def->bias_law = RB_LAW_AFFINE;
    if (act->dynamics == RB_MJCF_OTHER_DYNAMICS) {
        def->activation = act->nact == 0 ? RB_ACT_NONE : RB_ACT_INTEGRATOR;
        def->act_limited = 0;
    }
    def->time_constant = 1.0;
}

/* Named, since the motion is another one without it. */
static rb_status warn_of_law(rb_mjcf *r, const rb_xml_node *node)
{
    enum { ROOM = 400 };
    char *text = rb_xml_take(r->top->doc, ROOM, 1);
    const char *name = rb_xml_get(node, "name"), *plugin = rb_xml_get(node, "plugin");
    if (!text) return rb_mjcf_nomem(r, node);
    int used = name && *name ? snprintf(text, ROOM, "actuator \"%.80s\" has no force: ", name)
                             : snprintf(text, ROOM, "actuator%d has no force: ",
                                        rb_spec_count(r->spec, RB_KIND_ACTUATOR));
    if (rb_xml_is(node, "plugin"))
        snprintf(text + used, (size_t)(ROOM - used), "plugins (\"%.80s\") are not run",
                 plugin ? plugin : "");
    else
        snprintf(text + used, (size_t)(ROOM - used),
                 "laws of the user (dyntype, gaintype or biastype \"user\") are code of another "
                 "program and not in the file");
    return rb_mjcf_warn(r, node, rb_xml_is(node, "plugin") ? "actuator/plugin" : "actuator/general",
                        1, text);
}

/* Armature and damping of the actuator are felt by its joint or tendon. */
static rb_status add_to_target(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act,
                               const rb_actuator_def *def)
{
    double gear2 = act->gear[0] * act->gear[0];
    const double *damping = act->damping;
    if (act->armature == 0.0 && damping[0] == 0.0 && damping[1] == 0.0 && damping[2] == 0.0)
        return RB_OK;
    if (def->transmission >= RB_TRN_SITE)
        return rb_xml_refuse(node, "armature", r->err, RB_BAD_INPUT,
                             "armature and damping need a joint or a tendon");
    if (def->transmission == RB_TRN_TENDON) {
        rb_tendon_def *tendon = rb_spec_tendon(r->spec, def->target);
        tendon->armature += gear2 * act->armature;
        tendon->damping += gear2 * damping[0];
        for (int k = 0; k < 2; k++) tendon->damping_poly[k] += gear2 * damping[1 + k];
        return RB_OK;
    }
    rb_joint_def *joint = rb_spec_joint(r->spec, def->target);
    joint->armature += gear2 * act->armature;
    joint->damping += gear2 * damping[0];
    for (int k = 0; k < 2; k++) joint->damping_poly[k] += gear2 * damping[1 + k];
    return RB_OK;
}

/* A positive b2 of a servo is a damping ratio. */
static rb_status remember_ratio(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act,
                                int index)
{
    int servo = act->gain_law == RB_MJCF_FIXED && act->bias_law == RB_MJCF_AFFINE &&
                act->gainprm[0] == -act->biasprm[1];
    servo |= act->gain_law == RB_MJCF_PID || act->gain_law == RB_MJCF_SO3;
    if (!servo || !(act->biasprm[2] > 0.0)) return RB_OK;
    rb_mjcf_later *later = rb_xml_take(r->doc, 1, sizeof *later);
    if (!later) return rb_mjcf_nomem(r, node);
    *later = (rb_mjcf_later){ RB_MJCF_DAMPRATIO, index, { act->biasprm[2], 0.0 }, r->top->later };
    r->top->later = later;
    return RB_OK;
}

static int is_off(const rb_mjcf *r, const rb_mjcf_actuator *act)
{
    int group_off = act->group >= 0 && act->group < 31 && (r->flags.group_off >> act->group & 1u);
    return r->flags.no_actuation || group_off;
}

/* A muscle without a range of lengths has that of its joint. 1: it is searched for later, with any
 * range until then. */
static int find_length_range(rb_mjcf *r, rb_actuator_def *def)
{
    const double *range = NULL;
    double gear = def->gear[0];
    if (def->gain_law != RB_LAW_MUSCLE && def->bias_law != RB_LAW_MUSCLE) return 0;
    if (def->length_range[0] < def->length_range[1]) return 0;
    if (def->transmission == RB_TRN_JOINT) {
        const rb_joint_def *joint = rb_spec_joint(r->spec, def->target);
        int scalar = joint->type == RB_JOINT_HINGE || joint->type == RB_JOINT_SLIDE;
        if (joint->limited && scalar) range = joint->range;
    }
    def->length_range[0] = range ? fmin(gear * range[0], gear * range[1]) : 0.0;
    def->length_range[1] = range ? fmax(gear * range[0], gear * range[1]) : 1.0;
    return range == NULL || gear == 0.0;
}

/* A muscle whose force is said by the acceleration that it gives. */
static rb_status remember(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_later_kind kind, int index)
{
    rb_mjcf_later *later = rb_xml_take(r->doc, 1, sizeof *later);
    if (!later) return rb_mjcf_nomem(r, node);
    *later = (rb_mjcf_later){ kind, index, { 0.0, 0.0 }, r->top->later };
    r->top->later = later;
    return RB_OK;
}

static rb_status remember_force(rb_mjcf *r, const rb_xml_node *node, const rb_actuator_def *def,
                                int index)
{
    int gain = def->gain_law == RB_LAW_MUSCLE && def->gain_muscle.force < 0.0;
    int bias = def->bias_law == RB_LAW_MUSCLE && def->bias_muscle.force < 0.0;
    return gain || bias ? remember(r, node, RB_MJCF_MUSCLE_FORCE, index) : RB_OK;
}

static rb_status check_orientation(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act,
                                   const rb_actuator_def *def)
{
    if ((act->gain_law == RB_MJCF_SO3) != (act->bias_law == RB_MJCF_SO3))
        return rb_xml_refuse(node, "gaintype", r->err, RB_BAD_INPUT,
                             "gaintype and biastype are both \"so3\", or none of them");
    if (act->gain_law != RB_MJCF_SO3) return RB_OK;
    int ball = def->transmission == RB_TRN_JOINT &&
               rb_spec_joint(r->spec, def->target)->type == RB_JOINT_BALL;
    if (ball || (def->transmission == RB_TRN_SITE && def->reference >= 0)) return RB_OK;
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                         "turns a ball joint, or a site with a refsite; it has none of them");
}

static rb_status set_delay(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act,
                           rb_actuator_def *def)
{
    RB_TRY(not_negative(r, node, "nsample", act->nsample));
    def->nsample = act->nsample;
    def->interpolate = act->interpolate;
    def->delay = fmax(0.0, act->delay);
    if (def->delay > 0.0 && def->nsample == 0)
        return rb_xml_refuse(node, "delay", r->err, RB_BAD_INPUT,
                             "needs the controls before: give nsample, at least delay / timestep");
    return RB_OK;
}

/* A lag of no time: the activation follows its control at once. */
static rb_status warn_of_time(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act)
{
    int lags = act->dynamics == RB_ACT_FILTER || act->dynamics == RB_ACT_FILTER_EXACT;
    if (!lags || act->dynprm[0] > 0.0) return RB_OK;
    return rb_mjcf_warn(r, node, "actuator/timeconst", 0,
                        "a time constant that is not positive: the activation follows its control "
                        "at once, as in MuJoCo");
}

rb_status rb_mjcf_add_actuator(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_actuator act;
    rb_actuator_def def = rb_actuator_default();
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_ACTUATOR, NULL, &act));
    RB_TRY(read_target(r, node, &def));
    RB_TRY(inherit_range(r, node, &def, &act));
    RB_TRY(set_ranges(r, node, &act, &def));
    set_laws(&act, &def);
    RB_TRY(warn_of_time(r, node, &act));

    RB_TRY(check_orientation(r, node, &act, &def));
    RB_TRY(set_delay(r, node, &act, &def));
    int other = act.gain_law == RB_MJCF_OTHER_LAW || act.bias_law == RB_MJCF_OTHER_LAW ||
                act.dynamics == RB_MJCF_OTHER_DYNAMICS;
    if (other) RB_TRY(warn_of_law(r, node));
    int unknown = !other && find_length_range(r, &def);
    RB_TRY(add_to_target(r, node, &act, &def));
    int idle = other || is_off(r, &act);
    if (idle) make_idle(&act, &def);

    def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_ACTUATOR, &def.name));
    int index = rb_spec_add_actuator(r->spec, &def, r->err);
    RB_TRY(rb_mjcf_added(r, index));
    if (!idle) RB_TRY(remember_force(r, node, &def, index));
    if (!idle && unknown) RB_TRY(remember(r, node, RB_MJCF_LENGTH_RANGE, index));
    return idle ? RB_OK : remember_ratio(r, node, &act, index);
}
