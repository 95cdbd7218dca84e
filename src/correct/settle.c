/* Closes the loops of a start before the first step, by the method of Gauss and Newton in the
 * metric of the masses, from the given pose:
 *
 *     min 1/2 dq'M dq,     J_b dq = -error,     limits and contacts as they are              (S.40)
 *
 * repeated until the error is rounding. Then comes the velocity nearest to the given one at which
 * loops stay closed (S.38). Rows of a step would take the error off by velocities, and make
 * energy. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "correct/displace.h"
#include "options/options.h"

/* Rows of limits and contacts are looked for within this many times the closure error [1]. Larger:
 * more rows. Smaller: what is met on the way is found one round late. */
#define REACH 4.0

/* Closure error of loops that are closed, in units of the extent [1]. */
#define CLOSED 1e-8

enum { ROUNDS = 40 }; /* of Newton's method; what is open after them is reported */

static double energy(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    return rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
}

static rb_status worst_error(const rb_model *m, rb_data *d, double *worst)
{
    rb_rows rows;
    *worst = 0.0;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_status status = rb_loop_rows(m, d, &rows);
    if (status != RB_OK) return status;
    for (int i = 0; i < rows.n; i++) *worst = fmax(*worst, fabs(rows.error[i]));
    rb_rows_release(d, &rows);
    return RB_OK;
}

static rb_status close(rb_displace *x, double *v, double *led)
{
    rb_data *d = x->d;
    size_t bytes = (size_t)x->m->nv * sizeof *v, led_bytes = 6 * (size_t)x->m->nmocap * sizeof *led;
    memcpy(v, d->v, bytes);
    memcpy(led, d->mocap_v, led_bytes);
    memset(d->v, 0, bytes);
    memset(d->mocap_v, 0, led_bytes);
    rb_status status = rb_displace_run(x);
    memcpy(d->v, v, bytes);
    memcpy(d->mocap_v, led, led_bytes);
    return status == RB_OK && x->moved ? rb_loop_velocity(x->m, d) : status;
}

rb_status rb_data_settle(const rb_model *m, rb_data *d, rb_settle_info *info, rb_error *err)
{
    rb_settle_info own;
    rb_step_opts o = rb_step_opts_default();
    rb_settle_info *to = info ? info : &own;
    *to = (rb_settle_info){ 0 };
    rb_status status = rb_step_inputs_check(m, d, err);
    if (status != RB_OK || m->neq == 0 || m->nv == 0) return status;
    status = worst_error(m, d, &to->open_before);
    to->open = to->open_before;
    if (status != RB_OK || to->open_before <= CLOSED * m->extent) return status;
    double before = energy(m, d);
    rb_displace x = { .m = m,
                      .d = d,
                      .o = &o,
                      .size = m->extent,
                      .deep = RB_GAP_DEEP * m->extent,
                      .reach = REACH * to->open_before,
                      .close_loops = 1,
                      .only_loops = 1,
                      .max_rounds = ROUNDS,
                      .err = err };
    rb_mark mark = rb_arena_mark(d->arena);
    double *v = rb_push(d->arena, double, m->nv);
    double *led = rb_push(d->arena, double, 6 * (size_t)m->nmocap);
    status = v && led ? close(&x, v, led) : RB_NOMEM;
    rb_arena_reset(d->arena, mark);
    to->contacts = x.contacts;
    if (status != RB_OK) return status;
    status = worst_error(m, d, &to->open);
    to->energy = energy(m, d) - before;
    return status;
}
