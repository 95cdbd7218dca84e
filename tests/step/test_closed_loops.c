/* Loops within smooth motion (S.2): energy, order, the way back in time, and what happens where
 * something pushes. */
#include "step_support.h"

#include "rattleback/dynamics.h"

#define HEAD "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody>"
#define BAR(name, pos, to, inner)                                                                  \
    "<body name='" name "' pos='" pos "'><joint name='" name "' axis='0 -1 0'/>"                   \
    "<geom type='capsule' fromto='0 0 0 " to                                                       \
    "' size='0.02' mass='1' contype='0' conaffinity='0'/>" inner "</body>"

/* Crank of 0.2 m, upright, and a rod of 0.5 m to a block on a rail; `more` stands around. */
#define SLIDER(friction, more)                                                                     \
    HEAD BAR("crank", "0 0 0", "0 0 0.2",                                                          \
             BAR("rod", "0 0 0.2", "0.458257569495584 0 -0.2",                                     \
                 "")) "<body name='block' pos='0.458257569495584 0 0'><joint type='slide' "        \
                      "axis='1 0 0'/>"                                                             \
                      "<geom name='block' type='box' size='0.05 0.05 0.05' mass='1' "              \
                      "friction='" friction "'/>"                                                  \
                      "</body>" more "</worldbody><equality><connect body1='rod' body2='block' "   \
                      "anchor='0.458257569495584 0 -0.2'/></equality></mujoco>"

/* Ground 0.5 m, crank 0.15, coupler and rocker such that the crank goes round. */
#define FOUR_BAR                                                                                   \
    HEAD BAR("crank", "0 0 0", "0 0 0.15", BAR("coupler", "0 0 0.15", "0.4 0 0.3", "")) BAR(       \
        "rocker", "0.5 0 0", "-0.1 0 0.45",                                                        \
        "") "</worldbody><equality><connect body1='coupler' body2='rocker' anchor='0.4 0 0.3'/>"   \
            "</equality></mujoco>"

/* A platform on three arms with ball joints, which swings and turns in space. */
#define ARM(n, at, up, low)                                                                        \
    "<body pos='" at "'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 " up "' "          \
    "size='0.01' mass='0.4' contype='0' conaffinity='0'/><body name='arm" n "' pos='" up "'>"      \
    "<joint type='ball'/><geom type='capsule' fromto='0 0 0 " low "' size='0.01' mass='0.2' "      \
    "contype='0' conaffinity='0'/></body></body>"
#define HUNG(n, low) "<connect body1='arm" n "' body2='plate' anchor='" low "'/>"
#define PLATFORM                                                                                   \
    HEAD ARM("1", "0.3 0 0", "0.1 0 -0.1", "-0.3 0 -0.4") ARM("2", "-0.2 0.25 0", "-0.1 0 -0.1",   \
                                                              "0.25 -0.2 -0.4")                    \
        ARM("3", "-0.2 -0.25 0", "-0.1 0 -0.1",                                                    \
            "0.25 0.2 -0.4") "<body name='plate' pos='0 0 -0.5'><freejoint/><geom "                \
                             "type='cylinder' size='0.1 0.02' "                                    \
                             "mass='1' contype='0' "                                               \
                             "conaffinity='0'/></body></worldbody><equality>" HUNG("1",            \
                                                                                   "-0.3 0 -0.4")  \
                                 HUNG("2", "0.25 -0.2 -0.4")                                       \
                                     HUNG("3", "0.25 0.2 -0.4") "</equality></mujoco>"

static scene maximal_text(const char *mjcf)
{
    rb_error err = { 0 };
    rb_load_opts o = rb_load_opts_default();
    rb_spec *spec = rb_spec_read_memory(mjcf, strlen(mjcf), NULL, &o, NULL, &err);
    CHECK(spec != NULL);
    scene s = scene_of(rb_spec_maximal(spec, NULL, &err), &err);
    rb_spec_free(spec);
    return s;
}

static double energy(const scene *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    return rb_energy_kinetic(s->m, s->d) + rb_energy_potential(s->m, s->d);
}

/* Largest velocity of a loop that is left. */
static double loop_speed(const scene *s)
{
    rb_rows rows;
    double most = 0.0;
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    CHECK_INT(rb_loop_rows(s->m, s->d, &rows), RB_OK);
    for (int i = 0; i < rows.n; i++) {
        double u = rows.drive[i];
        for (int k = rows.start[i]; k < rows.start[i + 1]; k++)
            u += rows.J[k] * s->d->v[rows.dof[k]];
        most = fmax(most, fabs(u));
    }
    rb_rows_release(s->d, &rows);
    return most;
}

/* Crank at w, everything else as its loops say: the step itself takes off what they do not allow,
 * and what is slow at first falls from there. */
