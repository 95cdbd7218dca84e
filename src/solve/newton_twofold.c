/* Newton's method of newton.c, with r, u and F in twofold arithmetic and the factors in double.
 *
 *     (A + B (W + eps)) dr = -F(r)          factored in double, dr in double
 *     r <- r + alpha dr                     F evaluated and r accumulated in twofold arithmetic
 *
 * Where masses differ by 1e6, impulses are up to 1e8 times |q| / W: then F, evaluated in double,
 * is noise of the size of the compliance terms that choose the modes, and the path is lost. The
 * direction needs no such care: an error of 1e-4 in it costs a step more, not the solution. */
#include "solve/newton_twofold.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 60,      /* per compliance                                                         */
    BALANCED = 20,   /* steps before tangential rho are balanced, as in newton.c               */
    TRIES = 120,     /* compliances tried in all                                               */
    MEMORY = 4,      /* line search: accept below the largest of the last merits               */
    LEAPS = 4,       /* whole steps against the merit                                          */
    PROXIMAL = 8,    /* proximal steps at the end                                              */
    NEAR_STEPS = 50, /* proximal steps near a guess                                         */
    SWEEPS = 200     /* over the impulses, to round them */
};

/* Merit relative to the velocities at r at which a compliance is solved [1]: far below rounding of
 * double, so that the signs that choose modes are right. */
#define SOLVED 1e-20

/* Compliance shrinks by this at first, by its root where a step fails [1]; closer to one than
 * TURNED the path is taken to turn back. */
#define FACTOR 0.1
#define TURNED 0.99

/* Proximal steps near a guess: the first compliance, relative to each contact's diagonal, how it
 * shrinks after a step that was solved and grows after one that was not, and where that ends [1].
 * The first is large enough for Newton to find the way from a pyramid to the cone. */
#define NEAR_FIRST 1e-2
#define NEAR_LESS  0.2
#define NEAR_MORE  5.0
#define NEAR_MOST  10.0

/* Measure from which on rounding of r may be what is left of it [1]. */
#define UNSETTLED 1e-5

rb_status rb_newton_twofold_make(const rb_newton *plain, rb_arena *scratch, rb_newton_twofold *t)
{
    const rb_cones *k = plain->k;
    size_t n = (size_t)k->n, nc = (size_t)k->nc;
    double *v = rb_push(scratch, double, 9 * n), *scale = rb_push(scratch, double, nc);
    double *G = rb_push(scratch, double, n *n);
    size_t dofs = k->op ? (size_t)k->op->m : 0;
    double *body = rb_push(scratch, double, 4 * dofs);
    if (!v || !scale || !G || !body) return RB_NOMEM;
    *t = (rb_newton_twofold){ .s = *plain,
                              .r_hi = v,
                              .r_lo = v + n,
                              .trial_hi = v + 2 * n,
                              .trial_lo = v + 3 * n,
                              .center_hi = v + 4 * n,
                              .center_lo = v + 5 * n,
                              .good_hi = v + 6 * n,
                              .good_lo = v + 7 * n,
                              .f_hi = body,
                              .f_lo = body + dofs,
                              .v_hi = body + 2 * dofs,
                              .v_lo = body + 3 * dofs,
                              .u_lo = v + 8 * n };
    for (int c = 0; c < k->nc; c++) scale[c] = sqrt(k->rho[c]);
    t->s.sparse = 0;
    t->s.bodies = NULL;
    t->s.thin = NULL;
    t->s.G = G;
    t->s.scale = scale;
    return RB_OK;
}

/* ---- equations ---- */

/* Row of the operator that belongs to row i of the cones. */
static int operator_row(const rb_cones *k, int i)
{
    int c = i / k->dim;
    return (k->contact ? k->contact[c] : c) * k->dim + i % k->dim;
}

