/* Gaps of large islands that a round has missed, by the bend of the way or by the tolerance of its
 * problem: a second problem of hundreds of contacts would cost as much as the step, for an error
 * that is seen in the gap alone. So it is taken off positions, as errors of the start are (S.35),
 * and no velocity comes from it:
 *
 *     min 1/2 d'M d,   J_n d >= -room,      d = M^-1 J_n' y, y >= 0                         (S.10)
 *
 * room: what each gap has left above its goal. Solved by projected gradients with the step lengths
 * of [Barzilai & Borwein 1988]: one product with J M^-1 J' each. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/meter.h"
#include "base/pieces.h"
#include "math/dense.h"
#include "step/node.h"

/* Steps, and how often they begin anew from where they led: normals have turned by then. */
enum { MOST_STEPS = 200, RESTARTS = 3 };

/* Share of what gaps may miss that is left [1]. */
#define LEFT 0.2

typedef struct lift {
    rb_node *x;
    int *of;      /* rows that take part                                                (n)      */
    double *most; /* what each of them may miss [m]                                     (n)      */
    int n;
    double *y, *g, *s; /* multipliers, room of the answer, change of y                  (n)      */
    double *rows;      /* scratch                                                       (nrow)   */
    double *d;         /* displacement                                                  (nv)     */
} lift;

static rb_status take_memory(lift *l)
{
    const rb_stage *s = l->x->s;
    rb_arena *arena = s->d->arena;
    double **of_n[] = { &l->y, &l->g, &l->s, &l->most };
    l->of = rb_push(arena, int, s->set.n);
    l->rows = rb_push(arena, double, s->set.nrow);
    l->d = rb_push(arena, double, s->m->nv);
    int ok = l->of && l->rows && l->d && rb_push_zeros(arena, of_n, 4, s->set.n);
    return ok ? RB_OK : RB_NOMEM;
}

static void choose_rows(lift *l)
{
    const rb_stage *s = l->x->s;
    l->n = 0;
    memset(l->y, 0, (size_t)s->set.n * sizeof *l->y);
    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        if (c->kind > RB_CONSTRAINT_LIMIT || !rb_node_may_lift(l->x, c->island)) continue;
        l->of[l->n] = c->row;
        l->most[l->n] = s->h * rb_node_may_sink(l->x, i);
        l->g[l->n++] = s->h * l->x->value[c->row];
    }
}

/* d = M^-1 J'y; rows: J d. 0: the step has no work left. */
static int multiply(lift *l, const double *y)
{
    const rb_stage *s = l->x->s;
    memset(l->rows, 0, (size_t)s->set.nrow * sizeof *l->rows);
    memset(l->d, 0, (size_t)s->m->nv * sizeof *l->d);
    for (int k = 0; k < l->n; k++) l->rows[l->of[k]] = y[k];
    rb_constraints_force(&s->set, l->rows, l->d);
    rb_mass_solve(s->m, s->d, l->d);
    rb_constraints_velocity(&s->set, l->d, l->rows);
    for (int k = 0; k < l->n; k++) l->rows[l->of[k]] -= s->set.drive[l->of[k]];
    return rb_meter_add(s->meter, RB_WORK_SWEEP, 0.05 * l->n);
}

/* Whether all gaps are what they may be, and what was pushed is no farther. */
static int is_done(const lift *l)
{
    for (int k = 0; k < l->n; k++) {
        double off = l->y[k] > 0.0 ? fabs(l->g[k]) : -l->g[k];
        if (off > LEFT * l->most[k]) return 0;
    }
    return 1;
}

/* Length of the first step: the best one down the gradient of what sinks. */
static double first_length(lift *l)
{
    double gg = 0.0, gAg = 0.0;
    for (int k = 0; k < l->n; k++) l->s[k] = fmax(0.0, -l->g[k]);
    if (!multiply(l, l->s)) return 0.0;
    for (int k = 0; k < l->n; k++) {
        gg += l->s[k] * l->s[k];
        gAg += l->s[k] * l->rows[l->of[k]];
    }
    return gAg > 0.0 ? gg / gAg : 0.0;
}

/* y, and d of it; 0: there is none. */
static int find(lift *l)
{
    double length = first_length(l);
    for (int i = 0; i < MOST_STEPS && length > 0.0; i++) {
        double ss = 0.0, sAs = 0.0;
        for (int k = 0; k < l->n; k++) {
            double y = fmax(0.0, l->y[k] - length * l->g[k]);
            l->s[k] = y - l->y[k];
            l->y[k] = y;
        }
        if (!multiply(l, l->s)) return 0;
        for (int k = 0; k < l->n; k++) {
            double As = l->rows[l->of[k]];
            ss += l->s[k] * l->s[k];
            sAs += l->s[k] * As;
            l->g[k] += As;
        }
        if (is_done(l)) return multiply(l, l->y);
        length = sAs > 0.0 ? ss / sAs : 0.0;
    }
    return 0;
}

/* q_new moved by d, and looked at there; ok 0: it is not open enough. */
static rb_status go(lift *l, int *ok)
{
    rb_node *x = l->x;
    rb_stage *s = x->s;
    rb_integrate(s->m, s->answer.q, l->d, 1.0, x->q);
    memcpy(s->answer.q, x->q, (size_t)s->m->nq * sizeof *x->q);
    rb_node_hold_resting(s);
    rb_status status = rb_node_look(x);
    if (status != RB_OK) return status;
    rb_node_missed(x);
    *ok = x->low <= 1.0 && !rb_node_is_deep(x);
    return RB_OK;
}

rb_status rb_node_lift(rb_node *x, int *lifted)
{
    rb_stage *s = x->s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    size_t bytes = (size_t)s->m->nq * sizeof *s->answer.q;
    lift l = { .x = x };
    double *before = rb_push(s->d->arena, double, s->m->nq);
    rb_status status = before ? take_memory(&l) : RB_NOMEM;
    *lifted = 0;
    if (status != RB_OK) return status;
    memcpy(before, s->answer.q, bytes);
    for (int turn = 0; turn < RESTARTS && !*lifted && status == RB_OK; turn++) {
        choose_rows(&l);
        if (!find(&l)) break;
        status = go(&l, lifted);
    }
    if (status == RB_OK && !*lifted) {
        memcpy(s->answer.q, before, bytes);
        status = rb_node_look(x);
    }
    rb_arena_reset(s->d->arena, mark);
    return status;
}
