/* Forces of a surrounding fluid (D.25), (D.26). */
#ifndef RB_DYNAMICS_FLUID_H
#define RB_DYNAMICS_FLUID_H

#include "rattleback/model.h"

/* out += their forces on the dofs. Needs velocity.                                      (nv) */
void rb_fluid_force(const rb_model *m, const rb_data *d, double *out);

#endif
