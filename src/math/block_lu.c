#include "math/block_lu.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "base/sort.h"
#include "math/eight.h"
#include "math/order.h"
#include "math/vector.h"

/* Blocks from which on subtrees are looked for; each has at most this share of the work [1].
 * Smaller shares: more rows on top, whose work is shared out with more pauses. */
enum { TREES_LEAST = 64 };
#define TREE_SHARE (1.0 / 24.0)

/* Thousands of multiplications from which on a factorisation is shared out, blocks of L and U from
 * which on a solution is: some pauses of some microseconds each. Rows on top that one member takes
 * before the others go on, and most of them: 100 MB. */
#define FACTOR_SHARED 1e3
enum { SOLVE_SHARED = 2000, PANEL = 4, TOP_MOST = 600 };

/* Numbers that may be read beyond the end of an array. */
enum { BEYOND = RB_EIGHT };

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

/* ---- subtrees ---- */

typedef struct trees {
    int *parent;    /* in the elimination tree, -1: none        (nb) */
    int *on_top;    /* 1: it separates subtrees                 (nb) */
    double *weight; /* work of the subtree                      (nb) */
    int *post;      /* every subtree in a row                   (nb) */
} trees;

static void weigh(const rb_block_lu *f, int *const *rows, const int *sizes, trees *t)
{
    double all = 0.0;
    for (int k = 0; k < f->nb; k++) {
        t->parent[k] = sizes[k] > 0 ? rows[k][0] : -1;
        t->weight[k] = 0.0;
    }
    for (int k = 0; k < f->nb; k++) {
        t->weight[k] += (sizes[k] + 1.0) * (sizes[k] + 1.0);
        if (t->parent[k] >= 0)
            t->weight[t->parent[k]] += t->weight[k];
        else
            all += t->weight[k];
    }
    for (int k = f->nb - 1; k >= 0; k--) {
        int above = t->parent[k] < 0 || t->on_top[t->parent[k]];
        t->on_top[k] = above && t->weight[k] > TREE_SHARE * all;
    }
}

/* Children before their parents, each subtree in one piece. */
static void find_postorder(const rb_block_lu *f, symbolic *s, trees *t)
{
    int *head = s->head, *next = s->next, *stack = s->row, n = 0, depth = 0, first = -1;
    for (int k = 0; k < f->nb; k++) head[k] = -1;
    for (int k = f->nb - 1; k >= 0; k--) {
        int *list = t->parent[k] < 0 ? &first : &head[t->parent[k]];
        next[k] = *list;
        *list = k;
    }
    while (first >= 0) {
        stack[depth++] = first;
        first = next[first];
        while (depth > 0) {
            int k = stack[depth - 1], child = head[k];
            if (child >= 0) {
                head[k] = next[child];
                stack[depth++] = child;
            } else {
                t->post[n++] = k;
                depth--;
            }
        }
    }
}

/* Ranges of about the same work, cut between subtrees. */
static void share_out(rb_block_lu *f, const trees *t, const int *now)
{
    int members = rb_team_size(f->team), k = 1;
    double all = 0.0, done = 0.0;
    for (int i = 0; i < f->nb; i++) {
        int root = !t->on_top[i] && (t->parent[i] < 0 || t->on_top[t->parent[i]]);
        all += root ? t->weight[i] : 0.0;
    }
    f->cut[0] = 0;
    for (int i = 0; i < f->top; i++) {
        int old = now[i];
        if (t->parent[old] >= 0 && !t->on_top[t->parent[old]]) continue;
        done += t->weight[old];
        while (k < members && done >= all * k / members) f->cut[k++] = i + 1;
    }
    while (k <= RB_TEAM_MOST) f->cut[k++] = f->top;
}

/* Subtrees first, then what separates them. The order of the entries of a row stays: all of them
 * are ancestors of the row, and these stay in their order. */
