/* Rows of loops, and of joints that stick, without contacts beside them: one dense factor for each
 * island (F.15). */
#include "step/closure.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/slip.h"
#include "math/dense.h"

rb_status rb_closure_open(rb_stage *s, rb_closure *x)
{
    rb_data *d = s->d;
    rb_status status = rb_constraints_build(s->m, d, s->o, s->h, 0.0, NULL, 0, NULL, &x->set);
    if (status != RB_OK) return status;
    x->of = rb_push(d->arena, rb_closed, x->set.nisland);
    if (!x->of) return RB_NOMEM;
    memset(x->of, 0, (size_t)x->set.nisland * sizeof *x->of);
    return RB_OK;
}

int rb_closure_tree(const rb_stage *s, const rb_closure *x, int island)
{
    const rb_constraint *c = &x->set.c[x->set.island_order[x->set.island_start[island]]];
    return s->m->link_tree[s->m->dof_link[x->set.dof[c->dof]]];
}

/* It is one of the rows that others may have beside them. */
static int is_held(const rb_closure *x, const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_EQUALITY || (x->sticks && x->sticks[c - x->set.c]);
}

int rb_closure_is_closed(const rb_closure *x, const rb_constraint *c)
{
    return is_held(x, c) && c->island >= 0 && x->of[c->island].n > 0;
}

/* ---- the factor -------------------------------------------------------------------------------
 */

static int take_memory(rb_arena *arena, size_t n, rb_closed *of)
{
    of->row = rb_push(arena, int, n);
    of->perm = rb_push(arena, int, n);
    of->A = rb_push(arena, double, n *n);
    of->scale = rb_push(arena, double, n);
    of->x = rb_push(arena, double, n);
    of->work = rb_push(arena, double, n);
    return of->row && of->perm && of->A && of->scale && of->x && of->work;
}

/* Largest diagonal entry of rows a to b - 1. */
static double largest_of(const rb_island *is, int a, int b)
{
    double largest = 0.0;
    for (int r = a; r < b; r++) largest = fmax(largest, rb_island_entry(is, r, r));
    return largest;
}

/* Scales that make the diagonal one; a row that is rounding beside the others of its equality, as
 * the one across the plane of a four-bar, keeps its size. By the node rule, which has rows of loops
 * in every step, rows of a point, and those of a turn, have one scale: the row across the plane is
 * next to nothing where the linkage lies flat. */
static void list_rows(const rb_island *is, int together, rb_closed *of)
{
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        int row = is->row[i];
        double largest = largest_of(is, row, row + c->nrow);
        for (int r = 0; r < c->nrow; r++, of->n++) {
            int a = r - r % 3, b = a + 3 < c->nrow ? a + 3 : c->nrow;
            double w = together ? largest_of(is, row + a, row + b)
                                : fmax(rb_island_entry(is, row + r, row + r),
                                       RB_LOOP_ROW_ROUNDING * largest);
            of->scale[of->n] = w > 0.0 ? 1.0 / sqrt(w) : 0.0;
            of->row[of->n] = c->row + r;
        }
    }
}

int rb_closure_row_count(const rb_closure *x, int island)
{
    const rb_constraints *set = &x->set;
    int n = 0;
    for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
        const rb_constraint *c = &set->c[set->island_order[i]];
        if (is_held(x, c)) n += c->nrow;
    }
    return n;
}

/* The held constraints of an island, as an island: what slides beside them has no part in W. */
static rb_status open_held(rb_stage *s, const rb_closure *x, int island, rb_island *is)
{
    const rb_constraints *set = &x->set;
    rb_constraints held = *set;
    int first = set->island_start[island], all = set->island_start[island + 1] - first;
    int bounds[2] = { 0, 0 }, *order = rb_push(s->d->arena, int, all);
    if (!order) return RB_NOMEM;
    for (int i = first; i < first + all; i++) {
        int at = set->island_order[i];
        if (is_held(x, &set->c[at])) order[bounds[1]++] = at;
    }
    held.island_order = order;
    held.island_start = bounds;
    return rb_island_open(s->m, s->d, &held, 0, s->h, s->d->arena, is);
}

