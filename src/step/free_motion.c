/* Smooth motion: where the step would lead without contact, by the implicit midpoint rule (S.50).
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/smooth_free.h"
#include "dynamics/smooth_push.h"
#include "math/vec3.h"
#include "step/motion.h"

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

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* ---- where the iteration begins ----------------------------------------------------------------
 */

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
 * shrink; D has the slopes, the last one first, and is used up. Returns the change of the last two
 * slopes. */
static double extrapolate(double *D, int nv, int n, double *sum)
{
    double change = 0.0, last = size_of(D, nv);
    memcpy(sum, D, (size_t)nv * sizeof *sum);
    for (int r = 1; r < n; r++) {
        for (int k = 0; k < (n - r) * nv; k++) D[k] -= D[k + nv];
        double now = size_of(D, nv);
        if (r == 1) change = now;
        if (r > 1 && now > SLOPE_SHRINK * last) break;
        for (int j = 0; j < nv; j++) sum[j] += D[j];
        last = now;
    }
    return change;
}

/* Change of the velocity that the slopes of the last parts of the same length lead to (S.26), or
 * that of the last one (nv). NULL where it is so large that the state is another one, unless two
 * slopes agree: a body at rest falls from no speed in every step anew. */
static const double *predict(rb_stage *s)
{
    const rb_data *d = s->d;
    int nv = s->m->nv, n = slopes_known(s);
    if (s->o->stepper != RB_STEPPER_FIXED || d->slope_h[0] == 0.0 || d->slope_time != s->start.time)
        return NULL;
    double *dv = rb_push(d->arena, double, nv);
    double *D = rb_push(d->arena, double, (size_t)n *(size_t)nv);
    if (!dv || !D) return NULL;
    copy(D, d->slope, n * nv);
    double change = s->h * extrapolate(D, nv, n, dv);
    for (int j = 0; j < nv; j++) dv[j] *= s->h;
    double most = size_of(dv, nv);
    int agree = n > 1 && change <= SLOPE_BEND * most;
    return agree || most <= SLOPE_MOST * size_of(s->start.v, nv) ? dv : NULL;
}

void rb_stage_keep_slope(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    if (s->o->stepper != RB_STEPPER_FIXED || rb_smooth_free_takes(m, d)) return;
    for (int j = 0; j < m->nv; j++) {
        int rests = s->answer.resting[m->link_tree[m->dof_link[j]]];
        double dv = s->smooth.v_next[j] - s->start.v[j];
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
static void take_motion(rb_stage *s, double made)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    s->smooth.made = made;
    copy(s->smooth.q, d->q, m->nq);
    copy(s->smooth.v, d->v, m->nv);
    copy(s->smooth.v_next, d->v, m->nv);
    copy(s->answer.act, d->act, m->na);
    rb_stage_restore(s);
}

/* Moves d from the change dv of the velocity; NULL: none. */
static rb_status move_data(rb_stage *s, const double *dv, const double *A, double tol, double *made)
{
    rb_smooth_info smooth = { 0 };

    /* joints on mocap bodies: forces at the middle of the step */
    rb_stage_kinematic_pose(s, 0.5 * s->h);
    rb_smooth_from from = { .dv = dv, .tol = tol, .memory = s->smooth.memory, .A = A };
    rb_status status = rb_smooth_step_from(s->m, s->d, s->h, &from, &smooth);
    s->smooth.left = smooth.change;
    rb_stage_kinematic_pose(s, 0.0);
    *made = smooth.made;
    if (status != RB_OK)
        return rb_fail(s->err, status, "smooth motion: %s", rb_status_text(status));
    if (!smooth.converged)
        return rb_fail(s->err, RB_UNSOLVED,
                       "the midpoint rule does not converge: shorten the step");
    return RB_OK;
}

rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv, const double *A,
                               double tol)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!dv) dv = predict(s);
    copy(s->d->v, v, s->m->nv);
    rb_status status = move_data(s, dv, A, tol, &s->smooth.made);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

rb_status rb_stage_free_motion(rb_stage *s)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double made;
    rb_status status = move_data(s, predict(s), NULL, RB_SMOOTH_TOL, &made);
    if (status == RB_OK) take_motion(s, made);
    rb_arena_reset(s->d->arena, mark);
    return status;
}
