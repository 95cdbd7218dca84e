/* What a step by the node rule reports: velocity, energy, overlap.
 *
 * The state has the velocity before the impulses of its instant, which for a body at rest is
 * -g h / 2. Reported is the one after as much of them as rows that touch need to agree with it,
 *
 *     v = v+ + (M + E)^-1 J'p~,      0 <= p~_n  _|_  n.v >= 0, loops J v = 0, friction (S.23)
 *
 * half of the impulses for what lasts, none for what leaves. Rows, M and E are those of the end of
 * the step. The next step begins from v+: p~ is a matter of the report alone, and is neither
 * counted nor written to files as a problem of the step. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "solve/cone_crowd.h"
#include "step/node.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rows.h"
#include "step/steppers.h"
#include "step/touch.h"

/* Speed of rows that stay open, in units of what rows have [1]: more than impulses change. */
#define OPEN_SPEEDS 4.0

/* Share of the speed that weight gives in a step by which rows of large islands may miss what half
 * of p asks for, so that it is taken [1]: points that slide are elsewhere at the end, which is of
 * second order. What p~ of such an island may miss in the mean of its rows: that share, or this one
 * of their speeds, and most of all speeds of the problem [1]. None of it goes into the next step.
 */
#define LARGE_AGREED 0.05
#define LARGE_MISSED 2e-2
#define LARGE_MOST   3e-2

int rb_node_is_fresh(const rb_node *x, const rb_constraint *c)
{
    const rb_model *m = x->s->m;
    return c->ndof > 0 && x->fresh[m->link_tree[m->dof_link[x->s->set.dof[c->dof]]]];
}

/* ---- rows of the end --------------------------------------------------------------------------
 */

