/* Steps begin their iteration where the last four lead (S.26): that changes the way, not the end,
 * and is part of the state. */
#include "step_support.h"

static double distance(const double *x, const double *y, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

static void forget(scene *s)
{
    for (int i = 0; i < RB_SLOPES; i++) s->d->slope_h[i] = 0.0;
}

TEST(a_copy_goes_on_with_the_same_bits)
{
    scene a = scene_file("peers/pendulum_6_5.xml"), b = scene_file("peers/pendulum_6_5.xml");
    for (int i = 0; i < 1200; i++) {
        if (i % 100 == 50) CHECK_INT(rb_data_copy(a.m, b.d, a.d), RB_OK);
        scene_step(&a);
        if (i % 100 < 50) continue;
        scene_step(&b);
        CHECK(rb_data_hash(a.d) == rb_data_hash(b.d));
    }
    CHECK(a.d->slope[0] != 0.0 && a.d->slope_time == a.d->time);
    scene_free(&a);
    scene_free(&b);
}

/* The midpoint rule is solved to 1e-12 from wherever it begins. */
TEST(the_end_does_not_depend_on_the_beginning)
{
    scene a = scene_file("peers/pendulum_6_10.xml"), b = scene_file("peers/pendulum_6_10.xml");
    double worst = 0.0;
    for (int i = 0; i < 800; i++) {
        CHECK_INT(rb_data_copy(a.m, b.d, a.d), RB_OK);
        forget(&b);
        scene_step(&a);
        scene_step(&b);
        double speed = 0.0;
        for (int j = 0; j < a.m->nv; j++) speed = fmax(speed, fabs(a.d->v[j]));
        worst = fmax(worst, distance(a.d->v, b.d->v, a.m->nv) / speed);
    }
    CHECK(worst > 0.0);
    CHECK(worst <= 2e-12); /* 1e-12 each */
    scene_free(&a);
    scene_free(&b);
}

/* What was set by hand has other slopes, whatever the last step says. */
TEST(a_state_that_was_set_is_not_led_astray)
{
    scene a = scene_file("peers/pendulum_6_10.xml"), b = scene_file("peers/pendulum_6_10.xml");
    for (int i = 0; i < 1000; i++) scene_step(&a);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < a.m->nv; j++) {
            a.d->q[j] = b.d->q[j] = 0.1 * k * (j % 3 - 1);
            a.d->v[j] = b.d->v[j] = k == 0 ? 0.0 : 0.5 * (j % 2) - 0.2;
            a.d->slope[j] *= k == 2 ? 1e9 : 1.0;
        }
        forget(&b);
        scene_step(&a);
        scene_step(&b);
        CHECK(distance(a.d->v, b.d->v, a.m->nv) <= 1e-12);
    }
    scene_free(&a);
    scene_free(&b);
}

TEST(a_step_that_fails_leaves_it_as_it_was)
{
    scene s = scene_file("peers/pendulum_6_5.xml");
    for (int i = 0; i < 30; i++) scene_step(&s);
    uint64_t hash = rb_data_hash(s.d);
    rb_error err = { 0 };
    s.d->tau[0] = 1e300; /* no step is short enough */
    CHECK(rb_step(s.m, s.d, &s.o, &s.info, &err) != RB_OK);
    CHECK(rb_data_hash(s.d) == hash);
    scene_free(&s);
}

/* Slopes are kept in their order, and more of them lead nearer to the next: each by h w, which is
 * some 1e-2 here. */
TEST(five_slopes_lead_nearer_than_four_and_two)
{
    scene s = scene_file("peers/pendulum_6_10.xml");
    int nv = s.m->nv, nearer[2] = { 0, 0 };
    double past[RB_SLOPES][6];
    CHECK_INT(nv, 6);
    CHECK_INT(RB_SLOPES, 5);
    for (int i = 0; i < 800; i++) {
        memcpy(past, s.d->slope, sizeof past);
        scene_step(&s);
        CHECK(memcmp(s.d->slope + nv, past, (RB_SLOPES - 1) * sizeof past[0]) == 0);
        double two = 0.0, four = 0.0, five = 0.0;
        for (int j = 0; j < nv; j++) {
            const double a = past[0][j], b = past[1][j], c = past[2][j], d = past[3][j];
            double e = past[4][j], now = s.d->slope[j];
            two = fmax(two, fabs(now - (2.0 * a - b)));
            four = fmax(four, fabs(now - (4.0 * a - 6.0 * b + 4.0 * c - d)));
            five = fmax(five, fabs(now - (5.0 * a - 10.0 * b + 10.0 * c - 5.0 * d + e)));
        }
        nearer[0] += four < 0.05 * two;
        nearer[1] += five < 0.5 * four;
    }
    CHECK(nearer[0] > 600);
    CHECK(nearer[1] > 600);
    scene_free(&s);
}

TEST_MAIN(RUN(five_slopes_lead_nearer_than_four_and_two), RUN(a_copy_goes_on_with_the_same_bits),
          RUN(the_end_does_not_depend_on_the_beginning),
          RUN(a_state_that_was_set_is_not_led_astray), RUN(a_step_that_fails_leaves_it_as_it_was))
