/* A step looks for contacts within reach, and in a wall a third of them stay open: bricks in a row
 * with a joint between them. They cost as much as the others, and couple bodies that nothing
 * couples. So contacts without impulse that separate faster than
 *
 *     u_n > CLEARLY |q|_2 / sqrt(nc),    u = W r + q of the guess r                          (K.45)
 *
 * are left out. Where the answer closes one (u_n < 0) it joins, and the problem is solved again
 * from that answer: what is returned solves the whole problem. */
#include "solve/cone_active.h"

#include <math.h>
#include <string.h>

/* Speed of separation from which on a contact is left out, in units of the root mean square of
 * free velocities [1]. Smaller: problems are solved twice. */
#define CLEARLY 0.5

static rb_status find_velocities(rb_cone_active *a, const double *r, rb_arena *scratch)
{
    const rb_cones *k = a->all;
    rb_matrix W = { .form = RB_OPERATOR, .op = k->op };
    rb_status status = rb_matrix_apply(&W, k->n, r, scratch, a->u);
    for (int i = 0; i < k->n && status == RB_OK; i++) a->u[i] += k->q[i];
    return status;
}

rb_status rb_cone_active_make(const rb_cones *all, const double *r, rb_arena *scratch,
                              rb_cone_active *a)
{
    size_t nc = (size_t)all->nc;
    *a = (rb_cone_active){ .all = all };
    a->contact = rb_push(scratch, int, nc);
    a->in = rb_push(scratch, unsigned char, nc);
    a->r = rb_push(scratch, double, 9 * nc);
    a->mu = rb_push(scratch, double, 2 * nc);
    if (!a->contact || !a->in || !a->r || !a->mu) return RB_NOMEM;
    a->q = a->r + 3 * nc;
    a->u = a->q + 3 * nc;
    a->rho = a->mu + nc;
    rb_status status = find_velocities(a, r, scratch);
    double clearly = CLEARLY * all->q_norm / sqrt((double)all->nc);
    for (int c = 0; c < all->nc && status == RB_OK; c++)
        a->in[c] = r[3 * c] > 0.0 || !(a->u[3 * c] > clearly);
    return status;
}

void rb_cone_active_gather(rb_cone_active *a, const double *r)
{
    const rb_cones *all = a->all;
    int n = 0;
    double mean = 0.0;
    for (int c = 0; c < all->nc; c++) {
        if (!a->in[c]) continue;
        a->contact[n] = c;
        memcpy(a->r + 3 * (ptrdiff_t)n, r + 3 * (ptrdiff_t)c, 3 * sizeof *r);
        memcpy(a->q + 3 * (ptrdiff_t)n, all->q + 3 * (ptrdiff_t)c, 3 * sizeof *r);
        a->mu[n] = all->mu[c];
        a->rho[n] = all->rho[c];
        mean += 1.0 / all->rho[c];
        n++;
    }
    a->k = *all;
    a->k.nc = n;
    a->k.n = 3 * n;
    a->k.q = a->q;
    a->k.mu = a->mu;
    a->k.rho = a->rho;
    a->k.mean = n > 0 ? mean / n : all->mean;
    a->k.contact = a->contact;
}

void rb_cone_active_scatter(const rb_cone_active *a, double *r)
{
    memset(r, 0, (size_t)a->all->n * sizeof *r);
    for (int i = 0; i < a->k.nc; i++)
        memcpy(r + 3 * (ptrdiff_t)a->contact[i], a->r + 3 * (ptrdiff_t)i, 3 * sizeof *r);
}

int rb_cone_active_join(rb_cone_active *a, const double *r, rb_arena *scratch, double *error)
{
    const rb_cones *all = a->all;
    double square = *error * *error * all->q_norm * all->q_norm;
    int joined = 0;
    if (find_velocities(a, r, scratch) != RB_OK) return -1;
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
