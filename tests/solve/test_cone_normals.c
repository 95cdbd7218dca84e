/* Normals made exact with friction given: by hand, and the conditions themselves on random contacts
 * of random bodies, redundant ones included. */
#include "test.h"

#include "solve/cone_normals.h"

enum { MOST = 40, DOFS = 12, RANDOM_PROBLEMS = 200 };

static double W[9 * MOST * MOST], q[3 * MOST], mu[MOST], r[3 * MOST], u[3 * MOST];

static rb_cones cones_of(int nc, rb_arena *arena)
{
    rb_cones k;
    rb_problem p = { .kind = RB_CONE, .n = 3 * nc, .q = q, .nc = nc, .dim = 3, .mu = mu };
    p.W.dense = W;
    CHECK_INT(rb_cones_make(&p, arena, &k), RB_OK);
    return k;
}

/* Two contacts, W_nn = [2 1; 1 2]. Friction of the first one pushes its own normal by 0.5 and opens
 * the second: 2 r_1 = 3 - 0.5, r_2 = 0 since 1.25 + 1 > 0. */
TEST(two_contacts_by_hand)
{
    int steps;
    rb_arena *arena = rb_arena_new(NULL, 0);
    memset(W, 0, sizeof W);
    memset(q, 0, sizeof q);
    for (int i = 0; i < 6; i++) W[7 * i] = 2.0;
    W[3] = W[18] = 1.0;
    W[1] = W[6] = 0.5;
    q[0] = -3.0;
    q[3] = 1.0;
    memcpy(r, (double[6]){ 0.0, 1.0, 0.0, 5.0, 0.0, 0.0 }, 6 * sizeof *r);
    rb_cones k = cones_of(2, arena);
    CHECK_INT(rb_cone_normals(&k, 1e-14, arena, r, &steps), RB_OK);
    CHECK_NEAR(r[0], 1.25, 1e-14);
    CHECK(r[3] == 0.0);
    CHECK(r[1] == 1.0 && r[2] == 0.0 && r[4] == 0.0);
    CHECK(steps <= 4);
    rb_arena_free(arena);
}

/* W = J J' with bodies of DOFS degrees of freedom in all, q a velocity of them: with more contacts
 * than that they are redundant, and there always is an answer. */
static void make_random(rb_rng *rng, int nc)
{
    double J[3 * MOST][DOFS], v[DOFS];
    for (int j = 0; j < DOFS; j++) v[j] = rb_rng_uniform(rng, -1.0, 1.0);
    for (int i = 0; i < 3 * nc; i++) {
        q[i] = 0.0;
        for (int j = 0; j < DOFS; j++) {
            J[i][j] = rb_rng_uniform(rng, -1.0, 1.0);
            q[i] += J[i][j] * v[j];
        }
    }
    for (int i = 0; i < 3 * nc; i++) {
        for (int j = 0; j < 3 * nc; j++) {
            double sum = 0.0;
            for (int l = 0; l < DOFS; l++) sum += J[i][l] * J[j][l];
            W[i * 3 * nc + j] = sum;
        }
    }
    for (int i = 0; i < 3 * nc; i++) r[i] = rb_rng_uniform(rng, -0.2, 0.2);
}

TEST(conditions_hold_for_random_contacts)
{
    rb_rng rng = rb_rng_make(5);
    int pushing = 0, open = 0;
    for (int round = 0; round < RANDOM_PROBLEMS; round++) {
        int nc = 2 + round % (MOST - 1), steps;
        double before[3 * MOST];
        rb_arena *arena = rb_arena_new(NULL, 0);
        make_random(&rng, nc);
        memcpy(before, r, sizeof before);
        rb_cones k = cones_of(nc, arena);
        CHECK_INT(rb_cone_normals(&k, 1e-10, arena, r, &steps), RB_OK);
        rb_cones_velocity(&k, r, u);
        for (int c = 0; c < nc; c++) {
            CHECK(r[3 * c] >= 0.0 && u[3 * c] >= -2e-10);
            CHECK(r[3 * c] == 0.0 || fabs(u[3 * c]) <= 2e-10);
            CHECK(r[3 * c + 1] == before[3 * c + 1] && r[3 * c + 2] == before[3 * c + 2]);
            pushing += r[3 * c] > 0.0;
            open += r[3 * c] == 0.0;
        }
        rb_arena_free(arena);
    }
    CHECK(pushing > 500 && open > 500);
}

TEST_MAIN(RUN(two_contacts_by_hand), RUN(conditions_hold_for_random_contacts))
