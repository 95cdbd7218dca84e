/* A single frictional impact (I.1) .. (I.15): the path of the contact velocity over the normal
 * impulse, piece by piece, through compression and restitution. Straight pieces (sticking, rays, no
 * friction) are closed forms, arcs are power series. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/error.h"
#include "contact/impact_path.h"

/* Restitution that ends while the bodies approach again is followed by a further impact at once.
 * Each has less energy than the one before; more than two were never seen. */
#define RB_IMPACT_MAX_ROUNDS 32

const char *rb_impact_phase_name(int phase)
{
    static const char *const names[RB_PHASE_COUNT] = {
        "separating",
        "frictionless-compression",
        "frictionless-restitution",
        "slide-compression",
        "slide-restitution",
        "slip-stop-in-compression",
        "slip-stop-in-restitution",
        "stick-compression",
        "stick-restitution",
        "reslide-compression",
        "reslide-restitution",
    };
    return phase >= 0 && phase < RB_PHASE_COUNT ? names[phase] : "unknown";
}

/* ---- input -------------------------------------------------------------------------------------
 */

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        if (isnan(x[i])) return NAN;
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

/* Share of the largest entry by which K may miss symmetry and positive eigenvalues [1]: files
 * round, and K of a long chain has errors of this size. */
#define RB_IMPACT_K_SLACK 1e-9

static const char *wrong_matrix(const double K[9])
{
    double scale = largest(K, 9), slack = RB_IMPACT_K_SLACK * scale;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) {
            double a = K[4 * i], b = K[4 * j], c = K[3 * i + j];
            if (fabs(c - K[3 * j + i]) > slack) return "K: not symmetric";
            if (a < 0.0 || b < 0.0 || fabs(c) > sqrt(a) * sqrt(b) + slack)
                return "K: has a negative eigenvalue; expected J M^-1 J'";
        }
    return NULL;
}

rb_status rb_impact_check(const rb_impact *in, rb_error *err)
{
    const char *text = NULL;
    if (!(largest(in->K, 9) <= RB_MAX_NUMBER))
        text = "K: expected finite numbers, none larger than 1e30";
    else if (!(largest(in->u, 3) <= RB_MAX_NUMBER))
        text = "u: expected finite numbers, none larger than 1e30";
    else if (!(in->mu >= 0.0 && in->mu <= RB_MAX_NUMBER))
        text = "mu: expected a friction coefficient 0 .. 1e30";
    else if (!(in->e >= 0.0 && in->e <= 1.0))
        text = "e: expected a coefficient of restitution 0 .. 1";
    else if (in->law != RB_POISSON && in->law != RB_NEWTON && in->law != RB_STRONGE)
        text = "law: expected poisson, newton or stronge";
    else
        text = wrong_matrix(in->K);
    if (!text) return RB_OK;
    return rb_fail(err, RB_BAD_INPUT, "%s", text);
}

/* ---- the path ---------------------------------------------------------------------------------
 */

typedef struct path {
    rb_impact_flow flow;
    rb_impact_point at;
    int stuck; /* the slip is zero, or grows along the diverging ray from zero    */
    int dips;  /* restitution was left because z fell through zero                  */
    double stick[2];
    int sticks; /* whether the friction cone can hold the point                   */
    double e;
    rb_restitution_law law;
    rb_impact_result *out;
} path;

static void note(path *p, int phase)
{
    rb_impact_result *out = p->out;
    if (out->nphase < RB_IMPACT_MAX_PHASES) out->phase[out->nphase++] = (unsigned char)phase;
}

static int is_still(const rb_impact_point *at)
{
    return fabs(at->s[0]) <= RB_IMPACT_STILL && fabs(at->s[1]) <= RB_IMPACT_STILL;
}

/* A straight piece that ends at the goal alone. A point that the cone and the joints keep at rest
 * never gets there: in compression only rounding may be missing, in restitution it does not move.
 */
static rb_status finish_straight(path *p, const rb_impact_line *l, const rb_impact_goal *goal)
{
    double dp = rb_impact_distance(l, &p->at, goal);
    double terms = p->flow.k_n + fabs(p->flow.k[0] * l->t[0]) + fabs(p->flow.k[1] * l->t[1]);
    int held = goal->kind != RB_GOAL_IMPULSE && l->z <= RB_IMPACT_HELD * terms && dp > 0.0;
    if (held || !isfinite(dp)) {
        p->out->held = 1;
        return p->at.z >= -RB_IMPACT_HALTED ? RB_OK : RB_SINGULAR;
    }
    rb_impact_advance(l, dp, &p->at);
    return RB_OK;
}

