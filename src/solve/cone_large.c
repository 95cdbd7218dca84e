/* Islands of many contacts. What a few hundred contacts make difficult is not their number but that
 * some of them hold each other: rings of bodies that cannot all roll. Gauss-Seidel moves impulses
 * along such a self-stress by the slip over the diagonal in each sweep, until one of its contacts
 * slips or opens; Newton's step leaps over that point by the slip over the compliance, and finds
 * other modes than those of the answer; and on the way, since friction makes the problem
 * non-monotone, the measure may rise: a search for less of it ends on the spot. So
 *
 *     sweeps   mixed (cone_mix.c), which is all that many islands need to be near
 *     leaps    a whole step of Newton around the point, with compliance eps (K.24), and some sweeps
 *              that put each contact right by itself (K.20)
 *
 * and what comes out is the next point though its measure may be larger. eps, the length of leaps,
 * is what is controlled: longer ones while the measure falls or stays, shorter ones where it grows.
 * Where many leaps have not halved the least measure, the way is a cycle, and shorter leaps with
 * more sweeps leave it.
 *
 * Where less is wanted than what keeps gaps open by itself (tol > RB_LARGE_EXACT), sweeps and leaps
 * end as soon as they are near, and the normals are made exact with the friction that was found
 * (cone_normals.c): the error that is left is one of friction.
 *
 * Newton's matrix is that of the bodies (K.10), with the contacts that push, approach or leave
 * slowly: of those in reach half do not. Which of several answers is found depends on the guess. */
#include "solve/cone_large.h"

#include <math.h>
#include <string.h>

#include "solve/cone_active.h"
#include "solve/cone_interior.h"
#include "solve/cone_knot.h"
#include "solve/cone_mix.h"
#include "solve/cone_normals.h"
#include "solve/cone_part.h"
#include "solve/nsgs.h"

enum {
    MIX_STEPS = 100,       /* pairs of mixed sweeps before the first leap                      */
    MIX_MORE = 400,        /* the same where they may be all that is needed                    */
    MIX_STALL = 50,        /* after so many of these they must have led nearer                 */
    MIX_LOOK = 10,         /* after so many of them the measure is taken                       */
    MIX_OFTEN = 5,         /* the same where they may be all that is needed                   */
    LEAPS = 300,           /* before other methods are tried                                   */
    SWEEPS = 20,           /* after a leap                                                     */
    MOST_SWEEPS = 160,     /* where the way is a cycle                                         */
    MOST_KNOT = 8,         /* contacts that are solved by themselves within a leap             */
    IDLE = 8,              /* leaps that made it grow since the least measure was halved: a cycle */
    ENTER_SWEEPS = 63,     /* to end within the cones                                          */
    LEAST_PATIENCE = 4,    /* leaps without progress before less will do ..             */
    PATIENCE = 9000000,    /* .. and so many more over the square of the contacts        */
    MORE_PATIENCE = 3,     /* times as many where they are likely to arrive              */
    LOOSE_CONTACTS = 1001, /* from which on less will do                               */
    TURNS_LAST = 60,       /* the same before leaps                                     */
    TURNS = 20,            /* of sweeps and normals                                     */
    NORMALS_PER_SWEEP = 9  /* products of the normals that cost as much as a sweep            */
};

/* Share of the tolerance that is asked of interior points, how many factorisations a try of them
 * gets, and how many tries [1]. */
#define INTERIOR_SHARE 0.99
enum { INTERIOR_LIMIT = 40, INTERIOR_TRIES = 3 };

/* Speed at which a contact that pushes nothing leaves too slowly to be left out, relative to the
 * mean of the speeds without impulses [1]. Larger: more unknowns. Smaller: more orders of them. */
#define SLOW 0.02

/* Measure beyond which a guess is worse than none: sweeps from impulses of other contacts take
 * longer to forget them than to begin. Measure from which on a guess needs no sweeps, from which on
 * sweeps may end, and what pairs of sweeps must leave of it to go on [1]. */
#define FAR      0.1
#define NEAR     1e-3
#define NEARER   1e-6
#define MIX_GAIN 0.9

