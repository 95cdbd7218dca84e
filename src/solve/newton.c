/* Nonsmooth Newton for Coulomb cones on the equations of Alart and Curnier (K.7), contact by
 * contact, in velocity units, with y = r - rho u and the mode read off y:
 *
 *     open   y_n <= 0             F = r / rho
 *     stick  |y_t| < mu y_n       F = u
 *     slide  otherwise            F_n = u_n,  F_t = (r_t - mu y_n y_t / |y_t|) / rho
 *
 * Newton's matrix A + B W (A, B block diagonal) is singular where contacts are redundant, so the
 * compliance eps I is added to W, either permanently (the caller wants the limit eps -> 0) or
 * around the iterate (proximal: it changes the path, not the solution). The coupling of friction to
 * the unknown normal impulse is in the matrix, which is therefore not symmetric.
 *
 * Globalisation: backtracking on sum |F_c|^2 with a short memory. Quadratic near a solution whose
 * modes are strict. */
#include "solve/newton.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/internal.h"
#include "solve/nsgs.h"

enum {
    DENSE_ROWS = 96,     /* up to here a dense LU of the active rows beats the sparse one */
    MEMORY = 4,          /* line search: accept below the largest of the last merits      */
    MAX_FILL = 40000000, /* blocks of L: 3 GB of 3 x 3 blocks                             */
    START_SWEEPS = 10,   /* Gauss-Seidel sweeps before the first step                     */
    DIRECT_STEPS = 25,   /* without path                                                  */
    PATH_STEPS = 40,     /* per compliance                                                */
    PATH_SWEEPS = 20,    /* where the path jumps                                          */
    PATH_TRIES = 80,     /* compliances tried in all                                      */
    POLISH_STEPS = 12,
    STALL = 12, /* steps that do not halve the merit                             */
    LEAPS = 4   /* whole steps against the merit                                 */
};

/* Merit, relative to the velocities at r: below GOAL there is nothing to gain, below ACCEPT the
 * problem with compliance is solved [1]. */
#define GOAL   1e-14
#define ACCEPT 1e-11

/* Raised tangential rho, at most, relative to that of the contact [1]: beyond, r_t and rho u_t no
 * longer share digits. */
#define BALANCE 1e10

/* Compliance is divided by this at first, by its root where that fails [1]. */
#define PATH_FACTOR 1e-2

/* ---- memory
 * -------------------------------------------------------------------------------------- */

rb_status rb_newton_make(const rb_cones *k, rb_arena *scratch, rb_newton *s)
{
    *s = (rb_newton){ .k = k, .sparse = k->n > DENSE_ROWS, .pivot_ratio = 1.0, .limit = INT_MAX };
    size_t n = (size_t)k->n, blocks = (size_t)k->nc * (size_t)(k->dim * k->dim);
    rb_status status = rb_bodies_make(k, scratch, &s->bodies);
    if (status != RB_OK) return status;
    if (!s->bodies) status = rb_thin_make(k, scratch, &s->thin);
    if (status != RB_OK) return status;
    if (s->thin) s->sparse = 0;
    if (s->sparse && !s->bodies) {
        status = rb_block_lu_analyse(&s->lu, k->nc, k->dim, k->W.ptr, k->W.col, MAX_FILL, scratch);
        if (status != RB_OK) return status;
    }
    size_t entries = s->sparse ? (size_t)k->W.ptr[k->nc] * (size_t)(k->dim * k->dim) : n * n;
    if (s->bodies) entries = 0;
    s->G = rb_push(scratch, double, entries);
    s->perm = rb_push(scratch, int, n);
    s->active = rb_push(scratch, int, k->nc);
    s->index = rb_push(scratch, int, k->nc);
    s->factored = rb_push(scratch, unsigned char, k->nc);
    s->u = rb_push(scratch, double, n);
    s->F = rb_push(scratch, double, n);
    s->dr = rb_push(scratch, double, n);
    s->trial = rb_push(scratch, double, n);
    s->work = rb_push(scratch, double, n);
    s->A = rb_push(scratch, double, blocks);
    s->B = rb_push(scratch, double, blocks);
    s->mode = rb_push(scratch, unsigned char, k->nc);
    s->center = rb_push(scratch, double, n);
    s->good = rb_push(scratch, double, n);
    s->least = rb_push(scratch, double, n);
    s->u_from = rb_push(scratch, double, n);
    s->u_to = rb_push(scratch, double, n);
    s->rho_t = rb_push(scratch, double, k->nc);
    s->eps = rb_push(scratch, double, k->nc);
    int ok = s->index && s->factored && s->eps && s->rho_t && s->least && s->center && s->good &&
             s->G && s->perm && s->active && s->u && s->F && s->dr && s->trial && s->work && s->A &&
             s->B && s->mode && s->u_from && s->u_to;
    if (!ok) return RB_NOMEM;
    memset(s->factored, RB_MODE_UNKNOWN, (size_t)k->nc);
    return RB_OK;
}

