/* Upsilon, compliance and impulse response against J M^-1 J' with the factor of M: the recursion
 * under test never sees M, the reference never sees the articulated inertias. */
#include "memory_budget.h"
#include "test.h"
#include "tree_support.h"

enum { MAX_POINTS = 12 };

static void factor(tree *t)
{
    rb_kinematics(t->m, t->d);
    rb_mass(t->m, t->d);
    CHECK_INT(rb_mass_factor(t->m, t->d), RB_OK);
    CHECK_INT(rb_aba_factor(t->m, t->d, NULL, NULL), RB_OK);
    rb_upsilon(t->m, t->d);
    rb_frames(t->m, t->d);
}

/* Points near random bodies; every third one on the body of the one before, some on the world. */
static int draw_points(tree *t, rb_point *points)
{
    int n = 1 + tree_below(&t->rng, MAX_POINTS);
    for (int i = 0; i < n; i++) {
        int body = tree_below(&t->rng, t->m->nbody);
        if (i > 0 && tree_percent(&t->rng, 33)) body = points[i - 1].body;
        points[i].body = body;
        tree_vector(&t->rng, 0.5, points[i].pos);
        for (int a = 0; a < 3; a++) points[i].pos[a] += t->d->body_p[3 * body + a];
    }
    return n;
}

/* Rows of J: linear velocities of the points (3n x nv). */
static double *point_rows(const tree *t, int n, const rb_point *points)
{
    size_t nv = (size_t)t->m->nv;
    double *J = calloc(3 * (size_t)n * nv + 1, sizeof *J), *six = calloc(6 * nv + 1, sizeof *six);
    for (int i = 0; i < n; i++) {
        rb_jacobian(t->m, t->d, points[i].body, points[i].pos, six);
        memcpy(J + 3 * (size_t)i * nv, six + 3 * nv, 3 * nv * sizeof *J);
    }
    free(six);
    return J;
}

static double dot(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* W of the points by M = L' D L. */
static double *dense_compliance(const tree *t, int rows, const double *J)
{
    int nv = t->m->nv;
    double *W = calloc((size_t)rows * (size_t)rows + 1, sizeof *W);
    double *x = calloc((size_t)nv + 1, sizeof *x);
    for (int j = 0; j < rows; j++) {
        memcpy(x, J + (ptrdiff_t)j * nv, (size_t)nv * sizeof *x);
        rb_mass_solve(t->m, t->d, x);
        for (int i = 0; i < rows; i++) W[i * rows + j] = dot(J + (ptrdiff_t)i * nv, x, nv);
    }
    free(x);
    return W;
}

static double largest(const double *x, int n)
{
    double max = 0.0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

static int tree_of(const tree *t, int body)
{
    return t->m->link_tree[t->m->body_link[body]];
}

/* Exactly zero between trees and on the world, exactly symmetric. */
static void check_structure(const tree *t, int n, const rb_point *points, const double *W)
{
    for (int i = 0; i < 3 * n; i++) {
        for (int j = 0; j < 3 * n; j++) {
            int a = tree_of(t, points[i / 3].body), b = tree_of(t, points[j / 3].body);
            CHECK(W[i * 3 * n + j] == W[j * 3 * n + i]);
            if (a < 0 || a != b) CHECK(W[i * 3 * n + j] == 0.0);
        }
    }
}

TEST(compliance_equals_the_dense_product_on_1000_trees)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        rb_point points[MAX_POINTS];
        factor(&t);
        int n = draw_points(&t, points), rows = 3 * n;
        double *J = point_rows(&t, n, points), *dense = dense_compliance(&t, rows, J);
        double W[9 * MAX_POINTS * MAX_POINTS], scale = largest(dense, rows * rows);
        CHECK_INT(rb_compliance(t.m, t.d, n, points, W), RB_OK);
        for (int i = 0; i < rows * rows; i++) CHECK_NEAR(W[i], dense[i], 1e-10 * scale);
        check_structure(&t, n, points, W);
        free(dense);
        free(J);
        tree_close(&t);
    }
}

