/* Many simulations of one model, a step each. */
#include "rattleback/step.h"

typedef struct work {
    const rb_model *m;           /* of all; NULL: each has its own      */
    const rb_model *const *each; /*                             (n) */
    rb_data *const *d;
    const rb_step_opts *o;
    rb_step_info *info;
    rb_status *status;
    int n, workers;
} work;

/* Simulations k, k + workers, ... */
static void step_share(void *argument, int k)
{
    const work *w = argument;
    for (int i = k; i < w->n; i += w->workers)
        w->status[i] =
            rb_step(w->m ? w->m : w->each[i], w->d[i], w->o, w->info ? &w->info[i] : NULL, NULL);
}

static rb_status step_all(work *w, const rb_parallel *parallel)
{
    w->workers = parallel ? parallel->workers : 1;
    if (w->n < 0 || w->workers < 1 || (w->o && w->o->parallel) || !w->status) return RB_BAD_INPUT;
    if (parallel)
        parallel->run(parallel->ctx, step_share, w);
    else
        step_share(w, 0);
    for (int i = 0; i < w->n; i++) {
        if (w->status[i] != RB_OK) return w->status[i];
    }
    return RB_OK;
}

rb_status rb_step_many(const rb_model *m, rb_data *const *d, int n, const rb_step_opts *opts,
                       const rb_parallel *parallel, rb_step_info *info, rb_status *status)
{
    work w = { .m = m, .d = d, .o = opts, .info = info, .status = status, .n = n };
    return step_all(&w, parallel);
}

rb_status rb_step_each(const rb_model *const *m, rb_data *const *d, int n, const rb_step_opts *opts,
                       const rb_parallel *parallel, rb_step_info *info, rb_status *status)
{
    work w = { .each = m, .d = d, .o = opts, .info = info, .status = status, .n = n };
    return step_all(&w, parallel);
}
