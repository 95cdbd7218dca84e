/* Finds redundant rows of loops that contradict the others. Two points of one axis are six rows
 * for five freedoms, and with the digits of a file their distance differs between the two bodies.
 * No motion closes that. Rows that are nearly the same ask for a huge motion. In an island with n
 * rows of loops, those rows are dropped for one step that the others decide:
 *
 *     pivot of J M^-1 J', scaled to unit diagonal, <= 1e-6 n at q,  |error(q)| > 1e-10 size (S.8)
 *
 * To take such a length off, a point would have to move by more than a thousand times the length.
 * Dropped rows may not open to more than twice what loops were open by. Where loops are closed,
 * only rows that repeat others to rounding are dropped. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/slip.h"
#include "math/dense.h"
#include "step/rows.h"
#include "step/touch.h"

/* Pivot of a row of loops, times their number, below which others decide it, and the closure error,
 * in units of the extent, that it then has, or what steps leave (S.8) [1]. REPEATS smaller: points
 * of one axis with the digits of a file ask for huge motions. Larger: loops that begin open lose
 * rows that they need while they pass a dead centre. DISAGREES smaller: rounding of closed loops
 * counts. */
#define LOOP_REPEATS   1e-6
#define LOOP_DISAGREES 1e-10

/* ---- the rank of loops ------------------------------------------------------------------------
 */

/* J M^-1 J' of the equalities of an island, scaled to unit diagonal and factored. */
typedef struct loops {
    int n, rank;
    int *row;  /* in the set                                                          (n)        */
    int *perm; /*                                                                     (n)        */
    double *A; /* L D L'                                                              (n x n)    */
    double *scale; /*                                                                 (n)        */
} loops;

static int take_memory(rb_arena *arena, size_t n, loops *of)
{
    of->n = 0;
    of->row = rb_push(arena, int, n);
    of->perm = rb_push(arena, int, n);
    of->A = rb_push(arena, double, n *n);
    of->scale = rb_push(arena, double, n);
    return of->row && of->perm && of->A && of->scale;
}

/* Scales that make the diagonal one, the largest of rows a to b - 1 of a constraint. Rows of a
 * point, and those of a turn, have one unit and one scale: the row across the plane of a four-bar
 * is small beside the others, and next to nothing where it lies flat. */
static double scale_of(const rb_island *is, int a, int b)
{
    double largest = 0.0;
    for (int r = a; r < b; r++) largest = fmax(largest, rb_island_entry(is, r, r));
    return largest > 0.0 ? 1.0 / sqrt(largest) : 0.0;
}

static void list_rows(const rb_island *is, loops *of)
{
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        for (int r = 0; r < c->nrow; r++, of->n++) {
            int a = r - r % 3, b = a + 3 < c->nrow ? a + 3 : c->nrow;
            of->scale[of->n] = scale_of(is, is->row[i] + a, is->row[i] + b);
            of->row[of->n] = c->row + r;
        }
    }
}

static int count_rows(const rb_constraints *set, int island)
{
    int n = 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        if (c->kind == RB_CONSTRAINT_EQUALITY) n += c->nrow;
    }
    return n;
}

/* The equalities of an island, as an island. */
static rb_status open_loops(rb_stage *s, int island, rb_island *is)
{
    rb_constraints set = s->set;
    int first = set.island_start[island], all = set.island_start[island + 1] - first;
    int bounds[2] = { 0, 0 }, *order = rb_push(s->d->arena, int, all);
    if (!order) return RB_NOMEM;
    for (int i = first; i < first + all; i++) {
        int at = set.island_order[i];
        if (set.c[at].kind == RB_CONSTRAINT_EQUALITY) order[bounds[1]++] = at;
    }
    set.island_order = order;
    set.island_start = bounds;
    return rb_island_open(s->m, s->d, &set, 0, s->h, s->d->arena, is);
}

/* Rows with pivots up to tol times their number repeat others; those of `last` are taken after
 * others that will do. Needs a factor of M. */
static rb_status factor(rb_stage *s, int island, const unsigned char *last, double tol, loops *of)
{
    size_t n = (size_t)count_rows(&s->set, island);
    *of = (loops){ .n = 0 };
    if (n == 0) return RB_OK;
    if (!take_memory(s->d->arena, n, of)) return RB_NOMEM;
    rb_island is;
    rb_status status = open_loops(s, island, &is);
    if (status != RB_OK) return status;
    list_rows(&is, of);
    for (int i = 0; i < of->n; i++) {
        if (last[of->row[i]]) of->scale[i] *= 0.5;
    }
    for (int i = 0; i < of->n; i++) {
        for (int j = 0; j < of->n; j++) {
            double W_ij = rb_island_entry(&is, i, j);
            of->A[(ptrdiff_t)i * of->n + j] = of->scale[i] * W_ij * of->scale[j];
        }
    }
    of->rank = rb_ldl_factor(of->A, of->n, of->perm, tol * of->n);
    return RB_OK;
}

