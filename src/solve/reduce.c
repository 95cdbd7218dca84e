/* Reduction of a boxed and mixed problem to a pure LCP, eqs. (P.12) to (P.15).
 *
 * Bounds: z = lo + y, or z = hi - y where only hi is finite; two finite bounds give the pair
 *     w1 = (W z + q) + s >= 0  _|_  y >= 0,     w2 = hi - lo - y >= 0  _|_  s >= 0.
 * Free variables x: their equalities A x + B y + r = 0 are solved with complete pivoting,
 * x1 = -U^-1 (B1 y + r1 + U12 x2). What is left over has no coefficient on x any more:
 *     B2 y + r2 = 0    if B2 = 0 too: redundant (r2 = 0) or contradictory (r2 != 0, named);
 *                      else it is kept, with a leftover variable x2 = x+ - x- as its multiplier. */
#include "solve/reduce.h"

#include <string.h>

#include "base/constants.h"
#include "math/dense.h"

/* A coefficient of an eliminated equality below this counts as zero [1], relative to the largest
 * one before the elimination. Smaller: rounding of redundant loops becomes an equation. */
#define COEFFICIENT_TOL 1e-11

/* Right side of a redundant equality that counts as consistent [1], same scale: the error that an
 * answer certified to 1e-9 can hide. */
#define CONSISTENT_TOL 1e-9

/* Ratio of the last to the first pivot [1] below which the elimination is refined. */
#define REFINE_RATIO 0.05

/* A Schur complement entry below this counts as zero [1], relative to the terms that cancelled. */
#define CANCELLATION_TOL 1e-12

static rb_status reduction_make(const rb_boxed *b, rb_arena *scratch, rb_reduction *r)
{
    size_t n = (size_t)b->n;
    *r = (rb_reduction){ .box = b, .bad_row = -1 };
    int *index = rb_push(scratch, int, 7 * n);
    r->base = rb_push(scratch, double, 4 * n);
    if (!index || !r->base) return RB_NOMEM;
    r->comp = index;
    r->slack = index + n;
    r->eq = index + 2 * n;
    r->row = index + 3 * n;
    r->col = index + 4 * n;
    r->pair_row = index + 5 * n;
    r->pair_col = index + 6 * n;
    r->sign = r->base + n;
    r->rscale = r->base + 2 * n;
    r->cscale = r->base + 3 * n;

    /* sort the rows by kind, eq. (P.12) */
    for (int i = 0; i < b->n; i++) {
        int lower = b->lo[i] != -INFINITY, upper = b->hi[i] != INFINITY;
        r->base[i] = lower ? b->lo[i] : upper ? b->hi[i] : 0.0;
        r->sign[i] = !lower && upper ? -1.0 : 1.0;
        if (!lower && !upper) {
            r->eq[r->nfree++] = i;
        } else if (b->lo[i] < b->hi[i]) {
            if (lower && upper) r->slack[r->nslack++] = r->ncomp;
            r->comp[r->ncomp++] = i;
        }
    }
    r->ldE = r->ncomp + 1 + r->nfree;
    r->A = rb_push(scratch, double, (size_t)r->nfree *(size_t)r->nfree);
    r->E = rb_push(scratch, double, (size_t)r->nfree *(size_t)r->ldE);
    return r->A && r->E ? RB_OK : RB_NOMEM;
}

/* Row and column scales of the equality block from its own entries: a saddle point has no diagonal
 * to scale by. */
