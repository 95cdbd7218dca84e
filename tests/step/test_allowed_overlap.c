/* Overlap that steps may make goes by the smaller body of a pair (S.17). */
#include "base/constants.h"
#include "step/gaps.h"
#include "step_support.h"

/* A hall of 10 m, a crate of 1 m and a marble of 2 cm. */
static const char hall[] = "<mujoco><worldbody><geom type='box' size='5 5 0.1' pos='0 0 -0.1'/>"
                           "<body><freejoint/><geom type='box' size='0.5 0.5 0.5' mass='1'/></body>"
                           "<body pos='2 0 0'><freejoint/><geom size='0.01' mass='1'/></body>"
                           "</worldbody></mujoco>";

TEST(the_smaller_body_says_how_deep)
{
    for (int k = 0; k < 3; k++) {
        scene s = scene_text(hall);
        s.o.accuracy = (rb_accuracy)k;
        rb_step_given given = rb_step_find_given(s.m, &s.o);
        rb_stage stage = { .m = s.m, .d = s.d, .o = &s.o, .given = &given };
        double share = rb_accuracy_overlap(s.o.accuracy), least = 10.0 * RB_GAP_ZERO * s.m->extent;
        double crate = rb_stage_pair_overlap(&stage, 0, 1), marble, both;
        marble = rb_stage_pair_overlap(&stage, 0, 2);
        both = rb_stage_pair_overlap(&stage, 1, 2);
        CHECK(given.deep == share * s.m->extent && given.h == s.m->option.timestep);
        CHECK(crate == fmax(share * s.m->link_extent[1], least));
        CHECK(marble == fmax(share * s.m->link_extent[2], least));
        CHECK(rb_stage_pair_overlap(&stage, 2, 1) == both);
        CHECK(both == marble && marble <= crate && crate < given.deep);
        scene_free(&s);
    }
}

/* What a model began with may stay, and grow by rounding at most. */
TEST(overlap_of_the_model_may_stay)
{
    scene s = scene_text(hall);
    rb_step_given given = rb_step_find_given(s.m, &s.o);
    rb_stage stage = { .m = s.m, .d = s.d, .o = &s.o, .given = &given };
    double deep = 1e-6;
    CHECK(rb_stage_lowest(&stage, 0.3, deep) == -deep);
    CHECK(rb_stage_lowest(&stage, -0.5 * deep, deep) == -deep);
    CHECK(rb_stage_lowest(&stage, -0.1, deep) < -0.1);
    CHECK_NEAR(rb_stage_lowest(&stage, -0.1, deep), -0.1, 2e-11 * s.m->extent);
    scene_free(&s);
}

TEST_MAIN(RUN(the_smaller_body_says_how_deep), RUN(overlap_of_the_model_may_stay))
