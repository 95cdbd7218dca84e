/* Nothing passes through: fast bodies of all shapes, thin plates, surfaces of triangles, bounces
 * that lead to where no row was taken (S.49), (S.18). */
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
#define SURFACE "<custom><numeric name='rb.surface/wall' data='1'/></custom>"
enum { NWALL = sizeof walls / sizeof *walls, NRUN = 2 * NBODY * NWALL };

static scene fast_scene(const char *body, const char *wall)
{
    char text[4096];
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 0'/><asset>" HULL FIELD TROUGH
             "</asset>%s<worldbody><geom name='wall' %s/><body><freejoint/>"
             "<geom %s mass='0.1'/></body></worldbody></mujoco>",
             strstr(wall, "trough") ? SURFACE : "", wall, body);
    return scene_hulls(text);
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

/* ---- arms -------------------------------------------------------------------------------------
 */

/* What swings, 0.5 to 1.2 m long, about a place 0.4 m above the wall: %s is a geom of the class
 * below. */
static const char *const arms[] = {
    "<body pos='0 0 0.4'><joint type='hinge' axis='0 1 0'/>%s</body>",
    "<body pos='0 0 0.4'><joint type='hinge' axis='0.3 1 0.2' pos='0.02 0 0.05'/>%s</body>",
    "<body pos='0 0 0.4'><joint type='ball'/>%s</body>",
    "<body pos='0 0 0.4'><freejoint/>%s</body>",
    "<body pos='0 0 1.5'><joint type='slide' axis='0 0 1'/><joint type='hinge' axis='0 1 0'/>%s"
    "</body>",
    "<body pos='0 0 0.7'><joint type='hinge' axis='0 1 0'/><geom size='0.01' mass='0.05'/>"
    "<body pos='0 0 0.3'><joint type='hinge' axis='0 1 0'/>%s</body></body>",
    "<body pos='0 0 0.6'><freejoint/><geom size='0.05' mass='1'/>"
    "<body pos='0.05 0 0'><joint type='hinge' axis='1 0 0.5'/>%s</body></body>",
};
static const char *const rods[] = {
    "type='capsule' fromto='0 0 0 0 0 0.6' size='0.005'",
    "type='capsule' fromto='0 0 0.1 0.1 0 0.9' size='0.02'",
    "type='box' pos='0 0 0.3' size='0.03 0.006 0.3'",
    "type='cylinder' pos='0 0 0.5' size='0.01 0.1'",
    "type='sphere' pos='0 0 0.5' size='0.02'",
    "type='ellipsoid' pos='0 0 0.3' size='0.01 0.02 0.3'",
};
/* The last two are pushed away. */
static const char *const plates[] = {
    "<geom type='box' size='60 60 5e-7' pos='0 0 -5e-7'/>",
    "<geom type='cylinder' size='60 0.005' pos='0 0 -0.005'/>",
    "<geom type='hfield' hfield='flat'/>",
    "<geom name='wall' type='mesh' mesh='trough'/>",
    "<body name='plate' pos='0 0 -0.002'><freejoint/><geom name='plate' type='box' "
    "size='20 20 0.002' mass='50'/></body>",
    "<body name='plate' pos='0 0 -0.002'><joint type='slide' axis='0 0 1' damping='10'/>"
    "<geom name='plate' type='box' size='20 20 0.002' mass='0.5'/></body>",
};
enum {
    NARM = sizeof arms / sizeof *arms,
    NROD = sizeof rods / sizeof *rods,
    NPLATE = sizeof plates / sizeof *plates,
    NSWING = NARM * NROD * NPLATE
};

static scene arm_scene(const char *arm, const char *rod, const char *target)
{
    char text[4096], geom[256], body[512];
    snprintf(geom, sizeof geom, "<geom name='rod' %s mass='0.2'/>", rod);
    snprintf(body, sizeof body, arm, geom);
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 0'/><compiler angle='radian'/><asset>" FIELD TROUGH
             "</asset>%s<worldbody>%s%s</worldbody></mujoco>",
             strstr(target, "trough") ? SURFACE : "", body, target);
    return scene_text(text);
}

/* Points of the geom that are farthest from its centre. */
static int ends_of(const rb_model *m, int g, double x[8][3])
{
    const double *size = m->geom_size + 3 * g;
    int n = 0;
    for (int i = 0; i < 8; i++) {
        double sign[3] = { i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0 };
        int type = m->geom_type[g];
        int along = type == RB_GEOM_CAPSULE || type == RB_GEOM_CYLINDER;
        if (type != RB_GEOM_BOX && i % 4 != 0) continue;
        for (int k = 0; k < 3; k++) x[n][k] = type == RB_GEOM_BOX ? sign[k] * size[k] : 0.0;
        if (along) x[n][2] = sign[2] * size[1];
        if (type == RB_GEOM_ELLIPSOID) x[n][2] = sign[2] * size[2];
        n++;
    }
    return n;
}

