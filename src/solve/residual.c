/* Certificates. Nothing here is shared with the solvers: not the product W z, not the projection,
 * not a tolerance. Equations (C.5), (C.8) to (C.10) of docs/theory/complementarity.md. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "math/lanes.h"
#include "math/vector.h"
#include "rattleback/solve.h"

/* Relative residuals between these [1] may be rounding of the product W z, and are measured again
 * with twice the digits. Below, an answer is good unless rounding alone is larger; above, it is bad
 * however it is measured. */
#define DOUBT_FROM 1e-10
#define DOUBT_TO   1e-4

/* Share of the residual that a bound of rounding may have where they are not [1]. */
#define DOUBT_SHARE 1e-3

/* ---- w = W z + q, with the diagonal and the largest entry on the way ---------------------------
 */

typedef struct product {
    double *w;      /* W z + q                        (n) */
    double *diag;   /* W_ii                           (n) */
    double largest; /* max |W_ij| (operator: of the diagonal, where a semidefinite W has it) */
} product;

/* Four entries of a row: their products, and how large they are. */
RB_INLINE void look_at_four(const double *a, const double *x, rb_lanes *sum, rb_lanes *most)
{
    rb_lanes entry, z;
    rb_lanes_load(a, &entry);
    rb_lanes_load(x, &z);
    rb_lanes_add(sum, &entry, &z);
    rb_lanes_largest(most, &entry);
}

/* y = A x and max |a_ij|, in eight strands that do not wait for each other. */
RB_VECTOR static double dense_product(const double *A, const double *x, int n, double *y)
{
    rb_lanes most[2] = { { 0.0 }, { 0.0 } };
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const double *a = A + (ptrdiff_t)i * n;
        rb_lanes low = { 0.0 }, high = { 0.0 };
        double sum[8];
        int j = 0;
        for (; j + 8 <= n; j += 8) {
            look_at_four(a + j, x + j, &low, &most[0]);
            look_at_four(a + j + 4, x + j + 4, &high, &most[1]);
        }
        if (j + 4 <= n) look_at_four(a + j, x + j, &low, &most[0]);
        rb_lanes_store(&low, sum);
        rb_lanes_store(&high, sum + 4);
        for (int k = j + 4 <= n ? 4 : 0; j + k < n; k++) {
            double size = fabs(a[j + k]);
            sum[k] += a[j + k] * x[j + k];
            largest = size > largest ? size : largest;
        }
        y[i] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
    double m[8];
    rb_lanes_store(&most[0], m);
    rb_lanes_store(&most[1], m + 4);
    for (int k = 0; k < 8; k++) largest = m[k] > largest ? m[k] : largest;
    return largest;
}

/* The same of one contact: less than one strand. */
static double product_3(const double *A, const double *x, double *y)
{
    double largest = 0.0;
    for (int i = 0; i < 9; i++) largest = fabs(A[i]) > largest ? fabs(A[i]) : largest;
    for (int i = 0; i < 3; i++, A += 3) y[i] = (A[0] * x[0] + A[1] * x[1]) + A[2] * x[2];
    return largest;
}

static void multiply_dense(const rb_problem *p, const double *z, product *out)
{
    out->largest =
        p->n == 3 ? product_3(p->W.dense, z, out->w) : dense_product(p->W.dense, z, p->n, out->w);
    for (int i = 0; i < p->n; i++) {
        out->w[i] += p->q[i];
        out->diag[i] = p->W.dense[(ptrdiff_t)i * (p->n + 1)];
    }
}

static void multiply_blocks(const rb_problem *p, const double *z, product *out)
{
    int bs = p->W.bs;
    for (int row = 0; row < p->n; row++) {
        double sum = 0.0, diag = 0.0;
        int i = row / bs, r = row % bs;
        for (int e = p->W.ptr[i]; e < p->W.ptr[i + 1]; e++) {
            const double *B = p->W.val + ((ptrdiff_t)e * bs + r) * bs;
            int j = p->W.col[e] * bs;
            for (int c = 0; c < bs; c++) {
                sum += B[c] * z[j + c];
                out->largest = fmax(out->largest, fabs(B[c]));
            }
            if (p->W.col[e] == i) diag = B[r];
        }
        out->w[row] = sum + p->q[row];
        out->diag[row] = diag;
    }
}

