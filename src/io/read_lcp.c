/* {"n"?, "M", "q", "lo"?, "hi"? | "is_comp"?} -> an LCP, or a boxed problem where a bound differs
 * from 0 .. unbounded. */
#include "io/read.h"

#include <stdint.h>
#include <string.h>
#include <math.h>

#include "io/fields.h"
#include "io/sparse.h"

/* n from the file or from M; M square, q as long. */
static rb_status read_shape(rb_io_context *ctx, const json_t *object, rb_io_matrix *M,
                            rb_problem *p)
{
    int n = 0;
    rb_status status = rb_io_get_int(ctx, object, "n", 1, RB_MAX_DENSE_ROWS, &n);
    if (status != RB_OK) return status;
    if (!json_object_get(object, "M") && json_object_get(object, "W"))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "M",
                            "missing, but there is \"W\"; expected a matrix "
                            "(friction problems are read by: rattleback friction)");
    status = rb_io_get_matrix(ctx, object, "M", M);
    if (status != RB_OK) return status;

    if (M->rows != M->cols)
        return rb_io_refuse(ctx, RB_BAD_INPUT, "M", "%d x %d; expected a square matrix", M->rows,
                            M->cols);
    if (M->rows > RB_MAX_DENSE_ROWS)
        return rb_io_refuse(ctx, RB_TOO_LARGE, "M", "%d rows are over the limit; expected 1 .. %d",
                            M->rows, RB_MAX_DENSE_ROWS);
    if (n && M->rows != n)
        return rb_io_refuse(ctx, RB_BAD_INPUT, "M", "%d rows; expected n = %d", M->rows, n);
    p->n = M->rows;
    return RB_OK;
}

static rb_status read_matrix(rb_io_context *ctx, const rb_io_matrix *M, rb_problem *p)
{
    if (M->lines) {
        double *dense;
        rb_status status = rb_io_matrix_dense(ctx, M, &dense);
        if (status == RB_OK) p->W = (rb_matrix){ .form = RB_DENSE, .dense = dense };
        return status;
    }

    rb_io_triplets t;
    rb_io_blocks rows = { 0 };
    rb_status status = rb_io_matrix_triplets(ctx, M, &t);
    if (status == RB_OK) status = rb_io_blocks_build(ctx, "M", &t, 1, &rows);
    if (status == RB_OK)
        p->W = (rb_matrix){
            .form = RB_BSR, .bs = 1, .ptr = rows.ptr, .col = rows.col, .val = rows.val
        };
    return status;
}

/* ---- bounds ------------------------------------------------------------------------------------
 */

/* One of lo, hi: an array of numbers and nulls, or null for all of them, or left as it is. */
static rb_status read_bound(rb_io_context *ctx, const json_t *object, const char *key,
                            double unbounded, double *bound, int n)
{
    const json_t *array = json_object_get(object, key);
    if (!array) return RB_OK;
    if (json_is_null(array)) {
        for (int i = 0; i < n; i++) bound[i] = unbounded;
        return RB_OK;
    }
    if (!json_is_array(array))
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "expected an array of numbers and nulls");
    rb_status status = rb_io_need_size(ctx, key, (int)json_array_size(array), n, "row of M");
    for (int i = 0; i < n && status == RB_OK; i++) {
        if (json_is_null(json_array_get(array, (size_t)i)))
            bound[i] = unbounded;
        else
            status = rb_io_number_at(ctx, array, key, i, &bound[i]);
    }
    return status;
}

