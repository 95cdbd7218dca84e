/* Poses of links and frames of what is on them, which are not made again where they are there. */
#ifndef RB_DYNAMICS_PLACED_H
#define RB_DYNAMICS_PLACED_H

#include "rattleback/model.h"

/* rb_kinematics and rb_frames, but for geoms that are only to be seen, where pairs are listed, and
 * for spatial tendons where no rows look at them. Then: tendons where links are placed. */
void rb_placed_frames(const rb_model *m, rb_data *d);
void rb_placed_strings(const rb_model *m, rb_data *d);

/* The same and rb_velocity. */
void rb_placed_motion(const rb_model *m, rb_data *d);

/* rb_kinematics and rb_velocity. Forward dynamics cannot go on from here. */
void rb_placed_links(const rb_model *m, rb_data *d);

/* rb_forward_place, which is remembered. */
void rb_placed_anew(const rb_model *m, rb_data *d);

#endif
