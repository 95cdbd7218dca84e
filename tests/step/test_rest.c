/* Rest by certificate (S.22): to the bit, up to the friction angle, and with heavy bodies on light
 * ones. */
#include "step_support.h"

#define BOX_ON_PLANE(gravity, mu)                                                                  \
    "<mujoco><option timestep='0.001' gravity='" gravity "'/><worldbody>"                          \
    "<geom type='plane' size='5 5 1' friction='" mu "'/>"                                          \
    "<body pos='0 0 0.1'><freejoint/>"                                                             \
    "<geom type='box' size='0.1 0.1 0.1' friction='" mu "'/></body></worldbody></mujoco>"

TEST(a_box_at_rest_does_not_move_by_a_bit)
{
    scene s = scene_text(BOX_ON_PLANE("0 0 -9.81", "0.5"));
    double q[7];
    memcpy(q, s.d->q, sizeof q);
    for (int i = 0; i < 2000; i++) {
        scene_step(&s);
        CHECK_INT(s.info.resting, 1);
        CHECK(memcmp(q, s.d->q, sizeof q) == 0);
    }
    for (int j = 0; j < 6; j++) CHECK(s.d->v[j] == 0.0);
    CHECK(s.worst.residual <= 1e-12);
    scene_free(&s);
}

/* A slope is a gravity that leans: tan = mu (1 + share). */
static scene box_on_slope(double mu, double angle)
{
    scene s = scene_text(BOX_ON_PLANE("0 0 -9.81", "0.5"));
    s.o.friction = mu;
    s.m->option.gravity[0] = 9.81 * sin(angle);
    s.m->option.gravity[2] = -9.81 * cos(angle);
    return s;
}

TEST(a_slope_at_the_friction_angle_holds_and_a_millionth_more_slides)
{
    double mu = 0.4, angle = atan(mu);
    scene s = box_on_slope(mu, angle - 1e-6);
    for (int i = 0; i < 500; i++) scene_step(&s);
    CHECK(s.d->q[0] == 0.0 && s.d->v[0] == 0.0);
    scene_free(&s);

    s = box_on_slope(mu, angle + 1e-6);
    for (int i = 0; i < 500; i++) scene_step(&s);
    double a = 9.81 * (sin(angle + 1e-6) - mu * cos(angle + 1e-6));
    CHECK_NEAR(s.d->v[0], a * 0.5, 1e-6 * a);
    CHECK_NEAR(s.d->q[0], 0.5 * a * 0.25, 0.01 * a);
    scene_free(&s);
}

static scene stack(int n, double ratio)
{
    char text[8192];
    int at = snprintf(text, sizeof text,
                      "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' "
                      "size='5 5 1' friction='0.5'/>");
    for (int i = 0; i < n; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='0 0 %.17g'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
                       "mass='%.17g' friction='0.5'/></body>",
                       0.1 + 0.2 * i, pow(ratio, i / (n - 1.0)));
    }
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");
    return scene_text(text);
}

TEST(heavy_on_light_stands)
{
    const double ratios[] = { 1.0, 100.0, 1000.0 };
    for (int k = 0; k < 3; k++) {
        scene s = stack(10, ratios[k]);
        for (int i = 0; i < 60; i++) scene_step(&s);
        CHECK(s.worst.residual <= 1e-10);
        CHECK(s.worst.penetration <= 1e-9);
        for (int b = 0; b < 10; b++) {
            CHECK_NEAR(s.d->q[7 * b], 0.0, 1e-9);
            CHECK_NEAR(s.d->q[7 * b + 2], 0.1 + 0.2 * b, 1e-9);
        }
        scene_free(&s);
    }
}

TEST_MAIN(RUN(a_box_at_rest_does_not_move_by_a_bit),
          RUN(a_slope_at_the_friction_angle_holds_and_a_millionth_more_slides),
          RUN(heavy_on_light_stands))
