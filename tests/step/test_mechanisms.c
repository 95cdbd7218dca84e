/* Mechanisms with loops and limits in steps, and the robots of the shared folder. */
#include "step_support.h"

/* A four-bar in the plane of its base, flat: crank, rod and foot on one line, limits beyond reach
 * of their joints. Rows across the plane are rounding, and in the plane one of them is singular. */
#define FLAT_BAR                                                                                   \
    "<mujoco><option timestep='0.001'/><compiler angle='radian'/><worldbody>"                      \
    "<body><freejoint/><geom type='box' size='0.2 0.1 0.05' mass='5' contype='0'/>"                \
    "<body name='crank' pos='0.1 0 0'><joint type='hinge' axis='0 1 0' range='0.5 2'/>"            \
    "<geom type='capsule' fromto='0 0 0 0.05 0 0' size='0.01' contype='0'/>"                       \
    "<body name='rod' pos='0.05 0 0'><joint type='hinge' axis='0 1 0'/>"                           \
    "<geom type='capsule' fromto='0 0 0 0.35 0 0' size='0.01' contype='0'/></body></body>"         \
    "<body name='foot' pos='0.45 0 0'><joint type='hinge' axis='0 1 0' range='0.5 2'/>"            \
    "<geom type='capsule' fromto='0 0 0 0.05 0 0' size='0.01' contype='0'/></body></body>"         \
    "</worldbody><equality><connect body1='rod' body2='foot' anchor='0.35 0 0'/></equality>"       \
    "</mujoco>"

TEST(a_flat_four_bar_is_steady_however_its_plane_lies)
{
    const double tilt[] = { 0.0, 1e-16, 1e-15, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.3 };
    for (size_t k = 0; k < sizeof tilt / sizeof *tilt; k++) {
        scene s = scene_text(FLAT_BAR);
        s.o.keep_errors = 1;
        double c = sqrt(1.0 - 0.25 * tilt[k] * tilt[k]);
        const double quat[4] = { c, 0.4 * tilt[k], 0.0, 0.3 * tilt[k] };
        memcpy(s.d->q + 3, quat, sizeof quat);
        s.d->v[4] = 1e-15;
        for (int i = 0; i < 100; i++) {
            scene_step(&s);
            for (int j = 6; j < s.m->nv; j++) CHECK(fabs(s.d->v[j]) < 1e-6);
        }
        CHECK(s.worst.loop_error < 1e-12);
        CHECK_NEAR(s.d->v[2], -9.81 * 0.1, 1e-9);
        scene_free(&s);
    }
}

/* Two limits push against each other through a loop at its dead centre and fall to the ground: the
 * rows leave room for a closure error of no size at all (S.21). What starts beyond a limit stays
 * where it was. */
TEST(a_dead_centre_between_two_limits_survives_the_fall)
{
    const double turn[][4] = { { 0.9, 0.1, 0.4, 0.1 },
                               { 0.1, 0.9, 0.1, 0.0 },
                               { 0.6, 0.6, 0.2, 0.2 },
                               { 0.7, -0.4, 0.6, 0.0 } };
    for (size_t k = 0; k < sizeof turn / sizeof *turn; k++) {
        scene s = scene_file("contact/dead_centre.xml");
        s.o.accuracy = RB_ACCURACY_STRICT;
        double size = 0.0;
        for (int i = 0; i < 4; i++) size += turn[k][i] * turn[k][i];
        for (int i = 0; i < 4; i++) s.d->q[3 + i] = turn[k][i] / sqrt(size);
        scene_run(&s, 0.8);
        CHECK(s.worst.residual <= 1e-9);
        CHECK(s.worst.penetration <= 2e-9 * s.m->extent);
        CHECK(s.worst.loop_error <= 1e-10);
        CHECK(s.worst.energy_created <= 2e-5); /* of 5 J that are lost; 6e-6 J at most were seen */
        CHECK(s.d->q[7] <= 1e-6);              /* the crank, of 30 degrees beyond its limit */
        CHECK(s.d->q[9] <= 1e-6);              /* the rocker */
        scene_free(&s);
    }
}

/* A leg spins flat against the trunk and 1 cm inside it, as hulls of hips do: its hip is held from
 * both sides, and rounding of its angle, or of the axis in a file that says 1.5708, tilts the face
 * that spins. Rows of the start leave the spin no way at all then: the overlap may grow by what
 * nobody sees (F.8). */
#define LEG(axis)                                                                                  \
    "<mujoco><option timestep='0.002'/><worldbody><body pos='0 0 1'>"                              \
    "<geom type='box' size='0.3 0.15 0.1' mass='20'/>"                                             \
    "<body pos='0 0 -0.1'><joint axis='1 0 0'/>"                                                   \
    "<geom type='sphere' size='0.02' mass='1' contype='0' conaffinity='0'/>"                       \
    "<body><joint axis='" axis "' frictionloss='0.02'/>"                                           \
    "<geom type='box' size='0.1 0.04 0.05' pos='0.02 0.01 -0.04' mass='2'/>"                       \
    "</body></body></body></worldbody></mujoco>"

