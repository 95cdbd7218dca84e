/* <contact>: pairs of geoms, and bodies that do not touch each other. */
#include "io/mjcf.h"

#include <math.h>

rb_status rb_mjcf_apply_pair(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_pair *pair = state;
    RB_TRY(rb_xml_int(node, "condim", &pair->condim, r->err));
    RB_TRY(rb_xml_number(node, "adhesion", &pair->adhesion, r->err));
    if (pair->adhesion < 0.0)
        return rb_xml_refuse(node, "adhesion", r->err, RB_BAD_INPUT, "cannot be negative");
    RB_TRY(rb_xml_numbers(node, "friction", 1, 5, pair->friction, NULL, r->err));
    return rb_mjcf_at_least_zero(r, node, "friction", pair->friction, 5);
}

/* Five coefficients: two sliding, one torsional, two rolling. */
static rb_status set_friction(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_pair *pair,
                              rb_material *material)
{
    const double *mu = pair->friction;
    material->friction = mu[0];
    material->friction_torsion = mu[2];
    material->friction_roll = mu[3];
    if (mu[1] != mu[0]) material->friction_across = mu[1];
    if (mu[4] == mu[3]) return RB_OK;
    return rb_mjcf_warn(r, node, "pair/friction", 1,
                        "rolling friction is the same in both directions; the first one holds");
}

static rb_status add_pair(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_pair pair;
    rb_pair_def def = rb_pair_default();
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_PAIR, NULL, &pair));
    RB_TRY(rb_mjcf_find(r, node, "geom1", RB_KIND_GEOM, 1, &def.geom1));
    RB_TRY(rb_mjcf_find(r, node, "geom2", RB_KIND_GEOM, 1, &def.geom2));
    RB_TRY(set_friction(r, node, &pair, &def.material));
    def.condim = pair.condim;
    def.adhesion = pair.adhesion;
    def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_PAIR, &def.name));
    return rb_mjcf_added(r, rb_spec_add_pair(r->spec, &def, r->err));
}

rb_status rb_mjcf_add_contact(rb_mjcf *r, const rb_xml_node *node)
{
    rb_exclude_def def = rb_exclude_default();
    if (rb_xml_is(node, "pair")) return add_pair(r, node);
    RB_TRY(rb_mjcf_find(r, node, "body1", RB_KIND_BODY, 1, &def.body1));
    RB_TRY(rb_mjcf_find(r, node, "body2", RB_KIND_BODY, 1, &def.body2));
    def.where = rb_mjcf_where(node);
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_EXCLUDE, &def.name));
    return rb_mjcf_added(r, rb_spec_add_exclude(r->spec, &def, r->err));
}
