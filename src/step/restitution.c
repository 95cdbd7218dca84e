/* Restitution, the second stage of an impact (S.12) to (S.14), (S.15), (S.16).
 *
 * Compression has been solved: impulses p_c, and velocities u_c = u + W p_c of the rows.
 * Restitution adds impulses p_d that solve the same kind of problem, with speeds b of separation
 * to be reached:
 *
 *     0 <= p_d,n  _|_  u_n+ - b >= 0,     u+ = u_c + W p_d,    p_d inside the friction cone  (S.12)
 *
 * b is what makes the normal impulses p_d,n = s e p_c,n, or 0 where a contact needs more:
 *
 *     b := max(0, b + W_nn (s e p_c,n - p_d,n))   until it converges                         (S.13)
 *
 * Where the change does not halve, only a share of it is taken (S.33).
 *
 * Poisson: s = 1. Stronge: one s for each island makes the normal work of restitution e^2 times
 * that of compression (S.14). Newton: one problem, b = -e u_n before the impact.
 *
 * Then s is lowered until the impact creates no energy, 1/2 p.(u + u+) <= 0 summed over the island
 * (S.15); for Newton's law only with energy_safe. s = 0 always does: compression alone has p.u_c
 * <= 0, thus 1/2 p.(u + u_c) = p.u_c - 1/2 p'W p <= 0 (S.16). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "step/problems.h"

/* Error of the work of restitution, relative to that of the law, at which it counts as met [1].
 * Larger: e is missed by half of this. Smaller: more problems per impact. */
#define LAW_TOL 1e-10

enum {
    TARGET_ROUNDS = 12, /* of (S.13); without friction the first is exact          */
    LAW_ROUNDS = 24,    /* of both (S.13) and (S.14)                               */
    ENERGY_ROUNDS = 24, /* of s in (S.15)                                          */
    FEW_ROUNDS = 4,     /* of (S.13) in each of them                               */
    IDLE_ROUNDS = 3,    /* of (S.13) that bring nothing, where answers are chosen  */
    ROUGH_ROUNDS = 6    /* of (S.15) there                                         */
};

/* What (S.15) may lose beyond what the law loses, of the energy of the impact [1]. */
#define SAFE_LOSS 1e-7

/* Largest s of Stronge's law [1]: friction may waste more of the work than this, then less than
 * e^2 is given back. */
#define MOST_SCALE 4.0

/* Rounds of (S.13) that shrink what is missing by this are left alone, and the least share that is
 * taken otherwise [1]. */
#define HALVED      0.5
#define LEAST_RELAX 0.02

typedef struct bounce {
    rb_stage *s;
    unsigned char *skip;   /* nothing bounces in the island                          (nisland)   */
    unsigned char *mode;   /* of compression                                         (n)         */
    double *scale;         /* s                                                      (nisland)   */
    double *lo, *hi;       /* bracket of s in (S.15)                                 (nisland)   */
    double *f_lo, *f_hi;   /* energy created at its ends, in its unit                (nisland)   */
    unsigned char *side;   /* the end that moved last: 1 hi, 2 lo, 0 none            (nisland)   */
    double *made, *size;   /* energy created, and its unit                           (nisland)   */
    double *given, *asked; /* normal work of restitution: as it is, as the law says  (nisland)   */
    double *b;             /* speed of separation                                    (n)         */
    double *r, *r_last;    /* what (S.13) would change it by, over s, now and before (n)         */
    double *relax;         /* share of it that is taken                              (nisland)   */
    double *grown;         /* s over that of the round before                        (nisland)   */
    double *p_c, *u_c;     /* compression; u_c with the bias                         (nrow)      */
    double *u_new;         /* after restitution, with the bias                       (nrow)      */
    double *p_last;        /* p_d of the round before                                (nrow)      */
    double *x, *Wx;        /*                                                        (nrow)      */
    double *f;             /*                                                        (nv)        */
} bounce;

/* ---- memory -----------------------------------------------------------------------------------
 */

