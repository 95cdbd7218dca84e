/* The scratch arena: pieces, marks, growth, and what it does when there is no memory. */
#include "test.h"

#include "base/arena.h"

/* Alignment that arena.h promises [bytes]. */
enum { ALIGNMENT = 64 };

static rb_arena *make_arena(test_memory *memory)
{
    rb_alloc alloc = test_alloc(memory);
    rb_arena *arena = rb_arena_new(&alloc, 0);
    CHECK(arena != NULL);
    return arena;
}

static int is_aligned(const void *piece)
{
    return (uintptr_t)piece % ALIGNMENT == 0;
}

/* Work that needs several blocks at first: 60 pieces of up to 30 kB, with nested marks. */
static void do_work(rb_arena *arena)
{
    rb_mark outer = rb_arena_mark(arena);
    rb_rng rng = rb_rng_make(7);
    for (int i = 0; i < 60; i++) {
        rb_mark inner = rb_arena_mark(arena);
        size_t count = 1 + rb_rng_next(&rng) % 30000;
        char *piece = rb_push(arena, char, count);
        CHECK(piece != NULL);
        memset(piece, i, count);
        if (i % 3 == 0) rb_arena_reset(arena, inner);
    }
    rb_arena_reset(arena, outer);
}

TEST(pieces_are_aligned_and_apart)
{
    test_memory memory = { 0 };
    rb_arena *arena = make_arena(&memory);
    static unsigned char *piece[200];
    static size_t size[200];
    rb_rng rng = rb_rng_make(1);
    for (int i = 0; i < 200; i++) {
        size[i] = rb_rng_next(&rng) % 5000;
        piece[i] = rb_push(arena, unsigned char, size[i]);
        CHECK(piece[i] != NULL);
        CHECK(is_aligned(piece[i]));
        memset(piece[i], i, size[i]);
    }

    /* growing moved nothing and no piece overlaps another */
    for (int i = 0; i < 200; i++) {
        for (size_t k = 0; k < size[i]; k++) CHECK_INT(piece[i][k], i);
    }
    CHECK(rb_arena_growths(arena) > 1);
    rb_arena_free(arena);
    CHECK_INT(memory.live, 0);
}

TEST(reset_gives_the_same_place_again)
{
    test_memory memory = { 0 };
    rb_arena *arena = make_arena(&memory);
    double *kept = rb_push(arena, double, 10);
    kept[9] = 3.5;
    rb_mark mark = rb_arena_mark(arena);
    void *first = rb_push(arena, double, 100);
    CHECK(rb_push(arena, double, 100) != NULL);
    rb_arena_reset(arena, mark);
    CHECK(rb_push(arena, double, 100) == first);

    /* across a growth as well: the big block goes back to the allocator */
    rb_arena_reset(arena, mark);
    long live = memory.live;
    size_t bytes = rb_arena_bytes(arena);
    CHECK(rb_push(arena, char, 1 << 20) != NULL);
    CHECK_INT(memory.live, live + 1);
    CHECK(rb_arena_bytes(arena) >= bytes + (1 << 20));
    rb_arena_reset(arena, mark);
    CHECK_INT(memory.live, live);
    CHECK(rb_arena_bytes(arena) == bytes);
    CHECK(rb_push(arena, double, 100) == first);
    CHECK(kept[9] == 3.5);
    rb_arena_free(arena);
    CHECK_INT(memory.live, 0);
}

TEST(nothing_is_asked_for_after_warm_up)
{
    test_memory memory = { 0 };
    rb_arena *arena = make_arena(&memory);
    do_work(arena);
    CHECK(rb_arena_growths(arena) > 2);
    CHECK_INT(memory.live, 2); /* the arena and one block of the peak */
    int growths = rb_arena_growths(arena);
    long requests = memory.requests;
    size_t bytes = rb_arena_bytes(arena);
    for (int round = 0; round < 5; round++) do_work(arena);
    CHECK_INT(rb_arena_growths(arena), growths);
    CHECK_INT(memory.requests, requests);
    CHECK(rb_arena_bytes(arena) == bytes);
    rb_arena_free(arena);
    CHECK_INT(memory.live, 0);
}

/* One block holds what several held, also where each left a tail unused. */
TEST(peak_is_the_sum_over_blocks)
{
    test_memory memory = { 0 };
    rb_arena *arena = make_arena(&memory);
    rb_mark empty = rb_arena_mark(arena);
    CHECK(rb_push(arena, char, 16000) != NULL);
    CHECK(rb_push(arena, char, 90000) != NULL);
    CHECK(rb_push(arena, char, 900000) != NULL);
    rb_arena_reset(arena, empty);
    CHECK(rb_arena_bytes(arena) >= 16000 + 90000 + 900000);
    CHECK(rb_arena_bytes(arena) < 1010000);
    rb_arena_free(arena);
    CHECK_INT(memory.live, 0);
}

