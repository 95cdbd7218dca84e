/* Newton's system of few degrees of freedom under many contacts. Ten points between two links have
 * thirty rows, and two links have six relative freedoms at most: W of a robot in a heap of
 * its own limbs has a rank of 10 to 20 in 50 to 150 rows. With the factor Y of that rank,
 *
 *     W = Y Y' + diag(own),      own: rows that nothing couples to
 *     (A + B (W + eps)) dr = -F,   C = (A + B (eps + own))^-1,   D = C B
 *     dr = -C F - D Y v,   (I + Y'DY) v = -Y'C F                                            (K.11)
 *
 * where the matrix has the rows of the rank. Y comes from a Cholesky factorisation with diagonal
 * pivoting that ends where what is left is rounding. F is evaluated with W itself, so that this
 * rounding, like that of D, whose entries are as large as 1 / eps, touches directions only. */
#include "solve/newton_thin.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/cone_root.h"

enum {
    LEAST_ROWS = 18, /* below, an LU of all rows is as quick                                   */
    MANY_ROWS = 450, /* beyond, an eighth of W has to be there                                */
    MOST_ROWS = 3000 /* W is 72 MB                                                             */
};

/* Largest rank, relative to the rows, for which the small system pays [1]. */
#define SHARE 0.4

/* ---- the factor -------------------------------------------------------------------------------
 */

/* Rows with nothing but a diagonal go to own; what is left of the others begins with their
 * diagonals. */
static void take_rows(rb_thin *s, double *left)
{
    ptrdiff_t n = s->n;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *W = s->W + i * n;
        int coupled = 0;
        for (ptrdiff_t j = 0; j < n && !coupled; j++)
            coupled = j != i && (W[j] != 0.0 || s->W[j * n + i] != 0.0);
        s->own[i] = coupled ? 0.0 : W[i];
        left[i] = coupled ? W[i] : 0.0;
    }
}

/* Columns of Y, `width` apart; 0: there are more than `width`, or W is not symmetric. */
static int factor(rb_thin *s, int width, double *left)
{
    double noise = rb_root_noise(s->W, s->n);
    if (!(noise < INFINITY)) return 0;
    take_rows(s, left);
    s->rank = rb_root_factor(s->W, s->n, rb_root_spent(noise), width, left, s->Y);
    return s->rank >= 0;
}

/* Pivots were left out of later columns: those entries are zero already. Rows move together. */
static void pack(rb_thin *s, int width)
{
    for (ptrdiff_t i = 0; i < s->n; i++)
        memmove(s->Y + i * s->rank, s->Y + i * width, (size_t)s->rank * sizeof *s->Y);
}

/* Few bodies, so that every contact feels most others. */
static int may_be_thin(const rb_cones *k)
{
    if (k->dim != 3 || k->n < LEAST_ROWS || k->n > MOST_ROWS) return 0;
    return k->n <= MANY_ROWS || 8.0 * k->W.ptr[k->nc] >= (double)k->nc * k->nc;
}

rb_status rb_thin_make(const rb_cones *k, rb_arena *scratch, rb_thin **out)
{
    int n = k->n, width = (int)(SHARE * n);
    *out = NULL;
    if (!may_be_thin(k)) return RB_OK;
    size_t rows = (size_t)n, nc = (size_t)k->nc, most = (size_t)width;
    rb_mark mark = rb_arena_mark(scratch);
    rb_thin *s = rb_push(scratch, rb_thin, 1);
    double *x = rb_push(scratch, double,
                        rows *rows + 3 * rows * most + most * most + 2 * rows + most + 18 * nc);
    int *index = rb_push(scratch, int, most + nc);
    if (!s || !x || !index) return RB_NOMEM;
    *s = (rb_thin){ .n = n, .nc = k->nc };
    s->W = x;
    s->Y = s->W + rows * rows;
    s->side = s->Y + rows * most;
    s->E = s->side + rows * most;
    s->K = s->E + rows * most;
    s->own = s->K + most * most;
    s->v = s->own + rows;
    s->C = s->v + most;
    s->D = s->C + 9 * nc;
    double *left = s->D + 9 * nc;
    s->perm = index;
    s->active = index + most;
    rb_root_matrix(k, s->W);
    if (!factor(s, width, left)) {
        rb_arena_reset(scratch, mark);
        return RB_OK;
    }
    pack(s, width);
    *out = s;
    return RB_OK;
}

void rb_thin_velocity(const rb_thin *s, const double *q, const double *r, double *u)
{
    rb_gemv(s->W, s->n, s->n, s->n, r, u);
    for (int i = 0; i < s->n; i++) u[i] += q[i];
}

/* ---- the system -------------------------------------------------------------------------------
 */

