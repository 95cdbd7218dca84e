#include "math/dense.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "math/lanes.h"
#include "math/vector.h"

/* The last one to three products of a sum, each in the lane that its place has. */
RB_INLINE double finish_dot(const rb_lanes *sum, const double *x, const double *y, int left)
{
    double s[RB_LANES];
    rb_lanes_store(sum, s);
    if (left > 0) s[0] += x[0] * y[0];
    if (left > 1) s[1] += x[1] * y[1];
    if (left > 2) s[2] += x[2] * y[2];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

RB_INLINE void add_four(rb_lanes *sum, const double *x, const rb_lanes *y)
{
    rb_lanes a;
    rb_lanes_load(x, &a);
    rb_lanes_add(sum, &a, y);
}

RB_INLINE double dot(const double *x, const double *y, int n)
{
    rb_lanes sum = { 0.0 }, b;
    int i = 0;
    for (; i + RB_LANES <= n; i += RB_LANES) {
        rb_lanes_load(y + i, &b);
        add_four(&sum, x + i, &b);
    }
    return finish_dot(&sum, x + i, y + i, n - i);
}

RB_VECTOR double rb_dot(const double *x, const double *y, int n)
{
    return dot(x, y, n);
}

RB_VECTOR void rb_axpy(double a, const double *x, double *y, int n)
{
    rb_lanes_subtract(-a, x, y, n);
}

RB_VECTOR double rb_dot_back(const double *restrict x, const double *restrict y, int n)
{
    double s[4] = { 0.0, 0.0, 0.0, 0.0 };
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[i + k] * y[-i - k];
    }
    if (i < n) s[0] += x[i] * y[-i];
    if (i + 1 < n) s[1] += x[i + 1] * y[-i - 1];
    if (i + 2 < n) s[2] += x[i + 2] * y[-i - 2];
    return (s[0] + s[2]) + (s[1] + s[3]);
}

RB_VECTOR void rb_axpy_back(double a, const double *restrict x, double *restrict y, int n)
{
    for (int i = 0; i < n; i++) y[-i] += a * x[i];
}

/* Four rows at a time, so that their sums do not wait for each other; every row is summed in the
 * order of rb_dot and has its bits. */
RB_INLINE void four_dots(const double *A, ptrdiff_t ld, int n, const double *x, double *y)
{
    const double *a0 = A, *a1 = A + ld, *a2 = A + 2 * ld, *a3 = A + 3 * ld;
    rb_lanes s0 = { 0.0 }, s1 = { 0.0 }, s2 = { 0.0 }, s3 = { 0.0 }, b;
    int i = 0;
    for (; i + RB_LANES <= n; i += RB_LANES) {
        rb_lanes_load(x + i, &b);
        add_four(&s0, a0 + i, &b);
        add_four(&s1, a1 + i, &b);
        add_four(&s2, a2 + i, &b);
        add_four(&s3, a3 + i, &b);
    }
    y[0] = finish_dot(&s0, a0 + i, x + i, n - i);
    y[1] = finish_dot(&s1, a1 + i, x + i, n - i);
    y[2] = finish_dot(&s2, a2 + i, x + i, n - i);
    y[3] = finish_dot(&s3, a3 + i, x + i, n - i);
}

RB_VECTOR void rb_gemv(const double *A, ptrdiff_t ld, int rows, int cols, const double *x,
                       double *y)
{
    int i = 0;
    for (; i + 4 <= rows; i += 4) four_dots(A + i * ld, ld, cols, x, y + i);
    for (; i < rows; i++) y[i] = dot(A + i * ld, x, cols);
}

/* c -= a_0 B_0 + a_1 B_1 + a_2 B_2 + a_3 B_3, one after the other, the rows of B ld apart. */
RB_INLINE void subtract_four(const double *a, const double *B, ptrdiff_t ld, double *c, int n)
{
    const rb_four f = { { a[0], a[1], a[2], a[3] }, { B, B + ld, B + 2 * ld, B + 3 * ld } };
    rb_four_subtract(&f, c, n);
}

/* Row of A by row, four rows of B at a time so that C_i is loaded a quarter as often; each element
 * is updated in the order of k. */