TEST(impulses_move_the_tree_as_the_dense_solution_does)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        rb_point points[MAX_POINTS];
        factor(&t);
        int n = draw_points(&t, points), nv = t.m->nv;
        double *J = point_rows(&t, n, points), *p = tree_numbers(&t.rng, 3 * n, 1.0);
        double *exact = calloc((size_t)nv + 1, sizeof *exact), *dv = tree_numbers(&t.rng, nv, 1.0);
        for (int i = 0; i < 3 * n; i++) {
            for (int j = 0; j < nv; j++) exact[j] += J[(ptrdiff_t)i * nv + j] * p[i];
        }
        rb_mass_solve(t.m, t.d, exact);
        CHECK_INT(rb_impulse(t.m, t.d, n, points, p, dv), RB_OK);
        double scale = largest(exact, nv);
        for (int j = 0; j < nv; j++) CHECK_NEAR(dv[j], exact[j], 1e-10 * scale);

        /* a tree that was not hit does not move at all */
        for (int j = 0; j < nv; j++) {
            int hit = 0;
            for (int i = 0; i < n; i++) {
                hit |= tree_of(&t, points[i].body) == t.m->link_tree[t.m->dof_link[j]];
            }
            if (!hit) CHECK(dv[j] == 0.0);
        }
        free(exact);
        free(dv);
        free(p);
        free(J);
        tree_close(&t);
    }
}

/* What W says about the points is what the impulse response does to them. */
TEST(compliance_and_impulses_agree)
{
    for (uint64_t seed = 2001; seed <= 2200; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        rb_point points[MAX_POINTS];
        factor(&t);
        int n = draw_points(&t, points), rows = 3 * n, nv = t.m->nv;
        double W[9 * MAX_POINTS * MAX_POINTS], *p = tree_numbers(&t.rng, rows, 1.0);
        double *J = point_rows(&t, n, points), *dv = tree_numbers(&t.rng, nv, 1.0);
        CHECK_INT(rb_compliance(t.m, t.d, n, points, W), RB_OK);
        CHECK_INT(rb_impulse(t.m, t.d, n, points, p, dv), RB_OK);
        double scale = rows * largest(W, rows * rows);
        for (int i = 0; i < rows; i++) {
            double by_W = dot(W + i * rows, p, rows), by_dv = dot(J + (ptrdiff_t)i * nv, dv, nv);
            CHECK_NEAR(by_W, by_dv, 1e-11 * scale);
        }
        free(dv);
        free(J);
        free(p);
        tree_close(&t);
    }
}

/* One free ball of mass m and inertia I hit at distance r: W = I/m - sk(r) I^-1 sk(r). */
TEST(a_free_body_by_hand)
{
    rb_spec *spec = rb_spec_new(NULL);
    rb_error err = { 0 };
    rb_body_def body = rb_body_default();
    body.inertia_source = RB_INERTIA_GIVEN;
    body.mass = 2.0;
    body.inertia[0] = body.inertia[1] = body.inertia[2] = 0.5;
    rb_joint_def joint = rb_joint_default();
    joint.type = RB_JOINT_FREE;
    joint.body = rb_spec_add_body(spec, &body, &err);
    rb_spec_add_joint(spec, &joint, &err);
    rb_model *m = rb_spec_compile(spec, NULL, &err);
    CHECK(m != NULL);
    rb_data *d = rb_data_new(m, NULL);
    rb_kinematics(m, d);
    CHECK_INT(rb_aba_factor(m, d, NULL, NULL), RB_OK);
    rb_upsilon(m, d);

    /* r = 0.3 along x: along x 1/m, across 1/m + r^2/I = 0.5 + 0.18 */
    rb_point point = { .body = 1, .pos = { 0.3, 0.0, 0.0 } };
    double W[9];
    CHECK_INT(rb_compliance(m, d, 1, &point, W), RB_OK);
    static const double exact[9] = { 0.5, 0.0, 0.0, 0.0, 0.68, 0.0, 0.0, 0.0, 0.68 };
    for (int i = 0; i < 9; i++) CHECK_NEAR(W[i], exact[i], 1e-15);

    /* 1 N s upwards: v_z = 0.5, and a turn about -y of r/I = 0.6 rad/s */
    double dv[6], up[3] = { 0.0, 0.0, 1.0 };
    CHECK_INT(rb_impulse(m, d, 1, &point, up, dv), RB_OK);
    static const double motion[6] = { 0.0, 0.0, 0.5, 0.0, -0.6, 0.0 };
    for (int i = 0; i < 6; i++) CHECK_NEAR(dv[i], motion[i], 1e-15);
    rb_data_free(d);
    rb_model_free(m, NULL);
    rb_spec_free(spec);
}

