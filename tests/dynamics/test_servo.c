/* PIDs (D.33), DC motors (D.34), orientation servos (D.35) and delayed controls: by hand, and in
 * motion. Beside MuJoCo: tests/oracle/forces.py. */
#include "mjcf_support.h"
#include "rattleback/step.h"

#include <math.h>

/* A wheel of inertia 0.004 kg m^2 about z, no gravity, and an actuator on it. */
static rb_model *wheel(const char *actuator)
{
    char text[1200];
    snprintf(
        text, sizeof text,
        "<mujoco><option gravity='0 0 0' timestep='0.002'/><worldbody><body>"
        "<joint name='j' type='hinge' axis='0 0 1'/><inertial pos='0 0 0' mass='1'"
        " diaginertia='0.004 0.004 0.004'/></body></worldbody><actuator>%s</actuator></mujoco>",
        actuator);
    return compile(read_text(text));
}

static double force_at(const rb_model *m, rb_data *d, double q, double v)
{
    d->q[0] = q;
    d->v[0] = v;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_actuation(m, d);
    return d->actuation[0];
}

static void run(const rb_model *m, rb_data *d, int steps)
{
    rb_step_opts opts = rb_step_opts_default();
    for (int i = 0; i < steps; i++) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
}

static void done(rb_model *m, rb_data *d)
{
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST(a_pid_by_hand)
{
    rb_model *m = wheel("<pid name='a' joint='j' kp='20' kv='3' ki='7' imax='0.3' slewmax='2.5'"
                        " input='pos vel ff' ffrange='-2 2' forcerange='-30 30'/>");
    rb_data *d = rb_data_new(m, NULL);
    char name[32];
    CHECK_INT(m->nu, 1);
    CHECK_INT(m->nctrl, 3);
    CHECK_INT(m->na, 2);
    CHECK_STR(rb_control_name(m, 2, name, sizeof name), "a:ff");
    d->ctrl[0] = 1.0; /* followed to 0.5 + 0.002 2.5 */
    d->ctrl[1] = 0.4;
    d->ctrl[2] = 9.0; /* bounded by 2 */
    d->act[0] = 0.5;
    d->act[1] = 0.1;
    CHECK_NEAR(force_at(m, d, 0.2, 0.1), 20.0 * 0.305 + 3.0 * 0.3 + 0.7 + 2.0, 1e-12);
    CHECK_NEAR(d->act_dot[0], 2.5, 1e-9);
    CHECK_NEAR(d->act_dot[1], 0.305, 1e-12);
    d->act[1] = 0.3; /* at its bound: it grows no further, but it may shrink */
    force_at(m, d, 0.2, 0.1);
    CHECK(d->act_dot[1] == 0.0);
    force_at(m, d, 0.8, 0.1);
    CHECK(d->act_dot[1] < 0.0);
    CHECK_NEAR(force_at(m, d, -9.0, 0.0), 30.0, 1e-12);
    done(m, d);
}

/* A load of 1 N m: the integral finds it, and the error goes away. */
TEST(the_integral_takes_the_error_away)
{
    rb_model *m = wheel("<pid joint='j' kp='20' kv='1' ki='40' input='pos'/>");
    rb_data *d = rb_data_new(m, NULL);
    d->ctrl[0] = 0.5;
    d->tau[0] = -1.0;
    run(m, d, 2500);
    CHECK_NEAR(d->q[0], 0.5, 1e-4);
    CHECK_NEAR(40.0 * d->act[0], 1.0, 1e-2);
    done(m, d);
}

/* 12 V, 2 N m at rest, 50 rad/s without a load: K = 0.24, R = 1.44. */
TEST(a_motor_does_what_its_data_sheet_says)
{
    rb_model *m = wheel("<dcmotor joint='j' nominal='12 2 50'/>");
    rb_data *d = rb_data_new(m, NULL);
    CHECK_NEAR(m->act_motor[0].constant, 0.24, 1e-15);
    CHECK_NEAR(m->act_motor[0].resistance, 1.44, 1e-15);
    d->ctrl[0] = 12.0;
    CHECK_NEAR(force_at(m, d, 0.0, 0.0), 2.0, 1e-12);
    CHECK_NEAR(force_at(m, d, 0.0, 50.0), 0.0, 1e-12);
    force_at(m, d, 0.0, 0.0);
    run(m, d, 2000);
    CHECK_NEAR(d->v[0], 50.0, 1e-9);
    done(m, d);
}

/* L/R = 5 ms; after one time constant the current is at 1 - 1/e of its end. */
TEST(the_current_follows_the_voltage)
{
    rb_model *m = wheel("<dcmotor joint='j' motorconst='1e-6' resistance='2' inductance='0.01'/>");
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    opts.h = 0.005;
    d->ctrl[0] = 6.0;
    CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
    CHECK_NEAR(d->act[0], 3.0 * (1.0 - exp(-1.0)), 1e-9);
    done(m, d);
}

/* Bristles of 1e5 N m/rad on a light wheel: a spring with a period of a fourth of a step. It holds
 * a torque below the stiction, and slips above. */
TEST(stiff_bristles_hold_and_slip)
{
    rb_model *m = wheel("<dcmotor joint='j' motorconst='0' resistance='1' input='none'"
                        " lugre='1e5 20 0.9 1 0.01'/>");
    rb_data *d = rb_data_new(m, NULL);
    CHECK_INT(m->nctrl, 0);
    d->tau[0] = 0.8;
    run(m, d, 500);
    CHECK(fabs(d->q[0]) < 1e-4);
    CHECK(fabs(d->v[0]) < 1e-6);
    CHECK_NEAR(1e5 * d->act[0], 0.8, 1e-3);
    d->tau[0] = 1.5;
    run(m, d, 500);
    CHECK(d->v[0] > 10.0); /* 0.6 N m are left: 150 rad/s^2 */
    done(m, d);
}

/* A ball joint goes the short way to a turn of 2 rad, and stays there. */
TEST(an_orientation_is_reached)
{
    rb_model *m = compile(read_text(
        "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='j' type='ball'/>"
        "<geom type='box' size='0.1 0.2 0.3'/></body></worldbody><actuator>"
        "<orientation name='a' joint='j' kp='400' kv='60' input='quat'/></actuator></mujoco>"));
    rb_data *d = rb_data_new(m, NULL);
    char name[32];
    CHECK_INT(m->nctrl, 4);
    CHECK_INT(m->nout, 3);
    CHECK(d->ctrl[0] == 1.0);
    CHECK_STR(rb_control_name(m, 3, name, sizeof name), "a:z");
    double target[4] = { cos(1.0), 0.0, sin(1.0), 0.0 };
    for (int i = 0; i < 4; i++) d->ctrl[i] = -3.0 * target[i]; /* neither sign nor length count */
    run(m, d, 4000);
    for (int i = 0; i < 4; i++) CHECK_NEAR(d->q[i], target[i], 1e-6);
    done(m, d);
}

/* The force of a step is that of the control five steps before; a saved state remembers them. */
TEST(controls_are_delayed)
{
    rb_model *m = wheel("<motor joint='j' delay='0.01' nsample='5'/>");
    rb_data *d = rb_data_new(m, NULL), *copy = rb_data_new(m, NULL);
    for (int i = 0; i < 8; i++) {
        d->ctrl[0] = 1.0 + i;
        rb_kinematics(m, d);
        rb_velocity(m, d);
        rb_actuation(m, d);
        CHECK_NEAR(d->act_force[0], i < 5 ? 0.0 : i - 4.0, 1e-12);
        run(m, d, 1);
    }
    CHECK_INT(rb_data_copy(m, copy, d), RB_OK);
    run(m, d, 3);
    run(m, copy, 3);
    CHECK(rb_data_hash(d) == rb_data_hash(copy));
    rb_data_free(copy);
    done(m, d);
}

static void is_refused(const char *actuator, const char *part)
{
    char text[1200];
    rb_error err = { 0 };
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body><joint name='j'/><geom size='0.1'/></body></worldbody>"
             "<actuator>%s</actuator></mujoco>",
             actuator);
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, NULL, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    CHECK(m == NULL);
    CHECK_CONTAINS(err.text, part);
    rb_spec_free(spec);
}

TEST(what_is_missing_is_said)
{
    is_refused("<dcmotor joint='j' motorconst='1'/>", "resistance");
    is_refused("<dcmotor joint='j' nominal='12 2 50' input='volts'/>", "pos vel ff voltage");
    is_refused("<dcmotor joint='j' nominal='12 2 50' controller='1'/>", "input");
    is_refused("<pid joint='j' ki='1' input='vel'/>", "pos");
    is_refused("<orientation joint='j'/>", "ball");
    is_refused("<motor joint='j' delay='0.1'/>", "nsample");
}

TEST_MAIN(RUN(a_pid_by_hand), RUN(the_integral_takes_the_error_away),
          RUN(a_motor_does_what_its_data_sheet_says), RUN(the_current_follows_the_voltage),
          RUN(stiff_bristles_hold_and_slip), RUN(an_orientation_is_reached),
          RUN(controls_are_delayed), RUN(what_is_missing_is_said))
