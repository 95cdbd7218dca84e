/* Rows at the middle of the step, for a body that turns about what it stands on.
 *
 * Rows of the start of a step follow a turning body half a step late. Where it pivots on a point
 * or an edge, levers change with the angle, and so does what friction can hold: the end of
 * sticking comes one or two steps late. So the answer of the first round leads to the middle of
 * the step, where rows are taken and solved again:
 *
 *     q_hat = q (+) h v+ / 2,     v_hat = v+ / 2   in (S.4)                                   (S.5)
 *
 * This is done once, and only for islands that are one body on at most PIVOTS points of the fixed
 * world. They are cheap, and a body on three points does not pivot. A ball has the same levers
 * wherever it rolls. All other islands keep their answer. */
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/vec3.h"
#include "step/stage.h"

enum { PIVOTS = 2 };

/* ---- which bodies -----------------------------------------------------------------------------
 */

/* A sphere around the centre of mass. */
static int is_ball(const rb_stage *s, int geom)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    if (m->geom_type[geom] != RB_GEOM_SPHERE) return 0;
    ptrdiff_t link = 3 * (ptrdiff_t)m->geom_link[geom];
    double com[3], off[3];
    rb_add3(d->link_p + link, d->link_c + link, com);
    rb_sub3(d->geom_p + 3 * (ptrdiff_t)geom, com, off);
    return rb_norm3(off) <= RB_GAP_ZERO * s->size;
}

/* A contact of one body with the fixed world without restitution and without kinematic motion. */
static int is_plain(const rb_stage *s, int at)
{
    const rb_constraint *c = &s->set.c[at];
    if (c->kind != RB_CONSTRAINT_CONTACT || s->e[at] > 0.0) return 0;
    for (int r = c->row; r < c->row + c->nrow; r++) {
        if (s->set.drive[r] != 0.0) return 0;
    }
    int link1 = s->m->geom_link[c->id.a], link2 = s->m->geom_link[c->id.b];
    return (link1 == 0) != (link2 == 0) && rb_stage_is_single(s->m, link1 ? link1 : link2);
}

/* |h w| of the body at v_new [rad]. */
static double turn_of(const rb_stage *s, int link)
{
    const rb_model *m = s->m;
    double w[3] = { 0.0, 0.0, 0.0 };
    for (int j = m->link_dofadr[link]; j < m->link_dofadr[link] + m->link_dofnum[link]; j++)
        rb_axpy3(s->v_new[j], s->d->dof_S + 6 * (ptrdiff_t)j, w);
    return s->h * rb_norm3(w);
}

/* The tree of an island that is a body which pivots, -1: it is none. */
static int pivoting_tree(const rb_stage *s, int island)
{
    const rb_constraints *set = &s->set;
    int link = 0, points = 0, turns = 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        int at = set->island_order[i];
        const rb_constraint *c = &set->c[at];
        if (!is_plain(s, at)) return -1;
        int of_1 = s->m->geom_link[c->id.a] != 0, geom = of_1 ? c->id.a : c->id.b;
        link = s->m->geom_link[geom];
        if (!(s->p[c->row] > 0.0)) continue;
        points++;
        turns |= !is_ball(s, geom);
    }
    int tree = s->m->link_tree[link];
    if (points < 1 || points > PIVOTS || !turns || s->resting[tree]) return -1;
    double turn = turn_of(s, link);
    return turn > RB_MIDDLE_TURN && turn < RB_MIDDLE_MOST ? tree : -1;
}

/* 1: there is such a body; kinematics are those of q0. */
static int find_trees(const rb_stage *s, unsigned char *chosen)
{
    int any = 0;
    memset(chosen, 0, (size_t)s->m->ntree);
    for (int i = 0; i < s->set.nisland; i++) {
        int tree = pivoting_tree(s, i);
        if (tree < 0) continue;
        chosen[tree] = 1;
        any = 1;
    }
    return any;
}

