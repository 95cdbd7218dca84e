/* discardvisual: geoms that touch nothing and that no element names are removed, as in MuJoCo.
 * Their mass is kept: the masses of all bodies are computed before. */
#include <string.h>

#include "io/mjcf.h"
#include "model/spec.h"
#include "rattleback/model.h"

/* Which geoms are named, one byte for each geom of the spec. */
typedef struct kept {
    unsigned char *named;
    int count;
} kept;

/* ---- names ----------------------------------------------------------------------------------- */

/* A name that was replicated means all its replicas, which begin with it. */
static void keep_replicas(rb_mjcf *r, kept *k, const char *name)
{
    size_t length = strlen(name);
    for (int g = 0; g < k->count; g++) {
        const char *own = rb_spec_geom(r->spec, g)->name;
        if (strncmp(own, name, length) == 0) k->named[g] = 1;
    }
}

static rb_status keep_name(rb_mjcf *r, const rb_xml_node *node, kept *k, const char *name)
{
    if (!name || !*name) return RB_OK;
    const char *full = rb_mjcf_full_name(r, name, "");
    if (!full) return rb_mjcf_nomem(r, node);
    int g = rb_spec_find(r->spec, RB_KIND_GEOM, full);
    if (g >= 0)
        k->named[g] = 1;
    else
        keep_replicas(r, k, full);
    return RB_OK;
}

/* The geoms of a material, "rb.friction/GEOM" or "rb.friction/GEOM1/GEOM2". */
static rb_status keep_material(rb_mjcf *r, const rb_xml_node *node, kept *k)
{
    const char *name = rb_xml_get(node, "name");
    if (!name || strncmp(name, "rb.", 3) != 0) return RB_OK;
    for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
        const char *copy = rb_xml_copy(r->top->doc, at + 1, strcspn(at + 1, "/"));
        if (!copy) return rb_mjcf_nomem(r, node);
        RB_TRY(keep_name(r, node, k, copy));
    }
    return RB_OK;
}

/* Sensors, tendons, pairs and tuples, anywhere in the section. */
static rb_status keep_named(rb_mjcf *r, const rb_xml_node *node, kept *k)
{
    static const char *const direct[] = { "geom", "geom1", "geom2" };
    for (size_t i = 0; i < sizeof direct / sizeof *direct; i++)
        RB_TRY(keep_name(r, node, k, rb_xml_get(node, direct[i])));
    const char *object = rb_xml_get(node, "objtype"), *reference = rb_xml_get(node, "reftype");
    if (object && strcmp(object, "geom") == 0)
        RB_TRY(keep_name(r, node, k, rb_xml_get(node, "objname")));
    if (reference && strcmp(reference, "geom") == 0)
        RB_TRY(keep_name(r, node, k, rb_xml_get(node, "refname")));
    if (rb_xml_in(node->name, "numeric text")) RB_TRY(keep_material(r, node, k));
    for (const rb_xml_node *child = node->child; child; child = child->next)
        RB_TRY(keep_named(r, child, k));
    return RB_OK;
}

static rb_status find_named(rb_mjcf *r, kept *k)
{
    const rb_xml_node *root = r->doc->root;
    for (const rb_xml_node *section = root->child; section; section = section->next)
        if (!rb_xml_in(section->name, "worldbody asset default")) RB_TRY(keep_named(r, section, k));
    for (const rb_mjcf_attached *a = r->attached; a; a = a->next) RB_TRY(find_named(a->reader, k));
    return RB_OK;
}

/* ---- masses ---------------------------------------------------------------------------------- */

/* Bodies say themselves what their geoms would give them. */
static rb_status settle_masses(rb_mjcf *r)
{
    rb_model *m = rb_spec_compile(r->spec, &r->doc->alloc, r->err);
    if (!m) return r->err->status;
    for (int i = 1; i < m->nbody; i++) {
        rb_body_def *body = rb_spec_body(r->spec, i);
        body->inertia_source = RB_INERTIA_GIVEN;
        body->mass = m->body_mass[i];
        memcpy(body->com, m->body_com + 3 * i, sizeof body->com);
        memcpy(body->inertia, m->body_inertia + 6 * i, sizeof body->inertia);
    }
    rb_model_free(m, &r->doc->alloc);
    return RB_OK;
}

rb_status rb_mjcf_discard_visual(rb_mjcf *r)
{
    kept k = { .count = rb_spec_count(r->spec, RB_KIND_GEOM) };
    k.named = rb_xml_take(r->doc, (size_t)k.count + 1, sizeof *k.named);
    int *place = rb_xml_take(r->doc, (size_t)k.count + 1, sizeof *place), remaining = 0;
    if (!k.named || !place) return rb_mjcf_nomem(r, r->doc->root);
    memset(k.named, 0, (size_t)k.count);
    RB_TRY(find_named(r, &k));
    for (int g = 0; g < k.count; g++) {
        const rb_geom_def *geom = rb_spec_geom(r->spec, g);
        place[g] = k.named[g] || geom->contype || geom->conaffinity ? remaining++ : -1;
    }
    if (remaining == k.count) return RB_OK;
    RB_TRY(settle_masses(r));
    rb_spec_keep_geoms(r->spec, place);
    return RB_OK;
}
