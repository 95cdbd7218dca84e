/* Directions of slip that do not turn, and the closed forms that hold on them.
 *
 * With w(e) = K_tn - mu K_tt e the slip s = |s| e follows d|s|/dp = e.w and |s| de/dp = the part of
 * w across e (I.5). A ray is a direction where w = f e:
 *
 *     (mu K_tt + f I) e = K_tn,   |e| = 1                                                  (I.10)
 *
 * In the eigenvectors of K_tt the left side becomes sum (k_i / (mu a_i + f))^2 = 1. For f > 0 the
 * sum falls with f; it exceeds 1 at f = 0 exactly where sticking needs more than mu. So a contact
 * that cannot stick has one diverging ray, and no other does. */
#include <math.h>

#include "base/constants.h"
#include "contact/impact_path.h"

/* ---- sticking ----------------------------------------------------------------------------------
 */

/* Eigenvalues a[0] >= a[1] of K_tt, unit eigenvector of the first. */
static void eigen2(const double A[3], double a[2], double dir[2])
{
    double mean = 0.5 * (A[0] + A[1]), half = 0.5 * (A[0] - A[1]);
    double radius = sqrt(half * half + A[2] * A[2]);
    a[0] = mean + radius;
    double det = A[0] * A[1] - A[2] * A[2];
    a[1] = a[0] > 0.0 ? det / a[0] : 0.0;
    if (!(a[1] > RB_IMPACT_FLAT * a[0])) a[1] = 0.0;

    /* of the two rows of A - a[1] I the one without cancellation */
    double x = half >= 0.0 ? half + radius : A[2], y = half >= 0.0 ? A[2] : radius - half;
    double length = sqrt(x * x + y * y);
    dir[0] = length > 0.0 ? x / length : 1.0;
    dir[1] = length > 0.0 ? y / length : 0.0;
}

/* K_tn in the eigenvectors. |k_i|^2 <= a_i K_nn in a matrix without negative eigenvalues: what is
 * more than that is rounding, and would hold a point that has no compliance. */
static void eigen_coupling(const rb_impact_flow *f, double a[2], double dir[2], double k[2])
{
    eigen2(f->A, a, dir);
    k[0] = dir[0] * f->k[0] + dir[1] * f->k[1];
    k[1] = dir[0] * f->k[1] - dir[1] * f->k[0];
    for (int i = 0; i < 2; i++) {
        double most = sqrt(a[i] * f->k_n);
        if (fabs(k[i]) > most) k[i] = copysign(most, k[i]);
    }
}

int rb_impact_stick(const rb_impact_flow *f, double t[2])
{
    double a[2], dir[2], k[2], hold[2];
    eigen_coupling(f, a, dir, k);
    for (int i = 0; i < 2; i++) hold[i] = a[i] > 0.0 ? -k[i] / a[i] : 0.0;
    t[0] = dir[0] * hold[0] - dir[1] * hold[1];
    t[1] = dir[1] * hold[0] + dir[0] * hold[1];
    return sqrt(t[0] * t[0] + t[1] * t[1]) <= f->mu;
}

/* Newton on 1 / |e(f)| = 1, concave in f: from f = 0 it rises to the root without passing it. */
double rb_impact_leave(const rb_impact_flow *f, double dir[2])
{
    double a[2], axis[2], k[2], e[2] = { 0.0, 0.0 }, rate = 0.0;
    eigen_coupling(f, a, axis, k);
    for (int i = 0; i < 2; i++)
        if (k[i] == 0.0) a[i] = 1.0; /* no share: keeps 0 / 0 away */

    enum { MOST = 60 };
    for (int step = 0; step < MOST; step++) {
        double sum = 0.0, slope = 0.0;
        for (int i = 0; i < 2; i++) {
            double b = f->mu * a[i] + rate;
            e[i] = k[i] / b;
            sum += e[i] * e[i];
            slope += e[i] * e[i] / b;
        }
        double gain = (sqrt(sum) - 1.0) * sum / slope;
        if (!(gain > RB_EPS * rate)) break;
        rate += gain;
    }
    double length = sqrt(e[0] * e[0] + e[1] * e[1]);
    e[0] /= length;
    e[1] /= length;
    dir[0] = axis[0] * e[0] - axis[1] * e[1];
    dir[1] = axis[1] * e[0] + axis[0] * e[1];
    return rate;
}

