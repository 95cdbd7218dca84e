/* Box against box and sphere for processors that have AVX2: the same operations, so the same bits.
 */
#include "math/vector.h"

#ifdef RB_AVX2

/* everything from here on, headers included, is compiled for these instructions */
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,tune=haswell")
#endif

#include "collide/box_body.h"
#include "collide/sphere_box.h"

void rb_box_box_avx2(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out)
{
    rb_box_box_body(a, b, reach, out);
}

int rb_sphere_box_avx2(const rb_shape *sphere, const rb_shape *box, double reach,
                       rb_manifold_point *out)
{
    return rb_sphere_box_body(sphere, box, reach, out);
}

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
