/* Models that are changed between steps: the next step knows, also where everything was at rest. */
#include <math.h>

#include "step_support.h"

/* A box on a floor that leans by atan 0.3, said by gravity. */
static const char slope[] =
    "<mujoco><option timestep='0.002' gravity='2.943 0 -9.81'/><worldbody>"
    "<geom name='floor' type='plane' size='5 5 1' friction='0'/>"
    "<body name='box' pos='0 0 0.1'><freejoint/>"
    "<geom name='sole' type='box' size='0.1 0.1 0.1' mass='2' friction='0.5'/></body>"
    "</worldbody></mujoco>";

static void steps(const rb_model *m, scene *s, int n)
{
    for (int k = 0; k < n; k++) CHECK_INT(rb_step(m, s->d, &s->o, &s->info, NULL), RB_OK);
}

TEST(less_friction_sets_a_box_at_rest_in_motion)
{
    scene s = scene_text(slope);
    rb_model *m = rb_model_copy(s.m, NULL);
    int sole = rb_model_find(m, RB_KIND_GEOM, "sole");
    steps(m, &s, 20);
    CHECK(s.d->v[0] == 0.0);
    CHECK_INT(rb_model_set_friction(m, sole, 0.1, NULL), RB_OK);
    steps(m, &s, 1);
    CHECK_NEAR(s.d->v[0], 0.002 * (2.943 - 0.1 * 9.81), 1e-6);

    /* the model that it was copied from is as it was */
    CHECK(s.m->geom_material[sole].friction == 0.5 && s.m->revision == 0);
    rb_model_free(m, NULL);
    scene_free(&s);
}

TEST(gravity_that_leans_more_moves_what_rested)
{
    scene s = scene_text(slope);
    rb_model *m = rb_model_copy(s.m, NULL);
    const double steep[3] = { 7.0, 0.0, -9.81 };
    steps(m, &s, 20);
    CHECK_INT(rb_model_set_gravity(m, steep, NULL), RB_OK);
    steps(m, &s, 1);
    CHECK_NEAR(s.d->v[0], 0.002 * (7.0 - 0.5 * 9.81), 1e-6);
    rb_model_free(m, NULL);
    scene_free(&s);
}

static const char arm[] =
    "<mujoco><option timestep='0.001' gravity='0 0 0'/><worldbody>"
    "<body name='upper'><joint name='a' axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0.4 0 0'"
    " size='0.03' mass='%s'/>"
    "<body name='lower' pos='0.4 0 0'><joint name='b' axis='0 1 0'/><geom type='capsule'"
    " fromto='0 0 0 0.3 0 0' size='0.02' mass='%s'/>"
    "<body name='tool' pos='0.3 0 0' euler='0 30 20'><geom type='box' size='0.02 0.03 0.04'"
    " mass='%s'/></body></body></body></worldbody>"
    "<actuator><motor name='push' joint='a'/></actuator></mujoco>";

static scene arm_of(const char *one, const char *two, const char *three)
{
    char text[2048];
    snprintf(text, sizeof text, arm, one, two, three);
    return scene_text(text);
}

TEST(changed_masses_move_as_those_of_the_file)
{
    scene s = arm_of("1", "0.5", "0.2"), t = arm_of("3", "0.5", "0.7");
    rb_model *m = rb_model_copy(s.m, NULL);
    CHECK_INT(rb_model_set_mass(m, rb_model_find(m, RB_KIND_BODY, "upper"), 3.0, NULL), RB_OK);
    CHECK_INT(rb_model_set_mass(m, rb_model_find(m, RB_KIND_BODY, "tool"), 0.7, NULL), RB_OK);
    CHECK_NEAR(m->mass, t.m->mass, 1e-12);
    s.d->ctrl[0] = t.d->ctrl[0] = 1.0;
    steps(m, &s, 200);
    steps(t.m, &t, 200);
    for (int j = 0; j < 2; j++) CHECK_NEAR(s.d->q[j], t.d->q[j], 1e-12);
    rb_model_free(m, NULL);
    scene_free(&s);
    scene_free(&t);
}

