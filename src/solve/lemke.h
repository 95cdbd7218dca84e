/* Lemke's method on a pure LCP, as the solver `lemke`, `auto` and the tests use it. */
#ifndef RB_SOLVE_LEMKE_H
#define RB_SOLVE_LEMKE_H

#include "solve/partition.h"

typedef enum rb_lemke_end {
    RB_LEMKE_SOLVED = 0, /* z0 left the basis: the set is complementary                          */
    RB_LEMKE_RAY,        /* a secondary ray; `ray` holds its z part                              */
    RB_LEMKE_LIMIT,      /* max_pivots were done                                                 */
    RB_LEMKE_LOST        /* a basis became numerically singular                                  */
} rb_lemke_end;

typedef struct rb_lemke_job {
    const rb_boxed *lcp;        /* lcp->lcp = 1                                                  */
    const unsigned char *start; /* a partition to start from, NULL: all rows open     (n)        */
    const double *cover;        /* covering vector > 0, cold start only, NULL: ones   (n)        */
    int max_pivots;
    int coarse; /* 1: pivots below 1e-7 of their column are noise (data with few good digits)    */
    int strict; /* 1: always the exact lexicographic rule (slower, smaller pivots)               */

    /* out */
    double *z;          /* (n)                                                                   */
    unsigned char *set; /* final partition                                            (n)        */
    double *ray;        /* z part of the ray, only where RB_LEMKE_RAY; may be NULL    (n)        */
    rb_lemke_end end;
    int pivots;
    int rebuilds; /* factorisations of the basis                                                 */
} rb_lemke_job;

/* One run; switches to the strict rule by itself when a basis repeats. RB_NOMEM or RB_OK. */
rb_status rb_lemke_run(rb_lemke_job *job, rb_arena *scratch);

/* A run, then the final partition factored afresh; t holds set, z and w of the better of the two
 * answers and *m grades it. job->z and job->set may be NULL, they are taken from scratch. */
rb_status rb_lemke_polished(rb_lemke_job *job, rb_partition *t, rb_arena *scratch, rb_measure *m);

/* Fills cover (n) with the deterministic perturbed covering vector, entries in [1, 2). */
void rb_lemke_cover(int n, unsigned seed, double *cover);

#endif
