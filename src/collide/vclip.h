/* Two polyhedra and a feature of each, on the walk to the closest pair (V.1). */
#ifndef RB_COLLIDE_VCLIP_H
#define RB_COLLIDE_VCLIP_H

#include <stddef.h>

#include "collide/core.h"
#include "collide/feature.h"
#include "math/spatial_v4.h"
#include "math/vec3.h"

/* One of the two polyhedra. Planes are tested in the frame of the polyhedron they belong to. */
typedef struct rb_vside {
    rb_poly poly;
    const double *half; /* of a box, whose poly is rb_unit_box; NULL: a hull                    */
    rb_v4 scale;        /* from the vertices of poly to those of the shape                      */
    rb_v4 col[3], t;    /* from the frame of the other one: x = col y + t                       */
    rb_v4 seen, edge;   /* the other one's vertex, or origin of its edge and the edge, in this
                           frame, as of the last step                                           */
    int kind;           /* RB_VERTEX, RB_EDGE, RB_FACE                                          */
    int index;          /* vertex, entry of the loop, face                                      */
} rb_vside;

typedef enum rb_vstep { RB_V_GOES_ON, RB_V_CLOSEST, RB_V_OVERLAP } rb_vstep;

/* What the general method says, where the walk went in circles or a distance without a direction
 * was left. */
rb_status rb_vclip_escape(const rb_shape *shape1, const rb_shape *shape2, rb_vclip_result *out);

#ifdef RB_AVX2
rb_status rb_vclip_query_avx2(const rb_shape *shape1, const rb_shape *shape2, rb_vclip *cache,
                              rb_vclip_result *out);
#endif

/* ---- pieces ------------------------------------------------------------------------------------
 */

RB_INLINE rb_v4 rb_v_vertex(const rb_vside *s, int v)
{
    return rb_v4_load3(s->poly.vert + 3 * (ptrdiff_t)v) * s->scale;
}

RB_INLINE rb_v4 rb_v_origin(const rb_vside *s, int entry)
{
    return rb_v_vertex(s, s->poly.loop[entry]);
}

RB_INLINE rb_v4 rb_v_end(const rb_vside *s, int entry)
{
    return rb_v_vertex(s, rb_poly_end(&s->poly, entry));
}

/* Outward unit normal of a face; the last number is not part of it. */
RB_INLINE rb_v4 rb_v_normal(const rb_vside *s, int face)
{
    return rb_v4_load(s->poly.plane + 4 * (ptrdiff_t)face);
}

RB_INLINE double rb_v_offset(const rb_vside *s, int face)
{
    return s->half ? s->half[face >> 1] : s->poly.plane[4 * (ptrdiff_t)face + 3];
}

/* A vector, and a point, of the other polyhedron in the frame of this one. */
RB_INLINE rb_v4 rb_v_turn(const rb_vside *s, rb_v4 y)
{
    return rb_v4_turn(s->col, y);
}

RB_INLINE rb_v4 rb_v_see(const rb_vside *s, rb_v4 y)
{
    return rb_v_turn(s, y) + s->t;
}

#endif
