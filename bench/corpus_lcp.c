/* Polyhedral and box friction. With z = (c_n, beta, lambda), Stewart-Trinkle is
 *
 *     [ N'Minv N   N'Minv D   0 ]         [ gap / h + N' vf ]
 *     [ D'Minv N   D'Minv D   E ]  z  +   [ D' vf           ]
 *     [ mu         -E'        0 ]         [ 0               ]
 *
 * without the gap it is the velocity level of Anitescu and Potra, solvable whatever the scene.
 * Ball joints come last, as free variables with equality rows. Theory: docs/theory/. */
#include "corpus_rows.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Sine and cosine for 0 <= x <= pi / 2 by their series, in plain arithmetic: 24 terms are exact
 * to rounding, and the bits are the same everywhere. */
static void sine_cosine(double x, double *s, double *c)
{
    double term = 1.0;
    *s = 0.0;
    *c = 1.0;
    for (int k = 1; k <= 24; k++) {
        term *= x / k;
        switch (k & 3) {
        case 1:
            *s += term;
            break;
        case 2:
            *c -= term;
            break;
        case 3:
            *s -= term;
            break;
        default:
            *c += term;
            break;
        }
    }
}

void directions(int nd, double *dir)
{
    int half = nd / 2;
    for (int k = 0; k < half; k++) {
        double s = 0.0, c = 1.0, angle = 2.0 * PI * k / nd;
        if (4 * k < nd) sine_cosine(angle, &s, &c);
        if (4 * k == nd) {
            s = 1.0;
            c = 0.0;
        }
        if (4 * k > nd) {
            sine_cosine(PI - angle, &s, &c);
            c = -c;
        }
        dir[2 * k] = c;
        dir[2 * k + 1] = s;
        dir[2 * (k + half)] = -c;
        dir[2 * (k + half) + 1] = -s;
    }
}

/* Where a generalised row lives: its contact or joint row, and its direction there. */
typedef struct span {
    int row;       /* first row of the contact in W, or the joint row        */
    int size;      /* 3 for a contact, 1 for a joint                         */
    double dir[3]; /* (n, t1, t2)                                            */
} span;

/* row <- dir' W over the rows of the span (m). */
static void span_row(const double *W, int m, const span *a, double *row)
{
    for (int k = 0; k < m; k++) row[k] = 0.0;
    for (int i = 0; i < a->size; i++) {
        if (a->dir[i] == 0.0) continue;
        const double *W_i = W + (size_t)(a->row + i) * (size_t)m;
        for (int k = 0; k < m; k++) row[k] += a->dir[i] * W_i[k];
    }
}

static double span_dot(const double *row, const span *b)
{
    if (b->size == 1) return row[b->row];
    const double *at = row + b->row;
    return b->dir[0] * at[0] + b->dir[1] * at[1] + b->dir[2] * at[2];
}

/* The rows of z that are impulses: normals, friction directions, then joints after lambda. */
static int list_spans(const rb_corpus_problem *out, const double *dir, span *spans)
{
    int nc = out->nc, nd = out->opts.directions, k = 0;
    for (int c = 0; c < nc; c++) spans[k++] = (span){ 3 * c, 3, { 1.0, 0.0, 0.0 } };
    for (int c = 0; c < nc; c++)
        for (int d = 0; d < nd; d++)
            spans[k++] = (span){ 3 * c, 3, { 0.0, dir[2 * d], dir[2 * d + 1] } };
    for (int i = 3 * nc; i < out->rows->nrow; i++) spans[k++] = (span){ i, 1, { 1.0, 0.0, 0.0 } };
    return k;
}

/* Coupling of beta with lambda: E, mu and -E'. */
static void fill_coupling(const rb_corpus_problem *out, int n, double *A)
{
    int nc = out->nc, nd = out->opts.directions, lambda = nc * (nd + 1);
    for (int c = 0; c < nc; c++) {
        double *row = A + (size_t)(lambda + c) * (size_t)n;
        row[c] = out->mu[c];
        for (int d = 0; d < nd; d++) {
            int beta = nc + c * nd + d;
            row[beta] = -1.0;
            A[(size_t)beta * (size_t)n + (size_t)(lambda + c)] = 1.0;
        }
    }
}

