/* rattleback: rigid and articulated bodies in hard contact. This header includes the core API:
 * base.h (status, errors, allocator, arena), solve.h (certified complementarity solvers), spec.h
 * and model.h (models), dynamics.h (articulated dynamics), collide.h (gaps and manifolds),
 * contact.h (formulations), step.h (time) and sensor.h (contact forces, sensors). File formats are
 * in rattleback/io.h and rattleback/load.h, options by their names in rattleback/front.h: all three
 * of the library rattleback_io. */
#ifndef RATTLEBACK_H
#define RATTLEBACK_H

#include "rattleback/base.h"
#include "rattleback/collide.h"
#include "rattleback/contact.h"
#include "rattleback/dynamics.h"
#include "rattleback/impact.h"
#include "rattleback/model.h"
#include "rattleback/sensor.h"
#include "rattleback/solve.h"
#include "rattleback/spec.h"
#include "rattleback/step.h"

#endif
