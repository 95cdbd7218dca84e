/* Rounds of the node rule where tendons, muscles or servos couple dofs.
 *
 * Muscles are strong and bones are light: without the impulses that keep a knee together its parts
 * leave each other by metres a second within a step, and from there rounds do not find back; the
 * velocity before the impulses of the node is no better. Springs and dampers are therefore
 * linearised where the velocity v is that which was reported, and the first impulses are those for
 * the motion that this predicts,
 *
 *     v_m = v + (M + E + C)^-1 ((M + A) (v_0 - v) + h/2 (F(v) - c(v)) + J'p)               (D.58)
 *
 * with the rows straight. Where forces of muscles bend within the step, so that rounds contract
 * slowly, E and C are those of the middle of the last round. A of (D.38) stays: it is part of the
 * rule. */
#include <string.h>

#include "base/arena.h"
#include "dynamics/actuation.h"
#include "dynamics/forward.h"
#include "dynamics/placed.h"
#include "rattleback/dynamics.h"
#include "step/node.h"
#include "step/motion.h"
#include "step/rows.h"

/* Activations of the middle of the step to d->act. */
static rb_status go_to_middle(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_mark mark = rb_arena_mark(d->arena);
    double *next = rb_push(d->arena, double, m->na);
    if (!next) return RB_NOMEM;
    memset(next, 0, (size_t)m->na * sizeof *next);
    memcpy(d->act, s->start.act, (size_t)m->na * sizeof *d->act);
    rb_activation_step(m, d, s->h, next);
    rb_activation_middle(m, s->start.act, next, d->act);
    rb_arena_reset(d->arena, mark);
    return RB_OK;
}

/* d in the middle of a motion with the velocity v from the node. */
static void place(rb_stage *s, const double *v)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_stage_kinematic_pose(s, 0.5 * s->h);
    rb_integrate(m, s->start.q, v, 0.5 * s->h, d->q);
    memcpy(d->v, v, (size_t)m->nv * sizeof *d->v);
    rb_forward_place(m, d);
}

rb_status rb_node_factor(rb_node *x, const double *v, const rb_stage_stiff *out)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    size_t bytes = (size_t)s->m->nv * sizeof *v;
    if (!x->all) return rb_stage_factor(s, out);
    memcpy(x->f, d->v, bytes);
    memcpy(d->v, v, bytes);
    rb_placed_motion(s->m, d);
    rb_status status = rb_stage_factor(s, out);
    memcpy(d->v, x->f, bytes);
    rb_placed_motion(s->m, d);
    return status;
}

/* f := (M + A) v */
static void multiply_held(rb_node *x, const double *v, double *f)
{
    const rb_model *m = x->s->m;
    rb_mass_multiply(m, x->s->d, v, f);
    for (int j = 0; j < m->nv; j++) f[j] += x->A[j] * v[j];
}

rb_status rb_node_predict(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double half = 0.5 * s->h;
    rb_status status = go_to_middle(s);
    if (status != RB_OK) return status;
    place(s, x->v_given);
    rb_passive(m, d);
    rb_actuation(m, d);
    rb_inverse(m, d, NULL, x->force);
    for (int j = 0; j < m->nv; j++)
        x->force[j] = d->tau[j] + d->passive[j] + d->actuation[j] - x->force[j];
    rb_wrench_force(m, d, x->force);
    for (int j = 0; j < m->nv; j++) x->v_mean[j] = s->start.v[j] - x->v_given[j];
    multiply_held(x, x->v_mean, x->f);
    for (int j = 0; j < m->nv; j++) x->f[j] += half * x->force[j];
    rb_mass_solve(m, d, x->f);
    for (int j = 0; j < m->nv; j++) x->v_mean[j] = x->v_given[j] + x->f[j];
    memcpy(d->act, s->start.act, (size_t)m->na * sizeof *d->act);
    return RB_OK;
}

/* d->L := factor of M + E + C, M that of the node */
rb_status rb_node_refactor(rb_node *x)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    rb_status status = go_to_middle(s);
    if (status != RB_OK) return status;
    place(s, x->v_mean);
    const rb_stage_stiff out = { .E = x->E, .all = x->all, .A = x->A, .again = 1 };
    status = rb_stage_factor(s, &out);
    memcpy(d->act, s->start.act, (size_t)s->m->na * sizeof *d->act);
    for (int i = 0; i < s->set.nisland && s->problem.kept; i++) s->problem.kept[i].known = 0;
    rb_anderson_reset(&x->mixing);
    return status;
}
