#include "run/controls.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "run/control_columns.h"
#include "run/control_table.h"
#include "model.h"

struct controls {
    control_options o;
    rb_table *table, *targets;
    control_channel *channel; /* of the columns of the table   (table->ncol)  */
    control_pd *pd;           /*                               (npd)          */
    int npd;
    int first;  /* 1: the next step calls it, whatever its time */
    int jumped; /* 1: a jump of a mocap body was reported   */
};

control_options control_options_default(void)
{
    return (control_options){ .hold = 0.1 };
}

/* ---- options -----------------------------------------------------------------------------------
 */

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

int control_set_interpolate(control_options *o, const char *text)
{
    o->linear = strcmp(text, "linear") == 0;
    if (o->linear || strcmp(text, "hold") == 0) return 1;
    return argument_refuse("run", "--interpolate", text, "hold or linear");
}

int control_set_every(control_options *o, const char *text)
{
    return argument_number("run", "--ctrl-every", text, 1e-12, 1e12,
                           "seconds > 0 between control instants", &o->every);
}

/* ---- files -------------------------------------------------------------------------------------
 */

static int refuse_choice(const control_options *o, const rb_model *m)
{
    if (o->random && o->file) {
        fputs("rattleback run: --ctrl-random and --ctrl: both drive the actuators; take one\n",
              stderr);
        return 1;
    }
    if (o->linear && !o->file && !o->pd) {
        fputs("rattleback run: --interpolate: there is no --ctrl or --pd to interpolate\n", stderr);
        return 1;
    }
    if (o->every > 0.0 && !o->file && !o->pd && !o->random) {
        fputs("rattleback run: --ctrl-every: nothing drives the model; give --ctrl, --pd or "
              "--ctrl-random\n",
              stderr);
        return 1;
    }
    if (o->random && m->nctrl == 0)
        fputs("rattleback run: --ctrl-random: the model has no actuators; it runs without\n",
              stderr);
    return 0;
}

static int read_table(const char *path, rb_table **out)
{
    rb_error err = { 0 };
    *out = rb_table_read(path, NULL, &err);
    if (!*out) model_say(&err);
    return *out != NULL;
}

static int open_files(controls *c, const rb_model *m, int maximal)
{
    if (c->o.file) {
        if (!read_table(c->o.file, &c->table)) return 0;
        c->channel = control_channels(c->table, c->o.file, m, maximal);
        if (!c->channel) return 0;
    }
    if (c->o.pd) {
        if (!read_table(c->o.pd, &c->targets)) return 0;
        c->pd = control_pd_joints(c->targets, c->o.pd, m, maximal, &c->npd);
        if (!c->pd) return 0;
    }
    if (!c->channel || !c->pd) return 1;
    return control_pd_alone(c->pd, c->npd, c->channel, c->table->ncol, m);
}

int controls_open(const control_options *o, const rb_model *m, int maximal, controls **out)
{
    *out = NULL;
    if (refuse_choice(o, m)) return 0;
    if (!o->random && !o->file && !o->pd) return 1;
    controls *c = calloc(1, sizeof *c);
    if (!c) fputs("rattleback run: out of memory\n", stderr);
    if (!c) return 0;
    c->o = *o;
    *out = c;
    return open_files(c, m, maximal);
}

void controls_free(controls *c)
{
    if (!c) return;
    rb_table_free(c->table);
    rb_table_free(c->targets);
    free(c->channel);
    free(c->pd);
    free(c);
}

/* ---- inputs ------------------------------------------------------------------------------------
 */

/* Share of a step by which sums of steps may miss the instant they mean. */
static const double SLACK = 1e-6;
static const double JUMP = 0.01; /* [m] within a step that is worth a word */

/* A generator for each interval, so that any of them can be had alone. */
static void set_random(const controls *c, const rb_model *m, rb_data *d, double h)
{
    double interval = floor((d->time + SLACK * h) / c->o.hold);
    rb_rng rng = rb_rng_make(c->o.seed * 1000003u + (uint64_t)(int64_t)interval);
    for (int k = 0; k < m->nctrl; k++) {
        const double *range = m->act_ctrl_range + 2 * (ptrdiff_t)k;
        int limited = m->act_ctrl_limited[k];
        d->ctrl[k] = rb_rng_uniform(&rng, limited ? range[0] : -1.0, limited ? range[1] : 1.0);
    }
}

static void set_inputs(const controls *c, const rb_model *m, rb_data *d, double h)
{
    double t = d->time + SLACK * h;
    if (c->o.random) set_random(c, m, d, h);
    if (c->table && rb_table_row(c->table, t) >= 0) {
        for (int k = 0; k < c->table->ncol; k++) {
            double x = control_value(c->table, k, t, c->o.linear);
            if (c->channel[k].kind == CONTROL_CTRL) d->ctrl[c->channel[k].at] = x;
            if (c->channel[k].kind == CONTROL_TAU) d->tau[c->channel[k].at] = x;
        }
    }
    if (c->pd && rb_table_row(c->targets, t) >= 0)
        control_pd_set(c->targets, c->pd, c->npd, t, c->o.linear, d);
}

/* A row that holds until the next one makes a mocap body jump to the next one within a step: it
 * hits what is there with that speed. */
static void warn_of_jump(controls *c, const rb_model *m, const rb_data *d, double h)
{
    char name[256];
    for (int b = 0; b < m->nbody && !c->jumped && !c->o.linear; b++) {
        if (m->body_mocap[b] < 0) continue;
        const double *v = d->mocap_v + 6 * (ptrdiff_t)m->body_mocap[b];
        double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        c->jumped = speed * h > JUMP;
        if (c->jumped)
            fprintf(stderr,
                    "t = %.6g: mocap body %s jumps by %.3g m within a step, at %.3g m/s; "
                    "--interpolate linear leads it from row to row\n",
                    d->time, rb_model_name(m, RB_KIND_BODY, b, name, sizeof name), speed * h,
                    speed);
    }
}

/* Mocap bodies are where their columns say at the end of every step. */
static void lead(controls *c, const rb_model *m, rb_data *d, double h)
{
    if (!c->table || m->nmocap == 0) return;
    double t = d->time + h + SLACK * h;
    if (rb_table_row(c->table, t) < 0) return;
    control_lead(c->table, c->channel, t, c->o.linear, h, m, d);
    warn_of_jump(c, m, d, h);
}

static rb_status ask(void *ctx, const rb_model *m, rb_data *d, double h, rb_error *err)
{
    controls *c = ctx;
    const rb_control rate = { .every = c->o.every };
    (void)err;
    if (c->first || rb_control_is_due(&rate, d->time, h)) set_inputs(c, m, d, h);
    c->first = 0;
    lead(c, m, d, h);
    return RB_OK;
}

void controls_start(controls *c, const rb_model *m, rb_data *d, int goes_on)
{
    if (!c || goes_on) return;
    c->first = 1;
    if (c->table && m->nmocap > 0 && rb_table_row(c->table, d->time) >= 0)
        control_place(c->table, c->channel, d->time, c->o.linear, m, d);
}

rb_control controls_callback(controls *c)
{
    return (rb_control){ .set = c ? ask : NULL, .ctx = c };
}
