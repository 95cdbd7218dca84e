/* Friction problems, contacts (n, t1, t2) or (n, t):
 *
 *     local     u = W r + q                      W becomes rows of dim x dim blocks
 *     global    M v = H r + f,  u = H'v + w      W = H' M^-1 H,  q = w + H' M^-1 f
 *
 * A global problem becomes an operator: J = H' and the inverse of each coupled block of M. "Minv"
 * in place of "M" gives that inverse directly; it is what rb_problem_write_json writes. */
#include "io/read.h"

#include <math.h>
#include <string.h>

#include "io/fields.h"
#include "io/sparse.h"

/* ---- contacts ----------------------------------------------------------------------------------
 */

/* dim, nc and n from `rows`, the length of q or w, called `key` in messages. */
static rb_status read_contacts(rb_io_context *ctx, const json_t *object, const char *key, int rows,
                               rb_problem *p)
{
    p->dim = 3;
    rb_status status = rb_io_get_int(ctx, object, "dim", 2, 3, &p->dim);
    if (status == RB_OK) status = rb_io_get_int(ctx, object, "nc", 1, RB_MAX_ROWS / 2, &p->nc);
    if (status != RB_OK) return status;

    if (rows > RB_MAX_ROWS || p->nc > RB_MAX_ROWS / p->dim)
        return rb_io_refuse(ctx, RB_TOO_LARGE, p->nc > RB_MAX_ROWS / p->dim ? "nc" : key,
                            "over the limit of %d rows, %d contacts", RB_MAX_ROWS,
                            RB_MAX_ROWS / p->dim);
    if (rows == 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "empty; expected %d numbers per contact",
                            p->dim);
    if (rows % p->dim)
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%d numbers; expected a multiple of dim = %d",
                            rows, p->dim);
    if (p->nc && p->nc * p->dim != rows)
        return rb_io_refuse(ctx, RB_BAD_INPUT, key, "%d numbers; expected nc * dim = %d", rows,
                            p->nc * p->dim);
    p->n = rows;
    p->nc = rows / p->dim;
    return RB_OK;
}

/* One coefficient for all contacts, or one per contact. */
static rb_status read_mu(rb_io_context *ctx, const json_t *object, rb_problem *p)
{
    const json_t *value = json_object_get(object, "mu");
    double *mu = NULL;
    int size = p->nc;
    rb_status status = RB_OK;
    if (json_is_number(value)) {
        mu = rb_io_take_kept(ctx, (size_t)size, sizeof *mu);
        if (!mu) return RB_NOMEM;
        for (int c = 0; c < size; c++) mu[c] = json_number_value(value);
    } else {
        status = rb_io_get_vector(ctx, object, "mu", &mu, &size);
        if (status == RB_OK) status = rb_io_need_size(ctx, "mu", size, p->nc, "contact");
    }
    for (int c = 0; c < p->nc && status == RB_OK; c++)
        if (mu[c] < 0.0)
            status = rb_io_refuse(ctx, RB_BAD_INPUT, "mu",
                                  "contact %d has %.17g; expected a "
                                  "friction coefficient >= 0",
                                  c, mu[c]);
    p->mu = mu;
    return status;
}

static rb_status need_shape(rb_io_context *ctx, const rb_io_matrix *a, int rows, int cols)
{
    if (a->rows == rows && a->cols == cols) return RB_OK;
    return rb_io_refuse(ctx, RB_BAD_INPUT, a->key, "%d x %d; expected %d x %d", a->rows, a->cols,
                        rows, cols);
}

/* ---- local -------------------------------------------------------------------------------------
 */

static rb_status read_local(rb_io_context *ctx, const json_t *object, rb_problem *p)
{
    rb_io_matrix W;
    rb_io_triplets t;
    rb_io_blocks rows = { 0 };
    double *q = NULL;
    int size = 0;
    rb_status status = rb_io_get_vector(ctx, object, "q", &q, &size);
    if (status == RB_OK) status = read_contacts(ctx, object, "q", size, p);
    if (status == RB_OK) status = read_mu(ctx, object, p);
    if (status == RB_OK) status = rb_io_get_matrix(ctx, object, "W", &W);
    if (status == RB_OK) status = need_shape(ctx, &W, p->n, p->n);
    if (status == RB_OK) status = rb_io_matrix_triplets(ctx, &W, &t);
    if (status == RB_OK) status = rb_io_blocks_build(ctx, "W", &t, p->dim, &rows);
    p->q = q;
    p->W = (rb_matrix){
        .form = RB_BSR, .bs = p->dim, .ptr = rows.ptr, .col = rows.col, .val = rows.val
    };
    return status;
}

/* ---- global ------------------------------------------------------------------------------------
 */

/* J = H' by rows, with the columns in the order of the mass blocks. */
static rb_status transpose(rb_io_context *ctx, const rb_io_matrix *H, const rb_io_mass *mass,
                           rb_io_blocks *J)
{
    rb_io_triplets t;
    rb_status status = rb_io_matrix_triplets(ctx, H, &t);
    if (status != RB_OK) return status;
    for (int k = 0; k < t.count; k++) t.i[k] = mass->place[t.i[k]];
    rb_io_triplets flipped = {
        .rows = t.cols, .cols = t.rows, .count = t.count, .i = t.j, .j = t.i, .v = t.v
    };
    return rb_io_blocks_build(ctx, "H", &flipped, 1, J);
}

