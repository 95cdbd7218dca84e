/* Overlap is taken off the positions, and no velocity comes from it.
 *
 * After the step the least displacement dq, in the metric of the masses, that opens what overlaps
 * by a share s of its depth, keeps what is open from overlapping, and moves no loop:
 *
 *     min 1/2 dq'M dq,    J_n dq + gap >= (1 - s) min(gap, 0),    J_b dq = 0               (S.34)
 *
 * which is the problem of a step without friction, with dq in the place of v: q := q (+) dq while v
 * stays as it is. Rows are linear, positions are not: where dq would make a pair deeper than it
 * was, half of it is tried.
 *
 * The scheme of Moreau and Jean has no repairs. Its rows hold loops by their velocity alone, and
 * what they open by within the step is closed here,
 *
 *     J_b dq = -error                                                                      (S.67)
 *
 * with s as it is, or zero. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/slip.h"
#include "step/stage.h"

enum { HALVINGS = 4 };

/* Rows are looked for within this many times the deepest overlap. */
#define REACH 4.0

typedef struct projection {
    rb_stage *s;
    double deepest; /* overlap before [m]                                                        */
    double open;    /* largest closure error before; 0: loops are not to be closed              */
    rb_constraints set;
    double *room; /* J dq >= -room of the rows that count                            (set.nrow) */
    double *p;    /*                                                                 (set.nrow) */
    double *dq;   /*                                                                 (nv)       */
} projection;

static void look(rb_stage *s)
{
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
}

/* Deepest overlap of contacts at the present position [m]. */
static rb_status deepest_overlap(rb_stage *s, double *deepest)
{
    int n = 0;
    *deepest = 0.0;
    rb_status status = rb_collide(s->m, s->d, 0.0, 0.0, s->d->touch_max, s->contacts, &n, s->err);
    for (int i = 0; i < n && status == RB_OK; i++)
        *deepest = fmax(*deepest, -s->contacts[i].at.gap);
    return status;
}

static int closes_loops(const rb_stage *s)
{
    return s->o->scheme == RB_SCHEME_MOREAU_JEAN && s->m->neq > 0;
}

/* Largest closure error there. */
static rb_status worst_error(rb_stage *s, double *worst)
{
    rb_rows rows;
    *worst = 0.0;
    if (!closes_loops(s)) return RB_OK;
    rb_status status = rb_loop_rows(s->m, s->d, &rows);
    if (status != RB_OK) return status;
    for (int i = 0; i < rows.n; i++) *worst = fmax(*worst, fabs(rows.error[i]));
    rb_rows_release(s->d, &rows);
    return RB_OK;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* What the row is asked for: -room. */
static double room_of(const projection *x, const rb_constraint *c, int r)
{
    if (c->kind == RB_CONSTRAINT_EQUALITY) return x->open > 0.0 ? x->set.error[c->row + r] : 0.0;
    if (r > 0 || c->kind > RB_CONSTRAINT_LIMIT) return 0.0;
    return c->gap < 0.0 ? x->s->o->project * c->gap : c->gap;
}

/* Everything within reach, bodies standing still: a second long, at the speed of the reach. */
static rb_status take_rows(projection *x)
{
    rb_stage *s = x->s;
    double reach = REACH * fmax(x->deepest, x->open);
    rb_status status =
        rb_collide(s->m, s->d, 1.0, reach, s->d->touch_max, s->contacts, &s->ncontact, s->err);
    if (status != RB_OK) return status;
    status =
        rb_constraints_build(s->m, s->d, s->o, 1.0, reach, s->contacts, s->ncontact, NULL, &x->set);
    if (status != RB_OK) return status;
    x->room = rb_push(s->d->arena, double, x->set.nrow);
    x->p = rb_push(s->d->arena, double, x->set.nrow);
    x->dq = rb_push(s->d->arena, double, s->m->nv);
    if (!x->room || !x->p || !x->dq) return RB_NOMEM;
    memset(x->p, 0, (size_t)x->set.nrow * sizeof *x->p);
    for (int i = 0; i < x->set.n; i++) {
        const rb_constraint *c = &x->set.c[i];
        for (int r = 0; r < c->nrow; r++) x->room[c->row + r] = room_of(x, c, r);
    }
    rb_mass(s->m, s->d);
    return rb_mass_factor(s->m, s->d);
}

/* Rows of the island that count: normals, limits and equalities. */
static int list_rows(const rb_island *is, int *row, int *from)
{
    int n = 0;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        int count = c->kind == RB_CONSTRAINT_EQUALITY ? c->nrow : c->kind != RB_CONSTRAINT_DRY;
        for (int r = 0; r < count; r++, n++) {
            row[n] = is->row[i] + r;
            from[n] = c->row + r;
        }
    }
    return n;
}

/* ---- the problem ------------------------------------------------------------------------------
 */

typedef struct arrays {
    int *row, *from;
    double *W, *q, *lo, *hi, *z;
} arrays;

static int take_arrays(rb_arena *arena, size_t n, arrays *a)
{
    a->row = rb_push(arena, int, n);
    a->from = rb_push(arena, int, n);
    a->W = rb_push(arena, double, n *n);
    a->q = rb_push(arena, double, n);
    a->lo = rb_push(arena, double, n);
    a->hi = rb_push(arena, double, n);
    a->z = rb_push(arena, double, n);
    return a->row && a->from && a->W && a->q && a->lo && a->hi && a->z;
}

