/* Coulomb's cone as a polyhedron (F.23). With impulses c_n along the normal and beta >= 0 along
 * directions d_j that span the tangent plane, and lambda, which becomes the sliding speed,
 *
 *     0 <= c_n     _|_  n'W(n c_n + D beta) + u_n          >= 0
 *     0 <= beta    _|_  D'W(n c_n + D beta) + D'u + e lam  >= 0
 *     0 <= lambda  _|_  mu c_n - e'beta                    >= 0
 *
 * A friction disc is a set of rows with a coefficient: the two tangents, the torsion (two
 * directions, + and -), the two rolling rows. Limits have c_n alone. Dry joint friction is a row
 * between bounds and an equality a free row: then the problem is boxed and mixed. */
#include "contact/formulations/polyhedral.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "contact/law.h"
#include "contact/slip.h"
#include "math/trig.h"

#define TWO_PI 6.283185307179586

/* An unknown of the LCP. */
typedef enum role { NORMAL, BETA, LAMBDA, BOUND, FREE } role;

typedef struct unknown {
    role role;
    int constraint;
    int disc;   /* of its constraint: which lambda bounds it                                  */
    int row[2]; /* rows of the island it acts along, -1: none                                 */
    double along[2]; /* with these components                                                     */
    double mu; /* LAMBDA: coefficient of the disc                                            */
} unknown;

typedef struct context {
    int n;
    unknown *x;   /* in the order of the problem                                         (n)     */
    double scale; /* impulse = scale z: h where unknowns are forces                              */
} context;

/* ---- which unknowns ---------------------------------------------------------------------------
 */

typedef struct disc {
    int row[2]; /* second -1: a line                                                             */
    double mu[2];
    const rb_constraint *polygon; /* has one instead of the coefficients; NULL: none             */
} disc;

/* Friction discs of a constraint; at most three. */
static int discs_of(const rb_island *is, int i, disc out[3])
{
    const rb_constraint *c = is->c[i];
    const rb_material *m = &c->material;
    int n = 0, row = is->row[i];
    if (c->kind != RB_CONSTRAINT_CONTACT || c->nrow < 3) return 0;
    double mu = rb_friction_now(is, i);
    double across = mu;
    if (!isnan(m->friction_across))
        across = m->friction > 0.0 ? mu * m->friction_across / m->friction : m->friction_across;
    out[n++] = (disc){ { row + 1, row + 2 }, { mu, across }, c->polygon ? c : NULL };
    if (c->nrow >= 4 && m->friction_torsion > 0.0) {
        out[n++] = (disc){ { row + 3, -1 }, { m->friction_torsion, 0.0 }, NULL };
    }
    if (c->nrow >= 6 && m->friction_roll > 0.0) {
        out[n++] = (disc){ { row + 4, row + 5 }, { m->friction_roll, m->friction_roll }, NULL };
    }
    return n;
}

static int directions(const disc *d, const rb_step_opts *o)
{
    if (d->polygon) return d->polygon->npolygon;
    return d->row[1] < 0 ? 2 : o->directions;
}

/* cos and sin of 2 pi j / count. Opposite directions are exact opposites, and a quarter turn has no
 * rounding: in planar models the tangent across the plane must not move anything. */
static void direction(int j, int count, double along[2])
{
    int k = j % (count / 2);
    double sign = j < count / 2 ? 1.0 : -1.0, sine = 1.0, cosine = 0.0;
    if (4 * k != count) rb_sincos(TWO_PI * k / count, &sine, &cosine);
    along[0] = sign * cosine;
    along[1] = sign * sine;
}

/* Direction j of a disc. On an ellipse and on a polygon the directions carry the coefficients and
 * mu is 1. */
static void set_direction(const disc *d, int j, int count, unknown *x)
{
    x->row[0] = d->row[0];
    x->row[1] = d->row[1];
    if (d->polygon) {
        x->along[0] = d->polygon->polygon_side * d->polygon->polygon[2 * j];
        x->along[1] = d->polygon->polygon[2 * j + 1];
        return;
    }
    direction(j, count, x->along);
    if (d->row[1] < 0 || d->mu[0] == d->mu[1]) return;
    x->along[0] *= d->mu[0];
    x->along[1] *= d->mu[1];
}

