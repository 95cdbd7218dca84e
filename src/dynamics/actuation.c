/* Actuators (D.30): from controls and activations to forces on the dofs. Lengths, gears and limits
 * mean what they mean in MuJoCo.
 */
#include "dynamics/actuation.h"

#include <math.h>

#include "base/constants.h"
#include "dynamics/gauge.h"
#include "dynamics/muscle.h"
#include "dynamics/passive.h"
#include "dynamics/servo.h"
#include "dynamics/tendon.h"
#include "dynamics/transmission.h"
#include "math/dense.h"
#include "math/quat.h"
#include "math/trig.h"
#include "model/layout.h"
#include "rattleback/dynamics.h"

/* Time constant of a filter that was given none: it follows its control at once [s]. As MuJoCo. */
#define MIN_TIME_CONSTANT 1e-15

/* Most controls that an actuator has. */
enum { CONTROLS = 4 };

/* ---- controls and activations ---------------------------------------------------------------- */

/* Those that the actuator feels: delayed where it is so, then within their bounds. */
static void controls(const rb_model *m, const rb_data *d, int i, double u[CONTROLS])
{
    int c = m->act_ctrladr[i], n = m->act_ctrlnum[i];
    for (int k = 0; k < n; k++) u[k] = d->ctrl[c + k];
    if (m->act_delay[i] > 0.0 && m->act_pastadr[i] >= 0) rb_control_delayed(m, d, i, u);
    for (int k = 0; k < n; k++) {
        const double *range = m->act_ctrl_range + 2 * (c + k);
        if (m->act_ctrl_limited[c + k]) u[k] = rb_clamp(u[k], range[0], range[1]);
    }
}

static double control(const rb_model *m, const rb_data *d, int i)
{
    double u[CONTROLS] = { 0.0 };
    controls(m, d, i, u);
    return u[0];
}

static double plain_control(const rb_model *m, const rb_data *d, int i)
{
    int c = m->act_ctrladr[i];
    const double *range = m->act_ctrl_range + 2 * c;
    return m->act_ctrl_limited[c] ? rb_clamp(d->ctrl[c], range[0], range[1]) : d->ctrl[c];
}