/* From zero slip to the goal: sticking, or along the diverging ray. */
static rb_status go_from_rest(path *p, const rb_impact_goal *goal)
{
    if (p->sticks) {
        rb_impact_line l = rb_impact_sticking(&p->flow, p->stick);
        return finish_straight(p, &l, goal);
    }
    double dir[2], rate = rb_impact_leave(&p->flow, dir);
    rb_impact_line l = rb_impact_sliding(&p->flow, dir, rate);
    return finish_straight(p, &l, goal);
}

/* Puts the path where z has fallen to zero; below it, so that compression has a way to go. */
static void go_below_zero(path *p)
{
    p->dips = 1;
    p->at.z = -RB_EPS;
}

/* Slides along a ray; *stopped: the slip ends before the goal. */
static rb_status go_along_ray(path *p, const double dir[2], double rate, const rb_impact_goal *goal,
                              int *stopped)
{
    rb_impact_line l = rb_impact_sliding(&p->flow, dir, rate);
    double speed = sqrt(p->at.s[0] * p->at.s[0] + p->at.s[1] * p->at.s[1]);
    double to_stop = rate < 0.0 ? speed / -rate : INFINITY;
    double to_goal = rb_impact_distance(&l, &p->at, goal);
    double to_dip = INFINITY;
    if (l.z < 0.0) {
        p->out->jamb = 1;
        if (goal->kind == RB_GOAL_WORK && p->at.z > 0.0) to_dip = p->at.z / -l.z;
    }
    if (to_dip < to_stop && to_dip < to_goal) {
        rb_impact_advance(&l, to_dip, &p->at);
        go_below_zero(p);
        return RB_OK;
    }
    *stopped = to_stop < to_goal;
    if (!*stopped) return finish_straight(p, &l, goal);
    rb_impact_advance(&l, to_stop, &p->at);
    p->at.s[0] = p->at.s[1] = 0.0;
    return RB_OK;
}

/* Slides until the goal, a dip, or until the slip is zero. */
static rb_status slide(path *p, const rb_impact_goal *goal, int *stopped)
{
    *stopped = 0;
    for (;;) {
        double dir[2], rate;
        if (is_still(&p->at)) {
            p->at.s[0] = p->at.s[1] = 0.0;
            *stopped = 1;
            return RB_OK;
        }
        if (rb_impact_on_ray(&p->flow, &p->at, dir, &rate))
            return go_along_ray(p, dir, rate, goal, stopped);
        if (p->out->steps++ >= RB_IMPACT_MAX_STEPS) return RB_UNSOLVED;
        double before = p->at.z;
        *stopped = rb_impact_stop(&p->flow, goal, &p->at);
        rb_impact_end end = *stopped ? RB_ARC_MET : rb_impact_arc(&p->flow, goal, &p->at);
        if (p->at.z < before) p->out->jamb = 1;
        if (end == RB_ARC_DIPS) go_below_zero(p);
        if (end != RB_ARC_GOES_ON) return RB_OK;
    }
}

/* One phase: compression (restitution = 0) or restitution (1) up to its goal. */
static rb_status go(path *p, const rb_impact_goal *goal, int restitution)
{
    if (p->flow.mu == 0.0) {
        rb_impact_line l = { .z = p->flow.k_n, .s = { p->flow.k[0], p->flow.k[1] } };
        note(p, RB_PHASE_FREE_COMPRESSION + restitution);
        return finish_straight(p, &l, goal);
    }
    if (!p->stuck) {
        int stopped;
        rb_status status = slide(p, goal, &stopped);
        if (status != RB_OK) return status;
        note(p, (stopped ? RB_PHASE_STOP_COMPRESSION : RB_PHASE_SLIDE_COMPRESSION) + restitution);
        if (!stopped) return RB_OK;
        p->stuck = 1;
    }
    note(p, (p->sticks ? RB_PHASE_STICK_COMPRESSION : RB_PHASE_RESLIDE_COMPRESSION) + restitution);
    return go_from_rest(p, goal);
}

/* ---- compression and restitution --------------------------------------------------------------
 */

