/* The friction LCP of Stewart and Trinkle at velocity level (K.26), contact by contact:
 *
 *     r_c = c_n n + D_c beta,   D_c: unit tangents d_1 .. d_m that positively span the plane
 *     0 <= c_n     perp  u_n                     >= 0
 *     0 <= beta    perp  lambda e + D_c' u_t     >= 0
 *     0 <= lambda  perp  mu c_n - e' beta        >= 0
 *
 * Its matrix is copositive, so that Lemke's method finds a solution wherever q is a velocity of the
 * bodies. A pyramid with edges close to the true direction of friction differs from the cone by the
 * square of their angle: solving again with a narrower fan of edges gets as close as wanted, and
 * Newton finishes. */
#include "solve/polyhedron.h"

#include <math.h>
#include <string.h>

#include "solve/internal.h"

enum { FAN = 5, MOST = RB_POLYHEDRON_FINE + FAN, MAX_ROWS = 2000 };

/* How much narrower a fan becomes that held the friction [1]: the error falls with its square. */
#define NARROWER 0.25

typedef struct pyramids {
    const rb_cones *k;
    int around, edges; /* evenly spaced, and in all, per contact       */
    int rows;          /* of the LCP per contact: normal, edges, lambda        */
    double *d;         /* edges as tangents                  (nc x edges x 2)  */
    double *M, *q, *z;
} pyramids;

/* Every direction of eight or every second one; in two dimensions two are the whole cone. */
static void edges_around(double *d, int around)
{
    static const double c = 0.70710678118654757; /* cos 45 degrees */
    static const double ring[RB_POLYHEDRON_FINE][2] = {
        { 1, 0 }, { c, c }, { 0, 1 }, { -c, c }, { -1, 0 }, { -c, -c }, { 0, -1 }, { c, -c }
    };
    for (int i = 0; i < around; i++) {
        const double *from = ring[i * (RB_POLYHEDRON_FINE / around)];
        d[2 * i] = from[0];
        d[2 * i + 1] = from[1];
    }
}

/* Edges at -2, -1, 0, 1, 2 times the spread from the friction of r, by tangents of the angle. */
static void edges_fan(const double *r, double spread, double *d)
{
    double len = sqrt(r[1] * r[1] + r[2] * r[2]);
    double t0 = len > 0.0 ? r[1] / len : 1.0, t1 = len > 0.0 ? r[2] / len : 0.0;
    for (int i = 0; i < FAN; i++) {
        double a = spread * (i - FAN / 2), s = 1.0 / sqrt(1.0 + a * a);
        d[2 * i] = (t0 - a * t1) * s;
        d[2 * i + 1] = (t1 + a * t0) * s;
    }
}

static rb_status make_edges(pyramids *s, const double *spread, rb_arena *scratch, const double *r)
{
    const rb_cones *k = s->k;
    s->edges = k->dim == 2 ? s->around : s->around + (spread ? FAN : 0);
    s->rows = s->edges + 2;
    size_t n = (size_t)k->nc * (size_t)s->rows;
    s->d = rb_push(scratch, double, (size_t)k->nc *(size_t)s->edges * 2);
    s->M = rb_push(scratch, double, n *n);
    s->q = rb_push(scratch, double, n);
    s->z = rb_push(scratch, double, n);
    if (!s->d || !s->M || !s->q || !s->z) return RB_NOMEM;
    memset(s->M, 0, n * n * sizeof *s->M);
    for (int c = 0; c < k->nc; c++) {
        double *d = s->d + (ptrdiff_t)c * s->edges * 2;
        edges_around(d, s->around);
        if (s->edges > s->around) {
            edges_fan(r + (ptrdiff_t)c * k->dim, spread[c], d + (ptrdiff_t)2 * s->around);
        }
    }
    return RB_OK;
}

/* Generator g of contact c as a vector of its frame: the normal, then the edges. */
static void generator(const pyramids *s, int c, int g, double *out)
{
    const double *d = s->d + ((ptrdiff_t)c * s->edges + g - 1) * 2;
    out[0] = g == 0 ? 1.0 : 0.0;
    out[1] = g == 0 ? 0.0 : d[0];
    out[2] = g == 0 ? 0.0 : d[1];
}

