/* Actuators (D.23): from controls and activations to forces on the dofs. Lengths, gears and limits
 * mean what they mean in MuJoCo.
 *
 * A transmission is a row J of moment arms: rate = J v, tau = J' force. Its entries are not stored;
 * `visit` walks over them, once for the rate and once for the forces. */
#include "dynamics/actuation.h"

#include <math.h>

#include "base/constants.h"
#include "dynamics/gauge.h"
#include "dynamics/muscle.h"
#include "dynamics/passive.h"
#include "dynamics/place.h"
#include "dynamics/tendon.h"
#include "math/dense.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "math/trig.h"
#include "rattleback/dynamics.h"

#define TWO_PI 6.283185307179586

/* What is done with the entries of J. */
typedef struct visit {
    const double *v;
    double rate;  /* J v                                                                       */
    double sum;   /* of |J|                                                                    */
    double *out;  /* NULL, or out += scale J                                                   */
    double *out2; /* NULL, or both with |J|: out += scale |J|, out2 += scale2 |J|              */
    double scale, scale2;
} visit;

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
 *     l = a.v - sqrt((a.v)^2 + r^2 - v.v)                                                   (D.48)
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

/* The contacts that the last step had, each pulled together along its normal by an equal share. */
static void contact_entries(const rb_model *m, const rb_data *d, int i, visit *to)
{
    int count = 0, body = m->act_target[i];
    for (int k = 0; k < d->ntouch; k++) count += sticks_to(m, &d->touch[k], body);
    for (int k = 0; k < d->ntouch; k++) {
        const rb_touch *touch = &d->touch[k];
        if (!sticks_to(m, touch, body)) continue;
        double F1[6], F2[6], arm[3];
        int k1 = m->geom_link[touch->id.a], k2 = m->geom_link[touch->id.b];
        rb_scale3(1.0 / count, touch->frame, F1 + 3);
        rb_scale3(-1.0 / count, touch->frame, F2 + 3);
        rb_sub3(touch->pos, d->link_p + 3 * k1, arm);
        rb_cross3(arm, F1 + 3, F1);
        rb_sub3(touch->pos, d->link_p + 3 * k2, arm);
        rb_cross3(arm, F2 + 3, F2);
        pair_entries(m, d, k1, F1, k2, F2, to);
    }
}

/* ---- forces --------------------------------------------------------------------------------- */

static void entries(const rb_model *m, const rb_data *d, int i, visit *to)
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

static double length_of(const rb_model *m, const rb_data *d, int i)
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

static double control(const rb_model *m, const rb_data *d, int i)
{
    const double *range = m->act_ctrl_range + 2 * i;
    return m->act_ctrl_limited[i] ? rb_clamp(d->ctrl[i], range[0], range[1]) : d->ctrl[i];
}

static double time_constant(const rb_model *m, const rb_data *d, int i, double ctrl)
{
    if (m->act_dynamics[i] == RB_ACT_MUSCLE)
        return rb_muscle_time(m->act_muscle_time + 2 * i, m->act_muscle_smooth[i], ctrl,
                              d->act[m->act_adr[i]]);
    return fmax(m->act_time_constant[i], RB_MIN_TIME_CONSTANT);
}

/* Muscles are excited from 0 to 1. */
static double goal_of(const rb_model *m, int i, double ctrl)
{
    return m->act_dynamics[i] == RB_ACT_MUSCLE ? rb_clamp(ctrl, 0.0, 1.0) : ctrl;
}

/* The activation after h; filters and muscles as if their time constant stayed. */
static double next_activation(const rb_model *m, const rb_data *d, int i, double h)
{
    double ctrl = control(m, d, i), act = d->act[m->act_adr[i]];
    const double *range = m->act_act_range + 2 * i;
    if (m->act_dynamics[i] == RB_ACT_INTEGRATOR)
        act += h * ctrl;
    else
        act += (goal_of(m, i, ctrl) - act) * (1.0 - rb_exp(-h / time_constant(m, d, i, ctrl)));
    return m->act_act_limited[i] ? rb_clamp(act, range[0], range[1]) : act;
}

/* What the gain multiplies: the control, the activation or, where that is asked for, the one that
 * the step will end with: by Euler's rule, as MuJoCo has it, but for filterexact. */
