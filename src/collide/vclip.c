/* Closest features of polyhedra: the choice of instructions, and what answers where the walk does
 * not.
 */
#include "collide/convex.h"
#include "collide/vclip_body.h"

rb_status rb_vclip_escape(const rb_shape *shape1, const rb_shape *shape2, rb_vclip_result *out)
{
    rb_couple couple;
    rb_closest closest;
    rb_couple_make(shape1, shape2, &couple);
    rb_closest_find(&couple, NULL, &closest);
    out->escaped = 1;
    out->distance = closest.at.s;
    out->overlap = out->distance < 0.0;
    rb_copy3(closest.at.n, out->normal);
    rb_add3(closest.x1, shape1->p, out->pos1);
    rb_copy3(out->pos1, out->pos2);
    rb_axpy3(out->distance, out->normal, out->pos2);
    return RB_OK;
}

/* Out of line: its frame is large. */
RB_NOINLINE static rb_status query_any(const rb_shape *shape1, const rb_shape *shape2,
                                       rb_vclip *cache, rb_vclip_result *out)
{
    return rb_vclip_body(shape1, shape2, cache, out);
}

rb_status rb_vclip_query(const rb_shape *shape1, const rb_shape *shape2, rb_vclip *cache,
                         rb_vclip_result *out)
{
#ifdef RB_AVX2
    if (__builtin_cpu_supports("avx2")) return rb_vclip_query_avx2(shape1, shape2, cache, out);
#endif
    return query_any(shape1, shape2, cache, out);
}
