/* Which pairs may meet: pairs of geoms whose swept boxes meet, how far they are apart, and until
 * when they certainly stay outside the shell (T.3). */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "collide/ballistic.h"
#include "collide/bounds.h"
#include "collide/manifold.h"
#include "collide/pairs.h"
#include "collide/surface.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "events/impulse.h"
#include "step/touch.h"

/* Distance at which bodies of `impulse` collide, in units of the radius of the smallest geom that
 * moves [1]. Larger: bodies hover by half of it. Smaller: more gap queries before each impact, and
 * contacts of curved shapes leave the shell between ticks. */
#define SHELL_SHARE 2e-4

enum { FEW = 24 }; /* geoms whose boxes are compared one by one: no grid */

/* How much wider than the shell a gap may be and count as within [1]: bounds approach the shell and
 * need not reach it. */
#define SHELL_EDGE 1.1

/* Driven links may speed up on their way: their boxes are made wider by this much of the way [1],
 * and they may be accelerated by as many weights [1]. Larger: more checks. Smaller: links that
 * speed up faster are seen late. */
#define DRIVEN_SHARE  2.0
#define DRIVEN_WEIGHT 10.0

/* Turn up to which the box of a body is made wider by its turn; beyond, it is that of a ball [rad].
 */
#define TURNED 0.2

/* ---- geoms -------------------------------------------------------------------------------------
 */

static rb_status place(rb_events *x, int g, double t)
{
    int link = x->s->m->geom_link[g];
    rb_rider *r = &x->rider[g];
    const rb_flyer *f = &x->flyer[link];
    rb_status status = rb_flyer_go(x, link, t);
    if (status != RB_OK || r->now == t || f->kind == RB_FLYER_FIXED) return status;
    double off[3];
    rb_sub3(r->pos, f->com, off);
    rb_rot(f->R, off, r->p);
    rb_add3(r->p, f->x, r->p);
    rb_mul33(f->R, r->rot, r->R);
    r->now = t;
    return RB_OK;
}

static rb_shape shape_of(const rb_events *x, int g)
{
    const rb_model *m = x->s->m;
    return (rb_shape){ .type = m->geom_type[g],
                       .size = m->geom_size + 3 * (ptrdiff_t)g,
                       .p = x->rider[g].p,
                       .R = x->rider[g].R,
                       .model = m,
                       .asset = m->geom_asset[g],
                       .surface = x->rider[g].surface };
}

static int is_poly(const rb_model *m, int g, int surface)
{
    if (m->geom_type[g] == RB_GEOM_BOX) return 1;
    return m->geom_type[g] == RB_GEOM_MESH && !surface && m->mesh_hullvertnum[m->geom_asset[g]] > 0;
}

static void start_geom(rb_events *x, int g)
{
    const rb_model *m = x->s->m;
    int b = m->geom_body[g];
    rb_rider *r = &x->rider[g];
    const rb_flyer *f = &x->flyer[m->geom_link[g]];
    double q[9], off[3];
    rb_quat_to_rot(m->geom_quat + 4 * (ptrdiff_t)g, q);
    const double *R_lb = m->body_link_rot + 9 * (ptrdiff_t)b;
    rb_rot(R_lb, m->geom_pos + 3 * (ptrdiff_t)g, r->pos);
    rb_add3(r->pos, m->body_link_pos + 3 * (ptrdiff_t)b, r->pos);
    rb_mul33(R_lb, q, r->rot);
    rb_sub3(r->pos, f->com, off);
    r->far = rb_norm3(off);
    r->surface = rb_geom_is_surface(m, g);
    r->poly = is_poly(m, g, r->surface);
    r->round = m->geom_type[g] == RB_GEOM_SPHERE && r->far == 0.0;
    r->now = NAN;
    rb_copy3(r->pos, r->p);
    memcpy(r->R, r->rot, sizeof r->R);

    const double unit[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 };
    rb_shape shape = shape_of(x, g);
    double half[3];
    shape.R = unit;
    rb_bounds_half(&shape, half);
    int ball = m->geom_type[g] == RB_GEOM_SPHERE;
    r->radius = ball ? m->geom_size[3 * (ptrdiff_t)g] : rb_norm3(half);
}

/* ---- swept boxes -------------------------------------------------------------------------------
 */

