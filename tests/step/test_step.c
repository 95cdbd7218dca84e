/* Steps with hard contact, against what can be worked out by hand and against the papers. */
#include "step_support.h"

#define BOX_ON_PLANE(gravity, mu)                                                                  \
    "<mujoco><option timestep='0.001' gravity='" gravity "'/><worldbody>"                          \
    "<geom type='plane' size='5 5 1' friction='" mu "'/>"                                          \
    "<body pos='0 0 0.1'><freejoint/>"                                                             \
    "<geom type='box' size='0.1 0.1 0.1' friction='" mu "'/></body></worldbody></mujoco>"

/* ---- sliding and rolling ------------------------------------------------------------------------
 */

TEST(a_sliding_cube_stays_down_and_stops_where_coulomb_says)
{
    const double steps[] = { 0.004, 0.002, 0.001 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_text(BOX_ON_PLANE("0 0 -9.81", "0.5"));
        s.o.accuracy = RB_ACCURACY_STRICT;
        s.o.h = steps[k];
        s.d->v[0] = 6.0;
        double lift = 0.0;
        while (s.d->time < 1.4) {
            scene_step(&s);
            lift = fmax(lift, fabs(s.d->q[2] - 0.1));
        }
        CHECK(lift < 1e-9);
        CHECK(s.d->v[0] == 0.0);
        CHECK_NEAR(s.d->q[0], 36.0 / (2.0 * 0.5 * 9.81), 6.0 * steps[k]);
        scene_free(&s);
    }
}

TEST(a_sliding_sphere_rolls_with_five_sevenths)
{
    scene s = scene_text("<mujoco><option timestep='0.001'/><worldbody>"
                         "<geom type='plane' size='5 5 1' friction='0.3'/>"
                         "<body pos='0 0 0.1'><freejoint/><geom type='sphere' size='0.1' "
                         "friction='0.3'/></body></worldbody></mujoco>");
    s.d->v[0] = 2.0;
    scene_run(&s, 1.0);
    CHECK_NEAR(s.d->v[0], 2.0 * 5.0 / 7.0, 1e-9);
    CHECK_NEAR(s.d->v[4], 2.0 * 5.0 / 7.0 / 0.1, 1e-8);
    CHECK_NEAR(s.d->q[2], 0.1, 1e-12);
    scene_free(&s);
}

/* ---- gaps ---------------------------------------------------------------------------------------
 */

#define BULLET(y)                                                                                  \
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"                                 \
    "<geom type='box' size='0.0000005 0.1 0.1'/>"                                                  \
    "<body pos='-3.3 " y " 0'><freejoint/><geom type='sphere' size='0.005'/></body>"               \
    "</worldbody></mujoco>"

TEST(a_bullet_does_not_pass_a_foil_and_passes_beside_it)
{
    for (int k = 0; k < 8; k++) {
        scene s = scene_text(BULLET("0"));
        s.d->q[0] -= 0.13 * k;
        s.d->v[0] = 100.0;
        scene_run(&s, 0.2);
        CHECK(s.d->q[0] <= -0.005 - 0.0000005 + 1e-9);
        CHECK(s.worst.penetration <= 1e-9);
        scene_free(&s);
    }
    scene s = scene_text(BULLET("0.106"));
    s.d->v[0] = 100.0;
    scene_run(&s, 0.2);
    CHECK(s.d->v[0] == 100.0);
    CHECK_NEAR(s.d->q[0], -3.3 + 20.0, 1e-12);
    scene_free(&s);
}

TEST(free_flight_is_a_parabola)
{
    scene s = scene_text(BOX_ON_PLANE("0 0 -9.81", "0.5"));
    s.d->q[2] = 50.0;
    s.d->v[0] = 3.0;
    scene_run(&s, 1.0);
    CHECK_NEAR(s.d->q[2], 50.0 - 0.5 * 9.81, 1e-11);
    CHECK_NEAR(s.d->q[0], 3.0, 1e-12);
    scene_free(&s);
}

/* ---- the papers ---------------------------------------------------------------------------------
 */

