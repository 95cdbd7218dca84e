#include "solve/cone_part.h"

#include <string.h>

/* Moves block `e` of a row, whose blocks begin at `begin`, to where its column belongs. */
static void sort_in(int *cols, double *vals, int begin, int e, int bb)
{
    double block[9];
    int col = cols[e];
    memcpy(block, vals + (ptrdiff_t)e * bb, (size_t)bb * sizeof *block);
    for (; e > begin && cols[e - 1] > col; e--) {
        cols[e] = cols[e - 1];
        memcpy(vals + (ptrdiff_t)e * bb, vals + (ptrdiff_t)(e - 1) * bb,
               (size_t)bb * sizeof *block);
    }
    cols[e] = col;
    memcpy(vals + (ptrdiff_t)e * bb, block, (size_t)bb * sizeof *block);
}

/* Blocks of the row of contact c that stay. */
static int count_blocks(const rb_cones *all, int c, const int *local)
{
    int n = 0;
    for (int e = all->W.ptr[c]; e < all->W.ptr[c + 1]; e++) n += local[all->W.col[e]] >= 0;
    return n;
}

typedef struct arrays {
    int *ptr, *col, *diag, *contact;
    double *val, *q, *mu, *rho;
} arrays;

static int take_memory(arrays *x, int nc, int blocks, int dim, rb_arena *scratch)
{
    x->ptr = rb_push(scratch, int, nc + 1);
    x->col = rb_push(scratch, int, blocks);
    x->diag = rb_push(scratch, int, nc);
    x->contact = rb_push(scratch, int, nc);
    x->val = rb_push(scratch, double, (size_t)blocks *(size_t)(dim * dim));
    x->q = rb_push(scratch, double, nc *dim);
    x->mu = rb_push(scratch, double, nc);
    x->rho = rb_push(scratch, double, nc);
    return x->ptr && x->col && x->diag && x->contact && x->val && x->q && x->mu && x->rho;
}

/* Row i, which is that of contact c in `all`; returns where the next one begins. */
static int write_row(const rb_cones *all, int c, const int *local, int i, int used, arrays *x)
{
    int bb = all->dim * all->dim;
    x->ptr[i] = used;
    for (int e = all->W.ptr[c]; e < all->W.ptr[c + 1]; e++) {
        int j = local[all->W.col[e]];
        if (j < 0) continue;
        x->col[used] = j;
        memcpy(x->val + (ptrdiff_t)used * bb, all->W.val + (ptrdiff_t)e * bb,
               (size_t)bb * sizeof *x->val);
        sort_in(x->col, x->val, x->ptr[i], used++, bb);
    }
    x->diag[i] = x->ptr[i];
    while (x->col[x->diag[i]] != i) x->diag[i]++;
    return used;
}

rb_status rb_cone_part_make(const rb_cones *all, int nc, const int *contact, int *local,
                            rb_arena *scratch, const double *r, rb_cone_part *out)
{
    int dim = all->dim, blocks = 0, used = 0;
    size_t bytes = (size_t)dim * sizeof(double);
    arrays x;
    for (int i = 0; i < nc; i++) local[contact[i]] = i;
    for (int i = 0; i < nc; i++) blocks += count_blocks(all, contact[i], local);
    out->contact = contact;
    out->r = rb_push(scratch, double, nc *dim);
    if (!out->r || !take_memory(&x, nc, blocks, dim, scratch)) return RB_NOMEM;
    double mean = 0.0;
    for (int i = 0; i < nc; i++) {
        int c = contact[i];
        used = write_row(all, c, local, i, used, &x);
        memcpy(x.q + (ptrdiff_t)i * dim, all->q + (ptrdiff_t)c * dim, bytes);
        memcpy(out->r + (ptrdiff_t)i * dim, r + (ptrdiff_t)c * dim, bytes);
        x.mu[i] = all->mu[c];
        x.rho[i] = all->rho[c];
        x.contact[i] = all->contact ? all->contact[c] : c;
        mean += 1.0 / (x.rho[i] * nc);
    }
    x.ptr[nc] = used;
    out->k = (rb_cones){ .nc = nc,
                         .dim = dim,
                         .n = nc * dim,
                         .diag = x.diag,
                         .q = x.q,
                         .mu = x.mu,
                         .rho = x.rho,
                         .mean = mean,
                         .q_norm = all->q_norm,
                         .op = all->op,
                         .parts = all->parts,
                         .contact = x.contact,
                         .meter = all->meter,
                         .many = nc >= RB_MANY_CONTACTS };
    out->k.W = (rb_matrix){ .form = RB_BSR, .bs = dim, .ptr = x.ptr, .col = x.col, .val = x.val };
    return RB_OK;
}
