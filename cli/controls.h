/* What drives the actuators of a run: `--ctrl-random`. */
#ifndef RATTLEBACK_CLI_CONTROLS_H
#define RATTLEBACK_CLI_CONTROLS_H

#include "rattleback/model.h"

/* What the command line asks for. */
typedef struct control_options {
    int random; /* 1: --ctrl-random                              */
    uint64_t seed;
    double hold; /* [s] for which random controls stay the same   */
} control_options;

control_options control_options_default(void);

/* "SEED[,HOLD]": 1, or 0 after a sentence. */
int control_set_random(control_options *o, const char *text);

/* Notes on stderr about what cannot act: a model without actuators. */
void controls_note(const control_options *o, const rb_model *m);

/* The inputs of the step of length h that begins at d->time. They depend on the time, not on how
 * the run came there: a run that is continued from a saved state has the same. */
void controls_set(const control_options *o, const rb_model *m, rb_data *d, double h);

#endif
