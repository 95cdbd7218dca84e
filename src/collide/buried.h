/* Shapes inside a closed mesh, behind all of its triangles. */
#ifndef RB_COLLIDE_BURIED_H
#define RB_COLLIDE_BURIED_H

#include "rattleback/collide.h"

/* Whether the point c, in the frame of the mesh, is inside it: an odd number of triangles above it
 * and below it. The nearest point of the surface is then `out`, on the triangle *face. */
int rb_buried(const rb_model *m, int mesh, const double c[3], double out[3], int *face);

/* Whether an odd number of triangles is above c: it is inside the mesh, or below a sheet. */
int rb_is_under(const rb_model *m, int mesh, const double c[3]);

/* Height of a grid [m] above x and y of its frame, -INFINITY beyond its border. */
double rb_grid_height(const rb_model *m, int field, const double x[3]);

/* The same of a grid, which is solid down to its base: `out` on the plane of the triangle above c.
 */
int rb_grid_buried(const rb_model *m, int field, const double c[3], double out[3], int *face);

#endif
