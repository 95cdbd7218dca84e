/* Newton's system of the cones eliminated down to the bodies, for islands of many contacts. */
#ifndef RB_SOLVE_NEWTON_BODIES_H
#define RB_SOLVE_NEWTON_BODIES_H

#include "math/block_lu.h"
#include "solve/cone.h"

/* W = Y Y', Y by blocks of 6 degrees of freedom: a free body is one, a tree of more several. */
typedef struct rb_bodies {
    int nc, nb;
    int *first;     /* contact c has entries first[c] .. first[c + 1] - 1          (nc + 1)      */
    int *block;     /* block of an entry                                           (entries)     */
    double *Y;      /* rows of the contact in the columns of that block            (entries x 18)*/
    int *ptr, *col; /* pattern of K                                                (nb + 1), ..  */
    int *pair;      /* contact c: first pair of its entries                        (nc + 1)      */
    int *at;        /* place in K of each pair of entries of a contact                           */
    double *K;      /* I + Y'DY (K.10)                                             (.. x 36)     */
    double *C, *D;  /* (A + eps B)^-1, and times B                                 (nc x 9) each */
    double *v;      /* velocities of the blocks                                    (6 nb)        */
    double *work;   /*                                                             (6 nb)        */
    rb_block_lu lu;
} rb_bodies;

/* *out = NULL where the problem does not say what W is made of, or is too small for this
 * to pay. */
rb_status rb_bodies_make(const rb_cones *k, rb_arena *scratch, rb_bodies **out);

/* Factors I + Y'DY for the blocks s->D; contacts whose mode is open have D = 0 (mode may be NULL).
 */
/* Thousands of multiplications of that. What the meter counts is less: blocks of six run by
 * vectors, 9e9 multiplications a second where units stand for 1e9 to 4e9. */
static inline double rb_bodies_work(const rb_bodies *s)
{
    return rb_block_lu_work(&s->lu);
}

static inline double rb_bodies_units(const rb_bodies *s)
{
    return 0.25 * rb_bodies_work(s);
}

void rb_bodies_factor(rb_bodies *s, const unsigned char *mode);

/* dr: b in, b - D du out with (I + D W) dr = b; du = W dr, may be NULL. */
void rb_bodies_solve(rb_bodies *s, double *dr, double *du);

/* s->D and s->C for Newton's system; A, B: derivatives of F in r and u (nc x 9); eps (nc). */
void rb_bodies_linearise(rb_bodies *s, const double *A, const double *B, const double *eps);

/* dr with (A + B (W + eps)) dr = -F. */
void rb_bodies_newton(rb_bodies *s, const double *F, double *dr);

#endif
