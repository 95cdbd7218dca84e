/* Spatial tendons (D.27): lengths by hand, Jacobians as gradients, energy of strings that are
 * springs, limits and friction as rows. */
#include "mjcf_support.h"
#include "rattleback/step.h"

#include <math.h>

#define PI 3.14159265358979323846

/* Two links; strings over a ball and a drum, on a side and inside, over pulleys, to a free body. */
static const char *const arm =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body pos='0 0 1'><joint name='a' axis='0 1 0.1'/>"
    "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.03'/>"
    "<site name='s1' pos='0.08 0.01 0.06'/><site name='out' pos='0.3 0 0.1'/>"
    "<site name='in' pos='0.31 0.01 0.01'/>"
    "<geom name='ball' size='0.05' pos='0.3 0.01 0' contype='0' conaffinity='0'/>"
    "<geom name='drum' type='cylinder' size='0.045 0.06' pos='0.3 0 0' euler='80 10 0' contype='0'"
    " conaffinity='0'/>"
    "<body pos='0.3 0 0'><joint name='b' axis='0 1 0'/><joint name='c' axis='0 0 1'/>"
    "<geom type='capsule' fromto='0 0 0 0.25 0 0' size='0.025'/>"
    "<site name='s2' pos='0.12 0.02 0.07'/></body></body>"
    "<body pos='0 0.7 1'><freejoint/><geom size='0.05' pos='0.01 0 0'/><site name='f' pos='0 0 "
    "0.1'/>"
    "</body><site name='w' pos='-0.1 0.02 1.1'/></worldbody><tendon>"
    "<spatial stiffness='30' springlength='0.05 0.1'><site site='w'/><site site='s1'/>"
    "<geom geom='ball'/><site site='s2'/></spatial>"
    "<spatial stiffness='30 10 20' springlength='0.1'><site site='s1'/><geom geom='drum' "
    "sidesite='out'/>"
    "<site site='s2'/></spatial>"
    "<spatial stiffness='30' springlength='0.1'><site site='s1'/><geom geom='ball' sidesite='in'/>"
    "<site site='s2'/></spatial>"
    "<spatial stiffness='20' springlength='0.1'><site site='w'/><site site='f'/><pulley "
    "divisor='2'/>"
    "<site site='f'/><geom geom='drum'/><site site='s1'/></spatial></tendon></mujoco>";

static void shake(const rb_model *m, rb_data *d, rb_rng *rng, double speed)
{
    double *dq = calloc((size_t)m->nv, sizeof *dq);
    CHECK(dq != NULL);
    for (int i = 0; i < m->nv; i++) {
        dq[i] = rb_rng_uniform(rng, -1.2, 1.2);
        d->v[i] = rb_rng_uniform(rng, -speed, speed);
    }
    rb_integrate(m, m->qpos0, dq, 1.0, d->q);
    free(dq);
}

