/* Exact Coulomb friction: the rows of an island as a cone problem of triples (n, t1, t2) (F.14).
 *
 * Plain contacts are triples already, and where there is nothing else the problem is the island
 * itself. Everything else is embedded:
 *
 * - equality: eliminated from W by a Schur complement, its impulse found afterwards (F.15);
 *
 * - limit, condim 1: a triple with mu = 0; the tangents are dummies, rows of their own (F.16);
 *
 * - dry friction, |p| <= b: normal row w r_n - w b = 0, so r_n = b; t1 the row; mu = 1 (F.17);
 *
 * - torsion, roll: normal row w r_n' - w r_n = 0 copies the normal impulse of the contact; t1, t2
 * the rows, mu the coefficient: W is not symmetric there (F.19);
 *
 * - grain: rows scaled by their coefficients make the ellipse a circle; mu = 1 (F.20).
 *
 * w is the compliance of the normal, so that copies have the size of what they copy. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "contact/contact.h"
#include "contact/law.h"
#include "contact/slip.h"
#include "math/dense.h"

typedef struct context {
    int direct; /* the problem is the island                                                  */
    int ntriple;
    int *slot;      /* place of a row in z, -1: bilateral or without effect           (nrow)      */
    double *factor; /* p = factor z                                                   (nrow)      */
    int *triple;    /* first triple of a constraint, -1: none                         (n)         */
    double *mu;     /*                                                                (ntriple)   */

    /* bilateral rows */
    int nb, rank;
    int *b;        /* rows                                                           (nb)        */
    double *A;     /* L D L' of W_bb scaled to unit diagonal                         (nb x nb)   */
    double *scale; /*                                                                (nb)        */
    int *perm;     /*                                                                (nb)        */
    double *W_b;   /* rows of W                                                      (nb x nrow) */
    double *u_b;   /*                                                                (nb)        */
    double *work;  /*                                                                (2 nb)      */
} context;

/* ---- plain contacts ---------------------------------------------------------------------------
 */

static int grained(const rb_constraint *c)
{
    return !isnan(c->material.friction_across);
}

static int is_direct(const rb_island *is)
{
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        if (c->kind != RB_CONSTRAINT_CONTACT || c->nrow != 3 || grained(c)) return 0;
    }
    return 1;
}

static rb_status write_direct(const rb_island *is, rb_arena *arena, context *x, rb_written *out)
{
    x->mu = rb_push(arena, double, is->n + is->nrow);
    out->mode = rb_push(arena, unsigned char, is->n);
    if (!x->mu || !out->mode) return RB_NOMEM;
    out->z = x->mu + is->n;
    for (int i = 0; i < is->n; i++) {
        x->mu[i] = rb_friction_now(is, i);
        out->mode[i] = is->mode_prev[i];
    }
    memcpy(out->z, is->guess, (size_t)is->nrow * sizeof *out->z);
    out->problem = (rb_problem){
        .kind = RB_CONE, .n = is->nrow, .W = is->W, .q = is->u, .nc = is->n, .dim = 3, .mu = x->mu
    };
    return RB_OK;
}

/* ---- equalities -------------------------------------------------------------------------------
 */

/* x := W_bb^-1 x within the independent rows. */
static void solve_bilateral(const context *x, double *r)
{
    for (int i = 0; i < x->nb; i++) r[i] *= x->scale[i];
    rb_ldl_solve(x->A, x->nb, x->rank, x->perm, r, x->work + x->nb);
    for (int i = 0; i < x->nb; i++) r[i] *= x->scale[i];
}

/* Scales that make the diagonal one. A row that is rounding beside the others of its equality, as
 * the one across the plane of a four-bar, keeps its size: made one it would pass for a pivot. */
static void scale_bilateral(const rb_island *is, const double *W, context *x)
{
    ptrdiff_t n = is->nrow;
    for (int i = 0, at = 0; i < is->n; i++) {
        if (is->c[i]->kind != RB_CONSTRAINT_EQUALITY) continue;
        double largest = 0.0;
        for (ptrdiff_t r = is->row[i]; r < is->row[i] + is->c[i]->nrow; r++)
            largest = fmax(largest, W[r * n + r]);
        for (ptrdiff_t r = is->row[i]; r < is->row[i] + is->c[i]->nrow; r++) {
            double W_rr = fmax(W[r * n + r], RB_LOOP_ROW_ROUNDING * largest);
            x->scale[at++] = W_rr > 0.0 ? 1.0 / sqrt(W_rr) : 0.0;
        }
    }
}