static void scale_block(rb_reduction *r)
{
    const rb_boxed *b = r->box;
    int m = r->nfree;
    for (int i = 0; i < m; i++) {
        const double *W_i = b->W + (ptrdiff_t)r->eq[i] * b->n;
        double top = 0.0;
        for (int j = 0; j < m; j++) top = fmax(top, fabs(W_i[r->eq[j]]));
        r->rscale[i] = top > 0.0 ? 1.0 / rb_pow2_floor(top) : 1.0;
    }
    for (int j = 0; j < m; j++) {
        double top = 0.0;
        for (int i = 0; i < m; i++) {
            top = fmax(top, r->rscale[i] * fabs(b->W[(ptrdiff_t)r->eq[i] * b->n + r->eq[j]]));
        }
        r->cscale[j] = top > 0.0 ? 1.0 / rb_pow2_floor(top) : 1.0;
    }
    for (int i = 0; i < m; i++) {
        const double *W_i = b->W + (ptrdiff_t)r->eq[i] * b->n;
        for (int j = 0; j < m; j++) {
            r->A[(ptrdiff_t)i * m + j] = r->rscale[i] * W_i[r->eq[j]] * r->cscale[j];
        }
    }
}

/* (B, r) of the equality at pivot position k. */
static void equality_row(const rb_reduction *r, int k, double *E_k)
{
    const rb_boxed *b = r->box;
    int e = r->row[k], i = r->eq[e];
    const double *W_i = b->W + (ptrdiff_t)i * b->n;
    double s = r->rscale[e];
    for (int c = 0; c < r->ncomp; c++) E_k[c] = s * W_i[r->comp[c]] * r->sign[r->comp[c]];
    E_k[r->ncomp] = s * (b->q[i] + rb_dot(W_i, r->base, b->n));
}

/* rows := U^-1 rows for the leading `rank` rows of a block with stride ld. */
static void back_substitute(const rb_reduction *r, double *rows, int ld, int width)
{
    for (int k = r->rank - 1; k >= 0; k--) {
        double *row = rows + (ptrdiff_t)k * ld;
        const double *U_k = r->A + (ptrdiff_t)k * r->nfree;
        for (int l = k + 1; l < r->rank; l++) {
            if (U_k[l] != 0.0) rb_axpy(-U_k[l], rows + (ptrdiff_t)l * ld, row, width);
        }
        for (int j = 0; j < width; j++) row[j] /= U_k[k];
    }
}

/* rows := L^-1 rows, all `count` of them; the rows beyond the rank have no U. */
static void forward_substitute(const rb_reduction *r, double *rows, int ld, int width, int count)
{
    for (int k = 0; k < count; k++) {
        const double *L_k = r->A + (ptrdiff_t)k * r->nfree;
        for (int l = 0; l < (k < r->rank ? k : r->rank); l++) {
            if (L_k[l] == 0.0) continue;
            rb_axpy(-L_k[l], rows + (ptrdiff_t)l * ld, rows + (ptrdiff_t)k * ld, width);
        }
    }
}

/* Forward elimination of (B, r), then U^-1 over (B1, r1, U12). */
static void eliminate(rb_reduction *r)
{
    int m = r->nfree, rank = r->rank, nc = r->ncomp, ld = r->ldE;
    forward_substitute(r, r->E, ld, nc + 1, m);
    for (int k = 0; k < m; k++) {
        const double *A_k = r->A + (ptrdiff_t)k * m;
        double *E_k = r->E + (ptrdiff_t)k * ld + nc + 1;
        for (int j = 0; j < m - rank; j++) E_k[j] = k < rank ? A_k[rank + j] : 0.0;
    }
    back_substitute(r, r->E, ld, nc + 1 + m - rank);
}

/* The scaled equality block at pivot positions (k, l), from the original. */
static double block_entry(const rb_reduction *r, int k, int l)
{
    int i = r->row[k], j = r->col[l];
    return r->rscale[i] * r->box->W[(ptrdiff_t)r->eq[i] * r->box->n + r->eq[j]] * r->cscale[j];
}

/* One step of refinement of X = A^-1 (B, r, A12), with the residual in doubled precision: after a
 * badly conditioned block the Schur complement would lose the digits that separate a self-stress
 * from a contradiction. */
