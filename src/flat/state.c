/* What a simulation needs to go on bit for bit, as bytes: what rb_data_copy copies. */
#include <string.h>

#include "flat/sim.h"

enum { MOST = 40 };

typedef struct piece {
    void *at;
    size_t bytes;
} piece;

typedef struct header {
    uint64_t magic;
    int nq, nv, na, nu, nbody, nmocap, ngauge_dof, nsensordata, nsensorpast, ntouch;
} header;

static header make_header(const rb_data *d)
{
    return (header){ .magic = RB_DATA_MAGIC,
                     .nq = d->nq,
                     .nv = d->nv,
                     .na = d->na,
                     .nu = d->nu,
                     .nbody = d->nbody,
                     .nmocap = d->nmocap,
                     .ngauge_dof = d->ngauge_dof,
                     .nsensordata = d->nsensordata,
                     .nsensorpast = d->nsensorpast,
                     .ntouch = d->ntouch };
}

static void add(piece *p, int *n, void *at, size_t bytes)
{
    p[(*n)++] = (piece){ at, bytes };
}

static void numbers(piece *p, int *n, double *x, int count)
{
    add(p, n, x, (size_t)count * sizeof *x);
}

static int pieces(rb_data *d, int ntouch, piece p[MOST])
{
    int n = 0;
    numbers(p, &n, &d->time, 1);
    add(p, &n, &d->rng, sizeof d->rng);
    numbers(p, &n, d->q, d->nq);
    numbers(p, &n, d->v, d->nv);
    numbers(p, &n, d->act, d->na);
    numbers(p, &n, d->mocap, 7 * d->nmocap);
    numbers(p, &n, d->mocap_was, 6 * d->nmocap);
    numbers(p, &n, d->gauge_at, d->ngauge_dof);
    numbers(p, &n, d->push, 2 * d->nv);
    numbers(p, &n, &d->push_time, 1);
    numbers(p, &n, d->slope, RB_SLOPES * d->nv);
    numbers(p, &n, d->slope_h, RB_SLOPES);
    numbers(p, &n, &d->slope_time, 1);
    numbers(p, &n, &d->correct_end, 1);
    numbers(p, &n, &d->correct_from, 1);
    numbers(p, &n, &d->touch_h, 1);
    numbers(p, &n, d->mocap_v, 6 * d->nmocap);
    numbers(p, &n, d->mocap_a, 6 * d->nmocap);
    numbers(p, &n, d->ctrl, d->nu);
    numbers(p, &n, d->tau, d->nv);
    numbers(p, &n, d->wrench, 6 * d->nbody);
    numbers(p, &n, d->sensor, d->nsensordata);
    numbers(p, &n, d->sensor_past, d->nsensorpast);
    add(p, &n, d->touch, (size_t)ntouch * sizeof *d->touch);
    return n;
}

static size_t sum(const piece *p, int n)
{
    size_t bytes = sizeof(header);
    for (int k = 0; k < n; k++) bytes += p[k].bytes;
    return bytes;
}

size_t rb_sim_save_size(const rb_sim *s)
{
    piece p[MOST];
    return sum(p, pieces(s->d, s->d->ntouch, p));
}

size_t rb_sim_save(const rb_sim *s, void *out, size_t capacity)
{
    piece p[MOST];
    const header head = make_header(s->d);
    int n = pieces(s->d, s->d->ntouch, p);
    size_t bytes = sum(p, n);
    if (bytes > capacity) return 0;
    char *to = out;
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (int k = 0; k < n; k++) {
        if (p[k].bytes > 0) memcpy(to, p[k].at, p[k].bytes);
        to += p[k].bytes;
    }
    return bytes;
}

rb_status rb_sim_restore(rb_sim *s, const void *bytes, size_t size)
{
    piece p[MOST];
    header given, own = make_header(s->d);
    if (size < sizeof given) return RB_BAD_INPUT;
    memcpy(&given, bytes, sizeof given);
    own.ntouch = given.ntouch;
    if (memcmp(&given, &own, sizeof own) != 0 || given.ntouch < 0) return RB_BAD_INPUT;
    if (sum(p, pieces(s->d, given.ntouch, p)) != size) return RB_BAD_INPUT;
    rb_status status = flat_sim_reserve(s, given.ntouch);
    if (status != RB_OK) return status;
    int n = pieces(s->d, given.ntouch, p);
    const char *from = (const char *)bytes + sizeof given;
    for (int k = 0; k < n; k++) {
        if (p[k].bytes > 0) memcpy(p[k].at, from, p[k].bytes);
        from += p[k].bytes;
    }
    s->d->ntouch = given.ntouch;
    return RB_OK;
}
