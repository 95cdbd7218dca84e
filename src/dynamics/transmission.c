/* Transmissions: what actuators act on, as rows of moment arms. */
#include "dynamics/transmission.h"

#include <math.h>

#include "base/constants.h"
#include "dynamics/place.h"
#include "dynamics/tendon.h"
#include "math/dense.h"
#include "math/quat.h"
#include "math/spatial.h"

typedef rb_arm_visit visit;

static void entry(visit *to, int dof, double J)
{
    to->rate += J * to->v[dof];
    to->sum += fabs(J);
    if (!to->out) return;
    to->out[dof] += to->scale * (to->out2 ? fabs(J) : J);
    if (to->out2) to->out2[dof] += to->scale2 * fabs(J);
}

/* ---- joints --------------------------------------------------------------------------------- */

/* The angular gear of a ball or free joint in axes of the body. */
static void body_gear(const rb_model *m, int i, const double gear[3], const double quat[4],
                      double out[3])
{
    rb_copy3(gear, out);
    if (m->act_transmission[i] != RB_TRN_JOINT_IN_PARENT) return;
    double q[4] = { quat[0], -quat[1], -quat[2], -quat[3] };
    rb_quat_normalize(q);
    rb_quat_rotate(q, gear, out);
}

static void joint_entries(const rb_model *m, const rb_data *d, int i, visit *to)
{
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    const double *gear = m->act_gear + 6 * i, *q = d->q + m->jnt_qadr[j];
    double turned[3];
    switch (m->jnt_type[j]) {
    case RB_JOINT_FREE:
        body_gear(m, i, gear + 3, q + 3, turned);
        for (int a = 0; a < 3; a++) entry(to, dof + a, gear[a]);
        for (int a = 0; a < 3; a++) entry(to, dof + 3 + a, turned[a]);
        break;
    case RB_JOINT_BALL:
        body_gear(m, i, gear, q, turned);
        for (int a = 0; a < 3; a++) entry(to, dof + a, turned[a]);
        break;
    default:
        entry(to, dof, gear[0]);
        break;
    }
}

static double joint_length(const rb_model *m, const rb_data *d, int i)
{
    int j = m->act_target[i];
    const double *gear = m->act_gear + 6 * i, *q = d->q + m->jnt_qadr[j];
    if (m->jnt_type[j] == RB_JOINT_FREE) return 0.0;
    if (m->jnt_type[j] != RB_JOINT_BALL) return gear[0] * q[0];
    double unit[4] = { q[0], q[1], q[2], q[3] }, r[3], turned[3];
    rb_quat_normalize(unit);
    rb_quat_log(unit, r);
    body_gear(m, i, gear, q, turned);
    return rb_dot3(r, turned);
}

/* ---- tendons -------------------------------------------------------------------------------- */

static void tendon_entries(const rb_model *m, const rb_data *d, int i, visit *to)
{
    rb_tendon_row row = rb_tendon_row_of(m, d, m->act_target[i]);
    double gear = m->act_gear[6 * i];
    for (int a = 0; a < row.n; a++) entry(to, row.dof[a], gear * row.J[a]);
}

/* ---- sites ---------------------------------------------------------------------------------- */

typedef struct site_frame {
    int link;
    double p[3], R[9];
} site_frame;

static site_frame place_site(const rb_model *m, const rb_data *d, int s)
{
    site_frame f = { .link = m->body_link[m->site_body[s]] };
    rb_place(m, d, m->site_body[s], m->site_pos + 3 * s, m->site_quat + 4 * s, f.p, f.R);
    return f;
}

/* The gear as a wrench at O of the link of `at`, in axes of `axes`, times sign. */
static void gear_wrench(const rb_data *d, const double gear[6], const site_frame *axes,
                        const site_frame *at, double sign, double F[6])
{
    double arm[3], torque[3];
    rb_rot(axes->R, gear, F + 3);
    rb_rot(axes->R, gear + 3, torque);
    rb_sub3(at->p, d->link_p + 3 * at->link, arm);
    rb_cross3(arm, F + 3, F);
    rb_add3(F, torque, F);
    for (int a = 0; a < 6; a++) F[a] *= sign;
}

/* J of a wrench on each of two links, up to the link that carries both: what both hang on is not
 * driven. */
