/* The least motion, in the metric of M, that makes the rows that are held move by r,
 *
 *     shift = M^-1 J_a' l,    A l = r,    A = J_a M^-1 J_a'                                  (S.52)
 *
 * by conjugate gradients on l: rows that repeat others do no harm, because r is made of velocities.
 * A is a part of the W by which the rows were solved, where that is kept (rb_kept) and all trees of
 * the islands are carried; else products with J and the factor of M take its place. */
#include "step/held.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/dense.h"

typedef struct shifting {
    const rb_held *x;
    int n;               /* rows that are held                                                    */
    int *row;            /* where they are in the set                                    (n)      */
    int *column;         /* and in the W of their island                                 (n)      */
    double *A;           /* NULL: not kept                                               (n x n)  */
    double *l;           /*                                                              (n)      */
    double *r, *way, *y; /* of conjugate gradients                                  (n)      */
    double *p;           /* l as impulses of all rows                                    (nrow)   */
    double *t;           /*                                                              (nv)     */
} shifting;

/* v := 0 where a tree is not carried. */
static void only_carried(const rb_held *x, double *v)
{
    const rb_model *m = x->s->m;
    for (int j = 0; j < m->nv; j++) {
        if (!x->takes[m->link_tree[m->dof_link[j]]]) v[j] = 0.0;
    }
}

void rb_held_velocity(const rb_held *x, const double *v, double *z)
{
    const rb_constraints *set = &x->s->set;
    rb_constraints_velocity(set, v, z);
    for (int i = 0; i < set->nrow; i++) z[i] = x->rows[i] ? z[i] - set->drive[i] : 0.0;
}

/* ---- A, from the problems -----------------------------------------------------------------------
 */

/* All trees of the island are carried. */
static int is_whole(const rb_held *x, int island)
{
    const rb_stage *s = x->s;
    for (int tree = 0; tree < s->m->ntree; tree++) {
        if (s->set.tree_island[tree] == island && !x->takes[tree]) return 0;
    }
    return 1;
}

/* Lists the held rows of an island from place n on. Returns how many there are by then, and rows
 * how many its W has; -1: W lacks one that is held. */
static int list_rows(shifting *w, int island, int n, int *rows)
{
    const rb_constraints *set = &w->x->s->set;
    const rb_kept *kept = &w->x->s->kept[island];
    int first = set->island_start[island];
    *rows = 0;
    for (int i = first; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        int left = kept->some && kept->left[i - first];
        for (int r = 0; r < c->nrow; r++) {
            if (!w->x->rows[c->row + r]) continue;
            if (left) return -1;
            w->row[n] = c->row + r;
            w->column[n++] = *rows + r;
        }
        if (!left) *rows += c->nrow;
    }
    return n;
}

/* A of the rows begin to end, which are those of an island whose W has so many rows. */
static void copy_rows(shifting *w, const rb_kept *kept, int rows, int begin, int end)
{
    ptrdiff_t n = w->n, nG = kept->nG, ld = nG > 0 ? nG : rows;
    for (int i = begin; i < end; i++) {
        const double *a = kept->W + w->column[i] * ld;
        for (int j = begin; j <= i; j++) {
            const double *b = kept->W + w->column[j] * ld;
            w->A[i * n + j] = w->A[j * n + i] = nG > 0 ? rb_dot(a, b, (int)nG) : a[w->column[j]];
        }
    }
}

/* Fills A; 0: not all of it is kept. */
static int gather(shifting *w)
{
    const rb_stage *s = w->x->s;
    int n = 0, rows;
    if (!s->kept) return 0;
    memset(w->A, 0, (size_t)w->n * (size_t)w->n * sizeof *w->A);
    for (int island = 0; island < s->set.nisland && n < w->n; island++) {
        const rb_kept *kept = &s->kept[island];
        int end = list_rows(w, island, n, &rows);
        if (end == n) continue;
        if (end < 0 || !kept->known || !is_whole(w->x, island)) return 0;
        copy_rows(w, kept, rows, n, end);
        n = end;
    }
    return n == w->n;
}

