/* Dense kernels against plain loops, bit for bit where the header defines the order; the three
 * factorisations on random matrices; doubled precision against integers. */
#include "test.h"

#include <float.h>

#include "math/dense.h"

enum { MOST = 80 };

static void fill(rb_rng *rng, double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] = rb_rng_uniform(rng, -1.0, 1.0);
}

static int same_bits(const double *x, const double *y, int n)
{
    return memcmp(x, y, (size_t)n * sizeof *x) == 0;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

/* Entry i goes to accumulator i mod 4; they are added as (0 + 2) + (1 + 3). */
static double plain_dot(const double *x, const double *y, int n)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (int i = 0; i < n; i++) {
        double p = x[i] * y[i];
        if (i % 4 == 0) s0 += p;
        if (i % 4 == 1) s1 += p;
        if (i % 4 == 2) s2 += p;
        if (i % 4 == 3) s3 += p;
    }
    return (s0 + s2) + (s1 + s3);
}

/* Largest sum of a column. */
static double norm1(const double *A, int n)
{
    double norm = 0.0;
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(A[i * n + j]);
        norm = fmax(norm, sum);
    }
    return norm;
}

TEST(dot_has_the_bits_of_four_accumulators)
{
    double x[200], y[200];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = (int)(seed % 190), shift = (int)(seed % 7); /* any alignment */
        fill(&rng, x, 200);
        fill(&rng, y, 200);
        double dot = rb_dot(x + shift, y + 1, n), plain = plain_dot(x + shift, y + 1, n);
        CHECK(same_bits(&dot, &plain, 1));
    }
}

TEST(kernels_that_go_backwards)
{
    double x[200], y[200], z[200], turned[200];
    for (uint64_t seed = 1; seed <= 400; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = (int)(seed % 190), shift = (int)(seed % 7);
        double a = rb_rng_uniform(&rng, -1.0, 1.0);
        fill(&rng, x, 200);
        fill(&rng, y, 200);
        memcpy(z, y, sizeof z);
        for (int i = 0; i < 200; i++) turned[i] = y[199 - i];
        double dot = rb_dot_back(x + shift, y + 199, n), plain = rb_dot(x + shift, turned, n);
        CHECK(same_bits(&dot, &plain, 1));
        rb_axpy_back(a, x + shift, y + 199, n);
        for (int i = 0; i < n; i++) z[199 - i] += a * x[shift + i];
        CHECK(same_bits(y, z, 200));
    }
}

TEST(gemv_rows_are_dots)
{
    static double A[MOST * (MOST + 5)], x[MOST], y[MOST], plain[MOST];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int rows = (int)(seed % MOST), cols = (int)(rb_rng_next(&rng) % MOST), ld = cols + 5;
        fill(&rng, A, rows * ld);
        fill(&rng, x, cols);
        rb_gemv(A, ld, rows, cols, x, y);
        for (int i = 0; i < rows; i++) plain[i] = plain_dot(A + i * ld, x, cols);
        CHECK(same_bits(y, plain, rows));
    }
}

TEST(axpy_and_rank1_touch_each_entry_once)
{
    static double A[40 * 45], B[40 * 45], c[40], r[45], x[45], y[45];
    for (uint64_t seed = 1; seed <= 100; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int rows = 1 + (int)(seed % 40), cols = 1 + (int)(rb_rng_next(&rng) % 40), ld = 45;
        double a = rb_rng_uniform(&rng, -2.0, 2.0);
        fill(&rng, A, rows * ld);
        fill(&rng, c, rows);
        fill(&rng, r, cols);
        fill(&rng, x, cols);
        c[rows / 2] = 0.0;
        memcpy(B, A, sizeof A);
        memcpy(y, x, sizeof x);
        rb_axpy(a, r, x, cols);
        for (int j = 0; j < cols; j++) y[j] = y[j] + a * r[j];
        CHECK(same_bits(x, y, cols));
    }
}

