/* Steps that end at impacts: bounces by closed form, energy, lines of balls, and what flies past.
 */
#include "step_support.h"

#define BALL(h)                                                                                    \
    "<mujoco><option timestep='" h "'/><worldbody><geom type='plane' size='5 5 1'/>"               \
    "<body pos='0 0 1.1'><freejoint/><geom type='sphere' size='0.1' mass='1'/></body>"             \
    "</worldbody></mujoco>"

static scene located(const char *text)
{
    scene s = scene_text(text);
    s.o.stepper = RB_STEPPER_LOCATED;
    return s;
}

static double energy(scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* ---- one ball -----------------------------------------------------------------------------------
 */

/* Height of the centre above the plane that the energy of the ball would reach. */
static double apex(const scene *s)
{
    return s->d->q[2] - 0.1 + s->d->v[2] * s->d->v[2] / (2.0 * 9.81);
}

TEST(an_elastic_ball_bounces_ten_thousand_times)
{
    scene s = located(BALL("0.05"));
    s.o.restitution = 1.0;
    int impacts = 0;
    double drift = 0.0;
    while (impacts < 10000) {
        scene_step(&s);
        impacts += s.info.impacts;
        drift = fmax(drift, fabs(apex(&s) - 1.0));
        CHECK(s.d->q[2] >= 0.1 - 1e-12);
    }
    CHECK(drift < 1e-9);

    /* the n-th impact is at (2 n - 1) sqrt(2 H / g) */
    double fall = sqrt(2.0 / 9.81), since = s.d->time - (2.0 * impacts - 1.0) * fall;
    CHECK(since >= -1e-6 && since <= 2.0 * fall);
    scene_free(&s);
}

TEST(a_ball_comes_to_rest_at_the_end_of_its_bounces)
{
    const double e[] = { 0.3, 0.5, 0.8, 0.9 };
    const char *const models[] = { BALL("0.01"), BALL("0.002") };
    for (int k = 0; k < 8; k++) {
        scene s = located(models[k / 4]);
        double h = s.m->option.timestep, fall = sqrt(2.0 / 9.81);
        s.o.restitution = e[k % 4];
        double zeno = fall + 2.0 * fall * e[k % 4] / (1.0 - e[k % 4]);
        do scene_step(&s);
        while (s.d->v[2] != 0.0 && s.d->time < 2.0 * zeno);
        CHECK(s.info.unlocated == 0);
        CHECK_NEAR(s.d->time, zeno, h);
        CHECK(s.d->v[2] == 0.0);
        CHECK_NEAR(s.d->q[2], 0.1, 1e-11);
        CHECK(s.worst.energy_created <= 1e-14);
        scene_free(&s);
    }
}

TEST(times_of_bounces_are_exact)
{
    scene s = located(BALL("0.037"));
    s.o.restitution = 0.7;
    double t = sqrt(2.0 / 9.81), v = 9.81 * t;
    for (int k = 0; k < 6; k++) { /* fly to the middle between two impacts */
        v *= 0.7;
        t += v / 9.81;
        double whole = floor((t - s.d->time) / 0.037);
        for (int i = 0; i < (int)whole; i++) scene_step(&s);
        s.o.h = t - s.d->time;
        scene_step(&s);
        s.o.h = 0.0;
        CHECK_NEAR(s.d->q[2] - 0.1, v * v / (2.0 * 9.81), 1e-12);
        CHECK_NEAR(s.d->v[2], 0.0, 1e-11);
        t += v / 9.81;
    }
    scene_free(&s);
}

/* ---- many balls ---------------------------------------------------------------------------------
 */

/* n balls of mass 1 in a row along x, `gap` between them, the first one on its way. */
static scene row_of_balls(int n, double gap)
{
    char text[8192];
    int at =
        snprintf(text, sizeof text, "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>");
    for (int i = 0; i < n; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='%.17g 0 0'><freejoint/><geom type='sphere' size='0.1' "
                       "mass='1'/></body>",
                       (0.2 + gap) * i);
    }
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");
    scene s = located(text);
    s.d->v[0] = 1.0;
    return s;
}