/* ---- equations
 * -------------------------------------------------------------------------------------- */

void rb_newton_compliance(rb_newton *s, rb_compliance kind, double eps)
{
    const rb_cones *k = s->k;
    for (int c = 0; c < k->nc; c++) {
        s->eps[c] = eps * (kind == RB_COMPLIANCE_UNIFORM ? k->mean : 1.0 / k->rho[c]);
    }
}

static void plain_velocity(const rb_newton *s, const double *r, double *u)
{
    if (s->thin)
        rb_thin_velocity(s->thin, s->k->q, r, u);
    else
        rb_cones_velocity(s->k, r, u);
}

static void velocity(const rb_newton *s, const double *center, const double *r, double *u)
{
    plain_velocity(s, r, u);
    for (int i = 0; i < s->k->n; i++) {
        u[i] += s->eps[i / s->k->dim] * (r[i] - (center ? center[i] : 0.0));
    }
}

/* F of one contact (K.7); returns its mode. */
static rb_mode contact_equations(const double *r, const double *u, double mu, double rho,
                                 double rho_t, int dim, double *F)
{
    double y[3] = { r[0] - rho * u[0] };
    for (int i = 1; i < dim; i++) y[i] = r[i] - rho * u[i];
    if (y[0] <= 0.0) {
        for (int i = 0; i < dim; i++) F[i] = r[i] / rho;
        return RB_MODE_OPEN;
    }
    double radius = mu * y[0];
    F[0] = u[0];
    if (rb_cone_tangent(y, dim) < radius) {
        for (int i = 1; i < dim; i++) F[i] = u[i];
        return RB_MODE_STICK;
    }
    for (int i = 1; i < dim; i++) y[i] = r[i] - rho_t * u[i];
    double t = rb_cone_tangent(y, dim);
    for (int i = 1; i < dim; i++) F[i] = (r[i] - (t > 0.0 ? radius * y[i] / t : 0.0)) / rho_t;
    return RB_MODE_SLIDE;
}

static double equations(const rb_newton *s, const double *r, const double *u, double *F)
{
    const rb_cones *k = s->k;
    double sum = 0.0;
    for (int c = 0; c < k->nc; c++) {
        ptrdiff_t at = (ptrdiff_t)c * k->dim;
        s->mode[c] = (unsigned char)contact_equations(r + at, u + at, k->mu[c], k->rho[c],
                                                      s->rho_t[c], k->dim, F + at);
        for (int i = 0; i < k->dim; i++) sum += F[at + i] * F[at + i];
    }
    return sum;
}

/* A = dF/dr, B = dF/du of one contact (K.8). */
static void contact_derivatives(const double *r, const double *u, double mu, double rho,
                                double rho_t, int dim, rb_mode mode, double *A, double *B)
{
    memset(A, 0, (size_t)(dim * dim) * sizeof *A);
    memset(B, 0, (size_t)(dim * dim) * sizeof *B);
    if (mode == RB_MODE_OPEN) {
        for (int i = 0; i < dim; i++) A[i * dim + i] = 1.0 / rho;
        return;
    }
    B[0] = 1.0;
    if (mode == RB_MODE_STICK) {
        for (int i = 1; i < dim; i++) B[i * dim + i] = 1.0;
        return;
    }
    double y[3] = { r[0] - rho * u[0] };
    for (int i = 1; i < dim; i++) y[i] = r[i] - rho_t * u[i];
    double t = rb_cone_tangent(y, dim);
    for (int i = 1; i < dim; i++) {
        double e_i = t > 0.0 ? y[i] / t : 0.0;
        for (int j = 1; j < dim; j++) {
            double e_j = t > 0.0 ? y[j] / t : 0.0, unit = i == j ? 1.0 : 0.0;
            double M = t > 0.0 ? mu * y[0] / t * (unit - e_i * e_j) : 0.0;
            A[i * dim + j] = (unit - M) / rho_t;
            B[i * dim + j] = M;
        }
        A[i * dim] = -mu * e_i / rho_t;
        B[i * dim] = mu * e_i * rho / rho_t;
    }
}

