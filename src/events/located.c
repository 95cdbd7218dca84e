/* Steps that are divided where bodies meet.
 *
 * A part of the step is the motion Q(t), 0 <= t <= T, with rows for those contacts only that touch
 * at its start or approach slowly. All others fly (flight.c), and their gaps are watched:
 *
 *     f(t) = least gap of all pairs in flight at Q(t)                                        (S.47)
 *
 * counted from the overlap that the pair had at the start, which is mostly rounding. The part ends
 * at the first t with f(t) = 0, found by bisection and secants (Illinois). Each value is a part of
 * that length, so that nothing is interpolated. A pair that is apart at both ends may have met
 * between: its tangents at both ends bound the gap from below while they cross above zero. Where
 * they do not, the gap at the crossing is computed (S.48). Triangles are seen from outside only,
 * so that a shape behind a surface has no gap at all: parts end before a shape could be there
 * (S.49). Parts in which something turns by more than a quarter of a radian are divided first.
 *
 * Then comes the impact (impacts.c), and then the next part. After a bounded number of parts, or
 * where a part has no answer, the rest of the step is a fixed one without restitution:
 * info.unlocated. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "collide/bounds.h"
#include "collide/shape.h"
#include "events/events.h"
#include "math/vec3.h"
#include "step/motion.h"
#include "step/steppers.h"

/* Gap at which a part of a step may end for an impact, either sign, in units of the size of the
 * model [1]: half of the gap that counts as touching. Larger: the impact is not seen. Smaller:
 * more values of f. */
#define ROOT (0.5 * RB_TOUCH)

/* Largest rotation of a part in which something flies [rad]. Larger: a corner may touch and leave
 * unseen. Smaller: more parts. */
#define MOST_TURN 0.25

/* Most parts into which a step is divided because bodies turn or come near a surface [1]. */
#define MOST_PARTS 1e9

/* Distance at which the triangles of a surface are looked at first, in units of the size [1]. */
#define NEAR 1e-4

/* Gap up to which a slow contact keeps its row, as a share of its way in a step [1]. Larger: it
 * comes to rest at the end of the step. Smaller: piles at rest make parts of steps. */
#define NEAR_SHARE 1e-3

enum {
    PATIENCE = 8,        /* parts of a step, before that share doubles with each, up */
    DOUBLINGS = 10,      /* to about the whole way                                   */
    PARTS = 1000,        /* of one step, and                       */
    PARTS_PER_TREE = 50, /* as many more for each tree           */
    ROOT_STEPS = 100,    /* of the search for f = 0                */
    TANGENT_STEPS = 30   /* of the search for a meeting in between */
};

typedef struct located {
    rb_stage *s;
    rb_flight flight;
    double h_full;
    int part;    /* of the step, from 0                                          */
    double at;   /* length of the motion that was done last, 0: none             */
    double rate; /* of f there, where the state was looked at [m/s]              */
} located;

/* ---- looking ----------------------------------------------------------------------------------
 */

/* Q(t): v_new, q_new, and d at them, and what is within reach of the next h seconds there. The
 * memory of the motion before is given back. */
static rb_status move(located *x, double t, double h, rb_mark mark)
{
    rb_stage *s = x->s;
    if (x->at == t) return RB_OK;
    s->events.seen_h = h;
    rb_stage_kinematic_end(s, 0);
    rb_stage_restore(s);
    rb_arena_reset(s->d->arena, mark);
    s->h = x->at = t;
    rb_status status = rb_stage_motion(s);
    if (status != RB_OK) return status;
    rb_stage_kinematic_pose(s, t);
    memcpy(s->d->q, s->answer.q, (size_t)s->m->nq * sizeof *s->answer.q);
    memcpy(s->d->v, s->answer.v, (size_t)s->m->nv * sizeof *s->answer.v);
    rb_kinematics(s->m, s->d);
    rb_velocity(s->m, s->d);
    rb_frames(s->m, s->d);
    return RB_OK;
}

