#include "solve/matrix.h"

#include <limits.h>
#include <string.h>

#include "base/sort.h"
#include "math/dense.h"

/* ---- apply ----------------------------------------------------------------------------------- */

static void apply_bsr(const rb_matrix *W, int n, const double *x, double *y)
{
    int bs = W->bs, nb = n / bs;
    for (int i = 0; i < nb; i++) {
        double *y_i = y + (ptrdiff_t)i * bs;
        for (int r = 0; r < bs; r++) y_i[r] = 0.0;
        for (int e = W->ptr[i]; e < W->ptr[i + 1]; e++) {
            const double *B = W->val + (ptrdiff_t)e * bs * bs;
            const double *x_j = x + (ptrdiff_t)W->col[e] * bs;
            for (int r = 0; r < bs; r++) {
                double sum = 0.0;
                for (int c = 0; c < bs; c++) sum += B[r * bs + c] * x_j[c];
                y_i[r] += sum;
            }
        }
    }
}

/* y = J (Minv (J' x)) */
static rb_status apply_operator(const rb_operator *op, int n, const double *x, rb_arena *scratch,
                                double *y)
{
    rb_mark mark = rb_arena_mark(scratch);
    double *f = rb_push(scratch, double, op->m), *v = rb_push(scratch, double, op->m);
    if (!f || !v) return RB_NOMEM;
    memset(f, 0, (size_t)op->m * sizeof *f);
    for (int i = 0; i < n; i++) {
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) f[op->jcol[e]] += op->jval[e] * x[i];
    }
    const double *B = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        int s = op->start[b], k = op->start[b + 1] - s;
        rb_gemv(B, k, k, k, f + s, v + s);
        B += (ptrdiff_t)k * k;
    }
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) sum += op->jval[e] * v[op->jcol[e]];
        y[i] = sum;
    }
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

rb_status rb_matrix_apply(const rb_matrix *W, int n, const double *x, rb_arena *scratch, double *y)
{
    switch (W->form) {
    case RB_DENSE:
        rb_gemv(W->dense, n, n, n, x, y);
        return RB_OK;
    case RB_BSR:
        apply_bsr(W, n, x, y);
        return RB_OK;
    case RB_OPERATOR:
        return apply_operator(W->op, n, x, scratch, y);
    }
    return RB_BAD_INPUT;
}

/* ---- the operator seen from its blocks of Minv ------------------------------------------------
 */

/* Which rows of J touch which block of Minv: rows of block b are row[ptr[b]] .. (ascending, each
 * once). */
typedef struct touch {
    int *ptr, *row;
} touch;

static rb_status find_touch(const rb_operator *op, int n, rb_arena *scratch, touch *t)
{
    int *block_of = rb_push(scratch, int, op->m), *last = rb_push(scratch, int, op->nblock);
    t->ptr = rb_push(scratch, int, op->nblock + 1);
    if (!block_of || !last || !t->ptr) return RB_NOMEM;
    for (int b = 0; b < op->nblock; b++) {
        for (int d = op->start[b]; d < op->start[b + 1]; d++) block_of[d] = b;
    }
    memset(t->ptr, 0, (size_t)(op->nblock + 1) * sizeof *t->ptr);
    for (int pass = 0; pass < 2; pass++) {
        for (int b = 0; b < op->nblock; b++) last[b] = -1;
        for (int i = 0; i < n; i++) {
            for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) {
                int b = block_of[op->jcol[e]];
                if (last[b] == i) continue;
                last[b] = i;
                if (pass == 0)
                    t->ptr[b + 1]++;
                else
                    t->row[t->ptr[b]++] = i;
            }
        }
        if (pass == 0) {
            for (int b = 0; b < op->nblock; b++) t->ptr[b + 1] += t->ptr[b];
            t->row = rb_push(scratch, int, t->ptr[op->nblock]);
            if (!t->row) return RB_NOMEM;
        }
    }
    /* the filling pass moved every ptr[b] to the end of b: move them back */
    for (int b = op->nblock; b > 0; b--) t->ptr[b] = t->ptr[b - 1];
    t->ptr[0] = 0;
    return RB_OK;
}