static void fill_block(pyramids *s, int c, int j, const double *W)
{
    int dim = s->k->dim, n = s->k->nc * s->rows;
    for (int g = 0; g <= s->edges; g++) {
        double a[3], b[3], row[3] = { 0.0 };
        generator(s, c, g, a);
        for (int l = 0; l < dim; l++) {
            for (int i = 0; i < dim; i++) row[l] += a[i] * W[i * dim + l];
        }
        double *M = s->M + (ptrdiff_t)(c * s->rows + g) * n + (ptrdiff_t)j * s->rows;
        for (int h = 0; h <= s->edges; h++) {
            generator(s, j, h, b);
            M[h] = row[0] * b[0] + row[1] * b[1] + row[2] * b[2];
        }
    }
}

static void fill(pyramids *s)
{
    const rb_cones *k = s->k;
    int n = k->nc * s->rows, last = s->edges + 1;
    for (int c = 0; c < k->nc; c++) {
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
            fill_block(s, c, k->W.col[e], k->W.val + (ptrdiff_t)e * k->dim * k->dim);
        }
        int at = c * s->rows;
        for (int g = 0; g <= s->edges; g++) {
            double a[3], sum = 0.0;
            generator(s, c, g, a);
            for (int i = 0; i < k->dim; i++) sum += a[i] * k->q[c * k->dim + i];
            s->q[at + g] = sum;
            if (g == 0) continue;
            s->M[(ptrdiff_t)(at + g) * n + at + last] = 1.0;
            s->M[(ptrdiff_t)(at + last) * n + at + g] = -1.0;
        }
        s->M[(ptrdiff_t)(at + last) * n + at] = k->mu[c];
        s->q[at + last] = 0.0;
    }
}

static void read_impulses(const pyramids *s, double *r)
{
    const rb_cones *k = s->k;
    for (int c = 0; c < k->nc; c++) {
        double sum[3] = { 0.0 }, a[3];
        for (int g = 0; g <= s->edges; g++) {
            generator(s, c, g, a);
            for (int i = 0; i < 3; i++) sum[i] += s->z[c * s->rows + g] * a[i];
        }
        memcpy(r + (ptrdiff_t)c * k->dim, sum, (size_t)k->dim * sizeof *r);
    }
}

void rb_polyhedron_narrow(const rb_cones *k, const double *from, const double *to, double *spread)
{
    for (int c = 0; c < k->nc && k->dim == 3; c++) {
        const double *a = from + (ptrdiff_t)c * 3, *b = to + (ptrdiff_t)c * 3;
        double cross = a[1] * b[2] - a[2] * b[1], dot = a[1] * b[1] + a[2] * b[2];
        double turned = dot > 0.0 ? fabs(cross) / dot : cross == 0.0 ? 0.0 : 1.0;
        double next = turned < spread[c] ? NARROWER * spread[c] : fmax(turned, spread[c]);
        spread[c] = fmin(next, RB_POLYHEDRON_SPREAD);
    }
}

rb_status rb_polyhedron_solve(const rb_cones *k, int around, const double *spread,
                              rb_arena *scratch, double *r, int *solved, int *pivots)
{
    *solved = 0;
    if (k->nc * (MOST + 2) > MAX_ROWS) return RB_OK;
    rb_mark mark = rb_arena_mark(scratch);
    pyramids s = { .k = k, .around = k->dim == 2 ? 2 : around };
    rb_status status = make_edges(&s, spread, scratch, r);
    if (status != RB_OK) return status;
    fill(&s);
    int n = k->nc * s.rows;
    rb_problem p = { .kind = RB_LCP, .n = n, .q = s.q };
    p.W.dense = s.M;
    rb_solve_opts o = rb_solve_opts_default();
    o.unique = 0;
    rb_info info = { .mode = rb_push(scratch, unsigned char, n),
                     .ray = rb_push(scratch, double, n),
                     .bad_row = -1 };
    if (!info.mode || !info.ray) return RB_NOMEM;
    memset(s.z, 0, (size_t)n * sizeof *s.z);
    memset(info.mode, RB_MODE_UNKNOWN, (size_t)n);

    /* one run where there are many rows, every means where there are few */
    const rb_solver *solver = s.around == RB_POLYHEDRON_FINE ? &rb_solver_lemke : &rb_solver_auto;
    status = solver->solve(&p, &o, scratch, s.z, &info);
    if (status != RB_OK) return status;
    *pivots += info.iterations;
    *solved = info.outcome == RB_SOLVED;
    if (*solved) read_impulses(&s, r);
    rb_arena_reset(scratch, mark);
    return RB_OK;
}