rb_status rb_closure_factor(rb_stage *s, rb_closure *x, int island, double tol)
{
    rb_arena *arena = s->d->arena;
    rb_closed *of = &x->of[island];
    size_t n = (size_t)rb_closure_row_count(x, island);
    if (n == 0) return RB_OK;
    if (!take_memory(arena, n, of)) return RB_NOMEM;
    rb_mark mark = rb_arena_mark(arena);
    rb_island is;
    rb_status status = open_held(s, x, island, &is);
    if (status != RB_OK) return status;
    list_rows(&is, x->last != NULL, of);
    for (int i = 0; i < of->n && x->last; i++) {
        if (x->last[of->row[i]]) of->scale[i] *= 0.5;
    }
    for (int i = 0; i < of->n; i++) {
        for (int j = 0; j < of->n; j++) {
            double W_ij = rb_island_entry(&is, i, j);
            of->A[(ptrdiff_t)i * of->n + j] = of->scale[i] * W_ij * of->scale[j];
        }
    }
    of->rank = rb_ldl_factor(of->A, of->n, of->perm, tol * of->n);
    rb_arena_reset(arena, mark);
    return RB_OK;
}

/* ---- what it is for ---------------------------------------------------------------------------
 */

/* of->x = W^-1 y over scale */
static void solve_island(const rb_closed *of, const double *y)
{
    for (int i = 0; i < of->n; i++) of->x[i] = of->scale[i] * y[of->row[i]];
    rb_ldl_solve(of->A, of->n, of->rank, of->perm, of->x, of->work);
}

void rb_closure_solve(const rb_closure *x, const double *y, double *z)
{
    memset(z, 0, (size_t)x->set.nrow * sizeof *z);
    for (int island = 0; island < x->set.nisland; island++) {
        const rb_closed *of = &x->of[island];
        if (of->n == 0) continue;
        solve_island(of, y);
        for (int i = 0; i < of->n; i++) z[of->row[i]] = -of->scale[i] * of->x[i];
    }
}

double rb_closure_energy(const rb_closure *x, int island, const double *y)
{
    const rb_closed *of = &x->of[island];
    double twice = 0.0;
    solve_island(of, y);
    for (int i = 0; i < of->n; i++) twice += of->scale[i] * of->x[i] * y[of->row[i]];
    return 0.5 * twice;
}

void rb_closure_push(const rb_stage *s, const rb_closure *x, const double *p, double *f, double *v)
{
    memset(f, 0, (size_t)s->m->nv * sizeof *f);
    rb_constraints_force(&x->set, p, f);
    rb_mass_solve(s->m, s->d, f);
    for (int j = 0; j < s->m->nv; j++) v[j] += f[j];
}

double rb_closure_work(const rb_closure *x, int island, const double *p, const double *u,
                       const double *u_new)
{
    const rb_closed *of = &x->of[island];
    double twice = 0.0;
    for (int i = 0; i < of->n; i++) {
        int r = of->row[i];
        twice += p[r] * (u[r] + u_new[r]);
    }
    return 0.5 * twice;
}

/* What the rows of an equality are made of, at most [m/s] or [rad/s]. */
static double size_of(const rb_constraints *set, const rb_constraint *c, const double *v)
{
    double size = 0.0;
    for (int r = 0; r < c->nrow; r++) {
        const double *J = set->J + c->block + (ptrdiff_t)r * c->ndof;
        double sum = fabs(set->drive[c->row + r]);
        for (int k = 0; k < c->ndof; k++) sum += fabs(J[k] * v[set->dof[c->dof + k]]);
        size = fmax(size, sum);
    }
    return size;
}

double rb_closure_residual(const rb_closure *x, const double *v, const double *v_new,
                           const double *u_new)
{
    const rb_constraints *set = &x->set;
    double worst = 0.0;
    for (int island = 0; island < set->nisland; island++) {
        double size = 0.0, left = 0.0;
        for (int i = set->island_start[island]; i < set->island_start[island + 1]; i++) {
            const rb_constraint *c = &set->c[set->island_order[i]];
            if (!rb_closure_is_closed(x, c)) continue;
            size = fmax(size, fmax(size_of(set, c, v), size_of(set, c, v_new)));
            for (int r = c->row; r < c->row + c->nrow; r++) left = fmax(left, fabs(u_new[r]));
        }
        if (!(left <= worst * size)) worst = left / size;
    }
    return worst;
}
