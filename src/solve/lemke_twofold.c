/* Lemke's method on an explicit dictionary in twofold arithmetic.
 *
 * The compliance of a redundant scene is singular, and rounding of its entries makes it slightly
 * indefinite. What theory promises for W (C.7) then holds only for a problem nearby; a pivoting
 * method that takes the data at their word ends on a ray or in impulses of 1e16. So a problem
 * nearby is solved, exactly for all that matters:
 *
 *     w = (W + eps D) z + q - eps D center + delta p,   D = diag(W), p > 0 generic
 *
 * eps, far above the rounding of W and far below the tolerance, makes the impulses strictly
 * monotone; delta p, of the order 1e-14 of the data, breaks every tie, so that the least ratio
 * alone chooses the row. Pivots may be as small as eps: double has no digits left for that, twofold
 * arithmetic has twenty. z is certified on the problem as it was given.
 *
 * Scaled as in partition.c: row i is multiplied by s_i, z_i = s_i x_i. Bounds as in (P.12): one of
 * them becomes zero, a second one is a slack row. Free variables enter the basis first, with
 * complete pivoting, and never leave. */
#include "solve/lemke_twofold.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/twofold.h"

/* Size of the perturbation [1], relative to the scaled data: above the rounding of a product of
 * hundreds of pivots in twofold arithmetic, below what a certificate can see. */
#define DELTA 1e-14

/* A pivot below this share of its column [1] is noise of twofold arithmetic. */
#define PIVOT_TINY 1e-22

/* An equality whose largest coefficient [1] is below this does not determine a variable. */
#define EQUALITY_TINY 1e-18

/* A variable of the dictionary: w of row i is i, its complement is m + i, z0 is 2 m. */
typedef struct dictionary {
    const rb_boxed *b;
    rb_meter *meter; /* NULL: work is not counted                                              */
    int m;           /* rows: those of the box that are not fixed, then the slacks             */
    int ld;          /* columns: m, z0, the right side                                         */
    int nbox;        /* rows that stem from the box                                            */
    int *row;        /* row of the box; of a slack: its dictionary row            (m)          */
    int *basis;      /* variable of each row                                      (m)          */
    int *column;     /* variable of each column                                   (m + 1)      */
    double *base;    /* z = base + sign s x                                       (b->n)       */
    double *sign;    /*                                                           (b->n)       */
    double *hi, *lo; /* the two parts of the entries, row major                   (m x ld)     */
    unsigned char *is_free; /* equality row and its variable                      (m)          */
    int *first; /* slack row of a dictionary row, -1 = none                  (m)          */
} dictionary;

static rb_two entry(const dictionary *d, int i, int j)
{
    ptrdiff_t at = (ptrdiff_t)i * d->ld + j;
    return (rb_two){ d->hi[at], d->lo[at] };
}

static void set_entry(dictionary *d, int i, int j, rb_two x)
{
    ptrdiff_t at = (ptrdiff_t)i * d->ld + j;
    d->hi[at] = x.hi;
    d->lo[at] = x.lo;
}

/* ---- the first dictionary ---- */

static rb_status dictionary_make(const rb_boxed *b, rb_arena *scratch, dictionary *d, int *fits)
{
    size_t n = (size_t)b->n;
    *d = (dictionary){ .b = b, .meter = scratch->meter };
    d->row = rb_push(scratch, int, 2 * n);
    d->first = rb_push(scratch, int, 2 * n);
    d->is_free = rb_push(scratch, unsigned char, 2 * n);
    d->base = rb_push(scratch, double, n);
    d->sign = rb_push(scratch, double, n);
    if (!d->row || !d->first || !d->is_free || !d->base || !d->sign) return RB_NOMEM;
    for (int i = 0; i < b->n; i++) {
        int lower = b->lo[i] != -INFINITY, upper = b->hi[i] != INFINITY;
        d->base[i] = lower ? b->lo[i] : upper ? b->hi[i] : 0.0;
        d->sign[i] = !lower && upper ? -1.0 : 1.0;
        if (lower && upper && b->lo[i] == b->hi[i]) continue;
        d->is_free[d->m] = (unsigned char)(!lower && !upper);
        d->row[d->m++] = i;
    }
    d->nbox = d->m;
    for (int r = 0; r < d->nbox; r++) {
        int i = d->row[r], two_sided = b->lo[i] != -INFINITY && b->hi[i] != INFINITY;
        d->first[r] = two_sided ? d->m : -1;
        if (!two_sided) continue;
        d->is_free[d->m] = 0;
        d->row[d->m++] = r;
    }
    *fits = d->m <= RB_TWOFOLD_ROWS;
    if (!*fits) return RB_OK;
    size_t m = (size_t)d->m, entries = m * (m + 2);
    d->ld = d->m + 2;
    d->basis = rb_push(scratch, int, m);
    d->column = rb_push(scratch, int, m + 1);
    d->hi = rb_push(scratch, double, entries);
    d->lo = rb_push(scratch, double, entries);
    if (!d->basis || !d->column || !d->hi || !d->lo) return RB_NOMEM;
    memset(d->hi, 0, entries * sizeof *d->hi);
    memset(d->lo, 0, entries * sizeof *d->lo);
    return RB_OK;
}