TEST(a_mass_that_changes_on_the_way_is_felt_at_once)
{
    scene s = arm_of("1", "0.5", "0.2");
    rb_model *m = rb_model_copy(s.m, NULL);
    s.d->ctrl[0] = 1.0;
    steps(m, &s, 1);
    double before = s.d->v[0];
    for (int b = 1; b < m->nbody; b++)
        CHECK_INT(rb_model_set_mass(m, b, 10.0 * m->body_mass[b], NULL), RB_OK);
    double v = s.d->v[0];
    steps(m, &s, 1);
    CHECK_NEAR(s.d->v[0] - v, 0.1 * before, 1e-3 * before);
    rb_model_free(m, NULL);
    scene_free(&s);
}

TEST(gains_and_restitution)
{
    scene s = arm_of("1", "0.5", "0.2"), t = arm_of("1", "0.5", "0.2");
    rb_model *m = rb_model_copy(s.m, NULL);
    const double gain[3] = { 2.0, 0.0, 0.0 }, bias[3] = { 0.0 };
    CHECK_INT(rb_model_set_gain(m, 0, gain, bias, NULL), RB_OK);
    s.d->ctrl[0] = 0.5;
    t.d->ctrl[0] = 1.0;
    steps(m, &s, 10);
    steps(t.m, &t, 10);
    CHECK_NEAR(s.d->q[0], t.d->q[0], 1e-14);
    rb_model_free(m, NULL);
    scene_free(&s);
    scene_free(&t);

    scene b = scene_text("<mujoco><option timestep='0.001'/><worldbody><geom type='plane'"
                         " size='1 1 1'/><body pos='0 0 0.6'><freejoint/><geom name='ball'"
                         " type='sphere' size='0.1'/></body></worldbody></mujoco>");
    m = rb_model_copy(b.m, NULL);
    CHECK_INT(rb_model_set_restitution(m, rb_model_find(m, RB_KIND_GEOM, "ball"), 1.0, NULL),
              RB_OK);
    b.o.stepper = RB_STEPPER_LOCATED;
    steps(m, &b, 400);
    CHECK(b.d->v[2] > 1.0);
    rb_model_free(m, NULL);
    scene_free(&b);
}

TEST(each_of_a_batch_has_its_own)
{
    scene s[3];
    rb_model *m[3];
    rb_data *d[3];
    rb_status status[3];
    for (int k = 0; k < 3; k++) {
        s[k] = scene_text(slope);
        m[k] = rb_model_copy(s[k].m, NULL);
        d[k] = s[k].d;
        int sole = rb_model_find(m[k], RB_KIND_GEOM, "sole");
        CHECK_INT(rb_model_set_friction(m[k], sole, 0.1 * k, NULL), RB_OK);
    }
    const rb_model *const models[3] = { m[0], m[1], m[2] };
    for (int n = 0; n < 50; n++)
        CHECK_INT(rb_step_each(models, d, 3, &s[0].o, NULL, NULL, status), RB_OK);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(d[k]->v[0], 0.1 * (2.943 - 0.1 * k * 9.81), 1e-4);
        rb_model_free(m[k], NULL);
        scene_free(&s[k]);
    }
}

TEST(what_cannot_be_is_refused)
{
    scene s = scene_text(slope);
    rb_model *m = rb_model_copy(s.m, NULL);
    rb_error err = { 0 };
    const double bad[3] = { 0.0, NAN, 0.0 }, none[3] = { 0.0 };
    CHECK_INT(rb_model_set_friction(m, 7, 0.1, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "geom 7: the model has 2");
    CHECK_INT(rb_model_set_friction(m, 0, -1.0, NULL), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_restitution(m, 0, 1.5, NULL), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_mass(m, 0, 1.0, NULL), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_mass(m, 1, 0.0, NULL), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_gravity(m, bad, NULL), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_gain(m, 0, none, none, NULL), RB_BAD_INPUT);
    CHECK(m->revision == 0);
    rb_model_free(m, NULL);
    scene_free(&s);
}

TEST_MAIN(RUN(less_friction_sets_a_box_at_rest_in_motion),
          RUN(gravity_that_leans_more_moves_what_rested),
          RUN(changed_masses_move_as_those_of_the_file),
          RUN(a_mass_that_changes_on_the_way_is_felt_at_once), RUN(gains_and_restitution),
          RUN(each_of_a_batch_has_its_own), RUN(what_cannot_be_is_refused))
