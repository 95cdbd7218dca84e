/* A tendon with the armature a has the kinetic energy 1/2 a rate^2, rate = J v:
 *
 *     (M + A) qdd = tau - c - J' a (dJ/dt) v,     A = J' a J                               (D.24)
 *
 * As in MuJoCo, A has the entries that M has: those of two dofs one of which carries the other. Of
 * dofs on different branches the two diagonal ones are left. dJ/dt v is the difference of J v
 * between configurations along v, of fourth order; of tendons of joints it is zero. */
#include "dynamics/tendon_inertia.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "dynamics/tendon.h"

/* How far the fastest dof moves between the configurations [m] or [rad]. */
#define STRIDE 1e-3

static int is_inertial(const rb_model *m, int t)
{
    return m->tendon_armature[t] > 0.0 && (m->tendon_pathnum[t] > 0 || m->tendon_num[t] > 1);
}

int rb_tendon_inertia_any(const rb_model *m)
{
    for (int t = 0; t < m->ntendon; t++) {
        if (is_inertial(m, t)) return 1;
    }
    return 0;
}

/* Place of the entry i, j in M; -1: j does not carry i. */
static int entry(const rb_model *m, int i, int j)
{
    int at = m->dof_Madr[i], link = m->dof_link[i];
    while (link > m->dof_link[j]) link = m->link_parent[link];
    if (link != m->dof_link[j]) return -1;
    for (int k = i; k >= 0; k = m->dof_parent[k], at++) {
        if (k == j) return at;
    }
    return -1;
}

/* What is done with an entry of A: i = j, or i carried by j. */
typedef void take_entry(void *ctx, const rb_model *m, int i, int j, double value);

static void each_entry(const rb_model *m, const rb_data *d, take_entry *take, void *ctx)
{
    for (int t = 0; t < m->ntendon; t++) {
        if (!is_inertial(m, t)) continue;
        rb_tendon_row row = rb_tendon_row_of(m, d, t);
        for (int r = 0; r < row.n; r++) {
            for (int s = 0; s < row.n; s++) {
                int i = row.dof[r], j = row.dof[s];
                if (i >= m->nv || j >= m->nv || entry(m, i, j) < 0) continue;
                take(ctx, m, i, j, m->tendon_armature[t] * row.J[r] * row.J[s]);
            }
        }
    }
}

static void add_entry(void *ctx, const rb_model *m, int i, int j, double value)
{
    double *M = ctx;
    M[entry(m, i, j)] += value;
}

void rb_tendon_inertia_add(const rb_model *m, rb_data *d)
{
    each_entry(m, d, add_entry, d->M);
}

typedef struct product {
    const double *x;
    double *f;
} product;

static void multiply_entry(void *ctx, const rb_model *m, int i, int j, double value)
{
    const product *p = ctx;
    (void)m;
    p->f[i] += value * p->x[j];
    if (i != j) p->f[j] += value * p->x[i];
}

void rb_tendon_inertia_multiply(const rb_model *m, const rb_data *d, const double *x, double *f)
{
    product p = { x, f };
    each_entry(m, d, multiply_entry, &p);
}

typedef struct square {
    const double *v;
    double sum;
} square;

static void add_square(void *ctx, const rb_model *m, int i, int j, double value)
{
    square *s = ctx;
    (void)m;
    s->sum += (i == j ? 1.0 : 2.0) * value * s->v[i] * s->v[j];
}

double rb_tendon_inertia_twice(const rb_model *m, const rb_data *d)
{
    square s = { .v = d->v };
    each_entry(m, d, add_square, &s);
    return s.sum;
}

/* ---- the rate of J ----------------------------------------------------------------------------
 */

static double rate_of(const rb_model *m, const rb_data *d, int t)
{
    rb_tendon_row row = rb_tendon_row_of(m, d, t);
    double rate = 0.0;
    for (int i = 0; i < row.n; i++) rate += row.J[i] * d->v[row.dof[i]];
    return rate;
}

/* change[t] += weight J v, after the time dt from q. */
static void look_at(const rb_model *m, rb_data *d, const double *q, double dt, double weight,
                    double *change)
{
    rb_integrate(m, q, d->v, dt, d->q);
    rb_kinematics(m, d);
    for (int t = 0; t < m->ntendon; t++) {
        if (is_inertial(m, t)) change[t] += weight * rate_of(m, d, t);
    }
}

static void find_change(const rb_model *m, rb_data *d, double *q, double *change)
{
    double fastest = 0.0;
    size_t bytes = (size_t)m->nq_all * sizeof *q;
    memset(change, 0, (size_t)m->ntendon * sizeof *change);
    for (int j = 0; j < m->nv; j++) fastest = fmax(fastest, fabs(d->v[j]));
    if (!(fastest > 0.0)) return;
    double dt = STRIDE / fastest, share = 1.0 / (12.0 * dt);
    memcpy(q, d->q, bytes);
    look_at(m, d, q, dt, 8.0 * share, change);
    look_at(m, d, q, -dt, -8.0 * share, change);
    look_at(m, d, q, 2.0 * dt, -share, change);
    look_at(m, d, q, -2.0 * dt, share, change);
    memcpy(d->q, q, bytes);
    rb_kinematics(m, d);
    rb_velocity(m, d);
}

void rb_tendon_inertia_bias(const rb_model *m, rb_data *d, double *f)
{
    rb_mark mark = rb_arena_mark(d->arena);
    double *q = rb_push(d->arena, double, m->nq_all);
    double *change = rb_push(d->arena, double, m->ntendon);
    if (q && change && m->nspatial > 0) find_change(m, d, q, change);
    for (int t = 0; t < m->ntendon; t++) {
        if (!is_inertial(m, t) || m->tendon_pathnum[t] == 0) continue;
        rb_tendon_row row = rb_tendon_row_of(m, d, t);
        double pull = q && change ? m->tendon_armature[t] * change[t] : NAN;
        for (int i = 0; i < row.n; i++) {
            if (row.dof[i] < m->nv) f[row.dof[i]] += row.J[i] * pull;
        }
    }
    rb_arena_reset(d->arena, mark);
}