static rb_status take_memory(rb_stage *s, bounce *x)
{
    rb_arena *arena = s->d->arena;
    double **of_island[] = { &x->scale, &x->lo,    &x->hi,    &x->f_lo,  &x->f_hi, &x->made,
                             &x->size,  &x->given, &x->asked, &x->relax, &x->grown };
    double **of_row[] = { &x->p_c, &x->u_c, &x->u_new, &x->p_last, &x->x, &x->Wx };
    int ok = 1;
    for (size_t k = 0; k < sizeof of_island / sizeof *of_island; k++)
        ok = ok && (*of_island[k] = rb_push(arena, double, s->set.nisland));
    for (size_t k = 0; k < sizeof of_row / sizeof *of_row; k++)
        ok = ok && (*of_row[k] = rb_push(arena, double, s->set.nrow));
    x->skip = rb_push(arena, unsigned char, s->set.nisland);
    x->side = rb_push(arena, unsigned char, s->set.nisland);
    x->mode = rb_push(arena, unsigned char, s->set.n);
    x->b = rb_push(arena, double, s->set.n);
    x->r = rb_push(arena, double, s->set.n);
    x->r_last = rb_push(arena, double, s->set.n);
    x->f = rb_push(arena, double, s->m->nv);
    x->s = s;
    return ok && x->skip && x->side && x->mode && x->b && x->r && x->r_last && x->f ? RB_OK
                                                                                    : RB_NOMEM;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Wx = J M^-1 J' x */
static void multiply(const bounce *y, const double *x, double *Wx)
{
    const rb_stage *s = y->s;
    memset(y->f, 0, (size_t)s->m->nv * sizeof *y->f);
    rb_constraints_force(&s->set, x, y->f);
    rb_mass_solve(s->m, s->d, y->f);
    rb_constraints_velocity(&s->set, y->f, Wx);
    for (int i = 0; i < s->set.nrow; i++) Wx[i] -= s->set.drive[i];
}

/* Islands in which something bounces that is pressed. */
static int find_islands(bounce *x)
{
    const rb_stage *s = x->s;
    int any = 0;
    memset(x->skip, 1, (size_t)s->set.nisland);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->island < 0 || !(s->problem.e[i] > 0.0) || !(s->answer.p[c->row] > 0.0)) continue;
        x->skip[c->island] = 0;
        any = 1;
    }
    return any;
}

static int may_bounce(const rb_stage *s)
{
    for (int i = 0; i < s->set.n; i++) {
        if (s->problem.e[i] > 0.0) return 1;
    }
    return 0;
}

static int takes_part(const bounce *x, int i)
{
    const rb_constraint *c = &x->s->set.c[i];
    return c->island >= 0 && !x->skip[c->island];
}

static int bounces(const bounce *x, int i)
{
    return takes_part(x, i) && x->s->problem.e[i] > 0.0;
}

/* ---- energy -----------------------------------------------------------------------------------
 */

/* Energy that impulses p created, which led from velocity u to u_new, both with the bias. */
static void measure_energy(bounce *x, const double *u, const double *p, const double *u_new)
{
    const rb_stage *s = x->s;
    memset(x->made, 0, (size_t)s->set.nisland * sizeof *x->made);
    memset(x->size, 0, (size_t)s->set.nisland * sizeof *x->size);
    for (int i = 0; i < s->set.n; i++) {
        if (!takes_part(x, i)) continue;
        const rb_constraint *c = &s->set.c[i];
        for (int r = c->row; r < c->row + c->nrow; r++) {
            double before = u[r] - s->problem.bias[r], after = u_new[r] - s->problem.bias[r];
            x->made[c->island] += 0.5 * p[r] * (before + after);
            x->size[c->island] += 0.5 * fabs(p[r]) * (fabs(before) + fabs(after));
        }
    }
}

/* ---- restitution for given s ------------------------------------------------------------------
 */

static double wanted_impulse(const bounce *x, int i)
{
    const rb_constraint *c = &x->s->set.c[i];
    return bounces(x, i) ? x->scale[c->island] * x->s->problem.e[i] * x->p_c[c->row] : 0.0;
}

/* r = W (wanted - p_d) / s, what W alone would change the speeds by. Where s has changed, impulses
 * and speeds are expected to change with it. */
static void miss_targets(bounce *x, const double *p_d)
{
    const rb_stage *s = x->s;
    memset(x->x, 0, (size_t)s->set.nrow * sizeof *x->x);
    for (int i = 0; i < s->set.n; i++) {
        if (!bounces(x, i)) continue;
        int row = s->set.c[i].row;
        double grown = x->grown[s->set.c[i].island];
        double missing = wanted_impulse(x, i) - (p_d ? grown * p_d[row] : 0.0);
        if (x->b[i] > 0.0 || missing > 0.0) x->x[row] = missing;
    }
    multiply(x, x->x, x->Wx);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        double scale = bounces(x, i) ? x->scale[c->island] : 0.0;
        x->r[i] = scale > 0.0 ? x->Wx[c->row] / scale : 0.0;
    }
}

