/* The node rule (S.1), (S.2), (S.9), (S.23), (S.11): impulses at the start of a step, smooth
 * motion after them. */
#include "step_support.h"

#define G 9.81

/* ---- what turns while something holds it ------------------------------------------------------
 */

/* A crank of 0.2 m drives a block on a slide by a rod of 0.5 m; a box sticks on the block. */
static const char crank[] =
    "<mujoco><compiler angle='radian'/><worldbody>"
    "<body><joint axis='0 -1 0'/><geom type='capsule' fromto='0 0 0 0 0 0.2' size='0.02' mass='1' "
    "contype='0' conaffinity='0'/>"
    "<body name='rod' pos='0 0 0.2'><joint axis='0 -1 0'/><geom type='capsule' fromto='0 0 0 "
    "0.458257569495584 0 "
    "-0.2' size='0.02' mass='1' contype='0' conaffinity='0'/></body></body>"
    "<body name='block' pos='0.458257569495584 0 0'><joint type='slide' axis='1 0 0'/><geom "
    "type='box' "
    "size='0.05 0.05 0.05' mass='1' friction='20'/></body>"
    "<body pos='0.458257569495584 0 0.055'><freejoint/><geom type='box' size='0.05 0.05 0.005' "
    "mass='0.5' friction='20'/></body></worldbody>"
    "<equality><connect body1='rod' body2='block' anchor='0.458257569495584 0 -0.2'/></equality>"
    "<keyframe><key qvel='-9 9 1.8 1.8 0 0 0 0 0'/></keyframe></mujoco>";

TEST(a_crank_that_carries_a_sticking_box_keeps_its_energy)
{
    const double steps[] = { 0.001, 0.002, 0.004 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_node(crank, steps[k]);
        CHECK_INT(rb_data_reset_key(s.m, s.d, 0), RB_OK);
        double E = scene_energy(&s);
        scene_run(&s, 1.5);
        CHECK_NEAR(scene_energy(&s), E, 2e-3 * E);
        CHECK(s.worst.loop_error <= 1e-6);
        CHECK_NEAR(s.d->q[3], s.d->q[2] + 0.458257569495584, 1e-5);
        scene_free(&s);
    }
}

/* A pendulum of 0.5 m whose pivot, a ball, hangs in a groove without friction. */
static const char notch[] =
    "<mujoco><compiler angle='radian'/><worldbody>"
    "<geom type='plane' size='0 0 1' zaxis='1 0 1' friction='0'/>"
    "<geom type='plane' size='0 0 1' zaxis='-1 0 1' friction='0'/>"
    "<body pos='0 0 -0.4717157287525381'><joint type='slide' axis='1 0 0'/>"
    "<joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 -1 0'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.0833333333333 0.0833333333333 0.0833333333333'/>"
    "<geom type='sphere' size='0.02' pos='0 0 0.5' friction='0'/></body></worldbody>"
    "<keyframe><key qvel='1.5 0 3'/></keyframe></mujoco>";

TEST(a_pendulum_in_a_groove_does_not_drift)
{
    scene s = scene_node(notch, 0.001);
    CHECK_INT(rb_data_reset_key(s.m, s.d, 0), RB_OK);
    double E = scene_energy(&s);
    scene_run(&s, 20.0);
    CHECK_NEAR(scene_energy(&s), E, 1e-3);
    CHECK(s.worst.penetration <= scene_deep(&s));
    scene_free(&s);
}

/* A box on its edge is a pendulum about it: 3/4 g sin a = d a''. */
#define HALF 0.2

static double angle_exact(double a, double time)
{
    enum { N = 20000 };
    double h = time / N, w = 0.0, k = 0.75 * G / (HALF * sqrt(2.0));
    for (int i = 0; i < N; i++) {
        w += 0.5 * h * k * sin(a);
        a += h * w;
        w += 0.5 * h * k * sin(a);
    }
    return a;
}

