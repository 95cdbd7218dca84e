/* Contacts that last. Those within the shell get their impulses together, at ticks that are tau
 * apart. a is the free acceleration, v- the velocity at the end of a flight, and v+ that at the
 * start of the next one, which lasts tau:
 *
 *     v_m = v+ + a tau/2        mean velocity of the flight
 *     M (v_m - (v- + a tau/2)) = J' p                                                         (B.6)
 *     0 <= p_n  _|_  n.J v_m + max(0, gap - rest) / tau >= 0,   Coulomb's law with J v_m      (B.7)
 *
 * The mean velocity obeys the laws of contact. A body at rest has v_m = 0, v+ = -a tau/2 and comes
 * back to the same place, however many times. A body that slides or rolls moves in chords of its
 * path. The gap at the end of the flight is the one at which contacts are kept. This is the
 * problem of a fixed step from the mean velocity before to the one after, so that solvers,
 * certificates, warm starts and the certificate of rest are those of all steppers. Between ticks,
 * `ahead` is the time until the next one. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/vec3.h"
#include "events/impulse.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rest.h"
#include "step/rows.h"
#include "step/touch.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- the state before --------------------------------------------------------------------------
 */

/* rb_data at time t for all that takes part, and the free acceleration of free bodies. */
static rb_status gather(rb_events *x, double t)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_status status = x->ndriven > 0 ? rb_impulse_drive(x, t) : RB_OK;
    memset(x->accel, 0, (size_t)m->nv * sizeof *x->accel);
    for (int i = 0; i < s->problem.ncontact && status == RB_OK; i++) {
        const int links[2] = { m->geom_link[s->problem.contacts[i].geom1],
                               m->geom_link[s->problem.contacts[i].geom2] };
        for (int k = 0; k < 2 && status == RB_OK; k++) {
            if (x->flyer[links[k]].kind != RB_FLYER_FREE) continue;
            status = rb_impulse_sync(x, links[k], t);
            rb_flyer_rate(x, links[k], x->accel + m->link_dofadr[links[k]]);
        }
    }
    if (status != RB_OK) return status;
    copy(x->v_minus, s->d->v, m->nv);
    rb_stage_kinematic_pose(s, t);
    return RB_OK;
}

/* v0, v_free: mean velocities of the flights before and after, of free bodies; of driven links,
 * which do not hop, the velocity now. */
static void start_velocities(rb_events *x, double t, double ahead, int tick)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++) {
        double flown = tick ? rb_flyer_flown(x, m->dof_link[j], t) : 0.0;
        double gain = 0.5 * flown * x->accel[j];
        s->smooth.v[j] = x->v_minus[j] + 0.5 * ahead * x->accel[j];
        s->start.v[j] = x->v_minus[j] - gain;
        if (fabs(s->start.v[j]) <= RB_HOP_ROUNDING * fabs(gain)) { /* the hop of a body at rest */
            s->start.v[j] = 0.0;
            s->smooth.v[j] = 0.5 * (ahead + flown) * x->accel[j];
        }
    }
}

/* ---- the problem -------------------------------------------------------------------------------
 */

/* Share of an overlap that one tick takes off [1]. Larger: energy from the
 * repair of positions shows. Smaller: contacts of curved shapes sink in. */
#define LIFT 0.2

/* Greatest speed of it, in units of what weight gives in a tick [1]. Larger: what is lifted
 * bounces. */
#define LIFT_SPEED 0.25

/* Share of the gap at which contacts are kept that counts as all of it [1]. 1: what is lifted never
 * arrives, and never rests. */
#define NEARLY 0.9

/* Its bodies moved before. */
static int moves(const rb_stage *s, const rb_constraint *c)
{
    for (int k = 0; k < c->ndof; k++)
        if (s->start.v[s->set.dof[c->dof + k]] != 0.0) return 1;
    return 0;
}

