/* rattleback: forward dynamics as the library chooses, by articulated bodies, by the mass matrix,
 * and with the compliance of four points in addition. */
#include <stdlib.h>
#include <string.h>

#include "rattleback/dynamics.h"
#include "dynamics_side.h"

enum { POINTS = 4 };

typedef struct engine {
    const rb_model *m;
    rb_data *d;
    double *q, *v, *tau; /* of all states */
    double *qdd;
    rb_point points[POINTS];
    double W[9 * POINTS * POINTS];
} engine;

static void release(void *handle)
{
    engine *e = handle;
    rb_data_free(e->d);
    free(e->q);
    free(e->v);
    free(e->tau);
    free(e->qdd);
    free(e);
}

static double *numbers(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

static void *make(const rb_model *m)
{
    engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->m = m;
    e->d = rb_data_new(m, NULL);
    e->q = numbers(RB_SIDE_STATES * m->nq);
    e->v = numbers(RB_SIDE_STATES * m->nv);
    e->tau = numbers(RB_SIDE_STATES * m->nv);
    e->qdd = numbers(m->nv);
    for (int k = 0; k < POINTS; k++)
        e->points[k].body = m->nbody - 1 - k > 0 ? m->nbody - 1 - k : 1;
    if (e->d && e->q && e->v && e->tau && e->qdd) return e;
    release(e);
    return NULL;
}

static void give(void *handle, int k, const double *q, const double *v, const double *tau)
{
    engine *e = handle;
    memcpy(e->q + k * e->m->nq, q, (size_t)e->m->nq * sizeof *q);
    memcpy(e->v + k * e->m->nv, v, (size_t)e->m->nv * sizeof *v);
    memcpy(e->tau + k * e->m->nv, tau, (size_t)e->m->nv * sizeof *tau);
}

/* The state goes into rb_data, as it does for a user: this is part of the time. */
static const double *set(engine *e, int k)
{
    memcpy(e->d->q, e->q + k * e->m->nq, (size_t)e->m->nq * sizeof *e->q);
    memcpy(e->d->v, e->v + k * e->m->nv, (size_t)e->m->nv * sizeof *e->v);
    return e->tau + k * e->m->nv;
}

static void take(void *handle, int k, double *qdd)
{
    engine *e = handle;
    (void)k;
    memcpy(qdd, e->qdd, (size_t)e->m->nv * sizeof *qdd);
}

static void run_forward(void *handle, int k)
{
    engine *e = handle;
    const double *tau = set(e, k);
    rb_forward(e->m, e->d, tau, e->qdd);
}

static void run_aba(void *handle, int k)
{
    engine *e = handle;
    const double *tau = set(e, k);
    rb_kinematics(e->m, e->d);
    rb_velocity(e->m, e->d);
    rb_aba_factor(e->m, e->d, NULL, NULL);
    rb_aba_solve(e->m, e->d, tau, e->qdd);
}

static void run_mass(void *handle, int k)
{
    engine *e = handle;
    const double *tau = set(e, k);
    rb_kinematics(e->m, e->d);
    rb_velocity(e->m, e->d);
    rb_bias(e->m, e->d);
    rb_mass(e->m, e->d);
    rb_mass_factor(e->m, e->d);
    for (int i = 0; i < e->m->nv; i++) e->qdd[i] = tau[i] - e->d->c[i];
    rb_mass_solve(e->m, e->d, e->qdd);
}

/* Forward dynamics and W of four points on the last bodies, at their origins. */
static void run_compliance(void *handle, int k)
{
    engine *e = handle;
    run_aba(handle, k);
    for (int p = 0; p < POINTS; p++) {
        int link = e->m->body_link[e->points[p].body];
        memcpy(e->points[p].pos, e->d->link_p + 3 * link, sizeof e->points[p].pos);
    }
    rb_upsilon(e->m, e->d);
    rb_compliance(e->m, e->d, POINTS, e->points, e->W);
}

static const rb_side forward_side = { "rb_forward", make, give, run_forward, take, release };
static const rb_side aba_side = { "rb aba", make, give, run_aba, take, release };
static const rb_side mass_side = { "rb crba", make, give, run_mass, take, release };
static const rb_side compliance_side = { "rb aba + compliance", make, give,
                                         run_compliance,        take, release };
const rb_side *const rb_ours_sides[] = { &forward_side, &aba_side, &mass_side, &compliance_side,
                                         NULL };