/* out[d] = row i of J restricted to block b */
static void gather_row(const rb_operator *op, int i, int b, double *out)
{
    int s = op->start[b], end = op->start[b + 1];
    memset(out, 0, (size_t)(end - s) * sizeof *out);
    for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) {
        if (op->jcol[e] >= s && op->jcol[e] < end) out[op->jcol[e] - s] += op->jval[e];
    }
}

/* Where W_ij of block b of Minv is added: a visitor, so that dense and BSR share the product. */
typedef void add_entry(void *to, int i, int j, double w);

static rb_status expand_operator(const rb_operator *op, int n, rb_arena *scratch, add_entry *add,
                                 void *to)
{
    touch t;
    if (find_touch(op, n, scratch, &t) != RB_OK) return RB_NOMEM;
    const double *B = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        int k = op->start[b + 1] - op->start[b], rows = t.ptr[b + 1] - t.ptr[b];
        const int *row = t.row + t.ptr[b];
        rb_mark mark = rb_arena_mark(scratch);
        double *J = rb_push(scratch, double, (size_t)rows *(size_t)k);
        double *y = rb_push(scratch, double, k);
        if (!J || !y) return RB_NOMEM;
        for (int r = 0; r < rows; r++) gather_row(op, row[r], b, J + (ptrdiff_t)r * k);
        for (int c = 0; c < rows; c++) {
            rb_gemv(B, k, k, k, J + (ptrdiff_t)c * k, y);
            for (int r = 0; r < rows; r++) {
                add(to, row[r], row[c], rb_dot(J + (ptrdiff_t)r * k, y, k));
            }
        }
        rb_arena_reset(scratch, mark);
        B += (ptrdiff_t)k * k;
    }
    return RB_OK;
}

/* ---- dense ----------------------------------------------------------------------------------- */

typedef struct dense_target {
    double *A;
    int n;
} dense_target;

static void add_dense(void *to, int i, int j, double w)
{
    dense_target *d = to;
    d->A[(ptrdiff_t)i * d->n + j] += w;
}

rb_status rb_matrix_to_dense(const rb_matrix *W, int n, rb_arena *scratch, double *A)
{
    if (W->form == RB_DENSE) {
        memcpy(A, W->dense, (size_t)n * (size_t)n * sizeof *A);
        return RB_OK;
    }
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    if (W->form == RB_OPERATOR) {
        dense_target to = { A, n };
        rb_mark mark = rb_arena_mark(scratch);
        rb_status status = expand_operator(W->op, n, scratch, add_dense, &to);
        rb_arena_reset(scratch, mark);
        return status;
    }
    int bs = W->bs;
    for (int i = 0; i < n / bs; i++) {
        for (int e = W->ptr[i]; e < W->ptr[i + 1]; e++) {
            for (int r = 0; r < bs; r++) {
                double *A_r = A + (ptrdiff_t)(i * bs + r) * n + (ptrdiff_t)W->col[e] * bs;
                memcpy(A_r, W->val + ((ptrdiff_t)e * bs + r) * bs, (size_t)bs * sizeof *A_r);
            }
        }
    }
    return RB_OK;
}

const double *rb_matrix_dense(const rb_matrix *W, int n, rb_arena *scratch)
{
    if (W->form == RB_DENSE) return W->dense;
    double *A = rb_push(scratch, double, (size_t)n *(size_t)n);
    if (!A || rb_matrix_to_dense(W, n, scratch, A) != RB_OK) return NULL;
    return A;
}

/* ---- the pattern in blocks ---------------------------------------------------------------------
 */

typedef void visit_pair(void *ctx, int i, int j);

static void dense_pairs(const double *A, int n, int bs, visit_pair *visit, void *ctx)
{
    for (int i = 0; i < n / bs; i++) {
        for (int j = 0; j < n / bs; j++) {
            int found = 0;
            for (int r = 0; r < bs && !found; r++) {
                const double *A_r = A + (ptrdiff_t)(i * bs + r) * n + (ptrdiff_t)j * bs;
                for (int c = 0; c < bs; c++) found |= A_r[c] != 0.0;
            }
            if (found) visit(ctx, i, j);
        }
    }
}

