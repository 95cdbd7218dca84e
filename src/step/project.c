/* Takes errors of positions off positions. No velocity comes from it.
 *
 * Rows of a step keep overlap of the start, and joints beyond their limits, from growing. After
 * the step they are taken off, all of them linearly in time, so that they are gone T = 0.2 s after
 * the first of them was seen, at t_e:
 *
 *     gap+ = (1 - s) gap,     s = min(1, h / (t_e - t)),     |gap+ - gap| <= h l / T         (S.35)
 *
 * with the scale l, the extent of the model or pi. The law does not depend on the step: two halves
 * of a step lead where the whole one does. Models with actuators do it twenty times in T, not in
 * each step. The displacement is (S.36), and the velocity is kept:
 *
 *     q := q (+) dq,       v as it is, but for loops (S.38)                                  (S.37)
 *
 * The energy of the displacement is reported. An error that has not shrunk by a tenth when its
 * time is over cannot be taken off. It is left alone until it changes.
 *
 * opts.project > 0 takes off a share of overlap in each step instead. The scheme of Moreau and
 * Jean has no repairs. Its rows hold loops by their velocity alone, and what they open by within
 * the step is closed here:
 *
 *     J_b dq = -error                                                                        (S.60)
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "correct/displace.h"
#include "step/gaps.h"
#include "step/motion.h"

/* Errors of the start are gone after so long [s], and those larger than the scale are taken off at
 * the scale in that time. */
#define PERIOD 0.2

/* Displacements in this time where actuators drive the model, at most one a step. */
#define PARTS 20.0

/* Rows are looked for within this many times what is asked for [1]. Larger: more rows. Smaller:
 * what is met on the way is found one round late. */
#define REACH 4.0

/* Share of an error that must be gone after a period. */
#define GAIN 0.1

enum { ROUNDS = 6 }; /* of rows and positions in a step; what is left is taken off in the next */

static int closes_loops(const rb_stage *s)
{
    return s->o->scheme == RB_SCHEME_MOREAU_JEAN && s->m->neq > 0;
}

static int is_soft_material(const rb_material *material)
{
    return !isnan(material->relax_stiffness) || !isnan(material->relax_damping);
}

/* Contacts that yield overlap by force over stiffness. */
static int is_soft(const rb_stage *s)
{
    const rb_model *m = s->m;
    if (s->o->regularise > 0.0) return 1;
    if (!s->o->formulation->relaxes) return 0;
    for (int i = 0; i < m->ngeom; i++) {
        if (is_soft_material(&m->geom_material[i])) return 1;
    }
    for (int i = 0; i < m->npair; i++) {
        if (is_soft_material(&m->pair_material[i])) return 1;
    }
    return 0;
}

/* Steps of these kinds overlap by themselves: what they made is no error of the start. */
static int makes_overlap(const rb_stage *s)
{
    const rb_step_opts *o = s->o;
    return o->scheme != RB_SCHEME_NODE || o->max_repair == 0 || is_soft(s);
}

/* Steppers that say how deep bodies are. */
static int looks_at_gaps(const rb_stage *s)
{
    return s->o->stepper == RB_STEPPER_FIXED || s->o->stepper == RB_STEPPER_LOCATED;
}

/* ---- how large errors are ---------------------------------------------------------------------
 */

static double outside(const double range[2], double x)
{
    return fmax(0.0, fmax(range[0] - x, x - range[1]));
}

/* How far a joint is beyond its limits at d->q [m] or [rad]. */
static double joint_error(const rb_stage *s, int j)
{
    const rb_model *m = s->m;
    const double *q = s->d->q + m->jnt_qadr[j], *range = m->jnt_range + 2 * j;
    if (!m->jnt_limited[j] || m->jnt_type[j] == RB_JOINT_FREE) return 0.0;
    if (m->jnt_type[j] == RB_JOINT_BALL) return fmax(0.0, rb_stage_ball_angle(q) - range[1]);
    return outside(range, *q);
}

/* The largest of them, and how far bodies move for it at most: angles turn the extent [m]. */
static double limit_error(const rb_stage *s, double *moves)
{
    const rb_model *m = s->m;
    double worst = 0.0;
    *moves = 0.0;
    for (int j = 0; j < m->njnt_all; j++) {
        double error = joint_error(s, j);
        double arm = m->jnt_type[j] == RB_JOINT_SLIDE ? 1.0 : fmin(1.0, s->given->size);
        worst = fmax(worst, error);
        *moves = fmax(*moves, arm * error);
    }
    for (int t = 0; t < m->ntendon; t++) {
        if (!m->tendon_limited[t]) continue;
        double length = m->tendon_pathnum[t] > 0 ? rb_tendon_length(m, s->d, t)
                                                 : rb_stage_tendon_length(m, t, s->d->q);
        double error = outside(m->tendon_range + 2 * t, length);
        worst = fmax(worst, error);
        *moves = fmax(*moves, error);
    }
    return worst;
}

