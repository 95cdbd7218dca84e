/* `rattleback poses`: how often a part that is dropped comes to rest in each of its poses.
 *
 * Drops are taken by their number from one counter, by as many threads as there are; each brings
 * its own random numbers. What counts is always the prefix of drops that are finished: the tally,
 * the record and the decision to stop early look at nothing else, so that neither threads nor a
 * kill change a digit. */
#include "poses/poses.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "commands.h"
#include "pool.h"

/* Drops between two checks of the precision, and between two writes of the record. */
enum { BLOCK = 50 };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

typedef struct campaign {
    const poses_options *o;
    const rb_part *p;
    const rb_model *m;
    pthread_mutex_t lock;
    int next;            /* drop to be taken                                    */
    int prefix;          /* drops 0 .. prefix - 1 are finished                  */
    int end;             /* drops that count: o->drops, less once precise       */
    int *hits;           /* of the prefix, in each pose                (npose)  */
    rb_drop *drops;      /*                                            (drops)  */
    unsigned char *done; /*                                            (drops)  */
    poses_record record;
    rb_status status; /* of the first worker that failed                     */
    rb_error err;
    int write_failed;
    double begun, shown;
} campaign;

/* ---- counting -----------------------------------------------------------------------------------
 */

/* What the prefix holds. */
static void count(const campaign *c, poses_tally *t)
{
    t->drops = c->prefix;
    t->count = c->hits;
    for (int k = 0; k < c->prefix; k++) {
        const rb_drop *d = &c->drops[k];
        t->outcome[d->outcome]++;
        t->time += d->time;
        t->steps += d->steps;
        t->retries += d->retries;
    }
}

/* Whether all intervals of the prefix are as narrow as --precision. */
static int precise(const campaign *c)
{
    for (int k = 0; k < c->p->npose; k++) {
        double low, high;
        rb_wilson(c->hits[k], c->prefix, &low, &high);
        if (0.5 * (high - low) > c->o->precision) return 0;
    }
    return 1;
}

/* ---- dropping -----------------------------------------------------------------------------------
 */

static void show(campaign *c)
{
    enum { WIDTH = 30 };
    double t = wall_seconds();
    if (!isatty(STDERR_FILENO) || t - c->shown < 0.1) return;
    c->shown = t;
    int full = c->o->drops > 0 ? (int)((double)WIDTH * c->prefix / c->o->drops) : WIDTH;
    fprintf(stderr, "\r\033[K[%.*s%*s] %d of %d drops  %.0f a second", full,
            "##############################", WIDTH - full, "", c->prefix, c->o->drops,
            c->prefix / fmax(1e-9, t - c->begun));
    fflush(stderr);
}

/* The prefix moves on over what is finished; at the ends of blocks it is written and judged. */
static void advance(campaign *c)
{
    while (c->prefix < c->end && c->done[c->prefix]) {
        int in = c->drops[c->prefix++].pose;
        if (in >= 0) c->hits[in]++;
        if (c->prefix % BLOCK != 0) continue;
        if (!poses_record_append(&c->record, c->drops, c->prefix)) c->write_failed = 1;
        if (c->o->precision > 0.0 && precise(c)) c->end = c->prefix;
    }
    show(c);
}

static int take(campaign *c)
{
    int k = -1;
    pthread_mutex_lock(&c->lock);
    while (c->next < c->end && c->done[c->next]) c->next++;
    if (c->next < c->end && c->status == RB_OK && !c->write_failed && !interrupted) k = c->next++;
    pthread_mutex_unlock(&c->lock);
    return k;
}

static void work(void *handle, int worker)
{
    campaign *c = handle;
    rb_data *d = rb_data_new(c->m, NULL);
    rb_error err = { 0 };
    rb_status status = d ? RB_OK : RB_NOMEM;
    (void)worker;
    for (int k = 0; status == RB_OK && (k = take(c)) >= 0;) {
        rb_drop result;
        status = rb_drop_run(c->p, c->m, &c->o->drop, k, &d, &result, &err);
        pthread_mutex_lock(&c->lock);
        if (status == RB_OK) {
            c->drops[k] = result;
            c->done[k] = 1;
            advance(c);
        }
        pthread_mutex_unlock(&c->lock);
    }
    if (status != RB_OK) {
        pthread_mutex_lock(&c->lock);
        if (c->status == RB_OK) {
            c->status = status;
            c->err = err;
        }
        pthread_mutex_unlock(&c->lock);
    }
    rb_data_free(d);
}

/* ---- settings -----------------------------------------------------------------------------------
 */

