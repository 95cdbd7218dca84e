/* Errors of the start: joints beyond their limits go back, bodies inside each other come apart,
 * both within 0.2 s, linearly in time whatever the step, and no velocity is left of it. */
#include "model/cache.h"
#include "rattleback/collide.h"
#include "rattleback/dynamics.h"
#include "step_support.h"

#define SUNK                                                                                       \
    "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 1'/>"               \
    "<body pos='0 0 0.09'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body></worldbody>"    \
    "</mujoco>"

/* 1 cm below the floor: 5 cm/s up, at rest at 0.2 s, the energy m g 1 cm. */
TEST(a_sunk_box_comes_out_at_the_same_speed_for_all_steps)
{
    const double steps[] = { 0.0005, 0.001, 0.003, 0.01, 0.04 };
    for (int k = 0; k < 5; k++) {
        scene s = scene_text(SUNK);
        double h = s.o.h = steps[k], energy = 0.0;
        int n = (int)(0.26 / h);
        for (int i = 1; i <= n; i++) {
            scene_step(&s);
            energy += s.info.project_energy;
            double z = 0.09 + 0.05 * fmin(0.2, i * h);
            CHECK_NEAR(s.d->q[2], z, 1e-9);
            for (int j = 0; j < 6; j++) CHECK(s.d->v[j] == 0.0);
            CHECK(s.info.penetration_made <= 1e-9);
        }
        CHECK_NEAR(energy, 8.0 * 9.81 * 0.01, 1e-7);

        /* then it rests to the bit */
        double z = s.d->q[2];
        for (int i = 0; i < 10; i++) scene_step(&s);
        CHECK(s.d->q[2] == z && s.info.project_energy == 0.0 && s.info.resting == 1);
        scene_free(&s);
    }
}

/* Steps that are divided lead where whole ones do: a box that lands beside the sunk one. */
TEST(what_else_happens_does_not_matter)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"
        "<body pos='0 0 0.09'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
        "<body pos='1 0 0.15' euler='20 30 0'><freejoint/><geom type='box' size='0.1 0.1 0.1'/>"
        "</body></worldbody></mujoco>");
    s.o.stepper = RB_STEPPER_LOCATED;
    for (int i = 1; i <= 100; i++) {
        scene_step(&s);
        CHECK_NEAR(s.d->q[2], 0.09 + 0.05 * fmin(0.2, i * 0.002), 1e-8);
    }
    scene_free(&s);
}

#define DOOR                                                                                       \
    "<mujoco><compiler angle='radian'/><option timestep='0.002' gravity='0 0 0'/><worldbody>"      \
    "<body><joint axis='0 0 1' limited='true' range='0.5 1'%s/>"                                   \
    "<geom type='box' size='0.4 0.02 1' pos='0.4 0 0' mass='20'/></body></worldbody></mujoco>"

/* A door half a radian beyond its limit is back after 0.2 s and stands; one that sticks too. */
TEST(a_door_beyond_its_limit_goes_back)
{
    const char *const more[] = { "", " frictionloss='3'" };
    for (int k = 0; k < 2; k++) {
        char text[512];
        snprintf(text, sizeof text, DOOR, more[k]);
        scene s = scene_text(text);
        for (int i = 1; i <= 150; i++) {
            scene_step(&s);
            CHECK_NEAR(s.d->q[0], 2.5 * fmin(0.2, i * 0.002), 1e-8);
            CHECK(s.d->v[0] == 0.0);
        }
        CHECK(s.d->q[0] >= 0.5 - 1e-9);
        scene_free(&s);

        s = scene_text(text);
        s.o.keep_errors = 1;
        for (int i = 0; i < 150; i++) scene_step(&s);
        CHECK(s.d->q[0] == 0.0);
        scene_free(&s);
    }
}

/* It goes on with the velocity it has: outwards it is stopped, inwards it comes sooner. */
TEST(a_door_that_moves_keeps_its_velocity)
{
    char text[512];
    snprintf(text, sizeof text, DOOR, "");
    for (int k = 0; k < 2; k++) {
        double v = k ? 1.0 : -1.0;
        scene s = scene_text(text);
        s.d->v[0] = v;
        for (int i = 0; i < 110; i++) {
            scene_step(&s);
            CHECK_NEAR(s.d->v[0], k ? 1.0 : 0.0, 1e-12);
        }
        CHECK(s.d->q[0] >= 0.5 - 1e-9);
        scene_free(&s);
    }
}