static int is_beside(const scene *s)
{
    for (int g = 0; g < s->m->ngeom; g++) {
        const double *p = s->d->geom_p + 3 * g;
        if (s->m->geom_link[g] > 0 && fabs(p[0]) + fabs(p[1]) + fabs(p[2]) > 10.0) return 1;
    }
    return 0;
}

/* How far what moves is behind the wall, or behind the middle of the plate, at most [m]. */
static double behind(scene *s, int plate)
{
    rb_model *m = s->m;
    rb_data *d = s->d;
    double x[8][3], deepest = -INFINITY;
    rb_kinematics(m, d);
    rb_frames(m, d);
    for (int g = 0; g < m->ngeom; g++) {
        if (m->geom_link[g] == 0 || g == plate) continue;
        int n = ends_of(m, g, x);
        for (int i = 0; i < n; i++) {
            double p[3], z = 0.0;
            const double *R = d->geom_R + 9 * g;
            for (int k = 0; k < 3; k++)
                p[k] = d->geom_p[3 * g + k] + R[3 * k] * x[i][0] + R[3 * k + 1] * x[i][1] +
                       R[3 * k + 2] * x[i][2];
            if (plate < 0) z = p[2];
            for (int k = 0; k < 3 && plate >= 0; k++)
                z += d->geom_R[9 * plate + 3 * k + 2] * (p[k] - d->geom_p[3 * plate + k]);
            deepest = fmax(deepest, -z);
        }
    }
    return deepest;
}

/* Somewhere above the wall, and fast: 30 to 500 rad/s. */
static void swing(scene *s, unsigned seed, int plate)
{
    rb_model *m = s->m;
    rb_rng rng = rb_rng_make(seed);
    double speed = 30.0 * pow(500.0 / 30.0, rb_rng_uniform(&rng, 0.0, 1.0));
    do {
        for (int j = 0; j < m->njnt; j++) {
            double *q = s->d->q + m->jnt_qadr[j], norm = 0.0;
            if (plate >= 0 && m->jnt_link[j] == m->geom_link[plate]) continue;
            if (m->jnt_type[j] == RB_JOINT_SLIDE) q[0] = rb_rng_uniform(&rng, 0.0, 0.5);
            if (m->jnt_type[j] == RB_JOINT_HINGE) q[0] = rb_rng_uniform(&rng, -1.5, 1.5);
            if (m->jnt_type[j] == RB_JOINT_FREE) q += 3;
            if (m->jnt_type[j] == RB_JOINT_SLIDE || m->jnt_type[j] == RB_JOINT_HINGE) continue;
            for (int k = 0; k < 4; k++) q[k] = rb_rng_uniform(&rng, -1.0, 1.0);
            for (int k = 0; k < 4; k++) norm += q[k] * q[k];
            for (int k = 0; k < 4; k++) q[k] /= sqrt(norm);
        }
    } while (behind(s, plate) > -0.03);
    for (int i = 0; i < m->nv; i++) {
        int j = m->dof_jnt[i];
        if (plate >= 0 && m->dof_link[i] == m->geom_link[plate]) continue;
        int turns = m->jnt_type[j] != RB_JOINT_SLIDE &&
                    !(m->jnt_type[j] == RB_JOINT_FREE && i < m->jnt_dofadr[j] + 3);
        s->d->v[i] = turns ? speed * rb_rng_uniform(&rng, -1.0, 1.0) : -5.0;
    }
}

static void swing_all(rb_stepper stepper, int every, int *refused)
{
    static const double steps[] = { 0.005, 0.01, 0.02 };
    for (int run = 0; run < NSWING; run += every) {
        int rod = run % NROD, arm = run / NROD % NARM, wall = run / (NROD * NARM);
        scene s = arm_scene(arms[arm], rods[rod], plates[wall]);
        int plate = rb_model_find(s.m, RB_KIND_GEOM, "plate");
        swing(&s, (unsigned)run + 1, plate);
        s.o.h = steps[run % 3];
        s.o.stepper = stepper;
        for (int i = 0; i < 10; i++) {
            if (!step_or_refuse(&s)) {
                ++*refused;
                break;
            }
            if (behind(&s, plate) > 1e-6)
                test_fail(__FILE__, __LINE__, "%s, %s, %s, h = %g, run %d, t = %g: %g behind",
                          arms[arm], rods[rod], plates[wall], s.o.h, run, s.d->time,
                          behind(&s, plate));
            if (is_beside(&s)) break;
        }
        scene_free(&s);
    }
}