/* Extremes of x + v s + a s^2 / 2 for 0 <= s <= T. */
static void sweep(double x, double v, double a, double T, double *lo, double *hi)
{
    double end = x + T * (v + 0.5 * T * a), turn = a != 0.0 ? -v / a : -1.0;
    *lo = fmin(x, end);
    *hi = fmax(x, end);
    if (!(turn > 0.0 && turn < T)) return;
    double top = x + 0.5 * turn * v;
    *lo = fmin(*lo, top);
    *hi = fmax(*hi, top);
}

/* What the geom may touch from t to the end of the step; placed at t. */
static void sweep_box(rb_events *x, int g, double t)
{
    rb_rider *r = &x->rider[g];
    const rb_flyer *f = &x->flyer[x->s->m->geom_link[g]];
    double T = x->h - t, half[3], wide = x->shell, speed[3], way = 0.0;
    rb_shape shape = shape_of(x, g);
    rb_bounds_half(&shape, half);
    double turn = r->round ? 0.0 : T * f->spin;
    if (turn > 0.0) way = turn * (r->far + r->radius);
    if (f->kind == RB_FLYER_DRIVEN) {
        rb_flyer_point(f, r->p, speed);
        way = DRIVEN_SHARE * T * (rb_norm3(speed) + f->spin * r->radius) +
              DRIVEN_WEIGHT * T * T *
                  (x->s->given->gravity + f->spin * f->spin * (r->far + r->radius));
        way += RB_CLEAR * r->radius;
        turn = 0.0;
    }
    for (int k = 0; k < 3; k++) {
        double lo, hi, v = f->kind == RB_FLYER_DRIVEN ? 0.0 : f->u[k];
        if (turn > TURNED) {
            sweep(f->x[k], v, f->a[k], T, &lo, &hi);
            wide = x->shell + r->far + r->radius;
            half[k] = 0.0;
        } else {
            sweep(r->p[k], v, f->a[k], T, &lo, &hi);
            wide = x->shell + way;
        }
        r->swept.lo[k] = lo - half[k] - wide;
        r->swept.hi[k] = hi + half[k] + wide;
    }
}

static int boxes_meet(const rb_aabb *a, const rb_aabb *b)
{
    for (int k = 0; k < 3; k++)
        if (a->lo[k] > b->hi[k] || b->lo[k] > a->hi[k]) return 0;
    return 1;
}

/* Geoms that g may meet, ascending; those above it only, or all. */
static int near(const rb_events *x, int g, int above)
{
    int n = 0;
    if (x->grid) return rb_hash_grid_near(x->grid, g, above, x->found);
    for (int k = above ? g + 1 : 0; k < x->s->m->ngeom; k++)
        if (k != g && boxes_meet(&x->rider[g].swept, &x->rider[k].swept)) x->found[n++] = k;
    return n;
}

/* ---- meetings ----------------------------------------------------------------------------------
 */

static rb_status grow(rb_events *x)
{
    int room = 2 * x->room + 64;
    rb_meeting *meeting = rb_push(x->s->d->arena, rb_meeting, room);
    int *heap = rb_push(x->s->d->arena, int, room);
    if (!meeting || !heap) return RB_NOMEM;
    if (x->n > 0) {
        memcpy(meeting, x->meeting, (size_t)x->n * sizeof *meeting);
        memcpy(heap, x->heap, (size_t)x->n * sizeof *heap);
    }
    x->meeting = meeting;
    x->heap = heap;
    x->room = room;
    return RB_OK;
}

static int next_of(const rb_meeting *m, int link)
{
    return m->next[m->link[0] == link ? 0 : 1];
}

int rb_meeting_find(const rb_events *x, int geom1, int geom2)
{
    const int *links = x->s->m->geom_link;
    int link = links[geom2] > 0 ? links[geom2] : links[geom1];
    for (int i = x->flyer[link].first; i >= 0; i = next_of(&x->meeting[i], link))
        if (x->meeting[i].geom[0] == geom1 && x->meeting[i].geom[1] == geom2) return i;
    return -1;
}