TEST(gemm_updates_in_the_order_of_k)
{
    static double A[30 * 33], B[30 * 31], C[30 * 34], D[30 * 34];
    for (uint64_t seed = 1; seed <= 120; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int m = (int)(rb_rng_next(&rng) % 30), k = (int)(seed % 30), n = 1 + (int)(seed % 29);
        fill(&rng, A, 30 * 33);
        fill(&rng, B, 30 * 31);
        fill(&rng, C, 30 * 34);
        memcpy(D, C, sizeof C);
        rb_gemm_sub(A, 33, B, 31, C, 34, m, k, n);
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                for (int l = 0; l < k; l++) D[i * 34 + j] -= A[i * 33 + l] * B[l * 31 + j];
            }
        }
        CHECK(same_bits(C, D, 30 * 34));
    }
}

TEST(norms)
{
    double x[50], A[25];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = (int)(seed % 50);
        fill(&rng, x, n);
        double most = 0.0, square = 0.0;
        for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
        for (int i = 0; i < n; i++) square += x[i] * x[i];
        CHECK(rb_norm_inf(x, n) == most);
        CHECK_NEAR(rb_norm2(x, n), sqrt(square), 1e-14);
        fill(&rng, A, 25);
        most = 0.0;
        for (int j = 0; j < 5; j++) {
            double column = 0.0;
            for (int i = 0; i < 5; i++) column += fabs(A[i * 5 + j]);
            most = fmax(most, column);
        }
        CHECK(norm1(A, 5) == most);
    }
    CHECK(rb_clamp(2.0, 0.0, 1.0) == 1.0 && rb_clamp(-2.0, 0.0, 1.0) == 0.0);
    CHECK(rb_clamp(0.5, 0.0, 1.0) == 0.5);
}

/* ---- LU ----------------------------------------------------------------------------------------
 */

static double A[MOST * MOST], LU[MOST * MOST];
static int perm[MOST];

/* |A x - b| (or A' x - b) over |A| |x|, largest entries: backward error in units of n. */
static double backward_error(const double *M, int n, const double *x, const double *b, int trans)
{
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = -b[i], row = fabs(b[i]);
        for (int j = 0; j < n; j++) {
            double a = trans ? M[j * n + i] : M[i * n + j];
            sum += a * x[j];
            row += fabs(a * x[j]);
        }
        worst = fmax(worst, fabs(sum));
        size = fmax(size, row);
    }
    return worst / (size * n);
}

TEST(lu_solves_every_size)
{
    double x[MOST], b[MOST];
    for (int n = 1; n <= MOST; n++) {
        TEST_SEED(n);
        rb_rng rng = rb_rng_make((uint64_t)n);
        fill(&rng, A, n * n);
        fill(&rng, b, n);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_lu_factor(LU, n, perm), n);
        memcpy(x, b, sizeof x);
        rb_lu_solve(LU, n, perm, x);
        CHECK(backward_error(A, n, x, b, 0) <= 8.0 * DBL_EPSILON);
        memcpy(x, b, sizeof x);
        rb_lu_solve_trans(LU, n, perm, x);
        CHECK(backward_error(A, n, x, b, 1) <= 8.0 * DBL_EPSILON);
    }
}

/* Blocked or not, each entry of L and U is what plain elimination gives; pivots are the largest. */
TEST(lu_is_plain_elimination)
{
    static double plain[MOST * MOST];
    for (int n = 1; n <= MOST; n += 7) {
        TEST_SEED(n);
        rb_rng rng = rb_rng_make((uint64_t)n + 500);
        fill(&rng, A, n * n);
        memcpy(LU, A, sizeof A);
        memcpy(plain, A, sizeof A);
        CHECK_INT(rb_lu_factor(LU, n, perm), n);
        for (int k = 0; k < n; k++) {
            int p = k;
            for (int i = k + 1; i < n; i++) {
                if (fabs(plain[i * n + k]) > fabs(plain[p * n + k])) p = i;
            }
            CHECK_INT(perm[k], p);
            for (int j = 0; j < n; j++) {
                double t = plain[k * n + j];
                plain[k * n + j] = plain[p * n + j];
                plain[p * n + j] = t;
            }
            for (int i = k + 1; i < n; i++) {
                plain[i * n + k] /= plain[k * n + k];
                for (int j = k + 1; j < n; j++) {
                    plain[i * n + j] -= plain[i * n + k] * plain[k * n + j];
                }
            }
        }
        for (int i = 0; i < n * n; i++) CHECK_NEAR(LU[i], plain[i], 1e-11);
    }
}