/* J_i Minv J_i' for one row, by its own double loop. */
static double operator_diagonal(const rb_operator *op, int i, const ptrdiff_t *offset,
                                const int *block_of)
{
    double sum = 0.0;
    for (int first = op->jptr[i], end = first; first < op->jptr[i + 1]; first = end) {
        int b = block_of[op->jcol[first]], s = op->start[b], k = op->start[b + 1] - s;
        while (end < op->jptr[i + 1] && op->jcol[end] < s + k) end++; /* columns ascend */
        for (int a = first; a < end; a++) {
            const double *row = op->minv + offset[b] + (ptrdiff_t)(op->jcol[a] - s) * k;
            for (int e = first; e < end; e++)
                sum += op->jval[a] * op->jval[e] * row[op->jcol[e] - s];
        }
    }
    return sum;
}

static rb_status multiply_operator(const rb_problem *p, const double *z, rb_arena *scratch,
                                   product *out)
{
    const rb_operator *op = p->W.op;
    double *f = rb_push(scratch, double, op->m), *v = rb_push(scratch, double, op->m);
    int *block_of = rb_push(scratch, int, op->m);
    ptrdiff_t *offset = rb_push(scratch, ptrdiff_t, op->nblock + 1);
    if (!f || !v || !block_of || !offset) return RB_NOMEM;
    memset(f, 0, (size_t)op->m * sizeof *f);
    for (int i = 0; i < p->n; i++) {
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) f[op->jcol[e]] += op->jval[e] * z[i];
    }
    offset[0] = 0;
    for (int b = 0; b < op->nblock; b++) {
        int s = op->start[b], k = op->start[b + 1] - s;
        for (int r = 0; r < k; r++) {
            double sum = 0.0;
            for (int c = 0; c < k; c++)
                sum += op->minv[offset[b] + (ptrdiff_t)r * k + c] * f[s + c];
            v[s + r] = sum;
            block_of[s + r] = b;
        }
        offset[b + 1] = offset[b] + (ptrdiff_t)k * k;
    }
    for (int i = 0; i < p->n; i++) {
        double sum = 0.0;
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) sum += op->jval[e] * v[op->jcol[e]];
        out->w[i] = sum + p->q[i];
        out->diag[i] = operator_diagonal(op, i, offset, block_of);
        out->largest = fmax(out->largest, fabs(out->diag[i]));
    }
    return RB_OK;
}

static rb_status multiply(const rb_problem *p, const double *z, rb_arena *scratch, product *out)
{
    out->w = rb_push(scratch, double, 2 * (size_t)p->n);
    out->largest = 0.0;
    if (!out->w) return RB_NOMEM;
    out->diag = out->w + p->n;
    if (p->W.form == RB_OPERATOR) return multiply_operator(p, z, scratch, out);
    if (p->W.form == RB_DENSE)
        multiply_dense(p, z, out);
    else
        multiply_blocks(p, z, out);
    return RB_OK;
}

/* ---- w again, with twice the digits -------------------------------------------------------------
 *
 * Where impulses of 1e4 on light bodies cancel down to velocities of 1e-6, rounding of the sums in
 * double is larger than what is to be measured. */

typedef struct wide {
    double sum, rest; /* the number is sum + rest */
} wide;

/* x + a y, y = y_sum + y_rest: the product and the sum with their rounding errors. */
static wide add_product(wide x, double a, wide y)
{
    const double half = 134217729.0; /* 2^27 + 1 cuts a double in two */
    double a1 = half * a - (half * a - a), a2 = a - a1;
    double y1 = half * y.sum - (half * y.sum - y.sum), y2 = y.sum - y1;
    double p = a * y.sum, s = x.sum + p, t = s - x.sum;
    double lost = ((a1 * y1 - p) + a1 * y2 + a2 * y1) + a2 * y2;
    double rest = ((x.sum - (s - t)) + (p - t)) + (lost + a * y.rest + x.rest);
    double total = s + rest;
    return (wide){ total, rest - (total - s) };
}

static void repeat_rows(const rb_problem *p, const double *z, double *w)
{
    int bs = p->W.form == RB_BSR ? p->W.bs : p->n;
    for (int row = 0; row < p->n; row++) {
        wide sum = { p->q[row], 0.0 };
        int i = row / bs, first = p->W.form == RB_BSR ? p->W.ptr[i] : 0;
        int beyond = p->W.form == RB_BSR ? p->W.ptr[i + 1] : 1;
        const double *all = p->W.form == RB_BSR ? p->W.val : p->W.dense;
        for (int e = first; e < beyond; e++) {
            const double *B = all + ((ptrdiff_t)e * bs + row % bs) * bs;
            const double *x = z + (p->W.form == RB_BSR ? (ptrdiff_t)p->W.col[e] * bs : 0);
            for (int c = 0; c < bs; c++) sum = add_product(sum, B[c], (wide){ x[c], 0.0 });
        }
        w[row] = sum.sum;
    }
}

