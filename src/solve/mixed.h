/* Rows as what they are, in one problem: normals, friction and bilateral rows.
 *
 *     u = W p + q
 *     normal     p >= 0,  u >= 0,  p u = 0
 *     bilateral  u = 0
 *     friction   |p_d| <= mu p_normal + bound,  u_d = 0 inside, else u_d points against p_d
 *
 * A friction disc has one row (torsion, dry friction of a joint, a tendon) or two (tangents, roll).
 * Coulomb's contact is a normal and a disc on it; dry friction of a joint is a disc with mu = 0.
 * Theory: docs/theory/cones.md, equations (K.29) to (K.32). */
#ifndef RB_SOLVE_MIXED_H
#define RB_SOLVE_MIXED_H

#include "base/arena.h"
#include "rattleback/solve.h"

typedef enum rb_row_kind { RB_ROW_NORMAL = 0, RB_ROW_BILATERAL, RB_ROW_FRICTION } rb_row_kind;

typedef struct rb_disc {
    int row, dim; /* its rows: 1 or 2                                                       */
    int normal;   /* row of the normal that presses, -1: none                               */
    double mu;    /* radius over that impulse [1], [m] of torsion and roll                  */
    double bound; /* radius without it [N s]                                                */
} rb_disc;

typedef struct rb_mixed {
    int n, ld;                 /* rows; from row to row of W                                     */
    const double *W;           /* symmetric, positive semidefinite; NULL: it is G G' (n x ld)    */
    const double *G;           /* where W is NULL                                   (n x r)      */
    int r;                     /* columns of G                                                   */
    const double *q;           /* velocity without impulses                         (n)          */
    const unsigned char *kind; /* rb_row_kind                                       (n)          */
    const double *compliance;  /* trace that makes W regular [unit of W_ii]         (n)          */
    int ndisc;
    const rb_disc *disc;
    int rough; /* 1: a hundredth of the tolerance will do, where digits beyond it come cheap     */
} rb_mixed;

typedef struct rb_mixed_result {
    int solved; /* the solver believes so; the certificate decides */
    int iterations, factorisations;
} rb_mixed_result;

/* p is guess in, answer out: Newton's method on (K.31) from the guess, then along decreasing
 * compliance. mode: rb_mode of each row (n). tol: residual relative to |q|. RB_NOMEM only. */
rb_status rb_mixed_solve(const rb_mixed *x, double tol, rb_arena *scratch, double *p,
                         unsigned char *mode, rb_mixed_result *result);

/* The certificate of p and the velocities u, by code of its own (mixed_residual.c): (C.10) for
 * normals with a disc of two rows, (C.8) for all others. Needs no W but its diagonal (n). */
void rb_mixed_residual(const rb_mixed *x, const double *diagonal, const double *p, const double *u,
                       rb_certificate *cert);

#endif
