/* <pid>, <orientation> and <dcmotor>. The numbers of each are in gainprm, biasprm and dynprm at
 * the same places as in MuJoCo, so that <general> can give them too. */
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

/* ---- inputs -----------------------------------------------------------------------------------
 */

static const char *const input_words[] = { "pos", "vel", "ff", "voltage" };

/* Bits of a list of words; -1: a word is unknown or repeated. */
static int input_bits(const char *list)
{
    int bits = 0;
    while (*list) {
        size_t n = strcspn(list, " \t\r\n");
        int k = 0;
        while (k < 4 && !(strlen(input_words[k]) == n && strncmp(list, input_words[k], n) == 0))
            k++;
        if (n > 0 && (k == 4 || bits & (1 << k))) return -1;
        if (n > 0) bits |= 1 << k;
        list += n + strspn(list + n, " \t\r\n");
    }
    return bits;
}

static rb_status read_chart(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    RB_TRY(rb_xml_word(node, "input", "expmap quat", &act->quaternion, r->err));
    if (act->quaternion && act->dynamics != RB_ACT_NONE)
        return rb_xml_refuse(node, "input", r->err, RB_BAD_INPUT,
                             "a quaternion cannot be integrated: use \"expmap\"");
    return RB_OK;
}

rb_status rb_mjcf_read_inputs(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    const char *text = rb_xml_get(node, "input");
    if (!text) return RB_OK;
    if (act->gain_law == RB_MJCF_SO3) return read_chart(r, node, act);
    if (act->gain_law != RB_MJCF_PID && act->gain_law != RB_MJCF_DCMOTOR) return RB_OK;
    int motor = act->gain_law == RB_MJCF_DCMOTOR, none = motor && strcmp(text, "none") == 0;
    int bits = none ? 0 : input_bits(text);
    if (bits < 0 || (!motor && bits & RB_INPUT_VOLTAGE))
        return rb_xml_refuse(node, "input", r->err, RB_BAD_INPUT,
                             motor ? "expected some of: pos vel ff voltage; or none"
                                   : "expected some of: pos vel ff");
    act->inputs = bits == 0 && !none ? -1 : bits;
    return RB_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static rb_status not_negative(rb_mjcf *r, const rb_xml_node *node, const char *attr,
                              const double *x, int n)
{
    for (int k = 0; k < n; k++)
        if (!(x[k] >= 0.0))
            return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT, "cannot be negative");
    return RB_OK;
}

/* Clears the numbers of a law that comes from a class of another kind. */
static void begin_law(rb_mjcf_actuator *act, int gain, int bias)
{
    if (act->gain_law != gain) {
        memset(act->gainprm, 0, sizeof act->gainprm);
        memset(act->biasprm, 0, sizeof act->biasprm);
        memset(act->dynprm, 0, sizeof act->dynprm);
        act->inputs = -1;
        act->quaternion = 0;
        if (gain != RB_MJCF_DCMOTOR) act->biasprm[1] = -1.0;
        if (gain == RB_MJCF_SO3) act->gainprm[0] = 1.0;
    }
    act->gain_law = gain;
    act->bias_law = bias;
}

/* kp, and kv or a damping ratio, stored in the place of kv with the opposite sign. */
static rb_status read_gains(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double kp = -act->biasprm[1], kv = 0.0, ratio = 0.0;
    int has_kv, has_ratio;
    RB_TRY(rb_xml_number(node, "kp", &kp, r->err));
    RB_TRY(rb_xml_numbers(node, "kv", 1, 1, &kv, &has_kv, r->err));
    RB_TRY(rb_xml_numbers(node, "dampratio", 1, 1, &ratio, &has_ratio, r->err));
    RB_TRY(not_negative(r, node, "kv", &kv, 1));
    RB_TRY(not_negative(r, node, "dampratio", &ratio, 1));
    if (has_kv && has_ratio)
        return rb_xml_refuse(node, "dampratio", r->err, RB_BAD_INPUT,
                             "kv is given too; one of them is enough");
    act->biasprm[1] = -kp;
    if (has_kv) act->biasprm[2] = -kv;
    if (has_ratio) act->biasprm[2] = ratio;
    return RB_OK;
}

rb_status rb_mjcf_set_pid(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    begin_law(act, RB_MJCF_PID, RB_MJCF_AFFINE);
    RB_TRY(read_gains(r, node, act));
    RB_TRY(rb_xml_number(node, "ki", &act->gainprm[0], r->err));
    RB_TRY(rb_xml_number(node, "imax", &act->dynprm[0], r->err));
    RB_TRY(rb_xml_number(node, "slewmax", &act->dynprm[1], r->err));
    RB_TRY(not_negative(r, node, "imax", &act->dynprm[0], 1));
    RB_TRY(not_negative(r, node, "slewmax", &act->dynprm[1], 1));
    RB_TRY(rb_mjcf_read_inputs(r, node, act));
    act->dynamics = act->gainprm[0] != 0.0 || act->dynprm[1] > 0.0 ? RB_ACT_SERVO : RB_ACT_NONE;
    int pos = act->inputs < 0 || act->inputs & RB_INPUT_POS;
    if (pos || act->dynamics == RB_ACT_NONE) return RB_OK;
    return rb_xml_refuse(node, "input", r->err, RB_BAD_INPUT,
                         "ki and slewmax need the input pos: it is what they act on");
}

