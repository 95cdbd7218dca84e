/* Contacts and rows at a configuration q_hat, and the velocities that they ask for.
 *
 * Position level: the gap after the step, linearised at q_hat, must not be negative,
 *
 *     gap(q_hat) + h n.(v+ - v_hat) >= min(0, gap(q0))                                        (S.4)
 *
 * with v_hat = 0 at the start of the step. Overlap is kept from growing, not pushed out: no
 * momentum comes from the repair of positions. (The formulations of Stewart and Trinkle push out
 * what steps made, which is of rounding size: gap(q_hat) + h n.(v+ - v_hat) >= 0 (S.37).) Gaps of
 * rounding size count as zero, and in large islands small ones, too (S.8).
 *
 * Loops likewise: a step takes off a share RB_LOOP_SHARE of the closure error at its start, and
 * may not add any itself (S.38). Where rows are taken ahead from the beginning (v_hat given), the
 * whole error is taken off, as Stewart and Trinkle do; parts of a step take their share.
 *
 * Restitution in a fixed step: a contact bounces that would close within the step and comes faster
 * than weight alone drives it in two steps (S.7). It would meet with u*. It leaves with b, the
 * speed that e u* has become where the step ends. So the bounce has the height that e gives it,
 * although the step does not know the time of the impact:
 *
 *     a = (u - u_f) / h,   u*^2 = u^2 + 2 a gap,   b = sqrt(e^2 u*^2 + a^2 h^2 - 2 a gap) - a h.
 *
 * Newton's law asks for b itself. The other laws first bring the contact to rest, and
 * restitution.c gives back b / |u_f| of the impulse that this took. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/pieces.h"
#include "dynamics/actuation.h"
#include "dynamics/coupling.h"
#include "dynamics/gauge.h"
#include "dynamics/passive.h"
#include "dynamics/placed.h"
#include "math/vec3.h"
#include "step/stage.h"

/* By how much limits and contacts are relaxed in a step whose loops leave no other answer, in units
 * of what steps may make [1]. A linkage at its dead centre amplifies rounding of one joint ten
 * thousand times in another. Larger: the gaps at the end are refused. Smaller: the noise is
 * not covered. */
#define YIELD 0.25

/* The same for overlap of the model, in units of what it may grow by [1]. */
#define YIELD_OVERLAP 0.5

/* Speed that impulses may add to a pair before it is seen, where there are more than
 * RB_UNIQUE_CONTACTS constraints, in units of the typical speed of links [1]. Larger: more rows
 * that push nothing. Smaller: a repair in most steps of a heap. */
#define REACH_SHARE 0.5

/* ---- the configuration ------------------------------------------------------------------------
 */

/* Actuators that are not at a bound of their force, with the activations of the middle of the step:
 * by them (D.38) holds joints of coupled dofs from the start of the step. act: the ones it began
 * with. */
static rb_status find_marks(rb_stage *s, double *act, signed char *marks)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double *next = rb_push(d->arena, double, m->na);
    if (!next) return RB_NOMEM;
    memcpy(act, d->act, (size_t)m->na * sizeof *act);
    memset(next, 0, (size_t)m->na * sizeof *next);
    rb_activation_step(m, d, s->h, next);
    rb_activation_middle(m, act, next, d->act);
    rb_actuation(m, d);
    for (int i = 0; i < m->nu; i++) marks[i] = rb_actuator_side(m, d, i) == 0;
    return RB_OK;
}

/* k, b: stiffness and damping of dofs (nv_all), without what couples them, which is apart where
 * that is not NULL. */
static void find_slopes(const rb_stage *s, const signed char *marks, double *k, double *b,
                        rb_coupling *apart)
{
    const rb_model *m = s->m;
    const rb_data *d = s->d;
    memset(k, 0, (size_t)m->nv_all * sizeof *k);
    memset(b, 0, (size_t)m->nv_all * sizeof *b);
    rb_passive_stiffness_apart(m, d, k, b, apart);
    rb_actuation_stiffness_of(m, d, marks, k, b, apart);
    rb_gauge_spread_bound(m, d, k);
    rb_gauge_spread_bound(m, d, b);
}

/* Scratch of factor_coupled. */
typedef struct coupled {
    rb_coupling terms;
    double *k, *b, *A, *E; /* (nv_all) */
    double *act;           /* (na)     */
    signed char *marks;    /* (nu)     */
} coupled;