static rb_status refine(rb_reduction *r, rb_arena *scratch)
{
    int rank = r->rank, nc = r->ncomp, rest = r->nfree - rank, width = nc + 1 + rest;
    rb_mark mark = rb_arena_mark(scratch);
    double *R = rb_push(scratch, double, (size_t)rank *(size_t)width);
    double *A = rb_push(scratch, double, (size_t)rank *(size_t)rank);
    double *x = rb_push(scratch, double, rank);
    double *wanted = rb_push(scratch, double, r->ldE);
    if (!R || !A || !x || !wanted) return RB_NOMEM;
    for (int k = 0; k < rank; k++) {
        for (int l = 0; l < rank; l++) A[(ptrdiff_t)k * rank + l] = block_entry(r, k, l);
    }
    for (int k = 0; k < rank; k++) {
        equality_row(r, k, wanted);
        for (int j = 0; j < rest; j++) wanted[nc + 1 + j] = block_entry(r, k, rank + j);
        for (int j = 0; j < width; j++) R[(ptrdiff_t)k * width + j] = wanted[j];
    }
    for (int j = 0; j < width; j++) {
        for (int l = 0; l < rank; l++) x[l] = r->E[(ptrdiff_t)l * r->ldE + j];
        for (int k = 0; k < rank; k++) {
            double *R_kj = R + (ptrdiff_t)k * width + j;
            *R_kj = rb_dot_comp(A + (ptrdiff_t)k * rank, x, rank, -*R_kj);
        }
    }
    forward_substitute(r, R, width, width, rank);
    back_substitute(r, R, width, width);
    for (int k = 0; k < rank; k++) {
        rb_axpy(-1.0, R + (ptrdiff_t)k * width, r->E + (ptrdiff_t)k * r->ldE, width);
    }
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

/* Leftover equalities: drop the redundant, name the contradictory, keep the others. */
static int keep_rows(rb_reduction *r, double coefficient_top, double right_top)
{
    int kept = 0;
    for (int k = r->rank; k < r->nfree; k++) {
        const double *E_k = r->E + (ptrdiff_t)k * r->ldE;
        double top = rb_norm_inf(E_k, r->ncomp), right = fabs(E_k[r->ncomp]);
        if (top > COEFFICIENT_TOL * coefficient_top) {
            r->pair_row[kept++] = k;
        } else if (right > CONSISTENT_TOL * right_top) {
            r->bad_row = r->eq[r->row[k]];
        }
    }
    return kept;
}

/* The complementary row c over (y, 1, leftover x), x1 eliminated. What the elimination cancels down
 * to noise is zero: a body fixed by its joints must not look like a body of mass 1e16. `terms`
 * collects the absolute terms of each entry. */
static void schur_row(const rb_reduction *r, int c, double *out, double *terms)
{
    const rb_boxed *b = r->box;
    int i = r->comp[c], nc = r->ncomp, rest = r->nfree - r->rank, width = nc + 1 + rest;
    const double *W_i = b->W + (ptrdiff_t)i * b->n;
    double s = r->sign[i];
    for (int j = 0; j < nc; j++) out[j] = s * W_i[r->comp[j]] * r->sign[r->comp[j]];
    out[nc] = s * (b->q[i] + rb_dot(W_i, r->base, b->n));
    for (int j = 0; j < rest; j++) {
        int e = r->col[r->rank + j];
        out[nc + 1 + j] = s * W_i[r->eq[e]] * r->cscale[e];
    }
    for (int j = 0; j < width; j++) terms[j] = fabs(out[j]);
    for (int k = 0; k < r->rank; k++) {
        int e = r->col[k];
        double a = s * W_i[r->eq[e]] * r->cscale[e];
        const double *E_k = r->E + (ptrdiff_t)k * r->ldE;
        if (a == 0.0) continue;
        for (int j = 0; j < width; j++) {
            out[j] -= a * E_k[j];
            terms[j] += fabs(a * E_k[j]);
        }
    }
    for (int j = 0; j < width; j++) {
        if (fabs(out[j]) <= CANCELLATION_TOL * terms[j]) out[j] = 0.0;
    }
}

/* The Schur complement over the complementary variables. An entry whose own terms are small has
 * the noise of its row and column too, measured by their diagonal terms. */
static rb_status schur_complement(rb_reduction *r, rb_arena *scratch, double *S)
{
    int nc = r->ncomp;
    rb_mark mark = rb_arena_mark(scratch);
    double *terms = rb_push(scratch, double, r->ldE), *level = rb_push(scratch, double, nc);
    if (!terms || !level) return RB_NOMEM;
    for (int c = 0; c < nc; c++) {
        schur_row(r, c, S + (ptrdiff_t)c * r->ldE, terms);
        level[c] = sqrt(terms[c]);
    }
    for (int c = 0; c < nc && r->rank > 0; c++) {
        double *S_c = S + (ptrdiff_t)c * r->ldE;
        for (int j = 0; j < nc; j++) {
            if (fabs(S_c[j]) <= CANCELLATION_TOL * level[c] * level[j]) S_c[j] = 0.0;
        }
    }
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

/* Leftover variables that some complementary row feels. */
static int keep_cols(rb_reduction *r, const double *S)
{
    int kept = 0, rest = r->nfree - r->rank, nc = r->ncomp;
    double all = 0.0;
    for (int c = 0; c < nc; c++) all = fmax(all, rb_norm_inf(S + (ptrdiff_t)c * r->ldE, nc));
    for (int j = 0; j < rest; j++) {
        double top = 0.0;
        for (int c = 0; c < nc; c++) top = fmax(top, fabs(S[(ptrdiff_t)c * r->ldE + nc + 1 + j]));
        if (top > COEFFICIENT_TOL * fmax(1.0, all)) r->pair_col[kept++] = j;
    }
    return kept;
}

/* B2 := T B2, r2 := T r2 with T B2 = -C2' as nearly as possible, eq. (P.14). Equalities may be
 * mixed by any regular T; this one makes a monotone problem (loops, circuits) monotone again, while
 * the signs that pivoting leaves would end Lemke's method on a ray. */
static rb_status match_pairs(rb_reduction *r, const double *S, rb_arena *scratch)
{
    int k = r->npair, nc = r->ncomp;
    size_t m = (size_t)k;
    rb_mark mark = rb_arena_mark(scratch);
    double *G = rb_push(scratch, double, m *m), *T = rb_push(scratch, double, m *m);
    double *rows = rb_push(scratch, double, m *(size_t)(nc + 1));
    int *perm = rb_push(scratch, int, m);
    if (!G || !T || !rows || !perm) return RB_NOMEM;

    /* G = B2 B2', T = row i of -C2' B2' */
    for (int i = 0; i < k; i++) {
        const double *B_i = r->E + (ptrdiff_t)r->pair_row[i] * r->ldE;
        for (int j = 0; j < k; j++) {
            const double *B_j = r->E + (ptrdiff_t)r->pair_row[j] * r->ldE;
            double sum = 0.0;
            for (int c = 0; c < nc; c++) {
                sum -= S[(ptrdiff_t)c * r->ldE + nc + 1 + r->pair_col[j]] * B_i[c];
            }
            G[i * k + j] = rb_dot(B_i, B_j, nc);
            T[j * k + i] = sum;
        }
    }
    int regular = rb_lu_factor(G, k, perm) == k;
    for (int i = 0; i < k && regular; i++) rb_lu_solve(G, k, perm, T + (ptrdiff_t)i * k);

    /* T must be regular too, or equations would be lost */
    memcpy(G, T, m * m * sizeof *G);
    if (regular && rb_lu_factor(G, k, perm) == k) {
        memset(rows, 0, m * (size_t)(nc + 1) * sizeof *rows);
        for (int i = 0; i < k; i++) {
            double *out = rows + (ptrdiff_t)i * (nc + 1);
            for (int j = 0; j < k; j++) {
                rb_axpy(T[i * k + j], r->E + (ptrdiff_t)r->pair_row[j] * r->ldE, out, nc + 1);
            }
        }
        for (int i = 0; i < k; i++) {
            memcpy(r->E + (ptrdiff_t)r->pair_row[i] * r->ldE, rows + (ptrdiff_t)i * (nc + 1),
                   (size_t)(nc + 1) * sizeof *rows);
        }
    }
    rb_arena_reset(scratch, mark);
    return RB_OK;
}

/* Writes the reduced matrix and right side, eq. (P.15), from the Schur rows S. */
static void fill_lcp(const rb_reduction *r, const double *S, double *M, double *q)
{
    int nc = r->ncomp, ns = r->nslack, np = r->npair, n = nc + ns + 2 * np;
    memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
    for (int c = 0; c < nc; c++) {
        const double *S_c = S + (ptrdiff_t)c * r->ldE;
        double *M_c = M + (ptrdiff_t)c * n;
        memcpy(M_c, S_c, (size_t)nc * sizeof *M_c);
        q[c] = S_c[nc];
        for (int p = 0; p < np; p++) {
            double a = r->pair_col[p] >= 0 ? S_c[nc + 1 + r->pair_col[p]] : 0.0;
            M_c[nc + ns + p] = a;
            M_c[nc + ns + np + p] = -a;
        }
    }
    for (int t = 0; t < ns; t++) {
        int c = r->slack[t], i = r->comp[c];
        M[(ptrdiff_t)c * n + nc + t] = 1.0;
        M[(ptrdiff_t)(nc + t) * n + c] = -1.0;
        q[nc + t] = r->box->hi[i] - r->box->lo[i];
    }
    for (int p = 0; p < np; p++) {
        double *up = M + (ptrdiff_t)(nc + ns + p) * n, *down = up + (ptrdiff_t)np * n;
        const double *E_k = r->pair_row[p] >= 0 ? r->E + (ptrdiff_t)r->pair_row[p] * r->ldE : NULL;
        for (int c = 0; c < nc; c++) {
            up[c] = E_k ? E_k[c] : 0.0;
            down[c] = -up[c];
        }
        q[nc + ns + p] = E_k ? E_k[nc] : 0.0;
        q[nc + ns + np + p] = -q[nc + ns + p];
    }
}

/* Bounds and scaling of the reduced problem. */
static rb_status finish_lcp(rb_reduction *r, double *M, double *q, rb_arena *scratch)
{
    int n = r->ncomp + r->nslack + 2 * r->npair;
    double *lo = rb_push(scratch, double, 2 * (size_t)n);
    if (!lo) return RB_NOMEM;
    for (int i = 0; i < n; i++) {
        lo[i] = 0.0;
        lo[n + i] = INFINITY;
    }
    r->lcp = (rb_boxed){ .n = n, .W = M, .q = q, .lo = lo, .hi = lo + n };
    return rb_boxed_prepare(&r->lcp, scratch);
}

/* Solves the equalities for x; sets rank, bad_row and the leftover rows, `*rows` of them. */
static rb_status solve_equalities(rb_reduction *r, rb_arena *scratch, int *rows)
{
    scale_block(r);
    r->rank = rb_lu_factor_full(r->A, r->nfree, r->row, r->col, RB_RANK_TOL * fmax(1, r->nfree));
    double coefficient_top = 1.0, right_top = 0.0;
    for (int k = 0; k < r->nfree; k++) {
        double *E_k = r->E + (ptrdiff_t)k * r->ldE;
        equality_row(r, k, E_k);
        coefficient_top = fmax(coefficient_top, rb_norm_inf(E_k, r->ncomp));
        right_top = fmax(right_top, fabs(E_k[r->ncomp]));
    }
    eliminate(r);
    *rows = keep_rows(r, coefficient_top, right_top);

    /* complete pivoting: the first pivot is the largest, the last one the smallest */
    int m = r->nfree, rank = r->rank;
    double first = rank ? fabs(r->A[0]) : 0.0;
    double last = rank ? fabs(r->A[(ptrdiff_t)(rank - 1) * m + rank - 1]) : 0.0;
    return last < REFINE_RATIO * first ? refine(r, scratch) : RB_OK;
}

rb_status rb_reduce(const rb_boxed *b, rb_arena *scratch, rb_reduction *r)
{
    rb_status status = reduction_make(b, scratch, r);
    if (status != RB_OK) return status;
    int rows;
    status = solve_equalities(r, scratch, &rows);
    if (status != RB_OK) return status;

    double *S = rb_push(scratch, double, (size_t)r->ncomp *(size_t)r->ldE);
    if (!S) return RB_NOMEM;
    status = schur_complement(r, scratch, S);
    if (status != RB_OK) return status;

    int cols = keep_cols(r, S);
    r->npair = rows > cols ? rows : cols;
    for (int p = rows; p < r->npair; p++) r->pair_row[p] = -1;
    for (int p = cols; p < r->npair; p++) r->pair_col[p] = -1;
    if (rows == cols && rows > 0) status = match_pairs(r, S, scratch);
    if (status != RB_OK) return status;

    size_t n = (size_t)(r->ncomp + r->nslack + 2 * r->npair);
    double *M = rb_push(scratch, double, n *n), *q = rb_push(scratch, double, n);
    if (!M || !q) return RB_NOMEM;
    fill_lcp(r, S, M, q);
    return finish_lcp(r, M, q, scratch);
}

void rb_reduce_back(const rb_reduction *r, const double *y, double *z)
{
    int nc = r->ncomp, ns = r->nslack, np = r->npair;
    memcpy(z, r->base, (size_t)r->box->n * sizeof *z);
    for (int c = 0; c < nc; c++) z[r->comp[c]] += r->sign[r->comp[c]] * y[c];

    /* leftover variables first: the others are expressed by them */
    for (int k = 0; k < r->nfree; k++) z[r->eq[k]] = 0.0;
    for (int p = 0; p < np; p++) {
        if (r->pair_col[p] < 0) continue;
        int e = r->col[r->rank + r->pair_col[p]];
        z[r->eq[e]] = r->cscale[e] * (y[nc + ns + p] - y[nc + ns + np + p]);
    }
    for (int k = 0; k < r->rank; k++) {
        const double *E_k = r->E + (ptrdiff_t)k * r->ldE;
        double x = -(E_k[nc] + rb_dot(E_k, y, nc));
        for (int p = 0; p < np; p++) {
            if (r->pair_col[p] < 0) continue;
            x -= E_k[nc + 1 + r->pair_col[p]] * (y[nc + ns + p] - y[nc + ns + np + p]);
        }
        z[r->eq[r->col[k]]] = r->cscale[r->col[k]] * x;
    }
}

void rb_reduce_set_back(const rb_reduction *r, const unsigned char *reduced, unsigned char *set)
{
    memset(set, RB_MODE_OPEN, (size_t)r->box->n);
    for (int k = 0; k < r->nfree; k++) set[r->eq[k]] = RB_MODE_STICK;
    for (int c = 0; c < r->ncomp; c++) {
        int i = r->comp[c], at_bound = r->sign[i] < 0.0 ? RB_MODE_UPPER : RB_MODE_OPEN;
        set[i] = (unsigned char)(reduced[c] == RB_MODE_STICK ? RB_MODE_STICK : at_bound);
    }
    for (int t = 0; t < r->nslack; t++) {
        if (reduced[r->ncomp + t] == RB_MODE_STICK) set[r->comp[r->slack[t]]] = RB_MODE_UPPER;
    }
}

void rb_reduce_set(const rb_reduction *r, const unsigned char *set, unsigned char *reduced)
{
    memset(reduced, RB_MODE_OPEN, (size_t)r->lcp.n);
    for (int c = 0; c < r->ncomp; c++) {
        int i = r->comp[c], at_bound = r->sign[i] < 0.0 ? RB_MODE_UPPER : RB_MODE_OPEN;
        if (set[i] != at_bound) reduced[c] = RB_MODE_STICK;
    }
    for (int t = 0; t < r->nslack; t++) {
        if (set[r->comp[r->slack[t]]] == RB_MODE_UPPER) reduced[r->ncomp + t] = RB_MODE_STICK;
    }
}
