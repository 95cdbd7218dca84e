/* Finds the least change dp of impulses that balances the forces r = -(M v_free + J' p):
 *
 *     dp = J w y,    (w J' J w) y = w r,    w = 1 / forces of a freedom                      (S.32)
 *
 * The method is conjugate gradients. Forces pass along a chain or up a tower one link per
 * iteration, so that it takes as many iterations as there are rows. Where all rows are plain
 * contacts, the factor of w J'J w + delta, with a block for each body, is a preconditioner with
 * which two or three iterations are enough. delta only keeps the factor regular where nothing
 * holds a body. */
#include "step/rest/balance.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/dense.h"
#include "solve/newton_bodies.h"

/* Steps of conjugate gradients: at least, for each row, and with a factor. An island has a few
 * dozen freedoms and needs as many steps. Fewer: rest is found later. More: time where there is
 * none. */
enum { STEPS = 60, STEPS_PER_ROW = 12, FACTORED_STEPS = 12 };

/* Rows below which plain gradients take less than a factor; steps are products with all rows. */
enum { FEW_ROWS = 36, FEW_IN_ALL = 120 };

/* Force below which a freedom is weighed as if it had this one, relative to those of its tree [1]:
 * some freedoms see rounding alone. Larger: small forces are balanced late. Smaller: rounding is.
 */
#define FLOOR 1e-3

/* delta in units of the mean diagonal [1]. Larger: more steps. Smaller: its rounding is seen. */
#define DELTA 1e-9

typedef struct balance {
    rb_stage *s;
    const unsigned char *wanted;
    double *weight;    /* 0 where nothing is to be balanced                    (nv)   */
    double *r, *t, *d; /* what is left, scratch, direction                     (nv)   */
    double *g;         /* rows                                                 (nrow) */
    rb_bodies *bodies; /* the factor, NULL: none                                      */
    int *at;           /* place of a freedom in it, -1: none                   (nv)   */
    double *x;         /* right sides                                          (6 nb) */
} balance;

static int tree_of(const rb_model *m, int dof)
{
    return m->link_tree[m->dof_link[dof]];
}

/* Rows that may change: what sticks, holds or is pressed; what is open or slides stays. */
static int may_change(const balance *b, int at)
{
    const rb_stage *s = b->s;
    const rb_constraint *c = &s->set.c[at];
    if (c->island < 0 || !b->wanted[c->island]) return 0;
    if (c->kind == RB_CONSTRAINT_EQUALITY) return 1;
    return s->answer.mode[at] == RB_MODE_STICK || (c->nrow == 1 && s->answer.p[c->row] != 0.0);
}

/* Weights that make all forces of a tree comparable. */
static void set_weights(balance *b, const rb_unbalanced *x)
{
    const rb_model *m = b->s->m;
    for (int j = 0; j < m->nv; j++) {
        int tree = tree_of(m, j), island = b->s->set.tree_island[tree];
        double least = FLOOR * sqrt(b->s->d->M[m->dof_Madr[j]] * x->rounding[tree]);
        b->weight[j] = island >= 0 && b->wanted[island] ? 1.0 / fmax(x->push[j], least) : 0.0;
    }
}

/* g = J (weight .* y), zero for rows that stay. */
static void to_rows(balance *b, const double *y)
{
    const rb_constraints *set = &b->s->set;
    for (int j = 0; j < b->s->m->nv; j++) b->t[j] = b->weight[j] * y[j];
    rb_constraints_velocity(set, b->t, b->g);
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        if (!may_change(b, i)) memset(b->g + c->row, 0, (size_t)c->nrow * sizeof *b->g);
    }
}

/* t = weight .* J' g */
static void to_freedoms(balance *b)
{
    int nv = b->s->m->nv;
    memset(b->t, 0, (size_t)nv * sizeof *b->t);
    rb_constraints_force(&b->s->set, b->g, b->t);
    for (int j = 0; j < nv; j++) b->t[j] *= b->weight[j];
}

/* ---- the factor -------------------------------------------------------------------------------
 */

/* Rows that give, -1: one of them is no plain contact. */
static int count_plain(const balance *b)
{
    int n = 0;
    for (int i = 0; i < b->s->set.n; i++) {
        const rb_constraint *c = &b->s->set.c[i];
        if (!may_change(b, i)) continue;
        if (c->kind != RB_CONSTRAINT_CONTACT || c->nrow != 3) return -1;
        n++;
    }
    return n;
}

