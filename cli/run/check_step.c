#include "run/check_step.h"

#include <math.h>

/* Steps of half the length to the time at which the run ended. */
static int run_halves(const rb_model *m, rb_data **d, double end, const rb_step_opts *opts)
{
    rb_step_opts o = *opts;
    rb_step_info info;
    o.h = 0.5 * (opts->h > 0.0 ? opts->h : m->option.timestep);
    while ((*d)->time < end - 0.5 * o.h) {
        rb_status status = rb_step(m, *d, &o, &info, NULL);
        if (status == RB_FULL) status = rb_data_reserve(m, d, 2 * info.contacts + 16);
        if (status != RB_OK) return 0;
    }
    return 1;
}

/* Angle of the rotation between two matrices: trace(A'B) = 1 + 2 cos. */
static double angle_between(const double *A, const double *B)
{
    double trace = 0.0;
    for (int i = 0; i < 9; i++) trace += A[i] * B[i];
    return acos(fmax(-1.0, fmin(1.0, 0.5 * (trace - 1.0))));
}

check_step check_step_run(const rb_model *m, rb_data **start, rb_data *end,
                          const rb_step_opts *opts)
{
    check_step c = { .done = run_halves(m, start, end->time, opts) };
    if (!c.done) return c;
    rb_data *const both[2] = { *start, end };
    for (int k = 0; k < 2; k++) {
        rb_kinematics(m, both[k]);
        rb_frames(m, both[k]);
    }
    for (int b = 1; b < m->nbody; b++) {
        const double *p = both[0]->body_p + 3 * (ptrdiff_t)b, *q = end->body_p + 3 * (ptrdiff_t)b;
        double x = hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]);
        double turn =
            angle_between(both[0]->body_R + 9 * (ptrdiff_t)b, end->body_R + 9 * (ptrdiff_t)b);
        if (x > c.distance) c.distance = x, c.body = b;
        if (turn > c.turn) c.turn = turn, c.turned = b;
    }
    return c;
}
