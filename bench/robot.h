/* Models and states for measurements of the dynamics. Uses the public headers only. */
#ifndef RB_BENCH_ROBOT_H
#define RB_BENCH_ROBOT_H

#include "rattleback/model.h"

/* A serial chain of `links` bodies on hinges, fixed to the world: lengths, masses and axes drawn
 * from a fixed seed. NULL: see err. */
rb_model *rb_bench_chain(int links, rb_error *err);

/* A random configuration within the limits, velocities and forces of unit size. q (nq), v (nv),
 * tau (nv). */
void rb_bench_state(const rb_model *m, rb_rng *rng, double *q, double *v, double *tau);

#endif
