/* One part of a step: a motion, what it is tried with again where it has no answer, and halves of
 * it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/placed.h"
#include "step/node.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/printed/printed.h"
#include "step/problems.h"
#include "step/steppers.h"
#include "step/touch.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* Where the step, or a part of it, begins. */
void rb_stage_save(rb_stage *s)
{
    copy(s->start.q, s->d->q, s->m->nq);
    copy(s->start.v, s->d->v, s->m->nv);
    copy(s->start.act, s->d->act, s->m->na);
    copy(s->answer.kick, s->d->kick, 2 * s->m->nv);
    copy(s->answer.servo, s->d->servo, s->m->nu);
    if (s->start.time != s->d->time) s->attempt.count = 0;
    s->start.time = s->d->time;
    if (s->m->ngauge == 0) return;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    copy(s->start.q + s->m->nq, s->d->q + s->m->nq, s->m->nq_all - s->m->nq);
}

void rb_stage_restore(rb_stage *s)
{
    copy(s->d->q, s->start.q, s->m->nq);
    copy(s->d->v, s->start.v, s->m->nv);
    copy(s->d->act, s->start.act, s->m->na);
    s->d->time = s->start.time;
}

void rb_stage_name(const rb_stage *s, int island, char *text, size_t size)
{
    char tries[16] = "", repair[16] = "", turn[16] = "", part[16] = "", impact[16] = "";
    if (s->attempt.count > 1) snprintf(tries, sizeof tries, "-n%d", s->attempt.count);
    if (s->attempt.impact > 0) snprintf(impact, sizeof impact, "-i%d", s->attempt.impact);
    if (s->info->repairs > 0) snprintf(repair, sizeof repair, "-r%d", s->info->repairs);
    if (s->attempt.iteration > 0) snprintf(turn, sizeof turn, "-s%d", s->attempt.iteration);
    if (s->attempt.restitution > 0) snprintf(part, sizeof part, "-e%d", s->attempt.restitution);
    snprintf(text, size, "t%.12g%s%s%s%s%s-%d", s->start.time, tries, impact, repair, turn, part,
             island);
}

/* What the motion found becomes the state, and its constraints the touch table. */
void rb_stage_finish(rb_stage *s)
{
    rb_data *d = s->d;
    rb_constraints_velocity(&s->set, s->answer.v, s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        s->info->active += s->answer.p[c->row] != 0.0;
    }
    s->info->parts++;
    s->info->energy_created += s->answer.energy;
    s->info->energy_impacts += s->answer.energy_impacts;
    s->answer.energy_impacts = 0.0;
    s->info->energy_smooth += s->smooth.made;
    s->info->penetration = s->overlap_deepest = fmax(s->overlap_deepest, s->info->penetration);
    s->info->penetration_made = s->overlap_made = fmax(s->overlap_made, s->info->penetration_made);
    rb_stage_store(s);
    rb_placed_strings(s->m, d);
    copy(d->q, s->answer.q, s->m->nq);
    copy(d->v, s->answer.v, s->m->nv);
    copy(d->act, s->answer.act, s->m->na);
    copy(d->kick, s->answer.kick, 2 * s->m->nv);
    copy(d->servo, s->answer.servo, s->m->nu);
    d->time = s->start.time + s->h;
    rb_stage_keep_slope(s);
    if (s->events.paradigms) rb_paradigms_shift(s);
}

/* ---- one motion -------------------------------------------------------------------------------
 */

static rb_status move(rb_stage *s)
{
    switch (s->o->scheme) {
    case RB_SCHEME_SEMI_IMPLICIT:
        return rb_stage_semi_implicit(s);
    case RB_SCHEME_MOREAU_JEAN:
        return rb_stage_moreau_jean(s);
    default:
        return rb_stage_node(s);
    }
}

/* Where motions begin, and what was reported by then. */
typedef struct beginning {
    rb_mark mark;
    double residual, in_velocity;
} beginning;

/* From the beginning again; what was refused is not reported as accepted. */
static rb_status move_again(rb_stage *s, const beginning *from)
{
    rb_stage_restore(s);
    rb_arena_reset(s->d->arena, from->mark);
    s->info->residual = from->residual;
    s->info->velocity_residual = from->in_velocity;
    return move(s);
}

/* ---- what is tried where there is no answer ---------------------------------------------------
 */

/* Overlap of the model that rows of this motion keep from growing. */
static int holds_overlap(const rb_stage *s)
{
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_CONTACT) continue;
        if (c->inner || c->gap < -2.0 * rb_stage_deep(s, &c->id)) return 1;
    }
    return 0;
}

/* Limits and contacts may hold a loop so that no motion takes its error off, however small it is,
 * and overlap may hold a link from two sides so that rounding of a normal lets it go neither way:
 * then errors of loops are kept, and contacts are relaxed by rounding (S.21). So are errors whose
 * correction makes speed. */
