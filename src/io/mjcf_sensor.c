/* <sensor>: what each measures, of what, in whose frame; cutoff, noise and delay. */
#include "io/mjcf.h"

#include <string.h>

/* ---- objects --------------------------------------------------------------------------------- */

static rb_kind kind_of(rb_object object)
{
    switch (object) {
    case RB_OBJECT_GEOM:
        return RB_KIND_GEOM;
    case RB_OBJECT_SITE:
        return RB_KIND_SITE;
    case RB_OBJECT_JOINT:
        return RB_KIND_JOINT;
    case RB_OBJECT_TENDON:
        return RB_KIND_TENDON;
    case RB_OBJECT_ACTUATOR:
        return RB_KIND_ACTUATOR;
    default:
        return RB_KIND_BODY;
    }
}

/* A sensor on the way into the spec. */
typedef struct reading {
    rb_mjcf *r;
    const rb_xml_node *node;
    rb_sensor_def def;
    int camera; /* it is attached to one whose place or picture is not known */
} reading;

static rb_status find(reading *x, const char *attr, rb_object object, int needed, rb_object *as,
                      int *index)
{
    RB_TRY(rb_mjcf_find(x->r, x->node, attr, kind_of(object), needed, index));
    if (*index >= 0) *as = object;
    return RB_OK;
}

static rb_status find_camera(reading *x, const char *attr, rb_object *object, int *index)
{
    RB_TRY(rb_mjcf_camera_site(x->r, x->node, attr, index));
    *object = RB_OBJECT_SITE;
    x->camera |= *index < 0;
    return RB_OK;
}

/* objtype and objname, or reftype and refname. */
static rb_status find_typed(reading *x, const char *type, const char *name, int needed,
                            rb_object *object, int *index)
{
    static const rb_object objects[] = { RB_OBJECT_BODY, RB_OBJECT_XBODY, RB_OBJECT_GEOM,
                                         RB_OBJECT_SITE };
    enum { CAMERA = 4 };
    int word = -1;
    RB_TRY(rb_xml_word(x->node, type, "body xbody geom site camera", &word, x->r->err));
    if (word < 0 && !needed && !rb_xml_get(x->node, name)) return RB_OK;
    if (word < 0)
        return rb_xml_refuse(x->node, type, x->r->err, RB_BAD_INPUT,
                             "is missing: expected body, xbody, geom, site or camera");
    if (word != CAMERA) return find(x, name, objects[word], 1, object, index);
    return find_camera(x, name, object, index);
}

/* One of several attributes, each with its kind; refused where two of them are there. */
typedef struct choice {
    const char *attr;
    rb_object object;
} choice;

static rb_status find_choice(reading *x, const choice *choices, int n, rb_object *object,
                             int *index)
{
    const char *found = NULL;
    for (int k = 0; k < n; k++) {
        if (!rb_xml_get(x->node, choices[k].attr)) continue;
        if (found)
            return rb_xml_refuse(x->node, choices[k].attr, x->r->err, RB_BAD_INPUT,
                                 "%s is given too; one of them is enough", found);
        found = choices[k].attr;
        RB_TRY(find(x, found, choices[k].object, 1, object, index));
    }
    return RB_OK;
}

/* ---- types ----------------------------------------------------------------------------------- */

static rb_status read_joint(reading *x)
{
    rb_sensor_def *def = &x->def;
    RB_TRY(find(x, "joint", RB_OBJECT_JOINT, 1, &def->object, &def->index));
    const rb_joint_def *joint = rb_spec_joint(x->r->spec, def->index);
    int ball = def->type == RB_SENSOR_BALLQUAT || def->type == RB_SENSOR_BALLANGVEL;
    int limit = def->type >= RB_SENSOR_JOINTLIMITPOS && def->type <= RB_SENSOR_JOINTLIMITFRC;
    int scalar = joint->type == RB_JOINT_HINGE || joint->type == RB_JOINT_SLIDE;
    if (ball && joint->type != RB_JOINT_BALL)
        return rb_xml_refuse(x->node, "joint", x->r->err, RB_BAD_INPUT, "expected a ball joint");
    if (!ball && !limit && !scalar)
        return rb_xml_refuse(x->node, "joint", x->r->err, RB_BAD_INPUT,
                             "expected a hinge or slide joint");
    if (limit && !joint->limited)
        return rb_xml_refuse(x->node, "joint", x->r->err, RB_BAD_INPUT, "the joint has no limits");
    return RB_OK;
}

