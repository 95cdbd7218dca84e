/* How stiff the passive forces are, for the implicit treatment of (D.37). */
#ifndef RB_DYNAMICS_PASSIVE_H
#define RB_DYNAMICS_PASSIVE_H

#include "dynamics/coupling.h"

/* Adds per dof the stiffness k and the damping b of joint springs, dampers and tendons (nv_all
 * each); rb_gauge_spread_bound brings those of gauges to the dofs. A tendon counts with the row
 * sums of its coupling, so that k and b bound it from above; those of several dofs go to `apart`
 * where M has room for them; NULL: none do. */
void rb_passive_stiffness_apart(const rb_model *m, const rb_data *d, double *k, double *b,
                                rb_coupling *apart);

/* Force of spring and damper of a tendon along its length [N], < 0: it pulls. */
double rb_tendon_spring(const rb_model *m, const rb_data *d, int t);

/* Gravity compensation on the dofs of joints that have it as a passive force (driven = 0) or as one
 * of the actuators (1), of which there must be one; the others become 0. */
void rb_gravity_compensation(const rb_model *m, const rb_data *d, int driven, double *out);

/* Inertia A that a dof with damping b and inertia D takes on in a step of h (D.38). */
static inline double rb_passive_hold(double h, double b, double D)
{
    double more = 0.5 * h * b - D;
    return more > 0.0 ? more : 0.0;
}

#endif
