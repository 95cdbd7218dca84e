/* Interior points for Coulomb cones. With the cones scaled to right angles, T = diag(mu, 1, 1),
 *
 *     s = T r,   w = T^-1 u + |u_t| n,   s and w in the Lorentz cone L,   s o w = 0         (K.16)
 *
 * the path s o w = mu e is followed to mu = 0 by predictor and corrector steps in the scaling of
 * Nesterov and Todd, P w = P^-1 s = lam [Vandenberghe 2010]. A step has
 *
 *     ds = g - P^2 dw,   dw = E du + rest,   E = 1 + n e',   e = u_t / |u_t|                (K.17)
 *
 * and with u = Y v + q this is the system of the bodies (K.15) with D = T^-1 P^2 E T^-1. De Saxce's
 * shift is linearised with the rest, so that the matrix is not symmetric and the path is that of
 * Coulomb's law and not of its convex neighbour. It is also why nothing is proven: where friction
 * makes the path turn back, steps become short and the caller begins elsewhere.
 *
 * What sticks has |u_t| -> 0, where the shift has a kink: |u_t| is rounded by a speed that goes to
 * zero with mu. The residual falls with the root of mu where impulses and velocities vanish
 * together; therefore the last digits are Newton's (cone_large.c). */
#include "solve/interior.h"

#include <math.h>
#include <string.h>

/* Share of the way to the boundary [1]. */
#define STEP_SHARE 0.99

/* A step shorter than this is tried without the second-order term, closer to the middle [1]. */
#define SHORT_STEP 0.3
#define TO_MIDDLE  0.5

/* Least friction for which the scaled cones are well shaped [1]. */
#define LEAST_FRICTION 1e-3

/* ---- memory -----------------------------------------------------------------------------------
 */

rb_status rb_interior_make(const rb_cones *k, rb_bodies *bodies, rb_arena *scratch, rb_interior *x)
{
    *x = (rb_interior){ .k = k, .bodies = bodies };
    double **of_row[] = { &x->s,  &x->w,   &x->ds, &x->dw,   &x->as,
                          &x->aw, &x->lam, &x->u,  &x->rest, &x->point };
    for (size_t i = 0; i < sizeof of_row / sizeof *of_row; i++) {
        if (!(*of_row[i] = rb_push(scratch, double, k->n))) return RB_NOMEM;
    }
    x->H = rb_push(scratch, double, 9 * (size_t)k->nc);
    x->beta = rb_push(scratch, double, k->nc);
    return x->H && x->beta ? RB_OK : RB_NOMEM;
}

int rb_interior_takes(const rb_cones *k)
{
    for (int c = 0; c < k->nc; c++) {
        if (k->mu[c] < LEAST_FRICTION) return 0;
    }
    return 1;
}

/* ---- the Lorentz cone -------------------------------------------------------------------------
 */

static double tangent(const double *x)
{
    return sqrt(x[1] * x[1] + x[2] * x[2]);
}

/* x_n^2 - |x_t|^2 without its cancellation. */
static double determinant(const double *x)
{
    double t = tangent(x);
    return (x[0] - t) * (x[0] + t);
}

/* P and P^2 of one contact from s and w. */
static void scale_contact(rb_interior *x, int c)
{
    const double *s = x->s + 3 * (ptrdiff_t)c, *w = x->w + 3 * (ptrdiff_t)c;
    double *p = x->point + 3 * (ptrdiff_t)c, *H = x->H + 9 * (ptrdiff_t)c;
    double of_s = sqrt(determinant(s)), of_w = sqrt(determinant(w)), a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = s[i] / of_s;
        b[i] = w[i] / of_w;
    }
    double gamma = sqrt(0.5 * (1.0 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]));
    p[0] = (a[0] + b[0]) / (2.0 * gamma);
    p[1] = (a[1] - b[1]) / (2.0 * gamma);
    p[2] = (a[2] - b[2]) / (2.0 * gamma);
    double square = of_s / of_w;
    x->beta[c] = sqrt(square);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double J = i != j ? 0.0 : i == 0 ? 1.0 : -1.0;
            H[3 * i + j] = square * (2.0 * p[i] * p[j] - J);
        }
    }
}