/* The order of the points is the order of the rows, nothing else. */
TEST(permuting_the_points_permutes_the_rows)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        TEST_SEED(seed);
        tree t = tree_open(seed, tree_any(seed));
        rb_point points[MAX_POINTS], turned[MAX_POINTS];
        factor(&t);
        int n = draw_points(&t, points), rows = 3 * n;
        for (int i = 0; i < n; i++) turned[i] = points[n - 1 - i];
        double W[9 * MAX_POINTS * MAX_POINTS], V[9 * MAX_POINTS * MAX_POINTS];
        rb_compliance(t.m, t.d, n, points, W);
        rb_compliance(t.m, t.d, n, turned, V);
        double scale = largest(W, rows * rows);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < rows; j++) {
                int a = 3 * (n - 1 - i / 3) + i % 3, b = 3 * (n - 1 - j / 3) + j % 3;
                CHECK_NEAR(W[i * rows + j], V[a * rows + b], 1e-14 * scale);
            }
        }
        tree_close(&t);
    }
}

/* 300 points push more than the first block of an arena holds. */
TEST(out_of_memory_is_reported)
{
    enum { MANY = 300 };
    tree t = tree_open(7, tree_chain(MANY));
    static rb_point points[MANY];
    static double W[9 * MANY * MANY], p[3 * MANY], dv[MANY];
    int failures = 0;
    rb_status status = RB_NOMEM;
    for (size_t bytes = 0; status != RB_OK; bytes += 4096) {
        test_budget budget = { .left = bytes };
        rb_alloc alloc = test_budget_alloc(&budget);
        rb_data *d = rb_data_new(t.m, &alloc);
        if (d) {
            rb_kinematics(t.m, d);
            CHECK_INT(rb_aba_factor(t.m, d, NULL, NULL), RB_OK);
            rb_upsilon(t.m, d);
            for (int i = 0; i < MANY; i++) points[i].body = 1 + i;
            status = rb_compliance(t.m, d, MANY, points, W);
            CHECK(status == RB_OK || status == RB_NOMEM);
            failures += status != RB_OK;
            rb_status other = rb_impulse(t.m, d, MANY, points, p, dv);
            CHECK(other == RB_OK || other == RB_NOMEM);
            failures += other != RB_OK;

            int growths = rb_arena_growths(d->arena);
            if (status == RB_OK && other == RB_OK) {
                CHECK_INT(rb_compliance(t.m, d, MANY, points, W), RB_OK);
                CHECK_INT(rb_impulse(t.m, d, MANY, points, p, dv), RB_OK);
                CHECK_INT(rb_arena_growths(d->arena), growths);
            }
        }
        rb_data_free(d);
        CHECK_INT(budget.memory.live, 0);
    }
    CHECK(failures > 0);
    tree_close(&t);
}

TEST_MAIN(RUN(compliance_equals_the_dense_product_on_1000_trees),
          RUN(impulses_move_the_tree_as_the_dense_solution_does),
          RUN(compliance_and_impulses_agree), RUN(a_free_body_by_hand),
          RUN(permuting_the_points_permutes_the_rows), RUN(out_of_memory_is_reported))
