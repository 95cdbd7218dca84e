/* Passive forces (D.22): springs and dampers of joints and tendons, gravity compensation. The
 * meaning of every term is MuJoCo's. Friction of joints that slide is one of them within a step. */
#include "dynamics/passive.h"

#include <math.h>

#include "dynamics/adhesion.h"
#include "dynamics/fluid.h"
#include "dynamics/gauge.h"
#include "dynamics/polynomial.h"
#include "dynamics/tendon.h"
#include "dynamics/wrench.h"
#include "math/dense.h"
#include "math/quat.h"
#include "rattleback/dynamics.h"

/* ---- joints --------------------------------------------------------------------------------- */

/* -k times the rotation vector from the reference to the present orientation, axes of the body */
static void rotation_spring(double k, const double q_ref[4], const double q[4], double out[3])
{
    double now[4], back[4], turn[4], r[3];
    for (int i = 0; i < 4; i++) now[i] = q[i];
    rb_quat_normalize(now);
    rb_quat_conj(q_ref, back);
    rb_quat_mul(back, now, turn);
    rb_quat_log(turn, r);
    rb_axpy3(-k, r, out);
}

static void joint_spring(const rb_model *m, const rb_data *d, int j, double *out)
{
    double k = m->jnt_stiffness[j];
    int a = m->jnt_qadr[j], dof = m->jnt_dofadr[j];
    switch (m->jnt_type[j]) {
    case RB_JOINT_FREE:
        for (int i = 0; i < 3; i++) out[dof + i] -= k * (d->q[a + i] - m->qpos0[a + i]);
        rotation_spring(k, m->qpos0 + a + 3, d->q + a + 3, out + dof + 3);
        break;
    case RB_JOINT_BALL:
        rotation_spring(k, m->qpos0 + a, d->q + a, out + dof);
        break;
    default:
        out[dof] -= k * (d->q[a] - m->jnt_springref[j]);
        break;
    }
}

/* ---- tendons -------------------------------------------------------------------------------- */

/* Polynomial laws of MuJoCo: k + k0 x + k1 x^2 of a spring, |x| for x of a damper. */
static double poly(double k, const double more[2], double x)
{
    return k + x * (more[0] + x * more[1]);
}

double rb_tendon_spring(const rb_model *m, const rb_data *d, int t)
{
    const double *band = m->tendon_spring + 2 * t;
    double length = rb_tendon_length(m, d, t), rate = rb_tendon_rate(m, d, t);
    double stretch = length - rb_clamp(length, band[0], band[1]);
    double k = poly(m->tendon_stiffness[t], m->tendon_stiffness_poly + 2 * t, stretch);
    double b = poly(m->tendon_damping[t], m->tendon_damping_poly + 2 * t, fabs(rate));
    return -k * stretch - b * rate;
}

static void tendon_force(const rb_model *m, const rb_data *d, int t, double *out)
{
    double force = rb_tendon_spring(m, d, t);
    rb_tendon_row row = rb_tendon_row_of(m, d, t);
    for (int i = 0; i < row.n; i++) out[row.dof[i]] += row.J[i] * force;
}

/* ---- gravity compensation ------------------------------------------------------------------- */

/* -share m g at the centre of mass of a body */
static void gravity_compensation(const rb_model *m, const rb_data *d, int body, double *out)
{
    static const double no_torque[3] = { 0.0, 0.0, 0.0 };
    double force[3];
    rb_scale3(-m->body_gravcomp[body] * m->body_mass[body], m->option.gravity, force);
    rb_push_body(m, d, body, force, no_torque, out);
}

/* 1: some joint takes its compensation from the actuators. */
static int is_driven_anywhere(const rb_model *m)
{
    for (int j = 0; j < m->njnt_all; j++)
        if (m->jnt_driven_gravcomp[j]) return 1;
    return 0;
}

