/* Certified complementarity solvers: linear, boxed and mixed problems, and exact Coulomb cones.
 *
 *     LCP    w = W z + q,   z >= 0,  w >= 0,  z.w = 0
 *     box    w = W z + q,   lo <= z <= hi,  w_i >= 0 at lo, w_i <= 0 at hi, w_i = 0 between
 *            (lo = -INFINITY, hi = INFINITY: a free variable and an equality row)
 *     cone   u = W r + q,   K_mu contains r, perpendicular to u + (mu |u_t|, 0, 0) in K_mu*
 *            contact triples (n, t1, t2), pairs (n, t) where dim = 2; |r_t| <= mu r_n
 *
 * Theory: docs/theory/complementarity.md. How to choose a solver: docs/manual/solvers.md. */
#ifndef RATTLEBACK_SOLVE_H
#define RATTLEBACK_SOLVE_H

#include "rattleback/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- problems ------------------------------------------------------------------------------- */

/* What a solver accepts; a problem has exactly one of these. */
enum { RB_LCP = 1, RB_BOX = 2, RB_CONE = 4 };

typedef enum rb_form { RB_DENSE = 0, RB_BSR, RB_OPERATOR } rb_form;

/* W = J Minv J' without forming it: J sparse by rows, Minv block diagonal (one dense block per
 * body or per tree). Memory grows with the contacts, not with their square. */
typedef struct rb_operator {
    int m;              /* degrees of freedom                                                  */
    const int *jptr;    /* row i of J is jptr[i] .. jptr[i+1]-1                     (n + 1)    */
    const int *jcol;    /* column of each entry, ascending in a row                 (nnz)      */
    const double *jval; /* entries                                                  (nnz)      */
    int nblock;         /* diagonal blocks of Minv                                             */
    const int *start;   /* block b covers dofs start[b] .. start[b+1]-1             (nblock+1) */
    const double *minv; /* the blocks, row major, one after the other                          */
} rb_operator;

typedef struct rb_matrix {
    rb_form form;
    const double *dense;   /* RB_DENSE: row major, no padding                       (n x n)    */
    int bs;                /* RB_BSR: block size; divides n                                    */
    const int *ptr;        /* RB_BSR: block row i is ptr[i] .. ptr[i+1]-1           (n/bs + 1) */
    const int *col;        /* RB_BSR: block column, ascending in a row              (nblk)     */
    const double *val;     /* RB_BSR: blocks, row major                      (nblk x bs x bs)  */
    const rb_operator *op; /* RB_OPERATOR; RB_BSR: the same W, where known, else NULL          */
} rb_matrix;

/* A problem borrows everything it points to and owns nothing. In contact W = J M^-1 J', q = J vf
 * (C.4). RB_BOX: a row with lo = -inf, hi = inf is an equality (C.3). */
typedef struct rb_problem {
    unsigned kind;    /* RB_LCP, RB_BOX or RB_CONE                                             */
    int n;            /* rows; for cones n = dim * nc                                          */
    rb_matrix W;      /* compliance [m/s per N s]; need not be symmetric                       */
    const double *q;  /* velocity without impulses [m/s]                            (n)        */
    const double *lo; /* RB_BOX only                                                (n)        */
    const double *hi; /* RB_BOX only                                                (n)        */
    int nc;           /* RB_CONE: contacts                                                     */
    int dim;          /* RB_CONE: 2 or 3                                                       */
    const double *mu; /* RB_CONE: friction coefficients, >= 0                       (nc)       */
} rb_problem;

/* Limits that rb_problem_check enforces. */
#define RB_MAX_ROWS       200000 /* any problem                                                */
#define RB_MAX_DENSE_ROWS 20000  /* a dense W; an LCP or a box in any form: it is made dense    */

/* RB_OK, or RB_BAD_INPUT / RB_TOO_LARGE with the field and index in err->text. */
rb_status rb_problem_check(const rb_problem *p, rb_error *err);

/* y = W x; any form. `scratch` may be NULL (libc); only the operator form can return RB_NOMEM. */
rb_status rb_problem_apply(const rb_problem *p, const double *x, rb_arena *scratch, double *y);

/* ---- certificates --------------------------------------------------------------------------- */