TEST(no_link_passes_in_fixed_steps)
{
    int refused = 0;
    swing_all(RB_STEPPER_FIXED, 1, &refused);
    CHECK(refused <= NSWING / 20);
}

TEST(no_link_passes_in_located_steps)
{
    int refused = 0;
    swing_all(RB_STEPPER_LOCATED, 5, &refused);
    CHECK(refused <= NSWING / 20);
}

TEST(no_link_passes_in_hybrid_steps)
{
    int refused = 0;
    swing_all(RB_STEPPER_HYBRID, 5, &refused);
    CHECK(refused <= NSWING / 20);
}

/* An arm turns about z towards a peg at 100 degrees, beside its middle by up to half of their
 * thickness: its angle stays below that, and it does not come back from the other side. */
TEST(no_arm_passes_a_peg)
{
    static const char *const pegs[] = { "sphere", "box", "capsule" };
    rb_rng rng = rb_rng_make(7);
    for (int run = 0; run < 120; run++) {
        char text[1024];
        double r = rb_rng_uniform(&rng, 0.004, 0.02), R = rb_rng_uniform(&rng, 0.005, 0.04);
        double at = rb_rng_uniform(&rng, 0.2, 0.9), z = rb_rng_uniform(&rng, -0.5, 0.5) * (r + R);
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'/><worldbody><geom type='%s' size='%g %g %g' "
                 "pos='%g %g %g'/><body><joint type='hinge' axis='0 0 1'/><geom type='capsule' "
                 "fromto='0.06 0 0 1 0 0' size='%g' mass='0.2'/></body></worldbody></mujoco>",
                 pegs[run % 3], R, R, R, at * cos(1.75), at * sin(1.75), z, r);
        scene s = scene_text(text);
        s.o.h = rb_rng_uniform(&rng, 0.002, 0.02);
        s.o.restitution = run % 2 ? 0.7 : 0.0;
        s.d->q[0] = rb_rng_uniform(&rng, 0.0, 1.0);
        s.d->v[0] = rb_rng_uniform(&rng, 30.0, 500.0);
        for (int i = 0; i < 10; i++) {
            scene_step(&s);
            if (!(s.d->q[0] < 1.75 && s.d->q[0] > 1.75 - 2.0 * 3.14159265358979))
                test_fail(__FILE__, __LINE__, "%s, run %d, h = %g: angle %g at %g rad/s", text, run,
                          s.o.h, s.d->q[0], s.d->v[0]);
        }
        scene_free(&s);
    }
}

/* The same on a table that spins, the peg on a heavy joint of it: as one that sees nothing else. */
TEST(no_arm_passes_a_peg_that_spins_with_it)
{
    rb_rng rng = rb_rng_make(8);
    for (int run = 0; run < 60; run++) {
        char text[1024];
        double r = rb_rng_uniform(&rng, 0.004, 0.02), R = rb_rng_uniform(&rng, 0.005, 0.04);
        double at = rb_rng_uniform(&rng, 0.2, 0.9), z = rb_rng_uniform(&rng, -0.5, 0.5) * (r + R);
        snprintf(text, sizeof text,
                 "<mujoco><option gravity='0 0 0'/><worldbody><body pos='3 0 0'>"
                 "<joint type='hinge' axis='0 0 1' pos='-3 0 0'/>"
                 "<inertial pos='0 0 0' mass='1' diaginertia='1e4 1e4 1e4'/>"
                 "<body><joint type='hinge' axis='0 0 1'/><geom type='capsule' "
                 "fromto='0.06 0 0 1 0 0' size='%g' mass='0.2'/></body>"
                 "<body><joint type='hinge' axis='0 0 1' armature='1e6'/>"
                 "<geom size='%g' pos='%g %g %g'/></body></body></worldbody></mujoco>",
                 r, R, at * cos(1.75), at * sin(1.75), z);
        scene s = scene_text(text);
        s.o.h = rb_rng_uniform(&rng, 0.002, 0.02);
        s.d->q[1] = rb_rng_uniform(&rng, 0.0, 1.0);
        s.d->v[0] = rb_rng_uniform(&rng, -50.0, 50.0);
        s.d->v[1] = rb_rng_uniform(&rng, 30.0, 500.0);
        for (int i = 0; i < 10; i++) {
            scene_step(&s);
            double angle = s.d->q[1] - s.d->q[2];
            if (!(angle < 1.75 && angle > 1.75 - 2.0 * 3.14159265358979))
                test_fail(__FILE__, __LINE__, "%s, run %d, h = %g: angle %g at %g rad/s", text, run,
                          s.o.h, angle, s.d->v[1]);
        }
        scene_free(&s);
    }
}