/* f at q_new, and its rate; INFINITY: nothing that flies was seen by the motion. */
static double look(located *x)
{
    rb_stage *s = x->s;
    double f = INFINITY;
    x->rate = 0.0;
    for (int i = 0; i < s->events.nseen; i++) {
        const rb_contact *c = &s->events.seen[i];
        if (rb_flight_holds(&x->flight, c->geom1, c->geom2, c->at.feature)) continue;
        double gap = c->at.gap - rb_flight_overlap(&x->flight, c->geom1, c->geom2);
        if (!(gap < f)) continue;
        f = gap;
        x->rate = rb_contact_rate(s->m, s->d, c);
    }
    return f;
}

/* Points of a pair, however far they are. Triangles of a surface are looked at from near to far. */
static rb_status points_of(const located *x, const rb_shape *shape, rb_manifold *out)
{
    enum { FARTHER = 40 };
    double reach = NEAR * x->s->given->size;
    int surface = shape[0].type == RB_GEOM_HFIELD || shape[0].surface ||
                  shape[1].type == RB_GEOM_HFIELD || shape[1].surface;
    for (int i = 0; i < FARTHER && surface; i++, reach *= 2.0) {
        rb_status status = rb_pair_manifold(&shape[0], &shape[1], reach, out);
        if (status != RB_OK || out->n > 0) return status;
    }
    return rb_pair_manifold(&shape[0], &shape[1], INFINITY, out);
}

/* Closest point of a pair at q_new, however far it is. */
static rb_contact closest(const located *x, int geom1, int geom2)
{
    const rb_model *m = x->s->m;
    const rb_data *d = x->s->d;
    const int geoms[2] = { geom1, geom2 };
    rb_shape shape[2];
    rb_manifold manifold = { .n = 0 };
    for (int k = 0; k < 2; k++) {
        shape[k] = rb_geom_shape(m, d, geoms[k]);
    }
    rb_contact c = { .geom1 = geom1, .geom2 = geom2, .at = { .gap = INFINITY } };
    if (points_of(x, shape, &manifold) != RB_OK) return c;
    for (int i = 0; i < manifold.n; i++) {
        if (manifold.point[i].gap < c.at.gap) c.at = manifold.point[i];
    }
    return c;
}

/* ---- meetings in between ----------------------------------------------------------------------
 */

typedef struct view {
    double t, gap, rate;
} view;

/* Where the tangents at a and b cross, a point of [a.t, b.t], and their value there. */
static double crossing(const view *a, const view *b, double *value)
{
    double fall = a->rate - b->rate; /* < 0 */
    double t = (b->gap - a->gap - b->rate * (b->t - a->t)) / fall;
    t = fmin(b->t - a->t, fmax(0.0, t));
    *value = a->gap + a->rate * t;
    return a->t + t;
}

/* Bending of the path of a gap: weight, and turning of what is long [m/s^2]. */
static double bending(const rb_stage *s)
{
    double turn = 0.0;
    for (int k = 1; k < s->m->nlink; k++) {
        turn = fmax(turn, rb_norm3(s->d->link_w + 3 * (ptrdiff_t)k));
    }
    return 2.0 * (s->given->gravity + turn * turn * s->given->size);
}

/* *met: a time at which the pair overlaps, or unchanged. a: before, b: after. */
static rb_status meet_between(located *x, int geom1, int geom2, view a, view b, rb_mark mark,
                              double *met)
{
    rb_stage *s = x->s;
    for (int i = 0; i < TANGENT_STEPS; i++) {
        double value, t = crossing(&a, &b, &value), width = b.t - a.t;
        if (value > 0.125 * bending(s) * width * width) return RB_OK;
        if (!(t > a.t && t < b.t)) return RB_OK;
        rb_status status = move(x, t, x->h_full, mark);
        if (status != RB_OK) return status;
        rb_contact c = closest(x, geom1, geom2);
        view now = { t, c.at.gap, rb_contact_rate(s->m, s->d, &c) };
        if (now.gap < -RB_GAP_ZERO * s->given->size) {
            *met = t;
            return RB_OK;
        }
        if (now.rate < 0.0)
            a = now;
        else
            b = now;
    }
    return RB_OK;
}

static int first_of_pair(const rb_flight *flight, int i)
{
    return i == 0 || flight->contacts[i - 1].geom1 != flight->contacts[i].geom1 ||
           flight->contacts[i - 1].geom2 != flight->contacts[i].geom2;
}

