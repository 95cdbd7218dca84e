/* Families of small LCPs and boxed problems with what is known about them, and a grader of their
 * own. Used by the tests of the pivoting solvers. */
#ifndef RB_TEST_LCP_CASES_H
#define RB_TEST_LCP_CASES_H

#include "test.h"

#include "rattleback/solve.h"

enum { CASE_MAX = 40 };

typedef struct lcp_case {
    char name[48];
    int n, kind;
    int known; /* z is a solution; unique = 1: the only one */
    int unique;
    double W[CASE_MAX * CASE_MAX], q[CASE_MAX], lo[CASE_MAX], hi[CASE_MAX], z[CASE_MAX];
    double farkas[CASE_MAX]; /* of an infeasible case */
} lcp_case;

static inline rb_problem case_problem(const lcp_case *c)
{
    rb_problem p = { .kind = (unsigned)c->kind, .n = c->n, .q = c->q };
    p.W.form = RB_DENSE;
    p.W.dense = c->W;
    if (c->kind == RB_BOX) {
        p.lo = c->lo;
        p.hi = c->hi;
    }
    return p;
}

static inline void case_begin(lcp_case *c, const char *family, uint64_t seed, int n)
{
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s-%d-%d", family, n, (int)seed);
    c->n = n;
    c->kind = RB_LCP;
    for (int i = 0; i < n; i++) c->hi[i] = INFINITY;
}

/* W = A A' / n + shift I with A n x rank. */
static inline void case_gram(lcp_case *c, rb_rng *rng, int rank, double shift)
{
    double A[CASE_MAX][CASE_MAX];
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < rank; k++) A[i][k] = rb_rng_normal(rng);
    }
    for (int i = 0; i < c->n; i++) {
        for (int j = 0; j < c->n; j++) {
            double sum = i == j ? shift : 0.0;
            for (int k = 0; k < rank; k++) sum += A[i][k] * A[j][k] / c->n;
            c->W[i * c->n + j] = sum;
        }
    }
}

/* Picks complementary z and w within the bounds and derives q = w - W z. */
static inline void case_certificate(lcp_case *c, rb_rng *rng)
{
    double w[CASE_MAX];
    for (int i = 0; i < c->n; i++) {
        int lower = c->lo[i] > -INFINITY, upper = c->hi[i] < INFINITY;
        double pick = rb_rng_uniform(rng, 0.0, 1.0), size = rb_rng_uniform(rng, 0.1, 1.0);
        w[i] = 0.0;
        if (lower && pick < 0.4) {
            c->z[i] = c->lo[i];
            w[i] = size;
        } else if (upper && pick > 0.7) {
            c->z[i] = c->hi[i];
            w[i] = -size;
        } else if (lower && upper) {
            c->z[i] = c->lo[i] + size * 0.9 * (c->hi[i] - c->lo[i]);
        } else {
            c->z[i] = lower ? c->lo[i] + size : upper ? c->hi[i] - size : size - 0.5;
        }
    }
    for (int i = 0; i < c->n; i++) {
        c->q[i] = w[i];
        for (int j = 0; j < c->n; j++) c->q[i] -= c->W[i * c->n + j] * c->z[j];
    }
    c->known = 1;
}

/* Symmetric positive definite. */
static inline void case_posdef(lcp_case *c, uint64_t seed, int n)
{
    rb_rng rng = rb_rng_make(seed);
    case_begin(c, "posdef", seed, n);
    case_gram(c, &rng, n, 0.1);
    case_certificate(c, &rng);
    c->unique = 1;
}

/* Positive definite plus a skew part: a P-matrix that is not symmetric. */
static inline void case_skewed(lcp_case *c, uint64_t seed, int n)
{
    rb_rng rng = rb_rng_make(seed);
    case_begin(c, "skewed", seed, n);
    case_gram(c, &rng, n, 0.2);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double a = 0.3 * rb_rng_normal(&rng);
            c->W[i * n + j] += a;
            c->W[j * n + i] -= a;
        }
    }
    case_certificate(c, &rng);
    c->unique = 1;
}

