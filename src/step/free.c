/* Smooth motion: where the step would lead without contact, by the implicit midpoint (S.1). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/forward.h"
#include "dynamics/smooth_free.h"
#include "dynamics/smooth_push.h"
#include "math/vec3.h"
#include "step/stage.h"

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

/* The last slope of dof j, and the differences of all that are kept. */
static void differences(const rb_data *d, int j, double D[RB_SLOPES])
{
    for (int i = 0; i < RB_SLOPES; i++) D[i] = d->slope[i * d->nv + j];
    for (int r = 1; r < RB_SLOPES; r++) {
        for (int i = RB_SLOPES - 1; i >= r; i--) D[i] = D[i - 1] - D[i];
    }
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

/* How many of the n that are known lead on: two, and more while they shrink. size: their maxima. */
static int count_terms(const rb_data *d, int n, double size[RB_SLOPES])
{
    double D[RB_SLOPES];
    int count = n < 2 ? n : 2;
    for (int r = 0; r < RB_SLOPES; r++) size[r] = 0.0;
    for (int j = 0; j < d->nv; j++) {
        differences(d, j, D);
        for (int r = 0; r < RB_SLOPES; r++) size[r] = larger(size[r], fabs(D[r]));
    }
    while (count < n && size[count] <= RB_SLOPE_SHRINK * size[count - 1]) count++;
    return count;
}

/* Change of the velocity that the slopes of the last parts of the same length lead to (S.51), or
 * that of the last one. NULL: not known, or so large that the state is another one, unless two
 * slopes agree: what stands falls from no speed in every step anew. */
static const double *foretell(rb_stage *s, double *most, double *speed)
{
    const rb_data *d = s->d;
    int nv = s->m->nv, n = slopes_known(s);
    *most = *speed = 0.0;
    if (s->o->stepper != RB_STEPPER_FIXED || d->slope_h[0] == 0.0 || d->slope_time != s->time0)
        return NULL;
    double *dv = rb_push(d->arena, double, nv), size[RB_SLOPES], D[RB_SLOPES];
    if (!dv) return NULL;
    int count = count_terms(d, n, size);
    for (int j = 0; j < nv; j++) {
        differences(d, j, D);
        double sum = D[0];
        for (int r = 1; r < count; r++) sum += D[r];
        dv[j] = s->h * sum;
        *most = larger(*most, fabs(dv[j]));
        *speed = larger(*speed, fabs(s->v0[j]));
    }
    int agree = n > 1 && s->h * size[1] <= RB_SLOPE_BEND * *most;
    return agree || *most <= RB_SLOPE_MOST * *speed ? dv : NULL;
}

void rb_stage_keep_slope(rb_stage *s)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    if (s->o->stepper != RB_STEPPER_FIXED || rb_smooth_free_takes(m, d)) return;
    for (int j = 0; j < m->nv; j++) {
        int rests = s->resting[m->link_tree[m->dof_link[j]]];
        double dv = s->closing_dv ? s->closing_dv[j] : s->v_smooth[j] - s->v0[j];
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
    s->made_free = s->made = made;
    s->rough = rough;
    copy(s->q_free, d->q, m->nq);
    copy(s->v_free, d->v, m->nv);
    copy(s->v_smooth, d->v, m->nv);
    copy(s->act_free, d->act, m->na);
    rb_stage_restore(s);
}

/* Moves d from the change dv of the velocity; NULL: none. */
static rb_status move_data(rb_stage *s, const double *dv, double tol, double *made)
{
    rb_smooth_info smooth = { 0 };

    /* joints on mocap bodies: forces at the middle of the step */
    rb_stage_led_pose(s, 0.5 * s->h);
    rb_status status = rb_smooth_step_from(s->m, s->d, s->h, dv, tol, &smooth);
    rb_stage_led_pose(s, 0.0);
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
    rb_status status = move_data(s, dv, tol, &made);
    if (status == RB_OK) take_motion(s, made, 0);
    return status;
}

rb_status rb_stage_motion_from(rb_stage *s, const double *v, const double *dv)
{
    double most, speed;
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!dv) dv = foretell(s, &most, &speed);
    copy(s->d->v, v, s->m->nv);
    rb_status status = move_data(s, dv, RB_SMOOTH_TOL, &s->made_free);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

void rb_stage_take_motion(rb_stage *s, double made)
{
    take_motion(s, made, 0);
}

/* pushed: contacts are expected, whose impulses the rule does not know. What that leaves out is far
 * above (S.58); what is about to rest, however, rests by the last digits. */
static rb_status free_motion(rb_stage *s, int pushed)
{
    rb_mark mark = rb_arena_mark(s->d->arena);
    double most, speed, tol = RB_SMOOTH_TOL;
    const double *dv = foretell(s, &most, &speed);
    if (pushed && dv && speed > 0.0) tol = fmax(tol, RB_PUSHED_TOL * speed / (speed + most));
    rb_status status = move_from(s, dv, tol);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

rb_status rb_stage_free_motion(rb_stage *s)
{
    return free_motion(s, 0);
}

rb_status rb_stage_sharpen_motion(rb_stage *s)
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
    return !(s->h * sum <= RB_CARRY_TURN) || m->nmocap > 0;
}

/* And is a chain with a link that turns fast enough to be carried. spin: the fastest of all. */
static int all_turn(rb_stage *s, double *spin)
{
    const rb_model *m = s->m;
    int missing = m->ntree;
    rb_forward_place(m, s->d);
    for (int k = 1; k < m->nlink; k++) {
        int tree = m->link_tree[k];
        double w = rb_norm3(s->d->link_w + 3 * (ptrdiff_t)k);
        if (!(w <= *spin)) *spin = w; /* NaN too */
        if (tree < 0 || !s->pushed[tree] || s->h * w <= RB_CARRY_TURN) continue;
        if (m->link_tree[m->link_parent[k]] != tree) continue;
        s->pushed[tree] = 0;
        missing--;
    }
    return missing == 0;
}

rb_status rb_stage_likely_motion(rb_stage *s)
{
    int may = s->m->nmocap == 0 && s->o->scheme == RB_SCHEME_MIDPOINT && !s->o->formulation->ahead;
    int pushed = may && all_pushed_before(s);
    double spin = 0.0, most, speed;
    int likely = pushed && rb_stage_may_turn(s, s->d->v);
    if (!likely || !all_turn(s, &spin)) return free_motion(s, pushed);
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_smooth_push none = { .h = s->h, .tol = RB_CARRY_ROUGH, .rough = 1, .spin = spin };
    none.dv = foretell(s, &most, &speed);
    rb_smooth_info smooth;
    rb_status status = rb_smooth_push_step(s->m, s->d, &none, &smooth);
    rb_arena_reset(s->d->arena, mark);
    if (status != RB_OK || !smooth.converged) {
        rb_stage_restore(s);
        return rb_stage_free_motion(s);
    }
    take_motion(s, 0.0, 1);
    return RB_OK;
}
