/* Forward kinematics: from the root to the tips,
 *
 *     O_k = O_p + l_k,        R_k = R_p R_joints                                         (D.1)
 *     (w_k; v_k) = phi'(w_p; v_p) + sum_j S_j qd_j                                       (D.3)
 *
 * with S_j = (s; s x (O_k - A)) for a rotation about the axis s through A and (0; u) for a
 * translation along u (D.2). Joints of one link act one after the other, each in the frame the ones
 * before it leave. Rotations are chained as matrices: each is orthogonal to rounding, a chain of n
 * to n roundings.
 *
 * The axes of a ball or free joint are those of the frame right after it, so that
 * q (+) h v is its motion also where other joints of the body follow. */
#include "dynamics/kinematics_link.h"

#include <stddef.h>
#include <string.h>

#include "dynamics/forward.h"
#include "dynamics/gauge.h"
#include "math/trig.h"
#include "model/filter.h"
#include "rattleback/dynamics.h"

enum { SINE_BATCH = 32 };

void rb_hinge_sines(const rb_model *m, rb_data *d)
{
    double angle[SINE_BATCH] = { 0.0 }, s[SINE_BATCH], c[SINE_BATCH];
    int dof[SINE_BATCH], n = 0;
    for (int j = 0; j < m->njnt; j++) {
        if (m->jnt_type[j] == RB_JOINT_HINGE) {
            angle[n] = d->q[m->jnt_qadr[j]] - m->jnt_ref[j];
            dof[n++] = m->jnt_dofadr[j];
        }
        if (n == SINE_BATCH || (j == m->njnt - 1 && n > 0)) {
            rb_sincos_n((n + 7) / 8 * 8, angle, s, c); /* whole registers only */
            for (int i = 0; i < n; i++) {
                d->dof_S[6 * dof[i]] = s[i];
                d->dof_S[6 * dof[i] + 1] = c[i];
            }
            n = 0;
        }
    }
}

/* ---- links of any kind ------------------------------------------------------------------------
 */

/* Three motion vectors about the axes of a frame; their linear parts are found later. */
static void ball_axes(const double R[9], double *S)
{
    for (int i = 0; i < 3; i++) {
        for (int row = 0; row < 3; row++) S[6 * i + row] = R[3 * row + i];
    }
}

static void keep_point(int ndof, const double x[3], double *S)
{
    for (int i = 0; i < ndof; i++) rb_copy3(x, S + 6 * i + 3);
}

/* Rotation of a quaternion that need not have unit length. */
static void turn_of_quat(const double *coord, double R[9])
{
    double q[4] = { coord[0], coord[1], coord[2], coord[3] };
    rb_quat_normalize(q);
    rb_quat_to_rot(q, R);
}

/* a a' + cos (1 - a a') + sin a~ */
static void turn_of_hinge(const double a[3], double sine, double cosine, double R[9])
{
    const double skew[9] = { 0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0 };
    for (int i = 0; i < 9; i++) {
        double along = a[i / 3] * a[i % 3], across = (i % 4 == 0 ? 1.0 : 0.0) - along;
        R[i] = along + cosine * across + sine * skew[i];
    }
}

/* One joint: moves the frame (l, R) and writes its S. The linear part of a rotation
 * is the anchor, relative to O of the parent, until O of the link is known. */
static void place_joint(const rb_model *m, rb_data *d, int j, double l[3], double R[9])
{
    double *S = d->dof_S + 6 * m->jnt_dofadr[j];
    const double *coord = d->q + m->jnt_qadr[j], *axis = m->jnt_axis + 3 * j;
    double turn[9], arm[3];

    switch ((rb_joint_type)m->jnt_type[j]) {
    case RB_JOINT_FREE:
        rb_copy3(coord, l);
        turn_of_quat(coord + 3, R);
        for (int i = 0; i < 18; i++) S[i] = i % 7 == 3 ? 1.0 : 0.0;
        ball_axes(R, S + 18);
        keep_point(3, l, S + 18);
        break;
    case RB_JOINT_SLIDE:
        rb_zero3(S);
        rb_rot(R, axis, S + 3);
        rb_axpy3(coord[0] - m->jnt_ref[j], S + 3, l);
        break;
    case RB_JOINT_BALL:
    case RB_JOINT_HINGE:
        rb_rot(R, m->jnt_pos + 3 * j, arm);
        rb_add3(l, arm, l);
        if (m->jnt_type[j] == RB_JOINT_HINGE) {
            turn_of_hinge(axis, S[0], S[1], turn);
            rb_rot(R, axis, S);
            keep_point(1, l, S);
            rb_mul33(R, turn, R);
        } else {
            turn_of_quat(coord, turn);
            rb_mul33(R, turn, R);
            ball_axes(R, S);
            keep_point(3, l, S);
        }
        rb_rot(R, m->jnt_pos + 3 * j, arm);
        rb_sub3(l, arm, l);
        break;
    }
}

