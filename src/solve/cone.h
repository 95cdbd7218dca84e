/* What the cone solvers share: the prepared problem, and the geometry of one Coulomb cone.
 * Equations (K.1) to (K.8), (K.12) of docs/theory/cones.md. */
#ifndef RB_SOLVE_CONE_H
#define RB_SOLVE_CONE_H

#include "base/meter.h"
#include "solve/matrix.h"

enum { RB_MANY_CONTACTS = 101 }; /* below, contacts themselves are the unknowns of Newton */

/* A cone problem with W as blocks of one contact each. */
typedef struct rb_cones {
    int nc, dim, n;
    rb_matrix W;      /* RB_BSR, bs = dim, symmetric pattern with diagonal                     */
    int *diag;        /* entry of the diagonal block of contact c                (nc)          */
    const double *q;  /* velocity without impulses [m/s]                         (n)           */
    const double *mu; /*                                                         (nc)          */
    double *rho;      /* 1 / mean diagonal of W_cc [N s per m/s]                 (nc)          */
    double mean;      /* mean diagonal of W [m/s per N s]                                      */
    double q_norm;    /* |q|_2, 1 where q = 0                                                  */
    const rb_operator *op;    /* W without the rounding of its entries, NULL: there is none       */
    const rb_operator *parts; /* what W is made of, NULL: not known                            */
    const int *contact; /* contacts of the problem of op and parts, NULL: all of them (nc)     */
    rb_meter *meter;    /* NULL: work is not counted                                              */
    int many; /* RB_MANY_CONTACTS or more, or some of so many: bodies are the unknowns if known   */
} rb_cones;

rb_status rb_cones_make(const rb_problem *p, rb_arena *scratch, rb_cones *k);

/* Units of a product with W. */
static inline double rb_cones_work(const rb_cones *k)
{
    return 1e-3 * k->W.ptr[k->nc] * k->dim * k->dim;
}

/* u = W r + q; zero where the meter has stopped. */
void rb_cones_velocity(const rb_cones *k, const double *r, double *u);

/* |r - P_K(r - (u + mu |u_t| n))|_2 / |q|_2: what the certificate will say, in the solvers' own
 * words, to know when to stop. */
double rb_cones_error(const rb_cones *k, const double *r, const double *u);

/* |x_t| of one contact. */
double rb_cone_tangent(const double *x, int dim);

/* P_K(x), in place, K = { |x_t| <= mu x_n }. */
void rb_cone_project(double *x, double mu, int dim);

/* The modes a solution shows: open, stick or slide, by the size of r and u. */
void rb_cones_modes(const rb_cones *k, const double *r, const double *u, unsigned char *mode);

/* Solves one contact exactly: given W (dim x dim) and b, u = W r + b with K_mu containing r,
 * perpendicular to u + mu |u_t| n in K_mu*. r: guess in, answer out. Returns 0 where no solution
 * was found (r is then a projected step). */
int rb_cone_local(const double *W, const double *b, double mu, int dim, double *r);

#endif
