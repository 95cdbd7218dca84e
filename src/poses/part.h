/* What the files of a part share. */
#ifndef RB_POSES_PART_H
#define RB_POSES_PART_H

#include "rattleback/poses.h"

/* From the hull to facets, poses and the quasi-static estimate. 0: out of memory. */
int rb_part_find_poses(rb_part *p, double merge);

#endif
