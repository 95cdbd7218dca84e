/* Newton's system with the bodies as unknowns. With W = Y Y' and the change of velocity v = Y' dr,
 *
 *     (A + B (W + eps)) dr = -F        C = (A + eps B)^-1,   D = C B
 *     dr = -C F - D Y v                                                                    (K.9)
 *     (I + Y'DY) v = -Y'C F                                                                (K.10)
 *
 * C and D are blocks of one contact each; I + Y'DY has a block for each body and one for each pair
 * of bodies that touch, however often. A pile has some 2.5 contacts for each body, and the cliques
 * that contacts of one body form in W are single blocks here: 6 numbers for each body in a
 * separator instead of 8, half of the operations, and blocks large enough for vectors.
 *
 * Rounding: D has entries of 1/eps, so that directions are right to some 1e-16 / eps; F is
 * evaluated without any of this. */
#include "solve/newton_bodies.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/sort.h"

enum { MAX_FILL = 10000000 }; /* blocks of L: 3 GB */

/* ---- what W is made of ------------------------------------------------------------------------
 */

/* Lower factor of a symmetric positive definite block in place; 0: it is not. */
static int cholesky(double *A, int n)
{
    for (int j = 0; j < n; j++) {
        double *A_j = A + (ptrdiff_t)j * n;
        for (int i = j; i < n; i++) {
            double *A_i = A + (ptrdiff_t)i * n, sum = A_i[j];
            for (int k = 0; k < j; k++) sum -= A_i[k] * A_j[k];
            if (i == j && !(sum > 0.0)) return 0;
            A_i[j] = i == j ? sqrt(sum) : sum / A_j[j];
        }
    }
    return 1;
}

typedef struct parts {
    const rb_operator *op;
    double *root; /* lower factors of Minv                                      (as op->minv) */
    int *of;      /* block of op that a dof belongs to                          (m)           */
    int *root_at; /* where its factor begins                                    (nblock)      */
    int *slot;    /* first block of 6 of a block of op, -1: not touched         (nblock)      */
} parts;

/* 0: Minv is not what it should be. */
static rb_status take_parts(const rb_operator *op, rb_arena *scratch, parts *p, int *ok)
{
    size_t size = 0;
    *p = (parts){ .op = op };
    *ok = 0;
    for (int b = 0; b < op->nblock; b++) {
        size_t k = (size_t)(op->start[b + 1] - op->start[b]);
        size += k * k;
    }
    if (size > INT_MAX) return RB_OK;
    p->root = rb_push(scratch, double, size);
    p->of = rb_push(scratch, int, op->m);
    p->root_at = rb_push(scratch, int, op->nblock);
    p->slot = rb_push(scratch, int, op->nblock);
    if (!p->root || !p->of || !p->root_at || !p->slot) return RB_NOMEM;
    memcpy(p->root, op->minv, size * sizeof *p->root);
    int at = 0;
    for (int b = 0; b < op->nblock; b++) {
        int k = op->start[b + 1] - op->start[b];
        for (int d = op->start[b]; d < op->start[b + 1]; d++) p->of[d] = b;
        p->root_at[b] = at;
        p->slot[b] = -1;
        if (!cholesky(p->root + at, k)) return RB_OK;
        at += k * k;
    }
    *ok = 1;
    return RB_OK;
}

static int width(const rb_operator *op, int b)
{
    return (op->start[b + 1] - op->start[b] + 5) / 6;
}

static int row_of(const rb_cones *k, int c)
{
    return 3 * (k->contact ? k->contact[c] : c);
}

/* Blocks of op that contact c touches, in the order of their dofs, into `list`; returns how many.
 * seen[b] == c + 1: already listed. */
static int touched(const rb_cones *k, const parts *p, int c, int *seen, int *list)
{
    const rb_operator *op = p->op;
    int n = 0, row = row_of(k, c);
    for (int e = op->jptr[row]; e < op->jptr[row + 3]; e++) {
        int b = p->of[op->jcol[e]];
        if (seen[b] == c + 1) continue;
        seen[b] = c + 1;
        list[n++] = b;
    }
    rb_sort_ints(list, n);
    return n;
}