void rb_newton_linearise(rb_newton *s, const double *r)
{
    const rb_cones *k = s->k;
    int bb = k->dim * k->dim;
    for (int c = 0; c < k->nc; c++) {
        ptrdiff_t at = (ptrdiff_t)c * k->dim;
        contact_derivatives(r + at, s->u + at, k->mu[c], k->rho[c], s->rho_t[c], k->dim,
                            (rb_mode)s->mode[c], s->A + (ptrdiff_t)c * bb,
                            s->B + (ptrdiff_t)c * bb);
    }
}

/* Newton's direction at r; u, F and the modes must be those of r. */
static int direction(rb_newton *s, const double *r)
{
    rb_newton_linearise(s, r);
    return rb_newton_factor(s) && rb_newton_solve(s);
}

/* ---- the iteration
 * -------------------------------------------------------------------------------------- */

/* The merit at r + dr, which is left in s->trial with its u, F and modes. */
static double try_whole(rb_newton *s, const double *center, const double *r)
{
    for (int i = 0; i < s->k->n; i++) s->trial[i] = r[i] + s->dr[i];
    velocity(s, center, s->trial, s->u);
    return equations(s, s->trial, s->u, s->F);
}

/* The same at r + alpha dr. Velocities are linear in r: those at both ends are known. */
static double try_part(rb_newton *s, const double *r, double alpha)
{
    for (int i = 0; i < s->k->n; i++) {
        s->trial[i] = r[i] + alpha * s->dr[i];
        s->u[i] = s->u_from[i] + alpha * (s->u_to[i] - s->u_from[i]);
    }
    return equations(s, s->trial, s->u, s->F);
}

/* The longest part of the step, halved again and again, whose merit is below limit. Where one is
 * found it is evaluated anew, without the rounding of velocities far away. 0: none. */
static int shorten(rb_newton *s, const double *center, const double *r, double limit, double *value)
{
    memcpy(s->u_to, s->u, (size_t)s->k->n * sizeof *s->u);
    for (double alpha = 0.5; alpha > 1e-3; alpha *= 0.5) {
        *value = try_part(s, r, alpha);
        if (!(*value <= (1.0 - 1e-4 * alpha) * limit)) continue;
        velocity(s, center, s->trial, s->u);
        *value = equations(s, s->trial, s->u, s->F);
        return 1;
    }
    return 0;
}

/* r := r + alpha dr with the merit below the largest of the last ones; where no alpha gives that,
 * the whole step (a mode has to flip against the merit), as long as the caller allows leaps. */
static int line_search(rb_newton *s, const double *center, double *r, const double *merits,
                       int *leaps, double *merit)
{
    double limit = 0.0;
    for (int m = 0; m < MEMORY; m++) limit = fmax(limit, merits[m]);
    memcpy(s->u_from, s->u, (size_t)s->k->n * sizeof *s->u);
    double value = try_whole(s, center, r);
    if (!(value <= (1.0 - 1e-4) * limit) && !shorten(s, center, r, limit, &value)) {
        if ((*leaps)-- <= 0) return 0;
        value = try_whole(s, center, r);
    }
    if (!(value < INFINITY)) return 0;
    memcpy(r, s->trial, (size_t)s->k->n * sizeof *r);
    *merit = value;
    return 1;
}

double rb_newton_scale(const rb_newton *s, const double *r)
{
    const rb_cones *k = s->k;
    double scale = k->q_norm;
    for (int c = 0; c < k->nc; c++) {
        for (int i = 0; i < k->dim; i++) {
            scale = fmax(scale, fabs(r[c * k->dim + i]) / k->rho[c]);
        }
    }
    return scale;
}