/* Places of the freedoms that rows which give act on, tree by tree in blocks of 6. */
static rb_status number_freedoms(balance *b, rb_operator *op)
{
    const rb_model *m = b->s->m;
    rb_arena *arena = b->s->d->arena;
    int *size = rb_push(arena, int, m->ntree), *start = rb_push(arena, int, m->ntree + 1);
    if (!size || !start) return RB_NOMEM;
    memset(size, 0, (size_t)m->ntree * sizeof *size);
    for (int i = 0; i < b->s->set.n; i++) {
        const rb_constraint *c = &b->s->set.c[i];
        for (int k = 0; k < c->ndof && may_change(b, i); k++)
            size[tree_of(m, b->s->set.dof[c->dof + k])] = 1;
    }
    for (int j = 0; j < m->nv; j++) {
        int tree = tree_of(m, j);
        b->at[j] = size[tree] > 0 ? size[tree]++ - 1 : -1;
    }
    for (int t = 0; t < m->ntree; t++) {
        int n = size[t] > 0 ? (size[t] - 1 + 5) / 6 * 6 : 0;
        size[t] = op->m;
        if (n > 0) start[op->nblock++] = op->m;
        op->m += n;
    }
    start[op->nblock] = op->m;
    op->start = start;
    for (int j = 0; j < m->nv; j++) {
        if (b->at[j] >= 0) b->at[j] += size[tree_of(m, j)];
    }
    return RB_OK;
}

static rb_status write_unit(const rb_operator *op, rb_arena *arena, const double **out)
{
    size_t size = 0;
    for (int k = 0; k < op->nblock; k++) {
        size_t n = (size_t)(op->start[k + 1] - op->start[k]);
        size += n * n;
    }
    double *unit = rb_push(arena, double, size), *next = unit;
    if (!unit) return RB_NOMEM;
    memset(unit, 0, size * sizeof *unit);
    for (int k = 0; k < op->nblock; k++) {
        ptrdiff_t n = op->start[k + 1] - op->start[k];
        for (ptrdiff_t i = 0; i < n; i++) next[i * (n + 1)] = 1.0;
        next += n * n;
    }
    *out = unit;
    return RB_OK;
}

/* J w of the rows that give, as an operator; the sum of its squares. */
static rb_status write_rows(balance *b, int n, rb_operator *op, double *squares)
{
    const rb_constraints *set = &b->s->set;
    rb_arena *arena = b->s->d->arena;
    size_t entries = 0;
    for (int i = 0; i < set->n; i++) entries += may_change(b, i) ? 3 * (size_t)set->c[i].ndof : 0;
    int *ptr = rb_push(arena, int, 3 * n + 1), *col = rb_push(arena, int, entries);
    double *val = rb_push(arena, double, entries);
    if (!ptr || !col || !val) return RB_NOMEM;
    int row = 0, used = 0;
    *squares = 0.0;
    for (int i = 0; i < set->n; i++) {
        const rb_constraint *c = &set->c[i];
        const double *J = set->J + c->block;
        if (!may_change(b, i)) continue;
        for (int r = 0; r < 3; r++) {
            ptr[row++] = used;
            for (int k = 0; k < c->ndof; k++) {
                int j = set->dof[c->dof + k];
                col[used] = b->at[j];
                val[used] = b->weight[j] * *J++;
                *squares += val[used] * val[used];
                used++;
            }
        }
    }
    ptr[row] = used;
    op->jptr = ptr;
    op->jcol = col;
    op->jval = val;
    return write_unit(op, arena, &op->minv);
}

static rb_status make_factor(balance *b)
{
    rb_arena *arena = b->s->d->arena;
    int n = count_plain(b);
    if (n < 1 || (3 * n < FEW_ROWS && b->s->set.nrow < FEW_IN_ALL)) return RB_OK;
    rb_operator *op = rb_push(arena, rb_operator, 1);
    b->at = rb_push(arena, int, b->s->m->nv);
    if (!op || !b->at) return RB_NOMEM;
    double squares = 0.0;
    *op = (rb_operator){ .m = 0 };
    rb_status status = number_freedoms(b, op);
    if (status == RB_OK) status = write_rows(b, n, op, &squares);
    rb_cones k = { .nc = n, .dim = 3, .n = 3 * n, .parts = op, .many = 1 };
    if (status == RB_OK) status = rb_bodies_make(&k, arena, &b->bodies);
    if (status == RB_TOO_LARGE) b->bodies = NULL, status = RB_OK;
    if (status != RB_OK || !b->bodies) return status;
    b->x = rb_push(arena, double, op->m);
    if (!b->x) return RB_NOMEM;
    double inverse = op->m / (DELTA * squares);
    memset(b->bodies->D, 0, 9 * (size_t)n * sizeof *b->bodies->D);
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < 3; i++) b->bodies->D[9 * c + 4 * i] = inverse;
    }
    rb_bodies_factor(b->bodies, NULL);
    return RB_OK;
}

