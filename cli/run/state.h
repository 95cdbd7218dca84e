/* Where a run starts and where it ends: --state, --start-height, --save. */
#ifndef RATTLEBACK_CLI_RUN_STATE_H
#define RATTLEBACK_CLI_RUN_STATE_H

#include "rattleback/model.h"

/* The one state of a file on top of *d, which may move; *goes_on: 1 where it was saved by a run and
 * has all that a step remembers. 0 after a sentence. */
int run_state_apply(const char *path, const rb_model *m, rb_data **d, int *goes_on);

/* The origin of the first free joint at height z [m]. 0 after a sentence. */
int run_state_height(const rb_model *m, rb_data *d, double z);

/* Writes what run_state_apply reads. 0 after a sentence. */
int run_state_save(const char *path, const rb_model *m, const rb_data *d);

#endif
