/* Friction with phantom inertia: a full-rank LCP [Peiret 2017] (F.31).
 *
 * Tangential impulses p_t, in directions along and across the slip, and the impulses of equalities
 * are eliminated; what is left are the normal impulses and, for each direction e_j of a contact,
 * the positive and negative parts of its slip,
 *
 *     J_t v + eps_t p_t - E w_up + E w_lo + d_t = 0
 *     u_n = J_n v + eps_n p_n + d_n              >= 0  _|_  p_n  >= 0
 *     E'p_t + mu p_n + rho w_lo                  >= 0  _|_  w_up >= 0
 *    -E'p_t + mu p_n + rho w_up                  >= 0  _|_  w_lo >= 0
 *
 * rho_j = share T_jj, T the tangential block of the inverse: no solution depends on it, because one
 * of w_up and w_lo is zero, but without it the matrix has no full rank. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "contact/contact.h"
#include "contact/slip.h"
#include "math/dense.h"
#include "math/trig.h"

#define PI 3.141592653589793

/* A direction of a friction line or disc: which eliminated rows it acts along. */
typedef struct line {
    int normal; /* index of p_n among the direct unknowns                                   */
    int f[2];   /* eliminated rows, second -1: one                                          */
    double along[2];
    double mu;
} line;

typedef struct context {
    int nf;        /* eliminated rows: tangents, torsion, rolling, equalities                   */
    int ng;        /* direct unknowns: normals, limits, dry friction                            */
    int nl;        /* lines                                                                     */
    int *f;        /* island row of each eliminated row; tangents are turned         (nf)       */
    int *g;        /* island row of each direct unknown                              (ng)       */
    int *owner;    /* constraint of each direct unknown                              (ng)       */
    line *lines;   /*                                                                (nl)       */
    rb_slip *slip; /* per constraint                                                 (n)        */
    double *r;     /* u + d of the eliminated rows                                   (nf)       */
    double *K;     /* LU of W_ff + eps, scaled to unit diagonal                      (nf x nf)  */
    double *scale; /* lateral directions are softer than others by many decades      (nf)       */
    int *perm;     /*                                                                (nf)       */
    double *W_fg;  /*                                                                (nf x ng)  */
    double *p_f;   /* eliminated impulses                                            (nf)       */
} context;

/* ---- rows -------------------------------------------------------------------------------------
 */

static int has_tangents(const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && c->nrow >= 3;
}

/* Friction lines of constraint i; f is its first eliminated row. */
static int add_lines(const rb_island *is, const rb_step_opts *o, int i, int normal, int f,
                     const rb_slip *slip, line *out)
{
    const rb_constraint *c = is->c[i];
    int n = 0, k = o->phantom_directions;
    if (!has_tangents(c)) return 0;
    for (int j = 0; j < k; j++) {
        line l = { .normal = normal, .f = { f, f + 1 } };
        rb_sincos(PI * j / k, &l.along[1], &l.along[0]);
        if (2 * j == k) l.along[0] = 0.0;
        l.mu = k == 2 ? slip->mu[j] : slip->mu[0];
        out[n++] = l;
    }
    const double turning[3] = { c->material.friction_torsion, c->material.friction_roll,
                                c->material.friction_roll };
    for (int r = 3; r < c->nrow; r++) {
        out[n++] = (line){
            .normal = normal, .f = { f + r - 1, -1 }, .along = { 1.0, 0.0 }, .mu = turning[r - 3]
        };
    }
    return n;
}

static rb_status take_lists(const rb_island *is, const rb_step_opts *o, rb_arena *arena, context *x)
{
    size_t nrow = (size_t)is->nrow, n = (size_t)is->n;
    x->f = rb_push(arena, int, nrow);
    x->g = rb_push(arena, int, nrow);
    x->owner = rb_push(arena, int, nrow);
    x->slip = rb_push(arena, rb_slip, n);
    x->lines = rb_push(arena, line, n * ((size_t)o->phantom_directions + 3));
    if (!x->f || !x->g || !x->owner || !x->slip || !x->lines) return RB_NOMEM;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        int direct = c->kind != RB_CONSTRAINT_EQUALITY, first = x->nf;
        if (has_tangents(c)) rb_slip_find(is, o, i, rb_normal_before(is, i), &x->slip[i]);
        if (direct) x->g[x->ng] = is->row[i], x->owner[x->ng++] = i;
        for (int r = direct; r < c->nrow; r++) x->f[x->nf++] = is->row[i] + r;
        x->nl += add_lines(is, o, i, x->ng - 1, first, &x->slip[i], x->lines + x->nl);
    }
    return RB_OK;
}

