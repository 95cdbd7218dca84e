#include "math/block_lu.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/sort.h"
#include "math/order.h"
#include "math/vector.h"

/* ---- analysis ---------------------------------------------------------------------------------
 */

typedef struct symbolic {
    int *head, *next; /* children of k in the elimination tree: a linked list  (nb) each */
    int *mark;        /* mark[j] == k: j is in the row being built             (nb)      */
    int *row;         /* the row being built                                   (nb)      */
} symbolic;

/* Row k of U = row k of G right of the diagonal, joined with the rows of its children in the tree.
 */
static int build_row(const rb_block_lu *f, symbolic *s, int *const *rows, const int *sizes, int k)
{
    int n = 0, node = f->order[k];
    s->mark[k] = k;
    for (int e = f->ptr[node]; e < f->ptr[node + 1]; e++) {
        int j = f->place[f->col[e]];
        if (j <= k || s->mark[j] == k) continue;
        s->mark[j] = k;
        s->row[n++] = j;
    }
    for (int c = s->head[k]; c >= 0; c = s->next[c]) {
        for (int e = 0; e < sizes[c]; e++) {
            int j = rows[c][e];
            if (j <= k || s->mark[j] == k) continue;
            s->mark[j] = k;
            s->row[n++] = j;
        }
    }
    rb_sort_ints(s->row, n);
    return n;
}

/* All rows of U; the parent of k in the tree is its first column. */
static rb_status find_fill(rb_block_lu *f, size_t max_blocks, rb_arena *scratch, int **rows,
                           int *sizes)
{
    int nb = f->nb;
    symbolic s = { rb_push(scratch, int, nb), rb_push(scratch, int, nb), rb_push(scratch, int, nb),
                   rb_push(scratch, int, nb) };
    if (!s.head || !s.next || !s.mark || !s.row) return RB_NOMEM;
    for (int k = 0; k < nb; k++) s.head[k] = s.mark[k] = -1;
    size_t total = 0;
    for (int k = 0; k < nb; k++) {
        sizes[k] = build_row(f, &s, rows, sizes, k);
        rows[k] = rb_push(scratch, int, sizes[k]);
        if (!rows[k]) return RB_NOMEM;
        memcpy(rows[k], s.row, (size_t)sizes[k] * sizeof(int));
        total += (size_t)sizes[k];
        if (total > max_blocks) return RB_TOO_LARGE;
        if (sizes[k] == 0) continue;
        s.next[k] = s.head[rows[k][0]];
        s.head[rows[k][0]] = k;
    }
    return RB_OK;
}

/* L has the transposed pattern of U. */
static void transpose_pattern(rb_block_lu *f)
{
    int nb = f->nb;
    memset(f->lptr, 0, (size_t)(nb + 1) * sizeof(int));
    for (int e = 0; e < f->uptr[nb]; e++) f->lptr[f->ucol[e] + 1]++;
    for (int k = 0; k < nb; k++) f->lptr[k + 1] += f->lptr[k];
    for (int k = 0; k < nb; k++) {
        for (int e = f->uptr[k]; e < f->uptr[k + 1]; e++) f->lcol[f->lptr[f->ucol[e]]++] = k;
    }
    for (int k = nb; k > 0; k--) f->lptr[k] = f->lptr[k - 1];
    f->lptr[0] = 0;
}

static rb_status take_memory(rb_block_lu *f, rb_arena *arena, int blocks)
{
    size_t bb = (size_t)(f->bs * f->bs), nb = (size_t)f->nb;
    f->uptr = rb_push(arena, int, nb + 1);
    f->lptr = rb_push(arena, int, nb + 1);
    f->ucol = rb_push(arena, int, blocks);
    f->lcol = rb_push(arena, int, blocks);
    f->uval = rb_push(arena, double, (size_t)blocks *bb);
    f->lval = rb_push(arena, double, (size_t)blocks *bb);
    f->dinv = rb_push(arena, double, nb *bb);
    f->row = rb_push(arena, double, nb *bb);
    int ok = f->uptr && f->lptr && f->ucol && f->lcol && f->uval && f->lval && f->dinv && f->row;
    return ok ? RB_OK : RB_NOMEM;
}

