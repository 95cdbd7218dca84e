#include "io/fields.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- the object ------------------------------------------------------------------------------ */

const char *rb_io_kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    default:
        return "null";
    }
}

/* What to do about a line that Jansson refused. */
static const char *advice(enum json_error_code code, const char *text, int bounds)
{
    if (code == json_error_duplicate_key) return "; give every key once";
    if (code == json_error_numeric_overflow)
        return bounds ? "; expected finite numbers, or null for an unbounded lo or hi"
                      : "; expected finite numbers";
    if (strstr(text, "NaN") || strstr(text, "nan") || strstr(text, "nf"))
        return bounds ? "; JSON has no NaN and no Infinity; null is an unbounded lo or hi"
                      : "; JSON has no NaN and no Infinity; expected finite numbers";
    return "; expected one JSON object";
}

/* Whether the line has the key lo or hi of an LCP. */
static int has_bounds(const char *bytes, size_t size)
{
    for (size_t i = 0; i + 4 <= size; i++) {
        if (memcmp(bytes + i, "\"lo\"", 4) == 0 || memcmp(bytes + i, "\"hi\"", 4) == 0) return 1;
    }
    return 0;
}

rb_status rb_io_parse_object(rb_io_context *ctx, const char *bytes, size_t size, json_t **root)
{
    *root = NULL;
    rb_status status = rb_io_scan(ctx, bytes, size);
    if (status != RB_OK) return status;

    /* integers become reals: 1 and 1.0 mean the same here, and 1e20 written out must not overflow
     */
    json_error_t error;
    *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!*root) {
        enum json_error_code code = json_error_code(&error);
        if (code == json_error_out_of_memory)
            return rb_io_refuse(ctx, RB_NOMEM, NULL, "out of memory while parsing");
        if (error.line > 1) ctx->line += error.line - 1;
        return rb_io_refuse(ctx, RB_BAD_INPUT, "line", "not JSON, column %d: %s%s", error.column,
                            error.text, advice(code, error.text, has_bounds(bytes, size)));
    }
    if (!json_is_object(*root))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "line", "%s; expected one JSON object",
                            rb_io_kind_of(*root));
    return RB_OK;
}

/* ---- scalars and vectors ----------------------------------------------------------------------
 */

rb_status rb_io_get_int(rb_io_context *ctx, const json_t *object, const char *key, int lo, int hi,
                        int *out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return RB_OK;
    if (!json_is_number(value))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%s; expected an integer %d .. %d",
                            rb_io_kind_of(value), lo, hi);
    double x = json_number_value(value);
    if (x > hi)
        return rb_io_refuse(ctx, RB_TOO_LARGE, key, "%.17g is over the limit; expected %d .. %d", x,
                            lo, hi);
    if (x < lo || x != floor(x))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%.17g; expected an integer %d .. %d", x, lo,
                            hi);
    *out = (int)x;
    return RB_OK;
}

rb_status rb_io_get_string(rb_io_context *ctx, const json_t *object, const char *key,
                           const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (!value) return RB_OK;
    if (!json_is_string(value))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%s; expected a string", rb_io_kind_of(value));
    *out = json_string_value(value);
    return RB_OK;
}

rb_status rb_io_number_at(rb_io_context *ctx, const json_t *array, const char *key, int index,
                          double *out)
{
    const json_t *value = json_array_get(array, (size_t)index);
    if (json_is_number(value)) {
        *out = json_number_value(value);
        return RB_OK;
    }
    char field[64];
    snprintf(field, sizeof field, "%s[%d]", key, index);
    return rb_io_refuse(ctx, RB_BAD_INPUT, field, "%s; expected a number", rb_io_kind_of(value));
}

static rb_status missing(rb_io_context *ctx, const char *key, const char *expected)
{
    return rb_io_refuse(ctx, RB_BAD_INPUT, key, "missing; expected %s", expected);
}