/* out = P a, or P^-1 a where side is -1. */
static void apply_scaling(const rb_interior *x, int c, int side, const double *a, double *out)
{
    const double *p = x->point + 3 * (ptrdiff_t)c;
    double root = sqrt(2.0 * (p[0] + 1.0)), beta = side > 0 ? x->beta[c] : 1.0 / x->beta[c];
    double t[3] = { (p[0] + 1.0) / root, side * p[1] / root, side * p[2] / root };
    double along = 2.0 * (t[0] * a[0] + t[1] * a[1] + t[2] * a[2]);
    out[0] = beta * (along * t[0] - a[0]);
    out[1] = beta * (along * t[1] + a[1]);
    out[2] = beta * (along * t[2] + a[2]);
}

/* Largest a <= limit with x + a d in the cone. */
static double longest(const double *x, const double *d, double limit)
{
    double A = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    double B = x[0] * d[0] - x[1] * d[1] - x[2] * d[2], C = determinant(x);
    double under = B * B - A * C, a = limit;
    if (d[0] < 0.0) a = fmin(a, -x[0] / d[0]);
    if (!(under >= 0.0)) return a;

    /* A a^2 + 2 B a + C = 0, the roots without cancellation */
    double q = B >= 0.0 ? -(B + sqrt(under)) : -(B - sqrt(under));
    if (A != 0.0 && q / A > 0.0) a = fmin(a, q / A);
    if (q != 0.0 && C / q > 0.0) a = fmin(a, C / q);
    return a;
}

static double step_length(const rb_interior *x)
{
    double a = 1.0 / STEP_SHARE;
    for (ptrdiff_t i = 0; i < x->k->n; i += 3) {
        a = longest(x->s + i, x->ds + i, a);
        a = longest(x->w + i, x->dw + i, a);
    }
    return STEP_SHARE * a;
}

/* ---- the equations ----------------------------------------------------------------------------
 */

static double rounded_slip(const rb_interior *x, const double *u)
{
    return sqrt(u[1] * u[1] + u[2] * u[2] + x->round * x->round);
}

/* r, u and rest at s. */
static void evaluate(rb_interior *x, double *r)
{
    const rb_cones *k = x->k;
    memcpy(r, x->s, (size_t)k->n * sizeof *r);
    for (int c = 0; c < k->nc; c++) r[3 * c] /= k->mu[c];
    rb_cones_velocity(k, r, x->u);
    for (int c = 0; c < k->nc; c++) {
        const double *u = x->u + 3 * (ptrdiff_t)c, *w = x->w + 3 * (ptrdiff_t)c;
        double *rest = x->rest + 3 * (ptrdiff_t)c;
        rest[0] = u[0] / k->mu[c] + rounded_slip(x, u) - w[0];
        rest[1] = u[1] - w[1];
        rest[2] = u[2] - w[2];
    }
}

void rb_interior_start(rb_interior *x, const rb_interior_plan *plan, const double *r)
{
    const rb_cones *k = x->k;
    double speed = plan->margin * k->q_norm / sqrt((double)k->nc);
    x->plan = *plan;
    rb_cones_velocity(k, r, x->u);
    for (int c = 0; c < k->nc; c++) {
        double *s = x->s + 3 * (ptrdiff_t)c, *w = x->w + 3 * (ptrdiff_t)c, mu = k->mu[c];
        if (plan->cold) {
            memset(s, 0, 3 * sizeof *s);
            memset(w, 0, 3 * sizeof *w);
            s[0] = mu * speed * k->rho[c];
            w[0] = speed / mu;
            continue;
        }
        memcpy(s, r + 3 * (ptrdiff_t)c, 3 * sizeof *s);
        memcpy(w, x->u + 3 * (ptrdiff_t)c, 3 * sizeof *w);
        s[0] = fmax(mu * s[0], tangent(s)) + speed * k->rho[c];
        w[0] = fmax(w[0] / mu + tangent(w), tangent(w)) + speed;
    }
}

/* D = T^-1 P^2 E T^-1 of one contact. */
static void write_block(rb_interior *x, int c)
{
    const double *H = x->H + 9 * (ptrdiff_t)c, *u = x->u + 3 * (ptrdiff_t)c;
    double *D = x->bodies->D + 9 * (ptrdiff_t)c, slip = rounded_slip(x, u);
    double e1 = slip > 0.0 ? u[1] / slip : 0.0, e2 = slip > 0.0 ? u[2] / slip : 0.0;
    for (int i = 0; i < 3; i++) {
        double over = i == 0 ? 1.0 / x->k->mu[c] : 1.0;
        D[3 * i] = over * H[3 * i] / x->k->mu[c];
        D[3 * i + 1] = over * (H[3 * i + 1] + H[3 * i] * e1);
        D[3 * i + 2] = over * (H[3 * i + 2] + H[3 * i] * e2);
    }
}