TEST(the_rod_ends_where_the_paper_says)
{
    const char *const names[] = {
        "cone", "stewart-trinkle", "stewart-trinkle-nonlinear", "anitescu-potra", "dart",
        "jain", "phantom"
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        scene s = scene_file("contact/rod.xml");
        s.o.accuracy = RB_ACCURACY_STRICT;
        s.o.formulation = rb_formulation_find(names[k]);
        CHECK(s.o.formulation != NULL);
        scene_run(&s, 0.7);
        CHECK_NEAR(s.d->q[0], -0.231, 0.004);
        CHECK_NEAR(s.d->q[1], 0.05, 1e-9);
        CHECK_NEAR(s.d->q[2], 3.141592653589793, 1e-8);
        CHECK(s.worst.residual <= 1e-9);
        CHECK(s.worst.penetration <= 1e-9);
        scene_free(&s);
    }
}

/* Reference of small steps with the exact cone: -0.22726. */
static double rod_error(rb_scheme scheme, double h)
{
    scene s = scene_file("contact/rod.xml");
    s.o.h = h;
    s.o.scheme = scheme;
    scene_run(&s, 0.7);
    double error = fabs(s.d->q[0] + 0.22726);
    scene_free(&s);
    return error;
}

/* What is left of the error is when its slide begins, anywhere within a step: a quarter of the step
 * has less of it, a half need not. As printed it is of first order. */
TEST(the_rod_converges_to_the_exact_cone)
{
    double before = 1.0;
    for (double h = 0.005; h > 0.001; h *= 0.5) {
        double error = rod_error(RB_SCHEME_SEMI_IMPLICIT, h), node = rod_error(RB_SCHEME_NODE, h);
        CHECK(error < before);
        CHECK(error <= 1.3 * h); /* as printed */
        CHECK(node < error);
        CHECK(rod_error(RB_SCHEME_NODE, 0.25 * h) < node);
        before = error;
    }
}

/* A ball that lands rolls at once, with 5/7 of the speed it had: lever arms do not depend on how
 * far above the table it was when the step began. */
TEST(a_ball_lands_rolling)
{
    const double steps[] = { 0.02, 0.01, 0.005, 0.0025, 0.00125 };
    for (int k = 0; k < 5; k++) {
        scene s = scene_file("contact/four_balls.xml");
        s.o.h = steps[k];
        scene_run(&s, 0.5);
        CHECK_NEAR(s.d->v[0], 5.0 / 7.0 * 1.5, 1e-12);
        CHECK_NEAR(s.d->v[1], 5.0 / 7.0 * 0.1, 1e-12);
        scene_free(&s);
    }
}

/* Reference of small steps with the exact cone. The error is of first order; for 20 lengths of the
 * step around 1.25 ms it is 2.1 to 2.8 h. */
TEST(four_balls_converge_to_the_exact_cone)
{
    const double expected[4][3] = { { 0.90725, 0.15706, 0.1 },
                                    { 1.05715, -0.01465, 0.1 },
                                    { 1.26817, -0.01672, 0.1 },
                                    { 1.46905, 0.00298, 0.1 } };
    const double steps[] = { 0.005, 0.0025, 0.00125 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_file("contact/four_balls.xml");
        s.o.h = steps[k];
        scene_run(&s, 1.0);
        for (int b = 0; b < 4; b++) {
            for (int i = 0; i < 3; i++) {
                CHECK_NEAR(s.d->q[7 * b + i], expected[b][i], 2.8 * steps[k]);
            }
        }
        CHECK(s.worst.penetration <= scene_deep(&s));
        scene_free(&s);
    }
}

/* Where the cube ends: seeds/theory 10.8. */
static void check_cube(const char *formulation, double h, double x, double y, double tol)
{
    scene s = scene_file("contact/sliding_cube.xml");
    s.o.formulation = rb_formulation_find(formulation);
    if (strcmp(formulation, "cone") != 0) s.o.scheme = RB_SCHEME_SEMI_IMPLICIT; /* as printed */
    s.o.h = h;
    scene_run(&s, 0.8);
    CHECK_NEAR(s.d->q[0], x, tol);
    CHECK_NEAR(s.d->q[1], y, tol);
    scene_free(&s);
}

TEST(the_sliding_cube_ends_where_the_paper_says)
{
    check_cube("phantom", 0.001, 0.4404, 1.5813, 1e-4);
    check_cube("phantom", 0.01, 0.4385, 1.5566, 1e-4);
    check_cube("hybrid-friction", 0.001, 0.4381, 1.5823, 1e-4);
    check_cube("hybrid-friction", 0.01, 0.4157, 1.5673, 1e-4);
    check_cube("cone", 0.001, 0.4406, 1.5840, 5e-3); /* the Coulomb solution itself */
}

