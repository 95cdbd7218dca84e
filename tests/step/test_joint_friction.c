/* Dry friction of joints (S.24) in minimal and maximal coordinates:
 * energy, stops, rest. */
#include "step_support.h"

enum { MINIMAL, MAXIMAL };

/* A ball of 2 kg on a rod of 0.7 m without mass. */
static const char pendulum[] =
    "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 2'><joint type='hinge' "
    "axis='0 1 0' frictionloss='%g'/><geom type='sphere' size='0.05' pos='0 0 -0.7' mass='2'/>"
    "</body></worldbody></mujoco>";

/* Two links; what hangs on the second hinge is beside its axis. */
static const char links[] =
    "<mujoco><compiler angle='radian'/><worldbody><body pos='0 0 2'><joint type='hinge' "
    "axis='0 1 0' frictionloss='%g'/><geom type='capsule' fromto='0 0 0 0 0 -0.7' size='0.02' "
    "mass='1'/><body pos='0 0 -0.7'><joint type='hinge' axis='0 1 0' frictionloss='%g'/>"
    "<geom type='sphere' size='0.05' pos='0.3 0 -0.3' mass='1'/></body></body></worldbody>"
    "</mujoco>";

/* The model that `text` says, its first hinge at `angle`. */
static scene hung(const char *text, int coordinates, double angle, double h)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%s", err.text);
    rb_spec *same = coordinates == MAXIMAL ? rb_spec_maximal(spec, NULL, &err) : NULL;
    scene at = scene_of(spec, &err);
    at.d->q[0] = angle;
    at.o.h = h;
    if (!same) return at;
    scene s = scene_of(same, &err);
    rb_kinematics(at.m, at.d);
    rb_velocity(at.m, at.d);
    CHECK_INT(rb_maximal_state(at.m, at.d, s.m, s.d), RB_OK);
    s.o.h = h;
    scene_free(&at);
    return s;
}

static scene hung_pendulum(double friction, int coordinates, double angle, double h)
{
    char text[512];
    snprintf(text, sizeof text, pendulum, friction);
    return hung(text, coordinates, angle, h);
}

