/* <tendon>: fixed tendons, sums of joint coordinates; spatial ones, strings from site to site over
 * spheres, cylinders and pulleys. */
#include "io/mjcf.h"

#include <math.h>

#define TENDON(attr, member, least, most)                                                          \
    {                                                                                              \
        attr, RB_MJCF_NUMBERS, offsetof(rb_mjcf_tendon, def.member), least, most, NULL             \
    }

static const rb_mjcf_field fields[] = {
    TENDON("range", range, 2, 2),
    TENDON("frictionloss", frictionloss, 1, 1),
    TENDON("armature", armature, 1, 1),
    TENDON("actuatorfrcrange", force_range, 2, 2),
    { "limited", RB_MJCF_WORD, offsetof(rb_mjcf_tendon, limited), 0, 0, RB_MJCF_AUTO_WORDS },
    { "actuatorfrclimited", RB_MJCF_WORD, offsetof(rb_mjcf_tendon, force_limited), 0, 0,
      RB_MJCF_AUTO_WORDS },
    { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL }
};

rb_status rb_mjcf_apply_tendon(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_tendon *tendon = state;
    double *springlength = tendon->def.springlength;
    int count;
    RB_TRY(rb_mjcf_fields(r, node, fields, tendon));
    RB_TRY(rb_mjcf_at_least_zero(r, node, "frictionloss", &tendon->def.frictionloss, 1));
    RB_TRY(
        rb_mjcf_law_of(r, node, "stiffness", &tendon->def.stiffness, tendon->def.stiffness_poly));
    RB_TRY(rb_mjcf_law_of(r, node, "damping", &tendon->def.damping, tendon->def.damping_poly));
    RB_TRY(rb_xml_numbers(node, "springlength", 1, 2, springlength, &count, r->err));
    if (count == 1) springlength[1] = springlength[0];
    return RB_OK;
}

static rb_status read_terms(rb_mjcf *r, const rb_xml_node *node, rb_tendon_def *def)
{
    size_t count = 0;
    for (const rb_xml_node *n = node->child; n; n = n->next) count++;
    if (count == 0)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "the tendon has no joints");
    int *joint = rb_xml_take(r->doc, count, sizeof *joint);
    double *coef = rb_xml_take(r->doc, count, sizeof *coef);
    if (!joint || !coef) return rb_mjcf_nomem(r, node);

    def->njoint = 0;
    for (const rb_xml_node *n = node->child; n; n = n->next) {
        const char *given;
        RB_TRY(rb_mjcf_find(r, n, "joint", RB_KIND_JOINT, 1, &joint[def->njoint]));
        RB_TRY(rb_xml_need(n, "coef", &given, r->err));
        RB_TRY(rb_xml_number(n, "coef", &coef[def->njoint], r->err));
        def->njoint++;
    }
    def->joint = joint;
    def->coef = coef;
    return RB_OK;
}

/* -1 -1: at rest where the springs of its joints are. */
static void derive_springlength(rb_mjcf *r, rb_tendon_def *def)
{
    if (def->springlength[0] != -1.0 || def->springlength[1] != -1.0) return;
    double length = 0.0;
    for (int k = 0; k < def->njoint; k++)
        length += def->coef[k] * rb_spec_joint(r->spec, def->joint[k])->springref;
    def->springlength[0] = def->springlength[1] = length;
}

/* ---- spatial ones ---------------------------------------------------------------------------- */

static rb_status read_point(rb_mjcf *r, const rb_xml_node *n, rb_wrap_def *wrap)
{
    *wrap = (rb_wrap_def){ .side = -1, .divisor = 1.0 };
    if (rb_xml_is(n, "site")) {
        wrap->type = RB_WRAP_SITE;
        return rb_mjcf_find(r, n, "site", RB_KIND_SITE, 1, &wrap->object);
    }
    if (rb_xml_is(n, "pulley")) {
        const char *given;
        wrap->type = RB_WRAP_PULLEY;
        RB_TRY(rb_xml_need(n, "divisor", &given, r->err));
        return rb_xml_number(n, "divisor", &wrap->divisor, r->err);
    }
    wrap->type = RB_WRAP_GEOM;
    RB_TRY(rb_mjcf_find(r, n, "geom", RB_KIND_GEOM, 1, &wrap->object));
    return rb_mjcf_find(r, n, "sidesite", RB_KIND_SITE, 0, &wrap->side);
}

/* The length at rest, unless it is said, is found by the compiler. */
static rb_status read_path(rb_mjcf *r, const rb_xml_node *node, rb_tendon_def *def)
{
    size_t count = 0;
    for (const rb_xml_node *n = node->child; n; n = n->next) count++;
    if (count == 0)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "the tendon has no sites");
    rb_wrap_def *path = rb_xml_take(r->doc, count, sizeof *path);
    if (!path) return rb_mjcf_nomem(r, node);
    def->npath = 0;
    for (const rb_xml_node *n = node->child; n; n = n->next)
        RB_TRY(read_point(r, n, &path[def->npath++]));
    def->path = path;
    if (def->springlength[0] == -1.0 && def->springlength[1] == -1.0)
        def->springlength[0] = def->springlength[1] = NAN;
    return RB_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

static rb_status read_ranges(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_tendon *tendon)
{
    rb_tendon_def *def = &tendon->def;
    RB_TRY(rb_mjcf_limited(r, node, "limited", tendon->limited, def->range, &def->limited));
    RB_TRY(rb_mjcf_limited(r, node, "actuatorfrclimited", tendon->force_limited, def->force_range,
                           &def->force_limited));
    if (def->limited && !(def->range[0] < def->range[1]))
        return rb_xml_refuse(node, "range", r->err, RB_BAD_INPUT,
                             "the first number must be smaller than the second");
    if (def->force_limited && !(def->force_range[0] < def->force_range[1]))
        return rb_xml_refuse(node, "actuatorfrcrange", r->err, RB_BAD_INPUT,
                             "the first number must be smaller than the second");
    if (def->springlength[0] > def->springlength[1])
        return rb_xml_refuse(node, "springlength", r->err, RB_BAD_INPUT,
                             "the first number is larger than the second");
    return RB_OK;
}

rb_status rb_mjcf_add_tendon(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_tendon tendon;
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_TENDON, NULL, &tendon));
    RB_TRY(read_ranges(r, node, &tendon));
    if (rb_xml_is(node, "fixed")) {
        RB_TRY(read_terms(r, node, &tendon.def));
        derive_springlength(r, &tendon.def);
    } else {
        RB_TRY(read_path(r, node, &tendon.def));
    }
    tendon.def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_TENDON, &tendon.def.name));
    return rb_mjcf_added(r, rb_spec_add_tendon(r->spec, &tendon.def, r->err));
}