/* Islands that something led pushes or pulls. */
static void mark_kinematic(const rb_constraints *set, unsigned char *led)
{
    memset(led, 0, (size_t)set->nisland);
    for (int i = 0; i < set->ncontact; i++) {
        const rb_constraint *c = &set->c[i];
        if (c->island >= 0 && set->drive[c->row] != 0.0) led[c->island] = 1;
    }
}

/* How far a gap may close until contacts are kept. A body at rest that is closer stays there. A
 * moving body, and overlap, is lifted, but as if it were no deeper than a shell, so that no step
 * throws bodies out. A pushed body is lifted only out of overlap that ticks made (B.8). */
static double room_of(const rb_events *x, const rb_constraint *c, const unsigned char *led)
{
    const rb_stage *s = x->s;
    if (c->gap > x->rest) return c->gap - x->rest;
    if (rb_touches_driven(x, c)) return fmin(0.0, c->gap);
    if (c->gap >= NEARLY * x->rest) return 0.0;
    int pushed = c->island >= 0 && led[c->island];
    if (c->gap >= -RB_GAP_ZERO * s->given->size && (pushed || !moves(s, c))) return 0.0;
    if (pushed && c->gap < -x->shell) return 0.0;
    return fmax(c->gap, -x->shell) - x->rest;
}

/* What the row asks for beside u >= 0 (B.7), [m/s]. */
static double bias_of(const rb_events *x, const rb_constraint *c)
{
    if (c->kind == RB_CONSTRAINT_LIMIT) return fmax(0.0, c->gap) / x->s->h;
    if (c->kind != RB_CONSTRAINT_CONTACT) return 0.0;
    if (c->gap > 0.0) return c->gap / x->s->h;
    return fmax(LIFT * c->gap / x->tau, -LIFT_SPEED * x->s->given->gravity * x->tau);
}

/* Rows are those of the tick; what they change by until half a flight later, by the velocity of the
 * flight before, comes on top: so impulses do no work where bodies roll (B.10). */
void rb_impulse_lead_of(const rb_events *x, const rb_constraint *c, double out[3])
{
    const double *lead = x->lead + 4 * (ptrdiff_t)c->object;
    const double *frame = x->s->set.frame + 9 * (ptrdiff_t)c->object;
    out[0] = lead[3];
    for (int r = 1; r < 3; r++) out[r] = rb_dot3(frame + 3 * r, lead);
}

static void add_lead(rb_events *x, const rb_constraint *c)
{
    double lead[3], *bias = x->s->problem.bias + c->row;
    rb_impulse_lead_of(x, c, lead);
    for (int r = 0; r < c->nrow && r < 3; r++) bias[r] += lead[r];
}

/* Gaps of contacts become what is left of them; bias. Limits were measured `since` seconds after
 * the event. */
static rb_status fill_biases(rb_events *x, double since)
{
    rb_stage *s = x->s;
    unsigned char *led = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!led) return RB_NOMEM;
    mark_kinematic(&s->set, led);
    rb_constraints_velocity(&s->set, x->v_minus, s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        rb_constraint *c = &s->set.c[i];
        if (c->kind == RB_CONSTRAINT_CONTACT) c->gap = room_of(x, c, led);
        if (c->kind == RB_CONSTRAINT_LIMIT) c->gap -= since * s->problem.u[c->row];
        s->problem.bias[c->row] = s->problem.room[i] = bias_of(x, c);
        if (c->kind == RB_CONSTRAINT_CONTACT) add_lead(x, c);
    }
    return RB_OK;
}

void rb_impulse_row_speeds(rb_events *x)
{
    rb_stage *s = x->s;
    rb_constraints_velocity(&s->set, s->smooth.v, s->problem.u);
    for (int i = 0; i < s->set.nrow; i++) s->problem.u[i] += s->problem.bias[i];
}

/* The table of touching constraints has the gaps as they are. */
static void store(rb_events *x)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.ncontact; i++)
        s->set.c[i].gap = s->problem.contacts[s->set.c[i].object].at.gap;
    rb_constraints_velocity(&s->set, s->answer.v, s->problem.u);
    rb_stage_store(s);
    s->info->contacts = s->set.n;
    for (int i = 0; i < s->set.n; i++) s->info->active += s->answer.p[s->set.c[i].row] != 0.0;
}

