/* What drives a run: `--ctrl`, `--pd`, `--ctrl-random`. */
#ifndef RATTLEBACK_CLI_CONTROLS_H
#define RATTLEBACK_CLI_CONTROLS_H

#include "rattleback/step.h"

/* Options of the command line. */
typedef struct control_options {
    const char *file; /* --ctrl: controls over time; NULL: none                  */
    const char *pd;   /* --pd: targets of joints over time; NULL: none           */
    int random;       /* 1: --ctrl-random                                        */
    uint64_t seed;
    double hold;  /* [s] for which random controls are constant              */
    int linear;   /* 1: --interpolate linear; 0: constant between rows       */
    double every; /* --ctrl-every [s]; 0: at every step                      */
} control_options;

control_options control_options_default(void);

/* Setters of the command line: 1, or 0 after a sentence. */
int control_set_random(control_options *o, const char *text); /* "SEED[,HOLD]"   */
int control_set_interpolate(control_options *o, const char *text);
int control_set_every(control_options *o, const char *text);

typedef struct controls controls;

/* Reads the files; *out is NULL where no option is given. 0 after a sentence. With `maximal`
 * nothing may act on joints: they are rows there. */
int controls_open(const control_options *o, const rb_model *m, int maximal, controls **out);
void controls_free(controls *c); /* NULL is fine */

/* Mocap bodies move to the poses of their columns, and the first step reads the controls, unless
 * the run continues from a saved state, which has its inputs. */
void controls_start(controls *c, const rb_model *m, rb_data *d, int goes_on);

/* What rb_step_opts.control gets; c may be NULL. */
rb_control controls_callback(controls *c);

#endif
