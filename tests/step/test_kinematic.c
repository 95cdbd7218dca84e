/* What the caller moves: mocap bodies by velocity, by their own motion, with joints and loops on
 * them; belts. Closed forms throughout. */
#include "rattleback/dynamics.h"
#include "step_support.h"

#define PI 3.141592653589793
#define G  9.81

/* ---- the bodies themselves ----------------------------------------------------------------------
 */

#define LONE "<mujoco><option timestep='0.01'/><worldbody><body name='m' mocap='true' pos='1 2 3'>"

TEST(a_mocap_body_goes_where_its_velocity_leads)
{
    scene s = scene_text(LONE "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>");
    const double v[6] = { 0.3, -0.2, 0.1, 0.0, 0.0, 2.0 };
    memcpy(s.d->mocap_v, v, sizeof v);
    scene_run(&s, 1.0);
    for (int i = 0; i < 3; i++) CHECK_NEAR(s.d->mocap[i], 1.0 + i + v[i], 1e-13);
    CHECK_NEAR(s.d->mocap[3], cos(1.0), 1e-13);
    CHECK_NEAR(s.d->mocap[6], sin(1.0), 1e-13);
    CHECK(memcmp(s.d->mocap_v, v, sizeof v) == 0); /* an input stays as it is */

    /* to a pose in one step, and not by a jump */
    const double pose[7] = { -1.0, 0.5, 2.0, 0.6, 0.0, 0.8, 0.0 };
    rb_data_lead(s.d, 0, pose, 0.01);
    scene_step(&s);
    for (int i = 0; i < 7; i++) CHECK_NEAR(s.d->mocap[i], pose[i], 1e-13);
    scene_free(&s);
}

TEST(a_motion_of_the_file_is_followed_exactly)
{
    scene s = scene_text(LONE "</body></worldbody><custom>"
                              "<numeric name='rb.motion/m' data='0.5 0 0 0 0 0'/>"
                              "<numeric name='rb.vibration/m' data='0 0.1 0.02 0 3 25 0 0 1.5 "
                              "0 0 0.3 0 0 2 0 0 0.25'/></custom></mujoco>");
    for (int k = 1; k <= 150; k++) {
        scene_step(&s);
        double t = s.d->time, turn = 0.3 * (sin(2 * PI * 2 * t + 0.25) - sin(0.25));
        CHECK_NEAR(s.d->mocap[0], 1.0 + 0.5 * t, 1e-12);
        CHECK_NEAR(s.d->mocap[1], 2.0 + 0.1 * sin(2 * PI * 3 * t), 1e-12);
        CHECK_NEAR(s.d->mocap[2], 3.0 + 0.02 * (sin(2 * PI * 25 * t + 1.5) - sin(1.5)), 1e-12);
        CHECK_NEAR(s.d->mocap[6], sin(0.5 * turn), 1e-12);
    }
    scene_free(&s);
}

TEST(a_failed_step_leaves_mocap_bodies_where_they_were)
{
    scene s = scene_text(LONE "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>");
    rb_error err = { 0 };
    double pose[7];
    s.d->mocap_v[1] = NAN;
    memcpy(pose, s.d->mocap, sizeof pose);
    CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "mocap body m");
    CHECK(memcmp(pose, s.d->mocap, sizeof pose) == 0);
    CHECK(isnan(s.d->mocap_v[1]) && isnan(s.d->mocap_was[0]) && s.d->time == 0.0);
    scene_free(&s);
}

/* ---- contacts ----------------------------------------------------------------------------------
 */

#define ON_PLATE(extra, custom)                                                                    \
    "<mujoco><option timestep='0.001'/><worldbody><body name='plate' mocap='true'>"                \
    "<geom name='top' type='box' size='5 5 0.1' friction='0.5'/></body>"                           \
    "<body name='load' pos='0 0 0.2'><freejoint/><geom type='box' size='0.1 0.1 0.1' "             \
    "friction='0.5'/></body>" extra "</worldbody><custom>" custom "</custom></mujoco>"