static void go_to(rb_events *x, const double *v)
{
    rb_data *d = x->s->d;
    copy(d->v, v, x->s->m->nv);
    rb_kinematics(x->s->m, d);
    rb_velocity(x->s->m, d);
    rb_frames(x->s->m, d);
}

/* Rows at rb_data, which is `since` seconds after the event. */
static rb_status rows(rb_events *x, double ahead, double since)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    copy(s->start.q, d->q, s->m->nq);
    rb_status status =
        rb_constraints_build(s->m, d, s->o, ahead, s->given->gravity * ahead, s->problem.contacts,
                             s->problem.ncontact, NULL, &s->set);
    if (status != RB_OK) return status;
    if (s->set.n > d->touch_max) {
        s->info->contacts = s->set.n;
        return RB_FULL;
    }
    if (s->set.nrow > 0 && x->ndriven == 0) status = rb_stage_factor(s, NULL);
    if (status == RB_OK) status = rb_stage_take_rows(s);
    return status == RB_OK ? fill_biases(x, since) : status;
}

/* ---- after -------------------------------------------------------------------------------------
 */

static void report(rb_events *x, double t)
{
    rb_stage *s = x->s;
    const rb_event_sink *sink = &s->o->events;
    rb_event event = { .kind = RB_EVENT_MICRO, .time = s->start.time + t };
    int micros = 0;
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        const double *p = s->answer.p + c->row;
        if (!(p[0] > 0.0)) continue;
        micros++;
        if (!sink->take) continue;
        const rb_contact *contact = &s->problem.contacts[c->object];
        const double *frame = s->set.frame + 9 * c->object;
        event.geom1 = contact->geom1;
        event.geom2 = contact->geom2;
        event.speed = s->problem.u_before[c->row];
        event.count = s->set.ncontact;
        rb_copy3(s->set.point + 3 * c->object, event.pos);
        rb_copy3(contact->at.normal, event.normal);
        rb_zero3(event.impulse);
        for (int r = 0; r < c->nrow && r < 3; r++) rb_axpy3(p[r], frame + 3 * r, event.impulse);
        sink->take(sink->ctx, &event);
    }
    s->info->micros += micros;
    s->info->events += micros;
    if (micros == 0) return;
    s->info->groups++;
    s->info->resolved++;
    if (!sink->take) return;
    rb_event group = { .kind = RB_EVENT_GROUP,
                       .time = s->start.time + t,
                       .geom1 = -1,
                       .geom2 = -1,
                       .energy = s->answer.energy,
                       .count = micros };
    sink->take(sink->ctx, &group);
}

/* v+ = v_m - a ahead/2 of free bodies; driven links end their flight with v_new. */
static double start_of(const rb_events *x, int dof, double ahead)
{
    double hop = 0.5 * ahead * x->accel[dof];
    int driven = x->flyer[x->s->m->dof_link[dof]].kind == RB_FLYER_DRIVEN;
    return driven ? x->v_minus[dof] : x->s->answer.v[dof] - hop;
}

/* All trees that a row belongs to. */
static void release_open(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    if (x->ndriven > 0) rb_driven_take(x, t, ahead);
    for (int j = 0; j < m->nv; j++) s->answer.v[j] = start_of(x, j, ahead);
    for (int k = 1; k < m->nlink; k++) {
        int tree = m->link_tree[k];
        if (tree < 0 || s->set.tree_island[tree] < 0) continue;
        rb_impulse_take(x, k, t, s->answer.v);
    }
    x->q_now = NAN;
}

/* Mean of the velocities on which the impulses do their work. */
static double mean_of(const rb_events *x, int dof, double ahead)
{
    if (x->flyer[x->s->m->dof_link[dof]].kind == RB_FLYER_DRIVEN)
        return 0.5 * (x->v_minus[dof] + x->v_end[dof]);
    return 0.5 * (x->v_minus[dof] + x->s->answer.v[dof] - 0.5 * ahead * x->accel[dof]);
}