static rb_status read_tendon(reading *x)
{
    rb_sensor_def *def = &x->def;
    RB_TRY(find(x, "tendon", RB_OBJECT_TENDON, 1, &def->object, &def->index));
    int limit = def->type >= RB_SENSOR_TENDONLIMITPOS && def->type <= RB_SENSOR_TENDONLIMITFRC;
    if (!limit || rb_spec_tendon(x->r->spec, def->index)->limited) return RB_OK;
    return rb_xml_refuse(x->node, "tendon", x->r->err, RB_BAD_INPUT, "the tendon has no limits");
}

static rb_status read_frame(reading *x)
{
    rb_sensor_def *def = &x->def;
    RB_TRY(find_typed(x, "objtype", "objname", 1, &def->object, &def->index));
    return find_typed(x, "reftype", "refname", 0, &def->reference, &def->reference_index);
}

/* The words of `data`, which are in the order of `words`, as bits. */
static rb_status read_data(reading *x, const char *words, int nword)
{
    const char *text = rb_xml_get(x->node, "data");
    int last = -1, bits = 0;
    if (!text || !*text) return RB_OK;
    while (*text) {
        size_t length = strcspn(text, " \t\n\r");
        const char *at = words;
        int k = 0;
        for (; k < nword; k++) {
            size_t n = strcspn(at, " ");
            if (n == length && memcmp(at, text, n) == 0) break;
            at += n + (at[n] == ' ');
        }
        if (length > 0 && (k == nword || k <= last))
            return rb_xml_refuse(x->node, "data", x->r->err, RB_BAD_INPUT,
                                 "expected some of these words, in this order: %s", words);
        if (length > 0) bits |= 1 << k, last = k;
        text += length;
        text += strspn(text, " \t\n\r");
    }
    if (bits) x->def.data = bits;
    return RB_OK;
}

static rb_status read_pair(reading *x)
{
    static const choice first[] = { { "geom1", RB_OBJECT_GEOM }, { "body1", RB_OBJECT_XBODY } };
    static const choice second[] = { { "geom2", RB_OBJECT_GEOM }, { "body2", RB_OBJECT_XBODY } };
    rb_sensor_def *def = &x->def;
    RB_TRY(find_choice(x, first, 2, &def->object, &def->index));
    RB_TRY(find_choice(x, second, 2, &def->reference, &def->reference_index));
    if (def->index < 0 || def->reference_index < 0)
        return rb_xml_refuse(x->node, NULL, x->r->err, RB_BAD_INPUT,
                             "expected geom1 or body1, and geom2 or body2");
    return RB_OK;
}

static rb_status read_contact(reading *x)
{
    static const choice first[] = { { "geom1", RB_OBJECT_GEOM },
                                    { "body1", RB_OBJECT_XBODY },
                                    { "subtree1", RB_OBJECT_SUBTREE },
                                    { "site", RB_OBJECT_SITE } };
    static const choice second[] = { { "geom2", RB_OBJECT_GEOM },
                                     { "body2", RB_OBJECT_XBODY },
                                     { "subtree2", RB_OBJECT_SUBTREE } };
    rb_sensor_def *def = &x->def;
    int reduce = 0;
    RB_TRY(find_choice(x, first, 4, &def->object, &def->index));
    RB_TRY(find_choice(x, second, 3, &def->reference, &def->reference_index));
    if (def->object == RB_OBJECT_SITE) {
        def->site = def->index;
        def->index = -1;
        def->object = RB_OBJECT_NONE;
    }
    RB_TRY(rb_xml_int(x->node, "num", &def->num, x->r->err));
    RB_TRY(rb_xml_word(x->node, "reduce", "none mindist maxforce netforce", &reduce, x->r->err));
    RB_TRY(read_data(x, "found force torque dist pos normal tangent linvel angvel", 9));
    def->reduce = (rb_reduce)reduce;
    if (def->num < 1)
        return rb_xml_refuse(x->node, "num", x->r->err, RB_BAD_INPUT, "must be positive");
    if (reduce == RB_REDUCE_NETFORCE && (def->data & (RB_CONTACT_LINVEL | RB_CONTACT_ANGVEL)))
        return rb_xml_refuse(x->node, "data", x->r->err, RB_BAD_INPUT,
                             "netforce has neither linvel nor angvel");
    return RB_OK;
}

