/* Contacts that last: those within the shell get their impulses together, at ticks that are tau
 * apart. With the free acceleration a, the velocity v- at the end of a flight, and v+ at the start
 * of the next one, which lasts tau,
 *
 *     v_m = v+ + a tau/2        mean velocity of the flight
 *     M (v_m - (v- + a tau/2)) = J' p                                                       (B.6)
 *     0 <= p_n  _|_  n.J v_m + max(0, gap - rest) / tau >= 0,   Coulomb's law with J v_m    (B.7)
 *
 * The mean velocity obeys the laws of contact: what rests has v_m = 0, v+ = -a tau/2 and comes back
 * to where it was, however many times; what slides or rolls does so in chords of its path. The gap
 * at the end of the flight is the one at which contacts are kept. It is the problem of a fixed step
 * from the mean velocity before to the one after, so that solvers, certificates, warm starts and
 * the certificate of rest are those of all steppers. Between ticks, `ahead` is what is left until
 * the next one. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/vec3.h"
#include "step/impulse.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- the state before --------------------------------------------------------------------------
 */

/* Mean free acceleration of what is driven, over a step of the midpoint rule; what is driven stays
 * at time t. */
static rb_status driven_rate(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_smooth_info smooth = { 0 };
    rb_mark mark = rb_arena_mark(d->arena);
    double *q = rb_push(d->arena, double, m->nq), *act = rb_push(d->arena, double, m->na);
    if (!q || !act) return RB_NOMEM;
    copy(q, d->q, m->nq);
    copy(act, d->act, m->na);
    rb_stage_led_pose(s, t + 0.5 * ahead);
    rb_status status = rb_smooth_step(m, d, ahead, &smooth);
    rb_stage_led_pose(s, t);
    for (int k = 1; k < m->nlink && status == RB_OK; k++) {
        int from = m->link_dofadr[k], end = from + m->link_dofnum[k];
        if (x->flyer[k].kind != RB_FLYER_DRIVEN) continue;
        for (int j = from; j < end; j++) x->accel[j] = (d->v[j] - x->v_minus[j]) / ahead;
    }
    copy(d->q, q, m->nq);
    copy(d->v, x->v_minus, m->nv);
    copy(d->act, act, m->na);
    rb_arena_reset(d->arena, mark);
    return status == RB_OK && !smooth.converged ? RB_UNSOLVED : status;
}

/* rb_data at time t for all that takes part, and its free acceleration. */
static rb_status gather(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_status status = x->ndriven > 0 ? rb_impulse_drive(x, t) : RB_OK;
    memset(x->accel, 0, (size_t)m->nv * sizeof *x->accel);
    for (int i = 0; i < s->ncontact && status == RB_OK; i++) {
        const int links[2] = { m->geom_link[s->contacts[i].geom1],
                               m->geom_link[s->contacts[i].geom2] };
        for (int k = 0; k < 2 && status == RB_OK; k++) {
            if (x->flyer[links[k]].kind != RB_FLYER_FREE) continue;
            status = rb_impulse_sync(x, links[k], t);
            rb_flyer_rate(x, links[k], x->accel + m->link_dofadr[links[k]]);
        }
    }
    if (status != RB_OK) return status;
    copy(x->v_minus, s->d->v, m->nv);
    rb_stage_led_pose(s, t);
    return x->ndriven > 0 ? driven_rate(x, t, ahead) : RB_OK;
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
        if (s->v0[s->set.dof[c->dof + k]] != 0.0) return 1;
    return 0;
}

/* What is left of a gap until contacts are kept. What rests closer stays as it is; what moves, and
 * overlap, is lifted, but as if it were no deeper than a shell: no step is to throw bodies out. */
static double room_of(const rb_events *x, const rb_constraint *c)
{
    const rb_stage *s = x->s;
    if (c->gap > x->rest) return c->gap - x->rest;
    if (c->gap >= NEARLY * x->rest) return 0.0;
    if (c->gap >= -RB_GAP_ZERO * s->size && !moves(s, c)) return 0.0;
    return fmax(c->gap, -x->shell) - x->rest;
}

/* What the row asks for beside u >= 0 (B.7), [m/s]. */
static double bias_of(const rb_events *x, const rb_constraint *c)
{
    if (c->kind == RB_CONSTRAINT_LIMIT) return fmax(0.0, c->gap) / x->s->h;
    if (c->kind != RB_CONSTRAINT_CONTACT) return 0.0;
    if (c->gap > 0.0) return c->gap / x->s->h;
    return fmax(LIFT * c->gap / x->tau, -LIFT_SPEED * x->s->gravity * x->tau);
}