/* ---- when they are to be gone -----------------------------------------------------------------
 */

/* Begins a period, unless one is under way or nothing can be done. 0: leave errors alone. */
static int begin_or_go_on(rb_stage *s, double worst, double start)
{
    rb_data *d = s->d;
    double left = d->correct_end - start, tiny = 1e-9 * PERIOD;
    int under_way = left > tiny && left <= PERIOD + tiny && d->correct_from > 0.0;
    if (d->correct_from < 0.0 && fabs(worst + d->correct_from) <= GAIN * worst) return 0;
    if (under_way) return 1;
    int in_vain = fabs(left) <= s->given->h && d->correct_from > 0.0 &&
                  worst > (1.0 - GAIN) * d->correct_from;
    d->correct_from = in_vain ? -worst : worst;
    d->correct_end = start + PERIOD;
    return !in_vain;
}

/* Of PERIOD, what is left at time t [1]: in PARTS where actuators drive the model, the first of
 * them at once. */
static double error_left_at(const rb_stage *s, double t)
{
    double left = (s->d->correct_end - t) / PERIOD;
    if (!rb_stage_is_driven(s)) return left <= 1e-9 ? 0.0 : left;
    return fmax(0.0, floor(PARTS * left + 1e-6)) / PARTS;
}

/* ---- the displacement --------------------------------------------------------------------------
 */

static double energy(rb_stage *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* d->v, kept in v meanwhile, changes only as much as loops need at the new place. */
static rb_status displace(rb_stage *s, rb_displace *x, double *v)
{
    rb_data *d = s->d;
    double before = energy(s);
    memcpy(v, d->v, (size_t)s->m->nv * sizeof *v);
    memset(d->v, 0, (size_t)s->m->nv * sizeof *v);
    rb_status status = rb_displace_run(x);
    if (status == RB_FULL) s->info->contacts = x->contacts;
    memcpy(d->v, v, (size_t)s->m->nv * sizeof *v);
    if (status == RB_OK && x->moved) status = rb_loop_velocity(s->m, d);
    if (status != RB_OK || !x->moved) return status;
    s->info->project_energy = energy(s) - before;
    s->info->projected = fmax(0.0, x->before - x->after);
    s->info->penetration = x->after;
    if (x->close_loops) s->info->loop_error = x->loop_error;
    return RB_OK;
}

/* What is asked for; 0: nothing. */
static int set_goals(rb_stage *s, double start, rb_displace *x)
{
    double deep = x->deep, overlap = s->info->penetration, limits = 0.0, moves = 0.0;
    if (s->o->project > 0.0 && overlap > deep) {
        x->share = s->o->project;
        x->most = INFINITY;
        x->reach = REACH * overlap * x->share;
        return 1;
    }
    int corrects = !s->o->keep_errors && s->o->project == 0.0;
    if (corrects) limits = limit_error(s, &moves);
    double worst = fmax(limits, looks_at_gaps(s) ? overlap : 0.0);
    corrects = corrects && worst > rb_stage_error_least(s) && !makes_overlap(s);
    if (!corrects || !begin_or_go_on(s, worst, start)) {
        x->only_loops = 1;
        x->reach = deep;
        return x->close_loops;
    }
    s->corrects = 1;
    double left = error_left_at(s, start), after = error_left_at(s, start + s->given->h);
    if (left <= after) {
        x->only_loops = 1;
        x->reach = deep;
        return x->close_loops;
    }
    x->share = 1.0 - after / left; /* (S.35) */
    x->most = left - after;
    x->reach = REACH * fmax(overlap, moves) * x->share;
    return 1;
}

/* Nothing moves while positions are looked at; then everything has the velocity it had. */
rb_status rb_stage_project(rb_stage *s, double start)
{
    rb_data *d = s->d;
    rb_displace x = { .m = s->m,
                      .d = d,
                      .o = s->o,
                      .size = s->given->size,
                      .deep = RB_GAP_DEEP * s->given->size,
                      .close_loops = closes_loops(s),
                      .max_rounds = ROUNDS,
                      .err = s->err };
    if (s->m->nv == 0 || !set_goals(s, start, &x)) return RB_OK;
    rb_mark mark = rb_arena_mark(d->arena);
    size_t led_bytes = 6 * (size_t)s->m->nmocap * sizeof(double);
    double *v = rb_push(d->arena, double, s->m->nv);
    double *led = rb_push(d->arena, double, 6 * (size_t)s->m->nmocap);
    if (!v || !led) return RB_NOMEM;
    memcpy(led, d->mocap_v, led_bytes);
    memset(d->mocap_v, 0, led_bytes);
    rb_status status = displace(s, &x, v);
    memcpy(d->mocap_v, led, led_bytes);
    rb_arena_reset(d->arena, mark);
    return status;
}
