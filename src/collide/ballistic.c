#include "collide/ballistic.h"

#include <math.h>

#include "base/constants.h"

/* Without torque 2T = sum J_i x_i and L^2 = sum J_i^2 x_i are kept, x_i = w_i^2 >= 0. The largest
 * sum of the x_i under these two equations is a linear program: it is attained where one x_k is
 * zero. Two moments that are equal leave |w| constant along them. */
double rb_ballistic_spin(const double J[3], const double w[3])
{
    double T2 = 0.0, L2 = 0.0, now = 0.0, most = 0.0;
    for (int i = 0; i < 3; i++) {
        double x = w[i] * w[i];
        now += x;
        T2 += J[i] * x;
        L2 += J[i] * J[i] * x;
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double apart = J[i] - J[j];
        if (fabs(apart) <= RB_INERTIA_SLACK * fmax(J[i], J[j])) continue;
        double x = (L2 - J[j] * T2) / (J[i] * apart), y = (J[i] * T2 - L2) / (J[j] * apart);
        double slack = -8.0 * RB_EPS * (x + y) * fmax(J[i], J[j]) / fabs(apart);
        if (x >= slack && y >= slack) most = fmax(most, x + y);
    }
    return sqrt(fmax(now, most));
}

double rb_ballistic_bound(double room, double speed, double accel)
{
    double root = speed * speed + 2.0 * accel * room;
    if (root < 0.0) return INFINITY;
    double below = speed + sqrt(root); /* the root without cancellation */
    return below > 0.0 ? 2.0 * room / below : INFINITY;
}