/* v = Minv J' r of all bodies. */
static void body_velocity(rb_newton_twofold *t, const double *r_hi, const double *r_lo)
{
    const rb_cones *k = t->s.k;
    const rb_operator *op = k->op;
    memset(t->f_hi, 0, 2 * (size_t)op->m * sizeof *t->f_hi);
    for (int i = 0; i < k->n; i++) {
        int row = operator_row(k, i);
        for (int e = op->jptr[row]; e < op->jptr[row + 1]; e++) {
            int at = op->jcol[e];
            rb_two f = rb_two_scale((rb_two){ r_hi[i], r_lo[i] }, op->jval[e]);
            f = rb_two_add((rb_two){ t->f_hi[at], t->f_lo[at] }, f);
            t->f_hi[at] = f.hi;
            t->f_lo[at] = f.lo;
        }
    }
    const double *block = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        int first = op->start[b], size = op->start[b + 1] - first;
        for (int i = 0; i < size; i++, block += size) {
            rb_two v = rb_two_dot(block, t->f_hi + first, t->f_lo + first, size, rb_two_of(0.0));
            t->v_hi[first + i] = v.hi;
            t->v_lo[first + i] = v.lo;
        }
    }
}

/* (W r + q)_i; for an operator after body_velocity. */
static rb_two row_velocity(const rb_newton_twofold *t, const double *r_hi, const double *r_lo,
                           int i)
{
    const rb_cones *k = t->s.k;
    int dim = k->dim, c = i / dim;
    rb_two sum = rb_two_of(k->q[i]);
    if (k->op) {
        int row = operator_row(k, i);
        for (int e = k->op->jptr[row]; e < k->op->jptr[row + 1]; e++) {
            int at = k->op->jcol[e];
            sum = rb_two_dot(k->op->jval + e, t->v_hi + at, t->v_lo + at, 1, sum);
        }
        return sum;
    }
    for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
        const double *W = k->W.val + ((ptrdiff_t)e * dim + i % dim) * dim;
        ptrdiff_t at = (ptrdiff_t)k->W.col[e] * dim;
        sum = rb_two_dot(W, r_hi + at, r_lo + at, dim, sum);
    }
    return sum;
}

/* u = W r + q + eps (r - center) */
static void velocity(rb_newton_twofold *t, const double *r_hi, const double *r_lo)
{
    const rb_cones *k = t->s.k;
    if (k->op) body_velocity(t, r_hi, r_lo);
    for (int i = 0; i < k->n; i++) {
        rb_two u = row_velocity(t, r_hi, r_lo, i);
        rb_two away =
            rb_two_sub((rb_two){ r_hi[i], r_lo[i] }, (rb_two){ t->center_hi[i], t->center_lo[i] });
        u = rb_two_add(u, rb_two_scale(away, t->s.eps[i / k->dim]));
        t->s.u[i] = u.hi;
        t->u_lo[i] = u.lo;
    }
}

double rb_newton_twofold_error(rb_newton_twofold *t, const double *r)
{
    const rb_cones *k = t->s.k;
    memset(t->trial_lo, 0, (size_t)k->n * sizeof *t->trial_lo);
    if (k->op) body_velocity(t, r, t->trial_lo);
    for (int i = 0; i < k->n; i++) t->s.u[i] = row_velocity(t, r, t->trial_lo, i).hi;
    return rb_cones_error(k, r, t->s.u);
}

static rb_two tangent(const rb_two *x, int dim)
{
    if (dim == 2) return x[1].hi < 0.0 ? rb_two_neg(x[1]) : x[1];
    return rb_two_sqrt(rb_two_add(rb_two_mul(x[1], x[1]), rb_two_mul(x[2], x[2])));
}