/* Y of contact c in the columns of block b of op: J times the factor of Minv. */
static void write_rows(const rb_cones *k, const parts *p, int c, int b, double *Y)
{
    const rb_operator *op = p->op;
    int begin = op->start[b], n = op->start[b + 1] - begin;
    const double *root = p->root + p->root_at[b];
    memset(Y, 0, (size_t)width(op, b) * 18 * sizeof *Y);
    for (int r = 0; r < 3; r++) {
        int row = row_of(k, c) + r;
        for (int e = op->jptr[row]; e < op->jptr[row + 1]; e++) {
            int i = op->jcol[e] - begin;
            if (i < 0 || i >= n) continue;
            for (int j = 0; j <= i; j++)
                Y[j / 6 * 18 + 6 * r + j % 6] += op->jval[e] * root[(ptrdiff_t)i * n + j];
        }
    }
}

static rb_status write_entries(rb_bodies *s, const rb_cones *k, parts *p, rb_arena *scratch)
{
    int nblock = p->op->nblock;
    int *seen = rb_push(scratch, int, nblock), *list = rb_push(scratch, int, nblock);
    s->first = rb_push(scratch, int, k->nc + 1);
    s->pair = rb_push(scratch, int, k->nc + 1);
    if (!seen || !list || !s->first || !s->pair) return RB_NOMEM;
    memset(seen, 0, (size_t)nblock * sizeof *seen);
    s->first[0] = s->pair[0] = 0;
    for (int c = 0; c < k->nc; c++) {
        int entries = 0, n = touched(k, p, c, seen, list);
        for (int i = 0; i < n; i++) {
            entries += width(p->op, list[i]);
            p->slot[list[i]] = 0;
        }
        s->first[c + 1] = s->first[c] + entries;
        s->pair[c + 1] = s->pair[c] + entries * entries;
    }
    for (int b = 0; b < nblock; b++) {
        if (p->slot[b] < 0) continue;
        p->slot[b] = s->nb;
        s->nb += width(p->op, b);
    }
    s->block = rb_push(scratch, int, s->first[k->nc]);
    s->Y = rb_push(scratch, double, 18 * (size_t)s->first[k->nc]);
    if (!s->block || !s->Y) return RB_NOMEM;
    memset(seen, 0, (size_t)nblock * sizeof *seen);
    for (int c = 0, e = 0; c < k->nc; c++) {
        int n = touched(k, p, c, seen, list);
        for (int i = 0; i < n; i++) {
            write_rows(k, p, c, list[i], s->Y + 18 * (ptrdiff_t)e);
            for (int j = 0; j < width(p->op, list[i]); j++) s->block[e++] = p->slot[list[i]] + j;
        }
    }
    return RB_OK;
}

/* ---- the pattern of K -------------------------------------------------------------------------
 */

/* Entries of each block, as lists: which contacts touch it. */
static rb_status list_contacts(const rb_bodies *s, rb_arena *scratch, int **start, int **list)
{
    int *begin = rb_push(scratch, int, s->nb + 2), *of = rb_push(scratch, int, s->first[s->nc]);
    if (!begin || !of) return RB_NOMEM;
    memset(begin, 0, ((size_t)s->nb + 2) * sizeof *begin);
    for (int e = 0; e < s->first[s->nc]; e++) begin[s->block[e] + 2]++;
    for (int b = 0; b < s->nb; b++) begin[b + 2] += begin[b + 1];
    for (int c = 0; c < s->nc; c++) {
        for (int e = s->first[c]; e < s->first[c + 1]; e++) of[begin[s->block[e] + 1]++] = c;
    }
    *start = begin;
    *list = of;
    return RB_OK;
}

