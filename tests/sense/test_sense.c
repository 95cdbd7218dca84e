/* Contacts of the last step: statics that are known, signs, names, what was before any step. */
#include "math/vec3.h"
#include "rattleback/sensor.h"
#include "step_support.h"

/* 100 N on the ground: mass 100 / 9.81 kg. */
static const char foot[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom name='ground' type='plane' size='0 0 1'/>"
    "<body name='foot' pos='0 0 0.1'><freejoint/><geom name='sole' type='box' size='0.2 0.1 0.1' "
    "mass='10.193679918450560' friction='1'/></body></worldbody></mujoco>";

static void take_steps(scene *s, int n)
{
    for (int k = 0; k < n; k++) CHECK_INT(rb_step(s->m, s->d, &s->o, &s->info, NULL), RB_OK);
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
}

TEST(nothing_before_the_first_step)
{
    scene s = scene_text(foot);
    double F[3], T[3];
    take_steps(&s, 0);
    CHECK_INT(rb_contact_forces(s.m, s.d, 0, NULL), 0);
    rb_contact_on_body(s.m, s.d, 1, F, T);
    for (int i = 0; i < 3; i++) CHECK(F[i] == 0.0 && T[i] == 0.0);
    CHECK(rb_contact_between(s.m, s.d, 0, 1) == 0.0);
    scene_free(&s);
}

TEST(a_foot_carries_its_weight)
{
    scene s = scene_text(foot);
    rb_contact_force c[8];
    double F[3], T[3], sum = 0.0;
    take_steps(&s, 5);
    int n = rb_contact_forces(s.m, s.d, 8, c);
    CHECK_INT(n, 4);
    for (int i = 0; i < n; i++) {
        CHECK_INT(c[i].geom1, 0);
        CHECK_INT(c[i].geom2, 1);
        CHECK_INT(c[i].body1, 0);
        CHECK_INT(c[i].body2, 1);
        CHECK_INT(c[i].mode, RB_MODE_STICK);
        CHECK_NEAR(c[i].frame[2], 1.0, 1e-15); /* up: from the ground to the foot */
        CHECK_NEAR(c[i].pos[2], 0.0, 1e-12);
        CHECK_NEAR(c[i].force[0] * 0.002, c[i].impulse[0], 1e-15);
        sum += c[i].force[0];
    }
    CHECK_NEAR(sum, 100.0, 1e-6);
    rb_contact_on_body(s.m, s.d, 1, F, T);
    CHECK_NEAR(F[2], 100.0, 1e-6);
    CHECK_NEAR(rb_norm3(T), 0.0, 1e-6);
    rb_contact_on_body(s.m, s.d, 0, F, T); /* and the other way round on the ground */
    CHECK_NEAR(F[2], -100.0, 1e-6);
    CHECK_NEAR(rb_contact_between(s.m, s.d, 0, 1), 100.0, 1e-6);
    CHECK_NEAR(rb_contact_between(s.m, s.d, 1, -1), 100.0, 1e-6);
    scene_free(&s);
}

/* Pushed with 30 N it sticks and the ground pushes back; with 120 N it slides at 100 N. */
TEST(friction_has_the_sign_of_what_acts_on_the_foot)
{
    scene s = scene_text(foot);
    double F[3], T[3];
    s.d->tau[0] = 30.0;
    take_steps(&s, 20);
    rb_contact_on_body(s.m, s.d, 1, F, T);
    CHECK_NEAR(F[0], -30.0, 1e-6);
    CHECK_NEAR(T[1], 0.0, 1e-6); /* the push is at the centre: the corners make up for friction */
    s.d->tau[0] = 120.0;
    take_steps(&s, 5);
    rb_contact_on_body(s.m, s.d, 1, F, T);
    CHECK_NEAR(F[0], -100.0, 1e-5);
    rb_contact_force c;
    CHECK(rb_contact_forces(s.m, s.d, 1, &c) > 1);
    CHECK_INT(c.mode, RB_MODE_SLIDE);
    CHECK(c.slip[0] * c.frame[3] + c.slip[1] * c.frame[6] > 0.0); /* the foot moves along +x */
    scene_free(&s);
}

TEST_MAIN(RUN(nothing_before_the_first_step), RUN(a_foot_carries_its_weight),
          RUN(friction_has_the_sign_of_what_acts_on_the_foot))
