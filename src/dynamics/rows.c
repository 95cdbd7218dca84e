/* Equalities as rows on the velocities: J, the violation, and dJ/dt v (D.19), (D.20).
 *
 * A row between bodies is A1.w1 + B1.v1 + A2.w2 + B2.v2, with v of the origin of the constraint
 * frame: a wrench (A; B) on each body. Its entries are the products with the motion vectors of
 * the ancestors, found on one walk up both paths. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/constants.h"
#include "dynamics/chain.h"
#include "dynamics/kinematic.h"
#include "dynamics/place.h"
#include "dynamics/tendon.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "rattleback/dynamics.h"

/* A constraint frame, in the world. */
typedef struct frame {
    int link;
    double p[3];
    double R[9];
    double V[6]; /* angular velocity, velocity of p                             */
    double a[6]; /* their derivatives at qdd = 0                                */
} frame;

/* One row between two frames; d is the time derivative. */
typedef struct form {
    double A1[3], B1[3], A2[3], B2[3];
    double dA1[3], dB1[3], dA2[3], dB2[3];
    double error;
} form;

static const double unit[3][3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };

/* ---- sizes ---------------------------------------------------------------------------------- */

static int row_count(int type)
{
    switch (type) {
    case RB_EQ_CONNECT:
        return 3;
    case RB_EQ_WELD:
    case RB_EQ_CHAIN: /* at most */
        return 6;
    case RB_EQ_HINGE:
    case RB_EQ_SLIDE:
        return 5;
    default:
        return 1;
    }
}

static int path_dofs(const rb_model *m, int body)
{
    int count = 0;
    for (int k = m->body_link[body]; k > 0; k = m->link_parent[k]) count += m->link_dofnum[k];
    return count;
}

/* A coordinate of the state has one entry, that of a gauge a row. */
static int coordinate_entries(const rb_model *m, int j)
{
    return j < m->njnt ? 1 : m->gauge_rownum[m->jnt_dofadr[j] - m->nv];
}

static int tendon_entries(const rb_model *m, int t)
{
    int count = 0;
    if (m->tendon_pathnum[t] > 0) return m->tendon_rownum[t];
    for (int i = m->tendon_adr[t]; i < m->tendon_adr[t] + m->tendon_num[t]; i++)
        count += coordinate_entries(m, m->wrap_jnt[i]);
    return count;
}

/* Entries that one row of this equality has at most. */
static int row_entries(const rb_model *m, int e)
{
    int obj1 = m->eq_obj1[e], obj2 = m->eq_obj2[e];
    switch (m->eq_type[e]) {
    case RB_EQ_JOINT:
        return coordinate_entries(m, obj1) + (obj2 >= 0 ? coordinate_entries(m, obj2) : 0);
    case RB_EQ_TENDON:
        return tendon_entries(m, obj1) + (obj2 >= 0 ? tendon_entries(m, obj2) : 0);
    default:
        return path_dofs(m, obj1) + path_dofs(m, obj2) + 3 * m->eq_chainnum[e];
    }
}

static rb_status allocate(const rb_model *m, rb_arena *arena, rb_rows *rows)
{
    size_t n = 0, entries = 0;
    for (int e = 0; e < m->neq; e++) {
        if (!m->eq_active[e]) continue;
        size_t count = (size_t)row_count(m->eq_type[e]);
        n += count;
        entries += count * (size_t)row_entries(m, e);
    }
    rows->eq = rb_push(arena, int, n);
    rows->start = rb_push(arena, int, n + 1);
    rows->dof = rb_push(arena, int, entries);
    rows->J = rb_push(arena, double, entries);
    rows->error = rb_push(arena, double, n);
    rows->bias = rb_push(arena, double, n);
    rows->drive = rb_push(arena, double, n);
    int ok =
        rows->eq && rows->start && rows->dof && rows->J && rows->error && rows->bias && rows->drive;
    return ok ? RB_OK : RB_NOMEM;
}

/* ---- writing a row -------------------------------------------------------------------------- */