static rb_status write_pattern(rb_bodies *s, rb_arena *scratch)
{
    int *start = NULL, *list = NULL;
    rb_status status = list_contacts(s, scratch, &start, &list);
    int *seen = rb_push(scratch, int, s->nb);
    s->ptr = rb_push(scratch, int, s->nb + 1);
    s->col = rb_push(scratch, int, s->nb + s->pair[s->nc]);
    s->at = rb_push(scratch, int, s->pair[s->nc]);
    if (status != RB_OK || !seen || !s->ptr || !s->col || !s->at) return RB_NOMEM;
    for (int b = 0; b < s->nb; b++) seen[b] = -1;
    int used = 0;
    for (int b = 0; b < s->nb; b++) {
        s->ptr[b] = used;
        seen[b] = b;
        s->col[used++] = b;
        for (int i = start[b]; i < start[b + 1]; i++) {
            for (int e = s->first[list[i]]; e < s->first[list[i] + 1]; e++) {
                if (seen[s->block[e]] == b) continue;
                seen[s->block[e]] = b;
                s->col[used++] = s->block[e];
            }
        }
        rb_sort_ints(s->col + s->ptr[b], used - s->ptr[b]);
    }
    s->ptr[s->nb] = used;
    return RB_OK;
}

static int find(const rb_bodies *s, int row, int col)
{
    int lo = s->ptr[row], hi = s->ptr[row + 1] - 1;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (s->col[middle] < col)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static void place_pairs(rb_bodies *s)
{
    for (int c = 0; c < s->nc; c++) {
        int at = s->pair[c];
        for (int i = s->first[c]; i < s->first[c + 1]; i++) {
            for (int j = s->first[c]; j < s->first[c + 1]; j++)
                s->at[at++] = find(s, s->block[i], s->block[j]);
        }
    }
}

static rb_status take_memory(rb_bodies *s, rb_arena *scratch)
{
    s->K = rb_push(scratch, double, 36 * (size_t)s->ptr[s->nb]);
    s->C = rb_push(scratch, double, 9 * (size_t)s->nc);
    s->D = rb_push(scratch, double, 9 * (size_t)s->nc);
    s->v = rb_push(scratch, double, 6 * (size_t)s->nb);
    s->work = rb_push(scratch, double, 6 * (size_t)s->nb);
    return s->K && s->C && s->D && s->v && s->work ? RB_OK : RB_NOMEM;
}

rb_status rb_bodies_make(const rb_cones *k, rb_arena *scratch, rb_bodies **out)
{
    *out = NULL;
    if (!k->parts || k->dim != 3 || !k->many) return RB_OK;
    parts p;
    int ok;
    rb_status status = take_parts(k->parts, scratch, &p, &ok);
    if (status != RB_OK || !ok) return status;
    rb_bodies *s = rb_push(scratch, rb_bodies, 1);
    if (!s) return RB_NOMEM;
    *s = (rb_bodies){ .nc = k->nc };
    status = write_entries(s, k, &p, scratch);
    if (status == RB_OK) status = write_pattern(s, scratch);
    if (status == RB_OK) status = take_memory(s, scratch);
    if (status != RB_OK) return status;
    place_pairs(s);
    status = rb_block_lu_analyse(&s->lu, s->nb, 6, s->ptr, s->col, MAX_FILL, scratch);
    if (status == RB_OK) *out = s;
    return status;
}

/* ---- factor and solve -------------------------------------------------------------------------
 */

/* out = a^-1 by cofactors: C is well scaled, its determinant is positive (K.8). */
static void invert3(const double *a, double *out)
{
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8];
    double c2 = a[3] * a[7] - a[4] * a[6];
    double over = 1.0 / (a[0] * c0 + a[1] * c1 + a[2] * c2);
    out[0] = c0 * over;
    out[1] = (a[2] * a[7] - a[1] * a[8]) * over;
    out[2] = (a[1] * a[5] - a[2] * a[4]) * over;
    out[3] = c1 * over;
    out[4] = (a[0] * a[8] - a[2] * a[6]) * over;
    out[5] = (a[2] * a[3] - a[0] * a[5]) * over;
    out[6] = c2 * over;
    out[7] = (a[1] * a[6] - a[0] * a[7]) * over;
    out[8] = (a[0] * a[4] - a[1] * a[3]) * over;
}

static void multiply3(const double *a, const double *b, double *out)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
}