/* Loops and friction that sticks make bodies heavier than W says, and rounds of (S.13) overshoot.
 * Where r does not halve, the share that is taken follows from the last two of them (S.33). */
static void choose_relax(bounce *x)
{
    const rb_stage *s = x->s;
    for (int k = 0; k < s->set.nisland; k++) {
        double now = 0.0, before = 0.0, along = 0.0, square = 0.0;
        for (int i = s->set.island_start[k]; i < s->set.island_start[k + 1] && !x->skip[k]; i++) {
            int at = s->set.island_order[i];
            double r = x->r[at], last = x->r_last[at];
            now += r * r;
            before += last * last;
            along += last * (last - r);
            square += (last - r) * (last - r);
        }
        if (!(before > 0.0) || !(now > HALVED * HALVED * before) || !(square > 0.0)) continue;
        x->relax[k] = fmin(1.0, fmax(LEAST_RELAX, x->relax[k] * along / square));
    }
}

/* One round of (S.13) with the impulses p_d there; returns how far it is from standing, relative to
 * b. */
static double move_targets(bounce *x, const double *p_d)
{
    const rb_stage *s = x->s;
    double change = 0.0, largest = 0.0;
    miss_targets(x, p_d);
    if (p_d) choose_relax(x);
    memcpy(x->r_last, x->r, (size_t)s->set.n * sizeof *x->r);
    for (int i = 0; i < s->set.n; i++) {
        if (!bounces(x, i)) continue;
        int row = s->set.c[i].row, wanted = wanted_impulse(x, i) > 0.0;
        int k = s->set.c[i].island;
        double from = p_d ? x->grown[k] * x->b[i] : x->u_c[row] - s->problem.bias[row];
        double share = p_d ? x->relax[k] : 1.0, r = x->scale[k] * x->r[i];
        double b = wanted ? fmax(0.0, from + r) : 0.0;
        change = fmax(change, fabs(b - from));
        largest = fmax(largest, b);
        x->b[i] = wanted ? fmax(0.0, from + share * r) : 0.0;
    }
    return largest > 0.0 ? change / largest : 0.0;
}

/* s->u := u_c, with the targets as bias of contacts that bounce. */
static void aim(bounce *x)
{
    rb_stage *s = x->s;
    memcpy(s->problem.u, x->u_c, (size_t)s->set.nrow * sizeof *s->problem.u);
    for (int i = 0; i < s->set.n; i++) {
        int row = s->set.c[i].row;
        if (bounces(x, i))
            s->problem.u[row] =
                fmin(s->problem.u[row], x->u_c[row] - s->problem.bias[row] - x->b[i]);
    }
}

/* What dry friction has left: bound - |p_c|; `sign` +1 gives it back. */
static void change_bounds(bounce *x, double sign)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        rb_constraint *c = &s->set.c[i];
        if (c->kind == RB_CONSTRAINT_DRY) c->bound += sign * fabs(x->p_c[c->row]);
    }
}

/* s->p = p_d of the present targets, u_new. */
static rb_status solve_targets(bounce *x)
{
    rb_stage *s = x->s;
    s->attempt.restitution++;
    aim(x);
    change_bounds(x, -1.0);
    rb_status status = rb_stage_solve_others(s, x->skip);
    change_bounds(x, 1.0);
    if (status != RB_OK) return status;
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (!takes_part(x, i))
            memset(s->answer.p + c->row, 0, (size_t)c->nrow * sizeof *s->answer.p);
    }
    memcpy(x->p_last, s->answer.p, (size_t)s->set.nrow * sizeof *s->answer.p);
    s->attempt.last = s->set;
    s->attempt.last_p = x->p_last; /* the next round starts from this one */
    multiply(x, s->answer.p, x->Wx);
    for (int r = 0; r < s->set.nrow; r++) x->u_new[r] = x->u_c[r] + x->Wx[r];
    return RB_OK;
}

/* ---- the law ----------------------------------------------------------------------------------
 */

