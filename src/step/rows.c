/* What rows are made of in every scheme: M factored with springs and dampers, gaps that count as
 * closed, what may be relaxed, and the arrays of a set of rows. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/pieces.h"
#include "dynamics/actuation.h"
#include "dynamics/gauge.h"
#include "dynamics/passive.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "step/stage.h"

/* By how much limits and contacts are relaxed in a step whose loops leave no other answer, in units
 * of what steps may make [1]. A linkage at its dead centre amplifies rounding of one joint ten
 * thousand times in another. Larger: the gaps at the end are refused. Smaller: the noise is
 * not covered. */
#define YIELD 0.25

/* The same for overlap of the model, in units of what it may grow by [1]. */
#define YIELD_OVERLAP 0.5

/* Gap that counts as closed in islands of more than RB_UNIQUE_CONTACTS, in units of the extent of
 * the model [1]. What rolls leaves gaps of 1e-8 m; rings of bodies that hold each other cannot
 * close them all, and impulses grow along a self-stress until something slips. Larger: heaps hover
 * by this much. Smaller: their problems become hard without visible effect. */
#define GAP_FLAT 1e-8

/* ---- the configuration ------------------------------------------------------------------------
 */

/* d->L := factor of M + diag(k) */
static rb_status factor_with(const rb_model *m, rb_data *d, const double *k)
{
    for (int j = 0; j < m->nv; j++) d->M[m->dof_Madr[j]] += k[j];
    rb_status status = rb_mass_factor(m, d);
    for (int j = 0; j < m->nv; j++) d->M[m->dof_Madr[j]] -= k[j];
    return status;
}

/* Springs, dampers and servos act on what an impulse does within the step as well (D.37). */
static void find_slopes(const rb_stage *s, const signed char *servos, double *k, double *b)
{
    const rb_model *m = s->m;
    memset(k, 0, (size_t)m->nv_all * sizeof *k);
    memset(b, 0, (size_t)m->nv_all * sizeof *b);
    rb_passive_stiffness(m, s->d, k, b);
    rb_actuation_stiffness_of(m, s->d, servos, k, b);
    rb_gauge_spread_bound(m, s->d, k);
    rb_gauge_spread_bound(m, s->d, b);
}

rb_status rb_stage_factor(rb_stage *s, double *L_node, double *E)
{
    rb_mass(s->m, s->d);
    return rb_stage_factor_again(s, L_node, E);
}

rb_status rb_stage_factor_again(rb_stage *s, double *L_node, double *E)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_smooth_memory *memory = s->smooth_memory;
    int known = memory && memory->known;
    rb_mark mark = rb_arena_mark(d->arena);
    double *k = rb_push(d->arena, double, m->nv_all), *b = rb_push(d->arena, double, m->nv_all);
    double *creep = rb_push(d->arena, double, m->nv_all);
    if (!k || !b || !creep) return RB_NOMEM;
    find_slopes(s, known ? memory->creeps : NULL, k, creep);
    memcpy(b, creep, (size_t)m->nv_all * sizeof *b);
    if (known && memcmp(memory->holds, memory->creeps, (size_t)m->nu) != 0)
        find_slopes(s, memory->holds, k, b);
    for (int j = 0; j < m->nv; j++) k[j] = 0.5 * s->h * (b[j] + 0.5 * s->h * k[j]);
    rb_status status = factor_with(m, d, k);
    int held = 0, any = 0;
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        double D = d->L[m->dof_Madr[j]] - k[j];
        double more = creep[j] != 0.0 ? rb_passive_hold(s->h, creep[j], D) : 0.0; /* (D.38) */
        any |= k[j] != 0.0;
        held |= more > 0.0;
        k[j] += more;
        b[j] = more;
        if (memory && L_node) memory->inertia[j] = D;
        if (E) E[j] = k[j];
    }
    if (L_node && status == RB_OK) {
        if (any || held) status = factor_with(m, d, b);
        memcpy(L_node, d->L, (size_t)m->nM * sizeof *L_node);
        held |= any;
    }
    if (held && status == RB_OK) status = factor_with(m, d, k);
    rb_arena_reset(d->arena, mark);
    return status;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

/* Least gap of its pair at the start of the step. */
static double start_of(const rb_stage *s, const rb_constraint *c)
{
    return s->start[c - s->set.c];
}

/* Where rows have no answer, contacts are relaxed by rounding (S.39). */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c)
{
    if (!s->yields || s->o->formulation->push_out) return 0.0;
    double deep = rb_stage_deep(s, &c->id), start = fmin(0.0, start_of(s, c));
    if (c->kind == RB_CONSTRAINT_LIMIT) {
        double room = fmax(start - rb_stage_lowest(s, start, deep), 0.5 * RB_GAP_DEEP * s->size);
        return fmax(fmin(YIELD * deep, room), rb_stage_yield_error(s, start));
    }
    if (start > -0.5 * deep) return YIELD * deep;
    return start < -2.0 * deep ? YIELD_OVERLAP * rb_stage_growth(s) : 0.0;
}

static int has_face(const rb_stage *s, const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && c->nface > 1 && s->o->formulation->kind == RB_CONE;
}

/* Points of a face that touches are closed where they are level with zero (S.9), those of large
 * islands where their gap is too small to be seen (S.8). */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c)
{
    int of = c->island;
    int n = of < 0 ? 0 : s->set.island_start[of + 1] - s->set.island_start[of];
    double closed = (n > RB_UNIQUE_CONTACTS ? GAP_FLAT : RB_GAP_ZERO) * s->size;
    if (s->o->scheme == RB_SCHEME_NODE)
        closed = fmax(closed, RB_NODE_LEFT * rb_stage_deep(s, &c->id));
    if (!has_face(s, c)) return closed;
    for (int i = c->face; i < c->face + c->nface; i++) {
        if (s->set.c[i].gap <= closed) return fmax(closed, rb_stage_deep(s, &c->id));
    }
    return closed;
}

/* ---- arrays -----------------------------------------------------------------------------------
 */

rb_status rb_stage_take_rows(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    size_t n = (size_t)s->set.n;
    double **of_row[] = { &s->u, &s->p, &s->bias, &s->u_before };
    double **of_one[] = { &s->e, &s->room };
    s->kept = NULL;
    s->found = s->spent = NULL;
    s->mode = rb_push(arena, unsigned char, n);
    if (!s->mode) return RB_NOMEM;
    memset(s->mode, RB_MODE_OPEN, n);
    int ok =
        rb_push_zeros(arena, of_row, 4, s->set.nrow) && rb_push_zeros(arena, of_one, 2, s->set.n);
    return ok ? RB_OK : RB_NOMEM;
}