/* The path may change its kind within the difference: states near that are not compared. */
TEST(jacobians_are_gradients)
{
    static const double h = 1e-6;
    rb_model *m = compile(read_text(arm));
    rb_data *d = rb_data_new(m, NULL), *work = rb_data_new(m, NULL);
    rb_rng rng = rb_rng_make(7);
    int compared = 0;
    for (int k = 0; k < 200; k++) {
        shake(m, d, &rng, 1.0);
        rb_kinematics(m, d);
        double ahead[4], back[4];
        rb_integrate(m, d->q, d->v, h, work->q);
        rb_kinematics(m, work);
        for (int t = 0; t < 4; t++) ahead[t] = rb_tendon_length(m, work, t);
        rb_integrate(m, d->q, d->v, -h, work->q);
        rb_kinematics(m, work);
        for (int t = 0; t < 4; t++) {
            back[t] = rb_tendon_length(m, work, t);
            if (fabs(ahead[t] - back[t]) > 1e-4) continue; /* snapped to the other side */
            CHECK_NEAR(rb_tendon_rate(m, d, t), (ahead[t] - back[t]) / (2.0 * h), 1e-7);
            compared++;
        }
    }
    CHECK(compared > 790);
    rb_data_free(work);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A string over half a ball of radius 1: two tangents and an arc. */
TEST(lengths_by_hand)
{
    rb_model *m = compile(read_text(
        "<mujoco><worldbody><geom name='g' size='1'/><site name='a' pos='-1 0 -2'/>"
        "<site name='b' pos='1 0 -3'/><site name='up' pos='0 0 2'/><site name='down' pos='0 0 -2'/>"
        "<body pos='5 0 0'><joint/><geom size='1'/></body></worldbody><tendon>"
        "<spatial><site site='a'/><geom geom='g' sidesite='up'/><site site='b'/></spatial>"
        "<spatial><site site='a'/><geom geom='g' sidesite='down'/><site site='b'/>"
        "<pulley divisor='4'/><site site='a'/><site site='up'/></spatial></tendon></mujoco>"));
    CHECK_NEAR(m->tendon_length0[0], 2.0 + PI + 3.0, 1e-14);
    CHECK_NEAR(m->tendon_length0[1], sqrt(5.0) + sqrt(17.0) / 4.0, 1e-14);
    CHECK_INT(m->tendon_rownum[0], 0);
    rb_model_free(m, NULL);
}

static double energy(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    return rb_energy_kinetic(m, d) + rb_energy_potential(m, d);
}

/* Without dampers the energy of links on elastic strings is kept, to second order in the step,
 * until one of them snaps to the other side of its drum at 0.27 s. */
TEST(smooth_motion_keeps_the_energy)
{
    rb_model *m = compile(read_text(arm));
    rb_data *d = rb_data_new(m, NULL);
    double drift[2];
    for (int k = 0; k < 2; k++) {
        rb_data_reset(m, d);
        d->v[1] = 1.0;
        d->v[5] = 0.3;
        double h = k == 0 ? 1e-3 : 5e-4, before = energy(m, d);
        for (int i = 0; i < (k == 0 ? 250 : 500); i++) {
            rb_smooth_info info;
            CHECK_INT(rb_smooth_step(m, d, h, &info), RB_OK);
            CHECK(info.converged);
        }
        drift[k] = fabs(energy(m, d) - before) / before;
    }
    CHECK(drift[0] < 1e-3);
    CHECK(drift[1] < 0.5 * drift[0] + 1e-6);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A ball on a string of 0.5 m falls, is caught, and swings at that length. */
TEST(a_taut_string_is_a_hard_limit)
{
    rb_model *m = compile(read_text(
        "<mujoco><option timestep='0.002'/><worldbody><site name='w' pos='0 0 2'/>"
        "<body pos='0.3 0 1.8'><freejoint/><geom size='0.05' mass='1'/><site name='b'/></body>"
        "</worldbody><tendon><spatial range='0 0.5' limited='true'><site site='w'/><site site='b'/>"
        "</spatial></tendon></mujoco>"));
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    double longest = 0.0, at_end = 0.0;
    for (int i = 0; i < 1000; i++) {
        rb_error err = { 0 };
        rb_status status = rb_step(m, d, &opts, NULL, &err);
        if (status != RB_OK) say_error(&err);
        CHECK_INT(status, RB_OK);
        rb_kinematics(m, d);
        longest = fmax(longest, rb_tendon_length(m, d, 0));
        if (i > 900) at_end = fmax(at_end, rb_tendon_length(m, d, 0));
    }
    CHECK(longest <= 0.5 + 1e-6);
    CHECK_NEAR(at_end, 0.5, 1e-6);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A weight of 9.81 N on a string with friction of 10 N hangs still; with 9 N it falls at the rest.
 */
TEST(friction_of_a_string_holds)
{
    static const char *const text =
        "<mujoco><worldbody><site name='w1' pos='0 0 2'/><site name='w2' pos='1 0 2'/>"
        "<body pos='0 0 1'><joint type='slide' axis='0 0 1'/><geom size='0.05' mass='1'/>"
        "<site name='a'/></body><body pos='1 0 1'><joint type='slide' axis='0 0 1'/>"
        "<geom size='0.05' mass='1.2'/><site name='b'/></body></worldbody><tendon>"
        "<spatial name='s' limited='true' range='0 3' frictionloss='%s'><site site='a'/>"
        "<site site='w1'/></spatial></tendon></mujoco>";
    const char *const loss[] = { "10", "9" };
    for (int k = 0; k < 2; k++) {
        char model[2048];
        snprintf(model, sizeof model, text, loss[k]);
        rb_model *m = compile(read_text(model));
        rb_data *d = rb_data_new(m, NULL);
        rb_step_opts opts = rb_step_opts_default();
        for (int i = 0; i < 100; i++) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
        double t = 100.0 * m->option.timestep, a = k == 0 ? 0.0 : 9.0 - 9.81;
        CHECK_NEAR(d->v[0], a * t, 1e-9);
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

/* Two strings whose lengths are coupled: what one loses the other gains. */
TEST(strings_are_coupled)
{
    rb_model *m = compile(
        read_text("<mujoco><worldbody><site name='w1' pos='0 0 2'/><site name='w2' pos='1 0 2'/>"
                  "<body pos='0 0 1'><joint type='slide' axis='0 0 1'/><geom size='0.05' mass='1'/>"
                  "<site name='a'/></body><body pos='1 0 1'><joint type='slide' axis='0 0 1'/>"
                  "<geom size='0.05' mass='3'/><site name='b'/></body></worldbody><tendon>"
                  "<spatial name='p'><site site='a'/><site site='w1'/></spatial>"
                  "<spatial name='q'><site site='b'/><site site='w2'/></spatial></tendon><equality>"
                  "<tendon tendon1='p' tendon2='q' polycoef='0 -1 0 0 0'/></equality></mujoco>"));
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    for (int i = 0; i < 100; i++) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
    double t = 100.0 * m->option.timestep;
    CHECK_NEAR(d->v[0], 0.5 * 9.81 * t, 1e-9); /* Atwood: (3 - 1) / (3 + 1) g */
    CHECK_NEAR(d->v[1], -0.5 * 9.81 * t, 1e-9);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

static void expect_refusal(const char *path, const char *word)
{
    char model[2048];
    snprintf(
        model, sizeof model,
        "<mujoco><worldbody><geom name='box' type='box' size='1 1 1'/><geom name='g' size='1'/>"
        "<site name='a'/><site name='b' pos='3 0 0'/><body pos='9 0 0'><joint/><geom size='1'/>"
        "</body></worldbody><tendon><spatial name='s'>%s</spatial></tendon></mujoco>",
        path);
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read_memory(model, strlen(model), NULL, NULL, NULL, &err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, &err) : NULL;
    CHECK(m == NULL);
    CHECK_CONTAINS(err.text, word);
    rb_spec_free(spec);
}

TEST(paths_that_are_none)
{
    expect_refusal("<site site='a'/>", "expected 2 or more");
    expect_refusal("<site site='a'/><geom geom='g'/>", "no site on both sides");
    expect_refusal("<site site='a'/><geom geom='box'/><site site='b'/>", "sphere or a cylinder");
    expect_refusal("<site site='a'/><pulley divisor='2'/><site site='a'/><site site='b'/>",
                   "sites before pulley");
    expect_refusal("<site site='a'/><site site='b'/><pulley divisor='0'/><site site='a'/>"
                   "<site site='b'/>",
                   "divisor");
}

TEST_MAIN(RUN(jacobians_are_gradients), RUN(lengths_by_hand), RUN(smooth_motion_keeps_the_energy),
          RUN(a_taut_string_is_a_hard_limit), RUN(friction_of_a_string_holds),
          RUN(strings_are_coupled), RUN(paths_that_are_none))
