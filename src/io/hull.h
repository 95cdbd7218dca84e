/* Convex hulls by Qhull. */
#ifndef RATTLEBACK_SRC_IO_HULL_H
#define RATTLEBACK_SRC_IO_HULL_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

/* A convex polyhedron that owns its arrays. */
typedef struct rb_io_hull {
    rb_alloc alloc;
    rb_hull_def def; /* points into the arrays below */
    double *vert;
    int *start, *loop;
} rb_io_hull;

/* Hull of `nvert` points; coplanar facets are one polygon, counter-clockwise seen from outside.
 * Vertices keep the order of the points. Same points, same hull, to the bit. RB_BAD_INPUT: the
 * points have no volume. Refusals fill text and status only. */
rb_status rb_io_hull_build(int nvert, const double *vert, const rb_alloc *alloc, rb_io_hull *out,
                           rb_error *err);

/* The same with at most `most` vertices (0: all): Qhull takes the farthest points first and stops
 * there, as for maxhullvert of MuJoCo. The hull lies inside the true one. */
rb_status rb_io_hull_build_most(int nvert, const double *vert, int most, const rb_alloc *alloc,
                                rb_io_hull *out, rb_error *err);

/* Volume of the polyhedron [m^3]. */
double rb_io_hull_volume(const rb_hull_def *hull);

/* Fans of triangles: nloop - 2 nface of them, to be put into `face` (3 entries each). */
int rb_io_hull_triangle_count(const rb_hull_def *hull);
void rb_io_hull_triangles(const rb_hull_def *hull, int *face);

void rb_io_hull_free(rb_io_hull *hull); /* an empty one is fine */

#endif
