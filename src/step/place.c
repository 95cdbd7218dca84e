/* From impulses to the new state.
 *
 *     v+ = v_free + M^-1 J' p                                                              (S.4)
 *
 * Trees without impulses go where the midpoint rule leads, exact for parabolas; the others move
 * with their new velocity, q+ = q (+) h v+, which is what the gaps were asked for (S.5).
 *
 * Rest: where v+ = 0 leaves a defect M^-1 J' p + v_free that is rounding, measured as energy
 * against the mass of the island and the speed its weight gives in one step, v = 0 is the certified
 * answer and the island does not move at all (S.6). There is no threshold of speed: what slides by
 * 1e-6 of its weight is far outside. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "step/stage.h"

/* ---- velocity ---------------------------------------------------------------------------------
 */

static rb_status new_velocity(rb_stage *s)
{
    const rb_model *m = s->m;
    size_t bytes = (size_t)m->nv * sizeof(double);
    if (s->set.nrow == 0) {
        memcpy(s->v_new, s->v_free, bytes);
        return RB_OK;
    }
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *f = rb_push(s->d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    memset(f, 0, bytes);
    rb_constraints_force(&s->set, s->p, f);
    rb_mass_solve(m, s->d, f);
    for (int j = 0; j < m->nv; j++) s->v_new[j] = s->v_free[j] + f[j];
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}

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

/* ---- rest -------------------------------------------------------------------------------------
 */

/* All contacts that push are closed: with an open gap to cross, v = 0 is not the answer. */
static int pushes_closed(const rb_stage *s, const rb_constraint *c)
{
    int open = c->kind <= RB_CONSTRAINT_LIMIT && fabs(c->gap) > RB_GAP_ZERO * s->size && c->gap > 0;
    if (!open) return 1;
    for (int r = 0; r < c->nrow; r++) {
        if (s->p[c->row + r] != 0.0) return 0;
    }
    return 1;
}

/* Nothing that the caller moves drags at the island. */
static int is_undriven(const rb_stage *s, const rb_constraint *c)
{
    for (int r = 0; r < c->nrow; r++) {
        if (s->set.drive[c->row + r] != 0.0) return 0;
    }
    return 1;
}

static double tree_mass(const rb_model *m, int tree)
{
    double mass = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_tree[k] == tree) mass += m->link_mass[k];
    }
    return mass;
}

/* v'Mv of the new velocity of one tree, the others taken as zero. */
static double tree_energy(const rb_stage *s, int tree, double *v, double *Mv)
{
    const rb_model *m = s->m;
    double sum = 0.0;
    for (int j = 0; j < m->nv; j++) {
        v[j] = m->link_tree[m->dof_link[j]] == tree ? s->v_new[j] : 0.0;
    }
    rb_mass_multiply(m, s->d, v, Mv);
    for (int j = 0; j < m->nv; j++) sum += v[j] * Mv[j];
    return sum;
}

static int tree_is_still(const rb_stage *s, int tree, double *v, double *Mv)
{
    double speed = RB_REST_DEFECT * s->gravity * s->h;
    return tree_energy(s, tree, v, Mv) <= tree_mass(s->m, tree) * speed * speed;
}

/* An island rests as a whole or not at all. */
static void rest_island(rb_stage *s, int island, double *v, double *Mv)
{
    const rb_model *m = s->m;
    const int *order = s->set.island_order + s->set.island_start[island];
    int n = s->set.island_start[island + 1] - s->set.island_start[island];
    for (int i = 0; i < n; i++) {
        const rb_constraint *c = &s->set.c[order[i]];
        if (!pushes_closed(s, c) || !is_undriven(s, c)) return;
        for (int k = 0; k < c->ndof; k++) {
            int tree = m->link_tree[m->dof_link[s->set.dof[c->dof + k]]];
            if (s->resting[tree]) continue;
            if (!s->pushed[tree] || !tree_is_still(s, tree, v, Mv)) return;
            s->resting[tree] = 2; /* so far */
        }
    }
    s->info->resting++;
    for (int t = 0; t < m->ntree; t++) s->resting[t] = s->resting[t] ? 1 : 0;
}

static rb_status find_resting(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *v = rb_push(s->d->arena, double, m->nv), *Mv = rb_push(s->d->arena, double, m->nv);
    if (!v || !Mv) return RB_NOMEM;
    memset(s->resting, 0, (size_t)m->ntree);
    s->info->resting = 0;
    for (int i = 0; i < s->set.nisland; i++) {
        rest_island(s, i, v, Mv);
        for (int t = 0; t < m->ntree; t++) s->resting[t] = s->resting[t] == 1;
    }
    for (int j = 0; j < m->nv; j++) {
        if (s->resting[m->link_tree[m->dof_link[j]]]) s->v_new[j] = 0.0;
    }
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
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
    rb_status status = new_velocity(s);
    if (status != RB_OK) return status;
    find_pushed(s);
    status = find_resting(s);
    if (status == RB_OK) new_position(s);
    return status;
}
