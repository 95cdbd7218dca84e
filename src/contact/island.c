/* One island: its rows, and W = J M^-1 J' by the factor M = L' D L (F.5).
 *
 *     y_i = L^-T J_i',   W_ij = y_i' D^-1 y_j
 *
 * y_i lives on the pattern of its constraint, which holds the ancestors of everything in it; two
 * constraints meet on the dofs that both patterns have. Islands of many plain contacts get W in
 * blocks of 3, only where two contacts share a tree. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "contact/contact.h"
#include "math/dense.h"

/* Rows above which W is stored in blocks: a dense W of this size is 720 kB, and the solvers' sparse
 * ways begin to pay. */
enum { DENSE_ROWS = 300 };

typedef struct half {
    const rb_model *m;
    const rb_data *d;
    const rb_constraints *set;
    rb_island *island;
    double **y;      /* per constraint: nrow x ndof         (n) */
    double **yd;     /* the same over D                     (n) */
    uint64_t *trees; /* tree_bits of each               (n) */
} half;

/* ---- half solves ------------------------------------------------------------------------------
 */

/* Ancestors of a dof, one after the other, from which on a kernel pays. */
enum { SHORT_RUN = 8 };

/* y := L^-T y on a closed pattern, from the tips: ancestor i of k loses L_ki y_k. */
static void half_solve(const rb_model *m, const rb_data *d, const int *dof, int ndof, double *y)
{
    for (int k = ndof - 1; k >= 0; k--) {
        if (y[k] == 0.0) continue;
        const double *L = d->L + m->dof_Madr[dof[k]] + 1;
        int at = k;
        for (int i = m->dof_parent[dof[k]], n; i >= 0; i = m->dof_parent[i - n + 1], L += n) {
            n = m->dof_run[i] >= SHORT_RUN ? m->dof_run[i] + 1 : 1;
            while (dof[at] != i) at--;
            if (n == 1)
                y[at] -= *L * y[k];
            else
                rb_axpy_back(-y[k], L, y + at, n);
        }
    }
}

/* Bits of the trees that a constraint acts on: two without a common bit have no common tree. */
static uint64_t tree_bits(const half *w, const rb_constraint *c)
{
    uint64_t bits = 0;
    for (int k = 0; k < c->ndof; k++) {
        bits |= UINT64_C(1) << w->m->link_tree[w->m->dof_link[w->set->dof[c->dof + k]]] % 64;
    }
    return bits;
}

static rb_status half_solve_all(half *w, rb_arena *arena)
{
    rb_island *is = w->island;
    size_t entries = 0;
    for (int i = 0; i < is->n; i++) entries += (size_t)is->c[i]->nrow * (size_t)is->c[i]->ndof;
    w->y = rb_push(arena, double *, is->n);
    w->yd = rb_push(arena, double *, is->n);
    w->trees = rb_push(arena, uint64_t, is->n);
    double *next = rb_push(arena, double, 2 * entries);
    if (!w->y || !w->yd || !w->trees || !next) return RB_NOMEM;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        const int *dof = w->set->dof + c->dof;
        ptrdiff_t size = (ptrdiff_t)c->nrow * c->ndof;
        w->trees[i] = tree_bits(w, c);
        w->y[i] = next;
        w->yd[i] = next + size;
        next += 2 * size;
        memcpy(w->y[i], w->set->J + c->block, (size_t)size * sizeof(double));
        for (int r = 0; r < c->nrow; r++)
            half_solve(w->m, w->d, dof, c->ndof, w->y[i] + r * c->ndof);
        for (int k = 0; k < c->ndof; k++) {
            double D = w->d->L[w->m->dof_Madr[dof[k]]];
            for (int r = 0; r < c->nrow; r++) {
                w->yd[i][r * c->ndof + k] = w->y[i][r * c->ndof + k] / D;
            }
        }
    }
    return RB_OK;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* One block of W: rows of a, columns of b. */
typedef struct pair {
    const double *y, *yd; /* half solves of a; of b over D                    */
    int nrow, ncol;
    int na, nb; /* dofs of a, of b: strides of y and yd             */
} pair;

/* Sum over dofs i .. i + count - 1 of a and j .. of b, which are the same dofs. */
static void add_run(const pair *p, int i, int j, int count, double *W, ptrdiff_t ld)
{
    for (int r = 0; r < p->nrow; r++) {
        for (int s = 0; s < p->ncol; s++) {
            const double *y = p->y + r * p->na + i, *yd = p->yd + s * p->nb + j;
            double sum = W[r * ld + s];
            for (int k = 0; k < count; k++) sum += y[k] * yd[k];
            W[r * ld + s] = sum;
        }
    }
}

