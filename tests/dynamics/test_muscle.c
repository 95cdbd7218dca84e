/* Muscles (D.31), slider-cranks (D.32) and adhesion: by hand, and in motion. Beside MuJoCo:
 * tests/oracle/forces.py. */
#include "mjcf_support.h"
#include "rattleback/step.h"

#include <math.h>

/* A slide of 1 kg; the muscle is 0.4 m long at best (range 0.75 .. 1.25 over 0.2 m). */
static const char *const pull =
    "<mujoco><option gravity='0 0 0' timestep='0.005'/><worldbody><body>"
    "<joint name='j' type='slide' axis='1 0 0'/><geom size='0.1' mass='1'/></body></worldbody>"
    "<actuator><muscle joint='j' lengthrange='-0.1 0.1' range='0.75 1.25' force='100'"
    " timeconst='0.01 0.04'/></actuator></mujoco>";

static double force_at(const rb_model *m, rb_data *d, double q, double v, double act)
{
    d->q[0] = q;
    d->v[0] = v;
    d->act[0] = act;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_actuation(m, d);
    return d->actuation[0];
}

TEST(a_muscle_by_hand)
{
    rb_model *m = compile(read_text(pull));
    rb_data *d = rb_data_new(m, NULL);
    CHECK_NEAR(force_at(m, d, 0.0, 0.0, 1.0), -100.0, 1e-9); /* L = 1            */
    CHECK_NEAR(force_at(m, d, 0.0, 0.0, 0.25), -25.0, 1e-9); /* a quarter of it  */
    CHECK_NEAR(force_at(m, d, -0.1, 0.0, 1.0), -50.0, 1e-9); /* L = 0.75: half   */
    CHECK_NEAR(force_at(m, d, 0.0, -0.3, 1.0), -25.0, 1e-9); /* V = -1/2         */
    CHECK_NEAR(force_at(m, d, 0.0, 9.0, 1.0), -120.0, 1e-9); /* fvmax            */
    CHECK_NEAR(force_at(m, d, 0.12, 0.0, 0.0), -65.0, 1e-9); /* L = 1.3: fpmax/2 */
    d->ctrl[0] = 2.0;
    force_at(m, d, 0.0, 0.0, 0.5);
    CHECK_NEAR(d->act_dot[0], 0.5 / (0.01 * 1.25), 1e-9);
    d->ctrl[0] = 0.0;
    force_at(m, d, 0.0, 0.0, 0.5);
    CHECK_NEAR(d->act_dot[0], -0.5 / (0.04 / 1.25), 1e-9);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* Excited, it shortens; activations stay within 0 and 1 whatever the step. */
TEST(a_muscle_pulls_and_is_stable_at_long_steps)
{
    rb_model *m = compile(read_text(pull));
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    opts.h = 0.05;
    d->ctrl[0] = 1.0;
    for (int i = 0; i < 40; i++) {
        CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
        CHECK(d->act[0] >= 0.0 && d->act[0] <= 1.0);
        CHECK(fabs(d->v[0]) < 2.0);
    }
    CHECK(d->q[0] < -0.1);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A block of 1 kg below a ceiling: adhesion of 15 N holds its weight, one of 5 N does not. What
 * touches at the start of a step is held from then on. */
TEST(adhesion_holds_a_weight)
{
    rb_model *m = compile(
        read_text("<mujoco><option timestep='0.002'/><worldbody>"
                  "<geom type='box' size='1 1 0.1' pos='0 0 1.1'/><body name='b' pos='0 0 0.9'>"
                  "<freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body></worldbody>"
                  "<actuator><adhesion body='b' gain='5' ctrlrange='0 3'/></actuator></mujoco>"));
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    for (int k = 0; k < 2; k++) {
        rb_data_reset(m, d);
        d->ctrl[0] = 3.0;
        d->v[2] = 0.05; /* against the ceiling, so that the first step has contacts */
        for (int i = 0; i < 10; i++) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
        CHECK_NEAR(d->q[2], 0.9, 1e-4);
        if (k % 2 == 1) d->ctrl[0] = 1.0;
        for (int i = 0; i < 200; i++) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
        if (k % 2 == 0) CHECK_NEAR(d->q[2], 0.9, 1e-4);
        if (k % 2 == 1) CHECK(d->q[2] < 0.8);
    }
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* a from -60 to 90 degrees, b from -120 to 10, c = 0.5 a: lengths of a tendon that is a sum are at
 * corners, those of a string where it is straight or folded. A crank without limits has a range by
 * its geometry; a wheel has none. */
TEST(lengths_of_muscles_are_searched_for)
{
    rb_model *m = compile(read_text(
        "<mujoco><worldbody><site name='o' pos='0 0 0.5'/><body><joint name='a' axis='0 1 0' "
        "range='-60 90'/>"
        "<geom size='0.1' pos='0.1 0 0'/><body><joint name='b' axis='0 1 0' range='-120 10'/>"
        "<geom size='0.1' pos='0.1 0 0'/><body><joint name='c' axis='0 1 0'/><geom "
        "size='0.1'/></body>"
        "</body></body><body><joint name='w' axis='0 1 0'/><geom size='0.1'/>"
        "<site name='pin' pos='0.2 0 0'/></body></worldbody>"
        "<equality><joint joint1='c' joint2='a' polycoef='0 0.5 0 0 0'/></equality>"
        "<tendon><fixed name='sum'><joint joint='a' coef='1'/><joint joint='b' coef='-2'/></fixed>"
        "<fixed name='led'><joint joint='c' coef='1'/></fixed>"
        "<spatial name='string'><site site='o'/><site site='pin'/></spatial></tendon>"
        "<actuator><muscle tendon='sum'/><muscle tendon='led'/><muscle tendon='string'/>"
        "<muscle joint='a' gear='-2'/></actuator></mujoco>"));
    double degree = 3.14159265358979323846 / 180.0;
    const double *range = m->act_length_range;
    CHECK_VECTOR(range, 1e-6, -80 * degree, 330 * degree);
    CHECK_VECTOR(range + 2, 1e-6, -30 * degree, 45 * degree);
    CHECK_VECTOR(range + 4, 1e-6, 0.3, 0.7);
    CHECK_VECTOR(range + 6, 1e-12, -180 * degree, 120 * degree);
    rb_model_free(m, NULL);

    rb_error err = { 0 };
    const char *wheel =
        "<mujoco><worldbody><body><joint name='w'/><geom size='0.1'/></body></worldbody>"
        "<actuator><muscle name='m' joint='w'/></actuator></mujoco>";
    CHECK(rb_spec_read_memory(wheel, strlen(wheel), NULL, NULL, NULL, &err) == NULL);
    CHECK_CONTAINS(err.text, "lengthrange");
}

TEST_MAIN(RUN(a_muscle_by_hand), RUN(lengths_of_muscles_are_searched_for),
          RUN(a_muscle_pulls_and_is_stable_at_long_steps), RUN(adhesion_holds_a_weight))
