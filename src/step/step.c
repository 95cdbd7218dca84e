/* One step of time, as a list of stages. What fails leaves the state as it was. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "base/pieces.h"
#include "dynamics/placed.h"
#include "dynamics/gauge.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "model/layout.h"
#include "rattleback/sensor.h"
#include "solve/internal.h"
#include "step/node.h"
#include "step/options.h"
#include "step/joint_friction.h"
#include "step/stage.h"
#include "step/rest_cache.h"

/* Default limit of the work of a step, in units of meter.h [1]: one to four seconds. Larger: a step
 * that does not end blocks the caller. Smaller: piles of thousands are refused. */
#define WORK_MOST 4e6

/* Degrees of freedom beyond which that limit grows in proportion to them [1]. Larger: a hundred
 * robots are refused for what single ones may take. Smaller: a step that does not end takes longer.
 */
#define WORK_DOFS 100.0

/* Share of the overlap that the second and later repairs of a chain may leave [1]; a step
 * with more is halved. Larger: repairs continue that do not end. Smaller: steps are halved where
 * one more repair would do. */
#define REPAIR_GAIN 0.1

/* Closure error made by a step that is repaired, in units of the overlap that it may make anywhere
 * in the model [1]. Newton's repair squares the error: one that meets this one often meets
 * rounding. Larger: mechanisms drift apart by this much in a step. */
#define LOOP_OPEN 1e-2

/* Change of the new position at which the fixed point of a nonlinear step ends, in units of the
 * extent of the model [1]. Larger: Table 1 of Stewart and Trinkle is missed. */
#define STANDS 1e-10

/* Share of a missed closure error that a repair may leave [1]; Newton's repair squares it, and what
 * leaves more is no matter of repairs. Smaller: loops that open fast are kept open. Larger: rows
 * that contradict each other are repaired eight times in every step. */
#define LOOP_GAIN 0.5

/* ---- memory -----------------------------------------------------------------------------------
 */

static int take_memory(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    double **of_q[] = { &s->q0, &s->q_free, &s->q_new };
    double **of_v[] = { &s->v0, &s->v_free, &s->v_new, &s->v_smooth, &s->v_next };
    double **of_act[] = { &s->act0, &s->act_free };
    double **of_link[] = { &s->link_dw, &s->link_dv };
    int ok = rb_push_rows(arena, of_q, 3, m->nq_all) && rb_push_rows(arena, of_v, 5, m->nv) &&
             rb_push_rows(arena, of_act, 2, m->na) && rb_push_rows(arena, of_link, 2, 3 * m->nlink);
    ok = ok && (s->contacts = rb_push(arena, rb_contact, s->d->touch_max));
    ok = ok && (s->pushed = rb_push(arena, unsigned char, 7 * (size_t)m->ntree));
    if (!ok) return 0;
    s->overlaps = s->pushed + m->ntree;
    s->follows_rows = s->overlaps + m->ntree;
    s->by_midpoint = s->follows_rows + m->ntree;
    s->resting = s->by_midpoint + m->ntree;
    if (m->neq == 0 && !rb_joint_friction_any(m)) return 1;
    s->closed = s->resting + m->ntree;
    s->loop_rows = s->closed + m->ntree;
    return 1;
}

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* Where the step, or a part of it, begins. */
void rb_stage_save(rb_stage *s)
{
    copy(s->q0, s->d->q, s->m->nq);
    copy(s->v0, s->d->v, s->m->nv);
    copy(s->act0, s->d->act, s->m->na);
    if (s->time0 != s->d->time) s->attempts = 0;
    s->time0 = s->d->time;
    if (s->m->ngauge == 0) return;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    copy(s->q0 + s->m->nq, s->d->q + s->m->nq, s->m->nq_all - s->m->nq);
}

void rb_stage_restore(rb_stage *s)
{
    copy(s->d->q, s->q0, s->m->nq);
    copy(s->d->v, s->v0, s->m->nv);
    copy(s->d->act, s->act0, s->m->na);
    s->d->time = s->time0;
}

