#include "base/arena.h"

#include <stdint.h>

enum { ALIGN = 64, FIRST_BLOCK = 1 << 14 };

typedef struct block {
    struct block *prev;
    size_t size, used; /* bytes behind this header */
} block;

struct rb_arena {
    rb_alloc alloc;
    block *top;
    size_t bytes; /* size of all blocks                      */
    size_t below; /* bytes used in the blocks under the top  */
    size_t peak;  /* most bytes ever used at the same time   */
    int growths;
};

static char *base_of(block *b)
{
    uintptr_t p = (uintptr_t)(b + 1);
    return (char *)((p + ALIGN - 1) / ALIGN * ALIGN);
}

/* Puts a block of at least `size` usable bytes on top. */
static int grow(rb_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(block) - 2 * ALIGN) return 0;
    block *b = arena->alloc.alloc(arena->alloc.ctx, sizeof(block) + ALIGN + size);
    if (!b) return 0;
    *b = (block){ .prev = arena->top, .size = size, .used = 0 };
    if (arena->top) arena->below += arena->top->used;
    arena->top = b;
    arena->bytes += size;
    arena->growths++;
    return 1;
}

static void pop_block(rb_arena *arena)
{
    block *b = arena->top;
    arena->top = b->prev;
    arena->bytes -= b->size;
    if (arena->top) arena->below -= arena->top->used;
    arena->alloc.release(arena->alloc.ctx, b);
}

rb_arena *rb_arena_new(const rb_alloc *alloc, size_t bytes)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    rb_arena *arena = a.alloc(a.ctx, sizeof *arena);
    if (!arena) return NULL;
    *arena = (rb_arena){ .alloc = a };
    if (!grow(arena, bytes > FIRST_BLOCK ? bytes : FIRST_BLOCK)) {
        a.release(a.ctx, arena);
        return NULL;
    }
    return arena;
}

void rb_arena_free(rb_arena *arena)
{
    if (!arena) return;
    while (arena->top) pop_block(arena);
    arena->alloc.release(arena->alloc.ctx, arena);
}

size_t rb_arena_bytes(const rb_arena *arena)
{
    return arena->bytes;
}

int rb_arena_growths(const rb_arena *arena)
{
    return arena->growths;
}

rb_mark rb_arena_mark(const rb_arena *arena)
{
    return (rb_mark){ .block = arena->top, .used = arena->top->used };
}

/* Blocks above the mark go back to the allocator; an arena that is reset to empty becomes one
 * block as large as its peak, so that the same work never asks for memory again. */
void rb_arena_reset(rb_arena *arena, rb_mark mark)
{
    while (arena->top != mark.block) pop_block(arena);
    arena->top->used = mark.used;
    if (mark.used != 0 || arena->top->prev || arena->peak <= arena->top->size) return;
    if (!grow(arena, arena->peak)) return;
    block *small = arena->top->prev;
    arena->top->prev = NULL;
    arena->bytes -= small->size;
    arena->alloc.release(arena->alloc.ctx, small);
}

void *rb_arena_push(rb_arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size) return NULL;
    size_t need = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    block *b = arena->top;
    if (b->size - b->used < need) {
        size_t want = 2 * arena->bytes > need ? 2 * arena->bytes : need;
        if (!grow(arena, want) && !grow(arena, need)) return NULL;
        b = arena->top;
    }
    void *piece = base_of(b) + b->used;
    b->used += need;
    if (arena->below + b->used > arena->peak) arena->peak = arena->below + b->used;
    return piece;
}
