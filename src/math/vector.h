/* RB_VECTOR: compile a kernel for several instruction sets and choose at load time. Only for loops
 * whose bits do not depend on the vector width. Off where the loader or a sanitizer objects. */
#ifndef RB_MATH_VECTOR_H
#define RB_MATH_VECTOR_H

#include <limits.h> /* __GLIBC__ */

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define RB_VECTOR __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RB_VECTOR
#endif

/* RB_INLINE: a piece of such a kernel. A call would leave it to the oldest instruction set. */
#if defined(__GNUC__)
#define RB_INLINE static inline __attribute__((always_inline))
#else
#define RB_INLINE static inline
#endif

#endif
