/* Rows at the node: what may touch within the step, seen from its start, and what was first seen at
 * its end, pulled back (S.9). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/pieces.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "step/node.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rows.h"
#include "step/steppers.h"
#include "step/touch.h"

/* d at the node, with the velocity before the impulses. */
static void go_to_node(rb_node *x)
{
    rb_stage *s = x->s;
    rb_stage_kinematic_pose(s, 0.0);
    memcpy(s->d->q, s->start.q, (size_t)s->m->nq * sizeof *s->start.q);
    memcpy(s->d->v, s->start.v, (size_t)s->m->nv * sizeof *s->start.v);
    rb_placed_motion(s->m, s->d);
}

/* Where the gap may end (S.2): no deeper than it was. Overlap that steps made is taken off by the
 * share of loops where it is more than a quarter of what they may make; that of the model stays.
 * What was pulled back is as deep as its pair was. */
static double goal_of(const rb_stage *s, const rb_constraint *c)
{
    if (c->kind > RB_CONSTRAINT_LIMIT) return 0.0;
    double deep = rb_stage_deep(s, &c->id);
    double own = fmax(fmin(0.0, c->gap), fmin(0.0, s->problem.least_gap[c - s->set.c]));
    int stays = own < -2.0 * deep || own >= -0.5 * RB_NODE_HALF * deep || s->attempt.relaxed;
    return stays ? own : (1.0 - rb_stage_loop_share(s)) * own;
}

static rb_status take_rows(rb_node *x)
{
    rb_stage *s = x->s;
    rb_arena *arena = s->d->arena;
    double **bend[] = { &x->bend };
    double **of_row[] = { &x->value, &x->Wp, &x->struck, &x->u0, &x->b, &x->half };
    rb_status status = rb_stage_take_rows(s);
    if (status == RB_OK) status = rb_stage_find_starts(s);
    if (status != RB_OK) return status;
    x->goal = rb_push(arena, double, s->set.n);
    x->gap = rb_push(arena, double, s->set.ncontact);
    x->at = rb_push(arena, int, s->set.ncontact);
    x->bounces = rb_push(arena, unsigned char, 2 * (size_t)s->set.ncontact);
    x->is_new = rb_push(arena, unsigned char, s->set.n);
    x->settled = rb_push(arena, unsigned char, 2 * (size_t)s->set.nisland);
    x->motion = rb_push(arena, double, s->set.nisland);
    if (!x->goal || !x->motion || !x->gap || !x->at || !x->bounces || !x->is_new || !x->settled ||
        !rb_push_zeros(arena, of_row, 6, s->set.nrow) ||
        !rb_push_zeros(arena, bend, 1, s->set.ncontact))
        return RB_NOMEM;
    memset(x->bounces, 0, 2 * (size_t)s->set.ncontact);
    memset(x->is_new, 1, (size_t)s->set.n);
    x->gone = x->bounces + s->set.ncontact;
    x->answered = x->settled + s->set.nisland;
    memset(x->settled, 0, 2 * (size_t)s->set.nisland);
    x->solved = 0;
    if (s->set.nrow > 0 && !rb_anderson_push(arena, s->set.nrow, &x->mixing)) return RB_NOMEM;
    rb_constraints_velocity(&s->set, x->v_given, s->problem.u_before);
    rb_constraints_velocity(&s->set, s->start.v, x->u0);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        x->goal[i] = goal_of(s, c);
        if (c->kind > RB_CONSTRAINT_LIMIT) continue;
        double room = c->gap - x->goal[i];
        int closed = room >= -RB_GAP_ZERO * s->given->size && room <= rb_stage_closed(s, c);
        s->problem.bias[c->row] = closed ? 0.0 : room / s->h;
        if (closed) x->goal[i] = c->gap; /* points of a face stay level (S.5) */
        x->goal[i] -= rb_stage_yield(s, c);
    }
    return RB_OK;
}