/* ---- turned tangents --------------------------------------------------------------------------
 */

/* Components of island rows along the directions of the slip: row -> two weights. */
static void turned_row(const rb_island *is, const context *x, int i, int r, int row[2],
                       double weight[2])
{
    int t = is->row[i] + 1;
    row[0] = is->row[i] + r;
    row[1] = -1;
    weight[0] = 1.0;
    weight[1] = 0.0;
    if (!has_tangents(is->c[i]) || r < 1 || r > 2) return;
    row[0] = t;
    row[1] = t + 1;
    weight[0] = x->slip[i].e[r - 1][0];
    weight[1] = x->slip[i].e[r - 1][1];
}

/* W in the rotated basis, dense; u too, with eps and d of bristles, springs and hard rows. */
static void turned_system(const rb_island *is, const context *x, double *W, double *u)
{
    ptrdiff_t n = is->nrow;
    for (int i = 0; i < is->n; i++) {
        for (int r = 0; r < is->c[i]->nrow; r++) {
            int row[2];
            double a[2];
            turned_row(is, x, i, r, row, a);
            ptrdiff_t at = is->row[i] + r;
            u[at] = a[0] * is->u[row[0]] + (row[1] >= 0 ? a[1] * is->u[row[1]] : 0.0);
            for (int j = 0; j < is->n; j++) {
                for (int s = 0; s < is->c[j]->nrow; s++) {
                    int col[2];
                    double b[2], sum = 0.0;
                    turned_row(is, x, j, s, col, b);
                    for (int k = 0; k < 2 && row[k] >= 0; k++) {
                        for (int l = 0; l < 2 && col[l] >= 0; l++) {
                            sum += a[k] * rb_island_entry(is, row[k], col[l]) * b[l];
                        }
                    }
                    W[at * n + is->row[j] + s] = sum;
                }
            }
        }
    }
}

static void relax_rows(const rb_island *is, const context *x, double *W, double *u)
{
    ptrdiff_t n = is->nrow;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        const rb_material *m = &c->material;
        for (int r = 0; r < c->nrow; r++) {
            ptrdiff_t at = is->row[i] + r;
            double W_ii = W[at * n + at];
            int rubs = c->kind == RB_CONSTRAINT_CONTACT && r > 0;
            double share = rubs ? RB_HARD_TANGENT : RB_HARD_SHARE;
            double eps = rb_relaxation(NAN, NAN, is->h, share, W_ii);
            int normal = c->kind <= RB_CONSTRAINT_DRY && r == 0, soft = 0;
            if (normal && c->kind == RB_CONSTRAINT_CONTACT) {
                soft = !isnan(m->relax_stiffness) || !isnan(m->relax_damping);
            }
            if (soft) {
                double k = isnan(m->relax_stiffness) ? 0.0 : m->relax_stiffness;
                eps =
                    rb_relaxation(m->relax_stiffness, m->relax_damping, is->h, RB_HARD_SHARE, W_ii);
                u[at] += eps * is->h * k * c->gap - is->bias[at];
            }
            if (has_tangents(c) && (r == 1 || r == 2)) {
                eps = x->slip[i].eps[r - 1];
                u[at] += x->slip[i].d[r - 1];
            }
            if (!normal || soft) W[at * n + at] += eps;

            /* the error of a loop by its compliance is corrected in the next round */
            if (is->again && c->kind == RB_CONSTRAINT_EQUALITY) u[at] -= eps * is->guess[at];
        }
    }
}

/* ---- elimination ------------------------------------------------------------------------------
 */

/* K := LU of W_ff, W_fg, r. */
static rb_status factor(const rb_island *is, rb_arena *arena, const double *W, const double *u,
                        context *x)
{
    size_t nf = (size_t)x->nf, ng = (size_t)x->ng;
    ptrdiff_t n = is->nrow;
    x->K = rb_push(arena, double, nf *nf);
    x->perm = rb_push(arena, int, nf);
    x->scale = rb_push(arena, double, nf);
    x->W_fg = rb_push(arena, double, nf *ng);
    x->r = rb_push(arena, double, nf);
    x->p_f = rb_push(arena, double, nf);
    if (!x->K || !x->perm || !x->scale || !x->W_fg || !x->r || !x->p_f) return RB_NOMEM;
    for (int i = 0; i < x->nf; i++) {
        double K_ii = W[x->f[i] * n + x->f[i]];
        x->scale[i] = K_ii > 0.0 ? 1.0 / sqrt(K_ii) : 1.0;
    }
    for (int i = 0; i < x->nf; i++) {
        x->r[i] = u[x->f[i]];
        for (int j = 0; j < x->nf; j++) {
            x->K[(ptrdiff_t)i * x->nf + j] = x->scale[i] * W[x->f[i] * n + x->f[j]] * x->scale[j];
        }
        for (int j = 0; j < x->ng; j++) {
            x->W_fg[(ptrdiff_t)i * x->ng + j] = W[x->f[i] * n + x->g[j]];
        }
    }
    return rb_lu_factor(x->K, x->nf, x->perm) == x->nf ? RB_OK : RB_SINGULAR;
}

