/* Sensors with a memory: values of the past, and samples at a rate of their own. */
#include <string.h>

#include "sense/sense.h"

/* A sample is due this share of an interval early: steps add up with rounding [1]. */
#define EARLY 1e-6

typedef struct memory {
    double *last, *time, *value; /* the oldest sample first */
    int n, dim;
} memory;

static memory memory_of(const rb_sense *s, int i)
{
    const rb_model *m = s->m;
    double *past = s->d->sensor_past + m->sensor_pastadr[i];
    int n = m->sensor_nsample[i] + 1;
    return (memory){ past, past + 1, past + 1 + n, n, m->sensor_dim[i] };
}

static void put(memory *x, double t, const double *value)
{
    size_t dim = (size_t)x->dim;
    if (t > x->time[x->n - 1]) {
        memmove(x->time, x->time + 1, (size_t)(x->n - 1) * sizeof *x->time);
        memmove(x->value, x->value + dim, (size_t)(x->n - 1) * dim * sizeof *x->value);
    }
    x->time[x->n - 1] = t; /* asked again at the same time, it is the same sample */
    memcpy(x->value + (size_t)(x->n - 1) * dim, value, dim * sizeof *value);
}

/* Every step, or where an interval has passed since the sample before; the rate is kept where steps
 * do not divide the interval. */
static void sample(const rb_sense *s, int i, memory *x, const double *value)
{
    double interval = s->m->sensor_interval[i], t = s->d->time;
    if (interval > 0.0) {
        if (t == x->time[x->n - 1]) put(x, t, value);
        if (t < *x->last + interval * (1.0 - EARLY)) return;
        *x->last += interval;
        if (t >= *x->last + interval) *x->last = t; /* a jump in time */
    }
    put(x, t, value);
}

/* Slope at sample k by its neighbours (Catmull-Rom), one-sided at the ends. */
static double slope(const memory *x, int k, int c)
{
    int a = k > 0 ? k - 1 : k, b = k < x->n - 1 ? k + 1 : k;
    double dt = x->time[b] - x->time[a];
    return dt > 0.0 ? (x->value[b * x->dim + c] - x->value[a * x->dim + c]) / dt : 0.0;
}

static double between(const memory *x, int k, double t, int c, int interpolate)
{
    double a = x->value[k * x->dim + c], b = x->value[(k + 1) * x->dim + c];
    double h = x->time[k + 1] - x->time[k], u = (t - x->time[k]) / h;
    if (interpolate == 1) return a + u * (b - a);
    double ma = h * slope(x, k, c), mb = h * slope(x, k + 1, c), v = 1.0 - u;
    return v * v * (1.0 + 2.0 * u) * a + u * u * (3.0 - 2.0 * u) * b + u * v * v * ma -
           u * u * v * mb;
}

void rb_sense_delay(const rb_sense *s, int i, double *value)
{
    memory x = memory_of(s, i);
    int how = s->m->sensor_interpolate[i], k = x.n - 1;
    sample(s, i, &x, value);

    /* what is a sample to rounding is that sample */
    double t = s->d->time - s->m->sensor_delay[i], close = 1e-9 * s->m->option.timestep;
    while (k > 0 && x.time[k] > t + close) k--;
    for (int c = 0; c < x.dim; c++) {
        int exact = how == 0 || k == x.n - 1 || t <= x.time[k] + close;
        value[c] = exact ? x.value[k * x.dim + c] : between(&x, k, t, c, how);
    }
}
