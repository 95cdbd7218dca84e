/* Collision of a whole model: swept boxes, the broad phase, filtering, the pair table, and the
 * sweep that dismisses what only passes by. Geoms are walked in order and partners come out in
 * order, so the contacts are sorted without sorting them. */
#include "model/cache.h"
#include "rattleback/collide.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/meter.h"
#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "collide/bounds.h"
#include "collide/broad.h"
#include "model/filter.h"
#include "collide/pairs.h"
#include "collide/kept.h"
#include "collide/manifold.h"
#include "collide/near.h"
#include "collide/shape.h"
#include "collide/surface.h"
#include "collide/thin.h"
#include "collide/sweep.h"
#include "math/vec3.h"

typedef struct scene {
    const rb_model *m;
    rb_data *d;
    double h, dv_max;
    int most; /* points of a pair */

    rb_filter filter;
    rb_motion *motion; /* of each geom                                   (ngeom) */
    rb_aabb *swept;    /* what it may touch within h                     (ngeom) */
    rb_aabb *wide;     /* the same, or more where pairs are noted        (ngeom) */
    rb_aabb *packed;   /* wide, of the bounded geoms                     (nbounded) */
    int *bounded;      /* geoms of the tree, ascending                   (nbounded) */
    int *unbounded;    /* planes and what moves without limit, ascending (nunbounded) */
    int *partner;      /* of one geom                                    (ngeom) */
    int *first, *near; /* pairs of bounded geoms, as rb_broad_pairs has them     (ranks) */
    int nbounded, nunbounded;

    int capacity, n;
    rb_contact *contacts;
    rb_near *noted;            /* where pairs are noted; NULL: nowhere */
    int found;                 /* points that the last pair has within reach */
    rb_manifold_point closest; /* of those, where shapes are convex */
    rb_error *err;
} scene;

static rb_shape shape_of(const scene *s, int g)
{
    return rb_geom_shape(s->m, s->d, g);
}

/* ---- motion -----------------------------------------------------------------------------------
 */

/* How far the centre is from the origin of the link, and the surface from the centre; zero where
 * nothing moves. */
typedef struct lever {
    double far, arm;
} lever;

/* The centre moves with v = v_O + w x r; during h it leaves that line by at most h^2/2 times its
 * acceleration, while the surface rotates about it with w (G.30). */
static rb_motion motion_of(const scene *s, int g, const rb_shape *shape, lever *at)
{
    const rb_data *d = s->d;
    int link = s->m->geom_link[g];
    rb_motion motion = { .v = { 0.0, 0.0, 0.0 }, .spread = 0.0 };
    *at = (lever){ .far = 0.0 };
    if (link == 0 || s->h == 0.0) return motion;

    const double *w = d->link_w + 3 * (ptrdiff_t)link, *a = d->link_a + 6 * (ptrdiff_t)link;
    double r[3], turn[3];
    rb_sub3(shape->p, d->link_p + 3 * (ptrdiff_t)link, r);
    rb_cross3(w, r, turn);
    rb_add3(d->link_v + 3 * (ptrdiff_t)link, turn, motion.v);

    double speed = rb_norm3(w), bend = rb_norm3(a), far = rb_norm3(r);
    *at = (lever){ far, rb_bounds_arm(shape) };
    motion.spread = 0.5 * s->h * (speed * speed * far + bend * far + rb_norm3(a + 3));
    double turning = speed + 0.5 * s->h * bend;
    if (turning > 0.0) motion.spread += turning * at->arm;
    if (s->m->link_tree[link] >= 0) motion.spread += s->dv_max;
    return motion;
}

/* Rounding of the box itself is covered, so that a gap of exactly zero is not lost. */
static rb_aabb sweep_box(const rb_shape *shape, const rb_motion *motion, double h)
{
    rb_aabb box;
    double half[3];
    rb_bounds_half(shape, half);
    for (int k = 0; k < 3; k++) {
        double path = h * motion->v[k], grow = half[k] + h * motion->spread;
        grow += RB_GAP_TIE * (fabs(shape->p[k]) + grow + fabs(path));
        box.lo[k] = shape->p[k] + (path < 0.0 ? path : 0.0) - grow;
        box.hi[k] = shape->p[k] + (path > 0.0 ? path : 0.0) + grow;
    }
    return box;
}