/* What ends an impact that began at z_0 and p_0; W_c is the work of all its compressions (I.8). */
static rb_impact_goal end_of(const path *p, double z_0, double p_0, double W_c)
{
    switch (p->law) {
    case RB_NEWTON:
        return (rb_impact_goal){ RB_GOAL_SPEED, -p->e * z_0 };
    case RB_STRONGE:
        return (rb_impact_goal){ RB_GOAL_WORK, (1.0 - p->e * p->e) * W_c };
    default:
        return (rb_impact_goal){ RB_GOAL_IMPULSE, p->at.p[0] + p->e * (p->at.p[0] - p_0) };
    }
}

static rb_status resolve(path *p)
{
    for (int round = 1; round <= RB_IMPACT_MAX_ROUNDS; round++) {
        double z_0 = p->at.z, p_0 = p->at.p[0], W_0 = p->at.W;
        const rb_impact_goal compressed = { RB_GOAL_SPEED, 0.0 };
        rb_status status = go(p, &compressed, 0);
        if (status != RB_OK) return status;
        p->at.z = 0.0;
        p->out->pn_c = p->at.p[0];
        p->out->W_c += p->at.W - W_0;
        p->out->rounds = round;
        if (p->e == 0.0 || (p->out->held && p->law != RB_POISSON)) return RB_OK;

        rb_impact_goal end = end_of(p, z_0, p_0, p->out->W_c);
        p->dips = 0;
        status = go(p, &end, 1);
        double least = p->out->held ? -RB_IMPACT_HALTED : -10.0 * RB_IMPACT_STILL;
        if (status != RB_OK || (p->at.z >= least && !p->dips)) return status;
    }
    return RB_UNSOLVED;
}

static rb_impact_flow make_flow(const rb_impact *in, double scale)
{
    const double *K = in->K;
    rb_impact_flow f = {
        .k_n = K[0] / scale,
        .k = { 0.5 * (K[1] + K[3]) / scale, 0.5 * (K[2] + K[6]) / scale },
        .A = { K[4] / scale, K[8] / scale, 0.5 * (K[5] + K[7]) / scale },
        .mu = in->mu,
        .with_work = in->law == RB_STRONGE,
    };
    f.rate = fabs(f.k[0]) + fabs(f.k[1]) + f.mu * (fmax(f.A[0], f.A[1]) + fabs(f.A[2]));
    return f;
}

/* Back from scaled units; the velocity after is that of the impulse, not of the path. */
static void unscale(const path *p, const rb_impact *in, double speed, double compliance)
{
    rb_impact_result *out = p->out;
    double impulse = speed / compliance, work = impulse * speed;
    for (int i = 0; i < 3; i++) out->p[i] = impulse * p->at.p[i];
    out->pn_c *= impulse;
    out->W_c = p->flow.with_work ? work * out->W_c : 0.0;
    out->W = p->flow.with_work ? work * p->at.W : 0.0;
    for (int i = 0; i < 3; i++) {
        const double *row = in->K + 3 * i;
        double du = row[0] * out->p[0] + row[1] * out->p[1] + row[2] * out->p[2];
        out->u[i] = in->u[i] + du;
        out->energy += out->p[i] * (in->u[i] + 0.5 * du);
    }
}

rb_status rb_impact_solve(const rb_impact *in, rb_impact_result *out)
{
    memset(out, 0, sizeof *out);
    rb_status status = rb_impact_check(in, NULL);
    if (status != RB_OK) return status;

    path p = { .e = in->e, .law = in->law, .out = out };
    double speed = largest(in->u, 3), compliance = largest(in->K, 9);
    if (in->u[0] >= 0.0) {
        note(&p, RB_PHASE_SEPARATING);
        memcpy(out->u, in->u, sizeof out->u);
        out->rounds = 1;
        return RB_OK;
    }
    if (in->K[0] <= 0.0) return RB_SINGULAR;

    p.flow = make_flow(in, compliance);
    p.at = (rb_impact_point){ .z = in->u[0] / speed, .s = { in->u[1] / speed, in->u[2] / speed } };
    p.sticks = rb_impact_stick(&p.flow, p.stick);
    p.stuck = is_still(&p.at);
    status = resolve(&p);
    if (status == RB_OK) unscale(&p, in, speed, compliance);
    return status;
}