static void factor_bilateral(const rb_island *is, const double *W, context *x)
{
    ptrdiff_t n = is->nrow;
    scale_bilateral(is, W, x);
    for (int i = 0; i < x->nb; i++) {
        for (int j = 0; j < x->nb; j++) {
            x->A[(ptrdiff_t)i * x->nb + j] = x->scale[i] * W[x->b[i] * n + x->b[j]] * x->scale[j];
        }
    }
    x->rank = rb_ldl_factor(x->A, x->nb, x->perm, RB_LOOP_RANK_TOL * x->nb);
}

/* W := W - W_cb W_bb^-1 W_bc, u := u - W_cb W_bb^-1 u_b; W, u are copies. */
static void eliminate(const rb_island *is, double *W, double *u, context *x)
{
    ptrdiff_t n = is->nrow;
    for (int i = 0; i < x->nb; i++) {
        memcpy(x->W_b + i * n, W + x->b[i] * n, (size_t)n * sizeof *W);
        x->u_b[i] = u[x->b[i]];
    }
    factor_bilateral(is, W, x);
    for (ptrdiff_t j = 0; j <= n; j++) {
        /* column j of W_bc, at last u_b */
        for (int i = 0; i < x->nb; i++) x->work[i] = j < n ? x->W_b[i * n + j] : x->u_b[i];
        solve_bilateral(x, x->work);
        for (ptrdiff_t r = 0; r < n; r++) {
            double sum = 0.0;
            for (int i = 0; i < x->nb; i++) sum += x->W_b[i * n + r] * x->work[i];
            if (j < n)
                W[r * n + j] -= sum;
            else
                u[r] -= sum;
        }
    }
}

/* Rows that the loops leave no freedom: what is left of their compliance is rounding and becomes
 * zero. Their velocity then is what the loops give them; where that is rounding too it is zero. */
static void drop_immovable(const rb_island *is, double *W, double *u)
{
    ptrdiff_t n = is->nrow;
    double speed = rb_norm_inf(is->u, is->nrow);
    for (ptrdiff_t i = 0; i < n; i++) {
        double before = rb_island_entry(is, (int)i, (int)i);
        if (W[i * n + i] > RB_IMMOVABLE * before) continue;
        for (ptrdiff_t j = 0; j < n; j++) W[i * n + j] = W[j * n + i] = 0.0;
        if (fabs(u[i]) <= RB_IMMOVABLE_SPEED * speed) u[i] = 0.0;
    }
}

static rb_status take_bilateral(const rb_island *is, rb_arena *arena, context *x)
{
    for (int i = 0; i < is->n; i++) {
        if (is->c[i]->kind == RB_CONSTRAINT_EQUALITY) x->nb += is->c[i]->nrow;
    }
    if (x->nb == 0) return RB_OK;
    size_t nb = (size_t)x->nb;
    x->b = rb_push(arena, int, nb);
    x->perm = rb_push(arena, int, nb);
    x->A = rb_push(arena, double, nb *nb);
    x->scale = rb_push(arena, double, nb);
    x->u_b = rb_push(arena, double, nb);
    x->work = rb_push(arena, double, 2 * nb);
    x->W_b = rb_push(arena, double, nb *(size_t)is->nrow);
    if (!x->b || !x->perm || !x->A || !x->scale || !x->u_b || !x->work || !x->W_b) return RB_NOMEM;
    int at = 0;
    for (int i = 0; i < is->n; i++) {
        if (is->c[i]->kind != RB_CONSTRAINT_EQUALITY) continue;
        for (int r = 0; r < is->c[i]->nrow; r++) x->b[at++] = is->row[i] + r;
    }
    return RB_OK;
}

/* ---- triples ----------------------------------------------------------------------------------
 */