/* Everything measured about an answer, by code that shares nothing with the solvers. */
typedef struct rb_certificate {
    double residual; /* LCP, box: max_i |mid(z_i - lo_i, w_i, z_i - hi_i)|, eq. (C.8);
                        cone: |r - P_K(r - (u + mu |u_t| n))|_2, eq. (C.10)                    */
    double scale;    /* LCP, box: max(1, |q|, |W| max(1, |z|)), largest entries; cone: |q|_2   */
    double relative; /* residual / scale: what is compared with opts.tol                       */
    double velocity; /* the same in velocity units, independent of units of z: rows (C.9), cones
                        as below (C.10) [m/s]                                                  */
    double min_z;    /* least distance to a violated bound or cone, < 0: violated by that much */
    double min_w;    /* least admissible w (LCP), least dual slack (box, cone)                 */
    double gap;      /* |z.w| over the rows or contacts (cone: with the De Saxce shift)        */
} rb_certificate;

/* `scratch` may be NULL (libc). RB_NOMEM is the only failure. */
rb_status rb_residual(const rb_problem *p, const double *z, rb_arena *scratch,
                      rb_certificate *cert);

/* Checks a secondary ray of Lemke's method, eq. (C.5): z >= 0, z != 0, (W z)_i >= -t |z| for all i
 * and z_i (W z)_i <= t |z|^2. If also W' z <= 0 and q.z < 0 (Farkas) no solution exists at all.
 * Returns 0: not a ray, 1: a ray, 2: a ray that proves infeasibility. LCP only. */
int rb_ray_check(const rb_problem *p, const double *ray);

/* ---- solving -------------------------------------------------------------------------------- */

typedef enum rb_outcome {
    RB_FAILED = 0, /* z is the best iterate found; its residual is in the certificate          */
    RB_SOLVED,     /* certified: cert.relative <= opts.tol                                     */
    RB_RAY         /* Lemke ended on a ray, checked by rb_ray_check; z is as for RB_FAILED     */
} rb_outcome;

/* How a row (LCP, box) or a contact (cone) ended: the warm start of the next solve. */
typedef enum rb_mode {
    RB_MODE_UNKNOWN = 0,
    RB_MODE_OPEN,  /* z at its lower bound; a contact without impulse                          */
    RB_MODE_STICK, /* w = 0; a contact without slip                                            */
    RB_MODE_SLIDE, /* cone only: on the boundary of the cone                                   */
    RB_MODE_UPPER  /* box only: z at its upper bound                                           */
} rb_mode;

/* The methods of `auto` in the order in which they are tried. `rb_info.rungs` counts the islands
 * that each of them finished. */
typedef enum rb_rung {
    RB_RUNG_TRIVIAL = 0,   /* z = 0 (or the nearest bound) is a solution                         */
    RB_RUNG_WARM,          /* the given modes, factored once, are a solution                     */
    RB_RUNG_EXCHANGE,      /* a few block principal exchanges                                    */
    RB_RUNG_LEMKE_WARM,    /* Lemke from the best partition found so far                         */
    RB_RUNG_LEMKE,         /* Lemke cold, then with a perturbed covering vector                  */
    RB_RUNG_LEMKE_TWOFOLD, /* Lemke with twice the digits and a trace of compliance              */
    RB_RUNG_HOMOTOPY,      /* compliance 1e-3 -> 0 with warm partitions                          */
    RB_RUNG_ENUMERATE,     /* all complementary cones, small problems only                       */
    RB_RUNG_SWEEP,         /* cones: a contact on its own, solved exactly at once                */
    RB_RUNG_NEWTON,        /* cones: Newton from the guess or a few NSGS sweeps                  */
    RB_RUNG_PATH,          /* cones: Newton along decreasing uniform compliance                  */
    RB_RUNG_PATH_TWOFOLD,  /* cones: the same with twice the digits                              */
    RB_RUNG_INTERIOR, /* cones: interior points; many contacts of known bodies, coarse tolerances */
    RB_RUNG_LEAPS,    /* cones: sweeps, then whole Newton steps; many contacts of known bodies */
    RB_RUNG_PYRAMID,  /* cones: Lemke on ever closer pyramids, then Newton                  */
    RB_RUNG_ADMM,     /* cones: ADMM, then Newton                                           */
    RB_RUNG_NSGS,     /* cones: NSGS to the end                                             */
    RB_RUNG_COUNT
} rb_rung;

/* "trivial", "warm", "exchange", ... */
const char *rb_rung_name(int rung);