/* (S.14): s so that the normal work is e^2 times that of compression; 1 where it stands. */
static int correct_scale(bounce *x, const double *u)
{
    const rb_stage *s = x->s;
    int stands = 1;
    memset(x->given, 0, (size_t)s->set.nisland * sizeof *x->given);
    memset(x->asked, 0, (size_t)s->set.nisland * sizeof *x->asked);
    for (int i = 0; i < s->set.n; i++) {
        if (!bounces(x, i)) continue;
        int row = s->set.c[i].row, island = s->set.c[i].island;
        double twice = 2.0 * s->problem.bias[row];
        double work = 0.5 * x->p_c[row] * (u[row] + x->u_c[row] - twice);
        x->asked[island] += s->problem.e[i] * s->problem.e[i] * fmax(0.0, -work);
        x->given[island] += 0.5 * s->answer.p[row] * (x->u_c[row] + x->u_new[row] - twice);
    }
    for (int k = 0; k < s->set.nisland; k++) {
        x->grown[k] = 1.0;
        if (x->skip[k] || !(x->given[k] > 0.0)) continue;
        double ratio = x->asked[k] / x->given[k];
        if (fabs(ratio - 1.0) <= LAW_TOL) continue;
        double scale = fmin(MOST_SCALE, x->scale[k] * sqrt(ratio));
        stands &= scale == x->scale[k];
        x->grown[k] = scale / x->scale[k];
        x->scale[k] = scale;
    }
    return stands;
}

static void add_compression(const bounce *x, double *p)
{
    for (int r = 0; r < x->s->set.nrow; r++) p[r] = x->p_c[r] + x->s->answer.p[r];
}

/* s = 0 is safe (S.16), and its energy is unknown. */
static void start_bracket(bounce *x)
{
    for (int k = 0; k < x->s->set.nisland; k++) {
        x->lo[k] = 0.0;
        x->hi[k] = INFINITY;
        x->f_lo[k] = NAN;
        x->side[k] = 0;
    }
}

/* False position; an end that stays counts half (Illinois), so that the other one moves too. */
static double between(const bounce *x, int k)
{
    double lo = x->lo[k], hi = x->hi[k], f_lo = x->f_lo[k], f_hi = x->f_hi[k];
    double s = isnan(f_lo) ? 0.5 * (lo + hi) : (lo * f_hi - hi * f_lo) / (f_hi - f_lo);
    double margin = 0.01 * (hi - lo);
    return fmin(fmax(s, lo + margin), hi - margin);
}

/* The energy of each island at its s: the next s to be tried, with one try left the safe side, and
 * 0 where that was not safe a second time, because impulses are not unique. Returns 0 where every
 * island is good. */
static int shrink_brackets(bounce *x, int left)
{
    int any = 0;
    for (int k = 0; k < x->s->set.nisland; k++) {
        if (x->skip[k] || !(x->size[k] > 0.0)) continue;
        double f = x->made[k] / x->size[k];
        int bad = f > RB_IMPACT_ROUNDING;
        (bad ? x->hi : x->lo)[k] = x->scale[k];
        (bad ? x->f_hi : x->f_lo)[k] = f;
        if (x->side[k] == (bad ? 1 : 2)) (bad ? x->f_lo : x->f_hi)[k] *= 0.5;
        x->side[k] = bad ? 1 : 2;
        int close = f >= -SAFE_LOSS || x->hi[k] - x->lo[k] <= SAFE_LOSS * x->hi[k];
        if (!bad && (!(x->hi[k] < INFINITY) || close || left == 0)) continue;
        any = 1;
        x->scale[k] = left > 1 ? between(x, k) : left == 1 ? x->lo[k] : 0.0;
    }
    return any;
}

/* s->p = p_d, u_new: rounds of (S.13) and, where s is free, of (S.14) with each of them. Where a
 * problem has several answers each round may choose another: they end as soon as they bring
 * nothing. */
static rb_status give_back(bounce *x, const double *u, int rounds, int free)
{
    rb_stage *s = x->s;
    memset(x->b, 0, (size_t)s->set.n * sizeof *x->b);
    for (int k = 0; k < s->set.nisland; k++) x->relax[k] = x->grown[k] = 1.0;
    double least = INFINITY;
    int idle = 0;
    s->attempt.ambiguous = 0;
    move_targets(x, NULL);
    memset(x->r_last, 0, (size_t)s->set.n * sizeof *x->r_last);
    for (int round = 0; round < rounds; round++) {
        rb_status status = solve_targets(x);
        if (status != RB_OK) return status;
        int stands = !free || correct_scale(x, u);
        double miss = move_targets(x, s->answer.p);
        if (miss <= LAW_TOL && stands) break;
        idle = miss <= HALVED * least ? 0 : idle + 1;
        if (idle == 0) least = miss;
        if (idle >= IDLE_ROUNDS && s->attempt.ambiguous) break;
    }
    return RB_OK;
}

