/* Lemke's method in twofold arithmetic on a boxed problem with a little compliance: the rescue for
 * data whose own rounding decides between a solution and a ray. */
#ifndef RB_SOLVE_LEMKE_TWOFOLD_H
#define RB_SOLVE_LEMKE_TWOFOLD_H

#include "solve/partition.h"

typedef struct rb_lemke_twofold_job {
    const rb_boxed *b;
    double eps;           /* compliance, relative to each diagonal entry                        */
    const double *center; /* compliance acts on z - center; NULL: on z               (n)        */
    int max_pivots;

    /* out */
    double *z;          /* (n)                                                                  */
    unsigned char *set; /* final partition                                           (n)        */
    int solved;         /* 1: z0 left the basis; else z and set are as they were                */
    int pivots;
} rb_lemke_twofold_job;

/* RB_OK or RB_NOMEM; nothing is tried, and solved = 0, beyond RB_TWOFOLD_ROWS rows. */
rb_status rb_lemke_twofold_run(rb_lemke_twofold_job *job, rb_arena *scratch);

/* Rows of the dictionary, slack rows included: 16 n^2 bytes, and n^2 steps of some ns per pivot. */
enum { RB_TWOFOLD_ROWS = 1000 };

#endif
