/* A sliding arc as a power series in tau, dp_n = |s| dtau:
 *
 *     ds/dtau = |s| K_tn - mu K_tt s,   dz/dtau = |s| K_nn - mu K_nt.s,                      (I.6)
 *     dp_n/dtau = |s|,   dp_t/dtau = -mu s,   dW/dtau = z |s|                      by (I.4)
 *
 * In tau the direction of the slip rotates at a rate that does not depend on the speed: sticking,
 * where d(direction)/dp_n is infinite, is at tau = infinity and nothing is stiff before it. The
 * right sides are linear in s and |s|, and |s|^2 = s.s gives the series of |s| term by term, so
 * that sixteen terms cost less than two steps of a Runge-Kutta method of that order, and the goal
 * is the root of a polynomial. */
#include <math.h>

#include "contact/impact_path.h"

enum { ORDER = 16 }; /* step_length takes roots of this order */

typedef struct series {
    double x[ORDER + 1], y[ORDER + 1]; /* slip                                   */
    double v[ORDER + 1];               /* |s|                                    */
    double z[ORDER + 1], p[ORDER + 1], W[ORDER + 1];
    double px[ORDER + 1], py[ORDER + 1]; /* tangential impulse                   */
} series;

/* ---- coefficients ------------------------------------------------------------------------------
 */

/* Half the terms of x x + y y - v v of order n that neither x_0, y_0, v_0 nor their partners are
 * in. From the middle outwards: the latest coefficients are added last, nothing waits for them. */
static double inner_terms(const series *c, int n)
{
    double sx = 0.0, sy = 0.0, sv = 0.0;
    int middle = n / 2;
    if (n % 2 == 0) {
        sx = 0.5 * c->x[middle] * c->x[middle];
        sy = 0.5 * c->y[middle] * c->y[middle];
        sv = 0.5 * c->v[middle] * c->v[middle];
        middle--;
    }
    for (int i = middle; i >= 1; i--) {
        sx += c->x[i] * c->x[n - i];
        sy += c->y[i] * c->y[n - i];
        sv += c->v[i] * c->v[n - i];
    }
    return sx + sy - sv;
}

static void work_terms(series *c, double scale)
{
    for (int n = 0; n < ORDER; n++) {
        double work = 0.0;
        for (int i = 0; i <= n; i++) work += c->z[i] * c->v[n - i];
        c->W[n + 1] = scale / (n + 1) * work;
    }
}

/* tau is measured in units of 1 / rate: coefficients have the size of the slip. v_n comes from
 * v v = x x + y y, whose term of order n has 2 v_0 v_n, 2 x_0 x_n and 2 y_0 y_n in it. */
static void expand(const rb_impact_flow *f, const rb_impact_point *at, series *c)
{
    double scale = 1.0 / f->rate, B = f->mu * scale;
    double kx = f->k[0] * scale, ky = f->k[1] * scale, kn = f->k_n * scale;
    double bxx = B * f->A[0], byy = B * f->A[1], bxy = B * f->A[2];
    double speed = sqrt(at->s[0] * at->s[0] + at->s[1] * at->s[1]), inverse = 1.0 / speed;
    double ex = at->s[0] * inverse, ey = at->s[1] * inverse;
    double kv = ex * kx + ey * ky, bxv = ex * bxx + ey * bxy, byv = ex * bxy + ey * byy;
    c->x[0] = at->s[0];
    c->y[0] = at->s[1];
    c->v[0] = speed;
    c->z[0] = at->z;
    c->p[0] = at->p[0];
    c->px[0] = at->p[1];
    c->py[0] = at->p[2];
    c->W[0] = at->W;

    for (int n = 0; n < ORDER; n++) {
        double share = 1.0 / (n + 1), x = c->x[n], y = c->y[n], v = c->v[n];
        c->x[n + 1] = share * (v * kx - bxx * x - bxy * y);
        c->y[n + 1] = share * (v * ky - bxy * x - byy * y);
        c->v[n + 1] = share * (v * kv - bxv * x - byv * y) + inverse * inner_terms(c, n + 1);
        c->z[n + 1] = share * (v * kn - f->mu * (kx * x + ky * y));
        c->p[n + 1] = share * scale * v;
        c->px[n + 1] = -share * B * x;
        c->py[n + 1] = -share * B * y;
    }
}

static double root16(double x)
{
    return sqrt(sqrt(sqrt(sqrt(x))));
}

