/* The gaps of a model, for the table of compute_what.c. */
#ifndef RATTLEBACK_CLI_COMPUTE_GAPS_H
#define RATTLEBACK_CLI_COMPUTE_GAPS_H

#include "compute.h"

/* A list of pairs: geom1, geom2, gap, normal, points. What fails is said on stderr. */
rb_status compute_put_gaps(computation *c, const char *name);

#endif
