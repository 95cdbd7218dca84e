/* Triplets to block rows by two stable counting sorts, first by block column, then by block row.
 * Linear time, and equal positions keep the order of the file, so that sums have the same bits
 * everywhere. */
#include "io/sparse.h"

#include <math.h>

/* Stable counting sort of the triplet numbers in `from` by key[k] / bs; `bin` has nbin + 1 zeros.
 */
static void sort_by(const int *key, int bs, const int *from, int count, int nbin, int *bin, int *to)
{
    for (int k = 0; k < count; k++) bin[key[from[k]] / bs + 1]++;
    for (int b = 0; b < nbin; b++) bin[b + 1] += bin[b];
    for (int k = 0; k < count; k++) to[bin[key[from[k]] / bs]++] = from[k];
}

/* The triplet numbers ordered by block row, then block column, then place in the file. */
static int *block_order(rb_io_context *ctx, const rb_io_triplets *t, int bs)
{
    size_t count = (size_t)t->count;
    int *order = rb_io_take_scratch(ctx, count, sizeof *order);
    int *by_col = rb_io_take_scratch(ctx, count, sizeof *by_col);
    int *col_bin = rb_io_take_scratch(ctx, (size_t)(t->cols / bs) + 1, sizeof *col_bin);
    int *row_bin = rb_io_take_scratch(ctx, (size_t)(t->rows / bs) + 1, sizeof *row_bin);
    if (!order || !by_col || !col_bin || !row_bin) return NULL;

    for (int k = 0; k < t->count; k++) order[k] = k;
    sort_by(t->j, bs, order, t->count, t->cols / bs, col_bin, by_col);
    sort_by(t->i, bs, by_col, t->count, t->rows / bs, row_bin, order);
    return order;
}

static int same_block(const rb_io_triplets *t, int bs, int a, int b)
{
    return t->i[a] / bs == t->i[b] / bs && t->j[a] / bs == t->j[b] / bs;
}

rb_status rb_io_blocks_build(rb_io_context *ctx, const char *key, const rb_io_triplets *t, int bs,
                             rb_io_blocks *out)
{
    const int *order = block_order(ctx, t, bs);
    if (!order) return RB_NOMEM;

    int nblk = 0;
    for (int k = 0; k < t->count; k++) nblk += k == 0 || !same_block(t, bs, order[k - 1], order[k]);

    size_t area = (size_t)bs * (size_t)bs;
    out->ptr = rb_io_take_kept(ctx, (size_t)(t->rows / bs) + 1, sizeof *out->ptr);
    out->col = rb_io_take_kept(ctx, (size_t)nblk, sizeof *out->col);
    out->val = rb_io_take_kept(ctx, (size_t)nblk * area, sizeof *out->val);
    if (!out->ptr || !out->col || !out->val) return RB_NOMEM;

    /* add the entries up; ptr[r + 1] counts the blocks of block row r, then becomes their sum */
    int blk = -1;
    for (int k = 0; k < t->count; k++) {
        int e = order[k], i = t->i[e], j = t->j[e];
        if (k == 0 || !same_block(t, bs, order[k - 1], e)) {
            out->col[++blk] = j / bs;
            out->ptr[i / bs + 1]++;
        }
        double *entry = out->val + (size_t)blk * area + (size_t)(i % bs * bs + j % bs);
        *entry += t->v[e];
        if (!isfinite(*entry))
            return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                                "the entries given for (%d, %d) add up to "
                                "no finite number",
                                i, j);
    }
    for (int r = 0; r < t->rows / bs; r++) out->ptr[r + 1] += out->ptr[r];
    return RB_OK;
}
