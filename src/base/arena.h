/* The scratch arena: push pieces, reset to a mark. Blocks are chained, so that growing never moves
 * what was pushed; a reset to the empty mark joins them into one block of the total size. */
#ifndef RB_BASE_ARENA_H
#define RB_BASE_ARENA_H

#include <stddef.h>

#include "rattleback/base.h"

typedef struct rb_mark {
    void *block;
    size_t used;
} rb_mark;

rb_mark rb_arena_mark(const rb_arena *arena);
void rb_arena_reset(rb_arena *arena, rb_mark mark);

/* `size` bytes aligned to 64, not cleared; NULL when out of memory or when count * size
 * overflows. */
void *rb_arena_push(rb_arena *arena, size_t count, size_t size);

#define rb_push(arena, type, count) ((type *)rb_arena_push((arena), (size_t)(count), sizeof(type)))

#endif
