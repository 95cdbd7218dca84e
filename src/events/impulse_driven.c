/* Contacts that last, of mechanisms and of bodies with springs, dampers and servos.
 *
 * A servo presses with many times the weight. Under a train of impulses such a body would hop by
 * tenths of a millimetre. So its impulses are of two kinds. The first kind stops the rows at once:
 *
 *     M (v+ - v-) = J_0' p_1,     0 <= p_1n  _|_  J_0 v+ + room / s >= 0,                    (B.12)
 *
 * The second kind holds them, and acts evenly over the flight of s seconds, as a force:
 *
 *     v_e = v+ + s a + M^-1 J' p_2,   0 <= p_2n  _|_  J (v+ + v_e)/2 + room / s >= 0,        (B.13)
 *
 * Both obey Coulomb's law. J_0 are the rows now, J those of the middle of the flight. c = (J -
 * J_0) v+ is the change of their velocity until there, and the same again until the end. So the
 * mean velocity moves along the rows, and no force does work on contacts at rest or rolling; a
 * sliding contact slides with its velocity at the end, J v_e + c. The flight itself is the
 * midpoint rule with the force in it. It and the rows are solved alternately until
 * the flight ends with v_e. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/smooth_push.h"
#include "math/vec3.h"
#include "events/impulse.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/problems.h"
#include "step/rest.h"
#include "step/rows.h"

/* Iterations of the flight and its rows, which end before at STRAY. */
enum { ITERATIONS = 8 };

/* Way beside that of the rows which a flight may have, and approach that needs no halt, in units of
 * the shell [1]. Larger: contacts sink. Smaller: more turns. */
#define STRAY 1e-3

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

static int is_driven(const rb_events *x, int dof)
{
    return x->flyer[x->s->m->dof_link[dof]].kind == RB_FLYER_DRIVEN;
}

/* ---- flight ------------------------------------------------------------------------------------
 */

rb_status rb_driven_fly(rb_events *x, double h)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_smooth_info told = { 0 };
    rb_mark mark = rb_arena_mark(d->arena);
    double *f = rb_push(d->arena, double, m->nv);
    if (!f) return RB_NOMEM;
    int any = 0;
    for (int j = 0; j < m->nv; j++) {
        f[j] = h * x->push[j];
        any |= f[j] != 0.0;
    }
    rb_smooth_push push = { .h = h, .f = f, .w = x->none, .dv = x->none, .tol = RB_SMOOTH_TOL };
    rb_status status =
        any ? rb_smooth_push_step(m, d, &push, &told) : rb_smooth_step(m, d, h, &told);
    rb_arena_reset(d->arena, mark);
    if (status != RB_OK)
        return rb_fail(s->err, status, "smooth motion: %s", rb_status_text(status));
    if (!told.converged)
        return rb_fail(s->err, RB_UNSOLVED,
                       "the midpoint rule does not converge: shorten the step");
    return RB_OK;
}

/* The flight from an event at time t, in the parts that it will be made of: a step ends within it.
 * v_end, that of even acceleration with the same way. */
static rb_status fly_from(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_mark mark = rb_arena_mark(d->arena);
    double *act = rb_push(d->arena, double, m->na), *way = rb_push(d->arena, double, m->nv);
    if (!act || !way) return RB_NOMEM;
    copy(act, d->act, m->na);
    copy(d->q, x->q_event, m->nq);
    copy(d->v, x->v_minus, m->nv);
    double first = x->h > t && x->h < t + ahead ? x->h - t : ahead;
    rb_stage_kinematic_pose(s, t + 0.5 * first);
    rb_status status = rb_driven_fly(x, first);
    rb_stage_kinematic_pose(s, t + 0.5 * (first + ahead));
    if (status == RB_OK && first < ahead) status = rb_driven_fly(x, ahead - first);
    rb_difference(m, x->q_event, d->q, way);
    for (int j = 0; j < m->nv; j++) x->v_end[j] = 2.0 * way[j] / ahead - x->v_minus[j];
    copy(d->act, act, m->na);
    rb_arena_reset(d->arena, mark);
    return status;
}

/* ---- the middle of the flight ------------------------------------------------------------------
 */