/* z = (delta + w J'J w)^-1 r up to a factor; freedoms that nothing acts on are left. */
static void precondition(balance *b, double *z)
{
    int nv = b->s->m->nv;
    memset(b->x, 0, 6 * (size_t)b->bodies->nb * sizeof *b->x);
    for (int j = 0; j < nv; j++) {
        if (b->at[j] >= 0) b->x[b->at[j]] = b->r[j];
    }
    rb_block_lu_solve(&b->bodies->lu, b->x, b->bodies->work);
    for (int j = 0; j < nv; j++) z[j] = b->at[j] >= 0 ? b->x[b->at[j]] : 0.0;
}

/* ---- conjugate gradients ----------------------------------------------------------------------
 */

/* |J w r|^2: what is left that the rows can take off. */
static double residual_left(balance *b)
{
    to_rows(b, b->r);
    return rb_dot(b->g, b->g, b->s->set.nrow);
}

/* Without a factor: on the rows, J w w J' dp = J w r, which ends at the least |r| where forces
 * are left that no row can take off. */
static void run_plain(balance *b, double *way, double *p)
{
    int nv = b->s->m->nv, nrow = b->s->set.nrow, most = STEPS + STEPS_PER_ROW * nrow;
    double slope = residual_left(b), least = RB_EPS * RB_EPS * slope;
    memcpy(way, b->g, (size_t)nrow * sizeof *way);
    for (int k = 0; k < most && slope > least; k++) {
        memcpy(b->g, way, (size_t)nrow * sizeof *way);
        to_freedoms(b);
        double bend = rb_dot(b->t, b->t, nv);
        if (!(bend > 0.0)) return;
        double a = slope / bend, before = slope;
        for (int i = 0; i < nrow; i++) p[i] += a * way[i];
        for (int j = 0; j < nv; j++) b->r[j] -= a * b->t[j];
        slope = residual_left(b);
        for (int i = 0; i < nrow; i++) way[i] = b->g[i] + slope / before * way[i];
    }
}

static void run_factored(balance *b, double *z, double *p)
{
    int nv = b->s->m->nv, nrow = b->s->set.nrow, most = FACTORED_STEPS;
    double first = residual_left(b), least = RB_EPS * RB_EPS * first, best = INFINITY;
    precondition(b, z);
    memcpy(b->d, z, (size_t)nv * sizeof *z);
    double slope = rb_dot(b->r, z, nv);
    for (int k = 0; k < most && slope > 0.0; k++) {
        to_rows(b, b->d);
        double bend = rb_dot(b->g, b->g, nrow);
        if (!(bend > 0.0)) return;
        double a = slope / bend, before = slope;
        for (int i = 0; i < nrow; i++) p[i] += a * b->g[i];
        to_freedoms(b);
        for (int j = 0; j < nv; j++) b->r[j] -= a * b->t[j];
        double left = residual_left(b);
        if (left <= least || !(left < best)) return;
        best = left;
        precondition(b, z);
        slope = rb_dot(b->r, z, nv);
        for (int j = 0; j < nv; j++) b->d[j] = z[j] + slope / before * b->d[j];
    }
}

rb_status rb_stage_balance(rb_stage *s, const rb_unbalanced *x, double *p)
{
    rb_arena *arena = s->d->arena;
    int nv = s->m->nv, nrow = s->set.nrow;
    balance b = { .s = s, .wanted = x->wanted };
    b.weight = rb_push(arena, double, nv);
    b.r = rb_push(arena, double, nv);
    b.t = rb_push(arena, double, nv);
    b.d = rb_push(arena, double, nv);
    b.g = rb_push(arena, double, nrow);
    double *z = rb_push(arena, double, nv), *way = rb_push(arena, double, nrow);
    if (!b.weight || !b.r || !b.t || !b.d || !b.g || !z || !way) return RB_NOMEM;
    memcpy(p, s->answer.p, (size_t)nrow * sizeof *p);
    set_weights(&b, x);
    for (int j = 0; j < nv; j++) b.r[j] = -b.weight[j] * x->defect[j];
    rb_status status = make_factor(&b);
    if (status != RB_OK) return status;
    if (b.bodies)
        run_factored(&b, z, p);
    else
        run_plain(&b, way, p);
    return RB_OK;
}
