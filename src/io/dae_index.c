#include "io/dae_index.h"

#include <string.h>

/* The element after `node` in the order of the file; NULL at the end. */
static const rb_xml_node *following(const rb_xml_node *node)
{
    if (node->child) return node->child;
    while (node && !node->next) node = node->parent;
    return node ? node->next : NULL;
}

/* The slot of an id: where it is, or the free one where it would be. */
static size_t slot_of(const rb_io_dae_index *index, const char *id)
{
    uint64_t hash = rb_hash(RB_HASH_INIT, id, strlen(id));
    size_t at = (size_t)(hash ^ hash >> 29) & (index->room - 1);
    while (index->slot[at] && strcmp(rb_xml_get(index->slot[at], "id"), id) != 0)
        at = (at + 1) & (index->room - 1);
    return at;
}

rb_status rb_io_dae_index_build(rb_xml_doc *doc, rb_io_dae_index *out)
{
    out->room = 16;
    while (out->room < 2 * doc->nelement) out->room *= 2;
    out->slot = rb_xml_take(doc, out->room, sizeof *out->slot);
    if (!out->slot) return RB_NOMEM;
    for (size_t i = 0; i < out->room; i++) out->slot[i] = NULL;

    for (const rb_xml_node *node = doc->root; node; node = following(node)) {
        const char *id = rb_xml_get(node, "id");
        if (!id) continue;
        size_t at = slot_of(out, id);
        if (!out->slot[at]) out->slot[at] = node;
    }
    return RB_OK;
}

const rb_xml_node *rb_io_dae_find(const rb_io_dae_index *index, const char *reference)
{
    return index->slot[slot_of(index, reference[0] == '#' ? reference + 1 : reference)];
}
