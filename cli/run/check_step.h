/* `--check-step`: the same run with half the step, and how far its end is from that of the run. */
#ifndef RATTLEBACK_CLI_CHECK_STEP_H
#define RATTLEBACK_CLI_CHECK_STEP_H

#include "rattleback/step.h"

typedef struct check_step {
    int done;        /* 0: the run with half the step failed                       */
    int body;        /* whose origin is farthest from where it was                  */
    double distance; /* [m]                                                         */
    double turn;     /* largest angle between the two orientations of a body [rad]  */
    int turned;      /* that body                                                   */
} check_step;

/* `start` is where the run began; it is moved to the end. `end` is where the run ended, its frames
 * are set. */
check_step check_step_run(const rb_model *m, rb_data **start, rb_data *end,
                          const rb_step_opts *opts);

#endif
