#include "controls.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"

/* Share of a step by which sums of steps may miss the instant they mean. */
static const double SLACK = 1e-6;

control_options control_options_default(void)
{
    return (control_options){ .hold = 0.1 };
}

int control_set_random(control_options *o, const char *text)
{
    static const char expected[] = "SEED[,HOLD]: a whole number >= 0, and seconds > 0 for which "
                                   "controls stay the same, for example 1,0.1";
    char *end;
    errno = 0;
    o->random = 1;
    o->seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno || (*end != '\0' && *end != ','))
        return argument_refuse("run", "--ctrl-random", text, expected);
    if (*end == '\0') return 1;
    const char *hold = end + 1;
    o->hold = strtod(hold, &end);
    if (end == hold || *end != '\0' || !(o->hold > 0.0) || !isfinite(o->hold))
        return argument_refuse("run", "--ctrl-random", text, expected);
    return 1;
}

void controls_note(const control_options *o, const rb_model *m)
{
    if (o->random && m->nu == 0)
        fputs("rattleback run: --ctrl-random: the model has no actuators; it runs without\n",
              stderr);
}

/* A generator for each interval, so that any of them can be had alone. */
static void set_random(const control_options *o, const rb_model *m, rb_data *d, double h)
{
    double interval = floor((d->time + SLACK * h) / o->hold);
    rb_rng rng = rb_rng_make(o->seed * 1000003u + (uint64_t)(int64_t)interval);
    for (int k = 0; k < m->nu; k++) {
        const double *range = m->act_ctrl_range + 2 * (ptrdiff_t)k;
        int limited = m->act_ctrl_limited[k];
        d->ctrl[k] = rb_rng_uniform(&rng, limited ? range[0] : -1.0, limited ? range[1] : 1.0);
    }
}

void controls_set(const control_options *o, const rb_model *m, rb_data *d, double h)
{
    if (o->random) set_random(o, m, d, h);
}
