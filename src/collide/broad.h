/* The broad phase: which swept boxes meet. */
#ifndef RB_COLLIDE_BROAD_H
#define RB_COLLIDE_BROAD_H

#include "base/arena.h"

typedef struct rb_aabb {
    double lo[3], hi[3];
} rb_aabb;

typedef struct rb_broad {
    int n;
    const rb_aabb *box;
    int nleaf;     /* a power of two                                                   */
    int *order;    /* boxes along a space-filling curve                     (n)        */
    rb_aabb *node; /* implicit binary tree, root 1, leaves from nleaf on    (2 nleaf)  */
    int *last;     /* largest index below each node                         (2 nleaf)  */
} rb_broad;

/* Builds the tree over n finite boxes. The arrays come from the arena. 0: out of memory. */
int rb_broad_make(rb_broad *broad, int n, const rb_aabb *box, rb_arena *arena);

/* All pairs i < j of boxes that meet: the partners j of i, ascending, are partner[first[i]] to
 * before partner[first[i + 1]]. Both come from the arena. 0: out of memory. */
int rb_broad_pairs(const rb_broad *broad, rb_arena *arena, int **first, int **partner);

/* Indices j > i of the boxes that meet `box`, which may be infinite, ascending. Returns how many;
 * found has room for n. */
int rb_broad_query(const rb_broad *broad, const rb_aabb *box, int i, int *found);

#endif