/* C and D of a contact; 0: its block is singular. */
static int invert(rb_thin *s, int c, const double *A, const double *B, double eps)
{
    const double *own = s->own + 3 * (ptrdiff_t)c;
    double *C = s->C + 9 * (ptrdiff_t)c, *D = s->D + 9 * (ptrdiff_t)c, M[9];
    for (int i = 0; i < 9; i++) M[i] = A[i] + B[i] * (eps + own[i % 3]);
    C[0] = M[4] * M[8] - M[5] * M[7];
    C[1] = M[2] * M[7] - M[1] * M[8];
    C[2] = M[1] * M[5] - M[2] * M[4];
    C[3] = M[5] * M[6] - M[3] * M[8];
    C[4] = M[0] * M[8] - M[2] * M[6];
    C[5] = M[2] * M[3] - M[0] * M[5];
    C[6] = M[3] * M[7] - M[4] * M[6];
    C[7] = M[1] * M[6] - M[0] * M[7];
    C[8] = M[0] * M[4] - M[1] * M[3];
    double det = M[0] * C[0] + M[1] * C[3] + M[2] * C[6], over = 1.0 / det;
    if (!isfinite(over)) return 0;
    for (int i = 0; i < 9; i++) C[i] *= over;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            D[3 * i + j] = C[3 * i] * B[j] + C[3 * i + 1] * B[3 + j] + C[3 * i + 2] * B[6 + j];
    }
    return 1;
}

/* Three rows of E = -D Y and columns of side = Y' for the active contact a. */
static void gather(rb_thin *s, int a)
{
    int k = s->rank, m = 3 * s->nactive, c = s->active[a];
    const double *Y = s->Y + (ptrdiff_t)3 * c * k, *D = s->D + 9 * (ptrdiff_t)c;
    double *E = s->E + (ptrdiff_t)3 * a * k, *side = s->side + 3 * a;
    for (int j = 0; j < k; j++) {
        double x = Y[j], y = Y[k + j], z = Y[2 * k + j];
        E[j] = -(D[0] * x + D[1] * y + D[2] * z);
        E[k + j] = -(D[3] * x + D[4] * y + D[5] * z);
        E[2 * k + j] = -(D[6] * x + D[7] * y + D[8] * z);
        side[(ptrdiff_t)j * m] = x;
        side[(ptrdiff_t)j * m + 1] = y;
        side[(ptrdiff_t)j * m + 2] = z;
    }
}

int rb_thin_factor(rb_thin *s, const double *A, const double *B, const double *eps,
                   const unsigned char *mode)
{
    int k = s->rank;
    s->nactive = 0;
    for (int c = 0; c < s->nc; c++) {
        if (!invert(s, c, A + 9 * (ptrdiff_t)c, B + 9 * (ptrdiff_t)c, eps[c])) return 0;
        if (mode[c] != RB_MODE_OPEN) s->active[s->nactive++] = c;
    }
    for (int a = 0; a < s->nactive; a++) gather(s, a);
    memset(s->K, 0, (size_t)k * (size_t)k * sizeof *s->K);
    for (int i = 0; i < k; i++) s->K[(ptrdiff_t)i * (k + 1)] = 1.0;
    rb_gemm_sub(s->side, 3 * s->nactive, s->E, k, s->K, k, k, 3 * s->nactive, k);
    return rb_lu_factor_above(s->K, k, s->perm, 0.0) == k;
}

/* out = M x of one contact */
static void apply(const double *M, const double *x, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = M[3 * i] * x[0] + M[3 * i + 1] * x[1] + M[3 * i + 2] * x[2];
}

void rb_thin_solve(rb_thin *s, const double *F, double *dr)
{
    int k = s->rank;
    memset(s->v, 0, (size_t)k * sizeof *s->v);
    for (int c = 0; c < s->nc; c++) {
        double *x = dr + 3 * (ptrdiff_t)c;
        apply(s->C + 9 * (ptrdiff_t)c, F + 3 * (ptrdiff_t)c, x);
        for (int i = 0; i < 3; i++) {
            x[i] = -x[i];
            rb_axpy(x[i], s->Y + (3 * (ptrdiff_t)c + i) * k, s->v, k);
        }
    }
    rb_lu_solve(s->K, k, s->perm, s->v);
    for (int a = 0; a < s->nactive; a++) {
        double *x = dr + 3 * (ptrdiff_t)s->active[a];
        for (int i = 0; i < 3; i++) x[i] += rb_dot(s->E + (ptrdiff_t)(3 * a + i) * k, s->v, k);
    }
}

int rb_thin_crowded(const rb_thin *s, const unsigned char *mode)
{
    int rows = 0;
    for (int c = 0; c < s->nc; c++) {
        int held = mode[c] == RB_MODE_STICK ? 3 : mode[c] == RB_MODE_SLIDE ? 1 : 0;
        for (int i = 0; i < held; i++) rows += s->own[3 * c + i] == 0.0;
    }
    return rows > s->rank;
}
