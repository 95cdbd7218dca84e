/* Interior points on towers of boxes with eight contacts on each face: six times as many rows as
 * freedoms. Problems are made from an answer: impulses and velocities that obey the law are chosen,
 * the free velocities follow. Answers are graded by rb_residual alone. */
#include "test.h"

#include "rattleback/solve.h"

enum { BOXES = 25, EACH = 8, CONTACTS = EACH * BOXES, ROWS = 3 * CONTACTS, MOST_FACTORS = 60 };

/* Half sides of a box [m], its mass [kg]. */
#define HALF   0.05
#define HEIGHT 0.02
#define MASS   0.4

typedef struct tower {
    int nnz;
    int jptr[ROWS + 1], jcol[12 * ROWS], start[BOXES + 1];
    double jval[12 * ROWS], minv[36 * BOXES];
    double q[ROWS], mu[CONTACTS];
    double r[ROWS], u[ROWS]; /* the answer that it was made from */
    rb_operator op;
    rb_problem problem;
} tower;

static tower T;

/* Velocity along d of the point at `arm` from the centre of a box. */
static void add_side(int box, const double *d, const double *arm, double sign)
{
    const double turn[3] = { arm[1] * d[2] - arm[2] * d[1], arm[2] * d[0] - arm[0] * d[2],
                             arm[0] * d[1] - arm[1] * d[0] };
    for (int k = 0; k < 6; k++) {
        T.jcol[T.nnz] = 6 * box + k;
        T.jval[T.nnz++] = sign * (k < 3 ? d[k] : turn[k - 3]);
    }
}

/* A corner of the lower face of a box, or the middle of an edge; normals point up. */
static void add_contact(int row, int box, int corner)
{
    static const int axis[3] = { 2, 0, 1 };
    static const int along[EACH] = { -1, 0, 1, 1, 1, 0, -1, -1 };
    double x = HALF * along[corner], y = HALF * along[(corner + 6) % EACH];
    for (int k = 0; k < 3; k++) {
        double d[3] = { 0.0 }, above[3] = { x, y, -HEIGHT }, below[3] = { x, y, HEIGHT };
        d[axis[k]] = 1.0;
        T.jptr[row + k] = T.nnz;
        if (box > 0) add_side(box - 1, d, below, -1.0);
        add_side(box, d, above, 1.0);
    }
}

/* Contacts in the order given, or as they come. */
static void make_rows(const int *order)
{
    memset(&T, 0, sizeof T);
    for (int i = 0; i < CONTACTS; i++) {
        int c = order ? order[i] : i;
        add_contact(3 * i, c / EACH, c % EACH);
    }
    T.jptr[ROWS] = T.nnz;
    for (int b = 0; b < BOXES; b++) {
        double flat = MASS / 3.0 * (HALF * HALF + HEIGHT * HEIGHT), up = MASS / 1.5 * HALF * HALF;
        const double inertia[6] = { MASS, MASS, MASS, flat, flat, up };
        T.start[b] = 6 * b;
        for (int k = 0; k < 6; k++) T.minv[36 * b + 7 * k] = 1.0 / inertia[k];
    }
    T.start[BOXES] = 6 * BOXES;
    T.op = (rb_operator){ 6 * BOXES, T.jptr, T.jcol, T.jval, BOXES, T.start, T.minv };
    T.problem = (rb_problem){ .kind = RB_CONE, .n = ROWS, .nc = CONTACTS, .dim = 3 };
    T.problem.q = T.q;
    T.problem.mu = T.mu;
    T.problem.W = (rb_matrix){ .form = RB_OPERATOR, .op = &T.op };
}

