#include <math.h>

#include "base/error.h"
#include "math/vector.h"
#include "rattleback/solve.h"
#include "solve/matrix.h"

/* True if all entries are finite: x - x is 0 for finite x and NaN otherwise. Eight sums, because
 * one would wait for itself at every entry. */
RB_VECTOR static int many_finite(const double *x, size_t count)
{
    double sum[8] = { 0.0 };
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int k = 0; k < 8; k++) sum[k] += x[i + (size_t)k] - x[i + (size_t)k];
    }
    for (; i < count; i++) sum[0] += x[i] - x[i];
    double total = 0.0;
    for (int k = 0; k < 8; k++) total += sum[k];
    return total == 0.0;
}

static int all_finite(const double *x, size_t count)
{
    double sum = 0.0;
    if (count > 16) return many_finite(x, count);
    for (size_t i = 0; i < count; i++) sum += x[i] - x[i];
    return sum == 0.0;
}

static size_t first_bad(const double *x, size_t count)
{
    size_t i = 0;
    while (i < count && isfinite(x[i])) i++;
    return i;
}

static rb_status check_vector(const char *name, const double *x, int n, rb_error *err)
{
    if (!x) return rb_fail(err, RB_BAD_INPUT, "%s is missing: expected %d numbers", name, n);
    if (all_finite(x, (size_t)n)) return RB_OK;
    return rb_fail(err, RB_BAD_INPUT, "%s[%zu] is not a finite number", name,
                   first_bad(x, (size_t)n));
}

static rb_status check_values(const char *name, const double *x, size_t count, rb_error *err)
{
    if (!x) return rb_fail(err, RB_BAD_INPUT, "%s: the values are missing", name);
    if (all_finite(x, count)) return RB_OK;
    return rb_fail(err, RB_BAD_INPUT, "%s: stored value %zu is not a finite number", name,
                   first_bad(x, count));
}

/* ptr ascends from 0, columns are in range and ascend in each row. */
static rb_status check_rows(const char *name, const int *ptr, const int *col, int rows, int cols,
                            rb_error *err)
{
    if (!ptr || !col || ptr[0] != 0) {
        return rb_fail(err, RB_BAD_INPUT, "%s: row pointers or columns are missing", name);
    }
    for (int i = 0; i < rows; i++) {
        if (ptr[i + 1] < ptr[i]) {
            return rb_fail(err, RB_BAD_INPUT, "%s: row pointers descend at row %d", name, i);
        }
        for (int e = ptr[i]; e < ptr[i + 1]; e++) {
            if (col[e] >= 0 && col[e] < cols && (e == ptr[i] || col[e] > col[e - 1])) continue;
            return rb_fail(err, RB_BAD_INPUT,
                           "%s: column %d in row %d: expected ascending columns below %d", name,
                           col[e], i, cols);
        }
    }
    return RB_OK;
}

static rb_status check_operator(const rb_operator *op, int n, rb_error *err)
{
    if (!op || op->m < 1 || op->m > RB_MAX_ROWS || op->nblock < 1 || !op->start) {
        return rb_fail(err, RB_BAD_INPUT, "operator: expected 1 to %d degrees of freedom in blocks",
                       RB_MAX_ROWS);
    }
    rb_status status = check_rows("operator J", op->jptr, op->jcol, n, op->m, err);
    if (status == RB_OK) {
        status = check_values("operator J", op->jval, (size_t)op->jptr[n], err);
    }
    if (status != RB_OK) return status;
    size_t entries = 0;
    for (int b = 0; b < op->nblock; b++) {
        int k = op->start[b + 1] - op->start[b];
        if (k < 1) return rb_fail(err, RB_BAD_INPUT, "operator: block %d of Minv is empty", b);
        entries += (size_t)k * (size_t)k;
    }
    if (op->start[0] != 0 || op->start[op->nblock] != op->m) {
        return rb_fail(err, RB_BAD_INPUT, "operator: the blocks of Minv do not cover %d dofs",
                       op->m);
    }
    return check_values("operator Minv", op->minv, entries, err);
}

