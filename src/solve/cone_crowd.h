/* Islands whose contacts share bodies with tens of others: towers, walls, arches. */
#ifndef RB_SOLVE_CONE_CROWD_H
#define RB_SOLVE_CONE_CROWD_H

#include "base/arena.h"
#include "rattleback/solve.h"

/* What the contacts of an operator are, three rows each. Dense: they share a block of Minv with
 * many others, W has more than RB_CROWD_BLOCKS blocks in a row, and sweeps lead nowhere; or the
 * factors of the bodies take no more than RB_CROWD_LIGHT thousand multiplications for each contact,
 * so that sweeps are of no use. Small: RB_CROWD_FEW at most, or RB_CROWD_BEARABLE thousand of them,
 * and neither: other methods come after interior points. Negative: no memory. */
enum { RB_CROWD_NONE, RB_CROWD_SMALL, RB_CROWD_DENSE };
enum { RB_CROWD_BLOCKS = 16, RB_CROWD_FEW = 600, RB_CROWD_LEAST = 41, RB_CROWD_COARSE = 5 };
enum { RB_CROWD_LIGHT = 8, RB_CROWD_BEARABLE = 32 };
int rb_operator_crowd(const rb_operator *op, int nc, rb_arena *scratch);

/* Tolerances at which they are solved without W, by interior points, and the number of contacts
 * from which on they are. */
int rb_cone_crowd_takes(double tol);
int rb_cone_crowd_least(double tol);

/* Solves such a problem; *done = 0: it is none, or other ways may lead further. r: guess in, answer
 * out. */
rb_status rb_cone_crowd(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *r,
                        rb_info *info, int *done);

#endif
