/* What a step by the node rule tells: velocity, energy, overlap.
 *
 * The state has the velocity before the impulses of its instant, which for a body at rest is
 * -g h / 2. Reported is the one after as much of them as rows that touch need to agree with it,
 *
 *     v = v+ + (M + E)^-1 J'p~,      0 <= p~_n  _|_  n.v >= 0, loops J v = 0, friction (S.104)
 *
 * half of the impulses for what lasts, none for what leaves. The next step begins from v+. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "step/node.h"

/* Speed of rows that stay open, in units of what rows have [1]: more than impulses change. */
#define OPEN_SPEEDS 4.0

int rb_node_is_fresh(const rb_node *x, const rb_constraint *c)
{
    const rb_model *m = x->s->m;
    return c->ndof > 0 && x->fresh[m->link_tree[m->dof_link[x->s->set.dof[c->dof]]]];
}

/* The contact pushed, or holds on: what comes fast and has restitution will bounce. */
static int lasts(const rb_stage *s, const rb_constraint *c)
{
    int fast = -s->u[c->row] > RB_BOUNCE_STEPS * s->gravity * s->h;
    int bounces = c->kind == RB_CONSTRAINT_CONTACT && c->material.restitution > 0.0;
    return s->p[c->row] > 0.0 && !(bounces && fast);
}

/* What does not last is not asked. */
static void leave_open(rb_node *x)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT || lasts(s, c)) continue;
        s->u[c->row] = fmax(0.0, s->u[c->row]) + OPEN_SPEEDS * x->speed;
    }
}

static void scale_friction(rb_stage *s, double by)
{
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        if (s->set.c[i].kind == RB_CONSTRAINT_DRY) s->set.c[i].bound *= by;
    }
}

/* Whether the rows of constraint i, velocities u after half of p, agree with that as they are: what
 * pushes has no velocity, what does not leaves. What slides has to be asked. */
static int is_agreed(const rb_node *x, int i, const double *half, const double *u, double allowed)
{
    const rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    double largest = 0.0;
    for (int r = c->row; r < c->row + c->nrow; r++) largest = fmax(largest, fabs(u[r]));
    if (c->kind == RB_CONSTRAINT_EQUALITY || c->kind == RB_CONSTRAINT_DRY)
        return largest <= allowed;
    if (half[c->row] > 0.0) return lasts(s, c) && largest <= allowed;
    return u[c->row] >= -allowed;
}

/* Marks islands in skip that need no problem: p~ is half of p. */
static void find_agreed(rb_node *x, const double *half, unsigned char *skip)
{
    rb_stage *s = x->s;
    double allowed = rb_node_allowed(x);
    memset(x->f, 0, (size_t)s->m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, half, x->f);
    rb_mass_solve(s->m, s->d, x->f);
    for (int j = 0; j < s->m->nv; j++) x->f[j] += x->v_end[j];
    rb_constraints_velocity(&s->set, x->f, x->value);
    memset(skip, 1, (size_t)s->set.nisland);
    for (int i = 0; i < s->set.n; i++) {
        int k = s->set.c[i].island;
        if (k < 0 || s->still[k]) continue;
        if (!is_agreed(x, i, half, x->value, allowed)) skip[k] = 0;
    }
}

/* s->p := p~ of (S.104), half of p where there is no answer; half: 1/2 p, at first. */
static rb_status agree(rb_node *x, const double *half)
{
    rb_stage *s = x->s;
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    unsigned char *skip = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!skip) return RB_NOMEM;
    rb_constraints_velocity(&s->set, x->v_end, s->u);
    find_agreed(x, half, skip);
    leave_open(x);
    memcpy(s->p, half, (size_t)s->set.nrow * sizeof *half);
    scale_friction(s, 0.5);
    s->last = s->set;
    s->last_p = half;
    s->turn = 1; /* in the names of problems */
    rb_status status = rb_stage_solve_others(s, skip);
    s->turn = 0;
    s->last_p = NULL;
    scale_friction(s, 2.0);
    if (status != RB_UNSOLVED) return status;
    memcpy(s->p, half, (size_t)s->set.nrow * sizeof *half);
    s->info->residual = residual; /* the answer of the step has that */
    s->info->velocity_residual = in_velocity;
    return RB_OK;
}

/* p: those of the step; what they come to between the velocities that are reported: those of a
 * motion that begins with v itself are of half a step, and p~ comes on top. */
static void tell_impulses(rb_node *x, double *p)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int rests = c->island >= 0 && s->still[c->island];
        int twice = rb_node_is_fresh(x, c) && !rests;
        for (int r = c->row; r < c->row + c->nrow; r++)
            s->p[r] = p[r] + (twice ? s->p[r] : 0.0) + x->struck[r];
    }
}

