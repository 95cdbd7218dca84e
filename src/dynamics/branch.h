/* One branch of the tree at a time: where it is at another place of its joints, while the others
 * stay where they are. */
#ifndef RB_DYNAMICS_BRANCH_H
#define RB_DYNAMICS_BRANCH_H

#include "rattleback/model.h"

/* Joint j of q (+) h v; the rest of out stays. */
void rb_integrate_joint(const rb_model *m, int j, const double *q, const double *v, double h,
                        double *out);

/* q (+) h v of all joints that geom g hangs on, its links and its frame; those of mocap bodies are
 * where d has them. */
void rb_branch_place(const rb_model *m, rb_data *d, int g, const double *q, const double *v,
                     double h);

#endif