static void open_row(rb_rows *rows, int e, double error, double bias)
{
    rows->eq[rows->n] = e;
    rows->error[rows->n] = error;
    rows->bias[rows->n] = bias;
    rows->drive[rows->n] = 0.0;
    rows->start[rows->n + 1] = rows->start[rows->n];
}

/* Adds to the entry of this dof, keeping the row in order; the search starts at the end. */
static void add_entry(rb_rows *rows, int dof, double value)
{
    int first = rows->start[rows->n], end = rows->start[rows->n + 1];
    int i = end;
    while (i > first && rows->dof[i - 1] > dof) i--;
    if (i > first && rows->dof[i - 1] == dof) {
        rows->J[i - 1] += value;
        return;
    }
    memmove(rows->dof + i + 1, rows->dof + i, (size_t)(end - i) * sizeof *rows->dof);
    memmove(rows->J + i + 1, rows->J + i, (size_t)(end - i) * sizeof *rows->J);
    rows->dof[i] = dof;
    rows->J[i] = value;
    rows->start[rows->n + 1]++;
}

/* From tips to base the dofs descend: entries are appended and the row is turned around. */
static void reverse_row(rb_rows *rows)
{
    int i = rows->start[rows->n], k = rows->start[rows->n + 1] - 1;
    for (; i < k; i++, k--) {
        int dof = rows->dof[i];
        double J = rows->J[i];
        rows->dof[i] = rows->dof[k];
        rows->J[i] = rows->J[k];
        rows->dof[k] = dof;
        rows->J[k] = J;
    }
}

static void append_entry(rb_rows *rows, int dof, double value)
{
    int end = rows->start[rows->n + 1]++;
    rows->dof[end] = dof;
    rows->J[end] = value;
}

static void wrench_at_link(const rb_data *d, const frame *f, const double A[3], const double B[3],
                           double F[6])
{
    double arm[3];
    rb_sub3(f->p, d->link_p + 3 * f->link, arm);
    rb_cross3(arm, B, F);
    rb_add3(F, A, F);
    rb_copy3(B, F + 3);
}

/* Where both wrenches act on the same link and cancel, this much is left of them by rounding of the
 * points, per unit of the motion vector. */
static double cancellation(const frame *f1, const frame *f2, const form *row)
{
    double reach = 1.0 + rb_norm3(f1->p) + rb_norm3(f2->p);
    double force = rb_norm3(row->B1) + rb_norm3(row->B2);
    return RB_ROW_ROUNDING * (rb_norm3(row->A1) + rb_norm3(row->A2) + force * reach);
}

/* Both wrenches go up, the one on the later link first; where the paths have met they go as one,
 * and what they move together is no motion of the loop: exactly zero, so that a loop within one
 * rigid part is seen to have no row at all. */
static void write_jacobian(const rb_model *m, const rb_data *d, const frame *f1, const frame *f2,
                           const form *row, rb_rows *rows)
{
    double F1[6], F2[6];
    wrench_at_link(d, f1, row->A1, row->B1, F1);
    wrench_at_link(d, f2, row->A2, row->B2, F2);
    int k1 = f1->link, k2 = f2->link, sorted = 1, last = m->nv;
    double noise = cancellation(f1, f2, row);
    while (k1 > 0 || k2 > 0) {
        int k = k1 > k2 ? k1 : k2;
        for (int j = m->link_dofadr[k] + m->link_dofnum[k] - 1; j >= m->link_dofadr[k]; j--) {
            const double *S = d->dof_S + 6 * j;
            double value = (k1 == k ? rb_dot6(S, F1) : 0.0) + (k2 == k ? rb_dot6(S, F2) : 0.0);
            if (k1 == k2 && fabs(value) <= noise * (rb_norm3(S) + rb_norm3(S + 3))) value = 0.0;
            sorted = sorted && j < last;
            last = j;
            append_entry(rows, j, value);
        }
        const double *l = d->link_l + 3 * k;
        if (k1 == k) rb_shift_wrench(l, F1, F1);
        if (k2 == k) rb_shift_wrench(l, F2, F2);
        if (k1 == k) k1 = m->link_parent[k];
        if (k2 == k) k2 = m->link_parent[k];
    }
    reverse_row(rows);
    if (sorted) return;

    /* joints listed in another order than their bodies: insert one by one */
    int first = rows->start[rows->n], end = rows->start[rows->n + 1];
    rows->start[rows->n + 1] = first;
    for (int i = first; i < end; i++) add_entry(rows, rows->dof[i], rows->J[i]);
}