void rb_stage_name(const rb_stage *s, int island, char *text, size_t size)
{
    char tries[16] = "", repair[16] = "", turn[16] = "", part[16] = "", impact[16] = "";
    if (s->attempts > 1) snprintf(tries, sizeof tries, "-n%d", s->attempts);
    if (s->round > 0) snprintf(impact, sizeof impact, "-i%d", s->round);
    if (s->info->repairs > 0) snprintf(repair, sizeof repair, "-r%d", s->info->repairs);
    if (s->iteration > 0) snprintf(turn, sizeof turn, "-s%d", s->iteration);
    if (s->part > 0) snprintf(part, sizeof part, "-e%d", s->part);
    snprintf(text, size, "t%.12g%s%s%s%s%s%s-%d", s->time0, tries, impact, s->middle ? "-m" : "",
             repair, turn, part, island);
}

/* ---- the stages -------------------------------------------------------------------------------
 */

/* Work of the impulses, 1/2 (J'p).(v+ + vf), and that of prescribed motion, p.drive, which is not
 * created (S.18). Without springs and dampers within the step it is 1/2 v+'Mv+ - 1/2 vf'Mvf,
 * without the cancellation of two large energies. */
rb_status rb_stage_measure(rb_stage *s)
{
    const rb_model *m = s->m;
    s->energy = 0.0;
    if (s->set.nrow == 0) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *f = rb_push(s->d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    rb_constraints_force(&s->set, s->p, f);
    for (int j = 0; j < m->nv; j++) s->energy += 0.5 * f[j] * (s->v_new[j] + s->v_free[j]);
    for (int i = 0; i < s->set.nrow; i++) s->energy += s->p[i] * s->set.drive[i];
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

void rb_stage_finish(rb_stage *s)
{
    rb_data *d = s->d;
    int node = s->o->scheme == RB_SCHEME_NODE;
    if (!node) rb_stage_report_energy(s);
    rb_constraints_velocity(&s->set, s->v_new, s->u);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        s->info->active += s->p[c->row] != 0.0;
    }
    s->info->parts++;
    s->info->energy_created += s->energy;
    s->info->energy_impacts += s->energy_impacts;
    s->energy_impacts = 0.0;
    s->info->energy_smooth += s->energy_made;
    s->info->penetration = s->overlap_deepest = fmax(s->overlap_deepest, s->info->penetration);
    s->info->penetration_made = s->overlap_made = fmax(s->overlap_made, s->info->penetration_made);
    if (s->closing_dv) rb_stage_closed_impulses(s);
    rb_stage_store(s);
    if (s->closing_dv) rb_stage_closed_next(s);
    rb_placed_strings(s->m, d);
    copy(d->q, s->q_new, s->m->nq);
    copy(d->v, s->v_new, s->m->nv);
    copy(d->act, s->act_free, s->m->na);
    d->time = s->time0 + s->h;
    rb_stage_keep_slope(s);
    if (s->paradigms) rb_paradigms_shift(s);
}

/* Where rows are taken first: at the start, or where the step would end without contact. */
static rb_status first_place(rb_stage *s, double *q_hat, double *v_hat)
{
    s->q_hat = s->q0;
    s->v_hat = NULL;
    if (!s->o->formulation->ahead) return RB_OK;
    rb_status status = rb_stage_rows_at_start(s);
    copy(v_hat, s->v0, s->m->nv);
    rb_integrate(s->m, s->q0, v_hat, s->h, q_hat);
    s->q_hat = q_hat;
    s->v_hat = v_hat;
    return status;
}

/* Largest change of a coordinate. */
static double distance(const double *x, const double *y, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
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

/* Before rows are taken again, bodies that overlap are moved as the rows of this round believe. */
static rb_status check(rb_stage *s, int may_hold, double *worst)
{
    int moved = 0;
    rb_status status = rb_stage_check(s, worst);
    if (status == RB_OK && *worst > 1.0 && s->closing_dv) status = rb_stage_check_loop_rows(s);
    if (status == RB_OK && *worst > 1.0 && may_hold) status = rb_stage_follow_rows(s, &moved);
    return status == RB_OK && moved ? rb_stage_check(s, worst) : status;
}

static rb_status solve_rows(rb_stage *s)
{
    rb_status status = rb_stage_rows(s);
    return status == RB_OK ? rb_stage_solve(s) : status;
}

/* Restitution, and the new position. */
static rb_status go_on(rb_stage *s)
{
    rb_status status = rb_stage_restitute(s);
    return status == RB_OK ? rb_stage_new_position(s) : status;
}

static rb_status do_round(rb_stage *s)
{
    rb_status status = solve_rows(s);
    return status == RB_OK ? go_on(s) : status;
}

/* The first round: what passes by is left out (S.6). */
static rb_status first_round(rb_stage *s)
{
    int meet = 0;
    s->nghost = 0;
    rb_status status = solve_rows(s);
    int may = !s->flight && !s->v_hat;
    if (status == RB_OK && may) status = rb_stage_find_ghosts(s);
    if (status == RB_OK && s->nghost > 0) s->attempts++, status = solve_rows(s);
    if (status == RB_OK) status = go_on(s);
    if (status == RB_OK && s->nghost > 0) status = rb_stage_ghosts_meet(s, &meet);
    if (status != RB_OK || !meet) return status;
    s->nghost = 0;
    s->attempts++;
    return do_round(s);
}

/* The first round, and its rows once more at the middle where a body pivots (S.5). What has no
 * answer there keeps the one it had. */
static rb_status first_rounds(rb_stage *s)
{
    int done = 0;
    rb_status status = first_round(s);
    if (status == RB_OK) status = rb_stage_midpoint_rows(s, &done);
    if (status != RB_OK || done || !s->middle) return status;
    s->middle = 0;
    s->q_hat = s->q0;
    s->v_hat = NULL;
    s->last_p = NULL;
    s->attempts++;
    return do_round(s);
}

/* Each repair of a long chain takes turns of its own: where overlap does not shrink, halves of the
 * step are cheaper. */
static int diverges(const rb_stage *s, int round, double before, double worst)
{
    if (s->final || round < 2 || worst <= REPAIR_GAIN * before || !rb_stage_is_long(s->m)) return 0;
    int carried = 0;
    for (int tree = 0; tree < s->m->ntree; tree++) carried |= s->by_midpoint[tree];
    return carried;
}

/* Loops whose rows repeat each other with errors that do not agree (two points of one axis, with
 * the digits of a file) miss what is asked for in every round. */
static int stays_open(const rb_stage *s, int round, double missed_before)
{
    return round > 0 && s->may_yield && !s->yields && s->missed > 1.0 &&
           s->missed > LOOP_GAIN * missed_before;
}

/* Rows at q_hat, solved; then the same at the position found, until its gaps hold (S.24) and, in
 * nonlinear formulations, until it stands (S.26). */
static rb_status solve_until_open(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_relax place;
    if (rb_relax_start(s, &place) != RB_OK) return RB_NOMEM;
    int repairs = s->o->scheme == RB_SCHEME_MOREAU_JEAN ? 0 : s->o->max_repair;
    rb_status status = first_place(s, place.q_hat, place.v_hat);
    if (status != RB_OK) return status;
    s->last_p = NULL;
    s->first_v = NULL;
    s->redundant = NULL;
    s->middle = 0;
    s->nkept_point = s->nkept_plane = 0;
    memset(s->follows_rows, 0, (size_t)m->ntree);
    double before = INFINITY, missed = INFINITY;
    for (int round = 0;; round++) {
        double worst = 0.0;
        status = round == 0 ? first_rounds(s) : do_round(s);
        if (status == RB_OK) status = check(s, repairs > 0, &worst);
        if (status != RB_OK) return status;

        int open = worst <= 1.0;
        int stands = !s->o->formulation->nonlinear ||
                     distance(s->q_new, s->q_hat, m->nq) <= STANDS * s->size;
        if (open && stands) return RB_OK;
        if (round >= repairs) {
            if (open || rb_stage_is_soft(s) || repairs == 0) return RB_OK;
            if (worst > s->may_overlap) return rb_stage_refuse_gaps(s, round);
            s->info->below_accuracy++;
            return RB_OK;
        }

        if (diverges(s, round, before, worst))
            return rb_fail(s->err, RB_UNSOLVED,
                           "repairs of a chain do not end its overlap: shorten the step");
        if (stays_open(s, round, missed))
            return rb_fail(s->err, RB_UNSOLVED,
                           "loops cannot be closed: their equations contradict each other");
        before = worst;
        missed = s->missed;
        if (round == 0 && !s->first_v) status = rb_stage_keep_first_answer(s);
        if (status == RB_OK) status = rb_stage_keep_points(s);
        if (status == RB_OK) status = rb_stage_keep_planes(s);
        if (status != RB_OK) return status;
        s->info->repairs++;
        s->middle = 0;
        s->last = s->set;
        s->last_p = s->p;
        rb_stage_reach(s);
        status = rb_relax_next(s, worst, &place);
        if (status != RB_OK) return status;
    }
}

/* What a second round would write over. */
typedef struct answer {
    rb_stage stage;
    rb_step_info info;
    double *v_new, *q_new, *v_free;
    unsigned char *flags; /* pushed, held, carried, resting                     (4 x ntree) */
} answer;

static int keep_answer(const rb_stage *s, answer *x)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    size_t n = (size_t)m->ntree;
    x->v_new = rb_push(arena, double, m->nv);
    x->q_new = rb_push(arena, double, m->nq_all);
    x->v_free = rb_push(arena, double, m->nv);
    x->flags = rb_push(arena, unsigned char, 4 * n);
    if (!x->v_new || !x->q_new || !x->v_free || !x->flags) return 0;
    copy(x->v_new, s->v_new, m->nv);
    copy(x->q_new, s->q_new, m->nq_all);
    copy(x->v_free, s->v_free, m->nv);
    const unsigned char *const flags[] = { s->pushed, s->follows_rows, s->by_midpoint, s->resting };
    for (int k = 0; k < 4; k++) memcpy(x->flags + (size_t)k * n, flags[k], n);
    x->stage = *s;
    x->info = *s->info;
    return 1;
}

static void take_answer(rb_stage *s, const answer *x)
{
    const rb_model *m = s->m;
    size_t n = (size_t)m->ntree;
    *s = x->stage;
    *s->info = x->info;
    copy(s->v_new, x->v_new, m->nv);
    copy(s->q_new, x->q_new, m->nq_all);
    copy(s->v_free, x->v_free, m->nv);
    unsigned char *const flags[] = { s->pushed, s->follows_rows, s->by_midpoint, s->resting };
    for (int k = 0; k < 4; k++) memcpy(flags[k], x->flags + (size_t)k * n, n);
}

static int has_mechanism(const rb_model *m)
{
    return m->neq > 0 || m->nlink - 1 > m->ntree;
}

/* Rows of Stewart and Trinkle, ahead of the start, push out bodies that turn within the step, and
 * that may make energy. Rows that ask for nothing do not (S.62): their answer is the first one of
 * (S.35), the position is that of the others (S.36). Bodies by themselves move as printed: their
 * rod would slide a step late. */
static rb_status solve_without_push_out(rb_stage *s)
{
    answer kept;
    int tempers = s->o->law != RB_NEWTON || s->o->energy_safe;
    if (!s->o->formulation->push_out || !(s->energy > 0.0) || !tempers || !has_mechanism(s->m))
        return RB_OK;
    if (!keep_answer(s, &kept)) return RB_NOMEM;
    s->without_push_out = 1;
    s->attempts++;
    rb_status status = do_round(s);
    if (status == RB_OK) status = rb_stage_keep_first_answer(s);
    if (status == RB_OK) {
        kept.stage.first_v = s->first_v;
        kept.stage.first_f = s->first_f;
        kept.stage.first_work = s->first_work;
        kept.stage.first_island = s->first_island;
        kept.stage.without_push_out = 1;
    }
    kept.stage.attempts = s->attempts;
    take_answer(s, &kept);
    return status == RB_UNSOLVED ? RB_OK : status;
}

/* Units of a part of a step beside what is counted. */
#define PART_WORK 2.0

/* Where the step would lead without contact, loops closed where nothing pushes (S.43). */
static rb_status move_freely(rb_stage *s)
{
    int any = 0;
    s->more_loop_rows = 0;
    s->closing_dv = NULL;
    rb_status status = s->closed ? rb_stage_close_loops(s, &any) : RB_OK;
    return status == RB_OK && !any ? rb_stage_rough_motion(s) : status;
}

static rb_status move_once(rb_stage *s)
{
    if (s->o->scheme == RB_SCHEME_NODE) return rb_stage_node(s);
    s->attempts++;
    s->without_push_out = 0;
    s->reach = 0.0;
    s->near.known = s->kept_q0 = 0;
    s->midpoint_substeps = 0;
    memset(&s->set, 0, sizeof s->set);
    rb_status status = move_freely(s);
    if (status == RB_OK && rb_stage_is_clear(s)) {
        rb_stage_take_free(s);
        return RB_OK;
    }
    if (status == RB_OK) status = solve_until_open(s);
    if (status == RB_OK) status = rb_stage_tunnelling(s);
    if (status == RB_OK) status = rb_stage_measure(s);
    if (status == RB_OK) status = solve_without_push_out(s);
    if (status == RB_OK) status = rb_stage_limit_repair_energy(s);
    return status;
}

/* Loops that something pushes are left to the rows, from the beginning. */
static rb_status move(rb_stage *s)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    rb_status status = move_once(s);
    while (status == RB_UNSOLVED && s->closed && s->more_loop_rows) {
        rb_stage_restore(s);
        rb_arena_reset(s->d->arena, mark);
        s->info->residual = residual; /* what was refused is not reported as accepted */
        s->info->velocity_residual = in_velocity;
        status = move_once(s);
    }
    return status;
}

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

