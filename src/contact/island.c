/* One island: its rows, and W = J M^-1 J' by the factor M = L' D L (F.12).
 *
 *     y_i = L^-T J_i',   W_ij = y_i' D^-1 y_j
 *
 * y_i lives on the pattern of its constraint, which holds the ancestors of everything in it; two
 * constraints meet on the dofs that both patterns have. Islands of many plain contacts get W in
 * blocks of 3, only where two contacts share a tree. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/pieces.h"
#include "base/sort.h"
#include "contact/contact.h"
#include "math/lanes.h"
#include "math/vector.h"
#include "solve/cone_crowd.h"

/* Rows above which W is stored in blocks: a dense W of this size is 720 kB, and sparse methods
 * become faster. */
enum { DENSE_ROWS = 300 };

/* Rows from which on, and how many for each freedom, G takes the place of W: its products and the
 * systems of Newton's method cost less. Less of either: what is saved is lost in copies. */
enum { THIN_ROWS = 24 };
#define THIN 2.5

/* Rows of a constraint lie side by side, so that a kernel takes four of them at once. */
enum { WIDE = 4 };

/* The dofs of a constraint as the factor sees them. */
typedef struct pattern {
    const int *dof; /* ascending, with all their ancestors                      (n)             */
    int n;
    int *Madr;  /* row of the factor                                            (nv)            */
    int *above; /* place of the parent, -1: none                                (nv)            */
    int *run;   /* ancestors of the dof at the places right before it           (nv)            */
    int *place; /* of a dof in dof                                              (nv)            */
} pattern;

/* Dofs of one constraint, ascending. */
typedef struct dofs {
    const int *at;
    int n;
    int chain; /* 1: each of them carries the next */
} dofs;

typedef struct half {
    const rb_model *m;
    const rb_data *d;
    const rb_constraints *set;
    rb_island *island;
    double **y;      /* per constraint: wide / 4 times ndof x 4         (n) */
    double **yd;     /* the same over D                                 (n) */
    uint64_t *trees; /* tree_bits of each                               (n) */
    dofs *dofs;      /*                                                 (n) */
} half;

/* Fours of rows. */
static int fours_of(const rb_constraint *c)
{
    return (c->nrow + WIDE - 1) / WIDE;
}

/* ---- half solves ------------------------------------------------------------------------------
 */

/* y := L^-T y on a closed pattern, from the tips: ancestor i of k loses L_ki y_k. */
RB_VECTOR static void half_solve(const pattern *p, const double *L, double *y)
{
    for (int k = p->n - 1; k >= 0; k--) {
        const double *row = L + p->Madr[k] + 1;
        rb_lanes x, to;
        rb_lanes_load(y + WIDE * k, &x);
        for (int at = p->above[k], n; at >= 0; at = p->above[at - n + 1], row += n) {
            double *place = y + WIDE * (ptrdiff_t)at;
            n = p->run[at] + 1;
            for (int i = 0; i < n; i++, place -= WIDE) {
                rb_lanes_load(place, &to);
                rb_lanes_less(&to, row[i], &x);
                rb_lanes_store(&to, place);
            }
        }
    }
}

RB_VECTOR static void over_diagonal(const pattern *p, const double *L, const double *restrict y,
                                    double *restrict yd)
{
    for (int k = 0; k < p->n; k++) {
        double D = L[p->Madr[k]];
        for (int r = 0; r < WIDE; r++) yd[WIDE * k + r] = y[WIDE * k + r] / D;
    }
}

/* Bits of the trees that a constraint acts on: two without a common bit have no common tree. */
static uint64_t tree_bits(const half *w, const rb_constraint *c)
{
    uint64_t bits = 0;
    if (w->m->ntree == 1) return 1;
    for (int k = 0; k < c->ndof; k++) {
        bits |= UINT64_C(1) << w->m->link_tree[w->m->dof_link[w->set->dof[c->dof + k]]] % 64;
    }
    return bits;
}

/* Each dof of the pattern carries the next. */
static int is_chain(const half *w, const rb_constraint *c)
{
    const rb_model *m = w->m;
    if (c->ndof == 0) return 0;
    int last = w->set->dof[c->dof + c->ndof - 1];
    return (last + 1 < m->nv ? m->dof_Madr[last + 1] : m->nM) - m->dof_Madr[last] == c->ndof;
}