/* ---- promises -----------------------------------------------------------------------------------
 */

TEST(a_restored_run_goes_on_bit_for_bit)
{
    scene s = scene_file("contact/four_balls.xml");
    scene_run(&s, 0.55);
    rb_data *copy = rb_data_new(s.m, NULL);
    CHECK(copy != NULL);
    CHECK_INT(rb_data_copy(s.m, copy, s.d), RB_OK);
    scene_run(&s, 0.1);
    uint64_t hash = rb_data_hash(s.d);
    CHECK_INT(rb_data_copy(s.m, s.d, copy), RB_OK);
    scene_run(&s, 0.1);
    CHECK(rb_data_hash(s.d) == hash);
    rb_data_free(copy);
    scene_free(&s);
}

TEST(formulations_without_grain_refuse_one)
{
    const char *const names[] = { "phantom", "hybrid-friction" };
    for (int k = 0; k < 2; k++) {
        scene s = scene_text("<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
                             "<body pos='0 0 0.1'><freejoint/><geom type='box' "
                             "size='0.1 0.1 0.1'/></body></worldbody><custom>"
                             "<numeric name='rb.friction_across' data='0.2'/>"
                             "<numeric name='rb.grain' data='1 0 0'/></custom></mujoco>");
        uint64_t hash = rb_data_hash(s.d);
        rb_error err = { 0 };
        s.o.formulation = rb_formulation_find(names[k]);
        CHECK_INT(rb_step(s.m, s.d, &s.o, &s.info, &err), RB_UNSUPPORTED);
        CHECK(rb_data_hash(s.d) == hash);
        scene_free(&s);
    }
}

TEST(a_step_that_fails_changes_nothing)
{
    scene s = scene_file("contact/sliding_cube.xml");
    scene_step(&s);
    uint64_t hash = rb_data_hash(s.d);
    rb_step_opts o = s.o;
    o.solver = rb_solver_find("nsgs");
    o.tol = 1e-300; /* nothing can be certified to this */
    o.loose = 0.0;
    rb_error err = { 0 };
    CHECK_INT(rb_step(s.m, s.d, &o, &s.info, &err), RB_UNSOLVED);
    CHECK(rb_data_hash(s.d) == hash);
    o = s.o;
    o.directions = 5;
    CHECK_INT(rb_step(s.m, s.d, &o, &s.info, &err), RB_BAD_INPUT);
    o = s.o;
    o.solver = rb_solver_find("lemke");
    CHECK_INT(rb_step(s.m, s.d, &o, &s.info, &err), RB_UNSUPPORTED);
    CHECK(rb_data_hash(s.d) == hash);
    scene_free(&s);
}

static size_t allocations;

static void *counted_alloc(void *ctx, size_t size)
{
    (void)ctx;
    allocations++;
    return malloc(size);
}

static void *counted_resize(void *ctx, void *block, size_t size)
{
    (void)ctx;
    allocations++;
    return realloc(block, size);
}

static void counted_release(void *ctx, void *block)
{
    (void)ctx;
    free(block);
}

TEST(a_warm_step_allocates_nothing)
{
    scene s = scene_file("contact/sliding_cube.xml");
    rb_alloc counted = { counted_alloc, counted_resize, counted_release, NULL };
    rb_data_free(s.d);
    s.d = rb_data_new(s.m, &counted);
    CHECK(s.d != NULL);
    CHECK_INT(rb_data_reset_key(s.m, s.d, 0), RB_OK);
    for (int i = 0; i < 100; i++) scene_step(&s);
    size_t before = allocations;
    for (int i = 0; i < 100; i++) scene_step(&s);
    CHECK(allocations == before);
    scene_free(&s);
}

TEST(contact_makes_no_energy)
{
    scene s = scene_file("contact/four_balls.xml");
    scene_run(&s, 1.0);
    CHECK(s.worst.energy_created <= 1e-12);
    scene_free(&s);
}

/* ---- workers ------------------------------------------------------------------------------------
 */

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