/* Its path, enlarged by the share RB_NEAR_MORE, so that impulses and curvature seldom leave it. */
static rb_aabb widen(scene *s, int g, const lever *at)
{
    const rb_motion *motion = &s->motion[g];
    double way = s->h * (rb_norm3(motion->v) + motion->spread), more = RB_NEAR_MORE * way;
    rb_aabb box = s->swept[g];
    s->noted->room[g] = s->h * motion->spread + more;
    s->noted->way[g] = way;
    s->noted->far[g] = at->far;
    s->noted->arm[g] = at->arm;
    for (int k = 0; k < 3; k++) {
        box.lo[k] -= more;
        box.hi[k] += more;
    }
    return box;
}

static int is_finite3(const double x[3])
{
    return x[0] * 0.0 + x[1] * 0.0 + x[2] * 0.0 == 0.0;
}

/* So near that the squares of distances are finite. */
static int is_measurable3(const double x[3])
{
    return x[0] * x[0] * 0.0 + x[1] * x[1] * 0.0 + x[2] * x[2] * 0.0 == 0.0;
}

/* Without motion, where poses were examined before. */
static void stand(scene *s, int g)
{
    rb_shape shape = shape_of(s, g);
    s->motion[g] = (rb_motion){ .spread = 0.0 };
    s->swept[g] = sweep_box(&shape, &s->motion[g], 0.0);
}

/* motion and swept of geom g. */
static rb_status place_geom(scene *s, int g, lever *at)
{
    rb_shape shape = shape_of(s, g);
    char name[160];
    int ok = is_measurable3(shape.p) && is_finite3(shape.R) && is_finite3(shape.R + 3) &&
             is_finite3(shape.R + 6);
    if (ok) {
        s->motion[g] = motion_of(s, g, &shape, at);
        s->swept[g] = sweep_box(&shape, &s->motion[g], s->h);
        ok = is_finite3(s->motion[g].v) && !isnan(s->motion[g].spread);
    }
    if (ok) return RB_OK;
    return rb_fail(s->err, RB_BAD_INPUT,
                   "%s: its pose or velocity is not finite, or it is too far away",
                   rb_geom_title(s->m, g, name, sizeof name));
}

static rb_status place_geoms(scene *s)
{
    for (int g = 0; g < s->m->ngeom; g++) {
        lever at;
        rb_status status = place_geom(s, g, &at);
        if (status != RB_OK) return status;
        if (s->noted) s->wide[g] = widen(s, g, &at);
        if (is_finite3(s->swept[g].lo) && is_finite3(s->swept[g].hi)) {
            s->packed[s->nbounded] = s->wide[g];
            s->bounded[s->nbounded++] = g;
        } else {
            s->unbounded[s->nunbounded++] = g;
        }
    }
    return RB_OK;
}

/* ---- pairs ------------------------------------------------------------------------------------
 */

static rb_status refuse(const scene *s, int g1, int g2)
{
    static const char *const text[] = { "plane",     "height field", "sphere", "capsule",
                                        "ellipsoid", "cylinder",     "box",    "mesh" };
    char name1[160], name2[160];
    int bare = 0; /* a mesh without a hull */
    for (int k = 0; k < 2; k++) {
        int g = k ? g2 : g1, mesh = s->m->geom_asset[g];
        if (s->m->geom_type[g] != RB_GEOM_MESH || s->m->geom_triangles[g]) continue;
        bare |= s->m->mesh_hullvertnum[mesh] == 0;
    }
    return rb_fail(s->err, RB_UNSUPPORTED,
                   "%s (%s) and %s (%s): %s exclude their bodies or set "
                   "contype and conaffinity to 0",
                   rb_geom_title(s->m, g1, name1, sizeof name1), text[s->m->geom_type[g1]],
                   rb_geom_title(s->m, g2, name2, sizeof name2), text[s->m->geom_type[g2]],
                   bare ? "the mesh has no hull: call rb_spec_hulls(spec, &err) of "
                          "rattleback/load.h before rb_spec_compile, or"
                        : "no collision of these shapes;");
}

