/* Energy of repairs (S.35), on numbers chosen by hand: one row that pushes the first of two hinges.
 *
 *     f_n = (1, 0),  v_n = (1, 0);    f_1 = (-1, 0),  v_1 = (1, y);    v_f = 0
 *     1/2 f.v+ = 1/2 (1 - 2 a)   on the way from the last answer to the first:  a = 1/2
 *
 * so that v+ = (1, y/2). A single body takes it. Of a chain that is carried, whose smooth terms
 * changed with its impulses, it is taken only where it is not faster than v_n. */
#include "step_support.h"

#include "step/stage.h"

#define CHAIN                                                                                      \
    "<mujoco><worldbody><body><joint axis='0 1 0'/>"                                               \
    "<geom type='capsule' size='0.02' fromto='0 0 0 0.3 0 0' mass='1'/><body pos='0.3 0 0'>"       \
    "<joint axis='0 1 0'/><geom type='capsule' size='0.02' fromto='0 0 0 0 0 0.3' mass='1'/>"      \
    "</body></body></worldbody></mujoco>"

typedef struct bench {
    scene world;
    rb_stage s;
    rb_constraint row;
    int dof[2];
    double J[2], p[1], drive[1], v_free[2], v_new[2], q_new[2], first_v[2], first_f[2];
    double first_work[1];
    int island[1]; /* of the only tree */
    unsigned char carried[1];
    rb_step_info info;
    rb_error err;
} bench;

static void bench_make(bench *b, double y, int carried, int final)
{
    memset(b, 0, sizeof *b);
    b->world = scene_text(CHAIN);
    rb_kinematics(b->world.m, b->world.d);
    rb_velocity(b->world.m, b->world.d);
    rb_mass(b->world.m, b->world.d);
    b->row = (rb_constraint){ .kind = RB_CONSTRAINT_LIMIT, .nrow = 1, .ndof = 2 };
    b->dof[1] = 1;
    b->J[0] = b->p[0] = 1.0;
    b->v_new[0] = b->first_v[0] = 1.0;
    b->first_v[1] = y;
    b->first_f[0] = -1.0;
    b->carried[0] = (unsigned char)carried;
    b->s = (rb_stage){ .m = b->world.m,
                       .d = b->world.d,
                       .o = &b->world.o,
                       .info = &b->info,
                       .err = &b->err,
                       .v_free = b->v_free,
                       .v_new = b->v_new,
                       .q_new = b->q_new,
                       .first_v = b->first_v,
                       .first_f = b->first_f,
                       .first_work = b->first_work,
                       .first_island = b->island,
                       .p = b->p,
                       .by_midpoint = b->carried,
                       .final = final,
                       .energy = 0.5 };
    b->s.set = (rb_constraints){ .n = 1, .nrow = 1, .c = &b->row };
    b->s.set.J = b->J;
    b->s.set.dof = b->dof;
    b->s.set.drive = b->drive;
    b->s.set.tree_island = b->island;
}

/* Twice the kinetic energy. */
static double energy_of(const bench *b, const double *v)
{
    double Mv[2];
    rb_mass_multiply(b->world.m, b->world.d, v, Mv);
    return v[0] * Mv[0] + v[1] * Mv[1];
}

TEST(the_least_share_that_creates_nothing_is_taken)
{
    bench b;
    bench_make(&b, 3.0, 0, 0);
    CHECK_INT(rb_stage_limit_repair_energy(&b.s), RB_OK);
    CHECK_NEAR(b.v_new[0], 1.0, 1e-15);
    CHECK_NEAR(b.v_new[1], 1.5, 1e-12);
    CHECK(b.s.energy <= 0.0 && b.s.energy > -1e-12);
    scene_free(&b.world);
}

/* In 10 ms the second link, 2 cm thick, turns by 15 mrad less with the mixture: 4.5 mm at its tip.
 * In 100 ms it is 4.5 cm. */
TEST(what_is_moved_aside_is_halved)
{
    for (int far = 0; far < 2; far++) {
        bench b;
        bench_make(&b, 3.0, 0, 0);
        b.s.h = far ? 0.1 : 0.01;
        CHECK_INT(rb_stage_limit_repair_energy(&b.s), far ? RB_UNSOLVED : RB_OK);
        CHECK_NEAR(b.v_new[1], far ? 0.0 : 1.5, 1e-12);
        scene_free(&b.world);
    }
}

TEST(a_chain_that_would_be_faster_is_halved)
{
    bench b;
    const double last[2] = { 1.0, 0.0 }, mixed[2] = { 1.0, 1.5 };
    bench_make(&b, 3.0, 1, 0);
    CHECK(energy_of(&b, mixed) > 1.1 * energy_of(&b, last));
    CHECK_INT(rb_stage_limit_repair_energy(&b.s), RB_UNSOLVED);
    CHECK_CONTAINS(b.err.text, "shorten the step");
    CHECK(b.v_new[0] == 1.0 && b.v_new[1] == 0.0);
    scene_free(&b.world);

    /* no halves are left: the last answer stays, and its energy is told */
    bench_make(&b, 3.0, 1, 1);
    CHECK_INT(rb_stage_limit_repair_energy(&b.s), RB_OK);
    CHECK(b.v_new[0] == 1.0 && b.v_new[1] == 0.0);
    CHECK(b.s.energy == 0.5);
    scene_free(&b.world);
}

TEST(a_chain_that_would_be_slower_takes_the_mixture)
{
    bench b;
    double last[2] = { 1.0, 0.0 };
    for (int sign = -1; sign <= 1; sign += 2) {
        bench_make(&b, sign * 0.2, 1, 0);
        const double mixed[2] = { 1.0, sign * 0.1 };
        int slower = energy_of(&b, mixed) <= energy_of(&b, last);
        CHECK_INT(rb_stage_limit_repair_energy(&b.s), slower ? RB_OK : RB_UNSOLVED);
        CHECK_NEAR(b.v_new[1], slower ? sign * 0.1 : 0.0, 1e-12);
        scene_free(&b.world);
    }
}

TEST_MAIN(RUN(the_least_share_that_creates_nothing_is_taken), RUN(what_is_moved_aside_is_halved),
          RUN(a_chain_that_would_be_faster_is_halved),
          RUN(a_chain_that_would_be_slower_takes_the_mixture))
