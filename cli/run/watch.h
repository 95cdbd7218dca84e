/* `run --watch`: contacts, limits and dry friction that open, stick or slide otherwise than in the
 * step before. */
#ifndef RATTLEBACK_CLI_WATCH_H
#define RATTLEBACK_CLI_WATCH_H

#include "rattleback/step.h"

typedef struct watched {
    rb_touch_id id;
    int mode;
    double pos[3]; /* of contacts */
} watched;

typedef struct watch {
    watched *touch; /* of the step before, in their order */
    int n;
} watch;

/* A line on stderr for each change; what is not there any more is open. */
void watch_step(watch *w, const rb_model *m, const rb_data *d);

void watch_free(watch *w);

#endif
