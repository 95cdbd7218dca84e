/* A point of a manifold from vectors of four. */
#ifndef RB_COLLIDE_POINT_V4_H
#define RB_COLLIDE_POINT_V4_H

#include <stddef.h>

#include "math/spatial_v4.h"
#include "rattleback/collide.h"

/* From the point pos1 along the unit vector n, world: operations as in rb_point_set. Vectors are
 * written with their fourth place, which the next number takes back. */
RB_INLINE void rb_point_write(rb_manifold_point *out, double gap, rb_v4 pos1, rb_v4 n,
                              uint32_t feature)
{
    char *at = (char *)out;
    rb_v4 pos2 = pos1 + rb_v4_all(gap) * n;
    memcpy(at + offsetof(rb_manifold_point, pos1), &pos1, sizeof pos1);
    memcpy(at + offsetof(rb_manifold_point, pos2), &pos2, sizeof pos2);
    rb_v4_store3(n, out->normal);
    out->gap = gap;
    out->feature = feature;
}

#endif
