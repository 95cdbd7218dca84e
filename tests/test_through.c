/* Nothing passes through: fast bodies of all shapes, thin plates, surfaces of triangles, bounces
 * that lead to where no row was taken (S.55), (S.56). */
#include "rattleback/base.h"
#include "step_support.h"

#define HULL                                                                                       \
    "<mesh name='hull' vertex='-0.01 -0.006 -0.004 0.01 -0.006 -0.004 -0.01 0.006 -0.004 "         \
    "0.01 0.006 -0.004 -0.01 0 0.004 0.01 0 0.004'/>"
#define FIELD                                                                                      \
    "<hfield name='flat' nrow='3' ncol='3' size='60 60 1 1' elevation='0 0 0 0 0 0 0 0 0'/>"

/* A trough, 58 m wide inside, its floor at z = 0, 80 m long: not convex. */
#define TROUGH                                                                                     \
    "<mesh name='trough' vertex='-30 -40 -1 30 -40 -1 30 -40 9 29 -40 9 29 -40 0 -29 -40 0 "       \
    "-29 -40 9 -30 -40 9 -30 40 -1 30 40 -1 30 40 9 29 40 9 29 40 0 -29 40 0 -29 40 9 "            \
    "-30 40 9' face='0 1 4 8 12 9 0 4 5 8 13 12 1 2 3 9 11 10 1 3 4 9 12 11 0 5 6 8 14 13 "        \
    "0 6 7 8 15 14 0 8 9 0 9 1 1 9 10 1 10 2 2 10 11 2 11 3 3 11 12 3 12 4 4 12 13 4 13 5 "        \
    "5 13 14 5 14 6 6 14 15 6 15 7 7 15 8 7 8 0'/>"

static const char *const bodies[] = {
    "type='sphere' size='0.01'",
    "type='capsule' size='0.004 0.01'",
    "type='box' size='0.01 0.006 0.004'",
    "type='cylinder' size='0.01 0.004'",
    "type='ellipsoid' size='0.01 0.006 0.004'",
    "type='mesh' mesh='hull'",
};
enum { NBODY = sizeof bodies / sizeof *bodies };

static const char *const walls[] = {
    "type='box' size='60 60 5e-7' pos='0 0 -5e-7'",
    "type='cylinder' size='60 5e-7' pos='0 0 -5e-7'",
    "type='hfield' hfield='flat'",
    "type='mesh' mesh='trough'",
};
enum { NWALL = sizeof walls / sizeof *walls, NRUN = 2 * NBODY * NWALL };

static scene fast_scene(const char *body, const char *wall)
{
    char text[4096];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 0'/><asset>" HULL FIELD TROUGH
             "</asset><worldbody><geom name='wall' %s/><body><freejoint/>"
             "<geom %s mass='0.1'/></body></worldbody></mujoco>",
             wall, body);
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(text, strlen(text), NULL, &o, NULL, &err);
    if (!spec) test_fail(__FILE__, __LINE__, "%d: %s", err.line, err.text);
    CHECK_INT(rb_spec_hulls(spec, &err), RB_OK);
    return scene_of(spec, &err);
}

static void throw_down(scene *s, unsigned seed, double speed)
{
    double *q = s->d->q, *v = s->d->v, norm = 0.0;
    rb_rng rng = rb_rng_make(seed);
    for (int k = 0; k < 2; k++) q[k] = rb_rng_uniform(&rng, -0.3, 0.3);
    q[2] = rb_rng_uniform(&rng, 0.1, 2.0);
    for (int k = 3; k < 7; k++) q[k] = rb_rng_uniform(&rng, -1.0, 1.0);
    for (int k = 3; k < 7; k++) norm += q[k] * q[k];
    for (int k = 3; k < 7; k++) q[k] /= sqrt(norm);
    for (int k = 3; k < 6; k++) v[k] = seed % 2 ? rb_rng_uniform(&rng, -60.0, 60.0) : 0.0;
    v[2] = -speed;
}

