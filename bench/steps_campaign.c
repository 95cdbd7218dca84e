/* Seeds are split over the threads by remainder; each scene is read, made and stepped alone. */
#include "steps_campaign.h"

#include "rattleback/load.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64 };

/* Bars of a step, see the header [1]. */
#define DEEP   1e-6
#define ENERGY 1e-2 /* lasting contact gives and takes energy of second order */

static const char *const names[STEPS_FINDINGS] = { "unsolved",    "changed", "not-finite",
                                                   "uncertified", "deep",    "energy",
                                                   "refused" };

const char *steps_finding_name(int finding)
{
    return names[finding];
}

steps_campaign steps_campaign_default(void)
{
    return (steps_campaign){ .first = 1,
                             .count = 100,
                             .family = -1,
                             .steps = 200,
                             .threads = 1,
                             .step = rb_step_opts_default() };
}

typedef struct worker {
    steps_campaign *c;
    pthread_mutex_t *lock;
    int index;
    steps_tally own[STEPS_FAMILIES];
    char *text;
} worker;

typedef struct scene {
    uint64_t seed;
    int family;
    rb_model *m;
    rb_data *d;
    double *before; /* q, v                                */
    double overlap; /* at the start [m]; -1: not known yet */
    double energy;  /* kinetic and size of potential [J]   */
    rb_error err;   /* of the last step                    */
    int seen[STEPS_FINDINGS];
} scene;

static void tell(worker *w, scene *s, int finding, int step, double number)
{
    int refused = finding == STEPS_UNSOLVED;
    if (s->seen[finding]) return;
    s->seen[finding] = 1;
    w->own[s->family].found[finding]++;
    if (!w->c->found) return;
    pthread_mutex_lock(w->lock);
    w->c->found(w->c->ctx, &(steps_found){ .seed = s->seed,
                                           .family = s->family,
                                           .finding = finding,
                                           .step = step,
                                           .number = number,
                                           .text = refused ? s->err.text : "" });
    pthread_mutex_unlock(w->lock);
}

/* ---- one scene ----------------------------------------------------------------------------------
 */

static int make(worker *w, scene *s)
{
    rb_load_opts load = rb_load_opts_default();
    rb_error err = { 0 };
    rb_spec *spec = rb_spec_read_memory(w->text, strlen(w->text), "scene.xml", &load, NULL, &err);
    if (!spec) return 0;
    s->m = rb_spec_compile(spec, NULL, &err);
    rb_spec_free(spec);
    if (!s->m) return 0;
    s->d = rb_data_new(s->m, NULL);
    s->before = malloc((size_t)(s->m->nq + s->m->nv) * sizeof *s->before);
    int keyed = s->d && (s->m->nkey == 0 || rb_data_reset_key(s->m, s->d, 0) == RB_OK);
    return keyed && s->before;
}

static void discard(scene *s)
{
    free(s->before);
    rb_data_free(s->d);
    rb_model_free(s->m, NULL);
}

static void remember(scene *s)
{
    memcpy(s->before, s->d->q, (size_t)s->m->nq * sizeof *s->before);
    memcpy(s->before + s->m->nq, s->d->v, (size_t)s->m->nv * sizeof *s->before);
}

static int is_unchanged(const scene *s)
{
    return memcmp(s->before, s->d->q, (size_t)s->m->nq * sizeof *s->before) == 0 &&
           memcmp(s->before + s->m->nq, s->d->v, (size_t)s->m->nv * sizeof *s->before) == 0;
}

static int is_finite(const scene *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->m->nq; i++) sum += s->d->q[i] - s->d->q[i];
    for (int i = 0; i < s->m->nv; i++) sum += s->d->v[i] - s->d->v[i];
    return sum == 0.0;
}

/* What moves, and what weight does over the size: energies are compared with it. */
static double scene_energy(const scene *s)
{
    double kinetic = 0.0, mass = 0.0, g = 0.0;
    rb_kinematics(s->m, s->d);
    rb_mass(s->m, s->d);
    double *Mv = malloc((size_t)(s->m->nv + 1) * sizeof *Mv);
    if (!Mv) return 0.0;
    rb_mass_multiply(s->m, s->d, s->d->v, Mv);
    for (int j = 0; j < s->m->nv; j++) kinetic += 0.5 * Mv[j] * s->d->v[j];
    for (int k = 1; k < s->m->nlink; k++) mass += s->m->link_mass[k];
    for (int a = 0; a < 3; a++) g += s->m->option.gravity[a] * s->m->option.gravity[a];
    free(Mv);
    return kinetic + mass * sqrt(g) * s->m->extent;
}

static rb_status step_once(worker *w, scene *s, rb_step_info *info)
{
    s->err = (rb_error){ 0 };
    remember(s);
    rb_status status = rb_step(s->m, s->d, &w->c->step, info, &s->err);
    while (status == RB_FULL) { /* a repair may find more than the first round did */
        status = rb_data_reserve(s->m, &s->d, 2 * info->contacts);
        if (status == RB_OK) status = rb_step(s->m, s->d, &w->c->step, info, &s->err);
    }
    return status;
}