/* How much the gap of any point can shrink within h. */
static double reach_of(const scene *s, int g1, int g2)
{
    double v[3];
    rb_sub3(s->motion[g2].v, s->motion[g1].v, v);
    return s->h * (rb_norm3(v) + s->motion[g1].spread + s->motion[g2].spread);
}

static double least_gap(const rb_manifold *manifold, int *which)
{
    *which = 0;
    for (int i = 1; i < manifold->n; i++) {
        if (manifold->point[i].gap < manifold->point[*which].gap) *which = i;
    }
    return manifold->point[*which].gap;
}

static void emit(scene *s, const rb_contact *contact)
{
    if (s->n < s->capacity) s->contacts[s->n] = *contact;
    s->n++;
}

/* The box of geom g lies above the fixed plane: they cannot meet. */
static int is_above(const scene *s, int plane, const rb_aabb *box)
{
    if (s->m->geom_type[plane] != RB_GEOM_PLANE || s->m->geom_link[plane] != 0) return 0;
    const double *o = s->d->geom_p + 3 * (ptrdiff_t)plane, *R = s->d->geom_R + 9 * (ptrdiff_t)plane;
    double lowest = 0.0;
    for (int k = 0; k < 3; k++) {
        double n = R[3 * k + 2];
        lowest += n * ((n > 0.0 ? box->lo[k] : box->hi[k]) - o[k]);
    }
    return lowest > RB_GAP_TIE * (rb_norm3(o) + rb_norm3(box->lo) + rb_norm3(box->hi));
}

/* Without a bound, what is about as near as the nearest triangle; h = 0: what touches. */
static rb_status nearest_of_surface(const scene *s, const rb_shape *surface, const rb_shape *convex,
                                    rb_surface_group *groups, int *ngroup)
{
    enum { DOUBLINGS = 60 };
    double half[3];
    if (s->h == 0.0)
        return rb_surface_points(surface, convex, 0.0, NULL, RB_SURFACE_GROUPS, groups, ngroup);
    rb_bounds_half(convex, half);
    double reach = RB_CLEAR * rb_norm3(half);
    for (int i = 0; i < DOUBLINGS; i++, reach *= 2.0) {
        rb_status status =
            rb_surface_points(surface, convex, reach, NULL, RB_SURFACE_GROUPS, groups, ngroup);
        if (status != RB_OK || *ngroup > 0) return status;
    }
    return RB_OK;
}

/* The triangles of one geom, and the other one. */
static rb_status collide_surface(scene *s, int g1, int g2, int pair)
{
    rb_shape shape1 = shape_of(s, g1), shape2 = shape_of(s, g2);
    int swap = !rb_is_surface(&shape1), ngroup;
    const rb_shape *surface = swap ? &shape2 : &shape1, *convex = swap ? &shape1 : &shape2;
    rb_surface_motion motion = { .surface = s->motion[swap ? g2 : g1],
                                 .convex = s->motion[swap ? g1 : g2],
                                 .h = s->h,
                                 .meter = s->d->arena->meter };
    double reach = reach_of(s, g1, g2);
    int bounded = s->h > 0.0 && reach < INFINITY;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_surface_group *groups = rb_push(s->d->arena, rb_surface_group, RB_SURFACE_GROUPS);
    rb_manifold_point *sorted =
        rb_push(s->d->arena, rb_manifold_point, RB_SURFACE_GROUPS * RB_MANIFOLD_KEEP);
    if (!groups || !sorted) return RB_NOMEM;
    rb_status status = bounded ? rb_surface_points(surface, convex, reach, &motion,
                                                   RB_SURFACE_GROUPS, groups, &ngroup)
                               : nearest_of_surface(s, surface, convex, groups, &ngroup);
    if (status == RB_OK) {
        rb_manifold one = { .n = 1 };
        rb_contact contact = { .geom1 = g1, .geom2 = g2, .pair = pair };
        int n = s->found = rb_surface_sort(groups, ngroup, sorted);
        for (int i = 0; i < n; i++) {
            one.point[0] = sorted[i];
            if (swap) rb_manifold_swap(&one);
            contact.at = one.point[0];
            emit(s, &contact);
        }
    }
    rb_arena_reset(s->d->arena, mark);
    if (rb_meter_stopped(motion.meter)) return motion.meter->stopped;
    if (status == RB_UNSUPPORTED) return refuse(s, g1, g2);
    if (status == RB_TOO_LARGE) {
        return rb_fail(s->err, status, "geoms %d and %d touch in more than %d planes", g1, g2,
                       (int)RB_SURFACE_GROUPS);
    }
    return status;
}