/* The first row of the contacts of two geoms; they are sorted. */
static int first_of_pair(const rb_stage *step, int geom1, int geom2)
{
    int lo = 0, hi = step->set.ncontact;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        const rb_touch_id *id = &step->set.c[middle].id;
        if (id->a < geom1 || (id->a == geom1 && id->b < geom2))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* The contact pushed in the step, or it touches and another one of its pair pushed: features change
 * on the way, and what carries is not unique. Overlap of the model touches at its floor. */
static int has_pushed(const rb_stage *step, const rb_contact *c)
{
    double deep = rb_stage_pair_overlap(step, c->geom1, c->geom2);
    int pair = 0;
    for (int i = first_of_pair(step, c->geom1, c->geom2); i < step->set.ncontact; i++) {
        const rb_constraint *row = &step->set.c[i];
        if (row->id.a != c->geom1 || row->id.b != c->geom2) break;
        if (!(step->answer.p[row->row] > 0.0)) continue;
        if (row->id.c == c->at.feature) return 1;
        pair |= c->at.gap - row->floor <= deep;
    }
    return pair;
}

/* The point x of link k at the node, where the link has taken it; d is at the end. */
static void take_along(const rb_node *x, int k, double at[3])
{
    const rb_data *d = x->s->d;
    double r[3], own[3];
    rb_sub3(at, x->p0 + 3 * (ptrdiff_t)k, r);
    rb_rot_t(x->R0 + 9 * (ptrdiff_t)k, r, own);
    rb_rot(d->link_R + 9 * (ptrdiff_t)k, own, at);
    rb_add3(at, d->link_p + 3 * (ptrdiff_t)k, at);
}

/* A contact of the node by its material points at the end. */
static rb_contact at_end(const rb_node *x, const rb_contact *seen)
{
    const rb_model *m = x->s->m;
    rb_contact c = *seen;
    int k = m->geom_link[c.geom1];
    double own[3], r[3];
    take_along(x, k, c.at.pos1);
    take_along(x, m->geom_link[c.geom2], c.at.pos2);
    rb_rot_t(x->R0 + 9 * (ptrdiff_t)k, c.at.normal, own);
    rb_rot(x->s->d->link_R + 9 * (ptrdiff_t)k, own, c.at.normal);
    rb_sub3(c.at.pos2, c.at.pos1, r);
    c.at.gap = rb_dot3(c.at.normal, r);
    return c;
}

/* Large islands, and others that interior points solve, of nothing but contacts and limits. Their
 * modes change all over from step to step: half of p is not what rows agree with, and to ask them
 * takes as much as the step. They agree with the velocity in its middle, which is that of (q+ - q)
 * / h: what something pushes is reported with it, half a step late. */
static int is_by_middle(const rb_stage *step, int island)
{
    if (island < 0) return 0;
    const int *start = step->set.island_start;
    int crowd =
        start[island + 1] - start[island] >= RB_CROWD_LEAST && step->attempt.tol > RB_TOL_STRICT;
    if (!crowd && !rb_node_is_large(step, island)) return 0;
    return step->set.c[step->set.island_order[start[island + 1] - 1]].kind <= RB_CONSTRAINT_LIMIT;
}

/* What is reported of the tree needs no rows: it rests, or goes by the middle. */
static int is_known(const rb_stage *step, int tree)
{
    return tree < 0 || step->answer.resting[tree] ||
           is_by_middle(step, step->set.tree_island[tree]);
}

static int both_known(const rb_stage *step, const rb_contact *c)
{
    const rb_model *m = step->m;
    return is_known(step, m->link_tree[m->geom_link[c->geom1]]) &&
           is_known(step, m->link_tree[m->geom_link[c->geom2]]);
}

/* s->contacts := those of the end that pushed, seen there or taken along from the node: corners
 * that carry may be none that a look finds. d is at the end. */
static rb_status pushed_contacts(rb_node *x, const rb_stage *step)
{
    rb_stage *s = x->s;
    s->problem.contacts = rb_push(s->d->arena, rb_contact, s->d->touch_max);
    if (!s->problem.contacts) return RB_NOMEM;
    s->problem.ncontact = 0;
    for (int i = 0; i < x->nend; i++) {
        if (both_known(step, &x->end[i])) continue;
        if (has_pushed(step, &x->end[i])) s->problem.contacts[s->problem.ncontact++] = x->end[i];
    }
    for (int i = 0; i < step->set.ncontact; i++) {
        const rb_constraint *c = &step->set.c[i];
        if (x->at[i] >= 0 || !(step->answer.p[c->row] > 0.0)) continue;
        if (both_known(step, &step->problem.contacts[c->object])) continue;
        rb_contact taken = at_end(x, &step->problem.contacts[c->object]);
        rb_node_insert(s, &taken);
    }
    return RB_OK;
}

static void go_to_end(const rb_node *x)
{
    rb_stage *s = x->s;
    rb_stage_kinematic_pose(s, s->h);
    memcpy(s->d->q, s->answer.q, (size_t)s->m->nq * sizeof *s->answer.q);
    memcpy(s->d->v, x->v_end, (size_t)s->m->nv * sizeof *x->v_end);
    rb_placed_motion(s->m, s->d);
}

/* What smooth motion lifts off in half a step need not be stopped by then: a chain that whips over
 * an edge would lose more than the next impulse takes, and get it back. */
static rb_status allow_lift(rb_node *x, const rb_stage *step)
{
    rb_stage *s = x->s;
    double *u_a = rb_push(s->d->arena, double, step->set.nrow);
    if (!u_a) return RB_NOMEM;
    rb_constraints_velocity(&step->set, x->v_a, u_a);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT) continue;
        const rb_constraint *was = rb_stage_find(&step->set, &c->id);
        if (was) s->problem.u[c->row] += fmax(0.0, 0.5 * (s->problem.u[c->row] - u_a[was->row]));
    }
    return RB_OK;
}

