/* Rest within the node rule (S.22). */
#include "step_support.h"

#define G 9.81

/* Two balls that touch and stand, and two that touch and fly, where nothing weighs. */
TEST(what_flies_does_not_rest_beside_what_stands)
{
    scene s = scene_node("<mujoco><option gravity='0 0 0'/><worldbody>"
                         "<body><freejoint/><geom size='0.1'/></body>"
                         "<body pos='0.2 0 0'><freejoint/><geom size='0.1'/></body>"
                         "<body pos='0 5 0'><freejoint/><geom size='0.1'/></body>"
                         "<body pos='0.2 5 0'><freejoint/><geom size='0.1'/></body>"
                         "</worldbody></mujoco>",
                         0.002);
    s.d->v[12] = s.d->v[18] = 1.0;
    scene_run(&s, 0.1);
    CHECK_NEAR(s.d->q[14], 0.1, 1e-12);
    CHECK_NEAR(s.d->q[21], 0.3, 1e-12);
    CHECK(s.d->v[0] == 0.0 && s.d->v[6] == 0.0);
    scene_free(&s);
}

/* A quadruped on servos comes to stand, to the bit. */
TEST(a_quadruped_stands_still)
{
    scene s = scene_file("peers/quadruped.xml");
    s.o.scheme = RB_SCHEME_NODE;
    scene_run(&s, 1.5);
    for (int j = 0; j < s.m->nv; j++) CHECK(s.d->v[j] == 0.0);
    scene_free(&s);
}

TEST(a_stack_stands_still)
{
    scene s = scene_file("peers/stack_100.xml");
    s.o.scheme = RB_SCHEME_NODE;
    scene_run(&s, 0.5);
    for (int j = 0; j < s.m->nv; j++) CHECK(s.d->v[j] == 0.0);
    CHECK_INT(s.info.resting, 1);
    scene_free(&s);
}

TEST_MAIN(RUN(what_flies_does_not_rest_beside_what_stands), RUN(a_quadruped_stands_still),
          RUN(a_stack_stands_still))
