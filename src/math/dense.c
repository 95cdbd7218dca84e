#include "math/dense.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "math/vector.h"

RB_VECTOR double rb_dot(const double *restrict x, const double *restrict y, int n)
{
    double s[4] = { 0.0, 0.0, 0.0, 0.0 };
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[i + k] * y[i + k];
    }
    for (int k = 0; i < n; i++, k++) s[k] += x[i] * y[i];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

RB_VECTOR void rb_axpy(double a, const double *restrict x, double *restrict y, int n)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

RB_VECTOR double rb_dot_back(const double *restrict x, const double *restrict y, int n)
{
    double s[4] = { 0.0, 0.0, 0.0, 0.0 };
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[i + k] * y[-i - k];
    }
    for (int k = 0; i < n; i++, k++) s[k] += x[i] * y[-i];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

RB_VECTOR void rb_axpy_back(double a, const double *restrict x, double *restrict y, int n)
{
    for (int i = 0; i < n; i++) y[-i] += a * x[i];
}

RB_VECTOR void rb_rank1(double *restrict A, ptrdiff_t ld, int rows, int cols,
                        const double *restrict c, const double *restrict r)
{
    for (int i = 0; i < rows; i++) {
        double c_i = c[i];
        if (c_i == 0.0) continue;
        double *A_i = A + i * ld;
        for (int j = 0; j < cols; j++) A_i[j] -= c_i * r[j];
    }
}

/* Four rows at a time, so that their sums do not wait for each other; every row is summed in the
 * order of rb_dot and has its bits. */
RB_VECTOR static void four_dots(const double *restrict A, ptrdiff_t ld, int n,
                                const double *restrict x, double *restrict y)
{
    const double *a0 = A, *a1 = A + ld, *a2 = A + 2 * ld, *a3 = A + 3 * ld;
    double s0[4] = { 0.0 }, s1[4] = { 0.0 }, s2[4] = { 0.0 }, s3[4] = { 0.0 };
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s0[k] += a0[i + k] * x[i + k];
        for (int k = 0; k < 4; k++) s1[k] += a1[i + k] * x[i + k];
        for (int k = 0; k < 4; k++) s2[k] += a2[i + k] * x[i + k];
        for (int k = 0; k < 4; k++) s3[k] += a3[i + k] * x[i + k];
    }
    for (int k = 0; i < n; i++, k++) {
        s0[k] += a0[i] * x[i];
        s1[k] += a1[i] * x[i];
        s2[k] += a2[i] * x[i];
        s3[k] += a3[i] * x[i];
    }
    y[0] = (s0[0] + s0[2]) + (s0[1] + s0[3]);
    y[1] = (s1[0] + s1[2]) + (s1[1] + s1[3]);
    y[2] = (s2[0] + s2[2]) + (s2[1] + s2[3]);
    y[3] = (s3[0] + s3[2]) + (s3[1] + s3[3]);
}

void rb_gemv(const double *A, ptrdiff_t ld, int rows, int cols, const double *x, double *y)
{
    int i = 0;
    for (; i + 4 <= rows; i += 4) four_dots(A + i * ld, ld, cols, x, y + i);
    for (; i < rows; i++) y[i] = rb_dot(A + i * ld, x, cols);
}

/* Row of A by row: C_i -= a_i0 B_0 + a_i1 B_1 + ..., four rows of B at a time so that C_i is
 * loaded a quarter as often; each element is updated in the order of k. */
RB_VECTOR void rb_gemm_sub(const double *restrict A, ptrdiff_t lda, const double *restrict B,
                           ptrdiff_t ldb, double *restrict C, ptrdiff_t ldc, int m, int k, int n)
{
    for (int i = 0; i < m; i++) {
        const double *A_i = A + i * lda;
        double *C_i = C + i * ldc;
        int l = 0;
        for (; l + 4 <= k; l += 4) {
            const double *b0 = B + l * ldb, *b1 = b0 + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;
            double a0 = A_i[l], a1 = A_i[l + 1], a2 = A_i[l + 2], a3 = A_i[l + 3];
            for (int j = 0; j < n; j++) {
                C_i[j] = (((C_i[j] - a0 * b0[j]) - a1 * b1[j]) - a2 * b2[j]) - a3 * b3[j];
            }
        }
        for (; l < k; l++) {
            const double *b = B + l * ldb;
            double a = A_i[l];
            for (int j = 0; j < n; j++) C_i[j] -= a * b[j];
        }
    }
}

/* Eight running maxima and a comparison instead of fmax, which would be a call per entry: the
 * largest entry does not depend on the order. NaN is passed over, as fmax does. */
