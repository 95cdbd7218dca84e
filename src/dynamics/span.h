/* The span of a few vectors of three or six numbers: least squares and what is perpendicular to it.
 * Gram-Schmidt, each vector projected twice. */
#ifndef RB_DYNAMICS_SPAN_H
#define RB_DYNAMICS_SPAN_H

enum { RB_SPAN_COLUMNS = 18 };

/* Column k is the sum of Q_i R[i][k]. Start from { .rows = 3 or 6 }. */
typedef struct rb_span {
    int rows, rank, columns;
    double Q[6][6], R[6][RB_SPAN_COLUMNS];
    int from[6]; /* column that Q_i came from */
} rb_span;

/* One column more, at most RB_SPAN_COLUMNS; one that depends on those before it (RB_CHAIN_RANK_TOL)
 * leaves the rank as it is. */
void rb_span_add(rb_span *s, const double *column);

/* x (columns): least squares for sum x_k column_k = b; dependent columns get 0. */
void rb_span_solve(const rb_span *s, const double *b, double *x);

/* Vectors C_k within the span with C_k.b = x_k of the call above, for all b. */
void rb_span_dual(const rb_span *s, double C[][6]);

/* Orthonormal vectors perpendicular to the span, rows - rank of them; returns how many. */
int rb_span_complement(const rb_span *s, double N[6][6]);

#endif
