/* Links and joints of a URDF as a tree.
 *
 * Names are looked up in a hash table. The order of bodies and coordinates is that of the <joint>
 * elements, made topological with as few changes as possible: always the first joint in the file
 * whose parent is placed, from a heap. */
#include <string.h>

#include "io/urdf_read.h"

static rb_status nomem(rb_urdf *r)
{
    return rb_xml_refuse(r->doc->root, NULL, r->err, RB_NOMEM, "out of memory");
}

static rb_status table_make(rb_urdf *r, int count, rb_urdf_table *t)
{
    t->room = 16;
    while (t->room < 2 * (size_t)count) t->room *= 2;
    t->slot = rb_xml_take(r->doc, t->room, sizeof *t->slot);
    if (!t->slot) return nomem(r);
    for (size_t i = 0; i < t->room; i++) t->slot[i] = -1;
    return RB_OK;
}

static size_t hash_of(const rb_urdf_table *t, const char *name)
{
    uint64_t h = rb_hash(RB_HASH_INIT, name, strlen(name));
    return (size_t)(h ^ h >> 29) & (t->room - 1);
}

/* ---- links ---- */

static size_t link_slot(const rb_urdf *r, const char *name)
{
    const rb_urdf_table *t = &r->links;
    size_t at = hash_of(t, name);
    while (t->slot[at] >= 0 && strcmp(r->link[t->slot[at]].name, name) != 0)
        at = (at + 1) & (t->room - 1);
    return at;
}

static rb_status read_links(rb_urdf *r)
{
    rb_urdf_table *t = &r->links;
    const rb_xml_node *node = rb_xml_child(r->doc->root, "link");
    for (; node; node = rb_xml_next(node)) r->nlink++;
    if (r->nlink == 0)
        return rb_xml_refuse(r->doc->root, NULL, r->err, RB_BAD_INPUT, "expected a <link>");
    r->link = rb_xml_take(r->doc, (size_t)r->nlink + 1, sizeof *r->link);
    if (!r->link) return nomem(r);
    RB_URDF_TRY(table_make(r, r->nlink + 1, t));

    int l = 0;
    for (node = rb_xml_child(r->doc->root, "link"); node; node = rb_xml_next(node), l++) {
        rb_urdf_link link = { .node = node, .joint = -1, .first = -1, .last = -1, .body = -1 };
        RB_URDF_TRY(rb_xml_need(node, "name", &link.name, r->err));
        size_t at = link_slot(r, link.name);
        if (t->slot[at] >= 0)
            return rb_xml_refuse(node, "name", r->err, RB_BAD_INPUT,
                                 "the link of line %d has the same name",
                                 r->link[t->slot[at]].node->line);
        t->slot[at] = l;
        r->link[l] = link;
    }
    return RB_OK;
}

/* ---- joints ---- */

static size_t joint_slot(const rb_urdf *r, const char *name)
{
    const rb_urdf_table *t = &r->joints;
    size_t at = hash_of(t, name);
    while (t->slot[at] >= 0 && strcmp(r->joint[t->slot[at]].name, name) != 0)
        at = (at + 1) & (t->room - 1);
    return at;
}

/* <parent link="..."/> or <child link="..."/>. */
static rb_status joint_end(rb_urdf *r, const rb_xml_node *node, const char *which, int *out)
{
    const rb_xml_node *end = rb_xml_child(node, which);
    const char *name = NULL;
    if (!end)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "expected <%s link=\"...\"/>",
                             which);
    RB_URDF_TRY(rb_xml_need(end, "link", &name, r->err));
    size_t at = link_slot(r, name);
    if (r->links.slot[at] < 0 && !strcmp(name, "world") && !strcmp(which, "parent")) {
        /* Drake's files may hang on a world that they do not declare; there is room for one more */
        r->link[r->nlink] = (rb_urdf_link){ end, name, -1, -1, -1, -1, 0, 0 };
        r->links.slot[at] = r->nlink++;
    }
    *out = r->links.slot[at];
    if (*out >= 0) return RB_OK;
    return rb_xml_refuse(end, "link", r->err, RB_BAD_INPUT, "there is no link \"%.100s\"", name);
}

static rb_status connect(rb_urdf *r, int j)
{
    rb_urdf_joint *joint = r->joint + j;
    rb_urdf_link *parent = r->link + joint->parent, *child = r->link + joint->child;
    if (parent == child)
        return rb_xml_refuse(joint->node, NULL, r->err, RB_BAD_INPUT,
                             "parent and child are the same link \"%.100s\"", child->name);
    if (child->joint >= 0)
        return rb_xml_refuse(joint->node, NULL, r->err, RB_BAD_INPUT,
                             "link \"%.100s\" is the child of joint \"%.100s\" (line %d) already: "
                             "links and joints must form a tree",
                             child->name, r->joint[child->joint].name,
                             r->joint[child->joint].node->line);
    child->joint = j;
    if (parent->last >= 0)
        r->joint[parent->last].next = j;
    else
        parent->first = j;
    parent->last = j;
    return RB_OK;
}

