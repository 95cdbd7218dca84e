/* Interior points on Coulomb's law itself, for islands of many contacts whose bodies are known. */
#ifndef RB_SOLVE_CONE_INTERIOR_H
#define RB_SOLVE_CONE_INTERIOR_H

#include "solve/cone.h"

typedef struct rb_interior_opts {
    double tol;     /* measure that is wanted                                          */
    double closing; /* fastest approach that may be left; 0: any                        */
    int limit;      /* factorisations                                                  */
    int warm;       /* 1: r holds a guess                                              */
    int impatient;  /* 1: it ends where steps stay short, there is another way         */
    int careful;    /* 1: products stay well above what velocities miss                */
} rb_interior_opts;

typedef struct rb_interior {
    double error; /* measure of the impulses found                                   */
    int factorisations;
    double pivot_ratio; /* of the last one                                                 */
    double work;        /* of one, in units of meter.h                                     */
} rb_interior;

/* r: guess in, the best impulses met out, within their cones. error = INFINITY: the bodies are not
 * known, r is as it was. */
rb_status rb_cone_interior(const rb_cones *k, const rb_interior_opts *opts, rb_arena *scratch,
                           double *r, rb_interior *out);

#endif