/* Pairwise impacts in sequence: the last ball leaves with ((1 + e) / 2)^(n - 1). */
static void check_row(double gap, double e)
{
    enum { N = 5 };
    for (int law = 0; law < 3; law++) {
        scene s = row_of_balls(N, gap);
        s.o.restitution = e;
        s.o.law = (rb_restitution_law)law;
        scene_run(&s, 0.5);
        CHECK_NEAR(s.d->v[6 * (N - 1)], pow(0.5 * (1.0 + e), N - 1), 1e-12);
        double sum = 0.0;
        for (int i = 0; i < N; i++) {
            sum += s.d->v[6 * i];
            if (i > 0) CHECK(s.d->v[6 * i] >= s.d->v[6 * (i - 1)] - 1e-12);
        }
        CHECK_NEAR(sum, 1.0, 1e-13);
        scene_free(&s);
    }
}

TEST(a_shock_runs_through_a_line_of_balls)
{
    check_row(1e-4, 1.0);
    check_row(1e-4, 0.8);
    check_row(0.0, 1.0); /* Newton's cradle: they touch */
    check_row(0.0, 0.8);
}

TEST(two_balls_into_a_cradle_let_two_out)
{
    scene s = row_of_balls(5, 0.0);
    s.o.restitution = 1.0;
    s.d->v[6] = 1.0;
    scene_run(&s, 0.1);
    const double v[5] = { 0.0, 0.0, 0.0, 1.0, 1.0 };
    for (int i = 0; i < 5; i++) CHECK_NEAR(s.d->v[6 * i], v[i], 1e-12);
    scene_free(&s);
}

/* The cradle of the scenes: only the outer balls move, with the energy of the start. */
TEST(the_cradle_swings)
{
    scene s = scene_file("contact/cradle.xml");
    s.o.stepper = RB_STEPPER_LOCATED;
    double start = energy(&s), lowest = 0.0, highest = 0.0;
    for (int i = 0; i < 1000; i++) {
        scene_step(&s);
        for (int j = 1; j < 4; j++) CHECK_NEAR(s.d->q[j], 0.0, 1e-9);
        lowest = fmin(lowest, s.d->q[4]);
        highest = fmax(highest, s.d->q[0]);
    }
    CHECK_NEAR(energy(&s), start, 1e-6 * start);
    CHECK_NEAR(lowest, -0.6, 1e-4);
    CHECK(highest <= 0.6);
    scene_free(&s);
}

/* SimBenchmark: bouncing, 49 balls of 10 kg, e = 1. */
TEST(bouncing_balls_keep_their_energy)
{
    char text[16384];
    int at = snprintf(text, sizeof text,
                      "<mujoco><option timestep='0.001'/><worldbody>"
                      "<geom type='plane' size='20 20 1'/>");
    for (int i = 0; i < 49; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='%d %d 5'><freejoint/><geom type='sphere' size='0.1' "
                       "mass='10'/></body>",
                       i % 7, i / 7);
    }
    snprintf(text + at, sizeof text - (size_t)at, "</worldbody></mujoco>");
    scene s = located(text);
    s.o.restitution = 1.0;
    s.o.friction = 0.0;
    s.o.h = 0.01;
    double start = energy(&s);
    scene_run(&s, 4.0);
    CHECK_NEAR(energy(&s), start, 1e-12 * start);
    scene_free(&s);
}

/* ---- what flies past ----------------------------------------------------------------------------
 */

#define BULLET(y)                                                                                  \
    "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"                                 \
    "<geom type='box' size='0.0000005 0.1 0.1'/>"                                                  \
    "<body pos='-3.3 " y " 0'><freejoint/><geom type='sphere' size='0.005'/></body>"               \
    "</worldbody></mujoco>"

TEST(a_bullet_bounces_off_a_foil_and_passes_beside_it)
{
    for (int k = 0; k < 8; k++) {
        scene s = located(BULLET("0"));
        s.o.restitution = 0.5;
        s.d->q[0] -= 0.13 * k;
        s.d->v[0] = 100.0;
        scene_run(&s, 0.2);
        CHECK_NEAR(s.d->v[0], -50.0, 1e-10);
        CHECK(s.d->q[0] < -0.005);
        scene_free(&s);
    }

    /* the rim: hit by a tenth of a millimetre, missed by as much */
    scene s = located(BULLET("0.1049"));
    s.d->v[0] = 100.0;
    scene_run(&s, 0.2);
    CHECK(s.d->v[0] < 100.0 && s.d->v[1] > 0.0);
    scene_free(&s);
    s = located(BULLET("0.1051"));
    s.d->v[0] = 100.0;
    scene_run(&s, 0.2);
    CHECK(s.d->v[0] == 100.0 && s.d->v[1] == 0.0);
    scene_free(&s);
}

