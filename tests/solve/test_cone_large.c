/* Five thousand contacts: a block of touching spheres on the floor, W as an operator. Built here
 * from bodies and contacts; the velocities are checked through the bodies as well. */
#include "test.h"

#include <time.h>

#include "rattleback/solve.h"

enum { MOST_BODIES = 2000, MOST_CONTACTS = 5200 };

/* Radius [m], mass [kg], step [s], gravity [m/s^2], friction [1]. */
#define RADIUS   0.05
#define MASS     0.5
#define STEP     1e-3
#define GRAVITY  9.81
#define FRICTION 0.4

/* Memory that the solve may hold [bytes]: a dense W of 5,000 contacts alone would be 1.8e9. */
#define MOST_BYTES ((size_t)300 << 20)

/* Processor time that it may take [s]: some ten times what it takes, for slow machines. */
#define MOST_SECONDS 200.0

typedef struct spheres {
    int nbody, nc, nnz;
    int jptr[3 * MOST_CONTACTS + 1], jcol[36 * MOST_CONTACTS], start[MOST_BODIES + 1];
    double jval[36 * MOST_CONTACTS], minv[36 * MOST_BODIES];
    double v[6 * MOST_BODIES]; /* free velocity: linear, angular [m/s, 1/s] */
    double q[3 * MOST_CONTACTS], mu[MOST_CONTACTS];
    rb_operator op;
    rb_problem problem;
} spheres;

static spheres S;
static double r[3 * MOST_CONTACTS];

/* Velocity of a point at `arm` from the centre along d: d . v + (arm x d) . w. */
static void add_side(int body, const double *d, const double *arm, double sign)
{
    const double turn[3] = { arm[1] * d[2] - arm[2] * d[1], arm[2] * d[0] - arm[0] * d[2],
                             arm[0] * d[1] - arm[1] * d[0] };
    for (int k = 0; k < 6; k++) {
        double entry = sign * (k < 3 ? d[k] : turn[k - 3]);
        if (entry == 0.0) continue;
        S.jcol[S.nnz] = 6 * body + k;
        S.jval[S.nnz++] = entry;
    }
}

/* From body a (-1: the floor) to body b > a along axis. */
static void add_contact(int a, int b, int axis)
{
    for (int row = 0; row < 3; row++) {
        double d[3] = { 0.0 }, arm[3] = { 0.0 };
        d[(axis + row) % 3] = 1.0;
        S.jptr[3 * S.nc + row] = S.nnz;
        arm[axis] = RADIUS;
        if (a >= 0) add_side(a, d, arm, -1.0);
        arm[axis] = -RADIUS;
        add_side(b, d, arm, 1.0);
    }
    S.mu[S.nc++] = FRICTION;
}

/* Sphere (x, y, z) of a block of side x side spheres in each layer whose first sphere is `first`.
 */
static int body_at(int first, int side, int x, int y, int z)
{
    return first + (z * side + y) * side + x;
}

static void add_block(int first, int side, int layers)
{
    for (int z = 0; z < layers; z++) {
        for (int y = 0; y < side; y++) {
            for (int x = 0; x < side; x++) {
                int b = body_at(first, side, x, y, z);
                add_contact(z > 0 ? body_at(first, side, x, y, z - 1) : -1, b, 2);
                if (y > 0) add_contact(body_at(first, side, x, y - 1, z), b, 1);
                if (x > 0) add_contact(body_at(first, side, x - 1, y, z), b, 0);
            }
        }
    }
}

/* All spheres move at random, up to 5 cm/s, and fall for one step. */
static void add_bodies(int count, uint64_t seed)
{
    rb_rng rng = rb_rng_make(seed);
    const double inertia = 0.4 * MASS * RADIUS * RADIUS;
    S.nbody = count;
    for (int b = 0; b < count; b++) {
        S.start[b] = 6 * b;
        for (int k = 0; k < 6; k++) {
            S.minv[36 * b + 7 * k] = k < 3 ? 1.0 / MASS : 1.0 / inertia;
            double size = k < 3 ? 0.05 : 1.0;
            S.v[6 * b + k] = rb_rng_uniform(&rng, -size, size);
        }
        S.v[6 * b + 2] -= GRAVITY * STEP;
    }
    S.start[count] = 6 * count;
}

static void make_blocks(int blocks, int side, int layers, uint64_t seed)
{
    int each = side * side * layers;
    CHECK(blocks * each <= MOST_BODIES);
    CHECK(blocks * (3 * each - 2 * side * layers) <= MOST_CONTACTS);
    memset(&S, 0, sizeof S);
    add_bodies(blocks * each, seed);
    for (int b = 0; b < blocks; b++) add_block(b * each, side, layers);
    S.jptr[3 * S.nc] = S.nnz;
    for (int i = 0; i < 3 * S.nc; i++) {
        for (int e = S.jptr[i]; e < S.jptr[i + 1]; e++) S.q[i] += S.jval[e] * S.v[S.jcol[e]];
    }
    S.op = (rb_operator){ 6 * S.nbody, S.jptr, S.jcol, S.jval, S.nbody, S.start, S.minv };
    S.problem = (rb_problem){ .kind = RB_CONE, .n = 3 * S.nc, .nc = S.nc, .dim = 3 };
    S.problem.q = S.q;
    S.problem.mu = S.mu;
    S.problem.W = (rb_matrix){ .form = RB_OPERATOR, .op = &S.op };
}

