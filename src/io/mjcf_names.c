/* Names: elements by name, references between elements, replicated names, and warnings that are
 * given once.
 *
 * Inside a <replicate> every name gets a suffix. An element elsewhere that refers to such a name
 * (an actuator on a replicated joint) is replicated with it: rb_mjcf_sections reads it once for
 * each replica, and its references are looked up with the suffix of the replica, then with those
 * of the replicas around it, then as written. */
#include "io/mjcf.h"

#include <string.h>

/* ---- the map --------------------------------------------------------------------------------- */

struct rb_mjcf_entry {
    struct rb_mjcf_entry *next;
    uint64_t hash;
    int space;
    const char *name;
    void *value;
};

static uint64_t hash_of(int space, const char *name)
{
    return rb_hash(rb_hash(RB_HASH_INIT, &space, sizeof space), name, strlen(name));
}

static rb_mjcf_map *map_of(const rb_mjcf *r, int space)
{
    rb_mjcf *owner = space == RB_MJCF_WARNINGS ? r->top : (rb_mjcf *)r;
    int of_file = space == RB_MJCF_CLASSES || space == RB_MJCF_MODELS;
    return of_file ? &owner->classes : &owner->map;
}

static struct rb_mjcf_entry *lookup(const rb_mjcf_map *map, int space, const char *name)
{
    if (!map->nbucket) return NULL;
    uint64_t hash = hash_of(space, name);
    struct rb_mjcf_entry *entry = map->bucket[hash & (map->nbucket - 1)];
    for (; entry; entry = entry->next)
        if (entry->hash == hash && entry->space == space && strcmp(entry->name, name) == 0) break;
    return entry;
}

void *rb_mjcf_map_get(const rb_mjcf *r, int space, const char *name)
{
    struct rb_mjcf_entry *entry = lookup(map_of(r, space), space, name);
    return entry ? entry->value : NULL;
}

/* Twice the buckets; the old ones are freed with the document. */
static int grow(rb_xml_doc *doc, rb_mjcf_map *map)
{
    rb_mjcf_map grown = { .nbucket = map->nbucket ? 2 * map->nbucket : 64, .count = map->count };
    grown.bucket = rb_xml_take(doc, grown.nbucket, sizeof *grown.bucket);
    if (!grown.bucket) return 0;
    memset(grown.bucket, 0, grown.nbucket * sizeof *grown.bucket);
    for (size_t k = 0; k < map->nbucket; k++) {
        struct rb_mjcf_entry *entry = map->bucket[k];
        while (entry) {
            struct rb_mjcf_entry *next = entry->next;
            struct rb_mjcf_entry **slot = &grown.bucket[entry->hash & (grown.nbucket - 1)];
            entry->next = *slot;
            *slot = entry;
            entry = next;
        }
    }
    *map = grown;
    return 1;
}