/* Positive semidefinite of half rank, solvable, z not unique. */
static inline void case_semidefinite(lcp_case *c, uint64_t seed, int n)
{
    rb_rng rng = rb_rng_make(seed);
    case_begin(c, "semidefinite", seed, n);
    case_gram(c, &rng, (n + 1) / 2, 0.0);
    case_certificate(c, &rng);
}

/* Two finite bounds on every third row, upper only on every seventh. */
static inline void case_box(lcp_case *c, uint64_t seed, int n)
{
    rb_rng rng = rb_rng_make(seed);
    case_begin(c, "box", seed, n);
    c->kind = RB_BOX;
    for (int i = 0; i < n; i++) {
        c->lo[i] = rb_rng_uniform(&rng, -1.0, 0.5);
        if (i % 3 == 0) c->hi[i] = c->lo[i] + rb_rng_uniform(&rng, 0.1, 1.0);
        if (i % 7 == 5) {
            c->hi[i] = c->lo[i];
            c->lo[i] = -INFINITY;
        }
    }
    case_gram(c, &rng, n, 0.1);
    case_certificate(c, &rng);
    c->unique = 1;
}

/* The first third of the rows are equalities with free variables. */
static inline void case_mixed(lcp_case *c, uint64_t seed, int n)
{
    rb_rng rng = rb_rng_make(seed);
    case_begin(c, "mixed", seed, n);
    c->kind = RB_BOX;
    for (int i = 0; i < n / 3; i++) c->lo[i] = -INFINITY;
    case_gram(c, &rng, n, 0.1);
    case_certificate(c, &rng);
    c->unique = 1;
}

/* Murty's example: unit lower triangular with twos below, q = -1. Single exchanges from the last
 * index down visit all 2^n bases. */
static inline void case_murty(lcp_case *c, int n)
{
    case_begin(c, "murty", 0, n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) c->W[i * n + j] = i == j ? 1.0 : 2.0;
        c->q[i] = -1.0;
    }
    c->z[0] = 1.0;
    c->known = c->unique = 1;
}

/* Fathi's example: the product of Murty's matrix with its transpose. */
static inline void case_fathi(lcp_case *c, int n)
{
    lcp_case m;
    case_murty(&m, n);
    case_begin(c, "fathi", 0, n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) c->W[i * n + j] += m.W[i * n + k] * m.W[j * n + k];
        }
        c->q[i] = -1.0;
    }
    c->z[0] = 1.0;
    c->known = c->unique = 1;
}

/* Kostreva's 3 x 3 P-matrix on which block exchanges cycle; z = (1, 1, 1) / 3. */
static inline void case_kostreva(lcp_case *c)
{
    static const double W[9] = { 1, 2, 0, 0, 1, 2, 2, 0, 1 };
    case_begin(c, "kostreva", 0, 3);
    memcpy(c->W, W, sizeof W);
    for (int i = 0; i < 3; i++) {
        c->q[i] = -1.0;
        c->z[i] = 1.0 / 3.0;
    }
    c->known = c->unique = 1;
}

/* Semidefinite and infeasible: y >= 0 with W y = 0 and q.y < 0, so that y.w = q.y < 0 for every z.
 */
