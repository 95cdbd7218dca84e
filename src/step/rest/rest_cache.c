/* A step depends on state and inputs alone, and on the time only with kinematic bodies. A step
 * that went from a state back to the same state, bit for bit, does so again:
 *
 *     (q, act, touch)+ = (q, act, touch),  v+ = v = 0   =>   the next step is this one       (S.34)
 *
 * There is no threshold. Bodies whose rest is certified (S.22) stay at rest until a state, an
 * input or an option has another bit. The certificate is reported again. */
#include "step/rest/rest_cache.h"

#include <stddef.h>
#include <string.h>

#include "model/cache.h"

/* What does not fit into state and inputs. Padding may differ: then the step is computed. */
typedef struct told {
    const rb_model *m;
    uint64_t revision;
    rb_option option;
    rb_step_opts opts;
    unsigned char info[offsetof(rb_step_info, njam)];
    char path[sizeof((rb_step_info *)0)->path];
} told;

_Static_assert(sizeof(told) <= sizeof((rb_data *)0)->cache->rest_report, "still_told is too small");

/* Not where the path of a step could be looked at, nor what happens by itself; `impulse` has pushes
 * of its own from step to step (rb_data.push), which end with the time that they are for. */
static int may_be_still(const rb_model *m, const rb_step_opts *o)
{
    return m->nmocap == 0 && m->nctrlpast == 0 && !o->sink.take && !o->events.take &&
           o->stepper != RB_STEPPER_IMPULSE;
}

static int same(const double *x, const double *y, int n)
{
    return memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

/* Compares with x, which moves on. */
static int matches(const double **x, const double *y, int n)
{
    int equal = same(*x, y, n);
    *x += n;
    return equal;
}

static void append(double **x, const double *y, int n)
{
    memcpy(*x, y, (size_t)n * sizeof *y);
    *x += n;
}

static int same_touch(const rb_touch *x, int nx, const rb_touch *y, int ny)
{
    return nx == ny && memcmp(x, y, (size_t)nx * sizeof *x) == 0;
}

int rb_rest_cache_find(const rb_model *m, const rb_data *d, const rb_step_opts *o,
                       rb_step_info *info)
{
    rb_cache *cache = d->cache;
    const told *t = (const told *)(const void *)cache->rest_report;
    const double *x = cache->rest_x;
    if (!cache->rest_known || !may_be_still(m, o) || t->m != m || t->revision != m->revision)
        return 0;
    if (!matches(&x, d->v, m->nv) || !matches(&x, d->q, m->nq) || !matches(&x, d->act, m->na) ||
        !matches(&x, d->ctrl, m->nctrl) || !matches(&x, d->tau, m->nv) ||
        !matches(&x, d->wrench, 6 * m->nbody) || !matches(&x, d->slope, RB_SLOPES * m->nv) ||
        !matches(&x, d->slope_h, RB_SLOPES) || !matches(&x, d->kick, 2 * m->nv) ||
        !matches(&x, d->servo, m->nu))
        return 0;
    if (memcmp(&t->opts, o, sizeof *o) != 0) return 0;
    if (memcmp(&t->option, &m->option, sizeof m->option) != 0) return 0;
    if (!same_touch(cache->rest_touch, cache->rest_ntouch, d->touch, d->ntouch)) return 0;
    memcpy(info, t->info, sizeof t->info);
    memcpy(info->path, t->path, sizeof t->path);
    return 1;
}

void rb_rest_cache_store(const rb_model *m, rb_data *d, const rb_step_opts *o,
                         const rb_step_info *info, const rb_rest_cache_start *start)
{
    rb_cache *cache = d->cache;
    cache->rest_known = 0;
    if (!may_be_still(m, o) || !same(start->v, d->v, m->nv) || !same(start->q, d->q, m->nq)) return;
    if (!same(start->act, d->act, m->na) || !same(start->slope, d->slope, RB_SLOPES * m->nv) ||
        !same(start->slope_h, d->slope_h, RB_SLOPES) || !same(start->servo, d->servo, m->nu))
        return;
    if (!same_touch(start->touch, start->ntouch, d->touch, d->ntouch)) return;
    told *t = (told *)(void *)cache->rest_report;
    double *x = cache->rest_x;
    t->m = m;
    t->revision = m->revision;
    memcpy(&t->option, &m->option, sizeof t->option);
    memcpy(&t->opts, o, sizeof t->opts);
    memcpy(t->info, info, sizeof t->info);
    memcpy(t->path, info->path, sizeof t->path);
    append(&x, d->v, m->nv);
    append(&x, d->q, m->nq);
    append(&x, d->act, m->na);
    append(&x, d->ctrl, m->nctrl);
    append(&x, d->tau, m->nv);
    append(&x, d->wrench, 6 * m->nbody);
    append(&x, d->slope, RB_SLOPES * m->nv);
    append(&x, d->slope_h, RB_SLOPES);
    append(&x, d->kick, 2 * m->nv);
    append(&x, d->servo, m->nu);
    memcpy(cache->rest_touch, d->touch, (size_t)d->ntouch * sizeof *d->touch);
    cache->rest_ntouch = d->ntouch;
    cache->rest_known = 1;
}