/* Two balls of 1 mm at the end of an arm of 10 m, each on a joint of its own, do not see each other
 * move, however far the arm sweeps. */
TEST(what_rides_along_divides_no_step)
{
    scene s = scene_text("<mujoco><option gravity='0 0 0'/><worldbody><body><joint type='hinge' "
                         "axis='0 0 1'/><inertial pos='0 0 0' mass='1' diaginertia='1e4 1e4 1e4'/>"
                         "<body pos='10 0 0.001'><joint type='hinge' axis='0 0 1'/><geom "
                         "size='0.001'/></body><body pos='10 0 -0.001'><joint type='hinge' "
                         "axis='0 0 1'/><geom size='0.001'/></body></body></worldbody></mujoco>");
    s.o.h = 0.01;
    s.d->v[0] = 250.0;
    for (int i = 0; i < 10; i++) {
        scene_step(&s);
        CHECK_INT(s.info.parts, 1);
    }
    scene_free(&s);
}

/* A rod of 1 m that spins about its middle does not miss a peg in its way: nothing else could push
 * it. */
TEST(no_rod_misses_a_peg)
{
    rb_rng rng = rb_rng_make(11);
    for (int run = 0; run < 100; run++) {
        char text[1024];
        double R = rb_rng_uniform(&rng, 0.005, 0.04), angle = rb_rng_uniform(&rng, 0.4, 2.9);
        double at = rb_rng_uniform(&rng, 0.1, 0.45), w = rb_rng_uniform(&rng, 50.0, 400.0);
        double z = rb_rng_uniform(&rng, -0.5, 0.5) * (R + 0.01);
        snprintf(
            text, sizeof text,
            "<mujoco><option gravity='0 0 0'/><worldbody><geom size='%g' pos='%g %g %g'/><body>"
            "<freejoint/><geom type='capsule' fromto='-0.49 0 0 0.49 0 0' size='0.01' "
            "mass='0.2'/></body></worldbody></mujoco>",
            R, at * cos(angle), at * sin(angle), z);
        scene s = scene_text(text);
        s.o.h = rb_rng_uniform(&rng, 0.002, 0.02);
        s.d->v[5] = w;
        while (s.d->time * w < angle + 0.2) scene_step(&s);
        if (s.d->v[5] == w && s.d->v[1] == 0.0)
            test_fail(__FILE__, __LINE__, "%s, run %d, h = %g: %g rad/s, %g before", text, run,
                      s.o.h, s.d->v[5], w);
        scene_free(&s);
    }
}

/* Two plates of 20 nm, one beside the other and 21 cm from it, within the box around its way: too
 * thin to be looked at place by place, and too far apart to meet. */
TEST(thin_plates_that_cannot_meet_divide_no_step)
{
    scene s = scene_text(
        "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"
        "<body pos='0 0 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1' mass='1'/></body>"
        "<body pos='2 0 2'><freejoint/>"
        "<geom type='box' size='0.4 0.4 1e-8' euler='0 -45 0' mass='1'/></body>"
        "<body pos='2.15 0 1.85'><freejoint/><geom type='box' size='0.02 0.02 1e-8' mass='0.1'/>"
        "</body></worldbody></mujoco>");
    s.d->v[12] = 0.5;
    s.d->v[16] = 1.0;
    for (int i = 0; i < 50; i++) {
        scene_step(&s);
        CHECK_INT(s.info.splits, 0);
    }
    scene_free(&s);
}

/* How thick a hull is does not depend on where its frame is: the radius of the largest ball inside
 * a tetrahedron is 3 V / A. About the frame, which is its centre of mass, this one has 0.6 of it.
 */
