/* The broad phase: which swept boxes meet. */
#ifndef RB_COLLIDE_BROAD_H
#define RB_COLLIDE_BROAD_H

#include "collide/pair_list.h"

typedef struct rb_aabb {
    double lo[3], hi[3];
} rb_aabb;

/* All six, without a branch between them: none of them can be predicted. */
static inline int rb_aabb_meets(const rb_aabb *a, const rb_aabb *b)
{
    return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
           (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}

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

/* The same from a grid of cells as large as the boxes, without a tree: quicker where most boxes are
 * about as large as the others and lie closely. *done = 0: they do not. 0: out of memory. */
int rb_grid_pairs(int n, const rb_aabb *box, rb_arena *arena, int **first, int **partner,
                  int *done);

/* Indices j > i of the boxes that meet `box`, which may be infinite, ascending. Returns how many;
 * found has room for n. */
int rb_broad_query(const rb_broad *broad, const rb_aabb *box, int i, int *found);

#endif