/* A fixed number in [1, 2) for every row. */
static double generic(int i)
{
    uint32_t h = ((uint32_t)i + 1u) * UINT32_C(2654435761);
    h = (h ^ (h >> 15)) * UINT32_C(2246822519);
    return 1.0 + (double)(h >> 8) / 16777216.0;
}

/* Row r of the box in the scaled variables: powers of two and signs, so that products are exact;
 * the right side is the velocity at base. */
static void fill_row(dictionary *d, const rb_lemke_twofold_job *job, int r)
{
    const rb_boxed *b = d->b;
    int i = d->row[r];
    const double *W_i = b->W + (ptrdiff_t)i * b->n;
    double factor = b->s[i] * d->sign[i], soft = W_i[i] > 0.0 ? job->eps * W_i[i] : 0.0;
    rb_two right = rb_two_of(b->q[i]);
    for (int j = 0; j < b->n; j++) {
        if (d->base[j] != 0.0) right = rb_two_add(right, rb_two_product(W_i[j], d->base[j]));
    }
    double pull = d->base[i] - (job->center ? job->center[i] : 0.0);
    right = rb_two_add(right, rb_two_product(soft, pull));
    right = rb_two_scale(right, factor);
    if (!d->is_free[r]) right = rb_two_add(right, rb_two_of(DELTA * b->data * generic(r)));
    set_entry(d, r, d->m + 1, right);
    for (int c = 0; c < d->nbox; c++) {
        int j = d->row[c];
        rb_two w = rb_two_of(W_i[j]);
        if (c == r) w = rb_two_add(w, rb_two_of(soft));
        set_entry(d, r, c, rb_two_scale(w, factor * d->sign[j] * b->s[j]));
    }
    if (d->first[r] >= 0) set_entry(d, r, d->first[r], rb_two_of(1.0));
}

static void fill(dictionary *d, const rb_lemke_twofold_job *job)
{
    const rb_boxed *b = d->b;
    for (int r = 0; r < d->m; r++) {
        d->basis[r] = r;
        d->column[r] = d->m + r;
        if (!d->is_free[r]) set_entry(d, r, d->m, rb_two_of(1.0));
        if (r < d->nbox) {
            fill_row(d, job, r);
            continue;
        }
        int of = d->row[r], i = d->row[of];
        rb_two width = rb_two_sub(rb_two_of(b->hi[i]), rb_two_of(b->lo[i]));
        width = rb_two_scale(width, 1.0 / b->s[i]);
        set_entry(d, r, of, rb_two_of(-1.0));
        set_entry(d, r, d->m + 1, rb_two_add(width, rb_two_of(DELTA * b->data * generic(r))));
    }
    d->column[d->m] = 2 * d->m;
}

/* ---- pivots ---- */

/* The basic variable of row r and the variable of column c change places. */
static void pivot(dictionary *d, int r, int c)
{
    double *hi = d->hi + (ptrdiff_t)r * d->ld, *lo = d->lo + (ptrdiff_t)r * d->ld;
    rb_two inverse = rb_two_div(rb_two_of(1.0), entry(d, r, c));
    set_entry(d, r, c, rb_two_of(-1.0));
    for (int j = 0; j < d->ld; j++) {
        if (hi[j] == 0.0) continue;
        rb_two x = rb_two_neg(rb_two_mul(entry(d, r, j), inverse));
        hi[j] = x.hi;
        lo[j] = x.lo;
    }
    for (int i = 0; i < d->m; i++) {
        rb_two x = entry(d, i, c);
        if (i == r || x.hi == 0.0) continue;
        set_entry(d, i, c, rb_two_of(0.0));
        rb_two_axpy(x, hi, lo, d->hi + (ptrdiff_t)i * d->ld, d->lo + (ptrdiff_t)i * d->ld, d->ld);
    }
    int variable = d->basis[r];
    d->basis[r] = d->column[c];
    d->column[c] = variable;
}

/* Solves the equalities for the free variables, largest coefficient first; 0: one of them does
 * not determine any. */