static rb_status read_inside(reading *x)
{
    rb_sensor_def *def = &x->def;
    int enclosed = 0;
    RB_TRY(rb_mjcf_find(x->r, x->node, "site", RB_KIND_SITE, 1, &def->site));
    RB_TRY(find_typed(x, "objtype", "objname", 1, &def->object, &def->index));
    RB_TRY(rb_xml_word(x->node, "enclosed", RB_MJCF_BOOL_WORDS, &enclosed, x->r->err));
    if (!enclosed) return RB_OK;
    return rb_mjcf_warn(x->r, x->node, "sensor/enclosed", 2,
                        "enclosed is not read: the sensor reports whether the centre is inside");
}

static rb_status read_range(reading *x)
{
    rb_sensor_def *def = &x->def;
    RB_TRY(read_data(x, "dist dir origin point normal depth", 6));
    if (rb_xml_get(x->node, "camera")) {
        x->camera = 1;
        return RB_OK;
    }
    return find(x, "site", RB_OBJECT_SITE, 1, &def->object, &def->index);
}

static rb_status read_projection(reading *x)
{
    rb_sensor_def *def = &x->def;
    const char *name;
    RB_TRY(rb_xml_need(x->node, "camera", &name, x->r->err));
    RB_TRY(find(x, "site", RB_OBJECT_SITE, 1, &def->object, &def->index));
    RB_TRY(find_camera(x, "camera", &def->reference, &def->reference_index));
    x->camera |= !rb_mjcf_camera_picture(x->r, name, def->picture);
    return RB_OK;
}

static rb_status read_user(reading *x)
{
    const char *dim;
    RB_TRY(rb_xml_need(x->node, "dim", &dim, x->r->err));
    RB_TRY(rb_xml_int(x->node, "dim", &x->def.dim, x->r->err));
    if (x->def.dim < 0)
        return rb_xml_refuse(x->node, "dim", x->r->err, RB_BAD_INPUT, "cannot be negative");
    return rb_mjcf_warn(x->r, x->node, "sensor/user", 2,
                        "user sensors read zero: the program that knows them writes them");
}

static rb_status read_type(reading *x)
{
    rb_sensor_def *def = &x->def;
    rb_sensor_type type = def->type;
    if (type == RB_SENSOR_RANGEFINDER) return read_range(x);
    if (type <= RB_SENSOR_MAGNETOMETER)
        return find(x, "site", RB_OBJECT_SITE, 1, &def->object, &def->index);
    if (rb_xml_in(x->node->name, "jointpos jointvel jointactuatorfrc ballquat ballangvel "
                                 "jointlimitpos jointlimitvel jointlimitfrc"))
        return read_joint(x);
    if (rb_xml_in(x->node->name, "tendonpos tendonvel tendonactuatorfrc tendonlimitpos "
                                 "tendonlimitvel tendonlimitfrc"))
        return read_tendon(x);
    if (type >= RB_SENSOR_ACTUATORPOS && type <= RB_SENSOR_ACTUATORFRC)
        return find(x, "actuator", RB_OBJECT_ACTUATOR, 1, &def->object, &def->index);
    if (type >= RB_SENSOR_FRAMEPOS && type <= RB_SENSOR_FRAMEANGACC) return read_frame(x);
    if (type >= RB_SENSOR_SUBTREECOM && type <= RB_SENSOR_SUBTREEANGMOM)
        return find(x, "body", RB_OBJECT_SUBTREE, 1, &def->object, &def->index);
    if (type == RB_SENSOR_INSIDESITE) return read_inside(x);
    if (type >= RB_SENSOR_DISTANCE && type <= RB_SENSOR_FROMTO) return read_pair(x);
    if (type == RB_SENSOR_CONTACT) return read_contact(x);
    if (type == RB_SENSOR_CAMPROJECTION) return read_projection(x);
    return type == RB_SENSOR_USER ? read_user(x) : RB_OK;
}

