/* Smooth motion: one step without contacts by the implicit midpoint rule (D.36).
 *
 *     (M + E) dv_new = h F(q_m, v_m) + E dv,   v_m = v + dv/2,   q_m = q (+) h/2 v_m      (D.37)
 *
 * is repeated, with Anderson's acceleration, until dv converges. E, diagonal, has the stiff
 * part of joint springs, dampers, tendons and servos; it does not move the fixed point. Servos at
 * the bound of their force have no stiffness and are left out of E meanwhile: with them in E, the
 * iteration would contract by E / (M + E) only. A step in which a link rotates by more than
 * RB_SMOOTH_TURN is divided, and divided again where the iteration does not converge or energy is
 * created or lost (smooth_energy.c). Impulses may act within
 * the step (smooth_push.h). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/constants.h"
#include "base/meter.h"
#include "base/pieces.h"
#include "dynamics/actuation.h"
#include "dynamics/forward.h"
#include "dynamics/gauge.h"
#include "dynamics/passive.h"
#include "dynamics/placed.h"
#include "dynamics/planar.h"
#include "dynamics/smooth_anderson.h"
#include "dynamics/smooth_coupled.h"
#include "dynamics/smooth_energy.h"
#include "dynamics/smooth_free.h"
#include "dynamics/smooth_push.h"
#include "dynamics/smooth_tension.h"
#include "dynamics/tendon.h"
#include "dynamics/tendon_inertia.h"
#include "math/dense.h"
#include "math/trig.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "rattleback/dynamics.h"

/* RB_SMOOTH_TOL for chains of more than 40 links [1]: waves run along them that a step of 1 ms does
 * not follow, and digits of theirs that are lost are no drift to be seen in 1e5 steps. Larger:
 * there is one. Smaller: iterations whose number grows with the links. */
#define SMOOTH_TOL_LONG 1e-10

/* Share of the tolerance below which a predicted change counts as below the tolerance [1]:
 * rates of two iterations differ by up to ten times. SURE: for RB_SMOOTH_TOL, ROUGH for what need
 * not be known so well. Larger: velocities of chains are wrong by 1e-11. Smaller: one iteration
 * more that only confirms. */
#define SMOOTH_SURE  0.05
#define SMOOTH_ROUGH 0.5

/* Change after two iterations above which the velocities are suspected to be what forces leave of
 * each other [1]. Larger: more iterations where that is so. Smaller: one evaluation is wasted where
 * it is not. */
#define SMOOTH_SLOW 1e-3

/* Ratio of the second change to the first above which tension is computed in chains that are not
 * long [1]. Larger: heavy loads on light chains take more iterations. Smaller: needless work. */
#define TENSION_RATE 2e-2

/* Ratio of changes above which a factor of the start of the step is given up for one of the
 * midpoint, where dofs are coupled [1]. Larger: more iterations. Smaller: more factorisations. */
#define LENT_RATE 0.1

/* Rounding of a coordinate, relative to the largest, that a midpoint shows [1]. Where springs are
 * so stiff that this rounding shows in the velocity, the iteration ends there. */
#define SMOOTH_ROUNDING (16.0 * RB_EPS)

enum {
    MAX_ITERATIONS = 60,
    MAX_SUBSTEPS = 4096,
    MAX_TRIES = 6,
    PATIENCE = 5,
    LATE = 6,
    LENT = 4,           /* iteration at which that is looked at */
    MOST_SWITCHES = 10, /* iterations in which servos may come to their bound */
    JUMPS = 2,          /* one of them goes from one bound to the other         */
    TENSE = 40          /* links of a tree from which on its tension matters at steps of 1 ms */
};

typedef struct scratch {
    double *q_before, *act_before; /* state before the whole step           (nq), (na) */
    double *v_before;              /*                                       (nv)       */
    double *q, *act, *act_next;    /* at the start and end of the substep   (nq), (na) */
    double *v;                     /*                                       (nv)       */
    double *dv, *qdd;              /* change of the velocity; its next rate (nv)       */
    double *dv_before;             /* of the substep before                 (nv)       */
    double *dv_first;              /* of the first one                      (nv)       */
    double *along;                 /* v_m as the rotations take it          (nv)       */
    double *force, *no_force;      /* right side; zero                      (nv)       */
    double *E;                     /* implicit diagonal                     (nv)       */
    double *A;                     /* of it, what holds joints that creep   (nv)       */
    double *inertia;               /* of joints, in an evaluation           (nv)       */
    double *spin;                  /* bound of the angular velocity         (nlink)    */
    double *stiffness, *damping;   /* of each dof, in E                     (nv_all)   */
    double *braking;               /* damping, in A                         (nv_all)   */
    signed char *holds, *creeps;   /* the servo is in E; in A               (nu)       */
    signed char *side;             /* the bound that it is at, or 0         (nu)       */
    rb_anderson mixing;
    rb_smooth_memory own, *memory; /* of the tension at least */
    rb_smooth_energy energy;
    rb_smooth_coupled coupled;
    unsigned char *felt; /* tendons that have forces, where there are spatial ones (ntendon) */
    int stale;           /* 1: E is not the one of the factor of coupled */
    int flat;            /* 1: the model is in a plane, and d gets no frames */
    rb_plane plane;
    const double *push;  /* impulses on the dofs; NULL: none             (nv) */
    double tol;          /* change at which the iteration ends [1] */
    const double *given; /* A of the step of length whole, whose factor with springs and
                            dampers is d->L; NULL: to be found                  (nv) */
    double whole;
    const double *guess; /* change of the whole step to start from; NULL: none  (nv) */
    int first_of;        /* substeps of the try that dv_first is of; 0: none yet */
    int placed;          /* 1: d is at the midpoint that belongs to dv */
} scratch;