static rb_status build(rb_node *x, const rb_constraints *start)
{
    rb_stage *s = x->s;
    double slack = x->every_limit ? INFINITY : x->slack;
    rb_status status = rb_constraints_build(s->m, s->d, s->o, s->h, slack, s->problem.contacts,
                                            s->problem.ncontact, start, &s->set);
    if (status != RB_OK) return status;
    if (s->set.n <= s->d->touch_max) return RB_OK;
    s->info->contacts = s->set.n;
    return RB_FULL;
}

/* M and its factors. */
static rb_status factor(rb_node *x)
{
    const rb_stage_stiff out = { .L = x->L, .E = x->E, .all = x->all, .A = x->A };
    rb_status status = rb_node_factor(x, x->v_given, &out);
    x->stiff |= x->all != NULL;
    for (int j = 0; j < x->s->m->nv && status == RB_OK; j++) x->stiff |= x->E[j] != 0.0;
    return status;
}

static void keep_poses(rb_node *x)
{
    const rb_data *d = x->s->d;
    size_t n = (size_t)x->s->m->nlink;
    memcpy(x->p0, d->link_p, 3 * n * sizeof *x->p0);
    memcpy(x->R0, d->link_R, 9 * n * sizeof *x->R0);
}

void rb_node_mass_solve(const rb_node *x, double *f)
{
    rb_data *d = x->s->d;
    double *L = d->L;
    d->L = x->L;
    rb_mass_solve(x->s->m, d, f);
    d->L = L;
}

void rb_node_stiff_multiply(const rb_node *x, const double *v, double *f)
{
    rb_data *d = x->s->d;
    const rb_model *m = x->s->m;
    double *M = d->M;
    if (x->all) d->M = x->all;
    rb_mass_multiply(m, d, v, f);
    d->M = M;
    for (int j = 0; j < m->nv && !x->all; j++) f[j] += x->E[j] * v[j];
}

/* All parts that begin here have the contacts of the longest one, which flight.c has found. */
static rb_status find_contacts(rb_node *x)
{
    rb_stage *s = x->s;
    rb_status status = RB_OK;
    if (s->events.flight) {
        s->problem.ncontact = s->events.flight->n;
        memcpy(s->problem.contacts, s->events.flight->contacts,
               (size_t)s->events.flight->n * sizeof *s->problem.contacts);
    } else {
        status = rb_stage_near_find(s, x->slack);
    }
    if (status == RB_OK) status = rb_stage_support_points(s);
    s->info->contacts = s->problem.ncontact;
    if (status == RB_OK && s->events.flight) rb_stage_drop_flying(s);
    return status;
}

rb_status rb_node_rows(rb_node *x)
{
    rb_stage *s = x->s;
    go_to_node(x);
    keep_poses(x);
    rb_status status = find_contacts(x);
    if (status == RB_OK) rb_stage_keep_adhesion_contacts(s);
    if (status == RB_OK) status = build(x, NULL);
    if (status == RB_OK && s->set.nrow > 0) status = factor(x);
    if (status == RB_OK) status = rb_stage_drop_redundant(s, 1);
    if (status != RB_OK) return status;
    s->problem.first = s->set;
    return take_rows(x);
}

/* ---- what was first seen at the end -----------------------------------------------------------
 */