/* A step that is refused must leave the state; the run ends there. */
static int step_or_refuse(scene *s)
{
    uint64_t before = rb_data_hash(s->d);
    rb_error err = { 0 };
    rb_status status = rb_step(s->m, s->d, &s->o, &s->info, &err);
    if (status == RB_FULL) {
        CHECK_INT(rb_data_reserve(s->m, &s->d, 2 * s->info.contacts), RB_OK);
        before = rb_data_hash(s->d);
        status = rb_step(s->m, s->d, &s->o, &s->info, &err);
    }
    if (status == RB_OK) return 1;
    CHECK_INT(status, RB_UNSOLVED);
    CHECK(rb_data_hash(s->d) == before);
    return 0;
}

/* 100 m/s: 10 and 100 times the size of a body in a step. What hits with a corner turns at ten
 * thousand radians a second afterwards. */
static void fall(rb_stepper stepper, int *refused)
{
    static const double steps[] = { 0.001, 0.01 };
    for (int run = 0; run < NRUN; run++) {
        int body = run % NBODY, wall = run / NBODY % NWALL, how = run / (NBODY * NWALL);
        scene s = fast_scene(bodies[body], walls[wall]);
        double speed = 100.0;
        throw_down(&s, (unsigned)run + 1, speed);
        s.o.h = steps[how];
        s.o.stepper = stepper;
        double until = 2.5 * s.d->q[2] / speed + s.o.h;
        while (s.d->time < until) {
            if (!step_or_refuse(&s)) {
                ++*refused;
                break;
            }
            if (fabs(s.d->q[0]) > 25.0 || fabs(s.d->q[1]) > 25.0) break; /* along the wall */
            if (s.d->q[2] < -1e-6)
                test_fail(__FILE__, __LINE__, "%s, %s, %g m/s, h = %g, run %d: z = %g",
                          bodies[body], walls[wall], speed, s.o.h, run, s.d->q[2]);
        }
        scene_free(&s);
    }
}

TEST(nothing_passes_in_fixed_steps)
{
    int refused = 0;
    fall(RB_STEPPER_FIXED, &refused);
    CHECK(refused <= NRUN / 20);
}

TEST(nothing_passes_in_located_steps)
{
    int refused = 0;
    fall(RB_STEPPER_LOCATED, &refused);
    CHECK(refused <= NRUN / 20);
}

TEST(nothing_passes_in_hybrid_steps)
{
    int refused = 0;
    fall(RB_STEPPER_HYBRID, &refused);
    CHECK(refused <= NRUN / 20);
}

/* A ball that falls on a slope of 45 degrees flies on along x: the wall there is no row of the step
 * in which it bounces. */
TEST(a_bounce_does_not_lead_through_a_wall)
{
    static const double steps[] = { 0.005, 0.01, 0.02 };
    for (int k = 0; k < 3; k++) {
        scene s = scene_text(
            "<mujoco><option gravity='0 0 0'/><default><geom friction='0'/></default><worldbody>"
            "<geom type='box' size='1 1 0.1' euler='0 45 0' pos='0 0 -0.14142135623730951'/>"
            "<geom type='box' size='5e-7 5 5' pos='0.6 0 0'/><body pos='0 0 1'><freejoint/>"
            "<geom size='0.01' mass='0.1'/></body></worldbody><custom>"
            "<numeric name='rb.restitution' data='1'/></custom></mujoco>");
        s.o.h = steps[k];
        s.d->v[2] = -100.0;
        for (int i = 0; i < 8; i++) {
            scene_step(&s);
            CHECK(s.d->q[0] <= 0.6 - 0.01 + 1e-9);
        }
        scene_free(&s);
    }
}

/* What passes beside the edge of a plate is not stopped for it. */
TEST(what_passes_beside_is_not_refused)
{
    scene s = fast_scene(bodies[2], "type='box' size='0.5 0.5 5e-7'");
    s.o.h = 0.01;
    s.d->q[0] = 0.5 + 0.0125 + 0.001;
    s.d->q[2] = 0.37;
    s.d->v[2] = -100.0;
    scene_run(&s, 0.05);
    CHECK_NEAR(s.d->q[2], 0.37 - 5.0, 1e-9);
    CHECK_NEAR(s.d->v[2], -100.0, 0.0);
    scene_free(&s);
}

TEST_MAIN(RUN(nothing_passes_in_fixed_steps), RUN(nothing_passes_in_located_steps),
          RUN(nothing_passes_in_hybrid_steps), RUN(a_bounce_does_not_lead_through_a_wall),
          RUN(what_passes_beside_is_not_refused))