/* What a motion remembers within itself, of a step before: nothing. */
static int push_own(const rb_model *m, rb_arena *arena, rb_smooth_memory *memory)
{
    memory->inertia = rb_push(arena, double, m->nv);
    memory->holds = rb_push(arena, signed char, 3 * (size_t)m->nu);
    if (!memory->inertia || !memory->holds) return 0;
    memory->creeps = memory->holds + m->nu;
    memory->needed = memory->creeps + m->nu;
    for (int j = 0; j < m->nv; j++) memory->inertia[j] = INFINITY;
    return rb_tension_push(m, arena, &memory->tension);
}

static int allocate(const rb_model *m, rb_arena *arena, scratch *s)
{
    double **of_q[] = { &s->q_before, &s->q };
    double **of_act[] = { &s->act_before, &s->act, &s->act_next };
    double **of_v[] = { &s->v_before, &s->v,   &s->dv,    &s->dv_before,
                        &s->dv_first, &s->qdd, &s->along, &s->force,
                        &s->no_force, &s->E,   &s->A,     &s->inertia };
    int ok = rb_push_rows(arena, of_q, sizeof of_q / sizeof *of_q, m->nq) &&
             rb_push_rows(arena, of_act, sizeof of_act / sizeof *of_act, m->na) &&
             rb_push_rows(arena, of_v, sizeof of_v / sizeof *of_v, m->nv);
    ok = ok && (s->spin = rb_push(arena, double, (size_t)m->nlink + 3 * (size_t)m->nv_all)) != NULL;
    ok = ok && (s->holds = rb_push(arena, signed char, 3 * (size_t)m->nu)) != NULL;
    if (!ok) return 0;
    s->creeps = s->holds + m->nu;
    s->side = s->creeps + m->nu;
    s->stiffness = s->spin + m->nlink;
    s->damping = s->stiffness + m->nv_all;
    s->braking = s->damping + m->nv_all;
    if (!s->memory) {
        s->memory = &s->own;
        ok = push_own(m, arena, &s->own);
    }
    if (m->nspatial > 0) {
        s->felt = rb_push(arena, unsigned char, m->ntendon);
        if (!s->felt) return 0;
        rb_tendons_felt(m, s->felt);
    }
    ok = ok && rb_smooth_coupled_push(m, arena, &s->coupled);
    if (s->coupled.on) s->flat = 0;
    if (s->flat) ok = ok && rb_plane_push(m, arena, &s->plane);
    return ok && rb_anderson_push(arena, m->nv, &s->mixing);
}

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- one evaluation ------------------------------------------------------------------------- */

/* Cayley's map: the rotation over h is 2 atan(h |w| / 2) about w, not h |w|. */
static void cayley(double h, double w[3])
{
    double x = 0.5 * h * rb_norm3(w);
    if (x < RB_TINY_ANGLE) return;
    rb_scale3(rb_atan2(x, 1.0) / x, w, w);
}

static void turn_along(const rb_model *m, double h, const double *v_m, double *along)
{
    copy(along, v_m, m->nv);
    for (int j = 0; j < m->njnt; j++) {
        if (m->jnt_type[j] == RB_JOINT_BALL) cayley(h, along + m->jnt_dofadr[j]);
        if (m->jnt_type[j] == RB_JOINT_FREE) cayley(h, along + m->jnt_dofadr[j] + 3);
    }
}

static void mean_velocity(const rb_model *m, const scratch *s, double *v)
{
    for (int j = 0; j < m->nv; j++) v[j] = s->v[j] + 0.5 * s->dv[j];
}

/* d->q := q after the time t with the velocity that belongs to dv (D.44). */
static void move(const rb_model *m, rb_data *d, double h, double t, scratch *s)
{
    mean_velocity(m, s, d->v);
    if (s->flat) { /* hinges only */
        for (int j = 0; j < m->nv; j++) d->q[j] = s->q[j] + t * d->v[j];
        return;
    }
    turn_along(m, h, d->v, s->along);
    rb_integrate(m, s->q, s->along, t, d->q);
}

/* Where links are at d->q, d->v. */
static void place(const rb_model *m, rb_data *d, scratch *s)
{
    if (s->flat)
        rb_plane_place(m, d, &s->plane);
    else
        rb_forward_place_felt(m, d, s->felt);
}

/* d->q, d->v become the midpoint that belongs to dv. */
static void go_to_midpoint(const rb_model *m, rb_data *d, double h, scratch *s)
{
    move(m, d, h, 0.5 * h, s);
    place(m, d, s);
}

