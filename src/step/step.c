/* One step of time. What fails leaves the state as it was.
 *
 *     { smooth motion -> near pairs -> rows at the node            node.c, node_rows.c
 *       -> rounds { solve, move, gaps }                            node.c, node_*.c
 *       -> accept or halve }                                       advance.c
 *     -> certify, report, keep                                     node_report.c, touch.c, here
 *
 * Steppers that locate impacts divide the step before that, in src/events. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/pieces.h"
#include "dynamics/gauge.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "model/layout.h"
#include "rattleback/sensor.h"
#include "solve/internal.h"
#include "step/options.h"
#include "step/rest_cache.h"
#include "step/saved.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/steppers.h"

/* ---- memory -----------------------------------------------------------------------------------
 */

static int take_memory(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    double **of_q[] = { &s->start.q, &s->smooth.q, &s->answer.q };
    double **of_v[] = { &s->start.v, &s->smooth.v, &s->answer.v, &s->answer.v_way,
                        &s->smooth.v_next };
    double **of_act[] = { &s->start.act, &s->answer.act };
    int ok = rb_push_rows(arena, of_q, 3, m->nq_all) && rb_push_rows(arena, of_v, 5, m->nv) &&
             rb_push_rows(arena, of_act, 2, m->na);
    ok = ok && (s->problem.contacts = rb_push(arena, rb_contact, s->d->touch_max));
    ok = ok && (s->answer.kick = rb_push(arena, double, 2 * (size_t)m->nv));
    ok = ok && (s->answer.servo = rb_push(arena, double, m->nu));
    ok = ok && (s->answer.pushed = rb_push(arena, unsigned char, 3 * (size_t)m->ntree));
    if (!ok) return 0;
    s->answer.marked = s->answer.pushed + m->ntree;
    s->answer.resting = s->answer.marked + m->ntree;
    return 1;
}

static rb_status advance_by(rb_stage *s)
{
    switch (s->o->stepper) {
    case RB_STEPPER_LOCATED:
        return rb_stage_located(s);
    case RB_STEPPER_IMPULSE:
        return rb_stage_impulse(s);
    case RB_STEPPER_HYBRID:
        return rb_stage_hybrid(s);
    default:
        return rb_stage_advance(s, s->h, s->o->max_split);
    }
}

/* Not jam, which is most of it and counts up to njam. */
static void clear_info(rb_step_info *info)
{
    memset(info, 0, offsetof(rb_step_info, jam));
    memset(info->path, 0, sizeof info->path);
}

/* A step without an answer to its accuracy is tried once more, from the beginning, with less than
 * that (S.17). */
static rb_status advance(rb_stage *s, const rb_saved *start)
{
    rb_stage fresh = *s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = advance_by(s);
    if (status != RB_UNSOLVED || !s->attempt.near_miss) return status;
    rb_saved_restore(s, start);
    rb_arena_reset(s->d->arena, mark);
    *s = fresh;
    clear_info(s->info);
    s->attempt.loose = fmax(s->attempt.tol, s->o->loose);
    return advance_by(s);
}

/* ---- the step ---------------------------------------------------------------------------------
 */

/* The turns of measured hinges go on from here (D.53). */
static void keep_gauges(rb_stage *s)
{
    if (s->m->ngauge == 0) return;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_gauges_keep(s->m, s->d);
}

static rb_stage stage_of(const rb_model *m, rb_data *d, const rb_step_opts *o,
                         const rb_step_given *given)
{
    rb_stage s = { .m = m, .d = d, .o = o, .given = given, .h = given->h };
    s.attempt.tol = s.attempt.loose = rb_step_opts_tol(o);
    return s;
}

static rb_status check_input(const rb_stage *s)
{
    rb_status status = rb_step_opts_check(s->o, s->h, s->err);
    if (status == RB_OK) status = rb_step_control(s->m, s->d, s->o, s->h, s->err);
    return status == RB_OK ? rb_step_inputs_check(s->m, s->d, s->err) : status;
}

/* A step from here was computed before: its certificate holds. */
static void repeat(rb_stage *s, double end)
{
    rb_data *d = s->d;
    if (d->slope_time == d->time) d->slope_time = end;
    d->time = end;
    rb_sensors(s->m, d);
}

/* The step has its answer. */
static void accept(rb_stage *s, const rb_saved *start)
{
    rb_data *d = s->d;
    d->time = start->time + s->given->h;
    rb_control_remember(s->m, d, start->time);
    keep_gauges(s);
    rb_rest_cache_start was = { .q = start->of[RB_SAVED_Q],
                                .v = start->of[RB_SAVED_V],
                                .act = start->of[RB_SAVED_ACT],
                                .slope = start->of[RB_SAVED_SLOPE],
                                .slope_h = start->slope_h,
                                .servo = start->of[RB_SAVED_SERVO],
                                .touch = start->touch,
                                .ntouch = start->ntouch };
    rb_rest_cache_store(s->m, d, s->o, s->info, &was);
    if (s->corrects) d->cache->rest_known = 0;
    rb_sensors(s->m, d);
}

/* Flights say how deep bodies are, not how deep a step made them. */
static int flies(const rb_step_opts *o)
{
    return o->stepper == RB_STEPPER_IMPULSE || o->stepper == RB_STEPPER_HYBRID;
}

rb_status rb_step(const rb_model *m, rb_data *d, const rb_step_opts *o, rb_step_info *info,
                  rb_error *err)
{
    rb_step_info own;
    rb_step_opts usual = rb_step_opts_default();
    const rb_step_given given = rb_step_find_given(m, o ? o : &usual);
    rb_stage s = stage_of(m, d, o ? o : &usual, &given);
    s.info = info ? info : &own;
    s.err = err;
    clear_info(s.info);
    rb_status status = check_input(&s);
    if (status != RB_OK) return status;

    rb_saved start;
    rb_step_first_contacts(m, d);
    if (rb_rest_cache_find(m, d, s.o, s.info)) {
        repeat(&s, d->time + s.h);
        return RB_OK;
    }
    rb_mark mark = rb_arena_mark(d->arena);
    rb_meter meter = rb_meter_make(rb_stage_budget(&s), s.o->cancel, s.o->cancel_ctx);
    s.meter = d->arena->meter = &meter;
    int kept = take_memory(&s) && rb_saved_keep(&s, &start);
    status = kept ? advance(&s, &start) : RB_NOMEM;
    if (flies(s.o)) s.info->penetration_made = s.info->penetration;
    if (status == RB_OK) status = rb_stage_project(&s, start.time);
    if (rb_meter_stopped(&meter)) status = rb_stage_report_stopped(&s);
    d->arena->meter = NULL;
    s.info->work = meter.all;
    if (status == RB_OK)
        accept(&s, &start);
    else if (kept)
        rb_saved_restore(&s, &start);
    rb_arena_reset(d->arena, mark);
    if (status == RB_SINGULAR) rb_step_name_singular(m, d, err);
    return status;
}