TEST(a_box_pivots_about_its_edge)
{
    scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1' friction='0.5'/>"
                         "<body><freejoint/><geom type='box' size='0.2 0.5 0.2' mass='3' "
                         "friction='3'/></body></worldbody></mujoco>",
                         0.01);
    double a = 0.2, d = HALF * sqrt(2.0), turn = a - atan(1.0);
    s.d->q[0] = d * sin(a);
    s.d->q[2] = d * cos(a);
    s.d->q[3] = cos(0.5 * turn);
    s.d->q[5] = sin(0.5 * turn);
    scene_run(&s, 0.3);
    double end = 2.0 * atan2(s.d->q[5], s.d->q[3]) + atan(1.0);
    CHECK_NEAR(end, angle_exact(a, 0.3), 1e-4);
    CHECK_NEAR(s.d->q[0], d * sin(end), 1e-6);
    scene_free(&s);
}

/* Impulses that last are expected: one problem of a step is enough, but for few. */
TEST(a_box_that_tips_takes_one_problem_a_step)
{
    scene s = scene_node("<mujoco><worldbody><geom type='plane' size='5 5 1' friction='0.5'/>"
                         "<body pos='0 0 0.29'><freejoint/><geom type='box' size='0.2 0.5 0.2' "
                         "mass='3' friction='3'/></body></worldbody></mujoco>",
                         0.005);
    s.d->q[2] = 0.2 * (cos(0.5) + sin(0.5));
    s.d->q[3] = cos(0.25);
    s.d->q[5] = sin(0.25);
    int solves = 0, steps = 0;
    for (; s.d->q[5] > 0.05; steps++) {
        scene_step(&s);
        solves += s.info.solves;
    }
    CHECK(steps > 30);
    CHECK(solves <= 1.25 * steps);
    scene_free(&s);
}

/* ---- impacts ----------------------------------------------------------------------------------
 */

TEST(dry_friction_of_a_hinge_takes_its_impulse)
{
    scene s = scene_node("<mujoco><option gravity='0 0 0'/><worldbody><body><joint axis='0 0 1' "
                         "frictionloss='0.3'/><inertial pos='0 0 0' mass='1' "
                         "diaginertia='1 1 0.5'/></body></worldbody></mujoco>",
                         0.002);
    s.d->v[0] = 1.0;
    scene_run(&s, 0.4);
    CHECK_NEAR(s.d->v[0], 1.0 - 0.6 * 0.4, 1e-9);
    CHECK_NEAR(s.d->q[0], 0.4 - 0.3 * 0.16, 1e-9);
    scene_free(&s);
}

/* ---- rest and state ---------------------------------------------------------------------------
 */

/* A box that a disc carries around in a corner of two walls: nothing is lost. */
TEST(a_disc_carries_a_box)
{
    scene s = scene_node(
        "<mujoco><compiler angle='radian'/><option gravity='0 0 0'/><worldbody><body>"
        "<joint axis='0 0 1'/><inertial pos='0 0 0' mass='2' diaginertia='0.05 0.05 0.1'/>"
        "<geom type='box' size='0.02 0.1 0.1' pos='0.42 0 0' friction='0.5' mass='0'/>"
        "<geom type='box' size='0.1 0.02 0.1' pos='0.35 -0.07 0' friction='0.5' mass='0'/></body>"
        "<body pos='0.35 0 0'><freejoint/><geom type='box' size='0.05 0.05 0.05' mass='1' "
        "friction='0.5'/></body></worldbody></mujoco>",
        0.004);
    s.d->v[0] = s.d->v[6] = 5.0;
    s.d->v[2] = 1.75;
    double E = scene_energy(&s);
    scene_run(&s, 1.5);
    CHECK_NEAR(scene_energy(&s), E, 2e-4 * E);
    scene_free(&s);
}

