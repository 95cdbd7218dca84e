/* Models that are changed between steps: the next step knows, also where everything was at rest. */
#include <math.h>

#include "model/cache.h"
#include "rattleback/sensor.h"
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

/* ---- steps at rest ----------------------------------------------------------------------------
 */

/* The same box, and a slide that a servo presses against its stop at 0.2 m: both rest. */
static const char resting[] =
    "<mujoco><option timestep='0.002' gravity='2.943 0 -9.81'/><worldbody>"
    "<geom name='floor' type='plane' size='5 5 1' friction='0'/>"
    "<body name='box' pos='0 0 0.1'><freejoint/>"
    "<geom name='sole' type='box' size='0.1 0.1 0.1' mass='2' friction='0.5'/></body>"
    "<body name='cart' pos='0 3 1'><joint name='rail' type='slide' axis='0 1 0' limited='true'"
    " range='-0.2 0.2'/><geom type='sphere' size='0.05' mass='1.5' contype='0' conaffinity='0'/>"
    "</body></worldbody>"
    "<actuator><position name='servo' joint='rail' kp='30'/></actuator>"
    "<keyframe><key name='rest' qpos='0 0 0.1 1 0 0 0 0.2' ctrl='0.5'/></keyframe></mujoco>";

/* Two simulations of one model, at rest by the cache; m is the copy that the second goes on with.
 */
typedef struct pair_at_rest {
    scene s;
    rb_data *other;
    rb_model *m;
} pair_at_rest;

static pair_at_rest at_rest(void)
{
    pair_at_rest x = { .s = scene_text(resting) };
    x.m = rb_model_copy(x.s.m, NULL);
    x.other = rb_data_new(x.s.m, NULL);
    CHECK(x.m && x.other);
    CHECK_INT(rb_data_reset_key(x.s.m, x.s.d, 0), RB_OK);
    CHECK_INT(rb_data_reset_key(x.s.m, x.other, 0), RB_OK);
    for (int k = 0; k < 20; k++) {
        CHECK_INT(rb_step(x.s.m, x.s.d, &x.s.o, NULL, NULL), RB_OK);
        CHECK_INT(rb_step(x.m, x.other, &x.s.o, NULL, NULL), RB_OK);
    }
    CHECK(x.s.d->cache->rest_known && x.other->cache->rest_known);
    return x;
}

/* One step of both: the first knows of nothing, neither does its model. */
static void step_both(pair_at_rest *x)
{
    double before[8];
    memcpy(before, x->s.d->q, sizeof before);
    steps(x->s.m, &x->s, 1);
    CHECK_INT(rb_step(x->m, x->other, &x->s.o, NULL, NULL), RB_OK);
    CHECK(memcmp(before, x->s.d->q, sizeof before) == 0 && x->s.d->v[0] == 0.0);
    CHECK(x->s.m->revision == 0);
}

static void end(pair_at_rest *x)
{
    rb_data_free(x->other);
    rb_model_free(x->m, NULL);
    scene_free(&x->s);
}

static double weight_on_the_floor(const rb_model *m, const rb_data *d)
{
    return rb_contact_between(m, d, rb_model_find(m, RB_KIND_BODY, "box"), -1);
}

TEST(at_rest_friction_is_seen_in_the_next_step)
{
    pair_at_rest x = at_rest();
    CHECK_INT(rb_model_set_friction(x.m, rb_model_find(x.m, RB_KIND_GEOM, "sole"), 0.2, NULL),
              RB_OK);
    step_both(&x);
    CHECK_NEAR(x.other->v[0], 0.002 * (2.943 - 0.2 * 9.81), 1e-6);
    end(&x);
}

TEST(at_rest_gravity_is_seen_in_the_next_step)
{
    pair_at_rest x = at_rest();
    const double up[3] = { 0.0, 0.0, 3.0 };
    CHECK_INT(rb_model_set_gravity(x.m, up, NULL), RB_OK);
    step_both(&x);
    CHECK_NEAR(x.other->v[2], 0.006, 1e-9);
    end(&x);
}

TEST(at_rest_a_mass_is_seen_in_the_next_step)
{
    pair_at_rest x = at_rest();
    CHECK_NEAR(weight_on_the_floor(x.m, x.other), 2.0 * 9.81, 1e-5);
    CHECK_INT(rb_model_set_mass(x.m, rb_model_find(x.m, RB_KIND_BODY, "box"), 7.0, NULL), RB_OK);
    step_both(&x);
    CHECK(x.other->v[0] == 0.0);
    CHECK_NEAR(weight_on_the_floor(x.m, x.other), 7.0 * 9.81, 1e-5);
    CHECK_NEAR(weight_on_the_floor(x.s.m, x.s.d), 2.0 * 9.81, 1e-5);
    end(&x);
}

TEST(at_rest_gains_are_seen_in_the_next_step)
{
    pair_at_rest x = at_rest();
    const double gain[3] = { 30.0, 0.0, 0.0 }, stiff[3] = { 0.0, -90.0, 0.0 };
    CHECK_INT(rb_model_set_gain(x.m, 0, gain, stiff, NULL), RB_OK);
    step_both(&x);
    CHECK_NEAR(x.other->v[6], 0.002 * (30.0 * 0.5 - 90.0 * 0.2) / 1.5, 1e-6);
    CHECK(x.s.d->v[6] == 0.0);
    end(&x);
}

