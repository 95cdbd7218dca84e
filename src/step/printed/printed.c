/* Stages that the schemes of the papers have in common.
 *
 *     v_free  smooth motion without contact (S.50)
 *     rows at q, or ahead of it at q (+) h v;  u = J v_free + what the scheme asks for (S.53)
 *     v+      = v_free + M^-1 J'p,  or zero where an island rests (S.51), (S.22) */
#include "step/printed/printed.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/placed.h"
#include "step/node.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rest/rest.h"
#include "step/rows.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* d at the place of the rows. */
static void go_to(rb_stage *s)
{
    rb_data *d = s->d;
    rb_stage_kinematic_pose(s, s->problem.v ? s->h : 0.0);
    copy(d->q, s->problem.q, s->m->nq);
    copy(d->v, s->problem.v ? s->problem.v : s->smooth.v, s->m->nv);
    rb_placed_motion(s->m, d);
}

/* Parts of a located step that begin at q0 have the contacts that flight.c has found. */
static int take_known(rb_stage *s)
{
    const rb_flight *flight = s->events.flight;
    if (!flight || s->problem.v) return 0;
    s->problem.ncontact = flight->n;
    memcpy(s->problem.contacts, flight->contacts, (size_t)flight->n * sizeof *s->problem.contacts);
    return 1;
}

static rb_status find_contacts(rb_stage *s, double slack)
{
    rb_status status = RB_OK;
    if (!take_known(s))
        status = s->problem.v ? rb_collide(s->m, s->d, s->h, slack, s->d->touch_max,
                                           s->problem.contacts, &s->problem.ncontact, s->err)
                              : rb_stage_near_find(s, slack);
    if (status == RB_OK) status = rb_stage_support_points(s);
    s->info->contacts = s->problem.ncontact;
    if (status == RB_OK) rb_stage_drop_flying(s);
    return status;
}

/* Rows ahead of the start do not see what overlapped there, nor how far loops were open. */
static rb_status look_back(rb_stage *s)
{
    go_to(s);
    rb_status status = RB_OK;
    if (!take_known(s))
        status = rb_collide(s->m, s->d, 0.0, 0.0, s->d->touch_max, s->problem.contacts,
                            &s->problem.ncontact, s->err);
    s->info->contacts = s->problem.ncontact;
    if (status != RB_OK) return status;
    return rb_constraints_build(s->m, s->d, s->o, s->h, 0.0, s->problem.contacts,
                                s->problem.ncontact, NULL, &s->problem.first);
}

static void ask(rb_stage *s, const rb_printed *how, int i, const double *u_hat)
{
    const rb_constraint *c = &s->set.c[i];
    double *u = s->problem.u + c->row, *bias = s->problem.bias + c->row;
    for (int r = 0; r < c->nrow && c->kind == RB_CONSTRAINT_EQUALITY; r++)
        bias[r] = how->loop(s, c, r, u_hat[c->row + r]);
    if (c->kind == RB_CONSTRAINT_CONTACT || c->kind == RB_CONSTRAINT_LIMIT) {
        bias[0] = how->normal(s, c, u_hat[c->row]);
        s->problem.room[i] = bias[0];
        double back = how->bounce(s, c, c->gap - s->h * u_hat[c->row], u[0]);
        if (back > 0.0 && u[0] + bias[0] < 0.0) {
            s->problem.e[i] = back / -u[0];
            bias[0] = fmin(bias[0], s->o->law == RB_NEWTON ? -back : 0.0);
        }
    }
    for (int r = 0; r < c->nrow; r++) u[r] += bias[r];
}

static void ask_all(rb_stage *s, const rb_printed *how, double *u_hat)
{
    rb_constraints_velocity(&s->set, s->smooth.v, s->problem.u);
    rb_constraints_velocity(&s->set, s->start.v, s->problem.u_before);
    memset(u_hat, 0, (size_t)s->set.nrow * sizeof *u_hat);
    if (s->problem.v) rb_constraints_velocity(&s->set, s->problem.v, u_hat);
    for (int i = 0; i < s->set.n; i++) ask(s, how, i, u_hat);
}