/* Stiffness and damping of dofs, with the servos that are marked. apart: gets what couples dofs;
 * NULL: that counts by its bounds. */
static void find_slopes(const rb_model *m, const rb_data *d, const signed char *which, double *k,
                        double *b, rb_coupling *apart)
{
    memset(k, 0, (size_t)m->nv_all * sizeof *k);
    memset(b, 0, (size_t)m->nv_all * sizeof *b);
    rb_passive_stiffness_apart(m, d, k, b, apart);
    rb_actuation_stiffness_of(m, d, which, k, b, apart);
    rb_gauge_spread_bound(m, d, k);
    rb_gauge_spread_bound(m, d, b);
}

/* E goes without what couples dofs, which has a matrix of its own. */
static void find_coupled_slopes(const rb_model *m, const rb_data *d, double h, scratch *s)
{
    rb_coupling_begin(m, h, &s->coupled.terms);
    find_slopes(m, d, s->holds, s->stiffness, s->damping, &s->coupled.terms);
    s->stale = 1;
}

static void find_plain_slopes(const rb_model *m, const rb_data *d, scratch *s)
{
    find_slopes(m, d, s->creeps, s->stiffness, s->braking, NULL);
    copy(s->damping, s->braking, m->nv_all);
    if (memcmp(s->holds, s->creeps, (size_t)m->nu) != 0)
        find_slopes(m, d, s->holds, s->stiffness, s->damping, NULL);
}

static void implicit_diagonal(const rb_model *m, const rb_data *d, double h, scratch *s)
{
    if (s->coupled.on)
        find_coupled_slopes(m, d, h, s);
    else
        find_plain_slopes(m, d, s);
    for (int j = 0; j < m->nv; j++) {
        s->E[j] = 0.5 * h * (s->damping[j] + 0.5 * h * s->stiffness[j]);
        if (s->coupled.on)
            s->E[j] += s->A[j];
        else
            s->A[j] = 0.0;
    }
}

/* (D.38), with the inertia that an evaluation met. 1: there is some, and E has it too. */
static int hold_creeping(const rb_model *m, double h, scratch *s)
{
    int some = 0;
    if (s->coupled.on) return 0;
    for (int j = 0; j < m->nv; j++) {
        if (s->braking[j] == 0.0) continue;
        s->A[j] = rb_passive_hold(h, s->braking[j], s->inertia[j]);
        some |= s->A[j] > 0.0;
    }
    for (int j = 0; j < m->nv && some; j++) s->E[j] += s->A[j];
    return some;
}

/* (M + E + K)^-1 (tau - c) */
static rb_status solve(const rb_model *m, rb_data *d, scratch *s, const double *tau, double *qdd)
{
    const double *K = s->memory->tension.on ? s->memory->tension.K : NULL;
    if (s->flat) return rb_plane_solve(m, d, s->E, K, NULL, tau, qdd, &s->plane);
    if (s->coupled.on) {
        rb_smooth_coupled_next(m, d, 1.0, NULL, tau, &s->coupled, qdd);
        return RB_OK;
    }
    rb_forward_extra extra = { s->E, K };
    return rb_forward_solve(m, d, &extra, tau, qdd);
}

/* Servos that are not at a bound. One that went from one bound to the other has its place between
 * them: its force is continued as a line through both, once. Those that alternate are in E in the
 * end, where the iteration contracts slowly but surely. A servo that was between its bounds once is
 * damped (D.38) from then on, so that the rule does not alternate. 0: no change; JUMPS:
 * forces are not those of the midpoint. */
static int find_holding(const rb_model *m, rb_data *d, int i, scratch *s)
{
    int changed = 0;
    for (int k = 0; k < m->nu; k++) {
        int side = rb_actuator_side(m, d, k);
        int jumps = i > 0 && i <= MOST_SWITCHES && side * s->side[k] < 0;
        signed char holds = side == 0 || jumps || (i > MOST_SWITCHES && s->holds[k]);
        signed char creeps = holds || ((i > 0 || s->memory->known) && s->creeps[k]);
        if (jumps) rb_actuator_unbind(m, d, k);
        if (i == 0 || holds != s->holds[k] || creeps != s->creeps[k]) changed |= 1;
        if (jumps) changed |= JUMPS;
        s->holds[k] = holds;
        s->creeps[k] = creeps;
        s->side[k] = (signed char)(jumps ? 0 : side);
    }
    return changed;
}

/* 1: the factor of the step with springs and dampers is there, and serves as long as all actuators
 * hold. E is A then: all else is in that factor. */
static int borrow_factor(const rb_model *m, int i, int other, scratch *s)
{
    rb_smooth_coupled *x = &s->coupled;
    int all = 1;
    for (int k = 0; k < m->nu && i == 0; k++) all = all && s->holds[k];
    if (i == 0 && x->lent && all) {
        copy(s->E, s->A, m->nv);
        return 1;
    }
    if (i == 0 || other) x->lent = 0;
    return 0;
}

