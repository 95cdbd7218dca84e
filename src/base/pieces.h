/* Several arrays of one length in one piece of an arena, each aligned as the piece. */
#ifndef RB_BASE_PIECES_H
#define RB_BASE_PIECES_H

#include "base/arena.h"

/* *of[0] .. *of[n - 1] get `count` numbers each, not cleared. 0: out of memory. */
static inline int rb_push_rows(rb_arena *arena, double **const *of, int n, int count)
{
    enum { EACH = RB_ARENA_ALIGN / sizeof(double) };
    size_t stride = ((size_t)count + EACH - 1) / EACH * EACH;
    double *piece = rb_push(arena, double, stride *(size_t)n);
    for (int i = 0; i < n; i++) *of[i] = piece ? piece + stride * (size_t)i : NULL;
    return piece != NULL;
}

#endif
