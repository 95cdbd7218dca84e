/* A step that is refused leaves every array of the state as it was. */
#include "step_support.h"

/* A ball on a motor lands on a box that a mocap body pushes: touches, slopes, kicks, servos. */
static const char landing[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='2 2 1'/>"
    "<body name='hand' mocap='true' pos='-0.21 0 0.1'><geom type='box' size='0.1 0.1 0.1'/></body>"
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
    "<body pos='0 0 0.4'><joint name='x' type='slide' axis='0 0 1' damping='1'/>"
    "<geom size='0.1' mass='1'/></body></worldbody>"
    "<actuator><position joint='x' kp='50' forcerange='-5 5'/></actuator></mujoco>";

static void push(scene *s)
{
    s->d->ctrl[0] = -0.2;
    s->d->mocap_v[0] = 0.5; /* [m/s] */
}

/* The budget ends a step in its midst: everything that it had written is taken back, the state
 * after each of its parts as well. */
static void end_in_the_midst(scene s, scene t, int steps, int *in_parts)
{
    const double shares[] = { 0.1, 0.5, 0.8, 0.95 };
    for (int k = 0; k < steps; k++) {
        scene_step(&t);
        uint64_t before = rb_data_hash(s.d);
        for (int i = 0; i < 4; i++) {
            s.o.budget = shares[i] * t.info.work;
            CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, NULL), RB_BUDGET);
            *in_parts += s.info.parts > 0;
            CHECK(rb_data_hash(s.d) == before);
        }
        s.o.budget = 0.0;
        scene_step(&s);
        CHECK(rb_data_hash(s.d) == rb_data_hash(t.d));
    }
    scene_free(&s);
    scene_free(&t);
}

/* Located steps end at the bounces of the ball. */
TEST(a_located_step_without_its_budget_changes_no_bit)
{
    int in_parts = 0;
    scene s = scene_text(landing), t = scene_text(landing);
    s.o.stepper = t.o.stepper = RB_STEPPER_LOCATED;
    s.o.restitution = t.o.restitution = 0.8;
    push(&s);
    push(&t);
    end_in_the_midst(s, t, 100, &in_parts);
    CHECK(in_parts > 0);
}

/* A linkage at its dead centre has its steps halved. */
TEST(a_divided_step_without_its_budget_changes_no_bit)
{
    int in_parts = 0;
    end_in_the_midst(scene_file("contact/dead_centre.xml"), scene_file("contact/dead_centre.xml"),
                     200, &in_parts);
    CHECK(in_parts > 0);
}

TEST_MAIN(RUN(a_located_step_without_its_budget_changes_no_bit),
          RUN(a_divided_step_without_its_budget_changes_no_bit))
