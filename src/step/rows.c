/* What rows are made of in every scheme: M factored with springs and dampers, gaps that count as
 * closed, what may yield, and the arrays of a set of rows. */
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

/* k, b: what springs, dampers and servos add to M in a step of h, and their dampers alone. */
static void find_stiffness(const rb_stage *s, double *k, double *b)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    memset(k, 0, (size_t)m->nv_all * sizeof *k);
    memset(b, 0, (size_t)m->nv_all * sizeof *b);
    rb_passive_stiffness(m, d, k, b);
    rb_actuation_stiffness(m, d, k, b);
    rb_gauge_spread_bound(m, d, k);
    rb_gauge_spread_bound(m, d, b);
    for (int j = 0; j < m->nv; j++) k[j] = 0.5 * s->h * (b[j] + 0.5 * s->h * k[j]);
}

/* k and b := what holds joints that creep (D.37) is added, and is alone; 1: there is some. */
static int hold_creeping(const rb_stage *s, double *k, double *b, double *D)
{
    const rb_model *m = s->m;
    int held = 0;
    for (int j = 0; j < m->nv; j++) {
        double inertia = s->d->L[m->dof_Madr[j]] - k[j];
        double more = b[j] != 0.0 ? rb_passive_hold(s->h, b[j], inertia) : 0.0;
        held |= more > 0.0;
        k[j] += more;
        b[j] = more;
        if (D) D[j] = inertia;
    }
    return held;
}

/* Springs, dampers and servos act on what an impulse does within the step as well (D.25). */
rb_status rb_stage_factor(rb_stage *s, rb_stage_masses *of)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    rb_mark mark = rb_arena_mark(d->arena);
    double *k = rb_push(d->arena, double, m->nv_all), *b = rb_push(d->arena, double, m->nv_all);
    double *L = rb_push(d->arena, double, m->nM);
    if (!k || !b || !L) return RB_NOMEM;
    find_stiffness(s, k, b);
    rb_mass(m, d);
    int any = 0;
    for (int j = 0; j < m->nv; j++) any |= k[j] != 0.0;
    rb_status status = factor_with(m, d, k);
    if (status == RB_OK && hold_creeping(s, k, b, of ? of->D : NULL)) status = factor_with(m, d, k);
    if (of && of->E) memcpy(of->E, k, (size_t)m->nv * sizeof *k);
    memcpy(L, d->L, (size_t)m->nM * sizeof *L);
    if (of && of->L && any && status == RB_OK) status = factor_with(m, d, b);
    if (of && of->L) memcpy(of->L, d->L, (size_t)m->nM * sizeof *L);
    memcpy(d->L, L, (size_t)m->nM * sizeof *L);
    rb_arena_reset(d->arena, mark);
    return status;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

/* Where rows leave no answer, what touches yields by rounding (S.41). */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c)
{
    double deep = rb_stage_deep(s, &c->id), start = fmin(0.0, rb_stage_start_gap(s, &c->id));
    if (!s->yields || s->o->formulation->push_out) return 0.0;
    if (c->kind == RB_CONSTRAINT_LIMIT) {
        double room = fmax(start - rb_stage_lowest(s, start, deep), 0.5 * RB_GAP_DEEP * s->size);
        return fmax(fmin(RB_YIELD * deep, room), rb_stage_yield_error(s, start));
    }
    if (start > -0.5 * deep) return RB_YIELD * deep;
    return start < -2.0 * deep ? RB_YIELD_OVERLAP * rb_stage_growth(s) : 0.0;
}

static int has_face(const rb_stage *s, const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && c->nface > 1 && s->o->formulation->kind == RB_CONE;
}

/* Points of a face that touches are closed where they are level with zero (S.49), those of large
 * islands where nobody sees their gap (S.43). */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c)
{
    int of = c->island;
    int n = of < 0 ? 0 : s->set.island_start[of + 1] - s->set.island_start[of];
    double closed = (n > RB_UNIQUE_CONTACTS ? RB_GAP_FLAT : RB_GAP_ZERO) * s->size;
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
