/* Nonsmooth (block) Gauss-Seidel for Coulomb cones [Jourdan, Alart, Jean 1998], (K.5):
 *
 *     for each contact c:   b_c = q_c + sum_{j != c} W_cj r_j,   r_c := exact solution of
 *                           u_c = W_cc r_c + b_c,  K contains r_c perp u_c + mu |u_t| n in K*
 *
 * Converges slowly but on nearly everything; linear at a rate that gets worse with the height of
 * stacks. Stops when the natural measure is a tenth of the tolerance. */
#include "solve/nsgs.h"

#include <math.h>
#include <string.h>

#include "solve/internal.h"

/* b = q + W r of contact c without its own impulse. The sums are in registers: through b, which
 * might be anything, every block would wait for the one before. */
static void contact_rest(const rb_cones *k, int c, const double *r, double *b)
{
    int dim = k->dim;
    const double *q = k->q + (ptrdiff_t)c * dim;
    double b0 = q[0], b1 = q[1], b2 = dim == 3 ? q[2] : 0.0;
    for (int e = k->W.ptr[c]; e < k->W.ptr[c + 1]; e++) {
        if (k->W.col[e] == c) continue;
        const double *B = k->W.val + (ptrdiff_t)e * dim * dim;
        const double *x = r + (ptrdiff_t)k->W.col[e] * dim;
        if (dim == 3) {
            b0 += B[0] * x[0] + B[1] * x[1] + B[2] * x[2];
            b1 += B[3] * x[0] + B[4] * x[1] + B[5] * x[2];
            b2 += B[6] * x[0] + B[7] * x[1] + B[8] * x[2];
        } else {
            b0 += B[0] * x[0] + B[1] * x[1];
            b1 += B[2] * x[0] + B[3] * x[1];
        }
    }
    b[0] = b0;
    b[1] = b1;
    if (dim == 3) b[2] = b2;
}

double rb_nsgs_sweep(const rb_cones *k, const double *eps, double *r, int backward)
{
    int dim = k->dim;
    double moved = 0.0;
    double each = 0.1 * k->nc; /* one contact by itself */
    if (!rb_meter_add(k->meter, RB_WORK_SWEEP, rb_cones_work(k) + each)) return 0.0;
    for (int i = 0; i < k->nc; i++) {
        int c = backward ? k->nc - 1 - i : i;
        double *r_c = r + (ptrdiff_t)c * dim, old[3], b[3];
        memcpy(old, r_c, (size_t)dim * sizeof *old);
        contact_rest(k, c, r, b);
        double W[9];
        memcpy(W, k->W.val + (ptrdiff_t)k->diag[c] * dim * dim, (size_t)(dim * dim) * sizeof *W);
        for (int j = 0; j < dim; j++) W[j * dim + j] += eps ? eps[c] : 0.0;
        rb_cone_local(W, b, k->mu[c], dim, r_c);
        for (int j = 0; j < dim; j++) moved = fmax(moved, fabs(r_c[j] - old[j]) / k->rho[c]);
    }
    return moved;
}

static rb_status solve_nsgs(const rb_problem *p, const rb_solve_opts *o, rb_arena *scratch,
                            double *r, rb_info *info)
{
    rb_cones k;
    rb_status status = rb_cones_make(p, scratch, &k);
    if (status != RB_OK) return status;
    double *u = rb_push(scratch, double, k.n), *best = rb_push(scratch, double, k.n);
    if (!u || !best) return RB_NOMEM;
    double least = INFINITY;
    for (int it = 0; it <= o->max_iter; it++) {
        /* the measure costs as much as a sweep: look at every fifth one after the first ten */
        if (it < 10 || it % 5 == 0 || it == o->max_iter) {
            rb_cones_velocity(&k, r, u);
            double error = rb_cones_error(&k, r, u);
            if (error < least) {
                least = error;
                memcpy(best, r, (size_t)k.n * sizeof *r);
                rb_cones_modes(&k, r, u, info->mode);
            }
            if (error <= 0.1 * o->tol || it == o->max_iter) break;
        }
        if (rb_nsgs_sweep(&k, NULL, r, it & 1) == 0.0) it = o->max_iter - 1;
        info->iterations++;
    }
    memcpy(r, best, (size_t)k.n * sizeof *r);
    info->outcome = least <= o->tol ? RB_SOLVED : RB_FAILED;
    rb_path_add(info, "nsgs");
    return RB_OK;
}

const rb_solver rb_solver_nsgs = { "nsgs", "block Gauss-Seidel, each contact solved exactly",
                                   RB_CONE, solve_nsgs };