rb_status rb_mjcf_set_orientation(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    begin_law(act, RB_MJCF_SO3, RB_MJCF_SO3);
    act->dynamics = RB_ACT_NONE;
    RB_TRY(read_gains(r, node, act));
    act->gainprm[0] = -act->biasprm[1];
    return rb_mjcf_read_inputs(r, node, act);
}

/* ---- DC motors --------------------------------------------------------------------------------
 */

/* The constant with which the motor runs at the given speed without a load, drag B included:
 *     speed (K^2 + R B) = V K,     R as given or K V / stall torque */
static double constant_of(const double nominal[3], double R, double B)
{
    double V = nominal[0], stall = nominal[1], simple = V / nominal[2], K = simple;
    if (R > 0.0 && simple * simple >= 4.0 * R * B)
        K = 0.5 * (simple + sqrt(simple * simple - 4.0 * R * B));
    else if (!(R > 0.0) && stall > 0.0)
        K = simple - V * B / stall;
    return K > 0.0 ? K : simple;
}

/* Resistance and constant, as such or by what a data sheet says at the nominal voltage. */
static rb_status read_constants(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double k[2] = { 0.0, 0.0 }, nominal[3] = { 0.0, 0.0, 0.0 }, given = 0.0;
    double *R = &act->gainprm[0], *K = &act->gainprm[1];
    int has_k, has_nominal, has_R = 0;
    RB_TRY(rb_xml_numbers(node, "motorconst", 1, 2, k, &has_k, r->err));
    RB_TRY(rb_xml_numbers(node, "nominal", 3, 3, nominal, &has_nominal, r->err));
    RB_TRY(rb_xml_numbers(node, "resistance", 1, 1, &given, &has_R, r->err));
    RB_TRY(not_negative(r, node, "motorconst", k, 2));
    RB_TRY(not_negative(r, node, "nominal", nominal, 3));
    if (has_R) *R = given;
    if (k[1] == 0.0 && nominal[0] > 0.0 && nominal[2] > 0.0)
        k[1] = constant_of(nominal, given, act->damping[0]);
    if (has_k || k[1] > 0.0) *K = k[0] > 0.0 && k[1] > 0.0 ? sqrt(k[0] * k[1]) : fmax(k[0], k[1]);
    if (!has_R && nominal[1] > 0.0) *R = *K * nominal[0] / nominal[1];
    return RB_OK;
}

/* Any two of thermal resistance, capacity and time constant. */
static rb_status read_thermal(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double x[6] = { 0.0 };
    int given;
    RB_TRY(rb_xml_numbers(node, "thermal", 1, 6, x, &given, r->err));
    if (!given) return RB_OK;
    RB_TRY(not_negative(r, node, "thermal", x, 3));
    if (x[0] == 0.0 && x[1] > 0.0) x[0] = x[2] / x[1];
    if (x[2] > 0.0 && x[0] > 0.0) x[1] = x[2] / x[0];
    if ((x[0] > 0.0) != (x[1] > 0.0) || (x[2] > 0.0 && x[0] == 0.0))
        return rb_xml_refuse(node, "thermal", r->err, RB_BAD_INPUT,
                             "two of resistance, capacitance and time constant are needed");
    act->dynprm[2] = x[0];
    act->dynprm[3] = x[1];
    act->dynprm[4] = x[5];
    act->gainprm[2] = x[3];
    act->gainprm[3] = x[4];
    return RB_OK;
}

static rb_status read_saturation(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double x[3] = { 0.0 };
    int given;
    RB_TRY(rb_xml_numbers(node, "saturation", 1, 3, x, &given, r->err));
    if (!given) return RB_OK;
    RB_TRY(not_negative(r, node, "saturation", x, 3));
    double torque = x[0] > 0.0 ? x[0] : act->gainprm[1] * x[1];
    act->range[RB_MJCF_FORCE][0] = -torque;
    act->range[RB_MJCF_FORCE][1] = torque;
    act->limited[RB_MJCF_FORCE] = torque > 0.0 ? RB_MJCF_TRUE : RB_MJCF_FALSE;
    act->dynprm[1] = x[2];
    return RB_OK;
}

/* Numbers of an attribute to their places in the arrays of the law. */
static rb_status read_to(rb_mjcf *r, const rb_xml_node *node, const char *attr, int n,
                         double *const *to)
{
    double x[6];
    for (int k = 0; k < n; k++) x[k] = *to[k];
    RB_TRY(rb_xml_numbers(node, attr, 1, n, x, NULL, r->err));
    for (int k = 0; k < n; k++) *to[k] = x[k];
    return RB_OK;
}

