#include "base/meter.h"

#include <math.h>

/* Units between two questions to the caller: some 10 ms. */
#define ASK_EVERY 10000.0

/* The first one comes early: a step that takes a second may be one factorisation. */
rb_meter rb_meter_make(double most, int (*cancel)(void *ctx), void *ctx)
{
    double first = cancel ? 0.0 : most;
    return (rb_meter){ .most = most, .next = fmin(first, most), .cancel = cancel, .ctx = ctx };
}

void rb_meter_look(rb_meter *meter)
{
    if (meter->stopped != RB_OK) return;
    if (meter->all > meter->most)
        meter->stopped = RB_BUDGET;
    else if (meter->cancel && meter->cancel(meter->ctx))
        meter->stopped = RB_CANCELLED;
    meter->next = fmin(meter->most, meter->cancel ? meter->all + ASK_EVERY : meter->most);
}

double rb_meter_left(const rb_meter *meter)
{
    return meter ? fmax(0.0, meter->most - meter->all) : INFINITY;
}

int rb_meter_take(rb_meter *meter, const rb_meter *other)
{
    if (!meter) return 1;
    for (int k = 0; k < RB_WORK_KINDS; k++) meter->spent[k] += other->spent[k];
    meter->all += other->all;
    if (meter->stopped == RB_OK) meter->stopped = other->stopped;
    if (meter->all > meter->next) rb_meter_look(meter);
    return meter->stopped == RB_OK;
}
