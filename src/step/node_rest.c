/* Rest within the node rule: an island gets v = 0 if, and only if, v = 0 is certified to solve the
 * step (S.22), with the impulses of a step that begins at rest. Its state has no kick. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dynamics/placed.h"
#include "step/node.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rest.h"
#include "step/rows.h"

static int joint_size(int type)
{
    return type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
}

void rb_node_hold_resting(rb_stage *s)
{
    const rb_model *m = s->m;
    for (int j = 0; j < m->njnt; j++) {
        int at = m->jnt_qadr[j];
        if (!s->answer.resting[m->link_tree[m->jnt_link[j]]]) continue;
        memcpy(s->answer.q + at, s->start.q + at,
               (size_t)joint_size(m->jnt_type[j]) * sizeof *s->start.q);
    }
}

/* Islands all of whose trees are marked; 0: there are none. */
static int islands_of(const rb_stage *s, const unsigned char *tree, unsigned char *skip)
{
    int any = 0;
    memset(skip, 1, (size_t)s->set.nisland);
    for (int k = 0; k < s->m->ntree; k++) {
        if (tree[k] && s->set.tree_island[k] >= 0) skip[s->set.tree_island[k]] = 0;
    }
    for (int k = 0; k < s->m->ntree; k++) {
        if (!tree[k] && s->set.tree_island[k] >= 0) skip[s->set.tree_island[k]] = 1;
    }
    for (int i = 0; i < s->set.nisland; i++) any |= !skip[i];
    return any;
}

static void restore(rb_stage *s, const double *p, const unsigned char *mode)
{
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island >= 0 && s->answer.still[c->island]) continue;
        memcpy(s->answer.p + c->row, p + c->row, (size_t)c->nrow * sizeof *p);
        s->answer.mode[i] = mode[i];
    }
}

/* What is open holds nothing: an answer by interior points has a little of everything. */
static void drop_open(rb_stage *s, const unsigned char *skip)
{
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT || c->island < 0 || skip[c->island]) continue;
        if (c->gap > rb_stage_closed(s, c))
            memset(s->answer.p + c->row, 0, (size_t)c->nrow * sizeof *s->answer.p);
    }
}

/* Impulses that would hold the islands of the trees marked in `marked`, v_free that of a step
 * which begins at rest, and their certificate. What does not rest has the impulses it had. */
static rb_status judge(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    unsigned char *skip = rb_push(arena, unsigned char, s->set.nisland);
    unsigned char *mode = rb_push(arena, unsigned char, s->set.n);
    double *p = rb_push(arena, double, s->set.nrow);
    if (!skip || !mode || !p) return RB_NOMEM;
    rb_status status = RB_OK;
    if (islands_of(s, s->answer.marked, skip)) {
        memcpy(mode, s->answer.mode, (size_t)s->set.n);
        memcpy(p, s->answer.p, (size_t)s->set.nrow * sizeof *p);
        rb_constraints_velocity(&s->set, s->smooth.v, s->problem.u);
        for (int r = 0; r < s->set.nrow; r++) s->problem.u[r] += s->problem.bias[r];
        status = rb_stage_solve_others(s, skip);
        if (status == RB_OK) drop_open(s, skip);
        if (status == RB_OK) status = rb_stage_rest(s);
        restore(s, p, mode);
    }
    memset(s->answer.marked, 0, (size_t)s->m->ntree);
    rb_arena_reset(arena, mark);
    return status == RB_UNSOLVED ? RB_OK : status;
}

/* v_free of a step that begins at rest and stays there: h (M + E)^-1 f, with the forces of now.
 * Trees that are not marked in `marked` have v beside it. */
static void weigh(rb_node *x, const double *v)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_stage_restore(s);
    memset(d->v, 0, (size_t)m->nv * sizeof *d->v);
    rb_stage_kinematic_pose(s, 0.0);
    rb_placed_motion(m, d);
    rb_passive(m, d);
    rb_actuation(m, d);
    rb_bias(m, d);
    for (int j = 0; j < m->nv; j++)
        s->smooth.v[j] = d->tau[j] + d->passive[j] + d->actuation[j] - d->c[j];
    rb_wrench_force(m, d, s->smooth.v);
    rb_mass_solve(m, d, s->smooth.v);
    for (int j = 0; j < m->nv; j++) {
        int moves = !s->answer.marked[m->link_tree[m->dof_link[j]]];
        s->smooth.v[j] = s->h * s->smooth.v[j] + (moves ? v[j] : 0.0);
    }
    rb_stage_restore(s);
}

/* ---- what stood -------------------------------------------------------------------------------
 */

/* Marks trees of islands that have no velocity in `marked`; how many. */
static int find_standing(rb_stage *s)
{
    const rb_model *m = s->m;
    int n = 0;
    for (int k = 0; k < m->ntree; k++)
        s->answer.marked[k] =
            s->set.nrow > 0 && s->set.tree_island[k] >= 0 && !s->answer.resting[k];
    for (int j = 0; j < m->nv; j++) {
        if (s->start.v[j] != 0.0) s->answer.marked[m->link_tree[m->dof_link[j]]] = 0;
    }
    for (int k = 0; k < m->ntree; k++) n += s->answer.marked[k];
    return n;
}

rb_status rb_node_rest_on(rb_node *x)
{
    rb_stage *s = x->s;
    s->answer.still = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!s->answer.still) return RB_NOMEM;
    memset(s->answer.still, 0, (size_t)s->set.nisland);
    if (find_standing(s) == 0) return RB_OK;
    weigh(x, s->start.v);
    rb_status status = rb_stage_rest_on(s);
    if (status == RB_OK) status = rb_stage_solve_begin(s);
    if (status != RB_OK || find_standing(s) == 0) return status;
    return judge(s);
}

/* ---- what comes to rest -----------------------------------------------------------------------
 */

/* Marks trees of islands that hardly moved in `marked`; how many. */
static int find_slow(const rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double most = RB_NODE_HARDLY * s->given->gravity * s->h;
    int n = 0;
    for (int k = 0; k < m->ntree; k++)
        s->answer.marked[k] = s->set.nrow > 0 && s->set.tree_island[k] >= 0 &&
                              !s->answer.resting[k] &&
                              rb_stage_rest_is_due(s, s->set.tree_island[k]);
    for (int j = 0; j < m->nv; j++) {
        int tree = m->link_tree[m->dof_link[j]];
        if (!(fabs(x->v_mean[j]) * fmin(1.0, s->given->size) <= most)) s->answer.marked[tree] = 0;
    }
    for (int k = 0; k < m->ntree; k++) n += s->answer.marked[k];
    return n;
}

rb_status rb_node_come_to_rest(rb_node *x)
{
    rb_stage *s = x->s;
    if (find_slow(x) == 0) return RB_OK;
    weigh(x, x->v_a);
    rb_status status = judge(s);
    rb_node_hold_resting(s);
    return status;
}
