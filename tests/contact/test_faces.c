/* Feet of many points, and hulls of a mechanism that overlap at a joint. */
#include "contact/contact.h"
#include "step_support.h"

/* ---- overlap at a joint (F.7) ----------------------------------------------------------------
 */

/* A pendulum about x whose hub reaches 4 mm into the box that carries it: the normal is the axis,
 * and nothing but friction would slow it down. The box is fixed, or hangs on a heavy free body. */
#define PENDULUM(hub)                                                                              \
    "<body><joint name='fixed' type='slide' axis='1 0 0' range='-0.001 0.001' limited='true'/>"    \
    "<geom type='sphere' size='0.001' mass='0.1' contype='0' conaffinity='0'/>"                    \
    "<body><joint type='hinge' axis='1 0 0'/>"                                                     \
    "<geom type='capsule' fromto='0.05 0 0 0.05 0 -0.3' size='0.01' contype='0' conaffinity='0'/>" \
    "<geom type='sphere' pos='0.036 0.02 0' size='0.02' mass='0.01' " hub "/></body></body>"
#define FREE_OF_ITSELF "contype='0' conaffinity='0'"
#define SCENE(base, hub)                                                                           \
    "<mujoco><option timestep='0.002'/><default><geom friction='0.8'/></default>"                  \
    "<worldbody>" base                                                                             \
    PENDULUM(hub) "</body></worldbody></mujoco>"
#define ON_THE_WORLD "<body><geom type='box' size='0.02 0.1 0.1'/>"

static double swing(const char *text, double *deepest)
{
    scene s = scene_text(text);
    int hinge = s.m->nv - 1;
    s.o.keep_errors = 1;
    s.d->q[hinge] = 1.2;
    scene_run(&s, 0.8);
    double angle = s.d->q[hinge];
    if (deepest) *deepest = s.worst.penetration;
    CHECK(s.worst.residual <= 1e-9);
    CHECK(s.worst.energy_created <= 1e-12);
    scene_free(&s);
    return angle;
}

TEST(overlap_at_a_joint_does_not_lock_it)
{
    double deepest = 0.0, free_swing = swing(SCENE(ON_THE_WORLD, FREE_OF_ITSELF), NULL);
    double angle = swing(SCENE(ON_THE_WORLD, ""), &deepest);
    CHECK(fabs(free_swing - 1.2) > 0.1);
    CHECK_NEAR(angle, free_swing, 1e-6);
    CHECK_NEAR(deepest, 0.004, 1e-9);
}

/* A sphere on a spring, 1 cm inside a box of its own mechanism, swings by `reach` about its rest
 * and comes back to where it was, as if nothing held it; pulled inwards it stays (F.8). */
#define SPRUNG(reach)                                                                              \
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody><body>"                          \
    "<geom type='box' size='0.1 0.1 0.1' mass='1'/><body pos='0.15 0 0'>"                          \
    "<joint type='slide' axis='0 0 1' range='-1e-3 1e-3' limited='true'/>"                         \
    "<geom type='sphere' size='0.001' mass='0.1' contype='0' conaffinity='0'/>"                    \
    "<body><joint type='slide' axis='1 0 0' stiffness='100' springref='" reach "'/>"               \
    "<geom type='sphere' size='0.06' mass='1'/></body></body></body></worldbody></mujoco>"

TEST(overlap_that_opens_closes_again)
{
    scene s = scene_text(SPRUNG("0.003"));
    s.o.keep_errors = 1;
    scene_run(&s, 0.628); /* one period, 2 pi / 10 s */
    CHECK_NEAR(s.d->q[1], 0.0, 1e-6);
    CHECK_NEAR(s.worst.penetration, 0.01, 1e-6);
    CHECK(s.worst.energy_created <= 1e-12);
    scene_free(&s);

    s = scene_text(SPRUNG("-0.003"));
    s.o.keep_errors = 1;
    scene_run(&s, 0.6);
    CHECK(s.worst.penetration > 0.01);
    CHECK(s.worst.penetration <= 0.01 + 2.02e-7 * s.m->extent);
    CHECK(s.d->v[1] == 0.0);
    scene_free(&s);
}

/* A box turns about z, 2 cm inside the trunk below it, face in face: no motion changes that
 * overlap, its rows are rounding, and nothing is as it would not be without it (S.29). */
