/* Where impulses are not unique: the limit of uniform compliance for cones (K.10). From a certified
 * answer Newton goes to the solution of W + eps I with the least eps that rounding allows, and from
 * there without compliance. Any solver's answer ends at the same point. */
#include "solve/internal.h"
#include "solve/newton.h"

#include <string.h>

enum { DIRECT_STEPS = 25 };

int rb_cone_is_redundant(double pivot_ratio)
{
    return pivot_ratio < 100.0 * RB_UNIFORM_EPS;
}

rb_status rb_cone_uniform(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch, double *r,
                          rb_info *info)
{
    rb_cones k;
    rb_newton s;
    rb_status status = rb_cones_make(p, scratch, &k);
    if (status == RB_OK) status = rb_newton_make(&k, scratch, &s);
    if (status == RB_TOO_LARGE) {
        info->unique = RB_UNIQUE_NOT;
        return RB_OK;
    }
    if (status != RB_OK) return status;
    double eps = RB_UNIFORM_EPS * k.mean;
    int arrived = rb_newton_run(&s, eps, NULL, r, DIRECT_STEPS);
    if (!arrived) {
        memset(r, 0, (size_t)k.n * sizeof *r);
        arrived = rb_newton_path(&s, 1.0, RB_UNIFORM_EPS, r);
    }
    double error = rb_newton_polish(&s, eps, r, o->tol);
    info->factorisations += s.factorisations;
    info->unique = !arrived || error > o->tol            ? RB_UNIQUE_NOT
                   : rb_cone_is_redundant(s.pivot_ratio) ? RB_UNIQUE_CHOSEN
                                                         : RB_UNIQUE_PLAIN;
    if (info->unique != RB_UNIQUE_NOT) memcpy(info->mode, s.mode, (size_t)k.nc);
    return RB_OK;
}
