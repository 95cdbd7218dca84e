/* Pairs of boxes in the order in which they are found, then sorted by box. */
#ifndef RB_COLLIDE_PAIR_LIST_H
#define RB_COLLIDE_PAIR_LIST_H

#include "base/arena.h"

typedef struct rb_pair_list {
    int (*pair)[2];   /* i < j                                      (capacity) */
    long n, capacity; /* n may exceed what there is room for                   */
} rb_pair_list;

static inline void rb_pair_list_add(rb_pair_list *list, int i, int j)
{
    if (list->n < list->capacity) {
        list->pair[list->n][0] = i < j ? i : j;
        list->pair[list->n][1] = i < j ? j : i;
    }
    list->n++;
}

/* Adds every pair once. It is called again with more room where there was not enough. */
typedef void (*rb_pair_finder)(const void *ctx, rb_pair_list *list);

/* What `find` finds among n boxes as lists of partners, as in rb_broad_pairs. 0: out of memory. */
int rb_pair_list_make(int n, rb_pair_finder find, const void *ctx, rb_arena *arena, int **first,
                      int **partner);

#endif
