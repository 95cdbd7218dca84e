/* Energy (D.46) and momentum (D.47), link by link. */
#include "dynamics/polynomial.h"
#include "dynamics/tendon_inertia.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

/* Velocity of the com of link k. */
static void com_velocity(const rb_data *d, int k, double v[3])
{
    rb_cross3(d->link_w + 3 * k, d->link_c + 3 * k, v);
    rb_add3(d->link_v + 3 * k, v, v);
}

/* Angular momentum of link k about its com: I w - m c x (w x c) with I about O. */
static void own_spin(const rb_model *m, const rb_data *d, int k, double L[3])
{
    const double *w = d->link_w + 3 * k, *c = d->link_c + 3 * k;
    double x[3];
    rb_sym3_mul(d->link_I + 6 * k, w, L);
    rb_cross3(w, c, x);
    rb_cross3(c, x, x);
    rb_axpy3(-m->link_mass[k], x, L);
}

double rb_energy_kinetic(const rb_model *m, const rb_data *d)
{
    double twice = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_tree[k] < 0) continue; /* what the caller moves is his */
        double v[3], L[3];
        com_velocity(d, k, v);
        own_spin(m, d, k, L);
        twice += m->link_mass[k] * rb_dot3(v, v) + rb_dot3(d->link_w + 3 * k, L);
    }
    for (int i = 0; i < m->nv; i++) twice += m->dof_armature[i] * (d->v[i] * d->v[i]);
    if (rb_tendon_inertia_any(m)) twice += rb_tendon_inertia_twice(m, d);
    return 0.5 * twice;
}

/* Square of the angle between a quaternion and the one at the reference configuration. */
static double turned2(const double q[4], const double q_ref[4])
{
    double now[4] = { q[0], q[1], q[2], q[3] }, turn[4], r[3];
    rb_quat_normalize(now);
    rb_quat_conj(q_ref, turn);
    rb_quat_mul(turn, now, turn);
    rb_quat_log(turn, r);
    return rb_dot3(r, r);
}

/* Square of the distance of joint j from the rest of its spring; springs of balls and free joints
 * rest at the reference configuration. */
static double joint_stretch2(const rb_model *m, const rb_data *d, int j)
{
    const double *q = d->q + m->jnt_qadr[j], *q_ref = m->qpos0 + m->jnt_qadr[j];
    double x = q[0] - m->jnt_springref[j], shift[3];
    switch (m->jnt_type[j]) {
    case RB_JOINT_FREE:
        rb_sub3(q, q_ref, shift);
        return rb_dot3(shift, shift) + turned2(q + 3, q_ref + 3);
    case RB_JOINT_BALL:
        return turned2(q, q_ref);
    default:
        return x * x;
    }
}

/* How far a tendon is outside the dead band of its spring. */
static double tendon_stretch(const rb_model *m, const rb_data *d, int t)
{
    const double *band = m->tendon_spring + 2 * t;
    double length = rb_tendon_length(m, d, t);
    return length > band[1] ? length - band[1] : length < band[0] ? length - band[0] : 0.0;
}

/* Integral of x (k + k0 x + k1 x^2). */
static double spring_energy(double k, const double more[2], double x)
{
    return x * x * (0.5 * k + x * (more[0] / 3.0 + x * 0.25 * more[1]));
}

double rb_energy_potential(const rb_model *m, const rb_data *d)
{
    double V = 0.0;
    for (int k = 0; k < m->nlink; k++) {
        double p[3];
        rb_add3(d->link_p + 3 * k, d->link_c + 3 * k, p);
        V -= m->link_mass[k] * rb_dot3(m->option.gravity, p);
    }
    for (int j = 0; j < m->njnt_all; j++) {
        if (m->jnt_stiffness[j] == 0.0) continue;
        V += 0.5 * m->jnt_stiffness[j] * joint_stretch2(m, d, j);
    }
    if (m->npoly > 0) V += rb_poly_energy(m, d);
    for (int t = 0; t < m->ntendon; t++) {
        V += spring_energy(m->tendon_stiffness[t], m->tendon_stiffness_poly + 2 * t,
                           tendon_stretch(m, d, t));
    }
    return V;
}

void rb_center_of_mass(const rb_model *m, const rb_data *d, double com[3])
{
    double mass = 0.0;
    rb_zero3(com);
    for (int b = 1; b < m->nbody; b++) {
        const double *R = d->link_R + 9 * m->body_link[b];
        double in_link[3], p[3];
        rb_rot(m->body_link_rot + 9 * b, m->body_com + 3 * b, in_link);
        rb_add3(in_link, m->body_link_pos + 3 * b, in_link);
        rb_rot(R, in_link, p);
        rb_add3(p, d->link_p + 3 * m->body_link[b], p);
        rb_axpy3(m->body_mass[b], p, com);
        mass += m->body_mass[b];
    }
    if (mass > 0.0) rb_scale3(1.0 / mass, com, com);
}

/* The moment of momentum uses positions and velocities relative to the com: being far from the
 * origin or fast costs no digits. */
void rb_momentum(const rb_model *m, const rb_data *d, double com[3], double p[3], double L[3])
{
    double mass = 0.0;
    rb_zero3(com);
    rb_zero3(p);
    rb_zero3(L);
    for (int k = 1; k < m->nlink; k++) {
        if (m->link_tree[k] < 0) continue;
        double x[3], v[3];
        rb_add3(d->link_p + 3 * k, d->link_c + 3 * k, x);
        com_velocity(d, k, v);
        rb_axpy3(m->link_mass[k], x, com);
        rb_axpy3(m->link_mass[k], v, p);
        mass += m->link_mass[k];
    }
    if (!(mass > 0.0)) return;
    rb_scale3(1.0 / mass, com, com);

    for (int k = 1; k < m->nlink; k++) {
        if (m->link_tree[k] < 0) continue;
        double r[3], v[3], spin[3];
        own_spin(m, d, k, spin);
        rb_add3(L, spin, L);
        rb_add3(d->link_p + 3 * k, d->link_c + 3 * k, r);
        rb_sub3(r, com, r);
        com_velocity(d, k, v);
        rb_axpy3(-1.0 / mass, p, v);
        rb_cross3(r, v, spin);
        rb_axpy3(m->link_mass[k], spin, L);
    }
}
