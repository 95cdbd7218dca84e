/* What rows are made of in every scheme: M factored with springs and dampers, gaps that count as
 * closed, what may be relaxed, and the arrays of a set of rows. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/pieces.h"
#include "dynamics/actuation.h"
#include "dynamics/coupling.h"
#include "dynamics/gauge.h"
#include "dynamics/passive.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "step/gaps.h"
#include "step/rows.h"

/* By how much limits and contacts are relaxed in a step whose loops leave no other answer, in units
 * of what steps may make [1]. A linkage at its dead centre amplifies rounding of one joint ten
 * thousand times in another. Larger: the gaps at the end are refused. Smaller: the noise is
 * not covered. */
#define YIELD 0.25

/* The same for overlap of the model, in units of what it may grow by [1]. */
#define YIELD_OVERLAP 0.5

/* ---- the configuration ------------------------------------------------------------------------
 */

/* Actuators that are not at a bound of their force, with the activations of the middle of the step:
 * by them (D.38) holds joints of coupled dofs from the start of the step. act: the ones it began
 * with. */
static rb_status find_marks(rb_stage *s, double *act, signed char *marks)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double *next = rb_push(d->arena, double, m->na);
    if (!next) return RB_NOMEM;
    memcpy(act, d->act, (size_t)m->na * sizeof *act);
    memset(next, 0, (size_t)m->na * sizeof *next);
    rb_activation_step(m, d, s->h, next);
    rb_activation_middle(m, act, next, d->act);
    rb_actuation(m, d);
    for (int i = 0; i < m->nu; i++) marks[i] = rb_actuator_side(m, d, i) == 0;
    return RB_OK;
}

/* k, b: stiffness and damping of dofs (nv_all), without what couples them, which is apart where
 * that is not NULL. */
static void find_slopes(const rb_stage *s, const signed char *marks, double *k, double *b,
                        rb_coupling *apart)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    memset(k, 0, (size_t)m->nv_all * sizeof *k);
    memset(b, 0, (size_t)m->nv_all * sizeof *b);
    rb_passive_stiffness_apart(m, d, k, b, apart);
    rb_actuation_stiffness_of(m, d, marks, k, b, apart);
    rb_gauge_spread_bound(m, d, k);
    rb_gauge_spread_bound(m, d, b);
}

/* Scratch of factor_coupled. */
typedef struct coupled {
    rb_coupling terms;
    double *k, *b, *A, *E; /* (nv_all) */
    double *act;           /* (na)     */
    signed char *marks;    /* (nu)     */
} coupled;

static int push_coupled(const rb_model *m, rb_arena *arena, coupled *x)
{
    double **of_dof[] = { &x->k, &x->b, &x->A, &x->E };
    x->act = rb_push(arena, double, m->na);
    x->marks = rb_push(arena, signed char, m->nu);
    return x->act && x->marks && rb_push_rows(arena, of_dof, 4, m->nv_all) &&
           rb_coupling_push(m, arena, &x->terms);
}

/* (D.38) by the bounds of what is coupled; d->M := M */
static rb_status hold_creeping(rb_stage *s, coupled *x)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double half = 0.5 * s->h;
    rb_mass(m, d);
    for (int j = 0; j < m->nv; j++)
        x->A[j] = x->E[j] + half * (x->terms.b[j] + half * x->terms.k[j]);
    rb_status status = rb_mass_factor_with(m, d, x->A, NULL);
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        double b = x->b[j] + x->terms.b[j], D = d->L[m->dof_Madr[j]] - x->A[j];
        x->A[j] = b == 0.0 ? 0.0 : rb_passive_hold(s->h, b, D);
    }
    return status;
}

static void hand_out(const rb_stage *s, const coupled *x, const rb_stage_stiff *out)
{
    const rb_model *m = s->m;
    size_t bytes = (size_t)m->nv * sizeof(double);
    if (out->E) memcpy(out->E, x->E, bytes);
    if (out->A && !out->again) memcpy(out->A, x->A, bytes);
    for (int i = 0; i < m->nM && out->all; i++) out->all[i] = s->d->M[i] + x->terms.C[i];
    for (int j = 0; j < m->nv && out->all; j++) out->all[m->dof_Madr[j]] += x->E[j];
}