/* Thrown up, a ball touches the ceiling within a step or just not. */
TEST(a_ceiling_is_touched_in_the_middle_of_a_step)
{
    const double above[] = { -1e-6, 1e-4 };
    for (int k = 0; k < 2; k++) {
        scene s = located("<mujoco><option timestep='0.1'/><worldbody>"
                          "<geom type='box' size='1 1 0.1' pos='0 0 2.1'/>"
                          "<body pos='0 0 1'><freejoint/><geom type='sphere' size='0.1'/></body>"
                          "</worldbody></mujoco>");
        s.o.restitution = 1.0;
        s.o.h = 0.1;
        double v = sqrt(2.0 * 9.81 * (0.9 + above[k]));
        s.d->v[2] = v;
        scene_run(&s, 0.8);
        double free_v = v - 9.81 * 0.8;
        if (k == 0)
            CHECK_NEAR(s.d->v[2], free_v, 1e-12);
        else
            CHECK(s.d->v[2] < free_v - 1e-3); /* came back earlier */
        scene_free(&s);
    }
}

/* ---- bodies that turn ---------------------------------------------------------------------------
 */

#define LUMP(x, z)                                                                                 \
    "<body pos='" x " 0 " z "'><freejoint/><geom type='box' size='0.3 0.2 0.1'/>"                  \
    "<geom type='capsule' size='0.05 0.2' pos='0.1 0.1 0.1' euler='30 40 50'/></body>"

static scene lumps(rb_rng *rng)
{
    scene s = located("<mujoco><option timestep='0.01'/><worldbody>"
                      "<geom type='plane' size='5 5 1'/>" LUMP("0", "0.6") LUMP("0.1", "1.2")
                          LUMP("1", "0.7") "</worldbody></mujoco>");
    for (int j = 0; j < s.m->nv; j++) s.d->v[j] = rb_rng_uniform(rng, -6.0, 6.0);
    s.o.friction = rb_rng_uniform(rng, 0.0, 1.2);
    s.o.restitution = rb_rng_uniform(rng, 0.0, 1.0);
    return s;
}

TEST(tumbling_bodies_gain_no_energy_and_do_not_overlap)
{
    rb_rng rng = rb_rng_make(3);
    int impacts = 0;
    for (int k = 0; k < 12; k++) {
        scene s = lumps(&rng);
        s.o.accuracy = RB_ACCURACY_STRICT;
        s.o.law = k % 2 ? RB_POISSON : RB_STRONGE;
        s.o.h = 0.002;
        double before = energy(&s), start = before;
        for (int i = 0; i < 400; i++) {
            scene_step(&s);
            double now = energy(&s);
            impacts += s.info.impacts;
            CHECK(s.info.energy_impacts <= 1e-11 * start);
            CHECK(s.info.energy_created <= 1e-8 * start); /* what lasts, 9.3e-10 at most */
            CHECK(now <= before + 1e-5 * start);          /* the midpoint rule between impacts */
            CHECK(s.info.penetration <= 1e-9 * s.m->extent);
            CHECK_INT(s.info.unlocated, 0);
            before = now;
        }
        scene_free(&s);
    }
    CHECK(impacts > 100);
}

/* Without friction and loss the energy of tumbling boxes stays, over hundreds of impacts. */
TEST(elastic_bodies_keep_their_energy)
{
    rb_rng rng = rb_rng_make(5);
    int impacts = 0;
    for (int k = 0; k < 4; k++) {
        scene s = lumps(&rng);
        s.o.friction = 0.0;
        s.o.restitution = 1.0;
        s.o.h = 0.001;
        double start = energy(&s);
        for (int i = 0; i < 1000; i++) {
            scene_step(&s);
            impacts += s.info.impacts;
            CHECK(fabs(s.info.energy_created) <= 1e-10 * start);
        }
        CHECK_NEAR(energy(&s), start, 1e-5 * start); /* the midpoint rule between impacts */
        scene_free(&s);
    }
    CHECK(impacts > 20);
}

/* ---- promises -----------------------------------------------------------------------------------
 */