/* ---- what all have --------------------------------------------------------------------------- */

static rb_status not_negative(const reading *x, const char *attr, double number)
{
    if (number >= 0.0) return RB_OK;
    return rb_xml_refuse(x->node, attr, x->r->err, RB_BAD_INPUT, "cannot be negative");
}

static rb_status read_times(reading *x)
{
    rb_sensor_def *def = &x->def;
    double interval[2] = { 0.0, 0.0 };
    RB_TRY(rb_xml_number(x->node, "delay", &def->delay, x->r->err));
    RB_TRY(rb_xml_numbers(x->node, "interval", 1, 2, interval, NULL, x->r->err));
    RB_TRY(rb_xml_int(x->node, "nsample", &def->nsample, x->r->err));
    RB_TRY(rb_xml_word(x->node, "interp", "zoh linear cubic", &def->interpolate, x->r->err));
    RB_TRY(not_negative(x, "interval", interval[0]));
    RB_TRY(not_negative(x, "nsample", def->nsample));
    if (interval[1] > 0.0)
        return rb_xml_refuse(x->node, "interval", x->r->err, RB_BAD_INPUT,
                             "the second number, the phase, cannot be positive");
    if (def->delay < 0.0) def->delay = 0.0;
    if (def->delay > 0.0 && def->nsample == 0)
        return rb_xml_refuse(x->node, "delay", x->r->err, RB_BAD_INPUT,
                             "needs samples to look back at: give nsample");
    def->interval = interval[0];
    def->phase = interval[1];
    if (def->interval > 0.0 && def->nsample == 0) def->nsample = 1;
    return RB_OK;
}

static rb_status read_common(reading *x)
{
    rb_sensor_def *def = &x->def;
    RB_TRY(rb_xml_number(x->node, "cutoff", &def->cutoff, x->r->err));
    RB_TRY(rb_xml_number(x->node, "noise", &def->noise, x->r->err));
    RB_TRY(not_negative(x, "cutoff", def->cutoff));
    RB_TRY(not_negative(x, "noise", def->noise));
    RB_TRY(read_times(x));
    rb_sensor_data data = rb_sensor_datatype(def->type);
    int direction = data == RB_SENSOR_AXIS || data == RB_SENSOR_QUATERNION;
    if (direction && def->cutoff > 0.0 && def->type != RB_SENSOR_NORMAL)
        return rb_xml_refuse(x->node, "cutoff", x->r->err, RB_BAD_INPUT,
                             "directions and quaternions have no cutoff");
    return RB_OK;
}

/* ---- one element ----------------------------------------------------------------------------- */

static int type_of(const char *name)
{
    for (int k = 0; k < RB_NSENSOR; k++)
        if (strcmp(rb_sensor_word((rb_sensor_type)k), name) == 0) return k;
    return -1;
}

/* What is measured with cameras or in pictures has no numbers here. */
static rb_status leave_out(rb_mjcf *r, const rb_xml_node *node)
{
    if (rb_xml_is(node, "plugin"))
        return rb_xml_refuse(node, NULL, r->err, RB_UNSUPPORTED,
                             "sensors of plugins cannot be computed: plugin \"%.80s\"",
                             rb_xml_get(node, "plugin") ? rb_xml_get(node, "plugin") : "");
    const char *label = rb_xml_is(node, "tactile") ? "sensor/tactile" : "sensor/camera";
    return rb_mjcf_warn(r, node, label, 2,
                        rb_xml_is(node, "tactile")
                            ? "tactile sensors are not computed: left out"
                            : "the sensor needs what a camera sees, or one that follows a body or "
                              "has its picture from a class: left out");
}

rb_status rb_mjcf_add_sensor(rb_mjcf *r, const rb_xml_node *node)
{
    reading x = { .r = r, .node = node, .def = rb_sensor_default() };
    int type = type_of(node->name);
    if (type < 0) return leave_out(r, node);
    x.def.type = (rb_sensor_type)type;
    RB_TRY(read_type(&x));
    RB_TRY(read_common(&x));
    if (x.camera) return leave_out(r, node);
    x.def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_SENSOR, &x.def.name));
    return rb_mjcf_added(r, rb_spec_add_sensor(r->spec, &x.def, r->err));
}
