/* Towers, arches and houses: many contacts of the same bodies, solved without W by interior points
 * at the accuracies above strict. They stand where they should, within the accuracy that was asked
 * for, and what rests is found to rest in the first step. */
#include "step_support.h"

#include "rattleback/sensor.h"
#include "rattleback/step.h"

static scene open_tower(const char *name, rb_accuracy accuracy)
{
    scene s = scene_file(name);
    s.o.accuracy = accuracy;
    return s;
}

/* Every step at its accuracy, and how many problems interior points have solved. Overlap: 1e-6 m,
 * or the 2.1e-6 m that `fast` allows between two blocks. */
static int run(scene *s, double time, double tol)
{
    double deep = tol > 1e-6 ? 2.1e-6 : 1e-6;
    int interior = 0;
    while (s->d->time < time) {
        scene_step(s);
        CHECK(s->info.residual <= tol);
        CHECK_INT(s->info.below_accuracy, 0);
        CHECK(s->info.penetration < deep);
        interior += s->info.rungs[RB_RUNG_INTERIOR];
    }
    return interior;
}

static double fastest(const scene *s)
{
    double v = 0.0;
    for (int j = 0; j < s->m->nv; j++) v = fmax(v, fabs(s->d->v[j]));
    return v;
}

/* Nothing has touched the tower yet: its 54 blocks rest exactly, the pusher moves. */
TEST(a_tower_rests_in_its_first_step)
{
    for (int k = 0; k < 2; k++) {
        scene s = open_tower("towers/jenga.xml", k ? RB_ACCURACY_FAST : RB_ACCURACY_STANDARD);
        scene_step(&s);
        CHECK_INT(s.info.resting, 1);
        CHECK_INT(s.info.below_accuracy, 0);
        CHECK_INT(s.info.rungs[RB_RUNG_INTERIOR], 1);
        CHECK_NEAR(fastest(&s), 0.05, 1e-12);
        scene_free(&s);
    }
}

TEST(a_pushed_tower_stays_at_its_accuracy)
{
    scene s = open_tower("towers/jenga.xml", RB_ACCURACY_STANDARD);
    CHECK(run(&s, 0.2, 1e-6) > 20);
    scene_free(&s);
    s = open_tower("towers/jenga_uneven.xml", RB_ACCURACY_FAST);
    CHECK(run(&s, 0.15, 1e-3) > 20);
    scene_free(&s);
}

/* Fewer than 101 contacts; the keystone is met after 0.1 s. */
TEST(an_arch_is_pushed_and_does_not_fall)
{
    scene s = open_tower("towers/arch.xml", RB_ACCURACY_STANDARD);
    double top = s.d->q[7 * 10 + 2];
    CHECK(run(&s, 0.3, 1e-6) > 20);
    CHECK_NEAR(s.d->q[7 * 10 + 2], top, 1e-2);
    scene_free(&s);
}

/* The same house at strict, where the ladder of few contacts solves it: nothing differs by more
 * than what the accuracy allows in the time until the ball has come to it. */
TEST(a_house_is_hit_as_strict_says)
{
    scene a = open_tower("towers/log_house.xml", RB_ACCURACY_STANDARD);
    scene b = open_tower("towers/log_house.xml", RB_ACCURACY_STRICT);
    while (a.d->time < 0.34) {
        scene_step(&a);
        scene_step(&b);
    }
    for (int i = 0; i < a.m->nq; i++) CHECK_NEAR(a.d->q[i], b.d->q[i], 1e-5);
    CHECK(fastest(&a) > 1e-3);
    scene_free(&a);
    scene_free(&b);
}

/* 8 boxes without friction in a corner that gravity leans into. One of its walls is a gate on a
 * hinge, which its limit holds; dry friction alone would not. */