/* The normal that the pair had in the last step, as far as it is known: it is part of the state. */
static const double *last_normal(const rb_data *d, int g1, int g2)
{
    int lo = 0, hi = d->ntouch;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        const rb_touch_id *id = &d->touch[mid].id;
        int before = id->kind == 0 && (id->a < g1 || (id->a == g1 && id->b < g2));
        lo = before ? mid + 1 : lo;
        hi = before ? hi : mid;
    }
    if (lo == d->ntouch) return NULL;
    const rb_touch *touch = &d->touch[lo];
    return touch->id.kind == 0 && touch->id.a == g1 && touch->id.b == g2 ? touch->frame : NULL;
}

static int may_meet(const scene *s, int g1, int g2, const rb_aabb *box)
{
    return rb_aabb_meets(&box[g1], &box[g2]) && !is_above(s, g1, &box[g2]) &&
           !is_above(s, g2, &box[g1]);
}

static void note(rb_near *near, int g1, int g2, int pair)
{
    near->known &= near->n < near->capacity;
    if (!near->known) return;
    int *to = near->pair[near->n++];
    to[0] = g1, to[1] = g2, to[2] = pair;
}

/* Two geoms whose boxes meet. */
static rb_status meet(scene *s, int g1, int g2, int pair)
{
    int first;
    rb_shape shape1 = shape_of(s, g1), shape2 = shape_of(s, g2);
    const rb_motion *motion1 = &s->motion[g1], *motion2 = &s->motion[g2];
    double reach = reach_of(s, g1, g2);
    rb_manifold manifold;
    manifold.most = s->most;
    rb_meter *meter = s->d->arena->meter;
    if (!rb_meter_add(meter, RB_WORK_PAIR, 1.0)) return meter->stopped;
    if (rb_is_surface(&shape1) || rb_is_surface(&shape2)) return collide_surface(s, g1, g2, pair);
    const double *n = rb_pair_is_sought(&shape1, &shape2) ? last_normal(s->d, g1, g2) : NULL;
    rb_warm warm = { .ncorner = 0 };
    if (n) rb_copy3(n, warm.n);
    if (!rb_pair_call_warm(&shape1, &shape2, isnan(reach) ? INFINITY : reach, n ? &warm : NULL,
                           &manifold)) {
        return refuse(s, g1, g2);
    }
    s->found = manifold.n;
    if (manifold.n == 0) return RB_OK;
    double gap = least_gap(&manifold, &first);
    s->closest = manifold.point[first];
    if (gap > 0.0 && s->h > 0.0 && reach < INFINITY &&
        !rb_sweep_meets(&shape1, motion1, &shape2, motion2, s->h, &manifold.point[first])) {
        return RB_OK;
    }
    rb_contact contact = { .geom1 = g1, .geom2 = g2, .pair = pair, .error = manifold.error };
    for (int i = 0; i < manifold.n; i++) {
        contact.at = manifold.point[i];
        emit(s, &contact);
    }
    return RB_OK;
}

static rb_status collide_pair(scene *s, int g1, int g2)
{
    int pair;
    if (!rb_filter_pass(&s->filter, g1, g2, &pair)) return RB_OK;
    if (s->noted && may_meet(s, g1, g2, s->wide)) note(s->noted, g1, g2, pair);
    return may_meet(s, g1, g2, s->swept) ? meet(s, g1, g2, pair) : RB_OK;
}

/* Later geoms that `g` may touch: unbounded ones, and those of the tree. Everybody meets the
 * unbounded. */