/* Linear parts s x (O - A) of the rotations of a link, now that O is known. */
static void finish_turns(const rb_model *m, rb_data *d, int k)
{
    const double *l = d->link_l + 3 * k;
    int end = m->link_dofadr[k] + m->link_dofnum[k];
    for (int i = m->link_dofadr[k]; i < end; i++) {
        int j = m->dof_jnt[i];
        int is_shift = m->jnt_type[j] == RB_JOINT_SLIDE ||
                       (m->jnt_type[j] == RB_JOINT_FREE && i < m->jnt_dofadr[j] + 3);
        if (is_shift) continue;
        double *S = d->dof_S + 6 * i, r[3];
        rb_sub3(l, S + 3, r);
        rb_cross3(S, r, S + 3);
    }
}

void rb_place_link_general(const rb_model *m, rb_data *d, int k)
{
    int p = m->link_parent[k], mocap = m->body_mocap[m->link_body[k]];
    double *l = d->link_l + 3 * k, *R = d->link_R + 9 * k;

    if (mocap >= 0) {
        rb_sub3(d->mocap + 7 * mocap, d->link_p + 3 * p, l);
        turn_of_quat(d->mocap + 7 * mocap + 3, R);
    } else {
        rb_rot(d->link_R + 9 * p, m->link_pos + 3 * k, l);
        rb_mul33(d->link_R + 9 * p, m->link_turn + 27 * k, R);
    }
    int end = m->link_jntadr[k] + m->link_jntnum[k];
    for (int j = m->link_jntadr[k]; j < end; j++) place_joint(m, d, j, l, R);

    finish_turns(m, d, k);
    rb_add3(d->link_p + 3 * p, l, d->link_p + 3 * k);
    rb_place_inertia(m, d, k);
}

/* (w x (w x r)) + alpha x r: what a point at r from another one of the same frame has in addition.
 */
static void shift_acceleration(const double w[3], const double alpha[3], const double r[3],
                               double a[3])
{
    double x[3];
    rb_cross3(w, r, x);
    rb_cross3(w, x, x);
    rb_add3(a, x, a);
    rb_cross3(alpha, r, x);
    rb_add3(a, x, a);
}

/* The caller says how a mocap body moves, linear first. */
static void move_kinematic_link(rb_data *d, int k, int mocap)
{
    const double *V = d->mocap_v + 6 * mocap, *A = d->mocap_a + 6 * mocap;
    rb_copy3(V, d->link_v + 3 * k);
    rb_copy3(V + 3, d->link_w + 3 * k);
    rb_copy3(A + 3, d->link_a + 6 * k);
    rb_copy3(A, d->link_a + 6 * k + 3);
}

/* (D.4): follows a point from O_p to O_k, from anchor to anchor, through the frames of the joints.
 * A turn adds w_before x w_joint to the angular part, a shift twice w x (u qd) to the linear one.
 */
void rb_move_link_general(const rb_model *m, rb_data *d, int k)
{
    int p = m->link_parent[k], mocap = m->body_mocap[m->link_body[k]];
    const double *l = d->link_l + 3 * k;
    double *v = d->link_v + 3 * k, *a = d->link_a + 6 * k;
    double w[3], at[3] = { 0.0, 0.0, 0.0 }, x[3];
    if (mocap >= 0) {
        move_kinematic_link(d, k, mocap);
        return;
    }
    rb_copy3(d->link_w + 3 * p, w);
    rb_cross3(w, l, x);
    rb_add3(d->link_v + 3 * p, x, v);
    rb_zero6(a);

    int end = m->link_jntadr[k] + m->link_jntnum[k];
    for (int j = m->link_jntadr[k]; j < end; j++) {
        static const int turns[] = { 3, 3, 0, 1 }, shifts[] = { 3, 0, 1, 0 };
        int i = m->jnt_dofadr[j], nturn = turns[m->jnt_type[j]], nshift = shifts[m->jnt_type[j]];

        for (; nshift > 0; nshift--, i++) {
            double slip[3];
            rb_scale3(d->v[i], d->dof_S + 6 * i + 3, slip);
            rb_add3(v, slip, v);
            rb_cross3(w, slip, x);
            rb_axpy3(2.0, x, a + 3);
        }
        if (nturn == 0) continue;

        /* sum of t x s is O - A for one axis and twice that for three */
        double turn[3] = { 0.0, 0.0, 0.0 }, r[3] = { 0.0, 0.0, 0.0 }, step[3];
        for (int n = 0; n < nturn; n++, i++) {
            const double *S = d->dof_S + 6 * i;
            rb_axpy3(d->v[i], S, turn);
            rb_axpy3(d->v[i], S + 3, v);
            rb_cross3(S + 3, S, x);
            rb_axpy3(nturn == 3 ? 0.5 : 1.0, x, r);
        }
        for (int n = 0; n < 3; n++) step[n] = (l[n] - r[n]) - at[n];
        shift_acceleration(w, a, step, a + 3);
        rb_sub3(l, r, at);
        rb_cross3(w, turn, x);
        rb_add3(a, x, a);
        rb_add3(w, turn, w);
    }
    rb_sub3(l, at, x);
    shift_acceleration(w, a, x, a + 3);
    rb_copy3(w, d->link_w + 3 * k);
}

