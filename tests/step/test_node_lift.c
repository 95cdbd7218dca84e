/* Gaps that rounds miss are lifted in positions (S.10). */
#include "step_support.h"

/* Columns of spheres that land on each other: bodies that no row pushes are in the way of those
 * that are. Repairs that move them in turns never end, and the step is halved again and again. */
TEST(a_pile_that_lands_is_not_halved)
{
    scene s = scene_file("peers/pile_1000.xml");
    for (int i = 0; i < 41; i++) {
        scene_step(&s);
        CHECK_INT(s.info.splits, 0);
    }
    CHECK(s.worst.penetration <= scene_deep(&s));
    scene_free(&s);
}

TEST_MAIN(RUN(a_pile_that_lands_is_not_halved))