/* A = product of n x rank and rank x n random factors. */
static void fill_rank(rb_rng *rng, double *M, int n, int rank)
{
    static double left[MOST * MOST], right[MOST * MOST];
    fill(rng, left, n * rank);
    fill(rng, right, rank * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) sum += left[i * rank + k] * right[k * n + j];
            M[i * n + j] = sum;
        }
    }
}

TEST(lu_finds_the_rank)
{
    int row[MOST], col[MOST];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 2 + (int)(seed % (MOST - 2)), rank = (int)(rb_rng_next(&rng) % (unsigned)n);
        fill_rank(&rng, A, n, rank);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_lu_factor_full(LU, n, row, col, 1e-11), rank);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_lu_factor(LU, n, perm), rank);
    }
    memset(LU, 0, sizeof LU);
    CHECK_INT(rb_lu_factor(LU, 5, perm), 0);
    CHECK_INT(rb_lu_factor_full(LU, 5, row, col, 1e-11), 0);
    CHECK_INT(rb_lu_factor(LU, 0, perm), 0);
}

/* A small but regular row is not a singular one. */
TEST(lu_rank_is_relative)
{
    double M[4] = { 1e-200, 0.0, 0.0, 3e-200 };
    CHECK_INT(rb_lu_factor(M, 2, perm), 2);
    double scaled[4] = { 1.0, 0.0, 0.0, 1e-10 };
    CHECK_INT(rb_lu_factor(scaled, 2, perm), 2);
    double singular[4] = { 1.0, 0.0, 0.0, 1e-15 };
    CHECK_INT(rb_lu_factor(singular, 2, perm), 1);
    double poisoned[4] = { 1.0, 0.0, 0.0, NAN };
    CHECK(rb_lu_factor(poisoned, 2, perm) < 2);
}

/* row, col are permutations and L U is A in that order, for the rows and columns of the rank. */
TEST(full_pivoting_reproduces_the_matrix)
{
    int row[MOST], col[MOST];
    for (uint64_t seed = 1; seed <= 80; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 1 + (int)(seed % 30), rank = 1 + (int)(rb_rng_next(&rng) % (unsigned)n);
        fill_rank(&rng, A, n, rank);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_lu_factor_full(LU, n, row, col, 1e-11), rank);
        int seen_row[MOST] = { 0 }, seen_col[MOST] = { 0 };
        for (int k = 0; k < n; k++) {
            seen_row[row[k]]++;
            seen_col[col[k]]++;
        }
        for (int k = 0; k < n; k++) CHECK(seen_row[k] == 1 && seen_col[k] == 1);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k <= i && k <= j && k < rank; k++) {
                    sum += (k == i ? 1.0 : LU[i * n + k]) * LU[k * n + j];
                }
                CHECK_NEAR(sum, A[row[i] * n + col[j]], 1e-11 * n);
            }
        }
    }
}