static rb_status solve(rb_stage *s)
{
    s->attempt.count++;
    rb_status status = rb_stage_solve(s);
    return status == RB_OK ? rb_stage_rest(s) : status;
}

/* The same rows with the leads that the velocities found give; where that has no answer the first
 * one stands. */
static rb_status solve_again(rb_events *x, double t)
{
    rb_stage *s = x->s;
    double *p = rb_push(s->d->arena, double, s->set.nrow);
    double *v = rb_push(s->d->arena, double, s->m->nv);
    if (!p || !v) return RB_NOMEM;
    copy(p, s->answer.p, s->set.nrow);
    copy(v, s->answer.v, s->m->nv);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < s->set.ncontact; i++) {
            const rb_constraint *c = &s->set.c[i];
            double *u = s->problem.u + c->row, *bias = s->problem.bias + c->row, lead[3];
            rb_impulse_lead_of(x, c, lead);
            for (int r = 0; r < c->nrow && r < 3; r++) {
                u[r] += sign * lead[r];
                bias[r] += sign * lead[r];
            }
        }
        if (sign > 0) break;
        rb_impulse_middle(x, t, s->answer.v);
        rb_impulse_leads(x);
    }
    rb_status status = solve(s);
    if (status != RB_UNSOLVED) return status;
    copy(s->answer.p, p, s->set.nrow);
    copy(s->answer.v, v, s->m->nv);
    return RB_OK;
}

/* Energy that leads may give to an island in a tick, relative to its kinetic energy [1]. Larger: a
 * coin whose contact runs around its rim is thrown. Smaller: what rolls well is braked. */
#define LEAD_ENERGY 0.01

/* Leads of islands that gain by them are taken off u and bias; 1: there are such. f, push (nv),
 * gain (nisland) are scratch. */
static int drop_leads(rb_events *x, double ahead, double *f, double *push, double *gain)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    int any = 0;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    memset(gain, 0, (size_t)s->set.nisland * sizeof *gain);
    rb_constraints_force(&s->set, s->answer.p, f);
    rb_mass_multiply(m, s->d, x->v_minus, push);
    for (int j = 0; j < m->nv; j++) {
        int tree = m->link_tree[m->dof_link[j]], island = tree < 0 ? -1 : s->set.tree_island[tree];
        if (island < 0) continue;
        gain[island] += f[j] * mean_of(x, j, ahead);
        gain[island] -= LEAD_ENERGY * 0.5 * push[j] * x->v_minus[j];
    }
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        for (int r = 0; r < c->nrow && c->island >= 0; r++)
            gain[c->island] += s->answer.p[c->row + r] * s->set.drive[c->row + r];
    }
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island < 0 || !(gain[c->island] > 0.0)) continue;
        double lead[3];
        rb_impulse_lead_of(x, c, lead);
        for (int r = 0; r < c->nrow && r < 3; r++) {
            any |= lead[r] != 0.0;
            s->problem.u[c->row + r] -= lead[r];
            s->problem.bias[c->row + r] -= lead[r];
        }
    }
    return any;
}

/* Where half a flight is too far to look ahead, rows are those of the tick alone: first order,
 * which takes energy and gives none. */
static rb_status limit_energy(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    double *f = rb_push(s->d->arena, double, s->m->nv);
    double *push = rb_push(s->d->arena, double, s->m->nv);
    double *gain = rb_push(s->d->arena, double, s->set.nisland);
    if (!f || !push || !gain) return RB_NOMEM;
    return drop_leads(x, ahead, f, push, gain) ? solve(s) : RB_OK;
}

/* Lifts are taken off u and bias; 1: there are such. */
static int drop_lifting(rb_stage *s)
{
    int any = 0;
    for (int i = 0; i < s->set.ncontact; i++) {
        int row = s->set.c[i].row;
        if (!(s->problem.room[i] < 0.0)) continue;
        s->problem.u[row] -= s->problem.room[i];
        s->problem.bias[row] -= s->problem.room[i];
        s->problem.room[i] = 0.0;
        any = 1;
    }
    return any;
}