static rb_status read_mechanics(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double *g = act->gainprm, *b = act->biasprm, *y = act->dynprm;
    RB_TRY(read_to(r, node, "cogging", 3, (double *const[]){ b, b + 1, b + 2 }));
    RB_TRY(read_to(r, node, "lugre", 5, (double *const[]){ y + 5, y + 6, b + 3, b + 4, b + 5 }));
    RB_TRY(read_to(r, node, "controller", 6,
                   (double *const[]){ g + 4, g + 5, g + 6, y + 7, y + 8, g + 7 }));
    RB_TRY(not_negative(r, node, "lugre", y + 5, 2));
    RB_TRY(not_negative(r, node, "lugre", b + 3, 3));
    RB_TRY(not_negative(r, node, "controller", y + 7, 2));
    return RB_OK;
}

static rb_status check_motor(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_actuator *act)
{
    const double *g = act->gainprm;
    int controlled = act->inputs > 0 && act->inputs & ~RB_INPUT_VOLTAGE;
    if (!(g[0] > 0.0) || (act->inputs != 0 && !(g[1] > 0.0)))
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                             "needs a resistance and a motor constant: give resistance and "
                             "motorconst, or nominal=\"voltage stall_torque no_load_speed\"");
    int gains = g[4] != 0.0 || g[5] != 0.0 || g[6] != 0.0 || act->dynprm[7] > 0.0;
    if (gains && !(controlled && g[1] > 0.0))
        return rb_xml_refuse(node, "controller", r->err, RB_BAD_INPUT,
                             "needs an input that it follows: input=\"pos\", for example");
    if (g[5] != 0.0 && !(act->inputs & RB_INPUT_POS))
        return rb_xml_refuse(node, "controller", r->err, RB_BAD_INPUT, "ki needs the input pos");
    return RB_OK;
}

rb_status rb_mjcf_set_dcmotor(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_actuator *act)
{
    double coil[2] = { 0.0, 0.0 };
    int has_coil;
    begin_law(act, RB_MJCF_DCMOTOR, RB_MJCF_DCMOTOR);
    act->dynamics = RB_ACT_SERVO;
    act->actearly = 1;
    RB_TRY(read_constants(r, node, act));
    RB_TRY(rb_xml_numbers(node, "inductance", 1, 2, coil, &has_coil, r->err));
    RB_TRY(not_negative(r, node, "inductance", coil, 2));
    if (has_coil && coil[0] > 0.0 && act->gainprm[0] > 0.0) coil[1] = coil[0] / act->gainprm[0];
    if (has_coil) act->dynprm[0] = coil[1];
    RB_TRY(read_saturation(r, node, act));
    RB_TRY(read_thermal(r, node, act));
    RB_TRY(read_mechanics(r, node, act));
    RB_TRY(rb_mjcf_read_inputs(r, node, act));
    int in_class = node->parent && rb_xml_is(node->parent, "default");
    return in_class ? RB_OK : check_motor(r, node, act);
}

/* ---- into the spec ----------------------------------------------------------------------------
 */

static rb_dcmotor motor_of(const rb_mjcf_actuator *act)
{
    const double *g = act->gainprm, *b = act->biasprm, *y = act->dynprm;
    return (rb_dcmotor){
        .servo = { .kp = g[4], .ki = g[5], .kv = g[6], .slew = y[7], .windup = y[8] },
        .resistance = g[0],
        .constant = g[1],
        .coefficient = g[2],
        .reference_temperature = g[3],
        .voltage_max = g[7],
        .time_constant = y[0],
        .current_rate = y[1],
        .thermal_resistance = y[2],
        .thermal_capacity = y[3],
        .ambient = y[4],
        .bristle_stiffness = y[5],
        .bristle_damping = y[6],
        .cogging = b[0],
        .cogging_period = b[1],
        .cogging_phase = b[2],
        .coulomb = b[3],
        .stiction = b[4],
        .stribeck = b[5],
    };
}

void rb_mjcf_fill_servo(const rb_mjcf_actuator *act, rb_actuator_def *def)
{
    memcpy(def->vel_range, act->velrange, sizeof def->vel_range);
    memcpy(def->ff_range, act->ffrange, sizeof def->ff_range);
    def->quaternion = act->quaternion;
    if (act->gain_law == RB_MJCF_PID) {
        def->inputs = act->inputs < 0 ? RB_INPUT_POS | RB_INPUT_VEL : (unsigned)act->inputs;
        def->servo_windup = act->dynprm[0];
        def->servo_slew = act->dynprm[1];
    }
    if (act->gain_law == RB_MJCF_DCMOTOR) {
        def->inputs = act->inputs < 0 ? RB_INPUT_VOLTAGE : (unsigned)act->inputs;
        def->motor = motor_of(act);
    }
}