/* Share of the tolerance at which sweeps end that are all that is wanted: the next pairs are cheap,
 * and what they leave is most of what gaps are off by [1]. */

/* Normals that are exact, relative to the mean of the speeds without impulses [1]. */
#define NORMALS_TOL 1e-9

/* Share of the tolerance at which normals are made exact, which moves their error to friction and
 * makes it three times as large in piles; and share of what that predicts, where it was too much
 * [1]. Larger: more attempts. Smaller: more sweeps. */
#define SETTLE_AT   0.3
#define SETTLE_LESS 0.9

/* What the measure may be then, in units of the tolerance, for turns of sweeps and normals to bring
 * it down, and normals within such a turn, in units of the measure [1]. Larger: turns that do not
 * end. */
#define NEARLY      1.5
#define NEARLY_LAST 3.0 /* before leaps */
#define ROUGH       0.1

/* Measure after sweeps beyond which leaps wander for long where contacts are many [1]. */
#define WANDERS 2.5e-3

/* Measure below which they are likely to arrive [1]. */
#define ARRIVES 1e-4

/* Measure below which sweeps after a leap only spoil it [1]. */
#define FINE 1e-6

/* Part of the squared measure from which on a contact keeps others from arriving, and what a leap
 * must leave of the measure to need no help [1]. */
#define KNOT_SHARE 0.02
#define HELPS      0.5

/* Compliance of the first leap: so many times the measure, at most so much; its limits [1]. */
#define EPS_PER_ERROR 10.0
#define EPS_FIRST     1e-2
#define EPS_LEAST     1e-9
#define EPS_MOST      1.0

/* What is left of the measure after a leap, and what the compliance is multiplied by then [1].
 * Beyond LOST, and beyond as much of SMALL, the point is left where it was. */
#define FELL      0.3
#define STAYED    1.1
#define GREW      1.5
#define LOST      10.0
#define SMALL     1e-5
#define AT_FALL   0.05
#define AT_STAY   0.5
#define AT_GROWTH 3.0

/* Compliance that leaves the first cycle, and its growth from cycle to cycle [1]. */
#define CYCLE_EPS  1e-2
#define CYCLE_GROW 3.0

typedef struct large {
    const rb_cones *k;
    double tol, error; /* wanted; of best                                        */
    double goal;       /* of best, for it to be an answer or nearly one          */
    int settled;       /* best has exact normals, where they are asked for       */
    int leaps;         /* that are left                                          */
    int patience;      /* leaps in a row that may make no progress               */
    int idle;          /* that were, since the measure was halved                */
    double halved;     /* the measure then                                       */
    int limit;         /* steps of Newton in all                                 */
    double closing;    /* fastest approach that interior points may leave        */
    double *best;      /*                                                   (n)  */
    double *x, *u;     /* a point and its velocities                        (n)  */
    rb_arena *scratch;
    rb_large *out;

    /* the contacts that Newton's matrix is made of */
    rb_mark mark;
    rb_cone_part part;
    rb_newton newton;
    int n;               /* how many; 0: none yet                                  */
    unsigned char *near; /* the contact is one of them                       (nc)  */
    int *contact;        /* those contacts                                   (nc)  */
    int *local;          /* their places, -1: it is not one                  (nc)  */
} large;

static int take_memory(large *s)
{
    const rb_cones *k = s->k;
    s->best = rb_push(s->scratch, double, k->n);
    s->x = rb_push(s->scratch, double, k->n);
    s->u = rb_push(s->scratch, double, k->n);
    s->near = rb_push(s->scratch, unsigned char, k->nc);
    s->contact = rb_push(s->scratch, int, k->nc);
    s->local = rb_push(s->scratch, int, k->nc);
    return s->best && s->x && s->u && s->near && s->contact && s->local;
}

/* Measure of r, with its velocities in s->u; kept where it is the best so far. */
static double look(large *s, const double *r)
{
    rb_cones_velocity(s->k, r, s->u);
    double error = rb_cones_error(s->k, r, s->u);
    if (error < s->error) {
        s->error = error;
        memcpy(s->best, r, (size_t)s->k->n * sizeof *r);
    }
    return error;
}