static int push_coupled(const rb_model *m, rb_arena *arena, coupled *x)
{
    double **of_dof[] = { &x->k, &x->b, &x->A, &x->E };
    x->act = rb_push(arena, double, m->na);
    x->marks = rb_push(arena, signed char, m->nu);
    return x->act && x->marks && rb_push_rows(arena, of_dof, 4, m->nv_all) &&
           rb_coupling_push(m, arena, &x->terms);
}

/* (D.38) by the bounds of what is coupled; d->M := M */
static rb_status hold_creeping(rb_stage *s, coupled *x)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double half = 0.5 * s->h;
    rb_mass(m, d);
    for (int j = 0; j < m->nv; j++)
        x->A[j] = x->E[j] + half * (x->terms.b[j] + half * x->terms.k[j]);
    rb_status status = rb_mass_factor_with(m, d, x->A, NULL);
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        double b = x->b[j] + x->terms.b[j], D = d->L[m->dof_Madr[j]] - x->A[j];
        x->A[j] = b == 0.0 ? 0.0 : rb_passive_hold(s->h, b, D);
    }
    return status;
}

static void hand_out(const rb_stage *s, const coupled *x, const rb_stage_stiff *out)
{
    const rb_model *m = s->m;
    size_t bytes = (size_t)m->nv * sizeof(double);
    if (out->E) memcpy(out->E, x->E, bytes);
    if (out->A && !out->again) memcpy(out->A, x->A, bytes);
    for (int i = 0; i < m->nM && out->all; i++) out->all[i] = s->d->M[i] + x->terms.C[i];
    for (int j = 0; j < m->nv && out->all; j++) out->all[m->dof_Madr[j]] += x->E[j];
}

/* (D.55): what is coupled has its own matrix in the factor. */
static rb_status factor_coupled(rb_stage *s, const rb_stage_stiff *out)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    coupled x;
    int begins = out->A && !out->again;
    if (!push_coupled(m, d->arena, &x)) return RB_NOMEM;
    rb_coupling_begin(m, s->h, &x.terms);
    if (begins && find_marks(s, x.act, x.marks) != RB_OK) return RB_NOMEM;
    find_slopes(s, begins ? x.marks : NULL, x.k, x.b, &x.terms);
    if (begins) memcpy(d->act, x.act, (size_t)m->na * sizeof *x.act);
    for (int j = 0; j < m->nv; j++) x.E[j] = 0.5 * s->h * (x.b[j] + 0.5 * s->h * x.k[j]);
    rb_status status = RB_OK;
    if (out->again)
        memcpy(x.A, out->A, (size_t)m->nv * sizeof *x.A);
    else
        status = hold_creeping(s, &x);
    for (int j = 0; j < m->nv; j++) x.E[j] += x.A[j];
    if (out->L && status == RB_OK) {
        status = rb_mass_factor_with(m, d, x.A, NULL);
        memcpy(out->L, d->L, (size_t)m->nM * sizeof *out->L);
    }
    if (status == RB_OK) status = rb_mass_factor_with(m, d, x.E, x.terms.C);
    if (status == RB_OK) hand_out(s, &x, out);
    return status;
}

static rb_status factor_plain(rb_stage *s, const rb_stage_stiff *out)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    double *k = rb_push(d->arena, double, m->nv_all), *b = rb_push(d->arena, double, m->nv_all);
    if (!k || !b) return RB_NOMEM;
    find_slopes(s, NULL, k, b, NULL);
    rb_mass(m, d);
    for (int j = 0; j < m->nv; j++) k[j] = 0.5 * s->h * (b[j] + 0.5 * s->h * k[j]);
    rb_status status = rb_mass_factor_with(m, d, k, NULL);
    int held = 0, any = 0;
    for (int j = 0; j < m->nv && status == RB_OK; j++) {
        double more = 0.0;
        any |= k[j] != 0.0;
        if (b[j] != 0.0)
            more = rb_passive_hold(s->h, b[j], d->L[m->dof_Madr[j]] - k[j]); /* (D.38) */
        held |= more > 0.0;
        k[j] += more;
        b[j] = more;
        if (out->E) out->E[j] = k[j];
    }
    if (out->L && status == RB_OK) {
        if (any) status = rb_mass_factor_with(m, d, b, NULL);
        memcpy(out->L, d->L, (size_t)m->nM * sizeof *out->L);
        held = any;
    }
    if (held && status == RB_OK) status = rb_mass_factor_with(m, d, k, NULL);
    return status;
}