static rb_touch_id id_of(const rb_contact *c)
{
    return (rb_touch_id){ RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
}

/* How deep the pair of a contact was: overlap of the model counts, as it does in what a look finds.
 */
static double start_of(const rb_stage *s, const rb_touch_id *id)
{
    return rb_stage_start_depth(s, id);
}

/* Points that met where the bodies were turned otherwise may lie within each other at the node:
 * they are not deeper there than the pair was. Where the model overlaps they are, as faces of a
 * ground change below a ball within it: nothing has to be lifted for that. */
static rb_contact at_node(const rb_node *x, const rb_contact *seen)
{
    const rb_data *d = x->s->d;
    const rb_node_poses now = { d->link_p, d->link_R }, node = { x->p0, x->R0 };
    rb_contact c = *seen;
    rb_touch_id id = id_of(seen);
    rb_node_carry(x->s->m, &now, &node, &c);
    double start = start_of(x->s, &id);
    if (start >= -2.0 * rb_stage_deep(x->s, &id)) c.at.gap = fmax(c.at.gap, start);
    return c;
}

static int order(const rb_contact *x, const rb_contact *y)
{
    rb_touch_id a = id_of(x), b = id_of(y);
    return rb_touch_order(&a, &b);
}

/* Whether a contact seen at the end is deeper than it may be. */
static int is_deep(const rb_stage *s, const rb_contact *c, double start)
{
    return c->at.gap < start - 0.5 * rb_stage_pair_overlap(s, c->geom1, c->geom2);
}

/* How deep the pair of end contact i was; contacts of a pair follow each other, `start` is that of
 * the one before. */
static double start_at_end(const rb_node *x, int i, double start)
{
    const rb_contact *c = &x->end[i];
    rb_touch_id id = id_of(c);
    int again = i > 0 && c->geom1 == c[-1].geom1 && c->geom2 == c[-1].geom2;
    return again ? start : start_of(x->s, &id);
}

int rb_node_is_deep(const rb_node *x)
{
    double start = 0.0;
    for (int i = 0; i < x->nend; i++) {
        const rb_contact *c = &x->end[i];
        int held = rb_flight_holds(x->s->events.flight, c->geom1, c->geom2, c->at.feature);
        start = start_at_end(x, i, start);
        if (held && is_deep(x->s, c, start)) return 1;
    }
    return 0;
}

int rb_node_insert(rb_stage *s, const rb_contact *c)
{
    int at = s->problem.ncontact;
    while (at > 0 && order(&s->problem.contacts[at - 1], c) > 0) at--;
    if (at > 0 && order(&s->problem.contacts[at - 1], c) == 0) return 0;
    if (s->problem.ncontact >= s->d->touch_max) return 0;
    memmove(s->problem.contacts + at + 1, s->problem.contacts + at,
            (size_t)(s->problem.ncontact - at) * sizeof *s->problem.contacts);
    s->problem.contacts[at] = *c;
    s->problem.ncontact++;
    return 1;
}

/* An end of a range that is passed at the end of the step and has no row: a narrow range may be
 * left by the other end than the one that had it. */
static int is_missing(const rb_stage *s, int object, const double range[2], double now)
{
    rb_touch_id id = { RB_CONSTRAINT_LIMIT, object, now - range[0] > range[1] - now, 0 };
    return !rb_stage_find(&s->set, &id);
}

int rb_node_limits_missing(const rb_node *x)
{
    const rb_stage *s = x->s;
    const rb_model *m = s->m;
    if (x->every_limit) return 0;
    for (int j = 0; j < m->njnt_all; j++) {
        const double *range = m->jnt_range + 2 * (ptrdiff_t)j;
        if (!(rb_stage_limit_deepened(s, j) > 1.0)) continue;
        rb_touch_id ball = { RB_CONSTRAINT_LIMIT, j, 0, 0 };
        if (m->jnt_type[j] == RB_JOINT_BALL ? !rb_stage_find(&s->set, &ball)
                                            : is_missing(s, j, range, s->answer.q[m->jnt_qadr[j]]))
            return 1;
    }
    for (int t = 0; t < m->ntendon; t++) {
        if (!(rb_stage_tendon_deepened(s, t) > 1.0)) continue;
        double length = m->tendon_pathnum[t] > 0 ? rb_tendon_length(m, s->d, t)
                                                 : rb_stage_tendon_length(m, t, s->answer.q);
        if (is_missing(s, m->njnt_all + t, m->tendon_range + 2 * (ptrdiff_t)t, length)) return 1;
    }
    return 0;
}

/* What is known of rows. */
typedef struct known {
    rb_constraints set;
    const double *p, *u, *struck, *bend;
    const double *found, *spent;
    const unsigned char *mode, *bounces, *answered, *still;
} known;

/* Impulses of the rows that were there, and what they were the answer of. */
static void keep_rows(rb_node *x, const known *before)
{
    rb_stage *s = x->s;
    for (int i = 0; i < before->set.n; i++) {
        const rb_constraint *was = &before->set.c[i], *now = rb_stage_find(&s->set, &was->id);
        if (!now || now->nrow != was->nrow) continue;
        size_t bytes = (size_t)now->nrow * sizeof *s->answer.p;
        ptrdiff_t at = now - s->set.c;
        memcpy(s->answer.p + now->row, before->p + was->row, bytes);
        memcpy(s->problem.u + now->row, before->u + was->row, bytes);
        memcpy(x->struck + now->row, before->struck + was->row, bytes);
        s->answer.mode[at] = before->mode[i];
        x->is_new[at] = 0;
        if (now->kind != RB_CONSTRAINT_CONTACT) continue;
        x->bounces[at] = before->bounces[i];
        x->bend[at] = before->bend[i];
    }
}

/* The island of the rows before that has the constraints of island k, but for those which are new;
 * -1: there is none. */
static int same_island(const rb_node *x, const rb_constraints *before, int k, int *added)
{
    const rb_stage *s = x->s;
    const int *start = s->set.island_start;
    int same = -1;
    *added = 0;
    for (int i = start[k]; i < start[k + 1]; i++) {
        int at = s->set.island_order[i];
        *added += x->is_new[at];
        if (x->is_new[at]) continue;
        const rb_constraint *was = rb_stage_find(before, &s->set.c[at].id);
        if (same >= 0 && was->island != same) return -1;
        same = was->island;
    }
    if (same < 0) return -1;
    int n = before->island_start[same + 1] - before->island_start[same];
    return n == start[k + 1] - start[k] - *added ? same : -1;
}

/* Islands that got no row go on as they were; those that got some may (rb_node_keep_answers). */
static void keep_islands(rb_node *x, const known *before)
{
    rb_stage *s = x->s;
    for (int k = 0; k < s->set.nisland; k++) {
        int added, same = same_island(x, &before->set, k, &added);
        s->answer.still[k] = 0;
        if (same < 0) continue;
        if (added > 0 && before->answered[same]) x->answered[k] = RB_NODE_ADDED;
        if (added > 0) continue;
        s->answer.still[k] = before->still[same];
        x->answered[k] = before->answered[same];
        s->answer.residual[k] = before->found[same];
        s->answer.work[k] = before->spent[same];
    }
    for (int k = 0; k < s->m->ntree; k++) {
        int island = s->set.tree_island[k];
        s->answer.resting[k] = island >= 0 && s->answer.still[island];
    }
}

rb_status rb_node_add(rb_node *x, int *added)
{
    rb_stage *s = x->s;
    const known before = { .set = s->set,
                           .p = s->answer.p,
                           .u = s->problem.u,
                           .struck = x->struck,
                           .bend = x->bend,
                           .found = s->answer.residual,
                           .spent = s->answer.work,
                           .mode = s->answer.mode,
                           .bounces = x->bounces,
                           .answered = x->answered,
                           .still = s->answer.still };
    int deeper = 0;
    double start = 0.0;
    *added = 0;
    for (int i = 0; i < x->nend; i++) {
        const rb_contact *seen = &x->end[i];
        start = start_at_end(x, i, start);
        if (!rb_flight_holds(s->events.flight, seen->geom1, seen->geom2, seen->at.feature))
            continue;
        if (!is_deep(s, seen, start)) continue;
        rb_contact c = at_node(x, &x->end[i]);
        deeper |= c.at.gap < start;
        *added += rb_node_insert(s, &c);
    }
    if (rb_node_limits_missing(x)) ++*added, x->every_limit = 1;
    if (*added == 0) return RB_OK;
    go_to_node(x);
    rb_status status = build(x, &s->problem.first);
    if (status == RB_OK && before.set.nrow == 0) status = factor(x);
    if (status == RB_OK) status = rb_stage_drop_redundant(s, 0);
    if (status == RB_OK && deeper) s->problem.first = s->set;
    if (status == RB_OK) status = take_rows(x);
    s->answer.still = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (status == RB_OK) status = s->answer.still ? rb_stage_solve_begin(s) : RB_NOMEM;
    if (status != RB_OK) return status;
    keep_rows(x, &before);
    keep_islands(x, &before);
    return RB_OK;
}
