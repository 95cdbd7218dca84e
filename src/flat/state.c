/* What a simulation needs to continue bit for bit, as bytes: what rb_data_copy copies. */
#include <string.h>

#include "flat/sim.h"

enum { MOST = 40 };

typedef struct piece {
    void *at;
    size_t bytes;
} piece;

/* Whole words without gaps between them: headers are compared byte by byte. */
enum { NTOUCH = 0, COUNTS = 12 };

typedef struct header {
    uint64_t magic;
    uint64_t structure; /* of the model */
    int count[COUNTS];  /* [NTOUCH]: constraints; then the lengths of the model */
} header;

_Static_assert(sizeof(header) == 2 * sizeof(uint64_t) + COUNTS * sizeof(int), "header has a gap");

/* What a state means: joints, tree, and what constraints name by number. Masses and coefficients
 * may differ. */
static uint64_t structure(const rb_model *m)
{
    const int count[] = { m->nbody, m->njnt, m->ngeom, m->neq, m->ntendon, m->nu };
    uint64_t h = rb_hash(RB_HASH_INIT, count, sizeof count);
    h = rb_hash(h, m->body_parent, (size_t)m->nbody * sizeof *m->body_parent);
    return rb_hash(h, m->jnt_type, (size_t)m->njnt * sizeof *m->jnt_type);
}

static header make_header(const rb_model *m, const rb_data *d)
{
    return (header){ .magic = RB_DATA_MAGIC,
                     .structure = structure(m),
                     .count = { d->ntouch, d->nq, d->nv, d->na, d->nctrl, d->nctrlpast, d->nbody,
                                d->nmocap, d->ngauge_dof, d->nsensordata, d->nsensorpast } };
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
    numbers(p, &n, d->kick, 2 * d->nv);
    numbers(p, &n, d->servo, d->nu);
    numbers(p, &n, d->slope_h, RB_SLOPES);
    numbers(p, &n, &d->slope_time, 1);
    numbers(p, &n, &d->correct_end, 1);
    numbers(p, &n, &d->correct_from, 1);
    numbers(p, &n, &d->touch_h, 1);
    numbers(p, &n, d->mocap_v, 6 * d->nmocap);
    numbers(p, &n, d->mocap_a, 6 * d->nmocap);
    numbers(p, &n, d->ctrl, d->nctrl);
    numbers(p, &n, d->ctrl_past, d->nctrlpast);
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
    const header head = make_header(s->m, s->d);
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
    header given, own = make_header(s->m, s->d);
    if (size < sizeof given) return RB_BAD_INPUT;
    memcpy(&given, bytes, sizeof given);
    own.count[NTOUCH] = given.count[NTOUCH];
    if (memcmp(&given, &own, sizeof own) != 0 || given.count[NTOUCH] < 0) return RB_BAD_INPUT;
    if (sum(p, pieces(s->d, given.count[NTOUCH], p)) != size) return RB_BAD_INPUT;
    rb_status status = flat_sim_reserve(s, given.count[NTOUCH]);
    if (status != RB_OK) return status;
    int n = pieces(s->d, given.count[NTOUCH], p);
    const char *from = (const char *)bytes + sizeof given;
    for (int k = 0; k < n; k++) {
        if (p[k].bytes > 0) memcpy(p[k].at, from, p[k].bytes);
        from += p[k].bytes;
    }
    s->d->ntouch = given.count[NTOUCH];
    return RB_OK;
}
