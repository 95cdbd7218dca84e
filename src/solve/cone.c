#include "solve/cone.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

/* ---- the prepared problem ----------------------------------------------------------------------
 */

static int diagonal_entry(const rb_matrix *W, int c)
{
    int e = W->ptr[c];
    while (W->col[e] != c) e++;
    return e;
}

rb_status rb_cones_make(const rb_problem *p, rb_arena *scratch, rb_cones *k)
{
    *k = (rb_cones){ .nc = p->nc, .dim = p->dim, .n = p->n, .q = p->q, .mu = p->mu };
    k->meter = scratch->meter;
    rb_status status = rb_matrix_to_bsr(&p->W, p->n, p->dim, scratch, &k->W);
    if (status != RB_OK) return status;
    if (p->W.form == RB_OPERATOR) k->op = p->W.op;
    if (p->W.form != RB_DENSE) k->parts = p->W.op;
    k->many = k->nc >= RB_MANY_CONTACTS;
    k->diag = rb_push(scratch, int, k->nc);
    k->rho = rb_push(scratch, double, k->nc);
    if (!k->diag || !k->rho) return RB_NOMEM;
    int dim = k->dim;
    for (int c = 0; c < k->nc; c++) {
        k->diag[c] = diagonal_entry(&k->W, c);
        const double *D = k->W.val + (ptrdiff_t)k->diag[c] * dim * dim;
        double trace = 0.0;
        for (int i = 0; i < dim; i++) trace += D[i * dim + i];
        k->rho[c] = trace / dim;
        k->mean += trace / k->n;
    }
    if (!(k->mean > 0.0)) k->mean = 1.0;
    for (int c = 0; c < k->nc; c++) {
        k->rho[c] = 1.0 / (k->rho[c] > 1e-12 * k->mean ? k->rho[c] : k->mean);
    }
    k->q_norm = rb_norm2(k->q, k->n);
    if (!(k->q_norm > 0.0)) k->q_norm = 1.0;
    return RB_OK;
}

/* The two sizes of contacts are spelled out: this product is most of a Gauss-Seidel sweep. */
void rb_cones_velocity(const rb_cones *k, const double *r, double *u)
{
    int dim = k->dim;
    if (!rb_meter_add(k->meter, RB_WORK_SWEEP, rb_cones_work(k))) {
        memset(u, 0, (size_t)k->n * sizeof *u);
        return;
    }
    for (int c = 0; c < k->nc; c++) {
        double s0 = k->q[c * dim], s1 = k->q[c * dim + 1], s2 = dim == 3 ? k->q[c * dim + 2] : 0.0;
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
            const double *B = k->W.val + (ptrdiff_t)e * dim * dim;
            const double *x = r + (ptrdiff_t)k->W.col[e] * dim;
            if (dim == 3) {
                s0 += B[0] * x[0] + B[1] * x[1] + B[2] * x[2];
                s1 += B[3] * x[0] + B[4] * x[1] + B[5] * x[2];
                s2 += B[6] * x[0] + B[7] * x[1] + B[8] * x[2];
            } else {
                s0 += B[0] * x[0] + B[1] * x[1];
                s1 += B[2] * x[0] + B[3] * x[1];
            }
        }
        u[c * dim] = s0;
        u[c * dim + 1] = s1;
        if (dim == 3) u[c * dim + 2] = s2;
    }
}

double rb_cones_error(const rb_cones *k, const double *r, const double *u)
{
    double sum = 0.0;
    for (int c = 0; c < k->nc; c++) {
        const double *r_c = r + (ptrdiff_t)c * k->dim, *u_c = u + (ptrdiff_t)c * k->dim;
        double x[3];
        for (int i = 0; i < k->dim; i++) x[i] = r_c[i] - u_c[i];
        x[0] -= k->mu[c] * rb_cone_tangent(u_c, k->dim);
        rb_cone_project(x, k->mu[c], k->dim);
        for (int i = 0; i < k->dim; i++) sum += (r_c[i] - x[i]) * (r_c[i] - x[i]);
    }
    return sqrt(sum) / k->q_norm;
}

/* ---- one cone -----------------------------------------------------------------------------------
 */

