/* Muscles (D.31). Lengths L and velocities V are relative: to the length L0 at which the muscle is
 * strongest, and to the velocity at which it has no force left. The curves are MuJoCo's: pieces of
 * parabolas. */
#include "dynamics/muscle.h"

#include <math.h>

#include "base/constants.h"
#include "math/dense.h"

/* Parabolas from 0 at lmin over 1/2 halfway to 1 at L = 1, and down again to lmax. */
static double by_length(double L, double lmin, double lmax)
{
    if (L < lmin || L > lmax) return 0.0;
    double end = L <= 1.0 ? lmin : lmax, half = 0.5 * (end + 1.0);
    double width = fmax(RB_MUSCLE_MIN, fabs(half - end));
    int outer = L <= 1.0 ? L <= half : L > half;
    double x = (outer ? L - end : L - 1.0) / width;
    return outer ? 0.5 * x * x : 1.0 - 0.5 * x * x;
}

/* Its derivative. */
static double slope_by_length(double L, double lmin, double lmax)
{
    if (L < lmin || L > lmax) return 0.0;
    double end = L <= 1.0 ? lmin : lmax, half = 0.5 * (end + 1.0);
    double width = fmax(RB_MUSCLE_MIN, fabs(half - end));
    int outer = L <= 1.0 ? L <= half : L > half;
    return outer ? (L - end) / (width * width) : (1.0 - L) / (width * width);
}

static double slope_by_velocity(double V, double fvmax)
{
    double y = fvmax - 1.0;
    if (V <= -1.0) return 0.0;
    if (V <= 0.0) return 2.0 * (V + 1.0);
    return V <= y ? 2.0 * (y - V) / fmax(RB_MUSCLE_MIN, y) : 0.0;
}

static double by_velocity(double V, double fvmax)
{
    double y = fvmax - 1.0;
    if (V <= -1.0) return 0.0;
    if (V <= 0.0) return (V + 1.0) * (V + 1.0);
    if (V <= y) return fvmax - (y - V) * (y - V) / fmax(RB_MUSCLE_MIN, y);
    return fvmax;
}

static double best_length(const rb_muscle *p, const double range[2])
{
    return (range[1] - range[0]) / fmax(RB_MUSCLE_MIN, p->range[1] - p->range[0]);
}

static double relative_length(const rb_muscle *p, const double range[2], double length)
{
    return p->range[0] + (length - range[0]) / fmax(RB_MUSCLE_MIN, best_length(p, range));
}

double rb_muscle_gain(const rb_muscle *p, const double range[2], double length, double rate)
{
    double L = relative_length(p, range, length);
    double V = rate / fmax(RB_MUSCLE_MIN, best_length(p, range) * p->vmax);
    return -p->force * by_length(L, p->lmin, p->lmax) * by_velocity(V, p->fvmax);
}

double rb_muscle_bias(const rb_muscle *p, const double range[2], double length)
{
    double L = relative_length(p, range, length), half = 0.5 * (1.0 + p->lmax);
    double width = fmax(RB_MUSCLE_MIN, half - 1.0);
    if (L <= 1.0) return 0.0;
    double x = (L <= half ? L - 1.0 : L - half) / width;
    return -p->force * p->fpmax * (L <= half ? 0.5 * x * x : 0.5 + x);
}

void rb_muscle_gain_slopes(const rb_muscle *p, const double range[2], double length, double rate,
                           double slope[2])
{
    double best = best_length(p, range), L = relative_length(p, range, length);
    double fastest = fmax(RB_MUSCLE_MIN, best * p->vmax), V = rate / fastest;
    slope[0] = -p->force * slope_by_length(L, p->lmin, p->lmax) * by_velocity(V, p->fvmax) /
               fmax(RB_MUSCLE_MIN, best);
    slope[1] =
        -p->force * by_length(L, p->lmin, p->lmax) * slope_by_velocity(V, p->fvmax) / fastest;
}

double rb_muscle_bias_slope(const rb_muscle *p, const double range[2], double length)
{
    double L = relative_length(p, range, length), half = 0.5 * (1.0 + p->lmax);
    double width = fmax(RB_MUSCLE_MIN, half - 1.0);
    if (L <= 1.0) return 0.0;
    double rise = L <= half ? (L - 1.0) / width : 1.0;
    return -p->force * p->fpmax * rise / (width * fmax(RB_MUSCLE_MIN, best_length(p, range)));
}

/* A step of fifth degree from 0 to 1 on 0 .. 1. */
static double smooth_step(double x)
{
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    return x * x * x * (10.0 + x * (6.0 * x - 15.0));
}

double rb_muscle_time(const double time[2], double smooth, double ctrl, double act)
{
    double level = 0.5 + 1.5 * rb_clamp(act, 0.0, 1.0), more = rb_clamp(ctrl, 0.0, 1.0) - act;
    double up = time[0] * level, down = time[1] / level;
    double share = smooth < RB_MUSCLE_MIN ? more > 0.0 : smooth_step(more / smooth + 0.5);
    return fmax(RB_MUSCLE_MIN, down + (up - down) * share);
}