/* A contact that slides slowly, |rho u_t| << |r_t|, hardly feels the direction of its slip; its
 * tangential rho is raised to |r_t| / |u_t|, which weighs both alike (K.7). True if any moved. */
int rb_newton_balance(rb_newton *s, const double *r)
{
    const rb_cones *k = s->k;
    int moved = 0;
    for (int c = 0; c < k->nc; c++) {
        if (s->mode[c] != RB_MODE_SLIDE) continue;
        double u_t = rb_cone_tangent(s->u + (ptrdiff_t)c * k->dim, k->dim);
        double r_t = rb_cone_tangent(r + (ptrdiff_t)c * k->dim, k->dim);
        double want = fmin(fmax(k->rho[c], u_t > 0.0 ? r_t / u_t : 0.0), BALANCE * k->rho[c]);
        if (want > 2.0 * s->rho_t[c] || want < 0.5 * s->rho_t[c]) {
            s->rho_t[c] = want;
            moved = 1;
        }
    }
    return moved;
}

/* Newton steps until nothing is left to gain, or until STALL of them have not halved the merit.
 * Returns the least merit; s->least is its point. */
static double iterate(rb_newton *s, const double *center, double *r, int balanced, int *steps)
{
    size_t bytes = (size_t)s->k->n * sizeof *r;
    velocity(s, center, r, s->u);
    double merit = equations(s, r, s->u, s->F), least = merit, halved = merit, merits[MEMORY];
    int leaps = LEAPS, idle = 0;
    memcpy(s->least, r, bytes);
    for (int m = 0; m < MEMORY; m++) merits[m] = merit;
    for (int it = 0; *steps > 0 && idle < STALL && s->steps < s->limit; it++) {
        if (balanced && rb_newton_balance(s, r)) {
            merit = equations(s, r, s->u, s->F);
            for (int m = 0; m < MEMORY; m++) merits[m] = merit;
        }
        double scale = rb_newton_scale(s, r), before = merit;
        if (sqrt(merit) <= GOAL * scale || !direction(s, r)) break;
        s->steps++;
        --*steps;
        if (!line_search(s, center, r, merits, &leaps, &merit)) break;
        merits[it % MEMORY] = merit;
        if (merit < least) {
            least = merit;
            memcpy(s->least, r, bytes);
        }
        idle = least <= 0.5 * halved ? 0 : idle + 1;
        if (idle == 0) halved = least;
        /* at rounding level steps only move noise */
        if (merit >= 0.25 * before && sqrt(merit) <= ACCEPT * scale) break;
    }
    return least;
}

void rb_newton_evaluate(rb_newton *s, const double *r)
{
    memcpy(s->rho_t, s->k->rho, (size_t)s->k->nc * sizeof *s->rho_t);
    rb_cones_velocity(s->k, r, s->u);
    equations(s, r, s->u, s->F);
}

int rb_newton_leap(rb_newton *s, double *r)
{
    rb_newton_evaluate(s, r);
    if (s->steps >= s->limit || !direction(s, r)) return 0;
    s->steps++;
    for (int i = 0; i < s->k->n; i++) r[i] += s->dr[i];
    return 1;
}

int rb_newton_run(rb_newton *s, const double *center, double *r, int max_steps)
{
    size_t bytes = (size_t)s->k->n * sizeof *r;
    memcpy(s->rho_t, s->k->rho, (size_t)s->k->nc * sizeof *s->rho_t);
    for (int balanced = 0; balanced < 2; balanced++) {
        double merit = iterate(s, center, r, balanced, &max_steps);
        memcpy(r, s->least, bytes);
        if (sqrt(merit) <= ACCEPT * rb_newton_scale(s, r)) break;
    }
    memcpy(s->rho_t, s->k->rho, (size_t)s->k->nc * sizeof *s->rho_t);
    velocity(s, center, r, s->u);
    return sqrt(equations(s, r, s->u, s->F)) <= ACCEPT * rb_newton_scale(s, r);
}