rb_status rb_block_lu_analyse(rb_block_lu *f, int nb, int bs, const int *ptr, const int *col,
                              size_t max_blocks, rb_arena *scratch)
{
    *f = (rb_block_lu){ .nb = nb, .bs = bs, .ptr = ptr, .col = col };
    f->order = rb_push(scratch, int, nb);
    f->place = rb_push(scratch, int, nb);
    if (!f->order || !f->place) return RB_NOMEM;
    rb_status status = rb_minimum_degree(nb, ptr, col, scratch, f->order);
    if (status != RB_OK) return status;
    for (int k = 0; k < nb; k++) f->place[f->order[k]] = k;

    int **rows = rb_push(scratch, int *, nb), *sizes = rb_push(scratch, int, nb);
    if (!rows || !sizes) return RB_NOMEM;
    status = find_fill(f, max_blocks, scratch, rows, sizes);
    if (status != RB_OK) return status;
    int blocks = 0;
    for (int k = 0; k < nb; k++) blocks += sizes[k];
    status = take_memory(f, scratch, blocks);
    if (status != RB_OK) return status;
    f->uptr[0] = 0;
    for (int k = 0; k < nb; k++) {
        memcpy(f->ucol + f->uptr[k], rows[k], (size_t)sizes[k] * sizeof(int));
        f->uptr[k + 1] = f->uptr[k] + sizes[k];
    }
    transpose_pattern(f);
    memset(f->row, 0, (size_t)nb * (size_t)(bs * bs) * sizeof *f->row);
    return RB_OK;
}

/* ---- blocks: written for a constant bs, so that the compiler unrolls them
 * ------------------------ */

RB_INLINE int block_is_zero(const double *a, int bs)
{
    for (int k = 0; k < bs * bs; k++) {
        if (a[k] != 0.0) return 0;
    }
    return 1;
}

/* c = a b */
RB_INLINE void block_mul(const double *a, const double *b, double *c, int bs)
{
    for (int i = 0; i < bs; i++) {
        for (int j = 0; j < bs; j++) {
            double sum = a[i * bs] * b[j];
            for (int k = 1; k < bs; k++) sum += a[i * bs + k] * b[k * bs + j];
            c[i * bs + j] = sum;
        }
    }
}

/* w -= L u for `len` columns, rows of u and w ld apart: a run of blocks of a row of U. Each column
 * is a sum of its own, so that the bits do not depend on the width of vectors. */
RB_INLINE void run_mul_sub(const double *L, const double *u, ptrdiff_t ld_u, double *restrict w,
                           ptrdiff_t ld_w, int len, int bs)
{
    for (int i = 0; i < bs; i++) {
        const double *L_i = L + i * bs;
        double *restrict w_i = w + i * ld_w;
        for (int c = 0; c < len; c++) {
            double sum = L_i[0] * u[c];
            for (int k = 1; k < bs; k++) sum += L_i[k] * u[k * ld_u + c];
            w_i[c] -= sum;
        }
    }
}

/* y -= a x, rows of a ld apart */
RB_INLINE void block_vec_sub(const double *a, ptrdiff_t ld, const double *x, double *y, int bs)
{
    for (int i = 0; i < bs; i++) {
        const double *a_i = a + i * ld;
        double sum = a_i[0] * x[0];
        for (int k = 1; k < bs; k++) sum += a_i[k] * x[k];
        y[i] -= sum;
    }
}

typedef struct pivots {
    double tiny;           /* a pivot below this is lifted to it */
    double least, largest; /* met so far                         */
    int lifted;            /* blocks with a lifted pivot         */
} pivots;

/* Rows k and p of both blocks change places. */
RB_INLINE void swap_rows(double *a, double *inv, int k, int p, int bs)
{
    for (int j = 0; j < bs; j++) {
        double t = a[k * bs + j], u = inv[k * bs + j];
        a[k * bs + j] = a[p * bs + j];
        inv[k * bs + j] = inv[p * bs + j];
        a[p * bs + j] = t;
        inv[p * bs + j] = u;
    }
}