static const char corner[] =
    "<mujoco><option timestep='0.002' gravity='-1 1 -10'/>"
    "<default><geom type='box' condim='1'/></default><worldbody>"
    "<geom name='floor' size='1 1 0.1' pos='0 0 -0.1'/>"
    "<geom name='wall' size='1 0.1 1' pos='0 0.1 0'/>"
    "<body name='gate' pos='-0.02 0 0'><joint name='hinge' axis='0 1 0' limited='true'"
    " range='0 90' frictionloss='0.05'/><geom name='leaf' size='0.02 0.2 0.2' pos='0 -0.21 0.21'"
    " mass='0.1'/></body>"
    "<replicate count='2' offset='0.1 0 0'><replicate count='2' offset='0 -0.1 0'>"
    "<replicate count='2' offset='0 0 0.1'><body pos='0.05 -0.05 0.05'><freejoint/>"
    "<geom name='box' size='0.05 0.05 0.05' mass='0.5'/></body></replicate></replicate>"
    "</replicate></worldbody></mujoco>";

static double force_between(const scene *s, const char *name)
{
    return rb_contact_between(s->m, s->d, rb_model_find(s->m, RB_KIND_BODY, name), -1);
}

/* Rows of normals alone, a limit and dry friction are one sparse problem with the contacts. */
TEST(without_friction_a_corner_carries_its_boxes)
{
    scene s = scene_text(corner);
    int interior = 0;
    for (int k = 0; k < 20; k++) {
        scene_step(&s);
        CHECK_INT(s.info.below_accuracy, 0);
        CHECK(s.info.residual <= 1e-6 && s.info.penetration < 1e-6);
        interior += s.info.rungs[RB_RUNG_INTERIOR];
    }
    CHECK(interior > 0);
    CHECK(fastest(&s) < 1e-6);
    CHECK_NEAR(force_between(&s, "gate"), 8 * 0.5 * 1.0, 1e-4);
    CHECK_NEAR(force_between(&s, "world"), 8 * 0.5 * (10.0 + 1.0), 1e-3);
    scene_free(&s);
}

/* The gate gives way by as much as its friction lets it, as strict says, which embeds the rows. */
TEST(a_gate_with_dry_friction_opens_as_strict_says)
{
    scene a = scene_text(corner), b = scene_text(corner);
    b.o.accuracy = RB_ACCURACY_STRICT;
    for (int k = 0; k < 3; k++) {
        a.d->tau[0] = b.d->tau[0] = 2.0; /* the boxes lean with 4 N, at most 0.2 m high */
        scene_step(&a);
        scene_step(&b);
    }
    CHECK(a.d->q[0] > 1e-5);
    for (int i = 0; i < a.m->nq; i++) CHECK_NEAR(a.d->q[i], b.d->q[i], 1e-6);
    scene_free(&a);
    scene_free(&b);
}

/* ---- the node rule ----------------------------------------------------------------------------
 */

/* Rows of the first problem are straight (S.2), so that it has an answer at 1e-6, and rounds end
 * with it. */
TEST(a_pushed_tower_takes_one_problem_a_step)
{
    scene s = open_tower("towers/jenga.xml", RB_ACCURACY_STANDARD);
    s.o.scheme = RB_SCHEME_NODE;
    while (s.d->time < 0.25) {
        scene_step(&s);
        CHECK(s.info.solves <= 1);
        CHECK_INT(s.info.parts, 1);
        CHECK_INT(s.info.below_accuracy, 0);
        CHECK(s.info.penetration < 1e-9);
    }
    scene_free(&s);
}

/* What is pushed within a large island is reported with the velocity in the middle of the step. */
TEST(a_pushed_tower_reports_where_it_went)
{
    scene s = open_tower("towers/jenga.xml", RB_ACCURACY_STANDARD);
    s.o.scheme = RB_SCHEME_NODE;
    scene_run(&s, 0.2);
    double before[54 * 7];
    memcpy(before, s.d->q, sizeof before);
    scene_step(&s);
    for (int k = 0; k < 54; k++) {
        for (int i = 0; i < 3; i++) {
            double way = s.d->q[7 * k + i] - before[7 * k + i];
            CHECK_NEAR(s.d->v[6 * k + i], way / s.m->option.timestep, 1e-9);
        }
    }
    CHECK(fastest(&s) > 1e-3);
    scene_free(&s);
}

