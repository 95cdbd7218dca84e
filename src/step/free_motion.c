/* Smooth motion: where the step would lead without contact, by the implicit midpoint rule (S.1). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/actuation.h"
#include "dynamics/placed.h"
#include "dynamics/smooth_free.h"
#include "dynamics/smooth_push.h"
#include "math/vec3.h"
#include "step/stage.h"

/* Largest change of the velocity in a step that is extrapolated from the steps before, relative to
 * the largest velocity [1]. Larger: a state that was set by hand begins far from its motion.
 * Smaller: chains that crack begin at zero. */
#define SLOPE_MOST 0.5

/* Largest ratio of each further difference of the slopes of past steps to the one before it, for
 * extrapolation [1]. Larger: after a push, earlier slopes are extrapolated. Smaller: fewer of them
 * are used, and chains take an evaluation more. */
#define SLOPE_SHRINK 0.5

/* Change of the slopes of two steps, relative to the slope, up to which they are used without
 * that bound [1]. Larger: a state that was set by hand begins far from its motion. Smaller: robots
 * that do not move begin at zero. */
#define SLOPE_BEND 0.1

/* Tolerance of the midpoint rule where contacts pushed every tree in the step before, relative to
 * the velocity at its start [1]: impulses, which the rule does not know there, change its terms by
 * up to RB_MIDPOINT_TURN. Larger: contacts feel the iteration. Smaller: needless evaluations. */
#define PUSHED_TOL 1e-9

/* RB_IMPULSE_ROUGH where actuators drive the model and accuracy is not strict: extrapolation from
 * the steps before is good enough to begin the iterations with [1]. */
#define IMPULSE_ROUGH_DRIVEN 1e-2

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- where the iteration begins ----------------------------------------------------------------
 */

/* What the steps before lead to. */
typedef struct prediction {
    const double *dv; /* change of the velocity; NULL: not known                          (nv)    */
    double most;      /* of it, and of the velocity at the start [m/s, rad/s]                     */
    double speed;
    double last; /* the last term of dv [m/s, rad/s]                                              */
} prediction;

/* Slopes of the last parts with the length of this one; at least the last counts. */
static int slopes_known(const rb_stage *s)
{
    int n = 0;
    while (n < RB_SLOPES && s->d->slope_h[n] == s->h) n++;
    return n > 0 ? n : 1;
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

static double size_of(const double *x, int n)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) most = larger(most, fabs(x[j]));
    return most;
}

/* sum := the last slope and its differences: two of the n that are known, and more while they
 * shrink; D has the slopes, the last one first, and is used up. change: of the last two slopes;
 * last: the last term. */
static void extrapolate(double *D, int nv, int n, double *sum, double *change, double *last)
{
    memcpy(sum, D, (size_t)nv * sizeof *sum);
    *last = size_of(D, nv);
    *change = 0.0;
    for (int r = 1; r < n; r++) {
        for (int k = 0; k < (n - r) * nv; k++) D[k] -= D[k + nv];
        double now = size_of(D, nv);
        if (r == 1) *change = now;
        if (r > 1 && now > SLOPE_SHRINK * *last) return;
        for (int j = 0; j < nv; j++) sum[j] += D[j];
        *last = now;
    }
}

/* Change of the velocity that the slopes of the last parts of the same length lead to (S.2), or
 * that of the last one. Not where it is so large that the state is another one, unless two slopes
 * agree: a body at rest falls from no speed in every step anew. */
static prediction predict(rb_stage *s)
{
    const rb_data *d = s->d;
    int nv = s->m->nv, n = slopes_known(s);
    prediction x = { .dv = NULL };
    if (s->o->stepper != RB_STEPPER_FIXED || d->slope_h[0] == 0.0 || d->slope_time != s->time0)
        return x;
    double *dv = rb_push(d->arena, double, nv), change, last;
    double *D = rb_push(d->arena, double, (size_t)n *(size_t)nv);
    if (!dv || !D) return x;
    copy(D, d->slope, n * nv);
    extrapolate(D, nv, n, dv, &change, &last);
    for (int j = 0; j < nv; j++) dv[j] *= s->h;
    x.most = size_of(dv, nv);
    x.speed = size_of(s->v0, nv);
    x.last = s->h * last;
    int agree = n > 1 && s->h * change <= SLOPE_BEND * x.most;
    if (agree || x.most <= SLOPE_MOST * x.speed) x.dv = dv;
    return x;
}

