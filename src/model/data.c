/* rb_data: one simulation of a model, in one block; the arena lives beside it. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/quat.h"
#include "model/cache.h"
#include "model/layout.h"
#include "rattleback/model.h"

static void copy(double *to, const double *from, int n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* A model with many geoms starts with less room than its guess [constraints]. */
enum { TOUCH_GUESS_MAX = 65536 };

static void clear(double *x, int n)
{
    if (n > 0) memset(x, 0, (size_t)n * sizeof *x);
}

/* A block without arena, its arrays cleared. */
static rb_data *new_block(const rb_model *m, const rb_alloc *a, int touch_max)
{
    rb_data sizes = { 0 };
    rb_data_sizes(m, &sizes);
    sizes.touch_max = touch_max;
    size_t bytes = rb_data_layout(&sizes);
    if (bytes == 0) return NULL;
    void *memory;
    rb_data *d = rb_block_new(a, bytes, &memory);
    if (!d) return NULL;
    *d = sizes;
    d->magic = RB_DATA_MAGIC;
    d->bytes = bytes;
    d->memory = memory;
    d->alloc = *a;
    rb_data_bind(d);
    return d;
}

/* Room for a scene at rest: four points for each geom, both limits of each joint. */
static int touch_guess(const rb_model *m)
{
    double guess = 16.0 + 4.0 * m->ngeom + 2.0 * m->njnt_all + 3.0 * m->ntendon + m->nv + m->neq;
    return guess < TOUCH_GUESS_MAX ? (int)guess : TOUCH_GUESS_MAX;
}

rb_data *rb_data_new(const rb_model *m, const rb_alloc *alloc)
{
    rb_alloc a = alloc ? *alloc : rb_alloc_default();
    rb_data *d = new_block(m, &a, touch_guess(m));
    if (!d) return NULL;
    d->arena = rb_arena_new(&a, 0);
    if (!d->arena) {
        rb_data_free(d);
        return NULL;
    }
    rb_data_reset(m, d);
    return d;
}

rb_status rb_data_reserve(const rb_model *m, rb_data **d, int n)
{
    rb_data *from = *d;
    if (!from->memory || n < 0) return RB_BAD_INPUT;
    if (n <= from->touch_max) return RB_OK;
    rb_alloc a = from->alloc;
    rb_data *to = new_block(m, &a, n);
    if (!to) return RB_NOMEM;
    rb_data_copy(m, to, from);
    to->arena = from->arena;
    a.release(a.ctx, from->memory);
    *d = to;
    return RB_OK;
}

void rb_data_free(rb_data *d)
{
    if (!d || !d->memory) return;
    rb_alloc a = d->alloc;
    rb_arena_free(d->arena);
    a.release(a.ctx, d->memory);
}

/* Mocap bodies are children of the world, so their pose in the parent is that in the world. */
static void reset_mocap(const rb_model *m, rb_data *d)
{
    for (int b = 0; b < m->nbody; b++) {
        if (m->body_mocap[b] < 0) continue;
        double *pose = d->mocap + 7 * m->body_mocap[b];
        copy(pose, m->body_pos + 3 * b, 3);
        copy(pose + 3, m->body_quat + 4 * b, 4);
    }
}

/* Zeros, and the identity where a quaternion is the input. */
static void reset_controls(const rb_model *m, rb_data *d)
{
    clear(d->ctrl, m->nctrl);
    for (int u = 0; u < m->nu; u++)
        if (m->act_ctrlnum[u] == 4 && m->act_quaternion[u]) d->ctrl[m->act_ctrladr[u]] = 1.0;
    rb_control_past_reset(m, d);
}

