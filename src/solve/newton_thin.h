/* Newton's system of few degrees of freedom under many contacts: W of low rank. */
#ifndef RB_SOLVE_NEWTON_THIN_H
#define RB_SOLVE_NEWTON_THIN_H

#include "solve/cone.h"

/* W = Y Y' + diag(own): own has the rows that nothing couples to, Y the rest. */
typedef struct rb_thin {
    int n, nc, rank;
    double *W;    /* as it is, row major                                            (n x n)       */
    double *Y;    /*                                                                (n x rank)    */
    double *own;  /*                                                                (n)           */
    double *C;    /* (A + B (eps + own))^-1                                         (nc x 9)      */
    double *D;    /* C B                                                            (nc x 9)      */
    double *K;    /* factors of I + Y'DY                                            (rank x rank) */
    int *perm;    /*                                                                (rank)        */
    double *v;    /*                                                                (rank)        */
    double *side; /* rows of contacts that are not open, transposed                 (rank x n)    */
    double *E;    /* -D Y of them                                                   (n x rank)    */
    int *active, nactive;
} rb_thin;

/* *out = NULL where W is not symmetric or its rank too large for this to pay. */
rb_status rb_thin_make(const rb_cones *k, rb_arena *scratch, rb_thin **out);

/* u = W r + q */
void rb_thin_velocity(const rb_thin *s, const double *q, const double *r, double *u);

/* Factors the system of the derivatives A, B of F (nc x 9) and the compliance eps (nc). 0:
 * singular.
 */
int rb_thin_factor(rb_thin *s, const double *A, const double *B, const double *eps,
                   const unsigned char *mode);

/* dr with (A + B (W + eps)) dr = -F. */
void rb_thin_solve(rb_thin *s, const double *F, double *dr);

/* 1: contacts in these modes hold more rows than W has degrees of freedom. */
int rb_thin_crowded(const rb_thin *s, const unsigned char *mode);

#endif
