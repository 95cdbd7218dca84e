/* Boxed and mixed problems as a pure LCP, and the way back. Eqs. (P.12) to (P.15). */
#ifndef RB_SOLVE_REDUCE_H
#define RB_SOLVE_REDUCE_H

#include "solve/partition.h"

typedef struct rb_reduction {
    rb_boxed lcp;        /* the reduced problem: y, slacks of upper bounds, x+, x-                */
    int bad_row;         /* an equality of the original that contradicts the others, -1 = none    */
    const rb_boxed *box; /* the original                                                          */

    int ncomp;      /* rows with at least one finite bound, lo < hi                               */
    int nslack;     /* those with two                                                             */
    int nfree;      /* equality rows                                                              */
    int rank;       /* of their block                                                             */
    int npair;      /* free variables that no equality determines, split x+ - x-                  */
    int *comp;      /* original row of y_c                                        (ncomp)         */
    int *slack;     /* c of each slack                                            (nslack)        */
    int *eq;        /* original row of each equality                              (nfree)         */
    int *row, *col; /* pivot order of the equality block                          (nfree)         */
    int *pair_row;  /* leftover equality of each pair, -1 = none                  (nfree)         */
    int *pair_col;  /* leftover variable of each pair, -1 = none                  (nfree)         */
    double *base;   /* z = base + sign y                                          (n)             */
    double *sign;   /*                                                            (n)             */
    double *rscale; /* powers of two: rscale_i A_ij cscale_j is of order one      (nfree)         */
    double *cscale; /*                                                            (nfree)         */
    double *A;      /* scaled equality block, factored                            (nfree x nfree) */
    double *E;      /* scaled equality rows over (y, 1, leftover x)     (nfree x (ncomp+1+nfree)) */
    int ldE;
} rb_reduction;

/* RB_OK also where bad_row >= 0; then the reduced problem is not to be used. */
rb_status rb_reduce(const rb_boxed *b, rb_arena *scratch, rb_reduction *out);

/* z (n) of a reduced answer y. */
void rb_reduce_back(const rb_reduction *r, const double *y, double *z);

/* A partition of the reduced problem as one of the original, and the other way. */
void rb_reduce_set_back(const rb_reduction *r, const unsigned char *reduced, unsigned char *set);
void rb_reduce_set(const rb_reduction *r, const unsigned char *set, unsigned char *reduced);

#endif
