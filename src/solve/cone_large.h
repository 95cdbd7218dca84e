/* The methods for islands of many contacts whose bodies are known. */
#ifndef RB_SOLVE_CONE_LARGE_H
#define RB_SOLVE_CONE_LARGE_H

#include "solve/newton.h"

enum { RB_MOST_LEAPING = 4000 }; /* contacts beyond which factors cost more than sweeps */

/* Tolerance up to which gaps are open to what steps may overlap by themselves [1]. Beyond, normals
 * are made exact (K.21). */
#define RB_LARGE_EXACT 1e-8

typedef struct rb_large_opts {
    double tol;     /* measure that is wanted                                            */
    double loose;   /* the one that will do for 1,001 contacts and more, where that takes too long;
                       0: none                                                           */
    int limit;      /* steps of Newton in all                                            */
    double closing; /* as in rb_solve_opts                                             */
} rb_large_opts;

typedef struct rb_large {
    double error; /* measure of the impulses found                                 */
    int loose;    /* it is between opts.tol and opts.loose, its normals are exact  */
    rb_rung rung; /* what found them                                               */
    int sweeps, steps, factorisations;
    double pivot_ratio; /* of the last factorisation                                */
} rb_large;

/* r: guess in, impulses out. */
rb_status rb_cone_large(const rb_cones *k, const rb_large_opts *opts, rb_arena *scratch, double *r,
                        rb_large *out);

#endif
