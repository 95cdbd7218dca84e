/* Checks that no geom passes through another one within a step.
 *
 * Rows hold bodies apart to first order, and the gaps at the new position show what is left: an
 * overlap. A body that moves by more than its own thickness may leave no overlap behind. It hit
 * something hard with a corner and turns by many radians, or it bounced towards something without
 * a row, or it is an arm that swept over a radian, far from the plane of its row. So the way
 * between the two positions is checked, that of all joints together:
 *
 *     q(s) = q0 (+) s dq,     q0 (+) dq = q_new,     0 <= s <= 1                             (S.18)
 *
 * with whole turns as the velocity has them. Seen from q_new, the centre of a geom, at r from the
 * origin of its link, moves with u = x + w x r there, and by (S.4) not much differently before.
 * Its surface turns about it. All of its points move with u up to v, and are at most e from where
 * u takes them:
 *
 *     T = |w x r| + B |r|,    D = A + B |r| + W T,    v = D + W a,    e = D / 2 + W a
 *     or, where they turn so far that this is less:   u = 0,   v = X + T + W a,   e <= v
 *
 * with |w x axis| + B for W about the centre of a geom that is round about an axis.
 *
 * Let r_1 and r_2 be the radii of balls about the centres of two geoms that fit into them, zero
 * for surfaces of triangles. The half space of a plane is as thick as the other geom is long. The
 * pair is checked at places s_0 = 0, s_1, .. and passes through where
 *
 *     gap(s_i) < -c,     c = (r_1 + r_2) / 4,     s_i+1 = s_i + max(gap(s_i), c) / V         (S.19)
 *     V = |u_1 - u_2| + v_1 + v_2
 *
 * No two points of a pair approach by more than V ds, so that gaps differ by at most c / 2 from
 * that of a place checked. Every pair is found that is deeper than (3/8) (r_1 + r_2) anywhere on
 * the way: a ball that crosses a plate is r_1 + r_2 deep. Less deep passages are not found, such
 * as that of a rod that strikes a peg with the last of its tip. Overlap of the start is added to
 * c, and so is what a pair may overlap by as its model does (F.8). Bodies that move by less than c
 * need no check, because q0 and q_new have no overlap. Ways of more than 1e4 c are halved first
 * where possible. Two links of one tree are seen from the last link that both hang on, because they
 * do not move away from it: a whip is as far from itself as it bends.
 *
 * A step that fails is halved as others are (S.20), and refused in the end. Parts of a step that
 * lead to a located impact are not checked where contacts fly: their gaps are watched. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "base/error.h"
#include "collide/bounds.h"
#include "collide/broad.h"
#include "collide/kept.h"
#include "collide/shape.h"
#include "dynamics/branch.h"
#include "math/vec3.h"
#include "model/cache.h"
#include "model/filter.h"
#include "step/contacts.h"
#include "step/gaps.h"
#include "step/motion.h"
#include "step/steppers.h"

enum {
    LOOKS = 10000,    /* between two positions, at most                     */
    SURFACE_REACH = 4 /* how far triangles are looked for, in units of c    */
};

/* How a geom goes. */
typedef struct route {
    double u[3];  /* the motion of its centre [m]                     */
    double v, e;  /* what its points have beside that, and are off [m] */
    double all;   /* |u| + e [m]                                      */
    double inner; /* radius of the ball inside [m]                    */
    int far;      /* it moves by more than its share of that          */
    int known;    /* 0: not looked for, as its link moves less        */
} route;

typedef struct routes {
    double *dq;        /*                                                (nv)    */
    route *of;         /*                                                (ngeom) */
    rb_link_path *way; /* of the links                                   (nlink) */
    double *most;      /* how far geoms of a link go at most, where pairs are kept [m] (nlink) */
    int *link[2];      /* room for the links of a pair                   (nlink) */
} routes;

/* Two geoms, and how they go seen from the last link that both hang on. */
typedef struct couple {
    int geom[2];
    int n[2]; /* links between that one and them */
    route of[2];
} couple;

/* ---- who goes far -----------------------------------------------------------------------------
 */