/* The set of the stage becomes that of the end, u = J v+, p = 0. step: the stage as it was. */
static rb_status rows_of_end(rb_node *x, const rb_stage *step)
{
    rb_stage *s = x->s;
    const rb_stage_stiff stiff = { .E = x->E, .all = x->all };
    go_to_end(x);
    rb_status status = pushed_contacts(x, step);
    if (status == RB_OK)
        status = rb_constraints_build(s->m, s->d, s->o, s->h, 0.0, s->problem.contacts,
                                      s->problem.ncontact, &step->problem.first, &s->set);
    if (status == RB_OK) status = rb_node_factor(x, s->answer.v_way, &stiff);
    if (status == RB_OK) status = rb_stage_drop_redundant(s, 0);
    if (status == RB_OK) status = rb_stage_take_rows(s);
    if (status == RB_OK) status = rb_stage_solve_begin(s);
    if (status != RB_OK) return status;
    rb_constraints_velocity(&s->set, x->v_end, s->problem.u);
    return allow_lift(x, step);
}

/* Half of the impulses of the step, in the rows of the end. */
static rb_status halves(rb_stage *s, const rb_stage *step, double **half)
{
    double *p = rb_push(s->d->arena, double, step->set.nrow);
    *half = rb_push(s->d->arena, double, s->set.nrow);
    if (!p || !*half) return RB_NOMEM;
    for (int r = 0; r < step->set.nrow; r++) p[r] = 0.5 * step->answer.p[r];
    for (int i = step->set.ncontact; i < step->set.n; i++) { /* it is half of its bound already */
        const rb_constraint *c = &step->set.c[i];
        if (c->kind == RB_CONSTRAINT_DRY) p[c->row] = step->answer.p[c->row];
    }
    memset(*half, 0, (size_t)s->set.nrow * sizeof **half);
    s->attempt.last = step->set;
    s->attempt.last_p = p;
    for (int i = 0; i < s->set.n; i++)
        rb_stage_recall_round(s, &s->set.c[i], *half + s->set.c[i].row);
    return RB_OK;
}

/* ---- the velocity -----------------------------------------------------------------------------
 */

/* The contact pushed, or holds on: what comes fast and has restitution will bounce. */
static int lasts(const rb_stage *s, const rb_constraint *c, const double *half)
{
    int fast = -s->problem.u[c->row] > RB_BOUNCE_STEPS * s->given->gravity * s->h;
    int bounces = c->kind == RB_CONSTRAINT_CONTACT && c->material.restitution > 0.0;
    int known = half[c->row] > 0.0 || c->kind == RB_CONSTRAINT_CONTACT;
    return known && !(bounces && fast);
}

/* What does not last is not asked. */
static void leave_open(rb_node *x, const double *half)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT || lasts(s, c, half)) continue;
        s->problem.u[c->row] = fmax(0.0, s->problem.u[c->row]) + OPEN_SPEEDS * x->speed;
    }
}

static void scale_friction(rb_stage *s, double by)
{
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        if (s->set.c[i].kind == RB_CONSTRAINT_DRY) s->set.c[i].bound *= by;
    }
}

/* A contact of a large island that slides against half of its friction, as nearly as is asked of
 * those. */
static int slides_on(const rb_constraint *c, const double *half, const double *u, double allowed)
{
    if (c->kind != RB_CONSTRAINT_CONTACT || c->nrow != 3 || fabs(u[0]) > allowed) return 0;
    double most = c->material.friction * half[0], speed = sqrt(u[1] * u[1] + u[2] * u[2]);
    double a = half[1] * speed + most * u[1], b = half[2] * speed + most * u[2];
    return sqrt(a * a + b * b) <= LARGE_AGREED * most * speed;
}

/* Whether the rows of constraint i, velocities u after half of p, agree with that as they are: a
 * row that pushes has no velocity, another one opens, a joint slides against its friction.
 * Contacts that slide have to be asked. */
static int is_agreed(const rb_node *x, int i, const double *half, const double *u, double allowed)
{
    const rb_stage *s = x->s;
    const rb_constraint *c = &s->set.c[i];
    double largest = 0.0;
    for (int r = c->row; r < c->row + c->nrow; r++) largest = fmax(largest, fabs(u[r]));
    if (c->kind == RB_CONSTRAINT_DRY && fabs(half[c->row]) >= 0.5 * c->bound)
        return u[c->row] * half[c->row] <= 0.0 && fabs(half[c->row]) <= 0.5 * c->bound;
    if (c->kind == RB_CONSTRAINT_EQUALITY || c->kind == RB_CONSTRAINT_DRY)
        return largest <= allowed;
    if (half[c->row] > 0.0) return lasts(s, c, half) && largest <= allowed;
    return u[c->row] >= -allowed;
}

