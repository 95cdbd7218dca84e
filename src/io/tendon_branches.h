/* Armature of tendons that the mass matrix has no entries for. */
#ifndef RATTLEBACK_SRC_IO_TENDON_BRANCHES_H
#define RATTLEBACK_SRC_IO_TENDON_BRANCHES_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

/* Warns of the first tendon with armature that links on different branches move (D.24). */
rb_status rb_io_tendon_branches(rb_spec *spec);

#endif