/* Forces at midpoint i, and E where it is not that of the iteration before: another map. What holds
 * joints that creep goes by the inertia that the last evaluation met. */
static rb_status find_forces(const rb_model *m, rb_data *d, double h, int i, scratch *s, int *other)
{
    rb_meter *meter = d->arena->meter;
    if (!rb_meter_add(meter, RB_WORK_MOTION, 0.3 * m->nlink)) return meter->stopped;
    rb_passive(m, d);
    rb_actuation(m, d);
    *other = find_holding(m, d, i, s) | (i == 0);
    if (borrow_factor(m, i, *other, s) || !*other) return RB_OK;
    for (int j = 0; j < m->nv; j++)
        s->inertia[j] = i == 0 ? s->memory->inertia[j] : d->dof_D[j] - s->E[j];
    implicit_diagonal(m, d, h, s);
    hold_creeping(m, h, s);
    return RB_OK;
}

/* Instead of one that does not fit. */
static void own_factor(const rb_model *m, const rb_data *d, double h, scratch *s)
{
    s->coupled.lent = 0;
    implicit_diagonal(m, d, h, s);
}

/* s->qdd := dv_new / h by (D.57); the factor is that of the first midpoint, and of any at which
 * servos come to a bound. */
static rb_status evaluate_coupled(const rb_model *m, rb_data *d, double h, scratch *s)
{
    rb_status status = RB_OK;
    if (s->stale) status = rb_smooth_coupled_factor(m, d, s->E, &s->coupled);
    s->stale = 0;
    for (int j = 0; j < m->nv; j++) s->along[j] = s->force[j] - s->E[j] * s->dv[j] / h;
    if (status == RB_OK) rb_smooth_coupled_next(m, d, h, s->dv, s->along, &s->coupled, s->qdd);
    return status;
}

/* s->qdd := dv_new / h */
static rb_status evaluate(const rb_model *m, rb_data *d, double h, scratch *s)
{
    for (int j = 0; j < m->nv; j++) {
        s->force[j] =
            d->tau[j] + d->passive[j] + d->actuation[j] + (s->E[j] - s->A[j]) * s->dv[j] / h;
    }
    if (!s->flat) rb_wrench_force(m, d, s->force);
    for (int j = 0; j < m->nv && s->push; j++) s->force[j] += s->push[j] / s->whole;
    if (s->coupled.on) return evaluate_coupled(m, d, h, s);
    if (!s->memory->tension.on) return solve(m, d, s, s->force, s->qdd);
    if (s->flat) {
        const rb_tension *t = &s->memory->tension;
        rb_tension_couple_plane(m, h, s->dv, t);
        return rb_plane_solve(m, d, s->E, t->K, t->alpha, s->force, s->qdd, &s->plane);
    }
    copy(s->along, s->force, m->nv);
    rb_tension_force(m, d, h, s->dv, &s->memory->tension, s->along);
    return solve(m, d, s, s->along, s->qdd);
}

/* The first evaluation, and once more where it finds joints that creep: another rule. Who knows
 * inertias has found them already. */
static rb_status evaluate_first(const rb_model *m, rb_data *d, double h, scratch *s)
{
    rb_status status = evaluate(m, d, h, s);
    int known = s->coupled.on || (m->nv > 0 && s->memory->inertia[0] < INFINITY);
    if (status != RB_OK || known) return status;
    for (int j = 0; j < m->nv; j++) s->inertia[j] = d->dof_D[j] - s->E[j];
    if (!hold_creeping(m, h, s)) return RB_OK;
    if (s->flat)
        rb_plane_place(m, d, &s->plane);
    else
        rb_forward_restart(m, d);
    return evaluate(m, d, h, s);
}

/* Dampings of muscles change with the velocity, by which servos come to their bounds, too. With A
 * of some iterate the rule would depend on where the iteration began: where dofs are coupled it is
 * that of the start. */
static rb_status hold_from_start(const rb_model *m, rb_data *d, double h, scratch *s)
{
    s->coupled.lent = s->given && h == s->whole;
    if (s->coupled.lent) {
        copy(s->A, s->given, m->nv);
        return RB_OK;
    }
    copy(d->q, s->q, m->nq);
    copy(d->v, s->v, m->nv);
    place(m, d, s);
    s->placed = 0;
    rb_actuation(m, d);
    for (int k = 0; k < m->nu; k++) s->creeps[k] = rb_actuator_side(m, d, k) == 0;
    find_slopes(m, d, s->creeps, s->stiffness, s->braking, NULL);
    return rb_smooth_coupled_hold(m, d, h, s->stiffness, s->braking, &s->coupled, s->A);
}

/* ---- one substep ---------------------------------------------------------------------------- */

/* How the iteration goes. */
typedef struct progress {
    double size;   /* velocity that the change is compared with                       */
    double floor;  /* velocity that moves no coordinate by more than its rounding     */
    double diff;   /* what the last iteration changed                                 */
    double change; /* the same relative to size                                       */
    double rate;   /* part of the change before that is left                          */
    double best;   /* smallest change so far                                          */
    int stalls;    /* iterations since then                                           */
} progress;