/* Limits of tendons and of balls. */
TEST(tendons_and_balls_go_back)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body><joint name='a' "
        "type='slide' axis='1 0 0'/><geom size='0.1' mass='1'/></body><body pos='0 1 0'><joint "
        "name='b' type='slide' axis='1 0 0'/><geom size='0.1' mass='3'/></body></worldbody><tendon>"
        "<fixed limited='true' range='0.08 1'><joint joint='a' coef='1'/><joint joint='b' "
        "coef='1'/>"
        "</fixed></tendon></mujoco>");
    for (int i = 0; i < 105; i++) scene_step(&s);
    CHECK_NEAR(s.d->q[0], 0.06, 1e-8);
    CHECK_NEAR(s.d->q[1], 0.02, 1e-8);
    CHECK(s.d->v[0] == 0.0 && s.d->v[1] == 0.0);
    scene_free(&s);

    s = scene_text("<mujoco><compiler angle='radian'/><option timestep='0.002' gravity='0 0 0'/>"
                   "<worldbody><body><joint type='ball' limited='true' range='0 0.4'/>"
                   "<geom type='box' size='0.1 0.2 0.3' mass='1'/></body></worldbody></mujoco>");
    s.d->q[0] = cos(0.4), s.d->q[1] = 0.6 * sin(0.4), s.d->q[2] = 0.8 * sin(0.4);
    for (int i = 0; i < 105; i++) scene_step(&s);
    CHECK_NEAR(2.0 * acos(s.d->q[0]), 0.4, 1e-6);
    for (int j = 0; j < 3; j++) CHECK(s.d->v[j] == 0.0);
    scene_free(&s);
}

