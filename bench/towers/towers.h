/* Cone problems of large islands on file: W = J Minv J', velocities, friction. Binary, for the
 * machine that wrote it. */
#ifndef RB_BENCH_TOWERS_H
#define RB_BENCH_TOWERS_H

#include "rattleback/solve.h"

/* A problem that was read; it owns what it points to. */
typedef struct towers_island {
    rb_problem problem;
    rb_operator op;
} towers_island;

/* 0: written or read. */
int towers_write(const char *path, const rb_problem *p);
int towers_read(const char *path, towers_island *out);
void towers_free(towers_island *x);

#endif