static double level(const rb_model *m, const rb_data *d, int i)
{
    int a = m->act_adr[i];
    if (a < 0) return control(m, d, i);
    if (!m->act_early[i]) return d->act[a];
    double h = m->option.timestep, ctrl = control(m, d, i), next = d->act[a];
    const double *range = m->act_act_range + 2 * i;
    if (m->act_dynamics[i] == RB_ACT_INTEGRATOR || m->act_dynamics[i] == RB_ACT_FILTER_EXACT)
        return next_activation(m, d, i, h);
    next += h * (goal_of(m, i, ctrl) - next) / time_constant(m, d, i, ctrl);
    return m->act_act_limited[i] ? rb_clamp(next, range[0], range[1]) : next;
}

static void rate_of_activation(const rb_model *m, rb_data *d, int i)
{
    int a = m->act_adr[i];
    if (a < 0) return;
    double ctrl = control(m, d, i);
    if (m->act_dynamics[i] == RB_ACT_INTEGRATOR)
        d->act_dot[a] = ctrl;
    else
        d->act_dot[a] = (goal_of(m, i, ctrl) - d->act[a]) / time_constant(m, d, i, ctrl);
}

/* Length that a full turn adds to the transmission of a servo on a rotation, else 0. */
static double full_turn(const rb_model *m, int i)
{
    const double *gear = m->act_gear + 6 * i, *gain = m->act_gain + 3 * i;
    int direct = m->act_dynamics[i] == RB_ACT_NONE || m->act_dynamics[i] == RB_ACT_INTEGRATOR;
    int servo = gain[0] == -m->act_bias[3 * i + 1] && gain[1] == 0.0 && gain[2] == 0.0;
    if (!direct || !servo) return 0.0;
    switch (m->act_transmission[i]) {
    case RB_TRN_TENDON:
    case RB_TRN_SLIDER_CRANK:
    case RB_TRN_BODY:
        return 0.0;
    case RB_TRN_SITE:
        if (m->act_reference[i] < 0 || gear[0] != 0.0 || gear[1] != 0.0 || gear[2] != 0.0)
            return 0.0;
        return TWO_PI * rb_norm3(gear + 3);
    default:
        return m->jnt_type[m->act_target[i]] == RB_JOINT_BALL ? TWO_PI * rb_norm3(gear) : 0.0;
    }
}

/* What the gain multiplies; of a set point on a circle the turn that is nearest. */
static double input(const rb_model *m, const rb_data *d, int i, double length)
{
    double u = level(m, d, i);
    double turn = full_turn(m, i);
    return turn > 0.0 ? u - turn * floor((u - length) / turn + 0.5) : u;
}

static double force_of(const rb_model *m, int i, double u, double length, double rate)
{
    const double *g = m->act_gain + 3 * i, *b = m->act_bias + 3 * i;
    const double *range = m->act_length_range + 2 * i;
    double gain = m->act_gain_law[i] == RB_LAW_MUSCLE
                      ? rb_muscle_gain(m->act_gain_muscle + i, range, length, rate)
                      : g[0] + g[1] * length + g[2] * rate;
    double bias = m->act_bias_law[i] == RB_LAW_MUSCLE
                      ? rb_muscle_bias(m->act_bias_muscle + i, range, length)
                      : b[0] + b[1] * length + b[2] * rate;
    return gain * u + bias;
}

static double limited(const rb_model *m, int i, double force)
{
    const double *range = m->act_force_range + 2 * i;
    return m->act_force_limited[i] ? rb_clamp(force, range[0], range[1]) : force;
}

static int is_on_tendon(const rb_model *m, int i, int t)
{
    return m->act_transmission[i] == RB_TRN_TENDON && m->act_target[i] == t;
}

static int is_on_limited_tendon(const rb_model *m, int i)
{
    return m->act_transmission[i] == RB_TRN_TENDON && m->tendon_force_limited[m->act_target[i]];
}

static void limit_joints(const rb_model *m, double *tau)
{
    for (int j = 0; j < m->njnt_all; j++) {
        if (!m->jnt_force_limited[j]) continue;
        double *x = tau + m->jnt_dofadr[j];
        *x = rb_clamp(*x, m->jnt_force_range[2 * j], m->jnt_force_range[2 * j + 1]);
    }
}