rb_status rb_mjcf_map_put(rb_mjcf *r, int space, const char *name, void *value)
{
    rb_mjcf_map *map = map_of(r, space);
    rb_xml_doc *doc = r->top->doc;
    struct rb_mjcf_entry *entry = lookup(map, space, name);
    if (entry) {
        entry->value = value;
        return RB_OK;
    }
    if (map->count >= map->nbucket && !grow(doc, map)) return rb_mjcf_nomem(r, doc->root);

    entry = rb_xml_take(doc, 1, sizeof *entry);
    const char *copy = rb_xml_copy(doc, name, strlen(name));
    if (!entry || !copy) return rb_mjcf_nomem(r, doc->root);
    uint64_t hash = hash_of(space, name);
    struct rb_mjcf_entry **slot = &map->bucket[hash & (map->nbucket - 1)];
    *entry = (struct rb_mjcf_entry){ *slot, hash, space, copy, value };
    *slot = entry;
    map->count++;
    return RB_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

rb_where rb_mjcf_where(const rb_xml_node *node)
{
    return (rb_where){ node->file, node->line };
}

rb_status rb_mjcf_nomem(const rb_mjcf *r, const rb_xml_node *node)
{
    return rb_io_error_set(r->err, RB_NOMEM, node->file, node->line, "out of memory");
}

rb_status rb_mjcf_warn(rb_mjcf *r, const rb_xml_node *node, const char *element, int physics,
                       const char *text)
{
    if (rb_mjcf_map_get(r, RB_MJCF_WARNINGS, element)) return RB_OK;
    RB_TRY(rb_mjcf_map_put(r, RB_MJCF_WARNINGS, element, r));
    rb_warning warning = { rb_mjcf_where(node), element, text, physics };
    return rb_spec_warn(r->spec, &warning) == RB_OK ? RB_OK : rb_mjcf_nomem(r, node);
}

rb_status rb_mjcf_added(const rb_mjcf *r, int index)
{
    return index >= 0 ? RB_OK : r->err->status;
}

rb_status rb_mjcf_count(rb_mjcf *r, const rb_xml_node *node, size_t count)
{
    r->top->nelement += count;
    if (r->top->nelement <= RB_LOAD_MAX_ELEMENTS) return RB_OK;
    return rb_xml_refuse(node, NULL, r->err, RB_TOO_LARGE,
                         "the model has more than %zu elements, replicas included",
                         RB_LOAD_MAX_ELEMENTS);
}

/* ---- names and replicas ---------------------------------------------------------------------- */

/* The replicas that have an element of some name, oldest first. */
typedef struct copy {
    const rb_mjcf_replica *replica;
    struct copy *next;
} copy;

typedef struct copies {
    copy *first, *last;
    int depth; /* levels of replicates around the name */
} copies;

static int depth_of(const rb_mjcf_replica *replica)
{
    int depth = 0;
    for (; replica; replica = replica->outer) depth++;
    return depth;
}

static rb_status remember(rb_mjcf *r, const rb_xml_node *node, rb_kind kind, const char *name)
{
    copies *list = rb_mjcf_map_get(r, (int)kind, name);
    copy *one = rb_xml_take(r->doc, 1, sizeof *one);
    if (!one) return rb_mjcf_nomem(r, node);
    *one = (copy){ r->replica, NULL };
    if (list) {
        list->last->next = one;
        list->last = one;
        return RB_OK;
    }
    list = rb_xml_take(r->doc, 1, sizeof *list);
    if (!list) return rb_mjcf_nomem(r, node);
    *list = (copies){ one, one, depth_of(r->replica) };
    return rb_mjcf_map_put(r, (int)kind, name, list);
}

const char *rb_mjcf_full_name(rb_mjcf *r, const char *text, const char *suffix)
{
    if (!*suffix && !*r->prefix) return text;
    size_t before = strlen(r->prefix), length = strlen(text), behind = strlen(suffix);
    char *full = rb_xml_take(r->doc, before + length + behind + 1, 1);
    if (!full) return NULL;
    memcpy(full, r->prefix, before);
    memcpy(full + before, text, length);
    memcpy(full + before + length, suffix, behind + 1);
    return full;
}

rb_status rb_mjcf_name(rb_mjcf *r, const rb_xml_node *node, rb_kind kind, const char **out)
{
    *out = rb_xml_get(node, "name");
    if (!*out || !**out) return RB_OK;
    if (r->replica != r->base) RB_TRY(remember(r, node, kind, *out));
    *out = rb_mjcf_full_name(r, *out, r->replica ? r->replica->suffix : "");
    return *out ? RB_OK : rb_mjcf_nomem(r, node);
}

/* ---- references ------------------------------------------------------------------------------ */

static rb_status find_name(rb_mjcf *r, const rb_xml_node *node, rb_kind kind, const char *name,
                           int *index)
{
    for (const rb_mjcf_replica *rep = r->replica; rep; rep = rep->outer) {
        const char *full = rb_mjcf_full_name(r, name, rep->suffix);
        if (!full) return rb_mjcf_nomem(r, node);
        *index = rb_spec_find(r->spec, kind, full);
        if (*index >= 0) return RB_OK;
    }
    const char *full = rb_mjcf_full_name(r, name, "");
    if (!full) return rb_mjcf_nomem(r, node);
    int is_world = kind == RB_KIND_BODY && strcmp(name, "world") == 0 && !r->partial;
    *index = is_world ? 0 : rb_spec_find(r->spec, kind, full);
    return RB_OK;
}

int rb_mjcf_asset(rb_mjcf *r, rb_kind kind, const char *name)
{
    const char *full = rb_mjcf_full_name(r, name, "");
    return full ? rb_spec_find(r->spec, kind, full) : -1;
}

rb_status rb_mjcf_find(rb_mjcf *r, const rb_xml_node *node, const char *attr, rb_kind kind,
                       int needed, int *index)
{
    const char *name = rb_xml_get(node, attr);
    *index = -1;
    if (!name && !needed) return RB_OK;
    RB_TRY(rb_xml_need(node, attr, &name, r->err));
    RB_TRY(find_name(r, node, kind, name, index));
    if (*index >= 0) return RB_OK;
    return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT, "there is no %s called \"%.80s\"",
                         rb_kind_text(kind), name);
}

/* The kind of what objname or refname of a sensor refers to; its type is another attribute. */
static rb_kind typed_kind(const char *type)
{
    if (!type) return RB_NKIND;
    if (rb_xml_in(type, "body xbody")) return RB_KIND_BODY;
    if (rb_xml_in(type, "geom")) return RB_KIND_GEOM;
    return rb_xml_in(type, "site") ? RB_KIND_SITE : RB_NKIND;
}

