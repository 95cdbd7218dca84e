/* Systems that are wide in rows and thin in freedoms, by their smaller side (K.34). */
#ifndef RB_SOLVE_MIXED_FREEDOMS_H
#define RB_SOLVE_MIXED_FREEDOMS_H

#include "base/arena.h"

/* (B C' + diag(lam)) z = b */
typedef struct rb_freedoms {
    int m, r, pad; /* unknowns; columns of B and C, and from row to row                       */
    double *B, *C; /* zero after r                                             (m x pad)      */
    double *lam;   /* > 0                                                      (m)            */
    double *K;     /* factors of 1 + C' lam^-1 B                               (r x pad)      */
    double *y;     /*                                                          (pad)          */
    double *left;  /* of the right side, in refinement                         (m)            */
    int *perm;     /*                                                          (r)            */
    int symmetric; /* LDL', else LU                                                           */
} rb_freedoms;

/* Room for up to `most` unknowns; 0: out of memory. */
int rb_freedoms_push(rb_arena *arena, int most, int r, rb_freedoms *t);

/* K of m, B, C, lam. symmetric: B = C. 0: it is singular. */
int rb_freedoms_factor(rb_freedoms *t, int symmetric);

/* z: right side in, answer out. */
void rb_freedoms_solve(rb_freedoms *t, double *z);

#endif
