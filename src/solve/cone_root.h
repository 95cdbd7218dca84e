/* What a dense W is made of, found from its numbers: W = Y Y' with as many columns as it has rank.
 */
#ifndef RB_SOLVE_CONE_ROOT_H
#define RB_SOLVE_CONE_ROOT_H

#include "solve/cone.h"

/* Rows of W as they are, row major (n x n). */
void rb_root_matrix(const rb_cones *k, double *W);

/* Largest difference of W and W', relative to their diagonals [1]; INFINITY: W is not symmetric, or
 * a diagonal is negative. */
double rb_root_noise(const double *W, int n);

/* What is left of a row of W, relative to its diagonal, that is rounding, for this noise [1]. */
double rb_root_spent(double noise);

/* Columns of Y, `width` apart in a row; returns the rank, or -1 where it is larger than `width`.
 * left: diagonals in, scratch out; rows with 0 are left out, and zero in Y. */
int rb_root_factor(const double *W, int n, double spent, int width, double *left, double *Y);

/* The same as an operator of one block, with as many freedoms as the rank; *out = NULL where W is
 * not symmetric. */
rb_status rb_root_operator(const rb_cones *k, rb_arena *scratch, rb_operator **out);

#endif
