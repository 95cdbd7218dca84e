/* Complementarity problems in one piece: solved, read and written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rattleback/flat.h"
#include "rattleback/io.h"

static rb_problem whole(const rb_flat_problem *p)
{
    rb_matrix W = { .form = RB_DENSE, .dense = p->dense };
    if (p->bs > 0)
        W = (rb_matrix){ .form = RB_BSR, .bs = p->bs, .ptr = p->ptr, .col = p->col, .val = p->val };
    return (rb_problem){ .kind = p->kind,
                         .n = p->n,
                         .W = W,
                         .q = p->q,
                         .lo = p->kind == RB_BOX ? p->lo : NULL,
                         .hi = p->kind == RB_BOX ? p->hi : NULL,
                         .nc = p->nc,
                         .dim = p->dim,
                         .mu = p->mu };
}

/* The same words as those of the command. */
static rb_status explain(const rb_problem *p, rb_status status, const char *solver, rb_error *err)
{
    if (status == RB_BAD_INPUT && rb_problem_check(p, err) != RB_OK) return status;
    *err = (rb_error){ .status = status };
    if (status == RB_UNSUPPORTED)
        snprintf(err->text, sizeof err->text,
                 "solver %s does not take this kind of problem; expected auto",
                 solver ? solver : "auto");
    else
        snprintf(err->text, sizeof err->text, "%s", rb_status_text(status));
    return status;
}

static rb_status unknown_solver(const char *name, rb_error *err)
{
    *err = (rb_error){ .status = RB_BAD_INPUT };
    int used = snprintf(err->text, sizeof err->text, "solver %s: expected", name);
    for (const rb_solver *const *s = rb_solvers; *s && used < (int)sizeof err->text; s++)
        used += snprintf(err->text + used, sizeof err->text - (size_t)used, "%s %s",
                         s == rb_solvers ? "" : ",", (*s)->name);
    return RB_BAD_INPUT;
}

rb_status rb_flat_solve(const rb_flat_problem *p, const char *solver, double tol, int max_iter,
                        int warm, int unique, double *z, double *w, unsigned char *mode,
                        double *ray, rb_info *info, rb_error *err)
{
    rb_solve_opts opts = rb_solve_opts_default();
    const rb_problem problem = whole(p);
    if (solver) opts.solver = rb_solver_find(solver);
    if (!opts.solver) return unknown_solver(solver, err);
    opts.tol = tol;
    opts.warm = warm;
    opts.unique = unique;
    if (max_iter > 0) opts.max_iter = max_iter;
    *info = (rb_info){ .mode = mode, .ray = ray };
    rb_status status = rb_problem_check(&problem, err);
    if (status != RB_OK) return status;
    status = rb_solve(&problem, &opts, z, info);
    if (status == RB_OK) status = rb_problem_apply(&problem, z, NULL, w);
    if (status != RB_OK) return explain(&problem, status, solver, err);
    for (int i = 0; i < p->n; i++) w[i] += p->q[i];
    return RB_OK;
}

/* ---- files -------------------------------------------------------------------------------------
 */

typedef struct kept {
    rb_problem_entry *entry;
    double *dense; /* an operator multiplied out, or NULL */
} kept;

void *rb_flat_problem_open(const char *path, int friction, rb_error *err)
{
    return rb_problem_open(path, friction ? RB_FORMAT_FRICTION : RB_FORMAT_LCP, NULL, err);
}

void rb_flat_problem_close(void *reader)
{
    rb_problem_close(reader);
}

void rb_flat_problem_free(void *entry)
{
    kept *k = entry;
    if (!k) return;
    rb_problem_entry_free(k->entry);
    free(k->dense);
    free(k);
}

/* Column by column: W e_j. */
static double *multiply_out(const rb_problem *p)
{
    size_t n = (size_t)p->n;
    double *W = malloc(n * n * sizeof *W + 1), *x = calloc(2 * n + 1, sizeof *x);
    rb_status status = W && x ? RB_OK : RB_NOMEM;
    for (size_t j = 0; j < n && status == RB_OK; j++) {
        x[j] = 1.0;
        status = rb_problem_apply(p, x, NULL, x + n);
        for (size_t i = 0; i < n; i++) W[i * n + j] = x[n + i];
        x[j] = 0.0;
    }
    free(x);
    if (status == RB_OK) return W;
    free(W);
    return NULL;
}

static rb_status flatten(kept *k, rb_flat_problem *out)
{
    const rb_problem *p = &k->entry->problem;
    *out = (rb_flat_problem){ .kind = p->kind,
                              .n = p->n,
                              .nc = p->nc,
                              .dim = p->dim,
                              .line = k->entry->line,
                              .q = p->q,
                              .lo = p->lo,
                              .hi = p->hi,
                              .mu = p->mu,
                              .name = k->entry->name,
                              .expected = k->entry->expected,
                              .dense = p->W.dense };
    if (p->W.form == RB_BSR) {
        out->bs = p->W.bs;
        out->nptr = p->n / p->W.bs + 1;
        out->nblk = p->W.ptr[out->nptr - 1];
        out->nval = out->nblk * out->bs * out->bs;
        out->ptr = p->W.ptr;
        out->col = p->W.col;
        out->val = p->W.val;
    } else if (p->W.form == RB_OPERATOR) {
        if (p->n > RB_MAX_DENSE_ROWS) return RB_TOO_LARGE;
        out->dense = k->dense = multiply_out(p);
        if (!k->dense) return RB_NOMEM;
    }
    return RB_OK;
}

rb_status rb_flat_problem_next(void *reader, rb_flat_problem *out, void **entry, rb_error *err)
{
    kept *k = calloc(1, sizeof *k);
    *entry = NULL;
    if (!k) return RB_NOMEM;
    rb_status status = rb_problem_next(reader, &k->entry, err);
    if (status == RB_OK && k->entry) status = flatten(k, out);
    if (status != RB_OK || !k->entry) {
        rb_flat_problem_free(k);
        return status;
    }
    *entry = k;
    return RB_OK;
}

rb_status rb_flat_problem_write(const char *path, int append, const rb_flat_problem *p,
                                rb_error *err)
{
    const rb_problem problem = whole(p);
    rb_status status = rb_problem_check(&problem, err);
    if (status != RB_OK) return status;
    FILE *out = fopen(path, append ? "a" : "w");
    if (out) {
        status = rb_problem_write_json(out, p->name, &problem, NULL, err);
        if (fclose(out) == 0) return status;
    }
    *err = (rb_error){ .status = RB_FILE };
    snprintf(err->file, sizeof err->file, "%s", path);
    snprintf(err->text, sizeof err->text, "cannot be written: %s", strerror(errno));
    return RB_FILE;
}