static int is_done(const large *s)
{
    return s->error <= s->goal;
}

static int is_loose(const large *s)
{
    return s->tol > RB_LARGE_EXACT;
}

static void sweep(large *s, double *r, int count)
{
    for (int i = 0; i < count; i++) rb_nsgs_sweep(s->k, NULL, r, i & 1);
    s->out->sweeps += count;
}

/* Normals of s->x up to `slow` [m/s], and the measure that leaves. */
static rb_status set_normals(large *s, double slow, double *error)
{
    int steps;
    rb_status status = rb_cone_normals(s->k, slow, s->scratch, s->x, &steps);
    s->out->sweeps += steps / NORMALS_PER_SWEEP;
    rb_cones_velocity(s->k, s->x, s->u);
    *error = rb_cones_error(s->k, s->x, s->u);
    return status;
}

/* The best with exact normals, where that is still good enough; where it nearly is, up to `nearly`
 * times the tolerance, sweeps and normals in alternation lead there. Else it has to be nearer
 * before it is tried again. */
static rb_status settle(large *s, double nearly, int turns)
{
    rb_status status = RB_OK;
    double mean = s->k->q_norm / sqrt((double)s->k->nc), error = s->error;
    memcpy(s->x, s->best, (size_t)s->k->n * sizeof *s->x);
    for (int i = 0; i <= turns; i++) {
        if (i > 0) sweep(s, s->x, 2);
        status = set_normals(s, ROUGH * fmin(error, s->tol) * mean, &error);
        if (status != RB_OK) return status;
        if (i == 0) s->goal = SETTLE_LESS * s->error * fmin(1.0, s->tol / error);
        if (error <= s->tol || error > nearly * s->tol) break;
    }
    if (error <= s->tol) status = set_normals(s, NORMALS_TOL * mean, &error);
    s->settled = status == RB_OK && error <= s->tol;
    if (!s->settled) return status;
    s->error = error;
    memcpy(s->best, s->x, (size_t)s->k->n * sizeof *s->x);
    return RB_OK;
}

/* Mixed sweeps as long as they help. */
static rb_status approach(large *s, double *r)
{
    rb_mix mix;
    rb_mark mark = rb_arena_mark(s->scratch);
    rb_status status = rb_mix_make(s->k, s->scratch, &mix);
    double before = s->error;
    for (int i = 1; i <= MIX_STEPS && status == RB_OK; i++) {
        rb_mix_step(&mix, r);
        s->out->sweeps += 2;
        if (i % MIX_LOOK != 0) continue;
        double error = look(s, r);
        if (error <= NEARER || error > MIX_GAIN * before) break;
        before = error;
    }
    rb_arena_reset(s->scratch, mark);
    return status;
}

/* The same where they may be all that is needed: they take their time, and end as soon as exact
 * normals leave little enough. */
static rb_status approach_loosely(large *s, double *r)
{
    rb_mix mix;
    rb_mark mark = rb_arena_mark(s->scratch);
    rb_status status = rb_mix_make(s->k, s->scratch, &mix);
    double before = INFINITY;
    for (int i = 1; i <= MIX_MORE && status == RB_OK && !s->settled; i++) {
        rb_mix_step(&mix, r);
        s->out->sweeps += 2;
        if (i % MIX_OFTEN != 0) continue;
        look(s, r);
        if (is_done(s)) status = settle(s, NEARLY, TURNS);
        if (i % MIX_STALL != 0) continue;
        if (s->error > MIX_GAIN * before) break;
        before = s->error;
    }
    rb_arena_reset(s->scratch, mark);
    return status;
}

/* ---- leaps ------------------------------------------------------------------------------------
 */

/* Every contact that Newton's step at r may push is one of the part; velocities of r in s->u. */
static int is_covered(const large *s, const double *r)
{
    if (s->n == 0) return 0;
    for (int c = 0; c < s->k->nc; c++) {
        if (!s->near[c] && (r[3 * c] > 0.0 || s->u[3 * c] < 0.0)) return 0;
    }
    return 1;
}

static void count_steps(large *s)
{
    s->out->steps += s->newton.steps;
    s->out->factorisations += s->newton.factorisations;
    s->out->pivot_ratio = s->newton.pivot_ratio;
    s->newton.steps = s->newton.factorisations = 0;
}

