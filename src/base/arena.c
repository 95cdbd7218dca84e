#include "base/arena.h"

enum { FIRST_BLOCK = 1 << 14 };

typedef struct rb_arena_block {
    struct rb_arena_block *prev;
    size_t size; /* bytes after this header                 */
    size_t left; /* of them unused, while it is not on top  */
} block;

static char *base_of(block *b)
{
    uintptr_t p = (uintptr_t)(b + 1);
    return (char *)((p + RB_ARENA_ALIGN - 1) / RB_ARENA_ALIGN * RB_ARENA_ALIGN);
}

static void put_on_top(rb_arena *arena, block *b, size_t left)
{
    arena->top = b;
    arena->left = left;
    arena->next = base_of(b) + (b->size - left);
    arena->plain = !b->prev && arena->peak <= b->size;
}

/* Puts a block of at least `size` usable bytes on top. */
static int grow(rb_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(block) - 2 * RB_ARENA_ALIGN) return 0;
    block *b = arena->alloc.alloc(arena->alloc.ctx, sizeof(block) + RB_ARENA_ALIGN + size);
    if (!b) return 0;
    *b = (block){ .prev = arena->top, .size = size };
    if (arena->top) arena->top->left = arena->left;
    if (arena->top) arena->below += arena->top->size - arena->left;
    put_on_top(arena, b, size);
    arena->bytes += size;
    arena->growths++;
    return 1;
}

static void pop_block(rb_arena *arena)
{
    block *b = arena->top, *under = b->prev;
    arena->bytes -= b->size;
    arena->top = NULL;
    if (under) put_on_top(arena, under, under->left);
    if (under) arena->below -= under->size - under->left;
    arena->alloc.release(arena->alloc.ctx, b);
}

rb_arena *rb_arena_new(const rb_alloc *alloc, size_t bytes)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    rb_arena *arena = a.alloc(a.ctx, sizeof *arena);
    if (!arena) return NULL;
    *arena = (rb_arena){ .alloc = a };
    size_t first = bytes > FIRST_BLOCK ? bytes : FIRST_BLOCK;
    if (first > SIZE_MAX - RB_ARENA_ALIGN ||
        !grow(arena, (first + RB_ARENA_ALIGN - 1) / RB_ARENA_ALIGN * RB_ARENA_ALIGN)) {
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

/* Blocks above the mark go back to the allocator; an arena that is reset to empty becomes one
 * block as large as its peak, so that the same work never allocates again. */
void rb_arena_reset_blocks(rb_arena *arena, rb_mark mark)
{
    size_t used = arena->below + arena->top->size - arena->left;
    if (used > arena->peak) arena->peak = used;
    while (arena->top != mark.block) pop_block(arena);
    block *first = arena->top;
    put_on_top(arena, first, mark.left);
    if (arena->left != first->size || first->prev || arena->peak <= first->size) return;
    if (!grow(arena, arena->peak)) return;
    arena->top->prev = NULL;
    arena->plain = 1;
    arena->bytes -= first->size;
    arena->alloc.release(arena->alloc.ctx, first);
}

void *rb_arena_push_block(rb_arena *arena, size_t need)
{
    size_t want = 2 * arena->bytes > need ? 2 * arena->bytes : need;
    if (!grow(arena, want) && !grow(arena, need)) return NULL;
    void *piece = arena->next;
    arena->next += need;
    arena->left -= need;
    return piece;
}
