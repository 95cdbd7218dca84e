/* Smooth motion: where the step would lead without contact, by the implicit midpoint (S.1). */
#include <string.h>

#include "base/error.h"
#include "step/stage.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

rb_status rb_stage_free_motion(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_smooth_info smooth = { 0 };

    /* joints on mocap bodies: forces at the middle of the step */
    rb_stage_led_pose(s, 0.5 * s->h);
    rb_status status = rb_smooth_step(m, d, s->h, &smooth);
    rb_stage_led_pose(s, 0.0);
    if (status != RB_OK)
        return rb_fail(s->err, status, "smooth motion: %s", rb_status_text(status));
    if (!smooth.converged)
        return rb_fail(s->err, RB_UNSOLVED,
                       "the midpoint rule does not converge: shorten the step");
    s->made_free = s->made = smooth.made;
    copy(s->q_free, d->q, m->nq);
    copy(s->v_free, d->v, m->nv);
    copy(s->v_smooth, d->v, m->nv);
    copy(s->act_free, d->act, m->na);
    copy(d->q, s->q0, m->nq);
    copy(d->v, s->v0, m->nv);
    copy(d->act, s->act0, m->na);
    d->time = s->time0;
    return RB_OK;
}
