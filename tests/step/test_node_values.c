/* Values of rows at the end of a step: slip is a displacement of what touches (S.7). */
#include "math/vec3.h"
#include "step_support.h"

#define G 9.81

/* ---- what rolls --------------------------------------------------------------------------------
 */

/* 5/7 of the speed it had, and on it rolls, whatever the step. */
TEST(a_ball_that_slides_begins_to_roll)
{
    const double steps[] = { 0.001, 0.004, 0.02 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1' friction='0.3'/>"
                             "<body pos='0 0 0.1'><freejoint/><geom size='0.1' friction='0.3'/>"
                             "</body></worldbody></mujoco>",
                             steps[k]);
        s.d->v[0] = 2.0;
        scene_run(&s, 0.4);
        CHECK_NEAR(s.d->v[0], 10.0 / 7.0, 1e-9);
        CHECK_NEAR(s.d->v[4], 100.0 / 7.0, 1e-8);
        scene_free(&s);
    }
}

/* A roller on a slope: 2/3 g sin a, and nothing is lost. */
TEST(a_cylinder_rolls_down)
{
    scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1' zaxis='0.1 0 1' "
                         "friction='1'/><body pos='0 0 0.100498756211209'><freejoint/>"
                         "<geom type='cylinder' size='0.1 0.2' euler='90 0 0' friction='1'/></body>"
                         "</worldbody></mujoco>",
                         0.01);
    double E = scene_energy(&s);
    scene_run(&s, 1.0);
    CHECK_NEAR(scene_energy(&s), E, 1e-6 * G);
    double fall = 0.1 / sqrt(1.01);
    CHECK_NEAR(rb_norm3(s.d->v), 2.0 / 3.0 * G * fall, 1e-6);
    scene_free(&s);
}

/* ---- friction ---------------------------------------------------------------------------------
 */

TEST(a_box_slides_as_friction_lets_it)
{
    scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1' friction='0.5'/>"
                         "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
                         "friction='0.5'/></body></worldbody></mujoco>",
                         0.002);
    s.o.accuracy = RB_ACCURACY_STRICT;
    s.d->v[0] = 2.0;
    scene_run(&s, 0.2);
    CHECK_NEAR(s.d->v[0], 2.0 - 0.5 * G * 0.2, 1e-8);
    CHECK_NEAR(s.d->q[0], 2.0 * 0.2 - 0.25 * G * 0.04, 1e-8);
    scene_run(&s, 0.4);
    CHECK(s.d->v[0] == 0.0 && s.info.resting == 1);
    scene_free(&s);
}

TEST_MAIN(RUN(a_ball_that_slides_begins_to_roll), RUN(a_cylinder_rolls_down),
          RUN(a_box_slides_as_friction_lets_it))
