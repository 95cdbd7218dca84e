/* A <mujoco> document, step by step. */
#include "io/mjcf.h"

#include <stdio.h>
#include <string.h>

/* Attributes that may be empty, or whose emptiness has a message of its own: names, files, and
 * words out of a list, which MuJoCo refuses as well. */
#define KEPT                                                                                       \
    "name prefix suffix sep file data type mode angle limited ctrllimited forcelimited "           \
    "actlimited "                                                                                  \
    "actuatorfrclimited dyntype gaintype biastype objtype reftype inertia input interp builtin "   \
    "autolimits coordinate inertiafromgeom integrator cone jacobian solver"

/* An attribute without a value counts as not given, as in MuJoCo. */
static rb_status drop_empty(rb_mjcf *r, rb_xml_node *node)
{
    int kept = 0;
    for (int k = 0; k < node->nattr; k++) {
        const rb_xml_attr *attr = &node->attr[k];
        if (attr->value[strspn(attr->value, " \t\r\n")] || rb_xml_in(attr->name, KEPT)) {
            node->attr[kept++] = *attr;
            continue;
        }
        char text[160];
        snprintf(text, sizeof text, "<%.40s> %.40s: the attribute is empty and counts as not given",
                 node->name, attr->name);
        RB_TRY(rb_mjcf_warn(r, node, "empty", 0, text));
    }
    node->nattr = kept;
    for (rb_xml_node *child = node->child; child; child = child->next) RB_TRY(drop_empty(r, child));
    return RB_OK;
}

rb_status rb_mjcf_open(rb_mjcf *r)
{
    rb_xml_node *root = r->doc->root;
    if (r->doc->rest_line > 0)
        RB_TRY(
            rb_mjcf_warn(r, root, "xml", 0, "text after the end of the root element is ignored"));
    if (r->doc->loose_line > 0)
        RB_TRY(rb_mjcf_warn(r, &(rb_xml_node){ .file = root->file, .line = r->doc->loose_line },
                            "xml", 0,
                            "not valid XML: attributes without a blank between them, a bare & or < "
                            "in a value, or text before the first element; read as MuJoCo does"));
    RB_TRY(rb_mjcf_include(r, root));
    RB_TRY(drop_empty(r, root));
    RB_TRY(rb_mjcf_check(r, root));
    RB_TRY(rb_mjcf_settings(r, root));
    RB_TRY(rb_mjcf_defaults(r, root));
    return rb_mjcf_models(r, root);
}

static rb_status read_model(rb_mjcf *r)
{
    const rb_xml_node *root = r->doc->root;
    RB_TRY(rb_mjcf_open(r));
    RB_TRY(rb_mjcf_assets(r, root));
    RB_TRY(rb_mjcf_bodies(r, root));
    RB_TRY(rb_mjcf_sections(r, "contact", rb_mjcf_add_contact));
    RB_TRY(rb_mjcf_sections(r, "tendon", rb_mjcf_add_tendon));
    RB_TRY(rb_mjcf_sections(r, "equality", rb_mjcf_add_equality));
    RB_TRY(rb_mjcf_sections(r, "actuator", rb_mjcf_add_actuator));
    RB_TRY(rb_mjcf_sections(r, "sensor", rb_mjcf_add_sensor));
    RB_TRY(rb_mjcf_keyframes(r, root));
    RB_TRY(rb_mjcf_customs(r, root));
    return rb_mjcf_finish(r, root);
}

rb_status rb_io_mjcf_read(rb_xml_doc *doc, const rb_io_search *search, const rb_load_opts *opts,
                          rb_spec *spec, rb_error *err)
{
    rb_error ignored = { 0 };
    rb_mjcf *r = rb_xml_take(doc, 1, sizeof *r);
    if (!r) return rb_io_error_set(err, RB_NOMEM, doc->root->file, 0, "out of memory");
    *r = (rb_mjcf){ .spec = spec,
                    .doc = doc,
                    .opts = opts,
                    .search = *search,
                    .err = err ? err : &ignored,
                    .top = r,
                    .prefix = "",
                    .nelement = doc->nelement };
    rb_status status = read_model(r);
    for (int k = 0; k < r->nincluded; k++) rb_xml_free(r->included[k]);
    return status;
}