static scene turning(const char *mjcf, int maximal, double w)
{
    scene s = scene_text(mjcf);
    s.d->v[0] = w;
    s.o.h = 1e-7;
    scene_step(&s);
    scene_step(&s);
    if (maximal) {
        scene m = maximal_text(mjcf);
        rb_kinematics(s.m, s.d);
        rb_velocity(s.m, s.d);
        CHECK_INT(rb_maximal_state(s.m, s.d, m.m, m.d), RB_OK);
        scene_free(&s);
        s = m;
    }
    s.o.h = 0.0;
    s.d->time = 0.0;
    s.worst = (rb_step_info){ 0 };
    return s;
}

/* ---- energy -------------------------------------------------------------------------------------
 */

/* Ten seconds at 1 ms: less than a thousandth of the energy of the motion, where a slider-crank at
 * 9 rad/s lost 16 % in 1.5 s. */
TEST(mechanisms_keep_their_energy)
{
    const struct {
        const char *mjcf;
        double w;
    } of[] = { { SLIDER("0", ""), 20.0 }, { FOUR_BAR, 9.0 }, { PLATFORM, 3.0 } };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        scene s = turning(of[k].mjcf, 0, of[k].w);
        double start = energy(&s), kinetic = 0.0, off = 0.0;
        for (int i = 0; i < 10000; i++) {
            scene_step(&s);
            off = fmax(off, fabs(energy(&s) - start));
            kinetic = fmax(kinetic, rb_energy_kinetic(s.m, s.d));
        }
        CHECK(off <= 1e-3 * kinetic);
        CHECK(s.worst.loop_error <= 1e-11);
        CHECK(s.worst.energy_created <= 1e-4 * kinetic);
        CHECK(loop_speed(&s) <= 1e-11);
        scene_free(&s);
    }
}

TEST(maximal_coordinates_keep_it_too)
{
    scene s = turning(FOUR_BAR, 1, 9.0);
    double start = energy(&s), kinetic = rb_energy_kinetic(s.m, s.d), off = 0.0;
    for (int i = 0; i < 2000; i++) {
        scene_step(&s);
        off = fmax(off, fabs(energy(&s) - start));
    }
    CHECK(off <= 2e-3 * kinetic);
    CHECK(s.worst.loop_error <= 1e-11);
    scene_free(&s);
}

/* The crank turns by 0.2 rad in a step, then by 0.1: the rule is not divided for that, and its
 * energy swings by 1.2 %, then by 0.23 % (midpoint needed halves and quarters for 1 %). */
TEST(long_steps_keep_the_energy)
{
    const double most[] = { 1.5e-2, 3e-3 };
    for (int half = 0; half < 2; half++) {
        scene s = turning(SLIDER("0", ""), 0, 20.0);
        double start = energy(&s), kinetic = rb_energy_kinetic(s.m, s.d), off = 0.0;
        int splits = 0;
        s.o.h = half ? 0.005 : 0.01;
        for (int i = 0; i < (half ? 600 : 300); i++) {
            scene_step(&s);
            splits += s.info.splits;
            off = fmax(off, fabs(energy(&s) - start));
        }
        CHECK(splits < 30);
        CHECK(off <= most[half] * kinetic);
        scene_free(&s);
    }
}

/* ---- order --------------------------------------------------------------------------------------
 */

static void end_of(const char *mjcf, int maximal, double h, double q[64])
{
    scene s = turning(mjcf, maximal, 6.0);
    s.o.h = h;
    scene_run(&s, 0.4);
    CHECK(s.m->nq <= 64);
    memcpy(q, s.d->q, (size_t)s.m->nq * sizeof *q);
    for (int i = s.m->nq; i < 64; i++) q[i] = 0.0;
    scene_free(&s);
}

TEST(loops_are_of_second_order)
{
    const char *const of[] = { SLIDER("0", ""), FOUR_BAR, PLATFORM };
    for (int k = 0; k < 6; k++) {
        double q[3][64], d[2] = { 0.0, 0.0 };
        for (int i = 0; i < 3; i++) end_of(of[k / 2], k % 2, 0.002 / (1 << i), q[i]);
        for (int j = 0; j < 64; j++) {
            d[0] = fmax(d[0], fabs(q[1][j] - q[0][j]));
            d[1] = fmax(d[1], fabs(q[2][j] - q[1][j]));
        }
        CHECK_NEAR(log2(d[0] / d[1]), 2.0, 0.05);
    }
}

/* There and back again: what loses energy cannot. */
TEST(the_way_back_leads_to_the_start)
{
    const char *const of[] = { SLIDER("0", ""), FOUR_BAR, PLATFORM };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        scene s = turning(of[k], 0, 6.0);
        double q[64];
        scene_step(&s);
        memcpy(q, s.d->q, (size_t)s.m->nq * sizeof *q);
        for (int way = 0; way < 2; way++) {
            for (int i = 0; i < 200; i++) scene_step(&s);
            for (int j = 0; j < s.m->nv; j++) s.d->v[j] = -s.d->v[j];
        }
        for (int j = 0; j < s.m->nq; j++) CHECK_NEAR(s.d->q[j], q[j], 1e-8);
        scene_free(&s);
    }
}

