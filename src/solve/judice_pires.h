/* Principal exchanges on partitions: the engine of `judice-pires` and `murty`, of the warm start of
 * `auto` and of the uniform-compliance limit. */
#ifndef RB_SOLVE_JUDICE_PIRES_H
#define RB_SOLVE_JUDICE_PIRES_H

#include "solve/partition.h"

typedef enum rb_exchange_end {
    RB_EXCHANGE_SOLVED = 0, /* every sign is right                                               */
    RB_EXCHANGE_LIMIT,      /* max_steps were done                                               */
    RB_EXCHANGE_CYCLE       /* a partition came back                                             */
} rb_exchange_end;

typedef struct rb_exchange_job {
    const rb_boxed *b;
    const double *shift;     /* added to the diagonal of W, NULL: nothing          (n)           */
    rb_partition *t;         /* in: t->set; out: set, z and w of the last step                   */
    unsigned char *best_set; /* out: the partition with the fewest wrong signs     (n)           */
    int max_steps;           /* factorisations                                                   */
    int blocks;              /* block exchanges without progress before single ones; 0: Murty's
                                least-index rule from the start                                  */
    double sign_tol;         /* scaled sign violation that counts, 0: at rounding level          */
    int single;              /* 0: end with RB_EXCHANGE_CYCLE instead of single exchanges        */

    rb_exchange_end end;
    int steps;
    int wrong; /* wrong signs of best_set                                                        */
} rb_exchange_job;

/* RB_OK or RB_NOMEM. */
rb_status rb_exchange_run(rb_exchange_job *job, rb_arena *scratch);

/* A whole solve by exchanges, for the solvers of that kind. */
rb_status rb_exchange_solve(const rb_problem *p, const rb_solve_opts *o, int blocks,
                            rb_arena *scratch, double *z, rb_info *info);

#endif