static rb_shape form_of(const rb_model *m, int g)
{
    return (rb_shape){ .type = m->geom_type[g],
                       .size = m->geom_size + 3 * (ptrdiff_t)g,
                       .model = m,
                       .asset = m->geom_asset[g],
                       .surface = rb_geom_is_surface(m, g) };
}

/* Whether that is more than the share of its inner ball, which goes to *inner. The radius of a hull
 * costs a look at all its faces, and is not less than a tenth of its extent. */
static int is_far(const rb_model *m, int g, double way, double *inner)
{
    rb_shape shape = form_of(m, g);
    if (shape.type == RB_GEOM_MESH && !shape.surface) {
        const double *half = m->mesh_half + 3 * (ptrdiff_t)shape.asset;
        if (way < 0.1 * RB_THROUGH_SHARE * fmin(half[0], fmin(half[1], half[2]))) return 0;
    }
    *inner = rb_bounds_inner(&shape);
    return *inner > 0.0 && way > RB_THROUGH_SHARE * *inner;
}

/* Bounds that the search for rows has left behind. */
static int may_go_far(const rb_stage *s)
{
    const rb_model *m = s->m;
    double inner;
    if (!m->option.contact) return 0;
    if (rb_kept_serves(m)) return m->nmeet > 0 && !s->near.nothing_touches && s->near.moves_far;
    if (!s->near.complete) return 1;
    for (int g = 0; g < m->ngeom && s->near.pairs.n > 0; g++) {
        double way = s->near.pairs.way[g] + s->near.pairs.room[g];
        if (m->geom_link[g] == 0 || way == 0.0) continue;
        if (is_far(m, g, way, &inner)) return 1;
    }
    return 0;
}

/* ---- the way ----------------------------------------------------------------------------------
 */

/* The shortest turn, and as many whole ones as bring it closest to the turn `guess`. */
static void whole_turns(const double guess[3], double turn[3])
{
    double angle = rb_norm3(turn), whole;
    if (angle > 0.0) {
        whole = floor((rb_dot3(guess, turn) / angle - angle) / (2.0 * RB_PI) + 0.5);
        rb_scale3(1.0 + (2.0 * RB_PI) * whole / angle, turn, turn);
        return;
    }
    whole = floor(rb_norm3(guess) / (2.0 * RB_PI) + 0.5);
    if (whole > 0.0) rb_scale3((2.0 * RB_PI) * whole / rb_norm3(guess), guess, turn);
}

/* dq; v, scratch (nv). */
static void find_displacement(const rb_stage *s, double *v, double *dq)
{
    const rb_model *m = s->m;
    rb_difference(m, s->start.q, s->answer.q, dq);
    memcpy(v, s->answer.v_way, (size_t)m->nv * sizeof *v);
    for (int j = 0; j < m->njnt; j++) {
        int type = m->jnt_type[j], at = m->jnt_dofadr[j] + (type == RB_JOINT_FREE ? 3 : 0);
        double guess[3];
        if (type != RB_JOINT_FREE && type != RB_JOINT_BALL) continue;
        rb_scale3(s->h, v + at, guess);
        if (rb_dot3(guess, guess) > 0.25 * (2.0 * RB_PI) * (2.0 * RB_PI))
            whole_turns(guess, dq + at);
    }
}

/* How far the surface turns about its centre [m]: what is round about an axis does not turn about
 * it. */
static double turn_of(const rb_link_path *x, const rb_shape *shape)
{
    const double *R = shape->R, axis[3] = { R[2], R[5], R[8] };
    int round = shape->type == RB_GEOM_CAPSULE || shape->type == RB_GEOM_CYLINDER;
    double turn[3];
    if (x->W == 0.0) return 0.0; /* a plane has no end */
    rb_cross3(x->w, axis, turn);
    return (round ? fmin(x->W, rb_norm3(turn) + x->B) : x->W) * rb_bounds_arm(shape);
}

