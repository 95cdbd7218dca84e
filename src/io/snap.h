/* Rotations that miss a right angle by the rounding of their digits. */
#ifndef RATTLEBACK_SRC_IO_SNAP_H
#define RATTLEBACK_SRC_IO_SNAP_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

/* Bodies, geoms and joints of the spec that are rotated by quarter turns about the axes, with
 * errors up to 0.002 rad ("1.57" misses by 8e-4, "3.14" by 2e-3, "1.5708" by 4e-6): counted in a
 * warning; corrected to the right angle where `snap` is set. */
rb_status rb_io_snap_angles(rb_spec *spec, int snap);

#endif
