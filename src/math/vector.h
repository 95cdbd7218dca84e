/* RB_VECTOR: compile a kernel for several instruction sets and choose at load time. Only for loops
 * whose bits do not depend on the vector width. Off where the loader or a sanitizer objects.
 * RB_SHORT: the same for pieces without loops, where eight numbers at once are of no use. */
#ifndef RB_MATH_VECTOR_H
#define RB_MATH_VECTOR_H

#include <limits.h> /* __GLIBC__ */
#include <stdint.h>

/* RB_PLAIN, an option of the build: plain C in the place of vector types and instruction sets, with
 * the same bits (tests/cli/plain.py). Box against box, V-Clip and spheres against boxes still need
 * vector types (spatial_v4.h). RB_VECTORS: compilers that have them. */
#if defined(__GNUC__) && !defined(RB_PLAIN)
#define RB_VECTORS 1
#endif

#if defined(RB_VECTORS) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) &&      \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define RB_VECTOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define RB_SHORT  __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define RB_VECTOR
#define RB_SHORT
#endif

/* RB_AVX2: gcc from 12 and clang can compile a file for it. */
#if defined(RB_VECTORS) && defined(__x86_64__) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define RB_AVX2 1
#endif
#endif

/* RB_NOINLINE: a piece large enough to have registers of its own. */
#if defined(__GNUC__)
#define RB_NOINLINE __attribute__((noinline))
#else
#define RB_NOINLINE
#endif

/* RB_SCALAR: loops of a few iterations, which gcc would unroll for vectors that are never filled.
 */
#if defined(__GNUC__) && !defined(__clang__)
#define RB_SCALAR __attribute__((optimize("no-tree-vectorize", "fp-contract=off")))
#else
#define RB_SCALAR
#endif

/* RB_INLINE: a piece of such a kernel. A call would leave it to the oldest instruction set.
 * WebAssembly has one only, and its file is to be small. */
#if defined(__GNUC__) && !defined(__wasm__)
#define RB_INLINE static inline __attribute__((always_inline))
#else
#define RB_INLINE static inline
#endif

/* Place of the lowest bit that is set; bits are not 0. */
RB_INLINE int rb_lowest_bit(uint64_t bits)
{
#ifdef RB_VECTORS
    return __builtin_ctzll(bits);
#else
    int place = 0;
    for (; !(bits & 1); bits >>= 1) place++;
    return place;
#endif
}

#endif