TEST(rest_and_failure_are_as_in_fixed_steps)
{
    scene s = located("<mujoco><option timestep='0.002'/><worldbody>"
                      "<geom type='plane' size='5 5 1'/><body pos='0 0 0.1'><freejoint/>"
                      "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>");
    s.o.restitution = 0.8;
    double q[7];
    memcpy(q, s.d->q, sizeof q);
    for (int i = 0; i < 200; i++) scene_step(&s);
    CHECK(memcmp(q, s.d->q, sizeof q) == 0);

    /* a step that cannot be certified, begun with a fall: nothing changes */
    s.d->q[2] = 0.101;
    s.d->v[2] = -1.0;
    uint64_t hash = rb_data_hash(s.d);
    rb_step_opts o = s.o;
    o.solver = rb_solver_find("nsgs");
    o.tol = 1e-300;
    o.loose = 0.0;
    o.friction = 0.3;
    s.d->v[0] = 0.1;
    hash = rb_data_hash(s.d);
    CHECK_INT(rb_step(s.m, s.d, &o, &s.info, NULL), RB_UNSOLVED);
    CHECK(rb_data_hash(s.d) == hash);
    scene_free(&s);
}

TEST(polyhedral_formulations_bounce_as_well)
{
    const char *const names[] = { "stewart-trinkle", "anitescu-potra", "jain", "dart" };
    for (int k = 0; k < 4; k++) {
        scene s = located(BALL("0.01"));
        s.o.formulation = rb_formulation_find(names[k]);
        s.o.restitution = 0.8;
        double fall = sqrt(2.0 / 9.81), v = 0.8 * 9.81 * fall;
        s.o.h = (fall + v / 9.81) / 100.0;
        for (int i = 0; i < 100; i++) scene_step(&s);
        CHECK_NEAR(s.d->q[2] - 0.1, 0.64, 1e-10);
        CHECK_NEAR(s.d->v[2], 0.0, 1e-9);
        scene_free(&s);
    }
}

/* ---- workers ------------------------------------------------------------------------------------
 */

/* Two mechanisms among tumbling bodies. */
static const char *const tumbling_mechanisms =
    "<mujoco><compiler angle='radian'/><option "
    "timestep='0.006324555320336759'/><worldbody><geom name='floor' type='plane' size='20 "
    "20 1' friction='1 0 0'/><geom type='box' size='3 3 0.2' pos='2 0 1' euler='0 "
    "-0.4521365101161975 0'/><body pos='-0.06372534516019579 0.5708277551030296 2.2' "
    "euler='-0.23189318706969497 -0.675308972802849 0'><freejoint/><geom type='sphere' "
    "size='0.8111807413788088' density='234.8349556267943' friction='0.3 0 "
    "0'/></body><body pos='-0.8017669775939174 0.8690041279388239 5.0' "
    "euler='-0.10987428092628138 0.13957969254252056 0'><freejoint/><geom type='capsule' "
    "size='0.9046903061931026 0.7513036368894402' density='3721.7133164153843' "
    "friction='0 0 0'/><body pos='1.5 0 0'><joint type='ball' axis='0 1 0' "
    "damping='372.1713316415385'/><geom type='capsule' fromto='0 0 0 1 0 0' size='0.3' "
    "density='3721.7133164153843'/></body></body><body pos='-0.75532152571732 "
    "-0.6494193000056814 7.8' euler='0.5594667776775233 0.5351719754272324 "
    "0'><freejoint/><geom type='box' size='0.9665079401789649 0.8831315813976248 "
    "0.8769660832830211' density='225.28984686929562' friction='0.3 0 0'/><body pos='1.5 "
    "0 0'><joint type='ball' axis='0 1 0' damping='22.52898468692956'/><geom "
    "type='capsule' fromto='0 0 0 1 0 0' size='0.3' "
    "density='225.28984686929562'/></body></body><body pos='0.06282440394713329 "
    "0.8945120767550405 10.599999999999998' euler='-0.21899787003684912 "
    "-0.11647799320683871 0'><freejoint/><geom type='box' size='0.7313620781573302 "
    "0.941314104159672 0.37370338971501404' density='11.212922216555807' friction='0.8 0 "
    "0'/></body></worldbody></mujoco>";

static scene maximal_text(const char *mjcf)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(mjcf, strlen(mjcf), NULL, &o, NULL, &err);
    CHECK(spec != NULL);
    scene s = scene_of(rb_spec_maximal(spec, NULL, &err), &err);
    rb_spec_free(spec);
    s.o.stepper = RB_STEPPER_LOCATED;
    s.o.restitution = 0.8;
    return s;
}

static void run_in_order(void *ctx, void (*task)(void *work, int k), void *work)
{
    const rb_parallel *parallel = ctx;
    for (int k = 0; k < parallel->workers; k++) task(work, k);
}

/* An impact began from impulses of the motion before, whose memory islands were solved in: workers
 * with memory of their own left them as they were. */