TEST(first_guess_is_used)
{
    test_memory memory = { 0 };
    rb_alloc alloc = test_alloc(&memory);
    rb_arena *arena = rb_arena_new(&alloc, 1 << 20);
    CHECK(arena != NULL);
    CHECK(rb_arena_bytes(arena) >= 1 << 20);
    int growths = rb_arena_growths(arena);
    for (int i = 0; i < 16; i++) CHECK(rb_push(arena, char, 1 << 16) != NULL);
    CHECK_INT(rb_arena_growths(arena), growths);
    rb_arena_free(arena);
    rb_arena_free(NULL);
    CHECK_INT(memory.live, 0);
}

TEST(sizes_that_overflow_are_refused)
{
    test_memory memory = { 0 };
    rb_arena *arena = make_arena(&memory);
    long requests = memory.requests;
    CHECK(rb_arena_push(arena, SIZE_MAX, 8) == NULL);
    CHECK(rb_arena_push(arena, SIZE_MAX / 8 + 2, 8) == NULL);
    CHECK(rb_arena_push(arena, SIZE_MAX / 2 + 1, 2) == NULL);
    CHECK(rb_push(arena, double, -1) == NULL); /* a negative int is a huge size_t */
    CHECK_INT(memory.requests, requests);      /* refused without asking          */

    /* nothing at all is a piece too */
    CHECK(rb_arena_push(arena, 0, 8) != NULL);
    CHECK(rb_arena_push(arena, 8, 0) != NULL);
    rb_arena_free(arena);
    CHECK_INT(memory.live, 0);
}

/* malloc refuses half of the address space; the arena stays usable. */
TEST(a_size_nobody_has)
{
#ifdef RB_SANITIZED
    SKIP("the address sanitizer aborts where malloc would return NULL");
#endif
    rb_arena *arena = rb_arena_new(NULL, 0);
    CHECK(arena != NULL);
    double *before = rb_push(arena, double, 8);
    before[0] = 1.25;
    CHECK(rb_arena_push(arena, SIZE_MAX / 4, 1) == NULL);
    CHECK(rb_push(arena, double, 8) != NULL);
    CHECK(before[0] == 1.25);
    rb_arena_free(arena);
}

static int try_work(const rb_alloc *alloc)
{
    rb_arena *arena = rb_arena_new(alloc, 0);
    if (!arena) return 0;
    rb_mark empty = rb_arena_mark(arena);
    int ok = 1;
    for (int i = 0; ok && i < 12; i++) {
        char *piece = rb_push(arena, char, (size_t)10000 << (i / 2));
        ok = piece != NULL;
        if (ok) memset(piece, i, (size_t)10000 << (i / 2));
    }
    rb_arena_reset(arena, empty);
    CHECK(rb_push(arena, double, 100) != NULL); /* the first block is always there */
    rb_arena_free(arena);
    return ok;
}

/* A request of twice the arena may be refused and the exact one granted, so a failure of the
 * allocator is not always a failure of the push; a leak never happens. */
TEST(every_allocation_fails_in_turn)
{
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        int ok = try_work(&alloc);
        CHECK_INT(memory.live, 0);
        CHECK(ok || memory.requests >= k);
        if (k <= 2) CHECK(!ok); /* the arena itself and its first block */
        if (memory.requests < k) break;
    }
}

typedef struct stingy {
    test_memory memory;
    size_t most; /* a larger request is refused */
} stingy;

static void *stingy_alloc(void *ctx, size_t size)
{
    stingy *s = ctx;
    return size > s->most ? NULL : test_memory_alloc(&s->memory, size);
}

static void stingy_release(void *ctx, void *block)
{
    test_memory_release(&((stingy *)ctx)->memory, block);
}

/* Where doubling is refused the piece alone is asked for. */
TEST(growing_modestly_where_doubling_is_refused)
{
    stingy s = { .most = 50000 };
    rb_alloc alloc = { stingy_alloc, NULL, stingy_release, &s };
    rb_arena *arena = rb_arena_new(&alloc, 0);
    CHECK(arena != NULL);
    rb_mark empty = rb_arena_mark(arena);
    for (int i = 0; i < 10; i++) CHECK(rb_push(arena, char, 40000) != NULL);
    CHECK(rb_push(arena, char, 60000) == NULL);
    CHECK(rb_push(arena, char, 40000) != NULL);

    /* joining the blocks is refused too, which must only cost time */
    rb_arena_reset(arena, empty);
    for (int i = 0; i < 10; i++) CHECK(rb_push(arena, char, 40000) != NULL);
    rb_arena_free(arena);
    CHECK_INT(s.memory.live, 0);
}

TEST_MAIN(RUN(pieces_are_aligned_and_apart), RUN(reset_gives_the_same_place_again),
          RUN(nothing_is_asked_for_after_warm_up), RUN(peak_is_the_sum_over_blocks),
          RUN(first_guess_is_used), RUN(sizes_that_overflow_are_refused), RUN(a_size_nobody_has),
          RUN(every_allocation_fails_in_turn), RUN(growing_modestly_where_doubling_is_refused))
