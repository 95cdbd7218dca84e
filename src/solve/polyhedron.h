/* Cones replaced by pyramids: a linear problem that always has a solution. */
#ifndef RB_SOLVE_POLYHEDRON_H
#define RB_SOLVE_POLYHEDRON_H

#include "solve/cone.h"

enum { RB_POLYHEDRON_COARSE = 4, RB_POLYHEDRON_FINE = 8 };

/* Solves the problem with each cone replaced by a pyramid of `around` edges, one of the above, and,
 * where spread > 0, of five more around the friction that r shows now, `spread` radians apart. r:
 * guess in, answer out; unchanged where the linear problem was not solved. *solved = 1: it was. */
rb_status rb_polyhedron_solve(const rb_cones *k, int around, double spread, rb_arena *scratch,
                              double *r, int *solved, int *pivots);

#endif
