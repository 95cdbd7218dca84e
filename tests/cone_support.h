/* What the tests of the cone solvers share: every family and form through one solver, with known
 * failures by name; and twins of a problem (turned, mirrored, scaled, reordered) whose answers must
 * follow. */
#ifndef RB_TEST_CONE_SUPPORT_H
#define RB_TEST_CONE_SUPPORT_H

#include "corpus_support.h"

/* ---- the matrix --------------------------------------------------------------------------------
 */

/* "pile-cone:000004" stands for the problem in its dense, block sparse and operator forms; the end
 * of the list is NULL. */
typedef struct cone_known {
    const char *problem;
    const char *reason;
} cone_known;

static inline int cone_is_known(const cone_known *known, const char *problem)
{
    char name[64];
    const char *form = strstr(problem, "-cone-"), *seed = strchr(problem, ':');
    int planar = form && strncmp(form, "-cone-2d", 8) == 0;
    int head = form && !planar ? (int)(form - problem) + 5 : (int)(seed - problem);
    snprintf(name, sizeof name, "%.*s%s", head, problem, seed);
    for (; known->problem; known++) {
        if (strcmp(known->problem, name) == 0) return 1;
    }
    return 0;
}

/* Solves `seeds` problems of every family and form, 1 to 16 contacts. A failure that is not on the
 * list fails the test, and so does a success that is. */
static inline void cone_check_matrix(const rb_solve_opts *opts, const cone_known *known,
                                     uint64_t seeds)
{
    int wrong = 0;
    for (int family = 0; family < RB_CORPUS_FAMILIES; family++) {
        for (int form = RB_CORPUS_CONE; form <= RB_CORPUS_CONE_2D; form++) {
            for (uint64_t seed = 1; seed <= seeds; seed++) {
                TEST_SEED(seed);
                rb_corpus_problem p = support_make(seed, family, form, 1 + (int)(seed * 7 % 16));
                double r[SUPPORT_ROWS] = { 0.0 };
                rb_info info = support_solve(&p.problem, opts, r, NULL);
                int expected = cone_is_known(known, p.name) ? RB_FAILED : RB_SOLVED;
                if ((int)info.outcome != expected) {
                    print_error("%s, %d contacts: %s %.3g\n", p.name, p.nc,
                                expected == RB_FAILED ? "a surprise success" : "failed at",
                                info.cert.relative);
                    wrong++;
                }
                rb_corpus_free(&p);
            }
        }
    }
    CHECK_INT(wrong, 0);
}

/* ---- twins -------------------------------------------------------------------------------------
 */

enum { CONE_TWIN_CONTACTS = 16, CONE_TWIN_ROWS = 3 * CONE_TWIN_CONTACTS };

/* Contact d of the twin is contact order[d] of the original; its frame is turned about the normal
 * by (cos, sin), t2 reversed where mirror = -1; W and q are multiplied. */
typedef struct cone_twin {
    rb_problem problem;
    double W[CONE_TWIN_ROWS * CONE_TWIN_ROWS], q[CONE_TWIN_ROWS], mu[CONE_TWIN_CONTACTS];
    int order[CONE_TWIN_CONTACTS];
    double R[9]; /* components in the original frame -> in the twin's */
    double W_times, q_times;
} cone_twin;

typedef enum cone_symmetry {
    CONE_TURN = 0,
    CONE_MIRROR,
    CONE_MASS, /* bodies 1024 times as heavy         */
    CONE_TIME, /* all velocities 8 times as large    */
    CONE_REORDER,
    CONE_SYMMETRIES
} cone_symmetry;

static inline const char *cone_symmetry_name(int symmetry)
{
    static const char *const names[] = { "turn", "mirror", "mass", "time", "reorder" };
    return names[symmetry];
}

static inline void cone_twin_fill(const rb_corpus_problem *p, cone_twin *t)
{
    int nc = p->nc, n = 3 * nc;
    for (int row = 0; row < n; row++) {
        int c = t->order[row / 3];
        const double *R_i = t->R + row % 3 * 3;
        t->q[row] = 0.0;
        for (int k = 0; k < 3; k++) t->q[row] += t->q_times * R_i[k] * p->problem.q[3 * c + k];
        for (int col = 0; col < n; col++) {
            int d = t->order[col / 3];
            const double *R_j = t->R + col % 3 * 3;
            double sum = 0.0;
            for (int k = 0; k < 3; k++) {
                for (int l = 0; l < 3; l++) {
                    sum += R_i[k] * p->W[(3 * c + k) * n + 3 * d + l] * R_j[l];
                }
            }
            t->W[row * n + col] = t->W_times * sum;
        }
    }
    for (int c = 0; c < nc; c++) t->mu[c] = p->mu[t->order[c]];
    t->problem = (rb_problem){ .kind = RB_CONE, .n = n, .q = t->q, .nc = nc, .dim = 3 };
    t->problem.mu = t->mu;
    t->problem.W.dense = t->W;
}

