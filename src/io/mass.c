/* The inverse of a mass matrix, one group of coupled degrees of freedom at a time.
 *
 * Two dofs are coupled where M has an entry for the pair; the groups are the connected components,
 * found by union-find. Each block is factored, P A = L U with partial pivoting, and the columns of
 * the inverse are solved for. LU and not Cholesky, because theta schemes with gyroscopic terms give
 * an M that is not symmetric; an exactly symmetric block gets an exactly symmetric inverse. */
#include "io/sparse.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- groups ------------------------------------------------------------------------------------
 */

static int root_of(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Numbers the groups by their least dof and keeps the order of the dofs inside a group. */
static rb_status group(rb_io_context *ctx, const rb_io_triplets *M, rb_io_mass *mass)
{
    int m = M->rows;
    int *parent = rb_io_take_scratch(ctx, (size_t)m, sizeof *parent);
    int *label = rb_io_take_scratch(ctx, (size_t)m, sizeof *label);
    int *next = rb_io_take_scratch(ctx, (size_t)m, sizeof *next);
    mass->place = rb_io_take_scratch(ctx, (size_t)m, sizeof *mass->place);
    mass->start = rb_io_take_kept(ctx, (size_t)m + 1, sizeof *mass->start);
    if (!parent || !label || !next || !mass->place || !mass->start) return RB_NOMEM;

    /* the smaller root wins, so that a root is the least dof of its group */
    for (int i = 0; i < m; i++) parent[i] = i;
    for (int k = 0; k < M->count; k++) {
        int a = root_of(parent, M->i[k]), b = root_of(parent, M->j[k]);
        if (a < b) parent[b] = a;
        if (b < a) parent[a] = b;
    }

    mass->m = m;
    mass->nblock = 0;
    for (int i = 0; i < m; i++) {
        int root = root_of(parent, i);
        if (root == i) label[i] = mass->nblock++;
        mass->start[label[root] + 1]++;
    }
    for (int b = 0; b < mass->nblock; b++) {
        mass->start[b + 1] += mass->start[b];
        next[b] = mass->start[b];
    }
    for (int i = 0; i < m; i++) mass->place[i] = next[label[root_of(parent, i)]]++;
    return RB_OK;
}

/* Sum of the squares of the group sizes, refused over the budget. */
static rb_status block_entries(rb_io_context *ctx, const char *key, const rb_io_mass *mass,
                               size_t *entries)
{
    *entries = 0;
    for (int b = 0; b < mass->nblock; b++) {
        size_t size = (size_t)(mass->start[b + 1] - mass->start[b]);
        if (size > RB_IO_MAX_MASS_BLOCK)
            return rb_io_refuse(ctx, RB_TOO_LARGE, key,
                                "couples %zu degrees of freedom, the limit "
                                "is %d; give the condensed W and q",
                                size, RB_IO_MAX_MASS_BLOCK);
        *entries += size * size;
    }
    if (*entries > RB_IO_MAX_MASS)
        return rb_io_refuse(ctx, RB_TOO_LARGE, key,
                            "its inverse has %zu entries, the limit is "
                            "%zu; give the condensed W and q",
                            *entries, RB_IO_MAX_MASS);
    return RB_OK;
}

/* ---- one block ---------------------------------------------------------------------------------
 */

/* The row with the largest entry of column c from the diagonal down, or -1 where there is no usable
 * pivot. A pivot counts as zero below k eps of the largest entry of its column, U's part included:
 * the rounding that elimination leaves there, in any units of the column. */
static int pivot_row(const double *A, int k, int c)
{
    double above = 0.0, largest = 0.0;
    int best = -1;
    for (int i = 0; i < k; i++) {
        double size = fabs(A[(size_t)i * (size_t)k + (size_t)c]);
        if (i < c) {
            above = fmax(above, size);
        } else if (size > largest) {
            largest = size;
            best = i;
        }
    }
    return largest > k * DBL_EPSILON * above ? best : -1;
}

static void swap_rows(double *A, int k, int *perm, int a, int b)
{
    if (a == b) return;
    double *A_a = A + (size_t)a * (size_t)k, *A_b = A + (size_t)b * (size_t)k;
    for (int j = 0; j < k; j++) {
        double held = A_a[j];
        A_a[j] = A_b[j];
        A_b[j] = held;
    }
    int held = perm[a];
    perm[a] = perm[b];
    perm[b] = held;
}

/* P A = L U in place, row i of the result is row perm[i] of A. Returns the first column without a
 * usable pivot, or -1. */
static int lu_factor(double *A, int k, int *perm)
{
    for (int i = 0; i < k; i++) perm[i] = i;
    for (int c = 0; c < k; c++) {
        int best = pivot_row(A, k, c);
        if (best < 0) return c;
        swap_rows(A, k, perm, c, best);

        const double *pivot = A + (size_t)c * (size_t)k;
        for (int i = c + 1; i < k; i++) {
            double *row = A + (size_t)i * (size_t)k;
            double factor = row[c] / pivot[c];
            row[c] = factor;
            if (factor == 0.0) continue;
            for (int j = c + 1; j < k; j++) row[j] -= factor * pivot[j];
        }
    }
    return -1;
}

/* X = A^-1 from the factors: L Y = P I, then U X = Y, all columns at once, row by row. */
static void lu_inverse(const double *LU, int k, const int *perm, double *X)
{
    size_t n = (size_t)k;
    memset(X, 0, n * n * sizeof *X);
    for (size_t i = 0; i < n; i++) {
        double *X_i = X + i * n;
        X_i[perm[i]] = 1.0;
        for (size_t c = 0; c < i; c++) {
            double factor = LU[i * n + c];
            const double *X_c = X + c * n;
            if (factor == 0.0) continue;
            for (size_t j = 0; j < n; j++) X_i[j] -= factor * X_c[j];
        }
    }
    for (size_t i = n; i-- > 0;) {
        double *X_i = X + i * n;
        for (size_t c = i + 1; c < n; c++) {
            double factor = LU[i * n + c];
            const double *X_c = X + c * n;
            if (factor == 0.0) continue;
            for (size_t j = 0; j < n; j++) X_i[j] -= factor * X_c[j];
        }
        for (size_t j = 0; j < n; j++) X_i[j] /= LU[i * n + i];
    }
}

static int is_symmetric(const double *A, int k)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++)
            if (A[(size_t)i * (size_t)k + (size_t)j] != A[(size_t)j * (size_t)k + (size_t)i])
                return 0;
    return 1;
}

