#include "solve/internal.h"

static rb_status solve_auto(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                            double *z, rb_info *info)
{
    return p->kind == RB_CONE ? rb_cone_auto(p, o, scratch, z, info)
                              : rb_lcp_auto(p, o, scratch, z, info);
}

const rb_solver rb_solver_auto = {
    "auto", "tries methods in order, from warm start to fallbacks; certified",
    RB_LCP | RB_BOX | RB_CONE, solve_auto
};