/* One proximal step with the present factors: where the modes do not change it is a whole one. */
static double polish_again(rb_newton *s, double *r, double error)
{
    const rb_cones *k = s->k;
    equations(s, r, s->u, s->F);
    if (!rb_newton_solve(s)) return error;
    for (int i = 0; i < k->n; i++) s->trial[i] = r[i] + s->dr[i];
    plain_velocity(s, s->trial, s->u);
    double next = rb_cones_error(k, s->trial, s->u);
    if (!(next < error)) return error;
    memcpy(r, s->trial, (size_t)k->n * sizeof *r);
    return next;
}

double rb_newton_polish(rb_newton *s, double *r, double tol)
{
    const rb_cones *k = s->k;
    plain_velocity(s, r, s->u);
    double best = rb_cones_error(k, r, s->u);
    if (best > 1e-3 * tol) best = polish_again(s, r, best);
    for (int it = 0; it < POLISH_STEPS && best > 1e-3 * tol; it++) {
        memcpy(s->center, r, (size_t)k->n * sizeof *r);
        memcpy(s->good, r, (size_t)k->n * sizeof *r);
        rb_newton_run(s, s->center, s->good, POLISH_STEPS);
        plain_velocity(s, s->good, s->u);
        double error = rb_cones_error(k, s->good, s->u);
        if (!(error < best)) break;
        memcpy(r, s->good, (size_t)k->n * sizeof *r);
        int slow = error > 0.3 * best;
        best = error;
        if (slow && best <= tol) break;
    }
    plain_velocity(s, r, s->u);
    equations(s, r, s->u, s->F);
    return best;
}

/* From the solution at a larger compliance, kept in s->good, to the one at s->eps. */
static int path_step(rb_newton *s, double *r)
{
    if (rb_newton_run(s, NULL, r, PATH_STEPS)) return 1;
    s->jumps++;
    if (s->straight) return 0;
    memcpy(r, s->good, (size_t)s->k->n * sizeof *r);
    for (int i = 0; i < PATH_SWEEPS; i++) rb_nsgs_sweep(s->k, s->eps, r, i & 1);
    return rb_newton_run(s, NULL, r, PATH_STEPS);
}

int rb_newton_path(rb_newton *s, rb_compliance kind, double eps_start, double *r)
{
    size_t bytes = (size_t)s->k->n * sizeof *r;
    double eps = eps_start, factor = PATH_FACTOR, last = eps_start / PATH_FACTOR;
    memcpy(s->good, r, bytes);
    for (int tries = 0; tries < PATH_TRIES; tries++) {
        rb_newton_compliance(s, kind, eps);
        if (path_step(s, r)) {
            if (eps <= RB_UNIFORM_EPS) return 1;
            memcpy(s->good, r, bytes);
            last = eps;
            factor = fmax(factor * factor, PATH_FACTOR);
        } else {
            /* the path bends or jumps between last and eps: smaller steps */
            memcpy(r, s->good, bytes);
            factor = sqrt(factor);
            if (s->straight || factor > 0.9) return 0;
        }
        eps = fmax(last * factor, RB_UNIFORM_EPS);
    }
    return 0;
}

static rb_status solve_newton(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                              double *r, rb_info *info)
{
    rb_cones k;
    rb_newton s;
    rb_status status = rb_cones_make(p, scratch, &k);
    if (status == RB_OK) status = rb_newton_make(&k, scratch, &s);
    if (status != RB_OK) return status;
    s.limit = o->max_iter;
    for (int i = 0; !o->warm && i < START_SWEEPS; i++) rb_nsgs_sweep(&k, NULL, r, i & 1);
    rb_newton_compliance(&s, RB_COMPLIANCE_UNIFORM, RB_UNIFORM_EPS);
    rb_path_add(info, "newton");
    if (!rb_newton_run(&s, NULL, r, DIRECT_STEPS)) {
        rb_path_add(info, "path");
        rb_newton_path(&s, RB_COMPLIANCE_SCALED, 1e-2, r);
    }
    double error = rb_newton_polish(&s, r, o->tol);
    memcpy(info->mode, s.mode, (size_t)k.nc);
    info->iterations = s.steps;
    info->factorisations = s.factorisations;
    info->rcond = rb_newton_pivots(&s);
    info->outcome = error <= o->tol ? RB_SOLVED : RB_FAILED;
    return RB_OK;
}

const rb_solver rb_solver_newton = { "newton", "nonsmooth Newton along decreasing compliance",
                                     RB_CONE, solve_newton };
