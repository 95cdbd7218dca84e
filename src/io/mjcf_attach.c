/* <asset><model/></asset> and <attach>: another file, or a part of it, as a part of this one.
 *
 * The other file keeps its own compiler settings and classes; its option does not count. All its
 * names get a prefix. Elements outside of its bodies (actuators, ...) come along where everything
 * they name is attached; keyframes do not. */
#include "io/mjcf.h"

#include <string.h>

/* Models inside models. Recursion is as deep as this times the depth of the files. */
enum { MAX_NESTED = 8 };

/* ---- <model> --------------------------------------------------------------------------------- */

static rb_status check_chain(const rb_mjcf *r, const rb_xml_node *node, const char *path)
{
    int depth = 0;
    for (const rb_mjcf *at = r; at; at = at->parent, depth++)
        if (at->search.model && strcmp(at->search.model, path) == 0)
            return rb_xml_refuse(node, "file", r->err, RB_BAD_INPUT, "the model contains itself");
    if (depth <= MAX_NESTED) return RB_OK;
    return rb_xml_refuse(node, "file", r->err, RB_TOO_LARGE,
                         "models are nested deeper than %d files", MAX_NESTED);
}

static rb_status load_model(rb_mjcf *r, const rb_xml_node *node)
{
    char path[RB_IO_PATH_MAX];
    rb_xml_doc *doc = NULL;
    RB_TRY(rb_mjcf_parse(r, node, path, &doc));
    RB_TRY(check_chain(r, node, path));
    if (!rb_xml_is(doc->root, "mujoco"))
        return rb_xml_refuse(doc->root, NULL, r->err, RB_UNSUPPORTED,
                             "only MJCF files can be attached: expected <mujoco>");

    rb_mjcf *child = rb_xml_take(r->top->doc, 1, sizeof *child);
    const char *model = rb_xml_copy(r->top->doc, path, strlen(path));
    if (!child || !model) return rb_mjcf_nomem(r, node);
    *child = (rb_mjcf){ .spec = r->spec,
                        .doc = doc,
                        .opts = r->opts,
                        .search = r->search,
                        .err = r->err,
                        .top = r->top,
                        .parent = r,
                        .prefix = "" };
    child->search.model = model;
    RB_TRY(rb_mjcf_open(child));

    const char *name = rb_xml_get(node, "name");
    if (!name) name = rb_xml_get(doc->root, "model");
    return rb_mjcf_map_put(r, RB_MJCF_MODELS, name ? name : "", child);
}

rb_status rb_mjcf_models(rb_mjcf *r, const rb_xml_node *root)
{
    for (const rb_xml_node *n = rb_xml_child(root, "asset"); n; n = rb_xml_next(n))
        for (const rb_xml_node *m = rb_xml_child(n, "model"); m; m = rb_xml_next(m))
            RB_TRY(load_model(r, m));
    return RB_OK;
}

/* ---- <attach> -------------------------------------------------------------------------------- */

/* The body or frame of that name. */
static const rb_xml_node *find_part(const rb_xml_node *node, const char *element, const char *name)
{
    const rb_xml_node *found = NULL;
    for (const rb_xml_node *child = node->child; child && !found; child = child->next) {
        const char *own = rb_xml_get(child, "name");
        if (rb_xml_is(child, element) && own && strcmp(own, name) == 0) return child;
        if (rb_xml_in(child->name, "worldbody body frame")) found = find_part(child, element, name);
    }
    return found;
}

/* The default class at the place of the part in its own file. */
static rb_status class_around(rb_mjcf *child, const rb_xml_node *part, const rb_mjcf_class **class)
{
    for (const rb_xml_node *at = part->parent; at; at = at->parent)
        if (rb_xml_get(at, "childclass"))
            return rb_mjcf_class_of(child, at, "childclass", NULL, class);
    *class = &child->main_class;
    return RB_OK;
}

/* A reader of the file for this use of it: classes are shared, names are not. */
static rb_status use_model(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf *model, rb_mjcf **out)
{
    const char *prefix;
    rb_mjcf_attached *attached = rb_xml_take(r->top->doc, 1, sizeof *attached);
    rb_mjcf *child = rb_xml_take(r->top->doc, 1, sizeof *child);
    prefix = rb_xml_get(node, "prefix"); /* "": the names are unchanged, as in MuJoCo */
    if (!prefix) RB_TRY(rb_xml_need(node, "prefix", &prefix, r->err));
    prefix = rb_mjcf_full_name(r, prefix, "");
    if (!attached || !child || !prefix) return rb_mjcf_nomem(r, node);
    *child = *model;
    child->parent = r;
    child->prefix = prefix;
    child->base = child->replica = r->replica;
    child->map = (rb_mjcf_map){ NULL, 0, 0 };
    child->attached = child->last_attached = NULL;

    *attached = (rb_mjcf_attached){ child, NULL };
    if (r->last_attached)
        r->last_attached->next = attached;
    else
        r->attached = attached;
    r->last_attached = attached;
    *out = child;
    return RB_OK;
}

static int is_inside(const rb_xml_node *node, const rb_xml_node *part)
{
    while (node && node != part) node = node->parent;
    return node != NULL;
}

/* A part of the file that is read: another one of it, and of what hangs on it. */
static rb_status check_own_part(rb_mjcf *r, const rb_xml_node *node, int named)
{
    int depth = 0;
    if (!named)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                             "give a model, or the body or frame of this one that is meant");
    for (const rb_mjcf *at = r; at; at = at->parent) depth++;
    if (depth <= MAX_NESTED) return RB_OK;
    return rb_xml_refuse(node, NULL, r->err, RB_TOO_LARGE, "parts are nested deeper than %d",
                         MAX_NESTED);
}

rb_status rb_mjcf_attach(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    const char *model = rb_xml_get(node, "model"), *body = rb_xml_get(node, "body");
    const char *frame = rb_xml_get(node, "frame");
    if (!model) RB_TRY(check_own_part(r, node, body || frame));
    const rb_mjcf *known = model ? rb_mjcf_map_get(r, RB_MJCF_MODELS, model) : r;
    if (!known)
        return rb_xml_refuse(node, "model", r->err, RB_BAD_INPUT,
                             "there is no model called \"%.80s\"", model);
    if (body && frame)
        return rb_xml_refuse(node, "frame", r->err, RB_BAD_INPUT,
                             "a body is given too; one of them is enough");
    const rb_xml_node *part = NULL;
    const char *name = body ? body : frame;
    if (name) {
        part = find_part(known->doc->root, body ? "body" : "frame", name);
        if (!part)
            return rb_xml_refuse(node, body ? "body" : "frame", r->err, RB_BAD_INPUT,
                                 "the model \"%.60s\" has nothing called \"%.60s\"",
                                 model ? model : "", name);
        if (is_inside(node, part))
            return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "the part contains itself");
    }

    rb_mjcf *child = NULL;
    rb_mjcf_place there = *place;
    RB_TRY(rb_mjcf_count(r, node, 1));
    RB_TRY(use_model(r, node, known, &child));
    RB_TRY(rb_mjcf_assets(child, child->doc->root));
    child->partial = part != NULL;
    there.class = &child->main_class;
    if (!part) return rb_mjcf_attach_world(child, &there);
    RB_TRY(class_around(child, part, &there.class));
    return body ? rb_mjcf_attach_body(child, part, &there)
                : rb_mjcf_attach_frame(child, part, &there);
}
