#include "dynamics/servo.h"

#include <math.h>

#include "math/dense.h"
#include "math/trig.h"

/* ---- inputs and state of a servo ------------------------------------------------------------- */

typedef struct inputs {
    double pos, vel, ff, voltage;
    int any; /* pos, vel or ff is there */
} inputs;

/* States by their address after the first, -1: there is none. */
typedef struct places {
    int slew, integral, heat, bristle, current;
} places;

static rb_servo servo_of(const rb_model *m, int i)
{
    if (m->act_gain_law[i] == RB_LAW_DCMOTOR) return m->act_motor[i].servo;
    return (rb_servo){ .kp = -m->act_bias[3 * i + 1],
                       .kv = -m->act_bias[3 * i + 2],
                       .ki = m->act_gain[3 * i],
                       .windup = m->act_windup[i],
                       .slew = m->act_slew[i] };
}

static places places_of(const rb_model *m, int i, const rb_servo *servo)
{
    places x = { -1, -1, -1, -1, -1 };
    int next = 0;
    if (m->act_num[i] == 0) return x;
    if (servo->slew > 0.0) x.slew = next++;
    if (servo->ki != 0.0) x.integral = next++;
    if (m->act_gain_law[i] == RB_LAW_PID) return x;
    const rb_dcmotor *motor = &m->act_motor[i];
    if (motor->thermal_capacity > 0.0) x.heat = next++;
    if (motor->bristle_stiffness > 0.0) x.bristle = next++;
    if (motor->time_constant > 0.0) x.current = next++;
    return x;
}

/* The first input of the controller is followed at a bounded rate. */
static inputs inputs_of(const rb_model *m, int i, const rb_servo *servo, const places *at,
                        const rb_servo_at *x, double h)
{
    inputs in = { 0.0, 0.0, 0.0, 0.0, 0 };
    double *const field[4] = { &in.pos, &in.vel, &in.ff, &in.voltage }, *first = NULL;
    const double *u = x->ctrl;
    for (int k = 0; k < 4; k++) {
        if (!(m->act_inputs[i] & (1 << k))) continue;
        *field[k] = *u++;
        if (k < 3 && !first) first = field[k];
    }
    in.any = first != NULL;
    if (at->slew >= 0 && first) {
        double was = x->act[at->slew];
        *first = rb_clamp(*first, was - h * servo->slew, was + h * servo->slew);
    }
    return in;
}

/* ---- the controller and the circuit ---------------------------------------------------------- */

static double wanted(const rb_servo *servo, const places *at, const inputs *in,
                     const rb_servo_at *x)
{
    double integral = at->integral >= 0 ? servo->ki * x->act[at->integral] : 0.0;
    return servo->kp * (in->pos - x->length) + servo->kv * (in->vel - x->rate) + integral + in->ff;
}

/* An integral at its bound grows no further. */
static double integral_rate(const rb_servo *servo, double integral, double error)
{
    if (servo->windup > 0.0 && integral >= servo->windup && error > 0.0) return 0.0;
    if (servo->windup > 0.0 && integral <= -servo->windup && error < 0.0) return 0.0;
    return error;
}

/* What the terminals have minus what the turning rotor induces [V]. */
static double drive_voltage(const rb_dcmotor *motor, const places *at, const inputs *in,
                            const rb_servo_at *x)
{
    double v = 0.0, K = motor->constant;
    if (in->any && K > 0.0) {
        v = motor->resistance / K * wanted(&motor->servo, at, in, x) + K * x->rate;
        if (motor->voltage_max > 0.0) v = rb_clamp(v, -motor->voltage_max, motor->voltage_max);
    }
    return v + in->voltage - K * x->rate;
}

static double warm_resistance(const rb_dcmotor *motor, const places *at, const rb_servo_at *x)
{
    if (at->heat < 0) return motor->resistance;
    double above = x->act[at->heat] + motor->ambient - motor->reference_temperature;
    return motor->resistance * (1.0 + motor->coefficient * above);
}

/* The stationary current of the voltage, and the rate of approach to it. */
typedef struct circuit {
    double resistance, settled, current, rate;
} circuit;

static circuit circuit_of(const rb_dcmotor *motor, const places *at, const inputs *in,
                          const rb_servo_at *x)
{
    circuit c = { .resistance = warm_resistance(motor, at, x) };
    c.settled = drive_voltage(motor, at, in, x) / c.resistance;
    c.current = at->current >= 0 ? x->act[at->current] : c.settled;
    if (at->current < 0) return c;
    c.rate = (c.settled - c.current) / motor->time_constant;
    if (motor->current_rate > 0.0)
        c.rate = rb_clamp(c.rate, -motor->current_rate, motor->current_rate);
    return c;
}

static double current_after(const rb_dcmotor *motor, const circuit *c, double h)
{
    double t = motor->time_constant;
    return c->current + c->rate * t * (1.0 - rb_exp(-h / t));
}

/* ---- friction of bristles -------------------------------------------------------------------- */

/* -z / zdot of a bristle at this rate without what drives it: zdot = rate - decay z. */
static double bristle_decay(const rb_dcmotor *motor, double rate)
{
    double s = motor->stribeck > 0.0 ? rate / motor->stribeck : 0.0;
    double fade = motor->stribeck > 0.0 ? rb_exp(-s * s) : 0.0;
    double bound = motor->coulomb + (motor->stiction - motor->coulomb) * fade;
    return bound > 0.0 ? motor->bristle_stiffness * fabs(rate) / bound : 0.0;
}

static double bristle_after(const rb_dcmotor *motor, double z, double rate, double h)
{
    double decay = bristle_decay(motor, rate);
    if (decay * h < 1e-9) return z + h * (rate - decay * z);
    double left = rb_exp(-decay * h);
    return left * z + (1.0 - left) / decay * rate;
}