static int enter_free(dictionary *d)
{
    for (;;) {
        int best_r = -1, best_c = -1, left = 0;
        double largest = EQUALITY_TINY;
        for (int r = 0; r < d->nbox; r++) {
            if (!d->is_free[r] || d->basis[r] != r) continue;
            left = 1;
            for (int c = 0; c < d->nbox; c++) {
                if (!d->is_free[c] || d->column[c] != d->m + c) continue;
                double a = fabs(entry(d, r, c).hi);
                if (a > largest) {
                    largest = a;
                    best_r = r;
                    best_c = c;
                }
            }
        }
        if (!left) return 1;
        if (best_r < 0) return 0;
        pivot(d, best_r, best_c);
    }
}

/* Clears the columns whose variable, w of an equality, is zero for ever: they cost nothing then. */
static void drop_columns(dictionary *d)
{
    for (int c = 0; c < d->nbox; c++) {
        if (d->column[c] >= d->m || !d->is_free[d->column[c]]) continue;
        for (int i = 0; i < d->m; i++) set_entry(d, i, c, rb_two_of(0.0));
    }
}

/* The row that blocks a growing variable of column c, -1 where none does. */
static int blocking_row(const dictionary *d, int c)
{
    double top = 0.0;
    int best = -1;
    for (int i = 0; i < d->m; i++) {
        if (!d->is_free[i]) top = fmax(top, fabs(entry(d, i, c).hi));
    }
    rb_two least = rb_two_of(INFINITY);
    for (int i = 0; i < d->m; i++) {
        rb_two a = entry(d, i, c);
        if (d->is_free[i] || !(-a.hi > PIVOT_TINY * top)) continue;
        rb_two ratio = rb_two_div(entry(d, i, d->m + 1), rb_two_neg(a));
        if (best < 0 || rb_two_less(ratio, least)) {
            least = ratio;
            best = i;
        }
    }
    return best;
}

static int most_violated(const dictionary *d)
{
    int worst = -1;
    double least = 0.0;
    for (int i = 0; i < d->m; i++) {
        double x = entry(d, i, d->m + 1).hi;
        if (!d->is_free[i] && x < least) {
            least = x;
            worst = i;
        }
    }
    return worst;
}

/* The path from z0 to a solution; 1: found. */
static int follow(dictionary *d, int max_pivots, int *pivots)
{
    int r = most_violated(d), c = d->m;
    for (*pivots = 0; r >= 0 && *pivots < max_pivots; ++*pivots) {
        int leaves = d->basis[r];
        if (!rb_meter_add(d->meter, RB_WORK_SWEEP, 0.02 * d->m * d->m)) return 0;
        pivot(d, r, c);
        if (leaves == 2 * d->m) return 1;
        int enters = leaves < d->m ? leaves + d->m : leaves - d->m;
        for (c = 0; d->column[c] != enters;) c++;
        r = blocking_row(d, c);
        if (r >= 0 && !(fabs(entry(d, r, c).hi) < INFINITY)) return 0;
    }
    return r < 0 && *pivots == 0;
}

/* ---- the answer ---- */

static void read_answer(const dictionary *d, double *z, unsigned char *set)
{
    const rb_boxed *b = d->b;
    for (int i = 0; i < b->n; i++) {
        z[i] = d->base[i];
        set[i] = d->base[i] == b->lo[i] ? RB_MODE_OPEN : RB_MODE_UPPER;
    }
    for (int r = 0; r < d->m; r++) {
        int of = d->basis[r] - d->m;
        if (of < 0 || of >= d->nbox) continue;
        int i = d->row[of];
        rb_two x = rb_two_scale(entry(d, r, d->m + 1), d->sign[i] * b->s[i]);
        x = rb_two_add(rb_two_of(d->base[i]), x);
        z[i] = rb_clamp(rb_two_round(x), b->lo[i], b->hi[i]);
        set[i] = RB_MODE_STICK;
    }

    /* a slack that is not zero: its row is at the upper bound */
    for (int r = 0; r < d->m; r++) {
        int of = d->basis[r] - d->m;
        if (of < d->nbox || of >= d->m) continue;
        int i = d->row[d->row[of]];
        z[i] = b->hi[i];
        set[i] = RB_MODE_UPPER;
    }
}

rb_status rb_lemke_twofold_run(rb_lemke_twofold_job *job, rb_arena *scratch)
{
    dictionary d;
    int fits;
    rb_mark mark = rb_arena_mark(scratch);
    job->solved = job->pivots = 0;
    rb_status status = dictionary_make(job->b, scratch, &d, &fits);
    if (status == RB_OK && fits) {
        fill(&d, job);
        if (enter_free(&d)) {
            drop_columns(&d);
            job->solved = follow(&d, job->max_pivots, &job->pivots);
        }
        if (job->solved) read_answer(&d, job->z, job->set);
    }
    rb_arena_reset(scratch, mark);
    return status;
}