/* The tau at which the last terms of the slip reach the tolerance. */
static double step_length(const series *c)
{
    const double most = 64.0; /* beyond it nothing is left of a slip that decays */
    double last = fabs(c->x[ORDER]) + fabs(c->y[ORDER]);
    double before = fabs(c->x[ORDER - 1]) + fabs(c->y[ORDER - 1]);
    double allowed = RB_IMPACT_SERIES_TOL * fmax(c->v[0], RB_IMPACT_SLOW);
    if (last + before <= allowed * 1e-30) return most;
    double h = last > 0.0 ? fmin(most, root16(allowed / last)) : most;
    return fmin(most, root16(allowed / (last + before / h)));
}

/* ---- polynomials -------------------------------------------------------------------------------
 */

static double value_at(const double *c, double t)
{
    double sum = c[ORDER];
    for (int n = ORDER - 1; n >= 0; n--) sum = sum * t + c[n];
    return sum;
}

static double slope_at(const double *c, double t)
{
    double sum = ORDER * c[ORDER];
    for (int n = ORDER - 1; n >= 1; n--) sum = sum * t + n * c[n];
    return sum;
}

/* The root of c - goal in lo .. hi, below it at lo, not below at hi: Newton within a bracket. */
static double crossing(const double *c, double goal, double lo, double hi)
{
    enum { MOST = 100 };
    double t = hi;
    for (int k = 0; k < MOST; k++) {
        double missing = goal - value_at(c, t);
        if (missing > 0.0)
            lo = t;
        else
            hi = t;
        double slope = slope_at(c, t), next = t + missing / slope;
        if (!(slope > 0.0) || !(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - t) <= 1e-16 * hi) return next;
        t = next;
    }
    return hi;
}

/* Where c is largest between a rise at 0 and a fall at h. */
static double maximum(const double *c, double h)
{
    double lo = 0.0, hi = h;
    for (int k = 0; k < 60; k++) {
        double mid = 0.5 * (lo + hi);
        if (slope_at(c, mid) > 0.0)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* ---- the arc ----------------------------------------------------------------------------------
 */

static void evaluate(const series *c, int with_work, double t, rb_impact_point *at)
{
    at->s[0] = value_at(c->x, t);
    at->s[1] = value_at(c->y, t);
    at->z = value_at(c->z, t);
    at->p[0] = value_at(c->p, t);
    at->p[1] = value_at(c->px, t);
    at->p[2] = value_at(c->py, t);
    at->W = with_work ? value_at(c->W, t) : 0.0;
}

/* Whether the quantity of the goal falls at a point; impulses never do. */
static int falls(const rb_impact_flow *f, rb_impact_goal_kind kind, const rb_impact_point *at)
{
    if (kind == RB_GOAL_IMPULSE) return 0;
    if (kind == RB_GOAL_WORK) return at->z < 0.0;
    double speed = sqrt(at->s[0] * at->s[0] + at->s[1] * at->s[1]);
    return f->k_n * speed < f->mu * (f->k[0] * at->s[0] + f->k[1] * at->s[1]);
}

rb_impact_end rb_impact_arc(const rb_impact_flow *f, const rb_impact_goal *goal,
                            rb_impact_point *at)
{
    series c;
    expand(f, at, &c);
    if (f->with_work) work_terms(&c, 1.0 / f->rate);
    double h = step_length(&c);
    rb_impact_point end;
    evaluate(&c, f->with_work, h, &end);

    /* the goal may be met and left again within the step */
    const double *g = c.W;
    double reached = end.W, last = h;
    if (goal->kind != RB_GOAL_WORK) {
        g = goal->kind == RB_GOAL_SPEED ? c.z : c.p;
        reached = goal->kind == RB_GOAL_SPEED ? end.z : end.p[0];
    }
    int dips = reached < goal->value && falls(f, goal->kind, &end) && !falls(f, goal->kind, at);
    if (dips) {
        last = maximum(g, h);
        reached = value_at(g, last);
    }
    int met = reached >= goal->value;
    dips = dips && !met && goal->kind == RB_GOAL_WORK;
    if (met) last = crossing(g, goal->value, 0.0, last);
    if (met || dips) evaluate(&c, f->with_work, last, &end);
    *at = end;
    return met ? RB_ARC_MET : dips ? RB_ARC_DIPS : RB_ARC_GOES_ON;
}