/* The same for two plain contacts: nine sums that do not wait for each other. */
static void add_run_3(const pair *p, int i, int j, int count, double *W, ptrdiff_t ld)
{
    const double *a0 = p->y + i, *a1 = a0 + p->na, *a2 = a1 + p->na;
    const double *b0 = p->yd + j, *b1 = b0 + p->nb, *b2 = b1 + p->nb;
    double *W1 = W + ld, *W2 = W1 + ld;
    double w[9] = { W[0], W[1], W[2], W1[0], W1[1], W1[2], W2[0], W2[1], W2[2] };
    for (int k = 0; k < count; k++) {
        double x0 = a0[k], x1 = a1[k], x2 = a2[k], y0 = b0[k], y1 = b1[k], y2 = b2[k];
        w[0] += x0 * y0, w[1] += x0 * y1, w[2] += x0 * y2;
        w[3] += x1 * y0, w[4] += x1 * y1, w[5] += x1 * y2;
        w[6] += x2 * y0, w[7] += x2 * y1, w[8] += x2 * y2;
    }
    for (int s = 0; s < 3; s++) W[s] = w[s], W1[s] = w[3 + s], W2[s] = w[6 + s];
}

/* Block (a, b) of W, rows of a and columns of b, with row stride ld. Returns 0 where the patterns
 * have nothing in common; then nothing is written. */
static int write_block(const half *w, int a, int b, double *W, ptrdiff_t ld)
{
    if (!(w->trees[a] & w->trees[b])) return 0;
    const rb_constraint *ca = w->island->c[a], *cb = w->island->c[b];
    const int *da = w->set->dof + ca->dof, *db = w->set->dof + cb->dof;
    pair p = { w->y[a], w->yd[b], ca->nrow, cb->nrow, ca->ndof, cb->ndof };
    int plain = ca->nrow == 3 && cb->nrow == 3, i = 0, j = 0, met = 0;
    while (i < ca->ndof && j < cb->ndof) {
        if (da[i] < db[j]) {
            i++;
        } else if (da[i] > db[j]) {
            j++;
        } else {
            int count = 1;
            while (i + count < ca->ndof && j + count < cb->ndof && da[i + count] == db[j + count]) {
                count++;
            }
            for (int r = 0; r < ca->nrow && !met; r++) {
                for (int s = 0; s < cb->nrow; s++) W[r * ld + s] = 0.0;
            }
            met = 1;
            if (plain)
                add_run_3(&p, i, j, count, W, ld);
            else
                add_run(&p, i, j, count, W, ld);
            i += count;
            j += count;
        }
    }
    return met;
}

static void mirror(const double *W, ptrdiff_t ld, int nrow, int ncol, double *T)
{
    for (int r = 0; r < nrow; r++) {
        for (int s = 0; s < ncol; s++) T[s * ld + r] = W[r * ld + s];
    }
}

/* The upper triangle of a diagonal block counts: W is symmetric to the bit. */
static void symmetrise(double *W, ptrdiff_t ld, int n)
{
    for (int r = 0; r < n; r++) {
        for (int s = 0; s < r; s++) W[r * ld + s] = W[s * ld + r];
    }
}

static rb_status write_dense(const half *w, rb_arena *arena)
{
    rb_island *is = w->island;
    ptrdiff_t n = is->nrow;
    double *W = rb_push(arena, double, (size_t)n *(size_t)n);
    if (!W) return RB_NOMEM;
    memset(W, 0, (size_t)n * (size_t)n * sizeof *W);
    for (int a = 0; a < is->n; a++) {
        for (int b = a; b < is->n; b++) {
            double *block = W + is->row[a] * n + is->row[b];
            if (!write_block(w, a, b, block, n)) continue;
            if (a == b)
                symmetrise(block, n, is->c[a]->nrow);
            else
                mirror(block, n, is->c[a]->nrow, is->c[b]->nrow, W + is->row[b] * n + is->row[a]);
        }
    }
    is->W = (rb_matrix){ .form = RB_DENSE, .dense = W };
    return RB_OK;
}

/* ---- block-sparse -----------------------------------------------------------------------------
 */

/* Contacts of each tree, in order: who can meet whom. */
typedef struct meeting {
    int *start; /* (ntree + 1) */
    int *list;
    int *seen; /* last contact that saw this one   (n) */
} meeting;

static int tree_at(const half *w, const rb_constraint *c, int k)
{
    return w->m->link_tree[w->m->dof_link[w->set->dof[c->dof + k]]];
}

/* A contact touches at most two trees; their dofs may be mixed. */
static int trees_of(const half *w, const rb_constraint *c, int trees[2])
{
    trees[0] = tree_at(w, c, 0);
    for (int k = 1; k < c->ndof; k++) {
        trees[1] = tree_at(w, c, k);
        if (trees[1] != trees[0]) return 2;
    }
    return 1;
}