/* At rest forces cancel, and what is left of them is rounding: the velocities that gravity and the
 * forces would make in the step without each other count as size too. Where the iteration converges
 * well compared with the velocities themselves, they need not be known. */
static rb_status forced_size(const rb_model *m, rb_data *d, double h, scratch *s, double *size)
{
    memset(s->no_force, 0, (size_t)m->nv * sizeof *s->no_force);
    place(m, d, s);
    rb_status status = solve(m, d, s, s->no_force, s->along);
    *size = DBL_MIN;
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        double alone = s->along[j];
        *size = fmax(*size, h * fmax(fabs(alone), fabs(s->qdd[j] - alone)));
    }
    return status;
}

static int wants_forced_size(const progress *p, int i)
{
    int slow = (i == 2 && p->change > SMOOTH_SLOW) || i == LATE;
    return slow && p->rate > RB_SMOOTH_RATE;
}

/* The second where it is larger: fmax without a call. */
static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* dv := h qdd and what that changed, which is kept in s->along */
static void advance(const rb_model *m, double h, scratch *s, progress *p)
{
    double size = p->size;
    p->diff = 0.0;
    for (int j = 0; j < m->nv; j++) {
        double dv = h * s->qdd[j];
        s->along[j] = dv - s->dv[j];
        p->diff = larger(p->diff, fabs(s->along[j]));
        if (!(fabs(dv) <= DBL_MAX)) p->diff = INFINITY; /* larger drops NaN */
        size = larger(size, larger(fabs(s->v[j]), fabs(s->v[j] + dv)));
        s->dv[j] = dv;
    }
    double before = p->change;
    p->change = p->diff / fmax(size, DBL_MIN);
    p->rate = before > 0.0 ? p->change / before : INFINITY;
    p->stalls = p->change < p->best ? 0 : p->stalls + 1;
    p->best = fmin(p->best, p->change);
}

/* Below the tolerance, or so much closer than before that the next change will be; or no longer
 * shrinking, with nothing left but the rounding of coordinates, or of accelerations near a position
 * where joints of a body lose a direction. */
static int is_done(const progress *p, double tol)
{
    if (p->change <= tol) return 1;
    double share = tol > RB_SMOOTH_TOL ? SMOOTH_ROUGH : SMOOTH_SURE;
    if (p->rate <= RB_SMOOTH_RATE && p->rate * p->change <= share * tol) return 1;
    return p->stalls >= PATIENCE && (p->diff <= p->floor || p->change <= RB_SMOOTH_STALL);
}

static int is_long(const rb_model *m)
{
    return m->nlink > TENSE * m->ntree;
}

/* Long chains want tension in their inertia at once, others where they converge slowly. */
static int wants_tension(const rb_model *m, const scratch *s, const progress *p, int i)
{
    if (rb_tendon_inertia_any(m) || s->coupled.on) return 0; /* the mass matrix has none of it */
    if (is_long(m)) return i == 0;
    return i == 1 && p->rate > TENSION_RATE && p->rate < INFINITY;
}

static void find_tension(const rb_model *m, const rb_data *d, double h, scratch *s)
{
    if (s->flat)
        rb_tension_find_plane(m, h, s->qdd, &s->plane, &s->memory->tension);
    else
        rb_tension_find(m, d, h, s->qdd, &s->memory->tension);
}

/* Tension of the motion that the step starts from; d is placed. */
static int pull_as_foretold(const rb_model *m, const rb_data *d, double h, scratch *s)
{
    for (int j = 0; j < m->nv; j++) s->qdd[j] = s->dv[j] / h;
    find_tension(m, d, h, s);
    s->memory->h = h;
    return s->memory->tension.on;
}

/* Work of all forces, with the velocity of the midpoint. */
static void add_work(const rb_model *m, rb_data *d, double h, scratch *s)
{
    mean_velocity(m, s, d->v);
    for (int j = 0; j < m->nv; j++) {
        double force = s->force[j] - s->E[j] * s->dv[j] / h;
        s->energy.work += h * force * d->v[j];
    }
    if (s->flat) {
        s->energy.work += h * rb_plane_weight_power(m, d->v, &s->plane);
        return;
    }
    rb_velocity(m, d);
    s->energy.work += h * rb_smooth_weight_power(m, d);
}

/* Servos at a bound that would be elsewhere without the damping that holds their joints: dv without
 * A is that much larger, and it moves the force by half of it. */
static void find_needed(const rb_model *m, const rb_data *d, scratch *s)
{
    for (int k = 0; k < m->nu; k++) {
        s->memory->needed[k] = 0;
        if (s->holds[k] || !s->creeps[k]) continue;
        double excess = rb_actuator_excess(m, d, k);
        if (!(excess < INFINITY)) continue;
        int j = m->jnt_dofadr[m->act_target[k]];
        double D = d->dof_D[j] - s->E[j], more = fabs(s->dv[j]) * s->A[j];
        s->memory->needed[k] = 0.5 * s->braking[j] * more >= D * excess;
    }
}

/* Changes of another map say nothing of those of this one. */
static void begin_anew(scratch *s, progress *p)
{
    rb_anderson_reset(&s->mixing);
    p->change = 0.0;
}

