/* Grades an answer with code that shares nothing with the library, not even the product W z. */
#ifndef RB_BENCH_CORPUS_GRADE_H
#define RB_BENCH_CORPUS_GRADE_H

#include "rattleback/solve.h"

/* The relative natural residual of z as rattleback/solve.h defines it, in extended precision.
 * INFINITY where z is not finite; -1 when out of memory. */
double rb_grade(const rb_problem *p, const double *z);

#endif
