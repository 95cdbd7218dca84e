/* Newton on the Alart-Curnier equations with uniform compliance, for the solvers built on it. */
#ifndef RB_SOLVE_NEWTON_H
#define RB_SOLVE_NEWTON_H

#include "math/block_lu.h"
#include "solve/cone.h"
#include "solve/newton_bodies.h"
#include "solve/newton_thin.h"

typedef struct rb_newton {
    const rb_cones *k;
    int sparse;         /* 1: block LU of the whole pattern, 0: dense LU of the active contacts */
    rb_block_lu lu;     /* sparse                                                               */
    rb_bodies *bodies;  /* not NULL: they are the unknowns of the system instead                */
    rb_thin *thin;      /* not NULL: so are the degrees of freedom of a W of low rank           */
    double *G;          /* sparse: blocks as W; dense: active rows, row major                   */
    int *perm, *active; /* dense: pivots (n) and the active contacts (nc)                       */
    double *u, *F;      /* velocity and equations at r                                  (n)     */
    double *dr, *trial; /* step and trial point                                         (n)     */
    double *work;       /* scratch (n) */
    int nactive,
        *index; /* dense: contacts not open; position of a contact among them, -1 = open (nc) */
    unsigned char *factored; /* modes of the factored system (nc) */
    double *A, *B;       /* derivatives of F in r and u, blocks of a contact  (nc x dim x dim)   */
    unsigned char *mode; /* mode of each contact at r                                    (nc)    */
    int steps, factorisations;
    int limit;    /* steps in all, of every run together */
    int jumps;    /* compliances that took sweeps to get to */
    int straight; /* 1: a path is left where it jumps */
    double
        pivot_ratio; /* least / largest pivot of the last factorisation, 1 = none, -1: not known */
    double *center, *good; /* of polish and path (n) */
    double *eps;           /* compliance added to each contact (nc) */
    double *rho_t;         /* tangential rho, balanced (nc) */
    double *least;         /* point of least merit in a run (n) */
    double *u_from, *u_to; /* velocity at both ends of a step (n) */
    const double *scale;   /* dense: rows and columns are multiplied by it, NULL = ones (nc) */
} rb_newton;

/* Takes memory; analyses the pattern where it is sparse. */
rb_status rb_newton_make(const rb_cones *k, rb_arena *scratch, rb_newton *s);

/* s->A and s->B at r; s->u, s->mode and s->rho_t must be those of r. */
void rb_newton_linearise(rb_newton *s, const double *r);

/* Block (c, j) of Newton's matrix, A + B (W + eps) for the block W of the compliance. */
void rb_newton_block(const rb_newton *s, int c, int j, const double *W, double *out);

/* Factors the system of s->A, s->B, s->eps and s->mode. 0: singular. */
int rb_newton_factor(rb_newton *s);

/* Least over largest pivot of the system last factored: s->pivot_ratio, and where the small
 * system shows nothing of the contacts, that of a factorisation of their own. */
double rb_newton_pivots(rb_newton *s);

/* s->dr from s->F with the present factors. 0: the modes have changed since, or no finite answer.
 */
int rb_newton_solve(rb_newton *s);

/* How large velocities are at r: |q|_2 or the largest |r_c| / rho_c [m/s]. */
double rb_newton_scale(const rb_newton *s, const double *r);

/* Tangential rho of contacts that slide slowly, weighed anew at r (K.7). 1: some changed. */
int rb_newton_balance(rb_newton *s, const double *r);

/* Which compliance eps_c is added to contact c: the same for all, eps times the mean diagonal of W,
 * which selects one of several answers; or eps times the contact's own diagonal, which conditions
 * heavy and light bodies alike. */
typedef enum rb_compliance { RB_COMPLIANCE_UNIFORM, RB_COMPLIANCE_SCALED } rb_compliance;

void rb_newton_compliance(rb_newton *s, rb_compliance kind, double eps);

/* At most max_steps Newton steps with line search on the problem with the compliance set before,
 * around center (NULL: around 0): u_c = (W r + q)_c + eps_c (r - center)_c. Stops at rounding level
 * or when steps stop to help. 1: r solves that problem, 0: not. */
int rb_newton_run(rb_newton *s, const double *center, double *r, int max_steps);

/* s->u, s->F and s->mode at r, the compliance around r itself. */
void rb_newton_evaluate(rb_newton *s, const double *r);

/* One whole step around r itself, whether or not the merit falls. 0: there is none. */
int rb_newton_leap(rb_newton *s, double *r);

/* From a solution with compliance to one without: proximal steps, each a Newton run around the
 * last point, while the certificate's measure falls. Returns the measure of r. */
double rb_newton_polish(rb_newton *s, double *r, double tol);

/* Follows the solution with compliance from eps_start down to RB_UNIFORM_EPS, with Gauss-Seidel
 * sweeps where the path jumps, or not at all with s->straight. 1: arrived. */
int rb_newton_path(rb_newton *s, rb_compliance kind, double eps_start, double *r);

/* Compliance, relative to the mean diagonal of W, at which one of several answers is selected:
 * small enough to be the limit, large enough that rounding (1e-16 / eps) does not choose. */
#define RB_UNIFORM_EPS 1e-7

/* Least over largest pivot below which the least is that compliance: contacts are redundant [1]. */
#define RB_REDUNDANT (100.0 * RB_UNIFORM_EPS)

#endif