/* Attributes that refer to elements of the tree, or to what may be replicated with it. */
static rb_kind reference_kind(const rb_xml_node *node, const char *attr)
{
    if (rb_xml_in(attr, "objname")) return typed_kind(rb_xml_get(node, "objtype"));
    if (rb_xml_in(attr, "refname")) return typed_kind(rb_xml_get(node, "reftype"));
    if (rb_xml_in(attr, "actuator")) return RB_KIND_ACTUATOR;
    if (rb_xml_in(attr, "joint joint1 joint2 jointinparent")) return RB_KIND_JOINT;
    if (rb_xml_in(attr, "tendon tendon1 tendon2")) return RB_KIND_TENDON;
    if (rb_xml_in(attr, "site site1 site2 refsite slidersite cranksite sidesite"))
        return RB_KIND_SITE;
    if (rb_xml_in(attr, "body body1 body2")) return RB_KIND_BODY;
    if (rb_xml_in(attr, "geom geom1 geom2")) return RB_KIND_GEOM;
    return RB_NKIND;
}

/* The innermost replicates that the element or its children refer to; NULL: none. */
static const copies *find_copies(const rb_mjcf *r, const rb_xml_node *node)
{
    const copies *deepest = NULL;
    for (int k = 0; k < node->nattr; k++) {
        rb_kind kind = reference_kind(node, node->attr[k].name);
        if (kind == RB_NKIND) continue;
        const copies *list = rb_mjcf_map_get(r, (int)kind, node->attr[k].value);
        if (list && (!deepest || list->depth > deepest->depth)) deepest = list;
    }
    for (const rb_xml_node *child = node->child; child; child = child->next) {
        const copies *list = find_copies(r, child);
        if (list && (!deepest || list->depth > deepest->depth)) deepest = list;
    }
    return deepest;
}

/* ---- sections -------------------------------------------------------------------------------- */

/* An element to be read for a replica. */
typedef struct waiting {
    const rb_xml_node *node;
    const rb_mjcf_replica *replica;
    struct waiting *next;
} waiting;

typedef struct queue {
    waiting *first, *last;
} queue;

/* MuJoCo makes the copies of a replica together, replica by replica. */
static rb_status enqueue(rb_mjcf *r, const rb_xml_node *node, const copies *list, queue *queues)
{
    for (const copy *one = list->first; one; one = one->next) {
        RB_TRY(rb_mjcf_count(r, node, 1));
        waiting *entry = rb_xml_take(r->doc, 1, sizeof *entry);
        if (!entry) return rb_mjcf_nomem(r, node);
        *entry = (waiting){ node, one->replica, NULL };
        queue *q = &queues[one->replica->index];
        if (q->last)
            q->last->next = entry;
        else
            q->first = entry;
        q->last = entry;
    }
    return RB_OK;
}

static rb_status read_queues(rb_mjcf *r, const queue *queues, rb_mjcf_element read)
{
    rb_status status = RB_OK;
    for (int k = 0; k < r->nreplica && status == RB_OK; k++) {
        for (const waiting *entry = queues[k].first; entry && status == RB_OK;
             entry = entry->next) {
            r->replica = entry->replica;
            status = read(r, entry->node);
        }
    }
    r->replica = r->base;
    return status;
}

/* Whether everything that the element names was attached. */
static rb_status is_attached(rb_mjcf *r, const rb_xml_node *node, int *yes)
{
    for (int k = 0; k < node->nattr && *yes; k++) {
        rb_kind kind = reference_kind(node, node->attr[k].name);
        int index;
        if (kind == RB_NKIND) continue;
        RB_TRY(find_name(r, node, kind, node->attr[k].value, &index));
        *yes = index >= 0;
    }
    for (const rb_xml_node *child = node->child; child && *yes; child = child->next)
        RB_TRY(is_attached(r, child, yes));
    return RB_OK;
}

/* What refers to parts of a file that are not attached is left out. */
static rb_status read_if_attached(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_element read)
{
    int yes = 1;
    if (r->partial) RB_TRY(is_attached(r, node, &yes));
    if (r->parent && yes) RB_TRY(rb_mjcf_count(r, node, 1));
    return yes ? read(r, node) : RB_OK;
}

rb_status rb_mjcf_sections(rb_mjcf *r, const char *section, rb_mjcf_element read)
{
    const rb_xml_node *root = r->doc->root;
    queue *queues = rb_xml_take(r->doc, (size_t)r->nreplica, sizeof *queues);
    if (!queues) return rb_mjcf_nomem(r, root);
    for (int k = 0; k < r->nreplica; k++) queues[k] = (queue){ NULL, NULL };

    for (const rb_xml_node *each = rb_xml_child(root, section); each; each = rb_xml_next(each)) {
        for (const rb_xml_node *node = each->child; node; node = node->next) {
            const copies *list = r->nreplica ? find_copies(r, node) : NULL;
            if (list)
                RB_TRY(enqueue(r, node, list, queues));
            else
                RB_TRY(read_if_attached(r, node, read));
        }
    }
    RB_TRY(read_queues(r, queues, read));
    for (const rb_mjcf_attached *a = r->attached; a; a = a->next)
        RB_TRY(rb_mjcf_sections(a->reader, section, read));
    return RB_OK;
}