/* v := v + Minv J' r, then u = J v: what the bodies do. */
static void check_motion(void)
{
    static double v[6 * MOST_BODIES];
    memcpy(v, S.v, sizeof v);
    for (int i = 0; i < S.problem.n; i++) {
        for (int e = S.jptr[i]; e < S.jptr[i + 1]; e++) {
            int dof = S.jcol[e];
            v[dof] += S.minv[36 * (dof / 6) + 7 * (dof % 6)] * S.jval[e] * r[i];
        }
    }
    int slides = 0, open = 0;
    for (int c = 0; c < S.nc; c++) {
        double u[3] = { 0.0 };
        for (int k = 0; k < 3; k++) {
            for (int e = S.jptr[3 * c + k]; e < S.jptr[3 * c + k + 1]; e++) {
                u[k] += S.jval[e] * v[S.jcol[e]];
            }
        }
        CHECK(u[0] >= -1e-7);
        CHECK(r[3 * c] >= -1e-12);
        double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
        double friction = sqrt(r[3 * c + 1] * r[3 * c + 1] + r[3 * c + 2] * r[3 * c + 2]);
        CHECK(friction <= FRICTION * r[3 * c] + 1e-9);
        slides += slip > 1e-6 && r[3 * c] > 1e-9;
        open += r[3 * c] <= 1e-12;
    }
    CHECK(slides > 100 && open > 100); /* the problem is not one of sticking only */
}

static void check_solved(int islands)
{
    rb_error err = { 0 };
    CHECK_INT(rb_problem_check(&S.problem, &err), RB_OK);
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    opts.tol = 1e-8;
    opts.unique = 0;
    opts.arena = rb_arena_new(NULL, 0);
    CHECK(opts.arena != NULL);
    memset(r, 0, sizeof r);
    clock_t begin = clock();
    CHECK_INT(rb_solve(&S.problem, &opts, r, &info), RB_OK);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    size_t bytes = rb_arena_bytes(opts.arena);
    rb_arena_free(opts.arena);
    printf("%d contacts: %s, residual %.2g, %.2f s, %.0f MB\n", S.nc, info.path, info.cert.relative,
           seconds, (double)bytes * 1e-6);
    CHECK_INT(info.outcome, RB_SOLVED);
    CHECK(info.cert.relative <= 1e-8);
    CHECK_INT(info.islands, islands);
    CHECK(bytes <= MOST_BYTES);
    CHECK(seconds <= MOST_SECONDS);
    check_motion();
}

/* Sixteen cubes of 325 contacts side by side. */
TEST(five_thousand_contacts_in_islands)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    make_blocks(16, 5, 5, 1);
    CHECK_INT(S.nc, 5200);
    check_solved(16);
}

/* One cube of 7 x 7 x 7. */
TEST(a_thousand_contacts_in_one_island)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    make_blocks(1, 7, 7, 1);
    CHECK_INT(S.nc, 931);
    check_solved(1);
}

/* Eighteen layers of ten by ten, all connected. */
TEST(five_thousand_contacts_in_one_island)
{
#ifdef RB_SANITIZED
    SKIP("too long under the sanitizers");
#endif
    make_blocks(1, 10, 18, 1);
    CHECK_INT(S.nc, 5040);
    check_solved(1);
}

/* Work and answer of the same problem at another tolerance. */
static rb_info solve_at(double tol)
{
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    opts.tol = tol;
    opts.unique = 0;
    memset(r, 0, sizeof r);
    CHECK_INT(rb_solve(&S.problem, &opts, r, &info), RB_OK);
    CHECK_INT(info.outcome, RB_SOLVED);
    CHECK(info.cert.relative <= tol);
    return info;
}

/* Bodies are kept apart as by a strict answer; what is off is friction. */
TEST(a_looser_tolerance_costs_less_and_keeps_bodies_apart)
{
    static double u[3 * MOST_CONTACTS];
    make_blocks(1, 7, 7, 1);
    rb_info strict = solve_at(1e-8), loose = solve_at(1e-2);
    CHECK(loose.cert.relative > 1e-5);
    CHECK(2 * loose.iterations < strict.iterations);
    CHECK(strict.factorisations > 0 && loose.factorisations == 0);
    CHECK_INT(rb_problem_apply(&S.problem, r, NULL, u), RB_OK);
    for (int c = 0; c < S.nc; c++) {
        CHECK(r[3 * c] >= 0.0);
        CHECK(u[3 * c] + S.q[3 * c] >= -1e-9);
    }
}

TEST_MAIN(RUN(five_thousand_contacts_in_islands), RUN(a_thousand_contacts_in_one_island),
          RUN(five_thousand_contacts_in_one_island),
          RUN(a_looser_tolerance_costs_less_and_keeps_bodies_apart))