rb_status rb_io_get_vector(rb_io_context *ctx, const json_t *object, const char *key, double **out,
                           int *size)
{
    const json_t *array = json_object_get(object, key);
    if (!array) return missing(ctx, key, "an array of numbers");
    if (!json_is_array(array))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%s; expected an array of numbers",
                            rb_io_kind_of(array));

    *size = (int)json_array_size(array); /* the scan allows some millions of values */
    *out = rb_io_take_kept(ctx, (size_t)*size, sizeof **out);
    if (!*out) return RB_NOMEM;
    for (int k = 0; k < *size; k++) {
        rb_status status = rb_io_number_at(ctx, array, key, k, &(*out)[k]);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

rb_status rb_io_need_size(rb_io_context *ctx, const char *key, int size, int expected,
                          const char *each)
{
    if (size == expected) return RB_OK;
    return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%d numbers; expected %d, one per %s", size,
                        expected, each);
}

/* ---- matrices ---------------------------------------------------------------------------------
 */

/* An array of equally long arrays. */
static rb_status shape_of_rows(rb_io_context *ctx, const json_t *lines, rb_io_matrix *a)
{
    a->lines = lines;
    a->rows = (int)json_array_size(lines);
    if (a->rows == 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, a->key, "no rows; expected at least one");
    for (int i = 0; i < a->rows; i++) {
        const json_t *row = json_array_get(lines, (size_t)i);
        char field[64];
        snprintf(field, sizeof field, "%s[%d]", a->key, i);
        if (!json_is_array(row))
            return rb_io_refuse(ctx, RB_BAD_INPUT, field, "%s; expected a row, an array of numbers",
                                rb_io_kind_of(row));
        int cols = (int)json_array_size(row);
        if (i == 0) a->cols = cols;
        if (cols != a->cols || cols == 0)
            return rb_io_refuse(ctx, RB_BAD_INPUT, field, "%d numbers; expected %d%s", cols,
                                a->cols ? a->cols : a->rows, i ? " as in row 0" : "");
    }
    return RB_OK;
}

static rb_status triplet_array(rb_io_context *ctx, const json_t *object, const char *key,
                               const char *member, const json_t **out)
{
    *out = json_object_get(object, member);
    if (json_is_array(*out)) return RB_OK;
    char field[64];
    snprintf(field, sizeof field, "%s.%s", key, member);
    return rb_io_refuse(ctx, RB_BAD_INPUT, field, "%s; expected an array of numbers",
                        *out ? rb_io_kind_of(*out) : "missing");
}

/* {"rows":.., "cols":.., "i":[..], "j":[..], "v":[..]} with three equally long arrays. */
static rb_status shape_of_triplets(rb_io_context *ctx, const json_t *object, rb_io_matrix *a)
{
    static const char *const sides[2] = { "rows", "cols" };
    int *const shape[2] = { &a->rows, &a->cols };
    for (int s = 0; s < 2; s++) {
        if (!json_object_get(object, sides[s]))
            return rb_io_refuse(ctx, RB_BAD_INPUT, a->key,
                                "\"%s\" missing; expected rows, cols, "
                                "i, j and v, or an array of rows",
                                sides[s]);
        rb_status status = rb_io_get_int(ctx, object, sides[s], 1, RB_MAX_ROWS, shape[s]);
        if (status != RB_OK) return status;
    }

    static const char *const members[3] = { "i", "j", "v" };
    const json_t **const arrays[3] = { &a->i, &a->j, &a->v };
    for (int s = 0; s < 3; s++) {
        rb_status status = triplet_array(ctx, object, a->key, members[s], arrays[s]);
        if (status != RB_OK) return status;
    }
    size_t count = json_array_size(a->v);
    if (json_array_size(a->i) != count || json_array_size(a->j) != count)
        return rb_io_refuse(ctx, RB_BAD_INPUT, a->key,
                            "i, j, v have %zu, %zu, %zu entries; expected equally many",
                            json_array_size(a->i), json_array_size(a->j), count);
    return RB_OK;
}

rb_status rb_io_get_matrix(rb_io_context *ctx, const json_t *object, const char *key,
                           rb_io_matrix *out)
{
    *out = (rb_io_matrix){ .key = key };
    const json_t *value = json_object_get(object, key);
    if (!value) return missing(ctx, key, "a matrix");
    if (json_is_array(value)) return shape_of_rows(ctx, value, out);
    if (json_is_object(value)) return shape_of_triplets(ctx, value, out);
    return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                        "%s; expected an array of rows, or an object with rows, cols, i, j and v",
                        rb_io_kind_of(value));
}