static rb_status read_joint(rb_urdf *r, int j, const rb_xml_node *node)
{
    rb_urdf_joint joint = { .node = node, .next = -1, .index = -1 };
    int type = -1;
    RB_URDF_TRY(rb_xml_need(node, "name", &joint.name, r->err));
    size_t at = joint_slot(r, joint.name);
    if (r->joints.slot[at] >= 0)
        return rb_xml_refuse(node, "name", r->err, RB_BAD_INPUT,
                             "the joint of line %d has the same name",
                             r->joint[r->joints.slot[at]].node->line);
    RB_URDF_TRY(rb_xml_word(node, "type",
                            "revolute continuous prismatic fixed floating planar spherical", &type,
                            r->err));
    if (type < 0) return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "expected a type");
    joint.type = (rb_urdf_type)type;
    RB_URDF_TRY(joint_end(r, node, "parent", &joint.parent));
    RB_URDF_TRY(joint_end(r, node, "child", &joint.child));
    r->joints.slot[at] = j;
    r->joint[j] = joint;
    return connect(r, j);
}

static rb_status read_joints(rb_urdf *r)
{
    const rb_xml_node *node = rb_xml_child(r->doc->root, "joint");
    for (; node; node = rb_xml_next(node)) r->njoint++;
    r->joint = rb_xml_take(r->doc, (size_t)r->njoint + 1, sizeof *r->joint);
    if (!r->joint) return nomem(r);
    RB_URDF_TRY(table_make(r, r->njoint, &r->joints));
    int j = 0;
    for (node = rb_xml_child(r->doc->root, "joint"); node; node = rb_xml_next(node), j++)
        RB_URDF_TRY(read_joint(r, j, node));
    return RB_OK;
}

int rb_urdf_find_link(const rb_urdf *r, const char *name)
{
    return r->links.slot[link_slot(r, name)];
}

int rb_urdf_find_joint(const rb_urdf *r, const char *name)
{
    return r->joints.slot[joint_slot(r, name)];
}

/* ---- order ---- */

static rb_status find_root(rb_urdf *r)
{
    r->root = -1;
    for (int l = 0; l < r->nlink; l++) {
        if (r->link[l].joint >= 0) continue;
        if (r->root >= 0)
            return rb_xml_refuse(r->link[l].node, NULL, r->err, RB_BAD_INPUT,
                                 "is the child of no joint, and neither is link \"%.100s\" of "
                                 "line %d: expected one root",
                                 r->link[r->root].name, r->link[r->root].node->line);
        r->root = l;
    }
    if (r->root >= 0) return RB_OK;
    return rb_xml_refuse(r->link[0].node, NULL, r->err, RB_BAD_INPUT,
                         "every link is the child of a joint: the joints form a loop");
}

/* A heap of joints, the first one in the file on top. */
typedef struct heap {
    int *item, count;
} heap;

static void heap_push(heap *h, int joint)
{
    int i = h->count++;
    for (; i > 0 && h->item[(i - 1) / 2] > joint; i = (i - 1) / 2)
        h->item[i] = h->item[(i - 1) / 2];
    h->item[i] = joint;
}

static int heap_pop(heap *h)
{
    int top = h->item[0], last = h->item[--h->count], i = 0;
    for (;;) {
        int child = 2 * i + 1;
        if (child + 1 < h->count && h->item[child + 1] < h->item[child]) child++;
        if (child >= h->count || h->item[child] >= last) break;
        h->item[i] = h->item[child];
        i = child;
    }
    h->item[i] = last;
    return top;
}

static rb_status order_links(rb_urdf *r)
{
    heap h = { rb_xml_take(r->doc, (size_t)r->njoint + 1, sizeof *h.item), 0 };
    r->order = rb_xml_take(r->doc, (size_t)r->nlink, sizeof *r->order);
    if (!h.item || !r->order) return nomem(r);

    int placed = 0, link = r->root;
    for (;;) {
        r->order[placed++] = link;
        for (int j = r->link[link].first; j >= 0; j = r->joint[j].next) heap_push(&h, j);
        if (h.count == 0) break;
        link = r->joint[heap_pop(&h)].child;
    }
    if (placed == r->nlink) return RB_OK;

    /* what the root does not reach is its own ancestor somewhere */
    unsigned char *seen = rb_xml_take(r->doc, (size_t)r->nlink, 1);
    if (!seen) return nomem(r);
    memset(seen, 0, (size_t)r->nlink);
    for (int i = 0; i < placed; i++) seen[r->order[i]] = 1;
    int lost = 0;
    while (seen[lost]) lost++;
    return rb_xml_refuse(r->link[lost].node, NULL, r->err, RB_BAD_INPUT,
                         "no chain of joints leads here from the root \"%.100s\": the joints form "
                         "a loop",
                         r->link[r->root].name);
}

rb_status rb_urdf_tree(rb_urdf *r)
{
    RB_URDF_TRY(read_links(r));
    RB_URDF_TRY(read_joints(r));
    RB_URDF_TRY(find_root(r));
    return order_links(r);
}