/* The true 1-norm condition by inverting column by column. */
TEST(rcond_is_close_to_the_condition)
{
    static double column[MOST], work[2 * MOST];
    int tight = 0, all = 0;
    for (uint64_t seed = 1; seed <= 160; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 1 + (int)(seed % MOST);
        fill(&rng, A, n * n);

        /* some badly scaled rows, so that the condition spans many decades */
        double small = 1.0;
        for (uint64_t k = 0; k < seed % 8; k++) small *= 0.1;
        for (int j = 0; j < n; j++) A[j] *= small;
        double norm = norm1(A, n), inverse = 0.0;
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_lu_factor(LU, n, perm), n);
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            memset(column, 0, sizeof column);
            column[j] = 1.0;
            rb_lu_solve(LU, n, perm, column);
            for (int i = 0; i < n; i++) sum += fabs(column[i]);
            inverse = fmax(inverse, sum);
        }
        double truth = 1.0 / (norm * inverse), guess = rb_lu_rcond(LU, n, perm, norm, work);
        CHECK(guess >= truth * (1.0 - 1e-10)); /* a lower bound of |A^-1| */
        CHECK(guess <= 10.0 * truth);
        tight += guess <= 1.01 * truth;
        all++;
    }
    CHECK(tight > all / 2);
    CHECK(rb_lu_rcond(LU, 0, perm, 1.0, work) == 0.0);
    CHECK(rb_lu_rcond(LU, 3, perm, 0.0, work) == 0.0);
}

/* ---- LDL' --------------------------------------------------------------------------------------
 */

static void fill_psd(rb_rng *rng, double *M, int n, int rank)
{
    static double J[MOST * MOST];
    fill(rng, J, n * rank);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) M[i * n + j] = plain_dot(J + i * rank, J + j * rank, rank);
    }
}

TEST(ldl_solves_definite_systems)
{
    double x[MOST], b[MOST], work[MOST];
    for (int n = 1; n <= MOST; n++) {
        TEST_SEED(n);
        rb_rng rng = rb_rng_make((uint64_t)n);
        fill_psd(&rng, A, n, n);
        for (int i = 0; i < n; i++) A[i * n + i] += 0.5;
        fill(&rng, b, n);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_ldl_factor(LU, n, perm, 1e-13), n);
        memcpy(x, b, sizeof x);
        rb_ldl_solve(LU, n, n, perm, x, work);
        CHECK(backward_error(A, n, x, b, 0) <= 8.0 * DBL_EPSILON);
    }
}

/* Only the lower triangle is read. */
TEST(ldl_ignores_the_upper_triangle)
{
    double x[3] = { 1.0, 2.0, 3.0 }, work[3];
    double M[9] = { 4.0, NAN, NAN, 1.0, 3.0, NAN, 0.5, 1.0, 2.0 };
    const double full[9] = { 4.0, 1.0, 0.5, 1.0, 3.0, 1.0, 0.5, 1.0, 2.0 };
    const double b[3] = { 1.0, 2.0, 3.0 };
    CHECK_INT(rb_ldl_factor(M, 3, perm, 1e-13), 3);
    rb_ldl_solve(M, 3, 3, perm, x, work);
    CHECK(backward_error(full, 3, x, b, 0) <= 8.0 * DBL_EPSILON);
}

/* Rows of A, n apart, with room for whole fours and zeros there. */
static void pad(const double *from, int n, double *to)
{
    memset(to, 0, (size_t)n * (size_t)rb_padded(n) * sizeof *to);
    for (int i = 0; i < n; i++) memcpy(to + i * rb_padded(n), from + i * n, (size_t)n * sizeof *to);
}

/* The upper triangle by plain elimination, row by row. */
static void plain_ldl(double *U, int n)
{
    for (int k = 0; k < n; k++) {
        double inverse = 1.0 / U[k * n + k];
        for (int i = k + 1; i < n; i++) {
            double l = U[k * n + i] * inverse;
            for (int j = i; j < n; j++) U[i * n + j] -= l * U[k * n + j];
        }
    }
}

/* Positive matrices of every size have the bits of plain elimination; only the upper triangle
 * counts; what is not positive is refused. */
