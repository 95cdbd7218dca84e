/* Drops of a part by threads, some at a call, so that a caller can look up between them. */
#include <stdatomic.h>

#include "flat/sim.h"
#include "pool.h"
#include "rattleback/poses.h"

typedef struct drops {
    const rb_part *p;
    const rb_model *m;
    const rb_drop_opts *opts;
    int first, count;
    atomic_int next;
    rb_drop *out;
    rb_status *status; /* of each worker */
    rb_error *err;
} drops;

static void work(void *argument, int k)
{
    drops *w = argument;
    rb_data *d = rb_data_new(w->m, NULL);
    rb_status status = d ? RB_OK : RB_NOMEM;
    for (int i; status == RB_OK && (i = atomic_fetch_add(&w->next, 1)) < w->count;)
        status = rb_drop_run(w->p, w->m, w->opts, w->first + i, &d, &w->out[i], &w->err[k]);
    rb_data_free(d);
    w->status[k] = status;
}

rb_status rb_flat_drops(const rb_part *p, const rb_model *m, const rb_drop_opts *opts, int first,
                        int count, int threads, rb_drop *out, rb_error *err)
{
    enum { MOST = 256 };
    rb_status status[MOST] = { RB_OK };
    static const rb_error none = { 0 };
    rb_error told[MOST];
    if (threads < 1 || threads > MOST) return err->status = RB_BAD_INPUT;
    for (int k = 0; k < threads; k++) told[k] = none;
    drops w = { p, m, opts, first, count, 0, out, status, told };
    pool *members = threads > 1 ? pool_new(threads) : NULL;
    if (members)
        pool_parallel(members)->run(pool_parallel(members)->ctx, work, &w);
    else
        work(&w, 0); /* without threads it takes longer */
    pool_free(members);
    for (int k = 0; k < threads; k++) {
        if (status[k] == RB_OK) continue;
        *err = told[k];
        return err->status = status[k];
    }
    return RB_OK;
}

rb_model *rb_flat_part(const char *mesh, double scale, double density, const char *inertia,
                       rb_error *err)
{
    rb_spec *spec = rb_part_spec(mesh, scale, density, inertia, NULL, err);
    rb_model *m = spec ? rb_spec_compile(spec, NULL, err) : NULL;
    rb_spec_free(spec);
    return m;
}