static uint64_t settings_hash(const poses_options *o, const rb_part *p)
{
    const rb_drop_opts *s = &o->drop;
    const double numbers[] = { s->height,           s->spin,         s->time,     s->full,
                               s->step.h,           s->step.stepper, s->step.law, s->step.friction,
                               s->step.restitution, s->step.accuracy };
    uint64_t h = rb_hash(p->fingerprint, &s->seed, sizeof s->seed);
    return rb_hash(h, numbers, sizeof numbers);
}

/* What follows from the part: 1, or 0 after a sentence. */
static int finish_settings(poses_options *o, const rb_part *p, const rb_model *m)
{
    rb_error err = { 0 };
    double longest = o->is_mesh ? INFINITY : m->option.timestep;
    o->drop.step.friction = o->friction;
    o->drop.step.restitution = o->restitution;
    if (rb_drop_opts_finish(&o->drop, p, longest, &err) == RB_OK) return 1;
    fprintf(stderr, "rattleback poses: --%s\n", err.text);
    return 0;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int run_drops(campaign *c)
{
    const poses_options *o = c->o;
    size_t room = (size_t)o->drops + 1;
    int known = 0;
    c->drops = calloc(room, sizeof *c->drops);
    c->done = calloc(room, 1);
    c->hits = calloc((size_t)c->p->npose, sizeof *c->hits);
    if (!c->drops || !c->done || !c->hits) {
        fputs("rattleback poses: out of memory for the drops\n", stderr);
        return 0;
    }
    if (o->record && !poses_record_open(&c->record, o->record, settings_hash(o, c->p), c->p->npose,
                                        c->drops, o->drops, &known))
        return 0;
    memset(c->done, 1, (size_t)known);
    c->end = o->drops;
    advance(c);
    pool *threads = pool_new(o->threads);
    if (!threads) {
        fputs("rattleback poses: the threads could not be started\n", stderr);
        return 0;
    }
    const rb_parallel *parallel = pool_parallel(threads);
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    parallel->run(parallel->ctx, work, c);
    pool_free(threads);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (!poses_record_append(&c->record, c->drops, c->prefix)) c->write_failed = 1;
    if (c->status != RB_OK)
        fprintf(stderr, "%s: %s\n", o->file,
                c->err.text[0] ? c->err.text : rb_status_text(c->status));
    return c->status == RB_OK && !c->write_failed;
}

static int report(campaign *c, poses_tally *t)
{
    const poses_options *o = c->o;
    int ok = 1;
    count(c, t);
    t->cpu = processor_seconds();
    t->wall = wall_seconds() - c->begun;
    t->interrupted = interrupted != 0;
    if (o->model.json)
        poses_report_json(o, c->p, t);
    else
        poses_report_text(o, c->p, t);
    if (o->csv) ok = poses_write_csv(o->csv, c->drops, c->prefix);
    if (o->svg) ok = poses_report_svg(o, c->p, t) && ok;
    if (!ok) return EXIT_BAD_INPUT;
    int settled =
        t->outcome[RB_DROP_DECIDED] + t->outcome[RB_DROP_REST] + t->outcome[RB_DROP_ROLLING];
    if (o->drops > 0 && settled == 0) {
        fprintf(stderr, "rattleback poses: no drop settled within %g s; --time gives them more\n",
                o->drop.time);
        return EXIT_UNCERTIFIED;
    }
    return t->outcome[RB_DROP_FAILED] || t->interrupted ? EXIT_UNCERTIFIED : EXIT_CERTIFIED;
}

static int measure(poses_options *o, const rb_model *m)
{
    rb_part p;
    int status = EXIT_BAD_INPUT;
    campaign c = { .o = o, .p = &p, .m = m, .begun = wall_seconds() };
    poses_tally t = { 0 };
    pthread_mutex_init(&c.lock, NULL);
    rb_error err = { 0 };
    if (rb_part_read(&p, m, o->merge, &err) != RB_OK)
        fprintf(stderr, "%s: %s\n", o->file, err.text);
    else if (finish_settings(o, &p, m) && run_drops(&c))
        status = report(&c, &t);
    if (!poses_record_close(&c.record)) status = EXIT_BAD_INPUT;
    free(c.hits);
    free(c.drops);
    free(c.done);
    rb_part_free(&p);
    pthread_mutex_destroy(&c.lock);
    return status;
}

int cmd_poses(int argc, char **argv)
{
    poses_options o;
    if (!poses_options_parse(&o, argc, argv)) return EXIT_BAD_INPUT;
    if (o.model.help) {
        poses_help(stdout);
        return EXIT_CERTIFIED;
    }
    rb_model *m = poses_load(&o);
    if (!m) return EXIT_BAD_INPUT;
    int status = measure(&o, m);
    rb_model_free(m, NULL);
    return status;
}