static route route_of(const rb_stage *s, const rb_link_path *x, int g)
{
    rb_shape shape = rb_geom_shape(s->m, s->d, g);
    route it = { .far = 0 };
    double r[3], turn[3];
    rb_sub3(shape.p, s->d->link_p + 3 * (ptrdiff_t)s->m->geom_link[g], r);
    rb_cross3(x->w, r, turn);
    double T = rb_norm3(turn) + x->B * rb_norm3(r), a = turn_of(x, &shape);
    double D = x->A + x->B * rb_norm3(r) + x->W * T;
    rb_add3(x->x, turn, it.u);
    it.v = D + a;
    it.e = 0.5 * D + a;
    if (x->X + T + a < rb_norm3(it.u) + it.v) {
        rb_zero3(it.u);
        it.v = x->X + T + a;
        it.e = x->X + fmin(T, 2.0 * rb_norm3(r)) + fmin(a, 2.0 * rb_bounds_arm(&shape));
    }
    it.all = rb_norm3(it.u) + it.e;
    it.far = is_far(s->m, g, it.all, &it.inner);
    it.known = 1;
    return it;
}

/* Whether a geom of link k may go far: the length of its u and e is at most what goes to *most. */
static int link_goes_far(const rb_stage *s, const rb_link_path *x, int k, double *most)
{
    double out = s->d->cache->kept_link_out[k];
    *most = rb_norm3(x->x) + x->W * out + 0.5 * (x->A + (x->B + x->W * x->W) * out);
    return !(*most <= RB_THROUGH_SHARE * s->d->cache->kept_thin[k]);
}

/* Routes of geoms; where pairs are kept, of those of links that go far. */
static int take_routes(const rb_stage *s, routes *x)
{
    const rb_model *m = s->m;
    int any = 0, kept = rb_kept_serves(m) && s->d->cache->kept_of == m;
    for (int g = 0, last = -1, far = 1; g < m->ngeom; g++) {
        int k = m->geom_link[g];
        if (kept && k != last) far = link_goes_far(s, &x->way[last = k], k, &x->most[k]);
        x->of[g].far = x->of[g].known = 0;
        if (far && !(kept && rb_geom_is_visual(m, g))) x->of[g] = route_of(s, &x->way[k], g);
        if (x->of[g].far) any = 1;
    }
    return any;
}

/* Poses of d are those of q_new. 0: out of memory. */
static int find_routes(rb_stage *s, routes *x, int *any)
{
    const rb_model *m = s->m;
    rb_data *d = s->d;
    x->dq = rb_push(d->arena, double, m->nv);
    x->of = rb_push(d->arena, route, m->ngeom);
    for (int k = 0; k < 2; k++) x->link[k] = rb_push(d->arena, int, m->nlink);
    double *v = rb_push(d->arena, double, m->nv);
    x->way = rb_push(d->arena, rb_link_path, m->nlink);
    x->most = rb_push(d->arena, double, m->nlink);
    if (!x->dq || !x->of || !x->link[0] || !x->link[1] || !v || !x->way || !x->most) return 0;
    find_displacement(s, v, x->dq);
    rb_stage_link_paths(s, d->link_l, d->dof_S, x->dq, x->dq, x->way);
    *any = take_routes(s, x);
    return 1;
}

/* ---- a pair -----------------------------------------------------------------------------------
 */

static double inner_of(const rb_stage *s, const routes *x, int g, int other)
{
    rb_shape shape = form_of(s->m, g);
    if (shape.type != RB_GEOM_PLANE) return x->of[g].far ? x->of[g].inner : rb_bounds_inner(&shape);
    shape = form_of(s->m, other);
    return rb_bounds_inner(&shape) + rb_bounds_arm(&shape);
}

static void find_couple(const rb_stage *s, const routes *x, int g1, int g2, couple *p)
{
    const int *link = s->m->geom_link;
    int base = rb_branch_base(s->m, link[g1], link[g2]);
    for (int k = 0; k < 2; k++) {
        int g = p->geom[k] = k == 0 ? g1 : g2;
        p->n[k] = rb_branch_links(s->m, base, link[g], x->link[k]);
        if (base == 0) {
            p->of[k] = x->of[g];
        } else {
            rb_link_path way = rb_stage_link_path_on(s, p->n[k], x->link[k], x->dq);
            p->of[k] = route_of(s, &way, g);
        }
    }
}