TEST(ldl_of_positive_matrices)
{
    static double plain[MOST * MOST], wide[MOST * (MOST + 3)];
    double x[MOST + 3], b[MOST];
    for (int n = 1; n <= MOST; n++) {
        TEST_SEED(n);
        rb_rng rng = rb_rng_make((uint64_t)n);
        fill_psd(&rng, A, n, n);
        for (int i = 0; i < n; i++) A[i * n + i] += 0.5;
        fill(&rng, b, n);
        memcpy(plain, A, sizeof A);
        plain_ldl(plain, n);
        pad(A, n, wide);
        for (int i = 1; i < n; i++) {
            for (int j = 0; j < i; j++) wide[i * rb_padded(n) + j] = NAN;
        }
        CHECK(rb_ldl_positive(wide, n));
        for (int i = 0; i < n; i++)
            CHECK(memcmp(wide + i * rb_padded(n) + i, plain + i * n + i,
                         (size_t)(n - i) * sizeof *wide) == 0);
        memset(x, 0, sizeof x);
        memcpy(x, b, (size_t)n * sizeof *x);
        rb_ldl_positive_solve(wide, n, x);
        CHECK(backward_error(A, n, x, b, 0) <= 8.0 * DBL_EPSILON);
    }
    double singular[8] = { 1.0, 1.0, 0.0, 0.0, 1.0, 1.0 };
    double negative[8] = { 1.0, 2.0, 0.0, 0.0, 2.0, 1.0 };
    CHECK(!rb_ldl_positive(singular, 2));
    CHECK(!rb_ldl_positive(negative, 2));
}

/* Room behind the rows changes nothing: factors, pivots and answers to the bit. */
TEST(lu_with_room_is_lu)
{
    static double wide[MOST * (MOST + 3)];
    static int other[MOST];
    double x[MOST], y[MOST];
    for (int n = 1; n <= MOST; n++) {
        TEST_SEED(n);
        rb_rng rng = rb_rng_make((uint64_t)n + 900);
        fill(&rng, A, n * n);
        fill(&rng, x, n);
        memcpy(y, x, sizeof y);
        pad(A, n, wide);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_lu_factor(LU, n, perm), n);
        CHECK_INT(rb_lu_factor_padded(wide, n, other), n);
        CHECK(memcmp(perm, other, (size_t)n * sizeof *perm) == 0);
        for (int i = 0; i < n; i++)
            CHECK(memcmp(wide + i * rb_padded(n), LU + i * n, (size_t)n * sizeof *wide) == 0);
        rb_lu_solve(LU, n, perm, x);
        rb_lu_solve_padded(wide, n, other, y);
        CHECK(memcmp(x, y, (size_t)n * sizeof *x) == 0);
    }
}

/* A right side in the range is met with rank entries, the others zero. */
TEST(ldl_finds_the_rank_and_solves_in_the_range)
{
    double x[MOST], b[MOST], y[MOST], work[MOST];
    for (uint64_t seed = 1; seed <= 150; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 2 + (int)(seed % 60), rank = 1 + (int)(rb_rng_next(&rng) % (unsigned)(n - 1));
        fill_psd(&rng, A, n, rank);
        fill(&rng, y, n);
        for (int i = 0; i < n; i++) b[i] = plain_dot(A + i * n, y, n);
        memcpy(LU, A, sizeof A);
        CHECK_INT(rb_ldl_factor(LU, n, perm, 1e-11), rank);
        memcpy(x, b, sizeof x);
        rb_ldl_solve(LU, n, rank, perm, x, work);
        int nonzero = 0;
        for (int i = 0; i < n; i++) nonzero += x[i] != 0.0;
        CHECK(nonzero <= rank);
        double scale = rb_norm_inf(b, n) + rb_norm_inf(A, n * n) * rb_norm_inf(x, n);
        for (int i = 0; i < n; i++) CHECK_NEAR(plain_dot(A + i * n, x, n), b[i], 1e-11 * scale);
    }
    double negative[4] = { 1.0, 0.0, 0.0, -1.0 };
    CHECK_INT(rb_ldl_factor(negative, 2, perm, 1e-13), 1);
}

/* ---- doubled precision -------------------------------------------------------------------------
 */

