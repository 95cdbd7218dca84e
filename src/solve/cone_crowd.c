/* Towers, walls and arches: a contact shares its bodies with tens of others. W = Y Y' has hundreds
 * of blocks of 9 numbers for each block of Y, and sweeps over it do not converge; it is not
 * needed here. Interior points (K.15) see Y alone, so that memory and work of an iteration grow
 * with the contacts and with the factors of the bodies. The whole problem counts as one island:
 * parts that nothing couples cost nothing together. */
#include "solve/cone_crowd.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/cone_active.h"
#include "solve/cone_large.h"
#include "solve/internal.h"
#include "solve/newton_bodies.h"

/* Factorisations of a try, and tries. */
enum { LIMIT = 60, TRIES = 2 };

/* What another try may take where the first has come as far as will do, in units of meter.h: some
 * tens of milliseconds [1]. */
#define TRY_WORK 1e5

/* Share of the tolerance that is asked for: the certificate rounds otherwise [1]. */
#define SHARE 0.99

/* Tolerance beyond which sweeps and exact normals (K.21) are cheaper than factors [1]. */
#define MOST_TOL 3e-2

/* Least coarse one [1]. Smaller: `standard` loses the answers that its documents promise. */
#define COARSE 1e-4

/* ---- who is one -------------------------------------------------------------------------------
 */

/* The first and last block of contact c: at most two trees take part. */
static void ends_of(const rb_operator *op, const int *of, int c, int ends[2])
{
    ends[0] = ends[1] = -1;
    for (int e = op->jptr[3 * c]; e < op->jptr[3 * c + 3]; e++) {
        int b = of[op->jcol[e]];
        if (ends[0] < 0 || b < ends[0]) ends[0] = b;
        if (b > ends[1]) ends[1] = b;
    }
}

/* Blocks of W: contacts that share a block of Minv, those that share both counted once. Contacts of
 * the same two bodies follow each other. */
static double count_blocks(const rb_operator *op, int nc, const int *of, int *count)
{
    double blocks = 0.0;
    int before[2] = { -1, -1 }, run = 0;
    memset(count, 0, (size_t)op->nblock * sizeof *count);
    for (int c = 0; c <= nc; c++) {
        int ends[2] = { -2, -2 };
        if (c < nc) ends_of(op, of, c, ends);
        if (ends[0] != before[0] || ends[1] != before[1]) {
            if (before[0] >= 0 && before[0] != before[1]) blocks -= (double)run * run;
            run = 0;
        }
        before[0] = ends[0];
        before[1] = ends[1];
        run++;
        if (ends[0] < 0) continue;
        count[ends[0]]++;
        if (ends[1] != ends[0]) count[ends[1]]++;
    }
    for (int b = 0; b < op->nblock; b++) blocks += (double)count[b] * count[b];
    return blocks;
}

/* Thousands of multiplications that factors of the bodies take for each contact; INFINITY: there is
 * no room for them. Negative: no memory. */
static double weight_of(const rb_operator *op, int nc, rb_arena *scratch)
{
    rb_cones k = { .nc = nc, .dim = 3, .n = 3 * nc, .parts = op, .many = 1 };
    rb_bodies *b = NULL;
    rb_status status = rb_bodies_make(&k, scratch, &b);
    if (status != RB_OK && status != RB_TOO_LARGE) return -1.0;
    return status == RB_OK && b ? rb_bodies_work(b) / nc : INFINITY;
}

int rb_operator_crowd(const rb_operator *op, int nc, rb_arena *scratch)
{
    rb_mark mark = rb_arena_mark(scratch);
    int *of = rb_push(scratch, int, op->m), *count = rb_push(scratch, int, op->nblock);
    int kind = -1;
    if (of && count) {
        for (int b = 0; b < op->nblock; b++) {
            for (int d = op->start[b]; d < op->start[b + 1]; d++) of[d] = b;
        }
        int dense = count_blocks(op, nc, of, count) > (double)RB_CROWD_BLOCKS * nc;
        kind = dense ? RB_CROWD_DENSE : nc <= RB_CROWD_FEW ? RB_CROWD_SMALL : RB_CROWD_NONE;
    }
    if (kind == RB_CROWD_NONE) {
        double weight = weight_of(op, nc, scratch);
        if (weight <= RB_CROWD_BEARABLE) kind = RB_CROWD_SMALL;
        if (weight <= RB_CROWD_LIGHT) kind = RB_CROWD_DENSE;
        if (weight < 0.0) kind = -1;
    }
    rb_arena_reset(scratch, mark);
    return kind;
}