/* inv = a^-1 by Gauss-Jordan with row pivoting; a vanishing pivot is lifted and counted. */
RB_INLINE void block_invert(double *restrict a, double *restrict inv, int bs, pivots *met)
{
    int lifted = 0;
    for (int i = 0; i < bs * bs; i++) inv[i] = i % (bs + 1) == 0 ? 1.0 : 0.0;
    for (int k = 0; k < bs; k++) {
        int p = k;
        for (int i = k + 1; i < bs; i++) {
            if (fabs(a[i * bs + k]) > fabs(a[p * bs + k])) p = i;
        }
        if (p != k) swap_rows(a, inv, k, p, bs);
        double d = a[k * bs + k];
        if (!(fabs(d) > met->tiny)) {
            d = d < 0.0 ? -met->tiny : met->tiny;
            lifted = 1;
        }
        met->least = fabs(d) < met->least ? fabs(d) : met->least;
        met->largest = fabs(d) > met->largest ? fabs(d) : met->largest;
        for (int j = 0; j < bs; j++) {
            a[k * bs + j] /= d;
            inv[k * bs + j] /= d;
        }
        a[k * bs + k] = 1.0;
        for (int i = 0; i < bs; i++) {
            double l = a[i * bs + k];
            if (i == k || l == 0.0) continue;
            for (int j = 0; j < bs; j++) {
                a[i * bs + j] -= l * a[k * bs + j];
                inv[i * bs + j] -= l * inv[k * bs + j];
            }
        }
    }
    met->lifted += lifted;
}

/* ---- factor and solve
 * ---------------------------------------------------------------------------- */

/* Blocks of the dense row at column j, to and from `block`. */
RB_INLINE void take_block(double *row, ptrdiff_t ld, int j, double *block, int bs)
{
    for (int i = 0; i < bs; i++) {
        double *from = row + i * ld + (ptrdiff_t)j * bs;
        for (int l = 0; l < bs; l++) {
            block[i * bs + l] = from[l];
            from[l] = 0.0;
        }
    }
}

RB_INLINE void put_block(const double *block, double *row, ptrdiff_t ld, int j, int bs)
{
    for (int i = 0; i < bs; i++) {
        double *to = row + i * ld + (ptrdiff_t)j * bs;
        for (int l = 0; l < bs; l++) to[l] = block[i * bs + l];
    }
}

/* row -= L (row j of U), in runs of neighbouring columns. */
RB_INLINE void subtract_row(rb_block_lu *f, const double *L, int j, int bs)
{
    int begin = f->uptr[j], end = f->uptr[j + 1];
    ptrdiff_t ld_u = (ptrdiff_t)(end - begin) * bs, ld = (ptrdiff_t)f->nb * bs;
    const double *U = f->uval + (ptrdiff_t)begin * bs * bs;
    for (int u = begin; u < end;) {
        int next = u + 1;
        while (next < end && f->ucol[next] == f->ucol[next - 1] + 1) next++;
        run_mul_sub(L, U + (ptrdiff_t)(u - begin) * bs, ld_u, f->row + (ptrdiff_t)f->ucol[u] * bs,
                    ld, (next - u) * bs, bs);
        u = next;
    }
}

/* Row k: scatter G, subtract L_kj (row j of U) for the columns j of L, keep what is right of k. */
RB_INLINE void factor_row(rb_block_lu *f, const double *val, int k, pivots *met, int bs)
{
    int node = f->order[k], bb = bs * bs;
    ptrdiff_t ld = (ptrdiff_t)f->nb * bs, ld_u = (ptrdiff_t)(f->uptr[k + 1] - f->uptr[k]) * bs;
    double w[RB_BLOCK_LU_MAX * RB_BLOCK_LU_MAX];
    for (int e = f->ptr[node]; e < f->ptr[node + 1]; e++) {
        put_block(val + (ptrdiff_t)e * bb, f->row, ld, f->place[f->col[e]], bs);
    }
    for (int e = f->lptr[k]; e < f->lptr[k + 1]; e++) {
        int j = f->lcol[e];
        double *L = f->lval + (ptrdiff_t)e * bb;
        take_block(f->row, ld, j, w, bs);
        if (block_is_zero(w, bs)) {
            memset(L, 0, (size_t)bb * sizeof *L);
            continue;
        }
        block_mul(w, f->dinv + (ptrdiff_t)j * bb, L, bs);
        subtract_row(f, L, j, bs);
    }
    take_block(f->row, ld, k, w, bs);
    block_invert(w, f->dinv + (ptrdiff_t)k * bb, bs, met);
    double *U = f->uval + (ptrdiff_t)f->uptr[k] * bb;
    for (int u = f->uptr[k]; u < f->uptr[k + 1]; u++, U += bs) {
        take_block(f->row, ld, f->ucol[u], w, bs);
        for (int i = 0; i < bs; i++) memcpy(U + i * ld_u, w + i * bs, (size_t)bs * sizeof *U);
    }
}