static void bsr_pairs(const rb_matrix *W, int n, int bs, visit_pair *visit, void *ctx)
{
    for (int i = 0; i < n / W->bs; i++) {
        for (int e = W->ptr[i]; e < W->ptr[i + 1]; e++) {
            const double *B = W->val + (ptrdiff_t)e * W->bs * W->bs;
            if (W->bs == bs) {
                visit(ctx, i, W->col[e]);
                continue;
            }
            for (int k = 0; k < W->bs * W->bs; k++) {
                if (B[k] == 0.0) continue;
                visit(ctx, (i * W->bs + k / W->bs) / bs, (W->col[e] * W->bs + k % W->bs) / bs);
            }
        }
    }
}

static rb_status operator_pairs(const rb_operator *op, int n, int bs, rb_arena *scratch,
                                visit_pair *visit, void *ctx)
{
    touch t;
    if (find_touch(op, n, scratch, &t) != RB_OK) return RB_NOMEM;
    for (int b = 0; b < op->nblock; b++) {
        for (int r = t.ptr[b]; r < t.ptr[b + 1]; r++) {
            int i = t.row[r] / bs;
            if (r > t.ptr[b] && t.row[r - 1] / bs == i) continue;
            for (int c = t.ptr[b]; c < t.ptr[b + 1]; c++) {
                int j = t.row[c] / bs;
                if (c == t.ptr[b] || t.row[c - 1] / bs != j) visit(ctx, i, j);
            }
        }
    }
    return RB_OK;
}

/* Visits every pair of blocks that W couples, possibly more than once. */
static rb_status for_pairs(const rb_matrix *W, int n, int bs, rb_arena *scratch, visit_pair *visit,
                           void *ctx)
{
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = RB_OK;
    if (W->form == RB_DENSE)
        dense_pairs(W->dense, n, bs, visit, ctx);
    else if (W->form == RB_BSR)
        bsr_pairs(W, n, bs, visit, ctx);
    else
        status = operator_pairs(W->op, n, bs, scratch, visit, ctx);
    rb_arena_reset(scratch, mark);
    return status;
}

/* ---- islands -----------------------------------------------------------------------------------
 */