TEST(an_impact_begins_from_nothing_that_was_given_back)
{
    rb_arena *arena[2] = { rb_arena_new(NULL, 0), rb_arena_new(NULL, 0) };
    rb_parallel two = { .workers = 2, .run = run_in_order, .arena = arena };
    two.ctx = &two;
    scene alone = maximal_text(tumbling_mechanisms), shared = maximal_text(tumbling_mechanisms);
    shared.o.parallel = &two;
    while (alone.d->time < 0.88) {
        scene_step(&alone);
        scene_step(&shared);
        if (rb_data_hash(alone.d) != rb_data_hash(shared.d))
            test_fail(__FILE__, __LINE__, "t = %g: workers change bits", alone.d->time);
    }
    scene_free(&alone);
    scene_free(&shared);
    for (int k = 0; k < 2; k++) rb_arena_free(arena[k]);
}

/* A box with a slider, a ball, a capsule and a box of a millimetre. Parts of 1e-17 s and less were
 * asked to push 4e-12 m out, with any speed. */
TEST(rounding_is_not_pushed_out_within_a_short_part)
{
    static const char small[] =
        "<mujoco><compiler angle='radian'/><option timestep='0.0004'/>"
        "<custom><numeric name='rb.restitution' data='0'/></custom><worldbody>"
        "<geom type='plane' size='20 20 1' friction='1 0 0'/>"
        "<body pos='0.0006894131981172457 0.0004244695049955598 0.005'"
        " euler='-0.9374590854715092 -0.6051782167499171 0'><freejoint/>"
        "<geom type='box' density='486.96592062098114' friction='0.3 0 0'"
        " size='0.0007313638576084354 0.0005246234575107261 0.0004232412999347853'/>"
        "<body pos='0.0015 0 0'>"
        "<joint type='slide' axis='0 1 0' damping='4.869659206209811e-14'/>"
        "<geom type='capsule' fromto='0 0 0 0.001 0 0' size='0.0003'"
        " density='486.96592062098114'/></body></body>"
        "<body pos='0.0006570137654303974 0.0001799406393470131 0.010599999999999998'"
        " euler='-0.010121459466835958 0.8385985650592496 0'><freejoint/>"
        "<geom size='0.0008184197813709453' density='5556.523721097535' friction='0.8 0 0'/>"
        "</body>"
        "<body pos='0.0006087011374028373 -0.0005379892085295379 0.013399999999999999'"
        " euler='-0.5063093225652284 0.5644710108037889 0'><freejoint/>"
        "<geom type='capsule' size='0.0004718979086266084 0.0006310132308051339'"
        " density='2476.553983308311' friction='0 0 0'/></body>"
        "<body pos='-3.483658128465228e-05 -0.0008576771900629106 0.0162'"
        " euler='0.2564781746242488 -0.3358239996582657 0'><freejoint/>"
        "<geom type='box' density='572.96222433785' friction='0.3 0 0'"
        " size='0.0009775002960780259 0.0005646401634963361 0.0009816173462577741'/></body>"
        "</worldbody></mujoco>";
    scene s = located(small);
    s.o.accuracy = RB_ACCURACY_STRICT;
    s.o.formulation = rb_formulation_find("stewart-trinkle");
    double before = energy(&s);
    scene_run(&s, 0.06);
    CHECK(energy(&s) < before);
    CHECK(s.worst.penetration <= 1e-9 * s.m->extent);
    scene_free(&s);
}

TEST_MAIN(RUN(an_elastic_ball_bounces_ten_thousand_times),
          RUN(a_ball_comes_to_rest_at_the_end_of_its_bounces), RUN(times_of_bounces_are_exact),
          RUN(a_shock_runs_through_a_line_of_balls), RUN(two_balls_into_a_cradle_let_two_out),
          RUN(the_cradle_swings), RUN(bouncing_balls_keep_their_energy),
          RUN(a_bullet_bounces_off_a_foil_and_passes_beside_it),
          RUN(a_ceiling_is_touched_in_the_middle_of_a_step),
          RUN(tumbling_bodies_gain_no_energy_and_do_not_overlap),
          RUN(elastic_bodies_keep_their_energy), RUN(rest_and_failure_are_as_in_fixed_steps),
          RUN(polyhedral_formulations_bounce_as_well),
          RUN(an_impact_begins_from_nothing_that_was_given_back),
          RUN(rounding_is_not_pushed_out_within_a_short_part))