static int triples_of(const rb_constraint *c)
{
    if (c->kind == RB_CONSTRAINT_EQUALITY) return 0;
    if (c->kind != RB_CONSTRAINT_CONTACT) return 1;
    return 1 + (c->nrow >= 4 && c->material.friction_torsion > 0.0) +
           (c->nrow >= 6 && c->material.friction_roll > 0.0);
}

/* Rows of constraint i of an island: none where it is left out of the problem. */
static int triples_in(const rb_island *is, int i)
{
    return is->left && is->left[i] ? 0 : triples_of(is->c[i]);
}

static void put_row(context *x, int row, int slot, double factor)
{
    x->slot[row] = slot;
    x->factor[row] = factor;
}

/* A circle, an ellipse scaled to one, or, where one coefficient is zero, a line: the other tangent
 * is left out and a dummy takes its place. */
static void place_tangents(const rb_island *is, int i, int t, context *x)
{
    const rb_material *material = &is->c[i]->material;
    int row = is->row[i] + 1;
    double mu = x->mu[t], across = mu, kinetic = material->friction;
    if (grained(is->c[i]))
        across =
            kinetic > 0.0 ? mu * material->friction_across / kinetic : material->friction_across;
    int line = (mu > 0.0) != (across > 0.0), circle = line || mu == across;
    if (mu > 0.0 || !line) put_row(x, row, 3 * t + 1, circle ? 1.0 : mu);
    if (across > 0.0 || !line) put_row(x, row + 1, 3 * t + 2, circle ? 1.0 : across);
    x->mu[t] = circle ? fmax(mu, across) : 1.0;
}

static void place_contact(const rb_island *is, int i, context *x)
{
    const rb_constraint *c = is->c[i];
    const rb_material *material = &c->material;
    int t = x->triple[i], row = is->row[i];
    put_row(x, row, 3 * t, 1.0);
    x->mu[t] = c->nrow >= 3 ? rb_friction_now(is, i) : 0.0;
    if (c->nrow >= 3) place_tangents(is, i, t, x);
    if (c->nrow >= 4 && material->friction_torsion > 0.0) {
        put_row(x, row + 3, 3 * ++t + 1, 1.0);
        x->mu[t] = material->friction_torsion;
    }
    if (c->nrow >= 6 && material->friction_roll > 0.0) {
        t++;
        put_row(x, row + 4, 3 * t + 1, 1.0);
        put_row(x, row + 5, 3 * t + 2, 1.0);
        x->mu[t] = material->friction_roll;
    }
}

static rb_status place_rows(const rb_island *is, rb_arena *arena, context *x)
{
    x->slot = rb_push(arena, int, is->nrow);
    x->factor = rb_push(arena, double, is->nrow);
    x->triple = rb_push(arena, int, is->n);
    if (!x->slot || !x->factor || !x->triple) return RB_NOMEM;
    for (int i = 0; i < is->n; i++) {
        int count = triples_in(is, i);
        x->triple[i] = count > 0 ? x->ntriple : -1;
        x->ntriple += count;
    }
    x->mu = rb_push(arena, double, x->ntriple);
    if (!x->mu) return RB_NOMEM;
    for (int r = 0; r < is->nrow; r++) put_row(x, r, -1, 0.0);
    for (int i = 0; i < is->n; i++) {
        int t = x->triple[i];
        if (t < 0) continue;
        switch (is->c[i]->kind) {
        case RB_CONSTRAINT_CONTACT:
            place_contact(is, i, x);
            break;
        case RB_CONSTRAINT_LIMIT:
            put_row(x, is->row[i], 3 * t, 1.0);
            x->mu[t] = 0.0;
            break;
        case RB_CONSTRAINT_DRY:
            put_row(x, is->row[i], 3 * t + 1, 1.0);
            x->mu[t] = 1.0;
            break;
        case RB_CONSTRAINT_EQUALITY:
            break;
        }
    }
    return RB_OK;
}

/* ---- the embedded problem ---------------------------------------------------------------------
 */

/* Limits, dry friction, and overlap at a joint: rows of a mechanism, of any compliance. */
static int is_joint(const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_LIMIT || c->kind == RB_CONSTRAINT_DRY || c->inner;
}