void rb_data_reset(const rb_model *m, rb_data *d)
{
    d->time = 0.0;
    d->rng = rb_rng_make(0);
    copy(d->q, m->qpos0, m->nq);
    clear(d->v, m->nv);
    clear(d->act, m->na);
    reset_controls(m, d);
    clear(d->tau, m->nv);
    clear(d->wrench, 6 * m->nbody);
    reset_mocap(m, d);
    clear(d->mocap_v, 6 * m->nmocap);
    clear(d->mocap_a, 6 * m->nmocap);
    for (int i = 0; i < 6 * m->nmocap; i++) d->mocap_was[i] = NAN;
    for (int i = 0; i < m->ngauge_dof; i++) d->gauge_at[i] = NAN;
    clear(d->push, 2 * m->nv);
    d->push_time = 0.0;
    clear(d->slope, RB_SLOPES * m->nv);
    clear(d->kick, 2 * m->nv);
    clear(d->servo, m->nu);
    clear(d->slope_h, RB_SLOPES);
    d->slope_time = 0.0;
    d->correct_end = d->correct_from = 0.0;
    d->ntouch = 0;
    d->touch_h = 0.0;
    clear(d->sensor, m->nsensordata);
    rb_sensor_past_reset(m, d);
}

rb_status rb_data_reset_key(const rb_model *m, rb_data *d, int key)
{
    if (key < 0 || key >= m->nkey) return RB_BAD_INPUT;
    rb_data_reset(m, d);
    d->time = m->key_time[key];
    copy(d->q, m->key_qpos + (ptrdiff_t)key * m->nq, m->nq);
    copy(d->v, m->key_qvel + (ptrdiff_t)key * m->nv, m->nv);
    copy(d->act, m->key_act + (ptrdiff_t)key * m->na, m->na);
    copy(d->ctrl, m->key_ctrl + (ptrdiff_t)key * m->nctrl, m->nctrl);
    copy(d->mocap, m->key_mocap + (ptrdiff_t)key * 7 * m->nmocap, 7 * m->nmocap);
    return RB_OK;
}

rb_status rb_data_copy(const rb_model *m, rb_data *to, const rb_data *from)
{
    if (from->ntouch > to->touch_max) return RB_FULL;
    to->ntouch = from->ntouch;
    to->touch_h = from->touch_h;
    if (from->ntouch > 0) {
        memcpy(to->touch, from->touch, (size_t)from->ntouch * sizeof *to->touch);
    }
    to->time = from->time;
    to->rng = from->rng;
    copy(to->q, from->q, m->nq);
    copy(to->v, from->v, m->nv);
    copy(to->act, from->act, m->na);
    copy(to->mocap, from->mocap, 7 * m->nmocap);
    copy(to->mocap_was, from->mocap_was, 6 * m->nmocap);
    copy(to->gauge_at, from->gauge_at, m->ngauge_dof);
    copy(to->push, from->push, 2 * m->nv);
    to->push_time = from->push_time;
    copy(to->slope, from->slope, RB_SLOPES * m->nv);
    copy(to->kick, from->kick, 2 * m->nv);
    copy(to->servo, from->servo, m->nu);
    copy(to->slope_h, from->slope_h, RB_SLOPES);
    to->slope_time = from->slope_time;
    to->correct_end = from->correct_end;
    to->correct_from = from->correct_from;
    copy(to->mocap_v, from->mocap_v, 6 * m->nmocap);
    copy(to->mocap_a, from->mocap_a, 6 * m->nmocap);
    copy(to->ctrl, from->ctrl, m->nctrl);
    copy(to->ctrl_past, from->ctrl_past, m->nctrlpast);
    copy(to->tau, from->tau, m->nv);
    copy(to->wrench, from->wrench, 6 * m->nbody);
    copy(to->sensor, from->sensor, m->nsensordata);
    copy(to->sensor_past, from->sensor_past, m->nsensorpast);
    return RB_OK;
}

void rb_data_lead(rb_data *d, int mocap, const double pose[7], double h)
{
    const double *now = d->mocap + 7 * mocap;
    double *v = d->mocap_v + 6 * mocap, to[4], back[4];
    for (int i = 0; i < 3; i++) v[i] = (pose[i] - now[i]) / h;
    memcpy(to, pose + 3, sizeof to);
    rb_quat_normalize(to);
    rb_quat_conj(now + 3, back);
    rb_quat_mul(to, back, to);
    rb_quat_log(to, v + 3);
    rb_scale3(1.0 / h, v + 3, v + 3);
}

