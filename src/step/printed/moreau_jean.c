/* The scheme of Moreau and Jean with theta = 1/2, as printed: contact is a matter of velocities,
 *
 *     a contact is a row where gap + h/2 J v <= 0:  0 <= p_n  _|_  n.v+ + e n.v >= 0         (S.59)
 *     q+ = q (+) h (v + v+) / 2
 *
 * so that a body which lands sinks in by up to half of its way in a step and stays there. Loops are
 * velocities, too (S.60); what they open by is taken off positions afterwards (project.c). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "step/printed/printed.h"

static double normal(const rb_stage *s, const rb_constraint *c, double u_hat)
{
    (void)u_hat;
    return fmax(0.0, 2.0 * c->gap / s->h + s->problem.u_before[c->row]);
}

static double loop(const rb_stage *s, const rb_constraint *c, int r, double u_hat)
{
    (void)s, (void)c, (void)r, (void)u_hat;
    return 0.0;
}

static double bounce(const rb_stage *s, const rb_constraint *c, double gap, double u_free)
{
    double e = c->kind == RB_CONSTRAINT_CONTACT ? c->material.restitution : 0.0;
    double u = s->problem.u_before[c->row];
    (void)gap, (void)u_free;
    if (s->events.inelastic || !(e > 0.0) || -u <= RB_BOUNCE_STEPS * s->given->gravity * s->h)
        return 0.0;
    return -e * u;
}

/* Trees without impulses go where the midpoint rule leads. */
static void place(rb_stage *s)
{
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++) s->answer.v_way[j] = 0.5 * (s->start.v[j] + s->answer.v[j]);
    rb_integrate(m, s->start.q, s->answer.v_way, s->h, s->answer.q);
    for (int j = 0; j < m->njnt; j++) {
        int type = m->jnt_type[j], at = m->jnt_qadr[j];
        int size = type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
        if (s->answer.pushed[m->link_tree[m->jnt_link[j]]]) continue;
        memcpy(s->answer.q + at, s->smooth.q + at, (size_t)size * sizeof *s->answer.q);
    }
}

rb_status rb_stage_moreau_jean(rb_stage *s)
{
    static const rb_printed how = { normal, loop, bounce };
    rb_status status = rb_printed_begin(s);
    if (status == RB_OK) status = rb_printed_round(s, &how);
    if (status != RB_OK) return status;
    place(s);
    double worst;
    return rb_printed_end(s, &worst);
}
