/* Newton on the Alart-Curnier equations with uniform compliance, for the solvers built on it. */
#ifndef RB_SOLVE_NEWTON_H
#define RB_SOLVE_NEWTON_H

#include "math/block_lu.h"
#include "solve/cone.h"

typedef struct rb_newton {
    const rb_cones *k;
    int sparse;          /* 1: block LU of the whole pattern, 0: dense LU of the active contacts */
    rb_block_lu lu;      /* sparse                                                               */
    double *G;           /* sparse: blocks as W; dense: active rows, row major                   */
    int *perm, *active;  /* dense: pivots (n) and the active contacts (nc)                       */
    double *u, *F;       /* velocity and equations at r                                  (n)     */
    double *dr, *trial;  /* step and trial point                                         (n)     */
    double *du, *work;   /* scratch                                                      (n)     */
    double *A, *B;       /* derivatives of F in r and u, blocks of a contact  (nc x dim x dim)   */
    unsigned char *mode; /* mode of each contact at r                                    (nc)    */
    int steps, factorisations;
    double pivot_ratio; /* least / largest pivot of the last dense LU, 1 = none                 */
} rb_newton;

/* Takes memory; analyses the pattern where it is sparse. */
rb_status rb_newton_make(const rb_cones *k, rb_arena *scratch, rb_newton *s);

/* At most max_steps Newton steps with line search on the problem with compliance eps added around
 * center (NULL: around 0): u = W r + q + eps (r - center). Returns the merit reached, the largest
 * |F_c| in velocity units; stops below goal, on stagnation, or when steps stop to help. */
double rb_newton_run(rb_newton *s, double eps, const double *center, double *r, int max_steps,
                     double goal);

/* Drives the measure of the certificate down by proximal Newton steps around the iterate itself
 * (so that eps does not change the solution). Returns the measure reached; r is the best point. */
double rb_newton_polish(rb_newton *s, double eps, double *r, int max_steps, double tol);

#endif