/* Marks islands in skip that need no problem: p~ is half of p. Those of trees at rest have none. */
static void find_agreed(rb_node *x, const double *half, unsigned char *skip)
{
    rb_stage *s = x->s;
    double allowed = rb_node_allowed(x),
           roughly = fmax(allowed, LARGE_AGREED * s->given->gravity * s->h);
    memset(x->f, 0, (size_t)s->m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, half, x->f);
    rb_mass_solve(s->m, s->d, x->f);
    for (int j = 0; j < s->m->nv; j++) x->f[j] += x->v_end[j];
    double *u = s->problem.bias; /* of no use here */
    rb_constraints_velocity(&s->set, x->f, u);
    memset(skip, 1, (size_t)s->set.nisland);
    for (int i = 0; i < s->set.n; i++) {
        int k = s->set.c[i].island;
        int large = rb_node_is_large(s, k), row = s->set.c[i].row;
        int agreed = k < 0 || is_agreed(x, i, half, u, large ? roughly : allowed);
        if (!agreed && large) agreed = slides_on(&s->set.c[i], half + row, u + row, roughly);
        if (!agreed) skip[k] = 0;
    }
    memset(u, 0, (size_t)s->set.nrow * sizeof *u);
    for (int k = 0; k < s->m->ntree; k++) {
        if (s->answer.resting[k] && s->set.tree_island[k] >= 0) skip[s->set.tree_island[k]] = 1;
    }
}

/* Tolerance of p~ of a large island. */
static double rough_tol(const rb_stage *s, int island, const double *half)
{
    const int *start = s->set.island_start;
    double all = 0.0, own = 0.0, agreed = LARGE_AGREED * s->given->gravity * s->h;
    for (int i = start[island]; i < start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        double sum = 0.0;
        for (int r = c->row; r < c->row + c->nrow; r++) sum += s->problem.u[r] * s->problem.u[r];
        all += sum;
        if (lasts(s, c, half)) own += sum;
    }
    double n = start[island + 1] - start[island];
    double share = fmax(agreed * sqrt(n), LARGE_MISSED * sqrt(own)) / sqrt(all);
    return all > 0.0 ? fmax(s->attempt.tol, fmin(share, LARGE_MOST)) : LARGE_MOST;
}

/* p~ of the islands that are not large and not to be skipped. */
static rb_status solve_small(rb_stage *s, const unsigned char *skip, unsigned char *others)
{
    int any = 0;
    for (int k = 0; k < s->set.nisland; k++) {
        others[k] = skip[k] || rb_node_is_large(s, k);
        any |= !others[k];
    }
    return any ? rb_stage_solve_others(s, others) : RB_OK;
}

/* p~ of those that are, each with its tolerance; half of p where there is no answer. */
static rb_status solve_large(rb_stage *s, const double *half, const unsigned char *skip,
                             unsigned char *others)
{
    double tol = s->attempt.tol, loose = s->attempt.loose;
    rb_status status = RB_OK;
    memset(others, 1, (size_t)s->set.nisland);
    for (int k = 0; k < s->set.nisland && status == RB_OK; k++) {
        if (skip[k] || !rb_node_is_large(s, k)) continue;
        others[k] = 0;
        s->attempt.tol = s->attempt.loose = rough_tol(s, k, half);
        s->attempt.reports = 1;
        status = rb_stage_solve_others(s, others);
        s->attempt.reports = 0;
        if (status == RB_UNSOLVED) status = RB_OK;
        others[k] = 1;
    }
    s->attempt.tol = tol;
    s->attempt.loose = loose;
    return status;
}