/* is_comp: 0 or false = free variable with an equality row, 1 or true = z >= 0. */
static rb_status read_is_comp(rb_io_context *ctx, const json_t *array, double *lo, int n)
{
    if (!json_is_array(array))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "is_comp", "expected an array of 0 and 1");
    rb_status status = rb_io_need_size(ctx, "is_comp", (int)json_array_size(array), n, "row of M");
    for (int i = 0; i < n && status == RB_OK; i++) {
        const json_t *flag = json_array_get(array, (size_t)i);
        double x = json_is_true(flag) ? 1.0 : json_is_number(flag) ? json_number_value(flag) : -1.0;
        if (json_is_false(flag)) x = 0.0;
        if (x == 0.0) lo[i] = -INFINITY;
        if (x == 0.0 || x == 1.0) continue;
        char field[64];
        snprintf(field, sizeof field, "is_comp[%d]", i);
        status = rb_io_refuse(ctx, RB_BAD_INPUT, field, "expected 0 (free) or 1 (complementary)");
    }
    return status;
}

/* What people write for a bound that they mean, and what would be passed over as a note. */
static const char *meant_by(const char *key)
{
    static const char *const words[][2] = {
        { "l", "lo" },           { "low", "lo" },       { "lower", "lo" },
        { "lb", "lo" },          { "L", "lo" },         { "Lo", "lo" },
        { "LO", "lo" },          { "h", "hi" },         { "u", "hi" },
        { "high", "hi" },        { "upper", "hi" },     { "ub", "hi" },
        { "U", "hi" },           { "Hi", "hi" },        { "HI", "hi" },
        { "iscomp", "is_comp" }, { "comp", "is_comp" }, { "is_comps", "is_comp" },
        { "isComp", "is_comp" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], key) == 0) return words[i][1];
    return NULL;
}

/* Notes are welcome under any other key; a bound that is misspelled would change the problem. */
static rb_status check_keys(rb_io_context *ctx, const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *meant = meant_by(key);
        if (meant && json_is_array(value))
            return rb_io_refuse(ctx, RB_BAD_INPUT, key, "is not known; expected \"%s\"", meant);
    }
    return RB_OK;
}

static rb_status read_bounds(rb_io_context *ctx, const json_t *object, rb_problem *p)
{
    const json_t *is_comp = json_object_get(object, "is_comp");
    int n = p->n, boxed = 0;
    rb_status checked = check_keys(ctx, object);
    if (checked != RB_OK) return checked;
    if (is_comp && (json_object_get(object, "lo") || json_object_get(object, "hi")))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "is_comp",
                            "given together with lo or hi; expected "
                            "one of the two");
    double *lo = rb_io_take_kept(ctx, (size_t)n, sizeof *lo);
    double *hi = rb_io_take_kept(ctx, (size_t)n, sizeof *hi);
    if (!lo || !hi) return RB_NOMEM;
    for (int i = 0; i < n; i++) hi[i] = INFINITY;

    rb_status status = is_comp ? read_is_comp(ctx, is_comp, lo, n)
                               : read_bound(ctx, object, "lo", -INFINITY, lo, n);
    if (status == RB_OK) status = read_bound(ctx, object, "hi", INFINITY, hi, n);
    for (int i = 0; i < n && status == RB_OK; i++) {
        boxed |= lo[i] != 0.0 || hi[i] != INFINITY;
        if (lo[i] > hi[i])
            status = rb_io_refuse(ctx, RB_BAD_INPUT, "lo",
                                  "row %d has lo = %.17g > hi = %.17g; "
                                  "expected lo <= hi",
                                  i, lo[i], hi[i]);
    }
    p->kind = boxed ? RB_BOX : RB_LCP;
    p->lo = boxed ? lo : NULL;
    p->hi = boxed ? hi : NULL;
    return status;
}

rb_status rb_io_read_lcp(rb_io_context *ctx, const json_t *object, rb_problem *p)
{
    rb_io_matrix M;
    double *q = NULL;
    int size = 0;
    rb_status status = read_shape(ctx, object, &M, p);
    if (status == RB_OK) status = rb_io_get_vector(ctx, object, "q", &q, &size);
    if (status == RB_OK) status = rb_io_need_size(ctx, "q", size, p->n, "row of M");
    if (status == RB_OK) status = read_bounds(ctx, object, p);
    if (status == RB_OK) status = read_matrix(ctx, &M, p);
    p->q = q;
    return status;
}
