/* Energy that a step makes beside its impulses, as far as smooth motion does not report it. */
#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "dynamics/forward.h"
#include "rattleback/dynamics.h"
#include "step/stage.h"

/* kinetic NULL: nobody asks. */
static double energy_at(const rb_stage *s, const double *q, const double *v, double *kinetic)
{
    memcpy(s->d->q, q, (size_t)s->m->nq * sizeof *q);
    memcpy(s->d->v, v, (size_t)s->m->nv * sizeof *v);
    rb_forward_place(s->m, s->d);
    rb_frames(s->m, s->d);
    double T = rb_energy_kinetic(s->m, s->d);
    if (kinetic) *kinetic = T;
    return T + rb_energy_potential(s->m, s->d);
}

/* Chains that nothing carries move by h v+, which is not where smooth motion leads. In parts of a
 * divided step, hard impacts, that is reported: made (S.56). */
static void report_in_full(rb_stage *s)
{
    int carried = 0;
    for (int tree = 0; tree < s->m->ntree; tree++) carried |= s->by_midpoint[tree];
    if (s->info->splits == 0 || carried || s->set.nrow == 0) return;
    if (s->m->nlink - 1 == s->m->ntree || s->m->nmocap > 0 || s->m->ngauge > 0) return;
    double free = energy_at(s, s->q_free, s->v_free, NULL);
    s->energy_made += energy_at(s, s->q_new, s->v_new, NULL) - free - s->energy;
}

/* ---- loops ------------------------------------------------------------------------------------
 */

static int is_zero(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (x[i] != 0.0) return 0;
    }
    return 1;
}

/* Joints of maximal coordinates are loops. */
static int has_loops(const rb_stage *s)
{
    for (int i = 0; i < s->set.n; i++) {
        if (s->set.c[i].kind == RB_CONSTRAINT_EQUALITY) return 1;
    }
    return 0;
}

static int is_driven(const rb_stage *s)
{
    const rb_model *m = s->m;
    return m->nmocap > 0 || m->nu > 0 || !is_zero(s->d->tau, m->nv) ||
           !is_zero(s->d->wrench, 6 * m->nbody) || !is_zero(m->body_gravcomp, m->nbody) ||
           !is_zero(s->set.drive, s->set.nrow);
}

/* Neither loops nor contact give energy: where nothing drives the model, what it has more of than
 * before was made by the rule of the step (S.48). In units of what moves, and of what weight gives
 * in the part: share. */
static double find_energy_rise(rb_stage *s, double *share)
{
    double T_0, T, mass = 0.0;
    *share = 0.0;
    if (!has_loops(s) || is_driven(s)) return 0.0;
    double before = energy_at(s, s->q0, s->v0, &T_0);
    double after = energy_at(s, s->q_new, s->v_new, &T);
    double rise = after - before - fmax(0.0, s->energy);
    if (!(rise > 0.0)) return 0.0;
    for (int k = 1; k < s->m->nlink; k++) mass += s->m->link_mass[k];
    double fall = s->gravity * s->h;
    *share = rise / (fmax(T, T_0) + 0.5 * mass * fall * fall);
    return rise;
}

/* Loops that the model begins with open are closed by velocities. */
static int were_closed(const rb_stage *s)
{
    for (int i = 0; i < s->first.nrow; i++) {
        if (!(fabs(s->first.error[i]) <= fmax(RB_LOOP_CLOSED * s->size, 10.0 * s->open_most)))
            return 0;
    }
    return 1;
}

int rb_stage_loops_make_energy(rb_stage *s)
{
    double share;
    int may = !s->final && s->h > RB_LOOP_SHORTEST * s->h_full;
    if (!may || s->o->stepper != RB_STEPPER_FIXED) return 0;
    if (!has_loops(s) || !were_closed(s)) return 0;
    find_energy_rise(s, &share);
    return share > RB_SMOOTH_ENERGY;
}

void rb_stage_report_energy(rb_stage *s)
{
    double share;
    report_in_full(s);
    double rise = find_energy_rise(s, &share);
    if (rise > 0.0) s->energy_made = fmax(s->energy_made, rise);
}