static int partners_of(const scene *s, int g, int rank)
{
    int n = 0, at = 0, is_bounded = rank < s->nbounded && s->bounded[rank] == g;
    if (!is_bounded) {
        for (int j = g + 1; j < s->m->ngeom; j++) s->partner[n++] = j;
        return n;
    }

    /* merge the two ascending lists from their ends: the partners of the tree come first */
    const int *near = s->near + s->first[rank];
    n = s->first[rank + 1] - s->first[rank];
    for (int i = 0; i < n; i++) s->partner[i] = s->bounded[near[i]];
    while (at < s->nunbounded && s->unbounded[at] <= g) at++;
    int more = s->nunbounded - at, total = n + more;
    for (int to = total - 1, i = n - 1, j = more - 1; j >= 0; to--) {
        int from_tree = i >= 0 && s->partner[i] > s->unbounded[at + j];
        s->partner[to] = from_tree ? s->partner[i--] : s->unbounded[at + j--];
    }
    return total;
}

static rb_status collide_all(scene *s)
{
    int rank = 0;
    for (int g = 0; g < s->m->ngeom; g++) {
        int n = partners_of(s, g, rank);
        if (rank < s->nbounded && s->bounded[rank] == g) rank++;
        for (int i = 0; i < n; i++) {
            rb_status status = collide_pair(s, g, s->partner[i]);
            if (status != RB_OK) return status;
        }
    }
    return RB_OK;
}

/* Bounded geoms pass the filter with planes only, as links of robots that do not meet each other.
 */
static int only_planes(const scene *s)
{
    int types = 0, affinities = 0;
    for (int i = 0; i < s->nbounded; i++) {
        types |= s->m->geom_contype[s->bounded[i]];
        affinities |= s->m->geom_conaffinity[s->bounded[i]];
    }
    return s->filter.npair == 0 && !(types & affinities);
}

static rb_status no_pairs(scene *s, rb_arena *arena)
{
    s->first = rb_push(arena, int, s->nbounded + 1);
    s->near = rb_push(arena, int, 1);
    if (!s->first || !s->near) return RB_NOMEM;
    memset(s->first, 0, ((size_t)s->nbounded + 1) * sizeof *s->first);
    return RB_OK;
}

static rb_status find_pairs(scene *s, rb_arena *arena)
{
    int done;
    rb_broad tree;
    if (only_planes(s)) return no_pairs(s, arena);
    if (!rb_grid_pairs(s->nbounded, s->packed, arena, &s->first, &s->near, &done)) return RB_NOMEM;
    if (done) return RB_OK;
    if (!rb_broad_make(&tree, s->nbounded, s->packed, arena)) return RB_NOMEM;
    return rb_broad_pairs(&tree, arena, &s->first, &s->near) ? RB_OK : RB_NOMEM;
}

/* ---- pairs that are kept ----------------------------------------------------------------------
 */

/* Part of the reach of a pair that a moving plane has to leave between it [1]: the sweep then finds
 * within h that nothing meets, in fewer tangents than it takes (G.35). Smaller: it may not. */
static const double passing = 0.0625;

/* Shapes that n separates by `gap` now: whether they are certainly apart for h seconds. */
static int stays_apart(const scene *s, const rb_keeper *k, int i, double gap, const double n[3])
{
    const int *geom = s->m->meet[i].geom;
    const rb_motion *a = &s->motion[geom[0]], *b = &s->motion[geom[1]];
    double reach = reach_of(s, geom[0], geom[1]), v[3];
    if (gap > reach + k->slack) return 1;
    if (s->h == 0.0 || k->d->cache->kept[i].kind >= RB_KEPT_SURFACE || !(reach < INFINITY))
        return 0;
    rb_sub3(b->v, a->v, v);
    double shrinks = s->h * (a->spread + b->spread - rb_dot3(n, v));
    return gap - fmax(0.0, shrinks) > passing * reach + k->slack;
}

static rb_status place_once(scene *s, int g, unsigned char *placed)
{
    lever at;
    if (placed[g]) return RB_OK;
    placed[g] = 1;
    return place_geom(s, g, &at);
}