static double disc_mu(const disc *d)
{
    if (d->polygon) return 1.0;
    return d->row[1] >= 0 && d->mu[0] != d->mu[1] ? 1.0 : d->mu[0];
}

/* Unknowns of constraint i with the roles wanted (a bit each), appended; x NULL: only counted. */
static int append(const rb_island *is, const rb_step_opts *o, int i, unsigned wanted, unknown *x)
{
    const rb_constraint *c = is->c[i];
    disc discs[3];
    int n = 0, ndisc = discs_of(is, i, discs);
    unknown blank = { .constraint = i, .row = { -1, -1 }, .along = { 1.0, 0.0 } };
    int plain = c->kind == RB_CONSTRAINT_DRY        ? BOUND
                : c->kind == RB_CONSTRAINT_EQUALITY ? FREE
                                                    : NORMAL;
    int rows = plain == FREE ? c->nrow : 1;
    for (int r = 0; r < rows && (wanted & (1u << plain)); r++, n++) {
        if (!x) continue;
        x[n] = blank;
        x[n].role = (role)plain;
        x[n].row[0] = is->row[i] + r;
    }
    for (int k = 0; k < ndisc && (wanted & (1u << BETA)); k++) {
        int count = directions(&discs[k], o);
        for (int j = 0; j < count; j++, n++) {
            if (!x) continue;
            x[n] = blank;
            x[n].role = BETA;
            x[n].disc = k;
            set_direction(&discs[k], j, count, &x[n]);
        }
    }
    for (int k = 0; k < ndisc && (wanted & (1u << LAMBDA)); k++, n++) {
        if (!x) continue;
        x[n] = blank;
        x[n].role = LAMBDA;
        x[n].disc = k;
        x[n].mu = disc_mu(&discs[k]);
    }
    return n;
}

static rb_status list_unknowns(const rb_island *is, const rb_step_opts *o, const rb_poly *way,
                               rb_arena *arena, context *x)
{
    static const unsigned stacked[] = { 1u << NORMAL, 1u << BETA, 1u << LAMBDA,
                                        (1u << BOUND) | (1u << FREE) };
    static const unsigned grouped[] = { (1u << NORMAL) | (1u << BETA), (1u << BOUND) | (1u << FREE),
                                        1u << LAMBDA };
    const unsigned *turn = way->order == RB_POLY_GROUPED ? grouped : stacked;
    int turns = way->order == RB_POLY_GROUPED ? 3 : 4;
    for (int i = 0; i < is->n; i++) x->n += append(is, o, i, ~0u, NULL);
    x->x = rb_push(arena, unknown, x->n);
    if (!x->x) return RB_NOMEM;
    int at = 0;
    for (int s = 0; s < turns; s++) {
        for (int i = 0; i < is->n; i++) at += append(is, o, i, turn[s], x->x + at);
    }
    return RB_OK;
}

/* ---- the matrix -------------------------------------------------------------------------------
 */

static int acts(const unknown *x)
{
    return x->role != LAMBDA;
}

static double product(const rb_island *is, const unknown *a, const unknown *b)
{
    double sum = 0.0;
    for (int i = 0; i < 2 && a->row[i] >= 0; i++) {
        for (int j = 0; j < 2 && b->row[j] >= 0; j++) {
            sum += a->along[i] * rb_island_entry(is, a->row[i], b->row[j]) * b->along[j];
        }
    }
    return sum;
}

/* The entries that couple a disc to its contact: E, -E' and mu. */
static double coupling(const unknown *a, const unknown *b)
{
    if (a->constraint != b->constraint) return 0.0;
    if (a->role == BETA && b->role == LAMBDA && a->disc == b->disc) return 1.0;
    if (a->role == LAMBDA && b->role == BETA && a->disc == b->disc) return -1.0;
    if (a->role == LAMBDA && b->role == NORMAL) return a->mu;
    return 0.0;
}

static void fill_matrix(const rb_island *is, const rb_poly *way, const context *x, double *A,
                        double *q)
{
    ptrdiff_t n = x->n;
    for (ptrdiff_t i = 0; i < n; i++) {
        const unknown *a = &x->x[i];
        q[i] = 0.0;
        for (int k = 0; k < 2 && a->row[k] >= 0; k++) q[i] += a->along[k] * is->u[a->row[k]];
        for (ptrdiff_t j = 0; j < n; j++) {
            const unknown *b = &x->x[j];
            A[i * n + j] = x->scale * (acts(a) && acts(b) ? product(is, a, b) : coupling(a, b));
        }
        A[i * n + i] *= 1.0 + way->regularise;
    }
}

