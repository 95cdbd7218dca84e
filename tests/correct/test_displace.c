/* The least displacement that takes gaps where they are asked to end (S.36). */
#include "base/constants.h"
#include "correct/displace.h"
#include "step_support.h"

static rb_displace ask(const scene *s, double share)
{
    return (rb_displace){ .m = s->m,
                          .d = s->d,
                          .o = &s->o,
                          .size = s->m->extent,
                          .deep = RB_GAP_DEEP * s->m->extent,
                          .reach = 1.0,
                          .share = share,
                          .most = INFINITY,
                          .max_rounds = 6 };
}

/* Two balls, 4 cm deep in each other, 1 kg and 3 kg: each goes by the mass of the other one. */
TEST(masses_share_the_way)
{
    const double shares[] = { 0.25, 0.5, 1.0 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_text("<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1'/>"
                             "</body><body pos='0.16 0 0'><freejoint/><geom size='0.1' mass='3'/>"
                             "</body></worldbody></mujoco>");
        rb_displace x = ask(&s, shares[k]);
        CHECK_INT(rb_displace_run(&x), RB_OK);
        CHECK_INT(x.moved, 1);
        CHECK_NEAR(x.before, 0.04, 1e-12);
        CHECK_NEAR(x.after, 0.04 * (1.0 - shares[k]), 1e-6);
        CHECK_NEAR(s.d->q[0], -0.75 * 0.04 * shares[k], 1e-6);
        CHECK_NEAR(s.d->q[7], 0.16 + 0.25 * 0.04 * shares[k], 1e-6);
        for (int j = 0; j < s.m->nv; j++) CHECK(s.d->v[j] == 0.0);
        scene_free(&s);
    }
}

/* A slide beyond its limit goes back to it, and what is within stays where it is. */
TEST(a_joint_goes_back_to_its_limit)
{
    scene s = scene_text(
        "<mujoco><worldbody><body><joint type='slide' axis='1 0 0' limited='true' range='-1 0.5'/>"
        "<geom size='0.1' mass='1'/></body></worldbody></mujoco>");
    s.d->q[0] = 0.55;
    rb_displace x = ask(&s, 1.0);
    CHECK_INT(rb_displace_run(&x), RB_OK);
    CHECK_NEAR(s.d->q[0], 0.5, 1e-6);
    s.d->q[0] = 0.3;
    x = ask(&s, 1.0);
    CHECK_INT(rb_displace_run(&x), RB_OK);
    CHECK_INT(x.moved, 0);
    CHECK(s.d->q[0] == 0.3);
    scene_free(&s);
}

TEST_MAIN(RUN(masses_share_the_way), RUN(a_joint_goes_back_to_its_limit))