/* One contact of a random mode: open, sticking or sliding. */
static void choose(rb_rng *rng, int c)
{
    double *r = T.r + 3 * c, *u = T.u + 3 * c, angle = rb_rng_uniform(rng, 0.0, 6.28);
    double mode = rb_rng_uniform(rng, 0.0, 1.0), size = rb_rng_uniform(rng, 0.01, 0.1);
    double t[2] = { cos(angle), sin(angle) };
    if (mode < 0.3) {
        u[0] = size;
        for (int k = 0; k < 2; k++) u[1 + k] = size * t[k];
        return;
    }
    double share = mode < 0.7 ? rb_rng_uniform(rng, 0.0, 0.9) : 1.0;
    r[0] = size;
    for (int k = 0; k < 2; k++) {
        r[1 + k] = share * T.mu[c] * size * t[k];
        if (mode >= 0.7) u[1 + k] = -size * t[k];
    }
}

/* q = u - W r */
static void make_known(uint64_t seed, double mu)
{
    rb_rng rng = rb_rng_make(seed);
    make_rows(NULL);
    for (int c = 0; c < CONTACTS; c++) {
        T.mu[c] = mu;
        choose(&rng, c);
    }
    CHECK_INT(rb_problem_apply(&T.problem, T.r, NULL, T.q), RB_OK);
    for (int i = 0; i < ROWS; i++) T.q[i] = T.u[i] - T.q[i];
}

static rb_info solve(double tol, int warm, double *r)
{
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    rb_certificate cert;
    opts.tol = tol;
    opts.unique = 0;
    opts.warm = warm;
    CHECK_INT(rb_solve(&T.problem, &opts, r, &info), RB_OK);
    CHECK_INT(rb_residual(&T.problem, r, NULL, &cert), RB_OK);
    CHECK_NEAR(cert.relative, info.cert.relative, 1e-15);
    return info;
}

TEST(problems_with_a_known_answer)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        TEST_SEED(seed);
        double r[ROWS] = { 0.0 };
        rb_certificate cert;
        make_known(seed, seed % 2 ? 0.3 : 0.7);
        CHECK_INT(rb_residual(&T.problem, T.r, NULL, &cert), RB_OK);
        CHECK(cert.relative <= 1e-12);
        rb_info info = solve(1e-6, 0, r);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK_INT(info.rungs[RB_RUNG_INTERIOR], 1);
        CHECK(info.factorisations <= MOST_FACTORS);
        for (int c = 0; c < CONTACTS; c++)
            CHECK(hypot(r[3 * c + 1], r[3 * c + 2]) <= T.mu[c] * r[3 * c] + 1e-15);
    }
}

/* Fastest approach that the impulses leave [m/s]. */
static double fastest_approach(const double *r)
{
    double u[ROWS], fastest = 0.0;
    CHECK_INT(rb_problem_apply(&T.problem, r, NULL, u), RB_OK);
    for (int c = 0; c < CONTACTS; c++) fastest = fmax(fastest, -(u[3 * c] + T.q[3 * c]));
    return fastest;
}

/* A guess with a little less push than the answer is one at a coarse tolerance, and all its
 * contacts close; asked for less than that it is not taken as it is. */
TEST(coarse_answers_close_no_faster_than_asked)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        TEST_SEED(seed);
        double r[ROWS];
        rb_solve_opts opts = rb_solve_opts_default();
        rb_info info = { 0 };
        make_known(seed, 0.5);
        for (int i = 0; i < ROWS; i++) r[i] = (1.0 - 1e-4) * T.r[i];
        opts.tol = 1e-3;
        opts.unique = 0;
        opts.warm = 1;
        CHECK_INT(rb_solve(&T.problem, &opts, r, &info), RB_OK);
        CHECK_INT(info.factorisations, 0);
        opts.closing = 0.25 * fastest_approach(r);
        CHECK(opts.closing > 1e-6);
        CHECK_INT(rb_solve(&T.problem, &opts, r, &info), RB_OK);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK(fastest_approach(r) <= opts.closing);
    }
}