static int make_pattern(const rb_model *m, rb_arena *arena, pattern *p)
{
    *p = (pattern){ .n = 0 };
    p->Madr = rb_push(arena, int, 4 * (size_t)m->nv);
    if (!p->Madr) return 0;
    p->above = p->Madr + m->nv;
    p->run = p->above + m->nv;
    p->place = p->run + m->nv;
    return 1;
}

/* Contacts of one pair of links follow each other and have the same. */
static void see_pattern(const rb_model *m, const int *dof, int n, pattern *p)
{
    if (p->n == n && memcmp(p->dof, dof, (size_t)n * sizeof *dof) == 0) return;
    p->n = n;
    p->dof = dof;
    for (int k = 0; k < n; k++) {
        int j = dof[k], parent = m->dof_parent[j];
        p->place[j] = k;
        p->Madr[k] = m->dof_Madr[j];
        p->above[k] = parent >= 0 ? p->place[parent] : -1;
        p->run[k] = m->dof_run[j];
    }
}

/* J of a constraint, rows side by side and zeros beyond the last. */
static void lay_out(const double *J, const rb_constraint *c, double *y)
{
    if (c->nrow == 3) {
        const double *J1 = J + c->ndof, *J2 = J1 + c->ndof;
        for (int k = 0; k < c->ndof; k++, y += WIDE)
            y[0] = J[k], y[1] = J1[k], y[2] = J2[k], y[3] = 0.0;
        return;
    }
    memset(y, 0, (size_t)fours_of(c) * WIDE * (size_t)c->ndof * sizeof *y);
    for (int r = 0; r < c->nrow; r++) {
        double *to = y + (ptrdiff_t)(r / WIDE) * WIDE * c->ndof + r % WIDE;
        for (int k = 0; k < c->ndof; k++) to[WIDE * k] = J[(ptrdiff_t)r * c->ndof + k];
    }
}

static rb_status half_solve_all(half *w, rb_arena *arena)
{
    rb_island *is = w->island;
    pattern p;
    size_t entries = 0;
    for (int i = 0; i < is->n; i++)
        entries += (size_t)fours_of(is->c[i]) * WIDE * (size_t)is->c[i]->ndof;
    w->y = rb_push(arena, double *, 2 * (size_t)is->n);
    w->trees = rb_push(arena, uint64_t, is->n);
    w->dofs = rb_push(arena, dofs, is->n);
    double *next = rb_push(arena, double, 2 * entries);
    int ok = make_pattern(w->m, arena, &p);
    if (!w->y || !w->trees || !w->dofs || !next || !ok) return RB_NOMEM;
    w->yd = w->y + is->n;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        ptrdiff_t four = (ptrdiff_t)WIDE * c->ndof, size = fours_of(c) * four;
        w->trees[i] = tree_bits(w, c);
        w->dofs[i] = (dofs){ w->set->dof + c->dof, c->ndof, is_chain(w, c) };
        w->y[i] = next;
        w->yd[i] = next + size;
        next += 2 * size;
        lay_out(w->set->J + c->block, c, w->y[i]);
        see_pattern(w->m, w->set->dof + c->dof, c->ndof, &p);
        for (ptrdiff_t at = 0; at < size; at += four) {
            half_solve(&p, w->d->L, w->y[i] + at);
            over_diagonal(&p, w->d->L, w->y[i] + at, w->yd[i] + at);
        }
    }
    return RB_OK;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* Sums of four rows with four columns. */
typedef struct sums {
    rb_lanes of[WIDE];
} sums;

RB_INLINE void add_products(sums *s, const double *y, const double *yd)
{
    rb_lanes a;
    rb_lanes_load(y, &a);
    rb_lanes_more(&s->of[0], yd[0], &a);
    rb_lanes_more(&s->of[1], yd[1], &a);
    rb_lanes_more(&s->of[2], yd[2], &a);
    rb_lanes_more(&s->of[3], yd[3], &a);
}

/* The next dof that two constraints have in common, from places i and j on; 0: there is none. What
 * a chain has in common with others begins at its root: nothing follows a dof that is its own. */
RB_INLINE int find_common(const dofs *a, const dofs *b, int *i, int *j)
{
    while (*i < a->n && *j < b->n && a->at[*i] != b->at[*j]) {
        int less = a->at[*i] < b->at[*j];
        if (less ? a->chain : b->chain) return 0;
        *i += less;
        *j += !less;
    }
    return *i < a->n && *j < b->n;
}