/* Half of p puts energy on what reaches the end: rows that hold each other have impulses that mean
 * nothing in those of the end. */
static int puts_energy_on(rb_node *x, const double *half)
{
    rb_stage *s = x->s;
    double *u = s->problem.bias, work = 0.0; /* of no use here */
    memset(x->f, 0, (size_t)s->m->nv * sizeof *x->f);
    rb_constraints_force(&s->set, half, x->f);
    rb_mass_solve(s->m, s->d, x->f);
    for (int j = 0; j < s->m->nv; j++) x->f[j] = x->v_end[j] + 0.5 * x->f[j];
    rb_constraints_velocity(&s->set, x->f, u);
    for (int r = 0; r < s->set.nrow; r++) work += half[r] * u[r];
    memset(u, 0, (size_t)s->set.nrow * sizeof *u);
    return work > 0.0;
}

/* s->p := p~ of (S.23). Where there is no answer, half of p, or nothing where that would put energy
 * on. */
static rb_status agree(rb_node *x, const double *half)
{
    rb_stage *s = x->s;
    unsigned char *skip = rb_push(s->d->arena, unsigned char, 2 * (size_t)s->set.nisland);
    if (!skip) return RB_NOMEM;
    find_agreed(x, half, skip);
    leave_open(x, half);
    memcpy(s->answer.p, half, (size_t)s->set.nrow * sizeof *half);
    scale_friction(s, 0.5);
    int near_miss = s->attempt.near_miss;
    rb_status status = solve_small(s, skip, skip + s->set.nisland);
    if (status == RB_OK) status = solve_large(s, half, skip, skip + s->set.nisland);
    s->attempt.near_miss = near_miss;
    scale_friction(s, 2.0);
    if (status == RB_UNSOLVED) {
        memcpy(s->answer.p, half, (size_t)s->set.nrow * sizeof *half);
        if (puts_energy_on(x, half)) memset(s->answer.p, 0, (size_t)s->set.nrow * sizeof *half);
    }
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        int tree = c->ndof > 0 ? s->m->link_tree[s->m->dof_link[s->set.dof[c->dof]]] : -1;
        if (c->island >= 0 && !(tree >= 0 && s->answer.resting[tree])) continue;
        memset(s->answer.p + c->row, 0, (size_t)c->nrow * sizeof *s->answer.p);
    }
    return status == RB_UNSOLVED ? RB_OK : status;
}

/* p~ with which the velocity was reported that the step began from: 0, where it is v itself. */
static const double *half_before(const rb_node *x, const rb_constraint *c)
{
    const rb_touch *touch = rb_node_is_fresh(x, c) ? NULL : rb_touch_find(x->s->d, &c->id);
    return touch && touch->nrow == c->nrow ? touch->frame : NULL;
}

/* A contact that struck within the step has touched although it is open at its end. */
static void tell_strikes(rb_node *x)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.ncontact; i++) {
        const rb_constraint *c = &s->set.c[i];
        const double *p = x->struck + c->row;
        if (s->answer.mode[i] != RB_MODE_OPEN || !(p[0] > 0.0)) continue;
        double most = c->material.friction * p[0];
        double t = c->nrow < 3 ? -1.0 : sqrt(p[1] * p[1] + p[2] * p[2]);
        s->answer.mode[i] = t < (1.0 - RB_TOL_STANDARD) * most ? RB_MODE_STICK : RB_MODE_SLIDE;
    }
}

/* Trees of such islands that something pushes: v_new, kick. */
static rb_status go_by_middle(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    unsigned char *pushed = rb_push(s->d->arena, unsigned char, m->ntree);
    if (!pushed) return RB_NOMEM;
    memset(pushed, 0, (size_t)m->ntree);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (!(s->answer.p[c->row] > 0.0) || !is_by_middle(s, c->island)) continue;
        for (int k = 0; k < c->ndof; k++)
            pushed[m->link_tree[m->dof_link[s->set.dof[c->dof + k]]]] = 1;
    }
    for (int j = 0; j < m->nv; j++) {
        if (!pushed[m->link_tree[m->dof_link[j]]]) continue;
        s->answer.kick[j] = 0.5 * x->dv[j];
        s->answer.v[j] = x->v_end[j] - s->answer.kick[j];
    }
    return RB_OK;
}