/* F of one contact (K.7); returns its mode. */
static rb_mode contact_equations(const rb_two *r, const rb_two *u, double mu, double rho,
                                 double rho_t, int dim, rb_two *F)
{
    rb_two y[3] = { { 0.0, 0.0 } };
    for (int i = 0; i < dim; i++) y[i] = rb_two_sub(r[i], rb_two_scale(u[i], rho));
    if (!(y[0].hi > 0.0)) {
        for (int i = 0; i < dim; i++) F[i] = rb_two_div(r[i], rb_two_of(rho));
        return RB_MODE_OPEN;
    }
    rb_two radius = rb_two_scale(y[0], mu);
    F[0] = u[0];
    if (rb_two_less(tangent(y, dim), radius)) {
        for (int i = 1; i < dim; i++) F[i] = u[i];
        return RB_MODE_STICK;
    }
    for (int i = 1; i < dim; i++) y[i] = rb_two_sub(r[i], rb_two_scale(u[i], rho_t));
    rb_two size = tangent(y, dim);
    for (int i = 1; i < dim; i++) {
        rb_two friction =
            size.hi > 0.0 ? rb_two_div(rb_two_mul(radius, y[i]), size) : rb_two_of(0.0);
        F[i] = rb_two_div(rb_two_sub(r[i], friction), rb_two_of(rho_t));
    }
    return RB_MODE_SLIDE;
}

/* F and the modes at r, whose velocity is known; returns the merit sum F^2. */
static double equations(rb_newton_twofold *t, const double *r_hi, const double *r_lo)
{
    rb_newton *s = &t->s;
    const rb_cones *k = s->k;
    double sum = 0.0;
    for (int c = 0; c < k->nc; c++) {
        rb_two r[3], u[3], F[3];
        for (int i = 0; i < k->dim; i++) {
            int at = c * k->dim + i;
            r[i] = (rb_two){ r_hi[at], r_lo[at] };
            u[i] = (rb_two){ s->u[at], t->u_lo[at] };
        }
        s->mode[c] =
            (unsigned char)contact_equations(r, u, k->mu[c], k->rho[c], s->rho_t[c], k->dim, F);
        for (int i = 0; i < k->dim; i++) {
            s->F[c * k->dim + i] = F[i].hi;
            sum += F[i].hi * F[i].hi;
        }
    }
    return sum;
}

/* ---- the iteration ---- */

static double try_step(rb_newton_twofold *t, double alpha)
{
    for (int i = 0; i < t->s.k->n; i++) {
        rb_two next = rb_two_add((rb_two){ t->r_hi[i], t->r_lo[i] }, rb_two_of(alpha * t->s.dr[i]));
        t->trial_hi[i] = next.hi;
        t->trial_lo[i] = next.lo;
    }
    velocity(t, t->trial_hi, t->trial_lo);
    return equations(t, t->trial_hi, t->trial_lo);
}

static void copy(const rb_newton_twofold *t, const double *from_hi, const double *from_lo,
                 double *to_hi, double *to_lo)
{
    size_t bytes = (size_t)t->s.k->n * sizeof *to_hi;
    memcpy(to_hi, from_hi, bytes);
    memcpy(to_lo, from_lo, bytes);
}

/* r := r + alpha dr; 0: no alpha lowers the merit and no leap is left. */
static int line_search(rb_newton_twofold *t, const double *merits, int *leaps, double *merit)
{
    double limit = 0.0, value = 0.0, alpha = 1.0;
    for (int m = 0; m < MEMORY; m++) limit = fmax(limit, merits[m]);
    for (; alpha > 1e-3; alpha *= 0.5) {
        value = try_step(t, alpha);
        if (value <= (1.0 - 1e-4 * alpha) * limit) break;
    }
    if (alpha <= 1e-3) {
        if ((*leaps)-- <= 0) return 0;
        value = try_step(t, 1.0);
    }
    if (!(value < INFINITY)) return 0;
    copy(t, t->trial_hi, t->trial_lo, t->r_hi, t->r_lo);
    *merit = value;
    return 1;
}