static double time_constant(const rb_model *m, const rb_data *d, int i, double ctrl)
{
    if (m->act_dynamics[i] == RB_ACT_MUSCLE)
        return rb_muscle_time(m->act_muscle_time + 2 * i, m->act_muscle_smooth[i], ctrl,
                              d->act[m->act_adr[i]]);
    return fmax(m->act_time_constant[i], MIN_TIME_CONSTANT);
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

/* What the gain multiplies: the control, the activation or, with `early`, the activation at the end
 * of the step: by Euler's rule, as MuJoCo has it, but for filterexact. */
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
    if (a < 0 || m->act_dynamics[i] == RB_ACT_SERVO) return;
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
        return (2.0 * RB_PI) * rb_norm3(gear + 3);
    default:
        return m->jnt_type[m->act_target[i]] == RB_JOINT_BALL ? (2.0 * RB_PI) * rb_norm3(gear)
                                                              : 0.0;
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

/* Rate of the transmission: what rb_transmission_arms finds, for tendons without its visits. */
static double rate_of(const rb_model *m, const rb_data *d, int i)
{
    rb_arm_visit arms = { .v = d->v };
    if (m->act_transmission[i] == RB_TRN_TENDON) {
        rb_tendon_row row = rb_tendon_row_of(m, d, m->act_target[i]);
        double gear = m->act_gear[6 * i], rate = 0.0;
        for (int a = 0; a < row.n; a++) rate += gear * row.J[a] * d->v[row.dof[a]];
        return rate;
    }
    rb_transmission_arms(m, d, i, &arms);
    return arms.rate;
}

/* d->actuation += J' force */
static void push_dofs(const rb_model *m, rb_data *d, int i, double force)
{
    rb_arm_visit along = { .v = d->v, .out = d->actuation, .scale = force };
    if (m->act_transmission[i] == RB_TRN_TENDON) {
        rb_tendon_row row = rb_tendon_row_of(m, d, m->act_target[i]);
        double gear = m->act_gear[6 * i];
        for (int a = 0; a < row.n; a++) d->actuation[row.dof[a]] += force * (gear * row.J[a]);
        return;
    }
    rb_transmission_arms(m, d, i, &along);
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
    if (m->act_plain[i]) return 1;
    if (transmission != RB_TRN_JOINT && transmission != RB_TRN_JOINT_IN_PARENT) return 0;
    int type = m->jnt_type[m->act_target[i]];
    return type == RB_JOINT_HINGE || type == RB_JOINT_SLIDE;
}

static void act_on_scalar(const rb_model *m, rb_data *d, int i)
{
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    double gear = m->act_gear[6 * i], length = gear * d->q[m->jnt_qadr[j]];
    double u = level(m, d, i);
    d->act_force[m->act_outadr[i]] = limited(m, i, force_of(m, i, u, length, gear * d->v[dof]));
    rate_of_activation(m, d, i);
    d->actuation[dof] += d->act_force[m->act_outadr[i]] * gear;
}

/* The sum of the forces of all actuators on a tendon has bounds: each gets its share. Then the
 * bounds of the actuators themselves hold. */
static void limit_tendon(const rb_model *m, rb_data *d, int t)
{
    const double *range = m->tendon_force_range + 2 * t;
    double sum = 0.0;
    for (int i = 0; i < m->nu; i++)
        if (is_on_tendon(m, i, t)) sum += d->act_force[m->act_outadr[i]];
    double share = sum != 0.0 ? rb_clamp(sum, range[0], range[1]) / sum : 1.0;
    for (int i = 0; i < m->nu; i++) {
        if (is_on_tendon(m, i, t))
            d->act_force[m->act_outadr[i]] = limited(m, i, share * d->act_force[m->act_outadr[i]]);
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
        rb_arm_visit push = { .v = d->v,
                              .out = d->actuation,
                              .scale = d->act_force[m->act_outadr[i]] };
        rb_transmission_arms(m, d, i, &push);
    }
}

/* ---- orientations and servos ----------------------------------------------------------------- */

/* The rotation vector kp log(q^-1 target) - kv w, no longer than its bound (D.35). */
static void orient(const rb_model *m, const rb_data *d, int i, double force[3])
{
    double u[CONTROLS], target[4], quat[4], back[4], w[3];
    double kp = m->act_gain[3 * i], kv = -m->act_bias[3 * i + 2],
           most = m->act_force_range[2 * i + 1];
    controls(m, d, i, u);
    if (m->act_adr[i] >= 0) rb_copy3(d->act + m->act_adr[i], u);
    rb_transmission_turn(m, d, i, quat, w);
    if (m->act_quaternion[i]) {
        for (int a = 0; a < 4; a++) target[a] = u[a];
        rb_quat_normalize(target);
    } else {
        rb_quat_exp(u, target);
    }
    rb_quat_conj(quat, back);
    rb_quat_mul(back, target, target);
    rb_quat_log(target, force);
    rb_scale3(kp, force, force);
    rb_axpy3(-kv, w, force);
    double size = rb_norm3(force);
    if (m->act_force_limited[i] && size > most) rb_scale3(most / size, force, force);
}

static void act_on_turn(const rb_model *m, rb_data *d, int i)
{
    double *force = d->act_force + m->act_outadr[i], u[CONTROLS];
    orient(m, d, i, force);
    for (int a = 0; a < 3; a++) {
        rb_arm_visit push = { .v = d->v, .out = d->actuation, .scale = force[a] };
        rb_transmission_axis(m, d, i, a, &push);
    }
    if (m->act_adr[i] < 0) return;
    controls(m, d, i, u);
    rb_copy3(u, d->act_dot + m->act_adr[i]);
}

/* The states are read in place, the controls are copied to u. */
static rb_servo_at servo_at(const rb_model *m, const rb_data *d, int i, double u[CONTROLS])
{
    rb_arm_visit arms = { .v = d->v };
    rb_transmission_arms(m, d, i, &arms);
    controls(m, d, i, u);
    return (rb_servo_at){ u, m->act_adr[i] >= 0 ? d->act + m->act_adr[i] : NULL,
                          rb_transmission_length(m, d, i), arms.rate };
}

static void drive(const rb_model *m, rb_data *d, int i)
{
    double u[CONTROLS], h = m->option.timestep, *force = d->act_force + m->act_outadr[i];
    rb_servo_at at = servo_at(m, d, i, u);
    *force = rb_servo_force(m, i, &at, h);
    if (m->act_adr[i] >= 0) rb_servo_rates(m, i, &at, h, d->act_dot + m->act_adr[i]);
    if (is_on_limited_tendon(m, i)) return;
    rb_arm_visit push = { .v = d->v, .out = d->actuation, .scale = *force };
    rb_transmission_arms(m, d, i, &push);
}

static int has_own_law(const rb_model *m, int i)
{
    if (m->act_plain[i]) return 0;
    return m->act_gain_law[i] == RB_LAW_ORIENTATION || rb_is_servo(m, i);
}

/* Laws of their own. 0: it is a plain one. */
static int act_specially(const rb_model *m, rb_data *d, int i)
{
    int turns = m->act_gain_law[i] == RB_LAW_ORIENTATION;
    if (!has_own_law(m, i)) return 0;
    if (m->act_off[i]) {
        for (int k = 0; k < m->act_num[i]; k++) d->act_dot[m->act_adr[i] + k] = 0.0;
        for (int k = 0; k < (turns ? 3 : 1); k++) d->act_force[m->act_outadr[i] + k] = 0.0;
        return 1;
    }
    if (turns)
        act_on_turn(m, d, i);
    else
        drive(m, d, i);
    return 1;
}

/* What act_on_scalar does for an actuator that is plain. */
static void act_plainly(const rb_model *m, rb_data *d, int i)
{
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    const double *g = m->act_gain + 3 * i, *b = m->act_bias + 3 * i;
    double gear = m->act_gear[6 * i], length = gear * d->q[m->jnt_qadr[j]];
    double rate = gear * d->v[dof], u = plain_control(m, d, i);
    double gain = g[0] + g[1] * length + g[2] * rate, bias = b[0] + b[1] * length + b[2] * rate;
    double force = limited(m, i, gain * u + bias);
    d->act_force[m->act_outadr[i]] = force;
    d->actuation[dof] += force * gear;
}

void rb_actuation(const rb_model *m, rb_data *d)
{
    rb_gravity_compensation(m, d, 1, d->actuation);
    for (int i = 0; i < m->nu; i++) {
        if (m->act_plain[i]) {
            act_plainly(m, d, i);
            continue;
        }
        if (act_specially(m, d, i)) continue;
        if (acts_on_scalar(m, i)) {
            act_on_scalar(m, d, i);
            continue;
        }
        double rate = rate_of(m, d, i), length = rb_transmission_length(m, d, i);
        d->act_force[m->act_outadr[i]] = force_of(m, i, input(m, d, i, length), length, rate);
        rate_of_activation(m, d, i);
        if (is_on_limited_tendon(m, i)) continue;
        d->act_force[m->act_outadr[i]] = limited(m, i, d->act_force[m->act_outadr[i]]);
        push_dofs(m, d, i, d->act_force[m->act_outadr[i]]);
    }
    if (has_limited_tendon(m)) push_tendons(m, d);
    limit_joints(m, d->actuation);
    rb_gauge_spread(m, d, d->actuation);
}

double rb_actuator_length(const rb_model *m, const rb_data *d, int i, double *rate)
{
    rb_arm_visit arms = { .v = d->v };
    rb_transmission_arms(m, d, i, &arms);
    *rate = arms.rate;
    return rb_transmission_length(m, d, i);
}

void rb_actuator_axis(const rb_model *m, const rb_data *d, int i, int axis, double *row)
{
    rb_arm_visit arms = { .v = d->v, .out = row, .scale = 1.0 };
    for (int j = 0; j < m->nv_all; j++) row[j] = 0.0;
    rb_transmission_axis(m, d, i, axis, &arms);
}

void rb_actuator_row(const rb_model *m, const rb_data *d, int i, double *row)
{
    rb_arm_visit arms = { .v = d->v, .out = row, .scale = 1.0 };
    for (int j = 0; j < m->nv_all; j++) row[j] = 0.0;
    rb_transmission_arms(m, d, i, &arms);
}

/* ---- for the stepper ------------------------------------------------------------------------ */

/* How much force a muscle takes off for its length and its rate. */
static void muscle_slopes(const rb_model *m, int i, double u, double length, double rate,
                          double *hold, double *brake)
{
    const double *range = m->act_length_range + 2 * i;
    const double *g = m->act_gain + 3 * i, *b = m->act_bias + 3 * i;
    double gain[2] = { g[1], g[2] }, bias[2] = { b[1], b[2] };
    if (m->act_gain_law[i] == RB_LAW_MUSCLE)
        rb_muscle_gain_slopes(m->act_gain_muscle + i, range, length, rate, gain);
    if (m->act_bias_law[i] == RB_LAW_MUSCLE) {
        bias[0] = rb_muscle_bias_slope(m->act_bias_muscle + i, range, length);
        bias[1] = 0.0;
    }
    *hold = rb_larger(0.0, -(gain[0] * u + bias[0]));
    *brake = rb_larger(0.0, -(gain[1] * u + bias[1]));
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
    if (has_own_law(m, i)) return 0;
    double force = d->act_force[m->act_outadr[i]];
    int side = m->act_force_limited[i] ? side_of(force, m->act_force_range + 2 * i) : 0;
    if (side != 0 || m->ngauge > 0 || !acts_on_scalar(m, i)) return side;
    int j = m->act_target[i];
    if (!m->jnt_force_limited[j]) return 0;
    side = side_of(d->actuation[m->jnt_dofadr[j]], m->jnt_force_range + 2 * j);
    return m->act_gear[6 * i] < 0.0 ? -side : side;
}

void rb_actuator_unbind(const rb_model *m, rb_data *d, int i)
{
    if (m->ngauge > 0 || !acts_on_scalar(m, i) || has_own_law(m, i)) return;
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    double gear = m->act_gear[6 * i], length = gear * d->q[m->jnt_qadr[j]];
    double force = force_of(m, i, level(m, d, i), length, gear * d->v[dof]);
    int joint =
        m->jnt_force_limited[j] && side_of(d->actuation[dof], m->jnt_force_range + 2 * j) != 0;
    double more = force - d->act_force[m->act_outadr[i]];
    d->actuation[dof] = joint ? gear * force : d->actuation[dof] + gear * more;
}

double rb_actuator_excess(const rb_model *m, const rb_data *d, int i)
{
    if (m->ngauge > 0 || !acts_on_scalar(m, i) || has_own_law(m, i)) return INFINITY;
    int j = m->act_target[i], dof = m->jnt_dofadr[j];
    double gear = m->act_gear[6 * i], length = gear * d->q[m->jnt_qadr[j]];
    double force = force_of(m, i, level(m, d, i), length, gear * d->v[dof]);
    if (m->jnt_force_limited[j] && side_of(d->actuation[dof], m->jnt_force_range + 2 * j) != 0)
        return fabs(gear * force - d->actuation[dof]);
    return fabs(gear * (force - d->act_force[m->act_outadr[i]]));
}

/* The slopes of an actuator on several dofs, with its row. 0: it is no such actuator, or M has no
 * room for it. */
static int couple(const rb_model *m, const rb_data *d, int i, double hold, double brake,
                  rb_coupling *apart)
{
    int type = m->act_transmission[i];
    if (type == RB_TRN_TENDON) {
        rb_tendon_row row = rb_tendon_row_of(m, d, m->act_target[i]);
        if (row.n < 2) return 0;
        return rb_coupling_add(m, row.n, row.dof, row.J, m->act_gear[6 * i], hold, brake, apart);
    }
    if (type != RB_TRN_SITE && type != RB_TRN_SLIDER_CRANK) return 0;
    rb_arm_visit arms = { .v = d->v, .out = apart->row, .scale = 1.0 };
    rb_transmission_arms(m, d, i, &arms);
    return rb_coupling_add_row(m, hold, brake, apart);
}

/* 1: the actuator has a law of its own, and k and b, or apart, have got what it adds. */
static int special_stiffness(const rb_model *m, const rb_data *d, int i, double *k, double *b,
                             rb_coupling *apart)
{
    rb_arm_visit bound = { .v = d->v, .out = k, .out2 = b };
    double u[CONTROLS], hold, brake;
    if (m->act_off[i]) return 1;
    if (m->act_gain_law[i] == RB_LAW_ORIENTATION) {
        for (int a = 0; a < 3; a++) {
            rb_arm_visit arms = { .v = d->v };
            rb_transmission_axis(m, d, i, a, &arms);
            bound.scale = fmax(0.0, m->act_gain[3 * i]) * arms.sum;
            bound.scale2 = fmax(0.0, -m->act_bias[3 * i + 2]) * arms.sum;
            rb_transmission_axis(m, d, i, a, &bound);
        }
        return 1;
    }
    if (!rb_is_servo(m, i)) return 0;
    rb_servo_at at = servo_at(m, d, i, u);
    rb_arm_visit arms = { .v = d->v };
    rb_transmission_arms(m, d, i, &arms);
    rb_servo_slopes(m, i, &at, &hold, &brake);
    if (apart && couple(m, d, i, hold, brake, apart)) return 1;
    bound.scale = hold * arms.sum;
    bound.scale2 = brake * arms.sum;
    rb_transmission_arms(m, d, i, &bound);
    return 1;
}

void rb_actuation_stiffness_of(const rb_model *m, const rb_data *d, const signed char *holds,
                               double *k, double *b, rb_coupling *apart)
{
    for (int i = 0; i < m->nu; i++) {
        if (holds && !holds[i]) continue;
        const double *gain = m->act_gain + 3 * i, *bias = m->act_bias + 3 * i;
        if (m->act_plain[i]) {
            int dof = m->jnt_dofadr[m->act_target[i]];
            double gear = fabs(m->act_gear[6 * i]), u = plain_control(m, d, i);
            k[dof] += rb_larger(0.0, -(bias[1] + gain[1] * u)) * gear * gear;
            b[dof] += rb_larger(0.0, -(bias[2] + gain[2] * u)) * gear * gear;
            continue;
        }
        if (special_stiffness(m, d, i, k, b, apart)) continue;
        int scalar = acts_on_scalar(m, i), muscle = is_muscle(m, i);
        double length = !scalar || muscle ? rb_transmission_length(m, d, i) : 0.0;
        double u = !scalar ? input(m, d, i, length) : level(m, d, i);
        double hold = fmax(0.0, -(bias[1] + gain[1] * u)),
               brake = fmax(0.0, -(bias[2] + gain[2] * u));
        if (muscle) muscle_slopes(m, i, u, length, rate_of(m, d, i), &hold, &brake);
        if (hold == 0.0 && brake == 0.0) continue;
        if (scalar) {
            int dof = m->jnt_dofadr[m->act_target[i]];
            double gear = fabs(m->act_gear[6 * i]);
            k[dof] += hold * gear * gear;
            b[dof] += brake * gear * gear;
            continue;
        }
        if (apart && couple(m, d, i, hold, brake, apart)) continue;
        rb_arm_visit arms = { .v = d->v };
        rb_transmission_arms(m, d, i, &arms);
        rb_arm_visit bound = { .v = d->v, .out = k, .out2 = b };
        bound.scale = hold * arms.sum;
        bound.scale2 = brake * arms.sum;
        rb_transmission_arms(m, d, i, &bound);
    }
}

/* States of a servo that starts from act: they follow the motion of d. */
static void servo_step(const rb_model *m, const rb_data *d, int i, const double *act, double h,
                       double *next)
{
    double u[CONTROLS];
    rb_servo_at at = servo_at(m, d, i, u);
    at.act = act + m->act_adr[i];
    rb_servo_next(m, i, &at, h, next + m->act_adr[i]);
}

void rb_activation_step(const rb_model *m, const rb_data *d, double h, double *next)
{
    for (int i = 0; i < m->nu; i++) {
        int a = m->act_adr[i];
        if (a < 0) continue;
        if (m->act_dynamics[i] == RB_ACT_SERVO) {
            servo_step(m, d, i, d->act, h, next);
        } else if (m->act_gain_law[i] == RB_LAW_ORIENTATION) {
            double u[CONTROLS];
            controls(m, d, i, u);
            for (int k = 0; k < 3; k++) next[a + k] = d->act[a + k] + h * u[k];
        } else {
            next[a] = next_activation(m, d, i, h);
        }
    }
}

void rb_activation_middle(const rb_model *m, const double *act, const double *next, double *middle)
{
    for (int i = 0; i < m->nu; i++) {
        int a = m->act_adr[i], servo = m->act_dynamics[i] == RB_ACT_SERVO;
        for (int k = 0; k < m->act_num[i]; k++) {
            int keeps = servo ? rb_servo_keeps(m, i, k) : m->act_early[i];
            middle[a + k] = keeps ? act[a + k] : 0.5 * (act[a + k] + next[a + k]);
        }
    }
}

void rb_activation_follow(const rb_model *m, rb_data *d, const double *act, double h, double *next)
{
    for (int i = 0; i < m->nu; i++) {
        if (m->act_dynamics[i] != RB_ACT_SERVO || m->act_num[i] == 0) continue;
        int a = m->act_adr[i];
        servo_step(m, d, i, act, 0.5 * h, next);
        for (int k = 0; k < m->act_num[i]; k++)
            d->act[a + k] = rb_servo_keeps(m, i, k) ? act[a + k] : next[a + k];
        servo_step(m, d, i, act, h, next);
    }
}