/* Where a tolerance is coarse, answers that agree to more digits than that are not asked for, and
 * few contacts whose impulses are not unique would cost a hundred times as much. */
int rb_cone_crowd_least(double tol)
{
    return tol >= COARSE ? RB_CROWD_COARSE : RB_CROWD_LEAST;
}

int rb_cone_crowd_takes(double tol)
{
    return SHARE * tol > RB_LARGE_EXACT && tol <= MOST_TOL;
}

/* ---- the problem without W --------------------------------------------------------------------
 */

/* J_i Minv J_i' of one row: its entries in each block of Minv follow each other. */
static double diagonal(const rb_operator *op, int row, const double *const *minv, const int *of)
{
    double sum = 0.0;
    for (int a = op->jptr[row], end = a; a < op->jptr[row + 1]; a = end) {
        int b = of[op->jcol[a]], s = op->start[b], n = op->start[b + 1] - s;
        while (end < op->jptr[row + 1] && of[op->jcol[end]] == b) end++;
        for (int i = a; i < end; i++) {
            const double *M = minv[b] + (ptrdiff_t)(op->jcol[i] - s) * n;
            double part = 0.0;
            for (int e = a; e < end; e++) part += M[op->jcol[e] - s] * op->jval[e];
            sum += op->jval[i] * part;
        }
    }
    return sum;
}

