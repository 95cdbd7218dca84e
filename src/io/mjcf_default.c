/* Default classes. A class begins as a copy of its parent, then reads its own elements; elements of
 * the model begin as a copy of their class. Copies are made only where something differs: a class
 * points to the states of its parent otherwise. */
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

#define ACTUATORS                                                                                  \
    "general motor position velocity intvelocity orientation pid damper cylinder muscle adhesion " \
    "dcmotor"

/* How the element is called in a <default>, how large its state is, how attributes are applied. */
typedef struct kind_info {
    const char *elements;
    size_t size;
    rb_status (*apply)(rb_mjcf *r, const rb_xml_node *node, void *state);
} kind_info;

static const kind_info kinds[RB_MJCF_NKIND] = {
    [RB_MJCF_MESH] = { "mesh", sizeof(rb_mjcf_mesh), rb_mjcf_apply_mesh },
    [RB_MJCF_JOINT] = { "joint", sizeof(rb_mjcf_joint), rb_mjcf_apply_joint },
    [RB_MJCF_GEOM] = { "geom", sizeof(rb_mjcf_geom), rb_mjcf_apply_geom },
    [RB_MJCF_SITE] = { "site", sizeof(rb_mjcf_site), rb_mjcf_apply_site },
    [RB_MJCF_PAIR] = { "pair", sizeof(rb_mjcf_pair), rb_mjcf_apply_pair },
    [RB_MJCF_EQUALITY] = { "equality", sizeof(rb_mjcf_equality), rb_mjcf_apply_equality },
    [RB_MJCF_TENDON] = { "tendon", sizeof(rb_mjcf_tendon), rb_mjcf_apply_tendon },
    [RB_MJCF_ACTUATOR] = { ACTUATORS, sizeof(rb_mjcf_actuator), rb_mjcf_apply_actuator },
};

/* ---- what MuJoCo assumes where nothing is said ----------------------------------------------- */

static const rb_mjcf_mesh mesh_state = { { 1.0, 1.0, 1.0 }, RB_MESH_LEGACY, -1 };
static const rb_mjcf_pair pair_state = { 3, { 1.0, 1.0, 0.005, 0.0001, 0.0001 }, 0.0 };
static const rb_mjcf_equality equality_state = { 1 };
static const rb_mjcf_actuator actuator_state = {
    .dynprm = { 1.0 },
    .gainprm = { 1.0 },
    .gear = { 1.0 },
    .limited = { RB_MJCF_AUTO, RB_MJCF_AUTO, RB_MJCF_AUTO },
    .nact = -1,
    .inputs = -1,
};

static rb_status first_states(rb_mjcf *r)
{
    rb_mjcf_joint *joint = rb_xml_take(r->doc, 1, sizeof *joint);
    rb_mjcf_geom *geom = rb_xml_take(r->doc, 1, sizeof *geom);
    rb_mjcf_site *site = rb_xml_take(r->doc, 1, sizeof *site);
    rb_mjcf_tendon *tendon = rb_xml_take(r->doc, 1, sizeof *tendon);
    if (!joint || !geom || !site || !tendon) return rb_mjcf_nomem(r, r->doc->root);

    *joint = (rb_mjcf_joint){ .def = rb_joint_default(),
                              .limited = RB_MJCF_AUTO,
                              .force_limited = RB_MJCF_AUTO };
    *geom = (rb_mjcf_geom){ .def = rb_geom_default(),
                            .orient = rb_mjcf_orient_default(),
                            .fitscale = 1.0,
                            .rgba = { 0.5, 0.5, 0.5, 1.0 } };
    *site = (rb_mjcf_site){ .orient = rb_mjcf_orient_default(), .size = { 0.005, 0.005, 0.005 } };
    *tendon = (rb_mjcf_tendon){ .def = rb_tendon_default(),
                                .limited = RB_MJCF_AUTO,
                                .force_limited = RB_MJCF_AUTO };
    tendon->def.springlength[0] = tendon->def.springlength[1] = -1.0;

    r->main_class = (rb_mjcf_class){ .state = { [RB_MJCF_MESH] = &mesh_state,
                                                [RB_MJCF_JOINT] = joint,
                                                [RB_MJCF_GEOM] = geom,
                                                [RB_MJCF_SITE] = site,
                                                [RB_MJCF_PAIR] = &pair_state,
                                                [RB_MJCF_EQUALITY] = &equality_state,
                                                [RB_MJCF_TENDON] = tendon,
                                                [RB_MJCF_ACTUATOR] = &actuator_state } };
    return rb_mjcf_map_put(r, RB_MJCF_CLASSES, "main", &r->main_class);
}

