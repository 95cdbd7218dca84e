/* From impulses to the new state.
 *
 *     v+ = v_free + M^-1 J' p                                                              (S.4)
 *
 * Trees without impulses go where the midpoint rule leads, exact for parabolas; the others move
 * with their new velocity, q+ = q (+) h v+, which is what the gaps were asked for (S.5). What rests
 * (rest.c) does not move at all. */
#include <string.h>

#include "base/arena.h"
#include "step/stage.h"

void rb_stage_find_pushed(rb_stage *s)
{
    const rb_model *m = s->m;
    memset(s->pushed, 0, (size_t)m->ntree);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int acts = 0;
        for (int r = 0; r < c->nrow; r++) acts |= s->p[c->row + r] != 0.0;
        for (int k = 0; k < c->ndof && acts; k++) {
            s->pushed[m->link_tree[m->dof_link[s->set.dof[c->dof + k]]]] = 1;
        }
    }
}

/* ---- position ---------------------------------------------------------------------------------
 */

static int joint_size(int type)
{
    return type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
}

/* v_mean, scratch (nv) */
static void new_position(rb_stage *s, double *v_mean, const double *q_carried)
{
    const rb_model *m = s->m;
    int mean = s->o->scheme == RB_SCHEME_MOREAU_JEAN;
    for (int j = 0; j < m->nv && mean; j++) v_mean[j] = 0.5 * (s->v0[j] + s->v_new[j]);
    rb_integrate(m, s->q0, mean ? v_mean : s->v_new, s->h, s->q_new);
    for (int j = 0; j < m->njnt; j++) {
        int tree = m->link_tree[m->jnt_link[j]], at = m->jnt_qadr[j];
        const double *from = s->resting[tree] ? s->q0 : s->carried[tree] ? q_carried : s->q_free;
        int midpoint = !s->pushed[tree] && s->o->scheme != RB_SCHEME_SEMI_IMPLICIT;
        if (!midpoint && !s->resting[tree] && !s->carried[tree]) continue;
        memcpy(s->q_new + at, from + at, (size_t)joint_size(m->jnt_type[j]) * sizeof *from);
    }
}

rb_status rb_stage_place(rb_stage *s)
{
    rb_status status = rb_stage_rest(s);
    if (status != RB_OK) return status;
    rb_stage_find_pushed(s);
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *v_mean = rb_push(s->d->arena, double, s->m->nv);
    double *q_carried = rb_push(s->d->arena, double, s->m->nq);
    if (!v_mean || !q_carried) return RB_NOMEM;
    status = rb_stage_carry(s, q_carried);
    if (status != RB_OK) return status;
    rb_stage_find_pushed(s);
    new_position(s, v_mean, q_carried);
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}
