/* Friction bounded by the normal impulse of the step before: boxed problems (F.30).
 *
 *     box               each component between -mu p_n and mu p_n, fixed axes
 *                       [Lacoursiere 2007]
 *     hybrid-friction   bristles in stiction, axes along the slip and the lateral law in sliding
 *                       [Peiret 2016]
 *
 * Both lag one step behind a changing load: that is part of the model. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "contact/contact.h"
#include "contact/law.h"
#include "contact/slip.h"

typedef struct context {
    rb_slip *slip; /* hybrid: per constraint, else NULL                                    (n)  */
} context;

/* ---- both -------------------------------------------------------------------------------------
 */

typedef struct arrays {
    double *W, *q, *lo, *hi;
} arrays;

static rb_status take_arrays(const rb_island *is, rb_arena *arena, arrays *a, rb_written *out)
{
    size_t n = (size_t)is->nrow;
    a->W = rb_push(arena, double, n *n);
    a->q = rb_push(arena, double, n);
    a->lo = rb_push(arena, double, n);
    a->hi = rb_push(arena, double, n);
    out->z = rb_push(arena, double, n);
    out->mode = rb_push(arena, unsigned char, n);
    if (!a->W || !a->q || !a->lo || !a->hi || !out->z || !out->mode) return RB_NOMEM;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) a->W[i * n + j] = rb_island_entry(is, (int)i, (int)j);
        a->q[i] = is->u[i];
        out->z[i] = is->p_prev[i];
        out->mode[i] = RB_MODE_UNKNOWN;
    }
    out->problem = (rb_problem){ .kind = RB_BOX,
                                 .n = is->nrow,
                                 .q = a->q,
                                 .lo = a->lo,
                                 .hi = a->hi,
                                 .W = { .form = RB_DENSE, .dense = a->W } };
    return RB_OK;
}

/* Bounds of the rows of constraint i; tangents by coefficients mu[0], mu[1]. */
static void set_bounds(const rb_island *is, int i, const double mu[2], arrays *a)
{
    const rb_constraint *c = is->c[i];
    int row = is->row[i];
    double p_n = c->kind == RB_CONSTRAINT_CONTACT ? rb_normal_before(is, i) : 0.0;
    double bound[6] = { 0.0,
                        mu[0] * p_n,
                        mu[1] * p_n,
                        c->material.friction_torsion * p_n,
                        c->material.friction_roll * p_n,
                        c->material.friction_roll * p_n };
    for (int r = 0; r < c->nrow; r++) {
        double b = c->kind == RB_CONSTRAINT_EQUALITY ? INFINITY
                   : c->kind == RB_CONSTRAINT_DRY    ? c->bound
                                                     : bound[r];
        int unilateral = r == 0 && c->kind <= RB_CONSTRAINT_LIMIT;
        a->lo[row + r] = unilateral ? 0.0 : -b;
        a->hi[row + r] = unilateral ? INFINITY : b;
    }
}

/* A soft normal: its spring replaces the rigid gap (F.28). */
static void relax_normal(const rb_island *is, int i, arrays *a)
{
    const rb_constraint *c = is->c[i];
    ptrdiff_t n = is->nrow, row = is->row[i];
    double k = c->material.relax_stiffness;
    if (isnan(k) && isnan(c->material.relax_damping)) return;
    double W_ii = a->W[row * n + row];
    double eps = rb_relaxation(k, c->material.relax_damping, is->h, RB_HARD_SHARE, W_ii);
    a->W[row * n + row] += eps;
    a->q[row] += eps * is->h * (isnan(k) ? 0.0 : k) * c->gap - is->bias[row];
}

static void read_modes(const rb_written *written, rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        int row = is->row[i];
        const double *z = written->z + row, *lo = written->problem.lo + row,
                     *hi = written->problem.hi + row;
        is->mode[i] = c->kind <= RB_CONSTRAINT_LIMIT && z[0] <= 0.0 ? RB_MODE_OPEN : RB_MODE_STICK;
        if (is->mode[i] == RB_MODE_OPEN || c->kind != RB_CONSTRAINT_CONTACT) continue;
        for (int r = 1; r < c->nrow && r < 3; r++) {
            if (z[r] <= lo[r] || z[r] >= hi[r]) is->mode[i] = RB_MODE_SLIDE;
        }
    }
}

/* ---- box --------------------------------------------------------------------------------------
 */

/* Kinetic, along the tangents: the bound of the step before is no more exact than that. */
static void box_friction(const rb_island *is, int i, double mu[2])
{
    const rb_material *m = &is->c[i]->material;
    const double *u = is->u_before + is->row[i] + 1;
    mu[0] = rb_friction_at(m, sqrt(u[0] * u[0] + u[1] * u[1]), 1);
    mu[1] = mu[0];
    if (isnan(m->friction_across)) return;
    mu[1] = m->friction > 0.0 ? mu[0] * m->friction_across / m->friction : m->friction_across;
}

