/* A tree of boxes built anew in each step: sort the centres along a Morton curve, put
 * LEAF_SIZE neighbours into each leaf of a complete binary tree, join upwards. O(n) apart from the
 * sort, which merges or, for many boxes, counts digits; no pointers, no history, the same tree for
 * the same boxes. */
#include "collide/broad.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sort.h"
#include "math/vector.h"

enum {
    LEAF_SIZE = 4,
    CURVE_BITS = 21, /* per axis: 63 in all; also with one body a million times farther away
                        the others are separated */
    DIGIT_BITS = 11,
    FEW = 32,       /* boxes that are compared one by one: no tree                               */
    FEWEST = 8,     /* of those, the ones that are not worth four at a time                      */
    COUNTED = 2048, /* boxes from which on counting digits is quicker than merging               */
    STACK_SIZE = 64 /* deeper than any tree with int indices                                     */
};

/* Puts two zero bits between any two bits of x. */
static uint64_t spread(uint64_t x)
{
    x &= UINT64_C(0x1fffff);
    x = (x | x << 32) & UINT64_C(0x1f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x1f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (x | x << 2) & UINT64_C(0x1249249249249249);
}

static void curve_keys(const rb_broad *broad, uint64_t *key)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int i = 0; i < broad->n; i++) {
        for (int k = 0; k < 3; k++) {
            double c = 0.5 * broad->box[i].lo[k] + 0.5 * broad->box[i].hi[k];
            lo[k] = fmin(lo[k], c);
            hi[k] = fmax(hi[k], c);
        }
    }
    double span = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
    double scale = span > 0.0 ? (ldexp(1.0, CURVE_BITS) - 1.0) / span : 0.0;
    for (int i = 0; i < broad->n; i++) {
        key[i] = 0;
        for (int k = 0; k < 3; k++) {
            double c = 0.5 * broad->box[i].lo[k] + 0.5 * broad->box[i].hi[k];
            key[i] |= spread((uint64_t)((c - lo[k]) * scale)) << k;
        }
    }
}

/* Runs of `width` boxes become runs of twice that; stable. */
static void merge_runs(int n, int width, const uint64_t *key, const int *order, uint64_t *key2,
                       int *order2)
{
    for (int from = 0; from < n; from += 2 * width) {
        int middle = from + width < n ? from + width : n;
        int end = from + 2 * width < n ? from + 2 * width : n;
        for (int i = from, j = middle, at = from; at < end; at++) {
            int left = j == end || (i < middle && key[i] <= key[j]), take = left ? i++ : j++;
            key2[at] = key[take];
            order2[at] = order[take];
        }
    }
}

static void sort_by_merging(int n, uint64_t *key, int *order, uint64_t *key2, int *order2)
{
    for (int width = 1; width < n; width *= 4) {
        merge_runs(n, width, key, order, key2, order2);
        merge_runs(n, 2 * width, key2, order2, key, order);
    }
}

/* Least significant digit first; stable, so equal keys keep the order of their index. An even
 * number of rounds, so that the last one ends where the first began. */
static void sort_by_counting(int n, uint64_t *key, int *order, uint64_t *key2, int *order2)
{
    for (int shift = 0, round = 0; shift < 3 * CURVE_BITS; shift += DIGIT_BITS, round++) {
        const uint64_t *from = round % 2 ? key2 : key;
        const int *order_from = round % 2 ? order2 : order;
        uint64_t *to = round % 2 ? key : key2;
        int *order_to = round % 2 ? order : order2;
        int count[1 << DIGIT_BITS] = { 0 };
        for (int i = 0; i < n; i++) count[from[i] >> shift & ((1 << DIGIT_BITS) - 1)]++;
        for (int d = 0, sum = 0; d < 1 << DIGIT_BITS; d++) {
            int here = count[d];
            count[d] = sum;
            sum += here;
        }
        for (int i = 0; i < n; i++) {
            int at = count[from[i] >> shift & ((1 << DIGIT_BITS) - 1)]++;
            to[at] = from[i];
            order_to[at] = order_from[i];
        }
    }
}

static void join(rb_aabb *a, const rb_aabb *b)
{
    for (int k = 0; k < 3; k++) {
        if (b->lo[k] < a->lo[k]) a->lo[k] = b->lo[k];
        if (b->hi[k] > a->hi[k]) a->hi[k] = b->hi[k];
    }
}