/* A contact that lifts a body off the floor rubs at the body that pushes it. That presses it to
 * the floor, and with mu >= 1 the floor holds it against the push: there is no answer. Not lifted
 * it has one (B.8). */
static rb_status solve_or_drop(rb_stage *s)
{
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    rb_status status = solve(s);
    if (status != RB_UNSOLVED || !drop_lifting(s)) return status;
    s->info->residual = residual; /* what was refused is not reported as accepted */
    s->info->velocity_residual = in_velocity;
    return solve(s);
}

/* Kinetic energy that the impulses gave, less the work of kinematic bodies: between flights, which
 * keep their energy, it is what the tick changes all energy by. v_m is in v_new. */
static rb_status measure(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double *f = rb_push(s->d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    rb_constraints_force(&s->set, s->answer.p, f);
    for (int j = 0; j < m->nv; j++) s->answer.energy += f[j] * mean_of(x, j, ahead);
    for (int i = 0; i < s->set.nrow; i++) s->answer.energy += s->answer.p[i] * s->set.drive[i];
    return RB_OK;
}

/* From the last tick, or since it was hit. */
double rb_flyer_flown(const rb_events *x, int link, double t)
{
    const rb_flyer *f = &x->flyer[link];
    return f->kind == RB_FLYER_FREE && f->moved > 0 ? fmin(x->tau, t - f->t) : x->tau;
}

/* Driven links come to a halt; then rows and accelerations of their flight. */
static rb_status prepare_driven(rb_events *x, double t, double ahead, int tick)
{
    rb_stage *s = x->s;
    rb_status status = rb_driven_halt(x, ahead);
    rb_constraints before = s->set;
    const double *p = s->answer.p;
    if (status == RB_OK) status = rb_driven_ahead(x, t, ahead);
    if (status == RB_OK) status = rows(x, ahead, 0.5 * ahead);
    if (status != RB_OK) return status;
    rb_driven_spend(x, &before, p);
    return rb_driven_rate(x, t, ahead, tick);
}

/* Velocities, rows and what they ask for; driven links have come to a halt. */
static rb_status prepare(rb_events *x, double t, double ahead, int tick)
{
    rb_stage *s = x->s;
    rb_status status = gather(x, t);
    if (status != RB_OK) return status;
    start_velocities(x, t, ahead, tick);
    go_to(x, x->ndriven > 0 ? x->v_minus : s->smooth.v);
    status = rows(x, ahead, 0.0);
    s->answer.energy = 0.0;
    if (status == RB_OK && x->ndriven > 0) status = prepare_driven(x, t, ahead, tick);
    if (status != RB_OK) return status;
    rb_constraints_velocity(&s->set, s->start.v, s->problem.u_before);
    rb_impulse_row_speeds(x);
    return RB_OK;
}

rb_status rb_impulse_group(rb_events *x, double t, double ahead, int tick)
{
    rb_stage *s = x->s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    s->h = ahead;
    s->problem.v = NULL;
    s->attempt.last_p = NULL;
    rb_status status = prepare(x, t, ahead, tick);
    if (status == RB_OK) status = solve_or_drop(s);
    if (status == RB_OK) copy(x->v_end, s->answer.v, s->m->nv);
    if (status == RB_OK && tick && x->turns) status = solve_again(x, t);
    if (status == RB_OK && tick && x->turns) status = limit_energy(x, ahead);
    if (status == RB_OK && x->ndriven > 0) status = rb_driven_hold(x, t, ahead);
    if (status == RB_OK) status = measure(x, ahead);
    if (status == RB_UNSOLVED) status = rb_stage_jam(s);
    if (x->ndriven > 0) rb_driven_back(x, t);
    if (status == RB_OK) {
        s->info->energy_created += s->answer.energy;
        report(x, t);
        if (tick) store(x);
        release_open(x, t, ahead);
    }
    rb_arena_reset(s->d->arena, mark);
    s->h = x->h;
    return status;
}
