/* What moves trees: impulses of this motion, and actuators. */
#include <string.h>

#include "base/constants.h"
#include "step/motion.h"

void rb_stage_find_pushed(rb_stage *s)
{
    const rb_model *m = s->m;
    memset(s->answer.pushed, 0, (size_t)m->ntree);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int acts = 0;
        for (int r = 0; r < c->nrow; r++) acts |= s->answer.p[c->row + r] != 0.0;
        for (int k = 0; k < c->ndof && acts; k++) {
            int link = m->dof_link[s->set.dof[c->dof + k]];
            s->answer.pushed[m->link_tree[link]] = 1;
            if (m->ntree == 1) break;
        }
    }
}

int rb_stage_is_single(const rb_model *m, int link)
{
    int tree = m->link_tree[link];
    return m->link_parent[link] == 0 && (link + 1 == m->nlink || m->link_tree[link + 1] != tree);
}

int rb_stage_is_driven(const rb_stage *s)
{
    int bounces = s->o->restitution > 0.0;
    return s->m->nu > 0 && s->attempt.tol > RB_TOL_STRICT && !bounces;
}