static int find_root(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* The smaller index becomes the root: labels do not depend on the order of the visits. */
static void unite(void *ctx, int i, int j)
{
    int *parent = ctx;
    int a = find_root(parent, i), b = find_root(parent, j);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

int rb_matrix_islands(const rb_matrix *W, int n, int bs, rb_arena *scratch, int *label)
{
    int nb = n / bs, count = 0;
    for (int i = 0; i < nb; i++) label[i] = i;
    if (for_pairs(W, n, bs, scratch, unite, label) != RB_OK) return -1;
    for (int i = 0; i < nb; i++) label[i] = find_root(label, i);
    for (int i = 0; i < nb; i++) label[i] = label[i] == i ? -1 - count++ : label[label[i]];
    for (int i = 0; i < nb; i++) label[i] = -1 - label[i];
    return count;
}

/* ---- block sparse ------------------------------------------------------------------------------
 */

typedef struct pair_list {
    size_t *end; /* count of pairs per row, then the fill position (nb + 1) */
    int *col;    /* NULL while counting */
} pair_list;

static void collect_pair(void *ctx, int i, int j)
{
    pair_list *l = ctx;
    if (l->col) {
        l->col[l->end[i]++] = j;
        if (i != j) l->col[l->end[j]++] = i;
    } else {
        l->end[i]++;
        if (i != j) l->end[j]++;
    }
}

/* ptr, col of the symmetrised pattern with its diagonal, each row ascending and unique. */
static rb_status make_pattern(const rb_matrix *W, int n, int bs, rb_arena *scratch, int **ptr_out,
                              int **col_out)
{
    int nb = n / bs;
    int *ptr = rb_push(scratch, int, nb + 1), *seen = rb_push(scratch, int, nb);
    pair_list list = { rb_push(scratch, size_t, nb + 1), NULL };
    if (!ptr || !seen || !list.end) return RB_NOMEM;
    for (int i = 0; i < nb; i++) list.end[i] = 1;
    if (for_pairs(W, n, bs, scratch, collect_pair, &list) != RB_OK) return RB_NOMEM;
    size_t total = 0;
    for (int i = 0; i < nb; i++) {
        size_t count = list.end[i];
        list.end[i] = total;
        total += count;
    }
    if (total > INT_MAX / (size_t)(bs * bs)) return RB_TOO_LARGE;
    list.col = rb_push(scratch, int, total);
    if (!list.col) return RB_NOMEM;
    for (int i = 0; i < nb; i++) list.col[list.end[i]++] = i;
    if (for_pairs(W, n, bs, scratch, collect_pair, &list) != RB_OK) return RB_NOMEM;

    /* unique and ascending, packed in place */
    int used = 0;
    size_t from = 0;
    for (int i = 0; i < nb; i++) seen[i] = -1;
    for (int i = 0; i < nb; i++) {
        ptr[i] = used;
        for (; from < list.end[i]; from++) {
            int j = list.col[from];
            if (seen[j] == i) continue;
            seen[j] = i;
            list.col[used++] = j;
        }
        rb_sort_ints(list.col + ptr[i], used - ptr[i]);
    }
    ptr[nb] = used;
    *ptr_out = ptr;
    *col_out = list.col;
    return RB_OK;
}

typedef struct bsr_target {
    const int *ptr, *col;
    double *val;
    int bs;
} bsr_target;

static int find_entry(const bsr_target *t, int i, int j)
{
    int lo = t->ptr[i], hi = t->ptr[i + 1] - 1;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (t->col[mid] < j)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void add_bsr(void *to, int i, int j, double w)
{
    bsr_target *t = to;
    int e = find_entry(t, i / t->bs, j / t->bs);
    t->val[((ptrdiff_t)e * t->bs + i % t->bs) * t->bs + j % t->bs] += w;
}

static void fill_from_dense(const double *A, int n, bsr_target *t)
{
    int bs = t->bs;
    for (int i = 0; i < n / bs; i++) {
        for (int e = t->ptr[i]; e < t->ptr[i + 1]; e++) {
            for (int r = 0; r < bs; r++) {
                memcpy(t->val + ((ptrdiff_t)e * bs + r) * bs,
                       A + (ptrdiff_t)(i * bs + r) * n + (ptrdiff_t)t->col[e] * bs,
                       (size_t)bs * sizeof *A);
            }
        }
    }
}

static void fill_from_bsr(const rb_matrix *W, int n, bsr_target *t)
{
    int bs = W->bs;
    for (int i = 0; i < n / bs; i++) {
        for (int e = W->ptr[i]; e < W->ptr[i + 1]; e++) {
            const double *B = W->val + (ptrdiff_t)e * bs * bs;
            if (bs == t->bs) {
                double *to = t->val + (ptrdiff_t)find_entry(t, i, W->col[e]) * bs * bs;
                for (int k = 0; k < bs * bs; k++) to[k] += B[k];
                continue;
            }
            for (int k = 0; k < bs * bs; k++) {
                if (B[k] != 0.0) add_bsr(t, i * bs + k / bs, W->col[e] * bs + k % bs, B[k]);
            }
        }
    }
}

rb_status rb_matrix_to_bsr(const rb_matrix *W, int n, int bs, rb_arena *scratch, rb_matrix *out)
{
    int *ptr, *col;
    rb_status status = make_pattern(W, n, bs, scratch, &ptr, &col);
    if (status != RB_OK) return status;
    size_t entries = (size_t)ptr[n / bs] * (size_t)(bs * bs);
    bsr_target t = { ptr, col, rb_push(scratch, double, entries), bs };
    if (!t.val) return RB_NOMEM;
    memset(t.val, 0, entries * sizeof *t.val);
    if (W->form == RB_DENSE)
        fill_from_dense(W->dense, n, &t);
    else if (W->form == RB_BSR)
        fill_from_bsr(W, n, &t);
    else
        status = expand_operator(W->op, n, scratch, add_bsr, &t);
    *out = (rb_matrix){ .form = RB_BSR, .bs = bs, .ptr = ptr, .col = col, .val = t.val };
    return status;
}