/* Hinges and slides, which most actuators act on: J has one entry, the gear. */
static int acts_on_scalar(const rb_model *m, int i)
{
    int transmission = m->act_transmission[i];
    if (transmission != RB_TRN_JOINT && transmission != RB_TRN_JOINT_IN_PARENT) return 0;
    int type = m->jnt_type[m->act_target[i]];
    return type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE;
}

static void act_on_scalar(const rb_model *m, rb_data *d, int i)
{
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    double gear = m->act_gear[6 * i], length = gear * d->q[m->jnt_qadr[j]];
    double u = level(m, d, i);
    d->act_force[i] = limited(m, i, force_of(m, i, u, length, gear * d->v[dof]));
    rate_of_activation(m, d, i);
    d->actuation[dof] += d->act_force[i] * gear;
}

/* The sum of the forces of all actuators on a tendon has bounds: each gets its share. Then the
 * bounds of the actuators themselves hold. */
static void limit_tendon(const rb_model *m, rb_data *d, int t)
{
    const double *range = m->tendon_force_range + 2 * t;
    double sum = 0.0;
    for (int i = 0; i < m->nu; i++)
        if (is_on_tendon(m, i, t)) sum += d->act_force[i];
    double share = sum != 0.0 ? rb_clamp(sum, range[0], range[1]) / sum : 1.0;
    for (int i = 0; i < m->nu; i++) {
        if (is_on_tendon(m, i, t)) d->act_force[i] = limited(m, i, share * d->act_force[i]);
    }
}

/* Some tendon bounds the forces of its actuators. */
static int has_limited_tendon(const rb_model *m)
{
    for (int t = 0; t < m->ntendon; t++)
        if (m->tendon_force_limited[t]) return 1;
    return 0;
}

static void push_tendons(const rb_model *m, rb_data *d)
{
    for (int t = 0; t < m->ntendon; t++)
        if (m->tendon_force_limited[t]) limit_tendon(m, d, t);
    for (int i = 0; i < m->nu; i++) {
        if (!is_on_limited_tendon(m, i)) continue;
        visit push = { .v = d->v, .out = d->actuation, .scale = d->act_force[i] };
        entries(m, d, i, &push);
    }
}

void rb_actuation(const rb_model *m, rb_data *d)
{
    rb_gravity_compensation(m, d, 1, d->actuation);
    for (int i = 0; i < m->nu; i++) {
        if (acts_on_scalar(m, i)) {
            act_on_scalar(m, d, i);
            continue;
        }
        visit arms = { .v = d->v };
        entries(m, d, i, &arms);
        double length = length_of(m, d, i);
        d->act_force[i] = force_of(m, i, input(m, d, i, length), length, arms.rate);
        rate_of_activation(m, d, i);
        if (is_on_limited_tendon(m, i)) continue;
        d->act_force[i] = limited(m, i, d->act_force[i]);

        visit push = { .v = d->v, .out = d->actuation, .scale = d->act_force[i] };
        entries(m, d, i, &push);
    }
    if (has_limited_tendon(m)) push_tendons(m, d);
    limit_joints(m, d->actuation);
    rb_gauge_spread(m, d, d->actuation);
}

double rb_actuator_length(const rb_model *m, const rb_data *d, int i, double *rate)
{
    visit arms = { .v = d->v };
    entries(m, d, i, &arms);
    *rate = arms.rate;
    return length_of(m, d, i);
}

void rb_actuator_row(const rb_model *m, const rb_data *d, int i, double *row)
{
    visit arms = { .v = d->v, .out = row, .scale = 1.0 };
    for (int j = 0; j < m->nv_all; j++) row[j] = 0.0;
    entries(m, d, i, &arms);
}

/* ---- for the stepper ------------------------------------------------------------------------ */