static rb_status repeat_operator(const rb_problem *p, const double *z, rb_arena *scratch, double *w)
{
    const rb_operator *op = p->W.op;
    wide *f = rb_push(scratch, wide, op->m), *v = rb_push(scratch, wide, op->m);
    if (!f || !v) return RB_NOMEM;
    memset(f, 0, (size_t)op->m * sizeof *f);
    for (int i = 0; i < p->n; i++) {
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) {
            f[op->jcol[e]] = add_product(f[op->jcol[e]], op->jval[e], (wide){ z[i], 0.0 });
        }
    }
    const double *minv = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        for (int r = op->start[b]; r < op->start[b + 1]; r++) {
            v[r] = (wide){ 0.0, 0.0 };
            for (int c = op->start[b]; c < op->start[b + 1]; c++) {
                v[r] = add_product(v[r], *minv++, f[c]);
            }
        }
    }
    for (int i = 0; i < p->n; i++) {
        wide sum = { p->q[i], 0.0 };
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) {
            sum = add_product(sum, op->jval[e], v[op->jcol[e]]);
        }
        w[i] = sum.sum;
    }
    return RB_OK;
}

static rb_status repeat(const rb_problem *p, const double *z, rb_arena *scratch, double *w)
{
    if (p->W.form == RB_OPERATOR) return repeat_operator(p, z, scratch, w);
    repeat_rows(p, z, w);
    return RB_OK;
}

static double max_abs(const double *x, int n)
{
    double m = 0.0;
    for (int i = 0; i < n; i++) {
        double size = x[i] == x[i] ? fabs(x[i]) : INFINITY;
        m = size > m ? size : m;
    }
    return m;
}

/* ---- LCP and box --------------------------------------------------------------------------------
 */

/* Comparisons instead of fmin and fmax, which would be calls: a third of the certificate of a small
 * problem. Where an argument is not a number the first one is returned. */
static double least(double a, double b)
{
    return b < a ? b : a;
}

static double most(double a, double b)
{
    return b > a ? b : a;
}

static double median(double a, double b, double c)
{
    return most(least(a, b), least(most(a, b), c));
}

/* One row, (C.8), (C.9) and its share of the other figures. */
static void grade_row(double z, double w, double lo, double hi, double diag, rb_certificate *cert)
{
    double natural = w == w ? fabs(median(z - lo, w, z - hi)) : INFINITY;
    double speed = natural;
    if (diag > 0.0) {
        double moved = z - w / diag;
        speed = fabs(moved < lo ? diag * (z - lo) : moved > hi ? diag * (z - hi) : w);
    }
    cert->residual = most(cert->residual, natural);
    cert->velocity = most(cert->velocity, speed);
    cert->min_z = least(cert->min_z, least(z - lo, hi - z));

    /* w must not be negative unless z is at hi, not positive unless z is at lo; any w is right
     * where lo = hi */
    int upper = hi < INFINITY && hi - z < z - lo;
    if (lo == hi)
        cert->min_w = least(cert->min_w, 0.0);
    else if (lo == -INFINITY && hi == INFINITY)
        cert->min_w = least(cert->min_w, -fabs(w));
    else
        cert->min_w = least(cert->min_w, upper ? -w : w);
    double slack = upper ? hi - z : z - lo;
    if (slack < INFINITY) cert->gap += fabs(slack * w);
}

static void grade_rows(const rb_problem *p, const double *z, const product *prod,
                       rb_certificate *cert)
{
    for (int i = 0; i < p->n; i++) {
        double lo = p->kind == RB_BOX ? p->lo[i] : 0.0;
        double hi = p->kind == RB_BOX ? p->hi[i] : INFINITY;
        grade_row(z[i], prod->w[i], lo, hi, prod->diag[i], cert);
    }
    double z_max = fmax(1.0, max_abs(z, p->n));
    cert->scale = fmax(fmax(1.0, max_abs(p->q, p->n)), prod->largest * z_max);
}

/* ---- cones
 * --------------------------------------------------------------------------------------- */