/* ---- what pushes --------------------------------------------------------------------------------
 */

#define LOAD                                                                                       \
    "<body pos='0.458257569495584 0 0.08'><freejoint/><geom type='box' size='0.03 0.03 0.03' "     \
    "mass='0.3'/></body>"
#define STOP "<geom type='box' pos='0.72 0 0' size='0.05 0.05 0.05'/>"

/* A block that carries another one, and one that hits a stop: impacts make nothing, what is carried
 * makes 2e-5 of what moves in a step, and loses it again; free in between, and nothing is lost. */
TEST(what_is_pushed_makes_no_energy)
{
    const char *const of[] = { SLIDER("0.8", LOAD), SLIDER("0.5", STOP), SLIDER("0.8", LOAD STOP) };
    for (int k = 0; k < 12; k++) {
        scene s = turning(of[k % 3], 0, 5.0);
        s.o.stepper = k / 3 % 2 ? RB_STEPPER_LOCATED : RB_STEPPER_FIXED;
        s.o.restitution = k < 6 ? 0.0 : 0.6;
        double start = energy(&s), least = start, kinetic = rb_energy_kinetic(s.m, s.d),
               grown = 0.0;
        int pushed = 0;
        for (int i = 0; i < 1500; i++) {
            scene_step(&s);
            CHECK(s.info.energy_impacts <= 1e-12);
            double now = energy(&s);
            grown = fmax(grown, now - least);
            least = fmin(least, now);
            for (int c = 0; c < s.d->ntouch; c++)
                pushed += s.d->touch[c].id.kind == 0 && s.d->touch[c].p[0] > 0.0;
        }
        CHECK(k % 3 == 0 ? pushed > 0 : least < start - 1.0); /* the stop is hit */
        CHECK(grown <= 5e-4 * kinetic);
        CHECK(s.worst.energy_created <= 5e-5 * kinetic);
        CHECK(s.worst.penetration <= scene_deep(&s));
        CHECK(s.worst.loop_error <= fmax(1e-10, 1e-6 * s.m->extent));
        scene_free(&s);
    }
}

/* The impulses of both ends are those of the step, as of any constraint: m a of the block. */
TEST(impulses_of_loops_are_told)
{
    scene s = turning(SLIDER("0", ""), 0, 6.0);
    for (int i = 0; i < 50; i++) {
        double before = s.d->v[2], found = 0.0;
        scene_step(&s);
        for (int c = 0; c < s.d->ntouch; c++) {
            if (s.d->touch[c].id.kind == 3) found = s.d->touch[c].p[0];
        }
        CHECK_NEAR(fabs(found), fabs(s.d->v[2] - before), 1e-9);
    }
    scene_free(&s);
}

/* A copy of the state goes on with the same bits: where the iteration begins is part of it. */
TEST(a_copy_goes_on_with_the_same_bits)
{
    scene s = turning(PLATFORM, 0, 3.0);
    scene_run(&s, 0.1);
    rb_data *copy = rb_data_new(s.m, NULL), *first = s.d;
    CHECK_INT(rb_data_copy(s.m, copy, s.d), RB_OK);
    scene_run(&s, 0.1);
    s.d = copy;
    scene_run(&s, 0.1);
    CHECK(rb_data_hash(copy) == rb_data_hash(first));
    rb_data_free(first);
    scene_free(&s);
}

/* What hangs still stays still, to the bit. */
TEST(a_linkage_at_rest_stays)
{
    scene s = scene_text(HEAD BAR("crank", "0 0 0", "0 0 -0.2", "") BAR(
        "other", "0.3 0 0", "0 0 -0.2",
        BAR("rod", "0 0 -0.2", "-0.3 0 0",
            "")) "</worldbody><equality><connect body1='rod' body2='crank' anchor='-0.3 0 0'/>"
                 "</equality></mujoco>");
    scene_run(&s, 0.2);
    CHECK_INT(s.info.resting, 1);
    for (int j = 0; j < s.m->nv; j++) CHECK(s.d->v[j] == 0.0 && s.d->q[j] == 0.0);
    scene_free(&s);
}

TEST_MAIN(RUN(mechanisms_keep_their_energy), RUN(maximal_coordinates_keep_it_too),
          RUN(long_steps_keep_the_energy), RUN(loops_are_of_second_order),
          RUN(the_way_back_leads_to_the_start), RUN(what_is_pushed_makes_no_energy),
          RUN(impulses_of_loops_are_told), RUN(a_copy_goes_on_with_the_same_bits),
          RUN(a_linkage_at_rest_stays))