static rb_status take_rows(rb_stage *s, const rb_printed *how)
{
    rb_data *d = s->d;
    double slack = s->given->gravity * s->h + s->answer.reach;
    if (!rb_meter_add(s->meter, RB_WORK_MOTION, 0.3 * s->m->nlink)) return s->meter->stopped;
    go_to(s);
    rb_status status = find_contacts(s, slack);
    if (status == RB_OK)
        status = rb_constraints_build(s->m, d, s->o, s->h, slack, s->problem.contacts,
                                      s->problem.ncontact, s->problem.v ? &s->problem.first : NULL,
                                      &s->set);
    if (status != RB_OK) return status;
    if (s->set.n > d->touch_max) {
        s->info->contacts = s->set.n;
        return RB_FULL;
    }
    if (s->set.nrow > 0) status = rb_stage_factor(s, NULL);
    if (status == RB_OK) status = rb_stage_drop_redundant(s, !s->problem.v);
    double *u_hat = rb_push(d->arena, double, s->set.nrow);
    if (status == RB_OK) status = u_hat ? rb_stage_take_rows(s) : RB_NOMEM;
    if (status != RB_OK) return status;
    if (!s->problem.v) s->problem.first = s->set;
    status = rb_stage_find_starts(s);
    if (status == RB_OK) ask_all(s, how, u_hat);
    return status;
}

/* ---- the stages -------------------------------------------------------------------------------
 */

rb_status rb_printed_begin(rb_stage *s)
{
    const rb_model *m = s->m;
    s->attempt.count++;
    s->attempt.no_answer = 0;
    s->answer.reach = 0.0;
    s->near.pairs.known = s->near.cached = 0;
    s->attempt.last_p = NULL;
    s->problem.redundant = NULL;
    memset(&s->set, 0, sizeof s->set);
    rb_status status = rb_stage_free_motion(s);
    s->problem.q = s->start.q;
    s->problem.v = NULL;
    if (status != RB_OK || !s->o->formulation->ahead) return status;
    status = look_back(s);
    double *q_hat = rb_push(s->d->arena, double, m->nq_all);
    double *v_hat = rb_push(s->d->arena, double, m->nv);
    if (!q_hat || !v_hat) return RB_NOMEM;
    copy(v_hat, s->start.v, m->nv);
    rb_integrate(m, s->start.q, v_hat, s->h, q_hat);
    s->problem.q = q_hat;
    s->problem.v = v_hat;
    return status;
}

rb_status rb_printed_round(rb_stage *s, const rb_printed *how)
{
    rb_status status = take_rows(s, how);
    if (status == RB_OK) status = rb_stage_solve(s);
    if (status == RB_OK) status = rb_stage_restitute(s);
    if (status == RB_OK) status = rb_stage_rest(s);
    if (status == RB_OK) rb_stage_find_pushed(s);
    return status;
}

/* Work of the impulses, 1/2 (J'p).(v+ + vf), and that of prescribed motion, p.drive, which is not
 * created (S.52). */
static rb_status measure(rb_stage *s)
{
    const rb_model *m = s->m;
    s->answer.energy = 0.0;
    if (s->set.nrow == 0) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *f = rb_push(s->d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    rb_constraints_force(&s->set, s->answer.p, f);
    for (int j = 0; j < m->nv; j++)
        s->answer.energy += 0.5 * f[j] * (s->answer.v[j] + s->smooth.v[j]);
    for (int i = 0; i < s->set.nrow; i++) s->answer.energy += s->answer.p[i] * s->set.drive[i];
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

rb_status rb_printed_end(rb_stage *s, double *worst)
{
    const rb_model *m = s->m;
    *worst = 0.0;
    rb_node_hold_resting(s);
    rb_difference(m, s->start.q, s->answer.q, s->answer.v_way);
    for (int j = 0; j < m->nv; j++) s->answer.v_way[j] /= s->h;
    rb_status status = rb_stage_check(s, worst);
    return status == RB_OK ? measure(s) : status;
}