/* Newton steps at the compliance of t->s; 1: solved. */
static int run(rb_newton_twofold *t)
{
    rb_newton *s = &t->s;
    memcpy(s->rho_t, s->k->rho, (size_t)s->k->nc * sizeof *s->rho_t);
    velocity(t, t->r_hi, t->r_lo);
    double merit = equations(t, t->r_hi, t->r_lo), merits[MEMORY];
    int leaps = LEAPS;
    for (int m = 0; m < MEMORY; m++) merits[m] = merit;
    for (int it = 0; it < STEPS && s->steps < s->limit; it++) {
        if (it >= BALANCED && rb_newton_balance(s, t->r_hi)) {
            merit = equations(t, t->r_hi, t->r_lo);
            for (int m = 0; m < MEMORY; m++) merits[m] = merit;
        }
        if (sqrt(merit) <= SOLVED * rb_newton_scale(s, t->r_hi)) return 1;
        rb_newton_linearise(s, t->r_hi);
        if (!rb_meter_add(s->k->meter, RB_WORK_SWEEP, 0.1 * s->k->n * s->k->n)) return 0;
        if (!rb_newton_factor(s) || !rb_newton_solve(s)) return 0;
        s->steps++;
        if (!line_search(t, merits, &leaps, &merit)) return 0;
        merits[it % MEMORY] = merit;
    }
    return 0;
}

/* Newton's matrix at r without compliance, all rows; open contacts are left out. */
static void fill_matrix(rb_newton_twofold *t)
{
    rb_newton *s = &t->s;
    const rb_cones *k = s->k;
    int dim = k->dim;
    double block[9];
    memset(s->G, 0, (size_t)k->n * (size_t)k->n * sizeof *s->G);
    memset(s->factored, RB_MODE_UNKNOWN, (size_t)k->nc);
    for (int c = 0; c < k->nc; c++) {
        if (s->mode[c] == RB_MODE_OPEN) continue;
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
            int j = k->W.col[e];
            if (s->mode[j] == RB_MODE_OPEN) continue;
            rb_newton_block(s, c, j, k->W.val + (ptrdiff_t)e * dim * dim, block);
            for (int i = 0; i < dim * dim; i++) {
                s->G[(ptrdiff_t)(c * dim + i / dim) * k->n + j * dim + i % dim] = block[i];
            }
        }
    }
}

/* One sweep over the impulses: each moves to the double that makes sum F^2 least, F linearised.
 * Returns how many moved. */
static int settle_sweep(rb_newton_twofold *t, double *r)
{
    rb_newton *s = &t->s;
    int n = s->k->n, moved = 0;
    for (int j = 0; j < n; j++) {
        double g_F = 0.0, g_g = 0.0;
        for (int i = 0; i < n; i++) {
            double g = s->G[(ptrdiff_t)i * n + j];
            g_F += g * s->F[i];
            g_g += g * g;
        }
        if (!(g_g > 0.0)) continue;
        double next = r[j] - g_F / g_g, step = next - r[j];
        if (step == 0.0 || !(step * (2.0 * g_F + step * g_g) < 0.0)) continue;
        for (int i = 0; i < n; i++) s->F[i] += step * s->G[(ptrdiff_t)i * n + j];
        r[j] = next;
        moved++;
    }
    return moved;
}

/* Rounds t->r to doubles so that what rounding does to u cancels (K.25): with impulses of 1e3 on
 * bodies of compliance 1e3, rounding to the nearest is off by more than the tolerance, while a
 * redundant contact with a small impulse can make up for it. */
static void settle(rb_newton_twofold *t, double *r)
{
    rb_newton *s = &t->s;
    size_t bytes = (size_t)s->k->n * sizeof *r;
    memset(s->eps, 0, (size_t)s->k->nc * sizeof *s->eps);
    memset(t->trial_lo, 0, bytes);
    velocity(t, r, t->trial_lo);
    equations(t, r, t->trial_lo);
    rb_newton_linearise(s, r);
    fill_matrix(t);
    for (int sweep = 0; sweep < SWEEPS && settle_sweep(t, r) > 0; sweep++) continue;
}

/* t->r rounded, and its measure. */
static double measure(rb_newton_twofold *t, double *r)
{
    for (int i = 0; i < t->s.k->n; i++) r[i] = t->r_hi[i] + t->r_lo[i];
    return rb_newton_twofold_error(t, r);
}

