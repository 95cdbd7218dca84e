/* Access to W in any of its forms, for the solvers. (residual.c has its own, on purpose.) */
#ifndef RB_SOLVE_MATRIX_H
#define RB_SOLVE_MATRIX_H

#include "base/arena.h"
#include "rattleback/solve.h"

/* y = W x. Only the operator form takes scratch and can return RB_NOMEM. */
rb_status rb_matrix_apply(const rb_matrix *W, int n, const double *x, rb_arena *scratch, double *y);

/* Writes all of W to A (n x n, row major). RB_NOMEM possible for the operator form. */
rb_status rb_matrix_to_dense(const rb_matrix *W, int n, rb_arena *scratch, double *A);

/* A dense view: W->dense itself where W is dense, else a copy in scratch. NULL: out of memory. */
const double *rb_matrix_dense(const rb_matrix *W, int n, rb_arena *scratch);

/* The same matrix with blocks of size bs (entries outside the pattern are zero), memory in
 * scratch; the structure is made symmetric and every diagonal block is present. */
rb_status rb_matrix_to_bsr(const rb_matrix *W, int n, int bs, rb_arena *scratch, rb_matrix *out);

/* Labels the blocks of size bs by connected component, label[b] = 0, 1, ... in order of first
 * appearance; returns the number of components, -1 when out of memory. */
int rb_matrix_islands(const rb_matrix *W, int n, int bs, rb_arena *scratch, int *label);

#endif