TEST(a_refused_step_leaves_the_state)
{
    scene s = scene_file("peers/quadruped.xml");
    s.o.scheme = RB_SCHEME_NODE;
    scene_run(&s, 0.6);
    uint64_t before = rb_data_hash(s.d);
    s.o.budget = 1.0;
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, NULL), RB_BUDGET);
    CHECK(rb_data_hash(s.d) == before);
    scene_free(&s);
}

/* Robots keep what accuracy promises. */
TEST(robots_land)
{
    const char *const names[] = { "peers/quadruped.xml", "peers/humanoid.xml" };
    for (int k = 0; k < 2; k++) {
        scene s = scene_file(names[k]);
        s.o.scheme = RB_SCHEME_NODE;
        double E = scene_energy(&s);
        scene_run(&s, 1.0);
        CHECK(s.worst.penetration <= scene_deep(&s));
        CHECK(s.worst.residual <= 1e-6);
        CHECK(scene_energy(&s) < E);
        scene_free(&s);
    }
}

/* ---- what is found on the way -------------------------------------------------------------------
 */

/* A ton on a hundred grams, dropped by 1 cm: impulses of the impact are not begun with in the step
 * after it, and points that met while rounds strayed ask for nothing at the node. */
TEST(an_uneven_stack_lands)
{
    static const char stack[] =
        "<mujoco><option timestep='0.00316228'/><default><geom friction='0.36278'/></default>"
        "<worldbody><geom type='plane' size='9 9 1'/>"
        "<body pos='-0.0179004 -0.025599 0.14819582758621525' euler='0 0 "
        "-32.5752'><freejoint/><geom type='box' size='0.142712 0.168524 0.13819582758621524' "
        "mass='1'/></body>"
        "<body pos='-0 -0 0.3641033525588967' euler='0 0 2.99205'><freejoint/><geom type='box' "
        "size='0.189966 0.192663 0.077711697386466244' mass='0.1'/></body>"
        "<body pos='0 -0 0.51011910511654801' euler='0 0 -27.6804'><freejoint/><geom type='box' "
        "size='0.105521 0.19474 0.068304055171185055' mass='3.16228'/></body>"
        "<body pos='0 0 0.69777728926364024' euler='0 0 25.9634'><freejoint/><geom type='box' "
        "size='0.165881 0.180031 0.11935412897590708' mass='3.16228'/></body>"
        "<body pos='0.0235629 0.0165417 0.93489579588534344' euler='0 0 "
        "-27.1539'><freejoint/><geom type='box' size='0.167011 0.125696 0.11776437764579623' "
        "mass='0.316228'/></body>"
        "<body pos='-0 0 1.1756074232116214' euler='0 0 14.828'><freejoint/><geom type='box' "
        "size='0.110598 0.154627 0.12294724968048172' mass='1000'/></body>"
        "<body pos='-0 -0 1.423285546386035' euler='0 0 38.9965'><freejoint/><geom type='box' "
        "size='0.134243 0.174339 0.12473087349393192' mass='10'/></body>"
        "<body pos='0 -0 1.6246478741632189' euler='0 0 35.0382'><freejoint/><geom type='box' "
        "size='0.195939 0.19222 0.066631454283251929' mass='3.16228'/></body>"
        "</worldbody></mujoco>";
    scene s = scene_node(stack, 0.00316228);
    s.o.restitution = 0.0528348;
    scene_run(&s, 0.2);
    CHECK(s.worst.penetration <= scene_deep(&s));
    CHECK(s.worst.residual <= 1e-6);
    scene_free(&s);
}

/* A chain of hinges, springs and limits, with links of 0.3 to 10 kg: rounds that change little
 * because they were mixed have not ended. */