static rb_status put_trees_first(rb_block_lu *f, rb_arena *scratch, int **rows, int *sizes)
{
    int nb = f->nb, n = 0;
    f->top = f->cut[0] = nb;
    if (nb < TREES_LEAST) return RB_OK;
    symbolic s = { .head = rb_push(scratch, int, nb), .next = rb_push(scratch, int, nb) };
    trees t = { rb_push(scratch, int, nb), rb_push(scratch, int, nb), rb_push(scratch, double, nb),
                rb_push(scratch, int, nb) };
    int *now = rb_push(scratch, int, nb), *size = rb_push(scratch, int, nb);
    int **row = rb_push(scratch, int *, nb);
    s.row = rb_push(scratch, int, nb);
    if (!s.head || !s.next || !s.row || !t.parent || !t.on_top || !t.weight || !t.post || !now ||
        !size || !row)
        return RB_NOMEM;
    weigh(f, rows, sizes, &t);
    find_postorder(f, &s, &t);
    for (int top = 0; top < 2; top++) {
        if (top) f->top = n;
        for (int i = 0; i < nb; i++) {
            if (t.on_top[t.post[i]] == top) now[n++] = t.post[i];
        }
    }
    share_out(f, &t, now);
    for (int i = 0; i < nb; i++) {
        s.row[now[i]] = i;
        s.head[i] = f->order[now[i]];
        size[i] = sizes[now[i]];
        row[i] = rows[now[i]];
    }
    for (int i = 0; i < nb; i++) {
        for (int e = 0; e < size[i]; e++) row[i][e] = s.row[row[i][e]];
        f->order[i] = s.head[i];
        f->place[f->order[i]] = i;
    }
    memcpy(sizes, size, (size_t)nb * sizeof *sizes);
    memcpy(rows, row, (size_t)nb * sizeof *rows);
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
    size_t room = (size_t)blocks * bb + BEYOND;
    f->uval = rb_push(arena, double, room);
    f->lval = rb_push(arena, double, room);
    f->ubycol = rb_push(arena, double, room);
    f->dinv = rb_push(arena, double, nb *bb + BEYOND);
    f->dcol = rb_push(arena, double, nb *bb + BEYOND);
    f->row = rb_push(arena, double, (nb * bb + BEYOND) * (size_t)rb_team_size(f->team));
    int ok = f->uptr && f->lptr && f->ucol && f->lcol && f->uval && f->lval && f->ubycol &&
             f->dinv && f->dcol && f->row;
    if (!ok) return RB_NOMEM;
    double *ends[] = { f->uval + room, f->lval + room, f->ubycol + room, f->dinv + nb * bb + BEYOND,
                       f->dcol + nb * bb + BEYOND };
    for (int i = 0; i < 5; i++) memset(ends[i] - BEYOND, 0, BEYOND * sizeof(double));
    return RB_OK;
}

/* Rows on top, where a team is to share them out. */
static rb_status take_top(rb_block_lu *f, rb_arena *scratch)
{
    size_t n = (size_t)(f->nb - f->top), side = n * (size_t)f->bs;
    f->dense = NULL;
    if (rb_team_size(f->team) < 2 || n == 0 || n > TOP_MOST) return RB_OK;
    f->dense = rb_push(scratch, double, side *side + BEYOND);
    if (!f->dense) return RB_NOMEM;
    memset(f->dense, 0, (side * side + BEYOND) * sizeof *f->dense);
    return RB_OK;
}