static int began_beyond_limits(const rb_stage *s)
{
    for (int i = 0; i < s->first.n; i++) {
        const rb_constraint *c = &s->first.c[i];
        if (c->kind == RB_CONSTRAINT_LIMIT && c->gap < -rb_stage_error_least(s)) return 1;
    }
    return 0;
}

/* Overlap that is reported, not refused, in units of what is allowed: at `standard` 1e-4 of a body,
 * as much as `fast` allows. */
enum { OVERLAP_REPORTED = 100 };

/* How often rows may be relaxed, in a motion that has no answer. */
static int most_relaxations(const rb_stage *s, int push_out)
{
    int may = s->may_yield || (holds_overlap(s) && !push_out);
    int node = s->o->scheme == RB_SCHEME_NODE;
    if (node) may = may && s->no_answer;
    int last = !node || s->final; /* shorter steps may lead past a dead centre */
    return may && s->set.nrow > 0 ? 1 + (last && began_beyond_limits(s)) : 0;
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

/* Limits and contacts may hold a loop so that no motion takes its error off, however small it is,
 * and overlap may hold a link from two sides so that rounding of a normal lets it go neither way:
 * then errors of loops are kept, and contacts are relaxed by rounding, or limits that the start
 * violates by a thousandth of the violation (S.39). Bodies that are jammed stay as they are in
 * repairs, where the step cannot be halved any more (S.78). */
static rb_status move_or_relax(rb_stage *s)
{
    beginning from = { rb_arena_mark(s->d->arena), s->info->residual, s->info->velocity_residual };
    int push_out = s->o->formulation->push_out;
    s->may_yield = s->m->neq > 0 && !push_out;
    s->yields = s->keep_overlap = 0;
    rb_status status = move(s);
    if (status == RB_UNSOLVED && s->final && s->last_p && !push_out) {
        s->keep_overlap = 1;
        status = move_again(s, &from);
        s->keep_overlap = 0;
    }
    int most = status == RB_UNSOLVED ? most_relaxations(s, push_out) : 0;
    while (status == RB_UNSOLVED && s->yields < most) {
        s->yields++;
        status = move_again(s, &from);
    }
    s->may_yield = 0;
    return status;
}

/* Where halves of the step do not end an overlap and nothing is jammed, a small one will do: it is
 * counted as an answer that misses its accuracy, and refused where those are. */
static int may_overlap(const rb_stage *s)
{
    return s->final && s->o->formulation->kind == RB_CONE && s->o->loose > s->tol &&
           s->tol > RB_TOL_STRICT;
}

static rb_status move_with_overlap(rb_stage *s, const beginning *from)
{
    s->may_overlap = OVERLAP_REPORTED;
    rb_status status = move_again(s, from);
    s->may_overlap = 0;
    return status;
}

rb_status rb_stage_motion(rb_stage *s)
{
    if (!rb_meter_add(s->meter, RB_WORK_MOTION, PART_WORK)) return s->meter->stopped;
    rb_status status = rb_stage_kinematic_begin(s);
    if (s->closed) rb_stage_choose_loop_rows(s);
    beginning from = { rb_arena_mark(s->d->arena), s->info->residual, s->info->velocity_residual };
    if (status == RB_OK) status = move_or_relax(s);
    int jams = s->o->scheme != RB_SCHEME_NODE || s->no_answer; /* not: rounds that do not end */
    /* the search for a self-stress costs more than the step: first the step is halved */
    if (status == RB_UNSOLVED && jams && s->final) status = rb_stage_jam(s);
    if (status == RB_UNSOLVED && may_overlap(s)) status = move_with_overlap(s, &from);
    if (status == RB_OK && s->energy_gain > RB_SMOOTH_ENERGY && !s->final)
        return rb_fail(s->err, RB_UNSOLVED, "a chain makes energy: shorten the step");
    if (status == RB_OK && s->m->neq > 0 && s->o->scheme != RB_SCHEME_NODE &&
        rb_stage_loops_make_energy(s))
        return rb_fail(s->err, RB_UNSOLVED, "loops make energy: shorten the step");
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
    int near = s->near_miss && s->o->loose > s->tol && s->tol > RB_TOL_STRICT;
    int most = near ? NEAR_SPLITS : MOST_SPLITS;
    return splits > 0 && s->info->splits < most;
}

/* Bodies that turn or meet so fast that rows of one place say nothing of the next: the step is
 * taken in halves, again and again, until each part can be solved (S.27). */
rb_status rb_stage_advance(rb_stage *s, double h, int splits)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    s->h = h;
    s->final = !may_split(s, splits);
    rb_stage_save(s);
    rb_status status = rb_stage_motion(s);
    if (status == RB_OK)
        rb_stage_finish(s);
    else
        rb_stage_restore(s);
    rb_stage_kinematic_end(s, status == RB_OK);
    rb_arena_reset(s->d->arena, mark);
    s->last_p = NULL; /* it was there */
    if (status != RB_UNSOLVED || !may_split(s, splits)) return status;
    s->info->splits++;
    s->info->residual = residual; /* what was refused is not reported as accepted */
    s->info->velocity_residual = in_velocity;
    status = rb_stage_advance(s, 0.5 * h, splits - 1);
    return status == RB_OK ? rb_stage_advance(s, 0.5 * h, splits - 1) : status;
}

