/* The campaign of steps: random scenes simulated and every step looked at from outside. Counts are
 * integers and maxima: they do not depend on the number of threads. */
#ifndef RB_BENCH_STEPS_CAMPAIGN_H
#define RB_BENCH_STEPS_CAMPAIGN_H

#include "rattleback/step.h"
#include "steps_scene.h"

typedef enum steps_finding {
    STEPS_UNSOLVED = 0, /* a step was refused: a status, the state as before              */
    STEPS_CHANGED,      /* a refused step changed the state                               */
    STEPS_NOT_FINITE,   /* a number of the state is not one                               */
    STEPS_UNCERTIFIED,  /* accepted with a residual above the tolerance                   */
    STEPS_DEEP,         /* overlap beyond that of the start, over 1e-6 of the size        */
    STEPS_ENERGY,       /* energy out of nothing, over 1e-2 of what moves                */
    STEPS_REFUSED,      /* the scene could not be read or made                            */
    STEPS_FINDINGS
} steps_finding;

const char *steps_finding_name(int finding);

typedef struct steps_tally {
    uint64_t scenes, steps;
    uint64_t found[STEPS_FINDINGS]; /* scenes                                              */
    uint64_t repairs, fallbacks, resting;
    double residual;    /* worst [1]                                                       */
    double penetration; /* worst beyond the start, in units of the size [1]                */
    double energy;      /* worst, in units of the scene's energy [1]                       */
} steps_tally;

typedef struct steps_found {
    uint64_t seed;
    int family, finding, step;
    double number;    /* residual, overlap, energy          */
    const char *text; /* why a step was refused, else ""    */
} steps_found;

typedef struct steps_campaign {
    uint64_t first, count; /* seeds                              */
    int family;            /* -1: all                            */
    int steps;             /* of each scene                      */
    int threads;
    rb_step_opts step;
    /* may be NULL; one thread at a time */
    void (*found)(void *ctx, const steps_found *what);
    void (*progress)(void *ctx, uint64_t done);
    void *ctx;
    steps_tally tally[STEPS_FAMILIES];
} steps_campaign;

steps_campaign steps_campaign_default(void);
rb_status steps_campaign_run(steps_campaign *c);
void steps_campaign_sum(const steps_campaign *c, int family, steps_tally *sum); /* -1: all */

#endif