#define TURNS_INSIDE(contact)                                                                      \
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='1 1 1'/>"               \
    "<body name='a' pos='0 0 0.4' euler='20 35 10'><freejoint/>"                                   \
    "<geom type='box' size='0.15 0.1 0.05' mass='2'/>"                                             \
    "<body pos='0.05 0.013 -0.07'><joint axis='0 0 1'/>"                                           \
    "<geom type='sphere' size='0.02' mass='0.1' contype='0' conaffinity='0'/>"                     \
    "<body name='c'><joint axis='0 0 1'/>"                                                         \
    "<geom type='box' size='0.03 0.02 0.04' pos='0.009 0.006 0' mass='0.1'/>"                      \
    "</body></body></body></worldbody>" contact "</mujoco>"

TEST(overlap_that_no_motion_changes_changes_nothing)
{
    scene s = scene_text(TURNS_INSIDE(""));
    scene apart = scene_text(TURNS_INSIDE("<contact><exclude body1='a' body2='c'/></contact>"));
    s.o.accuracy = apart.o.accuracy = RB_ACCURACY_STRICT;
    scene_run(&s, 0.4); /* it lands after 0.2 s */
    scene_run(&apart, 0.4);
    CHECK(s.worst.penetration > 0.0199 && apart.worst.penetration < 1e-8);
    for (int j = 0; j < s.m->nq; j++) CHECK_NEAR(s.d->q[j], apart.d->q[j], 1e-9);
    CHECK(s.worst.residual <= 1e-10);
    scene_free(&s);
    scene_free(&apart);
}

/* Between two mechanisms the same overlap is a contact like any other, and rubs. */
TEST(overlap_with_another_body_rubs)
{
    scene s = scene_text("<mujoco><option timestep='0.002'/><worldbody>"
                         "<geom type='plane' size='5 5 1' friction='0.8'/>"
                         "<body pos='0 0 0.096'><freejoint/>"
                         "<geom type='box' size='0.1 0.1 0.1' friction='0.8'/></body>"
                         "</worldbody></mujoco>");
    s.d->v[0] = 0.5;
    s.o.keep_errors = 1;
    scene_run(&s, 0.5);
    CHECK_NEAR(s.d->q[0], 0.5 * 0.5 / (2.0 * 0.8 * 9.81), 2e-3);
    CHECK(s.d->v[0] == 0.0);
    CHECK_NEAR(s.worst.penetration, 0.004, 1e-9);
    scene_free(&s);
}

/* ---- one face, one rigid body (F.6), (S.5) ---------------------------------------------------
 */

#define CUBE                                                                                       \
    "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 1' "                \
    "friction='0.8'/>"                                                                             \
    "<body><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='2'/></body></worldbody></mujoco>"

/* A cube on the floor, turned about x so that two of its corners touch and two are `dz` higher. */
static scene tilted_cube(double dz)
{
    scene s = scene_text(CUBE);
    double angle = dz / 0.2;
    s.d->q[3] = cos(0.5 * angle);
    s.d->q[4] = sin(0.5 * angle);
    s.d->q[2] = 0.1 * cos(angle) + 0.1 * sin(angle);
    return s;
}

/* What no step can tell from touching carries, and the cube rests at once as it is; a little more
 * is a gap, and it falls shut. */
TEST(points_of_a_face_are_closed_together)
{
    scene s = tilted_cube(0.0);
    double deep = 1e-9 * s.m->extent, q[7];
    scene_free(&s);
    s = tilted_cube(0.3 * deep);
    s.o.accuracy = RB_ACCURACY_STRICT;
    memcpy(q, s.d->q, sizeof q);
    scene_step(&s);
    for (int j = 0; j < 6; j++) CHECK(s.d->v[j] == 0.0);
    CHECK(memcmp(q, s.d->q, sizeof q) == 0);
    CHECK_INT(s.d->ntouch, 4);
    for (int i = 0; i < 4; i++) CHECK_NEAR(s.d->touch[i].p[0], 2.0 * 9.81 * 0.001 / 4.0, 1e-9);
    scene_free(&s);

    s = tilted_cube(30.0 * deep); /* v is that of the end, where it stands */
    s.o.accuracy = RB_ACCURACY_STRICT;
    double tilt = s.d->q[4];
    scene_step(&s);
    CHECK(fabs(s.d->q[4]) <= 0.1 * tilt);
    scene_free(&s);
}

/* Tangential speeds of a cube that rocks about x: each corner has the lever of the lowest ones, or
 * the face would be asked to stretch. The papers' formulations take corners as they are. */
