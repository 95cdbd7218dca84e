#include "collide/hash_grid.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/sort.h"

enum {
    MOST_LEVELS = 16, /* sizes over a range of 2^16; larger ones are compared with all           */
    MOST_CELLS = 64,  /* of one body at one level; a box that touches more is compared with all   */
    FARTHEST = 1 << 28 /* cells from the origin; boxes beyond are compared with all               */
};

/* A body in a cell. */
typedef struct entry {
    int body, cell;
    int prev, next; /* in the cell                                                  */
    int sibling;    /* next entry of the same body                                  */
} entry;

typedef struct cell {
    int key[4]; /* level, x, y, z                                                   */
    int first;  /* entry, -1: none                                                  */
} cell;

typedef struct member {
    rb_aabb box;
    int level;    /* -1: compared with all                                             */
    int range[6]; /* cells at its own level: lo, hi                                 */
    int first;    /* entry, -1: none                                                */
    int wide;     /* 1: in the list of those that are compared with all             */
    int ncell;
} member;

struct rb_hash_grid {
    rb_alloc alloc;
    int n, nlevel, nentry, nslot, ncell, free_entry, nwide;
    long entered;
    double edge[MOST_LEVELS];    /* of cells, ascending [m]                            */
    double inverse[MOST_LEVELS]; /* a power of two: exact                           */
    member *body;                /*                                         (n)        */
    entry *entry;                /*                                         (nentry)   */
    int *slot;  /* open addressing: cell, -1: none          (nslot, a power of two)   */
    cell *cell; /* in the order of their first use          (nslot / 8 * 7)           */
    int *wide;  /* bodies that are compared with all       (n)        */
};

/* ---- levels ------------------------------------------------------------------------------------
 */

/* The power of two that is not smaller than x > 0. */
static double power_above(double x)
{
    double p = 1.0;
    while (p < x) p *= 2.0;
    while (0.5 * p >= x) p *= 0.5;
    return p;
}

static int has_size(double size)
{
    return size > 1e-200 && size < 1e200; /* what power_above reaches in some hundred steps */
}

/* The edges that occur, the finest MOST_LEVELS of them. */
static void find_levels(rb_hash_grid *g, const double *size)
{
    for (int i = 0; i < g->n; i++) {
        if (!has_size(size[i])) continue;
        double edge = power_above(size[i]);
        int at = 0;
        while (at < g->nlevel && g->edge[at] < edge) at++;
        if ((at < g->nlevel && g->edge[at] == edge) || at == MOST_LEVELS) continue;
        if (g->nlevel == MOST_LEVELS) g->nlevel--;
        for (int k = g->nlevel; k > at; k--) g->edge[k] = g->edge[k - 1];
        g->edge[at] = edge;
        g->nlevel++;
    }
}

static int level_of(const rb_hash_grid *g, double size)
{
    if (!has_size(size)) return -1;
    double edge = power_above(size);
    for (int k = 0; k < g->nlevel; k++)
        if (g->edge[k] == edge) return k;
    return -1;
}

/* ---- making ------------------------------------------------------------------------------------
 */

void rb_hash_grid_free(rb_hash_grid *g)
{
    if (!g) return;
    rb_alloc alloc = g->alloc;
    void *parts[] = { g->body, g->entry, g->slot, g->cell, g->wide, g };
    for (int k = 0; k < 6; k++)
        if (parts[k]) alloc.release(alloc.ctx, parts[k]);
}

static void clear(rb_hash_grid *g)
{
    for (int i = 0; i < g->nslot; i++) g->slot[i] = -1;
    for (int i = 0; i < g->nentry; i++) g->entry[i].next = i + 1 < g->nentry ? i + 1 : -1;
    g->free_entry = g->nentry ? 0 : -1;
    g->ncell = 0;
}

/* Eight cells for each level that a body is entered at, twice as many slots. */
static int take_memory(rb_hash_grid *g)
{
    size_t entries = 0, slots = 64, n = (size_t)g->n;
    for (int i = 0; i < g->n; i++)
        if (g->body[i].level >= 0) entries += 8 * (size_t)(g->nlevel - g->body[i].level);
    while (slots < 2 * entries) slots *= 2;
    if (slots > (size_t)1 << 28) return 0;
    g->nentry = (int)entries;
    g->nslot = (int)slots;
    g->entry = g->alloc.alloc(g->alloc.ctx, (entries + 1) * sizeof *g->entry);
    g->slot = g->alloc.alloc(g->alloc.ctx, slots * sizeof *g->slot);
    g->cell = g->alloc.alloc(g->alloc.ctx, slots / 8 * 7 * sizeof *g->cell);
    g->wide = g->alloc.alloc(g->alloc.ctx, (n + 1) * sizeof *g->wide);
    return g->entry && g->slot && g->cell && g->wide;
}