TEST(a_chain_against_its_limits_stays_out_of_the_floor)
{
    scene s = scene_node(
        "<mujoco><option timestep='0.00948683'/><compiler angle='degree' autolimits='true'/>"
        "<default><geom friction='0.412245'/></default><worldbody>"
        "<geom type='plane' size='9 9 1'/><body pos='0 0 0.405829'>"
        "<joint type='hinge' axis='1 0 0' range='-60 60'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='10'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='1 0 0' damping='0.00316228' stiffness='0.1'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='0.316228'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='0 1 0' range='-60 60' stiffness='0.1' "
        "armature='0.000316228'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='3.16228'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='1 0 0' range='-60 60' damping='0.01'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='1'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='1 0 0' range='-60 60' damping='0.1' stiffness='0.316228' "
        "armature='0.0001'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='1'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='0 1 0' damping='0.1' stiffness='1'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='10'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='0 1 0' range='-60 60' stiffness='1'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='0.316228'/>"
        "<body pos='0.151016 0 0'>"
        "<joint type='hinge' axis='1 0 0' damping='0.0316228' frictionloss='0.001'/>"
        "<geom type='capsule' size='0.0302031' fromto='0 0 0 0.151016 0 0' mass='10'/></body>"
        "</body></body></body></body></body></body></body></worldbody></mujoco>",
        0.00948683);
    scene_run(&s, 0.6);
    CHECK(s.worst.penetration <= scene_deep(&s));
    scene_free(&s);
}

/* A four-bar goes back to where it came from when all of its velocities are turned around. */
TEST(the_way_back_leads_to_the_start)
{
    scene s = scene_node(
        "<mujoco><option gravity='0 0 0'/><worldbody><body name='a'><joint axis='0 1 0'/><geom "
        "type='capsule' fromto='0 0 0 0 0 0.2' size='0.01' mass='1'/><body name='b' pos='0 0 0.2'>"
        "<joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.5 0 0.1' size='0.01' mass='1' "
        "contype='0' conaffinity='0'/></body></body><body name='c' pos='0.5 0 0'><joint axis='0 1 "
        "0'/><geom type='capsule' fromto='0 0 0 0 0 0.3' size='0.01' mass='1' contype='0' "
        "conaffinity='0'/></body></worldbody><equality><connect body1='b' body2='c' anchor='0.5 0 "
        "0.1'/></equality></mujoco>",
        0.001);
    double q[3];
    rb_settle_info settled;
    s.d->v[0] = 3.0;
    CHECK_INT(rb_data_settle(s.m, s.d, &settled, NULL), RB_OK);
    scene_step(&s);
    memcpy(q, s.d->q, sizeof q);
    for (int way = 0; way < 2; way++) {
        for (int i = 0; i < 100; i++) scene_step(&s);
        for (int j = 0; j < 3; j++) s.d->v[j] = -s.d->v[j];
    }
    for (int j = 0; j < 3; j++) CHECK_NEAR(s.d->q[j], q[j], 1e-8);
    scene_free(&s);
}

/* One sphere is stopped by a plate of 1 um, the other passes its edge and falls freely. */
TEST(what_passes_by_is_let_go)
{
    scene s = scene_file("acceptance/bullet.xml");
    s.o.scheme = RB_SCHEME_NODE;
    s.o.h = 0.02;
    scene_run(&s, 0.04);
    CHECK_NEAR(s.d->q[0], 0.4949995, 1e-9);
    CHECK_NEAR(s.d->v[6], 100.0, 1e-9);
    scene_free(&s);
}

TEST_MAIN(RUN(a_crank_that_carries_a_sticking_box_keeps_its_energy),
          RUN(a_pendulum_in_a_groove_does_not_drift), RUN(a_box_pivots_about_its_edge),
          RUN(a_box_that_tips_takes_one_problem_a_step),
          RUN(dry_friction_of_a_hinge_takes_its_impulse), RUN(a_disc_carries_a_box),
          RUN(a_refused_step_leaves_the_state), RUN(robots_land), RUN(an_uneven_stack_lands),
          RUN(a_chain_against_its_limits_stays_out_of_the_floor),
          RUN(the_way_back_leads_to_the_start), RUN(what_passes_by_is_let_go))
