/* From impulses to the new state.
 *
 *     v+ = v_free + M^-1 J' p                                                                (S.15)
 *
 * Trees without impulses go where the midpoint rule leads, which is exact for parabolas. The
 * others move with their new velocity, q+ = q (+) h v+, for which the rows asked (S.16). Bodies at
 * rest (rest.c) do not move at all.
 *
 * Rows assume that all bodies move by h v+. A body whose rows push nothing ends g h^2 / 2 above
 * that, where it may be in the way of one that is pushed. With a row that pushes it would not be,
 * so that repairs would find and lose that row in turns. Once there is an overlap, such bodies
 * move by h v+, too (S.17). */
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
            int link = m->dof_link[s->set.dof[c->dof + k]];
            s->pushed[m->link_tree[link]] = 1;
            if (m->ntree == 1) break;
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
        const double *from = s->resting[tree]       ? s->q0
                             : s->by_midpoint[tree] ? q_carried
                                                    : s->q_free;
        int midpoint =
            !s->pushed[tree] && !s->follows_rows[tree] && s->o->scheme != RB_SCHEME_SEMI_IMPLICIT;
        if (!midpoint && !s->resting[tree] && !s->by_midpoint[tree]) continue;
        memcpy(s->q_new + at, from + at, (size_t)joint_size(m->jnt_type[j]) * sizeof *from);
    }
}

/* ---- bodies as their rows believe -------------------------------------------------------------
 */

int rb_stage_is_single(const rb_model *m, int link)
{
    int tree = m->link_tree[link];
    return m->link_parent[link] == 0 && (link + 1 == m->nlink || m->link_tree[link + 1] != tree);
}

static int is_of_island(const rb_stage *s, int tree)
{
    return s->set.tree_island && s->set.tree_island[tree] >= 0;
}

/* Holds bodies of the islands that are wanted (NULL: of all). 1: one of them was not where its rows
 * believe. */
static int hold(rb_stage *s, const unsigned char *wanted)
{
    int moved = 0;
    for (int k = 1; k < s->m->nlink; k++) {
        int tree = s->m->link_tree[k];
        if (tree < 0 || s->follows_rows[tree] || !rb_stage_is_single(s->m, k) ||
            !is_of_island(s, tree))
            continue;
        if (s->closed && s->closed[tree]) continue; /* nothing pushes them */
        if (wanted && !wanted[s->set.tree_island[tree]]) continue;
        moved |= !s->pushed[tree] && !s->resting[tree];
        s->follows_rows[tree] = 1;
    }
    return moved;
}

static void mark_islands(const rb_stage *s, unsigned char *wanted)
{
    memset(wanted, 0, (size_t)s->set.nisland);
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (s->overlaps[tree] && is_of_island(s, tree)) wanted[s->set.tree_island[tree]] = 1;
    }
}

/* q (+) h v+ of what is held; q, scratch (nq) */
static void place_held(rb_stage *s, double *q)
{
    const rb_model *m = s->m;
    rb_integrate(m, s->q0, s->v_new, s->h, q);
    for (int j = 0; j < m->njnt; j++) {
        int tree = m->link_tree[m->jnt_link[j]], at = m->jnt_qadr[j];
        if (!s->follows_rows[tree] || s->resting[tree]) continue;
        memcpy(s->q_new + at, q + at, (size_t)joint_size(m->jnt_type[j]) * sizeof *q);
    }
}

rb_status rb_stage_follow_rows(rb_stage *s, int *moved)
{
    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    unsigned char *wanted = rb_push(arena, unsigned char, s->set.nisland);
    double *q = rb_push(arena, double, s->m->nq_all);
    *moved = 0;
    if (!wanted || !q) return RB_NOMEM;
    mark_islands(s, wanted);
    *moved = hold(s, wanted);
    if (*moved) place_held(s, q);
    rb_arena_reset(arena, mark);
    return RB_OK;
}

void rb_stage_mean_velocity(const rb_stage *s, double *v_hat)
{
    const rb_model *m = s->m;
    if (s->o->scheme == RB_SCHEME_NODE) {
        memcpy(v_hat, s->v_smooth, (size_t)m->nv * sizeof *v_hat);
        return;
    }
    memcpy(v_hat, s->v_new, (size_t)m->nv * sizeof *v_hat);
    if (s->o->scheme == RB_SCHEME_SEMI_IMPLICIT) return;
    for (int j = 0; j < m->nv; j++) {
        int link = m->dof_link[j], tree = m->link_tree[link];
        if (s->pushed[tree] || s->follows_rows[tree] || s->resting[tree] ||
            !rb_stage_is_single(m, link))
            continue;
        v_hat[j] = 0.5 * (s->v0[j] + s->v_new[j]);
    }
}

rb_status rb_stage_new_position(rb_stage *s)
{
    rb_status status = rb_stage_rest(s);
    if (status != RB_OK) return status;
    rb_stage_find_pushed(s);
    if (s->last_p && !s->middle) hold(s, NULL); /* a repair */
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *v_mean = rb_push(s->d->arena, double, s->m->nv);
    double *q_carried = rb_push(s->d->arena, double, s->m->nq);
    if (!v_mean || !q_carried) return RB_NOMEM;
    status = rb_stage_smooth_impulses(s, q_carried);
    if (status != RB_OK) return status;
    rb_stage_find_pushed(s);
    new_position(s, v_mean, q_carried);
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}