RB_VECTOR double rb_norm_inf(const double *x, int n)
{
    double m[8] = { 0.0 };
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) {
            double a = fabs(x[i + k]);
            m[k] = a > m[k] ? a : m[k];
        }
    }
    for (; i < n; i++) m[0] = fabs(x[i]) > m[0] ? fabs(x[i]) : m[0];
    for (int k = 1; k < 8; k++) m[0] = m[k] > m[0] ? m[k] : m[0];
    return m[0];
}

double rb_norm2(const double *x, int n)
{
    return sqrt(rb_dot(x, x, n));
}

double rb_norm1(const double *A, int n)
{
    double norm = 0.0;
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(A[(ptrdiff_t)i * n + j]);
        norm = fmax(norm, sum);
    }
    return norm;
}

/* The row at or below k with the largest |entry| in column k; the first one among equals. */
static int pivot_row(const double *A, int n, int k)
{
    int best = k;
    double largest = fabs(A[(ptrdiff_t)k * n + k]);
    for (int i = k + 1; i < n; i++) {
        double a = fabs(A[(ptrdiff_t)i * n + k]);
        if (a > largest) {
            largest = a;
            best = i;
        }
    }
    return best;
}

static void swap_rows(double *A, int n, int i, int j)
{
    if (i == j) return;
    double *a = A + (ptrdiff_t)i * n, *b = A + (ptrdiff_t)j * n;
    for (int k = 0; k < n; k++) {
        double t = a[k];
        a[k] = b[k];
        b[k] = t;
    }
}

/* Factors columns k0 .. k1-1 of the rows below k0, applying each pivot inside the panel only. */
RB_VECTOR static int factor_panel(double *A, int n, int *perm, int k0, int k1, double tiny)
{
    for (int k = k0; k < k1; k++) {
        int p = pivot_row(A, n, k);
        perm[k] = p;
        swap_rows(A, n, k, p);
        double *A_k = A + (ptrdiff_t)k * n;
        if (!(fabs(A_k[k]) > tiny)) return k;
        double inverse = 1.0 / A_k[k];
        for (int i = k + 1; i < n; i++) {
            double *A_i = A + (ptrdiff_t)i * n;
            if (A_i[k] == 0.0) continue;
            double l = A_i[k] * inverse;
            A_i[k] = l;
            for (int j = k + 1; j < k1; j++) A_i[j] -= l * A_k[j];
        }
    }
    return k1;
}

/* Blocked right-looking LU: a panel, its row block by forward substitution, one matrix product. */
int rb_lu_factor_above(double *A, int n, int *perm, double tiny)
{
    enum { PANEL = 16 };
    for (int k0 = 0; k0 < n; k0 += PANEL) {
        int k1 = k0 + PANEL < n ? k0 + PANEL : n;
        int rank = factor_panel(A, n, perm, k0, k1, tiny);
        if (rank < k1) return rank;
        if (k1 == n) break;
        for (int k = k0 + 1; k < k1; k++) {
            double *A_k = A + (ptrdiff_t)k * n;
            for (int l = k0; l < k; l++) {
                if (A_k[l] != 0.0) rb_axpy(-A_k[l], A + (ptrdiff_t)l * n + k1, A_k + k1, n - k1);
            }
        }
        rb_gemm_sub(A + (ptrdiff_t)k1 * n + k0, n, A + (ptrdiff_t)k0 * n + k1, n,
                    A + (ptrdiff_t)k1 * n + k1, n, n - k1, k1 - k0, n - k1);
    }
    return n;
}

int rb_lu_factor(double *A, int n, int *perm)
{
    return rb_lu_factor_above(A, n, perm, RB_RANK_TOL * n * rb_norm_inf(A, n * n));
}

static void swap_entries(double *x, int i, int j)
{
    double t = x[i];
    x[i] = x[j];
    x[j] = t;
}

void rb_lu_solve(const double *LU, int n, const int *perm, double *x)
{
    for (int k = 0; k < n; k++) swap_entries(x, k, perm[k]);
    for (int i = 1; i < n; i++) x[i] -= rb_dot(LU + (ptrdiff_t)i * n, x, i);
    for (int i = n - 1; i >= 0; i--) {
        const double *U_i = LU + (ptrdiff_t)i * n;
        x[i] = (x[i] - rb_dot(U_i + i + 1, x + i + 1, n - 1 - i)) / U_i[i];
    }
}

void rb_lu_solve_trans(const double *LU, int n, const int *perm, double *x)
{
    for (int i = 0; i < n; i++) {
        const double *U_i = LU + (ptrdiff_t)i * n;
        x[i] /= U_i[i];
        rb_axpy(-x[i], U_i + i + 1, x + i + 1, n - 1 - i);
    }
    for (int i = n - 1; i > 0; i--) rb_axpy(-x[i], LU + (ptrdiff_t)i * n, x, i);
    for (int k = n - 1; k >= 0; k--) swap_entries(x, k, perm[k]);
}

