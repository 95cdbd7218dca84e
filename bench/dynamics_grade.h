/* Random states of a model, and the residual of accelerations at them, found by inverse dynamics:
 *
 *     max_i |ID(qdd) - tau|_i / s_i   over   max_i (|tau|_i + |c|_i) / s_i,    s_i = sqrt M_ii
 *
 * s weighs dofs of different units against each other. */
#ifndef RB_BENCH_DYNAMICS_GRADE_H
#define RB_BENCH_DYNAMICS_GRADE_H

#include "dynamics_side.h"

typedef struct rb_grader {
    const rb_model *m;
    rb_data *d;
    double *q, *v, *tau; /* of all states, one after the other                                  */
    double *qdd;         /* accelerations to grade                                 (nv)         */
    double *back;        /* scratch                                                (nv)         */
} rb_grader;

/* 0: out of memory. */
int rb_grader_make(rb_grader *g, const rb_model *m);
void rb_grader_free(rb_grader *g);

/* Of g->qdd at state k; infinite where it is not a number. */
double rb_grader_residual(rb_grader *g, int k);

/* Makes the engine, runs it at all states and grades it. NULL: it does not take the model. */
void *rb_grader_try(rb_grader *g, const rb_side *side, double *residual);

#endif
