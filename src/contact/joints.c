/* Joint and tendon limits, dry friction and equalities as rows (F.11). Their patterns are the dofs
 * they act on and all that carry them. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "contact/build.h"
#include "dynamics/tendon.h"
#include "math/quat.h"
#include "math/vec3.h"

/* ---- patterns ---------------------------------------------------------------------------------
 */

/* Dofs of the chain that ends with this one: the row of M has one entry for each. */
static int chain_length(const rb_model *m, int dof)
{
    return (dof + 1 < m->nv ? m->dof_Madr[dof + 1] : m->nM) - m->dof_Madr[dof];
}

/* The dofs given and their ancestors, ascending, without repetition: insertion into the list. */
static int close_pattern(const rb_model *m, const int *from, int nfrom, int *dof)
{
    int count = 0;
    if (nfrom == 1) {
        int at = count = chain_length(m, from[0]);
        for (int j = from[0]; j >= 0; j = m->dof_parent[j]) dof[--at] = j;
        return count;
    }
    for (int i = 0; i < nfrom; i++) {
        for (int j = from[i]; j >= 0; j = m->dof_parent[j]) {
            int at = count;
            while (at > 0 && dof[at - 1] > j) at--;
            if (at > 0 && dof[at - 1] == j) break; /* its ancestors are there as well */
            memmove(dof + at + 1, dof + at, (size_t)(count - at) * sizeof *dof);
            dof[at] = j;
            count++;
        }
    }
    return count;
}

static int place_of(const int *dof, int j)
{
    int at = 0;
    while (dof[at] != j) at++;
    return at;
}

/* The row of a dof, or of the rate of a gauge, times `factor`, to row_dof and row_J from `at`. */
static int expand(rb_builder *b, int dof, double factor, int at)
{
    const rb_model *m = b->m;
    if (dof < m->nv) {
        b->row_dof[at] = dof;
        b->row_J[at] = factor;
        return at + 1;
    }
    int begin = m->gauge_rowadr[dof - m->nv], n = m->gauge_rownum[dof - m->nv];
    for (int i = 0; i < n; i++) {
        b->row_dof[at + i] = m->gauge_entry[begin + i];
        b->row_J[at + i] = factor * b->d->gauge_J[begin + i];
    }
    return at + n;
}

/* One row with the entries given; `c` without rows and pattern. */
static void add_row(rb_builder *b, const rb_constraint *c, const int *dof, const double *J, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) count = expand(b, dof[i], J[i], count);
    int ndof = close_pattern(b->m, b->row_dof, count, b->out->dof + b->ndof);
    rb_constraint *made = rb_builder_add(b, c, 1, ndof);
    const int *pattern = b->out->dof + made->dof;
    made->single_entry = count == 1; /* its chain ends with it */
    for (int i = 0; i < count; i++)
        b->out->J[made->block + place_of(pattern, b->row_dof[i])] += b->row_J[i];
}

/* ---- limits -----------------------------------------------------------------------------------
 */

/* Motion along a scalar with rate `rate` could close the gap within the step. */
static int within_reach(const rb_builder *b, double gap, double rate)
{
    return gap <= b->h * (fabs(rate) + b->dv_max);
}

static void add_limit(rb_builder *b, int object, int side, double gap, const int *dof,
                      const double *J, int n)
{
    rb_constraint c = { .kind = RB_CONSTRAINT_LIMIT, .object = object, .gap = gap };
    c.id = (rb_touch_id){ c.kind, object, side, 0 };
    add_row(b, &c, dof, J, n);
}

/* Both ends of lo <= x <= hi, x with gradient J. */
static void scalar_limits(rb_builder *b, int object, const double range[2], double x, double rate,
                          const int *dof, double *J, int n)
{
    if (within_reach(b, x - range[0], rate)) add_limit(b, object, 0, x - range[0], dof, J, n);
    if (!within_reach(b, range[1] - x, rate)) return;
    for (int i = 0; i < n; i++) J[i] = -J[i];
    add_limit(b, object, 1, range[1] - x, dof, J, n);
}