double rb_lu_rcond(const double *LU, int n, const int *perm, double norm1, double *work)
{
    if (n == 0 || !(norm1 > 0.0)) return 0.0;
    double *x = work, *s = work + n;
    double estimate = 0.0;
    for (int i = 0; i < n; i++) x[i] = 1.0 / n;
    for (int round = 0; round < 5; round++) {
        rb_lu_solve(LU, n, perm, x);
        double norm = 0.0;
        for (int i = 0; i < n; i++) norm += fabs(x[i]);
        if (!(norm > estimate)) break;
        estimate = norm;

        /* the unit vector that increases |A^-1 x|_1 most */
        for (int i = 0; i < n; i++) s[i] = x[i] < 0.0 ? -1.0 : 1.0;
        rb_lu_solve_trans(LU, n, perm, s);
        int best = 0;
        for (int i = 1; i < n; i++) {
            if (fabs(s[i]) > fabs(s[best])) best = i;
        }
        memset(x, 0, (size_t)n * sizeof *x);
        x[best] = 1.0;
    }
    return estimate > 0.0 ? 1.0 / (norm1 * estimate) : 0.0;
}

static void swap_cols(double *A, int n, int i, int j)
{
    if (i == j) return;
    for (int k = 0; k < n; k++) swap_entries(A + (ptrdiff_t)k * n, i, j);
}

int rb_lu_factor_full(double *A, int n, int *row, int *col, double rank_tol)
{
    for (int i = 0; i < n; i++) row[i] = col[i] = i;
    double tiny = rank_tol * rb_norm_inf(A, n * n);
    for (int k = 0; k < n; k++) {
        int pi = k, pj = k;
        double largest = -1.0;
        for (int i = k; i < n; i++) {
            for (int j = k; j < n; j++) {
                double a = fabs(A[(ptrdiff_t)i * n + j]);
                if (a > largest) {
                    largest = a;
                    pi = i;
                    pj = j;
                }
            }
        }
        if (!(largest > tiny)) return k;
        swap_rows(A, n, k, pi);
        swap_cols(A, n, k, pj);
        int t = row[k];
        row[k] = row[pi];
        row[pi] = t;
        t = col[k];
        col[k] = col[pj];
        col[pj] = t;
        const double *A_k = A + (ptrdiff_t)k * n;
        for (int i = k + 1; i < n; i++) {
            double *A_i = A + (ptrdiff_t)i * n;
            A_i[k] /= A_k[k];
            rb_axpy(-A_i[k], A_k + k + 1, A_i + k + 1, n - 1 - k);
        }
    }
    return n;
}

/* Swaps rows and columns i < j of the symmetric matrix held in the lower triangle. */
static void swap_symmetric(double *A, int n, int i, int j)
{
    if (i == j) return;
    for (int k = 0; k < i; k++) {
        double t = A[(ptrdiff_t)i * n + k];
        A[(ptrdiff_t)i * n + k] = A[(ptrdiff_t)j * n + k];
        A[(ptrdiff_t)j * n + k] = t;
    }
    for (int k = i + 1; k < j; k++) {
        double t = A[(ptrdiff_t)k * n + i];
        A[(ptrdiff_t)k * n + i] = A[(ptrdiff_t)j * n + k];
        A[(ptrdiff_t)j * n + k] = t;
    }
    for (int k = j + 1; k < n; k++) swap_entries(A + (ptrdiff_t)k * n, i, j);
    double t = A[(ptrdiff_t)i * n + i];
    A[(ptrdiff_t)i * n + i] = A[(ptrdiff_t)j * n + j];
    A[(ptrdiff_t)j * n + j] = t;
}

int rb_ldl_factor(double *A, int n, int *perm, double rank_tol)
{
    for (int i = 0; i < n; i++) perm[i] = i;
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(A[(ptrdiff_t)i * n + i]));
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) {
            if (A[(ptrdiff_t)i * n + i] > A[(ptrdiff_t)p * n + p]) p = i;
        }
        swap_symmetric(A, n, k, p);
        int t = perm[k];
        perm[k] = perm[p];
        perm[p] = t;
        double d = A[(ptrdiff_t)k * n + k];
        if (!(d > rank_tol * largest)) return k;
        for (int i = k + 1; i < n; i++) {
            double l = A[(ptrdiff_t)i * n + k] / d;
            if (l == 0.0) continue;
            for (int j = k + 1; j <= i; j++) {
                A[(ptrdiff_t)i * n + j] -= l * A[(ptrdiff_t)j * n + k];
            }
        }
        for (int i = k + 1; i < n; i++) A[(ptrdiff_t)i * n + k] /= d;
    }
    return n;
}

