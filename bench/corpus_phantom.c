/* Phantom inertia: two orthogonal friction directions, relaxed by stiffness and damping, and the
 * free unknowns (velocity, friction) eliminated. With T = (W_tt + eps_t)^-1, s = q_t + d_t and
 * z = (l_n, w_up, w_lo),
 *
 *     l_t  = T (w_up - w_lo - W_tn l_n - s)
 *     u_n  = (W_nn + eps_n) l_n + W_nt l_t + q_n + d_n     >= 0  _|_  l_n  >= 0
 *     s_lo =  l_t + mu l_n + rho w_lo                      >= 0  _|_  w_up >= 0
 *     s_up = -l_t + mu l_n + rho w_up                      >= 0  _|_  w_lo >= 0
 *
 * rho_j = 1e-6 T_jj: large enough against singular blocks, far below the 2 T_jj at which the
 * principal minors change sign. */
#include "corpus_rows.h"

#include <math.h>
#include <string.h>

#define STIFFNESS_N 1e10 /* [N/m]    */
#define DAMPING_N   1e8  /* [N s/m]  */
#define STIFFNESS_T 1e8
#define DAMPING_T   1e5
#define RHO_SHARE   1e-6 /* of T_jj  */

/* A <- inverse of the positive definite A, in place, by Cholesky; 0 when a pivot is not positive.
 */
static int invert(int n, double *A, double *column)
{
    size_t N = (size_t)n;
    for (size_t j = 0; j < N; j++) {
        for (size_t i = j; i < N; i++) {
            double sum = A[i * N + j];
            for (size_t k = 0; k < j; k++) sum -= A[i * N + k] * A[j * N + k];
            if (i == j && sum <= 0.0) return 0;
            A[i * N + j] = i == j ? sqrt(sum) : sum / A[j * N + j];
        }
    }

    /* one column of the inverse after the other, kept in the upper triangle */
    for (size_t j = N; j-- > 0;) {
        for (size_t i = 0; i < N; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (size_t k = 0; k < i; k++) sum -= A[i * N + k] * column[k];
            column[i] = sum / A[i * N + i];
        }
        for (size_t i = N; i-- > 0;) {
            double sum = column[i];
            for (size_t k = i + 1; k < N; k++) sum -= A[k * N + i] * column[k];
            column[i] = sum / A[i * N + i];
        }
        for (size_t i = 0; i < j; i++) A[i * N + j] = column[i];
        column[N + j] = column[j]; /* the factor's diagonal is still needed */
    }
    for (size_t i = 0; i < N; i++) {
        A[i * N + i] = column[N + i];
        for (size_t j = 0; j < i; j++) A[i * N + j] = A[j * N + i];
    }
    return 1;
}

static double relaxation(double stiffness, double damping, double h)
{
    return 1.0 / (stiffness * h * h + damping * h);
}

/* T, and s = q_t + d_t with the bristle offset d = -eps h (force + damping * slip). */
static rb_status make_tangential(rb_corpus_problem *out)
{
    const rb_corpus_rows *r = out->rows;
    size_t m = (size_t)r->nrow, nt = 2 * (size_t)out->nc;
    double eps = relaxation(STIFFNESS_T, DAMPING_T, r->s.h);
    out->T = corpus_take(&out->blocks, nt * nt, sizeof *out->T);
    out->offset_t = corpus_take(&out->blocks, nt, sizeof *out->offset_t);
    double *column = corpus_take(&out->blocks, 2 * nt, sizeof *column);
    if (!out->T || !out->offset_t || !column) return RB_NOMEM;
    for (size_t i = 0; i < nt; i++) {
        size_t row = 3 * (i / 2) + 1 + i % 2;
        const scene_contact *c = &r->s.contact[i / 2];
        for (size_t j = 0; j < nt; j++)
            out->T[i * nt + j] = out->W[row * m + 3 * (j / 2) + 1 + j % 2] + (i == j ? eps : 0.0);
        double bristle = c->friction_prev[i % 2] + DAMPING_T * c->slip_prev[i % 2];
        out->offset_t[i] = r->q[row] - eps * r->s.h * bristle;
    }
    return invert((int)nt, out->T, column) ? RB_OK : RB_BAD_INPUT;
}

/* The row of W that belongs to tangential unknown i. */
static size_t tangent(size_t i)
{
    return 3 * (i / 2) + 1 + i % 2;
}

/* Where contact s of the scene is listed. */
static size_t listed_at(const rb_corpus_problem *p, size_t s)
{
    size_t c = 0;
    while ((size_t)p->order[c] != s) c++;
    return c;
}

void phantom_friction(const rb_corpus_problem *p, const double *z, double *friction)
{
    size_t nc = (size_t)p->nc, nt = 2 * nc, m = 3 * nc;
    const double *up = z + nc, *lo = z + 3 * nc;
    for (size_t i = 0; i < m; i++) friction[i] = 0.0;
    for (size_t k = 0; k < nt; k++) { /* sums in the order of the scene */
        size_t j = 2 * listed_at(p, k / 2) + k % 2;
        double slip = up[j] - lo[j] - p->offset_t[j];
        const double *W_t = p->W + tangent(j) * m;
        for (size_t s = 0; s < nc; s++) {
            size_t c = listed_at(p, s);
            slip -= W_t[3 * c] * z[c];
        }
        for (size_t i = 0; i < nt; i++) friction[tangent(i)] += p->T[i * nt + j] * slip;
    }
}