static double mechanical_force(const rb_dcmotor *motor, const places *at, const rb_servo_at *x)
{
    double force = 0.0;
    if (motor->cogging != 0.0)
        force = motor->cogging * rb_sin(motor->cogging_period * x->length + motor->cogging_phase);
    if (at->bristle < 0) return force;
    double z = x->act[at->bristle], rate = x->rate - bristle_decay(motor, x->rate) * z;
    return force - motor->bristle_stiffness * z - motor->bristle_damping * rate;
}

/* ---- for the actuator ------------------------------------------------------------------------ */

static double bounded(const rb_model *m, int i, double force)
{
    const double *range = m->act_force_range + 2 * i;
    return m->act_force_limited[i] ? rb_clamp(force, range[0], range[1]) : force;
}

double rb_servo_force(const rb_model *m, int i, const rb_servo_at *x, double h)
{
    rb_servo servo = servo_of(m, i);
    places at = places_of(m, i, &servo);
    inputs in = inputs_of(m, i, &servo, &at, x, h);
    if (m->act_gain_law[i] == RB_LAW_PID)
        return bounded(m, i, m->act_bias[3 * i] + wanted(&servo, &at, &in, x));
    const rb_dcmotor *motor = &m->act_motor[i];
    circuit c = circuit_of(motor, &at, &in, x);
    double current = c.current;
    if (at.current >= 0 && m->act_early[i]) current = current_after(motor, &c, h);
    return bounded(m, i, motor->constant * current) + mechanical_force(motor, &at, x);
}

static double heat_rate(const rb_dcmotor *motor, const circuit *c, double heat)
{
    double power = c->current * c->current * c->resistance;
    return (power - heat / motor->thermal_resistance) / motor->thermal_capacity;
}

void rb_servo_rates(const rb_model *m, int i, const rb_servo_at *x, double h, double *rate)
{
    rb_servo servo = servo_of(m, i);
    places at = places_of(m, i, &servo);
    inputs in = inputs_of(m, i, &servo, &at, x, h);
    if (at.integral >= 0)
        rate[at.integral] = integral_rate(&servo, x->act[at.integral], in.pos - x->length);
    if (at.slew >= 0) {
        int first = m->act_inputs[i] & RB_INPUT_POS ? 0 : m->act_inputs[i] & RB_INPUT_VEL ? 1 : 2;
        const double followed[3] = { in.pos, in.vel, in.ff };
        rate[at.slew] = (followed[first] - x->act[at.slew]) / h;
    }
    if (m->act_gain_law[i] == RB_LAW_PID) return;
    const rb_dcmotor *motor = &m->act_motor[i];
    circuit c = circuit_of(motor, &at, &in, x);
    if (at.heat >= 0) rate[at.heat] = heat_rate(motor, &c, x->act[at.heat]);
    if (at.bristle >= 0)
        rate[at.bristle] = x->rate - bristle_decay(motor, x->rate) * x->act[at.bristle];
    if (at.current >= 0) rate[at.current] = c.rate;
}

void rb_servo_next(const rb_model *m, int i, const rb_servo_at *x, double h, double *next)
{
    rb_servo servo = servo_of(m, i);
    places at = places_of(m, i, &servo);
    inputs in = inputs_of(m, i, &servo, &at, x, h);
    rb_servo_rates(m, i, x, h, next);
    for (int k = 0; k < m->act_num[i]; k++) next[k] = x->act[k] + h * next[k];
    if (at.integral >= 0 && servo.windup > 0.0 && fabs(x->act[at.integral]) <= servo.windup)
        next[at.integral] = rb_clamp(next[at.integral], -servo.windup, servo.windup);
    if (m->act_gain_law[i] == RB_LAW_PID) return;
    const rb_dcmotor *motor = &m->act_motor[i];
    circuit c = circuit_of(motor, &at, &in, x);
    if (at.heat >= 0) {
        double t = motor->thermal_resistance * motor->thermal_capacity;
        double rate = heat_rate(motor, &c, x->act[at.heat]);
        next[at.heat] = x->act[at.heat] + rate * t * (1.0 - rb_exp(-h / t));
    }
    if (at.bristle >= 0) next[at.bristle] = bristle_after(motor, x->act[at.bristle], x->rate, h);
    if (at.current >= 0) next[at.current] = current_after(motor, &c, h);
}

void rb_servo_slopes(const rb_model *m, int i, const rb_servo_at *x, double *hold, double *brake)
{
    rb_servo servo = servo_of(m, i);
    places at = places_of(m, i, &servo);
    *hold = fmax(0.0, servo.kp);
    *brake = fmax(0.0, servo.kv);
    if (m->act_gain_law[i] == RB_LAW_PID) return;
    const rb_dcmotor *motor = &m->act_motor[i];
    int driven = m->act_inputs[i] & (RB_INPUT_POS | RB_INPUT_VEL | RB_INPUT_FF);
    if (at.current >= 0 || !driven) *hold = *brake = 0.0;
    if (at.current < 0 && (!driven || motor->voltage_max > 0.0))
        *brake += motor->constant * motor->constant / warm_resistance(motor, &at, x);
    *hold += fabs(motor->cogging * motor->cogging_period);
    if (at.bristle < 0) return;
    *hold += motor->bristle_stiffness;
    *brake += motor->bristle_damping;
}

int rb_servo_keeps(const rb_model *m, int i, int k)
{
    rb_servo servo = servo_of(m, i);
    places at = places_of(m, i, &servo);
    return k == at.slew || (k == at.current && m->act_early[i]);
}
