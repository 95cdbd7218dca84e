/* The scratch arena: push pieces, reset to a mark. Blocks are chained, so that growing never moves
 * what was pushed; a reset to the empty mark joins them into one block of the total size. */
#ifndef RB_BASE_ARENA_H
#define RB_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "rattleback/base.h"

enum { RB_ARENA_ALIGN = 64 };

struct rb_arena {
    char *next;  /* where the next piece begins            */
    size_t left; /* bytes after it in the block on top     */
    struct rb_arena_block *top;
    rb_alloc alloc;
    size_t bytes; /* size of all blocks                                 */
    size_t below; /* bytes used in the blocks under the top             */
    size_t peak;  /* most bytes used at the same time before a reset    */
    int growths;
    struct rb_meter *meter;     /* where work is counted (meter.h); NULL: nowhere          */
    const struct rb_team *team; /* who helps with one problem (team.h); NULL: nobody   */
    int plain; /* 1: there is one block, and all that was ever used fits into it      */
};

typedef struct rb_mark {
    void *block;
    size_t left;
} rb_mark;

static inline rb_mark rb_arena_mark(const rb_arena *arena)
{
    return (rb_mark){ .block = arena->top, .left = arena->left };
}

/* The same where there are several blocks, or will be one of another size. */
void rb_arena_reset_blocks(rb_arena *arena, rb_mark mark);

static inline void rb_arena_reset(rb_arena *arena, rb_mark mark)
{
    if (!arena->plain || arena->top != mark.block) {
        rb_arena_reset_blocks(arena, mark);
        return;
    }
    arena->next -= mark.left - arena->left;
    arena->left = mark.left;
}

/* A piece of `need` bytes, a multiple of the alignment, where the block on top is too small. */
void *rb_arena_push_block(rb_arena *arena, size_t need);

/* `size` bytes aligned to 64, not cleared; NULL when out of memory or when count * size
 * overflows. Steps push some hundred pieces: inline, so that `size` is a constant. */
static inline void *rb_arena_push(rb_arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size) return NULL;
    size_t need = (count * size + RB_ARENA_ALIGN - 1) / RB_ARENA_ALIGN * RB_ARENA_ALIGN;
    if (arena->left < need) return rb_arena_push_block(arena, need);
    void *piece = arena->next;
    arena->next += need;
    arena->left -= need;
    return piece;
}

#define rb_push(arena, type, count) ((type *)rb_arena_push((arena), (size_t)(count), sizeof(type)))

#endif