static rb_status check_matrix(const rb_matrix *W, int n, rb_error *err)
{
    if (W->form == RB_OPERATOR) return check_operator(W->op, n, err);
    if (W->form == RB_DENSE) {
        if (n > RB_MAX_DENSE_ROWS) {
            return rb_fail(err, RB_TOO_LARGE, "%d rows: a dense matrix has at most %d", n,
                           RB_MAX_DENSE_ROWS);
        }
        return check_values("W", W->dense, (size_t)n * (size_t)n, err);
    }
    if (W->form != RB_BSR || W->bs < 1 || n % W->bs != 0) {
        return rb_fail(err, RB_BAD_INPUT, "W: expected a dense, block sparse or operator form");
    }
    rb_status status = check_rows("W", W->ptr, W->col, n / W->bs, n / W->bs, err);
    if (status != RB_OK) return status;
    size_t bs = (size_t)W->bs;
    return check_values("W", W->val, (size_t)W->ptr[n / W->bs] * bs * bs, err);
}

static rb_status check_box(const rb_problem *p, rb_error *err)
{
    if (!p->lo || !p->hi) return rb_fail(err, RB_BAD_INPUT, "lo or hi is missing");
    for (int i = 0; i < p->n; i++) {
        if (p->lo[i] <= p->hi[i] && p->lo[i] < INFINITY && p->hi[i] > -INFINITY) continue;
        return rb_fail(err, RB_BAD_INPUT, "lo[%d] = %g, hi[%d] = %g: expected lo <= hi", i,
                       p->lo[i], i, p->hi[i]);
    }
    return RB_OK;
}

static rb_status check_cone(const rb_problem *p, rb_error *err)
{
    if (p->dim != 2 && p->dim != 3) {
        return rb_fail(err, RB_BAD_INPUT, "dim = %d: expected 2 or 3", p->dim);
    }
    if (p->nc < 1 || p->n != p->nc * p->dim) {
        return rb_fail(err, RB_BAD_INPUT, "%d rows: expected %d per contact, %d contacts", p->n,
                       p->dim, p->nc);
    }
    rb_status status = check_vector("mu", p->mu, p->nc, err);
    if (status != RB_OK) return status;
    for (int c = 0; c < p->nc; c++) {
        if (p->mu[c] >= 0.0) continue;
        return rb_fail(err, RB_BAD_INPUT, "mu[%d] = %g: expected a number >= 0", c, p->mu[c]);
    }
    return RB_OK;
}

rb_status rb_problem_check(const rb_problem *p, rb_error *err)
{
    if (p->n < 1) return rb_fail(err, RB_BAD_INPUT, "n = %d: expected at least one row", p->n);
    if (p->n > RB_MAX_ROWS) {
        return rb_fail(err, RB_TOO_LARGE, "n = %d: at most %d rows", p->n, RB_MAX_ROWS);
    }

    /* every solver of these kinds makes W dense in any form: n^2 numbers */
    if ((p->kind == RB_LCP || p->kind == RB_BOX) && p->n > RB_MAX_DENSE_ROWS) {
        return rb_fail(err, RB_TOO_LARGE,
                       "n = %d: an LCP or a box is solved with a dense matrix of at most %d rows",
                       p->n, RB_MAX_DENSE_ROWS);
    }
    rb_status status = check_matrix(&p->W, p->n, err);
    if (status == RB_OK) status = check_vector("q", p->q, p->n, err);
    if (status != RB_OK) return status;
    if (p->kind == RB_LCP) return RB_OK;
    if (p->kind == RB_BOX) return check_box(p, err);
    if (p->kind == RB_CONE) return check_cone(p, err);
    return rb_fail(err, RB_BAD_INPUT, "kind = %u: expected RB_LCP, RB_BOX or RB_CONE", p->kind);
}

rb_status rb_problem_apply(const rb_problem *p, const double *x, rb_arena *scratch, double *y)
{
    rb_arena *own = NULL;
    if (!scratch && p->W.form == RB_OPERATOR) {
        own = rb_arena_new(NULL, 0);
        if (!own) return RB_NOMEM;
        scratch = own;
    }
    rb_status status = rb_matrix_apply(&p->W, p->n, x, scratch, y);
    rb_arena_free(own);
    return status;
}
