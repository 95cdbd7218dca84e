#include "collide/ballistic.h"

#include <math.h>

double rb_ballistic_bound(double room, double speed, double accel)
{
    double root = speed * speed + 2.0 * accel * room;
    if (root < 0.0 && accel < 0.0) return INFINITY; /* reverses before */
    double below = speed + sqrt(fmax(0.0, root));   /* the root without cancellation */
    return below > 0.0 ? 2.0 * room / below : INFINITY;
}