rb_status rb_io_matrix_dense(rb_io_context *ctx, const rb_io_matrix *a, double **out)
{
    *out = rb_io_take_kept(ctx, (size_t)a->rows * (size_t)a->cols, sizeof **out);
    if (!*out) return RB_NOMEM;
    for (int i = 0; i < a->rows; i++) {
        const json_t *row = json_array_get(a->lines, (size_t)i);
        char field[64];
        snprintf(field, sizeof field, "%s[%d]", a->key, i);
        for (int j = 0; j < a->cols; j++) {
            double *entry = &(*out)[(size_t)i * (size_t)a->cols + (size_t)j];
            rb_status status = rb_io_number_at(ctx, row, field, j, entry);
            if (status != RB_OK) return status;
        }
    }
    return RB_OK;
}

static rb_status take_triplets(rb_io_context *ctx, size_t room, rb_io_triplets *t)
{
    if (room > INT_MAX) return rb_io_refuse(ctx, RB_TOO_LARGE, NULL, "too many matrix entries");
    t->i = rb_io_take_scratch(ctx, room, sizeof *t->i);
    t->j = rb_io_take_scratch(ctx, room, sizeof *t->j);
    t->v = rb_io_take_scratch(ctx, room, sizeof *t->v);
    return t->i && t->j && t->v ? RB_OK : RB_NOMEM;
}

/* An index of triplet k: an integer 0 .. limit-1. */
static rb_status index_at(rb_io_context *ctx, const json_t *array, const char *key, int k,
                          int limit, int *out)
{
    double x;
    rb_status status = rb_io_number_at(ctx, array, key, k, &x);
    if (status != RB_OK) return status;
    if (x < 0.0 || x >= limit || x != floor(x)) {
        char field[64];
        snprintf(field, sizeof field, "%s[%d]", key, k);
        return rb_io_refuse(ctx, RB_BAD_INPUT, field, "%.17g; expected an integer 0 .. %d", x,
                            limit - 1);
    }
    *out = (int)x;
    return RB_OK;
}

static rb_status triplets_from_rows(rb_io_context *ctx, const rb_io_matrix *a, rb_io_triplets *t)
{
    rb_status status = take_triplets(ctx, (size_t)a->rows * (size_t)a->cols, t);
    for (int i = 0; i < a->rows && status == RB_OK; i++) {
        const json_t *row = json_array_get(a->lines, (size_t)i);
        char field[64];
        snprintf(field, sizeof field, "%s[%d]", a->key, i);
        for (int j = 0; j < a->cols && status == RB_OK; j++) {
            double x = 0.0;
            status = rb_io_number_at(ctx, row, field, j, &x);
            if (x == 0.0) continue;
            t->i[t->count] = i;
            t->j[t->count] = j;
            t->v[t->count++] = x;
        }
    }
    return status;
}

rb_status rb_io_matrix_triplets(rb_io_context *ctx, const rb_io_matrix *a, rb_io_triplets *out)
{
    *out = (rb_io_triplets){ .rows = a->rows, .cols = a->cols };
    if (a->lines) return triplets_from_rows(ctx, a, out);

    out->count = (int)json_array_size(a->v);
    rb_status status = take_triplets(ctx, (size_t)out->count, out);
    char keys[3][32];
    for (int s = 0; s < 3; s++) snprintf(keys[s], sizeof keys[s], "%s.%c", a->key, "ijv"[s]);
    for (int k = 0; k < out->count && status == RB_OK; k++) {
        status = index_at(ctx, a->i, keys[0], k, a->rows, &out->i[k]);
        if (status == RB_OK) status = index_at(ctx, a->j, keys[1], k, a->cols, &out->j[k]);
        if (status == RB_OK) status = rb_io_number_at(ctx, a->v, keys[2], k, &out->v[k]);
    }
    return status;
}
