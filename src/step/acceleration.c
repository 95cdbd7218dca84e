/* Contact forces from accelerations, as one would like to have them, and why we step instead.
 *
 * Contacts that touch and do not approach get forces f with
 *
 *     0 <= f  _|_  A f + b >= 0,      a = A f + b                                           (S.61)
 *
 * A contact that slides has one unknown, its normal force; friction is mu f against the slip, so
 * that A = n'M^-1 (n - mu t) need not be positive. One that sticks has the unknowns of Stewart and
 * Trinkle, with accelerations in the place of velocities. b is the rate at which the velocities of
 * the rows change without contact, by central differences along that motion: curvature of the
 * surfaces included. Where A <= 0 and b < 0 there is no solution, and Lemke's method ends on a ray:
 * Painleve's paradox. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "dynamics/actuation.h"
#include "dynamics/passive.h"
#include "math/trig.h"
#include "options/options.h"
#include "step/touch.h"

/* Time of the central difference [s]. Larger: its square times the jerk. Smaller: rounding of
 * velocities over it. */
#define DIFFERENCE 1e-5

/* Speed that is none, relative to the fastest coordinate [1]: states are given to some digits. */
#define NO_SPEED 1e-9

/* How far ahead contacts are looked for [s], with changes of velocity of 1 m/s. */
#define AHEAD 1e-3

typedef struct acceleration {
    const rb_model *m;
    rb_data *d;
    const rb_step_opts *o;
    rb_error *err;
    double *q, *v, *qdd; /* the state, and its acceleration without contact  (nq), (nv)         */
    double slow;         /* speed that is none [m/s]                                            */
    rb_contact *contacts;
    rb_constraints set;
    double *u, *rate; /* of the rows: velocity, and its rate without contact (set.nrow)         */
    int n;            /* unknowns                                                               */
    int *first;       /* unknown of each constraint, -1: none                (set.n)            */
    double *slip;     /* direction of the slip, zero: sticks                 (set.n x 2)        */
} acceleration;

/* ---- rows -------------------------------------------------------------------------------------
 */

static void go_to(acceleration *x, const double *q, const double *v)
{
    memcpy(x->d->q, q, (size_t)x->m->nq * sizeof *q);
    memcpy(x->d->v, v, (size_t)x->m->nv * sizeof *v);
    rb_kinematics(x->m, x->d);
    rb_velocity(x->m, x->d);
    rb_frames(x->m, x->d);
}

/* Contacts near, those with a gap below `reach` kept, as rows. */
static rb_status build(acceleration *x, double reach, rb_constraints *set)
{
    int n = 0, kept = 0;
    rb_status status = rb_collide(x->m, x->d, AHEAD, 1.0, x->d->touch_max, x->contacts, &n, x->err);
    if (status != RB_OK) return status;
    for (int i = 0; i < n; i++) {
        if (x->contacts[i].at.gap <= reach) x->contacts[kept++] = x->contacts[i];
    }
    return rb_constraints_build(x->m, x->d, x->o, 0.0, 0.0, x->contacts, kept, NULL, set);
}

static int find(const rb_constraints *set, const rb_touch_id *id)
{
    for (int i = 0; i < set->ncontact; i++) {
        if (rb_touch_order(&set->c[i].id, id) == 0) return i;
    }
    return -1;
}

/* rate += sign u / (2 DIFFERENCE) at the state `sign` DIFFERENCE away. */
static rb_status add_side(acceleration *x, double sign)
{
    int nv = x->m->nv;
    double *q = rb_push(x->d->arena, double, x->m->nq), *v = rb_push(x->d->arena, double, nv);
    if (!q || !v) return RB_NOMEM;
    double t = sign * DIFFERENCE;
    for (int j = 0; j < nv; j++) v[j] = x->v[j] + 0.5 * t * x->qdd[j];
    rb_integrate(x->m, x->q, v, t, q);
    for (int j = 0; j < nv; j++) v[j] = x->v[j] + t * x->qdd[j];
    go_to(x, q, v);
    rb_constraints set;
    rb_status status = build(x, INFINITY, &set);
    if (status != RB_OK) return status;
    double *u = rb_push(x->d->arena, double, set.nrow);
    if (!u) return RB_NOMEM;
    rb_constraints_velocity(&set, v, u);
    for (int i = 0; i < x->set.ncontact; i++) {
        const rb_constraint *c = &x->set.c[i];
        int other = find(&set, &c->id);
        if (other < 0)
            return rb_fail(x->err, RB_UNSUPPORTED,
                           "geoms %d and %d touch at a feature that changes: no rate", c->id.a,
                           c->id.b);
        for (int r = 0; r < c->nrow; r++)
            x->rate[c->row + r] += sign * u[set.c[other].row + r] / (2.0 * DIFFERENCE);
    }
    return RB_OK;
}