static rb_status list_meetings(const half *w, rb_arena *arena, meeting *out)
{
    int n = w->island->n, ntree = w->m->ntree, trees[2];
    out->start = rb_push(arena, int, ntree + 2);
    out->list = rb_push(arena, int, 2 * (size_t)n);
    out->seen = rb_push(arena, int, n);
    if (!out->start || !out->list || !out->seen) return RB_NOMEM;
    memset(out->start, 0, ((size_t)ntree + 2) * sizeof *out->start);
    for (int i = 0; i < n; i++) {
        int count = trees_of(w, w->island->c[i], trees);
        for (int t = 0; t < count; t++) out->start[trees[t] + 2]++;
        out->seen[i] = -1;
    }
    for (int t = 0; t < ntree; t++) out->start[t + 2] += out->start[t + 1];
    for (int i = 0; i < n; i++) {
        int count = trees_of(w, w->island->c[i], trees);
        for (int t = 0; t < count; t++) out->list[out->start[trees[t] + 1]++] = i;
    }
    return RB_OK;
}

/* Contacts that share a tree with contact a, ascending, into `near`; returns how many. */
static int neighbours(const half *w, const meeting *meet, int a, int *near)
{
    int trees[2], n = 0, count = trees_of(w, w->island->c[a], trees);
    for (int t = 0; t < count; t++) {
        for (int k = meet->start[trees[t]]; k < meet->start[trees[t] + 1]; k++) {
            int b = meet->list[k];
            if (meet->seen[b] == a) continue;
            meet->seen[b] = a;
            int at = n++;
            for (; at > 0 && near[at - 1] > b; at--) near[at] = near[at - 1];
            near[at] = b;
        }
    }
    return n;
}

static rb_status write_blocks(const half *w, rb_arena *arena)
{
    rb_island *is = w->island;
    meeting meet;
    rb_status status = list_meetings(w, arena, &meet);
    int *near = rb_push(arena, int, is->n), *ptr = rb_push(arena, int, is->n + 1);
    if (status != RB_OK || !near || !ptr) return RB_NOMEM;

    ptr[0] = 0;
    for (int a = 0; a < is->n; a++) ptr[a + 1] = ptr[a] + neighbours(w, &meet, a, near);
    for (int a = 0; a < is->n; a++) meet.seen[a] = -1;
    int *col = rb_push(arena, int, ptr[is->n]);
    double *val = rb_push(arena, double, 9 * (size_t)ptr[is->n]);
    if (!col || !val) return RB_NOMEM;

    for (int a = 0; a < is->n; a++) {
        int *row = col + ptr[a];
        neighbours(w, &meet, a, row);
        for (int k = 0; k < ptr[a + 1] - ptr[a]; k++) {
            double *block = val + 9 * (ptrdiff_t)(ptr[a] + k);
            memset(block, 0, 9 * sizeof *block);
            int first = a < row[k] ? a : row[k], second = a < row[k] ? row[k] : a;
            double upper[9] = { 0.0 };
            write_block(w, first, second, upper, 3);
            if (first == second) symmetrise(upper, 3, 3);
            if (first == a)
                memcpy(block, upper, sizeof upper);
            else
                mirror(upper, 3, 3, 3, block);
        }
    }
    is->W = (rb_matrix){ .form = RB_BSR, .bs = 3, .ptr = ptr, .col = col, .val = val };
    return RB_OK;
}

/* ---- what W is made of ------------------------------------------------------------------------
 */

/* Dofs of the island's trees, side by side: where each begins and how many there are. */
static rb_status number_dofs(const half *w, rb_arena *arena, rb_operator *op, int *at)
{
    const rb_model *m = w->m;
    int *first = rb_push(arena, int, m->ntree), *start = rb_push(arena, int, m->ntree + 1);
    if (!first || !start) return RB_NOMEM;
    for (int t = 0; t < m->ntree; t++) first[t] = -1;
    for (int i = 0; i < w->island->n; i++) {
        int trees[2], count = trees_of(w, w->island->c[i], trees);
        for (int k = 0; k < count; k++) first[trees[k]] = 0;
    }
    for (int j = 0; j < m->nv; j++) {
        int t = m->link_tree[m->dof_link[j]];
        at[j] = first[t] >= 0 ? first[t]++ : -1;
    }
    for (int t = 0; t < m->ntree; t++) {
        if (first[t] < 0) continue;
        int count = first[t];
        start[op->nblock++] = first[t] = op->m;
        op->m += count;
    }
    start[op->nblock] = op->m;
    op->start = start;
    for (int j = 0; j < m->nv; j++) {
        if (at[j] >= 0) at[j] += first[m->link_tree[m->dof_link[j]]];
    }
    return RB_OK;
}

