/* Candidate points of one pair, and how few of them represent the contact. */
#ifndef RB_COLLIDE_MANIFOLD_H
#define RB_COLLIDE_MANIFOLD_H

#include "rattleback/collide.h"

/* Two quadrilaterals meet in at most 8 vertices and 16 crossings; one closest point is added. */
enum { RB_POINTS_MAX = 26 };

typedef struct rb_points {
    int n;
    rb_manifold_point at[RB_POINTS_MAX];
} rb_points;

/* Lengths by which candidates are compared, from the sizes of a pair (G.2). */
typedef struct rb_grain {
    double tie;   /* gaps closer than this are equal [m]                     */
    double merge; /* points closer than this are the same contact [m]        */
} rb_grain;

/* extent: of each shape; distance: of their centres. */
rb_grain rb_grain_of(double extent1, double extent2, double distance);

/* Witness 2 is pos1 + gap normal. */
void rb_points_add(rb_points *points, double gap, const double pos1[3], const double normal[3],
                   uint32_t feature);

/* Drops what is beyond reach, merges what coincides, keeps out->most by area, sorts by
 * feature. The closest point always stays; of several the one whose normal is n. */
void rb_points_finish(rb_points *points, const double n[3], double reach, rb_grain grain,
                      rb_manifold *out);

/* One point, or none where it is beyond reach: from the point x of shape 1, moved by r along the
 * unit vector n. */
void rb_manifold_single(rb_manifold *out, double reach, double gap, const double x[3], double r,
                        const double n[3], uint32_t feature);

/* The same manifold seen with the shapes exchanged. */
void rb_manifold_swap(rb_manifold *manifold);

#endif