/* A lift carries what stands on it: no gap, no overlap, no lag. */
TEST(a_lift_lifts)
{
    scene s = scene_text(ON_PLATE("", ""));
    s.d->mocap_v[2] = 0.7;
    scene_run(&s, 0.5);
    CHECK_NEAR(s.d->q[2], 0.2 + 0.35, 1e-12);
    CHECK_NEAR(s.d->v[2], 0.7, 1e-12);
    CHECK(s.worst.penetration <= 1e-9 && s.worst.residual <= 1e-10);

    /* Its work m g h v is not energy from nothing, and nothing is lost: weight acts between two
     * halves of impulses. */
    CHECK_NEAR(s.info.energy_created, 0.0, 1e-12);
    s.d->mocap_v[2] = 0.0;
    scene_run(&s, 0.4);
    CHECK_NEAR(s.d->q[2], 0.2 + 0.35, 1e-9);
    CHECK(s.d->v[2] == 0.0);
    scene_free(&s);
}

/* A plate that starts at V drags its load with mu g until it has V: slip V^2/(2 mu g). */
TEST(a_plate_drags_its_load)
{
    for (int k = 0; k < 2; k++) {
        double h = k ? 0.0005 : 0.001, V = 1.0, a = 0.5 * G;
        scene s = scene_text(ON_PLATE("", ""));
        s.o.accuracy = RB_ACCURACY_STRICT;
        s.o.h = h;
        s.d->mocap_v[0] = V;
        double t_stick = 0.0;
        while (s.d->time < 0.4) {
            scene_step(&s);
            if (t_stick == 0.0 && fabs(s.d->v[0] - V) < 1e-12) t_stick = s.d->time;
        }
        CHECK_NEAR(t_stick, V / a, h);
        CHECK_NEAR(s.d->mocap[0] - s.d->q[0], V * V / (2.0 * a), V * h);
        CHECK_NEAR(s.d->q[2], 0.2, 1e-12);
        CHECK(s.worst.energy_created <= 1e-11);
        scene_free(&s);
    }
}

/* Ball on a turning platter: rolls along a circle, orbit rate 2/7 of the platter's (seeds 11). */
TEST(a_ball_on_a_platter_has_two_sevenths)
{
    scene s = scene_text("<mujoco><option timestep='0.0005'/><worldbody>"
                         "<body name='p' mocap='true'><geom type='plane' size='5 5 1' "
                         "friction='2'/></body>"
                         "<body pos='0 0 0.05'><freejoint/><geom type='sphere' size='0.05' "
                         "friction='2'/></body></worldbody><custom>"
                         "<numeric name='rb.motion/p' data='0 0 0 0 0 6'/></custom></mujoco>");
    /* rolling at the centre of the platter: v0 along x, spin v0 / r about y */
    s.d->v[0] = 0.2;
    s.d->v[4] = 0.2 / 0.05;
    double rate = 2.0 / 7.0 * 6.0, radius = 0.2 / rate, worst = 0.0;
    while (s.d->time < 2.0 * PI / rate) {
        scene_step(&s);
        double phase = rate * s.d->time;
        worst = fmax(worst, hypot(s.d->q[0] - radius * sin(phase),
                                  s.d->q[1] - radius * (1.0 - cos(phase))));
    }
    CHECK(worst <= 0.004 * radius);
    CHECK(s.worst.penetration <= 1e-9);
    scene_free(&s);
}

/* A paddle at 20 m/s against a ball of 1 cm at rest: hit, not passed through. */
TEST(a_fast_paddle_does_not_pass)
{
    scene s =
        scene_text("<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
                   "<body mocap='true' pos='-1 0 0'><geom type='box' "
                   "size='0.0005 0.2 0.2'/></body>"
                   "<body pos='0.03 0 0'><freejoint/><geom type='sphere' size='0.005'/></body>"
                   "</worldbody></mujoco>");
    s.d->mocap_v[0] = 20.0;
    scene_run(&s, 0.2);
    CHECK_NEAR(s.d->v[0], 20.0, 1e-9);
    CHECK_NEAR(s.d->q[0] - s.d->mocap[0], 0.0055, 1e-9);
    scene_free(&s);
}

