/* The end of a slip, in one go. Beside a converging, attracting ray (f < 0, dg/dd < 0) at the angle
 * d from it the rest of the impulse up to zero slip is
 *
 *     p_n = |s| R(d),   g R' + f R = -1,                                                   (I.12)
 *
 * since |s| dd/dp = g and d|s|/dp = f depend on d alone. f and g are trigonometric, so R is a power
 * series whose terms follow one from the other: the factor n g_1 + f_0 that belongs to R_n is never
 * zero. The integrals Q of the direction and V of the work have the same equation with other right
 * sides. This replaces the many steps that an arc takes towards a point it reaches at infinity. */
#include <math.h>

#include "base/constants.h"
#include "contact/impact_path.h"
#include "math/trig.h"

/* Terms of the series: rounding at NEAR. */
enum { ORDER = 18 };

/* Angle from the ray beyond which the series is not tried [rad]. Larger: tried without success.
 * Smaller: more arcs before it. */
#define NEAR 0.3

typedef struct tail {
    double dir[2];                     /* of the ray                               */
    double angle;                      /* of the slip, from the ray                */
    double speed;                      /* |s|                                      */
    double f[ORDER + 2], g[ORDER + 2]; /* in powers of the angle, over the rate    */
    double R, Q[2], V;                 /* sums of the series, over the rate        */
} tail;

/* along = e.w and across = e_2.w for a direction e, and d(across)/d(angle) */
static double turning(const rb_impact_flow *f, const double e[2], double *along, double *slope)
{
    double Ax = f->A[0] * e[0] + f->A[2] * e[1], Ay = f->A[2] * e[0] + f->A[1] * e[1];
    double wx = f->k[0] - f->mu * Ax, wy = f->k[1] - f->mu * Ay;
    double side = f->A[0] * e[1] * e[1] - 2.0 * f->A[2] * e[0] * e[1] + f->A[1] * e[0] * e[0];
    *along = e[0] * wx + e[1] * wy;
    *slope = -*along - f->mu * side;
    return e[0] * wy - e[1] * wx;
}

/* Newton on the angle from the slip at `at` to a ray close by; 0: none that ends slip. */
static int find_ray(const rb_impact_flow *f, const rb_impact_point *at, tail *t)
{
    enum { MOST = 12 };
    t->speed = sqrt(at->s[0] * at->s[0] + at->s[1] * at->s[1]);
    double e[2] = { at->s[0] / t->speed, at->s[1] / t->speed };
    t->dir[0] = e[0];
    t->dir[1] = e[1];
    for (int k = 0; k < MOST; k++) {
        double along, slope, across = turning(f, t->dir, &along, &slope);
        if (!(slope < 0.0) || !(along < 0.0) || fabs(across) > -NEAR * slope) return 0;
        double step = -across / slope, length = sqrt(1.0 + step * step);
        double x = (t->dir[0] - step * t->dir[1]) / length;
        t->dir[1] = (t->dir[1] + step * t->dir[0]) / length;
        t->dir[0] = x;
        if (fabs(step) > RB_EPS * 64.0) continue;
        double dot = t->dir[0] * e[0] + t->dir[1] * e[1];
        t->angle = rb_atan2(t->dir[0] * e[1] - t->dir[1] * e[0], dot);
        return fabs(t->angle) <= NEAR;
    }
    return 0;
}

/* f and g around the ray, in its axes; divided by the rate. */
static void expand(const rb_impact_flow *flow, tail *t)
{
    double x = t->dir[0], y = t->dir[1], unit = 1.0 / flow->rate, B = flow->mu * unit;
    double k1 = unit * (x * flow->k[0] + y * flow->k[1]);
    double k2 = unit * (x * flow->k[1] - y * flow->k[0]);
    const double *A = flow->A;
    double a = B * (A[0] * x * x + 2.0 * A[2] * x * y + A[1] * y * y);
    double c = B * (A[0] * y * y - 2.0 * A[2] * x * y + A[1] * x * x);
    double b = B * ((A[1] - A[0]) * x * y + A[2] * (x * x - y * y));
    double mean = 0.5 * (a + c), half = 0.5 * (a - c);

    /* e = (cos d, sin d): f = e.w, g = e_2.w, in multiples of the angle */
    double once = 1.0, twice = 1.0; /* d^n / n!, (2d)^n / n! */
    for (int n = 0; n <= ORDER + 1; n++) {
        static const double cosine[4] = { 1.0, 0.0, -1.0, 0.0 }, sine[4] = { 0.0, 1.0, 0.0, -1.0 };
        double C = cosine[n % 4], S = sine[n % 4];
        t->f[n] = once * (k1 * C + k2 * S) - twice * (half * C + b * S);
        t->g[n] = once * (k2 * C - k1 * S) - twice * (b * C - half * S);
        once /= n + 1;
        twice *= 2.0 / (n + 1);
    }
    t->f[0] -= mean;
    t->g[0] = 0.0; /* a ray, to rounding */
}

