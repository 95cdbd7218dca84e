/* Murty's least-index principal pivoting [Murty 1974]: exchange the first row whose sign is wrong.
 * Finite for P-matrices, in up to 2^n steps (his own example reaches that). Kept pure: it is the
 * yardstick beside which block exchanges are measured. */
#include "solve/internal.h"
#include "solve/judice_pires.h"

static rb_status solve_murty(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                             double *z, rb_info *info)
{
    return rb_exchange_solve(p, o, 0, scratch, z, info);
}

const rb_solver rb_solver_murty = { "murty", "least-index principal pivoting; P-matrices, boxed",
                                    RB_LCP | RB_BOX, solve_murty };