/* Moves d->q, d->v, d->act by h. converged = 0: they are at some midpoint. */
static rb_status substep(const rb_model *m, rb_data *d, double h, scratch *s, rb_smooth_info *info)
{
    if (!s->placed) copy(s->q, d->q, m->nq);
    if (!s->placed) copy(s->v, d->v, m->nv);
    copy(s->act, d->act, m->na);
    rb_activation_step(m, d, h, s->act_next);
    rb_activation_middle(m, s->act, s->act_next, d->act);

    rb_anderson_reset(&s->mixing);
    progress p = { .best = INFINITY, .floor = SMOOTH_ROUNDING * rb_norm_inf(s->q, m->nq) / h };
    rb_tension *tension = &s->memory->tension;
    int done = 0, pulls = tension->on && s->memory->h == h, other;
    tension->on = pulls;
    rb_status status = s->coupled.on ? hold_from_start(m, d, h, s) : RB_OK;
    if (status != RB_OK) return status;
    for (int i = 0; i < MAX_ITERATIONS && !done; i++) {
        if (!s->placed) go_to_midpoint(m, d, h, s);
        if (!s->placed && m->nservo > 0) rb_activation_follow(m, d, s->act, h, s->act_next);
        s->placed = 0;
        status = find_forces(m, d, h, i, s, &other);
        if (status != RB_OK) return status;
        if (i == LENT && s->coupled.lent && p.rate > LENT_RATE) {
            own_factor(m, d, h, s);
            other = 1;
        }
        if (i > 0 && other) begin_anew(s, &p);
        if (i == 0 && !pulls && s->guess && is_long(m) && !s->coupled.on)
            pulls = pull_as_foretold(m, d, h, s);
        status = i == 0 ? evaluate_first(m, d, h, s) : evaluate(m, d, h, s);
        if (status == RB_SINGULAR && i > 0) break; /* the iteration went astray, not the model */
        if (status != RB_OK) return status;
        if (wants_forced_size(&p, i - pulls)) status = forced_size(m, d, h, s, &p.size);
        if (status != RB_OK) return status;
        advance(m, h, s, &p);
        info->iterations++;
        done = !(other & JUMPS) && is_done(&p, s->tol);
        if (p.change > DBL_MAX) break;
        if (done) break;
        if (!pulls && wants_tension(m, s, &p, i)) find_tension(m, d, h, s);
        if (tension->on && !pulls) { /* from now on it is another map */
            pulls = 1;
            s->memory->h = h;
            rb_anderson_reset(&s->mixing);
            continue;
        }
        rb_anderson_mix(&s->mixing, s->along, s->dv);
    }
    info->change = fmax(info->change, p.rate <= RB_SMOOTH_RATE ? p.rate * p.change : p.change);
    info->converged = done;
    if (!done) return RB_OK;

    find_needed(m, d, s);
    if (s->energy.watched) add_work(m, d, h, s);
    move(m, d, h, h, s);
    for (int j = 0; j < m->nv; j++) d->v[j] = s->v[j] + s->dv[j];
    copy(d->act, s->act_next, m->na);
    return RB_OK;
}

/* ---- the step ------------------------------------------------------------------------------- */

static void restore(const rb_model *m, rb_data *d, const scratch *s)
{
    copy(d->q, s->q_before, m->nq);
    copy(d->v, s->v_before, m->nv);
    copy(d->act, s->act_before, m->na);
}

/* An upper bound of the angular velocities: rates add up from joint to joint. */
static double spin_bound(const rb_model *m, const rb_data *d, double *sum)
{
    double most = 0.0;
    sum[0] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        double w = sum[m->link_parent[k]];
        for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
            const double *v = d->v + m->jnt_dofadr[j];
            int type = m->jnt_type[j];
            if (type == RB_JOINT_HINGE) w += fabs(v[0]);
            if (type == RB_JOINT_BALL) w += rb_norm3(v);
            if (type == RB_JOINT_FREE) w += rb_norm3(v + 3);
        }
        sum[k] = m->body_mocap[m->link_body[k]] >= 0 ? INFINITY : w;
        if (!(sum[k] <= most)) most = sum[k];
    }
    return most;
}

/* Largest angular velocity of links that are placed [rad/s]. */
static double fastest_spin(const rb_model *m, const rb_data *d, const scratch *s)
{
    if (s->flat) return rb_plane_spin(m, &s->plane);
    double fastest = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        double w = rb_norm3(d->link_w + 3 * k);
        if (!(w <= fastest)) fastest = w;
    }
    return fastest;
}

/* The change to start the first substep from: that of impulses, or of the try before. */
static void first_change(const rb_model *m, int count, scratch *s)
{
    double share = s->first_of > 0 ? (double)s->first_of / count : 0.0;
    for (int j = 0; j < m->nv; j++) {
        s->dv[j] = s->guess ? s->guess[j] / count : 0.0;
        if (!s->push && s->first_of > 0) s->dv[j] = share * s->dv_first[j];
    }
}