/* What the last look has left is tried first. */
static rb_status look_at(scene *s, rb_keeper *k, int i, unsigned char *placed)
{
    const rb_meet *pair = &s->m->meet[i];
    int g1 = pair->geom[0], g2 = pair->geom[1];
    double n[3];
    if (k->d->cache->kept[i].kind == RB_KEPT_NEVER) return RB_OK; /* everything within reach */
    double gap = rb_kept_measure(k, i, n);
    if (gap > rb_kept_reach(k, i)) return RB_OK;
    rb_status status = place_once(s, g1, placed);
    if (status == RB_OK) status = place_once(s, g2, placed);
    if (status != RB_OK || stays_apart(s, k, i, gap, n)) return status;
    if (!k->d->cache->kept[i].near) {
        gap = rb_kept_search(k, i, reach_of(s, g1, g2) + k->slack, n);
        if (stays_apart(s, k, i, gap, n)) return RB_OK;
    }
    s->found = 0;
    if (!may_meet(s, g1, g2, s->swept)) return RB_OK;
    status = meet(s, g1, g2, pair->pair);
    if (s->found > 0 && k->d->cache->kept[i].kind != RB_KEPT_SURFACE &&
        k->d->cache->kept[i].kind != RB_KEPT_FIELD)
        rb_kept_note(k, i, s->closest.gap, s->closest.normal, 1);
    else
        k->d->cache->kept[i].near = 0;
    return status;
}

static rb_status collide_kept(scene *s, rb_keeper *k, rb_arena *arena)
{
    size_t n = (size_t)s->m->ngeom;
    int i = rb_kept_next(k);
    if (i < 0) return RB_OK;
    unsigned char *placed = rb_push(arena, unsigned char, n);
    s->motion = rb_push(arena, rb_motion, n);
    s->swept = rb_push(arena, rb_aabb, n);
    if (!placed || !s->motion || !s->swept) return RB_NOMEM;
    memset(placed, 0, n);
    rb_status status = RB_OK;
    for (; i >= 0 && status == RB_OK; i = rb_kept_next(k)) status = look_at(s, k, i, placed);
    return status;
}

static rb_status run(scene *s, rb_arena *arena)
{
    rb_keeper keeper;
    int kept = s->noted ? 0 : rb_kept_begin(s->m, s->d, s->h, s->dv_max, &keeper);
    if (kept < 0) return RB_NOMEM;
    if (kept) return collide_kept(s, &keeper, arena);

    size_t n = (size_t)s->m->ngeom + 1;
    s->motion = rb_push(arena, rb_motion, n);
    s->swept = rb_push(arena, rb_aabb, n);
    s->wide = s->noted ? rb_push(arena, rb_aabb, n) : s->swept;
    s->packed = rb_push(arena, rb_aabb, n);
    s->bounded = rb_push(arena, int, n);
    s->unbounded = rb_push(arena, int, n);
    s->partner = rb_push(arena, int, n);
    int ok =
        s->motion && s->swept && s->wide && s->packed && s->bounded && s->unbounded && s->partner;
    if (!ok || rb_filter_make(s->m, arena, &s->filter) != RB_OK) return RB_NOMEM;

    rb_status status = place_geoms(s);
    if (status == RB_OK) status = find_pairs(s, arena);
    return status == RB_OK ? collide_all(s) : status;
}

static rb_status collide(scene *s, int *n)
{
    *n = 0;
    if (!s->m->option.contact || s->m->ngeom == 0) return RB_OK;
    if (!(s->h >= 0.0) || isinf(s->h) || !(s->dv_max >= 0.0)) {
        return rb_fail(s->err, RB_BAD_INPUT, "collide: h is finite, h and dv_max are not negative");
    }
    if (s->h == 0.0) s->dv_max = 0.0;

    rb_arena *arena = s->d->arena;
    rb_mark mark = rb_arena_mark(arena);
    rb_status status = run(s, arena);
    rb_arena_reset(arena, mark);
    if (status == RB_NOMEM) return rb_fail(s->err, RB_NOMEM, "collide: out of memory");
    if (status != RB_OK) return status;
    if (s->h > 0.0 && s->most == RB_MANIFOLD_KEEP && s->n <= s->capacity)
        s->n = rb_contacts_thin(s->m, arena, s->n, s->contacts);
    *n = s->n;
    if (s->n <= s->capacity) return RB_OK;
    return rb_fail(s->err, RB_FULL, "%d contacts, room for %d: reserve more", s->n, s->capacity);
}