static int same_sizes(const rb_data *a, const rb_data *b)
{
    return a->nbody == b->nbody && a->nlink == b->nlink && a->nv == b->nv && a->nq == b->nq &&
           a->nu == b->nu && a->nctrl == b->nctrl && a->nout == b->nout &&
           a->nctrlpast == b->nctrlpast && a->na == b->na && a->nmocap == b->nmocap &&
           a->ngeom == b->ngeom && a->nsite == b->nsite && a->ntendon == b->ntendon &&
           a->nM == b->nM && a->nq_all == b->nq_all && a->nv_all == b->nv_all &&
           a->ngauge_dof == b->ngauge_dof && a->ngauge_entry == b->ngauge_entry &&
           a->ntendonrow == b->ntendonrow && a->nsensordata == b->nsensordata &&
           a->nsensorpast == b->nsensorpast && a->nsense == b->nsense && a->nrest == b->nrest &&
           a->nmeet == b->nmeet;
}

rb_data *rb_data_view(const rb_model *m, void *block, size_t bytes, rb_arena *arena)
{
    rb_data sizes = { 0 };
    rb_data *d = block;
    if (!block || (uintptr_t)block % RB_BLOCK_ALIGN != 0 || bytes < sizeof *d) return NULL;
    rb_data_sizes(m, &sizes);
    if (d->magic != RB_DATA_MAGIC || !same_sizes(d, &sizes)) return NULL;
    if (d->bytes > bytes || d->bytes != rb_data_layout(d)) return NULL;
    if (d->ntouch < 0 || d->ntouch > d->touch_max) return NULL;
    d->memory = NULL;
    d->alloc = (rb_alloc){ 0 };
    d->arena = arena;
    rb_data_bind(d);
    d->cache->kept_of = NULL;
    d->placed = d->framed = d->cache->posed = d->cache->spins = 0;
    return d;
}

static uint64_t hash_array(uint64_t hash, const double *x, int n)
{
    return rb_hash(hash, x, (size_t)n * sizeof *x);
}

/* Field by field: padding may have any value. */
static uint64_t hash_touch(uint64_t hash, const rb_touch *t)
{
    hash = rb_hash(hash, &t->id, sizeof t->id);
    hash = rb_hash(hash, &t->mode, sizeof t->mode);
    hash = rb_hash(hash, &t->held, sizeof t->held);
    hash = hash_array(hash, &t->gap, 1);
    hash = hash_array(hash, &t->floor, 1);
    hash = hash_array(hash, t->pos, 3);
    hash = hash_array(hash, t->frame, 9);
    hash = hash_array(hash, t->p, 6);
    return hash_array(hash, t->u, 6);
}

uint64_t rb_data_hash(const rb_data *d)
{
    uint64_t hash = hash_array(RB_HASH_INIT, &d->time, 1);
    hash = rb_hash(hash, &d->rng, sizeof d->rng);
    hash = hash_array(hash, d->q, d->nq);
    hash = hash_array(hash, d->v, d->nv);
    hash = hash_array(hash, d->act, d->na);
    hash = hash_array(hash, d->ctrl_past, d->nctrlpast);
    hash = hash_array(hash, d->mocap, 7 * d->nmocap);
    hash = hash_array(hash, d->mocap_was, 6 * d->nmocap);
    hash = hash_array(hash, d->gauge_at, d->ngauge_dof);
    hash = hash_array(hash, d->push, 2 * d->nv);
    hash = hash_array(hash, &d->push_time, 1);
    hash = hash_array(hash, d->slope, RB_SLOPES * d->nv);
    hash = hash_array(hash, d->slope_h, RB_SLOPES);
    hash = hash_array(hash, &d->slope_time, 1);
    hash = hash_array(hash, d->kick, 2 * d->nv);
    hash = hash_array(hash, d->servo, d->nu);
    hash = hash_array(hash, &d->correct_end, 1);
    hash = hash_array(hash, &d->correct_from, 1);
    hash = hash_array(hash, &d->touch_h, 1);
    hash = hash_array(hash, d->sensor_past, d->nsensorpast);
    for (int i = 0; i < d->ntouch; i++) hash = hash_touch(hash, &d->touch[i]);
    return hash;
}
