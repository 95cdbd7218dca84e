/* Dry friction of joints that slide. It is a force of known sign. Where a joint reverses within
 * the step, it is the mean of two:
 *
 *     p = -h f (u + u+) / (|u| + |u+|)                                                       (S.49)
 *
 * with the velocities u and u+ of the row at both ends. The share of the time before the reversal
 * is |u| / (|u| + |u+|). p is at the bound while the sign is kept, and never beyond it. Its work p
 * (u + u+)/2 is never positive. p is iterated until it converges. After a reversal, friction f
 * against the drive a, with w = J M^-1 J', leaves the joint free to move where
 *
 *     |a| > w f     <=>     |dp_new / dp| = 2 w f |u| / (|u| + |u+|) / |rate| < 1            (S.50)
 *
 * with the rate (u+ - u) / h. For a joint that would stick the iteration does not converge, and
 * the joint is left to the rows.
 *
 * A joint that stuck in the step before, |p| < h f, is held beside the loops (S.43), as long as |l
 * + r| <= h f. */
#include "step/joint_friction.h"

#include <math.h>
#include <string.h>

int rb_joint_friction_any(const rb_model *m)
{
    for (int j = 0; j < m->nv_all; j++) {
        if (m->dof_frictionloss[j] > 0.0) return 1;
    }
    for (int t = 0; t < m->ntendon; t++) {
        if (m->tendon_frictionloss[t] > 0.0) return 1;
    }
    return 0;
}

int rb_joint_friction_sticks(const rb_stage *s, const rb_constraint *c)
{
    const rb_touch *touch = rb_touch_find(s->d, &c->id);
    return touch && touch->mode != RB_MODE_SLIDE && fabs(touch->p[0]) < c->bound;
}

int rb_joint_friction_may_hold(const rb_stage *s, const rb_constraint *c)
{
    if (c->object >= s->m->nv_all) return s->m->tendon_pathnum[c->object - s->m->nv_all] == 0;
    int type = s->m->jnt_type[s->m->dof_jnt[c->object]];
    return type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE;
}

double rb_joint_friction_place(const rb_stage *s, const rb_constraint *c, const double *q)
{
    const rb_model *m = s->m;
    int t = c->object - m->nv_all;
    double length = 0.0;
    if (t < 0) return q[m->jnt_qadr[m->dof_jnt[c->object]]];
    for (int i = m->tendon_adr[t]; i < m->tendon_adr[t] + m->tendon_num[t]; i++)
        length += m->wrap_coef[i] * q[m->jnt_qadr[m->wrap_jnt[i]]];
    return length;
}

double rb_joint_friction_goal(const rb_stage *s, const rb_constraint *c)
{
    const rb_touch *touch = rb_touch_find(s->d, &c->id);
    int known = touch && touch->frame[RB_LOOP_ROWS] != 0.0;
    return known ? touch->frame[RB_LOOP_PLACE] : rb_joint_friction_place(s, c, s->q0);
}

static double sign(double x)
{
    return (x > 0.0) - (x < 0.0);
}

void rb_joint_friction_begin(const rb_constraints *set, const unsigned char *sticks, int island,
                             const double *u, double *p)
{
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        if (c->kind == RB_CONSTRAINT_DRY && !sticks[c - set->c])
            p[c->row] = -c->bound * sign(u[c->row]);
    }
}

/* A tendon pulls at all of its joints. */
static void add_tendon(const rb_model *m, int t, double pull, double *force)
{
    for (int i = m->tendon_adr[t]; i < m->tendon_adr[t] + m->tendon_num[t]; i++)
        force[m->jnt_dofadr[m->wrap_jnt[i]]] += m->wrap_coef[i] * pull;
}

/* A string pulls along its row, as it was when the step began. */
static void add_row(const rb_constraints *set, const rb_constraint *c, double pull, double *force)
{
    for (int i = 0; i < c->ndof; i++) force[set->dof[c->dof + i]] += set->J[c->block + i] * pull;
}

void rb_joint_friction_force(const rb_stage *s, const rb_constraints *set, const double *p,
                             double *force)
{
    const rb_model *m = s->m;
    memset(force, 0, (size_t)m->nv_all * sizeof *force);
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        if (c->kind != RB_CONSTRAINT_DRY) continue;
        double pull = p[c->row] / s->h;
        if (c->object < m->nv_all)
            force[c->object] += pull;
        else if (m->tendon_pathnum[c->object - m->nv_all] > 0)
            add_row(set, c, pull, force);
        else
            add_tendon(m, c->object - m->nv_all, pull, force);
    }
}

double rb_joint_friction_turn(const rb_constraints *set, const unsigned char *sticks, int island,
                              const double *u, const rb_constraints *end, const double *u_end,
                              double *p)
{
    double most = 0.0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        if (c->kind != RB_CONSTRAINT_DRY || sticks[c - set->c]) continue;
        double before = u[c->row], after = u_end[rb_stage_find(end, &c->id)->row];
        double size = fabs(before) + fabs(after);
        double next = size > 0.0 ? -c->bound * ((before + after) / size) : 0.0;
        most = fmax(most, fabs(next - p[c->row]) / c->bound);
        p[c->row] = next;
    }
    return most;
}
