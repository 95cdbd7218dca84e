/* An island as a problem of rows as what they are (F.21): contacts have the rows of their condim,
 * limits and dry friction one each, equalities theirs. */
#include "contact/formulations/mixed.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "contact/law.h"

/* Trace of compliance, as a share of the mean diagonal of contacts, or of the row's own [1].
 * Larger: load sharing is felt in velocities; smaller: redundant rows leave no digits. */
#define COMPLIANCE 1e-8

/* Least compliance that a row is given the credit for, relative to the mean of all [1]: what
 * nothing can move has rounding on its diagonal. */
#define LEAST 1e-6

/* Grain has an ellipse, and polygons are for other formulations; everything else is discs. */
int rb_mixed_takes(const rb_island *is)
{
    if (is->W.form != RB_DENSE) return 0;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        if (c->kind != RB_CONSTRAINT_CONTACT) continue;
        if (c->polygon || !isnan(c->material.friction_across)) return 0;
    }
    return 1;
}

typedef struct writer {
    const rb_island *is;
    unsigned char *kind;
    double *compliance;
    rb_disc *disc;
    int ndisc;
} writer;

static void add_disc(writer *w, int row, int dim, int normal, double mu, double bound)
{
    for (int a = 0; a < dim; a++) w->kind[row + a] = RB_ROW_FRICTION;
    w->disc[w->ndisc++] = (rb_disc){ row, dim, normal, mu, bound };
}

static void add_constraint(writer *w, int i)
{
    const rb_constraint *c = w->is->c[i];
    const rb_material *material = &c->material;
    int row = w->is->row[i];
    for (int r = 0; r < c->nrow; r++) w->kind[row + r] = RB_ROW_BILATERAL;
    if (c->kind == RB_CONSTRAINT_EQUALITY) return;
    if (c->kind == RB_CONSTRAINT_DRY) {
        add_disc(w, row, 1, -1, 0.0, c->bound);
        return;
    }
    w->kind[row] = RB_ROW_NORMAL;
    if (c->nrow >= 3) add_disc(w, row + 1, 2, row, rb_friction_now(w->is, i), 0.0);
    if (c->nrow >= 4) add_disc(w, row + 3, 1, row, material->friction_torsion, 0.0);
    if (c->nrow >= 6) add_disc(w, row + 4, 2, row, material->friction_roll, 0.0);
}

static double diagonal(const rb_island *is, int row)
{
    if (is->W.dense) return is->W.dense[(ptrdiff_t)row * (is->nrow + 1)];
    const double *G = is->G + (ptrdiff_t)row * is->nG;
    double sum = 0.0;
    for (int k = 0; k < is->nG; k++) sum += G[k] * G[k];
    return sum;
}

/* Contacts share one trace of compliance, so that load spreads evenly; joints have their own units.
 */
static void spread_compliance(writer *w)
{
    const rb_island *is = w->is;
    double all = 0.0, contact = 0.0;
    int n = 0;
    for (int r = 0; r < is->nrow; r++) all += diagonal(is, r) / is->nrow;
    for (int i = 0; i < is->n; i++) {
        int rows = is->c[i]->kind == RB_CONSTRAINT_CONTACT ? is->c[i]->nrow : 0;
        for (int r = 0; r < rows && r < 3; r++, n++) contact += diagonal(is, is->row[i] + r);
    }
    contact = n > 0 ? contact / n : 0.0;
    for (int i = 0; i < is->n; i++) {
        for (int r = 0; r < is->c[i]->nrow; r++) {
            int row = is->row[i] + r, shared = is->c[i]->kind == RB_CONSTRAINT_CONTACT && r < 3;
            double own = fmax(diagonal(is, row), LEAST * all);
            w->compliance[row] = COMPLIANCE * (shared ? contact : own);
        }
    }
}

static rb_status write(const rb_island *is, rb_arena *arena, rb_mixed *out)
{
    writer w = { .is = is };
    w.kind = rb_push(arena, unsigned char, is->nrow);
    w.compliance = rb_push(arena, double, is->nrow);
    w.disc = rb_push(arena, rb_disc, 3 * (size_t)is->n);
    if (!w.kind || !w.compliance || !w.disc) return RB_NOMEM;
    for (int i = 0; i < is->n; i++) add_constraint(&w, i);
    spread_compliance(&w);
    *out = (rb_mixed){ .n = is->nrow,
                       .ld = is->nrow,
                       .W = is->W.dense,
                       .G = is->G,
                       .r = is->nG,
                       .q = is->u,
                       .kind = w.kind,
                       .compliance = w.compliance,
                       .ndisc = w.ndisc,
                       .disc = w.disc,
                       .rough = is->rough };
    return RB_OK;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* Of a contact the mode of its tangents, where it is closed. */
static unsigned char mode_of(const rb_island *is, int i, const unsigned char *mode)
{
    const rb_constraint *c = is->c[i];
    const unsigned char *own = mode + is->row[i];
    if (c->kind != RB_CONSTRAINT_CONTACT || own[0] == RB_MODE_OPEN) return own[0];
    return c->nrow >= 3 ? own[1] : RB_MODE_SLIDE;
}

/* u = W p + q and the diagonal, row by row: for the certificate alone. */
static void measure(const rb_island *is, const rb_mixed *x, double *t, double *u, double *diag,
                    rb_certificate *cert)
{
    for (int k = 0; k < x->r; k++) {
        t[k] = 0.0;
        for (int j = 0; j < x->n; j++) t[k] += x->G[(ptrdiff_t)j * x->r + k] * is->p[j];
    }
    for (int i = 0; i < x->n; i++) {
        double sum = x->q[i];
        for (int k = 0; k < x->r; k++) sum += x->G[(ptrdiff_t)i * x->r + k] * t[k];
        for (int j = 0; x->W && j < x->n; j++) sum += x->W[(ptrdiff_t)i * x->ld + j] * is->p[j];
        u[i] = sum;
        diag[i] = diagonal(is, i);
    }
    rb_mixed_residual(x, diag, is->p, u, cert);
}

rb_status rb_island_solve_mixed(rb_island *is, double tol, double size, rb_arena *arena,
                                rb_info *info, int *done)
{
    rb_mixed x;
    rb_mixed_result result;
    *done = 0;
    rb_mark mark = rb_arena_mark(arena);
    rb_status status = write(is, arena, &x);
    double *u = rb_push(arena, double, 2 * (size_t)is->nrow + (size_t)is->nG);
    unsigned char *mode = rb_push(arena, unsigned char, is->nrow);
    if (status != RB_OK || !u || !mode) return RB_NOMEM;
    memcpy(is->p, is->guess, (size_t)is->nrow * sizeof *is->p);
    status = rb_mixed_solve(&x, tol, arena, is->p, mode, &result);
    if (status != RB_OK) return status;
    measure(is, &x, u + 2 * (ptrdiff_t)is->nrow, u, u + is->nrow, &info->cert);
    info->cert.scale = fmax(size, info->cert.scale);
    info->cert.relative = info->cert.residual / info->cert.scale;
    info->iterations += result.iterations;
    info->factorisations += result.factorisations;
    if (info->cert.relative <= tol) {
        *done = 1;
        info->outcome = RB_SOLVED;
        info->rungs[RB_RUNG_NEWTON]++;
        for (int i = 0; i < is->n; i++) is->mode[i] = mode_of(is, i, mode);
    }
    rb_arena_reset(arena, mark);
    return RB_OK;
}