/* Puts both where they are at s of the way. */
static void place(rb_stage *s, const routes *x, const couple *p, double at)
{
    rb_stage_kinematic_pose(s, at * s->h);
    for (int k = 0; k < 2; k++) {
        rb_branch_place(s->m, s->d, p->n[k], x->link[k], s->start.q, x->dq, at);
        rb_branch_place_geom(s->m, s->d, p->geom[k]);
    }
}

/* Gap of the pair at s of the way, or `reach` where it is more. */
static double gap_at(rb_stage *s, const routes *x, const couple *p, double at, double reach)
{
    rb_manifold_point point;
    int found = 0;
    place(s, x, p, at);
    rb_shape a = rb_geom_shape(s->m, s->d, p->geom[0]), b = rb_geom_shape(s->m, s->d, p->geom[1]);
    rb_status status = rb_pair_closest(&a, &b, reach, &point, &found);
    if (status == RB_TOO_LARGE) status = rb_pair_closest(&a, &b, 0.0, &point, &found);
    if (status != RB_OK) return 0.0;
    return found ? point.gap : reach;
}

/* Whether it is deeper than c anywhere, looked at for a motion of V (S.19). A way that needs too
 * many looks is halved first, unless the two are too far apart to meet on it. */
static int is_deep(rb_stage *s, const routes *x, const couple *p, double c, double V)
{
    int often = V > LOOKS * c;
    c = fmax(c, V / LOOKS);
    rb_shape one = form_of(s->m, p->geom[0]), two = form_of(s->m, p->geom[1]);
    int g1 = p->geom[0], g2 = p->geom[1];
    rb_touch_id id = { RB_CONSTRAINT_CONTACT, g1 < g2 ? g1 : g2, g1 < g2 ? g2 : g1, 0 };
    double deepest = c, far = rb_is_surface(&one) || rb_is_surface(&two) ? SURFACE_REACH * c : V;
    for (double at = 0.0; at < 1.0;) {
        double left = (1.0 - at) * V, gap = gap_at(s, x, p, at, fmin(left, far));
        if (at == 0.0) deepest += fmax(-rb_stage_start_floor(s, &id), fmax(0.0, -gap));
        if (gap < -deepest) return 1;
        if (gap >= left) return 0;
        if (often && !s->attempt.final) return 1;
        at += fmax(gap, c) / V;
    }
    return 0;
}

/* One of the pair goes through the other one. Poses of d are those of q_new, before and after. */
static int cuts(rb_stage *s, const routes *x, int g1, int g2)
{
    couple p;
    double v[3];
    find_couple(s, x, g1, g2, &p);
    const route *a = &p.of[0], *b = &p.of[1];
    rb_sub3(a->u, b->u, v);
    int plane = s->m->geom_type[g1] == RB_GEOM_PLANE || s->m->geom_type[g2] == RB_GEOM_PLANE;
    double way = (plane ? 0.0 : rb_norm3(v)) + a->e + b->e, V = rb_norm3(v) + a->v + b->v;
    double c = RB_THROUGH_SHARE * (inner_of(s, x, g1, g2) + inner_of(s, x, g2, g1));
    if (way <= c) return 0;

    int deep = is_deep(s, x, &p, c, V);
    place(s, x, &p, 1.0);
    return deep;
}

int rb_stage_meets(rb_stage *s, int geom1, int geom2)
{
    couple p;
    double v[3];
    routes x;
    int any, meets = 1;
    rb_mark mark = rb_arena_mark(s->d->arena);
    if (find_routes(s, &x, &any)) {
        for (int k = 0; k < 2; k++) {
            int g = k ? geom2 : geom1;
            x.of[g] = route_of(s, &x.way[s->m->geom_link[g]], g);
        }
        find_couple(s, &x, geom1, geom2, &p);
        rb_sub3(p.of[0].u, p.of[1].u, v);
        double V = rb_norm3(v) + p.of[0].v + p.of[1].v, at = 0.0, gap = 0.0;
        double least = fmax(rb_stage_pair_overlap(s, geom1, geom2), V / LOOKS);
        for (; at < 1.0 && gap >= -least; at += fmax(gap, least) / V)
            gap = gap_at(s, &x, &p, at, (1.0 - at) * V);
        meets = gap < -least;
        place(s, &x, &p, 1.0);
    }
    rb_arena_reset(s->d->arena, mark);
    return meets;
}