/* Sums over the dofs that two constraints have in common, in their order: four rows of a and four
 * columns of b. Returns how many there are. Most begin with the same dofs, those of the trunk. */
RB_VECTOR static int meet(const dofs *a, const dofs *b, const double *y, const double *yd,
                          double out[WIDE * WIDE])
{
    sums s = { .of = { { 0.0 } } };
    int i = 0, both = a->n < b->n ? a->n : b->n;
    for (; i < both && a->at[i] == b->at[i]; i++) add_products(&s, y + WIDE * i, yd + WIDE * i);
    int j = i, met = i;
    for (; find_common(a, b, &i, &j); i++, j++, met++)
        add_products(&s, y + WIDE * i, yd + WIDE * j);
    for (int k = 0; k < WIDE; k++) rb_lanes_store(&s.of[k], out + WIDE * k);
    return met;
}

/* The same with one column. */
RB_VECTOR static int meet_column(const dofs *a, const dofs *b, const double *y, const double *yd,
                                 double out[WIDE])
{
    rb_lanes sum = { 0.0 }, x;
    int i = 0, both = a->n < b->n ? a->n : b->n;
    for (; i < both && a->at[i] == b->at[i]; i++) {
        rb_lanes_load(y + WIDE * i, &x);
        rb_lanes_more(&sum, yd[WIDE * i], &x);
    }
    int j = i, met = i;
    for (; find_common(a, b, &i, &j); i++, j++, met++) {
        rb_lanes_load(y + WIDE * i, &x);
        rb_lanes_more(&sum, yd[WIDE * j], &x);
    }
    rb_lanes_store(&sum, out);
    return met;
}

/* Where a block and its mirror image begin, both with row stride ld. */
typedef struct place {
    double *W, *T;
    ptrdiff_t ld;
} place;

/* Two plain contacts. */
static void write_3(const double sum[WIDE * WIDE], const place *to)
{
    for (int r = 0; r < 3; r++) {
        for (int s = 0; s < 3; s++) {
            double x = sum[WIDE * s + r];
            to->W[r * to->ld + s] = x;
            to->T[s * to->ld + r] = x;
        }
    }
}

/* The same, of the upper triangle. */
static void write_upper_3(const double *sum, const place *to)
{
    for (int r = 0; r < 3; r++) {
        for (int s = r; s < 3; s++)
            to->W[r * to->ld + s] = to->T[s * to->ld + r] = sum[WIDE * s + r];
    }
}

/* Rows of a in the one column of b, and their mirror image. 0: nothing in common. */
static int write_column(const half *w, int a, int b, const place *to)
{
    const rb_constraint *ca = w->island->c[a];
    const dofs *da = &w->dofs[a], *db = &w->dofs[b];
    double sum[WIDE];
    for (int R = 0; R < ca->nrow; R += WIDE) {
        if (!meet_column(da, db, w->y[a] + (ptrdiff_t)R * da->n, w->yd[b], sum)) return 0;
        for (int r = R; r < ca->nrow && r < R + WIDE; r++)
            to->W[r * to->ld] = to->T[r] = sum[r - R];
    }
    return 1;
}

/* Block (a, b) of W, rows of a and columns of b, and block (b, a). Of a diagonal block the upper
 * triangle counts: W is symmetric to the bit. Returns 0 where the patterns have nothing in common;
 * then nothing is written. */
static int write_block(const half *w, int a, int b, const place *to)
{
    if (!(w->trees[a] & w->trees[b])) return 0;
    const rb_constraint *ca = w->island->c[a], *cb = w->island->c[b];
    if (cb->nrow == 1) return write_column(w, a, b, to);
    const dofs *da = &w->dofs[a], *db = &w->dofs[b];
    double sum[WIDE * WIDE];
    if (ca->nrow == 3 && cb->nrow == 3) {
        if (!meet(da, db, w->y[a], w->yd[b], sum)) return 0;
        if (a == b)
            write_upper_3(sum, to);
        else
            write_3(sum, to);
        return 1;
    }
    for (int R = 0; R < fours_of(ca); R++) {
        for (int S = 0; S < fours_of(cb); S++) {
            const double *y = w->y[a] + (ptrdiff_t)R * WIDE * ca->ndof;
            const double *yd = w->yd[b] + (ptrdiff_t)S * WIDE * cb->ndof;
            if (!meet(da, db, y, yd, sum)) return 0;
            for (int r = WIDE * R; r < ca->nrow && r < WIDE * (R + 1); r++) {
                for (int s = WIDE * S; s < cb->nrow && s < WIDE * (S + 1); s++) {
                    if (a == b && s < r) continue;
                    double x = sum[WIDE * (s % WIDE) + r % WIDE];
                    to->W[r * to->ld + s] = x;
                    to->T[s * to->ld + r] = x;
                }
            }
        }
    }
    return 1;
}

