/* Dense kernels and factorisations on row-major arrays. No allocation: the caller gives storage. */
#ifndef RB_MATH_DENSE_H
#define RB_MATH_DENSE_H

#include <stddef.h>

static inline double rb_clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* Room of a row of n numbers that is taken in fours. */
static inline int rb_padded(int n)
{
    return (n + 3) / 4 * 4;
}

/* x.y with four accumulators in a fixed order: the same bits for any vector width. */
double rb_dot(const double *x, const double *y, int n);

/* y += a x */
void rb_axpy(double a, const double *x, double *y, int n);

/* The same with y backwards, from its last element: x_0 y_0 + x_1 y_-1 + .., y_-i += a x_i. */
double rb_dot_back(const double *x, const double *y, int n);
void rb_axpy_back(double a, const double *x, double *y, int n);

/* y = A x, A rows x cols with row stride ld. */
void rb_gemv(const double *A, ptrdiff_t ld, int rows, int cols, const double *x, double *y);

/* C -= A B, A m x k (stride lda), B k x n (ldb), C m x n (ldc). */
void rb_gemm_sub(const double *A, ptrdiff_t lda, const double *B, ptrdiff_t ldb, double *C,
                 ptrdiff_t ldc, int m, int k, int n);

/* Largest |x_i|, 0 for n = 0. */
double rb_norm_inf(const double *x, int n);

/* Euclidean norm without overflow care: callers have checked that entries are finite. */
double rb_norm2(const double *x, int n);

/* ---- LU with partial pivoting: P A = L U, in place --------------------------------------- */

/* Returns the rank met: n when regular, else the column at which every pivot is below
 * RB_RANK_TOL * n * max|A|; then A is partly factored and must not be used to solve.
 * perm[k] is the row swapped with row k. */
int rb_lu_factor(double *A, int n, int *perm);

/* The same with the caller's idea of a pivot that is too small [unit of A]. */
int rb_lu_factor_above(double *A, int n, int *perm, double tiny);
void rb_lu_solve(const double *LU, int n, const int *perm, double *x);       /* A x = b   */
void rb_lu_solve_trans(const double *LU, int n, const int *perm, double *x); /* A' x = b  */

/* The same with rows rb_padded(n) apart and zeros after n: quicker, with the same bits. */
int rb_lu_factor_padded(double *A, int n, int *perm);
void rb_lu_solve_padded(const double *LU, int n, const int *perm, double *x);

/* Reciprocal condition in the 1-norm, Hager's estimate [Higham 1988]; work has 2 n entries. norm1
 * is the 1-norm of A before it was factored. */
double rb_lu_rcond(const double *LU, int n, const int *perm, double norm1, double *work);

/* ---- LU with complete pivoting: rank revealing ------------------------------------------- */

/* Returns the numerical rank r: the first r pivots are in the leading block. row[k], col[k]: the
 * original index at position k (full permutations). */
int rb_lu_factor_full(double *A, int n, int *row, int *col, double rank_tol);

/* ---- LDL' of a symmetric positive semidefinite matrix -------------------------------------- */

/* A = L D L' in the lower triangle, diagonal pivoting; returns the rank. perm[k] = original index
 * at position k. */
int rb_ldl_factor(double *A, int n, int *perm, double rank_tol);
/* Solves in the range: components beyond the rank are set to zero. */
void rb_ldl_solve(const double *LDL, int n, int rank, const int *perm, double *x, double *work);

/* A = U' D^-1 U of a symmetric positive matrix, U in the upper triangle with D on its diagonal; the
 * lower one does not count. Rows are rb_padded(n) apart, the rest is zero. 0: a pivot is
 * below RB_RANK_TOL * n * max|A_ii|. x has room for rb_padded(n) numbers, zero after n. */
int rb_ldl_positive(double *A, int n);
void rb_ldl_positive_solve(const double *U, int n, double *x);

/* ---- residuals in doubled precision -------------------------------------------------------- */

/* b + A x for one row in compensated arithmetic (error-free products and sums): the sum as if
 * computed with about 106 bits, rounded. */
double rb_dot_comp(const double *a, const double *x, int n, double b);

#endif
