/* The campaign: a range of corpus problems solved cold, solved warm after a small change, graded by
 * code of its own, and counted. Everything in the counts is an integer or a maximum, so that the
 * result does not depend on the number of threads or on where a run was interrupted. */
#ifndef RB_BENCH_CORPUS_CAMPAIGN_H
#define RB_BENCH_CORPUS_CAMPAIGN_H

#include "corpus.h"

#include <stdio.h>

enum { CAMPAIGN_COLD = 0, CAMPAIGN_WARM, CAMPAIGN_STARTS };

/* Velocities compared on a sample: warm with cold, permuted with plain, another solver. */
enum { CAMPAIGN_VS_COLD = 0, CAMPAIGN_VS_PERMUTED, CAMPAIGN_VS_OTHER, CAMPAIGN_COMPARISONS };

enum { CAMPAIGN_TIME_BINS = 512 }; /* sixteen to an octave, from 2^-4 us */

typedef struct campaign_tally {
    uint64_t problems;
    uint64_t solved[CAMPAIGN_STARTS];      /* called solved, and the grade agrees              */
    uint64_t wrong[CAMPAIGN_STARTS];       /* called solved, and the grade does not            */
    uint64_t uncertified[CAMPAIGN_STARTS]; /* not called solved                                */
    uint64_t rungs[CAMPAIGN_STARTS][RB_RUNG_COUNT];
    uint64_t time[CAMPAIGN_STARTS][CAMPAIGN_TIME_BINS];
    uint64_t compared[CAMPAIGN_COMPARISONS];
    uint64_t differ[CAMPAIGN_COMPARISONS]; /* by more than 1e-8 of the speed of the problem     */
    double worst[CAMPAIGN_STARTS];         /* largest grade among the solved                    */
} campaign_tally;

typedef struct campaign_result {
    uint64_t done; /* problems first .. first + done - 1 are in */
    campaign_tally tally[RB_CORPUS_FAMILIES][RB_CORPUS_FORMS];
} campaign_result;

/* What a problem was kept for. */
typedef enum campaign_finding {
    CAMPAIGN_WRONG = 0,
    CAMPAIGN_UNCERTIFIED,
    CAMPAIGN_DIFFERS
} campaign_finding;

typedef struct campaign_opts {
    uint64_t first, count;   /* seeds                                                          */
    rb_corpus_opts corpus;   /* family, form, contacts                                         */
    const rb_solver *solver; /* problems it does not accept are left out                       */
    double tol_lcp;          /* relative residual asked for, LCP and box                       */
    double tol_cone;         /* and cones                                                      */
    double perturb;          /* relative change before the warm solve                          */
    int sample;              /* velocities are compared on every sample-th seed, 0: never      */
    int unique_every;        /* the uniform-compliance answer on every such seed, 1: always     */
    int threads;

    /* Both may be NULL and are called by one thread at a time. `progress` after each batch, 0 to
     * go on, anything else to stop there. */
    int (*progress)(void *ctx, const campaign_result *result);
    void (*found)(void *ctx, const rb_corpus_problem *p, campaign_finding what, double number);
    void *ctx;
} campaign_opts;

/* auto, 1e-9 and 1e-8, one percent, every 16th, always unique, one thread. */
campaign_opts campaign_opts_default(void);

/* Continues from result->done. */
rb_status campaign_run(const campaign_opts *o, campaign_result *result);

/* Sums and quantiles. family or form -1: all. */
void campaign_sum(const campaign_result *r, int family, int form, campaign_tally *sum);
double campaign_quantile(const campaign_tally *t, int start, double share); /* [us] */

/* The state of an interrupted run, as text. Loading checks that the file belongs to the same
 * options and says RB_BAD_INPUT where it does not. */
rb_status campaign_save(const campaign_opts *o, const campaign_result *r, FILE *file);
rb_status campaign_load(const campaign_opts *o, campaign_result *r, FILE *file);

const char *campaign_finding_name(campaign_finding what);

#endif
