/* The work that a step may take, and the sentence that says where it went. */
#include <math.h>

#include "base/error.h"
#include "step/stage.h"

/* Default limit of the work of a step, in units of meter.h [1]: one to four seconds. Larger: a step
 * that does not end blocks the caller. Smaller: piles of thousands are refused. */
#define WORK_MOST 4e6

/* Degrees of freedom beyond which that limit grows in proportion to them [1]. Larger: a hundred
 * robots are refused for what single ones may take. Smaller: a step that does not end takes longer.
 */
#define WORK_DOFS 100.0

/* Share of that which one problem may take, where the step can be halved [1]. It goes by the
 * default limit, so that a step has the same bits with any limit. Larger: dominoes that lean on
 * each other take a budget. Smaller: steps are halved whose problems would end. */
#define PROBLEM_SHARE 0.25

static double default_budget(const rb_stage *s)
{
    return WORK_MOST * fmax(1.0, s->m->nv / WORK_DOFS);
}

double rb_stage_budget(const rb_stage *s)
{
    if (s->o->budget == 0.0) return default_budget(s);
    return s->o->budget > 0.0 ? s->o->budget : INFINITY;
}

double rb_stage_problem_most(const rb_stage *s)
{
    return PROBLEM_SHARE * default_budget(s);
}

/* Whatever the step had come to: what was computed after the meter had stopped does not count. */
rb_status rb_stage_report_stopped(const rb_stage *s)
{
    const rb_meter *x = s->meter;
    if (x->stopped == RB_CANCELLED)
        return rb_fail(s->err, RB_CANCELLED, "the caller ended the step");
    double share = 100.0 / x->all;
    return rb_fail(s->err, RB_BUDGET,
                   "%.3g of %.3g units: %.0f %% factorisations, %.0f %% sweeps and pivots, %.0f %% "
                   "pairs of geoms, %.0f %% dynamics, in %d problems and %d parts; a shorter step "
                   "or accuracy fast takes less, a larger budget gives more",
                   x->all, x->most, share * x->spent[RB_WORK_FACTOR],
                   share * x->spent[RB_WORK_SWEEP], share * x->spent[RB_WORK_PAIR],
                   share * x->spent[RB_WORK_MOTION], s->info->solves, s->info->parts + 1);
}