/* x->f := J'p~, and p is told. */
static rb_status find_agreeing(rb_node *x)
{
    rb_stage *s = x->s;
    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    double *p = rb_push(arena, double, s->set.nrow), *half = rb_push(arena, double, s->set.nrow);
    unsigned char *mode = rb_push(arena, unsigned char, s->set.n);
    if (!p || !half || !mode) return RB_NOMEM;
    memcpy(p, s->p, (size_t)s->set.nrow * sizeof *p);
    memcpy(mode, s->mode, (size_t)s->set.n);
    for (int r = 0; r < s->set.nrow; r++) half[r] = 0.5 * p[r];
    rb_status status = agree(x, half);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island >= 0 && !s->still[c->island]) continue;
        memset(s->p + c->row, 0, (size_t)c->nrow * sizeof *s->p);
    }
    memset(x->f, 0, (size_t)s->m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, s->p, x->f);
    tell_impulses(x, p);
    memcpy(s->mode, mode, (size_t)s->set.n);
    rb_arena_reset(arena, mark);
    return status;
}

/* v_new, kick. */
static rb_status report_velocity(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double *kick = s->d->kick, *of = kick + m->nv;
    memset(x->f, 0, (size_t)m->nv * sizeof *x->f);
    if (s->set.nrow > 0) {
        rb_status status = find_agreeing(x);
        if (status != RB_OK) return status;
        rb_mass_solve(m, s->d, x->f);
    }
    for (int j = 0; j < m->nv; j++) {
        int rests = s->resting[m->link_tree[m->dof_link[j]]];
        s->v_new[j] = rests ? 0.0 : x->v_end[j] + x->f[j];
        of[j] = s->v_new[j];
        kick[j] = rests ? 0.0 : -x->f[j];
    }
    return RB_OK;
}

/* (v1 - v0).(M + E) (v0 + v1) / 2 of trees that do not rest. */
static double work_between(rb_node *x, const double *v0, const double *v1)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    double sum = 0.0;
    for (int j = 0; j < m->nv; j++) x->v_mean[j] = v1[j] - v0[j];
    rb_mass_multiply(m, s->d, x->v_mean, x->f);
    for (int j = 0; j < m->nv; j++) {
        double f = x->f[j] + x->E[j] * x->v_mean[j];
        if (!s->resting[m->link_tree[m->dof_link[j]]]) sum += 0.5 * f * (v0[j] + v1[j]);
    }
    return sum;
}

/* Energy that impulses made, from the velocity that was reported before to the one that is now:
 *
 *     1/2 (v + v_e).(M + E)(v_e - v)  +  1/2 (v+ + v_new).(M + E)(v_new - v+)               (S.106)
 *
 * v_e = v0 + (M + E)^-1 J'p, that of impacts by itself, less what is led gave. Springs and dampers
 * take off at once what an impulse gives them: v_a would count it as made. */
static double made_by(rb_node *x)
{
    rb_stage *s = x->s;
    if (s->set.nrow == 0) return 0.0;
    double sum = x->lost + work_between(x, x->v_from, x->v_e);
    sum += work_between(x, x->v_end, s->v_new);
    for (int r = 0; r < s->set.nrow; r++) sum += s->p[r] * s->set.drive[r];
    return sum;
}

static void look_deep(rb_node *x)
{
    rb_stage *s = x->s;
    s->info->penetration = s->info->penetration_made = 0.0;
    for (int i = 0; i < x->nend; i++) {
        const rb_contact *c = &x->end[i];
        if (!rb_flight_holds(s->flight, c->geom1, c->geom2, c->at.feature)) continue;
        rb_touch_id id = { RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
        double start = rb_stage_start_gap(s, &id);
        double made = (start < -rb_stage_error_least(s) ? start : 0.0) - c->at.gap;
        s->info->penetration = fmax(s->info->penetration, -c->at.gap);
        s->info->penetration_made = fmax(s->info->penetration_made, made);
        s->info->gap_error = fmax(s->info->gap_error, c->error);
    }
}

rb_status rb_node_report(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    s->made = s->made_free;
    s->gain = 0.0;
    rb_status status = report_velocity(x);
    if (status != RB_OK) return status;
    s->energy = made_by(x);
    look_deep(x);
    rb_stage_find_pushed(s);
    memcpy(s->q_free, s->q_new, (size_t)m->nq * sizeof *s->q_free);
    for (int j = 0; j < m->nv; j++) s->v_led[j] = s->v0[j] + x->dv[j];
    return RB_OK;
}