/* The pair of contact i flies as a whole and approaches at the start: its least gap, and the rate
 * of that. */
static int pair_at_start(const rb_flight *flight, int i, view *out)
{
    *out = (view){ 0.0, INFINITY, 0.0 };
    if (!first_of_pair(flight, i)) return 0;
    for (int k = i; k == i || (k < flight->n && !first_of_pair(flight, k)); k++) {
        if (!flight->flies[k]) return 0;
        if (!(flight->contacts[k].at.gap < out->gap)) continue;
        out->gap = flight->contacts[k].at.gap;
        out->rate = flight->speed[k];
    }
    return out->rate < 0.0;
}

/* The first pair that was apart at 0 and is at t, but may have met between; moves the state. */
static rb_status find_between(located *x, double t, rb_mark mark, double *met)
{
    rb_stage *s = x->s;
    for (int i = 0; i < x->flight.n; i++) {
        view a;
        if (!pair_at_start(&x->flight, i, &a)) continue;
        const rb_contact *first = &x->flight.contacts[i];
        rb_status status = move(x, t, x->h_full, mark);
        if (status != RB_OK) return status;
        rb_contact c = closest(x, first->geom1, first->geom2);
        view b = { t, c.at.gap, rb_contact_rate(s->m, s->d, &c) };
        if (!(b.gap > 0.0) || !(b.rate > 0.0)) continue;
        status = meet_between(x, first->geom1, first->geom2, a, b, mark, met);
        if (status != RB_OK || *met < t) return status;
    }
    return RB_OK;
}

/* ---- the first impact -------------------------------------------------------------------------
 */

/* Least gap at the start of all that fly. A contact that has just left counts as open. */
static double start_gap(const located *x)
{
    double least = INFINITY;
    for (int i = 0; i < x->flight.n; i++) {
        if (x->flight.flies[i]) least = fmin(least, x->flight.contacts[i].at.gap);
    }
    return fmax(0.0, least);
}

/* A look at the least gap of all that flies. */
typedef struct sight {
    double t, f, rate;
} sight;

/* Newton's guess, for an overlap of rounding: what comes down flat, but for rounding, touches with
 * all of its corners then. Only `hybrid` takes it: there a value is a solution of all constraints
 * and worth a look at velocities. */
static double newton(const located *x, const sight *at)
{
    if (!x->s->events.paradigms || !(at->rate < 0.0) || !(at->f < INFINITY)) return NAN;
    return at->t - (at->f + 0.5 * ROOT * x->s->given->size) / at->rate;
}

static int is_within(double t, double a, double b)
{
    return t > a && t < b;
}

/* Where to look next between a, apart, and b, with an overlap; `last` is one of them. The least
 * gap of a may be that of another pair, which leaves: then the line through both says nothing.
 * Bodies that touch at the start and are driven together by others meet there. */
static double next_guess(const located *x, const sight *a, const sight *b, const sight *last,
                         double secant, int i)
{
    double tol = ROOT * x->s->given->size, half = 0.5 * (a->t + b->t), t;
    if (i % 8 == 7) return half;
    if (i == 0 && a->t == 0.0 && !(a->f > tol) && b->rate < 0.0) {
        t = -0.5 * tol / b->rate;
        return is_within(t, a->t, b->t) ? t : half;
    }
    if (is_within(t = newton(x, last), a->t, b->t)) return t;
    if (is_within(t = newton(x, b), a->t, b->t)) return t;
    int same = !x->s->events.paradigms || a->t == 0.0 || a->rate < 0.0;
    return same && a->f > tol && a->f < INFINITY ? secant : half;
}

/* f(b) < 0: *b becomes a time with |f| <= ROOT, in units of the size: impacts.c calls that
 * touching. Where f jumps, because repairs of other contacts set in, the part ends before the
 * jump. */
