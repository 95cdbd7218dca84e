/* One timed call of either library. Problems are set up outside the timed part, which favours
 * Siconos: its matrices are ready when the clock starts. */
#include "harness.h"

#include <siconos/numerics/CSparseMatrix.h>
#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/SparseBlockMatrix.h>
#include <siconos/numerics/lcp_cst.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void ours_solve(void *ctx, double *z, double *us)
{
    ours *o = ctx;
    rb_info info = { .mode = o->mode };
    size_t n = (size_t)o->problem->n;
    memset(o->mode, 0, n);
    if (o->start) {
        memcpy(z, o->start, n * sizeof *z);
        memcpy(o->mode, o->start_mode, n);
    }
    double start = trial_now_us();
    rb_status status = rb_solve(o->problem, &o->opts, z, &info);
    *us = trial_now_us() - start;
    if (status != RB_OK || info.outcome != RB_SOLVED) z[0] = NAN;
}

void siconos_lcp_solve(void *ctx, double *z, double *us)
{
    siconos_lcp *s = ctx;
    int n = s->problem->n;
    numerics_set_verbose(0);
    double *w = calloc((size_t)n, sizeof *w), *q = calloc((size_t)n, sizeof *q);
    double *M = malloc((size_t)n * (size_t)n * sizeof *M);
    memcpy(q, s->problem->q, (size_t)n * sizeof *q);
    memcpy(M, s->column_major, (size_t)n * (size_t)n * sizeof *M);
    LinearComplementarityProblem *lcp = newLCP();
    lcp->size = n;
    lcp->q = q;
    lcp->M = NM_create_from_data(NM_DENSE, n, n, M);
    SolverOptions *options =
        solver_options_create(s->pivot_code ? SICONOS_LCP_PIVOT : SICONOS_LCP_LEMKE);
    if (s->pivot_code)
        options->iparam[SICONOS_LCP_IPARAM_PIVOTING_METHOD_TYPE] = SICONOS_LCP_PIVOT_LEMKE;

    double start = trial_now_us();
    linearComplementarity_driver(lcp, z, w, options);
    *us = trial_now_us() - start;

    solver_options_delete(options);
    freeLinearComplementarityProblem(lcp);
    free(w);
}

/* Our dense W in the storage a Siconos solver likes. */
static NumericsMatrix *make_matrix(const siconos_friction *s)
{
    int n = s->problem->n;
    size_t N = (size_t)n;
    NumericsMatrix *A = NM_create(s->storage == NM_DENSE ? NM_DENSE : NM_SPARSE, n, n);
    if (s->storage == NM_DENSE) {
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) A->matrix0[j * N + i] = s->dense[i * N + j];
        return A;
    }
    CS_INT entries = 0;
    for (size_t k = 0; k < N * N; k++) entries += s->dense[k] != 0.0;
    NM_triplet_alloc(A, entries);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double entry = s->dense[(size_t)i * N + (size_t)j];
            if (entry != 0.0) NM_entry(A, i, j, entry);
        }
    if (s->storage == NM_SPARSE) return A;

    NumericsMatrix *blocks = NM_create(NM_SPARSE_BLOCK, n, n);
    SBM_from_csparse(s->problem->dim, NM_csc(A), blocks->matrix1);
    return blocks;
}

void siconos_friction_solve(void *ctx, double *r, double *us)
{
    siconos_friction *s = ctx;
    int n = s->problem->n, nc = s->problem->nc;
    numerics_set_verbose(0);
    double *u = calloc((size_t)n, sizeof *u), *q = calloc((size_t)n, sizeof *q);
    double *mu = calloc((size_t)nc, sizeof *mu);
    memcpy(q, s->problem->q, (size_t)n * sizeof *q);
    memcpy(mu, s->problem->mu, (size_t)nc * sizeof *mu);
    FrictionContactProblem *problem =
        frictionContactProblem_new_with_data(s->problem->dim, nc, make_matrix(s), q, mu);
    SolverOptions *options = solver_options_create(s->solver);
    options->dparam[SICONOS_DPARAM_TOL] = s->tol;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = s->max_iter;
    if (s->local) solver_options_update_internal(options, 0, s->local);

    double start = trial_now_us();
    if (s->problem->dim == 3)
        fc3d_driver(problem, r, u, options);
    else
        fc2d_driver(problem, r, u, options);
    *us = trial_now_us() - start;
}
