/* Exact friction cones: W dense, block sparse, as an operator, and planar pairs. */
#include "corpus_rows.h"

#include <string.h>

/* What all cone forms share. */
static rb_status start_cone(rb_corpus_problem *out, int dim)
{
    rb_problem *p = &out->problem;
    int nc = out->nc;
    double *q = corpus_take(&out->blocks, (size_t)(dim * nc), sizeof *q);
    if (!q) return RB_NOMEM;
    for (int c = 0; c < nc; c++) memcpy(q + dim * c, out->rows->q + 3 * c, (size_t)dim * sizeof *q);
    p->kind = RB_CONE;
    p->n = dim * nc;
    p->nc = nc;
    p->dim = dim;
    p->mu = out->mu;
    p->q = q;
    return RB_OK;
}

rb_status form_cone(rb_corpus_problem *out)
{
    out->problem.W.form = RB_DENSE;
    out->problem.W.dense = out->W;
    return start_cone(out, 3);
}

rb_status form_cone_2d(rb_corpus_problem *out)
{
    int n = 2 * out->nc, m = 3 * out->nc;
    double *W = corpus_take(&out->blocks, (size_t)n * (size_t)n, sizeof *W);
    if (!W) return RB_NOMEM;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int row = 3 * (i / 2) + i % 2, col = 3 * (j / 2) + j % 2;
            W[(size_t)i * (size_t)n + (size_t)j] = out->W[(size_t)row * (size_t)m + (size_t)col];
        }
    out->problem.W.form = RB_DENSE;
    out->problem.W.dense = W;
    return start_cone(out, 2);
}

static int coupled(const rb_corpus_rows *r, int c, int d)
{
    const int *a = r->row[3 * c].body, *b = r->row[3 * d].body;
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++)
            if (a[p] >= 0 && a[p] == b[q]) return 1;
    return 0;
}

/* Blocks of contacts that share a body. */
rb_status form_cone_bsr(rb_corpus_problem *out)
{
    const rb_corpus_rows *r = out->rows;
    int nc = out->nc, nblk = 0;
    for (int c = 0; c < nc; c++)
        for (int d = 0; d < nc; d++) nblk += coupled(r, c, d);
    int *ptr = corpus_take(&out->blocks, (size_t)nc + 1, sizeof *ptr);
    int *col = corpus_take(&out->blocks, (size_t)nblk, sizeof *col);
    double *val = corpus_take(&out->blocks, (size_t)nblk * 9, sizeof *val);
    if (!ptr || !col || !val) return RB_NOMEM;

    int k = 0;
    for (int c = 0; c < nc; c++) {
        for (int d = 0; d < nc; d++) {
            if (!coupled(r, c, d)) continue;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    val[9 * k + 3 * i + j] = rows_compliance(r, 3 * c + i, 3 * d + j);
                }
            col[k++] = d;
        }
        ptr[c + 1] = k;
    }
    out->problem.W = (rb_matrix){ .form = RB_BSR, .bs = 3, .ptr = ptr, .col = col, .val = val };
    return start_cone(out, 3);
}

/* Minv of one body: the inverse inertia and 1/m on the diagonal. */
static void fill_minv(const scene_body *b, double *block)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) block[6 * i + j] = b->inv_I[3 * i + j];
        block[6 * (3 + i) + 3 + i] = 1.0 / b->mass;
    }
}

rb_status form_cone_operator(rb_corpus_problem *out)
{
    const rb_corpus_rows *r = out->rows;
    int n = 3 * out->nc, nbody = r->s.nbody;
    int *jptr = corpus_take(&out->blocks, (size_t)n + 1, sizeof *jptr);
    int *jcol = corpus_take(&out->blocks, (size_t)n * 12, sizeof *jcol);
    double *jval = corpus_take(&out->blocks, (size_t)n * 12, sizeof *jval);
    int *start = corpus_take(&out->blocks, (size_t)nbody + 1, sizeof *start);
    double *minv = corpus_take(&out->blocks, (size_t)nbody * 36, sizeof *minv);
    rb_operator *op = corpus_take(&out->blocks, 1, sizeof *op);
    if (!jptr || !jcol || !jval || !start || !minv || !op) return RB_NOMEM;

    int k = 0;
    for (int i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++)
            for (int d = 0; d < 6 && r->row[i].body[side] >= 0; d++) {
                jcol[k] = 6 * r->row[i].body[side] + d;
                jval[k++] = r->row[i].coef[side][d];
            }
        jptr[i + 1] = k;
    }
    for (int b = 0; b < nbody; b++) {
        start[b + 1] = 6 * (b + 1);
        fill_minv(&r->s.body[b], minv + (size_t)36 * (size_t)b);
    }
    *op = (rb_operator){ 6 * nbody, jptr, jcol, jval, nbody, start, minv };
    out->problem.W = (rb_matrix){ .form = RB_OPERATOR, .op = op };
    return start_cone(out, 3);
}