/* A ball joint rotates by at most range[1] about any axis. */
static void ball_limit(rb_builder *b, int j)
{
    const rb_model *m = b->m;
    double quat[4], turn[3], J[3];
    int dof[3];
    memcpy(quat, b->d->q + m->jnt_qadr[j], sizeof quat);
    rb_quat_normalize(quat);
    rb_quat_log(quat, turn);
    double angle = rb_norm3(turn), rate = 0.0;
    if (angle == 0.0) return; /* no axis yet: a limit of zero range is refused by the compiler */
    for (int i = 0; i < 3; i++) {
        dof[i] = m->jnt_dofadr[j] + i;
        J[i] = -turn[i] / angle;
        rate += J[i] * b->d->v[dof[i]];
    }
    double gap = m->jnt_range[2 * j + 1] - angle;
    if (within_reach(b, gap, rate)) add_limit(b, j, 0, gap, dof, J, 3);
}

static void joint_limits(rb_builder *b)
{
    const rb_model *m = b->m;
    for (int j = 0; j < m->njnt_all; j++) {
        if (!m->jnt_limited[j]) continue;
        if (m->jnt_type[j] == RB_JOINT_BALL) ball_limit(b, j);
        if (m->jnt_type[j] != RB_JOINT_SLIDE && m->jnt_type[j] != RB_JOINT_HINGE) continue;
        int dof = m->jnt_dofadr[j];
        double one = 1.0;
        scalar_limits(b, j, m->jnt_range + 2 * j, b->d->q[m->jnt_qadr[j]], b->d->v[dof], &dof, &one,
                      1);
    }
}

/* Length, rate and gradient of a tendon; returns the number of its dofs. */
static int tendon_row(const rb_model *m, const rb_data *d, int t, int *dof, double *J,
                      double *length, double *rate)
{
    rb_tendon_row row = rb_tendon_row_of(m, d, t);
    *length = rb_tendon_length(m, d, t);
    *rate = rb_tendon_rate(m, d, t);
    for (int i = 0; i < row.n; i++) {
        dof[i] = row.dof[i];
        J[i] = row.J[i];
    }
    return row.n;
}

static void tendon_limits(rb_builder *b)
{
    const rb_model *m = b->m;
    for (int t = 0; t < m->ntendon; t++) {
        double length, rate;
        if (!m->tendon_limited[t]) continue;
        int n = tendon_row(m, b->d, t, b->wrap_dof, b->wrap_J, &length, &rate);
        scalar_limits(b, m->njnt_all + t, m->tendon_range + 2 * t, length, rate, b->wrap_dof,
                      b->wrap_J, n);
    }
}

/* ---- dry friction -----------------------------------------------------------------------------
 */

static void add_dry(rb_builder *b, int object, double force, const int *dof, const double *J, int n)
{
    rb_constraint c = { .kind = RB_CONSTRAINT_DRY, .object = object, .bound = b->h * force };
    c.id = (rb_touch_id){ c.kind, object, 0, 0 };
    add_row(b, &c, dof, J, n);
}

static void dry_friction(rb_builder *b)
{
    const rb_model *m = b->m;
    double one = 1.0;
    for (int j = 0; j < m->nv_all; j++) {
        if (m->dof_frictionloss[j] > 0.0) add_dry(b, j, m->dof_frictionloss[j], &j, &one, 1);
    }
    for (int t = 0; t < m->ntendon; t++) {
        double length, rate;
        if (!(m->tendon_frictionloss[t] > 0.0)) continue;
        int n = tendon_row(m, b->d, t, b->wrap_dof, b->wrap_J, &length, &rate);
        add_dry(b, m->nv_all + t, m->tendon_frictionloss[t], b->wrap_dof, b->wrap_J, n);
    }
}

/* ---- equalities -------------------------------------------------------------------------------
 */