/* No common dof. */
static void clear_block(const place *to, int nrow, int ncol)
{
    for (int r = 0; r < nrow; r++) {
        for (int s = 0; s < ncol; s++) to->W[r * to->ld + s] = to->T[s * to->ld + r] = 0.0;
    }
}

/* W, room for the matrix; NULL: from the arena */
static rb_status write_dense(const half *w, double *W, rb_arena *arena)
{
    rb_island *is = w->island;
    ptrdiff_t n = is->nrow;
    if (!W) W = rb_push(arena, double, (size_t)n *(size_t)n);
    if (!W) return RB_NOMEM;
    for (int a = 0; a < is->n; a++) {
        for (int b = a; b < is->n; b++) {
            place to = { W + is->row[a] * n + is->row[b], W + is->row[b] * n + is->row[a], n };
            if (!write_block(w, a, b, &to)) clear_block(&to, is->c[a]->nrow, is->c[b]->nrow);
        }
    }
    is->W = (rb_matrix){ .form = RB_DENSE, .dense = W };
    return RB_OK;
}

/* ---- block-sparse -----------------------------------------------------------------------------
 */

/* Contacts of each tree, in order. */
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
            int first = a < row[k] ? a : row[k], second = a < row[k] ? row[k] : a;
            double other[9];
            place to = { first == a ? block : other, first == a ? other : block, 3 };
            if (first == second) to.T = block;
            if (!write_block(w, first, second, &to)) memset(block, 0, 9 * sizeof *block);
        }
    }
    is->W = (rb_matrix){ .form = RB_BSR, .bs = 3, .ptr = ptr, .col = col, .val = val };
    return RB_OK;
}

/* ---- what W is made of ------------------------------------------------------------------------
 */

/* Dofs and trees of an island, each once: found from its constraints alone, since a pile has many
 * islands and each of them would else look at all bodies. */
typedef struct members {
    int *dof, ndof;   /* ascending                                                            */
    int *tree, ntree; /* ascending                                                            */
} members;

/* at (nv), first (ntree): 0 at those of the island, elsewhere as they were. */
static rb_status find_members(const half *w, rb_arena *arena, int *at, int *first, members *out)
{
    const rb_constraints *set = w->set;
    size_t most = 0;
    for (int i = 0; i < w->island->n; i++) {
        const rb_constraint *c = w->island->c[i];
        most += (size_t)c->ndof;
        for (int k = 0; k < c->ndof; k++) {
            at[set->dof[c->dof + k]] = -1;
            first[tree_at(w, c, k)] = -1;
        }
    }
    *out = (members){ .dof = rb_push(arena, int, most), .tree = rb_push(arena, int, most) };
    if (!out->dof || !out->tree) return RB_NOMEM;
    for (int i = 0; i < w->island->n; i++) {
        const rb_constraint *c = w->island->c[i];
        for (int k = 0; k < c->ndof; k++) {
            int j = set->dof[c->dof + k], t = tree_at(w, c, k);
            if (at[j] < 0) out->dof[out->ndof++] = j;
            if (first[t] < 0) out->tree[out->ntree++] = t;
            at[j] = first[t] = 0;
        }
    }
    rb_sort_ints(out->dof, out->ndof);
    rb_sort_ints(out->tree, out->ntree);
    return RB_OK;
}