/* p := (W_ff + eps)^-1 p */
static void solve_f(const context *x, double *p)
{
    for (int i = 0; i < x->nf; i++) p[i] *= x->scale[i];
    rb_lu_solve(x->K, x->nf, x->perm, p);
    for (int i = 0; i < x->nf; i++) p[i] *= x->scale[i];
}

static double line_dot(const line *l, const double *p_f)
{
    return l->along[0] * p_f[l->f[0]] + (l->f[1] >= 0 ? l->along[1] * p_f[l->f[1]] : 0.0);
}

/* One column of the problem: p_f that the unknown causes, and what that does to every row. The
 * order is p_g, w_up, w_lo. */
static void fill_column(const rb_island *is, const context *x, const double *W, int column,
                        const double *p_f, double *A)
{
    ptrdiff_t n = is->nrow, size = x->ng + 2 * (ptrdiff_t)x->nl;
    for (int i = 0; i < x->ng; i++) {
        double sum = column < x->ng ? W[x->g[i] * n + x->g[column]] : 0.0;
        for (int k = 0; k < x->nf; k++) sum += W[x->g[i] * n + x->f[k]] * p_f[k];
        A[i * size + column] = sum;
    }
    for (int l = 0; l < x->nl; l++) {
        const line *at = &x->lines[l];
        double friction = line_dot(at, p_f), bound = column == at->normal ? at->mu : 0.0;
        A[(x->ng + l) * size + column] = bound + friction;
        A[(x->ng + x->nl + l) * size + column] = bound - friction;
    }
}

static void fill_problem(const rb_island *is, const rb_step_opts *o, const double *W,
                         const double *u, context *x, double *A, double *q)
{
    ptrdiff_t size = x->ng + 2 * (ptrdiff_t)x->nl;
    double *p_f = x->p_f;

    /* direct unknowns push the eliminated rows */
    for (int j = 0; j < x->ng; j++) {
        for (int k = 0; k < x->nf; k++) p_f[k] = -x->W_fg[(ptrdiff_t)k * x->ng + j];
        solve_f(x, p_f);
        fill_column(is, x, W, j, p_f, A);
    }

    /* slips pull them */
    for (int l = 0; l < x->nl; l++) {
        const line *at = &x->lines[l];
        memset(p_f, 0, (size_t)x->nf * sizeof *p_f);
        p_f[at->f[0]] = at->along[0];
        if (at->f[1] >= 0) p_f[at->f[1]] = at->along[1];
        solve_f(x, p_f);
        double rho = o->phantom_share * line_dot(at, p_f);
        fill_column(is, x, W, x->ng + l, p_f, A);
        for (int k = 0; k < x->nf; k++) p_f[k] = -p_f[k];
        fill_column(is, x, W, x->ng + x->nl + l, p_f, A);
        A[(x->ng + l) * size + x->ng + x->nl + l] += rho;
        A[(x->ng + x->nl + l) * size + x->ng + l] += rho;
    }

    /* without either */
    for (int k = 0; k < x->nf; k++) p_f[k] = -x->r[k];
    solve_f(x, p_f);
    for (int i = 0; i < x->ng; i++) {
        q[i] = u[x->g[i]];
        for (int k = 0; k < x->nf; k++) q[i] += W[(ptrdiff_t)x->g[i] * is->nrow + x->f[k]] * p_f[k];
    }
    for (int l = 0; l < x->nl; l++) {
        q[x->ng + l] = line_dot(&x->lines[l], p_f);
        q[x->ng + x->nl + l] = -q[x->ng + l];
    }
}

/* ---- the formulation --------------------------------------------------------------------------
 */

