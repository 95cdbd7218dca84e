/* Checks the tree against the grammar, and says once what is accepted without having an effect.
 *
 * MuJoCo refuses every element and attribute it does not know, so that a typing error is never
 * silently a default; so do we. */
#include "io/mjcf.h"
#include "io/mjcf_tables.h"

#include <stdint.h>
#include <string.h>

/* ---- what has no effect ---------------------------------------------------------------------- */

/* An attribute that is accepted without effect. */
typedef struct silent {
    const char *attrs;
    const char *elements; /* of these only; "": of all                                 */
    const char *label;    /* what the warning calls it: one warning for each label     */
    const char *text;
    int physics;
    int if_nonzero; /* values that are all zero have no effect in MuJoCo either        */
} silent;

/* clang-format off */
static const silent silents[] = {
    { "solref solimp solmix margin gap solreflimit solimplimit solreffriction solimpfriction "
      "torquescale o_margin o_solref o_solimp o_friction", "", "solref",
      "solref, solimp, margin and gap describe softness and have no meaning here: contacts, limits "
      "and equalities are hard", 0, 0 },
    { "impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance sleep_tolerance integrator "
      "cone jacobian solver iterations ls_iterations noslip_iterations ccd_iterations "
      "sdf_iterations sdf_initpoints apirate", "option", "option",
      "settings of MuJoCo's integrator and solver have no meaning here", 0, 0 },
    { NULL, NULL, NULL, NULL, 0, 0 }
};
/* clang-format on */

static int all_zero(const char *value)
{
    for (; *value; value++)
        if (*value >= '1' && *value <= '9') return 0;
    return 1;
}

static rb_status warn_of_attribute(rb_mjcf *r, const rb_xml_node *node, const rb_xml_attr *attr)
{
    for (const silent *s = silents; s->attrs; s++) {
        if (!rb_xml_in(attr->name, s->attrs)) continue;
        if (s->elements[0] && !rb_xml_in(node->name, s->elements)) continue;
        if (s->if_nonzero && all_zero(attr->value)) continue;
        return rb_mjcf_warn(r, node, s->label, s->physics, s->text);
    }
    return RB_OK;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static rb_status unknown_element(const rb_mjcf *r, const rb_xml_node *node, const element *known)
{
    char list[400] = "";
    size_t used = 0;
    for (; known->name; known++) {
        size_t length = strlen(known->name);
        if (used + length + 2 > sizeof list) break;
        if (used) list[used++] = ' ';
        memcpy(list + used, known->name, length + 1);
        used += length;
    }
    if (used == 0)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "has no place inside <%.40s>",
                             node->parent->name);
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                         "has no place inside <%.40s>, which knows: %s", node->parent->name, list);
}

static rb_status check_children(rb_mjcf *r, const rb_xml_node *node, inside content)
{
    static const element none = { NULL, IN_NOTHING, 0, NULL };
    const element *known = grammar[content] ? grammar[content] : &none;
    uint64_t seen = 0;
    if (content == IN_ANYTHING) return RB_OK;

    for (const rb_xml_node *child = node->child; child; child = child->next) {
        int k = 0;
        while (known[k].name && !rb_xml_is(child, known[k].name)) k++;
        if (!known[k].name) return unknown_element(r, child, known);

        if (known[k].once && (seen & (UINT64_C(1) << k)))
            return rb_xml_refuse(child, NULL, r->err, RB_BAD_INPUT,
                                 "appears twice in the same <%.40s>", node->name);
        if (known[k].once) seen |= UINT64_C(1) << k;

        RB_TRY(rb_xml_check_attrs(child, known[k].attrs, r->err));
        for (int a = 0; a < child->nattr; a++) RB_TRY(warn_of_attribute(r, child, &child->attr[a]));
        RB_TRY(check_children(r, child, known[k].content));
    }
    return RB_OK;
}

/* ---- whole parts ----------------------------------------------------------------------------- */

/* Parts of a file that are accepted as a whole. */
static rb_status warn_of_sections(rb_mjcf *r, const rb_xml_node *root)
{
    for (const rb_xml_node *section = root->child; section; section = section->next) {
        if (rb_xml_is(section, "body"))
            RB_TRY(rb_mjcf_warn(r, section, "body", 0,
                                "is outside of <worldbody> and is ignored, as in MuJoCo; a "
                                "file like this is a part to be included in a body"));
        if (rb_xml_is(section, "extension") && section->child)
            RB_TRY(rb_mjcf_warn(r, section, "extension", 1, "plugins are not run"));
        if (!rb_xml_is(section, "deformable")) continue;
        const rb_xml_node *flex = rb_xml_child(section, "flex");
        if (flex)
            return rb_xml_refuse(flex, NULL, r->err, RB_UNSUPPORTED,
                                 "deformable bodies cannot be simulated; remove the element");
    }
    return RB_OK;
}

rb_status rb_mjcf_check(rb_mjcf *r, const rb_xml_node *root)
{
    RB_TRY(rb_xml_check_attrs(root, "model", r->err));
    RB_TRY(check_children(r, root, IN_ROOT));
    return warn_of_sections(r, root);
}
