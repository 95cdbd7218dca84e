/* Elimination order of a sparse symmetric pattern by minimum degree. */
#ifndef RB_MATH_ORDER_H
#define RB_MATH_ORDER_H

#include "base/arena.h"

/* order[k] = node eliminated k-th. Nodes with the same closed neighbourhood (contacts between the
 * same two bodies) are ordered as one. Deterministic: ties go to the smaller index. */
rb_status rb_minimum_degree(int n, const int *ptr, const int *col, rb_arena *scratch, int *order);

#endif
