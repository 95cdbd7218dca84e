/* Several arrays of one length in one piece of an arena, each aligned as the piece. */
#ifndef RB_BASE_PIECES_H
#define RB_BASE_PIECES_H

#include <string.h>

#include "base/arena.h"

/* *of[0] .. *of[n - 1], n > 0, get `count` numbers each, not cleared. 0: out of memory. */
static inline int rb_push_rows(rb_arena *arena, double **const *of, int n, int count)
{
    enum { EACH = RB_ARENA_ALIGN / sizeof(double) };
    size_t stride = ((size_t)count + EACH - 1) / EACH * EACH;
    double *piece = rb_push(arena, double, stride *(size_t)n);
    for (int i = 0; i < n; i++) *of[i] = piece ? piece + stride * (size_t)i : NULL;
    return piece != NULL;
}

/* The same, cleared. */
static inline int rb_push_zeros(rb_arena *arena, double **const *of, int n, int count)
{
    if (!rb_push_rows(arena, of, n, count)) return 0;
    size_t bytes = (size_t)((char *)*of[n - 1] - (char *)*of[0]) + (size_t)count * sizeof(double);
    memset(*of[0], 0, bytes);
    return 1;
}

#endif
