/* Feature ids: 16 bits for each shape, two for the kind, fourteen for which one. An id depends on
 * the two features alone, not on the method that found them: it is the same while they touch. */
#ifndef RB_COLLIDE_FEATURE_H
#define RB_COLLIDE_FEATURE_H

#include <stdint.h>

enum { RB_VERTEX = 0, RB_EDGE = 1, RB_FACE = 2, RB_CURVED = 3 };

/* A point that belongs to no pair of features: the search itself found it. */
#define RB_FEATURE_NONE UINT32_C(0xbfffbfff)

static inline uint32_t rb_feature_half(int kind, int which)
{
    return (uint32_t)kind << 14 | (uint32_t)which;
}

static inline uint32_t rb_feature(uint32_t half1, uint32_t half2)
{
    return half1 << 16 | half2;
}

static inline uint32_t rb_feature_swap(uint32_t feature)
{
    return feature >> 16 | feature << 16;
}

#endif