static double row_bias(const frame *f1, const frame *f2, const form *r)
{
    double at_rest = (rb_dot3(r->A1, f1->a) + rb_dot3(r->B1, f1->a + 3)) +
                     (rb_dot3(r->A2, f2->a) + rb_dot3(r->B2, f2->a + 3));
    double turning = (rb_dot3(r->dA1, f1->V) + rb_dot3(r->dB1, f1->V + 3)) +
                     (rb_dot3(r->dA2, f2->V) + rb_dot3(r->dB2, f2->V + 3));
    return at_rest + turning;
}

/* ---- rows between bodies -------------------------------------------------------------------- */

typedef struct writer {
    const rb_model *m;
    const rb_data *d;
    rb_rows *rows;
    int e;        /* the equality                    */
    frame f1, f2; /* where it is between bodies      */
    double dp[3]; /* p1 - p2                         */
} writer;

/* A.w + B.v of what the caller moves, one side. */
static double kinematic_rate(const writer *w, const frame *f, const double A[3], const double B[3])
{
    double V[6];
    int led = rb_kinematic_link(w->m, f->link);
    if (led == 0) return 0.0;
    rb_kinematic_velocity(w->d, led, f->p, V);
    return rb_dot3(A, V) + rb_dot3(B, V + 3);
}

static void write_drive(writer *w, const form *row)
{
    w->rows->drive[w->rows->n] =
        kinematic_rate(w, &w->f1, row->A1, row->B1) + kinematic_rate(w, &w->f2, row->A2, row->B2);
}

static void write_form(writer *w, const form *row)
{
    open_row(w->rows, w->e, row->error, row_bias(&w->f1, &w->f2, row));
    write_jacobian(w->m, w->d, &w->f1, &w->f2, row, w->rows);
    write_drive(w, row);
    w->rows->n++;
}

static void place_frame(const writer *w, int body, const double pos[3], const double quat[4],
                        frame *f)
{
    f->link = w->m->body_link[body];
    rb_place(w->m, w->d, body, pos, quat, f->p, f->R);
    rb_point_velocity(w->m, w->d, body, f->p, f->V);
    rb_jacobian_bias(w->m, w->d, body, f->p, f->a);
}

static void axis(const frame *f, int column, double out[3])
{
    for (int i = 0; i < 3; i++) out[i] = f->R[3 * i + column];
}

/* the points coincide */
static void write_points(writer *w)
{
    for (int i = 0; i < 3; i++) {
        form row = { .error = w->dp[i] };
        rb_copy3(unit[i], row.B1);
        rb_scale3(-1.0, unit[i], row.B2);
        write_form(w, &row);
    }
}

/* the axes coincide */
static void write_rotation(writer *w)
{
    double R2_t[9], R[9], quat[4], rot[3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) R2_t[3 * i + j] = w->f2.R[3 * j + i];
    }
    rb_mul33(w->f1.R, R2_t, R);
    rb_quat_from_rot(R, quat);
    rb_quat_log(quat, rot);
    for (int i = 0; i < 3; i++) {
        form row = { .error = rot[i] };
        rb_copy3(unit[i], row.A1);
        rb_scale3(-1.0, unit[i], row.A2);
        write_form(w, &row);
    }
}

/* z1 is perpendicular to an axis s of frame 2: d/dt (s.z1) = (z1 x s).(w1 - w2) */
static void write_perpendicular(writer *w, const double s[3])
{
    form row;
    double z1[3], dz1[3], ds[3], n[3], dn[3], term[3];
    memset(&row, 0, sizeof row);
    axis(&w->f1, 2, z1);
    rb_cross3(w->f1.V, z1, dz1);
    rb_cross3(w->f2.V, s, ds);
    rb_cross3(z1, s, n);
    rb_cross3(dz1, s, dn);
    rb_cross3(z1, ds, term);
    rb_add3(dn, term, dn);

    row.error = rb_dot3(s, z1);
    rb_copy3(n, row.A1);
    rb_scale3(-1.0, n, row.A2);
    rb_copy3(dn, row.dA1);
    rb_scale3(-1.0, dn, row.dA2);
    write_form(w, &row);
}

