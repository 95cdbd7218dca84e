/* From impulses to the new state.
 *
 *     v+ = v_free + M^-1 J' p                                                              (S.4)
 *
 * Trees without impulses go where the midpoint rule leads, exact for parabolas; the others move
 * with their new velocity, q+ = q (+) h v+, which is what the gaps were asked for (S.5). What rests
 * (rest.c) does not move at all. */
#include <string.h>

#include "step/stage.h"

/* Trees that an impulse acts on. */
static void find_pushed(rb_stage *s)
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

static void new_position(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_integrate(m, s->q0, s->v_new, s->h, s->q_new);
    for (int j = 0; j < m->njnt; j++) {
        int tree = m->link_tree[m->jnt_link[j]], at = m->jnt_qadr[j];
        const double *from = s->resting[tree] ? s->q0 : s->q_free;
        int midpoint = !s->pushed[tree] && s->o->scheme == RB_SCHEME_MIDPOINT;
        if (!midpoint && !s->resting[tree]) continue;
        memcpy(s->q_new + at, from + at, (size_t)joint_size(m->jnt_type[j]) * sizeof *from);
    }
}

rb_status rb_stage_place(rb_stage *s)
{
    rb_status status = rb_stage_rest(s);
    if (status != RB_OK) return status;
    find_pushed(s);
    new_position(s);
    return RB_OK;
}