static rb_status refuse(rb_stage *s, int g1, int g2)
{
    char first[160], second[160];
    return rb_fail(s->err, RB_UNSOLVED, "%s and %s would pass through each other: shorten the step",
                   rb_geom_title(s->m, g1, first, sizeof first),
                   rb_geom_title(s->m, g2, second, sizeof second));
}

/* Contacts of the pair are watched by their gaps, not held by rows. */
static int flies(const rb_stage *s, int g1, int g2)
{
    return !rb_flight_holds(s->events.flight, g1, g2, UINT32_MAX);
}

static rb_status look_at_pair(rb_stage *s, const routes *x, int g1, int g2)
{
    if ((!x->of[g1].far && !x->of[g2].far) || flies(s, g1, g2)) return RB_OK;
    return cuts(s, x, g1, g2) ? refuse(s, g1, g2) : RB_OK;
}

/* ---- all pairs --------------------------------------------------------------------------------
 */

typedef struct boxes {
    rb_filter filter;
    rb_aabb *box; /* around the way of each geom that is not a plane      (n)     */
    int *geom;    /*                                                      (n)     */
    int n;
} boxes;

static rb_aabb box_of(const rb_stage *s, const route *it, int g)
{
    rb_aabb box;
    rb_shape shape = rb_geom_shape(s->m, s->d, g);
    double half[3];
    rb_bounds_half(&shape, half);
    for (int k = 0; k < 3; k++) {
        box.lo[k] = shape.p[k] - half[k] - it->e - fmax(it->u[k], 0.0);
        box.hi[k] = shape.p[k] + half[k] + it->e - fmin(it->u[k], 0.0);
    }
    return box;
}

static rb_status look_at_planes(rb_stage *s, const routes *x, const boxes *all)
{
    int pair;
    rb_status status = RB_OK;
    for (int plane = 0; plane < s->m->ngeom; plane++) {
        if (s->m->geom_type[plane] != RB_GEOM_PLANE) continue;
        for (int i = 0; i < all->n && status == RB_OK; i++) {
            int g = all->geom[i], first = g < plane ? g : plane, second = g < plane ? plane : g;
            if (x->of[g].far && rb_filter_pass(&all->filter, first, second, &pair))
                status = look_at_pair(s, x, first, second);
        }
    }
    return status;
}

/* Pairs whose boxes meet, before anything moves d. */
static rb_status look_at_all(rb_stage *s, const routes *x)
{
    const rb_model *m = s->m;
    rb_arena *arena = s->d->arena;
    boxes all = { .box = rb_push(arena, rb_aabb, m->ngeom), .geom = rb_push(arena, int, m->ngeom) };
    int *first, *partner, done, pair;
    rb_broad tree;
    if (!all.box || !all.geom || rb_filter_make(m, arena, &all.filter) != RB_OK) return RB_NOMEM;
    for (int g = 0; g < m->ngeom; g++) {
        if (m->geom_type[g] == RB_GEOM_PLANE) continue;
        all.box[all.n] = box_of(s, &x->of[g], g);
        all.geom[all.n++] = g;
    }
    if (!rb_grid_pairs(all.n, all.box, arena, &first, &partner, &done)) return RB_NOMEM;
    if (!done && (!rb_broad_make(&tree, all.n, all.box, arena) ||
                  !rb_broad_pairs(&tree, arena, &first, &partner)))
        return RB_NOMEM;
    rb_status status = look_at_planes(s, x, &all);
    for (int i = 0; i < all.n; i++) {
        for (int k = first[i]; k < first[i + 1] && status == RB_OK; k++) {
            int g1 = all.geom[i], g2 = all.geom[partner[k]];
            if ((x->of[g1].far || x->of[g2].far) && rb_filter_pass(&all.filter, g1, g2, &pair))
                status = look_at_pair(s, x, g1, g2);
        }
    }
    return status;
}

