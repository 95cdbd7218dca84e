/* What holds rows in place (S.52): rows that are held move by what was asked for, with the W that
 * the problems kept as without it, and with as little kinetic energy as possible. */
#include "step_support.h"

#include "base/arena.h"
#include "step/held.h"

enum { MAX_ROWS = 64, MAX_CONTACTS = 64, MAX_V = 16 };

/* A chain of three links in dry friction and at a limit, with its foot on the floor. */
#define LEG                                                                                        \
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='5 5 1'/>"               \
    "<body pos='0 0 0.74'><joint axis='0 1 0' frictionloss='0.3'/><joint axis='1 0 0'/>"           \
    "<geom type='capsule' size='0.03' fromto='0 0 0 0 0 -0.3' mass='2'/>"                          \
    "<body pos='0 0 -0.3'><joint axis='0 1 0' range='-90 0' limited='true' frictionloss='0.2'/>"   \
    "<geom type='capsule' size='0.03' fromto='0 0 0 0 0 -0.3' mass='1'/>"                          \
    "<body pos='0 0 -0.35'><joint axis='0 1 0'/><joint axis='1 0 0' frictionloss='0.1'/>"          \
    "<geom type='box' size='0.1 0.05 0.02' pos='0.02 0 -0.07' mass='0.4'/></body></body></body>"   \
    "</worldbody></mujoco>"

typedef struct bench {
    scene world;
    rb_stage s;
    rb_contact contacts[MAX_CONTACTS];
    rb_kept kept;
    unsigned char takes[1], held[MAX_ROWS], left[MAX_ROWS];
    double r[MAX_ROWS], u[MAX_ROWS];
    rb_held x;
} bench;

static void bench_make(bench *b)
{
    rb_error err = { 0 };
    int n;
    memset(b, 0, sizeof *b);
    b->world = scene_text(LEG);
    rb_model *m = b->world.m;
    rb_data *d = b->world.d;
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_frames(m, d);
    CHECK_INT(rb_collide(m, d, 0.002, 1.0, MAX_CONTACTS, b->contacts, &n, &err), RB_OK);
    b->s = (rb_stage){ .m = m, .d = d, .o = &b->world.o, .h = 0.002, .size = m->extent };
    CHECK_INT(rb_constraints_build(m, d, &b->world.o, 0.002, 1.0, b->contacts, n, NULL, &b->s.set),
              RB_OK);
    CHECK(b->s.set.nrow > 12 && b->s.set.nrow <= MAX_ROWS);
    rb_mass(m, d);
    CHECK_INT(rb_mass_factor(m, d), RB_OK);
    b->takes[0] = 1;
    b->x = (rb_held){ .s = &b->s, .takes = b->takes, .rows = b->held, .tol = 1e-12 };
    for (int i = 0; i < b->s.set.n; i++) { /* contacts but the last stick, joints with friction */
        const rb_constraint *c = &b->s.set.c[i];
        int sticks =
            c->kind == RB_CONSTRAINT_DRY || (c->kind == RB_CONSTRAINT_CONTACT && i < n - 1);
        memset(b->held + c->row, sticks, (size_t)c->nrow);
    }
}

/* r, of motions that the rows allow: there are more rows than freedoms. */
static void ask(bench *b)
{
    double v[MAX_V];
    for (int j = 0; j < b->world.m->nv; j++) v[j] = 1e-3 * (j + 1) * (j % 2 ? 1.0 : -0.7);
    rb_held_velocity(&b->x, v, b->r);
}

/* W as the problems keep it: all rows of the island, or without those that are left. */
static void keep(bench *b, int some)
{
    rb_island island;
    rb_arena *arena = b->world.d->arena;
    CHECK_INT(b->s.set.nisland, 1);
    b->kept = (rb_kept){ .known = 1, .some = some, .left = b->left };
    for (int i = 0; i < b->s.set.n; i++)
        b->left[i] = b->s.set.c[b->s.set.island_order[i]].kind == RB_CONSTRAINT_LIMIT;
    rb_some room = { .W = rb_push(arena, double, MAX_ROWS *MAX_ROWS) };
    rb_status status = some ? rb_island_open_some(b->world.m, b->world.d, &b->s.set, 0, b->left,
                                                  0.002, &room, arena, &island)
                            : rb_island_open_in(b->world.m, b->world.d, &b->s.set, 0, 0.002, room.W,
                                                arena, &island);
    CHECK_INT(status, RB_OK);
    b->kept.W = room.W;
    b->kept.nG = island.nG;
    b->s.kept = &b->kept;
}

static double largest_miss(bench *b, const double *shift)
{
    double worst = 0.0;
    rb_held_velocity(&b->x, shift, b->u);
    for (int i = 0; i < b->s.set.nrow; i++) worst = fmax(worst, fabs(b->u[i] - b->r[i]));
    return worst;
}

TEST(held_rows_move_as_asked_with_and_without_the_matrix)
{
    bench b;
    bench_make(&b);
    double plain[MAX_V], kept[MAX_V];
    ask(&b);
    CHECK_INT(rb_held_shift(&b.x, b.r, plain), RB_OK);
    CHECK(largest_miss(&b, plain) < 1e-10);
    for (int some = 0; some < 2; some++) {
        keep(&b, some);
        CHECK_INT(rb_held_shift(&b.x, b.r, kept), RB_OK);
        CHECK(largest_miss(&b, kept) < 1e-10);
        for (int j = 0; j < b.world.m->nv; j++) CHECK_NEAR(kept[j], plain[j], 1e-10);
    }
    scene_free(&b.world);
}

/* A matrix that is not that of the rows would be seen: the answer is another one. */
TEST(the_matrix_that_is_kept_is_used)
{
    bench b;
    bench_make(&b);
    double shift[MAX_V];
    ask(&b);
    keep(&b, 0);
    for (int i = 0; i < b.s.set.nrow * b.s.set.nrow; i++) b.kept.W[i] *= 2.0;
    CHECK_INT(rb_held_shift(&b.x, b.r, shift), RB_OK);
    CHECK(largest_miss(&b, shift) > 1e-4);
    scene_free(&b.world);
}

/* Rows that W lacks, and trees that are not carried. */
TEST(what_is_not_kept_is_found_without_it)
{
    bench b;
    bench_make(&b);
    double plain[MAX_V], shift[MAX_V];
    for (int i = 0; i < b.s.set.n; i++) {
        const rb_constraint *c = &b.s.set.c[i];
        if (c->kind == RB_CONSTRAINT_LIMIT) b.held[c->row] = 1;
    }
    ask(&b);
    CHECK_INT(rb_held_shift(&b.x, b.r, plain), RB_OK);
    keep(&b, 1);
    CHECK_INT(rb_held_shift(&b.x, b.r, shift), RB_OK);
    for (int j = 0; j < b.world.m->nv; j++) CHECK(shift[j] == plain[j]);
    b.takes[0] = 0;
    CHECK_INT(rb_held_shift(&b.x, b.r, shift), RB_OK);
    for (int j = 0; j < b.world.m->nv; j++) CHECK(shift[j] == 0.0);
    scene_free(&b.world);
}

TEST_MAIN(RUN(held_rows_move_as_asked_with_and_without_the_matrix),
          RUN(the_matrix_that_is_kept_is_used), RUN(what_is_not_kept_is_found_without_it))
