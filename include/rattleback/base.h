/* Status codes, errors, the allocator as a value, and the scratch arena. */
#ifndef RATTLEBACK_BASE_H
#define RATTLEBACK_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RB_VERSION "0.1.0"

/* What a call returns. Numerics that did not converge are not here: see rb_outcome. */
typedef enum rb_status {
    RB_OK = 0,
    RB_NOMEM,       /* the allocator returned NULL; outputs hold no answer                 */
    RB_BAD_INPUT,   /* sizes, NaN, lo > hi, negative mu, ...; rb_error says which          */
    RB_UNSUPPORTED, /* a solver, formulation or pair of shapes does not take what it is given */
    RB_TOO_LARGE,   /* over a documented size budget                                       */
    RB_FILE,        /* a file could not be opened or read, or a problem sink returned nonzero */
    RB_SINGULAR,    /* an inertia that must be positive is not: a massless moving part     */
    RB_FULL,        /* more constraints than there is room for: rb_data_reserve            */
    RB_UNSOLVED,    /* a step without a certified answer; the state is unchanged           */
    RB_JAMMED,      /* a step that has no answer: bodies squeeze each other; state unchanged */
    RB_CROWDED,     /* more events in a time than the budget of `impulse`; the state is unchanged */
    RB_BUDGET,      /* a step that takes more work than opts.budget; the state is unchanged */
    RB_CANCELLED    /* a step that opts.cancel ended; the state is unchanged               */
} rb_status;

/* "ok", "out of memory", ...; never NULL. */
const char *rb_status_text(rb_status status);

/* Where and why something was refused. Optional everywhere: pass NULL to ignore. Texts are in the
 * struct: there is nothing to free, and what is too long is cut. A call that returns RB_OK leaves
 * it as it is. */
typedef struct rb_error {
    rb_status status;
    char file[256]; /* "" where no file is involved  */
    int line;       /* 1-based, 0 where it makes no sense */
    char text[512]; /* one sentence: element, what was expected, what to do */
} rb_error;

/* An allocator is three functions and a context, passed by value or pointer; there is no global
 * one. NULL where a `const rb_alloc *` is taken means libc. */
typedef struct rb_alloc {
    void *(*alloc)(void *ctx, size_t size);
    void *(*resize)(void *ctx, void *block, size_t size);
    void (*release)(void *ctx, void *block);
    void *ctx;
} rb_alloc;

/* The libc allocator. */
rb_alloc rb_alloc_default(void);

/* Scratch memory that is taken in pieces and given back by resetting to a mark. It grows while
 * it is new and keeps its size then: after warm-up a solve allocates nothing. One thread at a
 * time. */
typedef struct rb_arena rb_arena;

/* NULL when out of memory. `bytes` is a first guess, 0 is fine. */
rb_arena *rb_arena_new(const rb_alloc *alloc, size_t bytes);
void rb_arena_free(rb_arena *arena);

/* Bytes of the arena, and how often it took more from the allocator: for tests and tuning. */
size_t rb_arena_bytes(const rb_arena *arena);
int rb_arena_growths(const rb_arena *arena);

/* 64-bit FNV-1a over bytes, chainable: start from RB_HASH_INIT. */
#define RB_HASH_INIT UINT64_C(0xcbf29ce484222325)
uint64_t rb_hash(uint64_t seed, const void *bytes, size_t size);

/* PCG32: a small generator whose whole state is two words, so that it can live in a state block.
 */
typedef struct rb_rng {
    uint64_t state, stream;
} rb_rng;

rb_rng rb_rng_make(uint64_t seed);
uint32_t rb_rng_next(rb_rng *rng);
double rb_rng_uniform(rb_rng *rng, double lo, double hi); /* [lo, hi)                       */
double rb_rng_normal(rb_rng *rng);                        /* mean 0, variance 1, no libm    */

#ifdef __cplusplus
}
#endif

#endif
