#include "dynamics/span.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/constants.h"

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Takes from x what the span has; the second pass removes the rounding of the first. */
static void project_out(const rb_span *s, double *x, double *parts)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->rank; i++) {
            double part = dot(s->Q[i], x, s->rows);
            if (parts) parts[i] += part;
            for (int k = 0; k < s->rows; k++) x[k] -= part * s->Q[i][k];
        }
    }
}

void rb_span_add(rb_span *s, const double *column)
{
    RB_ASSERT(s->columns < RB_SPAN_COLUMNS);
    double x[6], parts[6] = { 0.0 };
    memcpy(x, column, (size_t)s->rows * sizeof *x);
    project_out(s, x, parts);
    int k = s->columns++;
    for (int i = 0; i < s->rank; i++) s->R[i][k] = parts[i];
    double rest = sqrt(dot(x, x, s->rows)), length = sqrt(dot(column, column, s->rows));
    if (s->rank == s->rows || rest <= RB_CHAIN_RANK_TOL * length) return;
    for (int i = 0; i < s->rows; i++) s->Q[s->rank][i] = x[i] / rest;
    s->R[s->rank][k] = rest;
    s->from[s->rank++] = k;
}

/* R x = y, from below */
static void solve_triangle(const rb_span *s, double y[6], double *x)
{
    for (int k = 0; k < s->columns; k++) x[k] = 0.0;
    for (int i = s->rank - 1; i >= 0; i--) {
        int k = s->from[i];
        x[k] = y[i] / s->R[i][k];
        for (int above = 0; above < i; above++) y[above] -= s->R[above][k] * x[k];
    }
}

void rb_span_solve(const rb_span *s, const double *b, double *x)
{
    double y[6];
    for (int i = 0; i < s->rank; i++) y[i] = dot(s->Q[i], b, s->rows);
    solve_triangle(s, y, x);
}

void rb_span_dual(const rb_span *s, double C[][6])
{
    for (int k = 0; k < s->columns; k++) memset(C[k], 0, sizeof C[k]);
    for (int i = 0; i < s->rank; i++) {
        double y[6] = { 0.0 }, x[RB_SPAN_COLUMNS];
        y[i] = 1.0;
        solve_triangle(s, y, x);
        for (int k = 0; k < s->columns; k++) {
            for (int n = 0; n < s->rows; n++) C[k][n] += x[k] * s->Q[i][n];
        }
    }
}

/* The unit vector that is farthest from the span, then again. */
int rb_span_complement(const rb_span *s, double N[6][6])
{
    rb_span filled = *s;
    while (filled.rank < s->rows) {
        double best[6] = { 0.0 }, longest = 0.0;
        for (int i = 0; i < s->rows; i++) {
            double x[6] = { 0.0 };
            x[i] = 1.0;
            project_out(&filled, x, NULL);
            double length = sqrt(dot(x, x, s->rows));
            if (length <= longest) continue;
            longest = length;
            memcpy(best, x, sizeof best);
        }
        double *Q = filled.Q[filled.rank];
        for (int i = 0; i < s->rows; i++) Q[i] = best[i] / longest;
        memcpy(N[filled.rank - s->rank], Q, sizeof best);
        filled.rank++;
    }
    return s->rows - s->rank;
}