rb_hash_grid *rb_hash_grid_new(int n, const double *size, const rb_alloc *alloc)
{
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    rb_hash_grid *g = memory.alloc(memory.ctx, sizeof *g);
    if (!g) return NULL;
    *g = (rb_hash_grid){ .alloc = memory, .n = n };
    g->body = memory.alloc(memory.ctx, ((size_t)n + 1) * sizeof *g->body);
    if (!g->body) {
        rb_hash_grid_free(g);
        return NULL;
    }
    find_levels(g, size);
    const rb_aabb nowhere = { { INFINITY, INFINITY, INFINITY },
                              { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < n; i++)
        g->body[i] = (member){ .box = nowhere, .level = level_of(g, size[i]), .first = -1 };
    for (int k = 0; k < g->nlevel; k++) g->inverse[k] = 1.0 / g->edge[k];
    if (!take_memory(g)) {
        rb_hash_grid_free(g);
        return NULL;
    }
    clear(g);
    return g;
}

/* ---- cells ------------------------------------------------------------------------------------
 */

/* floor, of numbers that are known to fit. */
static int index_of(double x)
{
    int i = (int)x;
    return i - (x < i);
}

/* Cells that a box touches at a level. 0: too many, too far, or not finite. */
static int cells_of(const rb_hash_grid *g, const rb_aabb *box, int level, int range[6])
{
    double inverse = g->inverse[level];
    int count = 1;
    for (int k = 0; k < 3; k++) {
        double lo = box->lo[k] * inverse, hi = box->hi[k] * inverse;
        if (!(lo > -FARTHEST && hi < FARTHEST && lo <= hi)) return 0;
        range[k] = index_of(lo);
        range[k + 3] = index_of(hi);
        int span = range[k + 3] - range[k] + 1;
        if (span > MOST_CELLS) return 0;
        count *= span;
    }
    return count <= MOST_CELLS;
}

static unsigned slot_of(const rb_hash_grid *g, const int key[4])
{
    uint64_t h = (uint64_t)(unsigned)key[0] * UINT64_C(0x9e3779b97f4a7c15);
    for (int k = 1; k < 4; k++) {
        h ^= (uint64_t)(unsigned)key[k];
        h *= UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
    }
    return (unsigned)(h & (uint64_t)(g->nslot - 1));
}

/* The slot of a cell, or the empty one where it would be. */
static int find_slot(const rb_hash_grid *g, const int key[4])
{
    unsigned at = slot_of(g, key);
    while (g->slot[at] >= 0 && memcmp(g->cell[g->slot[at]].key, key, 4 * sizeof *key) != 0)
        at = (at + 1) & (unsigned)(g->nslot - 1);
    return (int)at;
}

/* 0: no entry or no cell is left. */
static int enter_cell(rb_hash_grid *g, int body, const int key[4])
{
    int slot = find_slot(g, key), e = g->free_entry;
    if (e < 0 || (g->slot[slot] < 0 && g->ncell == g->nslot / 8 * 7)) return 0;
    if (g->slot[slot] < 0) {
        g->slot[slot] = g->ncell;
        cell *made = &g->cell[g->ncell++];
        memcpy(made->key, key, sizeof made->key);
        made->first = -1;
    }
    int at = g->slot[slot], next = g->cell[at].first;
    member *b = &g->body[body];
    g->free_entry = g->entry[e].next;
    g->entry[e] =
        (entry){ .body = body, .cell = at, .prev = -1, .next = next, .sibling = b->first };
    if (next >= 0) g->entry[next].prev = e;
    g->cell[at].first = e;
    b->first = e;
    b->ncell++;
    return 1;
}

static void leave(rb_hash_grid *g, int body)
{
    member *b = &g->body[body];
    for (int e = b->first, after; e >= 0; e = after) {
        entry *x = &g->entry[e];
        after = x->sibling;
        if (x->prev >= 0)
            g->entry[x->prev].next = x->next;
        else
            g->cell[x->cell].first = x->next;
        if (x->next >= 0) g->entry[x->next].prev = x->prev;
        x->next = g->free_entry;
        g->free_entry = e;
    }
    b->first = -1;
    b->ncell = 0;
    if (!b->wide) return;
    int at = 0;
    while (g->wide[at] != body) at++;
    g->wide[at] = g->wide[--g->nwide];
    b->wide = 0;
}

static int enter(rb_hash_grid *g, int body)
{
    member *b = &g->body[body];
    for (int level = b->level; level < g->nlevel; level++) {
        int r[6], key[4] = { level, 0, 0, 0 };
        if (!cells_of(g, &b->box, level, r)) return 0;
        for (key[1] = r[0]; key[1] <= r[3]; key[1]++)
            for (key[2] = r[1]; key[2] <= r[4]; key[2]++)
                for (key[3] = r[2]; key[3] <= r[5]; key[3]++)
                    if (!enter_cell(g, body, key)) return 0;
    }
    return 1;
}

static void widen(rb_hash_grid *g, int body)
{
    leave(g, body);
    g->wide[g->nwide++] = body;
    g->body[body].wide = 1;
}

/* Cells that everybody has left are given back when half of the slots are taken. */
static void sweep_cells(rb_hash_grid *g)
{
    clear(g);
    for (int i = 0; i < g->n; i++) {
        member *b = &g->body[i];
        if (b->first < 0) continue;
        b->first = -1;
        b->ncell = 0;
        if (!enter(g, i)) widen(g, i);
    }
}

int rb_hash_grid_move(rb_hash_grid *g, int i, const rb_aabb *box)
{
    member *b = &g->body[i];
    int range[6], fits = b->level >= 0 && cells_of(g, box, b->level, range);
    b->box = *box;
    if (fits && b->first >= 0 && memcmp(range, b->range, sizeof range) == 0) return 0;
    g->entered++;
    leave(g, i);
    if (g->ncell > g->nslot / 2) sweep_cells(g);
    if (fits) memcpy(b->range, range, sizeof range);
    if (!fits || !enter(g, i)) widen(g, i);
    return 1;
}

/* ---- neighbours --------------------------------------------------------------------------------
 */

static int meets(const rb_aabb *a, const rb_aabb *b)
{
    return a->lo[0] <= b->hi[0] && b->lo[0] <= a->hi[0] && a->lo[1] <= b->hi[1] &&
           b->lo[1] <= a->hi[1] && a->lo[2] <= b->hi[2] && b->lo[2] <= a->hi[2];
}

/* Of the cells that two boxes share one counts: where the lower corner of their common part lies.
 */
static int is_first_cell(const rb_hash_grid *g, const int key[4], const rb_aabb *a,
                         const rb_aabb *b)
{
    double inverse = g->inverse[key[0]];
    for (int k = 0; k < 3; k++) {
        double lo = a->lo[k] > b->lo[k] ? a->lo[k] : b->lo[k];
        if (index_of(lo * inverse) != key[k + 1]) return 0;
    }
    return 1;
}

/* Entries of one cell: at the level of the body everybody, at coarser ones those that belong. */
static int look(const rb_hash_grid *g, int i, int above, const cell *c, int *found, int n)
{
    const member *b = &g->body[i];
    for (int e = c->first; e >= 0; e = g->entry[e].next) {
        int j = g->entry[e].body;
        const member *o = &g->body[j];
        if (j == i || (above && j < i) || (c->key[0] > b->level && o->level != c->key[0])) continue;
        if (meets(&b->box, &o->box) && is_first_cell(g, c->key, &b->box, &o->box)) found[n++] = j;
    }
    return n;
}

int rb_hash_grid_near(const rb_hash_grid *g, int i, int above, int *found)
{
    const member *b = &g->body[i];
    int n = 0;
    if (b->wide) {
        for (int j = above ? i + 1 : 0; j < g->n; j++)
            if (j != i && meets(&b->box, &g->body[j].box)) found[n++] = j;
        return n;
    }
    for (int e = b->first; e >= 0; e = g->entry[e].sibling)
        n = look(g, i, above, &g->cell[g->entry[e].cell], found, n);
    for (int k = 0; k < g->nwide; k++) {
        int j = g->wide[k];
        if ((!above || j > i) && meets(&b->box, &g->body[j].box)) found[n++] = j;
    }
    if (n > 1) rb_sort_ints(found, n);
    return n;
}

int rb_hash_grid_cells(const rb_hash_grid *g, int i)
{
    return g->body[i].ncell;
}

long rb_hash_grid_entered(const rb_hash_grid *g)
{
    return g->entered;
}
