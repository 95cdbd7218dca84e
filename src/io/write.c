/* Problems as JSON lines; the reader gives the same bits back. */
#include <math.h>
#include <string.h>

#include "io/context.h"

/* ---- JSON --------------------------------------------------------------------------------------
 */

void rb_json_put_number(FILE *out, double x)
{
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    char digits[40];
    snprintf(digits, sizeof digits, "%.17g", x);
    char *comma = strchr(digits, ','); /* a locale may have set the decimal point */
    if (comma) *comma = '.';
    fputs(digits, out);
}

void rb_json_put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            fprintf(out, "\\u%04x", c);
        else
            putc(c, out);
    }
    putc('"', out);
}

static void put_key(FILE *out, const char *key)
{
    fprintf(out, ",\"%s\":", key);
}

static void put_vector(FILE *out, const char *key, const double *x, int n)
{
    put_key(out, key);
    for (int i = 0; i < n; i++) {
        putc(i ? ',' : '[', out);
        rb_json_put_number(out, x[i]);
    }
    putc(']', out);
}

static void put_rows(FILE *out, const char *key, const double *A, int n)
{
    put_key(out, key);
    for (int i = 0; i < n; i++) {
        putc(i ? ',' : '[', out);
        for (int j = 0; j < n; j++) {
            putc(j ? ',' : '[', out);
            rb_json_put_number(out, A[(size_t)i * (size_t)n + (size_t)j]);
        }
        putc(']', out);
    }
    putc(']', out);
}

/* ---- sparse matrices ---------------------------------------------------------------------------
 */

/* Walks the entries of a matrix; the triplet arrays i, j, v are three walks. */
typedef struct walk {
    FILE *out;
    char part; /* 'i', 'j' or 'v' */
    int begun;
} walk;

static void put_entry(walk *w, int i, int j, double v)
{
    putc(w->begun ? ',' : '[', w->out);
    w->begun = 1;
    if (w->part == 'v')
        rb_json_put_number(w->out, v);
    else
        fprintf(w->out, "%d", w->part == 'i' ? i : j);
}

typedef void visit_entries(const void *matrix, walk *w);

static void put_triplets(FILE *out, const char *key, int rows, int cols, visit_entries *visit,
                         const void *matrix)
{
    put_key(out, key);
    fprintf(out, "{\"rows\":%d,\"cols\":%d", rows, cols);
    for (const char *part = "ijv"; *part; part++) {
        walk w = { .out = out, .part = *part };
        fprintf(out, ",\"%c\":", *part);
        visit(matrix, &w);
        fputs(w.begun ? "]" : "[]", out);
    }
    putc('}', out);
}

/* Every entry of every block, zeros too: the pattern is part of the problem. */
static void visit_blocks(const void *matrix, walk *w)
{
    const rb_problem *p = matrix;
    int bs = p->W.bs;
    for (int r = 0; r < p->n / bs; r++)
        for (int k = p->W.ptr[r]; k < p->W.ptr[r + 1]; k++)
            for (int e = 0; e < bs * bs; e++)
                put_entry(w, r * bs + e / bs, p->W.col[k] * bs + e % bs,
                          p->W.val[(size_t)k * (size_t)(bs * bs) + (size_t)e]);
}

/* H = J', row by row of J. */
static void visit_jacobian(const void *matrix, walk *w)
{
    const rb_problem *p = matrix;
    const rb_operator *op = p->W.op;
    for (int i = 0; i < p->n; i++)
        for (int k = op->jptr[i]; k < op->jptr[i + 1]; k++)
            put_entry(w, op->jcol[k], i, op->jval[k]);
}

static void visit_inverse_mass(const void *matrix, walk *w)
{
    const rb_problem *p = matrix;
    const rb_operator *op = p->W.op;
    const double *entry = op->minv;
    for (int b = 0; b < op->nblock; b++)
        for (int i = op->start[b]; i < op->start[b + 1]; i++)
            for (int j = op->start[b]; j < op->start[b + 1]; j++) put_entry(w, i, j, *entry++);
}

/* ---- problems ----------------------------------------------------------------------------------
 */

/* W times unit vectors, column by column. */
static rb_status multiply_out(const rb_problem *p, rb_io_pool *pool, double **dense)
{
    size_t n = (size_t)p->n;
    double *x = rb_io_pool_take(pool, n, sizeof *x);
    double *y = rb_io_pool_take(pool, n, sizeof *y);
    *dense = rb_io_pool_take(pool, n * n, sizeof **dense);
    rb_arena *scratch = rb_arena_new(&pool->alloc, 0);
    rb_status status = x && y && *dense && scratch ? RB_OK : RB_NOMEM;
    for (size_t j = 0; j < n && status == RB_OK; j++) {
        x[j] = 1.0;
        status = rb_problem_apply(p, x, scratch, y);
        x[j] = 0.0;
        for (size_t i = 0; i < n; i++) (*dense)[i * n + j] = y[i];
    }
    rb_arena_free(scratch);
    return status;
}

static rb_status put_lcp(FILE *out, const rb_problem *p, const rb_alloc *alloc)
{
    rb_io_pool pool = rb_io_pool_make(alloc);
    double *dense = NULL;
    if (p->W.form == RB_OPERATOR && multiply_out(p, &pool, &dense) != RB_OK) {
        rb_io_pool_free(&pool);
        return RB_NOMEM;
    }
    fprintf(out, ",\"n\":%d", p->n);
    if (p->W.form == RB_BSR)
        put_triplets(out, "M", p->n, p->n, visit_blocks, p);
    else
        put_rows(out, "M", dense ? dense : p->W.dense, p->n);
    put_vector(out, "q", p->q, p->n);
    if (p->kind == RB_BOX) {
        put_vector(out, "lo", p->lo, p->n);
        put_vector(out, "hi", p->hi, p->n);
    }
    rb_io_pool_free(&pool);
    return RB_OK;
}

static void put_friction(FILE *out, const rb_problem *p)
{
    fprintf(out, ",\"kind\":\"%s\",\"dim\":%d,\"nc\":%d",
            p->W.form == RB_OPERATOR ? "global" : "local", p->dim, p->nc);
    put_vector(out, "mu", p->mu, p->nc);
    if (p->W.form == RB_OPERATOR) {
        put_triplets(out, "Minv", p->W.op->m, p->W.op->m, visit_inverse_mass, p);
        put_triplets(out, "H", p->W.op->m, p->n, visit_jacobian, p);
        put_vector(out, "w", p->q, p->n);
        return;
    }
    if (p->W.form == RB_BSR)
        put_triplets(out, "W", p->n, p->n, visit_blocks, p);
    else
        put_rows(out, "W", p->W.dense, p->n);
    put_vector(out, "q", p->q, p->n);
}

rb_status rb_problem_write_json(FILE *out, const char *name, const rb_problem *p,
                                const rb_alloc *alloc, rb_error *err)
{
    rb_status status = rb_problem_check(p, err);
    if (status != RB_OK) return status;
    fputs("{\"name\":", out);
    rb_json_put_string(out, name);
    if (p->kind == RB_CONE)
        put_friction(out, p);
    else
        status = put_lcp(out, p, alloc);
    if (status != RB_OK) return rb_io_error_set(err, status, NULL, 0, "out of memory");
    fputs("}\n", out);
    if (fflush(out) != 0 || ferror(out))
        return rb_io_error_set(err, RB_FILE, NULL, 0, "the problem could not be written");
    return RB_OK;
}
