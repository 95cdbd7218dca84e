/* Constraints of the last step: in order, and found by who they are. */
#include "step/touch.h"
#include "step_support.h"

/* Boxes that lean on each other and on a floor, hinges with limits: constraints of every kind. */
static const char heap[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
    "<body pos='0.05 0 0.3'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
    "<body pos='1 0 1'><joint name='arm' axis='0 1 0' range='-10 10' frictionloss='0.1'/>"
    "<geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02'/></body></worldbody></mujoco>";

TEST(each_constraint_is_found_and_no_other)
{
    scene s = scene_text(heap);
    int kinds = 0;
    for (int i = 0; i < 60; i++) {
        scene_step(&s);
        for (int k = 0; k < s.d->ntouch; k++) {
            const rb_touch *touch = &s.d->touch[k];
            kinds |= 1 << touch->id.kind;
            CHECK(rb_touch_find(s.d, &touch->id) == touch);
            if (k > 0) CHECK(rb_touch_order(&s.d->touch[k - 1].id, &touch->id) < 0);
            if (k > 0) CHECK(rb_touch_order(&touch->id, &s.d->touch[k - 1].id) > 0);
            rb_touch_id other = touch->id;
            other.b += 1000;
            CHECK(rb_touch_find(s.d, &other) == NULL);
        }
    }
    CHECK(kinds & 1 << RB_CONSTRAINT_CONTACT);
    CHECK(kinds & 1 << RB_CONSTRAINT_LIMIT);
    CHECK(kinds & 1 << RB_CONSTRAINT_DRY);
    scene_free(&s);
}

TEST_MAIN(RUN(each_constraint_is_found_and_no_other))
