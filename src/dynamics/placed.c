/* Poses depend on q alone as long as no body is kinematic or measured: those of rb_cache.placed_q
 * are copied where they were made, and a later look at the same q takes the copy. In a step that is
 * the start of smooth motion, the rows, and the sensors and the start of the next step after the
 * gaps at the end. Frames of what is on links stay where they are as long as nobody places others.
 *
 *     placed   links have the poses of placed_q now; code that moves them sets it to 0
 *     posed    the copy is there
 *     framed   frames of bodies, sites and geoms that touch are those of placed_q
 *     strung   tendons are those of placed_q, where placed
 */
#include "dynamics/placed.h"

#include <string.h>

#include "dynamics/forward.h"
#include "dynamics/kinematics_link.h"
#include "model/cache.h"
#include "rattleback/dynamics.h"

static int is_key(const rb_model *m, const rb_data *d)
{
    if (d->cache->placed_revision != m->revision || m->nmocap > 0 || m->ngauge > 0) return 0;
    return memcmp(d->cache->placed_q, d->q, (size_t)m->nq * sizeof *d->q) == 0;
}

/* Between the links and the copy. */
static void move(const rb_model *m, rb_data *d, int back)
{
    double *const of[] = { d->link_p, d->link_R, d->link_l, d->link_c, d->link_I };
    const int each[] = { 3, 9, 3, 3, 6 };
    double *copy = d->cache->placed_pose;
    for (int i = 0; i < 5; i++) {
        size_t n = (size_t)each[i] * (size_t)m->nlink;
        memcpy(back ? of[i] : copy, back ? copy : of[i], n * sizeof *copy);
        copy += n;
    }
    size_t bytes = 6 * (size_t)m->nv * sizeof *copy;
    if (m->nv > 0)
        memcpy(back ? d->dof_S : d->cache->placed_S, back ? d->cache->placed_S : d->dof_S, bytes);
}

/* The poses; tendons are another matter. */
static int restore_links(const rb_model *m, rb_data *d)
{
    if (!is_key(m, d)) return 0;
    if (d->placed) return 1;
    if (!d->cache->posed) return 0;
    move(m, d, 1);
    d->placed = 1;
    d->cache->strung = m->nspatial == 0;
    return 1;
}

void rb_placed_strings(const rb_model *m, rb_data *d)
{
    if (m->nspatial == 0 || !d->placed || d->cache->strung) return;
    rb_tendons(m, d);
    d->cache->strung = 1;
}

static int restore(const rb_model *m, rb_data *d)
{
    if (!restore_links(m, d)) return 0;
    rb_placed_strings(m, d);
    return 1;
}

/* Links have just been placed at q, with tendons or without. */
static void note(const rb_model *m, rb_data *d, int strung)
{
    int known = is_key(m, d);
    d->cache->strung = strung;
    d->framed = known && d->framed;
    d->cache->posed = known && d->cache->posed;
    d->placed = 1;
    if (d->cache->posed) return; /* the same bits */
    memcpy(d->cache->placed_q, d->q, (size_t)m->nq * sizeof *d->q);
    d->cache->placed_revision = m->revision;
    move(m, d, 0);
    d->cache->posed = 1;
}

/* Rows look at the lengths of tendons. */
static int has_tendon_rows(const rb_model *m)
{
    for (int t = 0; t < m->ntendon; t++)
        if (m->tendon_limited[t] || m->tendon_frictionloss[t] > 0.0) return 1;
    for (int e = 0; e < m->neq; e++)
        if (m->eq_type[e] == RB_EQ_TENDON) return 1;
    return 0;
}

void rb_placed_frames(const rb_model *m, rb_data *d)
{
    int strings = m->nspatial > 0 && has_tendon_rows(m);
    if (!restore_links(m, d)) {
        rb_forward_links(m, d);
        note(m, d, 0);
    }
    if (strings) rb_placed_strings(m, d);
    if (!is_key(m, d) || !d->framed) rb_frames_touching(m, d);
}

void rb_placed_links(const rb_model *m, rb_data *d)
{
    if (restore(m, d))
        rb_velocity(m, d);
    else
        rb_placed_anew(m, d);
}

void rb_placed_anew(const rb_model *m, rb_data *d)
{
    rb_forward_place(m, d);
    note(m, d, 1);
}

void rb_placed_motion(const rb_model *m, rb_data *d)
{
    rb_placed_links(m, d);
    if (!is_key(m, d) || !d->framed) rb_frames_touching(m, d);
}