/* At rest it changes nothing; what is lifted afterwards bounces by it. */
TEST(at_rest_restitution_is_known_from_the_next_step_on)
{
    pair_at_rest x = at_rest();
    CHECK_INT(rb_model_set_restitution(x.m, rb_model_find(x.m, RB_KIND_GEOM, "sole"), 0.5, NULL),
              RB_OK);
    step_both(&x);
    CHECK(x.other->v[0] == 0.0);
    x.other->q[2] = x.s.d->q[2] = 0.11;
    x.other->v[2] = x.s.d->v[2] = -2.0;
    for (int k = 0; k < 6; k++) {
        CHECK_INT(rb_step(x.m, x.other, &x.s.o, NULL, NULL), RB_OK);
        steps(x.s.m, &x.s, 1);
    }
    CHECK(x.other->v[2] > 0.9 && x.s.d->v[2] < 1e-9);
    end(&x);
}

TEST(a_mass_changed_at_rest_carries_as_that_of_the_file)
{
    pair_at_rest x = at_rest();
    char text[sizeof resting + 8];
    snprintf(text, sizeof text, "%s", resting);
    char *mass = strstr(text, "mass='2'");
    mass[6] = '7';
    scene t = scene_text(text);
    CHECK_INT(rb_data_reset_key(t.m, t.d, 0), RB_OK);
    CHECK_INT(rb_model_set_mass(x.m, 1, 7.0, NULL), RB_OK);
    t.o = x.s.o;
    for (int k = 0; k < 40; k++) {
        const double push[6] = { k < 20 ? 29.0 : 0.0, 3.0, 0.0, 0.1, 0.0, 0.3 };
        memcpy(t.d->wrench + 6, push, sizeof push);
        memcpy(x.other->wrench + 6, push, sizeof push);
        steps(t.m, &t, 1);
        CHECK_INT(rb_step(x.m, x.other, &t.o, NULL, NULL), RB_OK);
    }
    CHECK(fabs(t.d->v[0]) > 1e-3); /* it slides */
    for (int i = 0; i < 8; i++) CHECK_NEAR(x.other->v[i % 7], t.d->v[i % 7], 1e-9);
    scene_free(&t);
    end(&x);
}

TEST(a_pair_has_numbers_of_its_own)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002' gravity='2.943 0 -9.81'/><worldbody>"
        "<geom name='floor' type='plane' size='5 5 1'/><body name='box' pos='0 0 0.1'><freejoint/>"
        "<geom name='sole' type='box' size='0.1 0.1 0.1' mass='2'/></body></worldbody>"
        "<contact><pair geom1='floor' geom2='sole' friction='0.5 0.5'/></contact></mujoco>");
    rb_model *m = rb_model_copy(s.m, NULL);
    rb_error err = { 0 };
    steps(m, &s, 20);
    CHECK(s.d->v[0] == 0.0 && m->npair == 1);
    CHECK_INT(rb_model_set_pair(m, 0, NAN, 0.4, &err), RB_OK);
    steps(m, &s, 1);
    CHECK(s.d->v[0] == 0.0);
    CHECK_INT(rb_model_set_pair(m, 0, 0.1, NAN, &err), RB_OK);
    steps(m, &s, 1);
    CHECK_NEAR(s.d->v[0], 0.002 * (2.943 - 0.1 * 9.81), 1e-6);
    CHECK(m->pair_material[0].restitution == 0.4);
    CHECK_INT(rb_model_set_pair(m, 1, 0.1, NAN, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "pair 1: the model has 1");
    CHECK_INT(rb_model_set_pair(m, 0, -0.1, NAN, &err), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_pair(m, 0, INFINITY, NAN, &err), RB_BAD_INPUT);
    CHECK_INT(rb_model_set_pair(m, 0, NAN, 1.5, &err), RB_BAD_INPUT);
    CHECK(m->pair_material[0].friction == 0.1 && m->pair_material[0].restitution == 0.4);
    rb_model_free(m, NULL);
    scene_free(&s);
}

TEST(what_has_no_gains_says_so)
{
    scene s = scene_text("<mujoco><worldbody><body><joint name='a'/><geom size='0.1'/></body>"
                         "</worldbody><actuator><muscle joint='a' lengthrange='0 1'/></actuator>"
                         "</mujoco>");
    rb_model *m = rb_model_copy(s.m, NULL);
    rb_error err = { 0 };
    const double gain[3] = { 2.0, 0.0, 0.0 };
    CHECK_INT(rb_model_set_gain(m, 0, gain, gain, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "muscle");
    CHECK(m->revision == 0);
    rb_model_free(m, NULL);
    scene_free(&s);
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
          RUN(at_rest_friction_is_seen_in_the_next_step),
          RUN(at_rest_gravity_is_seen_in_the_next_step),
          RUN(at_rest_a_mass_is_seen_in_the_next_step),
          RUN(at_rest_gains_are_seen_in_the_next_step),
          RUN(at_rest_restitution_is_known_from_the_next_step_on),
          RUN(a_mass_changed_at_rest_carries_as_that_of_the_file),
          RUN(a_pair_has_numbers_of_its_own), RUN(what_has_no_gains_says_so),
          RUN(each_of_a_batch_has_its_own), RUN(what_cannot_be_is_refused))
