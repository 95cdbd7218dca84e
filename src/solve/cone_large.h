/* The ladder for islands of many contacts whose bodies are known. */
#ifndef RB_SOLVE_CONE_LARGE_H
#define RB_SOLVE_CONE_LARGE_H

#include "solve/newton.h"

enum { RB_MOST_LEAPING = 4000 }; /* contacts beyond which factors cost more than sweeps */

/* Tolerance up to which gaps are open to what steps may overlap by themselves [1]. Beyond, normals
 * are made exact (K.23). */
#define RB_LARGE_EXACT 1e-8

typedef struct rb_large {
    double error; /* measure of the impulses found                                 */
    rb_rung rung; /* what found them                                               */
    int sweeps, steps, factorisations;
    double pivot_ratio; /* of the last factorisation                                */
} rb_large;

/* r: guess in, impulses out. limit: steps of Newton in all. */
rb_status rb_cone_large(const rb_cones *k, double tol, int limit, rb_arena *scratch, double *r,
                        rb_large *out);

#endif