RB_VECTOR void rb_gemm_sub(const double *A, ptrdiff_t lda, const double *B, ptrdiff_t ldb,
                           double *C, ptrdiff_t ldc, int m, int k, int n)
{
    for (int i = 0; i < m; i++) {
        const double *A_i = A + i * lda;
        int l = 0;
        for (; l + 4 <= k; l += 4) subtract_four(A_i + l, B + l * ldb, ldb, C + i * ldc, n);
        for (; l < k; l++) rb_lanes_subtract(A_i[l], B + l * ldb, C + i * ldc, n);
    }
}

/* Running maxima and a comparison instead of fmax, which would be a call per entry: the largest
 * entry does not depend on the order. NaN is passed over, as fmax does. */
RB_VECTOR double rb_norm_inf(const double *x, int n)
{
    rb_lanes most = { 0.0 }, next;
    double m[RB_LANES];
    int i = 0;
    for (; i + RB_LANES <= n; i += RB_LANES) {
        rb_lanes_load(x + i, &next);
        rb_lanes_largest(&most, &next);
    }
    rb_lanes_store(&most, m);
    for (; i < n; i++) m[0] = fabs(x[i]) > m[0] ? fabs(x[i]) : m[0];
    for (int k = 1; k < RB_LANES; k++) m[0] = m[k] > m[0] ? m[k] : m[0];
    return m[0];
}

double rb_norm2(const double *x, int n)
{
    return sqrt(rb_dot(x, x, n));
}

/* ---- LU ---------------------------------------------------------------------------------------
 */

enum { PANEL = 4 }; /* pivots at a time */

/* Rows of n numbers, ld apart; `wide` of each are used: n, or all of them where the rest
 * is zero. */
typedef struct square {
    double *A;
    ptrdiff_t ld;
    int n, wide;
} square;

RB_INLINE double *row_of(const square *s, int i)
{
    return s->A + i * s->ld;
}

/* The row at or below k with the largest |entry| in column k; the first one among equals. */
RB_INLINE int pivot_row(const square *s, int k)
{
    int best = k;
    double largest = fabs(row_of(s, k)[k]);
    const double *at = row_of(s, k) + k;
    for (int i = k + 1; i < s->n; i++) {
        at += s->ld;
        double a = fabs(*at);
        if (a > largest) {
            largest = a;
            best = i;
        }
    }
    return best;
}

RB_INLINE void swap_rows(const square *s, int i, int j)
{
    if (i == j) return;
    double *a = row_of(s, i), *b = row_of(s, j);
    int k = 0;
    for (; k + RB_LANES <= s->wide; k += RB_LANES) {
        rb_lanes x, y;
        rb_lanes_load(a + k, &x);
        rb_lanes_load(b + k, &y);
        rb_lanes_store(&y, a + k);
        rb_lanes_store(&x, b + k);
    }
    for (; k < s->wide; k++) {
        double t = a[k];
        a[k] = b[k];
        b[k] = t;
    }
}

/* Factors columns k0 .. k1-1 of the rows below k0, applying each pivot inside the panel only. */
RB_INLINE int factor_panel(const square *s, int *perm, int k0, int k1, double tiny)
{
    for (int k = k0; k < k1; k++) {
        int p = pivot_row(s, k);
        perm[k] = p;
        swap_rows(s, k, p);
        const double *A_k = row_of(s, k);
        if (!(fabs(A_k[k]) > tiny)) return k;
        double inverse = 1.0 / A_k[k];
        double u_1 = k + 1 < k1 ? A_k[k + 1] : 0.0, u_2 = k + 2 < k1 ? A_k[k + 2] : 0.0;
        double u_3 = k + 3 < k1 ? A_k[k + 3] : 0.0;
        double *at = row_of(s, k) + k;
        for (int i = k + 1; i < s->n; i++) {
            at += s->ld;
            if (at[0] == 0.0) continue;
            double l = at[0] * inverse;
            at[0] = l;
            if (k + 1 < k1) at[1] -= l * u_1;
            if (k + 2 < k1) at[2] -= l * u_2;
            if (k + 3 < k1) at[3] -= l * u_3;
        }
    }
    return k1;
}

/* x -= l b, y -= m b */
RB_INLINE void less_two(const double *b, double l, double m, rb_lanes *x, rb_lanes *y)
{
    rb_lanes u;
    rb_lanes_load(b, &u);
    rb_lanes_less(x, l, &u);
    rb_lanes_less(y, m, &u);
}

/* Rows X and Y, their multipliers in front at k .. k + 3, lose what the four rows of a panel take
 * off them from column k + 4 on. */
