/* One simulation: data whose arrays keep their addresses, options, the last info and error. */
#include "flat/sim.h"

#include <stdlib.h>
#include <string.h>

#include "flat/fields.h"
#include "rattleback/dynamics.h"

/* ---- memory ------------------------------------------------------------------------------------
 */

static void *take(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *resize(void *ctx, void *block, size_t size)
{
    (void)ctx;
    return realloc(block, size);
}

/* Views of arrays of the data refer to the first block. */
static void release(void *ctx, void *block)
{
    const rb_sim *s = ctx;
    if (block != s->first) free(block);
}

const rb_field *flat_data_field(int k)
{
    return &rb_flat_fields[rb_flat_data_first + k];
}

int flat_is_steady(int k)
{
    const rb_field *f = flat_data_field(k);
    if (!f->pointer || f->type == RB_FIELD_STRUCT || strcmp(f->name, "slide") == 0) return 0;
    return f->length[0].count != offsetof(rb_data, touch_max);
}

static void **slot(rb_data *d, const rb_field *f)
{
    return (void **)(void *)((char *)d + f->offset);
}

void flat_sim_place(rb_sim *s, int k, void *to)
{
    size_t length[2];
    const rb_field *f = flat_data_field(k);
    rb_flat_shape(f, s->d, length);
    size_t bytes = f->size * length[0] * (f->ndim > 1 ? length[1] : 1);
    void **at = slot(s->d, f);
    if (bytes > 0) memcpy(to, *at, bytes);
    *at = s->home[k] = to;
}

static void bring_home(rb_sim *s)
{
    for (int k = 0; k < rb_flat_data_count; k++)
        if (s->home[k]) *slot(s->d, flat_data_field(k)) = s->home[k];
}

rb_status flat_sim_reserve(rb_sim *s, int n)
{
    rb_status status = rb_data_reserve(s->m, &s->d, n);
    if (status == RB_OK) bring_home(s);
    return status;
}

/* ---- life --------------------------------------------------------------------------------------
 */

rb_sim *flat_sim_new(const rb_model *m, const rb_step_opts *opts)
{
    rb_sim *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->m = m;
    s->opts = *opts;
    s->home = calloc((size_t)rb_flat_data_count, sizeof *s->home);
    const rb_alloc alloc = { take, resize, release, s };
    s->d = s->home ? rb_data_new(m, &alloc) : NULL;
    if (!s->d) {
        rb_sim_free(s);
        return NULL;
    }
    s->first = s->d->memory;
    for (int k = 0; k < rb_flat_data_count; k++)
        if (flat_is_steady(k)) s->home[k] = *slot(s->d, flat_data_field(k));
    return s;
}

void rb_sim_free(rb_sim *s)
{
    if (!s) return;
    pool_free(s->pool);
    rb_data_free(s->d);
    free(s->first);
    free(s->home);
    if (s->own) rb_model_free(s->own, NULL);
    free(s);
}

rb_sim *rb_sim_new(const rb_model *m, rb_error *err)
{
    rb_step_opts opts = rb_step_opts_default();
    if (rb_options_from_model(m, NULL, &opts, err) != RB_OK) return NULL;
    rb_sim *s = flat_sim_new(m, &opts);
    if (!s) {
        *err = (rb_error){ .status = RB_NOMEM, .text = "out of memory for the state" };
        return NULL;
    }
    if (rb_sim_reset(s, -1) != RB_OK) {
        *err = s->err;
        rb_sim_free(s);
        return NULL;
    }
    return s;
}

rb_sim *rb_sim_copy(const rb_sim *s)
{
    rb_sim *to = flat_sim_new(s->m, &s->opts);
    if (!to) return NULL;
    to->info = s->info;
    to->wait.host = s->wait.host;
    if (flat_sim_reserve(to, s->d->touch_max) == RB_OK && rb_data_copy(s->m, to->d, s->d) == RB_OK)
        return to;
    rb_sim_free(to);
    return NULL;
}

rb_data *rb_sim_data(const rb_sim *s)
{
    return s->d;
}

const rb_model *rb_sim_model(const rb_sim *s)
{
    return s->m;
}

rb_step_opts *rb_sim_opts(rb_sim *s)
{
    return &s->opts;
}

rb_step_info *rb_sim_info(rb_sim *s)
{
    return &s->info;
}

rb_error *rb_sim_error(rb_sim *s)
{
    return &s->err;
}

void rb_sim_on_wait(rb_sim *s, rb_host *host)
{
    s->wait.host = host;
}

rb_status rb_sim_threads(rb_sim *s, int threads)
{
    pool_free(s->pool);
    s->pool = threads > 1 ? pool_new(threads) : NULL;
    return threads > 1 && !s->pool ? RB_NOMEM : RB_OK;
}

/* They died with a fork; their memory is not worth a hang. */
void rb_sim_forget_threads(rb_sim *s)
{
    s->pool = NULL;
}

/* ---- start -------------------------------------------------------------------------------------
 */

/* Loops that the start leaves open are closed, as in the command; what prevents it is reported by
 * the first step. */
static rb_status settle(rb_sim *s)
{
    rb_settle_info info;
    if (s->opts.keep_errors) return RB_OK;
    rb_status status = rb_data_settle(s->m, s->d, &info, &s->err);
    if (status == RB_FULL && flat_sim_reserve(s, 2 * info.contacts + 16) == RB_OK)
        status = rb_data_settle(s->m, s->d, &info, &s->err);
    return status == RB_NOMEM || status == RB_BAD_INPUT ? status : RB_OK;
}

rb_status rb_sim_reset(rb_sim *s, int key)
{
    s->err = (rb_error){ 0 };
    s->info = (rb_step_info){ 0 };
    if (key >= s->m->nkey || key < -1) return s->err.status = RB_BAD_INPUT;
    if (key >= 0)
        rb_data_reset_key(s->m, s->d, key);
    else
        rb_data_reset(s->m, s->d);
    rb_status status = settle(s);
    if (status == RB_OK) {
        s->err = (rb_error){ 0 };
        rb_sensors(s->m, s->d);
    }
    return status;
}

/* ---- steps -------------------------------------------------------------------------------------
 */

/* Seconds between two questions. */
#define ASK_EVERY 0.02

/* Steps after which the clock is read. */
enum { ASK_STEPS = 16 };

static int ask(rb_host *host)
{
    int state = host->lock();
    int raised = host->check() != 0;
    if (raised) host->take(&host->taken[0], &host->taken[1], &host->taken[2]);
    host->unlock(state);
    return raised;
}

/* Simulation of the call on this thread: threads of a pool have none, and do not check. */
static _Thread_local const flat_wait *caller;

static int is_over(void *ctx)
{
    flat_wait *w = ctx;
    if (w->stop && atomic_load_explicit(w->stop, memory_order_relaxed)) return 1;
    if (!w->host || !w->asks || caller != w) return 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double past =
        (double)(now.tv_sec - w->last.tv_sec) + 1e-9 * (double)(now.tv_nsec - w->last.tv_nsec);
    if (past < ASK_EVERY) return 0;
    w->last = now;
    int over = ask(w->host);
    if (over && w->stop) atomic_store(w->stop, 1);
    return over;
}

/* The report of a step, without the list of a jam where there is none: a batch has many of these,
 * and memory that is not touched costs no time. */
static void keep_info(rb_sim *s, const rb_step_info *info)
{
    size_t head = offsetof(rb_step_info, jam), tail = offsetof(rb_step_info, path);
    if (info->njam > 0) {
        s->info = *info;
        return;
    }
    memcpy(&s->info, info, head);
    memcpy((char *)&s->info + tail, (const char *)info + tail, sizeof *info - tail);
}

static rb_status step(rb_sim *s, const rb_step_opts *opts)
{
    rb_step_info info;
    rb_step_opts told;
    if (s->replay) {
        told = *opts;
        told.events = rb_replay_events(s->replay);
        opts = &told;
    }
    for (;;) {
        rb_status status = rb_step(s->m, s->d, opts, &info, &s->err);
        if (s->replay) rb_replay_step(s->replay, s->d, opts, &info, status, &s->err);
        if (status != RB_FULL) {
            keep_info(s, &info);
            return status;
        }
        s->err = (rb_error){ 0 }; /* not the error that is reported in the end */
        status = flat_sim_reserve(s, 2 * info.contacts + 16);
        if (status != RB_OK) return status;
    }
}

rb_status rb_sim_step(rb_sim *s, long n, const rb_step_opts *opts, long *done)
{
    rb_step_opts o;
    rb_status status = RB_OK;
    long k = 0;
    if (s->err.status != RB_OK) s->err.text[0] = '\0';
    if (s->wait.host || s->wait.stop || s->pool) {
        caller = &s->wait;
        if (!s->wait.stop) {
            s->wait.asks = 1;
            clock_gettime(CLOCK_MONOTONIC, &s->wait.last);
        }
        o = opts ? *opts : s->opts;
        o.cancel = is_over;
        o.cancel_ctx = &s->wait;
        if (s->pool) o.parallel = pool_parallel(s->pool);
        opts = &o;
    }
    for (; k < n; k++) {
        /* short steps never check by themselves; rows of a rollout may be one step each */
        int over = opts == &o && ++s->wait.steps % ASK_STEPS == 0 && is_over(&s->wait);
        status = over ? RB_CANCELLED : step(s, opts ? opts : &s->opts);
        if (status != RB_OK) break;
    }
    if (done) *done = k;
    s->err.status = status;
    return status;
}

rb_status rb_sim_step_one(rb_sim *s)
{
    return rb_sim_step(s, 1, NULL, NULL);
}

rb_status rb_sim_update(rb_sim *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    return RB_OK;
}

double rb_sim_energy(rb_sim *s, double *kinetic, double *potential)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    double T = rb_energy_kinetic(s->m, s->d), V = rb_energy_potential(s->m, s->d);
    if (kinetic) *kinetic = T;
    if (potential) *potential = V;
    return T + V;
}

