/* Joints that reverse again and again from step to step: a step may be certified and still be far
 * too long for the forces that move them. */
#ifndef RATTLEBACK_CLI_OSCILLATION_H
#define RATTLEBACK_CLI_OSCILLATION_H

#include "rattleback/model.h"

typedef struct oscillation {
    double *q, *dq;  /* of hinges and slides: the coordinate, and how far the last step moved it
                        (njnt) */
    unsigned *turns; /* a bit for each of the last steps: 1 where it reversed             (njnt) */
    int joint;       /* the first that did so too often; -1: none                                */
} oscillation;

/* 0: out of memory. */
int oscillation_start(oscillation *o, const rb_model *m, const rb_data *d);
void oscillation_free(oscillation *o);

/* Checks the coordinates after a step; 1 where an oscillating joint has just been found, once. */
int oscillation_step(oscillation *o, const rb_model *m, const rb_data *d);

#endif
