/* Few degrees of freedom under many contacts: the small system against that of all rows. */
#include "cone_support.h"

#include "solve/newton.h"

enum { CONTACTS = 12, ROWS = 3 * CONTACTS, FREEDOMS = 7 };

typedef struct thin_case {
    double W[ROWS * ROWS], q[ROWS], mu[CONTACTS];
    rb_arena *arena;
    rb_cones k;
    rb_newton s;
} thin_case;

/* W = Y Y' of `rank` columns; the tangents of the last contact are coupled to nothing, as those of
 * a limit. */
static void fill(uint64_t seed, int rank, thin_case *t)
{
    rb_rng rng = rb_rng_make(seed);
    double Y[ROWS * ROWS];
    for (int i = 0; i < ROWS * rank; i++) Y[i] = rb_rng_normal(&rng);
    for (int i = ROWS - 2; i < ROWS; i++)
        for (int k = 0; k < rank; k++) Y[i * rank + k] = 0.0;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) sum += Y[i * rank + k] * Y[j * rank + k];
            t->W[i * ROWS + j] = sum;
        }
        t->q[i] = rb_rng_normal(&rng);
    }
    for (int i = ROWS - 2; i < ROWS; i++) t->W[i * (ROWS + 1)] = 3.0;
    for (int c = 0; c < CONTACTS; c++) t->mu[c] = c + 1 < CONTACTS ? 0.6 : 0.0;
}

static void open_case(thin_case *t)
{
    rb_problem p = { .kind = RB_CONE, .n = ROWS, .nc = CONTACTS, .dim = 3, .q = t->q, .mu = t->mu };
    p.W.dense = t->W;
    t->arena = rb_arena_new(NULL, 0);
    CHECK_INT(rb_cones_make(&p, t->arena, &t->k), RB_OK);
    CHECK_INT(rb_newton_make(&t->k, t->arena, &t->s), RB_OK);
}

/* All three modes in turn, or one for all, and derivatives as Newton would have them. */
static void fill_system(rb_newton *s, int mode)
{
    static const unsigned char modes[3] = { RB_MODE_STICK, RB_MODE_SLIDE, RB_MODE_OPEN };
    double r[ROWS];
    for (int c = 0; c < CONTACTS; c++) {
        double *u = s->u + 3 * c;
        s->mode[c] = modes[mode < 0 ? c % 3 : mode];
        r[3 * c] = s->k->rho[c] * (1.0 + 0.01 * c);
        r[3 * c + 1] = s->k->mu[c] * r[3 * c];
        r[3 * c + 2] = 0.0;
        u[0] = 0.0;
        u[1] = -0.3;
        u[2] = 0.1;
        for (int i = 0; i < 3; i++) s->F[3 * c + i] = 0.1 * ((7 * c + i) % 11 - 5);
    }
    memcpy(s->rho_t, s->k->rho, CONTACTS * sizeof *s->rho_t);
    rb_newton_compliance(s, RB_COMPLIANCE_SCALED, 1e-3);
    rb_newton_linearise(s, r);
}

TEST(rank_and_velocity_are_those_of_the_matrix)
{
    static thin_case t;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        fill(seed, FREEDOMS, &t);
        open_case(&t);
        CHECK(t.s.thin != NULL);
        CHECK_INT(t.s.thin->rank, FREEDOMS);
        CHECK_NEAR(t.s.thin->own[ROWS - 1], 3.0, 0.0);
        double slow[ROWS], quick[ROWS];
        rb_cones_velocity(&t.k, t.q, slow);
        rb_thin_velocity(t.s.thin, t.q, t.q, quick);
        for (int i = 0; i < ROWS; i++) CHECK_NEAR(quick[i], slow[i], 1e-12);
        rb_arena_free(t.arena);
    }
}

/* Rounding of loops that were taken out of W is no freedom of its own. */
TEST(noise_adds_no_rank)
{
    static thin_case t;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        fill(seed, FREEDOMS, &t);
        for (int i = 0; i < ROWS - 2; i++) {
            for (int j = 0; j < ROWS - 2; j++)
                t.W[i * ROWS + j] *= 1.0 + 1e-11 * rb_rng_normal(&rng);
        }
        open_case(&t);
        CHECK(t.s.thin != NULL);
        CHECK_INT(t.s.thin->rank, FREEDOMS);
        rb_arena_free(t.arena);
    }
}

/* Two eliminations of one system, and what is left of the equations themselves. */
TEST(directions_are_those_of_all_rows)
{
    static thin_case t;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        for (int mode = -1; mode < 3; mode++) {
            TEST_SEED(seed);
            fill(seed, FREEDOMS, &t);
            open_case(&t);
            rb_newton all = t.s;
            all.thin = NULL;
            fill_system(&t.s, mode);
            CHECK(rb_newton_factor(&t.s) && rb_newton_solve(&t.s));
            double dr[ROWS], most = 0.0;
            memcpy(dr, t.s.dr, sizeof dr);
            memset(t.s.dr, 0, sizeof dr);
            CHECK(rb_newton_factor(&all) && rb_newton_solve(&all));
            for (int i = 0; i < ROWS; i++) most = fmax(most, fabs(dr[i]));
            for (int i = 0; i < ROWS; i++) CHECK_NEAR(dr[i], t.s.dr[i], 1e-10 * most);
            rb_arena_free(t.arena);
        }
    }
}

/* 36 rows that stick on 9 degrees of freedom are redundant, a contact alone is not. */
TEST(redundant_contacts_are_known)
{
    static thin_case t;
    fill(3, FREEDOMS, &t);
    open_case(&t);
    fill_system(&t.s, 0);
    CHECK(rb_newton_factor(&t.s));
    CHECK(rb_newton_pivots(&t.s) < RB_REDUNDANT);
    fill_system(&t.s, 2);
    t.s.mode[4] = RB_MODE_STICK;
    double r[ROWS] = { 0.0 };
    rb_newton_linearise(&t.s, r);
    CHECK(rb_newton_factor(&t.s));
    CHECK(rb_newton_pivots(&t.s) > RB_REDUNDANT);
    rb_arena_free(t.arena);
}

/* A matrix of full rank and one that is not symmetric are left to the others. */
TEST(what_is_not_thin_is_refused)
{
    static thin_case t;
    fill(5, ROWS, &t);
    open_case(&t);
    CHECK(t.s.thin == NULL);
    rb_arena_free(t.arena);
    fill(5, FREEDOMS, &t);
    t.W[1] += 1e-6;
    open_case(&t);
    CHECK(t.s.thin == NULL);
    rb_arena_free(t.arena);
}

TEST_MAIN(RUN(rank_and_velocity_are_those_of_the_matrix), RUN(noise_adds_no_rank),
          RUN(directions_are_those_of_all_rows), RUN(redundant_contacts_are_known),
          RUN(what_is_not_thin_is_refused))