static rb_status set_bounds(const rb_island *is, const context *x, rb_arena *arena,
                            rb_problem *problem)
{
    int dry = 0;
    for (int i = 0; i < x->ng; i++) dry |= is->c[x->owner[i]]->kind == RB_CONSTRAINT_DRY;
    if (!dry) return RB_OK;
    double *lo = rb_push(arena, double, problem->n), *hi = rb_push(arena, double, problem->n);
    if (!lo || !hi) return RB_NOMEM;
    for (int i = 0; i < problem->n; i++) {
        const rb_constraint *c = i < x->ng ? is->c[x->owner[i]] : NULL;
        int bounded = c && c->kind == RB_CONSTRAINT_DRY;
        lo[i] = bounded ? -c->bound : 0.0;
        hi[i] = bounded ? c->bound : INFINITY;
    }
    problem->kind = RB_BOX;
    problem->lo = lo;
    problem->hi = hi;
    return RB_OK;
}

static rb_status phantom_write(const rb_island *is, const rb_step_opts *o, rb_arena *arena,
                               rb_written *out)
{
    memset(out, 0, sizeof *out);
    context *x = rb_push(arena, context, 1);
    size_t nrow = (size_t)is->nrow;
    double *W = rb_push(arena, double, nrow *nrow), *u = rb_push(arena, double, nrow);
    if (!x || !W || !u) return RB_NOMEM;
    memset(x, 0, sizeof *x);
    out->context = x;
    rb_status status = rb_slip_accepts(is);
    if (status == RB_OK) status = take_lists(is, o, arena, x);
    if (status != RB_OK) return status;
    turned_system(is, x, W, u);
    relax_rows(is, x, W, u);
    status = factor(is, arena, W, u, x);
    if (status != RB_OK) return status;

    size_t size = (size_t)x->ng + 2 * (size_t)x->nl;
    double *A = rb_push(arena, double, size *size), *q = rb_push(arena, double, size);
    out->z = rb_push(arena, double, size);
    out->mode = rb_push(arena, unsigned char, size);
    if (!A || !q || !out->z || !out->mode) return RB_NOMEM;
    fill_problem(is, o, W, u, x, A, q);
    memset(out->z, 0, size * sizeof *out->z);
    memset(out->mode, RB_MODE_UNKNOWN, size);
    for (int i = 0; i < x->ng; i++) out->z[i] = is->p_prev[x->g[i]];
    out->problem = (rb_problem){
        .kind = RB_LCP, .n = (int)size, .q = q, .W = { .form = RB_DENSE, .dense = A }
    };
    return set_bounds(is, x, arena, &out->problem);
}

/* p_f = K^-1 (E w_up - E w_lo - r - W_fg p_g) */
static void eliminated_impulses(const context *x, const double *z)
{
    for (int k = 0; k < x->nf; k++) {
        x->p_f[k] = -x->r[k] - rb_dot(x->W_fg + (ptrdiff_t)k * x->ng, z, x->ng);
    }
    for (int l = 0; l < x->nl; l++) {
        const line *at = &x->lines[l];
        double w = z[x->ng + l] - z[x->ng + x->nl + l];
        x->p_f[at->f[0]] += at->along[0] * w;
        if (at->f[1] >= 0) x->p_f[at->f[1]] += at->along[1] * w;
    }
    solve_f(x, x->p_f);
}

static void phantom_read(const rb_written *written, rb_island *is)
{
    const context *x = written->context;
    const double *z = written->z;
    eliminated_impulses(x, z);
    for (int i = 0; i < x->ng; i++) is->p[x->g[i]] = z[i];
    for (int k = 0; k < x->nf; k++) is->p[x->f[k]] = x->p_f[k];
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        int one_sided = c->kind <= RB_CONSTRAINT_LIMIT;
        is->mode[i] = one_sided && is->p[is->row[i]] <= 0.0 ? RB_MODE_OPEN : RB_MODE_STICK;
        if (!has_tangents(c)) continue;
        double *p = is->p + is->row[i] + 1, turned[2] = { p[0], p[1] };
        for (int k = 0; k < 2; k++) {
            p[k] = x->slip[i].e[0][k] * turned[0] + x->slip[i].e[1][k] * turned[1];
        }
    }
    for (int l = 0; l < x->nl; l++) {
        int slips = z[x->ng + l] > 0.0 || z[x->ng + x->nl + l] > 0.0;
        unsigned char *mode = &is->mode[x->owner[x->lines[l].normal]];
        if (slips && *mode == RB_MODE_STICK) *mode = RB_MODE_SLIDE;
    }
}

const rb_formulation rb_formulation_phantom = {
    .name = "phantom",
    .summary = "full-rank friction with phantom inertia, bristles and lateral law",
    .kind = RB_LCP,
    .relaxes = 1,
    .write = phantom_write,
    .read = phantom_read,
};