RB_INLINE void eliminate_pair(const square *s, int k, double *X, double *Y)
{
    const double *U_0 = row_of(s, k), *U_1 = U_0 + s->ld, *U_2 = U_1 + s->ld, *U_3 = U_2 + s->ld;
    double l_0 = X[k], l_1 = X[k + 1], l_2 = X[k + 2], l_3 = X[k + 3];
    double m_0 = Y[k], m_1 = Y[k + 1], m_2 = Y[k + 2], m_3 = Y[k + 3];
    ptrdiff_t j = k + PANEL;
    for (; j + RB_LANES <= s->wide; j += RB_LANES) {
        rb_lanes x, y;
        rb_lanes_load(X + j, &x);
        rb_lanes_load(Y + j, &y);
        less_two(U_0 + j, l_0, m_0, &x, &y);
        less_two(U_1 + j, l_1, m_1, &x, &y);
        less_two(U_2 + j, l_2, m_2, &x, &y);
        less_two(U_3 + j, l_3, m_3, &x, &y);
        rb_lanes_store(&x, X + j);
        rb_lanes_store(&y, Y + j);
    }
    if (j >= s->wide) return;
    subtract_four(X + k, U_0 + j, s->ld, X + j, s->wide - (int)j);
    subtract_four(Y + k, U_0 + j, s->ld, Y + j, s->wide - (int)j);
}

/* Blocked right-looking LU: a panel, its rows by forward substitution, and what four pivots take
 * off the rest. Every element loses its products in the order of the pivots. */
RB_INLINE int factor_square(const square *s, int *perm, double tiny)
{
    for (int k0 = 0; k0 < s->n; k0 += PANEL) {
        int k1 = k0 + PANEL < s->n ? k0 + PANEL : s->n, rank = factor_panel(s, perm, k0, k1, tiny);
        if (rank < k1) return rank;
        if (k1 == s->n) break;
        for (int k = k0 + 1; k < k1; k++) {
            double *A_k = row_of(s, k);
            for (int l = k0; l < k; l++) {
                if (A_k[l] != 0.0)
                    rb_lanes_subtract(A_k[l], row_of(s, l) + k1, A_k + k1, s->wide - k1);
            }
        }
        int i = k1;
        for (; i + 1 < s->n; i += 2) eliminate_pair(s, k0, row_of(s, i), row_of(s, i + 1));
        if (i == s->n) continue;
        double *A_i = row_of(s, i);
        subtract_four(A_i + k0, row_of(s, k0) + k1, s->ld, A_i + k1, s->wide - k1);
    }
    return s->n;
}

RB_VECTOR int rb_lu_factor_above(double *A, int n, int *perm, double tiny)
{
    const square s = { .A = A, .ld = n, .n = n, .wide = n };
    return factor_square(&s, perm, tiny);
}

int rb_lu_factor(double *A, int n, int *perm)
{
    return rb_lu_factor_above(A, n, perm, RB_RANK_TOL * n * rb_norm_inf(A, n * n));
}

RB_VECTOR int rb_lu_factor_padded(double *A, int n, int *perm)
{
    const square s = { .A = A, .ld = rb_padded(n), .n = n, .wide = rb_padded(n) };
    return factor_square(&s, perm, RB_RANK_TOL * n * rb_norm_inf(A, n * rb_padded(n)));
}

static void swap_entries(double *x, int i, int j)
{
    double t = x[i];
    x[i] = x[j];
    x[j] = t;
}

RB_INLINE void lu_solve(const double *LU, ptrdiff_t ld, int n, const int *perm, double *x)
{
    for (int k = 0; k < n; k++) swap_entries(x, k, perm[k]);
    for (int i = 1; i < n; i++) x[i] -= dot(LU + i * ld, x, i);
    for (int i = n - 1; i >= 0; i--) {
        const double *U_i = LU + i * ld;
        x[i] = (x[i] - dot(U_i + i + 1, x + i + 1, n - 1 - i)) / U_i[i];
    }
}

RB_VECTOR void rb_lu_solve(const double *LU, int n, const int *perm, double *x)
{
    lu_solve(LU, n, n, perm, x);
}