/* s->p = p_d by the law, for velocity u before the impact, with the bias. */
static rb_status give_by_law(bounce *x, const double *u)
{
    rb_stage *s = x->s;
    int stronge = s->o->law == RB_STRONGE;
    for (int k = 0; k < s->set.nisland; k++) x->scale[k] = 1.0;
    rb_status status = give_back(x, u, stronge ? LAW_ROUNDS : TARGET_ROUNDS, stronge);
    start_bracket(x);
    int rounds = s->attempt.ambiguous ? ROUGH_ROUNDS : ENERGY_ROUNDS;
    for (int k = 0; k <= rounds && status == RB_OK; k++) {
        add_compression(x, x->x);
        measure_energy(x, u, x->x, x->u_new);
        if (!shrink_brackets(x, rounds - k)) break;
        status = give_back(x, u, FEW_ROUNDS, 0);
    }
    return status;
}

/* Poisson, Stronge. Friction may hold a mechanism so that no impulse opens its contact as fast as
 * asked: such an island gives nothing back, s = 0, and further rounds of the step do not ask again:
 * that there is no answer takes long to find out. */
static rb_status two_stages(bounce *x, const double *u)
{
    rb_stage *s = x->s;
    rb_step_info before = *s->info;
    memcpy(x->p_c, s->answer.p, (size_t)s->set.nrow * sizeof *s->answer.p);
    memcpy(x->mode, s->answer.mode, (size_t)s->set.n);
    multiply(x, x->p_c, x->Wx);
    for (int r = 0; r < s->set.nrow; r++) x->u_c[r] = u[r] + x->Wx[r];
    rb_status status = give_by_law(x, u);
    for (int k = 0; k < s->set.nisland && status == RB_UNSOLVED; k++) {
        *s->info = before;
        s->attempt.plastic = 1;
        x->skip[s->attempt.unsolved] = 1;
        status = give_by_law(x, u);
    }

    /* all of it, and how contacts that were only compressed ended */
    for (int i = 0; i < s->set.n; i++) {
        if (s->answer.p[s->set.c[i].row] == 0.0) s->answer.mode[i] = x->mode[i];
    }
    add_compression(x, s->answer.p);
    return status;
}

/* The bias that Newton's law asks for with s e in place of e. */
static void newton_bias(bounce *x, const double *u)
{
    rb_stage *s = x->s;
    for (int i = 0; i < s->set.n; i++) {
        if (!bounces(x, i)) continue;
        const rb_constraint *c = &s->set.c[i];
        double free_u = u[c->row] - s->problem.bias[c->row];
        double back = -x->scale[c->island] * s->problem.e[i] * free_u;
        s->problem.bias[c->row] = fmin(s->problem.room[i], -back);
        s->problem.u[c->row] = free_u + s->problem.bias[c->row];
    }
}

static rb_status newton_safe(bounce *x, double *u)
{
    rb_stage *s = x->s;
    rb_status status = RB_OK;
    start_bracket(x);
    for (int k = 0; k <= ENERGY_ROUNDS && status == RB_OK; k++) {
        multiply(x, s->answer.p, x->Wx);
        for (int r = 0; r < s->set.nrow; r++) x->u_new[r] = s->problem.u[r] + x->Wx[r];
        measure_energy(x, s->problem.u, s->answer.p, x->u_new);
        if (!shrink_brackets(x, ENERGY_ROUNDS - k)) break;
        newton_bias(x, u);
        memcpy(u, s->problem.u, (size_t)s->set.nrow * sizeof *u);
        s->attempt.restitution++;
        status = rb_stage_solve_others(s, x->skip);
    }
    return status;
}

rb_status rb_stage_restitute(rb_stage *s)
{
    bounce x = { 0 };
    rb_constraints last = s->attempt.last;
    const double *last_p = s->attempt.last_p;
    s->attempt.restitution = 0;
    if (s->set.nisland == 0 || s->attempt.plastic || !may_bounce(s)) return RB_OK;
    if (s->o->law == RB_NEWTON && !s->o->energy_safe) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *u = rb_push(s->d->arena, double, s->set.nrow);
    rb_status status = u ? take_memory(s, &x) : RB_NOMEM;
    if (status == RB_OK && find_islands(&x)) {
        memcpy(u, s->problem.u, (size_t)s->set.nrow * sizeof *u);
        for (int k = 0; k < s->set.nisland; k++) x.scale[k] = 1.0;
        status = s->o->law == RB_NEWTON ? newton_safe(&x, u) : two_stages(&x, u);
    }
    rb_arena_reset(s->d->arena, mark);
    s->attempt.last = last;
    s->attempt.last_p = last_p;
    s->attempt.restitution = 0;
    return status;
}
