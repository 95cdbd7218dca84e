/* A step looks for contacts within reach, and in a wall a third of them stay open: bricks in a row
 * with a joint between them. They cost as much as the others, and couple bodies that nothing
 * couples. So contacts without impulse that separate faster than
 *
 *     u_n > CLEARLY |q|_2 / sqrt(nc),    u = W r + q of the guess r                          (K.18)
 *
 * are left out. Where the answer closes one (u_n < 0) it joins, and the problem is solved again
 * from that answer: what is returned solves the whole problem. */
#include "solve/cone_active.h"

#include <math.h>
#include <string.h>

/* Speed of separation from which on a contact is left out, in units of the root mean square of
 * free velocities [1]. Smaller: problems are solved twice. */
#define CLEARLY 0.5

/* Problems of those that take part, before all do. */
enum { ROUNDS = 3 };

typedef struct active {
    const rb_cones *all;
    rb_cones k;        /* those that take part; measures are relative to the whole problem     */
    int *local;        /* which they are                                             (all->nc) */
    int *contact;      /* which they are of the problem that names the bodies        (all->nc) */
    unsigned char *in; /* 1: the contact takes part                                  (all->nc) */
    double *r, *q;     /* of those that take part                                    (all->n)  */
    double *mu, *rho;  /*                                                            (all->nc) */
    double *u;         /* velocities of all contacts                                 (all->n)  */
} active;

/* Meter and blocks of W: of problems that have them. */
static rb_status find_velocities(active *a, const double *r, rb_arena *scratch)
{
    const rb_cones *k = a->all;
    if (k->W.ptr) {
        rb_cones_velocity(k, r, a->u);
        return RB_OK;
    }
    rb_matrix W = { .form = RB_OPERATOR, .op = k->op };
    rb_status status = rb_matrix_apply(&W, k->n, r, scratch, a->u);
    for (int i = 0; i < k->n && status == RB_OK; i++) a->u[i] += k->q[i];
    return status;
}

static rb_status make(const rb_cones *all, const double *r, rb_arena *scratch, active *a)
{
    size_t nc = (size_t)all->nc;
    *a = (active){ .all = all };
    a->local = rb_push(scratch, int, 2 * nc);
    a->in = rb_push(scratch, unsigned char, nc);
    a->r = rb_push(scratch, double, 9 * nc);
    a->mu = rb_push(scratch, double, 2 * nc);
    if (!a->local || !a->in || !a->r || !a->mu) return RB_NOMEM;
    a->contact = a->local + nc;
    a->q = a->r + 3 * nc;
    a->u = a->q + 3 * nc;
    a->rho = a->mu + nc;
    double clearly = CLEARLY * all->q_norm / sqrt((double)all->nc);
    rb_status status = find_velocities(a, r, scratch);
    for (int c = 0; c < all->nc && status == RB_OK; c++)
        a->in[c] = r[3 * c] > 0.0 || !(a->u[3 * c] > clearly);
    return status;
}

/* a->k and a->r from who takes part, and from r. */
static void gather(active *a, const double *r)
{
    const rb_cones *all = a->all;
    int n = 0;
    double sum = 0.0;
    for (int c = 0; c < all->nc; c++) {
        if (!a->in[c]) continue;
        a->local[n] = c;
        a->contact[n] = all->contact ? all->contact[c] : c;
        memcpy(a->r + 3 * (ptrdiff_t)n, r + 3 * (ptrdiff_t)c, 3 * sizeof *r);
        memcpy(a->q + 3 * (ptrdiff_t)n, all->q + 3 * (ptrdiff_t)c, 3 * sizeof *r);
        a->mu[n] = all->mu[c];
        a->rho[n] = all->rho[c];
        sum += 1.0 / all->rho[c];
        n++;
    }
    a->k = (rb_cones){ .nc = n, .dim = 3, .n = 3 * n, .q = a->q, .mu = a->mu, .rho = a->rho };
    a->k.mean = n > 0 ? sum / n : all->mean;
    a->k.q_norm = all->q_norm;
    a->k.op = all->op;
    a->k.parts = all->parts;
    a->k.contact = a->contact;
    a->k.meter = all->meter;
    a->k.many = all->many;
}

/* r of all from a->r: the others get none. */
static void scatter(const active *a, double *r)
{
    memset(r, 0, (size_t)a->all->n * sizeof *r);
    for (int i = 0; i < a->k.nc; i++)
        memcpy(r + 3 * (ptrdiff_t)a->local[i], a->r + 3 * (ptrdiff_t)i, 3 * sizeof *r);
}

/* Contacts that the impulses r of all close join those that take part; returns how many. error:
 * measure of those that took part in, of all out. */
static int join(active *a, double *error)
{
    const rb_cones *all = a->all;
    double square = *error * *error * all->q_norm * all->q_norm;
    int joined = 0;
    for (int c = 0; c < all->nc; c++) {
        double u_n = a->u[3 * c];
        if (a->in[c] || !(u_n < 0.0)) continue;
        square += u_n * u_n;
        a->in[c] = 1;
        joined++;
    }
    *error = sqrt(square) / all->q_norm;
    return joined;
}

/* One problem of those that take part. done: its answer is that of the whole problem, or there is
 * none. */
static rb_status solve(active *a, const rb_interior_opts *o, rb_arena *scratch, double *r,
                       rb_interior *out, int *done)
{
    rb_interior found;
    gather(a, r);
    rb_status status = rb_cone_interior(&a->k, o, scratch, a->r, &found);
    found.factorisations += out->factorisations;
    *out = found;
    if (status != RB_OK || !(found.error < INFINITY)) return status;
    scatter(a, r);
    int reached = out->error <= o->tol;
    status = find_velocities(a, r, scratch);
    int joined = status == RB_OK ? join(a, &out->error) : 0;
    *done = !reached || joined == 0 || out->error <= o->tol;
    return status;
}

rb_status rb_cone_active_interior(const rb_cones *k, const rb_interior_opts *opts,
                                  rb_arena *scratch, double *r, rb_interior *out)
{
    if (!opts->warm) return rb_cone_interior(k, opts, scratch, r, out);
    active a;
    int done = 0;
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = make(k, r, scratch, &a);
    *out = (rb_interior){ .error = INFINITY, .pivot_ratio = 1.0 };
    for (int round = 0; status == RB_OK && !done; round++) {
        if (round == ROUNDS) memset(a.in, 1, (size_t)k->nc);
        done = 1;
        status = solve(&a, opts, scratch, r, out, &done);
    }
    rb_arena_reset(scratch, mark);
    return status;
}
