/* Seconds of two clocks, both from an arbitrary beginning. */
#ifndef RATTLEBACK_CLI_CLOCK_H
#define RATTLEBACK_CLI_CLOCK_H

#include <time.h>

static inline double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double wall_seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

/* All threads of this process. */
static inline double processor_seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