/* K += Y_i' D Y_j for all pairs of entries of contact c. */
static void add_contact(rb_bodies *s, int c)
{
    const double *D = s->D + 9 * (ptrdiff_t)c;
    const int *at = s->at + s->pair[c];
    int n = s->first[c + 1] - s->first[c];
    const double *Y = s->Y + 18 * (ptrdiff_t)s->first[c];
    for (int j = 0; j < n; j++) {
        double P[18];
        const double *Y_j = Y + 18 * j;
        for (int r = 0; r < 3; r++) {
            for (int l = 0; l < 6; l++)
                P[6 * r + l] =
                    D[3 * r] * Y_j[l] + D[3 * r + 1] * Y_j[6 + l] + D[3 * r + 2] * Y_j[12 + l];
        }
        for (int i = 0; i < n; i++) {
            double *K = s->K + 36 * (ptrdiff_t)at[i * n + j];
            const double *Y_i = Y + 18 * i;
            for (int r = 0; r < 6; r++) {
                for (int l = 0; l < 6; l++)
                    K[6 * r + l] += Y_i[r] * P[l] + Y_i[6 + r] * P[6 + l] + Y_i[12 + r] * P[12 + l];
            }
        }
    }
}

void rb_bodies_factor(rb_bodies *s, const unsigned char *mode)
{
    memset(s->K, 0, 36 * (size_t)s->ptr[s->nb] * sizeof *s->K);
    for (int b = 0; b < s->nb; b++) {
        double *K = s->K + 36 * (ptrdiff_t)find(s, b, b);
        for (int i = 0; i < 6; i++) K[7 * i] = 1.0;
    }
    for (int c = 0; c < s->nc; c++) {
        if (!mode || mode[c] != RB_MODE_OPEN) add_contact(s, c);
    }
    rb_block_lu_factor(&s->lu, s->K);
}

void rb_bodies_solve(rb_bodies *s, double *dr, double *du)
{
    memset(s->v, 0, 6 * (size_t)s->nb * sizeof *s->v);
    for (int c = 0; c < s->nc; c++) {
        const double *dr_c = dr + 3 * (ptrdiff_t)c;
        for (int e = s->first[c]; e < s->first[c + 1]; e++) {
            const double *Y = s->Y + 18 * (ptrdiff_t)e;
            double *v = s->v + 6 * (ptrdiff_t)s->block[e];
            for (int l = 0; l < 6; l++)
                v[l] += Y[l] * dr_c[0] + Y[6 + l] * dr_c[1] + Y[12 + l] * dr_c[2];
        }
    }
    rb_block_lu_solve(&s->lu, s->v, s->work);
    for (int c = 0; c < s->nc; c++) {
        const double *D = s->D + 9 * (ptrdiff_t)c;
        double u[3] = { 0.0 }, *dr_c = dr + 3 * (ptrdiff_t)c;
        for (int e = s->first[c]; e < s->first[c + 1]; e++) {
            const double *Y = s->Y + 18 * (ptrdiff_t)e, *v = s->v + 6 * (ptrdiff_t)s->block[e];
            for (int r = 0; r < 3; r++) {
                for (int l = 0; l < 6; l++) u[r] += Y[6 * r + l] * v[l];
            }
        }
        for (int r = 0; r < 3; r++)
            dr_c[r] -= D[3 * r] * u[0] + D[3 * r + 1] * u[1] + D[3 * r + 2] * u[2];
        if (du) memcpy(du + 3 * (ptrdiff_t)c, u, sizeof u);
    }
}

void rb_bodies_linearise(rb_bodies *s, const double *A, const double *B, const double *eps)
{
    for (int c = 0; c < s->nc; c++) {
        const double *A_c = A + 9 * (ptrdiff_t)c, *B_c = B + 9 * (ptrdiff_t)c;
        double sum[9];
        for (int i = 0; i < 9; i++) sum[i] = A_c[i] + eps[c] * B_c[i];
        invert3(sum, s->C + 9 * (ptrdiff_t)c);
        multiply3(s->C + 9 * (ptrdiff_t)c, B_c, s->D + 9 * (ptrdiff_t)c);
    }
}

void rb_bodies_newton(rb_bodies *s, const double *F, double *dr)
{
    for (int c = 0; c < s->nc; c++) {
        const double *C = s->C + 9 * (ptrdiff_t)c, *F_c = F + 3 * (ptrdiff_t)c;
        for (int r = 0; r < 3; r++)
            dr[3 * c + r] = -(C[3 * r] * F_c[0] + C[3 * r + 1] * F_c[1] + C[3 * r + 2] * F_c[2]);
    }
    rb_bodies_solve(s, dr, NULL);
}
