/* One answer where impulses are not unique: the limit of uniform compliance, eqs. (P.23) to (P.25).
 *
 *     z = lim  z(eps),   z(eps) solves the problem with W + eps C,   C = mean(W_ii) on the rows
 * with eps -> 0                                                       W_ii > 0, else 0
 *
 * On redundant contacts admissible load sharings differ, and where one of them slides the motion
 * differs too: the choice is physics. The path starts at large compliance, where there is one
 * solution, so that the answer depends neither on the guess nor on the solver nor on the order of
 * the rows. It is followed by partition exchanges with fresh factorisations: plain Lemke with a
 * tiny eps has pivots of that size and fails. Near the end the partition is constant, and proximal
 * steps z <- z - (W + eps C)_FF^-1 (W z + q)_F with the last factors bring the residual of the
 * original problem down to rounding. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "solve/internal.h"
#include "solve/decouple.h"
#include "solve/judice_pires.h"
#include "solve/lcp_uniform.h"
#include "solve/lemke.h"
#include "solve/reduce.h"

/* Strict complementarity and condition [1] that make an answer locally unique beyond doubt. */
#define STRICT_GAP  1e-7
#define RCOND_PLAIN 1e-9

/* The path [1]: from a compliance as large as that of the bodies to one whose factors have
 * nine digits. Every STEP is a few exchanges. */
#define EPS_FIRST  1.0
#define EPS_ENOUGH 1e-3
#define EPS_LAST   1e-6
#define EPS_STEP   0.1

/* Strict measure of the original problem that the proximal steps must reach [1]. */
#define CHOSEN_TOL 1e-10

/* Signs on the path are wrong beyond this over eps [1]: what rounding makes of a factorisation
 * whose condition is 1 / eps. */
#define SIGN_NOISE 1e-15

/* Strict measure and sign violation [1] below which nothing is left to settle. */
#define SETTLED_TOL 1e-13

enum { EXCHANGES = 12, WARM_EXCHANGES = 8, PATIENCE = 4, PROXIMAL_STEPS = 40, SETTLE_ROUNDS = 6 };

typedef struct path {
    const rb_boxed *b;
    rb_arena *scratch;
    rb_info *info;
    rb_partition t;
    double *c, *shift; /* (n) */
} path;

/* 1: every row has either z or w clearly off zero, and the free block is regular. */
static int is_plain(path *s, const double *z)
{
    const rb_boxed *b = s->b;
    rb_partition *t = &s->t;
    memcpy(t->z, z, (size_t)b->n * sizeof *z);
    rb_boxed_measure(b, t->z, t->w);
    double level = 0.0;
    for (int i = 0; i < b->n; i++) {
        level = fmax(level, fmax(fabs(z[i]) / b->s[i], b->s[i] * fabs(b->q[i])));
    }
    double gap = STRICT_GAP * level;
    for (int i = 0; i < b->n; i++) {
        double below = (z[i] - b->lo[i]) / b->s[i], above = (b->hi[i] - z[i]) / b->s[i];
        int inside = below > gap && above > gap, pressed = b->s[i] * fabs(t->w[i]) > gap;
        if (!inside && !pressed && b->lo[i] < b->hi[i]) return 0;
        t->set[i] = (unsigned char)(inside          ? RB_MODE_STICK
                                    : below < above ? RB_MODE_OPEN
                                                    : RB_MODE_UPPER);
    }
    if (!rb_partition_solve(b, t)) return 0;
    s->info->factorisations++;
    rb_partition_rcond(b, t);
    return t->rcond > RCOND_PLAIN;
}

/* The problem with compliance solved by Lemke, for where exchanges cycle. 1: s->t.set holds its
 * partition. */
static rb_status solve_by_lemke(path *s, int *found)
{
    const rb_boxed *b = s->b;
    size_t n = (size_t)b->n;
    rb_mark mark = rb_arena_mark(s->scratch);
    double *W = rb_push(s->scratch, double, n *n);
    if (!W) return RB_NOMEM;
    memcpy(W, b->W, n * n * sizeof *W);
    for (int i = 0; i < b->n; i++) W[(ptrdiff_t)i * b->n + i] += s->shift[i];
    rb_boxed softer = *b;
    softer.W = W;
    rb_reduction r;
    rb_partition y;
    rb_measure m;
    rb_status status = rb_reduce(&softer, s->scratch, &r);
    if (status == RB_OK) status = rb_partition_make(r.lcp.n, s->scratch, &y);
    if (status != RB_OK) return status;
    rb_lemke_job job = { .lcp = &r.lcp, .max_pivots = 200 + 20 * r.lcp.n };
    status = rb_lemke_polished(&job, &y, s->scratch, &m);
    s->info->iterations += job.pivots;
    *found = r.bad_row < 0 && job.end == RB_LEMKE_SOLVED && rb_measure_accepts(m, 1e-9);
    if (*found) rb_reduce_set_back(&r, y.set, s->t.set);
    rb_arena_reset(s->scratch, mark);
    return status;
}

