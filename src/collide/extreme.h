/* Where exactly a convex core is extreme along a direction: a point, a line or a flat part. */
#ifndef RB_COLLIDE_EXTREME_H
#define RB_COLLIDE_EXTREME_H

#include "collide/core.h"
#include "collide/segment.h"

typedef struct rb_extreme {
    int freedom; /* 0: the point x alone; 1: a line through x; 2: a flat part              */
    int part;    /* vertex of a polyhedron, part of a curved core as rb_core_support has it */
    int face;    /* of a polyhedron the one at x with the normal nearest to n; of a cylinder with
                    freedom 2: 1 for its upper end                                         */
    int edge;    /* of a polyhedron, at x: the one that falls least                        */
    double facing, slope; /* cosine between n and that face; sine by which that edge falls */
    double x[3];
    rb_segment line;
    uint32_t half; /* names it */
} rb_extreme;

void rb_extreme_make(rb_core *core, const double n[3], rb_extreme *out);

#endif
