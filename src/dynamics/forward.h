/* The three sweeps of forward dynamics, plain C or four numbers at a time. */
#ifndef RB_DYNAMICS_FORWARD_H
#define RB_DYNAMICS_FORWARD_H

#include "math/spatial_v4.h"
#include "rattleback/model.h"

enum { RB_LINK_WORK = 72 }; /* numbers of rb_data.link_work for one link */

#ifdef RB_HAS_V4
void rb_forward_out_v4(const rb_model *m, rb_data *d);
int rb_forward_in_v4(const rb_model *m, rb_data *d, const double *tau, double *qdd);
void rb_forward_accelerations_v4(const rb_model *m, rb_data *d, double *qdd);
#endif

#endif
