/* Every complementary cone of a small pure LCP: the last method, and a proof where it fails. */
#ifndef RB_SOLVE_ENUMERATE_H
#define RB_SOLVE_ENUMERATE_H

#include "solve/partition.h"

enum { RB_ENUMERATE_MAX = 16 };

typedef enum rb_enumerate_end {
    RB_ENUMERATE_SOLVED = 0,
    RB_ENUMERATE_NONE,   /* q is outside every cone by a clear margin: there is no solution      */
    RB_ENUMERATE_UNCLEAR /* no cone holds q, but some miss it by less than rounding may hide     */
} rb_enumerate_end;

typedef struct rb_enumerate_job {
    const rb_boxed *lcp; /* lcp->lcp = 1, n <= RB_ENUMERATE_MAX                                  */
    double tol;
    rb_partition *t; /* out: set and z of the answer                                             */
    rb_measure m;
    rb_enumerate_end end;
    int cones; /* examined                                                                       */
} rb_enumerate_job;

rb_status rb_enumerate_run(rb_enumerate_job *job, rb_arena *scratch);

#endif
