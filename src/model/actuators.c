/* Actuators: how many controls, activations and forces each has, and where these are. */
#include "model/build.h"
#include "model/history.h"
#include "model/layout.h"

/* ---- sizes ------------------------------------------------------------------------------------
 */

static int has_servo(const rb_actuator_def *def)
{
    return def->gain_law == RB_LAW_PID || def->gain_law == RB_LAW_DCMOTOR;
}

int rb_actuator_inputs(const rb_actuator_def *def)
{
    if (def->gain_law == RB_LAW_ORIENTATION) return def->quaternion ? 4 : 3;
    if (!has_servo(def)) return 1;
    int n = 0;
    for (unsigned bit = RB_INPUT_POS; bit <= RB_INPUT_VOLTAGE; bit *= 2) n += !!(def->inputs & bit);
    return n;
}

int rb_actuator_states(const rb_actuator_def *def)
{
    const rb_dcmotor *x = &def->motor;
    if (def->activation == RB_ACT_NONE) return 0;
    if (def->gain_law == RB_LAW_ORIENTATION) return 3;
    if (def->activation != RB_ACT_SERVO) return 1;
    if (def->gain_law == RB_LAW_PID) return (def->servo_slew > 0.0) + (def->gain[0] != 0.0);
    return (x->servo.slew > 0.0) + (x->servo.ki != 0.0) + (x->thermal_capacity > 0.0) +
           (x->bristle_stiffness > 0.0) + (x->time_constant > 0.0);
}

int rb_actuator_outputs(const rb_actuator_def *def)
{
    return def->gain_law == RB_LAW_ORIENTATION ? 3 : 1;
}

static int past_of(const rb_actuator_def *def)
{
    return def->nsample * (1 + rb_actuator_inputs(def));
}

rb_status rb_size_actuators(rb_build *b)
{
    rb_model *m = b->m;
    double past = 0.0;
    for (int u = 0; u < m->nu; u++) {
        const rb_actuator_def *def = RB_DEFS(b, actuator, ACTUATOR) + u;
        m->nctrl += rb_actuator_inputs(def);
        m->na += rb_actuator_states(def);
        if (def->activation == RB_ACT_SERVO) m->nservo += rb_actuator_states(def);
        m->nout += rb_actuator_outputs(def);
        past += past_of(def);
    }
    if (past > 1e8)
        return rb_fail(b->err, RB_TOO_LARGE, "too many samples of delayed controls (nsample)");
    m->nctrlpast = (int)past;
    return RB_OK;
}

/* ---- filling ----------------------------------------------------------------------------------
 */

static int target_in_model(const rb_build *b, const rb_actuator_def *def)
{
    int joint = def->transmission == RB_TRN_JOINT || def->transmission == RB_TRN_JOINT_IN_PARENT;
    return joint ? b->joints.at[def->target] : def->target;
}

static void fill_laws(rb_model *m, int u, const rb_actuator_def *def)
{
    m->act_gain_law[u] = (int)def->gain_law;
    m->act_bias_law[u] = (int)def->bias_law;
    m->act_early[u] = def->early != 0;
    m->act_gain_muscle[u] = def->gain_muscle;
    m->act_bias_muscle[u] = def->bias_muscle;
    memcpy(m->act_length_range + 2 * u, def->length_range, sizeof def->length_range);
    memcpy(m->act_muscle_time + 2 * u, def->muscle_time, sizeof def->muscle_time);
    m->act_muscle_smooth[u] = def->muscle_smooth;
    m->act_crank_length[u] = def->crank_length;
    m->act_inputs[u] = (int)def->inputs;
    m->act_quaternion[u] = def->quaternion != 0;
    m->act_off[u] = def->off != 0;
    m->act_windup[u] = def->servo_windup;
    m->act_slew[u] = def->servo_slew;
    m->act_motor[u] = def->motor;
    m->act_delay[u] = def->delay;
    m->act_nsample[u] = def->nsample;
    m->act_interpolate[u] = def->interpolate;
}

/* Where controls have bounds: ctrl_range those of the first one, of all three or four of an
 * orientation. */
static void fill_bounds(rb_model *m, int u, const rb_actuator_def *def)
{
    int c = m->act_ctrladr[u], n = m->act_ctrlnum[u], at = c;
    for (int k = 0; k < n && !has_servo(def); k++) {
        m->act_ctrl_limited[c + k] = def->ctrl_limited != 0;
        memcpy(m->act_ctrl_range + 2 * (c + k), def->ctrl_range, sizeof def->ctrl_range);
    }
    if (!has_servo(def) || n == 0) return;
    const double *const own[4] = { NULL, def->vel_range, def->ff_range, NULL };
    for (int k = 0; k < 4; k++) {
        if (!(def->inputs & (1u << k))) continue;
        const double *range = own[k] && own[k][0] < own[k][1] ? own[k] : NULL;
        if (at == c && !range && def->ctrl_limited) range = def->ctrl_range;
        m->act_ctrl_limited[at] = range != NULL;
        if (range) memcpy(m->act_ctrl_range + 2 * at, range, 2 * sizeof *range);
        at++;
    }
}