/* Friction as a linear function of z, one column of 3 nc per unknown, and the constant last. */
static double *friction_map(rb_corpus_problem *out, size_t n)
{
    size_t nc = (size_t)out->nc, nt = 2 * nc, m = 3 * nc;
    double *F = corpus_take(&out->blocks, m * (n + 1), sizeof *F);
    if (!F) return NULL;
    for (size_t i = 0; i < nt; i++)
        for (size_t j = 0; j < nt; j++) {
            double t = out->T[i * nt + j];
            const double *W_t = out->W + tangent(j) * m;
            F[m * (nc + j) + tangent(i)] = t;
            F[m * (nc + nt + j) + tangent(i)] = -t;
            F[m * n + tangent(i)] -= t * out->offset_t[j];
            for (size_t c = 0; c < nc; c++) F[m * c + tangent(i)] -= t * W_t[3 * c];
        }
    return F;
}

/* u_n: the normal rows. */
static void fill_normal(const rb_corpus_problem *out, const double *F, double *A, double *b)
{
    const rb_corpus_rows *r = out->rows;
    size_t nc = (size_t)out->nc, m = 3 * nc, n = 5 * nc;
    double eps = relaxation(STIFFNESS_N, DAMPING_N, r->s.h);
    for (size_t c = 0; c < nc; c++) {
        const double *W_n = out->W + 3 * c * m;
        b[c] = r->q[3 * c] + eps * r->s.h * STIFFNESS_N * r->s.contact[c].gap;
        for (size_t d = 0; d < nc; d++) A[c * n + d] = W_n[3 * d] + (c == d ? eps : 0.0);
        for (size_t j = 0; j <= n; j++) {
            double sum = 0.0;
            for (size_t i = 0; i < 2 * nc; i++) sum += W_n[tangent(i)] * F[m * j + tangent(i)];
            if (j < n)
                A[c * n + j] += sum;
            else
                b[c] += sum;
        }
    }
}

/* s_lo and s_up: the slacks of the friction limits. */
static void fill_limits(const rb_corpus_problem *out, const double *F, double *A, double *b)
{
    size_t nc = (size_t)out->nc, nt = 2 * nc, m = 3 * nc, n = 5 * nc;
    for (size_t i = 0; i < nt; i++) {
        double *row_up = A + (nc + i) * n, *row_lo = A + (nc + nt + i) * n;
        double rho = RHO_SHARE * out->T[i * nt + i], mu = out->mu[i / 2];
        for (size_t j = 0; j < n; j++) {
            row_up[j] = F[m * j + tangent(i)];
            row_lo[j] = -F[m * j + tangent(i)];
        }
        row_up[i / 2] += mu;
        row_lo[i / 2] += mu;
        row_up[nc + nt + i] += rho;
        row_lo[nc + i] += rho;
        b[nc + i] = F[m * n + tangent(i)];
        b[nc + nt + i] = -F[m * n + tangent(i)];
    }
}

/* Unknown i of this problem as an unknown of the one in the order of the scene. */
static size_t in_scene(const rb_corpus_problem *p, size_t i)
{
    size_t nc = (size_t)p->nc;
    if (i < nc) return (size_t)p->order[i];
    size_t half = i < 3 * nc ? nc : 3 * nc, t = i - half;
    return half + 2 * (size_t)p->order[t / 2] + t % 2;
}

/* In another order of the contacts the elimination would round otherwise, by as much as its
 * condition says: the numbers are those of the scene's order, listed in this one. */
static rb_status copy_scene_order(rb_corpus_problem *out, double *A, double *b)
{
    rb_corpus_problem base = { 0 };
    rb_corpus_opts opts = out->opts;
    opts.permute = 0;
    rb_status status = rb_corpus_make(out->seed, &opts, &base);
    if (status != RB_OK) return status;
    size_t nc = (size_t)out->nc, n = 5 * nc, nt = 2 * nc;
    for (size_t i = 0; i < n; i++) {
        size_t row = in_scene(out, i);
        b[i] = base.problem.q[row];
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = base.problem.W.dense[row * n + in_scene(out, j)];
    }
    for (size_t i = 0; i < nt; i++) {
        size_t row = in_scene(out, nc + i) - nc;
        out->offset_t[i] = base.offset_t[row];
        for (size_t j = 0; j < nt; j++)
            out->T[i * nt + j] = base.T[row * nt + in_scene(out, nc + j) - nc];
    }
    rb_corpus_free(&base);
    return RB_OK;
}

rb_status form_phantom(rb_corpus_problem *out)
{
    rb_status status = make_tangential(out);
    if (status != RB_OK) return status;
    size_t n = 5 * (size_t)out->nc;
    double *A = corpus_take(&out->blocks, n * n, sizeof *A);
    double *b = corpus_take(&out->blocks, n, sizeof *b);
    double *F = friction_map(out, n);
    if (!A || !b || !F) return RB_NOMEM;
    fill_normal(out, F, A, b);
    fill_limits(out, F, A, b);
    if (out->opts.permute != 0) status = copy_scene_order(out, A, b);
    if (status != RB_OK) return status;

    rb_problem *p = &out->problem;
    p->kind = RB_LCP;
    p->n = (int)n;
    p->q = b;
    p->W = (rb_matrix){ .form = RB_DENSE, .dense = A };
    return RB_OK;
}
