/* Phantom inertia: what it is for, what it does to the matrix, and where block pivoting ends (seeds
 * 10.6). Every problem of the sliding cube is looked at on its own. */
#include "step_support.h"

enum { MAX_TAKEN = 700, MAX_ROWS = 64 };

typedef struct image {
    int n;
    double *W, *q;
} image;

typedef struct tape {
    int n;
    image at[MAX_TAKEN];
} tape;

static int take(void *ctx, const char *name, const rb_problem *p)
{
    tape *t = ctx;
    (void)name;
    if (t->n >= MAX_TAKEN) return 1;
    CHECK(p->kind == RB_LCP && p->W.form == RB_DENSE && p->n <= MAX_ROWS);
    size_t n = (size_t)p->n;
    image *to = &t->at[t->n++];
    *to =
        (image){ .n = p->n, .W = malloc(n * n * sizeof(double)), .q = malloc(n * sizeof(double)) };
    CHECK(to->W && to->q);
    memcpy(to->W, p->W.dense, n * n * sizeof(double));
    memcpy(to->q, p->q, n * sizeof(double));
    return 0;
}

static void tape_free(tape *t)
{
    for (int i = 0; i < t->n; i++) {
        free(t->at[i].W);
        free(t->at[i].q);
    }
    free(t);
}

/* The problems of the cube of the paper, 0.4 s at 10 ms, with k directions. */
static tape *cube(int k, double share, double *end)
{
    tape *t = calloc(1, sizeof *t);
    CHECK(t != NULL);
    scene s = scene_file("contact/sliding_cube.xml");
    s.o.formulation = rb_formulation_find("phantom");
    s.o.scheme = RB_SCHEME_SEMI_IMPLICIT; /* as printed */
    s.o.h = 0.002;
    s.o.phantom_directions = k;
    s.o.phantom_share = share;
    s.o.solver = rb_solver_find("lemke");
    s.o.max_split = 0;
    s.o.sink = (rb_problem_sink){ take, t };
    scene_run(&s, 0.4);
    for (int i = 0; i < 2; i++) end[i] = s.d->q[i];
    scene_free(&s);
    return t;
}

static int unsolved(const tape *t, const char *solver)
{
    int count = 0;
    double z[MAX_ROWS];
    for (int i = 0; i < t->n; i++) {
        const image *p = &t->at[i];
        rb_problem problem = { .kind = RB_LCP, .n = p->n, .q = p->q, .W = { .dense = p->W } };
        rb_solve_opts opts = rb_solve_opts_default();
        rb_info info = { 0 };
        opts.solver = rb_solver_find(solver);
        opts.unique = 0;
        opts.max_iter = 2000;
        memset(z, 0, sizeof z);
        CHECK_INT(rb_solve(&problem, &opts, z, &info), RB_OK);
        count += info.outcome != RB_SOLVED;
    }
    return count;
}

/* Singular values, largest first, by one-sided rotations of the columns (Hestenes). */
static void singular_values(const image *p, double *s)
{
    int n = p->n;
    double A[MAX_ROWS * MAX_ROWS];
    for (int i = 0; i < n * n; i++)
        A[i] = p->W[i] / sqrt(p->W[i / n * (n + 1)] * p->W[i % n * (n + 1)]);
    for (int sweep = 0; sweep < 60; sweep++) {
        for (int i = 0; i < n; i++) {
            for (int j = i + 1; j < n; j++) {
                double a = 0.0, b = 0.0, c = 0.0;
                for (int r = 0; r < n; r++) {
                    a += A[r * n + i] * A[r * n + i];
                    b += A[r * n + j] * A[r * n + j];
                    c += A[r * n + i] * A[r * n + j];
                }
                if (fabs(c) <= 1e-17 * sqrt(a * b)) continue;
                double zeta = (b - a) / (2.0 * c), sign = zeta < 0.0 ? -1.0 : 1.0;
                double t = sign / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
                double cosine = 1.0 / sqrt(1.0 + t * t), sine = cosine * t;
                for (int r = 0; r < n; r++) {
                    double x = A[r * n + i], y = A[r * n + j];
                    A[r * n + i] = cosine * x - sine * y;
                    A[r * n + j] = sine * x + cosine * y;
                }
            }
        }
    }
    for (int i = 0; i < n; i++) {
        s[i] = 0.0;
        for (int r = 0; r < n; r++) s[i] += A[r * n + i] * A[r * n + i];
        s[i] = sqrt(s[i]);
        for (int j = i; j > 0 && s[j] > s[j - 1]; j--) {
            double x = s[j];
            s[j] = s[j - 1], s[j - 1] = x;
        }
    }
}

/* With the two directions of the text block pivoting solves every problem; with more, G = E'TE is
 * singular and it meets systems that it cannot leave, where Lemke's method solves them all. The
 * physics does not depend on the number: the slip is along one of the directions. */
TEST(more_than_two_directions_need_lemke)
{
    double two[2], end[2];
    tape *t = cube(2, 1e-6, two);
    CHECK_INT(t->n, 200);
    CHECK_INT(unsolved(t, "judice-pires"), 0);
    CHECK_INT(unsolved(t, "lemke"), 0);
    tape_free(t);
    for (int k = 3; k <= 6; k++) {
        t = cube(k, 1e-6, end);
        int lost = unsolved(t, "judice-pires");
        if (lost == 0 || lost > 50)
            test_fail(__FILE__, __LINE__, "%d directions: %d lost", k, lost);
        CHECK_INT(unsolved(t, "lemke"), 0);
        for (int i = 0; i < 2; i++) CHECK_NEAR(end[i], two[i], 1e-6);
        tape_free(t);
    }
}

