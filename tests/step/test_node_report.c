/* What a step by the node rule reports (S.23), (S.25). */
#include "step_support.h"

#define G 9.81

/* Copies have the velocity before the impulses too, and go on bit for bit. */
TEST(copies_go_on_bit_for_bit)
{
    scene s = scene_file("peers/quadruped.xml");
    s.o.scheme = RB_SCHEME_NODE;
    scene_run(&s, 0.6);
    rb_data *copy = rb_data_new(s.m, NULL);
    CHECK(copy != NULL);
    rb_data_copy(s.m, copy, s.d);
    for (int i = 0; i < 50; i++) {
        scene_step(&s);
        CHECK_INT(rb_step(s.m, copy, &s.o, NULL, NULL), RB_OK);
    }
    CHECK(rb_data_hash(copy) == rb_data_hash(s.d));
    rb_data_free(copy);
    scene_free(&s);
}

/* Who writes v means v itself: the kick of the step before is forgotten. */
TEST(a_velocity_that_is_written_counts)
{
    scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1' friction='0.5'/>"
                         "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
                         "friction='0.5'/></body></worldbody></mujoco>",
                         0.002);
    s.d->v[0] = 2.0;
    scene_run(&s, 0.1);
    for (int j = 0; j < s.m->nv; j++) s.d->v[j] = 0.0;
    s.d->v[2] = 3.0;
    scene_step(&s);
    CHECK_NEAR(s.d->v[2], 3.0 - G * 0.002, 1e-9);
    scene_free(&s);
}

/* The falling rod hits the floor at 4 m/s and turns on: velocities that were reported by rows of
 * the start of a step told 1e-2 J as made, by those of its end 1e-5 J at 10 ms, and of third order.
 */
TEST(the_impact_of_the_rod_makes_next_to_nothing)
{
    double before = 1.0;
    for (double h = 0.01; h > 0.002; h *= 0.5) {
        scene s = scene_file("contact/rod.xml");
        s.o.scheme = RB_SCHEME_NODE;
        s.o.h = h;
        scene_run(&s, 0.7);
        CHECK(s.worst.energy_created <= 2e-5);
        CHECK(s.worst.energy_created <= 0.25 * before);
        before = s.worst.energy_created;
        scene_free(&s);
    }
}

TEST_MAIN(RUN(copies_go_on_bit_for_bit), RUN(a_velocity_that_is_written_counts),
          RUN(the_impact_of_the_rod_makes_next_to_nothing))
