/* Runs one solve of either library in a child process with a time limit, so that a crash or a hang
 * costs one table entry; both libraries go through the same code. */
#ifndef RB_BENCH_SICONOS_HARNESS_H
#define RB_BENCH_SICONOS_HARNESS_H

#include <stdio.h>

#include "rattleback/solve.h"

typedef enum trial_state {
    TRIAL_RAN = 0, /* returned; the grade says how good the answer is */
    TRIAL_TIMEOUT,
    TRIAL_CRASHED
} trial_state;

typedef struct trial {
    trial_state state;
    double us;    /* smallest of the repeats                           */
    double grade; /* relative natural residual, INFINITY: none         */
    int repeats;
} trial;

/* One solve from scratch: writes z and the time of the solver call alone. */
typedef void (*trial_solve)(void *ctx, double *z, double *us);

typedef struct trial_limits {
    int repeats;
    double budget_s; /* no further repeat after this much time  */
    double limit_s;  /* the child is ended after this much time */
} trial_limits;

/* z (n) gets the answer of the first repeat that returned. */
trial trial_run(trial_solve solve, void *ctx, const rb_problem *graded, trial_limits limits,
                double *z);

const char *trial_name(trial_state state);
double trial_now_us(void);

/* Ties this process and its children to one core; returns it, -1 where that failed. */
int trial_pin(void);

/* ---- the two sides -------------------------------------------------------------------------- */

/* Our solver; start NULL = cold. */
typedef struct ours {
    const rb_problem *problem;
    rb_solve_opts opts;
    const double *start;             /* warm start       (n) */
    const unsigned char *start_mode; /*                  (n) */
    unsigned char *mode;             /* scratch          (n) */
} ours;
void ours_solve(void *ctx, double *z, double *us);

/* Lemke of Siconos on a dense LCP: lexicographic, or the one in its family of pivoting codes. */
typedef struct siconos_lcp {
    const rb_problem *problem;
    double *column_major; /* W (n x n) */
    int pivot_code;       /* 1: the second */
} siconos_lcp;
void siconos_lcp_solve(void *ctx, double *z, double *us);

/* A friction solver of Siconos; `dense` is our W, row major. */
typedef struct siconos_friction {
    const rb_problem *problem;
    const double *dense;
    int solver;  /* SICONOS_FRICTION_...                     */
    int local;   /* its local solver, 0 = default            */
    int storage; /* NM_DENSE, NM_SPARSE or NM_SPARSE_BLOCK   */
    double tol;
    int max_iter;
} siconos_friction;
void siconos_friction_solve(void *ctx, double *r, double *us);

/* ---- the parts of the comparison ------------------------------------------------------------ */

/* Each writes its CSV files and appends its section to `report`. 0: done. */
int compare_lcp(const char *folder, FILE *report, int problems);
int compare_friction(const char *folder, FILE *report, const char *file, double limit_s);

#endif
