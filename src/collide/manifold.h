/* Candidate points of one pair, and how few of them represent the contact. */
#ifndef RB_COLLIDE_MANIFOLD_H
#define RB_COLLIDE_MANIFOLD_H

#include "base/constants.h"
#include "math/vec3.h"
#include "rattleback/collide.h"

/* Two quadrilaterals meet in at most 8 vertices and 16 crossings; one closest point is added. */
enum { RB_POINTS_MAX = 26 };

typedef struct rb_points {
    int n;
    rb_manifold_point at[RB_POINTS_MAX];
} rb_points;

/* Lengths by which candidates are compared, from the sizes of a pair (G.3). */
typedef struct rb_grain {
    double tie;   /* gaps closer than this are equal [m]                     */
    double merge; /* points closer than this are the same contact [m]        */
} rb_grain;

/* extent: of each shape; distance: of their centres. */
RB_INLINE rb_grain rb_grain_of(double extent1, double extent2, double distance)
{
    double large = rb_larger(rb_larger(extent1, extent2), distance),
           small = rb_smaller(extent1, extent2);
    double tie = RB_GAP_TIE * large;
    return (rb_grain){ .tie = tie, .merge = rb_larger(RB_SAME_POINT * small, tie) };
}

/* Witness 2 is pos1 + gap normal. */
void rb_points_add(rb_points *points, double gap, const double pos1[3], const double normal[3],
                   uint32_t feature);

/* Drops what is beyond reach, merges what coincides, keeps out->most by area, sorts by
 * feature. The closest point is always kept; of several the one whose normal is n. */
void rb_points_finish(rb_points *points, const double n[3], double reach, rb_grain grain,
                      rb_manifold *out);

/* Which of the candidates represent the contact; indices of those that are left in `pick`. */
typedef struct rb_choice {
    rb_grain grain;
    int n, pick[RB_POINTS_MAX];
    double gap[RB_POINTS_MAX];
    double off[RB_POINTS_MAX]; /* how far its normal is from that of the pair, largest entry  */
    uint32_t feature[RB_POINTS_MAX];
    double flat[RB_POINTS_MAX][2]; /* its place, seen along the normal of the first              */
} rb_choice;

/* Orders the candidates by features, the closest of them in front. */
void rb_choice_lead(rb_choice *c);

/* Keeps `most` by area, and orders them as the manifold has them. */
void rb_choice_reduce(rb_choice *c, int most);

/* That order: ascending features. */
RB_INLINE void rb_choice_sort(rb_choice *c)
{
    for (int i = 1; i < c->n; i++) {
        int which = c->pick[i], k = i;
        uint32_t feature = c->feature[which];
        for (; k > 0 && c->feature[c->pick[k - 1]] > feature; k--) c->pick[k] = c->pick[k - 1];
        c->pick[k] = which;
    }
}

/* From the point x of shape 1, moved by r along the unit vector n. 0: it is beyond reach. */
RB_INLINE int rb_point_set(rb_manifold_point *p, double reach, double gap, const double x[3],
                           double r, const double n[3], uint32_t feature)
{
    double n0 = n[0], n1 = n[1], n2 = n[2]; /* in registers: p may be anywhere */
    double x0 = x[0] + r * n0, x1 = x[1] + r * n1, x2 = x[2] + r * n2;
    p->gap = gap;
    p->pos1[0] = x0;
    p->pos1[1] = x1;
    p->pos1[2] = x2;
    p->pos2[0] = x0 + gap * n0;
    p->pos2[1] = x1 + gap * n1;
    p->pos2[2] = x2 + gap * n2;
    p->normal[0] = n0;
    p->normal[1] = n1;
    p->normal[2] = n2;
    p->feature = feature;
    return gap <= reach;
}

/* The same point, and the same manifold, seen with the shapes exchanged. */
void rb_point_swap(rb_manifold_point *p);
void rb_manifold_swap(rb_manifold *manifold);

#endif
