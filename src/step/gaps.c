/* Checks the gaps at the new position against what the step promises (S.17). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/placed.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/rows.h"
#include "step/steppers.h"
#include "step/touch.h"

/* First constraint of the starting set that is not before the id, by bisection. */
static int lower_bound(const rb_constraints *set, const rb_touch_id *id)
{
    int lo = 0, hi = set->n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (rb_touch_order(&set->c[middle].id, id) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

const rb_constraint *rb_stage_find(const rb_constraints *set, const rb_touch_id *id)
{
    int at = lower_bound(set, id);
    return at < set->n && rb_touch_order(&set->c[at].id, id) == 0 ? &set->c[at] : NULL;
}

static int same_pair(const rb_touch_id *x, const rb_touch_id *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b;
}

/* What the set at the start of the step knows of a pair of geoms, or of a limit: its least gap, 0:
 * none, and where overlap that the step began with may end (F.8), 0: there was none. */
typedef struct pair_start {
    double gap, floor;
} pair_start;

static pair_start start_of(const rb_stage *s, const rb_touch_id *id)
{
    const rb_constraints *set = &s->problem.first;
    int contact = id->kind == RB_CONSTRAINT_CONTACT;
    rb_touch_id from = { id->kind, id->a, id->b, contact ? 0 : id->c };
    pair_start x = { INFINITY, 0.0 };
    int first = lower_bound(set, &from);
    for (int i = first; i < set->n && same_pair(&set->c[i].id, id); i++) {
        if (i == first) x.floor = set->c[i].floor;
        if (set->c[i].gap < x.gap) x.gap = set->c[i].gap;
    }
    if (!(x.gap < INFINITY)) x.gap = 0.0;
    return x;
}

/* Above its floor (F.8), as all gaps of rows are. */
double rb_stage_start_gap(const rb_stage *s, const rb_touch_id *id)
{
    return start_of(s, id).gap;
}

double rb_stage_start_floor(const rb_stage *s, const rb_touch_id *id)
{
    return start_of(s, id).floor;
}

double rb_stage_start_depth(const rb_stage *s, const rb_touch_id *id)
{
    pair_start x = start_of(s, id);
    return x.floor + fmin(0.0, x.gap);
}

/* Rows of one pair of geoms stand side by side. */
rb_status rb_stage_find_starts(rb_stage *s)
{
    const rb_constraints *set = &s->set;
    s->problem.least_gap = rb_push(s->d->arena, double, set->n);
    if (!s->problem.least_gap) return RB_NOMEM;
    for (int i = 0; i < set->n; i++) {
        const rb_touch_id *id = &set->c[i].id;
        int again = i > 0 && id->kind == RB_CONSTRAINT_CONTACT && same_pair(id, &set->c[i - 1].id);
        s->problem.least_gap[i] = again ? s->problem.least_gap[i - 1] : start_of(s, id).gap;
    }
    return RB_OK;
}

/* How deep a contact is in units of what it may be, above 1: deeper. Overlap that steps made may
 * not grow beyond that in all, overlap of the model not beyond what it was (S.17). */
static double deepened(const rb_stage *s, const rb_contact *contact, const pair_start *start)
{
    double deep = rb_stage_pair_overlap(s, contact->geom1, contact->geom2);
    double gap = contact->at.gap - start->floor;
    return 1.0 + (rb_stage_lowest(s, start->gap, deep) - gap) / deep;
}

double rb_stage_error_least(const rb_stage *s)
{
    return fmax(4.0 * s->given->deep, RB_GAP_OF_MODEL * s->given->size);
}

/* How far beyond a limit, in units of what is allowed, above 1: too far. Gaps before and now. What
 * is at that bound may yield by rounding from step to step: at a dead centre two limits leave no
 * motion otherwise. */
static double limit_deepened(const rb_stage *s, double before, double now)
{
    double yields = fmin(0.0, before) - RB_GAP_DEEP * s->given->size;
    return 1.0 + (fmin(rb_stage_lowest(s, before, s->given->deep), yields) - now) / s->given->deep;
}

/* The same for lo <= x <= hi. */
static double range_deepened(const rb_stage *s, const double range[2], double before, double now)
{
    double lower = limit_deepened(s, before - range[0], now - range[0]);
    return fmax(lower, limit_deepened(s, range[1] - before, range[1] - now));
}

double rb_stage_ball_angle(const double *q)
{
    double quat[4], turn[3];
    memcpy(quat, q, sizeof quat);
    rb_quat_normalize(quat);
    rb_quat_log(quat, turn);
    return rb_norm3(turn);
}

double rb_stage_limit_deepened(const rb_stage *s, int j)
{
    const rb_model *m = s->m;
    if (!m->jnt_limited[j] || m->jnt_type[j] == RB_JOINT_FREE) return 0.0;
    if (m->jnt_type[j] == RB_JOINT_BALL) {
        double most = m->jnt_range[2 * j + 1],
               before = rb_stage_ball_angle(s->start.q + m->jnt_qadr[j]);
        return limit_deepened(s, most - before,
                              most - rb_stage_ball_angle(s->answer.q + m->jnt_qadr[j]));
    }
    return range_deepened(s, m->jnt_range + 2 * j, s->start.q[m->jnt_qadr[j]],
                          s->answer.q[m->jnt_qadr[j]]);
}

double rb_stage_tendon_length(const rb_model *m, int t, const double *q)
{
    double length = 0.0;
    for (int i = m->tendon_adr[t]; i < m->tendon_adr[t] + m->tendon_num[t]; i++) {
        length += m->wrap_coef[i] * q[m->jnt_qadr[m->wrap_jnt[i]]];
    }
    return length;
}

/* A spatial tendon: where it is now d knows, where it was the constraints of the start. */
static double spatial_deepened(const rb_stage *s, int t)
{
    const rb_model *m = s->m;
    const double *range = m->tendon_range + 2 * t;
    double length = rb_tendon_length(m, s->d, t);
    rb_touch_id low = { RB_CONSTRAINT_LIMIT, m->njnt_all + t, 0, 0 }, high = low;
    high.b = 1;
    double under = limit_deepened(s, rb_stage_start_gap(s, &low), length - range[0]);
    return fmax(under, limit_deepened(s, rb_stage_start_gap(s, &high), range[1] - length));
}

double rb_stage_tendon_deepened(const rb_stage *s, int t)
{
    const rb_model *m = s->m;
    if (!m->tendon_limited[t]) return 0.0;
    if (m->tendon_pathnum[t] > 0) return spatial_deepened(s, t);
    double before = rb_stage_tendon_length(m, t, s->start.q);
    double now = rb_stage_tendon_length(m, t, s->answer.q);
    return range_deepened(s, m->tendon_range + 2 * t, before, now);
}

/* Limits of joints and tendons: the worst of all. */
static double limits_deepened(const rb_stage *s)
{
    const rb_model *m = s->m;
    double worst = 0.0;
    for (int j = 0; j < m->njnt_all; j++) worst = fmax(worst, rb_stage_limit_deepened(s, j));
    for (int t = 0; t < m->ntendon; t++) worst = fmax(worst, rb_stage_tendon_deepened(s, t));
    return worst;
}

double rb_stage_loop_share(const rb_stage *s)
{
    double share = s->o->formulation->ahead ? 1.0 : RB_LOOP_SHARE;
    return s->attempt.relaxed ? 0.0 : share * s->h / s->given->h;
}

double rb_stage_error_goal(const rb_stage *s, const rb_touch_id *id, int r)
{
    int at = lower_bound(&s->problem.first, id);
    if (at >= s->problem.first.n || rb_touch_order(&s->problem.first.c[at].id, id) != 0) return 0.0;
    return (1.0 - rb_stage_loop_share(s)) * s->problem.first.error[s->problem.first.c[at].row + r];
}

/* Largest difference between the closure errors at q_new and what was asked for, in units of what
 * is allowed. */
static rb_status check_loops(rb_stage *s, double *worst)
{
    rb_rows rows;
    rb_data *d = s->d;
    if (s->m->neq == 0) return RB_OK;
    rb_velocity(s->m, d);
    rb_status status = rb_loop_rows(s->m, d, &rows);
    if (status != RB_OK) return status;
    s->info->loop_error = 0.0;
    for (int i = 0, r = 0; i < rows.n; i++, r++) {
        if (i > 0 && rows.eq[i] != rows.eq[i - 1]) r = 0;
        rb_touch_id id = { RB_CONSTRAINT_EQUALITY, rows.eq[i], 0, 0 };
        s->info->loop_error = fmax(s->info->loop_error, fabs(rows.error[i]));
        double missed = fabs(rows.error[i] - rb_stage_error_goal(s, &id, r));
        if (rb_stage_is_redundant(s, rows.eq[i], r))
            missed = fmax(0.0, fabs(rows.error[i]) - 2.0 * s->problem.open);
        *worst = fmax(*worst, missed / s->given->open_most);
    }
    rb_rows_release(d, &rows);
    return RB_OK;
}

/* Overlap of a contact; of pairs that began the step with an error of the start, what is beyond. */
static double overlap_made(const rb_stage *s, const rb_contact *contact, const pair_start *x)
{
    double start = x->gap + x->floor;
    int error = start < -rb_stage_error_least(s);
    return rb_larger(0.0, (error ? start : 0.0) - contact->at.gap);
}

/* The largest of deepened. */
static double look_at(rb_stage *s, const rb_contact *found, int n)
{
    s->answer.gaps = (rb_deepest){ -1, -1, 0.0, 0.0, 0.0 };
    s->info->penetration = s->info->penetration_made = 0.0;
    pair_start start = { 0.0, 0.0 };
    for (int i = 0; i < n; i++) {
        const rb_contact *c = &found[i];
        rb_touch_id id = { RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, 0 };
        if (i == 0 || c->geom1 != c[-1].geom1 || c->geom2 != c[-1].geom2) start = start_of(s, &id);
        if (!rb_flight_holds(s->events.flight, c->geom1, c->geom2, c->at.feature)) continue;
        double deeper = deepened(s, c, &start);
        s->info->penetration = rb_larger(s->info->penetration, -c->at.gap);
        s->info->penetration_made =
            rb_larger(s->info->penetration_made, overlap_made(s, c, &start));
        s->info->gap_error = rb_larger(s->info->gap_error, c->error);
        if (deeper > s->answer.gaps.geoms)
            s->answer.gaps = (rb_deepest){ c->geom1, c->geom2, c->at.gap, deeper, 0.0 };
    }
    return s->answer.gaps.geoms;
}

double rb_stage_measure_gaps(rb_stage *s, const rb_contact *found, int n)
{
    double worst = look_at(s, found, n);
    s->answer.gaps.limits = limits_deepened(s);
    return fmax(worst, s->answer.gaps.limits);
}

/* d at q_new; at v_new too where it is asked for. */
static void go_to_end(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    memcpy(d->q, s->answer.q, (size_t)m->nq * sizeof *d->q);
    rb_stage_kinematic_pose(s, s->h);
    rb_placed_frames(m, d);
    if (m->ngauge > 0) {
        rb_velocity(m, d);
        memcpy(s->answer.q + m->nq, d->q + m->nq, (size_t)(m->nq_all - m->nq) * sizeof *d->q);
    }
    if (s->events.seen_h > 0.0) {
        memcpy(d->v, s->answer.v, (size_t)m->nv * sizeof *d->v);
        rb_velocity(m, d);
    }
}

rb_status rb_stage_check(rb_stage *s, double *worst)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double h = s->events.seen_h;
    int n = 0, holds = rb_stage_near_holds(s), may = m->neq == 0 && m->nspatial == 0;
    s->near.moves_far = 1;
    s->near.nothing_touches = may && !s->events.seen && h == 0.0 && rb_stage_nothing_touches(s);
    int nobody = s->near.nothing_touches || (may && holds && s->near.pairs.n == 0);
    rb_status status = RB_OK;
    rb_mark mark = rb_arena_mark(d->arena);
    rb_contact *found =
        s->events.seen ? s->events.seen : rb_push(d->arena, rb_contact, d->touch_max);
    if (!found) return RB_NOMEM;
    s->near.complete = holds;
    if (!nobody) go_to_end(s);
    if (!holds && !nobody) {
        status = rb_collide(m, d, h, s->given->gravity * h, d->touch_max, found, &n, s->err);
    } else if (!nobody) {
        status = rb_collide_near(m, d, 0.0, 0.0, &s->near.pairs, d->touch_max, found, &n, s->err);
    }
    s->events.nseen = n;
    if (status == RB_FULL) s->info->contacts = n;
    if (status == RB_OK) {
        *worst = look_at(s, found, n);
        s->answer.gaps.limits = limits_deepened(s);
        *worst = fmax(*worst, s->answer.gaps.limits);
        status = check_loops(s, worst);
    }
    rb_arena_reset(d->arena, mark);
    return status;
}

int rb_stage_is_soft(const rb_stage *s)
{
    if (s->o->regularise > 0.0) return 1;
    for (int i = 0; i < s->set.ncontact && s->o->formulation->relaxes; i++) {
        const rb_material *material = &s->set.c[i].material;
        if (!isnan(material->relax_stiffness) || !isnan(material->relax_damping)) return 1;
    }
    return 0;
}

rb_status rb_stage_refuse_gaps(rb_stage *s, int repairs)
{
    char a[64], b[64];
    const rb_deepest *x = &s->answer.gaps;
    if (x->geoms >= x->limits && x->geom1 >= 0)
        return rb_fail(s->err, RB_UNSOLVED,
                       "%s and %s overlap by %.2g m after %d repairs: shorten the step",
                       rb_model_name(s->m, RB_KIND_GEOM, x->geom1, a, sizeof a),
                       rb_model_name(s->m, RB_KIND_GEOM, x->geom2, b, sizeof b), -x->gap, repairs);
    return rb_fail(s->err, RB_UNSOLVED,
                   "a joint or tendon is beyond its limit after %d repairs: shorten the step",
                   repairs);
}
