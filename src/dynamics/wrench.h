/* Forces on bodies as forces on dofs. */
#ifndef RB_DYNAMICS_WRENCH_H
#define RB_DYNAMICS_WRENCH_H

#include "rattleback/model.h"

/* tau += J' of a force and a torque at the centre of mass of a body, world axes: O(depth). Needs
 * kinematics. */
void rb_push_body(const rb_model *m, const rb_data *d, int body, const double force[3],
                  const double torque[3], double *tau);

#endif