/* (D.55): what is coupled has its own matrix in the factor. */
static rb_status factor_coupled(rb_stage *s, const rb_stage_stiff *out)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    coupled x;
    int begins = out->A && !out->again;
    if (!push_coupled(m, d->arena, &x)) return RB_NOMEM;
    rb_coupling_begin(m, s->h, &x.terms);
    if (begins && find_marks(s, x.act, x.marks) != RB_OK) return RB_NOMEM;
    find_slopes(s, begins ? x.marks : NULL, x.k, x.b, &x.terms);
    if (begins) memcpy(d->act, x.act, (size_t)m->na * sizeof *x.act);
    for (int j = 0; j < m->nv; j++) x.E[j] = 0.5 * s->h * (x.b[j] + 0.5 * s->h * x.k[j]);
    rb_status status = RB_OK;
    if (out->again)
        memcpy(x.A, out->A, (size_t)m->nv * sizeof *x.A);
    else
        status = hold_creeping(s, &x);
    for (int j = 0; j < m->nv; j++) x.E[j] += x.A[j];
    if (out->L && status == RB_OK) {
        status = rb_mass_factor_with(m, d, x.A, NULL);
        memcpy(out->L, d->L, (size_t)m->nM * sizeof *out->L);
    }
    if (status == RB_OK) status = rb_mass_factor_with(m, d, x.E, x.terms.C);
    if (status == RB_OK) hand_out(s, &x, out);
    return status;
}

rb_status rb_stage_factor_again(rb_stage *s, double *L_node, double *E)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_smooth_memory *memory = s->smooth.memory;
    int known = memory && memory->known;
    rb_mark mark = rb_arena_mark(d->arena);
    double *k = rb_push(d->arena, double, m->nv_all), *b = rb_push(d->arena, double, m->nv_all);
    double *creep = rb_push(d->arena, double, m->nv_all);
    if (!k || !b || !creep) return RB_NOMEM;
    find_slopes(s, known ? memory->creeps : NULL, k, creep, NULL);
    memcpy(b, creep, (size_t)m->nv_all * sizeof *b);
    if (known && memcmp(memory->holds, memory->creeps, (size_t)m->nu) != 0)
        find_slopes(s, memory->holds, k, b, NULL);
    for (int j = 0; j < m->nv; j++) k[j] = 0.5 * s->h * (b[j] + 0.5 * s->h * k[j]);
    rb_status status = rb_mass_factor_with(m, d, k, NULL);
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
        if (any || held) status = rb_mass_factor_with(m, d, b, NULL);
        memcpy(L_node, d->L, (size_t)m->nM * sizeof *L_node);
        held |= any;
    }
    if (held && status == RB_OK) status = rb_mass_factor_with(m, d, k, NULL);
    rb_arena_reset(d->arena, mark);
    return status;
}

/* Springs, dampers and servos act on what an impulse does within the step as well (D.37). */
rb_status rb_stage_factor(rb_stage *s, const rb_stage_stiff *out)
{
    const rb_stage_stiff none = { .L = NULL };
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!out) out = &none;
    rb_status status = RB_OK;
    if (rb_coupling_any(s->m)) {
        status = factor_coupled(s, out);
    } else {
        rb_mass(s->m, s->d);
        status = rb_stage_factor_again(s, out->L, out->E);
    }
    rb_arena_reset(s->d->arena, mark);
    return status;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

/* Least gap of its pair at the start of the step. */
static double start_of(const rb_stage *s, const rb_constraint *c)
{
    return s->problem.least_gap[c - s->set.c];
}

/* Where rows have no answer, contacts are relaxed by rounding (S.21). */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c)
{
    if (!s->attempt.relaxed || s->o->formulation->push_out) return 0.0;
    double deep = rb_stage_deep(s, &c->id), start = fmin(0.0, start_of(s, c));
    if (c->kind == RB_CONSTRAINT_LIMIT) {
        double room =
            fmax(start - rb_stage_lowest(s, start, deep), 0.5 * RB_GAP_DEEP * s->given->size);
        return fmin(YIELD * deep, room);
    }
    if (start > -0.5 * deep) return YIELD * deep;
    return start < -2.0 * deep ? YIELD_OVERLAP * rb_stage_growth(s) : 0.0;
}

static int has_face(const rb_stage *s, const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && c->nface > 1 && s->o->formulation->kind == RB_CONE;
}

/* Points of a face that touches are closed where they are level with zero (S.5). */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c)
{
    double closed = RB_GAP_ZERO * s->given->size;
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
    double **of_row[] = { &s->problem.u, &s->answer.p, &s->problem.bias, &s->problem.u_before };
    double **of_one[] = { &s->problem.e, &s->problem.room };
    s->problem.kept = NULL;
    s->answer.residual = s->answer.work = NULL;
    s->answer.mode = rb_push(arena, unsigned char, n);
    if (!s->answer.mode) return RB_NOMEM;
    memset(s->answer.mode, RB_MODE_OPEN, n);
    int ok =
        rb_push_zeros(arena, of_row, 4, s->set.nrow) && rb_push_zeros(arena, of_one, 2, s->set.n);
    return ok ? RB_OK : RB_NOMEM;
}
