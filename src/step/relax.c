/* Chooses where the rows of a repair are taken. Usually that is the position found (S.24). Where
 * bodies turn so far that rows of one place undo those of another, repairs alternate between the
 * two. Example: a body of 0.1 kg between one of 10 kg and a wall is pushed and spins where rows
 * say that it must, and opens where they are taken next. The answer is between the two. So where
 * overlap grows, only a share of the way is taken:
 *
 *     v_hat := v_hat + a r,    q_hat := q (+) h v_hat,    r = v+ - v_hat                     (S.25)
 *
 * with a from the last two r, as in (S.60), in parts of a step that halving did not help. This is
 * for single bodies: links are not where h v_hat leads. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "step/stage.h"

/* The first share, and the least [1]. */
#define FIRST_RELAX 0.5
#define LEAST_RELAX 0.02

/* Longest part, relative to the step [1]: before, halves are tried. Larger: repairs that end by
 * themselves are slowed. */
#define LONGEST_RELAX 0.125

rb_status rb_relax_start(rb_stage *s, rb_relax *x)
{
    rb_arena *arena = s->d->arena;
    memset(x, 0, sizeof *x);
    x->q_hat = rb_push(arena, double, s->m->nq);
    x->v_hat = rb_push(arena, double, s->m->nv);
    x->worst = INFINITY;
    return x->q_hat && x->v_hat ? RB_OK : RB_NOMEM;
}

static int may_relax(const rb_stage *s)
{
    const rb_model *m = s->m;
    if (s->h > LONGEST_RELAX * s->h_full) return 0;
    return m->neq == 0 && m->nlink - 1 == m->ntree && !s->o->formulation->nonlinear;
}

/* r of this round, x->r; a from it and the one before, if there is one. */
static void choose_share(const rb_stage *s, const double *way, rb_relax *x)
{
    double along = 0.0, square = 0.0;
    for (int j = 0; j < s->m->nv; j++) {
        double r = way[j] - x->v_hat[j], less = x->r[j] - r;
        along += x->r[j] * less;
        square += less * less;
        x->r[j] = r;
    }
    if (!x->alternates) return;
    if (!x->seen || !(square > 0.0))
        x->share = FIRST_RELAX;
    else
        x->share = fmin(1.0, fmax(LEAST_RELAX, x->share * along / square));
}

/* Rows of this round were taken at v_hat, and another one is needed. */
static rb_status relax(rb_stage *s, rb_relax *x)
{
    const rb_model *m = s->m;
    double *way = rb_push(s->d->arena, double, m->nv);
    if (!x->r) {
        x->share = 1.0;
        x->r = rb_push(s->d->arena, double, m->nv);
        if (x->r) memset(x->r, 0, (size_t)m->nv * sizeof *x->r);
    }
    if (!way || !x->r) return RB_NOMEM;
    rb_stage_mean_velocity(s, way);
    choose_share(s, way, x);
    x->seen = 1;
    if (!x->alternates) return RB_OK;
    for (int j = 0; j < m->nv; j++) x->v_hat[j] += x->share * x->r[j];
    rb_integrate(m, s->q0, x->v_hat, s->h, x->q_hat);
    return RB_OK;
}

rb_status rb_relax_next(rb_stage *s, double worst, rb_relax *x)
{
    int again = s->v_hat == x->v_hat && may_relax(s);
    x->alternates |= again && worst > x->worst;
    x->worst = worst;
    rb_status status = again ? relax(s, x) : RB_OK;
    if (!x->alternates) {
        memcpy(x->q_hat, s->q_new, (size_t)s->m->nq * sizeof *x->q_hat);
        rb_stage_mean_velocity(s, x->v_hat);
    }
    s->q_hat = x->q_hat;
    s->v_hat = x->v_hat;
    return status;
}
