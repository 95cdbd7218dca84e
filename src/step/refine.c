/* Solves a problem again, with a tenth of the tolerance, where its answer is only just certified.
 *
 * Masses of 1 to 1e4 and more leave W with eigenvalues over as many decades. Newton's method ends
 * at the first point that passes, decades above what doubles can hold. A second run, cold and with
 * a smaller tolerance, finds the better answer. It is made only where rounding of the impulses
 * themselves,
 *
 *     2^-53 max_i sum_j |W_ij| |z_j|  <=  0.01 tol scale                                     (S.31)
 *
 * leaves room for it: a ton that falls on a gram has no better answer in doubles. It is not made
 * where the answer is one of several: a second run would take longer and choose another one. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "step/problems.h"

/* Share of the tolerance above which a cone problem is solved again [1] (S.31).
 * Smaller: good answers are solved twice. */
#define SHARP 0.1

/* Velocity that the last bits of z are worth [m/s]; INFINITY where W is not a matrix. */
static double rounding(const rb_problem *p, const double *z)
{
    if (p->W.form != RB_DENSE) return INFINITY;
    double most = 0.0;
    for (ptrdiff_t i = 0; i < p->n; i++) {
        double sum = 0.0;
        for (ptrdiff_t j = 0; j < p->n; j++) sum += fabs(p->W.dense[i * p->n + j] * z[j]);
        most = fmax(most, sum);
    }
    return 0x1p-53 * most;
}

rb_status rb_sharpen(const rb_problem *p, const rb_solve_opts *o, double *z, rb_info *info)
{
    double wish = SHARP * o->tol;
    if (p->kind != RB_CONE || info->cert.relative <= wish) return RB_OK;
    if (info->unique == RB_UNIQUE_NOT) return RB_OK;
    if (rounding(p, z) > 0.1 * wish * info->cert.scale) return RB_OK;
    rb_mark mark = rb_arena_mark(o->arena);
    double *better = rb_push(o->arena, double, p->n);
    unsigned char *mode = rb_push(o->arena, unsigned char, p->n);
    if (!better || !mode) return RB_NOMEM;
    memcpy(better, z, (size_t)p->n * sizeof *z);
    memcpy(mode, info->mode, (size_t)p->nc);
    rb_solve_opts sharp = *o;
    rb_info again = { .mode = mode };
    sharp.tol = wish;
    sharp.brief = 1;
    sharp.warm = sharp.follow = 0;
    rb_status status = rb_solve(p, &sharp, better, &again);
    if (status == RB_OK && again.cert.relative < info->cert.relative) {
        memcpy(z, better, (size_t)p->n * sizeof *z);
        memcpy(info->mode, mode, (size_t)p->nc);
        again.mode = info->mode;
        again.ray = info->ray;
        again.outcome = RB_SOLVED;
        *info = again;
    }
    rb_arena_reset(o->arena, mark);
    return status;
}
