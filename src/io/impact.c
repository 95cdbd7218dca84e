/* Impacts of two rigid bodies: one JSON object per line, the format of docs/manual/impact.md. */
#include <math.h>
#include <string.h>

#include "io/fields.h"
#include "io/lines.h"

/* Length by which a unit vector of a file may be off [1]: six printed digits. */
#define UNIT_SLACK 1e-5

/* Share of the largest entry by which an inverse inertia may miss symmetry and positive
 * eigenvalues [1]. */
#define INERTIA_SLACK 1e-6

struct rb_impact_reader {
    rb_alloc alloc;
    rb_io_lines lines;
};

/* ---- members ----------------------------------------------------------------------------------
 */

static rb_status get_numbers(rb_io_context *ctx, const json_t *object, const char *key, int count,
                             double *out)
{
    double *x = NULL;
    int size = 0;
    rb_status status = rb_io_get_vector(ctx, object, key, &x, &size);
    if (status == RB_OK && size != count)
        status = rb_io_refuse(ctx, RB_BAD_INPUT, key, "%d numbers; expected %d", size, count);
    if (status == RB_OK) memcpy(out, x, (size_t)count * sizeof *out);
    return status;
}

static rb_status get_number(rb_io_context *ctx, const json_t *object, const char *key, double lo,
                            double hi, double *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return rb_io_refuse(ctx, RB_BAD_INPUT, key, "missing; expected a number");
    if (!json_is_number(value))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%s; expected a number", rb_io_kind_of(value));
    *out = json_number_value(value);
    if (*out >= lo && *out <= hi) return RB_OK;
    return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%.17g; expected a number %g .. %g", *out, lo, hi);
}

/* Symmetric, no negative eigenvalue: three diagonal entries, three minors, the determinant. */
static rb_status check_inertia(rb_io_context *ctx, const char *key, double A[9])
{
    double scale = 0.0;
    for (int i = 0; i < 9; i++) scale = fmax(scale, fabs(A[i]));
    if (scale == 0.0) return RB_OK;
    double B[9];
    for (int i = 0; i < 9; i++) B[i] = A[i] / scale;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++) {
            if (fabs(B[3 * i + j] - B[3 * j + i]) > INERTIA_SLACK)
                return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                                    "entries %d,%d and %d,%d differ; expected a symmetric matrix",
                                    i, j, j, i);
            B[3 * i + j] = B[3 * j + i] = 0.5 * (B[3 * i + j] + B[3 * j + i]);
            A[3 * i + j] = A[3 * j + i] = scale * B[3 * i + j];
        }
    double det = B[0] * (B[4] * B[8] - B[5] * B[7]) - B[1] * (B[3] * B[8] - B[5] * B[6]) +
                 B[2] * (B[3] * B[7] - B[4] * B[6]);
    int ok = det >= -INERTIA_SLACK;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        ok = ok && B[4 * i] >= 0.0;
        ok = ok && B[4 * i] * B[4 * j] - B[3 * i + j] * B[3 * j + i] >= -INERTIA_SLACK;
    }
    if (ok) return RB_OK;
    return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                        "has a negative eigenvalue; expected an inverse inertia, zero = fixed");
}

/* Three rows of three. */
static rb_status get_inertia(rb_io_context *ctx, const json_t *object, const char *key,
                             double out[9])
{
    rb_io_matrix A;
    double *dense = NULL;
    rb_status status = rb_io_get_matrix(ctx, object, key, &A);
    if (status != RB_OK) return status;
    if (A.rows != 3 || A.cols != 3 || !A.lines)
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%d x %d; expected three rows of three numbers",
                            A.rows, A.cols);
    status = rb_io_matrix_dense(ctx, &A, &dense);
    if (status != RB_OK) return status;
    memcpy(out, dense, 9 * sizeof *out);
    return check_inertia(ctx, key, out);
}

/* Members of body 1 and 2 end in its number. */
static rb_status get_body(rb_io_context *ctx, const json_t *object, int number, rb_impact_body *b)
{
    char im[8], iI[8], r[8], v[8], w[8];
    snprintf(im, sizeof im, "im%d", number);
    snprintf(iI, sizeof iI, "iI%d", number);
    snprintf(r, sizeof r, "r%d", number);
    snprintf(v, sizeof v, "v%d", number);
    snprintf(w, sizeof w, "w%d", number);
    rb_status status = get_number(ctx, object, im, 0.0, 1e30, &b->im);
    if (status == RB_OK) status = get_inertia(ctx, object, iI, b->iI);
    if (status == RB_OK) status = get_numbers(ctx, object, r, 3, b->r);
    if (status == RB_OK) status = get_numbers(ctx, object, v, 3, b->v);
    if (status == RB_OK) status = get_numbers(ctx, object, w, 3, b->w);
    return status;
}