static rb_status look_at_near(rb_stage *s, const routes *x)
{
    rb_status status = RB_OK;
    for (int i = 0; i < s->near.pairs.n && status == RB_OK; i++)
        status = look_at_pair(s, x, s->near.pairs.pair[i][0], s->near.pairs.pair[i][1]);
    return status;
}

/* How far it goes at most [m]. */
static double most_of(const rb_stage *s, const routes *x, int g)
{
    return x->of[g].known ? x->of[g].all : x->most[s->m->geom_link[g]];
}

/* They are known to be farther apart than they go. */
static int is_apart(const rb_stage *s, const routes *x, int i)
{
    const int *geom = s->m->meet[i].geom;
    int kind = s->d->cache->kept[i].kind;
    double ways = most_of(s, x, geom[0]) + most_of(s, x, geom[1]) + RB_GAP_DEEP * s->given->size;
    return kind != RB_KEPT_SURFACE && kind != RB_KEPT_FIELD && rb_kept_left(s->m, s->d, i) > ways;
}

/* Whether the ways of both may meet. */
static int may_meet(const rb_stage *s, const routes *x, int i)
{
    const rb_model *m = s->m;
    const int *geom = m->meet[i].geom;
    const route *a = &x->of[geom[0]], *b = &x->of[geom[1]];
    if (m->geom_type[geom[0]] == RB_GEOM_PLANE || m->geom_type[geom[1]] == RB_GEOM_PLANE) return 1;
    rb_aabb box1 = box_of(s, a, geom[0]), box2 = box_of(s, b, geom[1]);
    return rb_aabb_meets(&box1, &box2);
}

/* Whether a geom of pair i goes far and they may meet; known: what is left of their gap is. */
static int is_chosen(const rb_stage *s, const routes *x, int i, int known)
{
    const rb_model *m = s->m;
    const int *geom = m->meet[i].geom;
    if (!x->of[geom[0]].far && !x->of[geom[1]].far) return 0;
    if (m->meet[i].family && m->option.filter_parent) return 0;
    if (known && is_apart(s, x, i)) return 0;
    for (int k = 0; k < 2; k++) {
        route *of = &x->of[geom[k]];
        if (!of->known) *of = route_of(s, &x->way[m->geom_link[geom[k]]], geom[k]);
    }
    return !(known && is_apart(s, x, i)) && may_meet(s, x, i);
}

/* Pairs that are listed. All are chosen before anything moves d. */
static rb_status look_at_kept(rb_stage *s, const routes *x)
{
    const rb_model *m = s->m;
    int n = 0, known = rb_kept_follow(m, s->d), *chosen = rb_push(s->d->arena, int, m->nmeet);
    int near = !chosen ? -1
               : known ? rb_kept_within(m, s->d, x->most, RB_GAP_DEEP * s->given->size, chosen)
                       : m->nmeet;
    rb_status status = near < 0 ? RB_NOMEM : RB_OK;
    for (int i = 0; i < near; i++) {
        int pair = known ? chosen[i] : i;
        if (is_chosen(s, x, pair, known)) chosen[n++] = pair;
    }
    for (int i = 0; i < n && status == RB_OK; i++)
        status = look_at_pair(s, x, m->meet[chosen[i]].geom[0], m->meet[chosen[i]].geom[1]);
    return status;
}

rb_status rb_stage_tunnelling(rb_stage *s)
{
    routes x;
    int any = 0;
    if (!may_go_far(s)) return RB_OK;
    rb_mark mark = rb_arena_mark(s->d->arena);
    rb_status status = find_routes(s, &x, &any) ? RB_OK : RB_NOMEM;
    if (status == RB_OK && any) {
        status = rb_kept_serves(s->m) ? look_at_kept(s, &x)
                 : s->near.complete   ? look_at_near(s, &x)
                                      : look_at_all(s, &x);
    }
    rb_arena_reset(s->d->arena, mark);
    return status;
}