/* ---- straight pieces --------------------------------------------------------------------------
 */

rb_impact_line rb_impact_sliding(const rb_impact_flow *f, const double dir[2], double rate)
{
    return (rb_impact_line){ .z = f->k_n - f->mu * (f->k[0] * dir[0] + f->k[1] * dir[1]),
                             .s = { rate * dir[0], rate * dir[1] },
                             .t = { -f->mu * dir[0], -f->mu * dir[1] } };
}

/* The slip is zero: its remainder in K_tn + K_tt t is rounding. */
rb_impact_line rb_impact_sticking(const rb_impact_flow *f, const double t[2])
{
    return (rb_impact_line){ .z = f->k_n + f->k[0] * t[0] + f->k[1] * t[1], .t = { t[0], t[1] } };
}

double rb_impact_distance(const rb_impact_line *l, const rb_impact_point *at,
                          const rb_impact_goal *goal)
{
    if (goal->kind == RB_GOAL_IMPULSE) return goal->value - at->p[0];
    if (goal->kind == RB_GOAL_SPEED) {
        double missing = goal->value - at->z;
        if (missing <= 0.0) return 0.0;
        return l->z > 0.0 ? missing / l->z : INFINITY;
    }

    /* l.z dp^2 / 2 + z dp = missing, the first root, without cancellation */
    double missing = goal->value - at->W;
    if (missing <= 0.0) return 0.0;
    double root = at->z * at->z + 2.0 * l->z * missing;
    double below = root >= 0.0 ? at->z + sqrt(root) : 0.0;
    return below > 0.0 ? 2.0 * missing / below : INFINITY;
}

void rb_impact_advance(const rb_impact_line *l, double dp, rb_impact_point *at)
{
    at->W += dp * (at->z + 0.5 * dp * l->z);
    at->z += dp * l->z;
    at->p[0] += dp;
    for (int i = 0; i < 2; i++) {
        at->s[i] += dp * l->s[i];
        at->p[1 + i] += dp * l->t[i];
    }
}

int rb_impact_on_ray(const rb_impact_flow *f, rb_impact_point *at, double dir[2], double *rate)
{
    double speed = sqrt(at->s[0] * at->s[0] + at->s[1] * at->s[1]);
    double x = at->s[0] / speed, y = at->s[1] / speed;
    double Ax = f->A[0] * x + f->A[2] * y, Ay = f->A[2] * x + f->A[1] * y;
    double w[2] = { f->k[0] - f->mu * Ax, f->k[1] - f->mu * Ay };
    double along = x * w[0] + y * w[1], across = x * w[1] - y * w[0];

    /* d(across)/d(angle) = -along - mu e_2.K_tt e_2, e_2 at right angles to e */
    double slope = -along - f->mu * (f->A[0] * y * y - 2.0 * f->A[2] * x * y + f->A[1] * x * x);
    int straight = fabs(across) <= RB_IMPACT_STRAIGHT * f->rate;
    int near = slope < 0.0 && speed * fabs(across) <= -slope * RB_IMPACT_ON_RAY &&
               fabs(across) <= -0.1 * slope;
    if (!straight && !near) return 0;

    /* one step of Newton: what is left is the square of a tiny angle, or of a tiny slip */
    double angle = straight ? 0.0 : -across / slope;
    double length = sqrt(1.0 + angle * angle);
    dir[0] = (x - angle * y) / length;
    dir[1] = (y + angle * x) / length;
    Ax = f->A[0] * dir[0] + f->A[2] * dir[1];
    Ay = f->A[2] * dir[0] + f->A[1] * dir[1];
    *rate = dir[0] * (f->k[0] - f->mu * Ax) + dir[1] * (f->k[1] - f->mu * Ay);
    at->s[0] = speed * dir[0];
    at->s[1] = speed * dir[1];
    return 1;
}
