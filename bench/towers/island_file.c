#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "towers.h"

enum { MAGIC = 0x52425431, HEAD = 6 }; /* RBT1 */

static int put(FILE *f, const void *from, size_t size, size_t n)
{
    return fwrite(from, size, n, f) == n;
}

static size_t minv_size(const rb_operator *op)
{
    size_t size = 0;
    for (int b = 0; b < op->nblock; b++) {
        size_t k = (size_t)(op->start[b + 1] - op->start[b]);
        size += k * k;
    }
    return size;
}

int towers_write(const char *path, const rb_problem *p)
{
    const rb_operator *op = p->W.op;
    FILE *f = fopen(path, "wb");
    if (!f) return 1;
    size_t n = (size_t)p->n, entries = (size_t)op->jptr[p->n], blocks = (size_t)op->nblock;
    int head[HEAD] = { MAGIC, p->nc, p->n, op->m, op->nblock, op->jptr[p->n] };
    int ok = put(f, head, sizeof *head, HEAD) && put(f, p->mu, sizeof *p->mu, (size_t)p->nc) &&
             put(f, p->q, sizeof *p->q, n) && put(f, op->jptr, sizeof(int), n + 1) &&
             put(f, op->jcol, sizeof(int), entries) && put(f, op->jval, sizeof(double), entries) &&
             put(f, op->start, sizeof(int), blocks + 1) &&
             put(f, op->minv, sizeof(double), minv_size(op));
    return fclose(f) != 0 || !ok;
}

/* An array from the file; NULL: there is none. */
static void *get(FILE *f, size_t size, size_t n)
{
    void *to = malloc(size * (n > 0 ? n : 1));
    if (to && fread(to, size, n, f) == n) return to;
    free(to);
    return NULL;
}

static int read_arrays(FILE *f, const int *head, towers_island *x)
{
    rb_problem *p = &x->problem;
    rb_operator *op = &x->op;
    size_t n = (size_t)head[2], entries = (size_t)head[5];
    *p = (rb_problem){ .kind = RB_CONE, .n = head[2], .nc = head[1], .dim = 3 };
    op->m = head[3];
    op->nblock = head[4];
    if (!(p->mu = get(f, sizeof *p->mu, (size_t)p->nc))) return 0;
    if (!(p->q = get(f, sizeof *p->q, n))) return 0;
    if (!(op->jptr = get(f, sizeof(int), n + 1))) return 0;
    if (!(op->jcol = get(f, sizeof(int), entries))) return 0;
    if (!(op->jval = get(f, sizeof(double), entries))) return 0;
    if (!(op->start = get(f, sizeof(int), (size_t)op->nblock + 1))) return 0;
    if (!(op->minv = get(f, sizeof(double), minv_size(op)))) return 0;
    return 1;
}

int towers_read(const char *path, towers_island *out)
{
    int head[HEAD];
    FILE *f = fopen(path, "rb");
    memset(out, 0, sizeof *out);
    if (!f) return 1;
    int ok = fread(head, sizeof *head, HEAD, f) == HEAD && head[0] == MAGIC && head[1] > 0 &&
             head[2] == 3 * head[1] && head[3] > 0 && head[4] > 0 && head[5] > 0 &&
             read_arrays(f, head, out);
    fclose(f);
    out->problem.W = (rb_matrix){ .form = RB_OPERATOR, .op = &out->op };
    if (!ok) towers_free(out);
    return !ok;
}

void towers_free(towers_island *x)
{
    free((void *)x->problem.mu);
    free((void *)x->problem.q);
    free((void *)x->op.jptr);
    free((void *)x->op.jcol);
    free((void *)x->op.jval);
    free((void *)x->op.start);
    free((void *)x->op.minv);
    memset(x, 0, sizeof *x);
}