static rb_status get_normal(rb_io_context *ctx, const json_t *object, double n[3])
{
    rb_status status = get_numbers(ctx, object, "n", 3, n);
    if (status != RB_OK) return status;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(fabs(length - 1.0) <= UNIT_SLACK))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "n", "length %.17g; expected a unit vector", length);
    for (int i = 0; i < 3; i++) n[i] /= length;
    return RB_OK;
}

static rb_status get_law(rb_io_context *ctx, const json_t *object, int *law)
{
    static const char *const words[] = { "poisson", "newton", "stronge" };
    const char *word = NULL;
    rb_status status = rb_io_get_string(ctx, object, "law", &word);
    *law = -1;
    if (status != RB_OK || !word) return status;
    for (int k = 0; k < 3; k++)
        if (strcmp(word, words[k]) == 0) *law = k;
    if (*law >= 0) return RB_OK;
    return rb_io_refuse(ctx, RB_BAD_INPUT, "law", "expected poisson, newton or stronge");
}

static rb_status get_name(rb_io_context *ctx, const json_t *object, rb_impact_entry *entry)
{
    snprintf(entry->name, sizeof entry->name, "line-%d", ctx->line);
    const char *name = NULL;
    rb_status status = rb_io_get_string(ctx, object, "name", &name);
    if (status != RB_OK || !name) return status;
    size_t size = strlen(name);
    if (size >= sizeof entry->name) {
        size = sizeof entry->name - 1;
        while (size > 0 && ((unsigned char)name[size] & 0xC0) == 0x80) size--;
    }
    memcpy(entry->name, name, size);
    entry->name[size] = '\0';
    return RB_OK;
}

static rb_status read_impact(rb_io_context *ctx, const json_t *object, rb_impact_entry *entry)
{
    rb_status status = get_name(ctx, object, entry);
    if (status == RB_OK) status = get_body(ctx, object, 1, &entry->body[0]);
    if (status == RB_OK) status = get_body(ctx, object, 2, &entry->body[1]);
    if (status == RB_OK) status = get_normal(ctx, object, entry->n);
    if (status == RB_OK) status = get_number(ctx, object, "mu", 0.0, 1e30, &entry->mu);
    if (status == RB_OK) status = get_number(ctx, object, "e", 0.0, 1.0, &entry->e);
    if (status == RB_OK) status = get_law(ctx, object, &entry->law);
    if (status == RB_OK && json_object_get(object, "impulse_on_1")) {
        entry->has_answer = 1;
        status = get_numbers(ctx, object, "impulse_on_1", 3, entry->impulse);
    }
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------
 */

rb_status rb_impact_parse(const char *bytes, size_t size, int line, const rb_alloc *alloc,
                          rb_impact_entry *entry, rb_error *err)
{
    rb_io_context ctx = {
        .keep = rb_io_pool_make(alloc), .scratch = rb_io_pool_make(alloc), .line = line, .err = err
    };
    json_t *object = NULL;
    memset(entry, 0, sizeof *entry);
    entry->line = line;
    rb_status status = rb_io_parse_object(&ctx, bytes, size, &object);
    if (status == RB_OK) status = read_impact(&ctx, object, entry);
    json_decref(object);
    rb_io_pool_free(&ctx.scratch);
    rb_io_pool_free(&ctx.keep);
    return status;
}

rb_impact_reader *rb_impact_open(const char *path, const rb_alloc *alloc, rb_error *err)
{
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    rb_impact_reader *r = memory.alloc(memory.ctx, sizeof *r);
    if (!r) {
        rb_io_error_set(err, RB_NOMEM, path, 0, "out of memory for a reader");
        return NULL;
    }
    r->alloc = memory;
    if (rb_io_lines_open(&r->lines, path, &memory, err) == RB_OK) return r;
    memory.release(memory.ctx, r);
    return NULL;
}

void rb_impact_close(rb_impact_reader *r)
{
    if (!r) return;
    rb_io_lines_close(&r->lines);
    r->alloc.release(r->alloc.ctx, r);
}

double rb_impact_progress(const rb_impact_reader *r)
{
    return rb_io_lines_progress(&r->lines);
}

rb_status rb_impact_next(rb_impact_reader *r, rb_impact_entry *entry, int *more, rb_error *err)
{
    const char *text;
    size_t size;
    *more = 1;
    rb_status status = rb_io_lines_next(&r->lines, &text, &size, err);
    if (status != RB_OK) return status;
    *more = text != NULL;
    if (!text) return RB_OK;
    status = rb_impact_parse(text, size, r->lines.line, &r->alloc, entry, err);
    if (status != RB_OK && err) snprintf(err->file, sizeof err->file, "%s", r->lines.path);
    return status;
}