/* What was placed by rb_data is placed anew. */
static void forget_places(rb_events *x)
{
    for (int k = 1; k < x->s->m->nlink; k++) {
        if (x->flyer[k].kind != RB_FLYER_DRIVEN) continue;
        x->flyer[k].now = NAN;
        for (int i = x->geom_from[k]; i < x->geom_from[k + 1]; i++)
            x->rider[x->geom_of[i]].now = NAN;
    }
}

/* Relative velocity of the witnesses at rb_data. */
static void slip(const rb_events *x, const rb_contact *c, double out[3])
{
    const rb_model *m = x->s->m;
    double v1[6], v2[6];
    rb_point_velocity(m, x->s->d, m->geom_body[c->geom1], c->at.pos1, v1);
    rb_point_velocity(m, x->s->d, m->geom_body[c->geom2], c->at.pos2, v2);
    rb_sub3(v2 + 3, v1 + 3, out);
}

/* c from the velocities at the start: sign -1, then at the middle: sign 1. */
static void add_turn(rb_events *x, int i, double sign)
{
    const rb_contact *c = &x->s->problem.contacts[i];
    double *lead = x->lead + 4 * (ptrdiff_t)i, v[3];
    slip(x, c, v);
    lead[3] += sign * rb_dot3(c->at.normal, v);
    rb_axpy3(sign, v, lead);
}

/* Point and normal of contacts from .. to, of one pair, where it is now; gaps stay. */
static void place_contacts(rb_events *x, double t, int from, int to)
{
    rb_contact *c = x->s->problem.contacts + from;
    int i = rb_meeting_find(x, c->geom1, c->geom2), n = to - from;
    if (i < 0 || x->meeting[i].point) return;
    rb_manifold then = { .most = RB_MANIFOLD_KEEP };
    rb_meeting_manifold(x, i, t, INFINITY, &then);
    for (int k = 0; k < n; k++) {
        for (int l = 0; l < then.n; l++) {
            int only = n == 1 && then.n == 1;
            if (!only && then.point[l].feature != c[k].at.feature) continue;
            rb_copy3(then.point[l].pos1, c[k].at.pos1);
            rb_copy3(then.point[l].pos2, c[k].at.pos2);
            rb_copy3(then.point[l].normal, c[k].at.normal);
        }
    }
}

static int of_driven(const rb_events *x, const rb_contact *c)
{
    const int *link = x->s->m->geom_link;
    return x->flyer[link[c->geom1]].kind == RB_FLYER_DRIVEN ||
           x->flyer[link[c->geom2]].kind == RB_FLYER_DRIVEN;
}

static void go_to_middle(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++) x->v_end[j] = is_driven(x, j) ? x->v_minus[j] : 0.0;
    rb_integrate(m, x->q_event, x->v_end, 0.5 * ahead, s->d->q);
    copy(s->d->v, x->v_minus, m->nv);
    rb_stage_kinematic_pose(s, t);
    rb_kinematics(m, s->d);
    rb_velocity(m, s->d);
    rb_frames(m, s->d);
}

rb_status rb_driven_ahead(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    copy(x->q_event, s->d->q, s->m->nq);
    copy(s->d->v, x->v_minus, s->m->nv);
    rb_velocity(s->m, s->d);
    for (int i = 0; i < s->problem.ncontact; i++) {
        if (!of_driven(x, &s->problem.contacts[i])) continue;
        memset(x->lead + 4 * (ptrdiff_t)i, 0, 4 * sizeof *x->lead);
        add_turn(x, i, -1.0);
    }
    go_to_middle(x, t, ahead);
    forget_places(x);
    for (int from = 0, to; from < s->problem.ncontact; from = to) {
        const rb_contact *c = s->problem.contacts + from;
        for (to = from + 1; to < s->problem.ncontact && s->problem.contacts[to].geom1 == c->geom1 &&
                            s->problem.contacts[to].geom2 == c->geom2;)
            to++;
        if (of_driven(x, c)) place_contacts(x, t, from, to);
    }
    for (int i = 0; i < s->problem.ncontact; i++)
        if (of_driven(x, &s->problem.contacts[i])) add_turn(x, i, 1.0);
    return RB_OK;
}