static rb_status find_root(located *x, double f_b, rb_mark mark, double *end)
{
    double tol = ROOT * x->s->given->size;
    sight a = { 0.0, start_gap(x), 0.0 }, b = { *end, f_b, x->rate }, last = b;
    double weight_a = a.f, weight_b = b.f;
    int side = 0;
    for (int i = 0; i < ROOT_STEPS && b.f < -tol; i++) {
        double secant = a.t + (b.t - a.t) * weight_a / (weight_a - weight_b);
        double t = next_guess(x, &a, &b, &last, secant, i);
        if (!is_within(t, a.t, b.t)) break;
        rb_status status = move(x, t, x->h_full, mark);
        if (status != RB_OK) return status;
        double f = look(x);
        last = (sight){ t, f, x->rate };
        if (f > 0.0 && f <= tol && x->rate < 0.0) {
            *end = t;
            return RB_OK;
        }

        /* Illinois: the end that stays counts half */
        if (f <= 0.0) {
            weight_a = side < 0 ? 0.5 * weight_a : a.f;
            b = last, weight_b = f, side = -1;
        } else {
            weight_b = side > 0 ? 0.5 * weight_b : b.f;
            a = last, weight_a = f, side = 1;
        }
    }
    *end = b.t;
    if (b.f >= -RB_GAP_DEEP * x->s->given->size) return RB_OK;
    if (!(a.t > 0.0))
        return rb_fail(x->s->err, RB_UNSOLVED,
                       "bodies overlap however short the step: do they start inside each other?");
    *end = a.t;
    return RB_OK;
}

/* *t: length of the part, at most what it is before; q_new, v_new at its end. */
static rb_status find_part(located *x, rb_mark mark, double *t)
{
    double h = x->h_full;

    /* where Newton's method starts from an overlap, nothing else has to be seen at first */
    rb_status status = move(x, *t, x->s->events.paradigms ? 0.0 : h, mark);
    double f = status == RB_OK ? look(x) : 0.0;
    for (int i = 0; i <= x->flight.n && status == RB_OK; i++) {
        if (f < -RB_GAP_ZERO * x->s->given->size) status = find_root(x, f, mark, t);
        if (status == RB_OK) status = move(x, *t, h, mark);
        if (status != RB_OK) break;

        /* somebody met earlier: look there */
        double met = *t;
        status = find_between(x, *t, mark, &met);
        if (status != RB_OK || !(met < *t)) break;
        *t = met;
        status = move(x, *t, h, mark);
        if (status == RB_OK) f = look(x);
    }
    return status == RB_OK ? move(x, *t, h, mark) : status;
}

/* ---- the step ---------------------------------------------------------------------------------
 */

static int any_flies(const rb_flight *flight)
{
    for (int i = 0; i < flight->n; i++) {
        if (flight->flies[i]) return 1;
    }
    return 0;
}

/* Speed of geom g, at most: of its centre, and of its surface about it. */
static double geom_speed(const rb_stage *s, int g, const rb_shape *shape)
{
    const rb_data *d = s->d;
    ptrdiff_t at = 3 * (ptrdiff_t)s->m->geom_link[g];
    double arm[3], v[3];
    if (at == 0) return 0.0;
    rb_sub3(shape->p, d->link_p + at, arm);
    rb_cross3(d->link_w + at, arm, v);
    rb_add3(v, d->link_v + at, v);
    return rb_norm3(v) + rb_norm3(d->link_w + at) * rb_bounds_arm(shape);
}

/* How long contact i may fly and still be seen at the end: until the inner ball of the shape is
 * half way through the triangles (S.49). INFINITY: it is not one with a surface, or it leaves. */
static double seen_for(const located *x, int i, double left)
{
    const rb_stage *s = x->s;
    const rb_contact *c = &x->flight.contacts[i];
    const int geoms[2] = { c->geom1, c->geom2 };
    double inner = 0.0, speed = -x->flight.speed[i], after = 0.0;
    int surfaces = 0;
    for (int k = 0; k < 2; k++) {
        rb_shape shape = rb_geom_shape(s->m, s->d, geoms[k]);
        surfaces += rb_is_surface(&shape);
        inner = fmax(inner, rb_bounds_inner(&shape));
        after += geom_speed(s, geoms[k], &shape);
    }
    if (surfaces == 0 || (speed < 0.0 && !(c->at.gap > 0.0))) return INFINITY;
    speed = fmax(speed, after) + s->given->gravity * left;
    return speed > 0.0 ? (fmax(0.0, c->at.gap) + 0.5 * inner) / speed : INFINITY;
}