static double tangent_norm(const double *x, int dim)
{
    return dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

/* |r - P_K(x)|^2 of one contact with x = r - d, d = rho (u + mu |u_t| n), (C.10). Where the nearest
 * point is not the tip, x = P_K(x) + N with N outside the cone, so that r - P_K(x) = d + N: large
 * impulses do not swallow d. */
static double natural_square(const double *r, const double *u, double mu, int dim, double rho)
{
    double d[3] = { 0.0 }, x[3] = { 0.0 }, sum = 0.0;
    for (int k = 0; k < dim; k++) d[k] = rho * u[k];
    d[0] += rho * mu * tangent_norm(u, dim);
    for (int k = 0; k < dim; k++) x[k] = r[k] - d[k];

    double t = tangent_norm(x, dim), n = x[0];
    int inside = n >= 0.0 && t <= mu * n; /* n < 0 passes the second where mu = 0 */
    if (!inside && n + mu * t <= 0.0) {
        for (int k = 0; k < dim; k++) sum += r[k] * r[k];
        return sum;
    }
    double out = inside ? 0.0 : (t - mu * n) / (1.0 + mu * mu);
    double miss = d[0] - mu * out;
    sum = miss * miss;
    for (int k = 1; k < dim; k++) {
        miss = d[k] + (out > 0.0 ? out * x[k] / t : 0.0);
        sum += miss * miss;
    }
    return sum;
}

static void grade_contacts(const rb_problem *p, const double *r, const product *prod,
                           rb_certificate *cert)
{
    double sum = 0.0, q_square = 0.0;
    for (int c = 0; c < p->nc; c++) {
        const double *r_c = r + (ptrdiff_t)c * p->dim, *u_c = prod->w + (ptrdiff_t)c * p->dim;
        double mu = p->mu[c], mean = 0.0;
        for (int k = 0; k < p->dim; k++) mean += prod->diag[c * p->dim + k] / p->dim;
        sum += natural_square(r_c, u_c, mu, p->dim, 1.0);
        double speed = mean > 0.0 ? mean : 1.0;
        double local = sqrt(natural_square(r_c, u_c, mu, p->dim, 1.0 / speed));
        cert->velocity = fmax(cert->velocity, speed * local);
        cert->min_z = fmin(cert->min_z, fmin(r_c[0], mu * r_c[0] - tangent_norm(r_c, p->dim)));
        cert->min_w = fmin(cert->min_w, u_c[0]);
        double work = r_c[0] * mu * tangent_norm(u_c, p->dim);
        for (int k = 0; k < p->dim; k++) work += r_c[k] * u_c[k];
        cert->gap += fabs(work);
    }
    for (int i = 0; i < p->n; i++) q_square += p->q[i] * p->q[i];
    cert->residual = sqrt(sum);
    cert->scale = q_square > 0.0 ? sqrt(q_square) : 1.0;
}

/* ---- the certificate
 * ------------------------------------------------------------------------------ */

static void grade(const rb_problem *p, const double *z, const product *prod, rb_certificate *cert)
{
    *cert = (rb_certificate){ .min_z = INFINITY, .min_w = INFINITY };
    if (p->kind == RB_CONE)
        grade_contacts(p, z, prod, cert);
    else
        grade_rows(p, z, prod, cert);
    if (!(max_abs(z, p->n) < INFINITY) || cert->residual != cert->residual) {
        cert->residual = INFINITY;
    }

    /* where products overflow, a residual over an infinite scale would look like a solution */
    cert->relative = cert->scale < INFINITY ? cert->residual / cert->scale : INFINITY;
}

/* A bound of what rounding may have added to the residual of a cone problem: the product once more
 * with all signs positive, times the operations in a sum, |dw| <= g eps |J| |Minv| |J|' |z|; the
 * natural map moves by at most 2 + mu times as much. INFINITY: no memory, or not known. */
static double rounding_bound(const rb_problem *p, const double *z, rb_arena *scratch)
{
    const rb_operator *op = p->W.op;
    if (p->W.form != RB_OPERATOR || p->kind != RB_CONE) return INFINITY;
    double *f = rb_push(scratch, double, 3 * (size_t)op->m), *v = f + op->m, *deg = v + op->m;
    if (!f) return INFINITY;
    memset(f, 0, 3 * (size_t)op->m * sizeof *f);
    for (int i = 0; i < p->n; i++) {
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++) {
            f[op->jcol[e]] += fabs(op->jval[e] * z[i]);
            deg[op->jcol[e]] += 1.0;
        }
    }
    const double *minv = op->minv;
    for (int b = 0; b < op->nblock; b++) {
        for (int r = op->start[b]; r < op->start[b + 1]; r++) {
            for (int c = op->start[b]; c < op->start[b + 1]; c++) {
                double entry = fabs(*minv++);
                v[r] += entry * (deg[c] + 2.0) * f[c];
            }
            v[r] *= op->start[b + 1] - op->start[b] + 2.0;
        }
    }
    double sum = 0.0, mu = 0.0;
    for (int i = 0; i < p->n; i++) {
        double row = fabs(p->q[i]);
        for (int e = op->jptr[i]; e < op->jptr[i + 1]; e++)
            row += fabs(op->jval[e]) * v[op->jcol[e]];
        row *= op->jptr[i + 1] - op->jptr[i] + 2.0;
        sum += row * row;
    }
    for (int c = 0; c < p->nc; c++) mu = p->mu[c] > mu ? p->mu[c] : mu;
    return (2.0 + mu) * DBL_EPSILON * sqrt(sum);
}