static rb_status fill_rho(const rb_operator *op, rb_arena *scratch, rb_cones *k)
{
    rb_mark mark = rb_arena_mark(scratch);
    int *of = rb_push(scratch, int, op->m);
    const double **minv = rb_push(scratch, const double *, op->nblock), *next = op->minv;
    if (!of || !minv) return RB_NOMEM;
    for (int b = 0; b < op->nblock; b++) {
        ptrdiff_t n = op->start[b + 1] - op->start[b];
        for (int d = op->start[b]; d < op->start[b + 1]; d++) of[d] = b;
        minv[b] = next;
        next += n * n;
    }
    for (int c = 0; c < k->nc; c++) {
        double trace = 0.0;
        for (int i = 0; i < 3; i++) trace += diagonal(op, 3 * c + i, minv, of);
        k->rho[c] = trace / 3.0;
        k->mean += trace / k->n;
    }
    if (!(k->mean > 0.0)) k->mean = 1.0;
    for (int c = 0; c < k->nc; c++)
        k->rho[c] = 1.0 / (k->rho[c] > 1e-12 * k->mean ? k->rho[c] : k->mean);
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

/* As rb_cones_make does, but for the blocks of W. */
static rb_status prepare(const rb_problem *p, rb_arena *scratch, rb_cones *k)
{
    *k = (rb_cones){ .nc = p->nc, .dim = 3, .n = p->n, .q = p->q, .mu = p->mu, .many = 1 };
    k->meter = scratch->meter;
    k->op = k->parts = p->W.op;
    k->rho = rb_push(scratch, double, k->nc);
    if (!k->rho) return RB_NOMEM;
    k->q_norm = rb_norm2(k->q, k->n);
    if (!(k->q_norm > 0.0)) k->q_norm = 1.0;
    return fill_rho(p->W.op, scratch, k);
}

/* ---- the way ----------------------------------------------------------------------------------
 */

static void add(rb_info *info, const rb_interior *found)
{
    info->iterations += found->factorisations;
    info->factorisations += found->factorisations;
    info->rcond = found->pivot_ratio;
}

/* From the guess, then from nothing; without a guess from nothing, then so again with care. A third
 * try, from the best of both, made uneven towers slower by a fifth and no step better. Where
 * factors are large that has to do which will. */
static rb_status search(const rb_cones *k, const rb_solve_opts *o, double tol, rb_arena *scratch,
                        double *r, rb_info *info, double *error)
{
    double *z = rb_push(scratch, double, k->n), enough = tol;
    if (!z) return RB_NOMEM;
    *error = INFINITY;
    memcpy(z, r, (size_t)k->n * sizeof *r);
    for (int i = 0; i<TRIES && * error> enough; i++) {
        rb_interior found;
        rb_interior_opts opts = {
            .tol = tol, .limit = LIMIT, .warm = o->warm && i == 0, .closing = o->closing
        };
        opts.impatient = !o->warm && i == 0 && k->nc <= RB_CROWD_FEW;
        opts.careful = !o->warm && i > 0;
        rb_status status = rb_cone_active_interior(k, &opts, o->warm || i > 0, scratch, z, &found);
        add(info, &found);
        if (status != RB_OK) return status;
        if (found.work * LIMIT > TRY_WORK) enough = fmax(tol, SHARE * o->loose);
        if (found.error < *error) {
            *error = found.error;
            memcpy(r, z, (size_t)k->n * sizeof *r);
        }
        memcpy(z, r, (size_t)k->n * sizeof *r);
    }
    return RB_OK;
}

static rb_status report(const rb_problem *p, const rb_cones *k, rb_arena *scratch, const double *r,
                        rb_info *info)
{
    double *u = rb_push(scratch, double, k->n);
    if (!u) return RB_NOMEM;
    rb_matrix W = { .form = RB_OPERATOR, .op = p->W.op };
    rb_status status = rb_matrix_apply(&W, k->n, r, scratch, u);
    for (int i = 0; i < k->n; i++) u[i] += k->q[i];
    rb_cones_modes(k, r, u, info->mode);
    return status;
}

static int is_trivial(const rb_problem *p)
{
    for (int c = 0; c < p->nc; c++) {
        if (p->q[3 * c] < 0.0) return 0;
    }
    return 1;
}

static int is_for_crowds(const rb_problem *p, const rb_solve_opts *o)
{
    if (p->dim != 3 || o->unique || p->W.form == RB_DENSE || !p->W.op) return 0;
    return rb_cone_crowd_takes(o->tol) && p->nc >= rb_cone_crowd_least(o->tol);
}

rb_status rb_cone_crowd(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *r,
                        rb_info *info, int *done)
{
    *done = 0;
    if (!is_for_crowds(p, o) || is_trivial(p)) return RB_OK;
    int kind = rb_operator_crowd(p->W.op, p->nc, scratch);
    if (kind <= RB_CROWD_NONE) return kind < 0 ? RB_NOMEM : RB_OK;
    rb_mark mark = rb_arena_mark(scratch);
    rb_cones k;
    double tol = SHARE * o->tol, error = INFINITY;
    rb_status status = prepare(p, scratch, &k);
    if (status == RB_OK) status = search(&k, o, tol, scratch, r, info, &error);
    int large = p->nc >= RB_MANY_CONTACTS; /* below, other methods are cheap */
    int will_do = large && kind == RB_CROWD_DENSE && o->loose > 0.0 && error < INFINITY;
    *done = status == RB_OK && (error <= tol || will_do);
    if (status == RB_OK && *done) {
        status = report(p, &k, scratch, r, info);
        info->islands = 1;
        info->unique = RB_UNIQUE_OFF;
        info->outcome = error <= tol ? RB_SOLVED : RB_FAILED;
        info->rungs[RB_RUNG_INTERIOR] += error <= tol;
        info->loose += error > tol && error <= SHARE * o->loose;
        rb_path_add(info, error <= tol ? rb_rung_name(RB_RUNG_INTERIOR) : "interior, loose");
    }
    rb_arena_reset(scratch, mark);
    return status == RB_TOO_LARGE ? RB_OK : status;
}