static inline void case_infeasible(lcp_case *c, uint64_t seed, int n)
{
    rb_rng rng = rb_rng_make(seed);
    case_begin(c, "infeasible", seed, n);
    double y_square = 0.0, A[CASE_MAX][CASE_MAX], q_y = 0.0;
    for (int i = 0; i < n; i++) {
        c->farkas[i] = i % 3 == 2 ? 0.0 : rb_rng_uniform(&rng, 0.2, 1.0);
        y_square += c->farkas[i] * c->farkas[i];
    }

    /* rows of A orthogonal to y; W = A' A */
    for (int k = 0; k < n; k++) {
        double along = 0.0;
        for (int i = 0; i < n; i++) {
            A[k][i] = rb_rng_normal(&rng);
            along += A[k][i] * c->farkas[i] / y_square;
        }
        for (int i = 0; i < n; i++) A[k][i] -= along * c->farkas[i];
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) c->W[i * n + j] += A[k][i] * A[k][j] / n;
        }
        c->q[i] = rb_rng_normal(&rng);
        q_y += c->q[i] * c->farkas[i];
    }
    for (int i = 0; i < n; i++) c->q[i] -= (q_y + 1.0) * c->farkas[i] / y_square;
}

/* The relative natural residual of solve.h, in extended precision. */
static inline double case_grade(const lcp_case *c, const double *z)
{
    long double worst = 0.0L, z_max = 1.0L, q_max = 1.0L, w_max = 0.0L;
    for (int i = 0; i < c->n; i++) {
        long double w = c->q[i];
        for (int j = 0; j < c->n; j++) {
            w += (long double)c->W[i * c->n + j] * z[j];
            w_max = fmaxl(w_max, fabsl((long double)c->W[i * c->n + j]));
        }
        long double a = z[i] - (long double)c->lo[i], b = z[i] - (long double)c->hi[i];
        long double mid = fmaxl(fminl(a, w), fminl(fmaxl(a, w), b));
        if (!(fabsl(mid) < INFINITY)) return INFINITY;
        worst = fmaxl(worst, fabsl(mid));
        z_max = fmaxl(z_max, fabsl((long double)z[i]));
        q_max = fmaxl(q_max, fabsl((long double)c->q[i]));
    }
    return (double)(worst / fmaxl(q_max, w_max * z_max));
}

/* Solves cold with the named solver, unique answers off; z and *info are written. The reported
 * certificate must be the recomputed one, and "solved" must be true. */
static inline rb_outcome case_solve(const lcp_case *c, const char *solver, double *z, rb_info *info)
{
    rb_problem p = case_problem(c);
    rb_solve_opts o = rb_solve_opts_default();
    o.solver = rb_solver_find(solver);
    o.unique = 0;
    CHECK(o.solver != NULL);
    CHECK_INT(rb_solve(&p, &o, z, info), RB_OK);
    double grade = case_grade(c, z);
    CHECK_NEAR(info->cert.relative, grade, 1e-13 * (1.0 + grade));
    CHECK_INT(info->outcome == RB_SOLVED, grade <= o.tol);
    return info->outcome;
}

/* The same, and the answer must be there; where it is known to be unique it must be that one. */
static inline void case_must_solve(const lcp_case *c, const char *solver)
{
    double z[CASE_MAX];
    rb_info info = { 0 };
    if (case_solve(c, solver, z, &info) != RB_SOLVED) {
        test_fail(__FILE__, __LINE__, "%s does not solve %s: %s", solver, c->name, info.path);
    }
    for (int i = 0; i < c->n && c->unique; i++) CHECK_NEAR(z[i], c->z[i], 1e-8);
}

/* Every allocation of a solve is refused in turn: RB_NOMEM, nothing leaked, no crash. */
static inline void case_starve(const lcp_case *c, const char *solver, int warm)
{
    rb_problem p = case_problem(c);
    for (long k = 1;; k++) {
        test_memory memory = { .fail_at = k };
        rb_alloc alloc = test_alloc(&memory);
        rb_solve_opts o = rb_solve_opts_default();
        rb_info info = { 0 };
        double z[CASE_MAX] = { 0 };
        o.solver = rb_solver_find(solver);
        o.alloc = &alloc;
        o.warm = warm;
        rb_status status = rb_solve(&p, &o, z, &info);
        CHECK_INT(memory.live, 0);
        if (memory.requests < k) {
            CHECK_INT(status, RB_OK);
            CHECK(k > 2);
            return;
        }
        CHECK_INT(status, RB_NOMEM);
    }
}

#endif