/* qdd without contact. */
static rb_status free_acceleration(acceleration *x)
{
    const rb_model *m = x->m;
    double *force = rb_push(x->d->arena, double, m->nv);
    if (!force) return RB_NOMEM;
    rb_passive(m, x->d);
    rb_actuation(m, x->d);
    for (int j = 0; j < m->nv; j++) force[j] = x->d->tau[j] + x->d->passive[j] + x->d->actuation[j];
    rb_wrench_force(m, x->d, force);
    return rb_forward(m, x->d, force, x->qdd);
}

/* ---- unknowns ---------------------------------------------------------------------------------
 */

/* Contacts that take part, their slip, and their unknowns. */
static rb_status count_unknowns(acceleration *x)
{
    int k = x->o->directions;
    for (int i = 0; i < x->set.n; i++) {
        const rb_constraint *c = &x->set.c[i];
        const double *u = x->u + c->row;
        x->first[i] = -1;
        x->slip[2 * i] = x->slip[2 * i + 1] = 0.0;
        if (c->kind != RB_CONSTRAINT_CONTACT || u[0] > x->slow) continue;
        if (u[0] < -x->slow)
            return rb_fail(x->err, RB_BAD_INPUT,
                           "geoms %d and %d approach with %.3g m/s: an impact comes first", c->id.a,
                           c->id.b, -u[0]);
        x->first[i] = x->n;
        double speed = c->nrow >= 3 ? sqrt(u[1] * u[1] + u[2] * u[2]) : 0.0;
        int slides = speed > x->slow, rough = c->nrow >= 3 && c->material.friction > 0.0;
        if (slides) x->slip[2 * i] = u[1] / speed, x->slip[2 * i + 1] = u[2] / speed;
        x->n += rough && !slides ? 2 + k : 1;
    }
    return RB_OK;
}

/* Number of unknowns of constraint i. */
static int width(const acceleration *x, int i)
{
    int next = i + 1;
    if (x->first[i] < 0) return 0;
    while (next < x->set.n && x->first[next] < 0) next++;
    return (next < x->set.n ? x->first[next] : x->n) - x->first[i];
}

/* Tangent direction j of a contact that sticks. */
static void direction(const acceleration *x, int j, double t[2])
{
    double angle = 2.0 * RB_PI * j / x->o->directions;
    t[0] = rb_cos(angle);
    t[1] = rb_sin(angle);
}

/* Force on the rows of constraint i by a unit of its unknown j; the last of a contact that sticks
 * is no force. */
static int unit_force(const acceleration *x, int i, int j, double *p)
{
    const rb_constraint *c = &x->set.c[i];
    const double *slip = x->slip + 2 * (ptrdiff_t)i;
    double t[2];
    if (j == 0) {
        p[c->row] = 1.0;
        for (int a = 0; a < 2 && c->nrow >= 3; a++)
            p[c->row + 1 + a] = -c->material.friction * slip[a];
        return 1;
    }
    if (j > x->o->directions) return 0;
    direction(x, j - 1, t);
    p[c->row + 1] = t[0];
    p[c->row + 2] = t[1];
    return 1;
}

/* What of the accelerations a of the rows stands in equation j of constraint i. */
static double seen(const acceleration *x, int i, int j, const double *a)
{
    const rb_constraint *c = &x->set.c[i];
    double t[2];
    if (j == 0) return a[c->row];
    if (j > x->o->directions) return 0.0;
    direction(x, j - 1, t);
    return t[0] * a[c->row + 1] + t[1] * a[c->row + 2];
}

/* ---- the problem ------------------------------------------------------------------------------
 */

static void read_column(const acceleration *x, const double *a, int column, double *A)
{
    for (int i = 0; i < x->set.n; i++) {
        for (int j = 0; j < width(x, i); j++)
            A[(ptrdiff_t)(x->first[i] + j) * x->n + column] = seen(x, i, j, a);
    }
}

/* lambda e + D'a >= 0, mu f_n - e'beta >= 0 of a contact that sticks. */
static void write_cone(const acceleration *x, int i, double *A)
{
    int k = x->o->directions, first = x->first[i], last = first + k + 1;
    for (int j = 1; j <= k; j++) {
        A[(ptrdiff_t)(first + j) * x->n + last] = 1.0;
        A[(ptrdiff_t)last * x->n + first + j] = -1.0;
    }
    A[(ptrdiff_t)last * x->n + first] = x->set.c[i].material.friction_static;
}