/* Impulses of what rests go with the length of the step: it is not solved again. */
TEST(rest_goes_on_in_shorter_steps)
{
    scene s = scene_file("peers/stack_100.xml");
    s.o.scheme = RB_SCHEME_NODE;
    scene_run(&s, 0.5);
    for (int k = 0; k < 4; k++) {
        s.o.h = k % 2 == 0 ? 0.0025 : 0.005;
        scene_step(&s);
        CHECK_INT(s.info.solves, 0);
        CHECK_INT(s.info.resting, 1);
    }
    scene_free(&s);
}

/* At fast a handful of boxes is solved as a crowd is: the unique answer is not promised there. */
TEST(few_boxes_are_a_crowd_at_fast)
{
    static const char boxes[] = "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
                                "<body pos='0 0 0.06' euler='3 2 0'><freejoint/><geom type='box' "
                                "size='.05 .05 .05'/></body>"
                                "<body pos='0.02 0 0.17' euler='1 4 9'><freejoint/><geom "
                                "type='box' size='.05 .05 .05'/></body>"
                                "<body pos='0 0.02 0.28' euler='2 3 1'><freejoint/><geom "
                                "type='box' size='.05 .05 .05'/></body>"
                                "</worldbody></mujoco>";
    scene s = scene_text(boxes);
    s.o.scheme = RB_SCHEME_NODE;
    s.o.accuracy = RB_ACCURACY_FAST;
    int interior = 0;
    while (s.d->time < 0.3) {
        scene_step(&s);
        CHECK(s.info.residual <= 1e-3 && s.info.below_accuracy == 0);
        interior += s.info.rungs[RB_RUNG_INTERIOR];
    }
    CHECK(interior > 20);
    scene_free(&s);
}

/* One after the other, the last one first: whoever depends on the order shows it. */
static void run_backwards(void *ctx, void (*task)(void *work, int k), void *work)
{
    const rb_parallel *parallel = ctx;
    for (int k = parallel->workers - 1; k >= 0; k--) task(work, k);
}

/* One island of more than a thousand contacts, factors and contacts shared out. */
TEST(a_team_changes_no_bit_of_a_wall)
{
    rb_arena *arena[3] = { rb_arena_new(NULL, 0), rb_arena_new(NULL, 0), rb_arena_new(NULL, 0) };
    rb_parallel three = { .workers = 3, .run = run_backwards, .arena = arena };
    three.ctx = &three;
    scene alone = open_tower("towers/wall.xml", RB_ACCURACY_FAST);
    scene shared = open_tower("towers/wall.xml", RB_ACCURACY_FAST);
    shared.o.parallel = &three;
    int most = 0;
    while (alone.d->time < 0.02) {
        scene_step(&alone);
        scene_step(&shared);
        most = alone.info.rows_max > most ? alone.info.rows_max : most;
        CHECK(shared.info.residual == alone.info.residual);
        CHECK(memcmp(shared.d->q, alone.d->q, (size_t)alone.m->nq * sizeof(double)) == 0);
        CHECK(memcmp(shared.d->v, alone.d->v, (size_t)alone.m->nv * sizeof(double)) == 0);
    }
    CHECK(most > 3000);
    scene_free(&alone);
    scene_free(&shared);
    for (int k = 0; k < 3; k++) rb_arena_free(arena[k]);
}

TEST_MAIN(RUN(a_team_changes_no_bit_of_a_wall), RUN(a_pushed_tower_takes_one_problem_a_step),
          RUN(a_pushed_tower_reports_where_it_went), RUN(rest_goes_on_in_shorter_steps),
          RUN(few_boxes_are_a_crowd_at_fast), RUN(a_tower_rests_in_its_first_step),
          RUN(a_pushed_tower_stays_at_its_accuracy), RUN(an_arch_is_pushed_and_does_not_fall),
          RUN(a_house_is_hit_as_strict_says), RUN(without_friction_a_corner_carries_its_boxes),
          RUN(a_gate_with_dry_friction_opens_as_strict_says))
