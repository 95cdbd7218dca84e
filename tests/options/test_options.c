/* Options of a step: their defaults, what is refused, steppers by their names. */
#include <math.h>

#include "step_support.h"

static const char cart[] =
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
    "<body name='one'><joint name='rail' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "<body name='hand' mocap='true' pos='0 3 0'><geom type='sphere' size='0.1'/></body>"
    "</worldbody><actuator><motor name='pull' joint='rail'/><motor name='push' joint='rail'/>"
    "</actuator></mujoco>";

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

TEST(steppers_have_names)
{
    for (int k = RB_STEPPER_FIXED; k <= RB_STEPPER_HYBRID; k++) {
        rb_stepper found = RB_STEPPER_FIXED;
        CHECK_INT(rb_stepper_find(rb_stepper_name((rb_stepper)k), &found), 1);
        CHECK_INT(found, k);
    }
    rb_stepper found = RB_STEPPER_HYBRID;
    CHECK_INT(rb_stepper_find("leapfrog", &found), 0);
    CHECK_INT(found, RB_STEPPER_HYBRID);
}

/* One option out of range: the step says which, and the state is as it was. */
static void check_refused(const rb_step_opts *o, const char *word)
{
    scene s = scene_text(cart);
    uint64_t before = rb_data_hash(s.d);
    rb_error err = { 0 };
    CHECK_INT(rb_step(s.m, s.d, o, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, word);
    CHECK(rb_data_hash(s.d) == before);
    scene_free(&s);
}

TEST(what_is_out_of_range_is_refused)
{
    rb_step_opts o = rb_step_opts_default();
    o.h = -0.01;
    check_refused(&o, "step");
    o = rb_step_opts_default();
    o.tol = NAN;
    check_refused(&o, "tol");
    o = rb_step_opts_default();
    o.directions = 5;
    check_refused(&o, "directions");
    o = rb_step_opts_default();
    o.formulation = NULL;
    check_refused(&o, "rb_step_opts_default");
}

TEST_MAIN(RUN(no_options_are_the_defaults), RUN(steppers_have_names),
          RUN(what_is_out_of_range_is_refused))
