/* Two polyhedra and a feature of each, on the walk to the closest pair (V.1). */
#ifndef RB_COLLIDE_VCLIP_H
#define RB_COLLIDE_VCLIP_H

#include "collide/core.h"
#include "collide/feature.h"
#include "math/vec3.h"

/* One of the two polyhedra. Planes are tested in the frame of the polyhedron they belong to. */
typedef struct rb_vside {
    const rb_poly *poly;
    int kind;          /* RB_VERTEX, RB_EDGE, RB_FACE                                        */
    int index;         /* vertex, entry of the loop, face                                    */
    double R[9], t[3]; /* from the frame of the other one: x = R y + t               */
} rb_vside;

typedef struct rb_vwalk {
    rb_vside side[2];
} rb_vwalk;

typedef enum rb_vstep { RB_V_GOES_ON, RB_V_CLOSEST, RB_V_OVERLAP } rb_vstep;

/* Replaces one feature by a neighbour that is closer, or says why there is none (V.2) .. (V.6). */
rb_vstep rb_vclip_step(rb_vwalk *w);

/* ---- pieces ------------------------------------------------------------------------------------
 */

static inline const double *rb_v_vertex(const rb_vside *s, int v)
{
    return s->poly->vert + 3 * (ptrdiff_t)v;
}

static inline const double *rb_v_origin(const rb_vside *s, int entry)
{
    return rb_v_vertex(s, s->poly->loop[entry]);
}

static inline const double *rb_v_end(const rb_vside *s, int entry)
{
    return rb_v_vertex(s, rb_poly_end(s->poly, entry));
}

/* A point of the other polyhedron, in the frame of this one. */
static inline void rb_v_see(const rb_vside *s, const double y[3], double x[3])
{
    rb_rot(s->R, y, x);
    rb_add3(x, s->t, x);
}

#endif
