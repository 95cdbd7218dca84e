/* Sensors with a memory: values of the past, and samples at a rate of their own. */
#include "model/history.h"
#include "sense/sense.h"

/* A sample is due this share of an interval early: steps add up with rounding [1]. */
#define EARLY 1e-6

typedef struct memory {
    double *last; /* time of the last sample */
    rb_history past;
} memory;

static memory memory_of(const rb_sense *s, int i)
{
    const rb_model *m = s->m;
    double *past = s->d->sensor_past + m->sensor_pastadr[i];
    int n = m->sensor_nsample[i] + 1;
    return (memory){ past, { past + 1, past + 1 + n, n, m->sensor_dim[i] } };
}

/* Every step, or where an interval has passed since the sample before; the rate is kept where steps
 * do not divide the interval. */
static void sample(const rb_sense *s, int i, const memory *x, const double *value)
{
    double interval = s->m->sensor_interval[i], t = s->d->time;
    if (interval > 0.0) {
        if (t == x->past.time[x->past.n - 1]) rb_history_put(&x->past, t, value);
        if (t < *x->last + interval * (1.0 - EARLY)) return;
        *x->last += interval;
        if (t >= *x->last + interval) *x->last = t; /* a jump in time */
    }
    rb_history_put(&x->past, t, value);
}

void rb_sense_delay(const rb_sense *s, int i, double *value)
{
    memory x = memory_of(s, i);
    sample(s, i, &x, value);
    rb_history_read(&x.past, s->d->time - s->m->sensor_delay[i], 1e-9 * s->m->option.timestep,
                    s->m->sensor_interpolate[i], value);
}
