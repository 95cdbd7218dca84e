/* How links move between events (B.5): a parabola and a free top in closed form, constant
 * velocities of kinematic bodies, the midpoint rule for mechanisms and bodies with springs,
 * dampers or servos. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "events/impulse.h"
#include "step/motion.h"

/* ---- who flies how -----------------------------------------------------------------------------
 */

static int is_zero(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (x[i] != 0.0) return 0;
    return 1;
}

/* An actuator or a tendon that may act on the link; what is not on a joint may act anywhere. */
static int is_actuated(const rb_model *m, int link)
{
    for (int i = 0; i < m->nu; i++) {
        int joint = m->act_transmission[i] == RB_TRN_JOINT;
        if (!joint || m->jnt_link[m->act_target[i]] == link) return 1;
    }
    for (int i = 0; i < m->nwrap; i++)
        if (m->jnt_link[m->wrap_jnt[i]] == link) return 1;
    for (int i = 0; i < m->npath; i++)
        if (m->path[i].link == link) return 1;
    return m->ngauge > 0 || m->npoly > 0 || m->fluid || m->nsticky > 0;
}

/* A body alone on a free joint that nothing but its weight acts on. */
static int is_free(const rb_model *m, const rb_data *d, int link)
{
    int j = m->link_jntadr[link], dof = m->link_dofadr[link];
    if (m->link_jntnum[link] != 1 || m->jnt_type[j] != RB_JOINT_FREE) return 0;
    if (m->link_parent[link] != 0) return 0;
    if (m->jnt_stiffness[j] != 0.0 || !is_zero(m->dof_damping + dof, 6)) return 0;
    if (!is_zero(m->dof_armature + dof, 6) || !is_zero(m->dof_frictionloss + dof, 6)) return 0;
    if (!is_zero(d->tau + dof, 6) || m->jnt_limited[j]) return 0;
    return !is_actuated(m, link);
}

/* Links with children, wrenches or gravity compensation do not fly alone. */
static void ground(rb_events *x)
{
    const rb_model *m = x->s->m;
    for (int k = 1; k < m->nlink; k++) {
        rb_flyer *parent = &x->flyer[m->link_parent[k]];
        if (parent->kind == RB_FLYER_FREE) parent->kind = RB_FLYER_DRIVEN;
    }
    for (int b = 1; b < m->nbody; b++) {
        rb_flyer *f = &x->flyer[m->body_link[b]];
        int pushed = m->body_gravcomp[b] != 0.0 || !is_zero(x->s->d->wrench + 6 * (ptrdiff_t)b, 6);
        if (f->kind == RB_FLYER_FREE && pushed) f->kind = RB_FLYER_DRIVEN;
    }
}

/* ---- free bodies and rb_data -------------------------------------------------------------------
 */

/* The state of rb_data at time t becomes that of the flyer. */
static void read_free(rb_events *x, int link, double t)
{
    const rb_model *m = x->s->m;
    const double *q = x->s->d->q + m->jnt_qadr[m->link_jntadr[link]];
    const double *v = x->s->d->v + m->link_dofadr[link];
    rb_flyer *f = &x->flyer[link];
    double r[3], w[3], turn[3];
    f->t = t;
    memcpy(f->q, q + 3, sizeof f->q);
    rb_quat_normalize(f->q);
    rb_copy3(v + 3, f->w);
    rb_quat_rotate(f->q, f->com, r);
    rb_quat_rotate(f->q, f->w, w);
    rb_cross3(w, r, turn);
    rb_add3(q, r, f->c);
    rb_add3(v, turn, f->v);
    f->spin = rb_top_spin(&f->top, f->w);
    f->bend = rb_top_bend(&f->top, f->w);
    f->now = NAN;
}

static void write_free(const rb_events *x, int link)
{
    const rb_model *m = x->s->m;
    double *q = x->s->d->q + m->jnt_qadr[m->link_jntadr[link]];
    double *v = x->s->d->v + m->link_dofadr[link], r[3], turn[3];
    const rb_flyer *f = &x->flyer[link];
    rb_rot(f->R, f->com, r);
    rb_cross3(f->w_world, r, turn);
    rb_sub3(f->x, r, q);
    memcpy(q + 3, f->q_now, sizeof f->q_now);
    rb_sub3(f->u, turn, v);
    rb_copy3(f->w_now, v + 3);
}

/* ---- driven links ---------------------------------------------------------------------------- */

/* rb_data has driven links at time t, kinematics and velocities included. */
rb_status rb_impulse_drive(rb_events *x, double t)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    if (x->q_now == t) return RB_OK;
    memcpy(d->q, x->q, (size_t)s->m->nq * sizeof *d->q);
    memcpy(d->v, x->v, (size_t)s->m->nv * sizeof *d->v);
    memcpy(d->act, x->act, (size_t)s->m->na * sizeof *d->act);
    d->time = s->start.time + x->q_t;
    if (t > x->q_t) {
        rb_stage_kinematic_pose(s, 0.5 * (x->q_t + t));
        rb_status status = rb_driven_fly(x, t - x->q_t);
        if (status != RB_OK) return status;
    }
    rb_stage_kinematic_pose(s, t);
    rb_kinematics(s->m, d);
    rb_velocity(s->m, d);
    x->q_now = t;
    return RB_OK;
}