RB_VECTOR static void factor_all(rb_block_lu *f, const double *val, pivots *met, int bs)
{
    if (bs == 3) {
        for (int k = 0; k < f->nb; k++) factor_row(f, val, k, met, 3);
    } else if (bs == 2) {
        for (int k = 0; k < f->nb; k++) factor_row(f, val, k, met, 2);
    } else if (bs == 6) {
        for (int k = 0; k < f->nb; k++) factor_row(f, val, k, met, 6);
    } else {
        for (int k = 0; k < f->nb; k++) factor_row(f, val, k, met, bs);
    }
}

/* By eight at a time: the largest of all does not depend on the order. */
RB_VECTOR static double largest_of(const double *val, size_t n)
{
    double most[8] = { 0.0 }, largest = 0.0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (size_t j = 0; j < 8; j++) {
            double x = fabs(val[i + j]);
            most[j] = x > most[j] ? x : most[j];
        }
    }
    for (; i < n; i++) largest = fabs(val[i]) > largest ? fabs(val[i]) : largest;
    for (int j = 0; j < 8; j++) largest = most[j] > largest ? most[j] : largest;
    return largest;
}

void rb_block_lu_factor(rb_block_lu *f, const double *val)
{
    double largest = largest_of(val, (size_t)f->ptr[f->nb] * (size_t)(f->bs * f->bs));
    pivots met = { RB_EPS * (largest > 0.0 ? largest : 1.0), INFINITY, 0.0, 0 };
    factor_all(f, val, &met, f->bs);
    f->perturbed = met.lifted;
    f->pivot_ratio = met.least / met.largest;
}

RB_INLINE void solve_all(const rb_block_lu *f, double *x, double *y, int bs)
{
    int nb = f->nb, bb = bs * bs;
    for (int k = 0; k < nb; k++) {
        memcpy(y + (ptrdiff_t)k * bs, x + (ptrdiff_t)f->order[k] * bs, (size_t)bs * sizeof *y);
        for (int e = f->lptr[k]; e < f->lptr[k + 1]; e++) {
            block_vec_sub(f->lval + (ptrdiff_t)e * bb, bs, y + (ptrdiff_t)f->lcol[e] * bs,
                          y + (ptrdiff_t)k * bs, bs);
        }
    }
    for (int k = nb - 1; k >= 0; k--) {
        double *y_k = y + (ptrdiff_t)k * bs, *x_k = x + (ptrdiff_t)f->order[k] * bs;
        const double *U = f->uval + (ptrdiff_t)f->uptr[k] * bb;
        ptrdiff_t ld = (ptrdiff_t)(f->uptr[k + 1] - f->uptr[k]) * bs;
        for (int u = f->uptr[k]; u < f->uptr[k + 1]; u++, U += bs) {
            block_vec_sub(U, ld, y + (ptrdiff_t)f->ucol[u] * bs, y_k, bs);
        }
        for (int i = 0; i < bs; i++) x_k[i] = 0.0;
        for (int i = 0; i < bs; i++) y_k[i] = -y_k[i];
        block_vec_sub(f->dinv + (ptrdiff_t)k * bb, bs, y_k, x_k, bs);
        memcpy(y_k, x_k, (size_t)bs * sizeof *y_k);
    }
}

RB_VECTOR void rb_block_lu_solve(const rb_block_lu *f, double *x, double *work)
{
    if (f->bs == 3)
        solve_all(f, x, work, 3);
    else if (f->bs == 2)
        solve_all(f, x, work, 2);
    else if (f->bs == 6)
        solve_all(f, x, work, 6);
    else
        solve_all(f, x, work, f->bs);
}

double rb_block_lu_work(const rb_block_lu *f)
{
    double sum = 0.0;
    for (int k = 0; k < f->nb; k++) {
        double row = f->uptr[k + 1] - f->uptr[k] + 1.0;
        sum += row * row;
    }
    return 1e-3 * sum * f->bs * f->bs * f->bs;
}
