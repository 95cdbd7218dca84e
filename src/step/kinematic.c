/* Mocap bodies in a step. They move with the mean velocity of the step: the one that the caller
 * asks for and their own motion together (S.3). So they end where their motion says, and gaps see
 * exactly this displacement. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "math/quat.h"
#include "math/trig.h"
#include "step/motion.h"

/* Mean velocity within h of a sin(2 pi f t + phase): the difference of two sines as a product,
 * without cancellation. */
static double mean_of_sine(const rb_led_motion *motion, int i, double t, double h)
{
    if (motion->amplitude[i] == 0.0 || motion->frequency[i] == 0.0) return 0.0;
    double half = RB_PI * motion->frequency[i] * h;
    double middle = 2.0 * RB_PI * motion->frequency[i] * t + half + motion->phase[i];
    return 2.0 * motion->amplitude[i] * rb_cos(middle) * rb_sin(half) / h;
}

static rb_status refuse(const rb_stage *s, int mocap)
{
    char name[128];
    int body = 0;
    while (s->m->body_mocap[body] != mocap) body++;
    return rb_fail(s->err, RB_BAD_INPUT, "mocap body %s: its pose or velocity is not finite",
                   rb_model_name(s->m, RB_KIND_BODY, body, name, sizeof name));
}

rb_status rb_stage_kinematic_begin(rb_stage *s)
{
    rb_data *d = s->d;
    int n = s->m->nmocap;
    if (n == 0) return RB_OK;
    s->start.mocap = rb_push(d->arena, double, 7 * (size_t)n);
    s->start.mocap_v = rb_push(d->arena, double, 6 * (size_t)n);
    if (!s->start.mocap || !s->start.mocap_v) return RB_NOMEM;
    memcpy(s->start.mocap, d->mocap, 7 * (size_t)n * sizeof *s->start.mocap);
    memcpy(s->start.mocap_v, d->mocap_v, 6 * (size_t)n * sizeof *s->start.mocap_v);
    for (int i = 0; i < 6 * n; i++) {
        const rb_led_motion *motion = &s->m->mocap_motion[i / 6];
        d->mocap_v[i] += motion->velocity[i % 6] + mean_of_sine(motion, i % 6, s->start.time, s->h);
        double change = isnan(d->mocap_was[i]) ? 0.0 : d->mocap_v[i] - d->mocap_was[i];
        d->mocap_a[i] = change / s->h;
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int k = 0; k < 7; k++) sum += 0.0 * d->mocap[7 * i + k];
        for (int k = 0; k < 6; k++) sum += 0.0 * d->mocap_v[6 * i + k];
        if (sum == 0.0) continue;
        rb_status status = refuse(s, i);
        rb_stage_kinematic_end(s, 0);
        return status;
    }
    return RB_OK;
}

void rb_stage_kinematic_pose(rb_stage *s, double t)
{
    rb_data *d = s->d;
    for (int i = 0; i < s->m->nmocap; i++) {
        const double *from = s->start.mocap + 7 * i, *v = d->mocap_v + 6 * i;
        double *pose = d->mocap + 7 * i, r[3], turn[4];
        memcpy(pose, from, 7 * sizeof *pose);
        if (t == 0.0) continue;
        rb_axpy3(t, v, pose);
        rb_scale3(t, v + 3, r);
        if (r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0) continue;
        rb_quat_exp(r, turn);
        rb_quat_mul(turn, from + 3, pose + 3);
        rb_quat_normalize(pose + 3);
    }
}

void rb_stage_kinematic_end(rb_stage *s, int moved)
{
    rb_data *d = s->d;
    size_t n = (size_t)s->m->nmocap;
    if (!s->start.mocap_v) return;
    if (moved) memcpy(d->mocap_was, d->mocap_v, 6 * n * sizeof *d->mocap_was);
    rb_stage_kinematic_pose(s, moved ? s->h : 0.0);
    memcpy(d->mocap_v, s->start.mocap_v, 6 * n * sizeof *d->mocap_v);
    memset(d->mocap_a, 0, 6 * n * sizeof *d->mocap_a);
    s->start.mocap_v = NULL;
}