void rb_gravity_compensation(const rb_model *m, const rb_data *d, int driven, double *out)
{
    for (int i = 0; i < m->nv_all; i++) out[i] = 0.0;
    if (driven && (m->nu == 0 || !is_driven_anywhere(m))) return;
    for (int b = 1; b < m->nbody; b++) {
        if (m->body_gravcomp[b] != 0.0) gravity_compensation(m, d, b, out);
    }
    for (int i = 0; i < m->nv_all; i++) {
        if (m->jnt_driven_gravcomp[m->dof_jnt[i]] != driven) out[i] = 0.0;
    }
}

/* ---- all of them ---------------------------------------------------------------------------- */

void rb_passive(const rb_model *m, rb_data *d)
{
    double *out = d->passive;
    int parted = is_driven_anywhere(m);
    if (parted) rb_gravity_compensation(m, d, 0, out);
    for (int j = 0; j < m->nv_all; j++) {
        double drag = -m->dof_damping[j] * d->v[j];
        out[j] = parted ? out[j] + drag : drag;
    }
    for (int j = 0; j < m->njnt_all; j++) {
        if (m->jnt_stiffness[j] != 0.0) joint_spring(m, d, j, out);
    }
    if (m->npoly > 0) rb_poly_force(m, d, out);
    if (m->fluid) rb_fluid_force(m, d, out);
    if (m->nsticky > 0) rb_adhesion_force(m, d, out);
    for (int t = 0; t < m->ntendon; t++) {
        if (rb_tendon_is_elastic(m, t)) tendon_force(m, d, t, out);
    }
    for (int b = 1; b < m->nbody && !parted; b++) {
        if (m->body_gravcomp[b] != 0.0) gravity_compensation(m, d, b, out);
    }
    for (int j = 0; j < m->nv_all && d->slide; j++) out[j] += d->slide[j];
    rb_gauge_spread(m, d, out);
}

/* Slopes of the laws of a tendon, with its row in apart, or on each of its dofs at most
 * |J_i| sum |J|. */
static void tendon_stiffness(const rb_model *m, const rb_data *d, int t, double *k, double *b,
                             rb_coupling *apart)
{
    const double *band = m->tendon_spring + 2 * t, *k_more = m->tendon_stiffness_poly + 2 * t;
    const double *b_more = m->tendon_damping_poly + 2 * t;
    double length = rb_tendon_length(m, d, t), rate = fabs(rb_tendon_rate(m, d, t)), sum = 0.0;
    double x = length - rb_clamp(length, band[0], band[1]);
    double hold = m->tendon_stiffness[t] + x * (2.0 * k_more[0] + x * 3.0 * k_more[1]);
    double brake = m->tendon_damping[t] + rate * (2.0 * b_more[0] + rate * 3.0 * b_more[1]);
    rb_tendon_row row = rb_tendon_row_of(m, d, t);
    hold = fmax(0.0, hold);
    brake = fmax(0.0, brake);
    if (apart && row.n > 1 && rb_coupling_add(m, row.n, row.dof, row.J, 1.0, hold, brake, apart))
        return;
    for (int i = 0; i < row.n; i++) sum += fabs(row.J[i]);
    for (int i = 0; i < row.n; i++) {
        double weight = fabs(row.J[i]) * sum;
        k[row.dof[i]] += weight * hold;
        b[row.dof[i]] += weight * brake;
    }
}

void rb_passive_stiffness_apart(const rb_model *m, const rb_data *d, double *k, double *b,
                                rb_coupling *apart)
{
    static const int ndof[] = {
        [RB_JOINT_FREE] = 6, [RB_JOINT_BALL] = 3, [RB_JOINT_SLIDE] = 1, [RB_JOINT_HINGE] = 1
    };
    for (int j = 0; j < m->nv_all; j++) b[j] += m->dof_damping[j];
    for (int j = 0; j < m->njnt_all; j++) {
        if (m->jnt_stiffness[j] == 0.0) continue;
        for (int i = 0; i < ndof[m->jnt_type[j]]; i++) {
            k[m->jnt_dofadr[j] + i] += m->jnt_stiffness[j];
        }
    }
    if (m->npoly > 0) rb_poly_stiffness(m, d, k, b);
    for (int t = 0; t < m->ntendon; t++) {
        if (rb_tendon_is_elastic(m, t)) tendon_stiffness(m, d, t, k, b, apart);
    }
}