void rb_driven_back(rb_events *x, double t)
{
    rb_stage *s = x->s;
    copy(s->d->q, x->q_event, s->m->nq);
    rb_stage_kinematic_pose(s, t);
    forget_places(x);
    x->q_now = NAN;
}

/* ---- to a halt ---------------------------------------------------------------------------------
 */

int rb_touches_driven(const rb_events *x, const rb_constraint *c)
{
    for (int k = 0; k < c->ndof; k++)
        if (is_driven(x, x->s->set.dof[c->dof + k])) return 1;
    return 0;
}

/* u of (B.12), and whether something approaches. Rows of free bodies alone are as if they left. */
static int halt_speeds(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    double fastest = 0.0;
    int any = 0;
    rb_constraints_velocity(&s->set, x->v_minus, s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        double *u = s->problem.u + c->row;
        if (!rb_touches_driven(x, c)) continue;
        if (c->kind <= RB_CONSTRAINT_LIMIT) {
            u[0] += fmax(0.0, s->problem.room[i]);
            any |= u[0] * ahead < -STRAY * x->shell;
        }
        for (int r = 0; r < c->nrow; r++) fastest = fmax(fastest, fabs(u[r]));
    }
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (rb_touches_driven(x, c)) continue;
        memset(s->problem.u + c->row, 0, (size_t)c->nrow * sizeof *s->problem.u);
        if (c->kind <= RB_CONSTRAINT_LIMIT) s->problem.u[c->row] = fastest;
    }
    return any;
}

rb_status rb_driven_halt(rb_events *x, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    s->answer.energy = 0.0;
    if (s->set.nrow == 0 || !halt_speeds(x, ahead)) return RB_OK;
    double *f = rb_push(s->d->arena, double, m->nv), *dv = rb_push(s->d->arena, double, m->nv);
    unsigned char *skip = rb_push(s->d->arena, unsigned char, s->set.nisland);
    if (!f || !dv || !skip) return RB_NOMEM;
    memset(skip, 0, (size_t)s->set.nisland);
    rb_mass(m, s->d);
    rb_status status = rb_mass_factor(m, s->d);
    s->problem.kept = NULL;
    if (status == RB_OK) status = rb_stage_solve_others(s, skip);
    if (status != RB_OK) return status;
    memset(f, 0, (size_t)m->nv * sizeof *f);
    rb_constraints_force(&s->set, s->answer.p, f);
    copy(dv, f, m->nv);
    rb_mass_solve(m, s->d, dv);
    for (int j = 0; j < m->nv; j++) {
        s->answer.energy += f[j] * (x->v_minus[j] + 0.5 * dv[j]);
        x->v_minus[j] += dv[j];
        s->start.v[j] += dv[j];
        s->smooth.v[j] += dv[j];
    }
    for (int i = 0; i < s->set.nrow; i++) s->answer.energy += s->answer.p[i] * s->set.drive[i];
    return RB_OK;
}

/* Dry friction of a flight is not spent twice. */
void rb_driven_spend(rb_events *x, const rb_constraints *before, const double *p)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        rb_constraint *c = &s->set.c[i];
        const rb_constraint *then = rb_stage_find(before, &c->id);
        if (c->kind != RB_CONSTRAINT_DRY || !then) continue;
        c->bound = fmax(0.0, c->bound - fabs(p[then->row]));
    }
}

/* ---- and held ----------------------------------------------------------------------------------
 */

/* Normal rows of (B.13), which are solved for v_e. */
static void ask_for_mean_velocity(rb_events *x)
{
    rb_stage *s = x->s;
    rb_constraints_velocity(&s->set, x->v_minus, s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        double lead[3] = { 0.0, 0.0, 0.0 };
        if (c->kind > RB_CONSTRAINT_LIMIT || !rb_touches_driven(x, c)) continue;
        if (c->kind == RB_CONSTRAINT_CONTACT) rb_impulse_lead_of(x, c, lead);
        s->problem.bias[c->row] +=
            fmax(0.0, s->problem.u[c->row] - lead[0]) + fmax(0.0, s->problem.room[i]);
    }
}

static int takes_part(const rb_events *x, int dof)
{
    int tree = x->s->m->link_tree[x->s->m->dof_link[dof]];
    return is_driven(x, dof) && tree >= 0 && x->s->set.tree_island[tree] >= 0;
}