/* Free variables for the joint rows make it a boxed problem. */
static rb_status set_kind(rb_corpus_problem *out, int n, int first_free)
{
    rb_problem *p = &out->problem;
    p->n = n;
    p->kind = RB_LCP;
    if (first_free == n) return RB_OK;
    double *lo = corpus_take(&out->blocks, (size_t)n, sizeof *lo);
    double *hi = corpus_take(&out->blocks, (size_t)n, sizeof *hi);
    if (!lo || !hi) return RB_NOMEM;
    for (int i = 0; i < n; i++) {
        lo[i] = i < first_free ? 0.0 : -INFINITY;
        hi[i] = INFINITY;
    }
    p->kind = RB_BOX;
    p->lo = lo;
    p->hi = hi;
    return RB_OK;
}

rb_status form_stewart_trinkle(rb_corpus_problem *out)
{
    const rb_corpus_rows *r = out->rows;
    int nc = out->nc, nd = out->opts.directions, m = r->nrow;
    int njoint = m - 3 * nc, contact = nc * (nd + 1), first_free = nc * (nd + 2);
    int n = first_free + njoint;
    double *dir = corpus_take(&out->blocks, (size_t)nd * 2, sizeof *dir);
    span *spans = corpus_take(&out->blocks, (size_t)n, sizeof *spans);
    double *A = corpus_take(&out->blocks, (size_t)n * (size_t)n, sizeof *A);
    double *b = corpus_take(&out->blocks, (size_t)n, sizeof *b);
    double *weighted = corpus_take(&out->blocks, (size_t)m, sizeof *weighted);
    if (!dir || !spans || !A || !b || !weighted) return RB_NOMEM;
    directions(nd, dir);
    int count = list_spans(out, dir, spans);

    for (int i = 0; i < count; i++) {
        int row = i < contact ? i : i + nc; /* the joints come after lambda */
        double *A_i = A + (size_t)row * (size_t)n;
        span_row(out->W, m, &spans[i], weighted);
        for (int j = 0; j < count; j++)
            A_i[j < contact ? j : j + nc] = span_dot(weighted, &spans[j]);
        for (int k = 0; k < spans[i].size; k++) b[row] += spans[i].dir[k] * r->q[spans[i].row + k];
    }
    fill_coupling(out, n, A);
    if (!out->velocity_level)
        for (int c = 0; c < nc; c++) b[c] += r->s.contact[c].gap / r->s.h;

    out->problem.W = (rb_matrix){ .form = RB_DENSE, .dense = A };
    out->problem.q = b;
    return set_kind(out, n, first_free);
}

/* Friction bounded by mu times a normal impulse that is known: a convex problem, (n, t1, t2) per
 * contact, then the joints. */
rb_status form_box(rb_corpus_problem *out)
{
    const rb_corpus_rows *r = out->rows;
    int n = r->nrow;
    double *lo = corpus_take(&out->blocks, (size_t)n, sizeof *lo);
    double *hi = corpus_take(&out->blocks, (size_t)n, sizeof *hi);
    if (!lo || !hi) return RB_NOMEM;
    for (int i = 0; i < n; i++) {
        int c = i / 3;
        lo[i] = -INFINITY;
        hi[i] = INFINITY;
        if (c >= out->nc) continue;
        if (i % 3 == 0) {
            lo[i] = 0.0;
        } else {
            hi[i] = out->mu[c] * r->s.contact[c].normal_prev;
            lo[i] = -hi[i];
        }
    }
    rb_problem *p = &out->problem;
    *p = (rb_problem){ .kind = RB_BOX, .n = n, .q = r->q, .lo = lo, .hi = hi };
    p->W = (rb_matrix){ .form = RB_DENSE, .dense = out->W };
    return RB_OK;
}