static void build_nodes(rb_broad *broad)
{
    const rb_aabb empty = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int leaf = 0; leaf < broad->nleaf; leaf++) {
        int at = broad->nleaf + leaf;
        broad->node[at] = empty;
        broad->last[at] = -1;
        for (int i = LEAF_SIZE * leaf; i < broad->n && i < LEAF_SIZE * (leaf + 1); i++) {
            int which = broad->order[i];
            join(&broad->node[at], &broad->box[which]);
            if (which > broad->last[at]) broad->last[at] = which;
        }
    }
    for (int at = broad->nleaf - 1; at > 0; at--) {
        int left = broad->last[2 * at], right = broad->last[2 * at + 1];
        broad->node[at] = broad->node[2 * at];
        join(&broad->node[at], &broad->node[2 * at + 1]);
        broad->last[at] = left > right ? left : right;
    }
}

int rb_broad_make(rb_broad *broad, int n, const rb_aabb *box, rb_arena *arena)
{
    *broad = (rb_broad){ .n = n, .box = box, .nleaf = 1 };
    if (n <= FEW) return 1;
    while (broad->nleaf * LEAF_SIZE < n) broad->nleaf *= 2;
    broad->order = rb_push(arena, int, n + 1);
    broad->node = rb_push(arena, rb_aabb, 2 * broad->nleaf);
    broad->last = rb_push(arena, int, 2 * broad->nleaf);
    rb_mark mark = rb_arena_mark(arena);
    uint64_t *key = rb_push(arena, uint64_t, n + 1), *key2 = rb_push(arena, uint64_t, n + 1);
    int *order2 = rb_push(arena, int, n + 1);
    int ok = broad->order && broad->node && broad->last && key && key2 && order2;
    if (ok) {
        for (int i = 0; i < n; i++) broad->order[i] = i;
        curve_keys(broad, key);
        if (n < COUNTED)
            sort_by_merging(n, key, broad->order, key2, order2);
        else
            sort_by_counting(n, key, broad->order, key2, order2);
        build_nodes(broad);
    }
    rb_arena_reset(arena, mark);
    return ok;
}

/* ---- all pairs --------------------------------------------------------------------------------
 */

/* What a walk over the leaves needs. */
typedef struct walk {
    const rb_broad *broad;
    const rb_aabb *sorted; /* boxes along the curve                      (n)        */
    rb_pair_list *list;
} walk;

/* Places a and b along the curve. */
static void emit(walk *w, int a, int b)
{
    rb_pair_list_add(w->list, w->broad->order[a], w->broad->order[b]);
}

/* Boxes from..to of one leaf against a later leaf. */
static void meet_leaf(walk *w, int from, int to, int leaf)
{
    int first = LEAF_SIZE * leaf, end = first + LEAF_SIZE;
    const rb_aabb *node = &w->broad->node[w->broad->nleaf + leaf];
    if (end > w->broad->n) end = w->broad->n;
    for (int a = from; a < to; a++) {
        if (!rb_aabb_meets(&w->sorted[a], node)) continue;
        for (int b = first; b < end; b++) {
            if (rb_aabb_meets(&w->sorted[a], &w->sorted[b])) emit(w, a, b);
        }
    }
}

/* One leaf against itself and against all that come after it: the right-hand subtrees on the way
 * from it to the root. */
static void walk_from(walk *w, int leaf)
{
    const rb_broad *broad = w->broad;
    int stack[STACK_SIZE], from = LEAF_SIZE * leaf, to = from + LEAF_SIZE;
    if (to > broad->n) to = broad->n;
    for (int a = from; a < to; a++) {
        for (int b = a + 1; b < to; b++) {
            if (rb_aabb_meets(&w->sorted[a], &w->sorted[b])) emit(w, a, b);
        }
    }
    const rb_aabb *mine = &broad->node[broad->nleaf + leaf];
    for (int up = broad->nleaf + leaf; up > 1; up /= 2) {
        if (up % 2) continue;
        int depth = 0;
        stack[depth++] = up + 1;
        while (depth > 0) {
            int at = stack[--depth];
            if (!rb_aabb_meets(&broad->node[at], mine)) continue;
            if (at >= broad->nleaf) {
                meet_leaf(w, from, to, at - broad->nleaf);
                continue;
            }
            stack[depth++] = 2 * at + 1;
            stack[depth++] = 2 * at;
        }
    }
}