/* Without the push, but between ticks under the load of free bodies that lie on it. */
rb_status rb_driven_rate(rb_events *x, double t, double ahead, int tick)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    for (int j = 0; j < m->nv; j++) {
        if (tick) x->push[j] = x->load[j] = 0.0;
        if (takes_part(x, j)) x->push[j] = x->load[j];
    }
    rb_status status = fly_from(x, t, ahead);
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        if (!is_driven(x, j)) continue;
        x->accel[j] = (x->v_end[j] - x->v_minus[j]) / ahead;
        s->smooth.v[j] = x->v_end[j];
    }
    go_to_middle(x, t, ahead);
    if (status == RB_OK) ask_for_mean_velocity(x);
    return status == RB_OK && s->set.nrow > 0 ? rb_stage_factor(s, NULL) : status;
}

/* f := forces of the impulses p on driven links, all or those of free bodies. */
static void forces(const rb_events *x, double ahead, int of_free, double *f)
{
    const rb_stage *s = x->s;
    memset(f, 0, (size_t)s->m->nv * sizeof *f);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        const int *dof = s->set.dof + c->dof;
        const double *J = s->set.J + c->block;
        int free = 0;
        for (int k = 0; k < c->ndof; k++) free |= !is_driven(x, dof[k]);
        if (of_free && !free) continue;
        for (int r = 0; r < c->nrow; r++, J += c->ndof)
            for (int k = 0; k < c->ndof; k++)
                if (is_driven(x, dof[k])) f[dof[k]] += s->answer.p[c->row + r] * J[k] / ahead;
    }
}

/* Largest way of a row in the flight that was not asked for [m]; the change of velocities in dv. */
static double defect(rb_events *x, double ahead, double *dv, double *u)
{
    rb_stage *s = x->s;
    double most = 0.0;
    for (int j = 0; j < s->m->nv; j++) dv[j] = is_driven(x, j) ? x->v_end[j] - s->answer.v[j] : 0.0;
    rb_constraints_velocity(&s->set, dv, u);
    for (int i = 0; i < s->set.nrow; i++)
        most = fmax(most, 0.5 * ahead * fabs(u[i] - s->set.drive[i]));
    return most;
}

static rb_status solve_again(rb_events *x, const double *dv, double *start)
{
    rb_stage *s = x->s;
    for (int j = 0; j < s->m->nv; j++) s->smooth.v[j] += dv[j];
    rb_impulse_row_speeds(x);
    copy(start, s->answer.p, s->set.nrow);
    s->attempt.last = s->set;
    s->attempt.last_p = start;
    rb_status status = rb_stage_solve_others(s, s->answer.still);
    s->attempt.last_p = NULL;
    return status == RB_OK ? rb_stage_rest(s) : status;
}

rb_status rb_driven_hold(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    double *f = rb_push(arena, double, m->nv), *dv = rb_push(arena, double, m->nv);
    double *u = rb_push(arena, double, s->set.nrow), *start = rb_push(arena, double, s->set.nrow);
    if (!f || !dv || !u || !start) return RB_NOMEM;
    rb_status status = RB_OK;
    for (int i = 0; i < ITERATIONS && status == RB_OK; i++) {
        forces(x, ahead, 0, f);
        for (int j = 0; j < m->nv; j++)
            if (takes_part(x, j)) x->push[j] = x->load[j] + f[j];
        status = fly_from(x, t, ahead);
        if (status != RB_OK || s->set.nrow == 0) break;
        if (defect(x, ahead, dv, u) <= STRAY * x->shell || i + 1 == ITERATIONS) break;
        status = solve_again(x, dv, start);
    }
    return status;
}

void rb_driven_take(rb_events *x, double t, double ahead)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    forces(x, ahead, 1, x->v_end);
    for (int j = 0; j < m->nv; j++) x->load[j] += x->v_end[j];
    copy(x->q, s->d->q, m->nq);
    copy(x->v, x->v_minus, m->nv);
    copy(x->act, s->d->act, m->na);
    x->q_t = t;
    for (int k = 1; k < m->nlink; k++)
        if (x->flyer[k].kind == RB_FLYER_DRIVEN) x->flyer[k].moved = x->event;
}