/* A box that cannot leave stays, and is not asked again: it is cached at rest. */
TEST(what_cannot_be_taken_off_stays)
{
    scene s =
        scene_text("<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"
                   "<body pos='0 0 0.09'><joint type='slide' axis='1 0 0'/>"
                   "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    for (int i = 0; i < 300; i++) scene_step(&s);
    CHECK(s.d->q[0] == 0.0 && s.d->v[0] == 0.0 && s.d->correct_from < 0.0);
    CHECK(s.d->cache->rest_known);
    scene_free(&s);
}

/* A restored run goes on to the bit in the middle of it. */
TEST(a_copy_goes_on_bit_for_bit)
{
    scene a = scene_text(SUNK), b = scene_text(SUNK);
    for (int i = 0; i < 77; i++) scene_step(&a);
    CHECK_INT(rb_data_copy(b.m, b.d, a.d), RB_OK);
    for (int i = 0; i < 77; i++) scene_step(&a), scene_step(&b);
    CHECK(memcmp(a.d->q, b.d->q, 7 * sizeof(double)) == 0);
    scene_free(&a);
    scene_free(&b);
}

/* A leg bent the wrong way, its foot on the floor: knee and floor hold together. */
TEST(a_leg_on_the_floor_straightens_without_sinking)
{
    scene s = scene_text(
        "<mujoco><compiler angle='radian'/><option timestep='0.002'/><worldbody>"
        "<geom type='plane' size='5 5 1'/><body pos='0 0 0.63'><joint type='slide' axis='0 0 1'/>"
        "<geom type='box' size='0.1 0.1 0.05' mass='5'/><body pos='0 0 -0.1'>"
        "<joint axis='0 1 0' limited='true' range='-2 2'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -0.25' size='0.02' mass='1'/>"
        "<body pos='0 0 -0.25'><joint axis='0 1 0' limited='true' range='-2 -0.4'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -0.25' size='0.02' mass='1'/>"
        "</body></body></body></worldbody></mujoco>");
    for (int i = 0; i < 105; i++) {
        scene_step(&s);
        CHECK(s.info.penetration <= scene_deep(&s));
        CHECK(s.info.penetration_made <= scene_deep(&s));
    }
    CHECK(s.d->q[2] <= -0.4 + 1e-8);
    scene_free(&s);
}

/* Two arms that cross at the start: held from all sides nothing would move. They leave each other
 * as their springs lead them, and cannot come back. */
#define ARM(name, x, way)                                                                          \
    "<body name='" name "' pos='" x                                                                \
    " 0 0'><joint axis='0 0 1' stiffness='4' damping='0.2' springref='" way "'/>"                  \
    "<geom type='capsule' fromto='0 0 0 0 0.3 0' size='0.02'/><body pos='0 0.3 0'>"                \
    "<joint name='" name "2' axis='0 0 1' stiffness='1' damping='0.1'/>"                           \
    "<geom name='" name "' type='box' pos='0 0.1 0' size='0.05 0.1 0.03'/></body></body>"

static const char crossed[] =
    "<mujoco><compiler angle='degree'/><option timestep='0.002' gravity='0 0 0'/><worldbody>" ARM(
        "left", "-0.03", "40") ARM("right", "0.03", "-40") "</worldbody></mujoco>";

TEST(two_arms_that_cross_leave_each_other)
{
    for (int keep = 0; keep < 2; keep++) {
        scene s = scene_text(crossed);
        s.o.keep_errors = keep;
        scene_run(&s, 1.0);
        int n = 0;
        rb_contact found[64];
        rb_error err = { 0 };
        rb_kinematics(s.m, s.d);
        rb_frames(s.m, s.d);
        CHECK_INT(rb_collide(s.m, s.d, 0.0, 0.0, 64, found, &n, &err), RB_OK);
        if (!keep) CHECK_INT(n, 0);
        if (!keep) CHECK(s.d->q[0] > 0.3 && s.d->q[2] < -0.3);
        scene_free(&s);
    }

    /* back from there they stop at each other */
    scene s = scene_text(crossed);
    scene_run(&s, 1.0);
    for (int i = 0; i < 300; i++) {
        s.d->tau[0] = -6.0;
        s.d->tau[2] = 6.0;
        scene_step(&s);
        CHECK(s.info.penetration <= scene_deep(&s));
    }
    scene_free(&s);
}

/* Two mechanisms with a hand in each other, and a gate that they come to on their way out: it holds
 * nobody until the hands are apart, and is one like others when they come back. */
#define HAND(name, base, hand, axis)                                                               \
    "<body><joint type='slide' axis='" axis "'/><geom type='box' size='.01 .01 .01' pos='" base    \
    "'/><body pos='0 .2 0'><joint axis='0 0 1' stiffness='100' damping='1'/><geom name='" name     \
    "' type='box' size='.05 .05 .05' pos='" hand "'/></body></body>"

TEST(what_two_mechanisms_meet_on_their_way_out_holds_nobody)
{
    scene s = scene_text(
        "<mujoco><option gravity='0 0 0'/><worldbody>" HAND("left", "0 0 0", "0 0 0", "1 0 0")
            HAND("right", ".03 0 0", "-.06 0 0", "0 0 1") "</worldbody></mujoco>");
    for (int i = 0; i < 1000 && s.d->q[0] < 0.2; i++) {
        s.d->tau[0] = 5.0;
        scene_step(&s);
    }
    CHECK(s.d->q[0] >= 0.2);
    for (int i = 0; i < 1000; i++) {
        s.d->tau[0] = -5.0;
        scene_step(&s);
        CHECK(s.info.penetration <= scene_deep(&s));
    }
    CHECK(s.d->q[0] > 0.049); /* the gate, 2 cm wide on either side */
    scene_free(&s);
}

/* Fingers whose ranges begin at 21 mm, at zero: each is on the wrong side of the other, 4 mm deep.
 * Servos lead them into their ranges, through each other; from then on they touch. */
TEST(crossed_fingers_go_to_their_ranges)
{
    scene s = scene_text(
        "<mujoco><worldbody><body pos='0 0 1'><joint axis='1 0 0'/>"
        "<geom type='box' size='.05 .1 .02' pos='0 0 -.1' mass='1'/>"
        "<body><joint name='left' type='slide' axis='0 1 0' range='.021 .057' limited='true'/>"
        "<geom type='box' size='.02 .01 .05' pos='0 -.012 0' mass='.1'/></body>"
        "<body><joint name='right' type='slide' axis='0 1 0' range='-.057 -.021' limited='true'/>"
        "<geom type='box' size='.02 .01 .05' pos='0 .004 0' mass='.1'/></body>"
        "</body></worldbody><actuator><position joint='left' kp='100' kv='3'/>"
        "<position joint='right' kp='100' kv='3'/></actuator></mujoco>");
    s.d->ctrl[0] = 0.04, s.d->ctrl[1] = -0.04;
    for (int i = 0; i < 200; i++) scene_step(&s);
    CHECK(s.d->q[1] >= 0.021 && s.d->q[2] <= -0.021);
    s.d->ctrl[0] = -0.04, s.d->ctrl[1] = 0.04; /* closed: 6 mm are left between the faces */
    for (int i = 0; i < 200; i++) scene_step(&s);
    CHECK_NEAR(s.d->q[1], 0.021, 1e-6);
    CHECK_NEAR(s.d->q[2], -0.021, 1e-6);
    scene_free(&s);
}

TEST_MAIN(RUN(a_sunk_box_comes_out_at_the_same_speed_for_all_steps),
          RUN(what_else_happens_does_not_matter), RUN(a_door_beyond_its_limit_goes_back),
          RUN(a_door_that_moves_keeps_its_velocity), RUN(tendons_and_balls_go_back),
          RUN(what_cannot_be_taken_off_stays), RUN(a_copy_goes_on_bit_for_bit),
          RUN(a_leg_on_the_floor_straightens_without_sinking),
          RUN(two_arms_that_cross_leave_each_other),
          RUN(what_two_mechanisms_meet_on_their_way_out_holds_nobody),
          RUN(crossed_fingers_go_to_their_ranges))
