/* A state of the maximal form as one of the tree (D.54): coordinates of the joints from the poses
 * of the links.
 *
 * Newton's method from the coordinates that are there, all links at once, because the pose of a
 * link in its parent depends on its own joints alone: with C the dual of their motion vectors,
 *
 *     dq = C.(log(R_target R'), p_target - p),      qd = C.(V - phi'V_p)                   (D.54)
 *
 * The coordinates continue from the given ones: turns are counted while a joint makes less than
 * half a turn between two calls. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "dynamics/span.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

enum { MOST_STEPS = 30 };

typedef struct pose {
    double R[9], p[3];
} pose;

/* The link of the maximal model that moves with link k. */
static int partner(const rb_model *m, const rb_model *max, int k)
{
    return max->body_link[m->link_body[k]];
}

/* R = A' B */
static void turn_back(const double A[9], const double B[9], double R[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            R[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
    }
}

/* R = A B' */
static void turn_off(const double A[9], const double B[9], double R[9])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) R[3 * i + j] = rb_dot3(A + 3 * i, B + 3 * j);
    }
}

/* Pose of link `child` in link `parent`; link 0 is the world. */
static void relative_pose(const rb_data *d, int parent, int child, pose *out)
{
    const double *R_p = d->link_R + 9 * (ptrdiff_t)parent;
    double r[3];
    rb_sub3(d->link_p + 3 * (ptrdiff_t)child, d->link_p + 3 * (ptrdiff_t)parent, r);
    rb_rot_t(R_p, r, out->p);
    turn_back(R_p, d->link_R + 9 * (ptrdiff_t)child, out->R);
}

/* What is missing to the target, world axes: rotation, translation of O. */
static void missing(const rb_data *d, int parent, int child, const pose *target, double e[6])
{
    pose now;
    double turn[9], quat[4], in_parent[6];
    relative_pose(d, parent, child, &now);
    turn_off(target->R, now.R, turn);
    rb_quat_from_rot(turn, quat);
    rb_quat_log(quat, in_parent);
    rb_sub3(target->p, now.p, in_parent + 3);
    rb_rot(d->link_R + 9 * (ptrdiff_t)parent, in_parent, e);
    rb_rot(d->link_R + 9 * (ptrdiff_t)parent, in_parent + 3, e + 3);
}

/* x_i = C_i.e of the dofs of link k. */
static void project(const rb_model *m, const rb_data *d, int k, const double e[6], double *x)
{
    rb_span T = { .rows = 6 };
    int first = m->link_dofadr[k], count = m->link_dofnum[k];
    for (int i = 0; i < count; i++) rb_span_add(&T, d->dof_S + 6 * (ptrdiff_t)(first + i));
    rb_span_solve(&T, e, x + first);
}

static int is_free(const rb_model *m, int k)
{
    return m->jnt_type[m->link_jntadr[k]] == RB_JOINT_FREE;
}

static void copy_free(const rb_model *max, const rb_data *d_max, const rb_model *m, rb_data *d,
                      int k)
{
    int j = m->link_jntadr[k], from = max->body_jntadr[m->link_body[k]];
    memcpy(d->q + m->jnt_qadr[j], d_max->q + max->jnt_qadr[from], 7 * sizeof *d->q);
    memcpy(d->v + m->jnt_dofadr[j], d_max->v + max->jnt_dofadr[from], 6 * sizeof *d->v);
}

/* One step of (D.54) for all joints; returns the largest change. */
static double improve(const rb_model *m, rb_data *d, const pose *target, double *dq, double *q)
{
    double largest = 0.0;
    memset(dq, 0, (size_t)m->nv * sizeof *dq);
    rb_kinematics(m, d);
    for (int k = 1; k < m->nlink; k++) {
        double e[6];
        if (m->link_dofnum[k] == 0 || is_free(m, k)) continue;
        missing(d, m->link_parent[k], k, &target[k], e);
        project(m, d, k, e, dq);
    }
    for (int j = 0; j < m->nv; j++) largest = fmax(largest, fabs(dq[j]));
    rb_integrate(m, d->q, dq, 1.0, q);
    memcpy(d->q, q, (size_t)m->nq * sizeof *q);
    return largest;
}

static void velocities(const rb_model *max, const rb_data *d_max, const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_dofnum[k] == 0 || is_free(m, k)) continue;
        int child = partner(m, max, k), parent = partner(m, max, m->link_parent[k]);
        const double *w_p = d_max->link_w + 3 * (ptrdiff_t)parent;
        double r[3], carried[3], e[6];
        rb_sub3(d_max->link_p + 3 * (ptrdiff_t)child, d_max->link_p + 3 * (ptrdiff_t)parent, r);
        rb_cross3(w_p, r, carried);
        rb_add3(carried, d_max->link_v + 3 * (ptrdiff_t)parent, carried);
        rb_sub3(d_max->link_w + 3 * (ptrdiff_t)child, w_p, e);
        rb_sub3(d_max->link_v + 3 * (ptrdiff_t)child, carried, e + 3);
        project(m, d, k, e, d->v);
    }
}

rb_status rb_minimal_state(const rb_model *max, const rb_data *d_max, const rb_model *m, rb_data *d)
{
    if (max->nbody < m->nbody || max->nu != m->nu || max->na != m->na) return RB_BAD_INPUT;
    rb_mark mark = rb_arena_mark(d->arena);
    pose *target = rb_push(d->arena, pose, m->nlink);
    double *dq = rb_push(d->arena, double, m->nv), *q = rb_push(d->arena, double, m->nq);
    if (!target || !dq || !q) return RB_NOMEM;
    d->time = d_max->time;
    memcpy(d->mocap, d_max->mocap, 7 * (size_t)m->nmocap * sizeof *d->mocap);
    if (m->na > 0) memcpy(d->act, d_max->act, (size_t)m->na * sizeof *d->act);
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_dofnum[k] == 0) continue;
        if (is_free(m, k)) copy_free(max, d_max, m, d, k);
        relative_pose(d_max, partner(m, max, m->link_parent[k]), partner(m, max, k), &target[k]);
    }
    double change = INFINITY, before = INFINITY;
    for (int i = 0; i < MOST_STEPS && change > RB_TINY_ANGLE; i++) {
        before = change;
        change = improve(m, d, target, dq, q);
    }
    if (change <= RB_TINY_ANGLE || change < before) improve(m, d, target, dq, q);
    velocities(max, d_max, m, d);
    rb_arena_reset(d->arena, mark);
    return change <= RB_TINY_ANGLE ? RB_OK : RB_UNSOLVED;
}