void rb_stage_keep_slope(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    if (s->o->stepper != RB_STEPPER_FIXED || rb_smooth_free_takes(m, d)) return;
    for (int j = 0; j < m->nv; j++) {
        int rests = s->resting[m->link_tree[m->dof_link[j]]];
        double dv = s->closing_dv ? s->closing_dv[j] : s->v_next[j] - s->v0[j];
        double *slope = d->slope + j;
        for (int i = RB_SLOPES - 1; i > 0; i--)
            slope[i * m->nv] = rests ? 0.0 : slope[(i - 1) * m->nv];
        slope[0] = rests ? 0.0 : dv / s->h;
    }
    for (int i = RB_SLOPES - 1; i > 0; i--) d->slope_h[i] = d->slope_h[i - 1];
    d->slope_h[0] = s->h;
    d->slope_time = d->time;
}

/* ---- the motion --------------------------------------------------------------------------------
 */

/* What d has become, and back to the start. */
static void take_motion(rb_stage *s, double made, int rough)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    s->energy_made_free = s->energy_made = made;
    s->rough = rough;
    copy(s->q_free, d->q, m->nq);
    copy(s->v_free, d->v, m->nv);
    copy(s->v_smooth, d->v, m->nv);
    copy(s->v_next, d->v, m->nv);
    copy(s->act_free, d->act, m->na);
    rb_stage_restore(s);
}

/* Moves d from the change dv of the velocity; NULL: none. */
static rb_status move_data(rb_stage *s, const double *dv, const double *A, double tol, double *made)
{
    rb_smooth_info smooth = { 0 };

    /* joints on mocap bodies: forces at the middle of the step */
    rb_stage_kinematic_pose(s, 0.5 * s->h);
    rb_status status = rb_smooth_step_from(s->m, s->d, s->h, dv, A, tol, &smooth);
    rb_stage_kinematic_pose(s, 0.0);
    *made = smooth.made;
    if (status != RB_OK)
        return rb_fail(s->err, status, "smooth motion: %s", rb_status_text(status));
    if (!smooth.converged)
        return rb_fail(s->err, RB_UNSOLVED,
                       "the midpoint rule does not converge: shorten the step");
    return RB_OK;
}

static rb_status move_from(rb_stage *s, const double *dv, double tol)
{
    double made;
    rb_status status = move_data(s, dv, NULL, tol, &made);
    if (status == RB_OK) take_motion(s, made, 0);
    return status;
}

rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, const double *A,
                               double tol)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!dv) dv = predict(s).dv;
    copy(s->d->v, v, s->m->nv);
    rb_status status = move_data(s, dv, A, tol, &s->energy_made_free);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

void rb_stage_take_motion(rb_stage *s, double made)
{
    take_motion(s, made, 0);
}

/* pushed: contacts are expected, whose impulses the rule does not know. What that leaves out is far
 * above (S.3); what is about to rest, however, rests by the last digits. */
static rb_status free_motion(rb_stage *s, int pushed)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double tol = RB_SMOOTH_TOL;
    prediction x = predict(s);
    if (pushed && x.dv && x.speed > 0.0) tol = fmax(tol, PUSHED_TOL * x.speed / (x.speed + x.most));
    rb_status status = move_from(s, x.dv, tol);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

rb_status rb_stage_free_motion(rb_stage *s)
{
    return free_motion(s, 0);
}

rb_status rb_stage_refine_motion(rb_stage *s)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *dv = rb_push(s->d->arena, double, s->m->nv);
    if (!dv) return RB_NOMEM;
    for (int j = 0; j < s->m->nv; j++) dv[j] = s->v_smooth[j] - s->v0[j];
    rb_status status = move_from(s, dv, RB_SMOOTH_TOL);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

/* ---- where contact goes on ---------------------------------------------------------------------
 */

static int tree_of_geom(const rb_model *m, int geom)
{
    return m->link_tree[m->body_link[m->geom_body[geom]]];
}

/* Every tree was pushed by a contact in the step before: marks in pushed. */
static int all_pushed_before(rb_stage *s)
{
    const rb_model *m = s->m;
    int missing = m->ntree;
    memset(s->pushed, 0, (size_t)m->ntree);
    for (int i = 0; i < s->d->ntouch && missing > 0; i++) {
        const rb_touch *touch = &s->d->touch[i];
        if (touch->id.kind != RB_CONSTRAINT_CONTACT || touch->p[0] == 0.0) continue;
        int trees[2] = { tree_of_geom(m, touch->id.a), tree_of_geom(m, touch->id.b) };
        for (int k = 0; k < 2; k++) {
            if (trees[k] < 0 || s->pushed[trees[k]]) continue;
            s->pushed[trees[k]] = 1;
            missing--;
        }
    }
    return missing == 0;
}

