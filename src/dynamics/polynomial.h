/* Springs and dampers of joints that are polynomials (D.23): what they add to the linear laws. */
#ifndef RB_DYNAMICS_POLYNOMIAL_H
#define RB_DYNAMICS_POLYNOMIAL_H

#include "rattleback/model.h"

void rb_poly_force(const rb_model *m, const rb_data *d, double *out); /* out +=      (nv_all) */
double rb_poly_energy(const rb_model *m, const rb_data *d);           /* of the springs [J]   */

/* Slopes, as far as they hold or brake: k, b +=                                     (nv_all)  */
void rb_poly_stiffness(const rb_model *m, const rb_data *d, double *k, double *b);

#endif