/* Springs, dampers and servos act on what an impulse does within the step as well (D.37). */
rb_status rb_stage_factor(rb_stage *s, const rb_stage_stiff *out)
{
    const rb_stage_stiff none = { .L = NULL };
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (!out) out = &none;
    rb_status status = rb_coupling_any(s->m) ? factor_coupled(s, out) : factor_plain(s, out);
    rb_arena_reset(s->d->arena, mark);
    return status;
}

/* Everything that depends on q_hat, with the velocities of the free motion. */
static void go_to(rb_stage *s)
{
    rb_data *d = s->d;
    int ahead = s->v_hat && !s->middle;
    rb_stage_kinematic_pose(s, ahead ? s->h : 0.0);
    memcpy(d->q, s->q_hat, (size_t)s->m->nq * sizeof *d->q);
    memcpy(d->v, ahead ? s->v_hat : s->v_free, (size_t)s->m->nv * sizeof *d->v);
    rb_placed_motion(s->m, d);
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

static int is_unilateral(const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT || c->kind == RB_CONSTRAINT_LIMIT;
}

/* Least gap of its pair at the start of the step. */
static double start_of(const rb_stage *s, const rb_constraint *c)
{
    return s->start[c - s->set.c];
}

/* Deeper at q_hat than steps may make it: what calls for a repair. */
static int is_too_deep(const rb_stage *s, const rb_constraint *c)
{
    double start = start_of(s, c);
    return c->gap < rb_stage_lowest(s, start, rb_stage_deep(s, &c->id));
}

/* Stewart and Trinkle push out what steps made, a part of a step its share of it: over a part of
 * 1e-20 s rounding would be thrown away at 1e8 m/s. Overlap of the model is kept (S.37), unless
 * overlap is not checked. */
static double pushed_floor(const rb_stage *s, double start, double deep)
{
    int of_model = start < -2.0 * deep && s->o->max_repair > 0;
    return of_model ? start : (1.0 - s->h / s->h_full) * start;
}

/* Where the gap may end: at what it was before, if it overlapped, or half of what steps may make it
 * where it is to be lifted. */
static double own_floor(const rb_stage *s, const rb_constraint *c, int lifts)
{
    double deep = rb_stage_deep(s, &c->id);
    double start = fmin(0.0, start_of(s, c));
    if (s->o->formulation->push_out) return pushed_floor(s, start, deep);
    return lifts && start >= -2.0 * deep ? fmax(start, -0.5 * deep) : start;
}

/* Where rows have no answer, contacts are relaxed by rounding (S.39). */
double rb_stage_yield(const rb_stage *s, const rb_constraint *c)
{
    if (!s->yields || s->o->formulation->push_out) return 0.0;
    double deep = rb_stage_deep(s, &c->id), start = fmin(0.0, start_of(s, c));
    if (c->kind == RB_CONSTRAINT_LIMIT) {
        double room = fmax(start - rb_stage_lowest(s, start, deep), 0.5 * RB_GAP_DEEP * s->size);
        return fmax(fmin(YIELD * deep, room), rb_stage_yield_error(s, start));
    }
    if (start > -0.5 * deep) return YIELD * deep;
    return start < -2.0 * deep ? YIELD_OVERLAP * rb_stage_growth(s) : 0.0;
}

/* A rigid face: points that differ by no more than steps may overlap are at one height (S.9). */
static int is_level(const rb_stage *s, const rb_constraint *c, double a, double b)
{
    return fabs(a - b) <= rb_stage_deep(s, &c->id);
}

static int has_face(const rb_stage *s, const rb_constraint *c)
{
    return c->kind == RB_CONSTRAINT_CONTACT && c->nface > 1 && s->o->formulation->kind == RB_CONE;
}

/* A repair takes half of the overlap off that called for it, so that it is not called for in every
 * step from then on. What else steps have made stays: links that are wedged cannot leave it. Points
 * of a face may end where the lowest of those may that were level with them. */
static double gap_floor(const rb_stage *s, const rb_constraint *c)
{
    int again = s->v_hat && !s->middle, face = again && has_face(s, c);
    int lifts = again && !s->yields && is_too_deep(s, c);
    for (int i = c->face; face && !s->yields && i < c->face + c->nface; i++)
        lifts |= is_too_deep(s, &s->set.c[i]);
    double own = own_floor(s, c, lifts), floor = own;
    for (int i = c->face; face && i < c->face + c->nface; i++) {
        double other = own_floor(s, &s->set.c[i], lifts);
        if (is_level(s, c, other, own)) floor = fmin(floor, other);
    }
    return floor;
}

/* Points of a face that touches are closed where they are level with zero (S.9), those of large
 * islands where their gap is too small to be seen (S.8). */
double rb_stage_closed(const rb_stage *s, const rb_constraint *c)
{
    int of = c->island;
    int n = of < 0 ? 0 : s->set.island_start[of + 1] - s->set.island_start[of];
    double closed = (n > RB_UNIQUE_CONTACTS ? RB_GAP_FLAT : RB_GAP_ZERO) * s->size;
    if (s->o->scheme == RB_SCHEME_NODE)
        closed = fmax(closed, RB_NODE_LEFT * rb_stage_deep(s, &c->id));
    if (!has_face(s, c)) return closed;
    for (int i = c->face; i < c->face + c->nface; i++) {
        if (s->set.c[i].gap <= closed) return fmax(closed, rb_stage_deep(s, &c->id));
    }
    return closed;
}

static double normal_bias(const rb_stage *s, const rb_constraint *c, double u_hat)
{
    if (s->o->scheme == RB_SCHEME_MOREAU_JEAN) /* (S.79) */
        return fmax(0.0, 2.0 * c->gap / s->h + s->u_before[c->row]);
    double floor = gap_floor(s, c);
    double room = c->gap - floor;
    if (room >= -RB_GAP_ZERO * s->size && room <= rb_stage_closed(s, c)) room = 0.0;
    double bias = (room + rb_stage_yield(s, c)) / s->h - u_hat;
    int stays = s->keep_overlap && s->v_hat && !s->middle && !is_too_deep(s, c);
    return stays ? fmax(0.0, bias) : bias;
}

/* Row r of a loop (S.38). In the scheme of Moreau and Jean it is a matter of velocities (S.80). */
static double loop_bias(const rb_stage *s, const rb_constraint *c, int r, double u_hat)
{
    if (s->o->scheme == RB_SCHEME_MOREAU_JEAN || rb_stage_is_redundant(s, c->id.a, r)) return 0.0;
    double goal = rb_stage_error_goal(s, &c->id, r);
    return (s->set.error[c->row + r] - goal) / s->h - u_hat;
}

/* b of (S.7) where the contact came faster than its weight drives it within two steps. */
static double bounce(const rb_stage *s, const rb_constraint *c, double gap, double u_free)
{
    double e = c->kind == RB_CONSTRAINT_CONTACT ? c->material.restitution : 0.0;
    double u = s->u_before[c->row], h = s->h;
    if (s->inelastic || !(e > 0.0) || -u <= RB_BOUNCE_STEPS * s->gravity * h) return 0.0;
    if (s->o->scheme == RB_SCHEME_MOREAU_JEAN) return -e * u;
    double a = (u - u_free) / h, drop = 2.0 * a * fmax(0.0, gap);
    double square = e * e * fmax(0.0, u * u + drop) + a * a * h * h - drop;
    return fmin(sqrt(fmax(0.0, square)) - a * h, -u_free);
}

static void fill_velocities(rb_stage *s, double *u_hat)
{
    rb_constraints_velocity(&s->set, s->v_free, s->u);
    rb_constraints_velocity(&s->set, s->v0, s->u_before);
    memset(u_hat, 0, (size_t)s->set.nrow * sizeof *u_hat);
    if (s->v_hat) rb_constraints_velocity(&s->set, s->v_hat, u_hat);

    for (int i = 0; i < s->set.n; i++) {
        const rb_constraint *c = &s->set.c[i];
        double *u = s->u + c->row, *bias = s->bias + c->row;
        for (int r = 0; r < c->nrow && c->kind == RB_CONSTRAINT_EQUALITY; r++)
            bias[r] = loop_bias(s, c, r, u_hat[c->row + r]);
        if (is_unilateral(c)) {
            bias[0] = normal_bias(s, c, u_hat[c->row]);
            s->room[i] = bias[0];
            double back = bounce(s, c, c->gap - s->h * u_hat[c->row], u[0]);
            if (back > 0.0 && u[0] + bias[0] < 0.0) {
                s->e[i] = back / -u[0];
                bias[0] = fmin(bias[0], s->o->law == RB_NEWTON ? -back : 0.0);
            }
        }
        if (s->without_push_out && c->kind == RB_CONSTRAINT_EQUALITY)
            memset(bias, 0, (size_t)c->nrow * sizeof *bias);
        if (s->without_push_out && is_unilateral(c)) bias[0] = fmax(0.0, bias[0]);
        for (int r = 0; r < c->nrow; r++) u[r] += bias[r];
    }
}

rb_status rb_stage_take_rows(rb_stage *s)
{
    rb_arena *arena = s->d->arena;
    size_t n = (size_t)s->set.n;
    double **of_row[] = { &s->u, &s->p, &s->bias, &s->u_before };
    double **of_one[] = { &s->e, &s->room };
    s->kept = NULL;
    s->found = s->spent = NULL;
    s->mode = rb_push(arena, unsigned char, n);
    if (!s->mode) return RB_NOMEM;
    memset(s->mode, RB_MODE_OPEN, n);
    int ok =
        rb_push_zeros(arena, of_row, 4, s->set.nrow) && rb_push_zeros(arena, of_one, 2, s->set.n);
    return ok ? RB_OK : RB_NOMEM;
}

/* Leaves out contacts that fly and, while rows are those of the start, pairs that pass by each
 * other. */
static void drop_flying(rb_stage *s)
{
    int n = 0;
    for (int i = 0; i < s->ncontact; i++) {
        const rb_contact *c = &s->contacts[i];
        if ((!s->last_p || s->middle) && rb_stage_is_ghost(s, c)) continue;
        if (rb_flight_holds(s->flight, c->geom1, c->geom2, c->at.feature)) s->contacts[n++] = *c;
    }
    s->ncontact = n;
}

static rb_touch_id id_of(const rb_contact *c)
{
    return (rb_touch_id){ RB_CONSTRAINT_CONTACT, c->geom1, c->geom2, c->at.feature };
}

/* Whether a contact of that name is at or after *at in the list, which moves there. */
static int is_next(const rb_touch_id *id, const rb_contact *list, int n, int *at)
{
    for (; *at < n; ++*at) {
        rb_touch_id here = id_of(&list[*at]);
        int order = rb_touch_order(&here, id);
        if (order >= 0) return order == 0;
    }
    return 0;
}

/* Few points stand for all of a pair, and the smallest turn may choose others. A repair keeps those
 * of the round before, or two rounds could undo each other. */
static rb_status keep_last(rb_stage *s, double slack)
{
    rb_data *d = s->d;
    int nall = 0, n = 0, at = 0;
    rb_mark mark = rb_arena_mark(d->arena);
    rb_contact *all = rb_push(d->arena, rb_contact, d->touch_max);
    rb_contact *kept = rb_push(d->arena, rb_contact, d->touch_max);
    if (!all || !kept) return RB_NOMEM;
    rb_status status = rb_collide_full(s->m, d, s->h, slack, d->touch_max, all, &nall, s->err);
    if (status == RB_OK) {
        for (int i = 0; i < nall; i++) {
            const rb_contact *c = &all[i];
            rb_touch_id id = id_of(c);
            if (is_next(&id, s->contacts, s->ncontact, &at) || rb_stage_find(&s->last, &id))
                kept[n++] = *c;
        }
        memcpy(s->contacts, kept, (size_t)n * sizeof *kept);
    }
    s->ncontact = status == RB_OK ? n : nall;
    rb_arena_reset(d->arena, mark);
    return status;
}

/* The reach of the fastest body is that of all in the search: what is far for its own two goes,
 * unless it was a row before. */
static void drop_far(rb_stage *s)
{
    int n = 0;
    for (int i = 0; i < s->ncontact; i++) {
        const rb_contact *c = &s->contacts[i];
        rb_touch_id id = id_of(c);
        if (rb_stage_in_reach(s, c) || rb_stage_find(&s->last, &id)) s->contacts[n++] = *c;
    }
    s->ncontact = n;
}

/* All parts that begin at q0 have the contacts of the longest one, which flight.c has found. */
static int take_known(rb_stage *s)
{
    const rb_flight *flight = s->flight;
    if (!flight || s->v_hat || s->last_p) return 0;
    s->ncontact = flight->n;
    memcpy(s->contacts, flight->contacts, (size_t)flight->n * sizeof *s->contacts);
    return 1;
}

static rb_status find_contacts(rb_stage *s, double slack)
{
    rb_data *d = s->d;
    if (take_known(s)) return RB_OK;
    rb_status status = !s->v_hat ? rb_stage_near_find(s, slack)
                                 : rb_collide(s->m, d, s->h, slack, d->touch_max, s->contacts,
                                              &s->ncontact, s->err);
    if (status != RB_OK || !s->last_p || s->middle) return status;
    status = keep_last(s, slack);
    if (status != RB_OK) return status;
    drop_far(s);
    status = rb_stage_add_kept_points(s);
    return status == RB_OK ? rb_stage_add_kept_planes(s) : status;
}

/* Root of the mean square of the speeds of links [m/s]. */
static double typical_speed(const rb_stage *s)
{
    double sum = 0.0;
    for (int k = 1; k < s->m->nlink; k++) {
        const double *v = s->d->link_v + 3 * (ptrdiff_t)k;
        sum += rb_dot3(v, v);
    }
    return sqrt(sum / fmax(1.0, s->m->nlink - 1.0));
}

/* Impulses change speeds, and pairs that the free motion would not bring together meet: in a heap
 * some do in every step, and a repair costs as much as the step. So rows are looked for a little
 * farther from the beginning, where there were many in the step before (S.13). */
static void reach_farther(rb_stage *s)
{
    if (s->last_p || s->flight || s->d->ntouch <= RB_UNIQUE_CONTACTS) return;
    s->reach = fmax(s->reach, REACH_SHARE * typical_speed(s));
}

/* Rows ahead of the start do not see what overlapped there, nor how far loops were open. */
rb_status rb_stage_rows_at_start(rb_stage *s)
{
    rb_data *d = s->d;
    s->q_hat = s->q0;
    s->v_hat = NULL;
    s->last_p = NULL;
    go_to(s);
    rb_status status = RB_OK;
    if (!take_known(s))
        status = rb_collide(s->m, d, 0.0, 0.0, d->touch_max, s->contacts, &s->ncontact, s->err);
    s->info->contacts = s->ncontact;
    if (status != RB_OK) return status;
    return rb_constraints_build(s->m, d, s->o, s->h, 0.0, s->contacts, s->ncontact, NULL,
                                &s->first);
}

rb_status rb_stage_rows(rb_stage *s)
{
    rb_data *d = s->d;
    if (!rb_meter_add(s->meter, RB_WORK_MOTION, 0.3 * s->m->nlink)) return s->meter->stopped;
    go_to(s);
    reach_farther(s);
    double slack = s->gravity * s->h + s->reach;
    rb_status status = find_contacts(s, slack);
    if (status == RB_OK) status = rb_stage_support_points(s);
    s->info->contacts = s->ncontact;
    if (status == RB_OK && !s->v_hat && !s->flight) rb_stage_note_clearance(s);
    if (status != RB_OK) return status;
    drop_flying(s);
    status = rb_constraints_build(s->m, d, s->o, s->h, slack, s->contacts, s->ncontact,
                                  s->last_p ? &s->first : NULL, &s->set);
    if (status != RB_OK) return status;
    if (s->set.n > d->touch_max) {
        s->info->contacts = s->set.n;
        return RB_FULL;
    }

    /* the factor of a chain costs more than everything else: only rows need it */
    status = s->set.nrow > 0 ? rb_stage_factor(s, NULL) : RB_OK;
    if (status == RB_OK) status = rb_stage_drop_redundant(s, !s->v_hat);
    if (status != RB_OK) return status;

    double *u_hat = rb_push(d->arena, double, s->set.nrow);
    status = u_hat ? rb_stage_take_rows(s) : RB_NOMEM;
    if (status == RB_OK && !s->v_hat) s->first = s->set;
    if (status == RB_OK) status = rb_stage_find_starts(s);
    if (status != RB_OK) return status;
    fill_velocities(s, u_hat);
    return RB_OK;
}
