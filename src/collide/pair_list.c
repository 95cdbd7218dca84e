#include "collide/pair_list.h"

enum { PAIRS_EACH = 8, PAIRS_LEAST = 1024 }; /* room at first: per box, and beside that */

/* at[i]: where those of i begin among the pairs sorted by box `side`. */
static void count_boxes(int n, long npair, int (*pair)[2], int side, int *at)
{
    for (int i = 0; i <= n; i++) at[i] = 0;
    for (long k = 0; k < npair; k++) at[pair[k][side] + 1]++;
    for (int i = 1; i <= n; i++) at[i] += at[i - 1];
}

/* Sorts the pairs by their second box and then, keeping that order, by their first one: two rounds
 * of counting, where lists of one or two partners each would mean a branch in the dark. */
static void arrange(int n, rb_pair_list *list, int *at, int (*sorted)[2], int *first, int *partner)
{
    count_boxes(n, list->n, list->pair, 1, at);
    for (long k = 0; k < list->n; k++) {
        int *to = sorted[at[list->pair[k][1]]++];
        to[0] = list->pair[k][0];
        to[1] = list->pair[k][1];
    }
    count_boxes(n, list->n, sorted, 0, first);
    for (int i = 0; i <= n; i++) at[i] = first[i];
    for (long k = 0; k < list->n; k++) partner[at[sorted[k][0]]++] = sorted[k][1];
}

int rb_pair_list_make(int n, rb_pair_finder find, const void *ctx, rb_arena *arena, int **first,
                      int **partner)
{
    rb_pair_list list = { .capacity = (long)PAIRS_EACH * n + PAIRS_LEAST };
    *first = rb_push(arena, int, n + 1);
    if (!*first) return 0;
    for (;;) {
        rb_mark mark = rb_arena_mark(arena);
        *partner = rb_push(arena, int, list.capacity);
        rb_mark above = rb_arena_mark(arena);
        int *at = rb_push(arena, int, n + 1);
        list.pair = (int(*)[2])rb_arena_push(arena, (size_t)list.capacity, sizeof *list.pair);
        int(*sorted)[2] = (int(*)[2])rb_arena_push(arena, (size_t)list.capacity, sizeof *sorted);
        if (!*partner || !at || !list.pair || !sorted) return 0;
        list.n = 0;
        find(ctx, &list);
        if (list.n <= list.capacity) {
            arrange(n, &list, at, sorted, *first, *partner);
            rb_arena_reset(arena, above);
            return 1;
        }
        rb_arena_reset(arena, mark);
        list.capacity = list.n;
    }
}
