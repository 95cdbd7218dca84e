/* What overlaps before the first step, by name. */
#ifndef RATTLEBACK_CLI_OVERLAP_H
#define RATTLEBACK_CLI_OVERLAP_H

#include "rattleback/step.h"

/* One line on standard error for each pair, the deepest first; returns how many there are. */
int overlap_say(const rb_model *m, rb_data *d, const rb_step_opts *opts);

#endif