/* p1 - p2 is perpendicular to an axis s of frame 2: d/dt (s.dp) = s.dv + w2.(s x dp) */
static void write_in_line(writer *w, const double s[3])
{
    form row;
    double ds[3], dv[3], term[3];
    memset(&row, 0, sizeof row);
    rb_cross3(w->f2.V, s, ds);
    rb_sub3(w->f1.V + 3, w->f2.V + 3, dv);

    row.error = rb_dot3(s, w->dp);
    rb_copy3(s, row.B1);
    rb_scale3(-1.0, s, row.B2);
    rb_cross3(s, w->dp, row.A2);
    rb_copy3(ds, row.dB1);
    rb_scale3(-1.0, ds, row.dB2);
    rb_cross3(ds, w->dp, row.dA2);
    rb_cross3(s, dv, term);
    rb_add3(row.dA2, term, row.dA2);
    write_form(w, &row);
}

/* what the joints of a chain cannot do does not happen; rotors turn as their joints do */
static void write_chain(writer *w)
{
    const rb_model *m = w->m;
    rb_chain chain;
    rb_chain_place(m, w->d, w->e, &chain);
    w->f1.link = m->body_link[m->eq_obj1[w->e]];
    w->f2.link = m->body_link[m->eq_obj2[w->e]];
    rb_copy3(chain.p, w->f1.p);
    rb_copy3(chain.p, w->f2.p);
    for (int i = 0; i < chain.n; i++) {
        form row = { .error = chain.error[i] };
        rb_copy3(chain.N[i], row.A1);
        rb_copy3(chain.N[i] + 3, row.B1);
        rb_scale3(-1.0, row.A1, row.A2);
        rb_scale3(-1.0, row.B1, row.B2);
        open_row(w->rows, w->e, row.error, chain.bias[i]);
        write_jacobian(m, w->d, &w->f1, &w->f2, &row, w->rows);
        for (int r = 0; r < chain.nrotor; r++) {
            add_entry(w->rows, chain.dof[r], -rb_dot6(chain.N[i], chain.S[r]));
        }
        write_drive(w, &row);
        w->rows->n++;
    }
}

static void write_bodies(writer *w)
{
    const rb_model *m = w->m;
    int e = w->e;
    place_frame(w, m->eq_obj1[e], m->eq_pos1 + 3 * e, m->eq_quat1 + 4 * e, &w->f1);
    place_frame(w, m->eq_obj2[e], m->eq_pos2 + 3 * e, m->eq_quat2 + 4 * e, &w->f2);
    rb_sub3(w->f1.p, w->f2.p, w->dp);

    double x2[3], y2[3], minus_y2[3];
    axis(&w->f2, 0, x2);
    axis(&w->f2, 1, y2);
    rb_scale3(-1.0, y2, minus_y2);
    switch (m->eq_type[e]) {
    case RB_EQ_CONNECT:
        write_points(w);
        break;
    case RB_EQ_WELD:
        write_points(w);
        write_rotation(w);
        break;
    case RB_EQ_HINGE:
        write_points(w);
        write_perpendicular(w, minus_y2);
        write_perpendicular(w, x2);
        break;
    default:
        RB_ASSERT(m->eq_type[e] == RB_EQ_SLIDE);
        write_in_line(w, x2);
        write_in_line(w, y2);
        write_rotation(w);
        break;
    }
}

/* ---- rows between coordinates --------------------------------------------------------------- */

/* A joint or a tendon: its value and the gradient of it. */
typedef struct combination {
    const int *dof;
    const double *coef;
    int n;
    double x;    /* value, measured from the reference configuration */
    double rate; /* its velocity                                     */
} combination;

