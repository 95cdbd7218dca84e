/* Closest features for processors that have AVX2: the same operations, so the same bits. */
#include "math/vector.h"

#ifdef RB_AVX2

/* everything from here on, headers included, is compiled for these instructions */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,tune=haswell")
#endif

#include "collide/vclip_body.h"

rb_status rb_vclip_query_avx2(const rb_shape *shape1, const rb_shape *shape2, rb_vclip *cache,
                              rb_vclip_result *out)
{
    return rb_vclip_body(shape1, shape2, cache, out);
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
