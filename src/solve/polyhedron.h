/* Cones replaced by pyramids: a linear problem that always has a solution. */
#ifndef RB_SOLVE_POLYHEDRON_H
#define RB_SOLVE_POLYHEDRON_H

#include "solve/cone.h"

enum { RB_POLYHEDRON_COARSE = 4, RB_POLYHEDRON_FINE = 8 };

/* Solves the problem with each cone replaced by a pyramid of `around` edges, one of the above, and,
 * unless spread is NULL, of five more around the friction that r shows now, spread_c (nc) radians
 * apart. r: guess in, answer out; unchanged where the linear problem was not solved. *solved = 1:
 * it was. */
rb_status rb_polyhedron_solve(const rb_cones *k, int around, const double *spread,
                              rb_arena *scratch, double *r, int *solved, int *pivots);

/* The spread (nc) of the next pyramids: narrower where friction turned by less than the fan is wide
 * between the answers `from` and `to` (n), as wide as it turned elsewhere. */
void rb_polyhedron_narrow(const rb_cones *k, const double *from, const double *to, double *spread);

/* The first spread [rad]: a third of the angle between eight edges. */
#define RB_POLYHEDRON_SPREAD 0.2

#endif