/* A plate that falls away faster than gravity leaves its load in the air; a track that vibrates
 * with a w^2 < g keeps it, with more it throws it. */
TEST(a_track_throws_when_its_acceleration_exceeds_gravity)
{
    for (int k = 0; k < 2; k++) {
        char text[1024];
        double w = 2.0 * PI * 20.0, amplitude = (k ? 1.3 : 0.9) * G / (w * w), flight = 0.0;
        snprintf(text, sizeof text,
                 ON_PLATE("", "<numeric name='rb.vibration/plate' data='0 0 %.17g 0 0 20 0 0 0'/>"),
                 amplitude);
        scene s = scene_text(text);
        s.o.h = 0.0002;
        s.d->v[2] = amplitude * w; /* with the plate */
        while (s.d->time < 0.2) {
            scene_step(&s);
            flight = fmax(flight, s.d->q[2] - 0.2 - s.d->mocap[2]);
        }
        CHECK(s.worst.penetration <= 1e-9);
        CHECK(k ? flight > 1e-4 : flight < 1e-6);
        scene_free(&s);
    }
}

/* ---- joints and loops on mocap bodies -----------------------------------------------------------
 */

/* A slide on a hand that speeds up stays behind: in the world its load keeps its velocity. */
TEST(joints_feel_the_acceleration_of_what_carries_them)
{
    scene s = scene_text("<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
                         "<body name='hand' mocap='true'><body pos='0 0 0.1'>"
                         "<joint name='j' type='slide' axis='1 0 0'/>"
                         "<geom type='sphere' size='0.05'/></body></body></worldbody></mujoco>");
    scene_step(&s); /* at rest */
    s.d->mocap_v[0] = 2.0;
    scene_step(&s);
    CHECK_NEAR(s.d->v[0], -2.0, 1e-12);
    scene_run(&s, 0.1);
    CHECK_NEAR(s.d->mocap[0] + s.d->q[0], 0.5 * 2.0 * 0.001, 1e-12); /* half of the jerk's step */
    scene_free(&s);

    /* a pendulum in a turning frame: small swings about the axis have w^2 = g/l - W^2 */
    s = scene_text("<mujoco><option timestep='0.001'/><worldbody><body name='hub' mocap='true'>"
                   "<body><joint type='hinge' axis='0 1 0'/>"
                   "<geom type='sphere' size='0.001' pos='0 0 -0.5' mass='1'/></body></body>"
                   "</worldbody></mujoco>");
    s.d->mocap_v[5] = 3.0;
    s.d->q[0] = 1e-4;
    double w = sqrt(G / 0.5 - 9.0);
    scene_run(&s, 1.0);
    CHECK_NEAR(s.d->q[0], 1e-4 * cos(w * 1.0), 1e-7);
    scene_free(&s);
}

/* A body welded to a mocap body follows it, turn included. */
TEST(a_weld_to_a_mocap_body_follows)
{
    scene s = scene_text("<mujoco><option timestep='0.002'/><worldbody>"
                         "<body name='hand' mocap='true' pos='0 0 1'/>"
                         "<body name='load' pos='0.3 0 1'><freejoint/><geom type='box' "
                         "size='0.1 0.05 0.02'/></body></worldbody><equality>"
                         "<weld body1='hand' body2='load'/></equality></mujoco>");
    s.d->mocap_v[0] = 0.4;
    s.d->mocap_v[5] = 1.5;
    scene_run(&s, 1.0);
    CHECK(s.worst.loop_error <= 1e-9);
    CHECK_NEAR(s.d->q[0], 0.4 + 0.3 * cos(1.5), 2e-3);
    CHECK_NEAR(s.d->q[1], 0.3 * sin(1.5), 2e-3);
    CHECK_NEAR(s.d->v[5], 1.5, 1e-6);
    scene_free(&s);
}

