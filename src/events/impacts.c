/* The impact: velocities jump at a fixed configuration (S.45).
 *
 *     M (v+ - v-) = J' p,      compression and restitution as in restitution.c, no forces, no gaps
 *
 * All contacts that touch and approach are solved together, and with them the rows without
 * restitution: loops, limits, contacts with e = 0. Contacts with restitution that touch at rest
 * take part in the next round, when the shock has reached them. So it runs through a line of balls
 * as in Newton's cradle. After a bounded number of rounds all contacts that touch are solved
 * together. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "events/hybrid.h"
#include "step/problems.h"
#include "step/rows.h"

/* A contact that touches is found where nothing moves faster than this [m/s]; the time it is looked
 * ahead then is RB_TOUCH of the size over it. */
#define TOUCH_SPEED 1e3

/* Rounds of a shock, and as many more for each contact; then all contacts that touch are solved
 * together. Fewer: long lines of balls get their impulses at once. */
enum { ROUNDS = 16, ROUNDS_PER_CONTACT = 4 };

typedef struct impact {
    rb_stage *s;
    double h_full;
    rb_contact *touching; /*                                            (touch_max) */
    double *e, *speed;    /* restitution, rate of the gap               (touch_max) */
    double *slow;         /* speed of approach that is no impact        (touch_max) */
    int n;
} impact;

static void go_to(rb_stage *s)
{
    rb_flight_floor(s);
    memcpy(s->d->q, s->start.q, (size_t)s->m->nq * sizeof *s->start.q);
    memcpy(s->d->v, s->start.v, (size_t)s->m->nv * sizeof *s->start.v);
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
}

/* ---- who takes part ---------------------------------------------------------------------------
 */

static double slow_speed(const impact *x, const int geoms[2], const double normal[3],
                         const rb_material *material)
{
    if (x->s->events.paradigms) return rb_paradigms_slow(x->s, geoms, normal, material);
    return rb_flight_slow(x->s, x->h_full, material->restitution);
}

/* Contacts that touch: the same in all rounds. */
static rb_status find_touching(impact *x)
{
    rb_stage *s = x->s;
    double h = RB_TOUCH * s->given->size / TOUCH_SPEED;
    int n = 0, all = 0;
    rb_status status =
        rb_collide(s->m, s->d, h, TOUCH_SPEED, s->d->touch_max, x->touching, &all, s->err);
    if (status != RB_OK) {
        s->info->contacts = all;
        return status;
    }
    for (int i = 0; i < all; i++) {
        if (x->touching[i].at.gap <= RB_TOUCH * s->given->size) x->touching[n++] = x->touching[i];
    }
    x->n = n;
    return RB_OK;
}

/* Rates and coefficients of those that touch. */
static void find_speeds(impact *x)
{
    rb_stage *s = x->s;
    for (int i = 0; i < x->n; i++) {
        int grain;
        rb_material material;
        const rb_contact *c = &x->touching[i];
        rb_pair_material(s->m, c->geom1, c->geom2, s->o, &material, &grain);
        x->e[i] = material.restitution;
        x->slow[i] = slow_speed(x, (const int[2]){ c->geom1, c->geom2 }, c->at.normal, &material);
        x->speed[i] = rb_contact_rate(s->m, s->d, c);
    }
}

static int approaches(const impact *x, int i)
{
    return x->speed[i] < -x->slow[i];
}

/* Copies those that take part to s->contacts; returns whether any approaches. */
static int choose(impact *x, int all)
{
    rb_stage *s = x->s;
    int any = 0;
    s->problem.ncontact = 0;
    for (int i = 0; i < x->n; i++) {
        int comes = approaches(x, i);
        any |= comes;
        if (comes || all || !(x->e[i] > 0.0))
            s->problem.contacts[s->problem.ncontact++] = x->touching[i];
    }
    return any;
}

/* ---- one round --------------------------------------------------------------------------------
 */

/* u = J v-; contacts that come fast bounce. */
static void fill_velocities(impact *x)
{
    rb_stage *s = x->s;
    rb_constraints_velocity(&s->set, s->start.v, s->problem.u);
    memcpy(s->problem.u_before, s->problem.u, (size_t)s->set.nrow * sizeof *s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_CONTACT) continue;
        double e = c->material.restitution, u_n = s->problem.u[c->row];
        const double *normal = s->set.frame + 9 * (ptrdiff_t)c->object;
        const int geoms[2] = { c->id.a, c->id.b };
        if (!(u_n < -slow_speed(x, geoms, normal, &c->material))) continue;
        s->problem.e[i] = e;
        if (s->o->law == RB_NEWTON) s->problem.bias[c->row] = e * u_n;
        s->problem.u[c->row] += s->problem.bias[c->row];
    }
}