static void go_driven(rb_events *x, int link)
{
    const rb_data *d = x->s->d;
    rb_flyer *f = &x->flyer[link];
    double turn[3];
    memcpy(f->R, d->link_R + 9 * (ptrdiff_t)link, sizeof f->R);
    rb_add3(d->link_p + 3 * (ptrdiff_t)link, d->link_c + 3 * (ptrdiff_t)link, f->x);
    rb_copy3(d->link_w + 3 * (ptrdiff_t)link, f->w_world);
    rb_cross3(f->w_world, d->link_c + 3 * (ptrdiff_t)link, turn);
    rb_add3(d->link_v + 3 * (ptrdiff_t)link, turn, f->u);
    f->spin = rb_norm3(f->w_world);
}

/* ---- motion ------------------------------------------------------------------------------------
 */

static void go_kinematic(rb_flyer *f, double t)
{
    double r[3], turn[4];
    for (int i = 0; i < 3; i++) f->x[i] = f->c[i] + t * f->v[i];
    rb_scale3(t, f->w, r);
    rb_quat_exp(r, turn);
    rb_quat_mul(turn, f->q, f->q_now);
    rb_quat_normalize(f->q_now);
    rb_quat_to_rot(f->q_now, f->R);
    rb_copy3(f->v, f->u);
    rb_copy3(f->w, f->w_world);
}

static void go_free(rb_flyer *f, double t)
{
    double s = t - f->t;
    for (int i = 0; i < 3; i++) {
        f->x[i] = f->c[i] + s * (f->v[i] + 0.5 * s * f->a[i]);
        f->u[i] = f->v[i] + s * f->a[i];
    }
    memcpy(f->q_now, f->q, sizeof f->q);
    rb_copy3(f->w, f->w_now);
    rb_top_turn(&f->top, s, f->q_now, f->w_now);
    rb_quat_to_rot(f->q_now, f->R);
    rb_rot(f->R, f->w_now, f->w_world);
}

/* Fills what belongs to the time t. */
rb_status rb_flyer_go(rb_events *x, int link, double t)
{
    rb_flyer *f = &x->flyer[link];
    if (f->now == t || f->kind == RB_FLYER_FIXED) return RB_OK;
    if (f->kind == RB_FLYER_DRIVEN) {
        rb_status status = rb_impulse_drive(x, t);
        if (status != RB_OK) return status;
        go_driven(x, link);
    } else if (f->kind == RB_FLYER_KINEMATIC) {
        go_kinematic(f, t);
    } else {
        go_free(f, t);
    }
    f->now = t;
    return RB_OK;
}

/* Velocity of the material point at `at`. */
void rb_flyer_point(const rb_flyer *f, const double at[3], double v[3])
{
    double r[3];
    rb_sub3(at, f->x, r);
    rb_cross3(f->w_world, r, v);
    rb_add3(v, f->u, v);
}

/* A free body goes on from where it is now with the velocity v of its centre of mass and the
 * angular velocity w, world axes. */
void rb_flyer_kick(rb_events *x, int link, const double v[3], const double w[3])
{
    rb_flyer *f = &x->flyer[link];
    f->t = f->now;
    rb_copy3(f->x, f->c);
    rb_copy3(v, f->v);
    rb_copy3(v, f->u);
    memcpy(f->q, f->q_now, sizeof f->q);
    rb_rot_t(f->R, w, f->w);
    rb_copy3(f->w, f->w_now);
    rb_copy3(w, f->w_world);
    f->spin = rb_top_spin(&f->top, f->w);
    f->bend = rb_top_bend(&f->top, f->w);
    f->moved = x->event;
}

/* Acceleration of the dofs of a free body where it is now: of its origin, world axes, and of its
 * angular velocity, axes of the body. */
void rb_flyer_rate(const rb_events *x, int link, double *accel)
{
    const rb_flyer *f = &x->flyer[link];
    double alpha[3], r[3], turn[3], swing[3];
    rb_top_rate(&f->top, f->w_now, accel + 3);
    rb_rot(f->R, accel + 3, alpha);
    rb_rot(f->R, f->com, r);
    rb_cross3(f->w_world, r, turn);
    rb_cross3(f->w_world, turn, turn);
    rb_cross3(alpha, r, swing);
    for (int i = 0; i < 3; i++) accel[i] = f->a[i] - turn[i] - swing[i];
}