/* Scaled to a unit diagonal, the friction block has one singular value that is the share itself for
 * every direction: w_up = w_lo (seeds 10.6). At rho = 0 the matrix loses just these eight ranks;
 * the trajectory never knows. */
TEST(the_rank_is_lost_with_rho)
{
    enum { LINES = 8 };
    const double shares[] = { 1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 0.0 };
    double first[2];
    for (int k = 0; k < 6; k++) {
        double s[MAX_ROWS], end[2];
        tape *t = cube(2, shares[k], end);
        int n = t->at[5].n;
        CHECK_INT(n, 4 + 2 * LINES);
        singular_values(&t->at[5], s);
        CHECK(s[n - LINES - 1] > 0.9 * shares[0]);
        CHECK_NEAR(s[n - LINES], shares[k], 1e-6 * shares[k] + 1e-14);
        if (k == 0) memcpy(first, end, sizeof first);
        for (int i = 0; i < 2; i++) CHECK_NEAR(end[i], first[i], 1e-7);
        tape_free(t);
    }
}

/* Across the slip: by the law (43) and with no force at all (34) the cube ends where Coulomb's
 * does, (0.4406, 1.5840), to first order; with a bristle across as along it ends where seeds 10.8
 * says that the text's model without regularisation does. */
TEST(what_acts_across_the_slip)
{
    const double ends[3][2] = { { 0.4406, 1.5840 }, { 0.4406, 1.5840 }, { 0.088, 1.353 } };
    for (int lateral = 0; lateral < 3; lateral++) {
        scene s = scene_file("contact/sliding_cube.xml");
        s.o.formulation = rb_formulation_find("phantom");
        s.o.scheme = RB_SCHEME_SEMI_IMPLICIT; /* as printed */
        s.o.h = 0.001;
        s.o.lateral = lateral;
        scene_run(&s, 0.8);
        CHECK(hypot(s.d->q[0] - ends[lateral][0], s.d->q[1] - ends[lateral][1]) <= 0.003);
        CHECK(fabs(s.d->v[0]) < 1e-6 && fabs(s.d->v[1]) < 1e-6);
        scene_free(&s);
    }
    scene s = scene_file("contact/sliding_cube.xml");
    rb_error err = { 0 };
    s.o.lateral = 3;
    CHECK_INT(rb_step(s.m, s.d, &s.o, NULL, &err), RB_BAD_INPUT);
    CHECK_CONTAINS(err.text, "lateral");
    scene_free(&s);
}

/* Hard corners, twelve rows on six freedoms: every step takes mu g h off, until there is nothing
 * left to take. */
#define BLOCK                                                                                      \
    "<mujoco><option timestep='0.001'/><default><geom friction='0.5269'/></default><worldbody>"    \
    "<geom type='plane' size='50 50 1'/><body pos='0 0 0.19377'><freejoint/>"                      \
    "<geom type='box' size='0.19377 0.19377 0.19377' mass='3'/></body></worldbody></mujoco>"

TEST(a_block_that_slides_is_slowed_down_in_every_step)
{
    static const char *const words[] = { "phantom", "hybrid-friction" };
    for (int k = 0; k < 2; k++) {
        scene s = scene_text(BLOCK);
        s.o.formulation = rb_formulation_find(words[k]);
        s.o.scheme = RB_SCHEME_SEMI_IMPLICIT;
        double least = 0.5269 * 9.81 * s.m->option.timestep, v = s.d->v[0] = 3.2628;
        scene_step(&s); /* bounds of the step before are a guess here */
        for (v = s.d->v[0]; v > 2.0 * least; v = s.d->v[0]) {
            scene_step(&s);
            CHECK_NEAR(s.d->v[0], v - least, 1e-3 * least);
            CHECK(fabs(s.d->v[1]) <= 1e-6 && fabs(s.d->v[5]) <= 1e-5);
        }
        scene_run(&s, 0.1);
        CHECK_NEAR(s.d->q[0], 3.2628 * 3.2628 / (2.0 * 0.5269 * 9.81), 3.2628 * 0.001);
        CHECK_NEAR(s.d->q[2], 0.19377, 1e-8);
        scene_free(&s);
    }
}

/* The law across the slip divides by mu p_n: without friction there is none. The tangents of
 * phantom are found from slips, with a block of condition 1e6: each step loses some 1e-10. */
#define ICE                                                                                        \
    "<mujoco><option timestep='0.001'/><default><geom friction='0'/></default><worldbody>"         \
    "<geom type='plane' size='50 50 1'/><body pos='0 0 0.1'><freejoint/>"                          \
    "<geom type='box' size='0.1 0.1 0.1' mass='3'/></body></worldbody></mujoco>"

TEST(without_friction_a_block_slides_on)
{
    static const char *const words[] = { "phantom", "hybrid-friction" };
    for (int k = 0; k < 2; k++) {
        scene s = scene_text(ICE);
        s.o.formulation = rb_formulation_find(words[k]);
        s.o.scheme = RB_SCHEME_SEMI_IMPLICIT;
        s.d->v[0] = 2.0;
        s.d->v[5] = 3.0;
        scene_run(&s, 0.1);
        CHECK_NEAR(s.d->v[0], 2.0, 1e-7);
        CHECK_NEAR(s.d->v[5], 3.0, 1e-7);
        CHECK_NEAR(s.d->q[2], 0.1, 1e-9);
        scene_free(&s);
    }
}

TEST_MAIN(RUN(more_than_two_directions_need_lemke), RUN(the_rank_is_lost_with_rho),
          RUN(what_acts_across_the_slip), RUN(a_block_that_slides_is_slowed_down_in_every_step),
          RUN(without_friction_a_block_slides_on))