/* Mean compliance of the rows of contacts; where there is none, of those of joints. */
static double usual_compliance(const rb_island *is)
{
    double sum[2] = { 0.0, 0.0 };
    int count[2] = { 0, 0 };
    for (int i = 0; i < is->n; i++) {
        int contact = !is_joint(is->c[i]), rows = is->c[i]->nrow;
        if (is->c[i]->kind == RB_CONSTRAINT_EQUALITY) continue;
        for (int r = is->row[i]; r < is->row[i] + (rows < 3 ? rows : 3); r++) {
            sum[contact] += rb_island_entry(is, r, r);
            count[contact]++;
        }
    }
    int of = sum[1] > 0.0;
    return count[of] > 0 ? sum[of] / count[of] : 0.0;
}

/* Joints have units of their own, rad/s beside m/s: a limit or dry friction gets the scale at which
 * it is as compliant as a contact, so that one compliance means the same for all (F.18). So does
 * overlap at a joint, which no cone couples to other rows and which hardly moves. A joint that
 * loops keep nearly at rest gets a share of the scale it has without them: otherwise it would
 * outweigh everything else. W: without the loops, NULL: there are none. */
static void scale_joints(const rb_island *is, const double *W, context *x)
{
    double usual = usual_compliance(is);
    for (int i = 0; i < is->n; i++) {
        if (!is_joint(is->c[i])) continue;
        ptrdiff_t row = is->row[i];
        double whole = rb_island_entry(is, (int)row, (int)row);
        double own = W ? fmax(W[row * is->nrow + row], RB_JOINT_HELD * whole) : whole;
        if (own > 0.0 && usual > 0.0) x->factor[row] = sqrt(usual / own);
    }
}

/* Uncoupled rows: dummies, and normals with a given or copied impulse. */
static void own_rows(const rb_island *is, const context *x, const double *W, double *We, double *q)
{
    ptrdiff_t n = is->nrow, ne = 3 * (ptrdiff_t)x->ntriple;
    for (int i = 0; i < is->n; i++) {
        const rb_constraint *c = is->c[i];
        int t = x->triple[i], count = triples_of(c);
        if (t < 0) continue;
        ptrdiff_t first = is->row[i];
        double f = is_joint(c) ? x->factor[first] : 1.0;
        double w = W[first * n + first] > 0.0 ? f * f * W[first * n + first] : 1.0;
        for (int s = 3 * t; s < 3 * (t + count); s++) {
            if (We[s * ne + s] > 0.0) continue;
            We[s * ne + s] = w;
            if (s % 3 != 0) continue;
            if (c->kind == RB_CONSTRAINT_DRY) q[s] = -w * c->bound / f;
            if (s > 3 * t) We[s * ne + 3 * t] = -w;
        }
    }
}

static rb_status write_embedded(const rb_island *is, rb_arena *arena, context *x, rb_written *out)
{
    size_t n = (size_t)is->nrow, ne = 3 * (size_t)x->ntriple;
    double *W = rb_push(arena, double, n *n), *u = rb_push(arena, double, n);
    double *We = rb_push(arena, double, ne *ne), *q = rb_push(arena, double, ne);
    if (!W || !u || !We || !q) return RB_NOMEM;
    memcpy(W, is->W.dense, n * n * sizeof *W);
    memcpy(u, is->u, n * sizeof *u);
    memset(We, 0, ne * ne * sizeof *We);
    memset(q, 0, ne * sizeof *q);
    if (x->nb > 0) {
        eliminate(is, W, u, x);
        drop_immovable(is, W, u);
    }
    scale_joints(is, W, x);

    for (size_t i = 0; i < n; i++) {
        if (x->slot[i] < 0) continue;
        q[x->slot[i]] = x->factor[i] * u[i];
        for (size_t j = 0; j < n; j++) {
            if (x->slot[j] < 0) continue;
            We[(size_t)x->slot[i] * ne + (size_t)x->slot[j]] =
                x->factor[i] * W[i * n + j] * x->factor[j];
        }
    }
    own_rows(is, x, W, We, q);
    out->problem = (rb_problem){ .kind = RB_CONE,
                                 .n = (int)ne,
                                 .q = q,
                                 .nc = x->ntriple,
                                 .dim = 3,
                                 .mu = x->mu,
                                 .W = { .form = RB_DENSE, .dense = We } };
    return RB_OK;
}