/* The part for r and the order of its bodies. */
static rb_status cover(large *s, const double *r)
{
    const rb_cones *k = s->k;
    double slow = SLOW * k->q_norm / sqrt((double)k->nc);
    if (s->n > 0) count_steps(s);
    rb_arena_reset(s->scratch, s->mark);
    s->n = 0;
    for (int c = 0; c < k->nc; c++) {
        s->local[c] = -1;
        s->near[c] = r[3 * c] > 0.0 || s->u[3 * c] < slow;
        if (s->near[c]) s->contact[s->n++] = c;
    }
    rb_status status = rb_cone_part_make(k, s->n, s->contact, s->local, s->scratch, r, &s->part);
    s->part.k.many = 1;
    if (status == RB_OK) status = rb_newton_make(&s->part.k, s->scratch, &s->newton);
    s->newton.limit = s->limit - s->out->steps;
    return status;
}

static void scatter(large *s)
{
    memset(s->x, 0, (size_t)s->k->n * sizeof *s->x);
    for (int i = 0; i < s->n; i++)
        memcpy(s->x + 3 * (ptrdiff_t)s->contact[i], s->part.r + 3 * (ptrdiff_t)i, 3 * sizeof *s->x);
}

/* A whole step of Newton from r, whose velocities are in s->u, to s->x. *ok = 0: there is none. */
static rb_status leap(large *s, const double *r, double eps, int *ok)
{
    rb_status status = is_covered(s, r) ? RB_OK : cover(s, r);
    *ok = status == RB_OK && s->newton.bodies != NULL;
    if (!*ok) return status;
    for (int i = 0; i < s->n; i++)
        memcpy(s->part.r + 3 * (ptrdiff_t)i, r + 3 * (ptrdiff_t)s->contact[i], 3 * sizeof *r);
    rb_newton_compliance(&s->newton, RB_COMPLIANCE_SCALED, eps);
    *ok = rb_newton_leap(&s->newton, s->part.r);
    scatter(s);
    return RB_OK;
}

/* What contact c adds to the measure of s->x, squared and not scaled. */
static double share_of(const large *s, int c)
{
    const double *r = s->x + 3 * (ptrdiff_t)c, *u = s->u + 3 * (ptrdiff_t)c;
    double y[3], sum = 0.0;
    for (int i = 0; i < 3; i++) y[i] = r[i] - u[i];
    y[0] -= s->k->mu[c] * rb_cone_tangent(u, 3);
    rb_cone_project(y, s->k->mu[c], 3);
    for (int i = 0; i < 3; i++) sum += (r[i] - y[i]) * (r[i] - y[i]);
    return sum;
}

/* The contacts of the part with most of the measure of s->x; 0: too many, or one of them is not of
 * the part. */
static int find_knot(const large *s, double error, int *knot)
{
    double all = s->k->q_norm * error, least = KNOT_SHARE * all * all;
    int n = 0;
    for (int c = 0; c < s->k->nc; c++) {
        if (share_of(s, c) <= least) continue;
        if (n == MOST_KNOT || s->local[c] < 0) return 0;
        knot[n++] = s->local[c];
    }
    return n;
}

/* A leap that did not help: the contacts that keep the others from arriving are solved by
 * themselves (K.28); where they are many, sweeps. Returns the measure of s->x. */
static rb_status help(large *s, int sweeps, double *error)
{
    int knot[MOST_KNOT], n = find_knot(s, *error, knot), done = 0;
    rb_status status = RB_OK;
    if (n > 0) status = rb_cone_knot(&s->newton, knot, n, s->scratch, s->part.r, &done);
    if (done)
        scatter(s);
    else
        sweep(s, s->x, sweeps);
    *error = look(s, s->x);
    return status;
}

/* How far to leap. */
typedef struct pace {
    double eps;
    double now, least; /* measure of the point; the least that was halved      */
    int idle;          /* leaps since then                                     */
    double cycle_eps;
    int sweeps;
} pace;