/* Few boxes side by side: bounds of one kind after each other. */
typedef struct few {
    double lo[3][FEW], hi[3][FEW];
} few;

/* meets[j]: boxes i and j do, from the four of i up to `end`, with bounds that are not finite
 * beyond the last one. */
RB_VECTOR static void meet_few(const few *f, int i, int end, long long meets[FEW])
{
    for (int j = i & ~3; j < end; j++) {
        meets[j] = (f->lo[0][i] <= f->hi[0][j]) & (f->lo[0][j] <= f->hi[0][i]) &
                   (f->lo[1][i] <= f->hi[1][j]) & (f->lo[1][j] <= f->hi[1][i]) &
                   (f->lo[2][i] <= f->hi[2][j]) & (f->lo[2][j] <= f->hi[2][i]);
    }
}

/* Up to FEW boxes: first (n + 1), partner (room for all pairs). */
static void find_few(const rb_broad *broad, int *first, int *partner)
{
    few f;
    long long meets[FEW];
    int n = broad->n, end = (n + 3) & ~3, at = 0;
    for (int i = 0; i < end; i++) {
        for (int k = 0; k < 3; k++) {
            f.lo[k][i] = i < n ? broad->box[i].lo[k] : INFINITY;
            f.hi[k][i] = i < n ? broad->box[i].hi[k] : -INFINITY;
        }
    }
    for (int i = 0; i < n; i++) {
        first[i] = at;
        meet_few(&f, i, end, meets);
        for (int j = i + 1; j < n; j++) {
            if (meets[j]) partner[at++] = j;
        }
    }
    first[n] = at;
}

/* The same without setting them side by side. */
static void find_fewest(const rb_broad *broad, int *first, int *partner)
{
    int n = broad->n, at = 0;
    for (int i = 0; i < n; i++) {
        first[i] = at;
        for (int j = i + 1; j < n; j++) {
            if (rb_aabb_meets(&broad->box[i], &broad->box[j])) partner[at++] = j;
        }
    }
    first[n] = at;
}

static int few_pairs(const rb_broad *broad, rb_arena *arena, int **first, int **partner)
{
    int n = broad->n;
    *first = rb_push(arena, int, n + 1);
    *partner = rb_push(arena, int, n *(n - 1) / 2 + 1);
    if (!*first || !*partner) return 0;
    if (n <= FEWEST)
        find_fewest(broad, *first, *partner);
    else
        find_few(broad, *first, *partner);
    return 1;
}

static void find_by_tree(const void *ctx, rb_pair_list *list)
{
    walk w = *(const walk *)ctx;
    const rb_broad *broad = w.broad;
    w.list = list;
    for (int leaf = 0; LEAF_SIZE * leaf < broad->n; leaf++) walk_from(&w, leaf);
}

int rb_broad_pairs(const rb_broad *broad, rb_arena *arena, int **first, int **partner)
{
    walk w = { .broad = broad };
    if (broad->n <= FEW) return few_pairs(broad, arena, first, partner);
    rb_aabb *sorted = rb_push(arena, rb_aabb, broad->n + 1);
    if (!sorted) return 0;
    for (int i = 0; i < broad->n; i++) sorted[i] = broad->box[broad->order[i]];
    w.sorted = sorted;
    return rb_pair_list_make(broad->n, find_by_tree, &w, arena, first, partner);
}

/* ---- one box ----------------------------------------------------------------------------------
 */

int rb_broad_query(const rb_broad *broad, const rb_aabb *box, int i, int *found)
{
    int stack[STACK_SIZE], depth = 0, n = 0;
    for (int j = i + 1; broad->n <= FEW && j < broad->n; j++) {
        if (rb_aabb_meets(&broad->box[j], box)) found[n++] = j;
    }
    if (broad->n <= FEW) return n;
    stack[depth++] = 1;
    while (depth > 0) {
        int at = stack[--depth];
        if (broad->last[at] <= i || !rb_aabb_meets(&broad->node[at], box)) continue;
        if (at < broad->nleaf) {
            stack[depth++] = 2 * at;
            stack[depth++] = 2 * at + 1;
            continue;
        }
        int first = LEAF_SIZE * (at - broad->nleaf);
        for (int k = first; k < broad->n && k < first + LEAF_SIZE; k++) {
            int j = broad->order[k];
            if (j > i && rb_aabb_meets(&broad->box[j], box)) found[n++] = j;
        }
    }
    rb_sort_ints(found, n);
    return n;
}
