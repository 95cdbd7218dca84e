#include "model/history.h"

#include <stddef.h>
#include <string.h>

void rb_history_put(const rb_history *x, double t, const double *value)
{
    size_t dim = (size_t)x->dim;
    if (t > x->time[x->n - 1]) {
        memmove(x->time, x->time + 1, (size_t)(x->n - 1) * sizeof *x->time);
        memmove(x->value, x->value + dim, (size_t)(x->n - 1) * dim * sizeof *x->value);
    }
    x->time[x->n - 1] = t;
    memcpy(x->value + (size_t)(x->n - 1) * dim, value, dim * sizeof *value);
}

/* Slope at sample k by its neighbours, one-sided at the ends. */
static double slope(const rb_history *x, int k, int c)
{
    int a = k > 0 ? k - 1 : k, b = k < x->n - 1 ? k + 1 : k;
    double dt = x->time[b] - x->time[a];
    return dt > 0.0 ? (x->value[b * x->dim + c] - x->value[a * x->dim + c]) / dt : 0.0;
}

static double between(const rb_history *x, int k, double t, int c, int interpolate)
{
    double a = x->value[k * x->dim + c], b = x->value[(k + 1) * x->dim + c];
    double h = x->time[k + 1] - x->time[k], u = (t - x->time[k]) / h;
    if (interpolate == 1) return a + u * (b - a);
    double ma = h * slope(x, k, c), mb = h * slope(x, k + 1, c), v = 1.0 - u;
    return v * v * (1.0 + 2.0 * u) * a + u * u * (3.0 - 2.0 * u) * b + u * v * v * ma -
           u * u * v * mb;
}

void rb_history_read(const rb_history *x, double t, double close, int interpolate, double *out)
{
    int k = x->n - 1;
    while (k > 0 && x->time[k] > t + close) k--;
    for (int c = 0; c < x->dim; c++) {
        int exact = interpolate == 0 || k == x->n - 1 || t <= x->time[k] + close;
        out[c] = exact ? x->value[k * x->dim + c] : between(x, k, t, c, interpolate);
    }
}