TEST(a_leg_that_overlaps_its_trunk_spins_on)
{
    static const struct {
        const char *leg;
        double tilt, off; /* of the hip, of the axis */
    } cases[] = { { LEG("0 0 1"), 0.0, 0.0 },   { LEG("0 0 1"), 1e-12, 0.0 },
                  { LEG("0 0 1"), 1e-10, 0.0 }, { LEG("0 0 1"), -1e-9, 0.0 },
                  { LEG("0 0 1"), 1e-8, 0.0 },  { LEG("0 3.7e-6 1"), 0.0, 3.7e-6 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        scene s = scene_text(cases[k].leg);
        s.o.keep_errors = 1;
        s.o.accuracy = RB_ACCURACY_STRICT;
        double growth = 2.02e-7 * s.m->extent + scene_deep(&s), start = 0.1 * fabs(cases[k].tilt);
        start += 0.1 * cases[k].off * sin(0.3); /* at the end of the face, 10 cm from the axis */
        s.d->q[0] = cases[k].tilt;
        s.d->q[1] = 0.3;
        s.d->v[1] = 5.0;
        scene_run(&s, 0.5);
        CHECK(s.worst.residual <= rb_step_opts_tol(&s.o));
        CHECK(s.worst.penetration <= 0.01 + start + growth);
        CHECK(fabs(s.d->q[0]) <= growth / 0.03); /* half of the face is 3 cm wide */
        CHECK_NEAR(s.d->v[1], 5.0 - 0.5 * 0.02 / 0.0087333, 0.02); /* dry friction alone */
        scene_free(&s);
    }
}

/* A free trunk that lands; its foot is held on a rod by two points of an oblique axis, 2e-8 m
 * farther apart on one body than on the other, as files with eight digits have it: no motion takes
 * such an error off. */
TEST(a_robot_whose_axes_disagree_lands)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='1 1 1'/>"
        "<body pos='0 0 0.5' euler='20 30 0'><freejoint/><geom type='box' size='0.1 0.08 0.05'/>"
        "<body pos='0.1 0 -0.05'><joint axis='0.1 1 0.2'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -0.2' size='0.01'/>"
        "<body pos='0 0 -0.2'><joint type='ball'/><geom type='sphere' size='0.03'/>"
        "<site name='a' pos='0.05 -0.02 0'/><site name='b' pos='0.05 0.02 0.003'/></body></body>"
        "<body pos='0.15 0 -0.05'><joint axis='0.1 1 0.2'/>"
        "<geom type='capsule' fromto='0 0 0 0 0 -0.2' size='0.01'/>"
        "<site name='c' pos='0 -0.02 -0.2'/><site name='d' pos='0 0.02000002 -0.197'/></body>"
        "</body></worldbody><equality><connect site1='a' site2='c'/>"
        "<connect site1='b' site2='d'/></equality></mujoco>");
    for (int i = 0; i < 300; i++) scene_step(&s); /* it was jammed at 0.324 s */
    CHECK(s.worst.residual <= rb_step_opts_tol(&s.o));
    CHECK(s.worst.penetration <= scene_deep(&s));
    CHECK(s.worst.loop_error <= 1e-7);
    scene_free(&s);
}

/* ---- robots -------------------------------------------------------------------------------------
 */

static void check_robot(const char *name, double time)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    scene s = scene_of(rb_spec_read(test_shared(name), &o, NULL, &err), &err);
    scene_run(&s, time);
    CHECK(s.worst.residual <= rb_step_opts_tol(&s.o));
    CHECK(s.worst.penetration <= scene_deep(&s));
    CHECK(s.worst.loop_error <= 1e-8);
    scene_free(&s);
}

/* Cranks at their dead centre, feet 30 degrees beyond their limits: they can go neither way unless
 * limits yield (S.21), and torques push. */
TEST(a_stretched_linkage_beyond_its_limits_is_driven)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    for (unsigned seed = 1; seed <= 3; seed++) {
        const char *file = test_shared("data/robots/cassie_mjcf/cassie.xml");
        scene s = scene_of(rb_spec_read(file, &o, NULL, &err), &err);
        rb_rng rng = rb_rng_make(seed);
        for (int held = 0; held < 2; held++) {
            for (int k = 0; k < s.m->nu; k++) {
                const double *range = s.m->act_ctrl_range + 2 * k;
                s.d->ctrl[k] = rb_rng_uniform(&rng, range[0], range[1]);
            }
            scene_run(&s, 0.1);
        }
        CHECK(s.worst.residual <= s.o.loose); /* seed 3 misses its accuracy in two steps of 200 */
        CHECK(s.worst.loop_error <= 1e-6);
        scene_free(&s);
    }
}

TEST(robots_run_without_failures)
{
    check_robot("data/robots/cassie_mjcf/cassie.xml", 0.5);
    check_robot("data/robots/allegro_left_mjcf/left_hand.xml", 1.0);
    check_robot("data/mujoco_models/humanoid/humanoid/humanoid.xml", 1.5);
    check_robot("data/robots/atlas_urdf/atlas/atlas_minimal_contact.urdf", 0.5);
}

TEST_MAIN(RUN(a_flat_four_bar_is_steady_however_its_plane_lies),
          RUN(a_dead_centre_between_two_limits_survives_the_fall),
          RUN(a_leg_that_overlaps_its_trunk_spins_on), RUN(a_robot_whose_axes_disagree_lands),
          RUN(robots_run_without_failures), RUN(a_stretched_linkage_beyond_its_limits_is_driven))
