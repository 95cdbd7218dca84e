/* Who drives a step, and what a step refuses to be given. */
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

static void check_named(scene *s, double *number, double value, const char *sentence)
{
    rb_error err = { 0 };
    double was = *number;
    *number = value;
    CHECK_INT(rb_step(s->m, s->d, &s->o, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, sentence);
    err = (rb_error){ 0 };
    CHECK_INT(rb_data_settle(s->m, s->d, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, sentence);
    err = (rb_error){ 0 };
    CHECK_INT(rb_acceleration_problem(s->m, s->d, NULL, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, sentence);
    *number = was;
    CHECK_INT(rb_step(s->m, s->d, &s->o, NULL, &err), RB_OK);
}

/* Two hinges about the same axis. */
TEST(a_joint_without_inertia_is_named)
{
    scene s = scene_text("<mujoco><worldbody><body><joint name='one'/><joint name='two'/>"
                         "<geom size='.1' pos='.3 0 0'/></body></worldbody></mujoco>");
    rb_error err = { 0 };
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_SINGULAR);
    CHECK_CONTAINS(err.text, "joint one moves no mass");
    scene_free(&s);
}

TEST(numbers_that_are_not_finite_are_named)
{
    scene s = scene_text(cart);
    check_named(&s, &s.d->ctrl[1], NAN, "ctrl[1] (actuator push) is not finite but NaN");
    check_named(&s, &s.d->q[0], INFINITY, "q[0] (joint rail) is not finite but infinite");
    check_named(&s, &s.d->v[0], -INFINITY, "v[0] (joint rail)");
    check_named(&s, &s.d->tau[0], NAN, "tau[0] (joint rail)");
    check_named(&s, &s.d->wrench[8], NAN, "wrench[8] (body one)");
    check_named(&s, &s.d->mocap[2], NAN, "mocap[2] (mocap body hand)");
    check_named(&s, &s.d->mocap_v[5], NAN, "mocap_v[5] (mocap body hand)");
    check_named(&s, &s.d->time, NAN, "time is not finite");
    scene_free(&s);
}

TEST(no_options_are_the_defaults)
{
    scene s = scene_text(cart), t = scene_text(cart);
    s.d->ctrl[0] = t.d->ctrl[0] = 1.0;
    CHECK_INT(rb_step(s.m, s.d, NULL, NULL, NULL), RB_OK);
    CHECK_INT(rb_step(t.m, t.d, &t.o, NULL, NULL), RB_OK);
    CHECK(rb_data_hash(s.d) == rb_data_hash(t.d));
    rb_status status;
    CHECK_INT(rb_step_many(s.m, &s.d, 1, NULL, NULL, NULL, &status), RB_OK);
    CHECK(rb_step_opts_tol(NULL) == rb_step_opts_tol(&t.o));
    CHECK(rb_pair_friction(s.m, 0, 1, NULL) == rb_pair_friction(s.m, 0, 1, &t.o));
    scene_free(&s);
    scene_free(&t);
}

TEST_MAIN(RUN(instants_are_multiples_whoever_steps),
          RUN(no_instant_is_missed_or_asked_twice_in_a_long_run),
          RUN(a_driver_that_gives_up_ends_the_step), RUN(numbers_that_are_not_finite_are_named),
          RUN(a_joint_without_inertia_is_named), RUN(no_options_are_the_defaults))