/* q and v of rb_data are those of the link at time t. */
rb_status rb_impulse_sync(rb_events *x, int link, double t)
{
    rb_status status = rb_flyer_go(x, link, t);
    if (status == RB_OK && x->flyer[link].kind == RB_FLYER_FREE) write_free(x, link);
    return status;
}

/* The link goes on at time t with the velocities v of its dofs; rb_data holds its q. All that is
 * driven starts anew where it is. */
void rb_impulse_take(rb_events *x, int link, double t, const double *v)
{
    const rb_model *m = x->s->m;
    rb_flyer *f = &x->flyer[link];
    int dof = m->link_dofadr[link];
    if (f->kind == RB_FLYER_FREE) {
        double w[3], r[3], turn[3], u[3];
        rb_rot(f->R, v + dof + 3, w);
        rb_rot(f->R, f->com, r);
        rb_cross3(w, r, turn);
        rb_add3(v + dof, turn, u);
        rb_flyer_kick(x, link, u, w);
        return;
    }
    f->moved = x->event;
    f->now = NAN;
    if (x->q_t != t) {
        memcpy(x->q, x->s->d->q, (size_t)m->nq * sizeof *x->q);
        memcpy(x->v, x->v_minus, (size_t)m->nv * sizeof *x->v);
        memcpy(x->act, x->s->d->act, (size_t)m->na * sizeof *x->act);
        x->q_t = t;
    }
    memcpy(x->v + dof, v + dof, (size_t)m->link_dofnum[link] * sizeof *x->v);
    x->q_now = NAN;
}

/* ---- the start ---------------------------------------------------------------------------------
 */

static rb_status refuse_top(const rb_events *x, int link)
{
    char name[64];
    const rb_model *m = x->s->m;
    return rb_fail(x->s->err, RB_SINGULAR, "body %s: its inertia must be positive to fly",
                   rb_model_name(m, RB_KIND_BODY, m->link_body[link], name, sizeof name));
}

static rb_status start_free(rb_events *x, int link)
{
    const rb_model *m = x->s->m;
    rb_flyer *f = &x->flyer[link];
    if (!(m->link_mass[link] > 0.0)) return refuse_top(x, link);
    if (!rb_top_make(m->link_inertia + 6 * (ptrdiff_t)link, &f->top)) return refuse_top(x, link);
    f->im = 1.0 / m->link_mass[link];
    rb_copy3(m->link_com + 3 * (ptrdiff_t)link, f->com);
    rb_copy3(m->option.gravity, f->a);
    read_free(x, link, 0.0);
    return RB_OK;
}

static void start_kinematic(rb_events *x, int link)
{
    const rb_model *m = x->s->m;
    rb_flyer *f = &x->flyer[link];
    int mocap = m->body_mocap[m->link_body[link]];
    const double *pose = x->s->start.mocap + 7 * (ptrdiff_t)mocap;
    const double *v = x->s->d->mocap_v + 6 * (ptrdiff_t)mocap;
    rb_copy3(pose, f->c);
    memcpy(f->q, pose + 3, sizeof f->q);
    rb_quat_normalize(f->q);
    rb_copy3(v, f->v);
    rb_copy3(v + 3, f->w);
    f->spin = rb_norm3(f->w);
}

static int kind_of(const rb_events *x, int link)
{
    const rb_model *m = x->s->m;
    if (link == 0) return RB_FLYER_FIXED;
    if (m->link_dofnum[link] == 0 && m->body_mocap[m->link_body[link]] >= 0)
        return RB_FLYER_KINEMATIC;
    return is_free(m, x->s->d, link) ? RB_FLYER_FREE : RB_FLYER_DRIVEN;
}

rb_status rb_impulse_flyers(rb_events *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    memset(x->flyer, 0, (size_t)m->nlink * sizeof *x->flyer);
    for (int k = 0; k < m->nlink; k++) x->flyer[k].kind = kind_of(x, k);
    ground(x);
    for (int k = 0; k < m->nlink; k++) {
        rb_flyer *f = &x->flyer[k];
        f->tree = m->link_tree[k];
        f->first = -1;
        f->now = NAN;
        f->R[0] = f->R[4] = f->R[8] = f->q[0] = f->q_now[0] = 1.0;
        if (f->kind == RB_FLYER_KINEMATIC) start_kinematic(x, k);
        rb_status status = f->kind == RB_FLYER_FREE ? start_free(x, k) : RB_OK;
        if (status != RB_OK) return status;
        if (f->kind == RB_FLYER_DRIVEN) rb_copy3(m->link_com + 3 * (ptrdiff_t)k, f->com);
        x->ndriven += f->kind == RB_FLYER_DRIVEN;
    }
    memcpy(x->q, s->d->q, (size_t)m->nq * sizeof *x->q);
    memcpy(x->v, s->d->v, (size_t)m->nv * sizeof *x->v);
    memcpy(x->act, s->d->act, (size_t)m->na * sizeof *x->act);
    x->q_t = 0.0;
    x->q_now = NAN;
    return RB_OK;
}