/* Impulses between the velocities that are reported,
 *
 *     p + p~ of the end - p~ of the start                                                   (S.23)
 *
 * for loops. That is p itself for lasting contact, and so it is reported for the others, except for
 * motions that begin with v itself, whose p is of half a step: contacts only push. */
static void report_impulses(rb_node *x, const rb_stage *end)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i], *last = NULL;
        int rests = c->island >= 0 && s->answer.still[c->island],
            loop = c->kind == RB_CONSTRAINT_EQUALITY;
        const double *before = loop && !rests ? half_before(x, c) : NULL;
        int adds = loop || c->kind == RB_CONSTRAINT_DRY || rb_node_is_fresh(x, c);
        if (!rests) last = rb_stage_find(&end->set, &c->id);
        if (last && last->nrow != c->nrow) last = NULL;
        int by_middle = !rests && c->kind <= RB_CONSTRAINT_LIMIT && is_by_middle(s, c->island);
        for (int r = 0; r < c->nrow; r++) {
            double half = last        ? end->answer.p[last->row + r]
                          : by_middle ? s->answer.p[c->row + r]
                                      : 0.0;
            x->half[c->row + r] = half;
            s->answer.p[c->row + r] += x->struck[c->row + r] - (before ? before[r] : 0.0);
            if (adds) s->answer.p[c->row + r] += half;
        }
    }
    s->answer.half = x->half;
}

/* (v1 - v0).(M + E) (v0 + v1) / 2 of trees that do not rest; M as in d. */
static double work_between(rb_node *x, const double *v0, const double *v1)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    double sum = 0.0;
    for (int j = 0; j < m->nv; j++) x->v_mean[j] = v1[j] - v0[j];
    rb_node_stiff_multiply(x, x->v_mean, x->f);
    for (int j = 0; j < m->nv; j++) {
        double f = x->f[j];
        if (!s->answer.resting[m->link_tree[m->dof_link[j]]]) sum += 0.5 * f * (v0[j] + v1[j]);
    }
    return sum;
}

/* kick: the velocity that the next step begins from, less v_new. Friction of joints has done its
 * half, and is not taken back. */
static void find_kick(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    double *p = s->problem.bias, *kick = s->answer.kick; /* of no use here */
    int dry = 0;
    memcpy(p, s->answer.p, (size_t)s->set.nrow * sizeof *p);
    for (int i = s->set.ncontact; i < s->set.n; i++) {
        if (s->set.c[i].kind != RB_CONSTRAINT_DRY) continue;
        dry |= p[s->set.c[i].row] != 0.0;
        p[s->set.c[i].row] = 0.0;
    }
    memcpy(kick, x->f, (size_t)m->nv * sizeof *kick);
    if (dry) {
        memset(kick, 0, (size_t)m->nv * sizeof *kick);
        rb_constraints_force(&s->set, p, kick);
        rb_mass_solve(m, s->d, kick);
    }
    for (int j = 0; j < m->nv; j++) kick[j] = -kick[j];
}