TEST(points_of_a_face_act_in_one_plane)
{
    static const char *const words[] = { "cone", "anitescu-potra" };
    const double dz = 1e-4;
    for (int k = 0; k < 2; k++) {
        scene s = tilted_cube(dz);
        rb_contact contacts[8];
        rb_constraints set;
        double u[24], least = INFINITY, most = -INFINITY;
        int n = 0;
        s.o.formulation = rb_formulation_find(words[k]);
        s.d->v[3] = 1.0;
        rb_kinematics(s.m, s.d);
        rb_velocity(s.m, s.d);
        rb_frames(s.m, s.d);
        CHECK_INT(rb_collide(s.m, s.d, 0.001, 1.0, 8, contacts, &n, NULL), RB_OK);
        CHECK_INT(n, 4);
        CHECK_INT(rb_constraints_build(s.m, s.d, &s.o, 0.001, 1.0, contacts, n, NULL, &set), RB_OK);
        rb_constraints_velocity(&set, s.d->v, u);
        for (int i = 0; i < 4; i++) {
            double along = hypot(u[3 * i + 1], u[3 * i + 2]);
            least = fmin(least, along);
            most = fmax(most, along);
            CHECK_NEAR(fabs(u[3 * i]), 0.1, 1e-4);
        }
        CHECK_NEAR(most - least, k == 0 ? 0.0 : dz, 1e-3 * dz);
        scene_free(&s);
    }
}

/* ---- feet --------------------------------------------------------------------------------------
 */

#define POINT(x, y) "<geom type='sphere' size='0.0001' pos='" #x " " #y " -0.05' mass='0.01'/>"
#define FOOT                                                                                       \
    POINT(-0.1, 0.06)                                                                              \
    POINT(-0.1, -0.06)                                                                             \
    POINT(0.15, 0.06)                                                                              \
    POINT(0.15, -0.06) POINT(0.07, 0.06) POINT(0.07, -0.06) POINT(-0.02, 0.06) POINT(-0.02, -0.06)

#define LEG(y)                                                                                     \
    "<body pos='0 " #y " 0'><joint type='hinge' axis='1 0 0'/><joint type='hinge' axis='0 1 0'/>"  \
    "<geom class='limb' fromto='0 0 0 0 0 -0.3'/><body pos='0 0 -0.3'>"                            \
    "<joint type='hinge' axis='0 1 0'/><geom class='limb' fromto='0 0 0 0 0 -0.25'/>"              \
    "<body pos='0 0 -0.3'><joint type='ball'/><geom class='limb' fromto='-0.1 0 0 0.1 0 0'/>" FOOT \
    "</body></body></body>"

/* On two feet of eight points each knees give way and a pelvis turns. Rows are linear and the legs
 * are not: steps sink and are repaired. Each repair has an answer: no step is divided. */
TEST(feet_of_eight_points_stand)
{
    scene s = scene_text("<mujoco><option timestep='0.002'/><default><default class='limb'><geom "
                         "type='capsule' size='0.03' mass='1' contype='0' conaffinity='0'/>"
                         "</default></default><worldbody><geom type='plane' size='5 5 1' "
                         "friction='1'/><body pos='0 0 0.6501'><freejoint/>"
                         "<geom class='limb' fromto='0 -0.1 0 0 0.1 0' mass='9'/>" LEG(0.1)
                             LEG(-0.1) "</body></worldbody></mujoco>");
    int splits = 0;
    double bend[2] = { 0.5, 0.5 };
    s.d->q[2] = 0.6 * cos(bend[0]) + 0.0501;
    for (int leg = 0; leg < 2; leg++) {
        double *q = s.d->q + 7 + 7 * leg;
        q[1] = -bend[leg];
        q[2] = 2.0 * bend[leg];
        q[3] = cos(0.5 * bend[leg]);
        q[5] = -sin(0.5 * bend[leg]);
    }
    s.o.accuracy = RB_ACCURACY_STRICT;
    s.d->v[5] = 0.8;
    s.d->v[3] = 0.3;
    for (int k = 0; k < 150; k++) {
        scene_step(&s);
        splits += s.info.splits;
    }
    CHECK_INT(splits, 0);
    CHECK(s.worst.penetration <= 1e-9 * s.m->extent);
    scene_free(&s);
}

TEST_MAIN(RUN(overlap_at_a_joint_does_not_lock_it), RUN(overlap_with_another_body_rubs),
          RUN(overlap_that_opens_closes_again), RUN(overlap_that_no_motion_changes_changes_nothing),
          RUN(points_of_a_face_are_closed_together), RUN(points_of_a_face_act_in_one_plane),
          RUN(feet_of_eight_points_stand))
