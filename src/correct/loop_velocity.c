/* Finds the velocity nearest to v, in the metric of the masses, at which loops stay closed:
 *
 *     v := v - M^-1 J'z,     J M^-1 J' z = J v + drive                                       (S.38)
 *
 * Where nothing is driven it has at most the kinetic energy of v. Redundant rows get no share. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "math/dense.h"
#include "correct/displace.h"

typedef struct system {
    const rb_model *m;
    rb_data *d;
    rb_rows rows;
    double *X; /* M^-1 J', one row for each                         (n x nv)      */
    double *W, *scale, *u, *work; /*                                               (n x n), (n)  */
    int *perm; /*                                                   (n)           */
} closed;

static double along(const closed *s, int row, const double *v)
{
    double sum = 0.0;
    for (int k = s->rows.start[row]; k < s->rows.start[row + 1]; k++)
        sum += s->rows.J[k] * v[s->rows.dof[k]];
    return sum;
}

static int take_memory(closed *s)
{
    rb_arena *arena = s->d->arena;
    size_t n = (size_t)s->rows.n, nv = (size_t)s->m->nv;
    s->X = rb_push(arena, double, n *nv);
    s->W = rb_push(arena, double, n *n);
    s->scale = rb_push(arena, double, 3 * n);
    s->perm = rb_push(arena, int, n);
    if (!s->X || !s->W || !s->scale || !s->perm) return 0;
    s->u = s->scale + n;
    s->work = s->u + n;
    return 1;
}

/* W scaled to unit diagonal; rows that move nothing have none. */
static void fill(closed *s)
{
    int n = s->rows.n, nv = s->m->nv;
    memset(s->X, 0, (size_t)n * (size_t)nv * sizeof *s->X);
    for (int i = 0; i < n; i++) {
        double *x = s->X + (ptrdiff_t)i * nv;
        for (int k = s->rows.start[i]; k < s->rows.start[i + 1]; k++)
            x[s->rows.dof[k]] += s->rows.J[k];
        rb_mass_solve(s->m, s->d, x);
        double w = along(s, i, x);
        s->scale[i] = w > 0.0 ? 1.0 / sqrt(w) : 0.0;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            s->W[(ptrdiff_t)i * n + j] =
                s->scale[i] * s->scale[j] * along(s, i, s->X + (ptrdiff_t)j * nv);
    }
}

static rb_status solve(closed *s)
{
    int n = s->rows.n, nv = s->m->nv;
    rb_mass(s->m, s->d);
    rb_status status = rb_mass_factor(s->m, s->d);
    if (status != RB_OK) return status;
    fill(s);
    for (int i = 0; i < n; i++) s->u[i] *= s->scale[i];
    int rank = rb_ldl_factor(s->W, n, s->perm, RB_LOOP_RANK_TOL * n);
    rb_ldl_solve(s->W, n, rank, s->perm, s->u, s->work);
    for (int i = 0; i < n; i++) {
        const double *x = s->X + (ptrdiff_t)i * nv;
        double z = s->scale[i] * s->u[i];
        for (int j = 0; j < nv; j++) s->d->v[j] -= z * x[j];
    }
    return RB_OK;
}

rb_status rb_loop_velocity(const rb_model *m, rb_data *d)
{
    closed s = { .m = m, .d = d };
    if (m->neq == 0) return RB_OK;
    rb_mark mark = rb_arena_mark(d->arena);
    rb_kinematics(m, d);
    rb_velocity(m, d);
    rb_status status = rb_loop_rows(m, d, &s.rows);
    if (status != RB_OK) return status;
    if (!take_memory(&s)) status = RB_NOMEM;
    double largest = 0.0;
    for (int i = 0; i < s.rows.n && status == RB_OK; i++) {
        s.u[i] = along(&s, i, d->v) + s.rows.drive[i];
        largest = fmax(largest, fabs(s.u[i]));
    }
    if (status == RB_OK && largest > 0.0) status = solve(&s);
    rb_arena_reset(d->arena, mark);
    return status;
}