/* ---- the same as an operator ------------------------------------------------------------------
 *
 * W = Y Y', rows of Y of 3 for each constraint; those that nothing moves are empty, and the normal
 * of dry friction is a freedom of its own. */

typedef struct padded {
    rb_operator op;
    int *jptr, *jcol, *start;
    double *jval, *minv;
    int used, ndry;
} padded;

static rb_status take_padded(const rb_island *is, const rb_operator *from, size_t ne,
                             rb_arena *arena, padded *to)
{
    size_t dry = 0, size = 0;
    for (int i = 0; i < is->n; i++) dry += is->c[i]->kind == RB_CONSTRAINT_DRY;
    for (int b = 0; b < from->nblock; b++) {
        size_t k = (size_t)(from->start[b + 1] - from->start[b]);
        size += k * k;
    }
    size_t entries = (size_t)from->jptr[is->nrow] + dry, nblock = (size_t)from->nblock;
    to->jptr = rb_push(arena, int, ne + 1);
    to->jcol = rb_push(arena, int, entries);
    to->jval = rb_push(arena, double, entries);
    to->start = rb_push(arena, int, nblock + dry + 1);
    to->minv = rb_push(arena, double, size + dry);
    if (!to->jptr || !to->jcol || !to->jval || !to->start || !to->minv) return RB_NOMEM;
    memcpy(to->start, from->start, (nblock + 1) * sizeof *to->start);
    memcpy(to->minv, from->minv, size * sizeof *to->minv);
    for (size_t k = 0; k < dry; k++) {
        to->minv[size + k] = 1.0;
        to->start[nblock + k + 1] = from->m + (int)k + 1;
    }
    to->op = (rb_operator){ .m = from->m + (int)dry,
                            .jptr = to->jptr,
                            .jcol = to->jcol,
                            .jval = to->jval,
                            .nblock = (int)(nblock + dry),
                            .start = to->start,
                            .minv = to->minv };
    return RB_OK;
}

/* Row of the constraint that is component k of its triple, -1: none. */
static int row_of_triple(const rb_island *is, int i, int k)
{
    const rb_constraint *c = is->c[i];
    if (c->kind == RB_CONSTRAINT_DRY) return k == 1 ? is->row[i] : -1;
    return k < c->nrow ? is->row[i] + k : -1;
}

static void put_entry(padded *to, int column, double value)
{
    to->jcol[to->used] = column;
    to->jval[to->used++] = value;
}

/* The normal of dry friction: w r_n = w b (F.17). */
static void put_dry_normal(const rb_island *is, int i, const context *x, padded *to, double *q)
{
    double f = x->factor[is->row[i]], w = f * f * rb_island_entry(is, is->row[i], is->row[i]);
    if (!(w > 0.0)) w = 1.0;
    put_entry(to, is->W.op->m + to->ndry++, sqrt(w));
    q[3 * i] = -w * is->c[i]->bound / f;
}

/* One triple after the other, rows times their factors. */
static void fill_padded(const rb_island *is, const context *x, padded *to, double *q)
{
    const rb_operator *from = is->W.op;
    for (int i = 0; i < is->n; i++) {
        for (int k = 0; k < 3; k++) {
            int row = row_of_triple(is, i, k);
            to->jptr[3 * i + k] = to->used;
            if (k == 0 && row < 0) put_dry_normal(is, i, x, to, q);
            if (row < 0) continue;
            for (int e = from->jptr[row]; e < from->jptr[row + 1]; e++)
                put_entry(to, from->jcol[e], x->factor[row] * from->jval[e]);
            q[3 * i + k] = x->factor[row] * is->u[row];
        }
    }
    to->jptr[3 * is->n] = to->used;
}

