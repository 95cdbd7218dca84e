/* Limits of joints in steps. */
#include "step_support.h"

/* A pendulum that falls on its limit stays there. Rounds find the end of a step and leave the
 * tolerance of the largest velocity: here that of the impact, over a step. */
TEST(limits_are_not_passed)
{
    scene s = scene_text("<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 9'>"
                         "<joint axis='0 1 0' limited='true' range='-30 30'/>"
                         "<geom type='sphere' size='0.1' pos='0.5 0 0'/></body></worldbody>"
                         "</mujoco>");
    double most = 30.0 * acos(-1.0) / 180.0, fastest = 0.0, h = s.m->option.timestep;
    for (int i = 0; i < 1000; i++) {
        scene_step(&s);
        fastest = fmax(fastest, fabs(s.d->v[0]));
    }
    double left = rb_step_opts_tol(&s.o) * h * fastest;
    CHECK_NEAR(s.d->q[0], most, left);
    CHECK(s.d->v[0] == 0.0);
    scene_free(&s);
}

TEST_MAIN(RUN(limits_are_not_passed))