rb_status rb_collide(const rb_model *m, rb_data *d, double h, double dv_max, int capacity,
                     rb_contact *contacts, int *n, rb_error *err)
{
    return rb_collide_noting(m, d, h, dv_max, capacity, contacts, n, NULL, err);
}

rb_status rb_collide_noting(const rb_model *m, rb_data *d, double h, double dv_max, int capacity,
                            rb_contact *contacts, int *n, rb_near *near, rb_error *err)
{
    scene s = { .m = m,
                .d = d,
                .h = h,
                .dv_max = dv_max,
                .most = RB_MANIFOLD_KEEP,
                .capacity = capacity,
                .contacts = contacts,
                .noted = near,
                .err = err };
    if (near) near->known = 1, near->n = 0;
    return collide(&s, n);
}

rb_status rb_collide_full(const rb_model *m, rb_data *d, double h, double dv_max, int capacity,
                          rb_contact *contacts, int *n, rb_error *err)
{
    scene s = { .m = m,
                .d = d,
                .h = h,
                .dv_max = dv_max,
                .most = RB_MANIFOLD_MAX,
                .capacity = capacity,
                .contacts = contacts,
                .err = err };
    return collide(&s, n);
}

/* ---- the same pairs again ---------------------------------------------------------------------
 */

enum { NEAR_EACH = 4, NEAR_LEAST = 64 }; /* pairs there is room for: per geom, and beside that */

int rb_near_push(const rb_model *m, rb_arena *arena, rb_near *near)
{
    *near = (rb_near){ .capacity = NEAR_EACH * m->ngeom + NEAR_LEAST };
    near->pair = (int(*)[3])rb_arena_push(arena, (size_t)near->capacity, sizeof *near->pair);
    near->room = rb_push(arena, double, m->ngeom);
    near->way = rb_push(arena, double, m->ngeom);
    near->far = rb_push(arena, double, m->ngeom);
    near->arm = rb_push(arena, double, m->ngeom);
    return near->pair && near->room && near->way && near->far && near->arm;
}

static rb_status place_again(scene *s, int g)
{
    lever at;
    if (s->h > 0.0) return place_geom(s, g, &at);
    stand(s, g);
    return RB_OK;
}

static rb_status meet_again(scene *s, const rb_near *near)
{
    s->motion = rb_push(s->d->arena, rb_motion, s->m->ngeom);
    s->swept = rb_push(s->d->arena, rb_aabb, s->m->ngeom);
    if (!s->motion || !s->swept) return rb_fail(s->err, RB_NOMEM, "collide: out of memory");
    rb_status status = RB_OK;
    for (int i = 0, last = -1; i < near->n && status == RB_OK; i++) {
        const int *pair = near->pair[i];
        if (pair[0] != last) status = place_again(s, last = pair[0]);
        if (status == RB_OK) status = place_again(s, pair[1]);
        if (status == RB_OK && may_meet(s, pair[0], pair[1], s->swept))
            status = meet(s, pair[0], pair[1], pair[2]);
    }
    return status;
}

rb_status rb_collide_near(const rb_model *m, rb_data *d, double h, double dv_max,
                          const rb_near *near, int capacity, rb_contact *contacts, int *n,
                          rb_error *err)
{
    scene s = { .m = m,
                .d = d,
                .h = h,
                .dv_max = dv_max,
                .most = RB_MANIFOLD_KEEP,
                .capacity = capacity,
                .contacts = contacts,
                .err = err };
    rb_mark mark = rb_arena_mark(d->arena);
    rb_status status = meet_again(&s, near);
    rb_arena_reset(d->arena, mark);
    *n = status == RB_OK ? s.n : 0;
    if (status != RB_OK || s.n <= capacity) return status;
    return rb_fail(err, RB_FULL, "%d contacts, room for %d: reserve more", s.n, capacity);
}
