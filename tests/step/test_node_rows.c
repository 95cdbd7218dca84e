/* Rows that were first seen at the end of a step (S.9). */
#include "step_support.h"

/* A tendon with a range of 2 mm, which a motor crosses in a step: its other end got no row, and the
 * step was halved until it stopped there. */
TEST(a_narrow_range_stops_at_both_of_its_ends)
{
    scene s = scene_node(
        "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='x' type='slide' axis='1 0 "
        "0'/><geom size='0.05' mass='0.01'/></body></worldbody><tendon><fixed limited='true' "
        "range='-0.001 0.001'><joint joint='x' coef='1'/></fixed></tendon>"
        "<actuator><motor joint='x' gear='100' ctrllimited='false'/></actuator></mujoco>",
        0.002);
    for (int k = 0; k < 20; k++) {
        s.d->ctrl[0] = k % 2 ? -1.0 : 1.0;
        s.d->v[0] = 0.0;
        scene_step(&s);
        CHECK_INT(s.info.parts, 1);
        CHECK_NEAR(s.d->q[0], k % 2 ? -0.001 : 0.001, scene_deep(&s));
    }
    scene_free(&s);
}

/* A ball 12 cm deep in a rough ground, along whose faces it runs: a new face below it is deeper
 * than the last one. To lift the ball by that within a step made 3e5 J. */
TEST(a_ball_within_a_rough_ground_is_not_thrown_out)
{
    scene s = scene_node(
        "<mujoco><asset><hfield name='h' nrow='9' ncol='9' size='1 1 0.05 0.2' elevation='"
        "1 4 0 2 0 3 3 3 3  1 0 3 0 3 3 4 0 3  2 1 4 0 2 0 0 0 4  "
        "0 3 1 3 0 4 1 3 3  4 1 2 1 1 3 2 0 3  4 0 1 2 0 2 4 3 4  "
        "1 2 2 4 3 4 3 4 0  3 1 3 3 1 2 4 2 0  3 4 0 1 4 3 2 3 0"
        "'/></asset><worldbody><geom type='hfield' hfield='h'/><body pos='-0.3 0.1 -0.08'>"
        "<freejoint/><geom size='0.02' mass='1' friction='0'/></body></worldbody></mujoco>",
        0.002);
    s.o.keep_errors = 1;
    s.d->v[0] = 1.0;
    s.d->v[1] = 0.2;
    double before = scene_energy(&s);
    scene_run(&s, 0.4);
    CHECK(scene_energy(&s) <= before + 1e-3);
    CHECK(s.worst.energy_created <= 1e-3);
    scene_free(&s);
}

/* Two mechanisms that begin in each other are no obstacle to each other until they are apart (F.9).
 * The step was halved until their overlap grew by less than a quarter of them. */
TEST(what_begins_in_each_other_does_not_pass_through_it)
{
    scene s = scene_node(
        "<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0'/><geom "
        "type='box' size='0.05 0.2 0.2' mass='1'/><body pos='0 0 1'><joint axis='1 0 0'/><geom "
        "size='0.05' mass='1'/></body></body><body pos='0.09 0 0'><joint type='slide' axis='1 0 "
        "0'/><geom type='box' size='0.05 0.2 0.2' mass='1'/><body pos='0 0 -1'><joint axis='1 0 "
        "0'/><geom size='0.05' mass='1'/></body></body></worldbody></mujoco>",
        0.002);
    s.d->v[0] = 15.0;
    s.d->v[2] = -15.0;
    scene_step(&s);
    CHECK_INT(s.info.parts, 1);
    CHECK_NEAR(s.d->v[0], 15.0, 1e-12);
    scene_free(&s);
}

TEST_MAIN(RUN(a_narrow_range_stops_at_both_of_its_ends),
          RUN(a_ball_within_a_rough_ground_is_not_thrown_out),
          RUN(what_begins_in_each_other_does_not_pass_through_it))