static rb_status write_problem(acceleration *x, double *A, double *b)
{
    rb_arena *arena = x->d->arena;
    double *p = rb_push(arena, double, x->set.nrow), *a = rb_push(arena, double, x->set.nrow);
    double *f = rb_push(arena, double, x->m->nv);
    if (!p || !a || !f) return RB_NOMEM;
    memset(A, 0, (size_t)x->n * (size_t)x->n * sizeof *A);
    for (int i = 0; i < x->set.n; i++) {
        for (int j = 0; j < width(x, i); j++) {
            b[x->first[i] + j] = seen(x, i, j, x->rate);
            memset(p, 0, (size_t)x->set.nrow * sizeof *p);
            memset(f, 0, (size_t)x->m->nv * sizeof *f);
            if (!unit_force(x, i, j, p)) continue;
            rb_constraints_force(&x->set, p, f);
            rb_mass_solve(x->m, x->d, f);
            rb_constraints_velocity(&x->set, f, a);
            for (int r = 0; r < x->set.nrow; r++) a[r] -= x->set.drive[r];
            read_column(x, a, x->first[i] + j, A);
        }
    }
    for (int i = 0; i < x->set.n; i++) {
        if (width(x, i) > 1) write_cone(x, i, A);
    }
    return RB_OK;
}

static rb_status take_state(acceleration *x)
{
    const rb_model *m = x->m;
    rb_arena *arena = x->d->arena;
    x->q = rb_push(arena, double, m->nq);
    x->v = rb_push(arena, double, m->nv);
    x->qdd = rb_push(arena, double, m->nv);
    x->contacts = rb_push(arena, rb_contact, x->d->touch_max);
    if (!x->q || !x->v || !x->qdd || !x->contacts) return RB_NOMEM;
    memcpy(x->q, x->d->q, (size_t)m->nq * sizeof *x->q);
    memcpy(x->v, x->d->v, (size_t)m->nv * sizeof *x->v);
    double fastest = 0.0;
    for (int j = 0; j < m->nv; j++) fastest = fmax(fastest, fabs(x->v[j]));
    x->slow = NO_SPEED * fmax(1.0, fastest);
    go_to(x, x->q, x->v);
    return free_acceleration(x);
}

/* Everything up to the unknowns; M is factored. */
static rb_status prepare(acceleration *x)
{
    rb_status status = take_state(x);
    if (status == RB_OK) status = build(x, NO_SPEED * x->m->extent, &x->set);
    if (status != RB_OK) return status;
    x->u = rb_push(x->d->arena, double, x->set.nrow);
    x->rate = rb_push(x->d->arena, double, x->set.nrow);
    x->first = rb_push(x->d->arena, int, x->set.n);
    x->slip = rb_push(x->d->arena, double, 2 * (size_t)x->set.n);
    if (!x->u || !x->rate || !x->first || !x->slip) return RB_NOMEM;
    rb_constraints_velocity(&x->set, x->v, x->u);
    memset(x->rate, 0, (size_t)x->set.nrow * sizeof *x->rate);
    status = count_unknowns(x);
    for (int side = -1; side <= 1 && status == RB_OK; side += 2) status = add_side(x, side);
    go_to(x, x->q, x->v);
    if (status != RB_OK) return status;
    rb_mass(x->m, x->d);
    return rb_mass_factor(x->m, x->d);
}

static rb_status run(acceleration *x, const rb_problem_sink *sink)
{
    rb_status status = prepare(x);
    if (status != RB_OK) return status;
    size_t n = (size_t)x->n;
    double *A = rb_push(x->d->arena, double, n *n), *b = rb_push(x->d->arena, double, n);
    status = A && b ? write_problem(x, A, b) : RB_NOMEM;
    if (status != RB_OK) return status;
    rb_problem problem = {
        .kind = RB_LCP, .n = x->n, .q = b, .W = { .form = RB_DENSE, .dense = A }
    };
    return sink->take(sink->ctx, "acceleration", &problem) == 0 ? RB_OK : RB_FILE;
}

rb_status rb_acceleration_problem(const rb_model *m, rb_data *d, const rb_step_opts *o,
                                  const rb_problem_sink *sink, rb_error *err)
{
    rb_step_opts usual;
    if (!o) usual = rb_step_opts_default();
    if (!o) o = &usual;
    acceleration x = { .m = m, .d = d, .o = o, .err = err };
    rb_status status = rb_step_opts_check(o, 1.0, err);
    if (status == RB_OK) status = rb_step_inputs_check(m, d, err);
    if (status != RB_OK) return status;
    rb_mark mark = rb_arena_mark(d->arena);
    status = run(&x, sink);
    rb_arena_reset(d->arena, mark);
    return status;
}