/* Addresses, given those of the actuator before. */
static void fill_places(rb_model *m, int u, const rb_actuator_def *def, int next[4])
{
    m->act_num[u] = rb_actuator_states(def);
    m->act_adr[u] = m->act_num[u] > 0 ? next[0] : -1;
    m->act_ctrlnum[u] = rb_actuator_inputs(def);
    m->act_ctrladr[u] = next[1];
    m->act_outadr[u] = next[2];
    m->act_pastadr[u] = def->nsample > 0 ? next[3] : -1;
    next[0] += m->act_num[u];
    next[1] += m->act_ctrlnum[u];
    next[2] += rb_actuator_outputs(def);
    next[3] += past_of(def);
}

static int is_plain(const rb_model *m, int u)
{
    int transmission = m->act_transmission[u];
    if (transmission != RB_TRN_JOINT && transmission != RB_TRN_JOINT_IN_PARENT) return 0;
    int type = m->jnt_type[m->act_target[u]];
    if (type != RB_JOINT_HINGE && type != RB_JOINT_SLIDE) return 0;
    int affine = m->act_gain_law[u] == RB_LAW_AFFINE && m->act_bias_law[u] == RB_LAW_AFFINE;
    return affine && m->act_dynamics[u] == RB_ACT_NONE && m->act_adr[u] < 0 &&
           m->act_pastadr[u] < 0 && m->act_ctrlnum[u] == 1;
}

void rb_fill_actuators(rb_build *b)
{
    rb_model *m = b->m;
    int next[4] = { 0 };
    for (int u = 0; u < m->nu; u++) {
        const rb_actuator_def *def = RB_DEFS(b, actuator, ACTUATOR) + u;
        m->act_transmission[u] = (int)def->transmission;
        m->act_target[u] = target_in_model(b, def);
        int referred = def->transmission == RB_TRN_SITE || def->transmission == RB_TRN_SLIDER_CRANK;
        m->act_reference[u] = referred ? def->reference : -1;
        m->act_dynamics[u] = (int)def->activation;
        fill_places(m, u, def, next);
        m->act_time_constant[u] = def->time_constant;
        memcpy(m->act_gear + 6 * u, def->gear, sizeof def->gear);
        memcpy(m->act_gain + 3 * u, def->gain, sizeof def->gain);
        memcpy(m->act_bias + 3 * u, def->bias, sizeof def->bias);
        fill_laws(m, u, def);
        fill_bounds(m, u, def);
        m->act_force_limited[u] = def->force_limited != 0;
        m->act_act_limited[u] = def->act_limited != 0;
        memcpy(m->act_force_range + 2 * u, def->force_range, sizeof def->force_range);
        memcpy(m->act_act_range + 2 * u, def->act_range, sizeof def->act_range);
        m->act_plain[u] = is_plain(m, u);
    }
}

/* ---- controls of the past ---------------------------------------------------------------------
 */

static rb_history past(const rb_model *m, const rb_data *d, int u)
{
    double *at = d->ctrl_past + m->act_pastadr[u];
    int n = m->act_nsample[u];
    return (rb_history){ at, at + n, n, m->act_ctrlnum[u] };
}

void rb_control_past_reset(const rb_model *m, rb_data *d)
{
    for (int i = 0; i < m->nctrlpast; i++) d->ctrl_past[i] = 0.0;
    for (int u = 0; u < m->nu; u++) {
        if (m->act_pastadr[u] < 0) continue;
        rb_history x = past(m, d, u);
        for (int k = 0; k < x.n; k++) x.time[k] = m->option.timestep * (k - x.n);
    }
}

void rb_control_remember(const rb_model *m, rb_data *d, double t)
{
    for (int u = 0; u < m->nu; u++) {
        if (m->act_pastadr[u] < 0) continue;
        rb_history x = past(m, d, u);
        rb_history_put(&x, t, d->ctrl + m->act_ctrladr[u]);
    }
}

void rb_control_delayed(const rb_model *m, const rb_data *d, int u, double *out)
{
    rb_history x = past(m, d, u);
    rb_history_read(&x, d->time - m->act_delay[u], 1e-9 * m->option.timestep, m->act_interpolate[u],
                    out);
}