/* A finger on a moving hand pushes with the velocity of both. */
TEST(contacts_of_what_hangs_on_a_mocap_body_know_its_velocity)
{
    scene s = scene_text("<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
                         "<body name='hand' mocap='true'><body pos='0.2 0 0'>"
                         "<joint type='slide' axis='0 1 0'/><geom type='box' "
                         "size='0.05 0.5 0.5' mass='1'/></body></body>"
                         "<body pos='0.5 0 0'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
                         "mass='1'/></body></worldbody></mujoco>");
    s.d->mocap_v[0] = 1.0;
    scene_run(&s, 0.3);
    CHECK_NEAR(s.d->v[1], 1.0, 1e-9); /* dof 0 is the finger's */
    CHECK_NEAR(s.d->q[1] - s.d->mocap[0], 0.35, 1e-9);
    CHECK(s.worst.penetration <= 1e-9);
    scene_free(&s);
}

/* ---- belts --------------------------------------------------------------------------------------
 */

#define BELT(v)                                                                                    \
    "<mujoco><option timestep='0.001'/><worldbody><geom name='belt' type='box' size='9 9 0.1' "    \
    "euler='0 0 90' friction='0.4'/><body pos='0 0 0.2'><freejoint/><geom type='box' "             \
    "size='0.1 0.1 0.1' friction='0.4'/></body></worldbody><custom>"                               \
    "<numeric name='rb.surface_velocity/belt' data='" v "'/></custom></mujoco>"

/* In the frame of the geom, which is turned: x of the belt is y of the world. Reaches the speed of
 * the belt after v/(mu g), having slipped by half the way of the belt. */
TEST(a_belt_carries_its_load)
{
    const char *const names[] = { "cone", "anitescu-potra", "stewart-trinkle", "jain" };
    for (int k = 0; k < 4; k++) {
        scene s = scene_text(BELT("1.2 0 0.7"));
        double a = 0.4 * G, h = 0.001, reached = 0.0;
        s.o.formulation = rb_formulation_find(names[k]);
        while (s.d->time < 0.6) {
            scene_step(&s);
            if (reached == 0.0 && fabs(s.d->v[1] - 1.2) < 1e-9) reached = s.d->time;
        }
        CHECK_NEAR(reached, 1.2 / a, h);
        CHECK_NEAR(s.d->q[1], 1.2 * 0.6 - 1.2 * 1.2 / (2.0 * a), 1.2 * h);
        CHECK_NEAR(s.d->q[0], 0.0, 1e-9);
        CHECK_NEAR(s.d->q[2], 0.2, 1e-9); /* what runs along the normal is no motion */
        CHECK(s.worst.energy_created <= 1e-9);
        scene_free(&s);
    }
}

/* Held by a stop the load does not move at all while the belt runs below it. */
TEST(a_belt_runs_below_what_is_held)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.001'/><worldbody><geom name='belt' type='plane' "
        "size='9 9 1' friction='0.4'/><geom type='box' pos='0.15 0 0.1' size='0.05 1 0.1' "
        "friction='0'/><body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' "
        "friction='0.4'/></body></worldbody><custom>"
        "<numeric name='rb.surface_velocity/belt' data='1 0 0'/></custom></mujoco>");
    double q[7];
    memcpy(q, s.d->q, sizeof q);
    for (int k = 0; k < 500; k++) scene_step(&s);
    CHECK(memcmp(q, s.d->q, sizeof q) == 0);
    scene_free(&s);
}

TEST_MAIN(RUN(a_mocap_body_goes_where_its_velocity_leads),
          RUN(a_motion_of_the_file_is_followed_exactly),
          RUN(a_failed_step_leaves_mocap_bodies_where_they_were), RUN(a_lift_lifts),
          RUN(a_plate_drags_its_load), RUN(a_ball_on_a_platter_has_two_sevenths),
          RUN(a_fast_paddle_does_not_pass),
          RUN(a_track_throws_when_its_acceleration_exceeds_gravity),
          RUN(joints_feel_the_acceleration_of_what_carries_them),
          RUN(a_weld_to_a_mocap_body_follows),
          RUN(contacts_of_what_hangs_on_a_mocap_body_know_its_velocity),
          RUN(a_belt_carries_its_load), RUN(a_belt_runs_below_what_is_held))
