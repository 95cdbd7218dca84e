/* Fluid forces (D.25), (D.26): by hand, and what they do to motion. Beside MuJoCo: tests/oracle. */
#include "mjcf_support.h"
#include "rattleback/step.h"

#include <math.h>

#define PI 3.14159265358979323846

static const char *const box =
    "<mujoco><option density='2' viscosity='0.5' wind='0 0 3' gravity='0 0 -9.81'/><worldbody>"
    "<body><freejoint/><geom type='box' size='0.1 0.2 0.3' mass='6' "
    "%s/></body></worldbody></mujoco>";

static rb_model *make(const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, box, more);
    return compile(read_text(text));
}

static void forces(const rb_model *m, rb_data *d)
{
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_passive(m, d);
}

/* The box of the same inertia is the box itself: sides 0.2, 0.4, 0.6, mean 0.4. */
TEST(a_box_by_hand)
{
    rb_model *m = make("");
    rb_data *d = rb_data_new(m, NULL);
    d->v[0] = 2.0;
    d->v[2] = 3.0; /* with the wind */
    d->v[4] = -1.5;
    forces(m, d);
    CHECK_NEAR(d->passive[0], -3.0 * PI * 0.5 * 0.4 * 2.0 - 0.5 * 2.0 * 0.4 * 0.6 * 4.0, 1e-12);
    CHECK_NEAR(d->passive[1], 0.0, 1e-12);
    CHECK_NEAR(d->passive[2], 0.0, 1e-12);
    double fourth = 0.2 * 0.2 * 0.2 * 0.2 + 0.6 * 0.6 * 0.6 * 0.6;
    CHECK_NEAR(d->passive[4],
               PI * 0.5 * 0.4 * 0.4 * 0.4 * 1.5 + 2.0 / 64.0 * 0.4 * fourth * 1.5 * 1.5, 1e-12);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A ball carries half its volume along: kappa = 2/3, which the rule of 15 points has to 1e-5. */
TEST(a_ball_carries_half_its_volume)
{
    rb_model *m =
        compile(read_text("<mujoco><option density='2'/><worldbody><body><freejoint/>"
                          "<geom size='0.3' fluidshape='ellipsoid'/></body></worldbody></mujoco>"));
    double volume = 4.0 / 3.0 * PI * 0.027;
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(m->geom_fluid[0].mass[i], 0.5 * volume, 1e-5 * volume);
        CHECK_NEAR(m->geom_fluid[0].moment[i], 0.0, 1e-12);
    }
    rb_model_free(m, NULL);
}

/* A body that falls ends at the velocity where drag holds its weight, and never gains energy beside
 * its weight. */
TEST(a_body_falls_at_last_evenly)
{
    const char *const kinds[] = { "", "fluidshape='ellipsoid'" };
    for (int k = 0; k < 2; k++) {
        rb_model *m = make(kinds[k]);
        rb_data *d = rb_data_new(m, NULL);
        rb_step_opts opts = rb_step_opts_default();
        m->option.wind[2] = 0.0;
        opts.h = 0.01;
        for (int i = 0; i < 3000; i++) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
        forces(m, d);
        CHECK_NEAR(d->passive[2], 6.0 * 9.81, 1e-6);
        rb_data_free(d);
        rb_model_free(m, NULL);
    }
}

TEST_MAIN(RUN(a_box_by_hand), RUN(a_ball_carries_half_its_volume), RUN(a_body_falls_at_last_evenly))