/* One compliance of the path: exchanges from the last partition, then Lemke. */
static rb_status follow(path *s, double eps, int *found)
{
    for (int i = 0; i < s->b->n; i++) s->shift[i] = eps * s->c[i];
    for (int attempt = 0; attempt < 2; attempt++) {
        rb_exchange_job job = { .b = s->b,
                                .shift = s->shift,
                                .t = &s->t,
                                .max_steps = EXCHANGES,
                                .sign_tol = SIGN_NOISE / (eps < 1e-3 ? eps : 1e-3),
                                .blocks = PATIENCE,
                                .single = 1 };
        rb_status status = rb_exchange_run(&job, s->scratch);
        s->info->iterations += job.steps;
        s->info->factorisations += job.steps;
        *found = job.end == RB_EXCHANGE_SOLVED;
        if (status != RB_OK || *found || attempt == 1) return status;
        status = solve_by_lemke(s, found);
        if (status != RB_OK || !*found) return status;
    }
    return RB_OK;
}

/* Proximal steps with the factors of the last compliance, (P.25). Returns the final measure. The
 * first step needs no product: w of the problem without compliance is w - shift z. */
static rb_measure proximal(path *s)
{
    const rb_boxed *b = s->b;
    rb_partition *t = &s->t;
    rb_measure last = rb_measure_worst();
    for (int i = 0; i < b->n; i++) t->w[i] -= s->shift[i] * t->z[i];
    for (int step = 0; step < PROXIMAL_STEPS; step++) {
        rb_partition_correct(b, t);
        rb_measure m = rb_boxed_measure(b, t->z, t->w);
        int stalled = m.strict > 0.5 * last.strict && step > 0;
        last = m;
        if (stalled || m.strict <= SETTLED_TOL) break;
    }
    return last;
}

/* The limit on the last partition. A row whose z or w tends to zero may end on the wrong side of it
 * by the size of eps: it changes sides and the steps are repeated. */
static rb_measure settle(path *s, unsigned char *wrong)
{
    rb_partition *t = &s->t;

    /* a regular block has its limit at eps = 0 itself */
    rb_measure m = rb_partition_polish(s->b, t);
    s->info->factorisations++;
    if (t->regular && m.strict <= CHOSEN_TOL) {
        rb_partition_rcond(s->b, t);
        if (t->rcond > RCOND_PLAIN) return m;
    }
    rb_partition_solve_dropping(s->b, s->shift, t);
    m = proximal(s);
    for (int round = 0; round < SETTLE_ROUNDS && m.strict > SETTLED_TOL; round++) {
        if (rb_partition_wrong(s->b, t, SETTLED_TOL, wrong) == 0) break;
        for (int i = 0; i < s->b->n; i++) {
            if (wrong[i]) t->set[i] = wrong[i];
        }
        rb_partition_solve_dropping(s->b, s->shift, t);
        s->info->factorisations++;
        m = proximal(s);
    }
    return m;
}

/* The whole path. Where it is lost late, the last partition is as good as the limit's: `*found` is
 * 0 only where it is lost before EPS_ENOUGH. */
static rb_status follow_path(path *s, unsigned char *last, int *found)
{
    size_t n = (size_t)s->b->n;
    double before = EPS_FIRST;
    for (double eps = EPS_FIRST; eps > 0.5 * EPS_LAST; eps *= EPS_STEP) {
        memcpy(last, s->t.set, n);
        rb_status status = follow(s, eps, found);
        if (status != RB_OK) return status;
        if (!*found) {
            *found = before < 2.0 * EPS_ENOUGH;
            memcpy(s->t.set, last, n);
            for (int i = 0; i < s->b->n; i++) s->shift[i] = before * s->c[i];
            rb_partition_solve_dropping(s->b, s->shift, &s->t);
            break;
        }
        before = eps;
    }
    return RB_OK;
}

/* Takes memory and sets the compliance; *some = 0 where no row has any. */
static rb_status start_path(path *s, int *some)
{
    s->c = rb_push(s->scratch, double, s->b->n);
    s->shift = rb_push(s->scratch, double, s->b->n);
    rb_status status = rb_partition_make(s->b->n, s->scratch, &s->t);
    if (!s->c || !s->shift || status != RB_OK) return RB_NOMEM;
    *some = rb_boxed_compliance(s->b, s->c);
    return RB_OK;
}