/* Rows are those of the tick; what they change by until half a flight later, by the velocity of the
 * flight before, comes on top: so impulses do no work where bodies roll (B.9). */
static void lead_of(const rb_events *x, const rb_constraint *c, double out[3])
{
    const double *lead = x->lead + 4 * (ptrdiff_t)c->object;
    const double *frame = x->s->set.frame + 9 * (ptrdiff_t)c->object;
    out[0] = lead[3];
    for (int r = 1; r < 3; r++) out[r] = rb_dot3(frame + 3 * r, lead);
}

static void add_lead(rb_events *x, const rb_constraint *c)
{
    double lead[3], *bias = x->s->bias + c->row;
    lead_of(x, c, lead);
    for (int r = 0; r < c->nrow && r < 3; r++) bias[r] += lead[r];
}

/* Gaps of contacts become what is left of them; u, u_before, bias. */
static void fill_velocities(rb_events *x)
{
    rb_stage *s = x->s;
    rb_constraints_velocity(&s->set, s->v_free, s->u);
    rb_constraints_velocity(&s->set, s->v0, s->u_before);
    for (int i = 0; i < s->set.n; i++) {
        rb_constraint *c = &s->set.c[i];
        if (c->kind == RB_CONSTRAINT_CONTACT) c->gap = room_of(x, c);
        s->bias[c->row] = s->room[i] = bias_of(x, c);
        if (c->kind == RB_CONSTRAINT_CONTACT) add_lead(x, c);
        for (int r = 0; r < c->nrow; r++) s->u[c->row + r] += s->bias[c->row + r];
    }
}

/* The touch table tells the gaps as they are. */
static void store(rb_events *x)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.ncontact; i++)
        s->set.c[i].gap = s->contacts[s->set.c[i].object].at.gap;
    rb_constraints_velocity(&s->set, s->v_new, s->u);
    rb_stage_store(s);
    s->info->contacts = s->set.n;
    for (int i = 0; i < s->set.n; i++) s->info->active += s->p[s->set.c[i].row] != 0.0;
}

static rb_status rows(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    copy(s->q0, d->q, s->m->nq);
    copy(d->v, s->v_free, s->m->nv);
    rb_kinematics(s->m, d);
    rb_velocity(s->m, d);
    rb_frames(s->m, d);
    rb_status status = rb_constraints_build(s->m, d, s->o, ahead, s->gravity * ahead, s->contacts,
                                            s->ncontact, &s->set);
    if (status != RB_OK) return status;
    if (s->set.n > d->touch_max) {
        s->info->contacts = s->set.n;
        return RB_FULL;
    }
    if (s->set.nrow > 0) status = rb_stage_factor(s);
    if (status == RB_OK) status = rb_stage_take_rows(s);
    if (status == RB_OK) fill_velocities(x);
    return status;
}

/* ---- after -------------------------------------------------------------------------------------
 */

static void tell(rb_events *x, double t)
{
    rb_stage *s = x->s;
    const rb_event_sink *sink = &s->o->events;
    rb_event event = { .kind = RB_EVENT_MICRO, .time = s->time0 + t };
    int micros = 0;
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        const double *p = s->p + c->row;
        if (!(p[0] > 0.0)) continue;
        micros++;
        if (!sink->take) continue;
        const rb_contact *contact = &s->contacts[c->object];
        const double *frame = s->set.frame + 9 * c->object;
        event.geom1 = contact->geom1;
        event.geom2 = contact->geom2;
        event.speed = s->u_before[c->row];
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
                       .time = s->time0 + t,
                       .geom1 = -1,
                       .geom2 = -1,
                       .energy = s->energy,
                       .count = micros };
    sink->take(sink->ctx, &group);
}

/* v+ = v_m - a ahead/2 of all trees that a row belongs to. */
static void let_fly(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++) s->v_new[j] -= 0.5 * ahead * x->accel[j];
    for (int k = 1; k < m->nlink; k++) {
        int tree = m->link_tree[k];
        if (tree < 0 || s->set.tree_island[tree] < 0) continue;
        rb_impulse_take(x, k, t, s->v_new);
    }
    x->q_now = NAN;
}

