/* A simplex by the names of its corners: where a search ended, and where the next one begins. */
#ifndef RB_COLLIDE_SIMPLEX_H
#define RB_COLLIDE_SIMPLEX_H

#include "collide/gjk.h"

/* The simplex of an earlier search with its vertices where they are now, or, where it has none,
 * the corner along its normal. 0: neither belongs to these cores or shows that they are far apart,
 * or one of them is curved. */
int rb_simplex_resume(rb_couple *couple, const rb_warm *warm, rb_gjk *out);

/* Names the corners of a search that ended; curved cores have none. */
void rb_simplex_keep(const rb_couple *couple, const rb_gjk *gjk, rb_warm *warm);

/* The direction n of the features on which the simplex of cores that are apart lies, (G.11), and
 * the separation s along it: they depend on the features alone, not on the corners that the search
 * happened to find. 0: several features are as near, or they do not separate by its distance. */
int rb_simplex_direction(rb_couple *couple, const rb_gjk *gjk, double n[3], double *s);

/* Unit vector across two edges with these; returns the sine of their angle. */
double rb_edges_across(const double u1[3], const double u2[3], double n[3]);

/* Separation along n by vertices that are sought from these: of several that are as high it is the
 * first on the way that is found. */
double rb_separation_from(rb_couple *couple, int id1, int id2, const double n[3]);

#endif