double rb_cone_tangent(const double *x, int dim)
{
    return dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

void rb_cone_project(double *x, double mu, int dim)
{
    double t = rb_cone_tangent(x, dim);
    if (x[0] >= 0.0 && t <= mu * x[0]) return; /* x_n < 0 passes the second where mu = 0 */
    double n = (x[0] + mu * t) / (1.0 + mu * mu);
    double shrink = n > 0.0 ? mu * n / t : 0.0;
    x[0] = n > 0.0 ? n : 0.0;
    for (int i = 1; i < dim; i++) x[i] *= shrink;
}

void rb_cones_modes(const rb_cones *k, const double *r, const double *u, unsigned char *mode)
{
    for (int c = 0; c < k->nc; c++) {
        const double *r_c = r + (ptrdiff_t)c * k->dim, *u_c = u + (ptrdiff_t)c * k->dim;
        double y_n = r_c[0] - k->rho[c] * u_c[0], y_t[3] = { 0.0 };
        for (int i = 1; i < k->dim; i++) y_t[i] = r_c[i] - k->rho[c] * u_c[i];
        if (y_n <= 0.0)
            mode[c] = RB_MODE_OPEN;
        else if (rb_cone_tangent(y_t, k->dim) < k->mu[c] * y_n)
            mode[c] = RB_MODE_STICK;
        else
            mode[c] = RB_MODE_SLIDE;
    }
}

/* Slip below this share of |b| cannot be distinguished from sticking [1]. */
#define SLIP_ROUNDING 1e-15

/* ---- one contact, exactly
 * -------------------------------------------------------------------------- */

/* u = W r + b = 0 by Cramer's rule; 0 where W is singular for this purpose. */
static int stick_impulse(const double *W, const double *b, int dim, double *r)
{
    if (dim == 2) {
        double det = W[0] * W[3] - W[1] * W[2];
        if (!(fabs(det) > 1e-14 * (fabs(W[0] * W[3]) + fabs(W[1] * W[2])))) return 0;
        r[0] = (W[1] * b[1] - W[3] * b[0]) / det;
        r[1] = (W[2] * b[0] - W[0] * b[1]) / det;
        return 1;
    }
    double c0 = W[4] * W[8] - W[5] * W[7], c1 = W[5] * W[6] - W[3] * W[8];
    double c2 = W[3] * W[7] - W[4] * W[6];
    double det = W[0] * c0 + W[1] * c1 + W[2] * c2;
    double size = fabs(W[0] * W[4] * W[8]);
    if (!(fabs(det) > 1e-14 * size) || !(size > 0.0)) return 0;
    double d0 = W[2] * W[7] - W[1] * W[8], d1 = W[0] * W[8] - W[2] * W[6];
    double d2 = W[1] * W[6] - W[0] * W[7];
    double e0 = W[1] * W[5] - W[2] * W[4], e1 = W[2] * W[3] - W[0] * W[5];
    double e2 = W[0] * W[4] - W[1] * W[3];
    r[0] = -(c0 * b[0] + d0 * b[1] + e0 * b[2]) / det;
    r[1] = -(c1 * b[0] + d1 * b[1] + e1 * b[2]) / det;
    r[2] = -(c2 * b[0] + d2 * b[1] + e2 * b[2]) / det;
    return 1;
}

/* The state of sliding along -s: r_t = mu r_n s, u_n = 0 (K.6). */
typedef struct slide {
    double s[2];
    double r_n;   /* normal impulse; <= 0: this direction carries none      */
    double cross; /* s x u_t, zero at the solution                          */
    double along; /* s . u_t, must be <= 0: friction opposes slip           */
    double slope; /* derivative of cross with respect to the angle of s     */
} slide;

static void eval_slide(const double *W, const double *b, double mu, slide *a)
{
    double s0 = a->s[0], s1 = a->s[1];
    double den = W[0] + mu * (W[1] * s0 + W[2] * s1);
    double den_d = mu * (-W[1] * s1 + W[2] * s0);
    if (!(den > 1e-14 * W[0])) {
        *a = (slide){ { s0, s1 }, -1.0, 0.0, 1.0, 1.0 };
        return;
    }
    double f0 = W[3] + mu * (W[4] * s0 + W[5] * s1), f1 = W[6] + mu * (W[7] * s0 + W[8] * s1);
    double r_n = -b[0] / den, r_d = b[0] * den_d / (den * den);
    double u0 = r_n * f0 + b[1], u1 = r_n * f1 + b[2];
    double d0 = r_d * f0 + r_n * mu * (-W[4] * s1 + W[5] * s0);
    double d1 = r_d * f1 + r_n * mu * (-W[7] * s1 + W[8] * s0);
    a->r_n = r_n;
    a->cross = s0 * u1 - s1 * u0;
    a->along = s0 * u0 + s1 * u1;
    a->slope = -a->along + (s0 * d1 - s1 * d0);
}

static void turn(slide *a, double angle)
{
    double s0 = a->s[0] - angle * a->s[1], s1 = a->s[1] + angle * a->s[0];
    double len = sqrt(s0 * s0 + s1 * s1);
    a->s[0] = s0 / len;
    a->s[1] = s1 / len;
}

static int slide_done(const slide *a, double scale)
{
    return a->r_n >= 0.0 && a->along <= 0.0 && fabs(a->cross) <= 4e-16 * scale;
}

/* Newton on the angle from a->s. */
static int slide_newton(const double *W, const double *b, double mu, double scale, slide *a)
{
    double best = INFINITY;
    for (int it = 0; it < 30; it++) {
        eval_slide(W, b, mu, a);
        if (slide_done(a, scale)) return 1;
        if (a->r_n < 0.0 || !(a->slope > 0.0)) return 0;
        /* converged as far as rounding allows */
        if (it > 3 && fabs(a->cross) >= best && best <= 1e-13 * scale) return a->along <= 0.0;
        best = fmin(best, fabs(a->cross));
        turn(a, rb_clamp(-a->cross / a->slope, -0.5, 0.5));
    }
    return 0;
}

/* One contact, for the search over all directions. */
typedef struct contact {
    const double *W, *b;
    double mu;
    double scale; /* |b| [m/s] */
} contact;

/* A function of the direction s whose root is wanted. */
typedef double direction_function(const contact *k, const double s[2]);

/* The denominator of r_n; directions where it is not positive carry no normal impulse. */
static double normal_gain(const contact *k, const double s[2])
{
    return k->W[0] + k->mu * (k->W[1] * s[0] + k->W[2] * s[1]);
}

/* cross times that denominator: the same roots without its poles. */
static double scaled_cross(const contact *k, const double s[2])
{
    const double *W = k->W, *b = k->b;
    double f0 = W[3] + k->mu * (W[4] * s[0] + W[5] * s[1]);
    double f1 = W[6] + k->mu * (W[7] * s[0] + W[8] * s[1]);
    return normal_gain(k, s) * (s[0] * b[2] - s[1] * b[1]) - b[0] * (s[0] * f1 - s[1] * f0);
}

/* 1: f changes its sign between two directions, s is where, to the last bit. */
static int bisect(direction_function *f, const contact *k, const double from[2], const double to[2],
                  double s[2])
{
    double lo[2] = { from[0], from[1] }, hi[2] = { to[0], to[1] };
    int positive = f(k, hi) > 0.0;
    if ((f(k, lo) > 0.0) == positive) return 0;
    for (int it = 0; it < 60; it++) {
        slide middle = { .s = { lo[0] + hi[0], lo[1] + hi[1] } };
        turn(&middle, 0.0);
        s[0] = middle.s[0];
        s[1] = middle.s[1];
        double *side = (f(k, s) > 0.0) == positive ? hi : lo;
        side[0] = s[0];
        side[1] = s[1];
    }
    return 1;
}

/* Friction must oppose the slip, up to the rounding of a slip that all but sticks. */
static int slide_between(const contact *k, const double from[2], const double to[2], slide *out)
{
    if (!bisect(scaled_cross, k, from, to, out->s)) return 0;
    eval_slide(k->W, k->b, k->mu, out);
    return out->r_n >= 0.0 && out->along <= SLIP_ROUNDING * k->scale;
}

/* A sign change of cross among `count` directions, each turned by `by` (cosine, sine) from the
 * last; intervals are cut where the normal impulse has its poles. */
static int slide_search(const contact *k, int count, const double by[2], slide *out)
{
    double last[2] = { 1.0, 0.0 };
    for (int i = 0; i < count; i++) {
        double next[2] = { by[0] * last[0] - by[1] * last[1], by[1] * last[0] + by[0] * last[1] };
        double pole[2];
        if (bisect(normal_gain, k, last, next, pole)) {
            if (slide_between(k, last, pole, out)) return 1;
            if (slide_between(k, pole, next, out)) return 1;
        } else if (slide_between(k, last, next, out)) {
            return 1;
        }
        last[0] = next[0];
        last[1] = next[1];
    }
    return 0;
}

/* A second root may hide in the same interval: one contact in 1e5 needs the finer search. */
static int slide_anywhere(const contact *k, slide *out)
{
    static const double coarse[2] = { 0.99144486137381041, 0.13052619222005159 };
    static const double fine[2] = { 0.9999785816641292, 0.006544937967351858 };
    return slide_search(k, 48, coarse, out) || slide_search(k, 960, fine, out);
}

static int slide_impulse(const double *W, const double *b, double mu, const double *guess,
                         double *r)
{
    double scale = fabs(b[0]) + fabs(b[1]) + fabs(b[2]);
    slide a = { .s = { guess[0], guess[1] } };
    double len = sqrt(a.s[0] * a.s[0] + a.s[1] * a.s[1]);
    int found = 0;
    if (len > 0.0) {
        a.s[0] /= len;
        a.s[1] /= len;
        found = slide_newton(W, b, mu, scale, &a);
    }
    contact k = { W, b, mu, scale };
    if (!found) found = slide_anywhere(&k, &a);
    if (!found) return 0;
    r[0] = a.r_n;
    r[1] = mu * a.r_n * a.s[0];
    r[2] = mu * a.r_n * a.s[1];
    return 1;
}

/* In two dimensions there are only two directions to slide. */
static int slide_impulse_2d(const double *W, const double *b, double mu, double *r)
{
    for (int k = 0; k < 2; k++) {
        double s = k == 0 ? 1.0 : -1.0;
        double den = W[0] + mu * s * W[1];
        if (!(den > 1e-14 * W[0])) continue;
        double r_n = -b[0] / den, u_t = r_n * (W[2] + mu * s * W[3]) + b[1];
        if (r_n < 0.0 || s * u_t > 0.0) continue;
        r[0] = r_n;
        r[1] = mu * r_n * s;
        return 1;
    }
    return 0;
}

/* One step of the natural map: always defined, used where nothing else is. */
static void projected_step(const double *W, const double *b, double mu, int dim, double *r)
{
    double trace = 0.0, x[3], u[3];
    for (int i = 0; i < dim; i++) trace += W[i * dim + i];
    double rho = trace > 0.0 ? 1.0 / trace : 1.0;
    for (int i = 0; i < dim; i++) {
        u[i] = b[i];
        for (int j = 0; j < dim; j++) u[i] += W[i * dim + j] * r[j];
    }
    for (int i = 0; i < dim; i++) x[i] = r[i] - rho * u[i];
    x[0] -= rho * mu * rb_cone_tangent(u, dim);
    rb_cone_project(x, mu, dim);
    for (int i = 0; i < dim; i++) r[i] = x[i];
}

int rb_cone_local(const double *W, const double *b, double mu, int dim, double *r)
{
    if (b[0] >= 0.0) {
        for (int i = 0; i < dim; i++) r[i] = 0.0;
        return 1;
    }
    if (W[0] > 0.0) {
        double stick[3] = { 0.0 };
        int regular = stick_impulse(W, b, dim, stick);
        if (regular && rb_cone_tangent(stick, dim) <= mu * stick[0]) {
            for (int i = 0; i < dim; i++) r[i] = stick[i];
            return 1;
        }
        if (dim == 2 && slide_impulse_2d(W, b, mu, r)) return 1;
        double guess[2] = { r[1], dim == 3 ? r[2] : 0.0 };
        if (dim == 3 && guess[0] == 0.0 && guess[1] == 0.0) {
            guess[0] = regular && stick[0] > 0.0 ? stick[1] : -b[1];
            guess[1] = regular && stick[0] > 0.0 ? stick[2] : -b[2];
        }
        if (dim == 3 && slide_impulse(W, b, mu, guess, r)) return 1;
    }
    projected_step(W, b, mu, dim, r);
    return 0;
}
