/* A step does at most the work that it may, counted and not timed, and ends when it is told to. */
#include "base/arena.h"
#include "step_support.h"

/* A hundred boxes that land on each other, and the state before the step that is looked at. */
static scene landing(void)
{
    scene s = scene_file("peers/pile_100.xml");
    CHECK_INT(rb_data_reserve(s.m, &s.d, 2000), RB_OK);
    scene_run(&s, 0.3);
    return s;
}

/* Wherever the work ends: in sweeps, in a factorisation, while normals are made exact. */
TEST(a_step_ends_at_any_budget)
{
    scene s = scene_file("peers/pile_100.xml");
    CHECK_INT(rb_data_reserve(s.m, &s.d, 2000), RB_OK);
    scene_run(&s, 0.9);
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        scene_step(&s);
        uint64_t hash = rb_data_hash(s.d);
        for (double share = 0.02; share < 0.9; share += 0.05) {
            rb_step_opts o = s.o;
            o.budget = share * s.info.work;
            rb_step_info info;
            rb_data *d = rb_data_new(s.m, NULL);
            CHECK(d != NULL);
            CHECK_INT(rb_data_reserve(s.m, &d, s.d->touch_max), RB_OK);
            CHECK_INT(rb_data_copy(s.m, d, s.d), RB_OK);
            rb_status status = rb_step(s.m, d, &o, &info, NULL);
            CHECK(status == RB_OK || (status == RB_BUDGET && rb_data_hash(d) == hash));
            refused += status == RB_BUDGET;
            rb_data_free(d);
        }
    }
    CHECK(refused > 20);
    scene_free(&s);
}

TEST(a_step_that_takes_too_much_is_refused)
{
    scene s = landing();
    scene_step(&s);
    double work = s.info.work;
    CHECK(work > 100.0);
    uint64_t hash = rb_data_hash(s.d);
    for (double share = 0.01; share < 0.9; share *= 3.0) {
        rb_error err = { 0 };
        rb_step_opts o = s.o;
        o.budget = share * work;
        rb_status status = rb_step(s.m, s.d, &o, &s.info, &err);
        if (status == RB_OK) break; /* the next one takes less */
        CHECK_INT(status, RB_BUDGET);
        CHECK(rb_data_hash(s.d) == hash);
        CHECK(s.info.work > o.budget);
        CHECK(strstr(err.text, "factorisations") != NULL && strstr(err.text, "budget") != NULL);
    }
    scene_free(&s);
}

/* The same bits with any budget that suffices, the default among them. */
TEST(a_budget_changes_no_bit)
{
    const double budgets[] = { 0.0, -1.0, INFINITY, 1e7 };
    uint64_t hash = 0;
    for (int k = 0; k < 4; k++) {
        scene s = scene_file("peers/pile_100.xml");
        CHECK_INT(rb_data_reserve(s.m, &s.d, 2000), RB_OK);
        s.o.budget = budgets[k];
        scene_run(&s, 0.4);
        if (k == 0) hash = rb_data_hash(s.d);
        CHECK(rb_data_hash(s.d) == hash);
        scene_free(&s);
    }
}

/* Two workers, one after the other. */
static void in_turn(void *ctx, void (*task)(void *work, int k), void *work)
{
    (void)ctx;
    for (int k = 1; k >= 0; k--) task(work, k);
}

TEST(threads_stop_at_the_same_work)
{
    scene s = scene_file("peers/stack_1000.xml");
    for (int i = 0; i < 3; i++) scene_step(&s);
    rb_arena *arena[2] = { rb_arena_new(NULL, 0), rb_arena_new(NULL, 0) };
    rb_parallel two = { .workers = 2, .run = in_turn, .arena = arena };
    s.d->v[0] += 0.1;
    int refused = 0;
    for (double budget = 1.0; budget < 1e5; budget *= 2.0) {
        rb_step_info info[2];
        rb_status status[2];
        for (int k = 0; k < 2; k++) {
            rb_data *d = rb_data_new(s.m, NULL);
            rb_step_opts o = s.o;
            CHECK(d != NULL);
            CHECK_INT(rb_data_reserve(s.m, &d, s.d->touch_max), RB_OK);
            CHECK_INT(rb_data_copy(s.m, d, s.d), RB_OK);
            o.budget = budget;
            o.parallel = k ? &two : NULL;
            status[k] = rb_step(s.m, d, &o, &info[k], NULL);
            rb_data_free(d);
        }
        CHECK_INT(status[0], status[1]);
        if (status[0] == RB_OK) CHECK(info[0].work == info[1].work);
        refused += status[0] == RB_BUDGET;
    }
    CHECK(refused > 0);
    for (int k = 0; k < 2; k++) rb_arena_free(arena[k]);
    scene_free(&s);
}

static int count_down(void *ctx)
{
    int *left = ctx;
    return --*left < 0;
}

TEST(a_cancelled_step_changes_nothing)
{
    scene s = landing();
    uint64_t hash = rb_data_hash(s.d);
    int left = 0;
    rb_step_opts o = s.o;
    o.cancel = count_down;
    o.cancel_ctx = &left;
    rb_error err = { 0 };
    CHECK_INT(rb_step(s.m, s.d, &o, &s.info, &err), RB_CANCELLED);
    CHECK(rb_data_hash(s.d) == hash);
    left = 1000000;
    CHECK_INT(rb_step(s.m, s.d, &o, &s.info, &err), RB_OK);
    CHECK(left < 1000000); /* it was asked */
    scene_free(&s);
}

TEST(a_budget_must_be_a_number)
{
    scene s = scene_file("contact/sliding_cube.xml");
    rb_error err = { 0 };
    s.o.budget = NAN;
    CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_BAD_INPUT);
    CHECK(strcmp(rb_status_text(RB_BUDGET), rb_status_text(RB_CANCELLED)) != 0);
    scene_free(&s);
}

TEST_MAIN(RUN(a_step_that_takes_too_much_is_refused), RUN(a_step_ends_at_any_budget),
          RUN(a_budget_changes_no_bit), RUN(threads_stop_at_the_same_work),
          RUN(a_cancelled_step_changes_nothing), RUN(a_budget_must_be_a_number))