/* After substep i of an attempt: the change of the next one is extrapolated from the last two. */
static void next_change(const rb_model *m, int count, int i, scratch *s)
{
    if (s->push) return;
    if (i == 0) copy(s->dv_first, s->dv, m->nv);
    if (i == 0) s->first_of = count;
    for (int j = 0; j < m->nv; j++) {
        double dv = s->dv[j];
        if (i > 0) s->dv[j] += dv - s->dv_before[j];
        s->dv_before[j] = dv;
    }
}

/* d goes to the first midpoint of an undivided step, which is needed anyway. 0: a link rotates fast
 * there, and nothing but poses has changed. */
static int is_slow(const rb_model *m, rb_data *d, double h, scratch *s)
{
    copy(s->q, d->q, m->nq);
    copy(s->v, d->v, m->nv);
    first_change(m, 1, s);
    go_to_midpoint(m, d, h, s);
    s->placed = h * fastest_spin(m, d, s) < RB_SMOOTH_WATCH;
    return s->placed;
}

static double spin_at_start(const rb_model *m, rb_data *d, double h, scratch *s)
{
    if (s->flat)
        rb_plane_place(m, d, &s->plane);
    else
        rb_placed_links(m, d);
    double fastest = fastest_spin(m, d, s);
    if (h * fastest >= RB_SMOOTH_WATCH)
        rb_smooth_energy_start(m, d, s->flat ? &s->plane : NULL, 1, &s->energy);
    return fastest;
}

static int count_of(double turn)
{
    double count = turn / RB_SMOOTH_TURN;
    return count < MAX_SUBSTEPS ? 1 + (int)count : 0;
}

/* Most chains rotate slowly enough for one substep, which a sum of rates does not show but the
 * first midpoint does. Where the step before was fast, energy is checked first, so that one substep
 * can continue from the midpoint; the result is the same. */
static int substeps_alone(const rb_model *m, rb_data *d, double h, scratch *s)
{
    double fastest = 0.0;
    int first = d->cache->spins;
    if (first) fastest = spin_at_start(m, d, h, s);
    d->cache->spins = !is_slow(m, d, h, s);
    if (!d->cache->spins) {
        s->energy.watched = 0;
        return 1;
    }
    int count = first ? count_of(h * fastest) : 0;
    s->placed = first && count == 1;
    if (!s->placed) restore(m, d, s);
    return first ? count : count_of(h * spin_at_start(m, d, h, s));
}

/* Substeps in which no link rotates by more than RB_SMOOTH_TURN; 0: too many, or not a number.
 * Flights under a push are short. */
static int substeps_needed(const rb_model *m, rb_data *d, double h, scratch *s)
{
    s->energy.watched = 0;
    if (s->push || h * spin_bound(m, d, s->spin) < RB_SMOOTH_WATCH) return 1;
    return substeps_alone(m, d, h, s);
}

/* The change of substep i to start from: that of the motion before, and what it changed in all;
 * else that of the substep before. */
static void recall_change(const rb_model *m, int count, int i, scratch *s)
{
    const rb_smooth_memory *memory = s->memory;
    int nv = m->nv;
    if (!s->guess || memory->substeps != count) return;
    for (int j = 0; j < nv; j++) {
        double all = 0.0;
        for (int k = 0; k < count; k++) all += memory->dv[(ptrdiff_t)k * nv + j];
        s->dv[j] = memory->dv[(ptrdiff_t)i * nv + j] + (s->guess[j] - all) / count;
    }
}

static rb_status try_substeps(const rb_model *m, rb_data *d, double h, int count, scratch *s,
                              rb_smooth_info *info)
{
    rb_smooth_memory *memory = s->memory;
    int keeps = memory != &s->own && count <= RB_SMOOTH_KEPT, nv = m->nv;
    double *now = keeps && count > 1 ? rb_push(d->arena, double, (size_t)count *(size_t)nv) : NULL;
    if (keeps && count > 1 && !now) return RB_NOMEM;
    info->substeps = count;
    info->change = s->energy.work = 0.0;
    if (!s->placed) first_change(m, count, s);
    for (int i = 0; i < count; i++) {
        if (now) recall_change(m, count, i, s);
        rb_status status = substep(m, d, h / count, s, info);
        if (status != RB_OK || !info->converged) return status;
        if (now) copy(now + (ptrdiff_t)i * nv, s->dv, nv);
        if (count > 1 || s->energy.watched) next_change(m, count, i, s);
    }
    memory->substeps = now ? count : 0;
    if (now) memcpy(memory->dv, now, (size_t)count * (size_t)nv * sizeof *now);
    return RB_OK;
}

/* Servos as the motion before left them, and as this one does. */
static void recall_servos(const rb_model *m, scratch *s)
{
    if (s->memory->known) memcpy(s->creeps, s->memory->creeps, (size_t)m->nu);
}

static void remember_servos(const rb_model *m, const scratch *s)
{
    rb_smooth_memory *memory = s->memory;
    memcpy(memory->holds, s->holds, (size_t)m->nu);
    memcpy(memory->creeps, s->creeps, (size_t)m->nu);
    memory->known = 1;
}

