/* A step that fails leaves the state as it was: arrays of rb_data are kept, and copied back. */
#include "step/saved.h"

#include <string.h>

#include "base/arena.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* Arrays of d and their lengths. */
static void list_state(const rb_stage *s, double *of[RB_SAVED_COUNT], int n[RB_SAVED_COUNT])
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    double *const arrays[RB_SAVED_COUNT] = { d->q,    d->v,     d->act,   d->slope,
                                             d->kick, d->servo, d->mocap, d->mocap_was };
    const int lengths[RB_SAVED_COUNT] = { m->nq,     m->nv, m->na,         RB_SLOPES * m->nv,
                                          2 * m->nv, m->nu, 7 * m->nmocap, 6 * m->nmocap };
    memcpy(of, arrays, sizeof arrays);
    memcpy(n, lengths, sizeof lengths);
}

int rb_saved_keep(const rb_stage *s, rb_saved *x)
{
    const rb_data *d = s->d;
    double *of[RB_SAVED_COUNT];
    int n[RB_SAVED_COUNT];
    list_state(s, of, n);
    for (int i = 0; i < RB_SAVED_COUNT; i++) {
        if (!(x->of[i] = rb_push(d->arena, double, n[i]))) return 0;
        copy(x->of[i], of[i], n[i]);
    }
    if (!(x->touch = rb_push(d->arena, rb_touch, d->ntouch))) return 0;
    memcpy(x->touch, d->touch, (size_t)d->ntouch * sizeof *x->touch);
    copy(x->slope_h, d->slope_h, RB_SLOPES);
    x->ntouch = d->ntouch;
    x->time = d->time;
    x->slope_time = d->slope_time;
    x->touch_h = d->touch_h;
    x->correct_end = d->correct_end;
    x->correct_from = d->correct_from;
    return 1;
}

void rb_saved_restore(rb_stage *s, const rb_saved *x)
{
    rb_data *d = s->d;
    double *of[RB_SAVED_COUNT];
    int n[RB_SAVED_COUNT];
    list_state(s, of, n);
    for (int i = 0; i < RB_SAVED_COUNT; i++) copy(of[i], x->of[i], n[i]);
    memcpy(d->touch, x->touch, (size_t)x->ntouch * sizeof *x->touch);
    copy(d->slope_h, x->slope_h, RB_SLOPES);
    d->ntouch = x->ntouch;
    d->time = x->time;
    d->slope_time = x->slope_time;
    d->touch_h = x->touch_h;
    d->correct_end = x->correct_end;
    d->correct_from = x->correct_from;
}
