/* Many simulations of one model: their states one after the other, steps distributed over threads.
 *
 * A world is stepped by one thread at a time and knows nothing of the others: its bits do not
 * depend on how many threads there are. */
#include <stdlib.h>
#include <string.h>

#include "flat/fields.h"
#include "flat/sim.h"

/* Arrays one after the other. */
static const char *const shown[] = { "q",       "v",      "act",    "ctrl",   "tau",    "mocap",
                                     "mocap_v", "wrench", "sensor", "body_p", "body_R", "site_p" };
enum { NSHOWN = sizeof shown / sizeof *shown };

struct rb_batch {
    const rb_model *m;
    int n, threads;
    rb_sim **sim;
    double *time;
    double *array[NSHOWN]; /* (n x length) */
    int length[NSHOWN];
    pool *pool;         /* NULL: one thread */
    rb_arena **scratch; /* of each thread (threads) */
    atomic_int stop;
};

static int field_index(const char *name)
{
    for (int k = 0; k < rb_flat_data_count; k++)
        if (flat_is_steady(k) && strcmp(flat_data_field(k)->name, name) == 0) return k;
    return -1;
}

/* One array for all worlds, each of which moves into its row. */
static int gather(rb_batch *b, int which)
{
    size_t length[2];
    int k = field_index(shown[which]);
    if (k < 0) return 0;
    const rb_field *f = flat_data_field(k);
    rb_flat_shape(f, b->sim[0]->d, length);
    size_t row = length[0] * (f->ndim > 1 ? length[1] : 1);
    b->length[which] = (int)row;
    b->array[which] = calloc(row * (size_t)b->n + 1, sizeof(double));
    if (!b->array[which]) return 0;
    for (int i = 0; i < b->n; i++) flat_sim_place(b->sim[i], k, b->array[which] + (size_t)i * row);
    return 1;
}

static void drop_scratch(rb_batch *b)
{
    for (int k = 0; k < b->threads && b->scratch; k++) rb_arena_free(b->scratch[k]);
    free(b->scratch);
    b->scratch = NULL;
}

/* Scratch of a step is free when it ends: all worlds of a thread use the same arena, which fits the
 * caches where a thousand arenas would not. */
static int take_scratch(rb_batch *b)
{
    b->scratch = calloc((size_t)b->threads, sizeof *b->scratch);
    for (int k = 0; k < b->threads && b->scratch; k++)
        if (!(b->scratch[k] = rb_arena_new(NULL, 0))) return 0;
    return b->scratch != NULL;
}

rb_status rb_batch_threads(rb_batch *b, int threads)
{
    pool_free(b->pool);
    b->pool = NULL;
    drop_scratch(b);
    b->threads = threads > 1 ? threads : 1;
    if (threads > 1) b->pool = pool_new(threads);
    return take_scratch(b) && (threads <= 1 || b->pool) ? RB_OK : RB_NOMEM;
}

/* Its threads died with a fork; their memory is not worth a hang. */
void rb_batch_forget_threads(rb_batch *b)
{
    b->pool = NULL;
}

rb_batch *rb_batch_new(const rb_model *m, int n, int threads, rb_error *err)
{
    rb_step_opts opts = rb_step_opts_default();
    if (rb_options_from_model(m, NULL, &opts, err) != RB_OK) return NULL;
    rb_batch *b = calloc(1, sizeof *b);
    int good = b != NULL;
    if (good) {
        *b = (rb_batch){ .m = m, .n = n };
        b->sim = calloc((size_t)n, sizeof *b->sim);
        b->time = calloc((size_t)n, sizeof *b->time);
        good = b->sim && b->time;
    }
    for (int i = 0; i < n && good; i++) good = (b->sim[i] = flat_sim_new(m, &opts)) != NULL;
    for (int k = 0; k < NSHOWN && good; k++) good = gather(b, k);
    if (good && rb_batch_threads(b, threads) == RB_OK && rb_batch_reset(b, NULL, n, -1) == RB_OK)
        return b;
    *err = (rb_error){ .status = RB_NOMEM, .text = "out of memory or threads for the batch" };
    rb_batch_free(b);
    return NULL;
}

void rb_batch_free(rb_batch *b)
{
    if (!b) return;
    pool_free(b->pool);
    drop_scratch(b);
    for (int i = 0; i < b->n && b->sim; i++) rb_sim_free(b->sim[i]);
    for (int k = 0; k < NSHOWN; k++) free(b->array[k]);
    free(b->sim);
    free(b->time);
    free(b);
}

rb_sim *rb_batch_sim(const rb_batch *b, int i)
{
    return i >= 0 && i < b->n ? b->sim[i] : NULL;
}

void rb_batch_on_wait(rb_batch *b, rb_host *host)
{
    for (int i = 0; i < b->n; i++) b->sim[i]->wait.host = host;
}

double *rb_batch_array(const rb_batch *b, const char *field, int *length)
{
    for (int k = 0; k < NSHOWN; k++) {
        if (strcmp(shown[k], field) != 0) continue;
        *length = b->length[k];
        return b->array[k];
    }
    return NULL;
}

double *rb_batch_time(const rb_batch *b)
{
    for (int i = 0; i < b->n; i++) b->time[i] = b->sim[i]->d->time;
    return b->time;
}

rb_model *rb_batch_own_model(rb_batch *b, int i)
{
    rb_sim *s = b->sim[i];
    if (!s->own) {
        s->own = rb_model_copy(s->m, NULL);
        if (s->own) s->m = s->own;
    }
    return s->own;
}