static void pair_entries(const rb_model *m, const rb_data *d, int k1, double F1[6], int k2,
                         double F2[6], visit *to)
{
    while (k1 != k2) {
        int *k = k1 > k2 ? &k1 : &k2;
        double *F = k1 > k2 ? F1 : F2;
        int first = m->link_dofadr[*k];
        for (int j = first + m->link_dofnum[*k] - 1; j >= first && first >= 0; j--) {
            entry(to, j, rb_dot6(d->dof_S + 6 * j, F));
        }
        rb_shift_wrench(d->link_l + 3 * *k, F, F);
        *k = m->link_parent[*k];
    }
}

/* One wrench, or one and its opposite on the reference. */
static void site_entries(const rb_model *m, const rb_data *d, int i, visit *to)
{
    int reference = m->act_reference[i];
    site_frame site = place_site(m, d, m->act_target[i]), base = site;
    double F1[6], F2[6] = { 0.0 };
    int k1 = site.link, k2 = 0;
    if (reference >= 0) {
        base = place_site(m, d, reference);
        k2 = base.link;
        gear_wrench(d, m->act_gear + 6 * i, &base, &base, -1.0, F2);
    }
    gear_wrench(d, m->act_gear + 6 * i, &base, &site, 1.0, F1);
    pair_entries(m, d, k1, F1, k2, F2, to);
}

/* Position and rotation vector of the site seen from the reference, along the gear. */
static double site_length(const rb_model *m, const rb_data *d, int i)
{
    if (m->act_reference[i] < 0) return 0.0;
    site_frame site = place_site(m, d, m->act_target[i]);
    site_frame base = place_site(m, d, m->act_reference[i]);
    const double *gear = m->act_gear + 6 * i;
    double dp[3], R[9], quat[4], r[3];
    rb_sub3(site.p, base.p, dp);
    rb_rot_t(base.R, dp, dp);
    rb_mul33_t(base.R, site.R, R);
    rb_quat_from_rot(R, quat);
    rb_quat_log(quat, r);
    return rb_dot3(gear, dp) + rb_dot3(gear + 3, r);
}

/* ---- slider-cranks -------------------------------------------------------------------------- */

/* The crank ends at c, the slider moves along the axis a from s; with v = c - s and the rod r,
 *     l = a.v - sqrt((a.v)^2 + r^2 - v.v)                                                   (D.32)
 * and the derivatives by v and a. A rod that is too short: l = a.v. */
typedef struct crank {
    site_frame end, slider;
    double axis[3], length, by_v[3], by_a[3];
} crank;

static crank turn_crank(const rb_model *m, const rb_data *d, int i)
{
    crank c = { .end = place_site(m, d, m->act_target[i]),
                .slider = place_site(m, d, m->act_reference[i]) };
    double v[3], rod = m->act_crank_length[i];
    for (int k = 0; k < 3; k++) c.axis[k] = c.slider.R[3 * k + 2];
    rb_sub3(c.end.p, c.slider.p, v);
    double along = rb_dot3(v, c.axis), det = along * along + rod * rod - rb_dot3(v, v);
    double root = det > 0.0 ? sqrt(det) : 0.0, share = det > 0.0 ? 1.0 - along / root : 1.0;
    c.length = along - root;
    rb_scale3(share, c.axis, c.by_v);
    if (det > 0.0) rb_axpy3(1.0 / root, v, c.by_v);
    rb_scale3(share, v, c.by_a);
    return c;
}

static void crank_entries(const rb_model *m, const rb_data *d, int i, visit *to)
{
    crank c = turn_crank(m, d, i);
    double gear = m->act_gear[6 * i], F1[6], F2[6], arm[3], twist[3];
    rb_scale3(gear, c.by_v, F1 + 3);
    rb_sub3(c.end.p, d->link_p + 3 * c.end.link, arm);
    rb_cross3(arm, F1 + 3, F1);
    rb_scale3(-gear, c.by_v, F2 + 3);
    rb_sub3(c.slider.p, d->link_p + 3 * c.slider.link, arm);
    rb_cross3(arm, F2 + 3, F2);
    rb_cross3(c.axis, c.by_a, twist);
    rb_axpy3(gear, twist, F2);
    pair_entries(m, d, c.end.link, F1, c.slider.link, F2, to);
}

/* ---- adhesion ------------------------------------------------------------------------------- */

static int sticks_to(const rb_model *m, const rb_touch *touch, int body)
{
    return touch->id.kind == 0 && touch->gap <= RB_ADHESION_REACH * m->extent &&
           (m->geom_body[touch->id.a] == body || m->geom_body[touch->id.b] == body);
}