static int may_be_asked(const rb_stage *s)
{
    const rb_step_opts *o = s->o;
    if (o->stepper != RB_STEPPER_FIXED && o->stepper != RB_STEPPER_LOCATED) return 0;
    if (o->scheme == RB_SCHEME_MOREAU_JEAN || o->formulation->lags) return 0;
    if (s->set.nrow == 0 || s->v_hat) return 0;
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (s->by_midpoint[tree]) return 0;
    }
    return 1;
}

/* ---- the round --------------------------------------------------------------------------------
 */

/* q_hat, v_hat: half of the way of the chosen trees, the start of all others. */
static void go_half(rb_stage *s, const unsigned char *chosen, double *q_hat, double *v_hat)
{
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++)
        v_hat[j] = chosen[m->link_tree[m->dof_link[j]]] ? 0.5 * s->v_new[j] : 0.0;
    rb_integrate(m, s->q0, v_hat, s->h, q_hat);
    for (int j = 0; j < m->njnt; j++) {
        int at = m->jnt_qadr[j], type = m->jnt_type[j];
        int size = type == RB_JOINT_FREE ? 7 : type == RB_JOINT_BALL ? 4 : 1;
        if (!chosen[m->link_tree[m->jnt_link[j]]])
            memcpy(q_hat + at, s->q0 + at, (size_t)size * sizeof *q_hat);
    }
    s->q_hat = q_hat;
    s->v_hat = v_hat;
}

/* p and mode of the first round for an island that is not chosen; 0: it is another island now. */
static int take_over(rb_stage *s, int island, const unsigned char *last_mode)
{
    const rb_constraints *set = &s->set;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        int at = set->island_order[i];
        const rb_constraint *c = &set->c[at], *before = rb_stage_find(&s->last, &c->id);
        if (!before || before->nrow != c->nrow) return 0;
        memcpy(s->p + c->row, s->last_p + before->row, (size_t)c->nrow * sizeof *s->p);
        s->mode[at] = last_mode[before - s->last.c];
    }
    return 1;
}

static int is_chosen(const rb_stage *s, int island, const unsigned char *chosen)
{
    const rb_constraint *c = &s->set.c[s->set.island_order[s->set.island_start[island]]];
    return chosen[s->m->link_tree[s->m->dof_link[s->set.dof[c->dof]]]];
}

static rb_status solve_again(rb_stage *s, const unsigned char *chosen, const unsigned char *mode)
{
    rb_status status = rb_stage_rows(s);
    if (status != RB_OK) return status;
    s->still = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!s->still) return RB_NOMEM;
    for (int i = 0; i < s->set.nisland; i++) {
        s->still[i] = !is_chosen(s, i, chosen);
        if (s->still[i] && !take_over(s, i, mode)) return RB_UNSOLVED;
    }
    status = rb_stage_solve_others(s, s->still);
    return status == RB_OK ? rb_stage_new_position(s) : status;
}

rb_status rb_stage_midpoint_rows(rb_stage *s, int *done)
{
    rb_arena *arena = s->d->arena;
    *done = 0;
    if (!may_be_asked(s)) return RB_OK;
    unsigned char *chosen = rb_push(arena, unsigned char, s->m->ntree);
    double *q_hat = rb_push(arena, double, s->m->nq), *v_hat = rb_push(arena, double, s->m->nv);
    if (!chosen || !q_hat || !v_hat) return RB_NOMEM;
    if (!find_trees(s, chosen)) return RB_OK;
    rb_status status = rb_stage_keep_first_answer(s);
    if (status != RB_OK) return status;
    s->last = s->set;
    s->last_p = s->p;
    go_half(s, chosen, q_hat, v_hat);
    s->middle = 1;
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    status = solve_again(s, chosen, s->mode);
    *done = status == RB_OK;
    if (status != RB_UNSOLVED) return status;
    s->info->residual = residual; /* what was refused is not reported as accepted */
    s->info->velocity_residual = in_velocity;
    return RB_OK;
}
