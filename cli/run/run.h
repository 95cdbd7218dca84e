/* The options of `rattleback run`: command line, then what the model says in rb.* entries. */
#ifndef RATTLEBACK_CLI_RUN_H
#define RATTLEBACK_CLI_RUN_H

#include "run/controls.h"
#include "model.h"
#include "rattleback/step.h"
#include "show.h"

enum { RUN_MOST_CHOICES = 40 };

typedef struct run_options {
    model_options model; /* first: the setters of model.h write to it */
    rb_step_opts step;
    double time; /* [s]                                       */
    int every;   /* rows of the record: each so many steps    */
    const char *record, *columns, *state, *save, *dump, *events;
    int check_step; /* 1: again with half the step */
    int has_height;
    int has_noise; /* --sensor-noise */
    double noise_seed;
    double height; /* of the floating base at the start [m] */
    control_options control;
    show_options show;
    int watch;
    int threads;
    double time_limit; /* of the clock, for the whole run [s]; INFINITY: none */
    int loose;         /* --loose was given: what is below the accuracy is no failure */
    const char *given[RUN_MOST_CHOICES + 1]; /* what the command line decides, NULL-terminated */
} run_options;

run_options run_options_default(void);

/* 1, or 0 after a sentence. */
int run_options_parse(run_options *o, int argc, char **argv, int *nfile);

/* What the model says and the command line does not. */
int run_options_from_model(run_options *o, const rb_model *m);

void run_help(void);

#endif
