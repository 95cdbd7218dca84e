/* Pairs that shift between impulses and constraints: when they do, when they do not, and what is
 * logged of it. */
#include "step_support.h"

#define FLOOR "<geom name='floor' type='plane' size='5 5 1'/>"
#define BALL(pos, more)                                                                            \
    "<body pos='" pos "'><freejoint/><geom name='ball' type='sphere' size='0.1' mass='1'/></body>" \
    "</worldbody><custom><numeric name='rb.restitution' data='0.5'/>" more "</custom></mujoco>"
#define WORLD "<mujoco><option timestep='0.001'/><worldbody>" FLOOR

/* ---- a log --------------------------------------------------------------------------------------
 */

typedef struct journal {
    int impacts, shifts, to_constraint, to_impulse;
    double last; /* time of the last event */
} journal;

static void note(void *ctx, const rb_event *event)
{
    journal *j = ctx;
    CHECK(event->time >= j->last - 1e-12);
    j->last = event->time;
    j->impacts += event->kind == RB_EVENT_IMPACT;
    if (event->kind != RB_EVENT_SHIFT) return;
    j->shifts++;
    CHECK(event->text != NULL && event->geom1 < event->geom2);
    if (strncmp(event->text, "impulse to", 10) == 0)
        j->to_constraint++;
    else
        j->to_impulse++;
}

static scene hybrid(const char *text, journal *j)
{
    scene s = scene_text(text);
    *j = (journal){ 0 };
    s.o.stepper = RB_STEPPER_HYBRID;
    s.o.events = (rb_event_sink){ note, j };
    return s;
}

static void run(scene *s, double time)
{
    double end = s->d->time + time - 0.5 * s->m->option.timestep;
    while (s->d->time < end) scene_step(s);
}

static int held(const scene *s)
{
    int n = 0;
    for (int i = 0; i < s->d->ntouch; i++) n += s->d->touch[i].held;
    return n;
}

/* ---- flight -------------------------------------------------------------------------------------
 */

TEST(nothing_freezes_at_the_top_of_its_flight)
{
    journal j;
    scene s = hybrid(WORLD BALL("0 0 1", ""), &j);
    s.d->v[2] = 0.5;
    for (int k = 0; k < 300; k++) {
        scene_step(&s);
        double t = s.d->time;
        CHECK_NEAR(s.d->q[2], 1.0 + 0.5 * t - 0.5 * 9.81 * t * t, 1e-12);
    }
    CHECK_INT(j.shifts, 0);
    scene_free(&s);
}

/* Two balls touch and move alike in empty space: slow, in touch, and not pressed. */
TEST(touch_without_support_is_no_constraint)
{
    journal j;
    scene s = hybrid("<mujoco><option timestep='0.001'/><worldbody>"
                     "<body pos='0 0 1'><freejoint/><geom type='sphere' size='0.1'/></body>"
                     "<body pos='0.2 0 1'><freejoint/><geom type='sphere' size='0.1'/></body>"
                     "</worldbody></mujoco>",
                     &j);
    run(&s, 0.3);
    CHECK_INT(j.shifts, 0);
    CHECK_INT(j.impacts, 0);
    CHECK_NEAR(s.d->q[2], 1.0 - 0.5 * 9.81 * 0.09, 1e-12);
    scene_free(&s);
}

/* ---- coming to rest -----------------------------------------------------------------------------
 */

TEST(a_ball_bounces_then_rests_after_one_shift)
{
    journal j;
    scene s = hybrid(WORLD BALL("0 0 1.1", ""), &j);
    run(&s, 2.0);
    CHECK_INT(j.shifts, 1);
    CHECK_INT(j.to_constraint, 1);

    /* approach speeds 4.43 / 2^k down to v_s = g h / 2 = 0.0049: k = 0 .. 9 */
    CHECK_INT(j.impacts, 10);
    CHECK(s.d->v[2] == 0.0);
    CHECK_INT(held(&s), 1);
    scene_free(&s);
}

TEST(an_elastic_ball_never_shifts)
{
    journal j;
    scene s = hybrid(WORLD BALL("0 0 1.1", ""), &j);
    s.o.restitution = 1.0;
    run(&s, 5.0);
    CHECK_INT(j.shifts, 0);
    CHECK_NEAR(s.d->q[2] - 0.1 + s.d->v[2] * s.d->v[2] / (2.0 * 9.81), 1.0, 1e-9);
    scene_free(&s);
}