TEST(a_hull_is_as_thick_as_the_largest_ball_inside)
{
    scene s =
        scene_hulls("<mujoco><asset><mesh name='tooth' vertex='0 0 0 1 0 0 0 1 0 0 0 4'/>"
                    "<mesh name='block' vertex='0 0 0 2 0 0 0 6 0 2 6 0 0 0 4 2 0 4 0 6 4 2 6 4'/>"
                    "</asset><worldbody><body><freejoint/>"
                    "<geom type='mesh' mesh='tooth' mass='1'/></body><body><freejoint/>"
                    "<geom type='mesh' mesh='block' mass='1'/></body></worldbody></mujoco>");
    double area = 0.5 + 2.0 + 2.0 + 0.5 * sqrt(33.0), ball = 2.0 / area;
    CHECK(s.m->mesh_inner[0] <= ball * (1.0 + 1e-12) && s.m->mesh_inner[0] >= 0.8 * ball);
    CHECK(s.m->mesh_inner[1] <= 1.0 + 1e-12 && s.m->mesh_inner[1] >= 0.8);
    scene_free(&s);
}

/* ---- blows that graze -------------------------------------------------------------------------
 */

/* Two bodies of random shape, the second of which comes at the first with 10 m/s, beside its
 * middle. Returns the largest change of its velocity in 0.04 s. */
static double blow(unsigned seed, double h)
{
    static const char *const shapes[] = { "box", "capsule", "cylinder" };
    char text[2048], geom[2][160];
    rb_rng rng = rb_rng_make(seed);
    double way[3], beside[3], most = 0.0, along = 0.0, phase;
    for (int k = 0; k < 2; k++)
        snprintf(geom[k], sizeof geom[k], "type='%s' size='%.17g %.17g %.17g'",
                 shapes[rb_rng_next(&rng) % 3], rb_rng_uniform(&rng, 0.03, 0.15),
                 rb_rng_uniform(&rng, 0.03, 0.15), rb_rng_uniform(&rng, 0.03, 0.15));
    snprintf(text, sizeof text,
             "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/><geom %s mass='1'/>"
             "</body><body><freejoint/><geom %s mass='1'/></body></worldbody></mujoco>",
             geom[0], geom[1]);
    scene s = scene_text(text);
    s.o.h = h;
    s.o.keep_errors = 1;
    for (int k = 0; k < 3; k++) way[k] = rb_rng_normal(&rng), beside[k] = rb_rng_normal(&rng);
    double unit = 1.0 / sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    for (int k = 0; k < 3; k++) way[k] *= unit;
    for (int k = 0; k < 3; k++) along += way[k] * beside[k];
    for (int k = 0; k < 3; k++) beside[k] -= along * way[k];
    unit = rb_rng_uniform(&rng, 0.05, 0.25) /
           sqrt(beside[0] * beside[0] + beside[1] * beside[1] + beside[2] * beside[2]);
    phase = rb_rng_uniform(&rng, 0.0, 0.2);
    for (int k = 0; k < 3; k++) s.d->q[7 + k] = unit * beside[k] - (0.1 + phase) * way[k];
    for (int k = 0; k < 3; k++) s.d->v[6 + k] = 10.0 * way[k];
    scene_run(&s, 0.04);
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(s.d->v[6 + k] - 10.0 * way[k]));
    scene_free(&s);
    return most;
}

/* What bodies do to each other within a step of 20 ms is found at its end, or by the rows of its
 * start: of the blows of short steps hardly one is missed. */
TEST(what_grazes_is_struck_in_long_steps)
{
    int struck = 0, missed = 0, ghosts = 0;
    for (unsigned seed = 1; seed <= 150; seed++) {
        int fine = blow(seed, 2e-4) > 1e-2, coarse = blow(seed, 0.02) > 1e-2;
        struck += fine;
        missed += fine && !coarse;
        ghosts += coarse && !fine;
    }
    CHECK(struck > 40);
    CHECK(missed <= struck / 20);
    CHECK(ghosts <= struck / 20);
}

TEST_MAIN(RUN(what_grazes_is_struck_in_long_steps), RUN(nothing_passes_in_fixed_steps),
          RUN(nothing_passes_in_located_steps), RUN(nothing_passes_in_hybrid_steps),
          RUN(a_bounce_does_not_lead_through_a_wall), RUN(what_passes_beside_is_not_refused),
          RUN(no_link_passes_in_fixed_steps), RUN(no_link_passes_in_located_steps),
          RUN(no_link_passes_in_hybrid_steps), RUN(no_arm_passes_a_peg),
          RUN(no_arm_passes_a_peg_that_spins_with_it), RUN(what_rides_along_divides_no_step),
          RUN(thin_plates_that_cannot_meet_divide_no_step), RUN(no_rod_misses_a_peg),
          RUN(a_hull_is_as_thick_as_the_largest_ball_inside))