/* Unit blocks: the masses are in the half solves. */
static double *unit_blocks(const rb_operator *op, rb_arena *arena)
{
    size_t size = 0;
    for (int b = 0; b < op->nblock; b++) {
        size_t k = (size_t)(op->start[b + 1] - op->start[b]);
        size += k * k;
    }
    double *unit = rb_push(arena, double, size), *next = unit;
    if (!unit) return NULL;
    memset(unit, 0, size * sizeof *unit);
    for (int b = 0; b < op->nblock; b++) {
        ptrdiff_t k = op->start[b + 1] - op->start[b];
        for (ptrdiff_t i = 0; i < k; i++) next[i * (k + 1)] = 1.0;
        next += k * k;
    }
    return unit;
}

/* W = (y D^-1/2) (y D^-1/2)' as an operator beside its blocks. */
static rb_status write_operator(const half *w, rb_arena *arena)
{
    rb_island *is = w->island;
    rb_operator *op = rb_push(arena, rb_operator, 1);
    int *at = rb_push(arena, int, w->m->nv), *jptr = rb_push(arena, int, is->nrow + 1), used = 0;
    size_t entries = 0;
    for (int i = 0; i < is->n; i++) entries += (size_t)is->c[i]->nrow * (size_t)is->c[i]->ndof;
    int *jcol = rb_push(arena, int, entries);
    double *jval = rb_push(arena, double, entries);
    if (!op || !at || !jptr || !jcol || !jval) return RB_NOMEM;
    *op = (rb_operator){ .jptr = jptr, .jcol = jcol, .jval = jval };
    rb_status status = number_dofs(w, arena, op, at);
    if (status != RB_OK) return status;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        const int *dof = w->set->dof + c->dof;
        for (int r = 0; r < c->nrow; r++) {
            jptr[is->row[i] + r] = used;
            for (int k = 0; k < c->ndof; k++) {
                double D = w->d->L[w->m->dof_Madr[dof[k]]];
                jcol[used] = at[dof[k]];
                jval[used++] = w->y[i][r * c->ndof + k] / sqrt(D);
            }
        }
    }
    jptr[is->nrow] = used;
    op->minv = unit_blocks(op, arena);
    is->W.op = op;
    return op->minv ? RB_OK : RB_NOMEM;
}

/* ---- open -------------------------------------------------------------------------------------
 */

static rb_status take_rows(const rb_constraints *set, int island, rb_arena *arena, rb_island *out)
{
    const int *order = set->island_order + set->island_start[island];
    out->n = set->island_start[island + 1] - set->island_start[island];
    out->c = rb_push(arena, const rb_constraint *, out->n);
    out->row = rb_push(arena, int, out->n);
    out->mode_prev = rb_push(arena, unsigned char, out->n);
    out->mode = rb_push(arena, unsigned char, out->n);
    if (!out->c || !out->row || !out->mode_prev || !out->mode) return RB_NOMEM;
    for (int i = 0; i < out->n; i++) {
        out->c[i] = &set->c[order[i]];
        out->row[i] = out->nrow;
        out->nrow += out->c[i]->nrow;
        out->mode_prev[i] = out->mode[i] = RB_MODE_UNKNOWN;
    }
    double **arrays[] = { &out->u, &out->bias, &out->u_before, &out->p_prev, &out->guess, &out->p };
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        double *x = *arrays[k] = rb_push(arena, double, out->nrow);
        if (!x) return RB_NOMEM;
        memset(x, 0, (size_t)out->nrow * sizeof *x);
    }
    return RB_OK;
}

static int all_plain(const rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        if (is->c[i]->kind != RB_CONSTRAINT_CONTACT || is->c[i]->nrow != 3) return 0;
        if (!isnan(is->c[i]->material.friction_across)) return 0;
    }
    return 1;
}

rb_status rb_island_open_with(const rb_constraints *set, int island, double h, const double *W,
                              rb_arena *arena, rb_island *out)
{
    memset(out, 0, sizeof *out);
    out->h = h;
    out->W = (rb_matrix){ .form = RB_DENSE, .dense = W };
    return take_rows(set, island, arena, out);
}

rb_status rb_island_open(const rb_model *m, const rb_data *d, const rb_constraints *set, int island,
                         double h, rb_arena *arena, rb_island *out)
{
    rb_status status = rb_island_open_with(set, island, h, NULL, arena, out);
    if (status != RB_OK) return status;
    half w = { .m = m, .d = d, .set = set, .island = out };
    status = half_solve_all(&w, arena);
    if (status != RB_OK) return status;
    int sparse = out->nrow > DENSE_ROWS && all_plain(out);
    if (!sparse) return write_dense(&w, arena);
    status = write_blocks(&w, arena);
    return status == RB_OK ? write_operator(&w, arena) : status;
}