static rb_status box_write(const rb_island *is, const rb_step_opts *o, rb_arena *arena,
                           rb_written *out)
{
    (void)o;
    arrays a;
    memset(out, 0, sizeof *out);
    rb_status status = rb_refuse_polygons(is);
    if (status == RB_OK) status = take_arrays(is, arena, &a, out);
    if (status != RB_OK) return status;
    for (int i = 0; i < is->n; i++) {
        double mu[2] = { 0.0, 0.0 };
        if (is->c[i]->kind == RB_CONSTRAINT_CONTACT && is->c[i]->nrow >= 3) box_friction(is, i, mu);
        if (is->c[i]->kind == RB_CONSTRAINT_CONTACT) relax_normal(is, i, &a);
        set_bounds(is, i, mu, &a);
    }
    return RB_OK;
}

static void box_read(const rb_written *written, rb_island *is)
{
    memcpy(is->p, written->z, (size_t)is->nrow * sizeof *is->p);
    read_modes(written, is);
}

/* ---- hybrid-friction --------------------------------------------------------------------------
 */

/* Rows and columns t1, t2 of constraint i turned to the directions of its slip. */
static void turn(const rb_island *is, int i, const double e[2][2], arrays *a)
{
    ptrdiff_t n = is->nrow, t = is->row[i] + 1;
    double q[2] = { a->q[t], a->q[t + 1] };
    for (int k = 0; k < 2; k++) a->q[t + k] = e[k][0] * q[0] + e[k][1] * q[1];
    for (ptrdiff_t j = 0; j < n; j++) {
        double x = a->W[t * n + j], y = a->W[(t + 1) * n + j];
        for (int k = 0; k < 2; k++) a->W[(t + k) * n + j] = e[k][0] * x + e[k][1] * y;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        double x = a->W[j * n + t], y = a->W[j * n + t + 1];
        for (int k = 0; k < 2; k++) a->W[j * n + t + k] = e[k][0] * x + e[k][1] * y;
    }
}

static rb_status hybrid_write(const rb_island *is, const rb_step_opts *o, rb_arena *arena,
                              rb_written *out)
{
    arrays a;
    memset(out, 0, sizeof *out);
    rb_status status = rb_slip_accepts(is);
    if (status == RB_OK) status = take_arrays(is, arena, &a, out);
    if (status != RB_OK) return status;
    context *x = rb_push(arena, context, 1);
    if (!x) return RB_NOMEM;
    x->slip = rb_push(arena, rb_slip, is->n);
    if (!x->slip) return RB_NOMEM;
    out->context = x;
    for (int i = 0; i < is->n; i++) {
        rb_slip *slip = &x->slip[i];
        *slip = (rb_slip){ .e = { { 1.0, 0.0 }, { 0.0, 1.0 } } };
        ptrdiff_t n = is->nrow, t = is->row[i] + 1;
        if (is->c[i]->kind == RB_CONSTRAINT_CONTACT && is->c[i]->nrow >= 3) {
            rb_slip_find(is, o, i, rb_normal_before(is, i), slip);
            turn(is, i, slip->e, &a);
            for (int k = 0; k < 2; k++) {
                a.W[(t + k) * n + t + k] += slip->eps[k];
                a.q[t + k] += slip->d[k];
            }
            double p[2] = { out->z[t], out->z[t + 1] };
            for (int k = 0; k < 2; k++) {
                out->z[t + k] = slip->e[k][0] * p[0] + slip->e[k][1] * p[1];
            }
        }
        if (is->c[i]->kind == RB_CONSTRAINT_CONTACT) relax_normal(is, i, &a);
        set_bounds(is, i, slip->mu, &a);
    }
    return RB_OK;
}

static void hybrid_read(const rb_written *written, rb_island *is)
{
    const context *x = written->context;
    box_read(written, is);
    for (int i = 0; i < is->n; i++) {
        if (is->c[i]->kind != RB_CONSTRAINT_CONTACT || is->c[i]->nrow < 3) continue;
        const rb_slip *slip = &x->slip[i];
        const double *z = written->z + is->row[i] + 1;
        double *p = is->p + is->row[i] + 1;
        for (int k = 0; k < 2; k++) p[k] = slip->e[0][k] * z[0] + slip->e[1][k] * z[1];
    }
}

const rb_formulation rb_formulation_box = {
    .name = "box",
    .summary = "each friction component bounded by the normal impulse of the last step",
    .kind = RB_BOX,
    .relaxes = 1,
    .lags = 1,
    .write = box_write,
    .read = box_read,
};

const rb_formulation rb_formulation_hybrid_friction = {
    .name = "hybrid-friction",
    .summary = "bristles, lateral regularisation, bounds from the last step",
    .kind = RB_BOX,
    .relaxes = 1,
    .lags = 1,
    .write = hybrid_write,
    .read = hybrid_read,
};
