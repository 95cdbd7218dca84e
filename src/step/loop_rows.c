/* Chooses which loops are closed within smooth motion (S.43), and which are rows of the contact
 * problem.
 *
 * Where nothing pushes a mechanism, p = 0 solves its contacts and limits:
 *
 *     n.v+ + bias >= 0   of all of them at the velocity that closes its loops                (S.47)
 *
 * Then no problem is left to solve. Where something pushes, loops and contacts are solved
 * together, as rows from the beginning of the step (S.38). A mechanism that was pushed in the step
 * before starts with rows, because most of those are pushed again. */
#include <string.h>

#include "base/constants.h"
#include "step/stage.h"

/* ---- before a motion --------------------------------------------------------------------------
 */

static void set_loop_rows(rb_stage *s, int link)
{
    int tree = s->m->link_tree[link];
    if (tree >= 0) s->loop_rows[tree] = 1;
}

/* Limits of tendons and of joints that the tree does not have act on more than one link. */
static void set_limited_loop_rows(rb_stage *s, int joint)
{
    if (joint < s->m->njnt)
        set_loop_rows(s, s->m->jnt_link[joint]);
    else
        memset(s->loop_rows, 1, (size_t)s->m->ntree);
}

void rb_stage_choose_loop_rows(rb_stage *s)
{
    const rb_data *d = s->d;
    memset(s->closed, 0, (size_t)s->m->ntree);
    memset(s->loop_rows, 0, (size_t)s->m->ntree);
    s->closing_dv = NULL;
    for (int i = 0; i < d->ntouch; i++) {
        const rb_touch *touch = &d->touch[i];
        if (touch->p[0] == 0.0) continue;
        if (touch->id.kind == RB_CONSTRAINT_LIMIT) set_limited_loop_rows(s, touch->id.a);
        if (touch->id.kind != RB_CONSTRAINT_CONTACT) continue;
        set_loop_rows(s, s->m->geom_link[touch->id.a]);
        set_loop_rows(s, s->m->geom_link[touch->id.b]);
    }
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static int tree_of(const rb_stage *s, const rb_constraint *c, int k)
{
    return s->m->link_tree[s->m->dof_link[s->set.dof[c->dof + k]]];
}

/* Its loops, if it has any, are closed, its joints slide, and nothing pushes. */
static int is_unconstrained(const rb_stage *s, const rb_constraint *c)
{
    if (c->kind == RB_CONSTRAINT_EQUALITY || c->kind == RB_CONSTRAINT_DRY)
        return s->closed[tree_of(s, c, 0)] != RB_CLOSED_NOT;
    return s->u[c->row] >= 0.0;
}

static int has_closed(const rb_stage *s, int island)
{
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (s->closed[tree] && s->set.tree_island[tree] == island) return 1;
    }
    return 0;
}

/* Trees that rest within smooth motion. */
static void set_resting(rb_stage *s, int island)
{
    int any = 0;
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (s->set.tree_island[tree] != island || s->closed[tree] != RB_CLOSED_RESTS) continue;
        s->resting[tree] = 1;
        any = 1;
    }
    s->info->resting += any;
}

static void open_island(rb_stage *s, int island)
{
    s->more_loop_rows = 1;
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (s->set.tree_island[tree] == island) s->loop_rows[tree] = 1;
    }
}

rb_status rb_stage_apart_rows(rb_stage *s)
{
    if (!s->closing_dv) return RB_OK;
    for (int island = 0; island < s->set.nisland; island++) {
        if (!has_closed(s, island)) continue;
        int alone = 1;
        for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++)
            alone &= is_unconstrained(s, &s->set.c[s->set.island_order[i]]);
        s->still[island] = 1;
        if (alone)
            set_resting(s, island);
        else
            open_island(s, island);
    }
    return s->more_loop_rows ? RB_UNSOLVED : RB_OK;
}

/* ---- gaps at the end --------------------------------------------------------------------------
 */

static int is_beyond_limits(const rb_stage *s, int tree)
{
    const rb_model *m = s->m;
    for (int j = 0; j < m->njnt_all; j++) {
        int own = j >= m->njnt || m->link_tree[m->jnt_link[j]] == tree;
        if (own && rb_stage_limit_deepened(s, j) > 1.0) return 1;
    }
    return 0;
}

rb_status rb_stage_check_loop_rows(rb_stage *s)
{
    const rb_model *m = s->m;
    for (int tree = 0; tree < m->ntree; tree++) {
        int island = s->set.tree_island ? s->set.tree_island[tree] : -1;
        if (!s->closed[tree] || island < 0) continue;
        if (s->overlaps[tree] || m->ntendon > 0 || is_beyond_limits(s, tree))
            open_island(s, island);
    }
    return s->more_loop_rows ? RB_UNSOLVED : RB_OK;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* NULL: not a closed loop, nor friction within smooth motion */
static const rb_constraint *closing_of(const rb_stage *s, const rb_constraint *c)
{
    int may = c->kind == RB_CONSTRAINT_EQUALITY || c->kind == RB_CONSTRAINT_DRY;
    if (!may || c->ndof == 0 || !s->closed[tree_of(s, c, 0)]) return NULL;
    return rb_stage_find(&s->closing, &c->id);
}

static int slides(const rb_stage *s, const rb_constraint *at)
{
    return at->kind == RB_CONSTRAINT_DRY && !s->closing_sticks[at - s->closing.c];
}

void rb_stage_closed_impulses(rb_stage *s)
{
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i], *at = closing_of(s, c);
        if (!at) continue;
        memcpy(s->p + c->row, s->closing_p + at->row, (size_t)c->nrow * sizeof *s->p);
        s->mode[i] = slides(s, at) ? RB_MODE_SLIDE : RB_MODE_STICK;
    }
}

void rb_stage_closed_next(rb_stage *s)
{
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i], *at = closing_of(s, c);
        double *next = s->d->touch[i].frame;
        if (!at || slides(s, at)) continue;
        memcpy(next, s->closing_next + at->row, (size_t)c->nrow * sizeof *next);
        next[RB_LOOP_ROWS] = s->h;
        if (c->kind == RB_CONSTRAINT_DRY) next[RB_LOOP_PLACE] = s->closing_goal[at->row];
    }
}