static void change_pace(pace *p, double ratio)
{
    p->eps *= ratio < FELL ? AT_FALL : ratio < STAYED ? AT_STAY : ratio > GREW ? AT_GROWTH : 1.0;
    p->eps = fmin(fmax(p->eps, EPS_LEAST), EPS_MOST);
    if (p->now < 0.5 * p->least) {
        p->least = p->now;
        p->idle = 0;
        p->cycle_eps = CYCLE_EPS;
        p->sweeps = SWEEPS;
    } else if (ratio > STAYED && ++p->idle >= IDLE) {
        p->idle = 0;
        p->eps = p->cycle_eps;
        p->cycle_eps = fmin(CYCLE_GROW * p->cycle_eps, EPS_MOST);
        if (p->sweeps < MOST_SWEEPS) p->sweeps *= 2;
    }
}

/* Leaps that have not halved the least measure are counted: where less will do they are few. */
static int may_leap(large *s)
{
    s->idle = s->error < 0.5 * s->halved ? 0 : s->idle + 1;
    if (s->idle == 0) s->halved = s->error;
    return s->leaps > 0 && s->idle <= (s->error < ARRIVES ? MORE_PATIENCE : 1) * s->patience;
}

/* From r, whose measure is `now`, as many as are left. */
static rb_status try_leaps(large *s, double *r, double now)
{
    pace p = { .eps = fmin(EPS_FIRST, EPS_PER_ERROR * now), .now = now, .least = now };
    p.cycle_eps = CYCLE_EPS;
    p.sweeps = SWEEPS;
    for (int ok = 1; !is_done(s) && may_leap(s); s->leaps--) {
        rb_cones_velocity(s->k, r, s->u);
        rb_status status = leap(s, r, p.eps, &ok);
        if (status != RB_OK || !ok) return status;
        double error = look(s, s->x);
        if (is_done(s)) break;
        if (error > FINE || error > HELPS * p.now) status = help(s, p.sweeps, &error);
        if (status != RB_OK) return status;
        double ratio = error / p.now;
        if (error < LOST * fmax(p.now, SMALL)) {
            memcpy(r, s->x, (size_t)s->k->n * sizeof *r);
            p.now = error;
        } else {
            sweep(s, r, p.sweeps);
            p.now = look(s, r);
        }
        change_pace(&p, ratio);
    }
    return RB_OK;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* s->x put into the cones becomes the best, where it still is good enough. */
static int take_inside(large *s)
{
    for (int c = 0; c < s->k->nc; c++) rb_cone_project(s->x + 3 * (ptrdiff_t)c, s->k->mu[c], 3);
    rb_cones_velocity(s->k, s->x, s->u);
    double error = rb_cones_error(s->k, s->x, s->u);
    if (error > s->tol) return 0;
    s->error = error;
    memcpy(s->best, s->x, (size_t)s->k->n * sizeof *s->x);
    return 1;
}

/* An answer may be outside of its cones by the tolerance: it is put into them. Where that alone
 * makes it too bad, sweeps do it, each of which ends inside. */
static void enter_cones(large *s)
{
    for (int count = 0; count <= ENTER_SWEEPS; count = 2 * count + 1) {
        memcpy(s->x, s->best, (size_t)s->k->n * sizeof *s->x);
        sweep(s, s->x, count);
        if (take_inside(s)) return;
    }
}

/* As many leaps as are left, until there is an answer; where normals have to be exact, until they
 * can be. */
static rb_status leap_on(large *s, double *r)
{
    rb_status status = RB_OK;
    if (!is_loose(s)) return try_leaps(s, r, look(s, r));
    while (s->leaps > 0 && !s->settled && status == RB_OK && !rb_meter_stopped(s->k->meter)) {
        memcpy(r, s->best, (size_t)s->k->n * sizeof *r);
        status = try_leaps(s, r, s->error);
        if (status != RB_OK || !is_done(s)) return status;
        status = settle(s, NEARLY, TURNS);
    }
    return status;
}

/* Sweeps, unless the guess is near. */
static rb_status search(large *s, double *r)
{
    rb_status status = RB_OK;
    double error = look(s, r);
    if (error > FAR) memset(r, 0, (size_t)s->k->n * sizeof *r);
    if (is_loose(s)) {
        s->out->rung = RB_RUNG_LEAPS;
        if (is_done(s)) status = settle(s, NEARLY, TURNS);
        if (status == RB_OK && !s->settled) status = approach_loosely(s, r);
        if (status == RB_OK && !s->settled) status = settle(s, NEARLY_LAST, TURNS_LAST);
    } else if (error > NEAR) {
        s->out->rung = RB_RUNG_LEAPS;
        status = approach(s, r);
    }
    return status;
}

/* Leaps in a row that may make no progress before a looser answer is taken: where sweeps have not
 * come near they wander for long. */
static int find_patience(const large *s, double loose)
{
    if (!(loose > s->tol)) return LEAPS;
    if (s->error > WANDERS) return 0;
    return LEAST_PATIENCE + PATIENCE / (s->k->nc * s->k->nc);
}

static void want(large *s, double tol)
{
    s->tol = tol;
    s->goal = is_loose(s) ? SETTLE_AT * tol : tol;
}

static int is_found(const large *s)
{
    return is_loose(s) ? s->settled : is_done(s);
}

/* Interior points from where sweeps have come to: a bounded number of factorisations, where leaps
 * wander. Where they stall on impulses that drift, beginning again from the best of them helps. */
static rb_status try_interior(large *s)
{
    rb_interior_opts opts = { .tol = INTERIOR_SHARE * s->tol, .limit = INTERIOR_LIMIT };
    opts.closing = s->closing;
    opts.warm = 1;
    double least = INFINITY;
    memcpy(s->x, s->best, (size_t)s->k->n * sizeof *s->x);
    for (int i = 0; i < INTERIOR_TRIES && !s->settled; i++) {
        rb_interior found;
        rb_status status = rb_cone_active_interior(s->k, &opts, 1, s->scratch, s->x, &found);
        s->out->factorisations += found.factorisations;
        s->settled = status == RB_OK && found.error <= s->tol;
        if (status != RB_OK || !(found.error < least)) return status;
        least = found.error;
        if (!s->settled && !(least < s->error)) continue;
        s->error = least;
        memcpy(s->best, s->x, (size_t)s->k->n * sizeof *s->x);
    }
    if (s->settled) s->out->rung = RB_RUNG_INTERIOR;
    return RB_OK;
}

/* To `tol`, with the leaps that this is worth where `loose` will do as well. */
static rb_status reach(large *s, double tol, double loose, double *r)
{
    want(s, tol);
    rb_status status = search(s, r);
    int interior = !is_found(s) && is_loose(s) && s->k->nc <= RB_MOST_LEAPING;
    if (status == RB_OK && interior) status = try_interior(s);
    s->leaps = s->k->nc <= RB_MOST_LEAPING ? LEAPS : 0;
    s->patience = find_patience(s, loose);
    s->halved = s->error;
    s->idle = 0;
    return status == RB_OK && !is_found(s) ? leap_on(s, r) : status;
}

rb_status rb_cone_large(const rb_cones *k, const rb_large_opts *opts, rb_arena *scratch, double *r,
                        rb_large *out)
{
    large s = { .k = k, .error = INFINITY, .limit = opts->limit, .closing = opts->closing };
    s.scratch = scratch;
    s.out = out;
    *out = (rb_large){ .rung = RB_RUNG_NEWTON, .pivot_ratio = 1.0 };
    if (!take_memory(&s)) return RB_NOMEM;
    s.mark = rb_arena_mark(scratch);
    double loose = k->nc >= LOOSE_CONTACTS ? opts->loose : 0.0;
    rb_status status = reach(&s, opts->tol, loose, r);
    if (status == RB_OK && !is_found(&s) && loose > opts->tol) {
        memcpy(r, s.best, (size_t)k->n * sizeof *r);
        status = reach(&s, loose, 0.0, r);
        out->loose = is_found(&s);
    }
    if (s.n > 0) count_steps(&s);
    if (status == RB_OK && !is_loose(&s) && is_done(&s)) enter_cones(&s);
    memcpy(r, s.best, (size_t)k->n * sizeof *r);
    out->error = s.error;
    return status;
}