/* The state before the first part, constraints of the last step included. */
typedef struct saved {
    double *q, *v, *act, time;
    double touch_h, correct_end, correct_from;
    double *mocap, *mocap_was;
    double *slope, slope_h[RB_SLOPES], slope_time, *kick;
    rb_touch *touch;
    int ntouch;
} saved;

static int keep(const rb_stage *s, saved *x)
{
    const rb_data *d = s->d;
    size_t nq = (size_t)s->m->nq, nv = (size_t)s->m->nv, nmocap = (size_t)s->m->nmocap;
    x->touch = rb_push(d->arena, rb_touch, d->ntouch);
    x->q = rb_push(d->arena, double, nq + (3 + RB_SLOPES) * nv + 13 * nmocap + (size_t)s->m->na);
    if (!x->touch || !x->q) return 0;
    x->v = x->q + nq;
    x->slope = x->v + nv;
    x->mocap = x->slope + RB_SLOPES * nv;
    x->mocap_was = x->mocap + 7 * nmocap;
    x->kick = x->mocap_was + 6 * nmocap;
    x->act = x->kick + 2 * nv;
    copy(x->q, d->q, s->m->nq);
    copy(x->v, d->v, s->m->nv);
    copy(x->slope, d->slope, RB_SLOPES * s->m->nv);
    copy(x->kick, d->kick, 2 * s->m->nv);
    copy(x->slope_h, d->slope_h, RB_SLOPES);
    x->slope_time = d->slope_time;
    if (nmocap > 0) copy(x->mocap, d->mocap, 7 * s->m->nmocap);
    if (nmocap > 0) copy(x->mocap_was, d->mocap_was, 6 * s->m->nmocap);
    if (s->m->na > 0) copy(x->act, d->act, s->m->na);
    memcpy(x->touch, d->touch, (size_t)d->ntouch * sizeof *x->touch);
    x->ntouch = d->ntouch;
    x->time = d->time;
    x->touch_h = d->touch_h;
    x->correct_end = d->correct_end;
    x->correct_from = d->correct_from;
    return 1;
}