/* Non-unique impulses: did the answer become the limit of uniform compliance? */
typedef enum rb_unique {
    RB_UNIQUE_OFF = 0, /* not requested                                                        */
    RB_UNIQUE_PLAIN,   /* the active system is regular: nothing to choose                      */
    RB_UNIQUE_CHOSEN,  /* several answers; this is the uniform-compliance limit                */
    RB_UNIQUE_NOT      /* several answers; the limit was not found, this is one of them        */
} rb_unique;

typedef struct rb_info {
    /* the caller's arrays, any may be NULL; keep them set between solves for a warm start */
    unsigned char *mode; /* in (opts.warm) and out: rb_mode           (n; cone: nc)            */
    double *ray;         /* out, where outcome = RB_RAY               (n)                      */

    /* written by the solve */
    rb_outcome outcome;
    rb_certificate cert;
    double rcond;       /* reciprocal condition of the last factored system, 0 = none         */
    int iterations;     /* pivots, exchanges, sweeps or Newton steps                          */
    int factorisations; /* dense or sparse factorisations                                     */
    int islands;        /* independent problems found (auto), else 1                          */
    int loose;          /* of these, with a residual between opts.tol and opts.loose          */
    int rungs[RB_RUNG_COUNT]; /* islands finished by each method of auto                       */
    rb_unique unique;
    int bad_row;   /* an equality row that contradicts others, -1 = none                 */
    int tried;     /* words of path                                                      */
    char path[96]; /* what was tried, "warm > exchange > lemke"                          */
} rb_info;

typedef struct rb_solver rb_solver;

/* How to solve. Start from rb_solve_opts_default(); a struct of zeros is refused: RB_BAD_INPUT. */
typedef struct rb_solve_opts {
    const rb_solver *solver; /* an entry of rb_solvers[]                                       */
    double tol;              /* relative residual to certify, > 0; see rb_certificate          */
    double closing;          /* cones: fastest approach that an answer should leave [m/s]; 0: any;
                                heeded by interior points                                      */
    double loose;            /* relative residual at which auto may end a large island of cones
                                whose friction takes too long; normals are as exact as tol. The
                                outcome then is RB_FAILED, info.loose counts it. 0: never       */
    int max_iter;            /* cap on iterations, >= 1                                        */
    int warm;                /* 1: z and info->mode hold a guess                               */
    int unique;              /* 1: uniform-compliance answer where several exist               */
    int follow;              /* 1: z is the unique answer of a problem close to this one       */
    int brief;               /* 1: auto stops on cones where Newton and path fail              */
    rb_arena *arena;         /* scratch kept by the caller; NULL: made and freed by the call   */
    const rb_alloc *alloc;   /* for that arena; NULL: libc                                     */
} rb_solve_opts;

/* auto, tol 1e-9 (cones 1e-8 is customary, set it), max_iter 100000, cold, unique. */
rb_solve_opts rb_solve_opts_default(void);

/* One complementarity solver. Adding one = one file, one line in table.c, one theory section. */
struct rb_solver {
    const char *name;    /* "lemke": the command-line word, the benchmark row                  */
    const char *summary; /* one line for --help                                                */
    unsigned accepts;    /* RB_LCP | RB_BOX | RB_CONE                                          */
    /* z: guess in, answer out. Fills info's counts, path, mode and ray; never the certificate.
     * Sets info->outcome to what it believes; rb_solve measures and decides. */
    rb_status (*solve)(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                       rb_info *info);
};

extern const rb_solver *const rb_solvers[]; /* NULL terminated, src/solve/table.c */

/* NULL where there is none of that name. */
const rb_solver *rb_solver_find(const char *name);

/* Checks the problem (rb_problem_check), solves it with opts->solver, then certifies. z (n) is
 * written even when the outcome is RB_FAILED. info must be zeroed before its first use, its arrays
 * set by the caller. */
rb_status rb_solve(const rb_problem *p, const rb_solve_opts *opts, double *z, rb_info *info);

/* The same for problems of kind RB_LCP and RB_BOX, and for RB_CONE: they only check the kind. */
rb_status rb_lcp_solve(const rb_problem *p, const rb_solve_opts *opts, double *z, rb_info *info);
rb_status rb_cone_solve(const rb_problem *p, const rb_solve_opts *opts, double *r, rb_info *info);

#ifdef __cplusplus
}
#endif

#endif
