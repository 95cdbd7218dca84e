/* Sphere against box: the choice of instructions. */
#include "collide/sphere_box.h"

/* Out of line: what it saves and restores is not for the other one. */
RB_NOINLINE static int sphere_box_any(const rb_shape *sphere, const rb_shape *box, double reach,
                                      rb_manifold_point *out)
{
    return rb_sphere_box_body(sphere, box, reach, out);
}

int rb_sphere_box(const rb_shape *sphere, const rb_shape *box, double reach, rb_manifold_point *out)
{
#ifdef RB_AVX2
    if (__builtin_cpu_supports("avx2")) return rb_sphere_box_avx2(sphere, box, reach, out);
#endif
    return sphere_box_any(sphere, box, reach, out);
}
