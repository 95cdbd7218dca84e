#include "collide/pair_list.h"

#include "base/sort.h"

enum { PAIRS_EACH = 8, PAIRS_LEAST = 1024 }; /* room at first: per box, and beside that */

/* Sorts the pairs by their first box, then each list of partners. */
static void arrange(int n, const rb_pair_list *list, int *first, int *partner)
{
    for (int i = 0; i <= n + 1; i++) first[i] = 0;
    for (long k = 0; k < list->n; k++) first[list->pair[k][0] + 2]++;
    for (int i = 2; i <= n + 1; i++) first[i] += first[i - 1];
    for (long k = 0; k < list->n; k++) {
        partner[first[list->pair[k][0] + 1]++] = list->pair[k][1];
    }
    for (int i = 0; i < n; i++) {
        int count = first[i + 1] - first[i];
        if (count > 1) rb_sort_ints(partner + first[i], count);
    }
}

int rb_pair_list_make(int n, rb_pair_finder find, const void *ctx, rb_arena *arena, int **first,
                      int **partner)
{
    rb_pair_list list = { .capacity = (long)PAIRS_EACH * n + PAIRS_LEAST };
    *first = rb_push(arena, int, n + 2);
    if (!*first) return 0;
    for (;;) {
        rb_mark mark = rb_arena_mark(arena);
        *partner = rb_push(arena, int, list.capacity);
        rb_mark above = rb_arena_mark(arena);
        list.pair = (int(*)[2])rb_arena_push(arena, (size_t)list.capacity, sizeof *list.pair);
        if (!*partner || !list.pair) return 0;
        list.n = 0;
        find(ctx, &list);
        if (list.n <= list.capacity) {
            arrange(n, &list, *first, *partner);
            rb_arena_reset(arena, above);
            return 1;
        }
        rb_arena_reset(arena, mark);
        list.capacity = list.n;
    }
}
