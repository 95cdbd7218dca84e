/* The event-driven step [Mirtich 1995]. Bodies fly, pairs wait in a heap until they may meet, and
 * contacts that last get impulses at ticks. A tick lies in the middle of its share of the step.
 * There a body at rest is at the bottom of its hop; where steps begin and end it is at the top,
 * and its velocity is zero. */
#include "events/impulse.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "step/motion.h"
#include "step/steppers.h"

/* Longest time between ticks, at which contacts that last get their impulses [s]. Larger: bodies at
 * rest hop higher, g t^2 / 8, and slide in longer chords. Smaller: more events. */
#define TICK 2e-3

/* The same where mechanisms take part [s]: between ticks their contacts bend away from their rows
 * by the third power of it, 40 nm with servos that press with 90 weights. Larger: they overlap by
 * micrometres. Smaller: more problems. */
#define TICK_DRIVEN 5e-4

enum {
    EVENTS = 2000,        /* between two ticks, and                                              */
    EVENTS_PER_LINK = 500 /* as many more for each link                                        */
};

static int take_memory(rb_events *x)
{
    const rb_model *m = x->s->m;
    rb_arena *arena = x->s->d->arena;
    x->flyer = rb_push(arena, rb_flyer, m->nlink);
    x->rider = rb_push(arena, rb_rider, m->ngeom + 1);
    x->geom_of = rb_push(arena, int, m->ngeom + 1);
    x->geom_from = rb_push(arena, int, m->nlink + 1);
    x->found = rb_push(arena, int, m->ngeom + 1);
    x->active = rb_push(arena, int, m->nlink);
    x->point = rb_push(arena, rb_shell_point, x->s->d->touch_max);
    x->lead = rb_push(arena, double, 4 * (size_t)x->s->d->touch_max);
    x->q = rb_push(arena, double, m->nq);
    x->v = rb_push(arena, double, m->nv);
    x->act = rb_push(arena, double, m->na);
    x->accel = rb_push(arena, double, m->nv);
    x->v_minus = rb_push(arena, double, m->nv);
    x->push = rb_push(arena, double, m->nv);
    x->load = rb_push(arena, double, m->nv);
    x->none = rb_push(arena, double, m->nv);
    x->q_event = rb_push(arena, double, m->nq);
    x->v_end = rb_push(arena, double, m->nv);
    if (!x->push || !x->load || !x->none || !x->q_event || !x->v_end) return 0;
    return x->flyer && x->rider && x->geom_of && x->geom_from && x->found && x->active &&
           x->point && x->lead && x->q && x->v && x->act && x->accel && x->v_minus;
}

static rb_status refuse_loops(const rb_stage *s)
{
    for (int i = 0; i < s->m->neq; i++) {
        if (!s->m->eq_active[i]) continue;
        return rb_fail(s->err, RB_UNSUPPORTED,
                       "the stepper impulse takes no loops and other equalities: take fixed or "
                       "located");
    }
    return RB_OK;
}

/* Units of an event beside what is counted: looks at pairs along their way. */
#define EVENT_WORK 5.0

static rb_status run(rb_events *x)
{
    int budget = EVENTS + EVENTS_PER_LINK * x->s->m->nlink;
    double ticks = ceil(x->h / (x->ndriven > 0 ? TICK_DRIVEN : TICK)), done = 0.0;
    x->tau = x->h / ticks;
    x->tick = 0.5 * x->tau;
    x->budget = budget;
    int looked = 0;
    rb_status status = rb_impulse_meetings(x);
    while (status == RB_OK) {
        if (!rb_meter_add(x->s->meter, RB_WORK_PAIR, EVENT_WORK)) return x->s->meter->stopped;
        double key = x->n > 0 ? x->meeting[x->heap[0]].key : INFINITY;
        if (key < x->tick) {
            if (key >= x->h) return RB_OK;
            status = rb_impulse_event(x, x->heap[0], key);
            looked = 0;
        } else if (x->ndriven > 0 && !looked) {
            status = rb_impulse_overlooked(x, fmin(x->tick, x->h));
            looked = 1;
        } else if (done < ticks) {
            looked = 0;
            status = rb_impulse_tick(x);
            done += 1.0;
            x->budget = budget;
            x->tick = done < ticks ? (done + 0.5) * x->tau : x->h + 0.5 * x->tau;
        } else {
            return RB_OK;
        }
    }
    return status;
}

/* The push that the step before left, if it was one of this stepper. */
static void take_push(rb_events *x)
{
    const rb_data *d = x->s->d;
    int nv = x->s->m->nv, known = d->push_time == d->time;
    for (int j = 0; j < nv; j++) {
        x->none[j] = 0.0;
        x->push[j] = known ? d->push[j] : 0.0;
        x->load[j] = known ? d->push[nv + j] : 0.0;
    }
}

static void drop_push(rb_events *x)
{
    rb_data *d = x->s->d;
    size_t bytes = (size_t)x->s->m->nv * sizeof *d->push;
    memcpy(d->push, x->push, bytes);
    memcpy(d->push + x->s->m->nv, x->load, bytes);
    d->push_time = x->s->start.time + x->h;
}

/* The state at the end of the step. */
static rb_status finish(rb_events *x)
{
    rb_stage *s = x->s;
    rb_status status = x->ndriven > 0 ? rb_impulse_drive(x, x->h) : RB_OK;
    for (int k = 1; k < s->m->nlink && status == RB_OK; k++) status = rb_impulse_sync(x, k, x->h);
    for (int j = 0; j < s->m->nv && status == RB_OK; j++)
        if (!isfinite(s->d->v[j]))
            status = rb_fail(s->err, RB_BAD_INPUT, "velocities are not finite");
    return status;
}

rb_status rb_stage_impulse(rb_stage *s)
{
    rb_events x = { .s = s, .h = s->h };
    rb_status status = refuse_loops(s);
    if (status != RB_OK) return status;
    if (!take_memory(&x)) return RB_NOMEM;
    s->events.inelastic = 1;
    s->attempt.final = 1;
    rb_stage_save(s);
    rb_flight_floor(s);
    status = rb_stage_kinematic_begin(s);
    if (status != RB_OK) return status;
    take_push(&x);
    status = rb_impulse_flyers(&x);
    if (status == RB_OK) status = run(&x);
    if (status == RB_OK) status = finish(&x);
    if (status == RB_OK) drop_push(&x);
    s->h = x.h;
    s->info->parts = 1;
    rb_stage_kinematic_end(s, status == RB_OK);
    return status;
}

const char *rb_event_kind_name(rb_event_kind kind)
{
    static const char *const names[] = { "impact", "micro", "group", "shift" };
    return (int)kind >= 0 && (int)kind <= RB_EVENT_SHIFT ? names[kind] : "unknown";
}