/* What was measured may be rounding of the product, or rounding may have hidden it. */
static int is_doubtful(const rb_problem *p, const double *z, const product *prod, rb_arena *scratch,
                       const rb_certificate *cert)
{
    if (cert->relative > DOUBT_FROM && cert->relative < DOUBT_TO)
        return !(rounding_bound(p, z, scratch) <= DOUBT_SHARE * cert->residual);
    double rounding = p->n * DBL_EPSILON * prod->largest * max_abs(z, p->n);
    return rounding > DOUBT_FROM * cert->scale;
}

rb_status rb_residual(const rb_problem *p, const double *z, rb_arena *scratch, rb_certificate *cert)
{
    rb_arena *own = scratch ? NULL : rb_arena_new(NULL, 0);
    if (!scratch && !own) return RB_NOMEM;
    rb_arena *arena = scratch ? scratch : own;
    rb_mark mark = rb_arena_mark(arena);
    product prod;
    rb_status status = multiply(p, z, arena, &prod);
    if (status == RB_OK) grade(p, z, &prod, cert);
    if (status == RB_OK && is_doubtful(p, z, &prod, arena, cert)) {
        status = repeat(p, z, arena, prod.w);
        if (status == RB_OK) grade(p, z, &prod, cert);
    }
    rb_arena_reset(arena, mark);
    rb_arena_free(own);
    return status;
}

/* ---- rays
 * ----------------------------------------------------------------------------------------- */

/* (W z)_i, or (W' z)_i if `across`: entry by entry, so that no memory is needed. */
static double ray_dot(const rb_problem *p, const double *z, int i, int across)
{
    double sum = 0.0;
    if (p->W.form == RB_DENSE) {
        for (int j = 0; j < p->n; j++) {
            ptrdiff_t at = across ? (ptrdiff_t)j * p->n + i : (ptrdiff_t)i * p->n + j;
            sum += p->W.dense[at] * z[j];
        }
        return sum;
    }
    int bs = p->W.bs;
    for (int b = across ? 0 : i / bs; b < (across ? p->n / bs : i / bs + 1); b++) {
        for (int e = p->W.ptr[b]; e < p->W.ptr[b + 1]; e++) {
            if (across && p->W.col[e] != i / bs) continue;
            for (int k = 0; k < bs; k++) {
                int row = across ? k : i % bs, col = across ? i % bs : k;
                int j = across ? b * bs + k : p->W.col[e] * bs + k;
                sum += p->W.val[((ptrdiff_t)e * bs + row) * bs + col] * z[j];
            }
        }
    }
    return sum;
}

static double largest_entry(const rb_problem *p)
{
    ptrdiff_t count = (ptrdiff_t)p->n * p->n;
    const double *W = p->W.dense;
    if (p->W.form == RB_BSR) {
        count = (ptrdiff_t)p->W.ptr[p->n / p->W.bs] * p->W.bs * p->W.bs;
        W = p->W.val;
    }
    double largest = 0.0;
    for (ptrdiff_t e = 0; e < count; e++) largest = fmax(largest, fabs(W[e]));
    return largest;
}

int rb_ray_check(const rb_problem *p, const double *ray)
{
    const double tol = 1e-9; /* of the largest entry, for a ray of largest entry 1 */
    if (p->kind != RB_LCP || p->W.form == RB_OPERATOR) return 0;
    double length = max_abs(ray, p->n);
    if (!(length > 0.0) || !(length < INFINITY)) return 0;
    double scale = largest_entry(p), q_dot = 0.0;
    scale = length * (scale > 0.0 ? scale : 1.0);
    int is_ray = 1, farkas = 1;
    for (int i = 0; i < p->n; i++) {
        double d_i = ray[i] / length, Wd_i = ray_dot(p, ray, i, 0) / scale;
        is_ray &= d_i >= -tol && Wd_i >= -tol && d_i * Wd_i <= tol;
        q_dot += p->q[i] * d_i;
    }
    if (!is_ray) return 0;
    for (int i = 0; i < p->n && farkas; i++) farkas = ray_dot(p, ray, i, 1) / scale <= tol;
    farkas &= q_dot < -tol * fmax(max_abs(p->q, p->n), 1e-300);
    return farkas ? 2 : 1;
}