/* p: form RB_CORPUS_CONE, at most CONE_TWIN_CONTACTS contacts. */
static inline void cone_twin_make(const rb_corpus_problem *p, cone_symmetry symmetry, cone_twin *t)
{
    double c = symmetry == CONE_TURN ? 0.8 : 1.0, s = symmetry == CONE_TURN ? 0.6 : 0.0;
    double mirror = symmetry == CONE_MIRROR ? -1.0 : 1.0;
    const double R[9] = { 1.0, 0.0, 0.0, 0.0, c, -s, 0.0, mirror * s, mirror * c };
    CHECK(p->nc <= CONE_TWIN_CONTACTS);
    memcpy(t->R, R, sizeof R);
    t->W_times = symmetry == CONE_MASS ? 1.0 / 1024.0 : 1.0;
    t->q_times = symmetry == CONE_TIME ? 8.0 : 1.0;
    rb_rng rng = rb_rng_make(p->seed);
    for (int i = 0; i < p->nc; i++) t->order[i] = i;
    for (int i = p->nc - 1; symmetry == CONE_REORDER && i > 0; i--) {
        int j = (int)(rb_rng_next(&rng) % (unsigned)(i + 1)), held = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = held;
    }
    cone_twin_fill(p, t);
}

/* Velocities of the twin's answer in the frames, order and units of the original. */
static inline void cone_twin_velocity(const cone_twin *t, const double *r, double *u)
{
    double v[CONE_TWIN_ROWS];
    CHECK_INT(rb_problem_apply(&t->problem, r, NULL, v), RB_OK);
    for (int i = 0; i < t->problem.n; i++) v[i] = (v[i] + t->q[i]) / t->q_times;
    for (int d = 0; d < t->problem.nc; d++) {
        for (int k = 0; k < 3; k++) {
            double sum = 0.0;
            for (int i = 0; i < 3; i++) sum += t->R[i * 3 + k] * v[3 * d + i];
            u[3 * t->order[d] + k] = sum;
        }
    }
}

/* Solves p and its twin; the largest difference of their velocities over the speed of the problem,
 * INFINITY where one of them is not solved. */
static inline double cone_twin_apart(const rb_corpus_problem *p, cone_symmetry symmetry,
                                     const rb_solve_opts *opts)
{
    static cone_twin twin;
    double r[CONE_TWIN_ROWS] = { 0.0 }, r_twin[CONE_TWIN_ROWS] = { 0.0 };
    double u[CONE_TWIN_ROWS], u_twin[CONE_TWIN_ROWS];
    cone_twin_make(p, symmetry, &twin);
    rb_info info = support_solve(&p->problem, opts, r, NULL);
    rb_info other = support_solve(&twin.problem, opts, r_twin, NULL);
    if (info.outcome != RB_SOLVED || other.outcome != RB_SOLVED) return INFINITY;
    CHECK_INT(rb_problem_apply(&p->problem, r, NULL, u), RB_OK);
    for (int i = 0; i < p->problem.n; i++) u[i] += p->problem.q[i];
    cone_twin_velocity(&twin, r_twin, u_twin);
    return support_apart(u, u_twin, p->problem.n) / rb_corpus_speed(p);
}

/* Every symmetry on `seeds` piles of up to `contacts` contacts: velocities follow up to tol of the
 * speed. A known failure must fail in every disguise. */
static inline void cone_check_symmetries(const rb_solve_opts *opts, const cone_known *known,
                                         int contacts, uint64_t seeds, double tol)
{
    int wrong = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        TEST_SEED(seed);
        rb_corpus_problem p = support_make(seed, RB_CORPUS_PILE, RB_CORPUS_CONE,
                                           1 + (int)(seed % (uint64_t)contacts));
        for (int symmetry = 0; symmetry < CONE_SYMMETRIES; symmetry++) {
            double apart = cone_twin_apart(&p, (cone_symmetry)symmetry, opts);
            if (cone_is_known(known, p.name) ? apart == INFINITY : apart <= tol) continue;
            print_error("%s, %d contacts, %s: %.3g apart\n", p.name, p.nc,
                        cone_symmetry_name(symmetry), apart);
            wrong++;
        }
        rb_corpus_free(&p);
    }
    CHECK_INT(wrong, 0);
}

#endif