/* ---- <default> ------------------------------------------------------------------------------- */

/* The class gets a state of its own, changed by the element. */
static rb_status change(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_class *class)
{
    for (int k = 0; k < RB_MJCF_NKIND; k++) {
        if (!rb_xml_in(node->name, kinds[k].elements)) continue;
        void *state = rb_xml_take(r->doc, 1, kinds[k].size);
        if (!state) return rb_mjcf_nomem(r, node);
        memcpy(state, class->state[k], kinds[k].size);
        class->state[k] = state;
        return kinds[k].apply(r, node, state);
    }
    return RB_OK; /* material, camera, light: nothing to simulate */
}

static rb_status open_class(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_class *parent,
                            rb_mjcf_class **out)
{
    const char *name = rb_xml_get(node, "class");
    if (!parent) {
        *out = &r->main_class;
        if (!name || !*name || strcmp(name, "main") == 0) return RB_OK;
        return rb_xml_refuse(node, "class", r->err, RB_BAD_INPUT,
                             "the outermost class is called \"main\"; put \"%.60s\" inside it",
                             name);
    }
    RB_TRY(rb_xml_need(node, "class", &name, r->err));
    if (rb_mjcf_map_get(r, RB_MJCF_CLASSES, name))
        return rb_xml_refuse(node, "class", r->err, RB_BAD_INPUT,
                             "there is a class called \"%.60s\" already", name);
    *out = rb_xml_take(r->doc, 1, sizeof **out);
    if (!*out) return rb_mjcf_nomem(r, node);
    **out = *parent;
    return rb_mjcf_map_put(r, RB_MJCF_CLASSES, name, *out);
}

static rb_status read_default(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_class *parent)
{
    rb_mjcf_class *class = NULL;
    RB_TRY(open_class(r, node, parent, &class));
    for (const rb_xml_node *child = node->child; child; child = child->next)
        if (!rb_xml_is(child, "default")) RB_TRY(change(r, child, class));

    /* classes inside begin with all of this one, in any order */
    for (const rb_xml_node *child = rb_xml_child(node, "default"); child;
         child = rb_xml_next(child))
        RB_TRY(read_default(r, child, class));
    return RB_OK;
}

rb_status rb_mjcf_defaults(rb_mjcf *r, const rb_xml_node *root)
{
    RB_TRY(first_states(r));
    for (const rb_xml_node *n = rb_xml_child(root, "default"); n; n = rb_xml_next(n))
        RB_TRY(read_default(r, n, NULL));
    return RB_OK;
}

/* ---- use ------------------------------------------------------------------------------------- */

rb_status rb_mjcf_class_of(rb_mjcf *r, const rb_xml_node *node, const char *attr,
                           const rb_mjcf_class *otherwise, const rb_mjcf_class **out)
{
    const char *name = rb_xml_get(node, attr);
    *out = name ? rb_mjcf_map_get(r, RB_MJCF_CLASSES, name) : otherwise;
    if (*out) return RB_OK;
    return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT,
                         "there is no default class called \"%.80s\"", name);
}

rb_status rb_mjcf_state(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_kind kind,
                        const rb_mjcf_class *otherwise, void *out)
{
    const rb_mjcf_class *class;
    RB_TRY(rb_mjcf_class_of(r, node, "class", otherwise ? otherwise : &r->main_class, &class));
    memcpy(out, class->state[kind], kinds[kind].size);
    return kinds[kind].apply(r, node, out);
}