static int may_relax(const rb_stage *s)
{
    int any = s->attempt.may_relax || (holds_overlap(s) && !s->o->formulation->push_out);
    int gains = s->attempt.gains && s->attempt.may_relax;
    return gains || (any && s->attempt.no_answer && s->set.nrow > 0);
}

static rb_status relax(rb_stage *s, const beginning *from)
{
    s->attempt.relaxed = 1;
    return move_again(s, from);
}

/* The search for a self-stress costs more than the step, and its end is a refusal: that is for
 * steps that no looser answer is known of. */
static int may_be_jammed(const rb_stage *s)
{
    return s->attempt.no_answer && s->attempt.final && !rb_stage_is_near(s);
}

static rb_status name_jam(rb_stage *s, const beginning *from)
{
    (void)from;
    return rb_stage_jam(s);
}

/* Overlap that is reported, not refused, in units of what is allowed: at `standard` 1e-4 of a body,
 * as much as `fast` allows. */
enum { OVERLAP_REPORTED = 100 };

/* Where halves of the step do not end an overlap and nothing is jammed, a small one will do: it is
 * counted as an answer that misses its accuracy, and refused where those are. */
static int may_overlap(const rb_stage *s)
{
    return s->attempt.final && s->o->formulation->kind == RB_CONE && s->o->loose > s->attempt.tol &&
           s->attempt.tol > RB_TOL_STRICT;
}

static rb_status overlap(rb_stage *s, const beginning *from)
{
    s->attempt.may_relax = 0;
    s->attempt.may_overlap = OVERLAP_REPORTED;
    rb_status status = move_again(s, from);
    s->attempt.may_overlap = 0;
    return status;
}

typedef struct policy {
    int (*applies)(const rb_stage *s);
    rb_status (*try)(rb_stage *s, const beginning *from);
} policy;

/* One after the other, until a motion is accepted or refused for good. What is left without an
 * answer is halved (S.20) as long as it can be, and the whole step is tried once more with the
 * residual `loose` where that is known to be enough (step.c). */
static const policy policies[] = {
    { may_relax, relax },
    { may_be_jammed, name_jam },
    { may_overlap, overlap },
};

enum { POLICIES = sizeof policies / sizeof *policies };

/* Units of a part of a step beside what is counted. */
#define PART_WORK 2.0

rb_status rb_stage_motion(rb_stage *s)
{
    if (!rb_meter_add(s->meter, RB_WORK_MOTION, PART_WORK)) return s->meter->stopped;
    rb_status status = rb_stage_kinematic_begin(s);
    beginning from = { rb_arena_mark(s->d->arena), s->info->residual, s->info->velocity_residual };
    s->attempt.may_relax = s->m->neq > 0 && !s->o->formulation->push_out;
    s->attempt.relaxed = 0;
    if (status == RB_OK) status = move(s);
    for (int i = 0; i < POLICIES && status == RB_UNSOLVED; i++) {
        if (policies[i].applies(s)) status = policies[i].try(s, &from);
    }
    s->attempt.may_relax = 0;
    return status;
}

/* ---- parts of a step --------------------------------------------------------------------------
 */

enum {
    MOST_SPLITS = 1000, /* halvings in one step: what has no answer at all needs ten          */
    NEAR_SPLITS = 64    /* the same where a looser answer is known and may be accepted        */
};

static int may_split(const rb_stage *s, int splits)
{
    int most = rb_stage_is_near(s) ? NEAR_SPLITS : MOST_SPLITS;
    return splits > 0 && s->info->splits < most;
}

/* A motion by h that becomes the state, or the state as it was. */
static rb_status take_part(rb_stage *s, double h, int splits)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    s->h = h;
    s->attempt.final = !may_split(s, splits);
    rb_stage_save(s);
    rb_status status = rb_stage_motion(s);
    if (status == RB_OK)
        rb_stage_finish(s);
    else
        rb_stage_restore(s);
    rb_stage_kinematic_end(s, status == RB_OK);
    rb_arena_reset(s->d->arena, mark);
    s->attempt.last_p = NULL; /* it was there */
    return status;
}

/* Bodies that turn or meet so fast that rows of one place say nothing of the next: the step is
 * taken in halves, again and again, until each part can be solved (S.20). */
rb_status rb_stage_advance(rb_stage *s, double h, int splits)
{
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    rb_status status = take_part(s, h, splits);
    if (status != RB_UNSOLVED || !may_split(s, splits)) return status;
    s->info->splits++;
    s->info->residual = residual; /* what was refused is not reported as accepted */
    s->info->velocity_residual = in_velocity;
    status = rb_stage_advance(s, 0.5 * h, splits - 1);
    return status == RB_OK ? rb_stage_advance(s, 0.5 * h, splits - 1) : status;
}
