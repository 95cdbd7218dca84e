/* Gauges: joints whose coordinate is measured between two bodies (D.52). */
#ifndef RB_DYNAMICS_GAUGE_H
#define RB_DYNAMICS_GAUGE_H

#include "rattleback/model.h"

/* Coordinates and rates of all gauges, after those of the state, their rows and biases. Needs
 * link velocities; rb_velocity ends with it. */
void rb_gauges(const rb_model *m, rb_data *d);

/* The angle that a hinge is expected near (D.53): that of the last step, before the first one the
 * middle of its range or the rest of its spring. */
double rb_gauge_expected(const rb_model *m, const rb_data *d, int j);

/* Hinges continue from the angles that rb_gauges has found. */
void rb_gauges_keep(const rb_model *m, rb_data *d);

/* tau (nv_all): the dofs get what the gauges have, tau += J' tau_gauge. */
void rb_gauge_spread(const rb_model *m, const rb_data *d, double *tau);

/* The same for a stiffness or damping of each dof, with row sums, so that the diagonal bounds the
 * coupling from above. */
void rb_gauge_spread_bound(const rb_model *m, const rb_data *d, double *k);

#endif
