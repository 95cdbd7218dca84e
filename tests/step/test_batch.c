/* Many simulations in one call: each has the bits it has alone. */
#include "step_support.h"

/* One after the other, the last one first: whoever depends on the order shows it. */
static void run_backwards(void *ctx, void (*task)(void *work, int k), void *work)
{
    const rb_parallel *parallel = ctx;
    for (int k = parallel->workers - 1; k >= 0; k--) task(work, k);
}

static const char *const boxes_apart =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='9 9 1'/>"
    "<replicate count='7' offset='1 0 0.01'><body pos='0 0 0.15' euler='10 20 0'><freejoint/>"
    "<geom type='box' size='0.1 0.08 0.06'/></body></replicate></worldbody></mujoco>";

TEST(many_simulations_are_each_their_own)
{
    enum { MANY = 5 };
    rb_parallel two = { .workers = 2, .run = run_backwards };
    two.ctx = &two;
    scene s = scene_text(boxes_apart);
    rb_data *d[MANY];
    rb_status status[MANY];
    for (int i = 0; i < MANY; i++) {
        d[i] = rb_data_new(s.m, NULL);
        CHECK(d[i] != NULL);
        CHECK_INT(rb_data_reserve(s.m, &d[i], 64), RB_OK);
        d[i]->v[0] = 0.1 * i;
    }
    for (int k = 0; k < 150; k++)
        CHECK_INT(rb_step_many(s.m, d, MANY, &s.o, &two, NULL, status), RB_OK);
    s.d->v[0] = 0.1 * 3;
    for (int k = 0; k < 150; k++) scene_step(&s);
    CHECK(memcmp(d[3]->q, s.d->q, (size_t)s.m->nq * sizeof(double)) == 0);
    CHECK(d[2]->q[0] != d[3]->q[0]);
    for (int i = 0; i < MANY; i++) rb_data_free(d[i]);
    scene_free(&s);
}

/* One simulation that fails is reported, and the others go on. */
TEST(a_simulation_that_fails_stops_no_other)
{
    scene s = scene_text(boxes_apart);
    rb_data *d[3];
    rb_status status[3];
    for (int i = 0; i < 3; i++) {
        d[i] = rb_data_new(s.m, NULL);
        CHECK_INT(rb_data_reserve(s.m, &d[i], 64), RB_OK);
    }
    d[1]->q[0] = NAN;
    CHECK_INT(rb_step_many(s.m, d, 3, &s.o, NULL, NULL, status), RB_BAD_INPUT);
    CHECK_INT(status[0], RB_OK);
    CHECK_INT(status[1], RB_BAD_INPUT);
    CHECK_INT(status[2], RB_OK);
    scene_step(&s);
    CHECK(rb_data_hash(d[0]) == rb_data_hash(s.d) && rb_data_hash(d[2]) == rb_data_hash(s.d));
    CHECK(d[1]->time == 0.0);
    for (int i = 0; i < 3; i++) rb_data_free(d[i]);
    scene_free(&s);
}

TEST_MAIN(RUN(many_simulations_are_each_their_own), RUN(a_simulation_that_fails_stops_no_other))