/* ---- work that is shared out -------------------------------------------------------------------
 */

typedef struct work {
    rb_batch *b;
    const rb_step_opts *opts;
    atomic_int next; /* next world to be taken */
    int last;
    const int *ids; /* NULL: all */
    int key;
    void (*one)(struct work *w, int i);
    long n;      /* steps of each; of a rollout, rows */
    int skip;    /* steps of a row                    */
    int *status; /* may be NULL */
    long *done;  /* may be NULL */
    const double *controls;
    double *states, *sensors, *certificates;
} work;

/* World i with the scratch of thread k. Its data may have grown meanwhile, and be elsewhere. */
static void one_of_thread(work *w, int i, int k)
{
    rb_sim *s = w->b->sim[i];
    rb_arena *own = s->d->arena;
    s->d->arena = w->b->scratch[k];
    w->one(w, i);
    s->d->arena = own;
}

/* Steps of worlds differ in cost: a thread that is free takes the next few. */
static void share(void *argument, int k)
{
    enum { CHUNK = 4 };
    work *w = argument;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int chunk = w->last > 16 * CHUNK * w->b->threads ? CHUNK : 1;
    for (int i; (i = atomic_fetch_add(&w->next, chunk)) < w->last;) {
        for (int j = i; j < i + chunk && j < w->last; j++) {
            int world = w->ids ? w->ids[j] : j;
            flat_wait *wait = &w->b->sim[world]->wait;
            wait->asks = k == 0;
            wait->last = now;
            wait->stop = &w->b->stop;
            one_of_thread(w, world, k);
            now = wait->last;
            wait->stop = NULL; /* steps of this world alone check by themselves */
        }
    }
}

static rb_status run(work *w, int count)
{
    rb_batch *b = w->b;
    w->last = count;
    atomic_init(&w->next, 0);
    atomic_store(&b->stop, 0);
    const rb_parallel *parallel = b->pool ? pool_parallel(b->pool) : NULL;
    if (parallel)
        parallel->run(parallel->ctx, share, w);
    else
        share(w, 0);
    atomic_store(&b->stop, 0);
    for (int j = 0; j < count; j++) {
        rb_status status = b->sim[w->ids ? w->ids[j] : j]->err.status;
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

static void report(work *w, int i, rb_status status, long done)
{
    if (w->status) w->status[i] = (int)status;
    if (w->done) w->done[i] = done;
}

static void step_world(work *w, int i)
{
    long done = 0;
    rb_status status = rb_sim_step(w->b->sim[i], w->n, w->opts, &done);
    report(w, i, status, done);
}

rb_status rb_batch_step(rb_batch *b, long n, const rb_step_opts *opts, int *status, long *done)
{
    work w = { .b = b, .opts = opts, .one = step_world, .n = n, .status = status, .done = done };
    return run(&w, b->n);
}

static void reset_world(work *w, int i)
{
    rb_sim *s = w->b->sim[i];
    s->err.status = rb_sim_reset(s, w->key);
}

rb_status rb_batch_reset(rb_batch *b, const int *ids, int n, int key)
{
    work w = { .b = b, .one = reset_world, .ids = ids, .key = key };
    return run(&w, n);
}

/* ---- rollouts ----------------------------------------------------------------------------------
 */

static void put(double *to, const double *from, int n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

static void put_certificate(double *to, const rb_step_info *info)
{
    const double certificate[4] = { info->residual, info->penetration, info->below_accuracy,
                                    info->contacts };
    put(to, certificate, 4);
}

void rb_batch_certificates(const rb_batch *b, double *out)
{
    for (int i = 0; i < b->n; i++) put_certificate(out + 4 * i, &b->sim[i]->info);
}

static void put_row(const work *w, const rb_sim *s, long row)
{
    int nq = s->m->nq, nv = s->m->nv, nsensor = s->m->nsensordata;
    if (w->states) {
        put(w->states + row * (nq + nv), s->d->q, nq);
        put(w->states + row * (nq + nv) + nq, s->d->v, nv);
    }
    if (w->sensors) put(w->sensors + row * nsensor, s->d->sensor, nsensor);
    if (w->certificates) put_certificate(w->certificates + row * 4, &s->info);
}

static void roll_world(work *w, int i)
{
    rb_sim *s = w->b->sim[i];
    rb_status status = RB_OK;
    long steps = 0;
    for (long t = 0; t < w->n && status != RB_CANCELLED; t++) {
        long row = (long)i * w->n + t, done = 0;
        if (status == RB_OK) {
            if (w->controls) put(s->d->ctrl, w->controls + row * s->m->nctrl, s->m->nctrl);
            status = rb_sim_step(s, w->skip, w->opts, &done);
            steps += done;
        }
        put_row(w, s, row);
    }
    s->err.status = status;
    report(w, i, status, steps);
}

rb_status rb_batch_rollout(rb_batch *b, int T, int skip, const rb_step_opts *opts,
                           const double *controls, double *states, double *sensors,
                           double *certificates, int *status, long *done)
{
    work w = { .b = b,
               .opts = opts,
               .one = roll_world,
               .n = T,
               .skip = skip,
               .status = status,
               .done = done,
               .controls = controls,
               .states = states,
               .sensors = sensors,
               .certificates = certificates };
    return run(&w, b->n);
}
