/* Bodies that pivot: rows at the middle of the step (S.5), which are a part of midpoint. The node
 * rule needs none: test_node.c has the box that pivots. */
#include "step_support.h"

/* A box on one edge, which sticks: a pendulum about the edge, d a'' = 3/4 g sin a with the angle a
 * of the diagonal against the vertical, d half of it. */
#define HALF 0.2
#define BOX                                                                                        \
    "<body name='box' pos='0 0 1'><freejoint/><geom type='box' size='0.2 0.5 0.2' mass='3' "       \
    "friction='3'/></body>"
#define SCENE(more)                                                                                \
    "<mujoco><option timestep='0.01'/><worldbody><geom type='plane' size='5 5 1' "                 \
    "friction='0.5'/>" BOX more "</worldbody></mujoco>"

static void lean(scene *s, double a)
{
    double d = HALF * sqrt(2.0), turn = a - atan(1.0);
    s->d->q[0] = d * sin(a);
    s->d->q[2] = d * cos(a);
    s->d->q[3] = cos(0.5 * turn);
    s->d->q[5] = sin(0.5 * turn);
}

static double angle(const scene *s)
{
    return 2.0 * atan2(s->d->q[5], s->d->q[3]) + atan(1.0);
}

static double angle_exact(double a, double time)
{
    enum { N = 20000 };
    double h = time / N, w = 0.0, k = 0.75 * 9.81 / (HALF * sqrt(2.0));
    for (int i = 0; i < N; i++) { /* velocity Verlet: its error is 1e-9 here */
        w += 0.5 * h * k * sin(a);
        a += h * w;
        w += 0.5 * h * k * sin(a);
    }
    return a;
}

/* Ends of a fall of 0.3 s: error of the angle, and where the edge is, which was at 0. */
typedef struct fall {
    double angle, edge;
} fall;

static fall fall_of(double h, rb_stepper stepper)
{
    scene s = scene_text(SCENE(""));
    s.o.scheme = RB_SCHEME_MIDPOINT;
    s.o.h = h;
    s.o.stepper = stepper;
    lean(&s, 0.2);
    scene_run(&s, 0.3);
    CHECK(s.worst.penetration <= 1e-9);
    CHECK(s.worst.residual <= 1e-10);
    CHECK(s.worst.energy_created <= 1e-12);
    double a = angle(&s);
    fall out = { a - angle_exact(0.2, 0.3), s.d->q[0] - HALF * sqrt(2.0) * sin(a) };
    scene_free(&s);
    return out;
}

/* Rows of the start let the edge creep by 0.2 mm at 10 ms, half of that at 5 ms. The angle is ahead
 * by h w / 2, as everything that moves with the velocity of the end of a step. */
TEST(an_edge_that_sticks_stays)
{
    fall coarse = fall_of(0.01, RB_STEPPER_FIXED), fine = fall_of(0.005, RB_STEPPER_FIXED);
    CHECK(fabs(coarse.edge) <= 2e-6);
    CHECK(fabs(fine.edge) <= 0.3 * fabs(coarse.edge));
    CHECK(coarse.angle > 0.0 && coarse.angle <= 0.02);
    CHECK_NEAR(fine.angle, 0.5 * coarse.angle, 0.05 * coarse.angle);

    fall located = fall_of(0.01, RB_STEPPER_LOCATED);
    CHECK(fabs(located.edge) <= 5e-5);
    CHECK(fabs(located.angle) <= 0.02);
}

/* A box that spins on an edge without friction, the edge at rest at first. Against its tangent at
 * the middle the way of the edge bends up by h^2 w^2 d / 8, and rows there push for that: where it
 * is more than weight takes in the step, 5/8 w^2 d > g, the push makes energy. */
static void spin_on_an_edge(double w)
{
    double d = HALF * sqrt(2.0), a = 0.2;
    scene s = scene_text(SCENE(""));
    s.o.scheme = RB_SCHEME_MIDPOINT;
    s.o.friction = 0.0;
    lean(&s, a);
    s.d->v[2] = -w * d * sin(a);
    s.d->v[4] = w;
    scene_step(&s);
    CHECK(s.worst.energy_created <= 1e-15);
    CHECK(s.worst.penetration <= 1e-9);
    CHECK((s.info.active > 0) == (w * w * d * cos(a) < 8.0 / 3.0 * 9.81));
    scene_free(&s);
}

TEST(rows_at_the_middle_make_no_energy)
{
    for (double w = 1.0; w <= 12.0; w += 0.5) spin_on_an_edge(w);
}

/* A block beside it slides and loses more than the push would make: the box has the velocity that
 * it has beside a block in the air. */
TEST(what_a_neighbour_loses_pays_for_nothing)
{
    double v[2][6], d = HALF * sqrt(2.0), a = 0.2, w = 8.5;
    for (int slides = 0; slides < 2; slides++) {
        scene s = scene_text(SCENE("<body pos='0 3 0.1'><freejoint/><geom type='box' "
                                   "size='0.1 0.1 0.1' friction='0.5'/></body>"));
        for (int i = 0; i + 1 < s.m->ngeom; i++) s.m->geom_material[i].friction = 0.0;
        lean(&s, a);
        s.d->v[2] = -w * d * sin(a);
        s.d->v[4] = w;
        s.d->v[6] = slides;
        if (!slides) s.d->q[9] = 3.0;
        scene_step(&s);
        CHECK(s.info.energy_created <= (slides ? -1e-3 : 1e-15));
        memcpy(v[slides], s.d->v, sizeof v[slides]);
        scene_free(&s);
    }
    CHECK(memcmp(v[0], v[1], sizeof v[0]) == 0);
}

/* What is not chosen keeps the bits it has alone: a ball that rolls, a block that slides, a stack
 * at rest. */
#define NEIGHBOURS                                                                                 \
    "<body name='ball' pos='2 0 0.1'><freejoint/><geom type='sphere' size='0.1'/></body>"          \
    "<body name='block' pos='0 2 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"    \
    "<body name='low' pos='2 2 0.1'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"      \
    "<body name='high' pos='2 2 0.3'><freejoint/><geom type='box' size='0.1 0.1 0.1'/></body>"

TEST(neighbours_of_what_pivots_keep_their_bits)
{
    scene with = scene_text(SCENE(NEIGHBOURS)), without = scene_text(SCENE(NEIGHBOURS));
    scene *both[] = { &with, &without };
    for (int k = 0; k < 2; k++) {
        both[k]->o.scheme = RB_SCHEME_MIDPOINT;
        both[k]->d->v[6] = 0.7;
        both[k]->d->v[12] = 1.3;
    }
    lean(&with, 0.2);
    lean(&without, atan(1.0)); /* flat on the floor */
    for (int i = 0; i < 40; i++) {
        scene_step(&with);
        scene_step(&without);
        CHECK(memcmp(with.d->q + 7, without.d->q + 7, 28 * sizeof(double)) == 0);
        CHECK(memcmp(with.d->v + 6, without.d->v + 6, 24 * sizeof(double)) == 0);
    }
    CHECK(fabs(angle(&with) - 0.2) > 0.1);
    CHECK(with.d->q[21] == 2.0 && with.d->q[28] == 2.0);
    scene_free(&with);
    scene_free(&without);
}

TEST_MAIN(RUN(an_edge_that_sticks_stays), RUN(rows_at_the_middle_make_no_energy),
          RUN(what_a_neighbour_loses_pays_for_nothing),
          RUN(neighbours_of_what_pivots_keep_their_bits))