static rb_status rows(impact *x)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    double h = RB_TOUCH * s->given->size / TOUCH_SPEED;
    s->attempt.last_p =
        NULL; /* those of the motion before are rows of another place, and given back */
    rb_status status = rb_constraints_build(s->m, d, s->o, h, TOUCH_SPEED, s->problem.contacts,
                                            s->problem.ncontact, NULL, &s->set);
    if (status != RB_OK) return status;
    if (s->set.n > d->touch_max) {
        s->info->contacts = s->set.n;
        return RB_FULL;
    }
    rb_mass(s->m, d);
    status = rb_mass_factor(s->m, d);
    if (status == RB_OK) status = rb_stage_take_rows(s);
    if (status == RB_OK) fill_velocities(x);
    return status;
}

/* v0 := v0 + M^-1 J' p, and the energy of it. */
static rb_status jump(rb_stage *s)
{
    const rb_model *m = s->m;
    double *dv = rb_push(s->d->arena, double, m->nv);
    double *u = rb_push(s->d->arena, double, s->set.nrow);
    if (!dv || !u) return RB_NOMEM;
    memset(dv, 0, (size_t)m->nv * sizeof *dv);
    rb_constraints_force(&s->set, s->answer.p, dv);
    rb_mass_solve(m, s->d, dv);
    for (int j = 0; j < m->nv; j++) s->start.v[j] += dv[j];
    rb_constraints_velocity(&s->set, s->start.v, u);
    double energy = 0.0;
    for (int i = 0; i < s->set.nrow; i++)
        energy += 0.5 * s->answer.p[i] * (s->problem.u_before[i] + u[i]);
    s->info->energy_created += energy;
    s->info->energy_impacts += energy;
    return RB_OK;
}

static rb_status solve_round(impact *x)
{
    rb_stage *s = x->s;
    rb_status status = rows(x);
    if (status != RB_OK) return status;
    s->events.single_impact.nphase = 0;
    s->events.single_impact.energy = 0.0;
    if (s->events.paradigms && s->set.n == 1) {
        status = rb_paradigms_strike(s);
        if (status != RB_UNSUPPORTED) return status == RB_OK ? jump(s) : status;
    }
    unsigned char *skip = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!skip) return RB_NOMEM;
    memset(skip, 0, (size_t)s->set.nisland);
    status = rb_stage_single(s, skip);
    if (status == RB_OK) status = rb_stage_solve_others(s, skip);
    if (status == RB_OK) status = rb_stage_restitute(s);
    if (status == RB_OK) status = jump(s);
    if (status == RB_UNSOLVED) status = rb_stage_jam(s);
    return status;
}

/* v0 after the impact of s->contacts, all at once; kinematics at q0, v0. The memory of the rows is
 * the caller's to give back. */
rb_status rb_stage_strike(rb_stage *s, double h_full)
{
    impact x = { .s = s, .h_full = h_full };
    return solve_round(&x);
}

static rb_status run(impact *x)
{
    rb_stage *s = x->s;
    for (int round = 0;; round++) {
        go_to(s);
        rb_status status = round == 0 ? find_touching(x) : RB_OK;
        if (status == RB_OK) find_speeds(x);
        int all = round >= ROUNDS + ROUNDS_PER_CONTACT * x->n;
        if (status != RB_OK || !choose(x, all)) return status;
        s->info->impacts += round == 0 && !s->events.paradigms;
        s->attempt.impact = round + 1;
        rb_mark mark = rb_arena_mark(s->d->arena);
        status = solve_round(x);
        if (status == RB_OK && s->events.paradigms) rb_paradigms_report(s);
        rb_arena_reset(s->d->arena, mark);
        if (status != RB_OK || all) return status;
    }
}

int rb_stage_impact_comes(rb_stage *s, double h_full, const rb_flight *found)
{
    const impact x = { .s = s, .h_full = h_full };
    double touch = RB_TOUCH * s->given->size;
    if (s->given->gravity * s->h * s->h < touch) return 1; /* too short to see all that touches */
    for (int i = 0; i < found->n; i++) {
        int grain;
        rb_material material;
        const rb_contact *c = &found->contacts[i];
        if (c->at.gap > touch || found->speed[i] >= 0.0) continue;
        const int geoms[2] = { c->geom1, c->geom2 };
        rb_pair_material(s->m, c->geom1, c->geom2, s->o, &material, &grain);
        if (found->speed[i] < -slow_speed(&x, geoms, c->at.normal, &material)) return 1;
    }
    return 0;
}

rb_status rb_stage_impact(rb_stage *s, double h_full)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    impact x = { .s = s, .h_full = h_full };
    x.touching = rb_push(s->d->arena, rb_contact, s->d->touch_max);
    x.e = rb_push(s->d->arena, double, s->d->touch_max);
    x.speed = rb_push(s->d->arena, double, s->d->touch_max);
    x.slow = rb_push(s->d->arena, double, s->d->touch_max);
    rb_status status = x.touching && x.e && x.speed && x.slow ? run(&x) : RB_NOMEM;
    s->attempt.impact = 0;
    rb_arena_reset(s->d->arena, mark);
    return status;
}