RB_VECTOR void rb_lu_solve_padded(const double *LU, int n, const int *perm, double *x)
{
    lu_solve(LU, rb_padded(n), n, perm, x);
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
    const square whole = { .A = A, .ld = n, .n = n, .wide = n };
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
        swap_rows(&whole, k, pi);
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

/* Pivots k .. k + count - 1 within their own rows. 0: one of them is not above tiny. What is
 * written left of the diagonal is never read. */
RB_INLINE int positive_panel(double *A, int n, int k, int count, double tiny, double *inverse)
{
    for (int a = 0; a < count; a++) {
        const double *U_a = A + (ptrdiff_t)(k + a) * rb_padded(n);
        if (!(U_a[k + a] > tiny)) return 0;
        inverse[a] = 1.0 / U_a[k + a];
        for (int i = k + a + 1; i < k + count; i++) {
            double *U_i = A + (ptrdiff_t)i * rb_padded(n);
            rb_lanes_subtract(U_a[i] * inverse[a], U_a + k, U_i + k, rb_padded(n) - k);
        }
    }
    return 1;
}

/* Rows i and i + 1 of the rest lose multiples of the four rows of a panel, which are loaded once.
 * What is written left of the diagonal is never read. */
RB_INLINE void positive_pair(const double *U, ptrdiff_t ld, const double *inverse, int i, double *A)
{
    int from = i / PANEL * PANEL;
    const double *U_0 = U, *U_1 = U + ld, *U_2 = U + 2 * ld, *U_3 = U + 3 * ld;
    double l_0 = U_0[i] * inverse[0], l_1 = U_1[i] * inverse[1];
    double l_2 = U_2[i] * inverse[2], l_3 = U_3[i] * inverse[3];
    double m_0 = U_0[i + 1] * inverse[0], m_1 = U_1[i + 1] * inverse[1];
    double m_2 = U_2[i + 1] * inverse[2], m_3 = U_3[i + 1] * inverse[3];
    double *X = A + i * ld, *Y = X + ld;
    for (ptrdiff_t j = from; j < ld; j += RB_LANES) {
        rb_lanes x, y;
        rb_lanes_load(X + j, &x);
        rb_lanes_load(Y + j, &y);
        less_two(U_0 + j, l_0, m_0, &x, &y);
        less_two(U_1 + j, l_1, m_1, &x, &y);
        less_two(U_2 + j, l_2, m_2, &x, &y);
        less_two(U_3 + j, l_3, m_3, &x, &y);
        rb_lanes_store(&x, X + j);
        rb_lanes_store(&y, Y + j);
    }
}

RB_VECTOR int rb_ldl_positive(double *A, int n)
{
    double largest = 0.0, inverse[PANEL];
    ptrdiff_t ld = rb_padded(n);
    for (int i = 0; i < n; i++) {
        double a = A[i * (ld + 1)];
        largest = a > largest ? a : largest;
    }
    double tiny = RB_RANK_TOL * n * largest;
    for (int k = 0; k < n; k += PANEL) {
        int count = n - k < PANEL ? n - k : PANEL, i = k + PANEL;
        if (!positive_panel(A, n, k, count, tiny, inverse)) return 0;
        for (; i + 1 < n; i += 2) positive_pair(A + k * ld, ld, inverse, i, A);
        if (i >= n) continue;
        const double *U = A + k * ld;
        double l[PANEL];
        for (int a = 0; a < PANEL; a++) l[a] = U[a * ld + i] * inverse[a];
        subtract_four(l, U + i, ld, A + i * ld + i, (int)ld - i);
    }
    return 1;
}

/* Multiples t of rows k .. k + 3 are taken off x, which has room for whole fours. */
RB_INLINE void forward_four(const double *U, ptrdiff_t ld, int k, double *x)
{
    double t[PANEL];
    for (int a = 0; a < PANEL; a++) {
        const double *U_a = U + (k + a) * ld;
        t[a] = x[k + a] / U_a[k + a];
        for (int i = a + 1; i < PANEL; i++) x[k + i] -= t[a] * U_a[k + i];
    }
    int from = k + PANEL;
    subtract_four(t, U + k * ld + from, ld, x + from, (int)ld - from);
}

RB_VECTOR void rb_ldl_positive_solve(const double *U, int n, double *x)
{
    ptrdiff_t ld = rb_padded(n);
    int k = 0;
    for (; k + PANEL <= n; k += PANEL) forward_four(U, ld, k, x);
    for (; k < n; k++) {
        double t = x[k] / U[k * (ld + 1)];
        for (int i = k + 1; i < n; i++) x[i] -= t * U[k * ld + i];
    }
    for (k = n - 1; k >= 0; k--) {
        const double *U_k = U + k * ld;
        x[k] = (x[k] - dot(U_k + k + 1, x + k + 1, n - 1 - k)) / U_k[k];
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