rb_status rb_block_lu_analyse(rb_block_lu *f, int nb, int bs, const int *ptr, const int *col,
                              size_t max_blocks, rb_arena *scratch)
{
    *f = (rb_block_lu){ .nb = nb, .bs = bs, .ptr = ptr, .col = col, .team = scratch->team };
    f->order = rb_push(scratch, int, nb);
    f->place = rb_push(scratch, int, nb);
    if (!f->order || !f->place) return RB_NOMEM;
    rb_status status = rb_minimum_degree(nb, ptr, col, scratch, f->order);
    if (status != RB_OK) return status;
    for (int k = 0; k < nb; k++) f->place[f->order[k]] = k;

    int **rows = rb_push(scratch, int *, nb), *sizes = rb_push(scratch, int, nb);
    if (!rows || !sizes) return RB_NOMEM;
    status = find_fill(f, max_blocks, scratch, rows, sizes);
    if (status == RB_OK) status = put_trees_first(f, scratch, rows, sizes);
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
    status = take_top(f, scratch);
    size_t room = (size_t)nb * (size_t)(bs * bs) + BEYOND;
    memset(f->row, 0, (size_t)rb_team_size(f->team) * room * sizeof *f->row);
    return status;
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

/* Eight columns at a time. Each number is a sum of its own in one order, so that the bits do not
 * depend on how many are computed side by side. Columns beyond the last are read, not written: what
 * is read so has BEYOND numbers after its end. */
enum { WIDE = RB_EIGHT };

/* The first n of them. */
RB_INLINE void store(const rb_eight *x, double *to, int n)
{
    double t[WIDE];
    memcpy(t, x, sizeof t);
    if (n >= WIDE) {
        memcpy(to, t, sizeof t);
        return;
    }
    int at = 0;
    if (n & 4) {
        memcpy(to, t, 4 * sizeof *t);
        at = 4;
    }
    if (n & 2) {
        memcpy(to + at, t + at, 2 * sizeof *t);
        at += 2;
    }
    if (n & 1) to[at] = t[at];
}

/* c = a b */
RB_INLINE void block_mul(const double *a, const double *b, double *c, int bs)
{
    rb_eight B[RB_BLOCK_LU_MAX], sum;
    for (int k = 0; k < bs; k++) rb_eight_load(b + k * bs, &B[k]);
    for (int i = 0; i < bs; i++) {
        rb_eight_combine(a + i * bs, B, &sum, bs);
        store(&sum, c + i * bs, bs);
    }
}

/* Up to eight columns of w -= L u. */
RB_INLINE void tile_mul_sub(const double *L, const double *u, ptrdiff_t ld_u, double *w,
                            ptrdiff_t ld_w, int n, int bs)
{
    rb_eight U[RB_BLOCK_LU_MAX], sum, x;
    for (int k = 0; k < bs; k++) rb_eight_load(u + k * ld_u, &U[k]);
    for (int i = 0; i < bs; i++) {
        rb_eight_combine(L + i * bs, U, &sum, bs);
        rb_eight_load(w + i * ld_w, &x);
        rb_eight_less(&x, &sum);
        store(&x, w + i * ld_w, n);
    }
}

/* w -= L u for `len` columns, rows of u and w ld apart: a run of blocks of a row of U. */
RB_INLINE void run_mul_sub(const double *L, const double *u, ptrdiff_t ld_u, double *w,
                           ptrdiff_t ld_w, int len, int bs)
{
    int c = 0;
    for (; c + WIDE <= len; c += WIDE) tile_mul_sub(L, u + c, ld_u, w + c, ld_w, WIDE, bs);
    if (c < len) tile_mul_sub(L, u + c, ld_u, w + c, ld_w, len - c, bs);
}

/* y -= a x, a by columns */
RB_INLINE void block_vec_sub(const double *a, const double *x, rb_eight *y, int bs)
{
    rb_eight A, part, sum;
    rb_eight_load(a, &A);
    rb_eight_combine(x, &A, &sum, 1);
    for (int k = 1; k < bs; k++) {
        rb_eight_load(a + k * bs, &A);
        rb_eight_combine(x + k, &A, &part, 1);
        rb_eight_more(&sum, &part);
    }
    rb_eight_less(y, &sum);
}

RB_INLINE void transpose(const double *a, double *to, int bs)
{
    for (int i = 0; i < bs; i++) {
        for (int k = 0; k < bs; k++) to[k * bs + i] = a[i * bs + k];
    }
}

typedef struct pivots {
    double tiny;           /* a pivot below this is lifted to it */
    double least, largest; /* met so far                         */
    int lifted;            /* blocks with a lifted pivot         */
} pivots;

/* inv = a^-1 by Gauss-Jordan with row pivoting, both side by side; a vanishing pivot is lifted and
 * counted. */
RB_INLINE void block_invert(const double *a, double *inv, int bs, pivots *met)
{
    rb_eight m[RB_BLOCK_LU_MAX][2];
    double pivot[RB_BLOCK_LU_MAX][WIDE];
    int row[RB_BLOCK_LU_MAX], lifted = 0;
    for (int i = 0; i < bs; i++) {
        double unit[WIDE] = { 0.0 };
        unit[i] = 1.0;
        memset(pivot[i], 0, sizeof pivot[i]);
        memcpy(pivot[i], a + i * bs, (size_t)bs * sizeof *a);
        rb_eight_load(pivot[i], &m[i][0]);
        rb_eight_load(unit, &m[i][1]);
        row[i] = i;
    }
    for (int k = 0; k < bs; k++) {
        int p = k;
        for (int i = k + 1; i < bs; i++) {
            if (fabs(pivot[row[i]][k]) > fabs(pivot[row[p]][k])) p = i;
        }
        int r = row[p];
        row[p] = row[k];
        row[k] = r;
        double d = pivot[r][k];
        if (!(fabs(d) > met->tiny)) {
            d = d < 0.0 ? -met->tiny : met->tiny;
            lifted = 1;
        }
        met->least = fabs(d) < met->least ? fabs(d) : met->least;
        met->largest = fabs(d) > met->largest ? fabs(d) : met->largest;
        rb_eight by[2];
        for (int h = 0; h < 2; h++) {
            by[h] = m[r][h];
            rb_eight_divide(&by[h], d);
        }
        for (int i = 0; i < bs; i++) {
            rb_eight part;
            for (int h = 0; h < 2; h++) {
                rb_eight_combine(&pivot[i][k], &by[h], &part, 1);
                rb_eight_less(&m[i][h], &part);
            }
            store(&m[i][0], pivot[i], WIDE);
        }
        m[r][0] = by[0];
        m[r][1] = by[1];
        store(&by[0], pivot[r], WIDE);
    }
    met->lifted += lifted;
    for (int i = 0; i < bs; i++) store(&m[row[i]][1], inv + i * bs, bs);
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

/* A dense row: block j begins at at + (j - first) * bs. */
typedef struct dense_row {
    double *at;
    ptrdiff_t ld;
    int first;
} dense_row;

/* row -= L (row j of U), in runs of neighbouring columns. */
RB_INLINE void subtract_row(const rb_block_lu *f, const double *L, int j, const dense_row *row,
                            int bs)
{
    int begin = f->uptr[j], end = f->uptr[j + 1];
    ptrdiff_t ld_u = (ptrdiff_t)(end - begin) * bs;
    const double *U = f->uval + (ptrdiff_t)begin * bs * bs;
    for (int u = begin; u < end;) {
        int next = u + 1;
        while (next < end && f->ucol[next] == f->ucol[next - 1] + 1) next++;
        run_mul_sub(L, U + (ptrdiff_t)(u - begin) * bs, ld_u,
                    row->at + (ptrdiff_t)(f->ucol[u] - row->first) * bs, row->ld, (next - u) * bs,
                    bs);
        u = next;
    }
}

/* What is done with rows: all of it; or, of those on top, what subtrees take off them, what panels
 * do, and the end. Between these they stay in f->dense. */
typedef enum share_kind { WHOLE, OPEN, MORE, CLOSE } share_kind;

/* Rows begin, begin + every, .. before end: columns from .. to - 1 of L are taken off. */
typedef struct piece {
    rb_block_lu *f;
    const double *val;
    double *row; /* dense, cleared */
    pivots met;
    share_kind kind;
    int begin, end, every, from, to;
} piece;

/* Where row k on top stays. */
RB_INLINE dense_row row_on_top(const rb_block_lu *f, int k, int bs)
{
    ptrdiff_t ld = (ptrdiff_t)(f->nb - f->top) * bs;
    return (dense_row){ f->dense + (k - f->top) * bs * ld, ld, f->top };
}

/* Row k of G. */
RB_INLINE dense_row take_row(const piece *p, int k, int bs)
{
    const rb_block_lu *f = p->f;
    int node = f->order[k];
    dense_row row = { p->row, (ptrdiff_t)f->nb * bs, 0 };
    for (int e = f->ptr[node]; e < f->ptr[node + 1]; e++)
        put_block(p->val + (ptrdiff_t)e * bs * bs, row.at, row.ld, f->place[f->col[e]], bs);
    return row;
}

RB_INLINE void move_block(const dense_row *from, const dense_row *to, int j, int bs)
{
    double w[RB_BLOCK_LU_MAX * RB_BLOCK_LU_MAX];
    take_block(from->at, from->ld, j - from->first, w, bs);
    put_block(w, to->at, to->ld, j - to->first, bs);
}

/* Columns from `rest` on of L, the diagonal and U, to where the row stays. */
RB_INLINE void put_aside(const piece *p, int k, int rest, const dense_row *row, int bs)
{
    const rb_block_lu *f = p->f;
    dense_row to = row_on_top(f, k, bs);
    for (int e = rest; e < f->lptr[k + 1]; e++) move_block(row, &to, f->lcol[e], bs);
    move_block(row, &to, k, bs);
    for (int u = f->uptr[k]; u < f->uptr[k + 1]; u++) move_block(row, &to, f->ucol[u], bs);
}

/* The diagonal and what is right of it. */
RB_INLINE void keep_row(piece *p, int k, const dense_row *row, int bs)
{
    rb_block_lu *f = p->f;
    int bb = bs * bs;
    ptrdiff_t ld_u = (ptrdiff_t)(f->uptr[k + 1] - f->uptr[k]) * bs;
    double w[RB_BLOCK_LU_MAX * RB_BLOCK_LU_MAX], *dinv = f->dinv + (ptrdiff_t)k * bb;
    take_block(row->at, row->ld, k - row->first, w, bs);
    block_invert(w, dinv, bs, &p->met);
    transpose(dinv, f->dcol + (ptrdiff_t)k * bb, bs);
    double *U = f->uval + (ptrdiff_t)f->uptr[k] * bb;
    for (int u = f->uptr[k]; u < f->uptr[k + 1]; u++, U += bs) {
        take_block(row->at, row->ld, f->ucol[u] - row->first, w, bs);
        for (int i = 0; i < bs; i++) memcpy(U + i * ld_u, w + i * bs, (size_t)bs * sizeof *U);
        transpose(w, f->ubycol + (ptrdiff_t)u * bb, bs);
    }
}

/* Row k: take G, subtract L_kj (row j of U) for the columns j of L, keep what is right of k. */
RB_INLINE void factor_row(piece *p, int k, int bs)
{
    rb_block_lu *f = p->f;
    int bb = bs * bs, e = f->lptr[k], begins = p->kind == WHOLE || p->kind == OPEN;
    double w[RB_BLOCK_LU_MAX * RB_BLOCK_LU_MAX], L[RB_BLOCK_LU_MAX * RB_BLOCK_LU_MAX];
    dense_row row = begins ? take_row(p, k, bs) : row_on_top(f, k, bs);
    while (e < f->lptr[k + 1] && f->lcol[e] < p->from) e++;
    for (; e < f->lptr[k + 1] && f->lcol[e] < p->to; e++) {
        int j = f->lcol[e];
        double *kept = f->lval + (ptrdiff_t)e * bb;
        take_block(row.at, row.ld, j - row.first, w, bs);
        if (block_is_zero(w, bs)) {
            memset(kept, 0, (size_t)bb * sizeof *kept);
            continue;
        }
        block_mul(w, f->dinv + (ptrdiff_t)j * bb, L, bs);
        transpose(L, kept, bs);
        subtract_row(f, L, j, &row, bs);
    }
    if (p->kind == WHOLE || p->kind == CLOSE)
        keep_row(p, k, &row, bs);
    else if (p->kind == OPEN)
        put_aside(p, k, e, &row, bs);
}

RB_VECTOR static void factor_rows(piece *p)
{
    if (p->f->bs == 3) {
        for (int k = p->begin; k < p->end; k += p->every) factor_row(p, k, 3);
    } else if (p->f->bs == 2) {
        for (int k = p->begin; k < p->end; k += p->every) factor_row(p, k, 2);
    } else if (p->f->bs == 6) {
        for (int k = p->begin; k < p->end; k += p->every) factor_row(p, k, 6);
    } else {
        for (int k = p->begin; k < p->end; k += p->every) factor_row(p, k, p->f->bs);
    }
}

/* ---- factored by a team ---- */

typedef struct shares {
    piece of[RB_TEAM_MOST];
    int members;
} shares;

static void factor_share(void *work, int k)
{
    shares *s = work;
    if (k < s->members) factor_rows(&s->of[k]);
}

static void set_pieces(shares *s, share_kind kind, int begin, int from, int to)
{
    for (int k = 0; k < s->members; k++) {
        piece *p = &s->of[k];
        p->kind = kind;
        p->begin = begin + k;
        p->end = p->f->nb;
        p->every = s->members;
        p->from = from;
        p->to = to;
    }
}

/* Subtrees side by side. Of the rows on top, what subtrees take off them; then panels of them, each
 * finished by one member and taken off the rows after it by all. */
static void factor_shared(rb_block_lu *f, shares *s)
{
    for (int k = 0; k < s->members; k++) {
        s->of[k].begin = f->cut[k];
        s->of[k].end = f->cut[k + 1];
    }
    rb_team_run(f->team, factor_share, s);
    set_pieces(s, OPEN, f->top, 0, f->top);
    rb_team_run(f->team, factor_share, s);
    for (int done = f->top; done < f->nb; done += PANEL) {
        int end = done + PANEL < f->nb ? done + PANEL : f->nb;
        piece *p = &s->of[0];
        p->kind = CLOSE;
        p->begin = p->from = done;
        p->end = p->to = end;
        p->every = 1;
        factor_rows(p);
        set_pieces(s, MORE, end, done, end);
        if (end < f->nb) rb_team_run(f->team, factor_share, s);
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

static int is_factor_shared(const rb_block_lu *f)
{
    return f->dense && rb_block_lu_work(f) >= FACTOR_SHARED;
}

void rb_block_lu_factor(rb_block_lu *f, const double *val)
{
    double largest = largest_of(val, (size_t)f->ptr[f->nb] * (size_t)(f->bs * f->bs));
    pivots met = { RB_EPS * (largest > 0.0 ? largest : 1.0), INFINITY, 0.0, 0 };
    shares s = { .members = is_factor_shared(f) ? rb_team_size(f->team) : 1 };
    for (int k = 0; k < s.members; k++) {
        s.of[k] =
            (piece){ .f = f, .val = val, .met = met, .end = f->nb, .every = 1, .to = INT_MAX };
        s.of[k].row = f->row + k * ((ptrdiff_t)f->nb * f->bs * f->bs + BEYOND);
    }
    if (s.members > 1)
        factor_shared(f, &s);
    else
        factor_rows(&s.of[0]);
    for (int k = 0; k < s.members; k++) {
        met.least = fmin(met.least, s.of[k].met.least);
        met.largest = fmax(met.largest, s.of[k].met.largest);
        met.lifted += s.of[k].met.lifted;
    }
    f->perturbed = met.lifted;
    f->pivot_ratio = met.least / met.largest;
}

/* ---- solution ---- */

/* A part of a solution. */
typedef struct stretch {
    const rb_block_lu *f;
    double *x, *y;
    int part; /* one of the functions below */
} stretch;

/* Row k of L: columns from .. to - 1; the first take x. */
RB_INLINE void forward_row(const stretch *s, int k, int from, int to, int bs)
{
    const rb_block_lu *f = s->f;
    double *y_k = s->y + (ptrdiff_t)k * bs, *from_k = y_k;
    int e = f->lptr[k];
    rb_eight y = { 0 };
    if (from == 0) from_k = s->x + (ptrdiff_t)f->order[k] * bs;
    memcpy(&y, from_k, (size_t)bs * sizeof *y_k);
    while (e < f->lptr[k + 1] && f->lcol[e] < from) e++;
    for (; e < f->lptr[k + 1] && f->lcol[e] < to; e++)
        block_vec_sub(f->lval + (ptrdiff_t)e * bs * bs, s->y + (ptrdiff_t)f->lcol[e] * bs, &y, bs);
    store(&y, y_k, bs);
}

RB_INLINE void backward_row(const stretch *s, int k, int bs)
{
    const rb_block_lu *f = s->f;
    double *y_k = s->y + (ptrdiff_t)k * bs, *x_k = s->x + (ptrdiff_t)f->order[k] * bs;
    rb_eight y = { 0 }, x = { 0 };
    memcpy(&y, y_k, (size_t)bs * sizeof *y_k);
    for (int u = f->uptr[k]; u < f->uptr[k + 1]; u++)
        block_vec_sub(f->ubycol + (ptrdiff_t)u * bs * bs, s->y + (ptrdiff_t)f->ucol[u] * bs, &y,
                      bs);
    store(&y, y_k, bs);
    for (int i = 0; i < bs; i++) y_k[i] = -y_k[i];
    block_vec_sub(f->dcol + (ptrdiff_t)k * bs * bs, y_k, &x, bs);
    store(&x, x_k, bs);
    memcpy(y_k, x_k, (size_t)bs * sizeof *y_k);
}

enum { FORWARD_TREES, FORWARD_ROWS, TOP, BACKWARD_TREES, ALL };

/* Share k of n of a part. x is read before it is written: subtrees read their own. */
RB_INLINE void solve_part(const stretch *s, int k, int n, int bs)
{
    const rb_block_lu *f = s->f;
    int nb = f->nb;
    if (s->part == ALL) {
        for (int i = 0; i < nb; i++) forward_row(s, i, 0, nb, bs);
        for (int i = nb - 1; i >= 0; i--) backward_row(s, i, bs);
    } else if (s->part == FORWARD_TREES) {
        for (int i = f->cut[k]; i < f->cut[k + 1]; i++) forward_row(s, i, 0, nb, bs);
    } else if (s->part == FORWARD_ROWS) {
        for (int i = f->top + k; i < nb; i += n) forward_row(s, i, 0, f->top, bs);
    } else if (s->part == TOP) {
        for (int i = f->top; i < nb; i++) forward_row(s, i, f->top, nb, bs);
        for (int i = nb - 1; i >= f->top; i--) backward_row(s, i, bs);
    } else {
        for (int i = f->cut[k + 1] - 1; i >= f->cut[k]; i--) backward_row(s, i, bs);
    }
}

RB_VECTOR static void solve_share(const stretch *s, int k, int n)
{
    if (s->f->bs == 3)
        solve_part(s, k, n, 3);
    else if (s->f->bs == 2)
        solve_part(s, k, n, 2);
    else if (s->f->bs == 6)
        solve_part(s, k, n, 6);
    else
        solve_part(s, k, n, s->f->bs);
}

static void solve_task(void *work, int k)
{
    const stretch *s = work;
    int n = rb_team_size(s->f->team);
    if (k < n) solve_share(s, k, n);
}

void rb_block_lu_solve(const rb_block_lu *f, double *x, double *work)
{
    stretch s = { f, x, work, ALL };
    int shared = rb_team_size(f->team) > 1 && f->top < f->nb && f->uptr[f->nb] >= SOLVE_SHARED;
    if (!shared) {
        solve_share(&s, 0, 1);
        return;
    }
    s.part = FORWARD_TREES;
    rb_team_run(f->team, solve_task, &s);
    s.part = FORWARD_ROWS;
    rb_team_run(f->team, solve_task, &s);
    s.part = TOP;
    solve_share(&s, 0, 1);
    s.part = BACKWARD_TREES;
    rb_team_run(f->team, solve_task, &s);
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
