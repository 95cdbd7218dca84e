/* Rows of loops that others imply and that contradict them (S.8). */
#include "step_support.h"

/* A hinge made of two points, which are 2e-8 m farther apart on one body than on the other. */
TEST(points_of_one_axis_may_disagree)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002'/><worldbody>"
        "<body pos='0 0 1'><joint axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0.1 0 0' size='0.01' contype='0'/>"
        "<body pos='0.1 0 0'><joint axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0.2 0 -0.1' size='0.01' contype='0'/>"
        "<site name='a' pos='0.2 -0.02 -0.1'/><site name='b' pos='0.2 0.02 -0.1'/></body></body>"
        "<body pos='0.3 0 0.7'><joint axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 0.2' size='0.01' contype='0'/>"
        "<site name='c' pos='0 -0.02 0.2'/><site name='d' pos='0 0.02000002 0.2'/></body>"
        "</worldbody><equality><connect site1='a' site2='c'/><connect site1='b' site2='d'/>"
        "</equality></mujoco>");
    int repairs = 0;
    for (int i = 0; i < 50; i++) {
        scene_step(&s);
        repairs += s.info.repairs;
    }
    CHECK(repairs <=
          3 * 50); /* 4 a step where all rows are asked for, 11 where all repairs are made */
    CHECK(s.worst.residual <= rb_step_opts_tol(&s.o));
    CHECK(s.worst.loop_error <= 2.5e-8);
    scene_free(&s);
}

TEST_MAIN(RUN(points_of_one_axis_may_disagree))
