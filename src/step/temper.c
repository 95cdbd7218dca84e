/* Energy of repairs. Positions follow velocities, so that a body that turns into another within a
 * step is pushed out by its velocity, and could gain energy. The first answer of the step was not
 * pushed: what creates no energy on the way from one to the other is taken,
 *
 *     v+ = (1 - a) v_n + a v_1,    f likewise,    1/2 f.(v+ + v_f) + w <= 0,    least a      (S.36)
 *
 * with f = J'p, w the work of prescribed motion, 1 the first answer and n the last. The position is
 * that of the last: it is free of overlap. Rows at the middle of the step (S.47) push too, by the
 * bend of the way: the first answer is that of the rows of the start. A body that this would move
 * aside by a quarter of its thickness and more has its step halved instead: it hits something, and
 * the velocity must tell. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "step/stage.h"

enum { HALVINGS = 52 }; /* of the bracket of a: all digits */

static double drive_work(const rb_stage *s)
{
    double work = 0.0;
    for (int i = 0; i < s->set.nrow; i++) work += s->p[i] * s->set.drive[i];
    return work;
}

rb_status rb_stage_remember(rb_stage *s)
{
    size_t bytes = (size_t)s->m->nv * sizeof(double);
    s->first_v = rb_push(s->d->arena, double, s->m->nv);
    s->first_f = rb_push(s->d->arena, double, s->m->nv);
    if (!s->first_v || !s->first_f) return RB_NOMEM;
    memcpy(s->first_v, s->v_new, bytes);
    memset(s->first_f, 0, bytes);
    rb_constraints_force(&s->set, s->p, s->first_f);
    s->first_work = drive_work(s);
    return RB_OK;
}

/* Energy created with share a of the first answer. */
static double created(const rb_stage *s, const double *f, double work, double a)
{
    double energy = (1.0 - a) * work + a * s->first_work;
    for (int j = 0; j < s->m->nv; j++) {
        double v = (1.0 - a) * s->v_new[j] + a * s->first_v[j];
        energy += 0.5 * ((1.0 - a) * f[j] + a * s->first_f[j]) * (v + s->v_free[j]);
    }
    return energy;
}

static int applies(const rb_stage *s)
{
    if (!s->first_v || !(s->energy > 0.0)) return 0;
    if (s->o->formulation->nonlinear && !s->unpushed) return 0;
    return s->o->law != RB_NEWTON || s->o->energy_safe;
}

/* Twice the kinetic energy, with M of the rows; Mv, scratch (nv). */
static double twice_kinetic(const rb_stage *s, const double *v, double *Mv)
{
    double twice = 0.0;
    rb_mass_multiply(s->m, s->d, v, Mv);
    for (int j = 0; j < s->m->nv; j++) twice += v[j] * Mv[j];
    return twice;
}

/* v becomes the mixture. (S.36) does not know what impulses did to the smooth terms of a carried
 * tree, whose first answer may be faster than its last though it says otherwise: then 0. */
static int mix(const rb_stage *s, double a, double *v, double *Mv)
{
    int carried = 0;
    for (int tree = 0; tree < s->m->ntree; tree++) carried |= s->carried[tree];
    for (int j = 0; j < s->m->nv; j++) v[j] = (1.0 - a) * s->v_new[j] + a * s->first_v[j];
    if (!carried) return 1;
    double before = twice_kinetic(s, s->v_new, Mv);
    return twice_kinetic(s, v, Mv) <= (1.0 + RB_SMOOTH_ENERGY) * before;
}

rb_status rb_stage_temper(rb_stage *s)
{
    if (!applies(s)) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    double *f = rb_push(s->d->arena, double, s->m->nv);
    double *v = rb_push(s->d->arena, double, s->m->nv),
           *Mv = rb_push(s->d->arena, double, s->m->nv);
    if (!f || !v || !Mv) return RB_NOMEM;
    memset(f, 0, (size_t)s->m->nv * sizeof *f);
    rb_constraints_force(&s->set, s->p, f);
    double work = drive_work(s), lo = 0.0, hi = 1.0;
    double most = fmax(0.0, created(s, f, work, hi)); /* rounding of the first answer */
    for (int k = 0; k < HALVINGS && most < s->energy; k++) {
        double a = 0.5 * (lo + hi);
        if (created(s, f, work, a) <= most)
            hi = a;
        else
            lo = a;
    }
    int slower = most >= s->energy || mix(s, hi, v, Mv);
    if (!slower && !s->final)
        return rb_fail(s->err, RB_UNSOLVED, "repairs of a chain make energy: shorten the step");
    if (most < s->energy && slower && !s->final && rb_stage_is_shoved(s, v))
        return rb_fail(s->err, RB_UNSOLVED, "repairs move a body aside: shorten the step");
    if (most < s->energy && slower) {
        s->energy = created(s, f, work, hi);
        memcpy(s->v_new, v, (size_t)s->m->nv * sizeof *v);
    }
    rb_arena_reset(s->d->arena, mark);
    return RB_OK;
}
