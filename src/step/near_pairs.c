/* Pairs that the search for rows has seen need not be searched for again at the end of the step.
 *
 * Rows are looked for at q, where geoms have swept boxes along h v (G.30). Let dq lead the joints
 * from q to q+, and e = J(q) (dq - h v). By (S.4) every point of a geom, with its centre at r
 * from the origin of its link and its surface with the arm a about that, is within
 *
 *     |e_x| + |e_w| |r| + (A_k + (B_k + W_k^2) |r|) / 2 + W_k a                              (S.27)
 *
 * of where h v takes it, at the end of the way and before. While that is less than the margin of
 * its box, pairs whose boxes did not meet do not touch. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "collide/kept.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "step/contacts.h"
#include "step/motion.h"
#include "step/steppers.h"

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* Poses of links move on before the way is known. */
static int remember(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    s->near.l = rb_push(d->arena, double, 3 * (size_t)m->nlink);
    s->near.S = rb_push(d->arena, double, 6 * (size_t)m->nv);
    s->near.v = rb_push(d->arena, double, m->nv);
    if (!s->near.l || !s->near.S || !s->near.v || !rb_near_push(m, d->arena, &s->near.pairs))
        return 0;
    copy(s->near.l, d->link_l, 3 * m->nlink);
    copy(s->near.S, d->dof_S, 6 * m->nv);
    copy(s->near.v, d->v, m->nv);
    return 1;
}

rb_status rb_stage_near_find(rb_stage *s, double slack)
{
    int may =
        !rb_kept_serves(s->m) && s->m->nmocap == 0 && s->m->ngauge == 0 && s->events.seen_h == 0.0;
    if (may && !remember(s)) return RB_NOMEM;
    rb_status status =
        rb_collide_noting(s->m, s->d, s->h, slack, s->d->touch_max, s->problem.contacts,
                          &s->problem.ncontact, may ? &s->near.pairs : NULL, s->err);
    s->near.cached = rb_kept_serves(s->m);
    s->near.calls = s->d->cache->kept_calls;
    return status;
}

/* What is not a number holds nothing. */
static int geoms_hold(const rb_stage *s, const rb_link_path *link)
{
    const rb_model *m = s->m;
    for (int g = 0; g < m->ngeom; g++) {
        int k = m->geom_link[g];
        if (k == 0) continue;
        const rb_link_path *x = &link[k];
        double r = s->near.pairs.far[g];
        double off = rb_norm3(x->x) + rb_norm3(x->x_w) * r;
        off += 0.5 * (x->A + (x->B + x->W * x->W) * r);
        if (x->W > 0.0) off += x->W * s->near.pairs.arm[g];
        if (!(off < s->near.pairs.room[g])) return 0;
    }
    return 1;
}

int rb_stage_near_holds(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    if (!s->near.pairs.known || s->events.seen) return 0;
    rb_mark mark = rb_arena_mark(arena);
    double *dq = rb_push(arena, double, m->nv), *off = rb_push(arena, double, m->nv);
    rb_link_path *link = rb_push(arena, rb_link_path, m->nlink);
    int holds = dq && off && link;
    if (holds) {
        rb_difference(m, s->start.q, s->answer.q, dq);
        for (int i = 0; i < m->nv; i++) off[i] = dq[i] - s->h * s->near.v[i];
        rb_stage_link_paths(s, s->near.l, s->near.S, dq, off, link);
        holds = geoms_hold(s, link);
    }
    rb_arena_reset(arena, mark);
    return holds;
}

void rb_stage_drop_flying(rb_stage *s)
{
    int n = 0;
    for (int i = 0; i < s->problem.ncontact; i++) {
        const rb_contact *c = &s->problem.contacts[i];
        if (rb_flight_holds(s->events.flight, c->geom1, c->geom2, c->at.feature))
            s->problem.contacts[n++] = *c;
    }
    s->problem.ncontact = n;
}