/* Slopes of a muscle, by differences: its curves are parabolas. */
static void muscle_slopes(const rb_model *m, int i, double u, double length, double rate,
                          double *hold, double *brake)
{
    const rb_muscle *p =
        m->act_gain_law[i] == RB_LAW_MUSCLE ? m->act_gain_muscle + i : m->act_bias_muscle + i;
    double L0 = (m->act_length_range[2 * i + 1] - m->act_length_range[2 * i]) /
                fmax(RB_MUSCLE_MIN, p->range[1] - p->range[0]);
    double dl = 1e-4 * L0, dv = 1e-4 * L0 * p->vmax;
    double longer = force_of(m, i, u, length + dl, rate),
           shorter = force_of(m, i, u, length - dl, rate);
    double faster = force_of(m, i, u, length, rate + dv),
           slower = force_of(m, i, u, length, rate - dv);
    *hold = fmax(0.0, (shorter - longer) / (2.0 * dl));
    *brake = fmax(0.0, (slower - faster) / (2.0 * dv));
}

static int is_muscle(const rb_model *m, int i)
{
    return m->act_gain_law[i] == RB_LAW_MUSCLE || m->act_bias_law[i] == RB_LAW_MUSCLE;
}

static int side_of(double x, const double range[2])
{
    return x <= range[0] ? -1 : x >= range[1];
}

int rb_actuator_side(const rb_model *m, const rb_data *d, int i)
{
    int side = m->act_force_limited[i] ? side_of(d->act_force[i], m->act_force_range + 2 * i) : 0;
    if (side != 0 || m->ngauge > 0 || !acts_on_scalar(m, i)) return side;
    int j = m->act_target[i];
    if (!m->jnt_force_limited[j]) return 0;
    side = side_of(d->actuation[m->jnt_dofadr[j]], m->jnt_force_range + 2 * j);
    return m->act_gear[6 * i] < 0.0 ? -side : side;
}

void rb_actuator_unbind(const rb_model *m, rb_data *d, int i)
{
    if (m->ngauge > 0 || !acts_on_scalar(m, i)) return;
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    double gear = m->act_gear[6 * i], length = gear * d->q[m->jnt_qadr[j]];
    double force = force_of(m, i, level(m, d, i), length, gear * d->v[dof]);
    int joint =
        m->jnt_force_limited[j] && side_of(d->actuation[dof], m->jnt_force_range + 2 * j) != 0;
    d->actuation[dof] = joint ? gear * force : d->actuation[dof] + gear * (force - d->act_force[i]);
}

void rb_actuation_stiffness(const rb_model *m, const rb_data *d, double *k, double *b)
{
    rb_actuation_stiffness_of(m, d, NULL, k, b);
}

void rb_actuation_stiffness_of(const rb_model *m, const rb_data *d, const signed char *holds,
                               double *k, double *b)
{
    for (int i = 0; i < m->nu; i++) {
        if (holds && !holds[i]) continue;
        const double *gain = m->act_gain + 3 * i, *bias = m->act_bias + 3 * i;
        int scalar = acts_on_scalar(m, i), muscle = is_muscle(m, i);
        visit arms = { .v = d->v };
        if (muscle) entries(m, d, i, &arms);
        double length = !scalar || muscle ? length_of(m, d, i) : 0.0;
        double u = !scalar ? input(m, d, i, length) : level(m, d, i);
        double hold = fmax(0.0, -(bias[1] + gain[1] * u)),
               brake = fmax(0.0, -(bias[2] + gain[2] * u));
        if (muscle) muscle_slopes(m, i, u, length, arms.rate, &hold, &brake);
        if (hold == 0.0 && brake == 0.0) continue;
        if (scalar) {
            int dof = m->jnt_dofadr[m->act_target[i]];
            double gear = fabs(m->act_gear[6 * i]);
            k[dof] += hold * gear * gear;
            b[dof] += brake * gear * gear;
            continue;
        }
        if (!muscle) entries(m, d, i, &arms);
        visit bound = { .v = d->v, .out = k, .out2 = b };
        bound.scale = hold * arms.sum;
        bound.scale2 = brake * arms.sum;
        entries(m, d, i, &bound);
    }
}

void rb_activation_step(const rb_model *m, const rb_data *d, double h, double *next)
{
    for (int i = 0; i < m->nu; i++) {
        if (m->act_adr[i] >= 0) next[m->act_adr[i]] = next_activation(m, d, i, h);
    }
}

void rb_activation_middle(const rb_model *m, const double *act, const double *next, double *middle)
{
    for (int i = 0; i < m->nu; i++) {
        int a = m->act_adr[i];
        if (a >= 0) middle[a] = m->act_early[i] ? act[a] : 0.5 * (act[a] + next[a]);
    }
}
