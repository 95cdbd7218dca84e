/* Contact forces from accelerations (S.61): statics by hand. */
#include "step_support.h"

#define BOX(mu)                                                                                    \
    "<mujoco><worldbody><geom type='plane' size='5 5 1' friction='" mu "'/>"                       \
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' friction='" mu            \
    "'/></body>"                                                                                   \
    "</worldbody></mujoco>"

typedef struct answer {
    int calls, n;
    double sum; /* of the first unknown of every `width`: normal forces [N] */
    int width;
    rb_outcome outcome;
} answer;

static int solve(void *ctx, const char *name, const rb_problem *problem)
{
    answer *x = ctx;
    double z[64] = { 0.0 };
    rb_info info = { 0 };
    rb_solve_opts opts = rb_solve_opts_default();
    (void)name;
    x->calls++;
    x->n = problem->n;
    CHECK(problem->n <= 64);
    if (problem->n == 0) return 0;
    CHECK_INT(rb_solve(problem, &opts, z, &info), RB_OK);
    x->outcome = info.outcome;
    for (int i = 0; i < problem->n; i += x->width) x->sum += z[i];
    return 0;
}

/* Four corners carry the weight, 8 kg. With friction each has eight directions and a multiplier. */
TEST(corners_carry_the_weight)
{
    static const char *const texts[] = { BOX("0"), BOX("0.5") };
    for (int k = 0; k < 2; k++) {
        scene s = scene_text(texts[k]);
        answer x = { .width = k == 0 ? 1 : 10 };
        rb_problem_sink sink = { .take = solve, .ctx = &x };
        uint64_t before = rb_data_hash(s.d);
        CHECK_INT(rb_acceleration_problem(s.m, s.d, &s.o, &sink, NULL), RB_OK);
        CHECK_INT(x.calls, 1);
        CHECK_INT(x.n, 4 * x.width);
        CHECK_INT(x.outcome, RB_SOLVED);
        CHECK_NEAR(x.sum, 8.0 * 9.81, 1e-6);
        CHECK(rb_data_hash(s.d) == before);
        scene_free(&s);
    }
}

TEST(nothing_touches_and_nothing_may_approach)
{
    scene s = scene_text(BOX("0"));
    answer x = { .width = 1, .n = -1 };
    rb_problem_sink sink = { .take = solve, .ctx = &x };
    rb_error err = { 0 };
    s.d->v[2] = -0.1;
    CHECK_INT(rb_acceleration_problem(s.m, s.d, &s.o, &sink, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "approach");
    s.d->v[2] = 0.0;
    s.d->q[2] = 1.0;
    CHECK_INT(rb_acceleration_problem(s.m, s.d, &s.o, &sink, NULL), RB_OK);
    CHECK_INT(x.n, 0);
    scene_free(&s);
}

TEST_MAIN(RUN(corners_carry_the_weight), RUN(nothing_touches_and_nothing_may_approach))