/* A contact of the last tick of these geoms carried something. */
static int was_constraint(const rb_data *d, int g1, int g2)
{
    rb_touch_id first = { .kind = RB_CONSTRAINT_CONTACT, .a = g1, .b = g2 };
    int lo = 0, hi = d->ntouch;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (rb_touch_order(&d->touch[middle].id, &first) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    for (; lo < d->ntouch; lo++) {
        const rb_touch *touch = &d->touch[lo];
        if (touch->id.kind != first.kind || touch->id.a != g1 || touch->id.b != g2) return 0;
        if (touch->p[0] > 0.0) return 1;
    }
    return 0;
}

static rb_status add_meeting(rb_events *x, int g1, int g2, int pair)
{
    const rb_model *m = x->s->m;
    if (x->n == x->room) {
        rb_status status = grow(x);
        if (status != RB_OK) return status;
    }
    int i = x->n++, grain;
    rb_meeting *made = &x->meeting[i];
    rb_material material;
    int condim = rb_pair_material(m, g1, g2, x->s->o, &material, &grain);
    *made = (rb_meeting){ .geom = { g1, g2 },
                          .link = { m->geom_link[g1], m->geom_link[g2] },
                          .key = INFINITY,
                          .at = NAN,
                          .pair = pair,
                          .held = was_constraint(x->s->d, g1, g2),
                          .e = material.restitution,
                          .mu = condim == 1 ? 0.0 : material.friction };
    for (int k = 0; k < 2; k++) {
        made->next[k] = x->flyer[made->link[k]].first;
        x->flyer[made->link[k]].first = i;
    }
    rb_heap_push(x, i);
    return RB_OK;
}

static rb_status meet_near(rb_events *x, int g, int above, double t)
{
    int n = near(x, g, above);
    for (int k = 0; k < n; k++) {
        int other = x->found[k], g1 = g < other ? g : other, g2 = g < other ? other : g, pair;
        if (!rb_filter_pass(&x->filter, g1, g2, &pair)) continue;
        if (!above && rb_meeting_find(x, g1, g2) >= 0) continue;
        rb_status status = add_meeting(x, g1, g2, pair);
        if (status == RB_OK) status = rb_meeting_look(x, x->n - 1, t);
        if (status != RB_OK) return status;
        rb_meeting_key(x, x->n - 1, t);
    }
    return RB_OK;
}

/* New boxes of what a link carries, and whom it may meet now. */
rb_status rb_impulse_spread(rb_events *x, int link, double t)
{
    for (int i = x->geom_from[link]; i < x->geom_from[link + 1]; i++) {
        int g = x->geom_of[i];
        rb_status status = place(x, g, t);
        if (status != RB_OK) return status;
        sweep_box(x, g, t);
        if (x->grid) rb_hash_grid_move(x->grid, g, &x->rider[g].swept);
    }
    for (int i = x->geom_from[link]; i < x->geom_from[link + 1]; i++) {
        rb_status status = meet_near(x, x->geom_of[i], 0, t);
        if (status != RB_OK) return status;
    }
    return RB_OK;
}

/* What a slow approach closes until the next tick. */
double rb_impulse_reach(const rb_events *x)
{
    return SHELL_EDGE * x->shell + x->s->given->gravity * x->tau * x->tau;
}

/* ---- how far apart -----------------------------------------------------------------------------
 */

static rb_status refuse(const rb_events *x, const rb_meeting *m, rb_status status)
{
    char name1[160], name2[160];
    return rb_fail(x->s->err, status, "%s and %s: %s",
                   rb_geom_title(x->s->m, m->geom[0], name1, sizeof name1),
                   rb_geom_title(x->s->m, m->geom[1], name2, sizeof name2),
                   status == RB_BAD_INPUT   ? "a pose or velocity is not finite"
                   : status == RB_TOO_LARGE ? "they touch in too many planes"
                                            : "no collision of these shapes");
}

/* Fastest that any two points of the pair approach, and what their speed changes by. */
static double fastest(const rb_events *x, const rb_meeting *m, double *change)
{
    double v[3], speed = 0.0;
    const rb_flyer *f1 = &x->flyer[m->link[0]], *f2 = &x->flyer[m->link[1]];
    rb_sub3(f2->u, f1->u, v);
    *change = 0.0;
    for (int k = 0; k < 2; k++) {
        const rb_rider *r = &x->rider[m->geom[k]];
        const rb_flyer *f = k ? f2 : f1;
        double reach = r->far + (r->radius < INFINITY ? r->radius : 0.0);
        if (!r->round && f->spin > 0.0) speed += f->spin * reach;
        *change += rb_norm3(f->a);
        if (f->kind == RB_FLYER_DRIVEN)
            *change += DRIVEN_WEIGHT * (x->s->given->gravity + f->spin * f->spin * reach);
    }
    return speed + rb_norm3(v);
}

/* Points of a surface of triangles and a convex shape within reach, by feature; *points from the
 * arena. */
static rb_status surface_points(rb_events *x, const rb_meeting *m, double reach,
                                rb_manifold_point **points, int *n)
{
    rb_arena *arena = x->s->d->arena;
    rb_shape shape1 = shape_of(x, m->geom[0]), shape2 = shape_of(x, m->geom[1]);
    int swap = !rb_is_surface(&shape1), ngroup;
    rb_surface_group *groups = rb_push(arena, rb_surface_group, RB_SURFACE_GROUPS);
    *points = rb_push(arena, rb_manifold_point, RB_SURFACE_GROUPS * RB_MANIFOLD_KEEP);
    if (!groups || !*points) return RB_NOMEM;
    rb_status status = rb_surface_points(swap ? &shape2 : &shape1, swap ? &shape1 : &shape2, reach,
                                         NULL, RB_SURFACE_GROUPS, groups, &ngroup);
    if (status != RB_OK) return refuse(x, m, status);
    *n = rb_surface_sort(groups, ngroup, *points);
    for (int i = 0; i < *n && swap; i++) {
        rb_manifold one = { .n = 1, .point = { (*points)[i] } };
        rb_manifold_swap(&one);
        (*points)[i] = one.point[0];
    }
    return RB_OK;
}

static int is_surface(const rb_events *x, const rb_meeting *m)
{
    int type1 = x->s->m->geom_type[m->geom[0]], type2 = x->s->m->geom_type[m->geom[1]];
    return x->rider[m->geom[0]].surface || x->rider[m->geom[1]].surface ||
           type1 == RB_GEOM_HFIELD || type2 == RB_GEOM_HFIELD;
}

static void take_closest(rb_meeting *m, const rb_manifold_point *points, int n)
{
    m->closest.gap = INFINITY;
    for (int i = 0; i < n; i++)
        if (points[i].gap < m->closest.gap) m->closest = points[i];
}

/* The points with the least gaps, and the least gap of the others. */
static void keep_points(rb_meeting *m, const rb_manifold_point *points, int n)
{
    m->npoint = 0;
    m->beyond = INFINITY;
    for (int i = 0; i < n; i++) {
        int k = m->npoint;
        if (k == RB_MEETING_POINTS) {
            m->beyond = fmin(m->beyond, fmax(points[i].gap, m->point[--k].gap));
            if (points[i].gap >= m->point[k].gap) continue;
        } else {
            m->npoint++;
        }
        for (; k > 0 && m->point[k - 1].gap > points[i].gap; k--) m->point[k] = m->point[k - 1];
        m->point[k] = points[i];
    }
}

/* Of a surface only what may be reached within the step is asked for. */
static rb_status look_at_surface(rb_events *x, rb_meeting *m, double t)
{
    double change, speed = fastest(x, m, &change), T = x->h - t;
    rb_arena *arena = x->s->d->arena;
    if (!m->point) m->point = rb_push(arena, rb_manifold_point, RB_MEETING_POINTS);
    if (!m->point) return RB_NOMEM;
    rb_mark mark = rb_arena_mark(arena);
    rb_manifold_point *points;
    int n = 0;
    rb_status status =
        surface_points(x, m, rb_impulse_reach(x) + T * (speed + 0.5 * T * change), &points, &n);
    if (status == RB_OK) keep_points(m, points, n);
    if (status == RB_OK) take_closest(m, points, n);
    rb_arena_reset(arena, mark);
    return status;
}

static rb_status look_at_convex(rb_events *x, rb_meeting *m)
{
    rb_shape shape1 = shape_of(x, m->geom[0]), shape2 = shape_of(x, m->geom[1]);
    if (x->rider[m->geom[0]].poly && x->rider[m->geom[1]].poly) {
        rb_vclip_result found;
        rb_status status = rb_vclip_query(&shape1, &shape2, &m->cache, &found);
        if (status != RB_OK) return refuse(x, m, status);
        if (!found.overlap && found.distance > SHELL_EDGE * x->shell) {
            m->closest.gap = found.distance;
            rb_copy3(found.pos1, m->closest.pos1);
            rb_copy3(found.pos2, m->closest.pos2);
            rb_copy3(found.normal, m->closest.normal);
            return RB_OK;
        }
    }
    rb_manifold points = { .most = RB_MANIFOLD_KEEP };
    if (!rb_pair_call(&shape1, &shape2, INFINITY, &points)) return refuse(x, m, RB_UNSUPPORTED);
    take_closest(m, points.point, points.n);
    return RB_OK;
}

/* The closest points at time t. Both geoms are placed, also where the points are known: half a
 * flight ahead (impulse_middle.c) they were elsewhere. */
rb_status rb_meeting_look(rb_events *x, int i, double t)
{
    rb_meeting *m = &x->meeting[i];
    rb_status status = place(x, m->geom[0], t);
    if (status == RB_OK) status = place(x, m->geom[1], t);
    if (status != RB_OK || m->at == t) return status;
    status = is_surface(x, m) ? look_at_surface(x, m, t) : look_at_convex(x, m);
    if (status != RB_OK) return status;
    if (isnan(m->closest.gap)) return refuse(x, m, RB_BAD_INPUT);
    x->s->info->looks++;
    x->s->info->penetration = fmax(x->s->info->penetration, -m->closest.gap);
    m->at = t;
    if (!m->in_shell || m->closest.gap > m->level) m->level = m->closest.gap;
    m->in_shell = m->closest.gap <= SHELL_EDGE * x->shell;
    return RB_OK;
}

static double rate_of(const rb_events *x, const rb_meeting *m, const rb_manifold_point *at)
{
    double v1[3], v2[3];
    rb_flyer_point(&x->flyer[m->link[0]], at->pos1, v1);
    rb_flyer_point(&x->flyer[m->link[1]], at->pos2, v2);
    rb_sub3(v2, v1, v2);
    return rb_dot3(at->normal, v2);
}

static rb_status add_points(rb_events *x, int i, double reach, const rb_manifold_point *points,
                            int n)
{
    const rb_meeting *m = &x->meeting[i];
    for (int k = 0; k < n; k++) {
        if (points[k].gap > reach) continue;
        if (x->npoint == x->s->d->touch_max) {
            x->s->info->contacts = 2 * x->npoint + n;
            return rb_fail(x->s->err, RB_FULL, "more than %d contacts: reserve more", x->npoint);
        }
        x->point[x->npoint++] = (rb_shell_point){
            .contact = { .geom1 = m->geom[0],
                         .geom2 = m->geom[1],
                         .pair = m->pair,
                         .at = points[k] },
            .meeting = i,
            .speed = rate_of(x, m, &points[k]),
        };
    }
    return RB_OK;
}

/* Points of two convex shapes where they are placed. */
void rb_meeting_manifold(rb_events *x, int i, double t, double reach, rb_manifold *out)
{
    const rb_meeting *m = &x->meeting[i];
    place(x, m->geom[0], t);
    place(x, m->geom[1], t);
    rb_shape shape1 = shape_of(x, m->geom[0]), shape2 = shape_of(x, m->geom[1]);
    rb_pair_call(&shape1, &shape2, reach, out);
}

/* All points of the meeting at time t whose gap is at most `reach`, behind those that are there. */
rb_status rb_meeting_points(rb_events *x, int i, double t, double reach)
{
    rb_meeting *m = &x->meeting[i];
    rb_status status = rb_meeting_look(x, i, t);
    m->seen = x->event;
    if (status != RB_OK || m->closest.gap > reach) return status;
    if (is_surface(x, m)) return add_points(x, i, reach, m->point, m->npoint);
    rb_manifold manifold = { .most = RB_MANIFOLD_KEEP };
    rb_meeting_manifold(x, i, t, reach, &manifold);
    return add_points(x, i, reach, manifold.point, manifold.n);
}

/* ---- until when --------------------------------------------------------------------------------
 */

static void make_mover(const rb_events *x, const rb_meeting *m, int k, rb_mover *mover,
                       rb_placement *at)
{
    const rb_flyer *f = &x->flyer[m->link[k]];
    const rb_rider *r = &x->rider[m->geom[k]];
    double reach = r->far + (r->radius < INFINITY ? r->radius : 0.0);
    *mover = (rb_mover){ .shape = shape_of(x, m->geom[k]) };
    rb_copy3(r->p, at->p);
    memcpy(at->R, r->R, sizeof at->R);
    rb_flyer_point(f, r->p, at->v);
    rb_copy3(f->w_world, at->w);
    rb_copy3(f->a, mover->a);
    mover->bend = (f->spin * f->spin + f->bend) * reach;
    if (f->kind == RB_FLYER_DRIVEN)
        mover->bend = 2.0 * mover->bend + DRIVEN_WEIGHT * x->s->given->gravity;
    if (!r->round) return;
    rb_zero3(at->w);
    mover->bend = 0.0;
}

static int plane_turns(const rb_events *x, const rb_meeting *m)
{
    for (int k = 0; k < 2; k++)
        if (x->s->m->geom_type[m->geom[k]] == RB_GEOM_PLANE && x->flyer[m->link[k]].spin > 0.0)
            return 1;
    return 0;
}

/* Gap at which a point within the shell is looked at again: a contact that lasts may come closer
 * by a quarter of the shell, one that bounced falls back to where it was. */
static double kept_within(const rb_events *x, const rb_meeting *m, double gap)
{
    return fmin(0.25 * x->shell, gap - (m->held ? 0.25 : 0.01) * x->shell);
}

/* Each triangle is convex: along the normal of its closest point it comes no faster than that point
 * and what turning adds. */
static double safe_on_surface(const rb_events *x, const rb_meeting *m, double keep, double most)
{
    double change, speed = fastest(x, m, &change), turning = 0.0;
    for (int k = 0; k < 2; k++) {
        const rb_rider *r = &x->rider[m->geom[k]];
        const rb_flyer *f = &x->flyer[m->link[k]];
        double reach = r->far + r->radius;
        if (!r->round && f->spin > 0.0) turning += f->spin * f->spin * reach + f->bend * reach;
    }
    double least = fmin(most, rb_ballistic_bound(m->beyond - keep, speed, change));
    for (int i = 0; i < m->npoint; i++) {
        double gap = m->point[i].gap, closing = -rate_of(x, m, &m->point[i]);
        double room = gap - (gap > SHELL_EDGE * x->shell ? x->shell : kept_within(x, m, gap));
        least = fmin(least, rb_ballistic_bound(room, closing, change + turning));
    }
    return least;
}

/* Time for which they stay more than `keep` apart, at most `most`. */
static double safe_time(const rb_events *x, const rb_meeting *m, double keep, double most)
{
    rb_mover mover[2];
    rb_placement at[2];
    if (m->closest.gap == INFINITY) return most;
    if (is_surface(x, m)) return safe_on_surface(x, m, keep, most);
    if (plane_turns(x, m)) {
        double change, speed = fastest(x, m, &change);
        return fmin(most, rb_ballistic_bound(m->closest.gap - keep, speed, change));
    }
    for (int k = 0; k < 2; k++) make_mover(x, m, k, &mover[k], &at[k]);
    return rb_toi_apart(mover, at, &m->closest, keep, most);
}

/* When to look again; it was looked at at time t. Outside the shell: before it can be entered.
 * Within: see kept_within; a contact that lasts counts from its level, or events of its
 * neighbours, each of which looks at it, would let it sink a little at a time. */
void rb_meeting_key(rb_events *x, int i, double t)
{
    const rb_meeting *m = &x->meeting[i];
    double from = m->held ? m->level : m->closest.gap;
    double keep = m->in_shell ? kept_within(x, m, from) : x->shell;
    double most = x->h - t, s = safe_time(x, m, keep, most);
    double least = 1e-9 * x->tau; /* rounding */
    rb_heap_move(x, i, s >= most ? INFINITY : t + fmax(s, least));
}

/* Gap that a point is about to have after `ahead` seconds. */
double rb_meeting_ahead(const rb_events *x, int i, const rb_manifold_point *at, double speed,
                        double ahead)
{
    const int *link = x->meeting[i].link;
    double a[3];
    rb_sub3(x->flyer[link[1]].a, x->flyer[link[0]].a, a);
    return at->gap + ahead * (speed + 0.5 * ahead * rb_dot3(at->normal, a));
}

/* What starts within the shell and would sink until the first tick is an event at once. */
static void restart(rb_events *x)
{
    for (int i = 0; i < x->n; i++) {
        const rb_meeting *m = &x->meeting[i];
        if (!m->in_shell) continue;
        double speed = rate_of(x, m, &m->closest);
        int driven = x->flyer[m->link[0]].kind == RB_FLYER_DRIVEN ||
                     x->flyer[m->link[1]].kind == RB_FLYER_DRIVEN;
        if (driven && !m->held) rb_heap_move(x, i, 0.0);
        if (rb_meeting_ahead(x, i, &m->closest, speed, x->tick) < x->floor) rb_heap_move(x, i, 0.0);
    }
}

/* ---- the start ---------------------------------------------------------------------------------
 */

static void *arena_alloc(void *ctx, size_t size)
{
    return rb_arena_push(ctx, size, 1);
}

/* What is not released is gone with the step. */
static void arena_release(void *ctx, void *block)
{
    (void)ctx;
    (void)block;
}

static rb_status make_grid(rb_events *x)
{
    rb_arena *arena = x->s->d->arena;
    int n = x->s->m->ngeom;
    rb_alloc alloc = { .alloc = arena_alloc, .release = arena_release, .ctx = arena };
    double *size = rb_push(arena, double, n);
    if (!size) return RB_NOMEM;
    for (int g = 0; g < n; g++) {
        const rb_aabb *box = &x->rider[g].swept;
        size[g] = 0.0;
        for (int k = 0; k < 3; k++) size[g] = fmax(size[g], box->hi[k] - box->lo[k]);
    }
    x->grid = rb_hash_grid_new(n, size, &alloc);
    if (!x->grid) return RB_NOMEM;
    for (int g = 0; g < n; g++) rb_hash_grid_move(x->grid, g, &x->rider[g].swept);
    return RB_OK;
}

static rb_status refuse_pose(const rb_events *x, int g)
{
    char name[160];
    return rb_fail(x->s->err, RB_BAD_INPUT, "%s: its pose or velocity is not finite",
                   rb_geom_title(x->s->m, g, name, sizeof name));
}

static int is_finite(const rb_events *x, int g)
{
    const rb_rider *r = &x->rider[g];
    const rb_flyer *f = &x->flyer[x->s->m->geom_link[g]];
    double sum = f->spin;
    for (int k = 0; k < 9; k++) sum += fabs(r->R[k]);
    for (int k = 0; k < 3; k++) sum += fabs(r->p[k]) + fabs(f->u[k]) + fabs(f->w_world[k]);
    return isfinite(sum);
}

/* Geoms by link, in their order: counted, then placed. */
static void sort_geoms(rb_events *x)
{
    const rb_model *m = x->s->m;
    int *from = x->geom_from;
    memset(from, 0, ((size_t)m->nlink + 1) * sizeof *from);
    for (int g = 0; g < m->ngeom; g++) from[m->geom_link[g] + 1]++;
    for (int k = 0; k < m->nlink; k++) from[k + 1] += from[k];
    for (int g = m->ngeom - 1; g >= 0; g--) x->geom_of[--from[m->geom_link[g] + 1]] = g;
    for (int k = 0; k < m->nlink; k++) from[k] = from[k + 1];
    from[m->nlink] = m->ngeom;
}

/* The shell as it was asked for, or a share of the smallest thing that moves. */
static void choose_shell(rb_events *x)
{
    const rb_model *m = x->s->m;
    double least = INFINITY;
    for (int g = 0; g < m->ngeom; g++) {
        int kind = x->flyer[m->geom_link[g]].kind;
        if (kind == RB_FLYER_FIXED || kind == RB_FLYER_KINEMATIC) continue;
        least = fmin(least, x->rider[g].radius);
    }
    x->shell = x->s->o->shell > 0.0 ? x->s->o->shell : SHELL_SHARE * least;
    x->rest = 0.5 * x->shell;
    x->floor = -1e-3 * x->shell;
}

rb_status rb_impulse_meetings(rb_events *x)
{
    rb_stage *s = x->s;
    const rb_model *m = s->m;
    if (!m->option.contact || m->ngeom == 0) return RB_OK;
    sort_geoms(x);
    for (int g = 0; g < m->ngeom; g++) start_geom(x, g);
    choose_shell(x);
    for (int g = 0; g < m->ngeom; g++) {
        rb_status status = place(x, g, 0.0);
        if (status == RB_OK && !is_finite(x, g)) status = refuse_pose(x, g);
        if (status != RB_OK) return status;
        sweep_box(x, g, 0.0);
    }
    rb_status status = rb_filter_make(m, s->d->arena, &x->filter);
    if (status == RB_OK && m->ngeom > FEW) status = make_grid(x);
    for (int g = 0; g < m->ngeom && status == RB_OK; g++) status = meet_near(x, g, 1, 0.0);
    if (status == RB_OK) restart(x);
    return status;
}