/* ---- contacts ----------------------------------------------------------------------------------
 */

int rb_sim_contacts(const rb_sim *s, int capacity, size_t stride, const char *names,
                    size_t name_size, char *out)
{
    enum { FEW = 32 };
    rb_contact_force few[FEW], *all = few;
    int n = rb_contact_forces(s->m, s->d, FEW, few);
    if (n > capacity) return n;
    if (n > FEW) {
        all = malloc((size_t)n * sizeof *all);
        if (!all) return -1;
        rb_contact_forces(s->m, s->d, n, all);
    }
    for (int i = 0; i < n; i++, out += stride) {
        memcpy(out, &all[i], sizeof all[i]);
        memcpy(out + sizeof all[i], names + (size_t)all[i].geom1 * name_size, name_size);
        memcpy(out + sizeof all[i] + name_size, names + (size_t)all[i].geom2 * name_size,
               name_size);
    }
    if (all != few) free(all);
    return n;
}

rb_contact *rb_sim_gaps(rb_sim *s, double within, int *n, rb_status *status)
{
    int capacity = 64;
    rb_sim_update(s);
    s->err = (rb_error){ 0 };
    for (;;) {
        rb_contact *found = malloc((size_t)capacity * sizeof *found);
        *status =
            found ? rb_collide(s->m, s->d, 1.0, within, capacity, found, n, &s->err) : RB_NOMEM;
        if (*status == RB_OK) return found;
        free(found);
        if (*status != RB_FULL) return NULL;
        capacity = *n;
    }
}
