/* Recordings of simulations, and the files they become. */
#include <math.h>

#include "bundle.h"
#include "flat/sim.h"

rb_replay *rb_sim_record(rb_sim *s, double fps)
{
    rb_replay_opts opts = rb_replay_opts_default();
    opts.fps = fps;
    if (s->replay) rb_sim_record_end(s, s->replay);
    rb_replay *r = rb_replay_new(s->m, &opts);
    if (r && rb_replay_start(r, s->d, &s->opts) != RB_OK) {
        rb_replay_free(r);
        r = NULL;
    }
    s->replay = r;
    return r;
}

rb_status rb_sim_record_end(rb_sim *s, rb_replay *r)
{
    if (s->replay != r || !r) return RB_OK;
    s->replay = NULL;
    return rb_replay_end(r, s->d, &s->opts);
}

rb_status rb_flat_replay_save(const rb_replay *r, const char *path, const char *name, int snapshots,
                              double azimuth, double elevation, double *sizes, rb_error *err)
{
    rb_replay_info info = { 0 };
    rb_save_opts o = rb_save_opts_default();
    o.page = bundle_page(&o.page_size);
    o.snapshots = snapshots;
    o.azimuth = azimuth;
    o.elevation = elevation;
    *err = (rb_error){ 0 };
    rb_status status = rb_replay_save(path, r, NULL, name, &o, &info, err);
    const double numbers[6] = { info.frames,
                                (double)info.bytes,
                                (double)info.scene.mesh_bytes,
                                fmax(info.lost_position, info.scene.lost_mesh),
                                info.lost_angle,
                                (double)o.page_size };
    for (int k = 0; sizes && k < 6; k++) sizes[k] = numbers[k];
    return status;
}
