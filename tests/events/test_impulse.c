/* The event-driven stepper: flights, impacts, rest, bad input. */
#include "base/arena.h"
#include "step_support.h"

#define WALL "<geom type='plane' size='1 1 .1' "

static scene impulse_text(const char *mjcf)
{
    scene s = scene_text(mjcf);
    s.o.stepper = RB_STEPPER_IMPULSE;
    s.o.law = RB_POISSON;
    if (s.m->nkey > 0) CHECK_INT(rb_data_reset_key(s.m, s.d, 0), RB_OK);
    return s;
}

static double energy_of(const scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* ---- flight ------------------------------------------------------------------------------------
 */

/* A brick with its origin outside its centre of mass: parabola, angular momentum, energy. */
TEST(flies_a_parabola_and_keeps_its_momentum)
{
    scene s = impulse_text("<mujoco><option timestep='0.01'/><worldbody><body><freejoint/>"
                           "<geom type='box' size='.1 .2 .3' pos='.4 .1 0' euler='10 20 30'/>"
                           "</body></worldbody></mujoco>");
    const double v[6] = { 1, 2, 3, 5, -7, 2 };
    memcpy(s.d->v, v, sizeof v);
    double com0[3], p0[3], L0[3], com[3], p[3], L[3], E0 = energy_of(&s);
    rb_momentum(s.m, s.d, com0, p0, L0);
    scene_run(&s, 10.0);
    double E = energy_of(&s);
    CHECK_NEAR(E, E0, 1e-13 * rb_energy_kinetic(s.m, s.d));
    rb_momentum(s.m, s.d, com, p, L);
    double t = s.d->time, mass = s.m->mass, speed[3];
    for (int i = 0; i < 3; i++) speed[i] = p0[i] / mass;
    for (int i = 0; i < 3; i++) {
        double fall = i == 2 ? -0.5 * 9.81 * t * t : 0.0;
        CHECK_NEAR(com[i], com0[i] + speed[i] * t + fall, 1e-10);
        CHECK_NEAR(L[i], L0[i], 1e-12 * mass);
    }
    scene_free(&s);
}

/* ---- impacts -----------------------------------------------------------------------------------
 */

TEST(bounces_as_high_as_restitution_says)
{
    scene s =
        impulse_text("<mujoco><option timestep='0.01'/><worldbody>" WALL "/>"
                     "<body pos='0 0 1.05'><freejoint/><geom type='sphere' size='.05'/></body>"
                     "</worldbody></mujoco>");
    s.o.restitution = 0.5;
    double fall = sqrt(2.0 * (1.0 - 1e-5) / 9.81), v = 9.81 * fall;
    scene_run(&s, 0.6);
    double after = s.d->time - fall, z = 0.05 + 1e-5 + 0.5 * v * after - 0.5 * 9.81 * after * after;
    CHECK_NEAR(s.d->q[2], z, 1e-9);
    CHECK_NEAR(s.d->v[2], 0.5 * v - 9.81 * after, 1e-9);
    scene_free(&s);
}

/* ((1 + e) / 2)^(n - 1) v for the last of n equal balls in a row. */
TEST(a_shock_runs_through_a_line_of_balls)
{
    for (int k = 0; k < 2; k++) {
        char text[2048] = "<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>";
        for (int i = 0; i < 5; i++) {
            char body[160];
            snprintf(body, sizeof body,
                     "<body pos='%.6f 0 0'><freejoint/><geom type='sphere' size='.01' "
                     "mass='.1'/></body>",
                     0.0201 * i - (i == 0 ? 0.05 : 0.0));
            strcat(text, body);
        }
        strcat(text, "</worldbody></mujoco>");
        scene s = impulse_text(text);
        double e = k ? 0.8 : 1.0;
        s.o.restitution = e;
        s.d->v[0] = 1.0;
        scene_run(&s, 0.3);
        CHECK_NEAR(s.d->v[6 * 4], pow(0.5 * (1.0 + e), 4), 1e-12);
        if (k == 0) CHECK_NEAR(s.d->v[6 * 3], 0.0, 1e-12);
        scene_free(&s);
    }
}

static const char cage[] =
    "<mujoco><option timestep='0.1'/><default><geom friction='0 0 0'/></default><worldbody>" WALL
    "pos='0 0 -.1'/>" WALL "pos='0 0 .1' zaxis='0 0 -1'/>" WALL "pos='-.1 0 0' zaxis='1 0 0'/>" WALL
    "pos='.1 0 0' zaxis='-1 0 0'/>" WALL "pos='0 -.1 0' zaxis='0 1 0'/>" WALL
    "pos='0 .1 0' zaxis='0 -1 0'/>%s"
    "</worldbody></mujoco>";

static scene caged(int balls)
{
    char bodies[1024] = "", text[4096];
    for (int i = 0; i < balls; i++)
        snprintf(bodies + strlen(bodies), sizeof bodies - strlen(bodies),
                 "<body pos='%g %g %g'><freejoint/><geom type='sphere' size='.015'/></body>",
                 0.05 * (i % 3 - 1), 0.05 * (i / 3 - 1), 0.01 * i - 0.02);
    snprintf(text, sizeof text, cage, bodies);
    scene s = impulse_text(text);
    s.o.restitution = 1.0;
    rb_rng rng = rb_rng_make(7);
    for (int i = 0; i < s.m->nv; i++)
        s.d->v[i] = i % 6 < 3 ? rb_rng_uniform(&rng, -80.0, 80.0) : rb_rng_uniform(&rng, -9.0, 9.0);
    return s;
}

/* One ball for a million impacts, five for a hundred thousand. */
TEST(elastic_balls_keep_their_energy)
{
    const int balls[2] = { 1, 5 };
    const long impacts[2] = { 1000000, 100000 };
    for (int k = 0; k < 2; k++) {
        scene s = caged(balls[k]);
        double E0 = energy_of(&s);
        long n = 0;
        while (n < impacts[k]) {
            scene_step(&s);
            n += s.info.impacts;
            CHECK_INT(s.info.micros, 0);
        }
        CHECK_NEAR(energy_of(&s) / E0, 1.0, 1e-9);
        CHECK(s.worst.penetration == 0.0);
        CHECK(s.worst.residual <= 1e-9);
        scene_free(&s);
    }
}

typedef struct tally {
    const scene *s;
    double p[3];
    int count[4];
} tally;

static void count_event(void *ctx, const rb_event *event)
{
    tally *t = ctx;
    t->count[event->kind]++;
    if (event->kind == RB_EVENT_GROUP) return;
    int first = t->s->m->geom_link[event->geom1] > 0;
    for (int i = 0; i < 3; i++) t->p[i] += (first ? -1.0 : 1.0) * event->impulse[i];
}

/* Every impulse is told: with gravity they make up the change of the momentum. */
TEST(events_tell_all_impulses)
{
    scene s = impulse_text("<mujoco><option timestep='0.005'/><worldbody>" WALL "/>"
                           "<body pos='0 0 .3' euler='20 30 0'><freejoint/>"
                           "<geom type='box' size='.05 .04 .03' mass='2'/></body>"
                           "</worldbody></mujoco>");
    tally t = { .s = &s };
    s.o.restitution = 0.4;
    s.o.events = (rb_event_sink){ count_event, &t };
    s.d->v[0] = 0.5;
    int impacts = 0, micros = 0, groups = 0;
    while (s.d->time < 1.0) {
        scene_step(&s);
        impacts += s.info.impacts;
        micros += s.info.micros;
        groups += s.info.groups;
    }
    CHECK_INT(t.count[RB_EVENT_IMPACT], impacts);
    CHECK_INT(t.count[RB_EVENT_MICRO], micros);
    CHECK_INT(t.count[RB_EVENT_GROUP], groups);
    CHECK(impacts > 3 && micros > 100);
    for (int i = 0; i < 3; i++) {
        double weight = i == 2 ? -9.81 * 2.0 * s.d->time : 0.0, before = i == 0 ? 1.0 : 0.0;
        CHECK_NEAR(t.p[i] + weight, 2.0 * s.d->v[i] - before, 1e-9);
    }
    scene_free(&s);
}

/* Four hundred balls arrive at the same instant. */
TEST(simultaneous_impacts_are_all_found)
{
    enum { SIDE = 20 };
    size_t size = 400 * 120 + 512;
    char *text = malloc(size);
    CHECK(text != NULL);
    size_t at =
        (size_t)snprintf(text, size, "<mujoco><option timestep='0.01'/><worldbody>" WALL "/>");
    for (int i = 0; i < SIDE * SIDE; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "<body pos='%g %g .1'><freejoint/><geom type='sphere' "
                               "size='.02'/></body>",
                               0.05 * (i % SIDE), 0.05 * (i / SIDE));
    snprintf(text + at, size - at, "</worldbody></mujoco>");
    scene s = impulse_text(text);
    free(text);
    s.o.restitution = 0.5;
    int impacts = 0;
    while (s.d->time < 0.145) {
        scene_step(&s);
        impacts += s.info.impacts;
    }
    CHECK_INT(impacts, SIDE * SIDE);
    for (int i = 1; i < SIDE * SIDE; i++) CHECK(s.d->v[6 * i + 2] == s.d->v[2]);
    scene_free(&s);
}

/* ---- what is led, what is jointed ---------------------------------------------------------------
 */

/* A plate that rises throws a ball: v+ = v_plate + e (v_plate - v). */
TEST(a_plate_that_moves_throws_a_ball)
{
    scene s =
        impulse_text("<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
                     "<body name='plate' mocap='true'><geom type='box' size='1 1 .01'/></body>"
                     "<body pos='0 0 .1'><freejoint/><geom type='sphere' size='.05'/></body>"
                     "</worldbody></mujoco>");
    s.o.restitution = 0.6;
    s.d->v[2] = -1.0;
    s.d->mocap_v[2] = 0.5;
    scene_run(&s, 0.1);
    CHECK_NEAR(s.d->v[2], 0.5 + 0.6 * 1.5, 1e-12);
    CHECK_NEAR(s.d->mocap[2], 0.05, 1e-12);
    scene_free(&s);
}

/* With mu >= 1 a block that the floor lifts and the pusher holds down is held by both. It was
 * lifted into the shell, and could not be pushed; what overlaps by less than a shell is lifted if
 * it can. */
TEST(a_pusher_with_much_friction_moves_a_block)
{
    const double mu[] = { 0.5, 1.0, 1.2, 3.0 };
    for (int k = 0; k < 4; k++) {
        scene s = impulse_text(
            "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 1'/>"
            "<body mocap='true' pos='-.11 0 .05'><geom type='box' size='.05 .2 .05'/></body>"
            "<body pos='0 0 .05'><freejoint/><geom type='box' size='.05 .05 .05' mass='.3'/>"
            "</body></worldbody></mujoco>");
        s.o.friction = mu[k];
        s.d->mocap_v[0] = 0.5;
        if (k == 2) {
            s.d->q[2] = 0.04999;
            s.d->mocap[0] = -0.1001;
        }
        scene_run(&s, 0.1);
        CHECK_NEAR(s.d->q[0] - s.d->mocap[0], 0.1, 1e-5);
        CHECK_NEAR(s.d->v[0], 0.5, 1e-3);
        CHECK_NEAR(s.d->q[2], 0.05, 2e-5);
        CHECK(s.worst.residual <= rb_step_opts_tol(&s.o));
        scene_free(&s);
    }
}

/* A ball hits a door: angular momentum about the hinge is kept, energy is not created. */
TEST(a_ball_swings_a_door)
{
    scene s =
        impulse_text("<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"
                     "<body><joint type='hinge' axis='0 0 1'/>"
                     "<geom type='box' size='.4 .02 .5' pos='.4 0 0' mass='10'/></body>"
                     "<body pos='.6 -.5 0'><freejoint/><geom type='sphere' size='.1' mass='2'/>"
                     "</body></worldbody></mujoco>");
    s.o.restitution = 0.5;
    s.d->v[2] = 5.0;
    double inertia = 10.0 * (0.16 + (0.16 + 0.0004) / 3.0), E0 = energy_of(&s);
    scene_run(&s, 0.12);
    double spin = s.d->v[0];
    CHECK(spin > 1.0);
    double arm = 0.6 * s.d->v[2] - (s.d->q[2] + 0.0) * s.d->v[1];
    double L = inertia * spin + 2.0 * arm + 0.4 * 2.0 * 0.01 * s.d->v[6];
    CHECK_NEAR(L, 2.0 * 0.6 * 5.0, 2e-2);
    CHECK(energy_of(&s) < E0);
    CHECK(s.worst.penetration <= 1e-6);
    scene_free(&s);
}

/* ---- energy ------------------------------------------------------------------------------------
 */

/* Flights keep their energy, so that what a step says it created is all that the energy changes by:
 * a box, a coin and an egg that fall, bounce, roll and come to rest. */
TEST(a_step_tells_all_the_energy_it_changes)
{
    scene s = impulse_text("<mujoco><option timestep='0.002'/><worldbody>" WALL "/>"
                           "<body pos='0 0 .1' euler='20 30 0'><freejoint/>"
                           "<geom type='box' size='.02 .03 .01'/></body>"
                           "<body pos='.2 0 .1' euler='50 10 0'><freejoint/>"
                           "<geom type='cylinder' size='.012 .001'/></body>"
                           "<body pos='.4 0 .1' euler='10 70 0'><freejoint/>"
                           "<geom type='ellipsoid' size='.03 .02 .02'/></body>"
                           "</worldbody></mujoco>");
    s.o.restitution = 0.4;
    double start = energy_of(&s), before = start;
    for (int k = 0; k < 500; k++) {
        scene_step(&s);
        double now = energy_of(&s);
        CHECK_NEAR(now - before, s.info.energy_created, 1e-12 * start);
        before = now;
    }
    CHECK(before < 0.5 * start);
    scene_free(&s);
}

/* The tops of Kane and Levinson roll: beside what lifts them into the shell at first, nothing is
 * gained or lost. Contacts that roll are no impacts, though their points come down fast. */
TEST(what_rolls_keeps_its_energy)
{
    scene s = impulse_text("<mujoco><option timestep='0.0005'/><worldbody>" WALL "/>"
                           "<body pos='0 0 .0100076'><freejoint/>"
                           "<inertial pos='0 0 0' mass='1' fullinertia='2e-4 16e-4 17e-4 -.2e-4 0 "
                           "0'/><geom type='ellipsoid' size='.2 .03 .02' pos='0 0 .01' "
                           "friction='1'/></body></worldbody></mujoco>");
    s.d->v[5] = -5.0;
    s.d->v[4] = 0.3;
    s.o.restitution = 0.0;
    scene_run(&s, 0.1);
    double start = energy_of(&s), kinetic = rb_energy_kinetic(s.m, s.d), worst = 0.0;
    int impacts = 0;
    for (int k = 0; k < 4000; k++) {
        scene_step(&s);
        impacts += s.info.impacts;
        worst = fmax(worst, fabs(energy_of(&s) - start));
    }
    CHECK(worst < 0.01 * kinetic);
    CHECK_INT(impacts, 0);
    scene_free(&s);
}

/* ---- rest --------------------------------------------------------------------------------------
 */

/* A minute on a slope inside the friction cone: at most 1e4 events per second, no creep. */
TEST(a_block_on_a_slope_does_not_creep)
{
    scene s =
        impulse_text("<mujoco><option timestep='0.002' gravity='3.3 0 -9.2'/>"
                     "<default><geom friction='.4 0 0'/></default><worldbody>" WALL "/>"
                     "<body pos='0 0 .1002'><freejoint/>"
                     "<geom type='box' size='.2 .1 .1' mass='1'/></body></worldbody></mujoco>");
    long events = 0;
    scene_run(&s, 0.5);
    double q[7];
    memcpy(q, s.d->q, sizeof q);
    while (s.d->time < 60.5) {
        scene_step(&s);
        events += s.info.events;
    }
    for (int i = 0; i < 3; i++) CHECK_NEAR(s.d->q[i], q[i], 1e-12);
    for (int i = 0; i < 6; i++) CHECK(s.d->v[i] == 0.0);
    CHECK(events <= 60 * 10000);
    CHECK(events >= 60 * 100); /* impulses carry it */
    scene_free(&s);
}

/* ---- mechanisms --------------------------------------------------------------------------------
 */

/* A press: a motor drives a ram on the floor with 100 times its weight. It stops at once and stays;
 * the floor holds against motor and weight. */
TEST(what_a_motor_presses_down_stays_and_is_held)
{
    scene s = impulse_text("<mujoco><option timestep='0.002'/><worldbody>" WALL "/>"
                           "<body pos='0 0 .06'><joint name='down' type='slide' axis='0 0 1'/>"
                           "<geom type='sphere' size='.05' mass='1'/></body></worldbody>"
                           "<actuator><motor joint='down'/></actuator></mujoco>");
    s.d->ctrl[0] = -981.0;
    double deepest = 0.0, created = 0.0;
    for (int i = 0; i < 500; i++) {
        scene_step(&s);
        deepest = fmax(deepest, s.info.penetration);
        created = fmax(created, s.info.energy_created);
    }
    CHECK(deepest <= 1e-9);
    CHECK(created <= 1e-9);
    CHECK(s.d->q[0] < -0.01 + 1.1e-5 && s.d->q[0] >= -0.01 - 1e-9); /* within the shell */
    CHECK_NEAR(s.d->v[0], 0.0, 1e-12);
    CHECK_NEAR(s.d->push[0], 981.0 + 9.81, 1e-9);
    double q = s.d->q[0];
    for (int i = 0; i < 500; i++) scene_step(&s);
    CHECK_NEAR(s.d->q[0], q, 1e-12);
    scene_free(&s);
}

/* A block lies on a scale: the spring carries both, whoever of them hops. */
TEST(a_scale_shows_the_weight_of_what_lies_on_it)
{
    scene s = impulse_text(
        "<mujoco><option timestep='0.002' gravity='0 0 -10'/><worldbody>"
        "<body name='scale' pos='0 0 0'><joint type='slide' axis='0 0 1' stiffness='1000' "
        "damping='40'/><geom type='box' size='.2 .2 .01' mass='1'/></body>"
        "<body pos='0 0 .0602'><freejoint/><geom type='box' size='.05 .05 .05' mass='2'/></body>"
        "</worldbody></mujoco>");
    scene_run(&s, 3.0);
    double mean = 0.0;
    for (int i = 0; i < 100; i++) {
        scene_step(&s);
        mean += s.d->q[0] / 100.0;
        CHECK(s.info.penetration <= 1e-9);
    }
    CHECK_NEAR(mean, -30.0 / 1000.0, 1e-6);
    scene_free(&s);
}

/* A state that was copied in the middle of a push goes on with the same bits; one that was set back
 * forgets it. */
TEST(a_push_is_part_of_the_state)
{
    scene s = impulse_text(
        "<mujoco><option timestep='0.002'/><worldbody>" WALL "/>"
        "<body pos='0 0 .3'><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 1 0'/>"
        "<geom type='capsule' fromto='0 0 0 .2 0 0' size='.02'/>"
        "<body pos='.2 0 0'><joint type='hinge' axis='0 1 0' stiffness='2' damping='.05'/>"
        "<geom type='capsule' fromto='0 0 0 .2 0 0' size='.02'/></body></body>"
        "</worldbody></mujoco>");
    scene_run(&s, 0.5);
    double most = 0.0;
    for (int j = 0; j < s.m->nv; j++) most = fmax(most, fabs(s.d->push[j]));
    CHECK(most > 1.0); /* it lies */
    rb_data *other = rb_data_new(s.m, NULL);
    CHECK(other != NULL);
    CHECK_INT(rb_data_reserve(s.m, &other, s.d->touch_max), RB_OK);
    CHECK_INT(rb_data_copy(s.m, other, s.d), RB_OK);
    for (int i = 0; i < 100; i++) {
        scene_step(&s);
        CHECK_INT(rb_step(s.m, other, &s.o, NULL, NULL), RB_OK);
        CHECK(rb_data_hash(other) == rb_data_hash(s.d));
    }
    rb_data_reset(s.m, other);
    for (int j = 0; j < s.m->nv; j++) CHECK(other->push[j] == 0.0);
    rb_data_free(other);
    scene_free(&s);
}

/* A ball that starts at rest on the floor is carried, however elastic it is: no impact, no sinking.
 */
TEST(what_starts_at_rest_does_not_bounce)
{
    scene s = impulse_text("<mujoco><option timestep='0.001'/><worldbody>" WALL "/>"
                           "<body pos='0 0 .02'><freejoint/><geom type='sphere' size='.02'/></body>"
                           "</worldbody></mujoco>");
    s.o.restitution = 0.9;
    for (int i = 0; i < 300; i++) {
        scene_step(&s);
        CHECK_INT(s.info.impacts, 0);
    }
    CHECK_NEAR(s.d->q[2], 0.02, 5e-6);
    CHECK(s.d->v[2] == 0.0);
    scene_free(&s);
}

/* Trains of ever smaller bounces end, for every restitution. */
TEST(cascades_come_to_rest)
{
    const double e[4] = { 0.0, 0.3, 0.6, 0.9 };
    for (int k = 0; k < 4; k++) {
        scene s =
            impulse_text("<mujoco><option timestep='0.01'/><worldbody>" WALL "/>"
                         "<body pos='0 0 .1'><freejoint/><geom type='sphere' size='.05'/></body>"
                         "<body pos='0 0 .3' euler='10 20 5'><freejoint/>"
                         "<geom type='box' size='.03 .03 .03'/></body>"
                         "</worldbody></mujoco>");
        s.o.restitution = e[k];
        scene_run(&s, 12.0);
        double fastest = 0.0;
        for (int i = 0; i < 12; i++) fastest = fmax(fastest, i < 6 ? 0.0 : fabs(s.d->v[i]));
        CHECK(fastest <= 0.05);
        CHECK(s.d->q[2] > 0.05 - 1e-6 && s.d->q[9] > 0.03 - 1e-6);
        CHECK(s.worst.penetration <= 2e-5);
        scene_free(&s);
    }
}

/* Three balls between which the relative speed would vanish in infinitely many impacts. */
TEST(collapse_without_weight_ends)
{
    scene s = impulse_text("<mujoco><option timestep='0.01' gravity='0 0 0'/><worldbody>"
                           "<body pos='-.1 0 0'><freejoint/><geom type='sphere' size='.01'/></body>"
                           "<body><freejoint/><geom type='sphere' size='.01'/></body>"
                           "<body pos='.1 0 0'><freejoint/><geom type='sphere' size='.01'/></body>"
                           "</worldbody></mujoco>");
    s.o.restitution = 0.01;
    s.d->v[0] = 1.0;
    s.d->v[12] = -1.0;
    scene_run(&s, 0.5);
    CHECK_NEAR(s.d->v[0] + s.d->v[6] + s.d->v[12], 0.0, 1e-12);
    CHECK(fabs(s.d->v[0]) < 1e-2);
    scene_free(&s);
}

TEST(bodies_that_overlap_at_the_start_do_not_explode)
{
    scene s = impulse_text(
        "<mujoco><option timestep='0.005'/><worldbody>" WALL "/>"
        "<body pos='0 0 .04'><freejoint/><geom type='box' size='.05 .05 .05'/></body>"
        "<body pos='.02 0 .12'><freejoint/><geom type='box' size='.05 .05 .05'/></body>"
        "</worldbody></mujoco>");
    for (int i = 0; i < 200; i++) {
        scene_step(&s);
        for (int j = 0; j < 12; j++) CHECK(fabs(s.d->v[j]) < 3.0);
    }
    scene_free(&s);
}

/* ---- contracts ---------------------------------------------------------------------------------
 */

static const char crowd[] =
    "<mujoco><option timestep='0.005'/><worldbody>" WALL "/>"
    "<body pos='0 0 .1' euler='10 20 30'><freejoint/><geom type='box' size='.05 .04 .03'/></body>"
    "<body pos='.02 0 .25' euler='40 0 30'><freejoint/><geom type='cylinder' size='.04 "
    ".03'/></body>"
    "<body pos='0 .02 .4'><freejoint/><geom type='capsule' size='.03 .04'/></body>"
    "</worldbody></mujoco>";

/* A state that was copied goes on with the same bits. */
TEST(a_restored_run_goes_on_with_the_same_bits)
{
    scene s = impulse_text(crowd);
    s.o.restitution = 0.3;
    scene_run(&s, 0.4);
    rb_data *other = rb_data_new(s.m, NULL);
    CHECK(other != NULL);
    CHECK_INT(rb_data_reserve(s.m, &other, s.d->touch_max), RB_OK);
    CHECK_INT(rb_data_copy(s.m, other, s.d), RB_OK);
    for (int i = 0; i < 100; i++) {
        scene_step(&s);
        CHECK_INT(rb_step(s.m, other, &s.o, NULL, NULL), RB_OK);
        CHECK(rb_data_hash(other) == rb_data_hash(s.d));
    }
    rb_data_free(other);
    scene_free(&s);
}

TEST(steps_allocate_nothing_after_a_while)
{
    scene s = impulse_text(crowd);
    scene_run(&s, 1.0);
    int growths = rb_arena_growths(s.d->arena);
    scene_run(&s, 1.0);
    CHECK_INT(rb_arena_growths(s.d->arena), growths);
    scene_free(&s);
}

TEST(what_cannot_be_done_is_refused_and_changes_nothing)
{
    scene s = impulse_text(crowd);
    rb_error err = { 0 };
    uint64_t hash = rb_data_hash(s.d);
    s.o.shell = -1.0;
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "shell");
    CHECK(rb_data_hash(s.d) == hash);
    s.o.shell = 0.0;
    s.d->v[2] = INFINITY;
    hash = rb_data_hash(s.d);
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "not finite");
    CHECK_CONTAINS(err.text, "v[2] (joint ");
    CHECK(rb_data_hash(s.d) == hash);
    scene_free(&s);

    s = impulse_text(
        "<mujoco><worldbody><body name='a'><joint/><geom size='.1'/></body>"
        "<body name='b' pos='1 0 0'><joint/><geom size='.1'/></body></worldbody>"
        "<equality><connect body1='a' body2='b' anchor='.5 0 0'/></equality></mujoco>");
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_UNSUPPORTED);
    CHECK_CONTAINS(err.text, "loops");
    scene_free(&s);
}

TEST_MAIN(RUN(a_step_tells_all_the_energy_it_changes), RUN(what_rolls_keeps_its_energy),
          RUN(flies_a_parabola_and_keeps_its_momentum), RUN(bounces_as_high_as_restitution_says),
          RUN(a_shock_runs_through_a_line_of_balls), RUN(elastic_balls_keep_their_energy),
          RUN(events_tell_all_impulses), RUN(simultaneous_impacts_are_all_found),
          RUN(a_plate_that_moves_throws_a_ball), RUN(a_pusher_with_much_friction_moves_a_block),
          RUN(a_ball_swings_a_door), RUN(a_block_on_a_slope_does_not_creep),
          RUN(what_starts_at_rest_does_not_bounce),
          RUN(what_a_motor_presses_down_stays_and_is_held),
          RUN(a_scale_shows_the_weight_of_what_lies_on_it), RUN(a_push_is_part_of_the_state),
          RUN(cascades_come_to_rest), RUN(collapse_without_weight_ends),
          RUN(bodies_that_overlap_at_the_start_do_not_explode),
          RUN(a_restored_run_goes_on_with_the_same_bits), RUN(steps_allocate_nothing_after_a_while),
          RUN(what_cannot_be_done_is_refused_and_changes_nothing))