/* The limit, if it is one, becomes the answer. */
static int accept(const path *s, rb_measure m, double tol, double *z, unsigned char *mode)
{
    if (!rb_measure_accepts(m, tol) || m.strict > CHOSEN_TOL) return 0;
    memcpy(z, s->t.z, (size_t)s->b->n * sizeof *z);
    memcpy(mode, s->t.set, (size_t)s->b->n);
    return 1;
}

rb_status rb_uniform_island(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch, double *z,
                            unsigned char *mode, rb_info *info, rb_unique *unique)
{
    path s = { .b = b, .scratch = scratch, .info = info };
    unsigned char *wrong = rb_push(scratch, unsigned char, b->n);
    unsigned char *last = rb_push(scratch, unsigned char, b->n);
    int found = 0, some = 0;
    rb_status status = start_path(&s, &some);
    if (!wrong || !last || status != RB_OK) return RB_NOMEM;
    *unique = RB_UNIQUE_PLAIN;
    if (is_plain(&s, z)) return RB_OK;
    *unique = RB_UNIQUE_NOT;
    if (!some) return RB_OK;

    rb_partition_guess(b, NULL, NULL, s.t.set);
    status = follow_path(&s, last, &found);
    if (status != RB_OK || !found) return status;
    if (accept(&s, settle(&s, wrong), o->tol, z, mode)) *unique = RB_UNIQUE_CHOSEN;
    return RB_OK;
}

rb_status rb_uniform_again(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch, double *z,
                           unsigned char *mode, rb_info *info, int *found)
{
    path s = { .b = b, .scratch = scratch, .info = info };
    unsigned char *wrong = rb_push(scratch, unsigned char, b->n);
    int some = 0;
    *found = 0;
    rb_status status = start_path(&s, &some);
    if (!wrong || status != RB_OK) return RB_NOMEM;
    if (!some) return RB_OK;
    rb_partition_guess(b, mode, z, s.t.set);
    for (int i = 0; i < b->n; i++) s.shift[i] = EPS_LAST * s.c[i];
    rb_exchange_job job = { .b = b,
                            .shift = s.shift,
                            .t = &s.t,
                            .max_steps = WARM_EXCHANGES,
                            .sign_tol = SIGN_NOISE / EPS_LAST,
                            .blocks = WARM_EXCHANGES };
    status = rb_exchange_run(&job, scratch);
    info->iterations += job.steps;
    info->factorisations += job.steps;
    if (status != RB_OK || job.end != RB_EXCHANGE_SOLVED) return status;
    rb_measure m = proximal(&s);
    if (m.strict > SETTLED_TOL && rb_partition_wrong(b, &s.t, SETTLED_TOL, wrong) > 0) return RB_OK;
    *found = accept(&s, m, o->tol, z, mode);
    return RB_OK;
}

static rb_status choose_island(const rb_boxed *b, const rb_solve_opts *o, rb_arena *scratch,
                               double *z, unsigned char *mode, rb_info *info, rb_unique *unique)
{
    rb_mark mark = rb_arena_mark(scratch);
    rb_status status = rb_uniform_island(b, o, scratch, z, mode, info, unique);
    rb_arena_reset(scratch, mark);
    if (status != RB_OK || *unique != RB_UNIQUE_NOT) return status;
    return rb_lcp_canonical(b, o, scratch, z, mode, info);
}

rb_status rb_lcp_uniform(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *z,
                         rb_info *info)
{
    rb_boxed b;
    rb_status status = rb_boxed_view(p, scratch, &b);
    int *label = rb_push(scratch, int, p->n);
    if (status != RB_OK || !label) return status != RB_OK ? status : RB_NOMEM;
    int count = rb_islands_find(&b, scratch, label);
    if (count < 0) return RB_NOMEM;

    /* the worst of the islands is reported */
    info->unique = RB_UNIQUE_PLAIN;
    for (int k = 0; k < count; k++) {
        rb_mark mark = rb_arena_mark(scratch);
        rb_unique unique;
        rb_island s;
        if (count == 1) {
            status = choose_island(&b, o, scratch, z, info->mode, info, &unique);
        } else {
            status = rb_island_extract(&b, label, k, scratch, &s);
            if (status != RB_OK) return status;
            rb_island_gather(&s, z, info->mode);
            status = choose_island(&s.b, o, scratch, s.z, s.mode, info, &unique);
            if (status == RB_OK) rb_island_scatter(&s, z, info->mode);
        }
        rb_arena_reset(scratch, mark);
        if (status != RB_OK) return status;
        if (unique > info->unique) info->unique = unique;
    }
    return RB_OK;
}
