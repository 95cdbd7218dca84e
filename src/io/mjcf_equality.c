/* <equality>: connect and weld between bodies or sites, couplings of joints and of tendons. */
#include "io/mjcf.h"

#include "math/quat.h"

rb_status rb_mjcf_apply_equality(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_equality *equality = state;
    return rb_xml_bool(node, "active", &equality->active, r->err);
}

/* Two sites: their frames are those of the constraint. */
static rb_status read_sites(rb_mjcf *r, const rb_xml_node *node, rb_equality_def *def)
{
    int site1, site2;
    if (rb_xml_get(node, "body1") || rb_xml_get(node, "body2") || rb_xml_get(node, "anchor") ||
        rb_xml_get(node, "relpose"))
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                             "names sites as well as bodies; either of them is enough");
    RB_TRY(rb_mjcf_find(r, node, "site1", RB_KIND_SITE, 1, &site1));
    RB_TRY(rb_mjcf_find(r, node, "site2", RB_KIND_SITE, 1, &site2));
    const rb_site_def *one = rb_spec_site(r->spec, site1), *two = rb_spec_site(r->spec, site2);
    def->obj1 = one->body;
    def->obj2 = two->body;
    def->pose1 = one->pose;
    def->pose2 = two->pose;
    def->derive2 = 0;
    return RB_OK;
}

static rb_status read_bodies(rb_mjcf *r, const rb_xml_node *node, rb_equality_def *def)
{
    RB_TRY(rb_mjcf_find(r, node, "body1", RB_KIND_BODY, 1, &def->obj1));
    RB_TRY(rb_mjcf_find(r, node, "body2", RB_KIND_BODY, 0, &def->obj2));
    if (def->obj2 < 0) def->obj2 = 0;
    if (def->obj1 == def->obj2)
        return rb_xml_refuse(node, "body2", r->err, RB_BAD_INPUT, "the two bodies are the same");
    return RB_OK;
}

static rb_status read_connect(rb_mjcf *r, const rb_xml_node *node, rb_equality_def *def)
{
    const char *given;
    def->type = RB_EQ_CONNECT;
    if (rb_xml_get(node, "site1") || rb_xml_get(node, "site2")) return read_sites(r, node, def);
    RB_TRY(read_bodies(r, node, def));
    RB_TRY(rb_xml_need(node, "anchor", &given, r->err));
    return rb_xml_numbers(node, "anchor", 3, 3, def->pose1.pos, NULL, r->err);
}

/* The anchor is a point of body 2, relpose the pose of body 2 in body 1. Without relpose the
 * reference configuration says it: the compiler derives the second frame from the first, so body 2
 * is named first then. */
static rb_status read_weld(rb_mjcf *r, const rb_xml_node *node, rb_equality_def *def)
{
    double relpose[7] = { 0.0 };
    rb_pose anchor = { .quat = { 1.0, 0.0, 0.0, 0.0 } };
    def->type = RB_EQ_WELD;
    if (rb_xml_get(node, "site1") || rb_xml_get(node, "site2")) return read_sites(r, node, def);
    RB_TRY(read_bodies(r, node, def));
    RB_TRY(rb_xml_numbers(node, "anchor", 3, 3, anchor.pos, NULL, r->err));
    RB_TRY(rb_xml_numbers(node, "relpose", 7, 7, relpose, NULL, r->err));
    if (relpose[3] == 0.0 && relpose[4] == 0.0 && relpose[5] == 0.0 && relpose[6] == 0.0) {
        int second = def->obj2;
        def->obj2 = def->obj1;
        def->obj1 = second;
        def->pose1 = anchor;
        return RB_OK;
    }
    rb_pose relative = { { relpose[0], relpose[1], relpose[2] },
                         { relpose[3], relpose[4], relpose[5], relpose[6] } };
    rb_quat_normalize(relative.quat);
    rb_mjcf_compose(&relative, &anchor, &def->pose1);
    def->pose2 = anchor;
    def->derive2 = 0;
    return RB_OK;
}

static rb_status read_joints(rb_mjcf *r, const rb_xml_node *node, rb_equality_def *def)
{
    def->type = RB_EQ_JOINT;
    RB_TRY(rb_mjcf_find(r, node, "joint1", RB_KIND_JOINT, 1, &def->obj1));
    return rb_mjcf_find(r, node, "joint2", RB_KIND_JOINT, 0, &def->obj2);
}

static rb_status read_tendons(rb_mjcf *r, const rb_xml_node *node, rb_equality_def *def)
{
    def->type = RB_EQ_TENDON;
    RB_TRY(rb_mjcf_find(r, node, "tendon1", RB_KIND_TENDON, 1, &def->obj1));
    RB_TRY(rb_mjcf_find(r, node, "tendon2", RB_KIND_TENDON, 0, &def->obj2));
    return RB_OK;
}

rb_status rb_mjcf_add_equality(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_equality state;
    rb_equality_def def = rb_equality_default();
    if (rb_xml_in(node->name, "flex flexvert flexstrain"))
        return rb_xml_refuse(node, NULL, r->err, RB_UNSUPPORTED,
                             "deformable bodies cannot be simulated; remove the element");
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_EQUALITY, NULL, &state));
    def.active = state.active;
    RB_TRY(rb_xml_numbers(node, "polycoef", 1, 5, def.poly, NULL, r->err));
    if (rb_xml_is(node, "connect"))
        RB_TRY(read_connect(r, node, &def));
    else if (rb_xml_is(node, "weld"))
        RB_TRY(read_weld(r, node, &def));
    else if (rb_xml_is(node, "joint"))
        RB_TRY(read_joints(r, node, &def));
    else
        RB_TRY(read_tendons(r, node, &def));

    def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_EQUALITY, &def.name));
    return rb_mjcf_added(r, rb_spec_add_equality(r->spec, &def, r->err));
}
