#include "dynamics_grade.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/dynamics.h"
#include "robot.h"

#define STATE_SEED UINT64_C(2026)

static double *numbers(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

int rb_grader_make(rb_grader *g, const rb_model *m)
{
    *g = (rb_grader){ .m = m, .d = rb_data_new(m, NULL) };
    g->q = numbers(RB_SIDE_STATES * m->nq);
    g->v = numbers(RB_SIDE_STATES * m->nv);
    g->tau = numbers(RB_SIDE_STATES * m->nv);
    g->qdd = numbers(m->nv);
    g->back = numbers(m->nv);
    if (!g->d || !g->q || !g->v || !g->tau || !g->qdd || !g->back) {
        rb_grader_free(g);
        return 0;
    }
    rb_rng rng = rb_rng_make(STATE_SEED);
    for (int k = 0; k < RB_SIDE_STATES; k++)
        rb_bench_state(m, &rng, g->q + k * m->nq, g->v + k * m->nv, g->tau + k * m->nv);
    return 1;
}

void rb_grader_free(rb_grader *g)
{
    rb_data_free(g->d);
    free(g->q);
    free(g->v);
    free(g->tau);
    free(g->qdd);
    free(g->back);
}

double rb_grader_residual(rb_grader *g, int k)
{
    const rb_model *m = g->m;
    const double *tau = g->tau + k * m->nv;
    memcpy(g->d->q, g->q + k * m->nq, (size_t)m->nq * sizeof *g->q);
    memcpy(g->d->v, g->v + k * m->nv, (size_t)m->nv * sizeof *g->v);
    rb_kinematics(m, g->d);
    rb_velocity(m, g->d);
    rb_bias(m, g->d);
    rb_mass(m, g->d);
    rb_inverse(m, g->d, g->qdd, g->back);
    double error = 0.0, scale = 0.0;
    for (int i = 0; i < m->nv; i++) {
        double s = sqrt(g->d->M[m->dof_Madr[i]]);
        if (isnan(g->back[i])) return INFINITY;
        error = fmax(error, fabs(g->back[i] - tau[i]) / s);
        scale = fmax(scale, (fabs(tau[i]) + fabs(g->d->c[i])) / s);
    }
    return error / scale;
}

void *rb_grader_try(rb_grader *g, const rb_side *side, double *residual)
{
    const rb_model *m = g->m;
    void *engine = side->make(m);
    *residual = 0.0;
    for (int k = 0; engine && k < RB_SIDE_STATES; k++) {
        side->give(engine, k, g->q + k * m->nq, g->v + k * m->nv, g->tau + k * m->nv);
        side->run(engine, k);
        side->take(engine, k, g->qdd);
        *residual = fmax(*residual, rb_grader_residual(g, k));
    }
    return engine;
}
