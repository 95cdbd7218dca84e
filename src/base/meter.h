/* Work of a step, counted and not timed, so that where it ends is the same on every machine.
 *
 * One unit is about a thousand multiplications and additions. A meter belongs to an arena, and so
 * to all code that uses the scratch of that arena: solvers, collision and dynamics add to it the
 * work that they are about to do. When it has stopped, nothing that is computed counts any more:
 * loops end as if they had reached their limit, and the step is refused. */
#ifndef RB_BASE_METER_H
#define RB_BASE_METER_H

#include "base/arena.h"

typedef enum rb_work {
    RB_WORK_FACTOR = 0, /* factorisations, by their size                  */
    RB_WORK_SWEEP,      /* sweeps, pivots, products with a matrix         */
    RB_WORK_PAIR,       /* pairs of geoms that were examined              */
    RB_WORK_MOTION,     /* forward dynamics                               */
    RB_WORK_KINDS
} rb_work;

typedef struct rb_meter {
    double spent[RB_WORK_KINDS];
    double all;  /* their sum                                              */
    double most; /* what may be spent; INFINITY: as much as it takes      */
    double next; /* at which cancel is called again, or most is passed    */
    int (*cancel)(void *ctx);
    void *ctx;
    rb_status stopped; /* RB_OK, RB_BUDGET or RB_CANCELLED                 */
} rb_meter;

rb_meter rb_meter_make(double most, int (*cancel)(void *ctx), void *ctx);

/* Out of line: calls cancel, compares the sum. */
void rb_meter_look(rb_meter *meter);

/* 1: continue. meter may be NULL. */
static inline int rb_meter_add(rb_meter *meter, rb_work kind, double units)
{
    if (!meter) return 1;
    meter->spent[kind] += units;
    meter->all += units;
    if (meter->all > meter->next) rb_meter_look(meter);
    return meter->stopped == RB_OK;
}

/* What is left to spend; and what another meter has spent of it, 1: continue. */
double rb_meter_left(const rb_meter *meter);
int rb_meter_take(rb_meter *meter, const rb_meter *other);

static inline int rb_meter_stopped(const rb_meter *meter)
{
    return meter && meter->stopped != RB_OK;
}

/* Units of a dense factorisation of n rows. */
static inline double rb_work_dense(double n)
{
    return 1e-3 * n * n * (n / 3.0 + 2.0);
}

#endif