/* Dofs of the island, those of a tree side by side: at, of those; where each tree begins. */
static rb_status number_dofs(const half *w, rb_arena *arena, rb_operator *op, int *at)
{
    const rb_model *m = w->m;
    int *first = rb_push(arena, int, m->ntree), *start = rb_push(arena, int, m->ntree + 1);
    members all;
    if (!first || !start || find_members(w, arena, at, first, &all) != RB_OK) return RB_NOMEM;
    for (int k = 0; k < all.ndof; k++) first[m->link_tree[m->dof_link[all.dof[k]]]]++;
    for (int k = 0; k < all.ntree; k++) {
        int count = first[all.tree[k]];
        start[op->nblock++] = first[all.tree[k]] = op->m;
        op->m += count;
    }
    start[op->nblock] = op->m;
    op->start = start;
    for (int k = 0; k < all.ndof; k++)
        at[all.dof[k]] = first[m->link_tree[m->dof_link[all.dof[k]]]]++;
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
        for (int r = 0; r < c->nrow; r++) jptr[is->row[i] + r] = used + r * c->ndof;
        for (int k = 0; k < c->ndof; k++) {
            double root = sqrt(w->d->L[w->m->dof_Madr[dof[k]]]);
            for (int r = 0; r < c->nrow; r++) {
                const double *y = w->y[i] + (ptrdiff_t)(r / WIDE) * WIDE * c->ndof + r % WIDE;
                jcol[used + r * c->ndof + k] = at[dof[k]];
                jval[used + r * c->ndof + k] = y[WIDE * k] / root;
            }
        }
        used += c->nrow * c->ndof;
    }
    jptr[is->nrow] = used;
    op->minv = unit_blocks(op, arena);
    is->W.op = op;
    return op->minv ? RB_OK : RB_NOMEM;
}

/* ---- W = G G' --------------------------------------------------------------------------------
 */

/* at: place of a dof that some constraint of the island has, -1: none has it (nv); their number. */
static int number_freedoms(const half *w, int *at)
{
    int n = 0;
    for (int j = 0; j < w->m->nv; j++) at[j] = -1;
    for (int i = 0; i < w->island->n; i++) {
        const rb_constraint *c = w->island->c[i];
        for (int k = 0; k < c->ndof; k++) at[w->set->dof[c->dof + k]] = 0;
    }
    for (int j = 0; j < w->m->nv; j++) {
        if (at[j] == 0) at[j] = n++;
    }
    return n;
}

/* G = y D^-1/2, nrow x r, in `room` (NULL: from the arena). */
static rb_status write_factor(const half *w, const int *at, int r, double *room, rb_arena *arena)
{
    rb_island *is = w->island;
    size_t size = (size_t)is->nrow * (size_t)r;
    double *G = room ? room : rb_push(arena, double, size);
    if (!G) return RB_NOMEM;
    memset(G, 0, size * sizeof *G);
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        const int *dof = w->set->dof + c->dof;
        for (int k = 0; k < c->ndof; k++) {
            double D = sqrt(w->d->L[w->m->dof_Madr[dof[k]]]);
            for (int row = 0; row < c->nrow; row++) {
                const double *y = w->y[i] + (ptrdiff_t)(row / WIDE) * WIDE * c->ndof + row % WIDE;
                G[(ptrdiff_t)(is->row[i] + row) * r + at[dof[k]]] = y[WIDE * k] / D;
            }
        }
    }
    is->G = G;
    return RB_OK;
}

/* ---- open -------------------------------------------------------------------------------------
 */

/* left: constraints of the island that are left out; NULL: none. */
static rb_status take_rows(const rb_constraints *set, int island, const unsigned char *left,
                           rb_arena *arena, rb_island *out)
{
    const int *order = set->island_order + set->island_start[island];
    int all = set->island_start[island + 1] - set->island_start[island];
    out->n = all;
    for (int i = 0; left && i < all; i++) out->n -= left[i] != 0;
    out->c = rb_push(arena, const rb_constraint *, out->n);
    out->row = rb_push(arena, int, out->n);
    out->mode_prev = rb_push(arena, unsigned char, 2 * (size_t)out->n);
    if (!out->c || !out->row || !out->mode_prev) return RB_NOMEM;
    out->mode = out->mode_prev + out->n;
    for (int k = 0, i = 0; k < all; k++) {
        if (left && left[k]) continue;
        out->c[i] = &set->c[order[k]];
        out->row[i] = out->nrow;
        out->nrow += out->c[i]->nrow;
        out->mode_prev[i] = out->mode[i] = RB_MODE_UNKNOWN;
        i++;
    }
    double **arrays[] = { &out->u, &out->bias, &out->u_before, &out->p_prev, &out->guess, &out->p };
    int n = sizeof arrays / sizeof *arrays;
    return rb_push_zeros(arena, arrays, n, out->nrow) ? RB_OK : RB_NOMEM;
}