/* The impulse: R and Q of the right sides 1, cos d, sin d, term by term until they die out. Z gets
 * the terms of K_nn R - mu K_nt.Q. Returns their number, 0 where they do not die out. */
static int sum_impulse(const rb_impact_flow *flow, tail *t, double Z[ORDER + 1])
{
    double k1 = t->dir[0] * flow->k[0] + t->dir[1] * flow->k[1];
    double k2 = t->dir[0] * flow->k[1] - t->dir[1] * flow->k[0];
    double R[ORDER + 1], P[ORDER + 1], Q[ORDER + 1], power = 1.0, fact = 1.0;
    t->R = t->Q[0] = t->Q[1] = 0.0;
    for (int n = 0; n <= ORDER; n++) {
        double sign = n % 4 < 2 ? fact : -fact;
        double r = n == 0, p = n % 2 ? 0.0 : sign, q = n % 2 ? sign : 0.0;
        for (int i = 0; i < n; i++) {
            double c = i * t->g[n - i + 1] + t->f[n - i];
            r += c * R[i];
            p += c * P[i];
            q += c * Q[i];
        }
        double factor = -1.0 / (n * t->g[1] + t->f[0]);
        R[n] = factor * r;
        P[n] = factor * p;
        Q[n] = factor * q;
        Z[n] = flow->k_n * R[n] - flow->mu * (k1 * P[n] + k2 * Q[n]);
        t->R += R[n] * power;
        t->Q[0] += P[n] * power;
        t->Q[1] += Q[n] * power;
        double term = (fabs(R[n]) + fabs(P[n]) + fabs(Q[n])) * fabs(power);
        if (term <= RB_IMPACT_SERIES_TOL * t->R) return n + 1;
        power *= t->angle;
        fact /= n + 1;
    }
    return 0;
}

/* The work: V of the right side Z, with 2 f in place of f. */
static void sum_work(tail *t, int count, const double *Z)
{
    double V[ORDER + 1], power = 1.0;
    t->V = 0.0;
    for (int n = 0; n < count; n++) {
        double v = Z[n];
        for (int i = 0; i < n; i++) v += (i * t->g[n - i + 1] + 2.0 * t->f[n - i]) * V[i];
        V[n] = -v / (n * t->g[1] + 2.0 * t->f[0]);
        t->V += V[n] * power;
        power *= t->angle;
    }
}

/* Whether the goal is after the stop. Paths that are not monotone are left to arcs. */
static int stops_first(const rb_impact_flow *f, const tail *t, const rb_impact_goal *goal,
                       const rb_impact_point *at, const rb_impact_point *end)
{
    if (goal->kind == RB_GOAL_IMPULSE) return end->p[0] < goal->value;
    double here = f->k_n * t->speed - f->mu * (f->k[0] * at->s[0] + f->k[1] * at->s[1]);
    double ray = f->k_n - f->mu * (f->k[0] * t->dir[0] + f->k[1] * t->dir[1]);
    if ((here > 0.0) != (ray > 0.0)) return 0;
    if (goal->kind == RB_GOAL_SPEED) return end->z < goal->value;
    return at->z >= 0.0 && end->z >= 0.0 && end->W < goal->value;
}

int rb_impact_stop(const rb_impact_flow *flow, const rb_impact_goal *goal, rb_impact_point *at)
{
    tail t = { .V = 0.0 };
    if (!find_ray(flow, at, &t)) return 0;
    expand(flow, &t);
    double Z[ORDER + 1];
    int count = sum_impulse(flow, &t, Z);
    if (!count) return 0;
    if (flow->with_work) sum_work(&t, count, Z);

    double unit = t.speed / flow->rate; /* the series were divided by the rate */
    double Q[2] = { t.dir[0] * t.Q[0] - t.dir[1] * t.Q[1], t.dir[1] * t.Q[0] + t.dir[0] * t.Q[1] };
    rb_impact_point end = *at;
    double dp = unit * t.R;
    end.p[0] += dp;
    for (int i = 0; i < 2; i++) {
        end.p[1 + i] -= flow->mu * unit * Q[i];
        end.s[i] = 0.0;
    }
    end.z += flow->k_n * dp - flow->mu * unit * (flow->k[0] * Q[0] + flow->k[1] * Q[1]);
    if (flow->with_work) end.W += end.z * dp - unit * unit * t.V;
    if (!stops_first(flow, &t, goal, at, &end)) return 0;
    *at = end;
    return 1;
}
