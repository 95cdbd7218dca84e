/* Gauss-Seidel sweeps, mixed: fewer of them lead as far. */
#ifndef RB_SOLVE_CONE_MIX_H
#define RB_SOLVE_CONE_MIX_H

#include "solve/cone.h"

enum { RB_MIX_DEPTH = 8 }; /* pairs of sweeps that are mixed */

typedef struct rb_mix {
    const rb_cones *k;
    int known;      /* differences at hand: 0 .. RB_MIX_DEPTH                               */
    int next;       /* slot of the next one                                                 */
    int begun;      /* g and f are those of the last step                                   */
    double *g, *f;  /* impulses after the sweeps, and what the sweeps changed     (n) each  */
    double *dg;     /* differences of g from step to step        (RB_MIX_DEPTH x n)         */
    double *df;     /* differences of f                          (RB_MIX_DEPTH x n)         */
    double *weight; /* velocity per impulse, of each row                          (n)       */
    double *work;   /*                                                            (n)       */
    double last;    /* |f|^2 of the last step, weighed                                      */
    double gram[RB_MIX_DEPTH * RB_MIX_DEPTH]; /* df_i.df_j, weighed                         */
} rb_mix;

rb_status rb_mix_make(const rb_cones *k, rb_arena *scratch, rb_mix *m);

/* Two sweeps from r, forward and backward, and the mixed impulses in r. What was mixed before is
 * taken into account as long as r is what the last step returned; otherwise begin with
 * rb_mix_make. */
void rb_mix_step(rb_mix *m, double *r);

#endif