/* v_new, kick, p as reported; M, E and their factor are those of the end then. */
static rb_status find_velocity(rb_node *x)
{
    rb_stage *s = x->s, step = *s;
    const rb_model *m = s->m;
    rb_step_opts quiet = *s->o;
    double *half = NULL;
    const rb_step_info *info = s->info;
    rb_step_info before = { .solves = info->solves,
                            .rows = info->rows,
                            .rows_max = info->rows_max,
                            .islands = info->islands,
                            .below_accuracy = info->below_accuracy,
                            .residual = info->residual,
                            .velocity_residual = info->velocity_residual };
    quiet.sink.take = NULL;
    s->o = &quiet;
    rb_status status = rows_of_end(x, &step);
    if (status == RB_OK) status = halves(s, &step, &half);
    if (status == RB_OK) status = agree(x, half);
    memset(x->f, 0, (size_t)m->nv * sizeof *x->f);
    if (status == RB_OK) rb_constraints_force(&s->set, s->answer.p, x->f);
    if (status == RB_OK) rb_mass_solve(m, s->d, x->f);
    for (int j = 0; j < m->nv; j++) s->answer.v[j] = x->v_end[j] + x->f[j];
    if (status == RB_OK) find_kick(x);
    rb_stage end = *s;
    *s = step;
    s->info->solves = before.solves;
    s->info->rows = before.rows;
    s->info->rows_max = before.rows_max;
    s->info->islands = before.islands;
    s->info->below_accuracy = before.below_accuracy;
    s->info->residual = before.residual;
    s->info->velocity_residual = before.velocity_residual;
    if (status == RB_OK) status = go_by_middle(x);
    if (status == RB_OK) report_impulses(x, &end);
    if (status == RB_OK) tell_strikes(x);
    return status;
}

/* v_new, kick, and energy that impulses made, from the velocity that was reported before to the one
 * that is now:
 *
 *     1/2 (v + v_e).(M + E)(v_e - v)  +  1/2 (v+ + v_new).(M + E)(v_new - v+)               (S.25)
 *
 * v_e = v0 + (M + E)^-1 J'p, that of impacts by itself, less what mocap bodies gave; M and E of the
 * start in the first term, of the end in the second. Springs and dampers take off at once what an
 * impulse gives them: v_a would count it as made. */
static rb_status report_velocity(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_status status = RB_OK;
    double *kick = s->answer.kick;
    s->answer.energy = 0.0;
    s->answer.energy_impacts = x->lost;
    memcpy(s->answer.v, x->v_end, (size_t)m->nv * sizeof *s->answer.v);
    memset(kick, 0, (size_t)m->nv * sizeof *kick);
    if (s->set.nrow > 0) {
        s->answer.energy = x->lost_told + work_between(x, x->v_from, x->v_e);
        for (int r = 0; r < s->set.nrow; r++)
            s->answer.energy += (s->answer.p[r] + x->struck[r]) * s->set.drive[r];
        rb_mark mark = rb_arena_mark(s->d->arena);
        status = find_velocity(x);
        if (status == RB_OK) s->answer.energy += work_between(x, x->v_end, s->answer.v);
        rb_arena_reset(s->d->arena, mark);
    }
    for (int j = 0; j < m->nv; j++) {
        int rests = s->answer.resting[m->link_tree[m->dof_link[j]]];
        if (rests) s->answer.v[j] = kick[j] = 0.0;
        kick[m->nv + j] = s->answer.v[j];
    }
    return status;
}

static void look_deep(rb_node *x)
{
    rb_stage *s = x->s;
    s->info->penetration = s->info->penetration_made = 0.0;
    for (int i = 0; i < x->nend; i++) {
        const rb_contact *c = &x->end[i];
        if (!rb_flight_holds(s->events.flight, c->geom1, c->geom2, c->at.feature)) continue;
        rb_touch_id id = { RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
        double start = rb_stage_start_gap(s, &id) + rb_stage_start_floor(s, &id);
        double made = (start < -rb_stage_error_least(s) ? start : 0.0) - c->at.gap;
        s->info->penetration = fmax(s->info->penetration, -c->at.gap);
        s->info->penetration_made = fmax(s->info->penetration_made, made);
        s->info->gap_error = fmax(s->info->gap_error, c->error);
    }
}

rb_status rb_node_report(rb_node *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_status status = report_velocity(x);
    if (status != RB_OK) return status;
    look_deep(x);
    rb_stage_find_pushed(s);
    memcpy(s->smooth.q, s->answer.q, (size_t)m->nq * sizeof *s->smooth.q);
    for (int j = 0; j < m->nv; j++) s->smooth.v_next[j] = s->start.v[j] + x->dv[j];
    return RB_OK;
}
