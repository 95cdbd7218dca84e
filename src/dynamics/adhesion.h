/* Sticky geoms (F.5): the contacts that the last step had pull. */
#ifndef RB_DYNAMICS_ADHESION_H
#define RB_DYNAMICS_ADHESION_H

#include "rattleback/model.h"

/* Adds to the forces on the dofs (nv_all). Needs kinematics. */
void rb_adhesion_force(const rb_model *m, const rb_data *d, double *out);

#endif