void rb_ldl_solve(const double *LDL, int n, int rank, const int *perm, double *x, double *work)
{
    for (int k = 0; k < rank; k++) work[k] = x[perm[k]];
    for (int i = 1; i < rank; i++) work[i] -= rb_dot(LDL + (ptrdiff_t)i * n, work, i);
    for (int i = rank - 1; i >= 0; i--) {
        work[i] /= LDL[(ptrdiff_t)i * n + i];
        for (int k = i + 1; k < rank; k++) work[i] -= LDL[(ptrdiff_t)k * n + i] * work[k];
    }
    for (int k = 0; k < n; k++) x[perm[k]] = k < rank ? work[k] : 0.0;
}

enum { PANEL = 4 }; /* pivots at a time */

/* Pivots k .. k + count - 1 within their own rows. 0: one of them is not above tiny. */
RB_INLINE int positive_panel(double *A, int n, int k, int count, double tiny, double *inverse)
{
    for (int a = 0; a < count; a++) {
        const double *restrict U_a = A + (ptrdiff_t)(k + a) * n;
        if (!(U_a[k + a] > tiny)) return 0;
        inverse[a] = 1.0 / U_a[k + a];
        for (int i = k + a + 1; i < k + count; i++) {
            double *restrict U_i = A + (ptrdiff_t)i * n, l = U_a[i] * inverse[a];
            for (int j = i; j < n; j++) U_i[j] -= l * U_a[j];
        }
    }
    return 1;
}

/* Below a panel every row loses the four multiples one after the other, in one pass. What is
 * written left of the diagonal is never read. */
RB_VECTOR int rb_ldl_positive(double *A, int n)
{
    double largest = 0.0, inverse[PANEL];
    for (int i = 0; i < n; i++) {
        double a = A[(ptrdiff_t)i * (n + 1)];
        largest = a > largest ? a : largest;
    }
    double tiny = RB_RANK_TOL * n * largest;
    for (int k = 0; k < n; k += PANEL) {
        int count = n - k < PANEL ? n - k : PANEL;
        if (!positive_panel(A, n, k, count, tiny, inverse)) return 0;
        if (count < PANEL) break;
        const double *restrict U_0 = A + (ptrdiff_t)k * n, *restrict U_1 = U_0 + n;
        const double *restrict U_2 = U_1 + n, *restrict U_3 = U_2 + n;
        for (int i = k + PANEL; i < n; i++) {
            double *restrict U_i = A + (ptrdiff_t)i * n;
            double l_0 = U_0[i] * inverse[0], l_1 = U_1[i] * inverse[1];
            double l_2 = U_2[i] * inverse[2], l_3 = U_3[i] * inverse[3];
            if (l_0 == 0.0 && l_1 == 0.0 && l_2 == 0.0 && l_3 == 0.0) continue;
            for (int j = i / PANEL * PANEL; j < n; j++) {
                U_i[j] = (((U_i[j] - l_0 * U_0[j]) - l_1 * U_1[j]) - l_2 * U_2[j]) - l_3 * U_3[j];
            }
        }
    }
    return 1;
}

RB_VECTOR void rb_ldl_positive_solve(const double *restrict U, int n, double *restrict x)
{
    for (int k = 0; k < n; k++) {
        const double *U_k = U + (ptrdiff_t)k * n;
        double t = x[k] / U_k[k];
        for (int i = k + 1; i < n; i++) x[i] -= t * U_k[i];
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *U_k = U + (ptrdiff_t)k * n;
        x[k] = (x[k] - rb_dot(U_k + k + 1, x + k + 1, n - 1 - k)) / U_k[k];
    }
}

/* a b = p + e exactly [Dekker 1971]; splitting instead of fma, so that all targets agree. */
static double product_error(double a, double b, double p)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    double ca = split * a, cb = split * b;
    double ah = ca - (ca - a), al = a - ah;
    double bh = cb - (cb - b), bl = b - bh;
    return ((ah * bh - p) + ah * bl + al * bh) + al * bl;
}

double rb_dot_comp(const double *a, const double *x, int n, double b)
{
    double sum = b, low = 0.0;
    for (int i = 0; i < n; i++) {
        double p = a[i] * x[i];
        double t = sum + p;
        double z = t - sum;
        low += ((sum - (t - z)) + (p - z)) + product_error(a[i], x[i], p);
        sum = t;
    }
    return sum + low;
}
