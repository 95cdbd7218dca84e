/* <compiler> and <option>: how the file is to be read, gravity and step, what is switched off. */
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

/* ---- compiler -------------------------------------------------------------------------------- */

#define COMPILER(attr, type, least, most, words)                                                   \
    {                                                                                              \
#attr, RB_MJCF_##type, offsetof(rb_mjcf_compiler, attr), least, most, words                \
    }

static const rb_mjcf_field compiler_fields[] = {
    COMPILER(autolimits, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    COMPILER(inertiafromgeom, WORD, 0, 0, RB_MJCF_AUTO_WORDS),
    COMPILER(strippath, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    COMPILER(alignfree, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    COMPILER(fitaabb, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    COMPILER(discardvisual, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    { "angle", RB_MJCF_WORD, offsetof(rb_mjcf_compiler, degree), 0, 0, "radian degree" },
    { "inertiagrouprange", RB_MJCF_INTS, offsetof(rb_mjcf_compiler, inertiagroup), 2, 2, NULL },
    { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL }
};

static const rb_mjcf_field mass_fields[] = {
    { "boundmass", RB_MJCF_NUMBERS, offsetof(rb_option, bound_mass), 1, 1, NULL },
    { "boundinertia", RB_MJCF_NUMBERS, offsetof(rb_option, bound_inertia), 1, 1, NULL },
    { "settotalmass", RB_MJCF_NUMBERS, offsetof(rb_option, total_mass), 1, 1, NULL },
    { "balanceinertia", RB_MJCF_WORD, offsetof(rb_option, balance_inertia), 0, 0,
      RB_MJCF_BOOL_WORDS },
    { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL }
};

/* Negative numbers mean "none". */
static rb_status read_masses(rb_mjcf *r, const rb_xml_node *node)
{
    rb_option *option = &r->option;
    RB_TRY(rb_mjcf_fields(r, node, mass_fields, option));
    option->bound_mass = fmax(0.0, option->bound_mass);
    option->bound_inertia = fmax(0.0, option->bound_inertia);
    option->total_mass = fmax(0.0, option->total_mass);
    return RB_OK;
}

static rb_status read_folders(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_compiler *c = &r->compiler;
    const char *assetdir = rb_xml_get(node, "assetdir"), *meshdir = rb_xml_get(node, "meshdir");
    if (assetdir) c->assetdir = c->meshdir = assetdir;
    if (meshdir) c->meshdir = meshdir;
    return RB_OK;
}

static rb_status read_sequence(rb_mjcf *r, const rb_xml_node *node)
{
    const char *text = rb_xml_get(node, "eulerseq");
    if (!text) return RB_OK;
    if (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3)
        return rb_xml_refuse(node, "eulerseq", r->err, RB_BAD_INPUT,
                             "expected three letters out of x y z (turning axes) and X Y Z (fixed "
                             "axes), found \"%.20s\"",
                             text);
    memcpy(r->compiler.eulerseq, text, 4);
    return RB_OK;
}

static rb_status read_compiler(rb_mjcf *r, const rb_xml_node *node)
{
    const char *coordinate = rb_xml_get(node, "coordinate");
    if (coordinate && strcmp(coordinate, "local") != 0)
        return rb_xml_refuse(node, "coordinate", r->err, RB_BAD_INPUT,
                             "only \"local\" is read; MuJoCo 2.3.3 converts global coordinates");
    RB_TRY(rb_mjcf_fields(r, node, compiler_fields, &r->compiler));
    RB_TRY(read_masses(r, node));
    RB_TRY(read_folders(r, node));
    return read_sequence(r, node);
}

/* ---- option ---------------------------------------------------------------------------------- */

static rb_status read_option(rb_mjcf *r, const rb_xml_node *node)
{
    rb_option *option = &r->option;
    RB_TRY(rb_xml_number(node, "timestep", &option->timestep, r->err));
    RB_TRY(rb_xml_numbers(node, "gravity", 3, 3, option->gravity, NULL, r->err));
    RB_TRY(rb_xml_numbers(node, "magnetic", 3, 3, option->magnetic, NULL, r->err));
    RB_TRY(rb_xml_number(node, "density", &option->density, r->err));
    RB_TRY(rb_xml_number(node, "viscosity", &option->viscosity, r->err));
    RB_TRY(rb_xml_numbers(node, "wind", 3, 3, option->wind, NULL, r->err));
    RB_TRY(rb_mjcf_at_least_zero(r, node, "density", &option->density, 1));
    RB_TRY(rb_mjcf_at_least_zero(r, node, "viscosity", &option->viscosity, 1));
    if (!(option->timestep > 0.0))
        return rb_xml_refuse(node, "timestep", r->err, RB_BAD_INPUT,
                             "the step must be positive [s]");

    const char *collision = rb_xml_get(node, "collision");
    if (collision && strcmp(collision, "all") != 0)
        RB_TRY(rb_mjcf_warn(r, node, "option/collision", 1,
                            "collision is an option of old versions; all pairs may collide"));

    int group[31], count;
    RB_TRY(rb_xml_ints(node, "actuatorgroupdisable", 0, 31, group, &count, r->err));
    for (int k = 0; k < count; k++) {
        if (group[k] < 0 || group[k] > 30)
            return rb_xml_refuse(node, "actuatorgroupdisable", r->err, RB_BAD_INPUT,
                                 "groups are numbered 0 to 30, found %d", group[k]);
        r->flags.group_off |= 1u << group[k];
    }
    return RB_OK;
}

#define FLAG(attr, member)                                                                         \
    {                                                                                              \
        attr, RB_MJCF_WORD, offsetof(rb_mjcf_flags, member), 0, 0, "enable disable"                \
    }

static const rb_mjcf_field flag_fields[] = { FLAG("gravity", no_gravity),
                                             FLAG("contact", no_contact),
                                             FLAG("equality", no_equality),
                                             FLAG("limit", no_limit),
                                             FLAG("frictionloss", no_frictionloss),
                                             FLAG("spring", no_spring),
                                             FLAG("damper", no_damper),
                                             FLAG("clampctrl", no_clamp),
                                             FLAG("actuation", no_actuation),
                                             FLAG("filterparent", no_filterparent),
                                             { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL } };

static rb_status read_flags(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_flags *f = &r->flags;
    int no_passive = 0, no_constraint = 0;
    RB_TRY(rb_mjcf_fields(r, node, flag_fields, f));
    RB_TRY(rb_xml_word(node, "passive", "enable disable", &no_passive, r->err));
    RB_TRY(rb_xml_word(node, "constraint", "enable disable", &no_constraint, r->err));
    if (no_passive) f->no_spring = f->no_damper = 1;
    if (no_constraint) f->no_contact = f->no_equality = f->no_limit = f->no_frictionloss = 1;
    return RB_OK;
}

rb_status rb_mjcf_settings(rb_mjcf *r, const rb_xml_node *root)
{
    r->compiler = (rb_mjcf_compiler){ .degree = 1,
                                      .eulerseq = "xyz",
                                      .autolimits = 1,
                                      .inertiafromgeom = RB_MJCF_AUTO,
                                      .inertiagroup = { 0, 5 },
                                      .meshdir = "",
                                      .assetdir = "" };
    r->option = *rb_spec_option(r->spec);
    for (const rb_xml_node *n = rb_xml_child(root, "compiler"); n; n = rb_xml_next(n))
        RB_TRY(read_compiler(r, n));
    for (const rb_xml_node *n = rb_xml_child(root, "option"); n; n = rb_xml_next(n)) {
        RB_TRY(read_option(r, n));
        const rb_xml_node *flag = rb_xml_child(n, "flag");
        if (flag) RB_TRY(read_flags(r, flag));
    }

    /* the main model alone says how time, gravity and masses go */
    if (r->parent)
        r->flags = (rb_mjcf_flags){ 0 };
    else
        *rb_spec_option(r->spec) = r->option;
    return RB_OK;
}