void rb_transmission_touch(const rb_model *m, const rb_data *d, const rb_touch *touch, double share,
                           rb_arm_visit *to)
{
    double F1[6], F2[6], arm[3];
    int k1 = m->geom_link[touch->id.a], k2 = m->geom_link[touch->id.b];
    rb_scale3(share, touch->frame, F1 + 3);
    rb_scale3(-share, touch->frame, F2 + 3);
    rb_sub3(touch->pos, d->link_p + 3 * k1, arm);
    rb_cross3(arm, F1 + 3, F1);
    rb_sub3(touch->pos, d->link_p + 3 * k2, arm);
    rb_cross3(arm, F2 + 3, F2);
    pair_entries(m, d, k1, F1, k2, F2, to);
}

/* The contacts that the last step had, each pulled together along its normal by an equal share. */
static void contact_entries(const rb_model *m, const rb_data *d, int i, visit *to)
{
    int count = 0, body = m->act_target[i];
    for (int k = 0; k < d->ntouch; k++) count += sticks_to(m, &d->touch[k], body);
    for (int k = 0; k < d->ntouch; k++) {
        const rb_touch *touch = &d->touch[k];
        if (sticks_to(m, touch, body)) rb_transmission_touch(m, d, touch, 1.0 / count, to);
    }
}

/* ---- orientations --------------------------------------------------------------------------- */

/* Turn of the joint or of the site in its reference, and its rows: the angular velocity in axes of
 * the joint's child or of the site. */
static void turn_of(const rb_model *m, const rb_data *d, int i, double quat[4])
{
    if (m->act_transmission[i] != RB_TRN_SITE) {
        const double *q = d->q + m->jnt_qadr[m->act_target[i]];
        for (int a = 0; a < 4; a++) quat[a] = q[a];
        rb_quat_normalize(quat);
        return;
    }
    site_frame site = place_site(m, d, m->act_target[i]);
    site_frame base = place_site(m, d, m->act_reference[i]);
    double R[9];
    rb_mul33_t(base.R, site.R, R);
    rb_quat_from_rot(R, quat);
}

void rb_transmission_turn(const rb_model *m, const rb_data *d, int i, double quat[4], double w[3])
{
    turn_of(m, d, i, quat);
    for (int a = 0; a < 3; a++) {
        visit arms = { .v = d->v };
        rb_transmission_axis(m, d, i, a, &arms);
        w[a] = arms.rate;
    }
}

void rb_transmission_axis(const rb_model *m, const rb_data *d, int i, int axis, rb_arm_visit *to)
{
    if (m->act_transmission[i] != RB_TRN_SITE) {
        entry(to, m->jnt_dofadr[m->act_target[i]] + axis, 1.0);
        return;
    }
    site_frame site = place_site(m, d, m->act_target[i]);
    double F1[6] = { 0.0 }, F2[6] = { 0.0 };
    for (int k = 0; k < 3; k++) {
        F1[k] = site.R[3 * k + axis];
        F2[k] = -F1[k];
    }
    pair_entries(m, d, site.link, F1, m->body_link[m->site_body[m->act_reference[i]]], F2, to);
}

/* ---- all ------------------------------------------------------------------------------------- */

void rb_transmission_arms(const rb_model *m, const rb_data *d, int i, rb_arm_visit *to)
{
    switch (m->act_transmission[i]) {
    case RB_TRN_TENDON:
        tendon_entries(m, d, i, to);
        break;
    case RB_TRN_SITE:
        site_entries(m, d, i, to);
        break;
    case RB_TRN_SLIDER_CRANK:
        crank_entries(m, d, i, to);
        break;
    case RB_TRN_BODY:
        contact_entries(m, d, i, to);
        break;
    default:
        joint_entries(m, d, i, to);
        break;
    }
}

double rb_transmission_length(const rb_model *m, const rb_data *d, int i)
{
    switch (m->act_transmission[i]) {
    case RB_TRN_TENDON:
        return m->act_gear[6 * i] * rb_tendon_length(m, d, m->act_target[i]);
    case RB_TRN_SITE:
        return site_length(m, d, i);
    case RB_TRN_SLIDER_CRANK:
        return m->act_gear[6 * i] * turn_crank(m, d, i).length;
    case RB_TRN_BODY:
        return 0.0;
    default:
        return joint_length(m, d, i);
    }
}
