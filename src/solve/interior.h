/* An interior-point method for many cones, on the bodies of newton_bodies.h. */
#ifndef RB_SOLVE_INTERIOR_H
#define RB_SOLVE_INTERIOR_H

#include "solve/newton_bodies.h"

/* Where a run begins and how bold it is. */
typedef struct rb_interior_plan {
    double margin; /* distance of the start from the boundaries, in units of the mean |q_c| [1]   */
    int cold;      /* 1: the start is the middle of all cones, not the guess moved inside         */
    double soft;   /* rounding of |u_t|, in units of the mean shifted velocity of the path [1]    */
    double sigma;  /* least share of mu that a step aims at [1]                                   */
} rb_interior_plan;

typedef struct rb_interior {
    const rb_cones *k;
    rb_bodies *bodies;
    rb_interior_plan plan;
    double *s, *w;   /* impulse and shifted velocity, both in Lorentz cones (K.16)   (n)       */
    double *ds, *dw; /* step                                                         (n)       */
    double *as, *aw; /* affine step                                                  (n)       */
    double *lam;     /* the scaled point P w = P^-1 s                                (n)       */
    double *point;   /* P = beta (2 t t' - J), t from this point                     (n)       */
    double *beta;    /*                                                              (nc)      */
    double *H;       /* P^2                                                          (nc x 9)  */
    double *u;       /* velocity at the impulses                                     (n)       */
    double *rest;    /* what w misses of the shifted velocity                        (n)       */
    double round;    /* of |u_t| in this step [m/s]                                            */
    double mu;       /* mean of s.w                                                            */
    double length;   /* of the last step, 1 = whole                                            */
} rb_interior;

rb_status rb_interior_make(const rb_cones *k, rb_bodies *bodies, rb_arena *scratch, rb_interior *x);

/* 1: the cones are wide enough to be scaled to right angles. */
int rb_interior_takes(const rb_cones *k);

/* The start, from the guess r. */
void rb_interior_start(rb_interior *x, const rb_interior_plan *plan, const double *r);

/* One predictor and corrector step, one factorisation; r gets the impulses. 0: no further. */
int rb_interior_step(rb_interior *x, double *r);

#endif