/* r, of measure `error`, rounded better where that may help; returns its measure. */
static double settled(rb_newton_twofold *t, double tol, double error, double *r)
{
    if (error <= 0.1 * tol || error >= UNSETTLED) return error;
    memcpy(t->s.trial, r, (size_t)t->s.k->n * sizeof *r);
    settle(t, t->s.trial);
    double better = rb_newton_twofold_error(t, t->s.trial);
    if (!(better < error)) return error;
    memcpy(r, t->s.trial, (size_t)t->s.k->n * sizeof *r);
    return better;
}

static double rounded(rb_newton_twofold *t, double tol, double *r)
{
    return settled(t, tol, measure(t, r), r);
}

/* (K.24) from t->r until the measure stops to fall; r is its best point. */
static double proximal(rb_newton_twofold *t, double tol, double *r)
{
    rb_newton *s = &t->s;
    size_t bytes = (size_t)s->k->n * sizeof *r;
    double best = measure(t, r);
    for (int it = 0; it < PROXIMAL && best > 1e-3 * tol; it++) {
        copy(t, t->r_hi, t->r_lo, t->center_hi, t->center_lo);
        int solved = run(t);
        double error = measure(t, s->trial);
        if (!(error < best)) break;
        memcpy(r, s->trial, bytes);
        int slow = error > 0.5 * best;
        best = error;
        if (!solved || slow) break;
    }
    return settled(t, tol, best, r);
}

static void start(rb_newton_twofold *t, const double *r)
{
    size_t bytes = (size_t)t->s.k->n * sizeof *r;
    memset(t->r_lo, 0, bytes);
    memset(t->center_lo, 0, bytes);
    memset(t->center_hi, 0, bytes);
    if (r)
        memcpy(t->r_hi, r, bytes);
    else
        memset(t->r_hi, 0, bytes);
    copy(t, t->r_hi, t->r_lo, t->good_hi, t->good_lo);
}

double rb_newton_twofold_path(rb_newton_twofold *t, rb_compliance kind, double tol, double *r,
                              int *arrived)
{
    double eps = 1.0, last = 1.0 / FACTOR, factor = FACTOR;
    *arrived = 0;
    start(t, NULL);
    for (int tries = 0; tries < TRIES && !*arrived; tries++) {
        rb_newton_compliance(&t->s, kind, eps);
        if (run(t)) {
            copy(t, t->r_hi, t->r_lo, t->good_hi, t->good_lo);
            *arrived = eps <= RB_TWOFOLD_EPS;
            last = eps;
            factor = fmax(factor * factor, FACTOR);
        } else {
            copy(t, t->good_hi, t->good_lo, t->r_hi, t->r_lo);
            factor = sqrt(factor);
            if (factor > TURNED) break;
        }
        eps = fmax(last * factor, RB_TWOFOLD_EPS);
    }
    copy(t, t->good_hi, t->good_lo, t->r_hi, t->r_lo);
    rb_newton_compliance(&t->s, kind, last);
    return proximal(t, tol, r);
}

double rb_newton_twofold_near(rb_newton_twofold *t, double tol, double *r)
{
    rb_newton *s = &t->s;
    size_t bytes = (size_t)s->k->n * sizeof *r;
    double best = INFINITY, eps = NEAR_FIRST;
    start(t, r);
    for (int step = 0; step < NEAR_STEPS && eps <= NEAR_MOST && best > tol; step++) {
        copy(t, t->good_hi, t->good_lo, t->center_hi, t->center_lo);
        rb_newton_compliance(s, RB_COMPLIANCE_SCALED, eps);
        if (!run(t)) {
            copy(t, t->good_hi, t->good_lo, t->r_hi, t->r_lo);
            eps *= NEAR_MORE;
            continue;
        }
        copy(t, t->r_hi, t->r_lo, t->good_hi, t->good_lo);
        eps = fmax(eps * NEAR_LESS, RB_TWOFOLD_EPS);
        double error = rounded(t, tol, s->least);
        if (error < best) {
            memcpy(r, s->least, bytes);
            best = error;
        }
    }
    return best;
}