/* ---- rows that are dropped --------------------------------------------------------------------
 */

int rb_stage_is_redundant(const rb_stage *s, int e, int r)
{
    return s->problem.redundant && s->problem.redundant[e * RB_LOOP_ROWS + r];
}

/* Closure error from which on rows contradict each other, beyond what steps leave [m]. */
static double contradicts(const rb_stage *s)
{
    return fmax(LOOP_DISAGREES * s->given->size, s->given->open_most);
}

static int has_open(const rb_stage *s, int island)
{
    int open = 0;
    for (int i = s->set.island_start[island]; i < s->set.island_start[island + 1]; i++) {
        const rb_constraint *c = &s->set.c[s->set.island_order[i]];
        for (int r = 0; r < c->nrow && c->kind == RB_CONSTRAINT_EQUALITY; r++)
            open |= fabs(s->set.error[c->row + r]) > contradicts(s);
    }
    return open;
}

/* row_repeats: of the rows of the set. */
static rb_status mark_island(rb_stage *s, int island, const unsigned char *last,
                             unsigned char *row_repeats)
{
    loops of;
    double tol = has_open(s, island) ? LOOP_REPEATS : RB_LOOP_RANK_TOL;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = factor(s, island, last, tol, &of);
    for (int i = of.rank; status == RB_OK && i < of.n; i++) row_repeats[of.row[of.perm[i]]] = 1;
    rb_arena_reset(s->d->arena, mark);
    return status;
}

/* Rows that were left to themselves in the step before are so again where there is a choice: their
 * neighbours have the impulses for it. */
static void mark_lasting(const rb_stage *s, unsigned char *last)
{
    memset(last, 0, (size_t)s->set.nrow);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        const rb_touch *touch =
            c->kind == RB_CONSTRAINT_EQUALITY ? rb_touch_find(s->d, &c->id) : NULL;
        if (!touch || touch->nrow != c->nrow) continue;
        for (int r = 0; r < c->nrow; r++) last[c->row + r] = touch->p[r] == 0.0;
    }
}

/* Needs the factor of M. */
static rb_status find(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    size_t flags = (size_t)s->m->neq * RB_LOOP_ROWS;
    s->problem.redundant = rb_push(arena, unsigned char, flags);
    if (!s->problem.redundant) return RB_NOMEM;
    memset(s->problem.redundant, 0, flags);
    rb_mark mark = rb_arena_mark(arena);
    unsigned char *row_repeats = rb_push(arena, unsigned char, s->set.nrow);
    unsigned char *last = rb_push(arena, unsigned char, s->set.nrow);
    if (!row_repeats || !last) return RB_NOMEM;
    mark_lasting(s, last);
    memset(row_repeats, 0, (size_t)s->set.nrow);
    rb_status status = RB_OK;
    for (int island = 0; island < s->set.nisland && status == RB_OK; island++)
        status = mark_island(s, island, last, row_repeats);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_EQUALITY) continue;
        for (int r = 0; r < c->nrow; r++)
            s->problem.redundant[c->id.a * RB_LOOP_ROWS + r] = row_repeats[c->row + r];
    }
    rb_arena_reset(arena, mark);
    return status;
}

/* Largest closure error, or 0. */
static double most_open(const rb_stage *s)
{
    double most = 0.0;
    for (int row = 0; row < s->set.nrow; row++) most = fmax(most, fabs(s->set.error[row]));
    return most;
}

rb_status rb_stage_drop_redundant(rb_stage *s, int first)
{
    if (s->m->neq == 0) return RB_OK;
    if (first) {
        s->problem.redundant = NULL;
        s->problem.open = most_open(s);
    }
    rb_status status = first ? find(s) : RB_OK;
    for (int i = 0; i < s->set.n && s->problem.redundant && status == RB_OK; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind != RB_CONSTRAINT_EQUALITY) continue;
        for (int r = 0; r < c->nrow; r++) {
            if (!rb_stage_is_redundant(s, c->id.a, r)) continue;
            memset(s->set.J + c->block + (ptrdiff_t)r * c->ndof, 0,
                   (size_t)c->ndof * sizeof(double));
            s->set.drive[c->row + r] = 0.0;
        }
    }
    return status;
}