static double energy(const scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* After n steps, with no step in which energy rises, or is told to, by more than `most` [J]. */
static double energy_after(scene *s, int n, double most)
{
    double before = energy(s);
    for (int i = 0; i < n; i++) {
        scene_step(s);
        double now = energy(s);
        if (!(now - before <= most))
            test_fail(__FILE__, __LINE__, "t = %g: %g J made", s->d->time, now - before);
        CHECK(s->info.energy_created <= most);
        before = now;
    }
    return before;
}

/* By rows it lost 1.8 J of 34 J, and gained 3 J in maximal coordinates. */
TEST(friction_that_is_next_to_none_changes_nothing)
{
    for (int coordinates = MINIMAL; coordinates <= MAXIMAL; coordinates++) {
        scene without = hung_pendulum(0.0, coordinates, 1.2, 0.004);
        scene with = hung_pendulum(1e-9, coordinates, 1.2, 0.004);
        double E_0 = energy(&without);
        double E = energy_after(&without, 2500, 1e-3), E_dry = energy_after(&with, 2500, 1e-3);
        CHECK(fabs(E - E_0) < 2e-3);
        CHECK(fabs(E_dry - E) < 1e-6);
        scene_free(&without);
        scene_free(&with);
    }
}

/* 3 s of 0.5 N m, which take 3.4 J. The reference is that of steps of 1/8 ms in minimal
 * coordinates. Friction turns around with the displacement of a step, up to half of one early or
 * late: that is of first order, 2e-4 J at 4 ms and 6e-5 J at 1 ms. */
TEST(friction_takes_what_it_should)
{
    const double E = 30.8630367;
    for (int coordinates = MINIMAL; coordinates <= MAXIMAL; coordinates++) {
        scene coarse = hung_pendulum(0.5, coordinates, 1.2, 0.004);
        scene fine = hung_pendulum(0.5, coordinates, 1.2, 0.001);
        double off = fabs(energy_after(&coarse, 750, 1e-9) - E);
        double off_fine = fabs(energy_after(&fine, 3000, 1e-9) - E);
        if (!(off <= 2e-4 && off_fine <= 1e-4))
            test_fail(__FILE__, __LINE__, "%d: off by %g J, and %g J", coordinates, off, off_fine);
        scene_free(&coarse);
        scene_free(&fine);
    }
}

/* The second hinge is held by friction while the first one swings: one pendulum, to second order.
 * By rows it lost 0.45 J, in maximal coordinates 0.95 J. */
TEST(what_sticks_on_what_moves_is_rigid)
{
    char text[1024];
    snprintf(text, sizeof text, links, 1e-9, 50.0);
    for (int coordinates = MINIMAL; coordinates <= MAXIMAL; coordinates++) {
        scene s = hung(text, coordinates, 1.2, 0.004);
        s.o.accuracy = RB_ACCURACY_STRICT;
        double E_0 = energy(&s), E = energy_after(&s, 750, 1e-3);
        CHECK(fabs(E - E_0) < 2e-3);
        rb_kinematics(s.m, s.d);
        rb_velocity(s.m, s.d);
        double bent = s.d->q[s.m->jnt_qadr[s.m->njnt_all - 1]];
        if (coordinates == MINIMAL || s.m->ngauge > 0) CHECK(fabs(bent) < 1e-9); /* rounds: 4e-11 */
        scene_free(&s);
    }
}

/* Where it is steeper than friction holds it falls, elsewhere not a bit moves. */
TEST(friction_holds_up_to_its_bound)
{
    double edge = asin(0.5 / (2.0 * 9.81 * 0.7));
    for (int coordinates = MINIMAL; coordinates <= MAXIMAL; coordinates++) {
        scene inside = hung_pendulum(0.5, coordinates, edge - 1e-6, 0.004);
        scene beyond = hung_pendulum(0.5, coordinates, edge + 1e-6, 0.004);
        double q[7], q_beyond = beyond.d->q[0];
        memcpy(q, inside.d->q, (size_t)inside.m->nq * sizeof *q);
        for (int i = 0; i < 250; i++) {
            scene_step(&inside);
            scene_step(&beyond);
        }
        CHECK(memcmp(q, inside.d->q, (size_t)inside.m->nq * sizeof *q) == 0);
        for (int j = 0; j < inside.m->nv; j++) CHECK(inside.d->v[j] == 0.0);
        CHECK(beyond.d->q[0] != q_beyond);
        CHECK(inside.info.resting == 1);
        scene_free(&inside);
        scene_free(&beyond);
    }
}

/* It swings until friction holds it, and stands. */
TEST(what_swings_stops)
{
    for (int coordinates = MINIMAL; coordinates <= MAXIMAL; coordinates++) {
        scene s = hung_pendulum(0.5, coordinates, 1.2, 0.004);
        energy_after(&s, 8000, 1e-9);
        for (int j = 0; j < s.m->nv; j++) CHECK(s.d->v[j] == 0.0);
        CHECK(s.info.resting == 1);
        scene_free(&s);
    }
}

/* A copy taken while one joint slides and the other one sticks goes on with the same bits. */
TEST(a_copy_goes_on_with_the_same_bits)
{
    char text[1024];
    snprintf(text, sizeof text, links, 0.1, 0.6);
    for (int coordinates = MINIMAL; coordinates <= MAXIMAL; coordinates++) {
        scene s = hung(text, coordinates, 1.2, 0.004);
        for (int i = 0; i < 300; i++) scene_step(&s);
        scene other = s;
        other.d = rb_data_new(s.m, NULL);
        CHECK_INT(rb_data_copy(s.m, other.d, s.d), RB_OK);
        for (int i = 0; i < 300; i++) {
            scene_step(&s);
            scene_step(&other);
        }
        CHECK(memcmp(s.d->q, other.d->q, (size_t)s.m->nq * sizeof(double)) == 0);
        CHECK(memcmp(s.d->v, other.d->v, (size_t)s.m->nv * sizeof(double)) == 0);
        rb_data_free(other.d);
        scene_free(&s);
    }
}

/* Seven links on hinges and on slides with springs, which pull by 10 N beside the centres of
 * what they carry. Their loops began anew with no impulse whenever axes of rows had turned over,
 * did not end, and 0.40 J were lost by rows. */
TEST(loops_with_springs_keep_their_energy)
{
    static const char text[] =
        "<mujoco><compiler angle='radian'/><option><flag contact='disable'/></option>"
        "<worldbody><body pos='0.166 -0.151 -0.110'><joint type='hinge' axis='0.669 -2.294 "
        "-0.143'/><geom type='capsule' fromto='0 0 0 -0.137 0.05 -0.2' size='0.03'/><body "
        "pos='-0.292 -0.170 -0.156'><joint type='slide' axis='-2.256 0.663 -0.720' "
        "stiffness='50'/><geom type='capsule' fromto='0 0 0 0.167 0.05 -0.2' size='0.03'/>"
        "<body pos='-0.174 -0.171 -0.296'><joint type='hinge' axis='0.029 -0.385 -0.800'/>"
        "<geom type='capsule' fromto='0 0 0 0.149 0.05 -0.2' size='0.03'/></body><body "
        "pos='-0.191 0.281 -0.139'><joint type='hinge' axis='-0.732 1.209 -0.298'/><geom "
        "type='capsule' fromto='0 0 0 0.186 0.05 -0.2' size='0.03'/></body></body><body "
        "pos='0.052 0.058 -0.242'><joint type='hinge' axis='1.026 0.140 0.720' "
        "armature='0.01'/><geom type='capsule' fromto='0 0 0 -0.174 0.05 -0.2' size='0.03'/>"
        "<body pos='-0.194 -0.146 -0.288'><joint type='hinge' axis='-0.307 -0.865 0.105' "
        "armature='0.01'/><geom type='capsule' fromto='0 0 0 0.180 0.05 -0.2' size='0.03'/>"
        "</body><body pos='0.125 0.074 -0.291'><joint type='slide' axis='1.749 0.199 -0.877' "
        "stiffness='50'/><geom type='capsule' fromto='0 0 0 -0.152 0.05 -0.2' size='0.03'/>"
        "</body></body></body></worldbody></mujoco>";
    scene s = hung(text, MAXIMAL, 0.0, 0.004);
    double E_0 = energy(&s), E = energy_after(&s, 250, 1e-2);
    CHECK(fabs(E - E_0) < 0.02);
    scene_free(&s);
}

/* Joints of maximal coordinates make and lose energy, in impacts 13 J: it is told (S.25),
 * up to what the weight does on the way of a step, 1e-3 J of some 40 J. */
TEST(energy_that_loops_make_is_told)
{
    static const char text[] =
        "<mujoco><compiler angle='radian'/><custom><numeric name='rb.restitution' data='0.8'/>"
        "</custom><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 0.6' "
        "euler='0.3 0.6 0'><freejoint/><geom type='box' size='0.1 0.1 0.2'/><body pos='0.2 0 0'>"
        "<joint type='hinge' axis='0 1 0'/><geom type='capsule' fromto='0.1 0 0 0.4 0 0' "
        "size='0.05'/></body></body></worldbody></mujoco>";
    scene s = hung(text, MAXIMAL, 0.0, 0.01);
    s.o.accuracy = RB_ACCURACY_STRICT;
    double before = energy(&s);
    for (int i = 0; i < 300; i++) {
        scene_step(&s);
        double now = energy(&s), rise = now - before;
        double told = s.info.energy_smooth + s.info.energy_created;
        if (!(fabs(rise - told) <= 2e-3))
            test_fail(__FILE__, __LINE__, "t = %g: %g J made, %g J told", s.d->time, rise, told);
        before = now;
    }
    scene_free(&s);
}

TEST_MAIN(RUN(friction_that_is_next_to_none_changes_nothing), RUN(friction_takes_what_it_should),
          RUN(what_sticks_on_what_moves_is_rigid), RUN(friction_holds_up_to_its_bound),
          RUN(what_swings_stops), RUN(a_copy_goes_on_with_the_same_bits),
          RUN(loops_with_springs_keep_their_energy), RUN(energy_that_loops_make_is_told))
