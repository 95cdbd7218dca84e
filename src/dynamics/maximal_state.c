/* A state of the tree as a state of its maximal form (D.51).
 *
 * tau_j of a joint without rotor has the power tau_j qd_j, and the rate is what the motion of the
 * link relative to its parent says: qd_j = C_j.(V - phi'V_p - sum S_r v_r), with C the dual of the
 * motion vectors of these joints. So the link feels tau_j C_j, the parent its opposite, the rotors
 * -tau_j C_j.S_r. */
#include <string.h>

#include "dynamics/span.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

static void copy(double *to, const double *from, int n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

static int has_rotor(const rb_model *m, int j)
{
    return m->jnt_type[j] != RB_JOINT_FREE && m->dof_armature[m->jnt_dofadr[j]] > 0.0;
}

/* Sizes of the two models, as rb_spec_maximal makes them. */
static int belong_together(const rb_model *m, const rb_model *max)
{
    int nrotor = 0;
    for (int j = 0; j < m->njnt; j++) nrotor += has_rotor(m, j);
    if (max->nbody != m->nbody + nrotor || max->nmocap != m->nmocap) return 0;
    if (max->nu != m->nu || max->na != m->na || max->ntendon != m->ntendon) return 0;
    for (int k = 1; k < m->nlink; k++) {
        int body = m->link_body[k], j = max->body_jntadr[body];
        if (m->link_dofnum[k] == 0) continue;
        if (m->link_jntnum[k] > RB_CHAIN_JOINTS) return 0;
        if (j < 0 || max->jnt_type[j] != RB_JOINT_FREE) return 0;
    }
    int rotor = m->nbody;
    for (int j = 0; j < m->njnt; j++) {
        if (!has_rotor(m, j)) continue;
        int own = max->body_jntadr[rotor++];
        if (own < 0 || max->jnt_type[own] != m->jnt_type[j]) return 0;
    }
    return 1;
}

/* tau += wrench f at O of the link, on a free body */
static void push_link(const rb_model *m, const rb_data *d, int k, const rb_model *max,
                      const double f[6], double *tau)
{
    if (m->link_dofnum[k] == 0) return;
    int dof = max->jnt_dofadr[max->body_jntadr[m->link_body[k]]];
    double torque[3];
    rb_rot_t(d->link_R + 9 * k, f, torque);
    rb_add3(tau + dof, f + 3, tau + dof);
    rb_add3(tau + dof + 3, torque, tau + dof + 3);
}

/* The forces of the joints of one link; `rotor_dof` maps its dofs to those of the rotors. */
static void push_joints(const rb_model *m, const rb_data *d, int k, const rb_model *max,
                        const int *rotor_dof, double *tau)
{
    int first = m->link_dofadr[k], count = m->link_dofnum[k];
    double C[RB_SPAN_COLUMNS][6], f[6], opposite[6];
    rb_span T = { .rows = 6 };
    rb_zero6(f);
    for (int i = 0; i < count; i++) {
        if (rotor_dof[i] < 0) rb_span_add(&T, d->dof_S + 6 * (first + i));
    }
    rb_span_dual(&T, C);
    for (int i = 0, n = 0; i < count; i++) {
        if (rotor_dof[i] < 0) rb_axpy6(d->tau[first + i], C[n++], f);
    }
    for (int i = 0; i < count; i++) {
        if (rotor_dof[i] < 0) continue;
        tau[rotor_dof[i]] += d->tau[first + i] - rb_dot6(f, d->dof_S + 6 * (first + i));
    }
    push_link(m, d, k, max, f, tau);
    rb_shift_wrench(d->link_l + 3 * k, f, opposite);
    for (int i = 0; i < 6; i++) opposite[i] = -opposite[i];
    push_link(m, d, m->link_parent[k], max, opposite, tau);
}

/* A link whose joint was free keeps its numbers, others get pose and velocity. */
static void move_link(const rb_model *m, const rb_data *d, int k, const rb_model *max, rb_data *out)
{
    int j = max->body_jntadr[m->link_body[k]], old = m->link_jntadr[k];
    double *q = out->q + max->jnt_qadr[j], *v = out->v + max->jnt_dofadr[j];
    if (m->jnt_type[old] == RB_JOINT_FREE) {
        copy(q, d->q + m->jnt_qadr[old], 7);
        copy(v, d->v + m->jnt_dofadr[old], 6);
        return;
    }
    rb_copy3(d->link_p + 3 * k, q);
    rb_quat_from_rot(d->link_R + 9 * k, q + 3);
    rb_copy3(d->link_v + 3 * k, v);
    rb_rot_t(d->link_R + 9 * k, d->link_w + 3 * k, v + 3);
}

/* Rotors of one link, the next one is that of body *rotor; then the forces of its joints. */
static void move_joints(const rb_model *m, const rb_data *d, int k, const rb_model *max,
                        rb_data *out, int *rotor)
{
    int rotor_dof[RB_SPAN_COLUMNS], old = m->link_jntadr[k];
    if (m->jnt_type[old] == RB_JOINT_FREE) {
        int dof = max->jnt_dofadr[max->body_jntadr[m->link_body[k]]];
        for (int i = 0; i < 6; i++) out->tau[dof + i] += d->tau[m->jnt_dofadr[old] + i];
        return;
    }
    int n = 0;
    for (int j = old; j < old + m->link_jntnum[k]; j++) {
        int nv = m->jnt_type[j] == RB_JOINT_BALL ? 3 : 1, nq = nv == 3 ? 4 : 1, dof = -1;
        if (has_rotor(m, j)) {
            int own = max->body_jntadr[(*rotor)++];
            dof = max->jnt_dofadr[own];
            copy(out->q + max->jnt_qadr[own], d->q + m->jnt_qadr[j], nq);
            copy(out->v + dof, d->v + m->jnt_dofadr[j], nv);
        }
        for (int i = 0; i < nv; i++) rotor_dof[n++] = dof < 0 ? -1 : dof + i;
    }
    push_joints(m, d, k, max, rotor_dof, out->tau);
}

/* Angles of hinges that are measured now; gauges that the tree had come after them. */
static void keep_turns(const rb_model *m, const rb_data *d, const rb_model *max, rb_data *out)
{
    int own = max->ngauge - m->ngauge;
    for (int g = 0; g < own; g++) {
        int j = max->njnt + g, e = max->gauge_eq[g];
        int old = m->body_jntadr[max->eq_obj1[e]] + max->gauge_chain[g] - max->eq_chainadr[e];
        if (max->jnt_type[j] == RB_JOINT_HINGE)
            out->gauge_at[max->jnt_dofadr[j] - max->nv] = d->q[m->jnt_qadr[old]];
    }
    copy(out->gauge_at + max->ngauge_dof - m->ngauge_dof, d->gauge_at, m->ngauge_dof);
}

rb_status rb_maximal_state(const rb_model *m, const rb_data *d, const rb_model *max, rb_data *d_max)
{
    if (!belong_together(m, max)) return RB_BAD_INPUT;
    rb_data_reset(max, d_max);
    d_max->time = d->time;
    d_max->rng = d->rng;
    copy(d_max->mocap, d->mocap, 7 * m->nmocap);
    copy(d_max->mocap_was, d->mocap_was, 6 * m->nmocap);
    copy(d_max->mocap_v, d->mocap_v, 6 * m->nmocap);
    copy(d_max->mocap_a, d->mocap_a, 6 * m->nmocap);
    copy(d_max->ctrl, d->ctrl, m->nctrl);
    copy(d_max->act, d->act, m->na);
    copy(d_max->wrench, d->wrench, 6 * m->nbody);
    int rotor = m->nbody;
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_dofnum[k] == 0) continue;
        move_link(m, d, k, max, d_max);
        move_joints(m, d, k, max, d_max, &rotor);
    }
    keep_turns(m, d, max, d_max);
    return RB_OK;
}