/* 1: the scene may go on. */
static int grade(worker *w, scene *s, rb_status status, const rb_step_info *info, int step)
{
    steps_tally *t = &w->own[s->family];
    if (status != RB_OK) {
        tell(w, s, STEPS_UNSOLVED, step, info->residual);
        if (!is_unchanged(s)) tell(w, s, STEPS_CHANGED, step, 0.0);
        return 0;
    }
    if (!is_finite(s)) {
        tell(w, s, STEPS_NOT_FINITE, step, 0.0);
        return 0;
    }
    if (s->overlap < 0.0) s->overlap = info->penetration;
    double deep = (info->penetration - s->overlap) / s->m->extent;
    double made = info->energy_created / (s->energy + fabs(scene_energy(s)));
    t->residual = fmax(t->residual, info->residual);
    t->penetration = fmax(t->penetration, deep);
    t->energy = fmax(t->energy, made);
    t->repairs += (uint64_t)info->repairs;
    t->fallbacks += (uint64_t)info->fallbacks;
    t->resting += (uint64_t)info->resting;
    t->steps++;
    if (!(info->residual <= rb_step_opts_tol(&w->c->step)))
        tell(w, s, STEPS_UNCERTIFIED, step, info->residual);
    if (!(deep <= DEEP)) tell(w, s, STEPS_DEEP, step, deep);
    if (!(made <= ENERGY)) tell(w, s, STEPS_ENERGY, step, made);
    return 1;
}

static void run_scene(worker *w, uint64_t seed)
{
    scene s = { .seed = seed, .overlap = -1.0 };
    s.family = steps_scene_write(seed, w->c->family, w->text, STEPS_SCENE_MAX);
    if (s.family < 0) s.family = 0;
    w->own[s.family].scenes++;
    if (!make(w, &s)) {
        tell(w, &s, STEPS_REFUSED, 0, 0.0);
        discard(&s);
        return;
    }
    s.energy = scene_energy(&s);
    for (int k = 0; k < w->c->steps; k++) {
        rb_step_info info = { 0 };
        rb_status status = step_once(w, &s, &info);
        if (!grade(w, &s, status, &info, k)) break;
    }
    discard(&s);
}

/* ---- all of them --------------------------------------------------------------------------------
 */

static void *run_worker(void *argument)
{
    worker *w = argument;
    for (uint64_t k = (uint64_t)w->index; k < w->c->count; k += (uint64_t)w->c->threads) {
        run_scene(w, w->c->first + k);
        if (w->index == 0 && w->c->progress) w->c->progress(w->c->ctx, k + 1);
    }
    return NULL;
}

static void add(steps_tally *to, const steps_tally *from)
{
    to->scenes += from->scenes;
    to->steps += from->steps;
    for (int k = 0; k < STEPS_FINDINGS; k++) to->found[k] += from->found[k];
    to->repairs += from->repairs;
    to->fallbacks += from->fallbacks;
    to->resting += from->resting;
    to->residual = fmax(to->residual, from->residual);
    to->penetration = fmax(to->penetration, from->penetration);
    to->energy = fmax(to->energy, from->energy);
}

void steps_campaign_sum(const steps_campaign *c, int family, steps_tally *sum)
{
    memset(sum, 0, sizeof *sum);
    for (int f = 0; f < STEPS_FAMILIES; f++)
        if (family < 0 || f == family) add(sum, &c->tally[f]);
}

rb_status steps_campaign_run(steps_campaign *c)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread[MAX_THREADS];
    if (c->threads < 1 || c->threads > MAX_THREADS) return RB_BAD_INPUT;
    worker *workers = calloc((size_t)c->threads, sizeof *workers);
    char *text = malloc((size_t)c->threads * STEPS_SCENE_MAX);
    int started = 1;
    rb_status status = workers && text ? RB_OK : RB_NOMEM;
    for (int k = 0; status == RB_OK && k < c->threads; k++) {
        workers[k] = (worker){ .c = c, .lock = &lock, .index = k };
        workers[k].text = text + (size_t)k * STEPS_SCENE_MAX;
    }
    while (status == RB_OK && started < c->threads &&
           pthread_create(&thread[started], NULL, run_worker, &workers[started]) == 0)
        started++;
    for (int k = started; status == RB_OK && k < c->threads; k++) run_worker(&workers[k]);
    if (status == RB_OK) run_worker(&workers[0]);
    for (int k = 1; k < started; k++) pthread_join(thread[k], NULL);
    for (int k = 0; status == RB_OK && k < c->threads; k++)
        for (int f = 0; f < STEPS_FAMILIES; f++) add(&c->tally[f], &workers[k].own[f]);
    free(workers);
    free(text);
    return status;
}