TEST(workers_change_no_bit)
{
    rb_arena *arena[3] = { rb_arena_new(NULL, 0), rb_arena_new(NULL, 0), rb_arena_new(NULL, 0) };
    rb_parallel three = { .workers = 3, .run = run_backwards, .arena = arena };
    three.ctx = &three;
    scene alone = scene_text(boxes_apart), shared = scene_text(boxes_apart);
    shared.o.parallel = &three;
    int most = 0;
    for (int i = 0; i < 300; i++) {
        scene_step(&alone);
        scene_step(&shared);
        most = alone.info.islands > most ? alone.info.islands : most;
        CHECK_INT(shared.info.solves, alone.info.solves);
        CHECK(shared.info.residual == alone.info.residual);
        CHECK(memcmp(shared.d->q, alone.d->q, (size_t)alone.m->nq * sizeof(double)) == 0);
        CHECK(memcmp(shared.d->v, alone.d->v, (size_t)alone.m->nv * sizeof(double)) == 0);
    }
    CHECK(most >= 5);
    scene_free(&alone);
    scene_free(&shared);
    for (int k = 0; k < 3; k++) rb_arena_free(arena[k]);
}

/* A box that spins into the floor calls for repairs. The one beside it stands deeper than half of
 * what steps may make, and is left alone: lifting it is nobody's wish. */
TEST(a_repair_leaves_what_did_not_call_for_it)
{
    scene s = scene_text("<mujoco><option timestep='0.01'/><worldbody>"
                         "<geom type='plane' size='5 5 1'/>"
                         "<body pos='0 0 0.1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
                         "<body pos='1 0 0.3'><freejoint/><geom type='box' size='.1 .2 .1'/></body>"
                         "</worldbody></mujoco>");
    s.o.accuracy = RB_ACCURACY_STRICT;
    double start[7];
    s.d->q[2] -= 0.8e-9 * s.m->extent;
    for (int a = 0; a < 3; a++) s.d->v[9 + a] = 20.0 - 6.0 * a;
    memcpy(start, s.d->q, sizeof start);
    for (int i = 0; i < 60; i++) {
        scene_step(&s);
        CHECK(memcmp(start, s.d->q, sizeof start) == 0);
    }
    CHECK(s.worst.penetration <= 1e-9 * s.m->extent);
    scene_free(&s);
}

/* A box sunk by 1 cm, and a joint 0.1 m beyond its limit. */
TEST(no_formulation_pushes_out_what_a_model_begins_with)
{
    const char *const names[] = { "cone",
                                  "stewart-trinkle",
                                  "stewart-trinkle-nonlinear",
                                  "anitescu-potra",
                                  "dart",
                                  "jain",
                                  "phantom",
                                  "box",
                                  "hybrid-friction" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        scene s = scene_text(
            "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"
            "<body pos='0 0 .09'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>"
            "<body pos='0 0 2'><joint type='slide' axis='0 0 1' limited='true' range='.1 1'/>"
            "<geom size='.1' mass='1'/></body></worldbody></mujoco>");
        s.o.formulation = rb_formulation_find(names[k]);
        s.o.keep_errors = 1;
        scene_run(&s, 0.3);
        CHECK_NEAR(s.d->q[2], 0.09, 1e-8);
        CHECK_NEAR(s.d->q[7], 0.0, 1e-8);
        for (int j = 0; j < s.m->nv; j++) CHECK_NEAR(s.d->v[j], 0.0, 1e-7);
        CHECK(s.worst.energy_created <= 1e-12);
        scene_free(&s);
    }
}

TEST_MAIN(RUN(a_sliding_cube_stays_down_and_stops_where_coulomb_says),
          RUN(a_sliding_sphere_rolls_with_five_sevenths),
          RUN(a_bullet_does_not_pass_a_foil_and_passes_beside_it), RUN(free_flight_is_a_parabola),
          RUN(the_rod_ends_where_the_paper_says), RUN(the_rod_converges_to_the_exact_cone),
          RUN(a_ball_lands_rolling), RUN(four_balls_converge_to_the_exact_cone),
          RUN(the_sliding_cube_ends_where_the_paper_says), RUN(a_restored_run_goes_on_bit_for_bit),
          RUN(formulations_without_grain_refuse_one), RUN(a_step_that_fails_changes_nothing),
          RUN(a_warm_step_allocates_nothing), RUN(contact_makes_no_energy),
          RUN(workers_change_no_bit), RUN(a_repair_leaves_what_did_not_call_for_it),
          RUN(no_formulation_pushes_out_what_a_model_begins_with))