static void symmetrise(double *A, int k)
{
    for (int i = 0; i < k; i++)
        for (int j = 0; j < i; j++) {
            double *lower = &A[(size_t)i * (size_t)k + (size_t)j];
            double *upper = &A[(size_t)j * (size_t)k + (size_t)i];
            *lower = *upper = 0.5 * *lower + 0.5 * *upper;
        }
}

/* ---- all blocks --------------------------------------------------------------------------------
 */

/* Entries of M into the blocks; `offset` is where block b begins. */
static void scatter(const rb_io_triplets *M, const rb_io_mass *mass, const size_t *offset,
                    const int *block_of, double *blocks)
{
    for (int k = 0; k < M->count; k++) {
        int i = mass->place[M->i[k]], j = mass->place[M->j[k]];
        int b = block_of[i], first = mass->start[b];
        size_t size = (size_t)(mass->start[b + 1] - first);
        blocks[offset[b] + (size_t)(i - first) * size + (size_t)(j - first)] += M->v[k];
    }
}

/* The dof of the file at a new position, for messages. */
static int dof_at(const rb_io_mass *mass, int position)
{
    for (int i = 0; i < mass->m; i++)
        if (mass->place[i] == position) return i;
    return -1;
}

static rb_status invert(rb_io_context *ctx, const char *key, const rb_io_mass *mass, int b,
                        double *A, int *perm, double *X)
{
    int size = mass->start[b + 1] - mass->start[b];
    int symmetric = is_symmetric(A, size);
    int bad = lu_factor(A, size, perm);
    if (bad >= 0)
        return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                            "singular at degree of freedom %d; expected an "
                            "invertible mass matrix",
                            dof_at(mass, mass->start[b] + bad));
    lu_inverse(A, size, perm, X);
    if (symmetric) symmetrise(X, size);
    return RB_OK;
}

static rb_status check_finite(rb_io_context *ctx, const char *key, const double *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(x[k]))
            return rb_io_refuse(ctx, RB_BAD_INPUT, key,
                                "its entries or those of its inverse "
                                "overflow; expected a well scaled mass matrix");
    return RB_OK;
}

rb_status rb_io_mass_build(rb_io_context *ctx, const char *key, const rb_io_triplets *M,
                           int inverted, rb_io_mass *out)
{
    size_t entries = 0;
    rb_status status = group(ctx, M, out);
    if (status == RB_OK) status = block_entries(ctx, key, out, &entries);
    if (status != RB_OK) return status;

    size_t *offset = rb_io_take_scratch(ctx, (size_t)out->nblock + 1, sizeof *offset);
    int *block_of = rb_io_take_scratch(ctx, (size_t)out->m, sizeof *block_of);
    int *perm = rb_io_take_scratch(ctx, (size_t)out->m, sizeof *perm);
    out->minv = rb_io_take_kept(ctx, entries, sizeof *out->minv);
    double *blocks = inverted ? out->minv : rb_io_take_scratch(ctx, entries, sizeof *blocks);
    if (!offset || !block_of || !perm || !out->minv || !blocks) return RB_NOMEM;

    for (int b = 0; b < out->nblock; b++) {
        size_t size = (size_t)(out->start[b + 1] - out->start[b]);
        offset[b + 1] = offset[b] + size * size;
        for (int i = out->start[b]; i < out->start[b + 1]; i++) block_of[i] = b;
    }
    scatter(M, out, offset, block_of, blocks);
    status = check_finite(ctx, key, blocks, entries);
    for (int b = 0; b < out->nblock && status == RB_OK && !inverted; b++)
        status = invert(ctx, key, out, b, blocks + offset[b], perm, out->minv + offset[b]);
    if (status == RB_OK) status = check_finite(ctx, key, out->minv, entries);
    return status;
}
