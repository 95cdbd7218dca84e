/* Where a link is and how it moves, given its parent: the inner loops of rb_kinematics,
 * rb_velocity and rb_forward. Everything in world axes. */
#ifndef RB_DYNAMICS_KINEMATICS_LINK_H
#define RB_DYNAMICS_KINEMATICS_LINK_H

#include "math/quat.h"
#include "math/spatial.h"
#include "math/vector.h"
#include "rattleback/model.h"

/* Sines and cosines of the hinge angles, left in the first two numbers of dof_S, where
 * rb_place_link finds them and writes over them. */
void rb_hinge_sines(const rb_model *m, rb_data *d);

/* Link 0: at the origin, at rest. */
void rb_place_world(const rb_model *m, rb_data *d);
void rb_stop_world(rb_data *d);

/* Links with a free or ball joint, slides, several joints, or moved by the caller. */
void rb_place_link_general(const rb_model *m, rb_data *d, int k);
void rb_move_link_general(const rb_model *m, rb_data *d, int k);

/* rb_frames, where pairs are listed without the geoms that no pair has. */
void rb_frames_touching(const rb_model *m, rb_data *d);

RB_INLINE int rb_is_zero3(const double a[3])
{
    return a[0] == 0.0 && a[1] == 0.0 && a[2] == 0.0;
}

RB_INLINE int rb_single_hinge(const rb_model *m, int k)
{
    return m->link_jntnum[k] == 1 && m->jnt_type[m->link_jntadr[k]] == RB_JOINT_HINGE;
}

/* What follows from the pose: com and inertia about O. */
RB_INLINE void rb_place_inertia(const rb_model *m, rb_data *d, int k)
{
    const double *R = d->link_R + 9 * k;
    rb_rot(R, m->link_com + 3 * k, d->link_c + 3 * k);
    rb_sym3_rotate(R, m->link_inertia_O + 6 * k, d->link_I + 6 * k);
}

/* Pose and motion vectors of link k (D.1), (D.2), after its parent and rb_hinge_sines. */
RB_INLINE void rb_place_link(const rb_model *m, rb_data *d, int k)
{
    if (!rb_single_hinge(m, k)) {
        rb_place_link_general(m, d, k);
        return;
    }
    int p = m->link_parent[k], j = m->link_jntadr[k];
    const double *T0 = m->link_turn + 27 * k, *T1 = T0 + 9, *T2 = T0 + 18;
    const double *R_p = d->link_R + 9 * p, *axis = m->jnt_axis + 3 * j,
                 *anchor = m->jnt_pos + 3 * j;
    double *S = d->dof_S + 6 * m->jnt_dofadr[j], *l = d->link_l + 3 * k, *R = d->link_R + 9 * k;

    double turn[9], sine = S[0], cosine = S[1];
    for (int i = 0; i < 9; i++) turn[i] = T0[i] + cosine * T1[i] + sine * T2[i];
    rb_rot(R_p, m->link_pos + 3 * k, l);
    rb_mul33(R_p, turn, R);
    rb_rot(R, axis, S);
    if (rb_is_zero3(anchor)) {
        rb_zero3(S + 3);
    } else {
        /* the anchor A does not move: O = O_0 + R_0 anchor - R anchor */
        double R_0[9], r_0[3], r[3];
        for (int i = 0; i < 9; i++) R_0[i] = T0[i] + T1[i];
        rb_rot(R_0, anchor, r_0);
        rb_rot(R_p, r_0, r_0);
        rb_rot(R, anchor, r);
        for (int i = 0; i < 3; i++) l[i] += r_0[i] - r[i];
        rb_cross3(r, S, S + 3); /* s x (O - A) */
    }
    rb_add3(d->link_p + 3 * p, l, d->link_p + 3 * k);
    rb_place_inertia(m, d, k);
}

/* Velocity (D.3) and velocity-dependent acceleration (D.4) of link k, after its parent. The anchor
 * A is fixed to both links; the point of the axis next to O is as good as the one in the file:
 * O - A = t x s for S = (s; t). */
RB_INLINE void rb_move_link(const rb_model *m, rb_data *d, int k)
{
    if (!rb_single_hinge(m, k)) {
        rb_move_link_general(m, d, k);
        return;
    }
    int p = m->link_parent[k], j = m->link_dofadr[k];
    const double *S = d->dof_S + 6 * j, *l = d->link_l + 3 * k, *w_p = d->link_w + 3 * p;
    double *w = d->link_w + 3 * k, *v = d->link_v + 3 * k, *a = d->link_a + 6 * k;
    double turn[3], carried[3];

    /* w x (w x l) from w x l, which v needs too */
    rb_scale3(d->v[j], S, turn);
    rb_add3(w_p, turn, w);
    rb_cross3(w_p, turn, a);
    rb_cross3(w_p, l, carried);
    rb_add3(d->link_v + 3 * p, carried, v);
    rb_cross3(w_p, carried, a + 3);
    if (rb_is_zero3(S + 3)) return;

    /* A moves with the parent, O rotates about A: replace w_p x (w_p x r) by the link's own */
    double r[3], spin[3];
    rb_axpy3(d->v[j], S + 3, v);
    rb_cross3(S + 3, S, r);
    rb_cross3(w_p, r, spin);
    rb_cross3(w_p, spin, spin);
    rb_sub3(a + 3, spin, a + 3);
    rb_cross3(a, r, spin);
    rb_add3(a + 3, spin, a + 3);
    rb_cross3(w, r, spin);
    rb_cross3(w, spin, spin);
    rb_add3(a + 3, spin, a + 3);
}

#endif