/* q = w + J Minv f; `w` is overwritten. */
static rb_status add_free_velocity(rb_io_context *ctx, const rb_operator *op,
                                   const rb_io_mass *mass, const double *f, double *w, int n)
{
    double *f_new = rb_io_take_scratch(ctx, (size_t)op->m, sizeof *f_new);
    double *v = rb_io_take_scratch(ctx, (size_t)op->m, sizeof *v);
    if (!f_new || !v) return RB_NOMEM;
    for (int i = 0; i < op->m; i++) f_new[mass->place[i]] = f[i];

    const double *row = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        int first = op->start[b], size = op->start[b + 1] - first;
        for (int i = first; i < first + size; i++, row += size)
            for (int j = 0; j < size; j++) v[i] += row[j] * f_new[first + j];
    }
    for (int i = 0; i < n; i++) {
        double u = 0.0;
        for (int k = op->jptr[i]; k < op->jptr[i + 1]; k++) u += op->jval[k] * v[op->jcol[k]];
        w[i] += u;
        if (!isfinite(w[i]))
            return rb_io_refuse(ctx, RB_BAD_INPUT, "f",
                                "the free velocity of row %d overflows; "
                                "expected smaller forces or larger masses",
                                i);
    }
    return RB_OK;
}

/* The mass matrix under either name. */
static rb_status read_mass(rb_io_context *ctx, const json_t *object, rb_io_mass *mass)
{
    int inverted = json_object_get(object, "Minv") != NULL;
    if (inverted && json_object_get(object, "M"))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "Minv",
                            "given together with M; expected one of them");
    const char *key = inverted ? "Minv" : "M";
    rb_io_matrix M;
    rb_io_triplets t;
    rb_status status = rb_io_get_matrix(ctx, object, key, &M);
    if (status == RB_OK) status = need_shape(ctx, &M, M.rows, M.rows);
    if (status == RB_OK) status = rb_io_matrix_triplets(ctx, &M, &t);
    if (status == RB_OK) status = rb_io_mass_build(ctx, key, &t, inverted, mass);
    return status;
}

static rb_status read_operator(rb_io_context *ctx, const json_t *object, int n, rb_io_mass *mass,
                               rb_operator *op)
{
    rb_io_matrix H;
    rb_io_blocks J = { 0 };
    rb_status status = read_mass(ctx, object, mass);
    if (status == RB_OK) status = rb_io_get_matrix(ctx, object, "H", &H);
    if (status == RB_OK) status = need_shape(ctx, &H, mass->m, n);
    if (status == RB_OK) status = transpose(ctx, &H, mass, &J);
    if (status == RB_OK)
        *op = (rb_operator){ .m = mass->m,
                             .jptr = J.ptr,
                             .jcol = J.col,
                             .jval = J.val,
                             .nblock = mass->nblock,
                             .start = mass->start,
                             .minv = mass->minv };
    return status;
}

static rb_status read_global(rb_io_context *ctx, const json_t *object, rb_problem *p)
{
    rb_operator *op = rb_io_take_kept(ctx, 1, sizeof *op);
    rb_io_mass mass = { 0 };
    double *w = NULL, *f = NULL;
    int size = 0;
    if (!op) return RB_NOMEM;
    rb_status status = rb_io_get_vector(ctx, object, "w", &w, &size);
    if (status == RB_OK) status = read_contacts(ctx, object, "w", size, p);
    if (status == RB_OK) status = read_mu(ctx, object, p);
    if (status == RB_OK) status = read_operator(ctx, object, p->n, &mass, op);

    /* forces may be left out only beside Minv, where w is the free velocity itself */
    int has_force = json_object_get(object, "f") || !json_object_get(object, "Minv");
    if (status == RB_OK && has_force) {
        status = rb_io_get_vector(ctx, object, "f", &f, &size);
        if (status == RB_OK) status = rb_io_need_size(ctx, "f", size, op->m, "row of M");
        if (status == RB_OK) status = add_free_velocity(ctx, op, &mass, f, w, p->n);
    }
    p->q = w;
    p->W = (rb_matrix){ .form = RB_OPERATOR, .op = op };
    return status;
}

rb_status rb_io_read_friction(rb_io_context *ctx, const json_t *object, rb_problem *p)
{
    const char *kind = json_object_get(object, "W") ? "local" : "global";
    if (!json_object_get(object, "W") && !json_object_get(object, "H") &&
        !json_object_get(object, "kind"))
        return rb_io_refuse(ctx, RB_BAD_INPUT, "W",
                            "missing; expected W, q, mu or M, H, f, w, mu%s",
                            json_object_get(object, "M")
                                ? " (problems with M and q are read by: rattleback lcp)"
                                : "");
    rb_status status = rb_io_get_string(ctx, object, "kind", &kind);
    if (status != RB_OK) return status;
    p->kind = RB_CONE;
    if (strcmp(kind, "local") == 0) return read_local(ctx, object, p);
    if (strcmp(kind, "global") == 0) return read_global(ctx, object, p);
    return rb_io_refuse(ctx, RB_BAD_INPUT, "kind", "expected \"local\" or \"global\"");
}