/* ---- conjugate gradients ------------------------------------------------------------------------
 */

/* v := M^-1 J_a' of the trees that are carried, applied to l */
static void push(shifting *w, const double *l, double *v)
{
    const rb_stage *s = w->x->s;
    memset(w->p, 0, (size_t)s->set.nrow * sizeof *w->p);
    for (int i = 0; i < w->n; i++) w->p[w->row[i]] = l[i];
    memset(v, 0, (size_t)s->m->nv * sizeof *v);
    rb_constraints_force(&s->set, w->p, v);
    only_carried(w->x, v);
    rb_mass_solve(s->m, s->d, v);
}

/* y := A way */
static void multiply(shifting *w)
{
    if (w->A) {
        rb_gemv(w->A, w->n, w->n, w->n, w->way, w->y);
        return;
    }
    push(w, w->way, w->t);
    rb_held_velocity(w->x, w->t, w->p);
    for (int i = 0; i < w->n; i++) w->y[i] = w->p[w->row[i]];
}

static void solve(shifting *w)
{
    int n = w->n;
    size_t bytes = (size_t)n * sizeof *w->l;
    memset(w->l, 0, bytes);
    memcpy(w->way, w->r, bytes);
    double rr = rb_dot(w->r, w->r, n), zero = 0.1 * RB_GAP_ZERO * w->x->s->size;
    double least = fmax(w->x->tol * w->x->tol * rr, zero * zero);
    for (int k = 0; k < 2 * n && rr > least; k++) {
        multiply(w);
        double bend = rb_dot(w->way, w->y, n);
        if (!(bend > 0.0)) break;
        double a = rr / bend, before = rr;
        rb_axpy(a, w->way, w->l, n);
        rb_axpy(-a, w->y, w->r, n);
        rr = rb_dot(w->r, w->r, n);
        for (int i = 0; i < n; i++) w->way[i] = w->r[i] + rr / before * w->way[i];
    }
}

/* ---- the whole ----------------------------------------------------------------------------------
 */

static rb_status take_memory(shifting *w)
{
    const rb_stage *s = w->x->s;
    rb_arena *arena = s->d->arena;
    size_t n = 0;
    for (int i = 0; i < s->set.nrow; i++) n += w->x->rows[i] != 0;
    w->n = (int)n;
    w->row = rb_push(arena, int, 2 * n);
    w->l = rb_push(arena, double, (4 + n) * n);
    w->p = rb_push(arena, double, s->set.nrow);
    w->t = rb_push(arena, double, s->m->nv);
    if (!w->row || !w->l || !w->p || !w->t) return RB_NOMEM;
    w->column = w->row + n;
    w->r = w->l + n;
    w->way = w->r + n;
    w->y = w->way + n;
    w->A = w->y + n;
    return RB_OK;
}

/* The rows in the order of the set. */
static void list_all(shifting *w)
{
    for (int i = 0, n = 0; i < w->x->s->set.nrow; i++) {
        if (w->x->rows[i]) w->row[n++] = i;
    }
}

rb_status rb_held_shift(const rb_held *x, const double *r, double *shift)
{
    shifting w = { .x = x };
    rb_mark mark = rb_arena_mark(x->s->d->arena);
    rb_status status = take_memory(&w);
    if (status == RB_OK && w.n == 0) memset(shift, 0, (size_t)x->s->m->nv * sizeof *shift);
    if (status == RB_OK && w.n > 0) {
        if (!gather(&w)) {
            w.A = NULL;
            list_all(&w);
        }
        for (int i = 0; i < w.n; i++) w.r[i] = r[w.row[i]];
        solve(&w);
        push(&w, w.l, shift);
    }
    rb_arena_reset(x->s->d->arena, mark);
    return status;
}
