/* Which links of a URDF do not touch each other.
 *
 * Links that share a joint never do. Drake's files name more, in groups:
 *
 *     <drake:collision_filter_group name="wrist">
 *       <drake:member link="a"/> ... <drake:ignored_collision_filter_group name="wrist"/> ...
 *     </drake:collision_filter_group>
 *
 * No member touches a member of a group that its own ignores, itself included. */
#include <string.h>

#include "io/urdf_read.h"

/* Groups and pairs of one file: those of published robots have ten groups, a hundred pairs. */
enum { MOST_GROUPS = 1024, MOST_PAIRS = 1 << 16 };

static const char group_name[] = "drake:collision_filter_group";

typedef struct filter_group {
    const rb_xml_node *node;
    const char *name;
    int *body; /* members that have something to touch with */
    int count;
} filter_group;

typedef struct filters {
    filter_group *group;
    int ngroup;
    size_t npair;
} filters;

static rb_status exclude(rb_urdf *r, const rb_xml_node *node, int body1, int body2)
{
    rb_exclude_def def = rb_exclude_default();
    def.where = rb_urdf_where(node);
    def.body1 = body1;
    def.body2 = body2;
    return rb_urdf_added(r, rb_spec_add_exclude(r->spec, &def, r->err));
}

/* The filter of parents sees to the links of a joint, except beside the world, whose parts touch
 * everything. */
static rb_status exclude_neighbours(rb_urdf *r, int j)
{
    const rb_urdf_joint *joint = r->joint + j;
    const rb_urdf_link *parent = r->link + joint->parent, *child = r->link + joint->child;
    if (!parent->fixed_to_world || joint->type == RB_URDF_FIXED) return RB_OK;
    if (!rb_xml_child(parent->node, "collision") || !rb_xml_child(child->node, "collision"))
        return RB_OK;
    return exclude(r, joint->node, parent->body, child->body);
}

/* ---- groups ---- */

static rb_status read_group(rb_urdf *r, const rb_xml_node *node, filter_group *group)
{
    int most = 0;
    const rb_xml_node *member = rb_xml_child(node, "drake:member");
    for (const rb_xml_node *m = member; m; m = rb_xml_next(m)) most++;
    *group = (filter_group){ .node = node };
    RB_URDF_TRY(rb_xml_need(node, "name", &group->name, r->err));
    group->body = rb_xml_take(r->doc, (size_t)most + 1, sizeof *group->body);
    if (!group->body) return rb_xml_refuse(node, NULL, r->err, RB_NOMEM, "out of memory");
    for (; member; member = rb_xml_next(member)) {
        const char *name = NULL;
        RB_URDF_TRY(rb_xml_need(member, "link", &name, r->err));
        int l = rb_urdf_find_link(r, name);
        if (l < 0)
            return rb_xml_refuse(member, "link", r->err, RB_BAD_INPUT,
                                 "there is no link \"%.100s\"", name);
        if (rb_xml_child(r->link[l].node, "collision"))
            group->body[group->count++] = r->link[l].body;
    }
    return RB_OK;
}

static rb_status exclude_members(rb_urdf *r, filters *f, const filter_group *a,
                                 const filter_group *b)
{
    f->npair += (size_t)a->count * (size_t)b->count;
    if (f->npair > MOST_PAIRS)
        return rb_xml_refuse(a->node, NULL, r->err, RB_TOO_LARGE,
                             "the groups of the file name more than %d pairs", (int)MOST_PAIRS);
    for (int i = 0; i < a->count; i++) {
        for (int k = a == b ? i + 1 : 0; k < b->count; k++)
            if (a->body[i] != b->body[k]) RB_URDF_TRY(exclude(r, a->node, a->body[i], b->body[k]));
    }
    return RB_OK;
}

static rb_status exclude_ignored(rb_urdf *r, filters *f, const filter_group *group)
{
    const rb_xml_node *node = rb_xml_child(group->node, "drake:ignored_collision_filter_group");
    for (int count = 0; node; node = rb_xml_next(node), count++) {
        const char *name = NULL;
        RB_URDF_TRY(rb_xml_need(node, "name", &name, r->err));
        int g = 0;
        while (g < f->ngroup && strcmp(f->group[g].name, name) != 0) g++;
        if (g == f->ngroup || count == MOST_GROUPS)
            return rb_xml_refuse(node, "name", r->err, RB_BAD_INPUT,
                                 "there is no <%s name=\"%.100s\">", group_name, name);
        RB_URDF_TRY(exclude_members(r, f, group, f->group + g));
    }
    return RB_OK;
}

static rb_status exclude_groups(rb_urdf *r)
{
    filters f = { 0 };
    const rb_xml_node *node = rb_xml_child(r->doc->root, group_name);
    for (const rb_xml_node *n = node; n; n = rb_xml_next(n)) f.ngroup++;
    if (f.ngroup == 0) return RB_OK;
    if (f.ngroup > MOST_GROUPS)
        return rb_xml_refuse(node, NULL, r->err, RB_TOO_LARGE, "more than %d groups",
                             (int)MOST_GROUPS);
    f.group = rb_xml_take(r->doc, (size_t)f.ngroup, sizeof *f.group);
    if (!f.group) return rb_xml_refuse(node, NULL, r->err, RB_NOMEM, "out of memory");
    for (int g = 0; g < f.ngroup; g++, node = rb_xml_next(node))
        RB_URDF_TRY(read_group(r, node, f.group + g));
    for (int g = 0; g < f.ngroup; g++) RB_URDF_TRY(exclude_ignored(r, &f, f.group + g));
    return RB_OK;
}

rb_status rb_urdf_add_excludes(rb_urdf *r)
{
    for (int j = 0; j < r->njoint; j++) RB_URDF_TRY(exclude_neighbours(r, j));
    return exclude_groups(r);
}
