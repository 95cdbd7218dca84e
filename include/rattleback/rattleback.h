/* rattleback: rigid and articulated bodies in hard contact. This header includes the core API:
 * base.h (status, errors, allocator, arena) and solve.h (certified complementarity solvers).
 * File formats are in rattleback/io.h and the library rattleback_io. */
#ifndef RATTLEBACK_H
#define RATTLEBACK_H

#include "rattleback/base.h"
#include "rattleback/solve.h"

#endif
