/* Bodies by themselves, and models that actuators drive. */
#include "step/motion.h"
#include "step_support.h"

static const char some[] =
    "<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1'/></body>"
    "<body><joint axis='0 1 0'/><geom size='0.1' mass='1'/><body pos='1 0 0'><joint name='j' "
    "axis='0 1 0'/><geom size='0.1' mass='1'/></body></body>"
    "<body><joint type='slide'/><geom size='0.1' mass='1'/></body></worldbody>%s</mujoco>";

static scene with(const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, some, more);
    return scene_text(text);
}

TEST(a_body_by_itself_is_the_only_link_of_its_tree)
{
    scene s = with("");
    const int single[] = { 1, 0, 0, 1 };
    CHECK_INT(s.m->nlink, 5);
    for (int k = 0; k < 4; k++) CHECK_INT(rb_stage_is_single(s.m, k + 1), single[k]);
    scene_free(&s);
}

TEST(actuators_drive_but_not_at_strict_nor_where_bounces_are_asked_for)
{
    scene s = with("<actuator><motor joint='j'/></actuator>"), t = with("");
    rb_stage stage = { .m = s.m, .o = &s.o, .attempt.tol = 1e-6 };
    CHECK_INT(rb_stage_is_driven(&stage), 1);
    stage.attempt.tol = 1e-9;
    CHECK_INT(rb_stage_is_driven(&stage), 0);
    stage.attempt.tol = 1e-6;
    s.o.restitution = 0.5;
    CHECK_INT(rb_stage_is_driven(&stage), 0);
    stage.o = &t.o;
    stage.m = t.m;
    CHECK_INT(rb_stage_is_driven(&stage), 0);
    scene_free(&s);
    scene_free(&t);
}

TEST_MAIN(RUN(a_body_by_itself_is_the_only_link_of_its_tree),
          RUN(actuators_drive_but_not_at_strict_nor_where_bounces_are_asked_for))
