/* Numbers that a step refuses, and joints without inertia: both are named. */
#include <math.h>

#include "step_support.h"

static const char cart[] =
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
    "<body name='one'><joint name='rail' type='slide' axis='1 0 0'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "<body name='hand' mocap='true' pos='0 3 0'><geom type='sphere' size='0.1'/></body>"
    "</worldbody><actuator><motor name='pull' joint='rail'/><motor name='push' joint='rail'/>"
    "</actuator></mujoco>";

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

TEST_MAIN(RUN(numbers_that_are_not_finite_are_named), RUN(a_joint_without_inertia_is_named))