static combination combine(const writer *w, int obj, const double *one)
{
    const rb_model *m = w->m;
    const rb_data *d = w->d;
    if (m->eq_type[w->e] == RB_EQ_JOINT) {
        int j = obj;
        combination c = { m->jnt_dofadr + j, one, 1, 0.0, d->v[m->jnt_dofadr[j]] };
        c.x = d->q[m->jnt_qadr[j]] - m->jnt_ref[j];
        return c;
    }
    rb_tendon_row row = rb_tendon_row_of(m, d, obj);
    combination c = { row.dof, row.J, row.n, 0.0, rb_tendon_rate(m, d, obj) };
    c.x = rb_tendon_length(m, d, obj) - m->tendon_length0[obj];
    return c;
}

/* A dof, or the row of a gauge with its bias. */
static void add_coordinate(writer *w, int dof, double factor)
{
    const rb_model *m = w->m;
    if (dof < m->nv) {
        add_entry(w->rows, dof, factor);
        return;
    }
    int row = dof - m->nv, end = m->gauge_rowadr[row] + m->gauge_rownum[row];
    for (int i = m->gauge_rowadr[row]; i < end; i++)
        add_entry(w->rows, m->gauge_entry[i], factor * w->d->gauge_J[i]);
    w->rows->bias[w->rows->n] += factor * w->d->gauge_bias[row];
}

static void add_combination(writer *w, const combination *c, double factor)
{
    for (int i = 0; i < c->n; i++) add_coordinate(w, c->dof[i], factor * c->coef[i]);
}

/* x1 = poly(x2), and poly[0] alone where there is no second */
static void write_coordinates(writer *w)
{
    static const double one = 1.0;
    const double *p = w->m->eq_poly + 5 * w->e;
    int obj1 = w->m->eq_obj1[w->e], obj2 = w->m->eq_obj2[w->e];
    combination first = combine(w, obj1, &one);
    if (obj2 < 0) {
        open_row(w->rows, w->e, first.x - p[0], 0.0);
        add_combination(w, &first, 1.0);
        w->rows->n++;
        return;
    }
    combination second = combine(w, obj2, &one);
    double x = second.x;
    double value = p[0] + x * (p[1] + x * (p[2] + x * (p[3] + x * p[4])));
    double slope = p[1] + x * (2.0 * p[2] + x * (3.0 * p[3] + x * 4.0 * p[4]));
    double bend = 2.0 * p[2] + x * (6.0 * p[3] + x * 12.0 * p[4]);
    open_row(w->rows, w->e, first.x - value, -bend * second.rate * second.rate);
    add_combination(w, &first, 1.0);
    add_combination(w, &second, -slope);
    w->rows->n++;
}

/* ---- all rows ------------------------------------------------------------------------------- */

rb_status rb_loop_rows(const rb_model *m, rb_data *d, rb_rows *rows)
{
    memset(rows, 0, sizeof *rows);
    if (m->neq == 0) return RB_OK;
    rb_mark mark = rb_arena_mark(d->arena);
    if (allocate(m, d->arena, rows) != RB_OK) {
        rb_arena_reset(d->arena, mark);
        memset(rows, 0, sizeof *rows);
        return RB_NOMEM;
    }
    rows->block = mark.block;
    rows->left = mark.left;
    rows->start[0] = 0;

    writer w = { .m = m, .d = d, .rows = rows };
    for (int e = 0; e < m->neq; e++) {
        if (!m->eq_active[e]) continue;
        w.e = e;
        if (m->eq_type[e] == RB_EQ_JOINT || m->eq_type[e] == RB_EQ_TENDON)
            write_coordinates(&w);
        else if (m->eq_type[e] == RB_EQ_CHAIN)
            write_chain(&w);
        else
            write_bodies(&w);
    }
    return RB_OK;
}

void rb_rows_release(rb_data *d, rb_rows *rows)
{
    if (rows->block) {
        rb_arena_reset(d->arena, (rb_mark){ .block = rows->block, .left = rows->left });
    }
    memset(rows, 0, sizeof *rows);
}
