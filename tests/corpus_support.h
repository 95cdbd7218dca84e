/* What the tests of solvers share: seeded problems, one call to solve them, and the velocities and
 * modes of a cone answer checked from outside. */
#ifndef RB_TEST_CORPUS_SUPPORT_H
#define RB_TEST_CORPUS_SUPPORT_H

#include "test.h"

#include "corpus.h"
#include "rattleback/solve.h"

/* Rows of 64 contacts with 8 directions and joints. */
enum { SUPPORT_ROWS = 1200 };

/* The customary tolerance of cones [1]. */
#define SUPPORT_CONE_TOL 1e-8

static inline rb_corpus_problem support_make(uint64_t seed, int family, int form, int contacts)
{
    rb_corpus_opts opts = rb_corpus_opts_default();
    rb_corpus_problem p;
    opts.family = family;
    opts.form = form;
    opts.contacts = contacts;
    CHECK_INT(rb_corpus_make(seed, &opts, &p), RB_OK);
    CHECK(p.problem.n <= SUPPORT_ROWS);
    return p;
}

static inline rb_solve_opts support_opts(const char *solver)
{
    rb_solve_opts opts = rb_solve_opts_default();
    opts.solver = rb_solver_find(solver);
    CHECK(opts.solver != NULL);
    opts.tol = SUPPORT_CONE_TOL;
    return opts;
}

/* Cold unless opts say otherwise; the reported certificate must be the one of the answer. */
static inline rb_info support_solve(const rb_problem *p, const rb_solve_opts *opts, double *z,
                                    unsigned char *mode)
{
    rb_info info = { .mode = mode };
    rb_certificate cert;
    CHECK_INT(rb_solve(p, opts, z, &info), RB_OK);
    CHECK_INT(rb_residual(p, z, NULL, &cert), RB_OK);
    CHECK(memcmp(&cert, &info.cert, sizeof cert) == 0);
    CHECK((info.outcome == RB_SOLVED) == (cert.relative <= opts->tol));
    return info;
}

/* Largest difference of two vectors. */
static inline double support_apart(const double *a, const double *b, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* |x_t| of a contact. */
static inline double support_tangent(const double *x, int dim)
{
    return dim == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
}

#endif