/* All rows of one equality, first to last - 1, share the pattern of their union. */
static void add_equality(rb_builder *b, int first, int last)
{
    const rb_rows *rows = &b->loops;
    int from = rows->start[first], count = rows->start[last] - from;
    rb_constraint c = { .kind = RB_CONSTRAINT_EQUALITY, .object = rows->eq[first] };
    c.id = (rb_touch_id){ c.kind, c.object, 0, 0 };
    int ndof = close_pattern(b->m, rows->dof + from, count, b->out->dof + b->ndof);
    rb_constraint *made = rb_builder_add(b, &c, last - first, ndof);
    const int *pattern = b->out->dof + made->dof;
    for (int r = first; r < last; r++) {
        double *J = b->out->J + made->block + (ptrdiff_t)(r - first) * ndof;
        for (int k = rows->start[r]; k < rows->start[r + 1]; k++) {
            J[place_of(pattern, rows->dof[k])] += rows->J[k];
        }
        b->out->error[made->row + r - first] = rows->error[r];
        b->out->drive[made->row + r - first] = rows->drive[r];
    }
}

static int equality_end(const rb_rows *rows, int first)
{
    int last = first + 1;
    while (last < rows->n && rows->eq[last] == rows->eq[first]) last++;
    return last;
}

/* ---- all --------------------------------------------------------------------------------------
 */

/* Dofs that carry this one or, of a gauge, those of its row, at most. */
static int dof_room(const rb_model *m, int dof)
{
    if (dof < m->nv) return chain_length(m, dof);
    int begin = m->gauge_rowadr[dof - m->nv], n = m->gauge_rownum[dof - m->nv], room = 0;
    for (int i = begin; i < begin + n; i++) room += chain_length(m, m->gauge_entry[i]);
    return room;
}

static int joint_room(const rb_model *m, int j)
{
    int count = m->jnt_type[j] == RB_JOINT_BALL ? 3 : 1, room = 2;
    for (int i = 0; i < count; i++) room += dof_room(m, m->jnt_dofadr[j] + i);
    return room;
}

static int tendon_room(const rb_model *m, int t)
{
    int room = 0;
    for (int i = 0; i < m->tendon_rownum[t]; i++)
        room += dof_room(m, m->tendon_dof[m->tendon_rowadr[t] + i]);
    return room;
}

/* Limits and friction of a tendon make rows. */
static int tendon_rows(const rb_model *m, int t)
{
    return (m->tendon_limited[t] ? 2 : 0) + (m->tendon_frictionloss[t] > 0.0 ? 1 : 0);
}

int rb_row_room(const rb_model *m)
{
    int most = 3;
    for (int t = 0; t < m->ntendon; t++) {
        int room = tendon_rows(m, t) > 0 ? tendon_room(m, t) : 0;
        most = room > most ? room : most;
    }
    for (int j = m->njnt; j < m->njnt_all; j++) {
        int room = joint_room(m, j);
        most = room > most ? room : most;
    }
    return most;
}

void rb_joint_room(const rb_builder *b, rb_room *room)
{
    const rb_model *m = b->m;
    const rb_rows *rows = &b->loops;
    for (int j = 0; j < m->njnt_all; j++) {
        if (m->jnt_limited[j]) rb_room_add(room, 2, 1, joint_room(m, j));
    }
    for (int j = 0; j < m->nv_all; j++) {
        if (m->dof_frictionloss[j] > 0.0) rb_room_add(room, 1, 1, dof_room(m, j));
    }
    for (int t = 0; t < m->ntendon; t++) {
        int count = tendon_rows(m, t);
        if (count > 0) rb_room_add(room, (size_t)count, 1, tendon_room(m, t));
    }
    for (int first = 0; first < rows->n; first = equality_end(rows, first)) {
        int last = equality_end(rows, first), ndof = 0;
        for (int k = rows->start[first]; k < rows->start[last]; k++) {
            ndof += chain_length(m, rows->dof[k]);
        }
        rb_room_add(room, 1, last - first, ndof);
    }
}

void rb_joint_constraints(rb_builder *b)
{
    joint_limits(b);
    tendon_limits(b);
    dry_friction(b);
    for (int first = 0; first < b->loops.n; first = equality_end(&b->loops, first)) {
        add_equality(b, first, equality_end(&b->loops, first));
    }
}