/* Integers of 31 bits: products have 62, the sum of 1,000 of them is formed in 128. */
TEST(compensated_dot_is_exact_on_integers)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef __int128 wide;
    static double a[1002], x[1002];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        int n = 1 + (int)(seed * 5 % 1000);
        wide sum = 0;
        for (int i = 0; i < n; i++) {
            a[i] = (double)(int32_t)rb_rng_next(&rng);
            x[i] = (double)(int32_t)rb_rng_next(&rng);
            sum += (wide)a[i] * (wide)x[i];
        }

        /* subtract the sum but for a small number: all leading digits cancel */
        int64_t small = (int64_t)(rb_rng_next(&rng) % 1000) + 1;
        wide rest = sum - small, high = rest >> 31;
        a[n] = -(double)high; /* rounded: what it misses goes into the next term */
        x[n] = 2147483648.0;
        wide missed = rest + (wide)a[n] * (wide)2147483648.0;
        CHECK(missed < ((wide)1 << 53) && missed > -((wide)1 << 53));
        a[n + 1] = -(double)missed;
        x[n + 1] = 1.0;
        double b = 0.0, plain = b;
        CHECK(rb_dot_comp(a, x, n + 2, b) == (double)small);
        for (int i = 0; i < n + 2; i++) plain += a[i] * x[i];
        if (n > 500) CHECK(plain != (double)small); /* the plain sum does not get it right */
    }
#else
    SKIP("no 128-bit integers");
#endif
}

TEST(compensated_dot_by_hand)
{
    /* (1 + 2^-30)^2 - (1 + 2^-29) = 2^-60 */
    const double e = 9.313225746154785e-10;
    const double a[1] = { 1.0 + e }, x[1] = { 1.0 + e };
    CHECK(rb_dot_comp(a, x, 1, -(1.0 + 2.0 * e)) == e * e);
    CHECK(rb_dot_comp(a, x, 0, 4.5) == 4.5);

    /* 1e16 + 1 - 1e16 in any order */
    const double big[3] = { 1e16, 1.0, -1e16 }, one[3] = { 1.0, 1.0, 1.0 };
    CHECK(rb_dot_comp(big, one, 3, 0.0) == 1.0);
    CHECK(rb_dot_comp(big, one, 2, -1e16) == 1.0);
}

/* Condition 1e10 .. 1e25: the error is eps plus eps^2 times the condition. */
TEST(compensated_dot_against_long_double)
{
#if LDBL_MANT_DIG >= 64
    static double a[100], x[100];
    for (uint64_t seed = 1; seed <= 200; seed++) {
        TEST_SEED(seed);
        rb_rng rng = rb_rng_make(seed);
        fill(&rng, a, 100);
        fill(&rng, x, 100);
        long double sum = 0.0L;
        for (int i = 0; i < 100; i++) sum += (long double)a[i] * x[i];
        double b = -(double)sum; /* leaves about 1e-17 */
        long double rest = sum + b;
        double comp = rb_dot_comp(a, x, 100, b);

        /* the sum in 64 bits is itself off by up to 100 roundings of 1e-19 times 25 */
        CHECK(fabsl(comp - rest) <= 100.0L * 25.0L * LDBL_EPSILON / 2.0L);
    }
#else
    SKIP("long double is not wider than double");
#endif
}

TEST_MAIN(RUN(dot_has_the_bits_of_four_accumulators), RUN(kernels_that_go_backwards),
          RUN(gemv_rows_are_dots), RUN(axpy_and_rank1_touch_each_entry_once),
          RUN(gemm_updates_in_the_order_of_k), RUN(norms), RUN(lu_solves_every_size),
          RUN(lu_is_plain_elimination), RUN(lu_with_room_is_lu), RUN(lu_finds_the_rank),
          RUN(lu_rank_is_relative), RUN(full_pivoting_reproduces_the_matrix),
          RUN(rcond_is_close_to_the_condition), RUN(ldl_solves_definite_systems),
          RUN(ldl_ignores_the_upper_triangle), RUN(ldl_of_positive_matrices),
          RUN(ldl_finds_the_rank_and_solves_in_the_range),
          RUN(compensated_dot_is_exact_on_integers), RUN(compensated_dot_by_hand),
          RUN(compensated_dot_against_long_double))