/* As many substeps as the motion before took, where energy is watched. */
static int recall_count(const rb_model *m, rb_data *d, int count, scratch *s)
{
    int before = s->memory->substeps;
    if (!s->energy.watched || before <= count) return count;
    if (s->placed) restore(m, d, s);
    s->placed = 0;
    return before;
}

/* push: impulses that act evenly over the step; NULL: none. */
static rb_status step_tree(const rb_model *m, rb_data *d, double h, const rb_smooth_from *how,
                           const double *push, rb_smooth_info *told)
{
    scratch s = { .push = push, .tol = how->tol, .guess = how->dv };
    s.given = how->A;
    s.whole = h;
    s.memory = how->memory;
    s.flat = rb_plane_takes(m, d);
    if (!allocate(m, d->arena, &s)) return RB_NOMEM;
    copy(s.q_before, d->q, m->nq);
    copy(s.v_before, d->v, m->nv);
    copy(s.act_before, d->act, m->na);
    int count = recall_count(m, d, substeps_needed(m, d, h, &s), &s);
    if (s.energy.watched && is_long(m)) s.tol = how->fast;
    recall_servos(m, &s);
    for (int i = 0; i < MAX_TRIES && count > 0; i++) {
        rb_status status = try_substeps(m, d, h, count, &s, told);
        int more = told->converged ? count : 2 * count;
        if (!told->converged && !s.push) s.guess = NULL;
        if (told->converged)
            more = rb_smooth_energy_substeps(m, d, s.flat ? &s.plane : NULL, &s.energy, count);
        int last = i + 1 == MAX_TRIES || more > MAX_SUBSTEPS;
        if (status == RB_OK && told->converged && (more == count || last)) {
            told->made = s.energy.watched ? s.energy.made : 0.0;
            remember_servos(m, &s);
            return RB_OK;
        }
        restore(m, d, &s);
        if (status != RB_OK || last) return status;
        count = more;
    }
    return RB_OK;
}

/* Free bodies need no tree. Where one of them rotates too fast for that, told->converged is 0 and
 * nothing has moved. */
static rb_status step_free(const rb_model *m, rb_data *d, double h, rb_smooth_info *told)
{
    double *q = rb_push(d->arena, double, m->nq), *v = rb_push(d->arena, double, m->nv);
    if (!q || !v) return RB_NOMEM;
    copy(q, d->q, m->nq);
    copy(v, d->v, m->nv);
    rb_smooth_free_step(m, d, h, told);
    if (told->converged) return RB_OK;
    copy(d->q, q, m->nq);
    copy(d->v, v, m->nv);
    return RB_OK;
}

static rb_status step(const rb_model *m, rb_data *d, double h, const rb_smooth_from *how,
                      rb_smooth_info *info)
{
    RB_ASSERT(h > 0.0);
    rb_smooth_info told = { 0 };
    rb_status status = RB_OK;
    rb_mark mark = rb_arena_mark(d->arena);
    if (rb_smooth_free_takes(m, d)) status = step_free(m, d, h, &told);
    if (status == RB_OK && !told.converged) status = step_tree(m, d, h, how, NULL, &told);
    if (status == RB_OK && told.converged) d->time += h;
    rb_arena_reset(d->arena, mark);
    if (info) *info = told;
    return status;
}

rb_status rb_smooth_step(const rb_model *m, rb_data *d, double h, rb_smooth_info *info)
{
    const rb_smooth_from plain = { .tol = RB_SMOOTH_TOL, .fast = RB_SMOOTH_TOL };
    return step(m, d, h, &plain, info);
}

double rb_smooth_tol(const rb_model *m, double tol)
{
    if (is_long(m)) tol = rb_larger(tol, SMOOTH_TOL_LONG);
    if (m->nu > 0 && (m->neq == 0 || rb_coupling_any(m)))
        tol = rb_larger(tol, RB_SMOOTH_TOL_DRIVEN);
    return tol;
}

rb_status rb_smooth_step_from(const rb_model *m, rb_data *d, double h, const rb_smooth_from *from,
                              rb_smooth_info *info)
{
    rb_smooth_from quick = *from;
    quick.tol = rb_smooth_tol(m, from->tol);
    quick.fast = RB_SMOOTH_TOL_FAST;
    return step(m, d, h, &quick, info);
}

int rb_smooth_memory_push(const rb_model *m, rb_arena *arena, rb_smooth_memory *memory)
{
    *memory = (rb_smooth_memory){ .substeps = 0 };
    memory->dv = rb_push(arena, double, RB_SMOOTH_KEPT *(size_t)m->nv);
    return memory->dv && push_own(m, arena, memory);
}

rb_status rb_smooth_push_step(const rb_model *m, rb_data *d, double h, const double *f,
                              rb_smooth_info *info)
{
    const rb_smooth_from plain = { .tol = RB_SMOOTH_TOL };
    rb_mark mark = rb_arena_mark(d->arena);
    memset(info, 0, sizeof *info);
    rb_status status = step_tree(m, d, h, &plain, f, info);
    rb_arena_reset(d->arena, mark);
    return status;
}