/* ds and dw for the g of (K.17) that is in ds. */
static void direction(rb_interior *x)
{
    const rb_cones *k = x->k;
    for (int c = 0; c < k->nc; c++) {
        const double *H = x->H + 9 * (ptrdiff_t)c, *rest = x->rest + 3 * (ptrdiff_t)c;
        double *g = x->ds + 3 * (ptrdiff_t)c;
        for (int i = 0; i < 3; i++)
            g[i] -= H[3 * i] * rest[0] + H[3 * i + 1] * rest[1] + H[3 * i + 2] * rest[2];
        g[0] /= k->mu[c];
    }
    rb_bodies_solve(x->bodies, x->ds, x->dw);
    for (int c = 0; c < k->nc; c++) {
        const double *rest = x->rest + 3 * (ptrdiff_t)c, *u = x->u + 3 * (ptrdiff_t)c;
        double *dw = x->dw + 3 * (ptrdiff_t)c, slip = rounded_slip(x, u);
        double along = slip > 0.0 ? (u[1] * dw[1] + u[2] * dw[2]) / slip : 0.0;
        x->ds[3 * c] *= k->mu[c];
        dw[0] = dw[0] / k->mu[c] + along + rest[0];
        dw[1] += rest[1];
        dw[2] += rest[2];
    }
}

/* The step towards sigma mu: lam o (P^-1 ds + P dw) = sigma mu e - lam o lam - second times the
 * product of the affine steps. Returns its length. */
static double aim(rb_interior *x, double sigma, double second)
{
    for (int c = 0; c < x->k->nc; c++) {
        const double *lam = x->lam + 3 * (ptrdiff_t)c;
        double a[3], b[3], d[3], y[3];
        apply_scaling(x, c, -1, x->as + 3 * (ptrdiff_t)c, a);
        apply_scaling(x, c, 1, x->aw + 3 * (ptrdiff_t)c, b);
        d[0] = sigma * x->mu - second * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) -
               (lam[0] * lam[0] + lam[1] * lam[1] + lam[2] * lam[2]);
        for (int i = 1; i < 3; i++)
            d[i] = -second * (a[0] * b[i] + b[0] * a[i]) - 2.0 * lam[0] * lam[i];
        y[0] = (lam[0] * d[0] - lam[1] * d[1] - lam[2] * d[2]) / determinant(lam);
        for (int i = 1; i < 3; i++) y[i] = (d[i] - y[0] * lam[i]) / lam[0];
        apply_scaling(x, c, 1, y, x->ds + 3 * (ptrdiff_t)c);
    }
    direction(x);
    return step_length(x);
}

/* mu, the rounding of the slip, and everything that a factorisation needs. */
static void linearise(rb_interior *x, double *r)
{
    int n = x->k->n;
    double pushed = 0.0;
    x->mu = 0.0;
    for (int i = 0; i < n; i++) x->mu += x->s[i] * x->w[i];
    for (int i = 0; i < n; i += 3) pushed += x->s[i];
    x->round = x->plan.soft * x->mu / pushed;
    x->mu /= x->k->nc;
    evaluate(x, r);
    for (int c = 0; c < x->k->nc; c++) {
        scale_contact(x, c);
        write_block(x, c);
        apply_scaling(x, c, 1, x->w + 3 * (ptrdiff_t)c, x->lam + 3 * (ptrdiff_t)c);
    }
}

int rb_interior_step(rb_interior *x, double *r)
{
    int n = x->k->n;
    size_t bytes = (size_t)n * sizeof *r;
    linearise(x, r);
    rb_bodies_factor(x->bodies, NULL);

    /* predictor: what would happen without staying inside */
    for (int i = 0; i < n; i++) x->ds[i] = -x->s[i];
    direction(x);
    memcpy(x->as, x->ds, bytes);
    memcpy(x->aw, x->dw, bytes);
    double left = 1.0 - fmin(1.0, step_length(x));
    double sigma = fmax(x->plan.sigma, left * left * left);

    x->length = aim(x, sigma, 1.0);
    if (x->length < SHORT_STEP) {
        double other = aim(x, fmax(sigma, TO_MIDDLE), 0.0);
        x->length = other < x->length ? aim(x, sigma, 1.0) : other;
    }
    for (int i = 0; i < n; i++) {
        x->s[i] += x->length * x->ds[i];
        x->w[i] += x->length * x->dw[i];
    }
    evaluate(x, r);
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x->s[i] * x->w[i];
    return isfinite(sum) && sum > 0.0;
}
