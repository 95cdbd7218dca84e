/* The scheme of Stewart and Trinkle, of the DART note and of most engines, as printed:
 *
 *     rows at q, or at q (+) h v where the formulation says so:  gap + h J (v+ - v_hat) >= 0 (S.53)
 *     q+ = q (+) h v+ (S.54)
 *
 * Nonlinear formulations take their rows again at q+ until it does not move any more and nothing
 * overlaps there (S.55). Others do not look at gaps a second time: what turns overlaps by h^2. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/vec3.h"
#include "step/printed/printed.h"
#include "step/gaps.h"
#include "step/rows.h"

/* Change of the new position at which the fixed point of a nonlinear step ends, in units of the
 * extent of the model [1]. Larger: Table 1 of Stewart and Trinkle is missed. */
#define STANDS 1e-10

/* Stewart and Trinkle push out what overlaps (S.57), a part of a step its share of it: over a part
 * of 1e-20 s rounding would be thrown away at 1e8 m/s. Overlap of the model stays: pushed out in
 * one step it would be thrown away as well. */
static double floor_of(const rb_stage *s, const rb_constraint *c)
{
    double start = fmin(0.0, s->problem.least_gap[c - s->set.c]);
    if (!s->o->formulation->push_out || start < -rb_stage_error_least(s)) return start;
    return (1.0 - s->h / s->given->h) * start;
}

static double normal(const rb_stage *s, const rb_constraint *c, double u_hat)
{
    double room = c->gap - floor_of(s, c);
    if (room >= -RB_GAP_ZERO * s->given->size && room <= rb_stage_closed(s, c)) room = 0.0;
    return (room + rb_stage_yield(s, c)) / s->h - u_hat;
}

/* Row r of a loop (S.56). */
static double loop(const rb_stage *s, const rb_constraint *c, int r, double u_hat)
{
    if (rb_stage_is_redundant(s, c->id.a, r)) return 0.0;
    double goal = rb_stage_error_goal(s, &c->id, r);
    return (s->set.error[c->row + r] - goal) / s->h - u_hat;
}

/* b of (S.58) where the contact came faster than its weight drives it within two steps. */
static double bounce(const rb_stage *s, const rb_constraint *c, double gap, double u_free)
{
    double e = c->kind == RB_CONSTRAINT_CONTACT ? c->material.restitution : 0.0;
    double u = s->problem.u_before[c->row], h = s->h;
    if (s->events.inelastic || !(e > 0.0) || -u <= RB_BOUNCE_STEPS * s->given->gravity * h)
        return 0.0;
    double a = (u - u_free) / h, drop = 2.0 * a * fmax(0.0, gap);
    double square = e * e * fmax(0.0, u * u + drop) + a * a * h * h - drop;
    return fmin(sqrt(fmax(0.0, square)) - a * h, -u_free);
}

/* Largest change of a coordinate. */
static double distance(const double *x, const double *y, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

/* Speed of links that impulses give, at most [m/s]. */
static double find_reach(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double most = 0.0;
    for (int j = 0; j < m->nv; j++) d->v[j] = s->answer.v[j] - s->smooth.v[j];
    rb_velocity(m, d);
    for (int k = 1; k < m->nlink; k++) most = fmax(most, rb_norm3(d->link_v + 3 * (ptrdiff_t)k));
    return most;
}

/* The rows of the next round are taken at q_new, of all that impulses may lead together. */
static rb_status go_ahead(rb_stage *s)
{
    const rb_model *m = s->m;
    s->answer.reach = fmax(s->answer.reach, find_reach(s));
    double *q_hat = rb_push(s->d->arena, double, m->nq_all);
    double *v_hat = rb_push(s->d->arena, double, m->nv);
    if (!q_hat || !v_hat) return RB_NOMEM;
    memcpy(q_hat, s->answer.q, (size_t)m->nq * sizeof *q_hat);
    memcpy(v_hat, s->answer.v, (size_t)m->nv * sizeof *v_hat);
    s->problem.q = q_hat;
    s->problem.v = v_hat;
    s->attempt.last = s->set;
    s->attempt.last_p = s->answer.p;
    s->info->repairs++;
    return RB_OK;
}

rb_status rb_stage_semi_implicit(rb_stage *s)
{
    static const rb_printed how = { normal, loop, bounce };
    double worst = 0.0;
    rb_status status = rb_printed_begin(s);
    for (int round = 0; status == RB_OK; round++) {
        status = rb_printed_round(s, &how);
        if (status != RB_OK) return status;
        rb_integrate(s->m, s->start.q, s->answer.v, s->h, s->answer.q);
        status = rb_printed_end(s, &worst);
        int stands = distance(s->answer.q, s->problem.q, s->m->nq) <= STANDS * s->given->size;
        if (!s->o->formulation->nonlinear || round >= s->o->max_repair) break;
        if (stands && worst <= 1.0) break;
        if (status == RB_OK) status = go_ahead(s);
    }
    return status;
}
