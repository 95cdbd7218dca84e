/* Sticky geoms (F.5) and surfaces that run or turn (F.3), as MJCF says them. */
#include "mjcf_support.h"
#include "rattleback/step.h"

#include <math.h>

/* A cube of 0.2 m, 8 kg, 78.48 N, with its four corners on a wall, a ceiling or a floor. */
static rb_model *cube(const char *world, const char *attributes, const char *rest)
{
    char text[1600];
    snprintf(
        text, sizeof text,
        "<mujoco><worldbody><geom name='w' %s/><body><freejoint/>"
        "<geom name='c' type='box' size='0.1 0.1 0.1' mass='8' %s/></body></worldbody>%s</mujoco>",
        world, attributes, rest);
    return compile(read_text(text));
}

/* State after a second. */
static rb_data *after(rb_model *m)
{
    rb_data *d = rb_data_new(m, NULL);
    rb_step_opts opts = rb_step_opts_default();
    while (d->time < 1.0 - 1e-9) CHECK_INT(rb_step(m, d, &opts, NULL, NULL), RB_OK);
    return d;
}

/* Height after a second; takes the model. */
static double height_after(rb_model *m)
{
    rb_data *d = after(m);
    double z = d->q[2];
    rb_data_free(d);
    rb_model_free(m, NULL);
    return z;
}

static const char *const ceiling = "type='box' size='1 1 0.1' pos='0 0 0.2'";
static const char *const wall = "type='box' size='0.1 1 1' pos='0.2 0 0'";

TEST(a_ceiling_holds_what_its_contacts_can_pull)
{
    CHECK(height_after(cube(ceiling, "adhesion='20'", "")) == 0.0); /* 4 x 20 N > 78.48 N */
    CHECK(height_after(cube(ceiling, "adhesion='19'", "")) < -4.0);
    CHECK(height_after(cube(ceiling, "", "")) < -4.0);
}

/* Both geoms add up, unless one has priority, or a pair says otherwise. */
TEST(adhesion_of_both_geoms)
{
    char sticky[128];
    snprintf(sticky, sizeof sticky, "%s adhesion='10.5'", ceiling);
    CHECK(height_after(cube(sticky, "adhesion='9.5'", "")) == 0.0);
    CHECK(height_after(cube(sticky, "adhesion='9.5' priority='1'", "")) < -4.0);
    const char *pair = "<contact><pair geom1='w' geom2='c' adhesion='1'/></contact>";
    CHECK(height_after(cube(sticky, "adhesion='9.5'", pair)) < -4.0);
    pair = "<contact><pair geom1='w' geom2='c' adhesion='20'/></contact>";
    CHECK(height_after(cube(ceiling, "", pair)) == 0.0);
}

/* On a wall friction carries: mu times what adhesion presses with. */
TEST(a_wall_carries_by_friction)
{
    CHECK(height_after(cube(wall, "adhesion='20' friction='1'", "")) == 0.0);
    CHECK(height_after(cube(wall, "adhesion='19' friction='1'", "")) < -0.1);
}

TEST(a_turntable_takes_along)
{
    char table[160];
    snprintf(table, sizeof table,
             "type='box' size='2 2 0.1' pos='0 0 -0.2' surfacevel='0.1 0 5 0 0 2'");
    rb_model *m = cube(table, "friction='1'", "");
    rb_data *d = after(m);
    double x = d->q[0], y = d->q[1];
    CHECK_NEAR(d->v[5], 2.0, 1e-6); /* it turns with it, and is where the surface is as fast */
    CHECK_NEAR(d->v[0], 0.1 - 2.0 * y, 1e-3);
    CHECK_NEAR(d->v[1], 2.0 * x, 1e-3);
    CHECK_NEAR(d->q[2], 0.0, 1e-9); /* nothing along the normal */
    rb_data_free(d);
    rb_model_free(m, NULL);
}

/* A ball on the axis is turned by torsional friction alone. */
TEST(torsion_feels_the_turn)
{
    rb_model *m = compile(read_text(
        "<mujoco><worldbody><geom type='cylinder' size='1 0.1' surfacevel='0 0 0 0 0 2'/>"
        "<body pos='0 0 0.2'><freejoint/><geom size='0.1' condim='4' friction='1 0.05 0'/></body>"
        "</worldbody></mujoco>"));
    rb_data *d = after(m);
    CHECK_NEAR(d->v[5], 2.0, 1e-6);
    CHECK_NEAR(d->q[0], 0.0, 1e-9);
    rb_data_free(d);
    rb_model_free(m, NULL);
}

TEST_MAIN(RUN(a_ceiling_holds_what_its_contacts_can_pull), RUN(adhesion_of_both_geoms),
          RUN(a_wall_carries_by_friction), RUN(a_turntable_takes_along),
          RUN(torsion_feels_the_turn))