/* The longest part that may be looked at as a whole. */
static double longest_part(const located *x, double left)
{
    const rb_stage *s = x->s;
    double turn = 0.0, seen = INFINITY;
    for (int k = 1; k < s->m->nlink; k++) {
        turn = fmax(turn, rb_norm3(s->d->link_w + 3 * (ptrdiff_t)k));
    }
    for (int i = 0; i < x->flight.n; i++) {
        if (x->flight.flies[i]) seen = fmin(seen, seen_for(x, i, left));
    }
    double parts = ceil(fmin(MOST_PARTS, fmax(turn * left / MOST_TURN, left / seen)));
    return parts > 1.0 ? left / parts : left;
}

/* A body that rocks from point to point lands on each of them slowly and divides the step each
 * time: such landings are rows from farther away, part by part, and end at the end of the step. */
static double near_share(int part)
{
    int doublings = part - PATIENCE < DOUBLINGS ? part - PATIENCE : DOUBLINGS;
    return doublings > 0 ? ldexp(NEAR_SHARE, doublings) : NEAR_SHARE;
}

/* Impacts at the start of the part, and contacts that fly after them. */
static rb_status begin_part(located *x)
{
    rb_stage *s = x->s;
    s->events.flight = NULL;
    rb_status status = rb_stage_kinematic_begin(s);
    s->attempt.final = 1;
    if (status == RB_OK) status = rb_flight_find(s, &x->flight);
    if (status == RB_OK && rb_stage_impact_comes(s, x->h_full, &x->flight)) {
        status = rb_stage_impact(s, x->h_full);
        if (status == RB_OK) status = rb_flight_find(s, &x->flight);
    }
    if (status == RB_OK) status = rb_flight_start(s, x->h_full, near_share(x->part), &x->flight);
    rb_stage_kinematic_end(s, 0);
    s->events.flight = &x->flight;
    x->at = 0.0;
    return status;
}

/* One part; *left is what remains of the step. A part that cannot be solved is halved. */
static rb_status do_part(located *x, double *left)
{
    rb_stage *s = x->s;
    rb_mark mark = rb_arena_mark(s->d->arena);
    s->h = *left;
    rb_stage_save(s);
    rb_status status = begin_part(x);
    if (status != RB_OK) return status;
    double t = any_flies(&x->flight) ? longest_part(x, *left) : *left;
    rb_mark inner = rb_arena_mark(s->d->arena);
    s->attempt.final = s->o->max_split == 0;
    double residual = s->info->residual, in_velocity = s->info->velocity_residual;
    status = find_part(x, inner, &t);
    for (int i = 0; i < s->o->max_split && status == RB_UNSOLVED; i++) {
        s->info->splits++;
        s->info->residual = residual; /* what was refused is not reported as accepted */
        s->info->velocity_residual = in_velocity;
        s->attempt.final = i + 1 == s->o->max_split;
        t *= 0.5;
        x->at = 0.0;
        status = find_part(x, inner, &t);
    }
    if (status == RB_OK) rb_stage_finish(s);
    rb_stage_kinematic_end(s, status == RB_OK);
    if (status != RB_OK) rb_stage_restore(s);
    rb_arena_reset(s->d->arena, mark);
    if (status == RB_OK) *left = t < *left ? *left - t : 0.0;
    return status;
}

rb_status rb_stage_located(rb_stage *s)
{
    located x = { .s = s, .h_full = s->h };
    double left = s->h;
    int most = PARTS + PARTS_PER_TREE * s->m->ntree;
    s->events.seen = rb_push(s->d->arena, rb_contact, s->d->touch_max);
    if (!s->events.seen) return RB_NOMEM;
    s->events.inelastic = 1;
    rb_status status = RB_OK;
    for (; x.part < most && left > 0.0 && status == RB_OK; x.part++) {
        status = do_part(&x, &left);
        if (s->d->time + left == s->d->time) left = 0.0;
    }
    if ((status != RB_OK && status != RB_UNSOLVED) || !(left > 0.0)) return status;

    /* too many parts, or one without an answer however short */
    s->events.flight = NULL;
    s->events.seen_h = 0.0;
    s->info->unlocated = 1;
    return rb_stage_advance(s, left, s->o->max_split);
}
