/* Overlap taken off positions: it shrinks as asked for, no velocity comes from it, and what is
 * there besides (loops, limits, other contacts) holds. */
#include "rattleback/collide.h"
#include "rattleback/dynamics.h"
#include "step_support.h"

#define SUNK                                                                                       \
    "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 1'/>"               \
    "<body pos='0 0 0.09'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body></worldbody>"    \
    "</mujoco>"

/* 1 cm below the floor at rest: a fifth of it less in each step, without any velocity. */
TEST(a_sunk_box_rises_without_velocity)
{
    scene s = scene_text(SUNK);
    s.o.project = 0.2;
    double depth = 0.01;
    for (int k = 0; k < 40; k++) {
        scene_step(&s);
        depth *= 0.8;
        CHECK_NEAR(s.d->q[2], 0.1 - depth, 1e-12);
        CHECK_NEAR(s.info.penetration, depth, 1e-12);
        CHECK_NEAR(s.info.projected, 0.25 * depth, 1e-12);
        CHECK_NEAR(s.info.project_energy, 8.0 * 9.81 * 0.25 * depth, 1e-9);
        for (int j = 0; j < 6; j++) CHECK(s.d->v[j] == 0.0);
        CHECK(s.info.energy_created <= 0.0);
    }
    scene_free(&s);

    /* at once, and then it rests to the bit */
    s = scene_text(SUNK);
    s.o.project = 1.0;
    scene_step(&s);
    CHECK_NEAR(s.d->q[2], 0.1, 1e-12);
    double z = s.d->q[2];
    for (int k = 0; k < 20; k++) scene_step(&s);
    CHECK(s.d->q[2] == z && s.info.projected == 0.0);
    scene_free(&s);

    /* without it: as deep as it was, not deeper */
    s = scene_text(SUNK);
    s.o.keep_errors = 1;
    for (int k = 0; k < 200; k++) scene_step(&s);
    CHECK_NEAR(s.d->q[2], 0.09, 1e-12);
    scene_free(&s);
}

/* v is what it would be without projection: to the bit in the first step, for a body that slides.
 */
TEST(velocities_are_those_without_projection)
{
    scene a = scene_text(SUNK), b = scene_text(SUNK);
    a.o.keep_errors = 1;
    b.o.project = 0.5;
    a.d->v[0] = b.d->v[0] = 2.0;
    a.d->v[5] = b.d->v[5] = 1.0;
    scene_step(&a);
    scene_step(&b);
    CHECK(memcmp(a.d->v, b.d->v, 6 * sizeof(double)) == 0);
    CHECK_NEAR(b.d->q[2] - a.d->q[2], 0.005, 1e-9);
    scene_free(&a);
    scene_free(&b);
}

static double deepest(scene *s)
{
    rb_contact found[64];
    int n = 0;
    double most = 0.0;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    CHECK_INT(rb_collide(s->m, s->d, 0.0, 0.0, 64, found, &n, NULL), RB_OK);
    for (int i = 0; i < n; i++) most = fmax(most, -found[i].at.gap);
    return most;
}

/* Two balls that overlap part by the inverse of their masses, and their centre of mass stays. */
TEST(two_balls_part_about_their_centre_of_mass)
{
    scene s = scene_text("<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
                         "<body><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"
                         "<body pos='0.16 0 0'><freejoint/><geom type='sphere' size='0.1' "
                         "mass='3'/></body></worldbody></mujoco>");
    s.o.project = 1.0;
    scene_step(&s);
    CHECK_NEAR(s.d->q[0], -0.03, 1e-12);
    CHECK_NEAR(s.d->q[7], 0.17, 1e-12);
    for (int j = 0; j < 12; j++) CHECK(s.d->v[j] == 0.0);
    scene_free(&s);
}

/* A heap with overlaps between bodies and with the floor, under every formulation: all of them
 * vanish, nothing jumps. */
TEST(a_heap_loses_its_overlaps)
{
    const char *const names[] = { "cone", "anitescu-potra", "box" };
    for (int k = 0; k < 3; k++) {
        scene s = scene_text(
            "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 1'/>"
            "<body pos='0 0 0.095'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
            "<body pos='0.02 0.01 0.28'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
            "<body pos='0.19 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
            "<body pos='0 0 0.45'><freejoint/><geom type='sphere' size='0.1'/></body>"
            "</worldbody></mujoco>");
        s.o.formulation = rb_formulation_find(names[k]);
        s.o.project = 0.2;
        double before = deepest(&s), fastest = 0.0;
        CHECK(before > 0.01);
        for (int i = 0; i < 150; i++) {
            scene_step(&s);
            for (int j = 0; j < s.m->nv; j++) fastest = fmax(fastest, fabs(s.d->v[j]));
        }
        CHECK(deepest(&s) <= 1e-8);
        CHECK(fastest < 1.6); /* 0.15 s of falling; pushed out in one step it would be 20 m/s */
        CHECK(s.worst.energy_created <= 5e-5); /* 240 N lifted out of 1e-7 m: 2.1e-5 J */
        scene_free(&s);
    }
}

/* A two-bar linkage that sticks in the floor: the loop stays closed while it rises. */
TEST(loops_and_limits_hold)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
        "<geom type='plane' size='5 5 1'/><body name='a' pos='0 0 0.3'><freejoint/>"
        "<geom type='box' size='0.1 0.1 0.1'/></body><body name='b' pos='0 0 0.09'><freejoint/>"
        "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody><equality>"
        "<weld body1='a' body2='b'/></equality><contact><exclude body1='a' body2='b'/></contact>"
        "</mujoco>");
    s.o.project = 1.0;
    scene_step(&s);
    CHECK_NEAR(s.d->q[2], 0.31, 1e-9);
    CHECK_NEAR(s.d->q[9], 0.1, 1e-9);
    scene_free(&s);

    /* a slide that ends at its limit: the overlap is taken off as far as that */
    s = scene_text("<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
                   "<geom type='plane' size='5 5 1'/><body pos='0 0 0.09'><joint type='slide' "
                   "axis='0 0 1' limited='true' range='-1 0.004'/>"
                   "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    s.o.project = 0.2;
    for (int k = 0; k < 30; k++) scene_step(&s);
    CHECK(s.d->q[0] <= 0.004 + 1e-9);
    scene_free(&s);
}

TEST(shares_outside_of_0_to_1_are_refused)
{
    const double shares[] = { -0.1, 1.1, NAN };
    for (int k = 0; k < 3; k++) {
        scene s = scene_text(SUNK);
        rb_error err = { 0 };
        s.o.project = shares[k];
        CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_BAD_INPUT);
        CHECK_CONTAINS(err.text, "project");
        scene_free(&s);
    }
}

TEST_MAIN(RUN(a_sunk_box_rises_without_velocity), RUN(velocities_are_those_without_projection),
          RUN(two_balls_part_about_their_centre_of_mass), RUN(a_heap_loses_its_overlaps),
          RUN(loops_and_limits_hold), RUN(shares_outside_of_0_to_1_are_refused))
