/* rattleback: the file as it is, as `rattleback run` would.
 *
 *   cone      the defaults
 *   located   steps divided at impacts
 *   tol-0.03  --tol 0.03: friction of large islands to a residual of 0.03, gaps as ever */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/load.h"
#include "rattleback/rattleback.h"

typedef struct sim {
    rb_model *m;
    rb_data *d;
    rb_step_opts opts;
    int contacts;
} sim;

static const char *version(void)
{
    return RB_VERSION;
}

static void release(void *handle)
{
    sim *w = handle;
    rb_data_free(w->d);
    if (w->m) rb_model_free(w->m, NULL);
    free(w);
}

static void *make(const peer_scene *s, const char *setting, char *why, size_t size)
{
    rb_error err = { 0 };
    sim *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    rb_spec *spec = rb_spec_read(s->path, NULL, NULL, &err);
    if (spec) w->m = rb_spec_compile(spec, NULL, &err);
    rb_spec_free(spec);
    if (w->m) w->d = rb_data_new(w->m, NULL);
    if (!w->d) {
        snprintf(why, size, "%.200s", err.text);
        release(w);
        return NULL;
    }
    if (w->m->nkey > 0) rb_data_reset_key(w->m, w->d, 0);
    w->opts = rb_step_opts_default();
    w->opts.h = s->h;
    if (strcmp(setting, "located") == 0) w->opts.stepper = RB_STEPPER_LOCATED;
    if (strcmp(setting, "tol-0.03") == 0) w->opts.tol = 0.03;
    return w;
}

static int step(void *handle)
{
    sim *w = handle;
    rb_step_info info;
    rb_error err = { 0 };
    rb_status status = rb_step(w->m, w->d, &w->opts, &info, &err);
    while (status == RB_FULL) {
        if (rb_data_reserve(w->m, &w->d, 2 * info.contacts + 16) != RB_OK) return 0;
        status = rb_step(w->m, w->d, &w->opts, &info, &err);
    }
    w->contacts = info.contacts;
    if (status != RB_OK)
        fprintf(stderr, "rattleback: t = %g: %s: %s\n", w->d->time, rb_status_text(status),
                err.text);
    return status == RB_OK;
}

static int contacts(void *handle)
{
    return ((sim *)handle)->contacts;
}

static void read_state(void *handle, peer_state *x)
{
    sim *w = handle;
    rb_kinematics(w->m, w->d);
    rb_velocity(w->m, w->d);
    for (int link = 1; link < w->m->nlink; link++, x++) {
        const double *c = w->d->link_c + 3 * link;
        memcpy(x->w, w->d->link_w + 3 * link, sizeof x->w);
        peer_cross(x->w, c, x->v);
        for (int i = 0; i < 3; i++) {
            x->p[i] = w->d->link_p[3 * link + i] + c[i];
            x->v[i] += w->d->link_v[3 * link + i];
        }
        peer_quat_of(w->d->link_R + 9 * link, x->q);
    }
}

static const char *const settings[] = { "cone", "located", "tol-0.03", NULL };
const peer_engine peer_engine_here = { "rattleback", version,  settings,   make,
                                       step,         contacts, read_state, release };