static rb_status write_padded(const rb_island *is, rb_arena *arena, context *x, rb_written *out)
{
    size_t ne = 3 * (size_t)x->ntriple;
    padded *to = rb_push(arena, padded, 1);
    double *q = rb_push(arena, double, ne);
    if (!to || !q) return RB_NOMEM;
    memset(to, 0, sizeof *to);
    memset(q, 0, ne * sizeof *q);
    rb_status status = take_padded(is, is->W.op, ne, arena, to);
    if (status != RB_OK) return status;
    scale_joints(is, NULL, x);
    fill_padded(is, x, to, q);
    out->problem = (rb_problem){ .kind = RB_CONE,
                                 .n = (int)ne,
                                 .q = q,
                                 .nc = x->ntriple,
                                 .dim = 3,
                                 .mu = x->mu,
                                 .W = { .form = RB_OPERATOR, .op = &to->op } };
    return RB_OK;
}

/* What is known of the last step or the last round. */
static rb_status guess(const rb_island *is, rb_arena *arena, const context *x, rb_written *out)
{
    size_t ne = 3 * (size_t)x->ntriple;
    out->z = rb_push(arena, double, ne);
    out->mode = rb_push(arena, unsigned char, x->ntriple);
    if (!out->z || !out->mode) return RB_NOMEM;
    memset(out->z, 0, ne * sizeof *out->z);
    memset(out->mode, RB_MODE_UNKNOWN, (size_t)x->ntriple);
    for (int r = 0; r < is->nrow; r++) {
        if (x->slot[r] >= 0) out->z[x->slot[r]] = is->guess[r] / x->factor[r];
    }
    for (int i = 0; i < is->n; i++) {
        int t = x->triple[i];
        if (t < 0) continue;
        out->mode[t] = is->mode_prev[i];
        if (is->c[i]->kind == RB_CONSTRAINT_DRY)
            out->z[3 * t] = is->c[i]->bound / x->factor[is->row[i]];
        for (int k = 1; k < triples_of(is->c[i]); k++) out->z[3 * (t + k)] = out->z[3 * t];
    }
    return RB_OK;
}

static rb_status cone_write(const rb_island *is, const rb_step_opts *o, rb_arena *arena,
                            rb_written *out)
{
    (void)o;
    rb_status status = rb_refuse_polygons(is);
    if (status != RB_OK) return status;
    context *x = rb_push(arena, context, 1);
    if (!x) return RB_NOMEM;
    memset(x, 0, sizeof *x);
    memset(out, 0, sizeof *out);
    out->context = x;
    x->direct = is_direct(is);
    if (x->direct) return write_direct(is, arena, x, out);

    status = take_bilateral(is, arena, x);
    if (status == RB_OK) status = place_rows(is, arena, x);
    if (status == RB_OK)
        status = is->W.form == RB_OPERATOR ? write_padded(is, arena, x, out)
                                           : write_embedded(is, arena, x, out);
    if (status == RB_OK) status = guess(is, arena, x, out);
    return status;
}

/* ---- back -------------------------------------------------------------------------------------
 */

/* p_b = -W_bb^-1 (u_b + W_bc p_c) */
static void bilateral_impulses(const rb_island *is, const context *x)
{
    for (int i = 0; i < x->nb; i++) {
        const double *W_i = x->W_b + (ptrdiff_t)i * is->nrow;
        x->work[i] = -(x->u_b[i] + rb_dot(W_i, is->p, is->nrow));
    }
    solve_bilateral(x, x->work);
    for (int i = 0; i < x->nb; i++) is->p[x->b[i]] = x->work[i];
}

static void cone_read(const rb_written *written, rb_island *is)
{
    const context *x = written->context;
    if (x->direct) {
        memcpy(is->p, written->z, (size_t)is->nrow * sizeof *is->p);
        memcpy(is->mode, written->mode, (size_t)is->n);
        return;
    }
    for (int r = 0; r < is->nrow; r++) {
        is->p[r] = x->slot[r] >= 0 ? x->factor[r] * written->z[x->slot[r]] : 0.0;
    }
    for (int i = 0; i < is->n; i++) {
        int out = is->left && is->left[i] ? RB_MODE_OPEN : RB_MODE_STICK;
        is->mode[i] = (unsigned char)(x->triple[i] >= 0 ? written->mode[x->triple[i]] : out);
    }
    if (x->nb > 0) bilateral_impulses(is, x);
}

const rb_formulation rb_formulation_cone = {
    .name = "cone",
    .summary = "exact circular (or elliptic) Coulomb cone",
    .kind = RB_CONE,
    .write = cone_write,
    .read = cone_read,
};