static void go_back(rb_stage *s, const saved *x)
{
    rb_data *d = s->d;
    copy(d->q, x->q, s->m->nq);
    copy(d->v, x->v, s->m->nv);
    copy(d->act, x->act, s->m->na);
    copy(d->mocap, x->mocap, 7 * s->m->nmocap);
    copy(d->mocap_was, x->mocap_was, 6 * s->m->nmocap);
    copy(d->slope, x->slope, RB_SLOPES * s->m->nv);
    copy(d->kick, x->kick, 2 * s->m->nv);
    copy(d->slope_h, x->slope_h, RB_SLOPES);
    d->slope_time = x->slope_time;
    memcpy(d->touch, x->touch, (size_t)x->ntouch * sizeof *x->touch);
    d->ntouch = x->ntouch;
    d->time = x->time;
    d->touch_h = x->touch_h;
    d->correct_end = x->correct_end;
    d->correct_from = x->correct_from;
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
 * that (S.23). */
static rb_status advance(rb_stage *s, const saved *start)
{
    rb_stage fresh = *s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = advance_by(s);
    if (status != RB_UNSOLVED || !s->near_miss) return status;
    go_back(s, start);
    rb_arena_reset(s->d->arena, mark);
    *s = fresh;
    clear_info(s->info);
    s->loose = fmax(s->tol, s->o->loose);
    return advance_by(s);
}

/* The turns of measured hinges go on from here (D.53). */
static void keep_gauges(rb_stage *s)
{
    if (s->m->ngauge == 0) return;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_gauges_keep(s->m, s->d);
}

static double budget_of(const rb_model *m, const rb_step_opts *o)
{
    if (o->budget == 0.0) return WORK_MOST * fmax(1.0, m->nv / WORK_DOFS);
    return o->budget > 0.0 ? o->budget : INFINITY;
}

/* Whatever the step had come to: what was computed after the meter had stopped does not count. */
static rb_status report_stopped(const rb_stage *s)
{
    const rb_meter *x = s->meter;
    if (x->stopped == RB_CANCELLED)
        return rb_fail(s->err, RB_CANCELLED, "the caller ended the step");
    double share = 100.0 / x->all;
    return rb_fail(s->err, RB_BUDGET,
                   "%.3g of %.3g units: %.0f %% factorisations, %.0f %% sweeps and pivots, %.0f %% "
                   "pairs of geoms, %.0f %% dynamics, in %d problems and %d parts; a shorter step "
                   "or accuracy fast takes less, a larger budget gives more",
                   x->all, x->most, share * x->spent[RB_WORK_FACTOR],
                   share * x->spent[RB_WORK_SWEEP], share * x->spent[RB_WORK_PAIR],
                   share * x->spent[RB_WORK_MOTION], s->info->solves, s->info->parts + 1);
}

/* Formulations of the papers have schemes of their own, and so have flights. */
static int takes_node(const rb_step_opts *o)
{
    return o->stepper != RB_STEPPER_IMPULSE;
}

rb_status rb_step(const rb_model *m, rb_data *d, const rb_step_opts *o, rb_step_info *info,
                  rb_error *err)
{
    rb_step_info own;
    rb_step_opts usual;
    if (!o) usual = rb_step_opts_default();
    if (!o) o = &usual;
    if (o->scheme == RB_SCHEME_NODE && !takes_node(o)) {
        usual = *o;
        usual.scheme = RB_SCHEME_MIDPOINT;
        o = &usual;
    }
    rb_stage s = { .m = m, .d = d, .o = o, .info = info ? info : &own, .err = err };
    clear_info(s.info);
    s.h = s.h_full = o->h != 0.0 ? o->h : m->option.timestep;
    s.gravity = rb_norm3(m->option.gravity);
    s.size = m->extent;
    s.ladder = &rb_solver_auto;
    s.tol = s.loose = rb_step_opts_tol(o);
    s.deep = rb_accuracy_overlap(o->accuracy) * s.size;
    s.open_most = LOOP_OPEN * s.deep;
    rb_status status = rb_step_opts_check(o, s.h, err);
    if (status == RB_OK) status = rb_step_control(m, d, o, s.h, err);
    if (status == RB_OK) status = rb_step_inputs_check(m, d, err);
    if (status != RB_OK) return status;

    saved start;
    double begin = d->time, end = begin + s.h;
    rb_step_first_contacts(m, d);
    if (rb_rest_cache_find(m, d, o, s.info)) {
        if (d->slope_time == d->time) d->slope_time = end;
        d->time = end;
        rb_sensors(m, d);
        return RB_OK;
    }
    rb_mark mark = rb_arena_mark(d->arena);
    rb_meter meter = rb_meter_make(budget_of(m, o), o->cancel, o->cancel_ctx);
    s.meter = d->arena->meter = &meter;
    int kept = take_memory(&s) && keep(&s, &start);
    status = RB_NOMEM;
    if (kept) status = advance(&s, &start);
    if (o->stepper == RB_STEPPER_IMPULSE || o->stepper == RB_STEPPER_HYBRID)
        s.info->penetration_made = s.info->penetration;
    if (status == RB_OK) status = rb_stage_project(&s, begin);
    if (rb_meter_stopped(&meter)) status = report_stopped(&s);
    d->arena->meter = NULL;
    s.info->work = meter.all;
    if (status == RB_OK) {
        d->time = end;
        rb_control_remember(m, d, begin);
        keep_gauges(&s);
        rb_rest_cache_start was = { .q = start.q,
                                    .v = start.v,
                                    .act = start.act,
                                    .slope = start.slope,
                                    .slope_h = start.slope_h,
                                    .touch = start.touch,
                                    .ntouch = start.ntouch };
        rb_rest_cache_store(m, d, o, s.info, &was);
        if (s.corrects) d->cache->rest_known = 0;
        rb_sensors(m, d);
    } else if (kept) {
        go_back(&s, &start);
    }
    rb_arena_reset(d->arena, mark);
    if (status == RB_SINGULAR) rb_step_name_singular(m, d, err);
    return status;
}