TEST(less_accuracy_takes_fewer_factorisations)
{
    int fine = 0, coarse = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double r[ROWS] = { 0.0 };
        make_known(seed, 0.5);
        fine += solve(1e-6, 0, r).factorisations;
        memset(r, 0, sizeof r);
        coarse += solve(1e-3, 0, r).factorisations;
    }
    CHECK(coarse < fine);
}

/* A guess that will do is taken as it is. */
TEST(an_answer_as_a_guess_costs_nothing)
{
    make_known(3, 0.5);
    double r[ROWS];
    memcpy(r, T.r, sizeof r);
    rb_info info = solve(1e-6, 1, r);
    CHECK_INT(info.outcome, RB_SOLVED);
    CHECK_INT(info.factorisations, 0);
    for (int i = 0; i < ROWS; i++) CHECK_NEAR(r[i], T.r[i], 1e-12);
}

/* One that is worse than none is left: the way is that from nothing, but for contacts that are left
 * out at first. */
TEST(a_bad_guess_costs_little_more_than_none)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        double cold[ROWS] = { 0.0 }, r[ROWS];
        make_known(seed, 0.5);
        for (int i = 0; i < ROWS; i++) r[i] = 1e3 * T.r[i];
        int none = solve(1e-6, 0, cold).factorisations;
        rb_info info = solve(1e-6, 1, r);
        CHECK_INT(info.outcome, RB_SOLVED);
        CHECK(info.factorisations <= 2 * none);
    }
}

/* Without friction velocities are unique: they do not depend on the order of the contacts, though
 * impulses do. */
TEST(velocities_do_not_depend_on_the_order)
{
    static double q[ROWS], u[ROWS], other[ROWS], r[ROWS];
    int order[CONTACTS];
    make_known(5, 0.0);
    memcpy(q, T.q, sizeof q);
    memset(r, 0, sizeof r);
    CHECK_INT(solve(1e-7, 0, r).outcome, RB_SOLVED);
    CHECK_INT(rb_problem_apply(&T.problem, r, NULL, u), RB_OK);
    for (int c = 0; c < CONTACTS; c++) order[c] = (c * 77 + 13) % CONTACTS;
    make_rows(order);
    for (int c = 0; c < CONTACTS; c++)
        for (int k = 0; k < 3; k++) T.q[3 * c + k] = q[3 * order[c] + k];
    memset(r, 0, sizeof r);
    CHECK_INT(solve(1e-7, 0, r).outcome, RB_SOLVED);
    CHECK_INT(rb_problem_apply(&T.problem, r, NULL, other), RB_OK);
    for (int c = 0; c < CONTACTS; c++)
        for (int k = 0; k < 3; k++) CHECK_NEAR(other[3 * c + k], u[3 * order[c] + k], 2e-5);
}

/* All corners of a face are asked to rise by the same, but one: no motion of a rigid box does that
 * and none is refused. Whoever takes less gets an end within the bound. */
TEST(work_is_bounded_where_less_will_do)
{
    double r[ROWS] = { 0.0 };
    make_known(7, 0.6);
    for (int c = 0; c < CONTACTS; c += EACH) T.q[3 * c] -= 3.0;
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    opts.tol = 1e-7;
    opts.loose = 1e-3;
    opts.unique = 0;
    CHECK_INT(rb_solve(&T.problem, &opts, r, &info), RB_OK);
    CHECK(info.factorisations <= MOST_FACTORS);
    CHECK(info.outcome == RB_SOLVED || info.loose == 1 || info.cert.relative > 1e-3);
}

TEST_MAIN(RUN(problems_with_a_known_answer), RUN(less_accuracy_takes_fewer_factorisations),
          RUN(an_answer_as_a_guess_costs_nothing), RUN(a_bad_guess_costs_little_more_than_none),
          RUN(velocities_do_not_depend_on_the_order), RUN(work_is_bounded_where_less_will_do),
          RUN(coarse_answers_close_no_faster_than_asked))