/* A hit faster than the constraint may bear sends the pair back to impulses, and it settles. */
TEST(a_hard_hit_dissolves_a_group)
{
    journal j;
    scene s =
        hybrid(WORLD "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
                     "<body pos='0 0 0.3'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"
                     "<body pos='0 0 0.9'><freejoint/><geom type='sphere' size='0.05'"
                     " density='8000'/></body></worldbody>"
                     "<custom><numeric name='rb.restitution' data='0.6'/></custom></mujoco>",
               &j);
    run(&s, 0.2);
    CHECK_INT(j.to_constraint, 2);
    CHECK_INT(j.to_impulse, 0);
    run(&s, 0.3);
    CHECK(j.to_impulse >= 1);
    run(&s, 3.0);
    for (int i = 0; i < 12; i++) CHECK(s.d->v[i] == 0.0);
    CHECK_INT(j.to_constraint - j.to_impulse, 3);
    CHECK(j.shifts < 200);
    scene_free(&s);
}

/* Up to 0.8 g the block stays on the shaking plate: one shift, no chattering. */
TEST(a_gently_shaken_block_does_not_chatter)
{
    journal j;
    scene s = hybrid("<mujoco><option timestep='0.001'/><worldbody>"
                     "<body name='plate' mocap='true'><geom type='box' size='1 1 0.1'/></body>"
                     "<body pos='0 0 0.15'><freejoint/><geom type='box' size='0.05 0.05 0.05'/>"
                     "</body></worldbody><custom><numeric name='rb.restitution' data='0.3'/>"
                     "<numeric name='rb.vibration/plate' data='0 0 5e-4  0 0 20  0 0 1.5708'/>"
                     "</custom></mujoco>",
                     &j);
    run(&s, 1.0);
    CHECK_INT(j.shifts, 1);
    CHECK_INT(j.impacts, 0);
    CHECK_NEAR(s.d->q[2] - s.d->mocap[2], 0.15, 1e-8);
    scene_free(&s);
}

/* ---- presets ------------------------------------------------------------------------------------
 */

TEST(pairs_keep_a_preset_paradigm)
{
    journal j;
    scene s =
        hybrid(WORLD BALL("0 0 1.1", "<text name='rb.paradigm/ball/floor' data='impulse'/>"), &j);
    run(&s, 2.0);
    CHECK_INT(j.shifts, 0);
    CHECK_INT(j.impacts, 10);
    CHECK_INT(held(&s), 0);
    CHECK_INT(s.info.micros, 1);
    CHECK_NEAR(s.d->q[2], 0.1, 1e-11);
    scene_free(&s);

    s = hybrid(WORLD BALL("0 0 1.1", "<text name='rb.paradigm' data='constraint'/>"), &j);
    run(&s, 1.0);
    CHECK_INT(j.shifts, 0);
    CHECK_INT(j.impacts, 0);
    CHECK(s.d->v[2] == 0.0);
    CHECK_INT(held(&s), 1);
    scene_free(&s);
}

TEST(an_unknown_paradigm_is_refused)
{
    static const char text[] =
        WORLD BALL("0 0 1.1", "<text name='rb.paradigm/ball' data='magic'/>");
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    CHECK(rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err) == NULL);
    CHECK(strstr(err.text, "impulse, constraint or shift") != NULL);
}

/* ---- promises -----------------------------------------------------------------------------------
 */

TEST(a_restored_run_continues_bit_for_bit)
{
    journal j;
    scene s = scene_file("impulse/pile.xml");
    s.o.stepper = RB_STEPPER_HYBRID;
    s.o.events = (rb_event_sink){ note, &j };
    j = (journal){ 0 };
    run(&s, 0.15);
    CHECK(held(&s) > 0);
    rb_data *copy = rb_data_new(s.m, NULL);
    CHECK(copy != NULL);
    CHECK_INT(rb_data_reserve(s.m, &copy, s.d->touch_max), RB_OK);
    CHECK_INT(rb_data_copy(s.m, copy, s.d), RB_OK);
    CHECK(rb_data_hash(copy) == rb_data_hash(s.d));
    run(&s, 0.05);
    rb_data *first = s.d;
    s.d = copy;
    j.last = 0.0;
    run(&s, 0.05);
    CHECK(rb_data_hash(first) == rb_data_hash(s.d));
    rb_data_free(first);
    scene_free(&s);
}

TEST_MAIN(RUN(nothing_freezes_at_the_top_of_its_flight),
          RUN(touch_without_support_is_no_constraint),
          RUN(a_ball_bounces_then_rests_after_one_shift), RUN(an_elastic_ball_never_shifts),
          RUN(a_hard_hit_dissolves_a_group), RUN(a_gently_shaken_block_does_not_chatter),
          RUN(pairs_keep_a_preset_paradigm), RUN(an_unknown_paradigm_is_refused),
          RUN(a_restored_run_continues_bit_for_bit))