static int is_free(const rb_constraints *set, int row)
{
    for (int i = set->n - 1; i >= 0; i--) {
        if (set->c[i].row <= row) return set->c[i].kind == RB_CONSTRAINT_EQUALITY;
    }
    return 0;
}

/* RB_OK also where the island has no answer: it stays where it is. */
static rb_status solve_island(projection *x, int index)
{
    rb_stage *s = x->s;
    rb_island is;
    arrays a;
    rb_status status = rb_island_open(s->m, s->d, &x->set, index, 1.0, s->d->arena, &is);
    if (status != RB_OK) return status;
    if (!take_arrays(s->d->arena, (size_t)is.nrow, &a)) return RB_NOMEM;
    int n = list_rows(&is, a.row, a.from), wanted = 0;
    for (int i = 0; i < n; i++) {
        int free = is_free(&x->set, a.from[i]);
        for (int j = 0; j < n; j++)
            a.W[(ptrdiff_t)i * n + j] = rb_island_entry(&is, a.row[i], a.row[j]);
        a.q[i] = x->room[a.from[i]];
        a.lo[i] = free ? -INFINITY : 0.0;
        a.hi[i] = INFINITY;
        a.z[i] = 0.0;
        wanted |= a.q[i] < 0.0 || (free && a.q[i] > 0.0);
    }
    if (!wanted) return RB_OK;
    rb_problem p = { .kind = RB_BOX,
                     .n = n,
                     .q = a.q,
                     .lo = a.lo,
                     .hi = a.hi,
                     .W = { .form = RB_DENSE, .dense = a.W } };
    rb_solve_opts opts = rb_solve_opts_default();
    rb_info info = { 0 };
    opts.arena = s->d->arena;
    status = rb_solve(&p, &opts, a.z, &info);
    if (status != RB_OK) return status;
    if (info.outcome != RB_SOLVED) return RB_OK;
    for (int i = 0; i < n; i++) x->p[a.from[i]] = a.z[i];
    return RB_OK;
}

/* ---- the position -----------------------------------------------------------------------------
 */

/* Overlap of every pair is within what it was, measured as the deepest of all, and so are loops. */
static int is_better(const projection *x, double left, double open)
{
    double deep = RB_GAP_DEEP * x->s->size;
    if (x->open > 0.0) return open < x->open && left <= fmax(x->deepest, deep);
    return left < x->deepest;
}

static rb_status apply(projection *x)
{
    rb_stage *s = x->s;
    rb_data *d = s->d;
    double *q = rb_push(d->arena, double, s->m->nq);
    if (!q) return RB_NOMEM;
    memcpy(q, d->q, (size_t)s->m->nq * sizeof *q);
    memset(x->dq, 0, (size_t)s->m->nv * sizeof *x->dq);
    rb_constraints_force(&x->set, x->p, x->dq);
    rb_mass_solve(s->m, d, x->dq);
    double before = rb_energy_potential(s->m, d), share = 1.0, left, open = 0.0;
    for (int i = 0; i < HALVINGS; i++, share *= 0.5) {
        rb_integrate(s->m, q, x->dq, share, d->q);
        look(s);
        rb_status status = deepest_overlap(s, &left);
        if (status == RB_OK) status = worst_error(s, &open);
        if (status != RB_OK) return status;
        if (is_better(x, left, open)) {
            s->info->projected = fmax(0.0, x->deepest - left);
            if (x->open > 0.0) s->info->loop_error = open;
            s->info->project_energy = rb_energy_potential(s->m, d) - before;
            s->info->penetration = left;
            return RB_OK;
        }
    }
    memcpy(d->q, q, (size_t)s->m->nq * sizeof *q);
    return RB_OK;
}

static rb_status run(projection *x)
{
    rb_stage *s = x->s;
    look(s);
    rb_status status = deepest_overlap(s, &x->deepest);
    if (status == RB_OK) status = worst_error(s, &x->open);
    if (x->open <= s->open_most) x->open = 0.0;
    int overlaps = s->o->project > 0.0 && x->deepest > RB_GAP_DEEP * s->size;
    if (status != RB_OK || (!overlaps && !(x->open > 0.0))) return status;
    status = take_rows(x);
    for (int i = 0; i < x->set.nisland && status == RB_OK; i++) {
        rb_mark mark = rb_arena_mark(s->d->arena);
        status = solve_island(x, i);
        rb_arena_reset(s->d->arena, mark);
    }
    return status == RB_OK ? apply(x) : status;
}

/* Nothing moves while positions are looked at; then everything has the velocity it had. */
rb_status rb_stage_project(rb_stage *s)
{
    rb_data *d = s->d;
    if ((!(s->o->project > 0.0) && !closes_loops(s)) || s->m->nv == 0) return RB_OK;
    rb_mark mark = rb_arena_mark(d->arena);
    size_t bytes = (size_t)s->m->nv * sizeof(double);
    size_t led_bytes = 6 * (size_t)s->m->nmocap * sizeof(double);
    double *v = rb_push(d->arena, double, s->m->nv);
    double *led = rb_push(d->arena, double, 6 * (size_t)s->m->nmocap);
    if (!v || !led) return RB_NOMEM;
    memcpy(v, d->v, bytes);
    memcpy(led, d->mocap_v, led_bytes);
    memset(d->v, 0, bytes);
    memset(d->mocap_v, 0, led_bytes);
    projection x = { .s = s };
    rb_status status = run(&x);
    memcpy(d->v, v, bytes);
    memcpy(d->mocap_v, led, led_bytes);
    rb_arena_reset(d->arena, mark);
    return status;
}