/* Lemke's guess: what acted one step before along the same directions is not kept, the modes are
 * found again by the solver; normals are. */
static void guess(const rb_island *is, const context *x, rb_written *out)
{
    for (int i = 0; i < x->n; i++) {
        const unknown *a = &x->x[i];
        out->z[i] = 0.0;
        out->mode[i] = RB_MODE_UNKNOWN;
        if (a->role == NORMAL || a->role == FREE || a->role == BOUND)
            out->z[i] = is->p_prev[a->row[0]] / x->scale;
    }
}

static int is_boxed(const context *x)
{
    for (int i = 0; i < x->n; i++) {
        if (x->x[i].role == BOUND || x->x[i].role == FREE) return 1;
    }
    return 0;
}

static rb_status add_bounds(const rb_island *is, const context *x, rb_arena *arena,
                            rb_problem *problem)
{
    double *lo = rb_push(arena, double, x->n), *hi = rb_push(arena, double, x->n);
    if (!lo || !hi) return RB_NOMEM;
    for (int i = 0; i < x->n; i++) {
        const unknown *a = &x->x[i];
        double bound = a->role == FREE    ? INFINITY
                       : a->role == BOUND ? is->c[a->constraint]->bound / x->scale
                                          : 0.0;
        lo[i] = bound > 0.0 ? -bound : 0.0;
        hi[i] = a->role == BOUND ? bound : INFINITY;
    }
    problem->kind = RB_BOX;
    problem->lo = lo;
    problem->hi = hi;
    return RB_OK;
}

rb_status rb_poly_write(const rb_island *is, const rb_step_opts *o, const rb_poly *way,
                        rb_arena *arena, rb_written *out)
{
    memset(out, 0, sizeof *out);
    context *x = rb_push(arena, context, 1);
    if (!x) return RB_NOMEM;
    *x = (context){ .scale = way->force_step > 0.0 ? way->force_step : 1.0 };
    rb_status status = list_unknowns(is, o, way, arena, x);
    if (status != RB_OK) return status;

    size_t n = (size_t)x->n;
    double *A = rb_push(arena, double, n *n), *q = rb_push(arena, double, n);
    out->z = rb_push(arena, double, n);
    out->mode = rb_push(arena, unsigned char, n);
    if (!A || !q || !out->z || !out->mode) return RB_NOMEM;
    fill_matrix(is, way, x, A, q);
    guess(is, x, out);
    out->context = x;
    out->problem =
        (rb_problem){ .kind = RB_LCP, .n = x->n, .q = q, .W = { .form = RB_DENSE, .dense = A } };
    return is_boxed(x) ? add_bounds(is, x, arena, &out->problem) : RB_OK;
}

/* ---- back -------------------------------------------------------------------------------------
 */

/* Open, sliding where some lambda is positive, else sticking. */
static void read_modes(const rb_written *written, const context *x, rb_island *is)
{
    for (int i = 0; i < is->n; i++) is->mode[i] = RB_MODE_OPEN;
    for (int i = 0; i < x->n; i++) {
        const unknown *a = &x->x[i];
        unsigned char *mode = &is->mode[a->constraint];
        double z = written->z[i];
        if (a->role == FREE || a->role == BOUND) *mode = RB_MODE_STICK;
        if (a->role == NORMAL && z > 0.0 && *mode == RB_MODE_OPEN) *mode = RB_MODE_STICK;
        if (a->role == LAMBDA && z > 0.0 && *mode == RB_MODE_STICK) *mode = RB_MODE_SLIDE;
    }
}

void rb_poly_read(const rb_written *written, rb_island *is)
{
    const context *x = written->context;
    memset(is->p, 0, (size_t)is->nrow * sizeof *is->p);
    for (int i = 0; i < x->n; i++) {
        const unknown *a = &x->x[i];
        if (!acts(a)) continue;
        for (int k = 0; k < 2 && a->row[k] >= 0; k++) {
            is->p[a->row[k]] += a->along[k] * x->scale * written->z[i];
        }
    }
    read_modes(written, x, is);
}
