/* Islands: trees that constraints hold together. Each is a problem of its own; the world, and what
 * the caller moves, connect nothing. */
#include "base/arena.h"
#include "contact/build.h"

static int root_of(int *parent, int t)
{
    while (parent[t] != t) {
        parent[t] = parent[parent[t]];
        t = parent[t];
    }
    return t;
}

static int tree_of(const rb_model *m, const rb_constraints *set, const rb_constraint *c, int k)
{
    return m->link_tree[m->dof_link[set->dof[c->dof + k]]];
}

/* The lower tree names the union: islands are numbered in the order of their first trees. */
static void join_trees(const rb_model *m, const rb_constraints *set, int *parent)
{
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        for (int k = 1; k < c->ndof; k++) {
            int a = root_of(parent, tree_of(m, set, c, 0)),
                b = root_of(parent, tree_of(m, set, c, k));
            if (a < b) parent[b] = a;
            if (b < a) parent[a] = b;
        }
    }
}

/* Constraints sorted by island; those that touch nothing that moves are in none. */
static void sort_constraints(rb_constraints *set)
{
    for (int i = 0; i <= set->nisland; i++) set->island_start[i] = 0;
    for (int i = 0; i < set->n; i++) {
        if (set->c[i].island >= 0) set->island_start[set->c[i].island + 1]++;
    }
    for (int i = 0; i < set->nisland; i++) set->island_start[i + 1] += set->island_start[i];
    for (int i = set->n - 1; i >= 0; i--) {
        int island = set->c[i].island;
        if (island >= 0) set->island_order[--set->island_start[island + 1]] = i;
    }
    /* filling from the end left the start of island i in entry i + 1 */
    for (int i = 0; i < set->nisland; i++) set->island_start[i] = set->island_start[i + 1];
}

rb_status rb_constraint_islands(const rb_model *m, rb_arena *arena, rb_constraints *set)
{
    int *parent = rb_push(arena, int, 3 * (size_t)m->ntree + 2 + (size_t)set->n);
    if (!parent) return RB_NOMEM;
    int *number = parent + m->ntree;
    set->island_start = number + m->ntree;
    set->island_order = set->island_start + m->ntree + 2;

    for (int t = 0; t < m->ntree; t++) parent[t] = t, number[t] = -1;
    if (m->ntree > 1) join_trees(m, set, parent);
    for (int i = 0; i < set->n; i++) {
        if (set->c[i].ndof > 0) number[root_of(parent, tree_of(m, set, &set->c[i], 0))] = 0;
    }
    for (int t = 0; t < m->ntree; t++) {
        if (number[t] == 0) number[t] = set->nisland++;
    }

    int inside = 0;
    for (int i = 0; i < set->n; i++) {
        rb_constraint *c = &set->c[i];
        if (c->ndof > 0) c->island = number[root_of(parent, tree_of(m, set, c, 0))], inside++;
    }

    /* roots have lower indices: going from the end, they are not overwritten before their use */
    for (int t = m->ntree - 1; t >= 0; t--) parent[t] = number[root_of(parent, t)];
    set->tree_island = parent;
    sort_constraints(set);
    set->island_start[set->nisland] = inside;
    return RB_OK;
}
