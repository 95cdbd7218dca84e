/* Box against box: the choice of instructions. */
#include "collide/box_body.h"

/* Out of line: its frame is large. */
RB_NOINLINE static void box_box_any(const rb_shape *a, const rb_shape *b, double reach,
                                    rb_manifold *out)
{
    rb_box_box_body(a, b, reach, out);
}

void rb_box_box(const rb_shape *a, const rb_shape *b, double reach, rb_manifold *out)
{
#ifdef RB_AVX2
    if (__builtin_cpu_supports("avx2")) {
        rb_box_box_avx2(a, b, reach, out);
        return;
    }
#endif
    box_box_any(a, b, reach, out);
}
