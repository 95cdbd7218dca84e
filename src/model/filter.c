/* Filtering as MuJoCo does it: an explicit pair passes; otherwise the bodies must not be excluded,
 * must not be parent and child (unless the parent is fixed to the world: a floor holds its robot),
 * and contype of one must share a bit with conaffinity of the other. */
#include "model/filter.h"

#include "base/constants.h"
#include "model/build.h"

static uint64_t key_of(int a, int b)
{
    uint64_t lo = (uint64_t)(a < b ? a : b), hi = (uint64_t)(a < b ? b : a);
    return lo << 32 | hi;
}

/* By insertion: the lists are short and nearly sorted; equal keys keep their order. */
static void sort_keys(uint64_t *key, int *index, int n)
{
    for (int i = 1; i < n; i++) {
        uint64_t k = key[i];
        int moved = index ? index[i] : 0, j = i;
        for (; j > 0 && key[j - 1] > k; j--) {
            key[j] = key[j - 1];
            if (index) index[j] = index[j - 1];
        }
        key[j] = k;
        if (index) index[j] = moved;
    }
}

/* The last of equal keys, -1: none. A later pair overrides an earlier one. */
static int find_key(const uint64_t *key, int n, uint64_t k)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (key[middle] <= k)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo > 0 && key[lo - 1] == k ? lo - 1 : -1;
}

rb_status rb_filter_make(const rb_model *m, rb_arena *arena, rb_filter *filter)
{
    filter->m = m;
    filter->exclude = rb_push(arena, uint64_t, m->nexclude + 1);
    filter->pair = rb_push(arena, uint64_t, m->npair + 1);
    filter->pair_index = rb_push(arena, int, m->npair + 1);
    filter->never = rb_push(arena, uint64_t, m->npair + 1);
    if (!filter->exclude || !filter->pair || !filter->pair_index || !filter->never) return RB_NOMEM;

    for (int i = 0; i < m->nexclude; i++) {
        filter->exclude[i] = key_of(m->exclude_body1[i], m->exclude_body2[i]);
    }
    filter->npair = filter->nnever = 0;
    for (int i = 0; i < m->npair; i++) {
        if (m->pair_never[i])
            filter->never[filter->nnever++] = key_of(m->pair_geom1[i], m->pair_geom2[i]);
        if (m->pair_only_material[i] || m->pair_never[i]) continue;
        filter->pair[filter->npair] = key_of(m->pair_geom1[i], m->pair_geom2[i]);
        filter->pair_index[filter->npair++] = i;
    }
    sort_keys(filter->exclude, NULL, m->nexclude);
    sort_keys(filter->pair, filter->pair_index, filter->npair);
    sort_keys(filter->never, NULL, filter->nnever);
    return RB_OK;
}

/* Links without a tree are fixed or moved by the caller. */
static int is_parent_and_child(const rb_model *m, int link1, int link2)
{
    if (m->link_tree[link1] < 0 || m->link_tree[link2] < 0) return 0;
    return m->link_parent[link1] == link2 || m->link_parent[link2] == link1;
}

int rb_filter_meets(const rb_filter *filter, int g1, int g2, rb_meet *meet)
{
    const rb_model *m = filter->m;
    int link1 = m->geom_link[g1], link2 = m->geom_link[g2];
    *meet = (rb_meet){ .geom = { g1, g2 }, .pair = -1 };
    if (link1 == link2 || (m->link_tree[link1] < 0 && m->link_tree[link2] < 0)) return 0;

    int found = filter->npair > 0 ? find_key(filter->pair, filter->npair, key_of(g1, g2)) : -1;
    if (found >= 0) {
        meet->pair = filter->pair_index[found];
        return 1;
    }
    if (!(m->geom_contype[g1] & m->geom_conaffinity[g2]) &&
        !(m->geom_contype[g2] & m->geom_conaffinity[g1])) {
        return 0;
    }
    if (filter->nnever > 0 && find_key(filter->never, filter->nnever, key_of(g1, g2)) >= 0)
        return 0;
    meet->family = is_parent_and_child(m, link1, link2);
    uint64_t bodies = key_of(m->geom_body[g1], m->geom_body[g2]);
    return m->nexclude == 0 || find_key(filter->exclude, m->nexclude, bodies) < 0;
}

int rb_filter_pass(const rb_filter *filter, int g1, int g2, int *pair)
{
    rb_meet meet;
    int meets = rb_filter_meets(filter, g1, g2, &meet);
    *pair = meet.pair;
    return meets && !(meet.family && filter->m->option.filter_parent);
}

rb_status rb_fill_meets(rb_build *b)
{
    rb_model *m = b->m;
    rb_filter filter;
    rb_meet meet;
    rb_mark mark = rb_arena_mark(b->scratch);
    m->nmeet = m->nmeet_room > 0 || m->ngeom < 2 ? 0 : -1;
    if (m->nmeet_room == 0) return RB_OK;
    if (rb_filter_make(m, b->scratch, &filter) != RB_OK) return rb_build_nomem(b);
    for (int g1 = 0; g1 < m->ngeom && m->nmeet >= 0; g1++) {
        for (int g2 = g1 + 1; g2 < m->ngeom && m->nmeet >= 0; g2++) {
            if (!rb_filter_meets(&filter, g1, g2, &meet)) continue;
            if (m->nmeet < m->nmeet_room)
                m->meet[m->nmeet++] = meet;
            else
                m->nmeet = -1;
        }
    }
    rb_arena_reset(b->scratch, mark);
    return RB_OK;
}
