/* Cholesky factorisation with diagonal pivoting, which ends where what is left is rounding:
 *
 *     W = Y Y',    Y (n x rank)
 *
 * Contacts of one pair of bodies repeat each other, so that the rank is in general far less than
 * the number of rows. What Newton's method and interior points need of the bodies is Y alone. */
#include "solve/cone_root.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

/* What is left of a row of W, relative to its diagonal, that is rounding; this many times what W
 * and W' differ by, where loops were taken out of W and the rounding is theirs [1]. */
#define SPENT 1e-13
#define NOISE 4.0

/* Entries of W and W' differ by no more, relative to their diagonals [1]. */
#define SYMMETRIC 1e-9

void rb_root_matrix(const rb_cones *k, double *W)
{
    int dim = k->dim;
    ptrdiff_t n = k->n;
    memset(W, 0, (size_t)n * (size_t)n * sizeof *W);
    for (int c = 0; c < k->nc; c++) {
        for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
            const double *block = k->W.val + (ptrdiff_t)e * dim * dim;
            double *at = W + (ptrdiff_t)c * dim * n + (ptrdiff_t)k->W.col[e] * dim;
            for (int i = 0; i < dim; i++)
                memcpy(at + (ptrdiff_t)i * n, block + i * dim, (size_t)dim * sizeof *at);
        }
    }
}

double rb_root_noise(const double *W, int n)
{
    double noise = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double own = W[i * n + i];
        if (!(own >= 0.0)) return INFINITY;
        for (ptrdiff_t j = 0; j < n; j++) {
            double off = fabs(W[i * n + j] - W[j * n + i]);
            if (off == 0.0) continue;
            double most = sqrt(fabs(own * W[j * n + j]));
            if (!(off <= SYMMETRIC * most)) return INFINITY;
            if (off > noise * most) noise = off / most;
        }
    }
    return noise;
}

double rb_root_spent(double noise)
{
    return fmax(SPENT, NOISE * noise);
}

/* Row with most left, relative to its diagonal; -1: rounding is all there is. */
static int next_pivot(const double *W, int n, const double *left, double spent)
{
    int best = -1;
    double most = spent;
    for (int i = 0; i < n; i++) {
        double share = left[i] > 0.0 ? left[i] / W[(ptrdiff_t)i * (n + 1)] : 0.0;
        if (share > most) {
            most = share;
            best = i;
        }
    }
    return best;
}

int rb_root_factor(const double *W, int n, double spent, int width, double *left, double *Y)
{
    int rank = 0;
    for (int p; (p = next_pivot(W, n, left, spent)) >= 0; rank++) {
        if (rank == width) return -1;
        const double *Y_p = Y + (ptrdiff_t)p * width;
        double root = sqrt(left[p]);
        for (ptrdiff_t i = 0; i < n; i++) {
            double *Y_i = Y + i * width;
            if (left[i] < 0.0) {
                Y_i[rank] = 0.0;
            } else if (i != p) {
                Y_i[rank] = (W[i * n + p] - rb_dot(Y_i, Y_p, rank)) / root;
                left[i] = fmax(0.0, left[i] - Y_i[rank] * Y_i[rank]);
            }
        }
        Y[(ptrdiff_t)p * width + rank] = root;
        left[p] = -1.0; /* done */
    }
    return rank;
}

/* J is Y and Minv is 1. */
static rb_status write_operator(int n, int rank, int width, const double *Y, rb_arena *scratch,
                                rb_operator **out)
{
    size_t rows = (size_t)n, columns = (size_t)rank;
    rb_operator *op = rb_push(scratch, rb_operator, 1);
    int *jptr = rb_push(scratch, int, rows + 1), *jcol = rb_push(scratch, int, rows *columns);
    double *jval = rb_push(scratch, double, rows *columns);
    double *minv = rb_push(scratch, double, columns *columns);
    int *start = rb_push(scratch, int, 2);
    if (!op || !jptr || !jcol || !jval || !minv || !start) return RB_NOMEM;
    memset(minv, 0, columns * columns * sizeof *minv);
    for (int j = 0; j < rank; j++) minv[(ptrdiff_t)j * (rank + 1)] = 1.0;
    for (int i = 0; i <= n; i++) jptr[i] = i * rank;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < rank; j++) jcol[i * rank + j] = j;
        memcpy(jval + i * rank, Y + (ptrdiff_t)i * width, columns * sizeof *jval);
    }
    start[0] = 0;
    start[1] = rank;
    *op = (rb_operator){ rank, jptr, jcol, jval, 1, start, minv };
    *out = op;
    return RB_OK;
}

rb_status rb_root_operator(const rb_cones *k, rb_arena *scratch, rb_operator **out)
{
    int n = k->n;
    size_t rows = (size_t)n;
    double *W = rb_push(scratch, double, rows *rows), *Y = rb_push(scratch, double, rows *rows);
    double *left = rb_push(scratch, double, rows);
    *out = NULL;
    if (!W || !Y || !left) return RB_NOMEM;
    rb_root_matrix(k, W);
    double noise = rb_root_noise(W, n);
    if (!(noise < INFINITY)) return RB_OK;
    for (int i = 0; i < n; i++) left[i] = W[(ptrdiff_t)i * (n + 1)];
    int rank = rb_root_factor(W, n, rb_root_spent(noise), n, left, Y);
    return rank > 0 ? write_operator(n, rank, n, Y, scratch, out) : RB_OK;
}