static rb_status solve(rb_stage *s)
{
    s->tries++;
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
    copy(p, s->p, s->set.nrow);
    copy(v, s->v_new, s->m->nv);
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < s->set.ncontact; i++) {
            const rb_constraint *c = &s->set.c[i];
            double *u = s->u + c->row, *bias = s->bias + c->row, lead[3];
            lead_of(x, c, lead);
            for (int r = 0; r < c->nrow && r < 3; r++) {
                u[r] += sign * lead[r];
                bias[r] += sign * lead[r];
            }
        }
        if (sign > 0) break;
        rb_impulse_middle(x, t, s->v_new);
        rb_impulse_leads(x);
    }
    rb_status status = solve(s);
    if (status != RB_UNSOLVED) return status;
    copy(s->p, p, s->set.nrow);
    copy(s->v_new, v, s->m->nv);
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
    rb_constraints_force(&s->set, s->p, f);
    rb_mass_multiply(m, s->d, x->v_minus, push);
    for (int j = 0; j < m->nv; j++) {
        int tree = m->link_tree[m->dof_link[j]], island = tree < 0 ? -1 : s->set.tree_island[tree];
        double after = s->v_new[j] - 0.5 * ahead * x->accel[j];
        if (island < 0) continue;
        gain[island] += 0.5 * f[j] * (after + x->v_minus[j]);
        gain[island] -= LEAD_ENERGY * 0.5 * push[j] * x->v_minus[j];
    }
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        for (int r = 0; r < c->nrow && c->island >= 0; r++)
            gain[c->island] += s->p[c->row + r] * s->set.drive[c->row + r];
    }
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island < 0 || !(gain[c->island] > 0.0)) continue;
        double lead[3];
        lead_of(x, c, lead);
        for (int r = 0; r < c->nrow && r < 3; r++) {
            any |= lead[r] != 0.0;
            s->u[c->row + r] -= lead[r];
            s->bias[c->row + r] -= lead[r];
        }
    }
    return any;
}

/* Where half a flight is too far to look ahead, rows are those of the tick alone: first order,
 * which takes energy and gives none. */
static rb_status calm(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    double *f = rb_push(s->d->arena, double, s->m->nv);
    double *push = rb_push(s->d->arena, double, s->m->nv);
    double *gain = rb_push(s->d->arena, double, s->set.nisland);
    if (!f || !push || !gain) return RB_NOMEM;
    return drop_leads(x, ahead, f, push, gain) ? solve(s) : RB_OK;
}

/* Kinetic energy that the impulses gave, less the work of what is led: between flights, which keep
 * their energy, it is what the tick changes all energy by. v_m is in v_new. */
static rb_status measure(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    s->energy = 0.0;
    double *f = rb_push(s->d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    rb_constraints_force(&s->set, s->p, f);
    for (int j = 0; j < m->nv; j++) {
        double after = s->v_new[j] - 0.5 * ahead * x->accel[j];
        s->energy += 0.5 * f[j] * (after + x->v_minus[j]);
    }
    for (int i = 0; i < s->set.nrow; i++) s->energy += s->p[i] * s->set.drive[i];
    return RB_OK;
}

/* From the last tick, or since it was hit. */
double rb_flyer_flown(const rb_events *x, int link, double t)
{
    const rb_flyer *f = &x->flyer[link];
    return f->kind == RB_FLYER_FREE && f->moved > 0 ? fmin(x->tau, t - f->t) : x->tau;
}

rb_status rb_impulse_group(rb_events *x, double t, double ahead, int tick)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_mark mark = rb_arena_mark(s->d->arena);
    s->h = ahead;
    rb_status status = gather(x, t, ahead);
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        double flown = tick ? rb_flyer_flown(x, m->dof_link[j], t) : 0.0;
        double gain = 0.5 * flown * x->accel[j];
        s->v_free[j] = x->v_minus[j] + 0.5 * ahead * x->accel[j];
        s->v0[j] = x->v_minus[j] - gain;
        if (fabs(s->v0[j]) <= RB_HOP_ROUNDING * fabs(gain)) { /* the hop of what rests */
            s->v0[j] = 0.0;
            s->v_free[j] = 0.5 * (ahead + flown) * x->accel[j];
        }
    }
    if (status == RB_OK) status = rows(x, ahead);
    s->v_hat = NULL;
    s->last_p = NULL;
    if (status == RB_OK) status = solve(s);
    if (status == RB_OK && tick && x->turns) status = solve_again(x, t);
    if (status == RB_OK && tick && x->turns) status = calm(x, ahead);
    if (status == RB_OK) status = measure(x, ahead);
    if (status == RB_UNSOLVED) status = rb_stage_jam(s);
    if (status == RB_OK) {
        s->info->energy_created += s->energy;
        tell(x, t);
        if (tick) store(x);
        let_fly(x, t, ahead);
    }
    rb_arena_reset(s->d->arena, mark);
    s->h = x->h;
    return status;
}
