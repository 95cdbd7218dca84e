/* Derivatives along the motion: states at h before and after, with the velocity held or changed at
 * a given rate, for comparing formulas with differences. */
#ifndef RB_FLOW_SUPPORT_H
#define RB_FLOW_SUPPORT_H

#include "tree_support.h"

/* Step of the differences [s]: with speeds of some rad/s the h^4 term and rounding / h are both
 * below 1e-9 of the size of the result. */
#define FLOW_STEP 2e-4

typedef struct flow {
    double *q, *v, *qdd; /* where it starts; qdd NULL: the velocity is held */
} flow;

static inline flow flow_open(const tree *t, const double *qdd)
{
    flow f = { 0 };
    f.q = malloc((size_t)(t->m->nq + 1) * sizeof *f.q);
    f.v = malloc((size_t)(t->m->nv + 1) * sizeof *f.v);
    if (!f.q || !f.v) test_fail(__FILE__, __LINE__, "out of memory");
    memcpy(f.q, t->d->q, (size_t)t->m->nq * sizeof *f.q);
    memcpy(f.v, t->d->v, (size_t)t->m->nv * sizeof *f.v);
    if (qdd) {
        f.qdd = malloc((size_t)(t->m->nv + 1) * sizeof *f.qdd);
        if (!f.qdd) test_fail(__FILE__, __LINE__, "out of memory");
        memcpy(f.qdd, qdd, (size_t)t->m->nv * sizeof *f.qdd);
    }
    return f;
}

static inline void flow_close(flow *f)
{
    free(f->q);
    free(f->v);
    free(f->qdd);
}

/* State at time s: v + s qdd, and q moved by the mean velocity v + s qdd / 2. The coordinates are
 * wrong by a multiple of s^3, whose derivative at 0 is none and stays none in the formula below. */
static inline void flow_at(const flow *f, tree *t, double s)
{
    double *mean = malloc((size_t)(t->m->nv + 1) * sizeof *mean);
    if (!mean) test_fail(__FILE__, __LINE__, "out of memory");
    for (int i = 0; i < t->m->nv; i++) {
        double a = f->qdd ? f->qdd[i] : 0.0;
        mean[i] = f->v[i] + 0.5 * s * a;
        t->d->v[i] = f->v[i] + s * a;
    }
    rb_integrate(t->m, f->q, mean, s, t->d->q);
    free(mean);
    rb_kinematics(t->m, t->d);
    rb_velocity(t->m, t->d);
}

/* Derivative at time 0 of n numbers that `read` takes from the state, by the formula of fourth
 * order; the state is left at 0. */
typedef void flow_reader(tree *t, void *context, double *out);

static inline void flow_derivative(const flow *f, tree *t, flow_reader *read, void *context, int n,
                                   double *out)
{
    static const double at[4] = { -2.0, -1.0, 1.0, 2.0 }, weight[4] = { 1.0, -8.0, 8.0, -1.0 };
    double *x = malloc((size_t)(n + 1) * sizeof *x);
    if (!x) test_fail(__FILE__, __LINE__, "out of memory");
    for (int i = 0; i < n; i++) out[i] = 0.0;
    for (int k = 0; k < 4; k++) {
        flow_at(f, t, at[k] * FLOW_STEP);
        read(t, context, x);
        for (int i = 0; i < n; i++) out[i] += weight[k] * x[i] / (12.0 * FLOW_STEP);
    }
    free(x);
    flow_at(f, t, 0.0);
}

#endif
