/* The brick shared by the pivoting methods: a dense boxed problem, and what a partition of its rows
 * into lower (RB_MODE_OPEN), free (RB_MODE_STICK) and upper (RB_MODE_UPPER) says about z and w.
 * Theory: docs/theory/pivoting.md, eqs. (P.1) to (P.5). */
#ifndef RB_SOLVE_PARTITION_H
#define RB_SOLVE_PARTITION_H

#include "base/meter.h"
#include <math.h>
#include <stddef.h>

#include "base/arena.h"
#include "rattleback/solve.h"

typedef struct rb_boxed {
    int n;
    int lcp;          /* 1: lo = 0 and hi = INFINITY everywhere                              */
    const double *W;  /* row major                                             (n x n)       */
    const double *q;  /*                                                       (n)           */
    const double *lo; /*                                                       (n)           */
    const double *hi; /*                                                       (n)           */
    const double *s;  /* powers of two: s_i W_ij s_j is of order one, (P.2)    (n)           */
    double q_max;     /* largest |q_i|                                                       */
    double data;      /* largest s_i |q_i|, |lo_i| / s_i, |hi_i| / s_i that is finite        */
} rb_boxed;

/* A dense view of p with its scaling; arrays in scratch. */
rb_status rb_boxed_view(const rb_problem *p, rb_arena *scratch, rb_boxed *out);

/* Fills s, q_max and lcp of a problem whose other fields are set. */
rb_status rb_boxed_prepare(rb_boxed *b, rb_arena *scratch);

/* C of (P.23): the mean positive diagonal entry on the rows that have one, else 0. c (n) is
 * written; 0: no row has compliance. */
int rb_boxed_compliance(const rb_boxed *b, double *c);

/* How good an answer is, by our own count; rb_residual decides in the end. */
typedef struct rb_measure {
    double relative; /* max |mid(z - lo, w, z - hi)| over the scale of rb_certificate            */
    double strict;   /* the scaled residual over the scaled size of z and q, eq. (P.5)           */
    double honest;   /* the scaled residual over that of the data alone: a huge z, as a problem
                        without solution attracts it, makes the other two small but not this     */
} rb_measure;

/* What the measure of an answer must be to count: relative <= tol and honest <= 1e-6 [1]. The least
 * residual of an infeasible problem is of the size of q for any z. */
int rb_measure_accepts(rb_measure m, double tol);

/* No answer. */
rb_measure rb_measure_worst(void);

/* The last word of a solver: sets info->outcome. Where z is not finite, or would be certified
 * although it is not honest, it goes back to the point of the box nearest to zero. */
void rb_boxed_finish(const rb_boxed *b, double tol, rb_measure m, double *z, rb_info *info);

/* w (n) is written: W z + q. */
rb_measure rb_boxed_measure(const rb_boxed *b, const double *z, double *w);

/* A partition with the work space to factor it. */
typedef struct rb_partition {
    int n;
    int nfree;          /* rows in the free set when it was last factored                        */
    int regular;        /* the last factorisation met no zero pivot                              */
    int dependent;      /* where not: a free row that depends on those before it                 */
    unsigned char *set; /* rb_mode of each row                                     (n)           */
    double *z, *w;      /* what the partition implies                              (n)           */
    double *LU;         /* factors of the scaled free block                        (n x n)       */
    double *rhs;        /*                                                         (2 n)         */
    int *perm, *free;   /* pivots of the factorisation; rows of the free set       (n)           */
    rb_meter *meter;    /* NULL: work is not counted                                             */
    double rcond;       /* of the scaled free block; set by rb_partition_rcond                   */
} rb_partition;

rb_status rb_partition_make(int n, rb_arena *scratch, rb_partition *t);

/* Factors W_FF afresh, computes z and w, eq. (P.3). Returns 1, or 0 where W_FF is singular: then z
 * and w are unchanged. */
int rb_partition_solve(const rb_boxed *b, rb_partition *t);

/* The same for W + diag(c); the diagonal is given, w is that of the regularised problem. */
int rb_partition_solve_shifted(const rb_boxed *b, const double *c, rb_partition *t);

/* The same; rows that make the block singular leave the free set for a bound, a redundant equality
 * for RB_MODE_UNKNOWN (its variable is 0). Returns how many left. */
int rb_partition_solve_dropping(const rb_boxed *b, const double *c, rb_partition *t);
void rb_partition_drop(const rb_boxed *b, rb_partition *t, int i);

/* One step of refinement with a compensated residual, eq. (P.4). */
void rb_partition_refine(const rb_boxed *b, rb_partition *t);

/* The same with t->w as it is: z_F -= (factored block)^-1 w_F. */
void rb_partition_correct(const rb_boxed *b, rb_partition *t);

/* Sets t->rcond of the factored block. */
void rb_partition_rcond(const rb_boxed *b, rb_partition *t);

/* Solves the partition, refines where the plain answer is not at rounding level; the measure of the
 * result, both fields INFINITY where W_FF is singular. */
rb_measure rb_partition_polish(const rb_boxed *b, rb_partition *t);

/* Rows whose sign is wrong: z outside its bounds (free rows) or w of the wrong sign (rows at a
 * bound) by more than tol relative to the scale of that row. wrong[i] = the set row i should move
 * to, 0 where it is right; returns their number. (P.6) */
int rb_partition_wrong(const rb_boxed *b, const rb_partition *t, double tol, unsigned char *wrong);

/* Reads a guess: modes where they are known, else from z. Rows that can only be free or that are
 * fixed get their only set. */
void rb_partition_guess(const rb_boxed *b, const unsigned char *mode, const double *z,
                        unsigned char *set);

/* 64-bit hash of a set, for cycle detection. */
uint64_t rb_partition_hash(const unsigned char *set, int n);

/* 1: row i is an equality with a free variable. */
static inline int rb_boxed_is_free(const rb_boxed *b, int i)
{
    return b->lo[i] == -INFINITY && b->hi[i] == INFINITY;
}

/* The largest power of two that is not above x; x > 0 and normal. */
double rb_pow2_floor(double x);

/* mid(a, b, c), the median. */
static inline double rb_mid(double a, double b, double c)
{
    double lo = a < b ? a : b, hi = a < b ? b : a;
    return c < lo ? lo : c > hi ? hi : c;
}

#endif