static int all_plain(const rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        if (is->c[i]->kind != RB_CONSTRAINT_CONTACT || is->c[i]->nrow != 3) return 0;
        if (!isnan(is->c[i]->material.friction_across)) return 0;
    }
    return 1;
}

int rb_island_is_triples(const rb_constraints *set, int island)
{
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        if (c->kind == RB_CONSTRAINT_EQUALITY || c->nrow > 3) return 0;
        if (c->kind == RB_CONSTRAINT_CONTACT && !isnan(c->material.friction_across)) return 0;
    }
    return 1;
}

rb_status rb_island_open_with(const rb_constraints *set, int island, double h, const double *W,
                              rb_arena *arena, rb_island *out)
{
    memset(out, 0, sizeof *out);
    out->h = h;
    out->W = (rb_matrix){ .form = RB_DENSE, .dense = W };
    return take_rows(set, island, NULL, arena, out);
}

rb_status rb_island_open_some(const rb_model *m, const rb_data *d, const rb_constraints *set,
                              int island, const unsigned char *left, double h, const rb_some *some,
                              rb_arena *arena, rb_island *out)
{
    memset(out, 0, sizeof *out);
    out->h = h;
    rb_status status = take_rows(set, island, left, arena, out);
    if (status != RB_OK) return status;
    half w = { .m = m, .d = d, .set = set, .island = out };
    int *at = rb_push(arena, int, m->nv);
    if (!at) return RB_NOMEM;
    int r = number_freedoms(&w, at), thin = out->nrow >= THIN_ROWS && out->nrow > THIN * r;
    out->W = (rb_matrix){ .form = RB_DENSE, .dense = thin ? NULL : some->W };
    out->G = thin ? some->W : NULL;
    out->nG = thin ? r : 0;
    if (some->known) return RB_OK;
    status = half_solve_all(&w, arena);
    if (status != RB_OK) return status;
    return thin ? write_factor(&w, at, r, some->W, arena) : write_dense(&w, some->W, arena);
}

rb_status rb_island_open_in(const rb_model *m, const rb_data *d, const rb_constraints *set,
                            int island, double h, double *W, rb_arena *arena, rb_island *out)
{
    rb_status status = rb_island_open_with(set, island, h, NULL, arena, out);
    if (status != RB_OK) return status;
    half w = { .m = m, .d = d, .set = set, .island = out };
    status = half_solve_all(&w, arena);
    if (status != RB_OK) return status;
    int sparse = !W && out->nrow > DENSE_ROWS && all_plain(out);
    if (!sparse) return write_dense(&w, W, arena);
    status = write_blocks(&w, arena);
    return status == RB_OK ? write_operator(&w, arena) : status;
}

rb_status rb_island_open_crowd(const rb_model *m, const rb_data *d, const rb_constraints *set,
                               int island, double h, int least, rb_arena *arena, rb_island *out)
{
    rb_status status = rb_island_open_with(set, island, h, NULL, arena, out);
    if (status != RB_OK) return status;
    half w = { .m = m, .d = d, .set = set, .island = out };
    status = half_solve_all(&w, arena);
    if (status != RB_OK) return status;
    int plain = all_plain(out);
    if (out->n < least || !(plain || rb_island_is_triples(set, island)))
        return write_dense(&w, NULL, arena);
    status = write_operator(&w, arena);
    if (status != RB_OK) return status;
    if (!plain) out->W.form = RB_OPERATOR;
    if (!plain) return RB_OK;
    const rb_operator *op = out->W.op;
    int crowded = rb_operator_crowd(op, out->n, arena);
    if (crowded < 0) return RB_NOMEM;
    if (crowded == RB_CROWD_NONE) status = write_blocks(&w, arena);
    if (crowded != RB_CROWD_NONE) out->W.form = RB_OPERATOR;
    out->W.op = op;
    return status;
}

rb_status rb_island_open(const rb_model *m, const rb_data *d, const rb_constraints *set, int island,
                         double h, rb_arena *arena, rb_island *out)
{
    return rb_island_open_in(m, d, set, island, h, NULL, arena, out);
}
