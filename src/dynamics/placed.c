/* A step ends with the gaps at its end, where the next one begins. Poses depend on q alone as long
 * as no body is kinematic or measured: those of the last call are valid while q is the same and
 * rb_data.placed is 1; code that moves them sets it to 0. */
#include "dynamics/placed.h"

#include <string.h>

#include "dynamics/forward.h"
#include "dynamics/kinematics_link.h"
#include "model/cache.h"
#include "rattleback/dynamics.h"

static int holds(const rb_model *m, const rb_data *d)
{
    if (!d->placed || d->cache->placed_revision != m->revision || m->nmocap > 0 || m->ngauge > 0)
        return 0;
    return memcmp(d->cache->placed_q, d->q, (size_t)m->nq * sizeof *d->q) == 0;
}

static void note(const rb_model *m, rb_data *d)
{
    rb_frames_touching(m, d);
    memcpy(d->cache->placed_q, d->q, (size_t)m->nq * sizeof *d->q);
    d->cache->placed_revision = m->revision;
    d->placed = 1;
}

void rb_placed_frames(const rb_model *m, rb_data *d)
{
    if (holds(m, d)) return;
    rb_forward_poses(m, d);
    note(m, d);
}

void rb_placed_motion(const rb_model *m, rb_data *d)
{
    if (holds(m, d)) {
        rb_velocity(m, d);
        return;
    }
    rb_forward_place(m, d);
    note(m, d);
}
