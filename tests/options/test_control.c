/* Control instants: when a step calls the controller. */
#include <math.h>

#include "step_support.h"

static const char cart[] =
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
    "<body name='one'><joint name='rail' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "<body name='hand' mocap='true' pos='0 3 0'><geom type='sphere' size='0.1'/></body>"
    "</worldbody><actuator><motor name='pull' joint='rail'/><motor name='push' joint='rail'/>"
    "</actuator></mujoco>";

typedef struct driver {
    int asked;
    double times[64];
    double force;
} driver;

static rb_status drive(void *ctx, const rb_model *m, rb_data *d, double h, rb_error *err)
{
    driver *who = ctx;
    (void)m, (void)h, (void)err;
    if (who->asked < 64) who->times[who->asked] = d->time;
    who->asked++;
    d->ctrl[1] = who->force;
    return RB_OK;
}

TEST(instants_are_multiples_whoever_steps)
{
    scene s = scene_text(cart);
    driver who = { .force = 2.0 };
    s.o.control = (rb_control){ .set = drive, .ctx = &who, .every = 0.05 };
    for (int k = 0; k < 20; k++) CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, NULL), RB_OK);
    CHECK_INT(who.asked, 4);
    for (int k = 0; k < 4; k++) CHECK_NEAR(who.times[k], 0.05 * k, 1e-12);
    CHECK_NEAR(s.d->v[0], 0.2, 1e-12);

    /* a copy goes on with the same bits */
    rb_data *other = rb_data_new(s.m, NULL);
    CHECK_INT(rb_data_copy(s.m, other, s.d), RB_OK);
    for (int k = 0; k < 7; k++) CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, NULL), RB_OK);
    for (int k = 0; k < 7; k++) CHECK_INT(rb_step(s.m, other, &s.o, NULL, NULL), RB_OK);
    CHECK(rb_data_hash(s.d) == rb_data_hash(other));
    rb_data_free(other);
    scene_free(&s);
}

TEST(no_instant_is_missed_or_asked_twice_in_a_long_run)
{
    const double rates[] = { 0.1, 0.02, 0.0033, 1.0 / 3.0 };
    for (int r = 0; r < 4; r++) {
        rb_control control = { .every = rates[r] };
        double h = 0.001, time = 0.0;
        int asked = 0, steps = 100000;
        for (int k = 0; k < steps; k++, time += h) asked += rb_control_is_due(&control, time, h);
        CHECK_INT(asked, (int)floor(((steps - 1) * h + 1e-9) / rates[r]) + 1);
    }
}

static rb_status refuse(void *ctx, const rb_model *m, rb_data *d, double h, rb_error *err)
{
    (void)ctx, (void)m, (void)d, (void)h, (void)err;
    return RB_FILE;
}

TEST(a_driver_that_gives_up_ends_the_step)
{
    scene s = scene_text(cart);
    uint64_t hash = rb_data_hash(s.d);
    s.o.control.set = refuse;
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, NULL), RB_FILE);
    CHECK(rb_data_hash(s.d) == hash);
    s.o.control.every = -1.0;
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, NULL), RB_BAD_INPUT);
    scene_free(&s);
}

TEST_MAIN(RUN(instants_are_multiples_whoever_steps),
          RUN(no_instant_is_missed_or_asked_twice_in_a_long_run),
          RUN(a_driver_that_gives_up_ends_the_step))