/* ---- the calls --------------------------------------------------------------------------------
 */

void rb_place_world(const rb_model *m, rb_data *d)
{
    for (int i = 0; i < 3; i++) d->link_p[i] = d->link_l[i] = 0.0;
    for (int i = 0; i < 9; i++) d->link_R[i] = i % 4 == 0 ? 1.0 : 0.0;
    rb_copy3(m->link_com, d->link_c); /* not turned */
    memcpy(d->link_I, m->link_inertia_O, 6 * sizeof *d->link_I);
}

void rb_stop_world(rb_data *d)
{
    rb_zero3(d->link_w);
    rb_zero3(d->link_v);
    rb_zero6(d->link_a);
}

void rb_kinematics_plain(const rb_model *m, rb_data *d)
{
    rb_links_plain(m, d);
    if (m->nspatial > 0) rb_tendons(m, d);
}

void rb_links_plain(const rb_model *m, rb_data *d)
{
    d->placed = 0;
    rb_place_world(m, d);
    rb_hinge_sines(m, d);
    for (int k = 1; k < m->nlink; k++) rb_place_link(m, d, k);
}

void rb_velocity(const rb_model *m, rb_data *d)
{
    rb_stop_world(d);
    for (int k = 1; k < m->nlink; k++) rb_move_link(m, d, k);
    rb_gauges(m, d);
}

static void place_frame(const double p[3], const double R[9], const double pos[3],
                        const double quat[4], double *out_p, double *out_R)
{
    rb_rot(R, pos, out_p);
    rb_add3(p, out_p, out_p);
    if (rb_is_zero3(quat + 1)) { /* not turned */
        memcpy(out_R, R, 9 * sizeof *R);
        return;
    }
    rb_quat_to_rot(quat, out_R);
    rb_mul33(R, out_R, out_R);
}

static void place_all(const rb_model *m, rb_data *d, int with_visual)
{
    d->framed = d->placed;
    for (int b = 0; b < m->nbody; b++) {
        int k = m->body_link[b];
        double *p = d->body_p + 3 * b;
        if (b == m->link_body[k]) { /* its frame is that of the link */
            rb_copy3(d->link_p + 3 * k, p);
            memcpy(d->body_R + 9 * b, d->link_R + 9 * k, 9 * sizeof *d->link_R);
            continue;
        }
        rb_rot(d->link_R + 9 * k, m->body_link_pos + 3 * b, p);
        rb_add3(d->link_p + 3 * k, p, p);
        rb_mul33(d->link_R + 9 * k, m->body_link_rot + 9 * b, d->body_R + 9 * b);
    }
    for (int g = 0; g < m->ngeom; g++) {
        int b = m->geom_body[g];
        if (!with_visual && rb_geom_is_visual(m, g)) continue;
        place_frame(d->body_p + 3 * b, d->body_R + 9 * b, m->geom_pos + 3 * g, m->geom_quat + 4 * g,
                    d->geom_p + 3 * g, d->geom_R + 9 * g);
    }
    for (int s = 0; s < m->nsite; s++) {
        int b = m->site_body[s];
        place_frame(d->body_p + 3 * b, d->body_R + 9 * b, m->site_pos + 3 * s, m->site_quat + 4 * s,
                    d->site_p + 3 * s, d->site_R + 9 * s);
    }
}

void rb_frames(const rb_model *m, rb_data *d)
{
    place_all(m, d, 1);
}

void rb_frames_touching(const rb_model *m, rb_data *d)
{
    place_all(m, d, m->nmeet < 0);
}
