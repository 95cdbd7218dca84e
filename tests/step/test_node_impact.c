/* Impacts at the node (S.11): height of a bounce, energy, dampers. */
#include "step_support.h"

#define G 9.81

TEST(a_ball_bounces_to_where_restitution_lets_it)
{
    const double steps[] = { 0.0005, 0.002, 0.01 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1'/><body "
                             "pos='0 0 1.1'><freejoint/><geom size='0.1'/></body></worldbody>"
                             "</mujoco>",
                             steps[k]);
        double top = 0.0;
        s.o.restitution = 0.9;
        while (s.d->v[2] <= 0.0) scene_step(&s);
        for (; s.d->v[2] > 0.0; scene_step(&s))
            top = fmax(top, s.d->q[2] + 0.5 * s.d->v[2] * s.d->v[2] / G - 0.1);
        CHECK_NEAR(top, 0.81, 1e-9);
        CHECK(s.worst.energy_created <= 1e-12);
        scene_free(&s);
    }
}

TEST(an_elastic_ball_keeps_its_energy)
{
    scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 1.1'>"
                         "<freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
                         0.002);
    s.o.restitution = 1.0;
    double E = scene_energy(&s);
    scene_run(&s, 20.0);
    CHECK_NEAR(scene_energy(&s), E, 1e-9 * E);
    scene_free(&s);
}

/* An impact takes no time: dampers have no part in it. */
TEST(dampers_do_not_change_a_bounce)
{
    scene s =
        scene_node("<mujoco><option gravity='0 0 0'/><worldbody><geom size='0.1' pos='1 0.3 0'/>"
                   "<body><joint axis='0 0 1' damping='5'/><inertial pos='0.5 0 0' mass='1' "
                   "diaginertia='1 1 0.25'/><geom size='0.1' pos='1 0 0' mass='0'/></body>"
                   "</worldbody></mujoco>",
                   0.002);
    double before = s.d->v[0] = 4.0, inertia = 0.5, arm = 0.0, p = 0.0;
    s.o.restitution = 1.0;
    s.o.friction = 0.0;
    while (s.d->v[0] > 0.0) before = s.d->v[0], scene_step(&s);
    for (int i = 0; i < s.d->ntouch; i++) {
        const rb_touch *touch = &s.d->touch[i];
        p += touch->p[0];
        arm = fabs(touch->frame[1] * touch->pos[0] - touch->frame[0] * touch->pos[1]);
    }
    CHECK_NEAR(p * arm, inertia * 2.0 * before, 1e-9);
    scene_free(&s);
}

TEST_MAIN(RUN(a_ball_bounces_to_where_restitution_lets_it), RUN(an_elastic_ball_keeps_its_energy),
          RUN(dampers_do_not_change_a_bounce))