int rb_stage_may_turn(const rb_stage *s, const double *v)
{
    const rb_model *m = s->m;
    double sum = 0.0;
    for (int j = 0; j < m->njnt; j++) {
        int type = m->jnt_type[j], first = m->jnt_dofadr[j];
        int skip = type == RB_JOINT_FREE ? 3 : 0, count = type == RB_JOINT_HINGE ? 1 : 3;
        if (type == RB_JOINT_SLIDE) continue;
        for (int k = 0; k < count; k++) sum += fabs(v[first + skip + k]);
    }
    return !(s->h * sum <= RB_MIDPOINT_TURN) || m->nmocap > 0;
}

/* The tree is also a chain with a link that turns fast enough for the midpoint rule: rates are
 * summed from joint to joint, which is right where hinges are parallel and a guess elsewhere. sum:
 * scratch (nlink) */
static int all_may_turn(rb_stage *s, double *sum)
{
    const rb_model *m = s->m;
    int missing = m->ntree;
    sum[0] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        int tree = m->link_tree[k], above = m->link_parent[k];
        sum[k] = sum[above];
        for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
            const double *v = s->v0 + m->jnt_dofadr[j];
            int type = m->jnt_type[j];
            if (type == RB_JOINT_HINGE) sum[k] += v[0];
            if (type == RB_JOINT_BALL || type == RB_JOINT_FREE)
                sum[k] += rb_norm3(type == RB_JOINT_FREE ? v + 3 : v);
        }
        if (tree < 0 || !s->pushed[tree] || s->h * fabs(sum[k]) <= RB_MIDPOINT_TURN) continue;
        if (m->link_tree[above] != tree) continue;
        s->pushed[tree] = 0;
        missing--;
    }
    return missing == 0;
}

static int is_likely_by_midpoint(rb_stage *s)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *sum = rb_push(s->d->arena, double, s->m->nlink);
    int likely = sum && rb_stage_may_turn(s, s->v0) && all_may_turn(s, sum);
    rb_arena_reset(s->d->arena, mark);
    return likely;
}

/* d goes where the steps before lead: turns (S.53) take what is missing. */
static void follow(rb_stage *s, const double *dv)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    for (int j = 0; j < m->nv; j++) d->v[j] = s->v0[j] + 0.5 * dv[j];
    rb_integrate(m, s->q0, d->v, s->h, d->q);
    rb_activation_step(m, d, s->h, s->act_free);
    copy(d->act, s->act_free, m->na);
    for (int j = 0; j < m->nv; j++) d->v[j] = s->v0[j] + dv[j];
}

/* The same by the rule, to a few digits. 0: it does not converge. */
static int move_roughly(rb_stage *s, const double *dv)
{
    const rb_model *m = s->m;
    rb_smooth_push none = { .h = s->h, .dv = dv, .tol = RB_IMPULSE_ROUGH, .rough = 1 };
    rb_smooth_info smooth;
    rb_placed_links(m, s->d);
    for (int k = 1; k < m->nlink; k++) {
        double w = rb_norm3(s->d->link_w + 3 * (ptrdiff_t)k);
        if (!(w <= none.spin)) none.spin = w; /* NaN too */
    }
    return rb_smooth_push_step(m, s->d, &none, &smooth) == RB_OK && smooth.converged;
}

rb_status rb_stage_rough_motion(rb_stage *s)
{
    int may = s->m->nmocap == 0 && s->o->scheme == RB_SCHEME_MIDPOINT && !s->o->formulation->ahead;
    int pushed = may && all_pushed_before(s), found = 1;
    if (!pushed || !is_likely_by_midpoint(s)) return free_motion(s, pushed);
    rb_mark mark = rb_arena_mark(s->d->arena);
    prediction x = predict(s);
    double rough = rb_stage_is_driven(s) ? IMPULSE_ROUGH_DRIVEN : RB_IMPULSE_ROUGH;
    if (x.dv && x.last <= rough * x.speed)
        follow(s, x.dv);
    else
        found = move_roughly(s, x.dv);
    rb_arena_reset(s->d->arena, mark);
    if (found) {
        take_motion(s, 0.0, 1);
        return RB_OK;
    }
    rb_stage_restore(s);
    return rb_stage_free_motion(s);
}
