/* Pairs of geoms are kept from call to call. Most of them are far from each other for many steps.
 *
 * Let a call find that the gap of a pair is at least g. From call to call a link moves from p, R to
 * p', R': a point of it at r from its origin by not more than |p' - p| + |R' - R|_F |r| / sqrt(2).
 * With the sums X and T of both terms over all calls and r_a the largest distance of geom a from
 * its link origin, its path is Y_a = X + T r_a, and in a later call
 *
 *     gap >= g - (Y_a - Y_a*) - (Y_b - Y_b*) = limit - Y_a - Y_b                            (G.33)
 *
 * where stars are of the call that found g. Within h no point of a goes farther than
 *
 *     reach_a = h (|v| + |w| r_a + h/2 ((|w|^2 + |dw|) r_a + |dv|) + dv_max)                (G.34)
 *
 * as (G.30) has it, and a pair need not be examined while limit - Y_a - Y_b > reach_a + reach_b.
 * Paths of pairs of one tree whose first link is free to move are measured on that link: a robot
 * that walks does not come nearer to itself.
 *
 * The same is tested for all pairs of two links at once, with the largest r_a of each. With Z the
 * sum over all calls of the path of the geom that moved most, bounds decrease by 2 (Z - Z*) at
 * most: that is tested first, for pairs of links and for all pairs. So the cost of a step in which
 * nothing is near is proportional to the number of links.
 *
 * None of this is part of the state: pairs that are skipped could not have become contacts. */
#include "collide/kept.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/constants.h"
#include "collide/bounds.h"
#include "collide/core.h"
#include "collide/pairs.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "model/cache.h"

/* Paths, in extents of the model, at which all is computed again [1]. Larger: rounding of sums. */
static const double far_away = 1e4;

static const double half_root = 0.70710678118654757; /* 1 / sqrt(2), rounded up */

/* ---- the first call ---------------------------------------------------------------------------
 */

/* It moves freely, and what hangs on it is seen from it. */
static int carries(const rb_model *m, int root)
{
    if (m->link_tree[root] < 0) return 1;
    return m->link_jntnum[root] == 1 && m->jnt_type[m->link_jntadr[root]] == RB_JOINT_FREE;
}

/* The first link of the tree of each, where that moves freely, else 0. */
static void find_roots(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    cache->kept_root[0] = 0;
    for (int k = 1; k < m->nlink; k++) {
        int parent = m->link_parent[k], first = carries(m, k) ? k : 0;
        cache->kept_root[k] = parent == 0 ? first : cache->kept_root[parent];
    }
}

static rb_kept_kind kind_of(const rb_model *m, const rb_data *d, const rb_meet *meet)
{
    rb_shape a = rb_geom_shape(m, d, meet->geom[0]), b = rb_geom_shape(m, d, meet->geom[1]);
    int plane1 = a.type == RB_GEOM_PLANE, plane2 = b.type == RB_GEOM_PLANE;
    int surface = rb_is_surface(&a) + rb_is_surface(&b), plane = plane1 ? 0 : 1;
    if (meet->family && m->option.filter_parent) return RB_KEPT_NEVER;
    if (plane1 || plane2) {
        int fixed = m->geom_link[meet->geom[plane]] == 0;
        return fixed && rb_pair_is_known(&a, &b) && !surface
                   ? (plane1 ? RB_KEPT_PLANE1 : RB_KEPT_PLANE2)
                   : RB_KEPT_ALWAYS;
    }
    if (surface > 1) return RB_KEPT_ALWAYS;
    if (a.type == RB_GEOM_HFIELD || b.type == RB_GEOM_HFIELD) return RB_KEPT_FIELD;
    rb_core core;
    if (!rb_core_make(&a, a.p, &core) || !rb_core_make(&b, b.p, &core)) return RB_KEPT_ALWAYS;
    if (surface) return RB_KEPT_SURFACE;
    return rb_pair_is_known(&a, &b) ? RB_KEPT_CONVEX : RB_KEPT_ALWAYS;
}

/* Largest distance of the surface from the origin of its link, for rotations of the link. Planes
 * that move are always examined. */
static double reach_out(const rb_model *m, const rb_data *d, int g)
{
    int link = m->geom_link[g];
    rb_shape shape = rb_geom_shape(m, d, g);
    double r[3];
    if (link == 0 || shape.type == RB_GEOM_PLANE) return 0.0;
    rb_sub3(shape.p, d->link_p + 3 * (ptrdiff_t)link, r);
    return rb_norm3(r) * (1.0 + RB_GAP_TIE) + rb_bounds_arm(&shape);
}

/* Radius of the ball inside; of hulls at least a tenth of their extent. INFINITY: it is thin, and
 * nothing is lost by going through it. */
static double thickness(const rb_model *m, const rb_data *d, int g)
{
    rb_shape shape = rb_geom_shape(m, d, g);
    double inner = rb_bounds_inner(&shape);
    if (!(inner > 0.0)) return INFINITY;
    if (shape.type != RB_GEOM_MESH) return inner;
    const double *half = m->mesh_half + 3 * (ptrdiff_t)shape.asset;
    return rb_larger(inner, 0.1 * rb_smaller(half[0], rb_smaller(half[1], half[2])));
}

/* Of all geoms that may touch something. */
static void measure_geoms(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    for (int k = 0; k < m->nlink; k++)
        cache->kept_link_out[k] = 0.0, cache->kept_thin[k] = INFINITY;
    for (int g = 0; g < m->ngeom; g++) cache->kept_out[g] = -1.0;
    for (int i = 0; i < 2 * m->nmeet; i++) {
        int g = m->meet[i / 2].geom[i % 2], k = m->geom_link[g];
        if (cache->kept_out[g] >= 0.0) continue;
        cache->kept_out[g] = reach_out(m, d, g);
        cache->kept_link_out[k] = rb_larger(cache->kept_link_out[k], cache->kept_out[g]);
        cache->kept_thin[k] = rb_smaller(cache->kept_thin[k], thickness(m, d, g));
    }
}

static int group_of(const rb_model *m, rb_data *d, int pair, int *known)
{
    rb_cache *cache = d->cache;
    const int *geom = m->meet[pair].geom;
    int a = m->geom_link[geom[0]], b = m->geom_link[geom[1]];
    int *found = known ? &known[(ptrdiff_t)a * m->nlink + b] : NULL;
    if (found && *found >= 0) return *found;
    int g = cache->kept_ngroup++;
    cache->kept_group[g] = (rb_kept_group){ .link = { a, b },
                                            .row = -1,
                                            .rides = cache->kept[pair].rides,
                                            .convex = 1,
                                            .low = -INFINITY,
                                            .due = -INFINITY };
    if (found) *found = g;
    return g;
}

static int is_convex(int kind)
{
    return kind != RB_KEPT_SURFACE && kind != RB_KEPT_FIELD;
}

/* Rows of each group, ascending, and of what kind its pairs are. */
static void chain_rows(rb_data *d)
{
    rb_cache *cache = d->cache;
    for (int r = cache->kept_nrow - 1; r >= 0; r--) {
        rb_kept_row *row = &cache->kept_row[r];
        rb_kept_group *group = &cache->kept_group[row->group];
        row->next = group->row;
        group->row = r;
        for (int i = row->first; i < row->end; i++) {
            group->convex &= is_convex(cache->kept[i].kind);
        }
    }
}

/* Where there is no memory to find groups again, each row has its own. */
static void list_rows(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    rb_mark mark = rb_arena_mark(d->arena);
    size_t links = (size_t)m->nlink;
    int n = 0, *known = rb_push(d->arena, int, links *links);
    for (size_t i = 0; i < links * links && known; i++) known[i] = -1;
    cache->kept_ngroup = 0;
    for (int i = 0; i < m->nmeet; i++) {
        const int *geom = m->meet[i].geom, *last = i > 0 ? m->meet[i - 1].geom : geom;
        int same = geom[0] == last[0] && m->geom_link[geom[1]] == m->geom_link[last[1]];
        if (i == 0 || !same)
            cache->kept_row[n++] = (rb_kept_row){ .first = i, .group = group_of(m, d, i, known) };
        cache->kept_row[n - 1].end = i + 1;
    }
    cache->kept_nrow = n;
    chain_rows(d);
    rb_arena_reset(d->arena, mark);
}

static void remember_poses(const rb_model *m, rb_data *d)
{
    size_t n = (size_t)m->nlink;
    memcpy(d->cache->kept_pose, d->link_p, 3 * n * sizeof(double));
    memcpy(d->cache->kept_pose + 3 * n, d->link_R, 9 * n * sizeof(double));
}

/* Nothing is known of any pair. */
static void start(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    cache->kept_of = m;
    cache->kept_parent = m->option.filter_parent;
    memset(cache->kept_way, 0, 4 * (size_t)m->nlink * sizeof(double));
    find_roots(m, d);
    for (int c = 0; c < 2; c++) cache->kept_far[c] = 0.0, cache->kept_left[c] = -INFINITY;
    for (int i = 0; i < m->nmeet; i++) {
        const rb_meet *meet = &m->meet[i];
        int root = cache->kept_root[m->geom_link[meet->geom[0]]];
        int rides = root > 0 && root == cache->kept_root[m->geom_link[meet->geom[1]]];
        rb_kept_kind kind = kind_of(m, d, meet);
        cache->kept[i] = (rb_kept_pair){ .limit = kind == RB_KEPT_NEVER ? INFINITY : -INFINITY,
                                         .kind = (signed char)kind,
                                         .rides = (signed char)rides };
    }
    measure_geoms(m, d);
    list_rows(m, d);
    remember_poses(m, d);
}

/* ---- how links have moved ---------------------------------------------------------------------
 */

/* |x - y| of n numbers. */
static double distance(int n, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

/* Adds a move to the paths of a link; how far its geoms have moved. */
static double add_way(double *way, double move, double turn, double out)
{
    turn *= half_root;
    way[0] += move;
    way[1] += turn;
    return move + turn * out;
}

/* Since the last call the first link of a tree went from p0, R0 to p, R: A takes old axes to new.
 */
typedef struct carrier {
    int root;
    double A[9];
    const double *p0, *p;
} carrier;

static carrier carrier_of(const rb_model *m, const rb_data *d, int root)
{
    const double *R0 = d->cache->kept_pose + 3 * (ptrdiff_t)m->nlink + 9 * (ptrdiff_t)root;
    carrier c = { .root = root,
                  .p0 = d->cache->kept_pose + 3 * (ptrdiff_t)root,
                  .p = d->link_p + 3 * (ptrdiff_t)root };
    const double *R = d->link_R + 9 * (ptrdiff_t)root;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) c.A[3 * i + j] = rb_dot3(R + 3 * i, R0 + 3 * j); /* R R0' */
    }
    return c;
}

/* The way of link k beside that of its carrier. */
static double ride(const rb_data *d, const carrier *c, int k, int nlink, double out)
{
    rb_cache *cache = d->cache;
    const double *p0 = cache->kept_pose + 3 * (ptrdiff_t)k;
    const double *R0 = cache->kept_pose + 3 * (ptrdiff_t)nlink + 9 * (ptrdiff_t)k;
    double r[3], p[3], R[9];
    rb_sub3(p0, c->p0, r);
    rb_rot(c->A, r, p);
    rb_add3(p, c->p, p);
    rb_mul33(c->A, R0, R);
    double move = distance(3, d->link_p + 3 * (ptrdiff_t)k, p);
    double turn = distance(9, d->link_R + 9 * (ptrdiff_t)k, R);
    return add_way(cache->kept_way + 4 * (ptrdiff_t)k + 2, move, turn, out);
}

/* Paths since the last call. */
static void travel(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    size_t n = (size_t)m->nlink;
    const double *p0 = cache->kept_pose, *R0 = p0 + 3 * n;
    double far[2] = { 0.0, 0.0 };
    if (memcmp(p0, d->link_p, 3 * n * sizeof *p0) == 0 &&
        memcmp(R0, d->link_R, 9 * n * sizeof *R0) == 0)
        return;
    carrier at = { .root = 0 };
    for (int k = 1; k < m->nlink; k++) {
        int on = cache->kept_root[k];
        ptrdiff_t of = k;
        double out = cache->kept_link_out[k];
        double move = distance(3, d->link_p + 3 * of, p0 + 3 * of);
        double turn = distance(9, d->link_R + 9 * of, R0 + 9 * of);
        far[0] = rb_larger(far[0], add_way(cache->kept_way + 4 * of, move, turn, out));
        if (on == k || on == 0) continue;
        if (at.root != on) at = carrier_of(m, d, on);
        far[1] = rb_larger(far[1], ride(d, &at, k, m->nlink, out));
    }
    for (int c = 0; c < 2; c++) cache->kept_far[c] += far[c];
    remember_poses(m, d);
}

/* ---- a call -----------------------------------------------------------------------------------
 */

/* (G.34) of a link whose geoms reach out that far; not finite where its numbers are not. */
static double reach_of(const rb_model *m, const rb_data *d, int link, double h, double dv_max)
{
    ptrdiff_t k = link;
    const double *a = d->link_a + 6 * k;
    double w = rb_norm3(d->link_w + 3 * k), out = d->cache->kept_link_out[link];
    double bend = (w * w + rb_norm3(a)) * out + rb_norm3(a + 3);
    double speed = rb_norm3(d->link_v + 3 * k) + w * out + 0.5 * h * bend;
    if (m->link_tree[link] >= 0) speed += dv_max;
    return h * speed;
}

/* Poses are finite, and so near that squares of distances are; the largest of these goes to far. */
static int is_placed(const rb_model *m, const rb_data *d, double *far)
{
    double sum = 0.0, most = 0.0;
    for (int i = 0; i < 9 * m->nlink; i++) sum += d->link_R[i];
    for (int k = 0; k < m->nlink; k++) {
        const double *p = d->link_p + 3 * (ptrdiff_t)k;
        double square = rb_dot3(p, p);
        most = rb_larger(most, square);
        sum += square;
    }
    *far = sqrt(most);
    return sum * 0.0 == 0.0;
}

/* Reaches of all links. 0: a velocity is not a number. */
static int find_reaches(rb_keeper *k, double h, double dv_max)
{
    const rb_model *m = k->m;
    double sum = 0.0;
    k->reach[0] = k->reach_most = 0.0;
    for (int i = 1; i < m->nlink; i++) {
        k->reach[i] = h > 0.0 ? reach_of(m, k->d, i, h, dv_max) : 0.0;
        k->reach_most = rb_larger(k->reach_most, k->reach[i]);
        sum += k->reach[i];
    }
    return !isnan(sum);
}

int rb_kept_follow(const rb_model *m, rb_data *d)
{
    rb_cache *cache = d->cache;
    if (cache->kept_of != m || cache->kept_parent != m->option.filter_parent) return 0;
    cache->kept_calls++;
    travel(m, d);
    return 1;
}

int rb_kept_begin(const rb_model *m, rb_data *d, double h, double dv_max, rb_keeper *k)
{
    double far;
    if (!rb_kept_serves(m) || d->nmeet != m->nmeet || !is_placed(m, d, &far)) return 0;
    *k = (rb_keeper){ .m = m, .d = d, .asked = -1, .row = -1 };
    k->reach = rb_push(d->arena, double, m->nlink);
    k->group = rb_push(d->arena, int, 2 * (size_t)m->nmeet);
    if (!k->reach || !k->group) return -1;
    k->rows = k->group + m->nmeet;
    k->slack = RB_GAP_DEEP * m->extent + RB_GAP_TIE * far;
    if (!rb_kept_follow(m, d) || !(d->cache->kept_far[0] < far_away * m->extent)) start(m, d);
    return find_reaches(k, h, dv_max);
}

/* Y of (G.33). */
static double way_of(const rb_model *m, const rb_data *d, int g, int rides)
{
    const double *way = d->cache->kept_way + 4 * (ptrdiff_t)m->geom_link[g] + 2 * rides;
    return way[0] + way[1] * d->cache->kept_out[g];
}

static double ways_of(const rb_model *m, const rb_data *d, int pair)
{
    const int *geom = m->meet[pair].geom;
    int rides = d->cache->kept[pair].rides;
    return way_of(m, d, geom[0], rides) + way_of(m, d, geom[1], rides);
}

double rb_kept_left(const rb_model *m, const rb_data *d, int pair)
{
    return d->cache->kept[pair].limit - ways_of(m, d, pair);
}

double rb_kept_reach(const rb_keeper *k, int pair)
{
    const int *geom = k->m->meet[pair].geom, *link = k->m->geom_link;
    return k->reach[link[geom[0]]] + k->reach[link[geom[1]]] + k->slack;
}

/* What is not a number is less. */
static void keep_least(double *least, double x)
{
    if (!(x >= *least)) *least = x;
}

static int is_clear(const rb_keeper *k, const double left[2], double reach)
{
    const double *far = k->d->cache->kept_far;
    return left[0] - 2.0 * far[0] > reach && left[1] - 2.0 * far[1] > reach;
}

/* Y of (G.33) with all that geoms of link k reach out. */
static double link_way(const rb_data *d, int k, int rides)
{
    const double *way = d->cache->kept_way + 4 * (ptrdiff_t)k + 2 * rides;
    return way[0] + way[1] * d->cache->kept_link_out[k];
}

static double group_left(const rb_data *d, const rb_kept_group *g)
{
    return g->low - (link_way(d, g->link[0], g->rides) + link_way(d, g->link[1], g->rides));
}

/* Rows of open groups, ascending. */
static int list_open_rows(const rb_data *d, int ngroup, const int *group, int *rows)
{
    rb_cache *cache = d->cache;
    enum { FEW = 24 }; /* more are not sorted but found one by one */
    int n = 0;
    for (int i = 0; i < ngroup && n <= FEW; i++) {
        for (int r = cache->kept_group[group[i]].row; r >= 0 && n <= FEW;
             r = cache->kept_row[r].next) {
            int at = n++;
            for (; at > 0 && rows[at - 1] > r; at--) rows[at] = rows[at - 1];
            rows[at] = r;
        }
    }
    if (n <= FEW) return n;
    n = 0;
    for (int r = 0; r < cache->kept_nrow; r++) {
        rows[n] = r;
        n += cache->kept_group[cache->kept_row[r].group].open;
    }
    return n;
}

/* Which groups have a pair that may be near. */
static void open_groups(rb_keeper *k)
{
    rb_data *d = k->d;
    double far[2] = { 2.0 * d->cache->kept_far[0], 2.0 * d->cache->kept_far[1] };
    double most = 2.0 * k->reach_most + k->slack, late[2] = { most + far[0], most + far[1] };
    double least[2] = { INFINITY, INFINITY };
    for (int i = 0; i < d->cache->kept_ngroup; i++) {
        rb_kept_group *g = &d->cache->kept_group[i];
        int c = g->rides;
        g->open = 0;
        if (!(g->due > late[c])) {
            double left = group_left(d, g);
            g->due = left + far[c];
            g->open = !(left > k->reach[g->link[0]] + k->reach[g->link[1]] + k->slack);
            g->next = INFINITY;
        }
        if (g->open)
            k->group[k->ngroup++] = i;
        else if (g->due < least[c])
            least[c] = g->due;
    }
    for (int c = 0; c < 2; c++) k->least[c] = least[c];
    k->nrow = list_open_rows(d, k->ngroup, k->group, k->rows);
}

/* All pairs of open groups were counted. */
static void close_groups(rb_keeper *k)
{
    rb_data *d = k->d;
    for (int i = 0; i < k->ngroup; i++) {
        rb_kept_group *g = &d->cache->kept_group[k->group[i]];
        int c = g->rides;
        g->low = g->next + (link_way(d, g->link[0], c) + link_way(d, g->link[1], c));
        g->due = g->next + 2.0 * d->cache->kept_far[c];
        keep_least(&k->least[c], g->due);
    }
    for (int c = 0; c < 2; c++) d->cache->kept_left[c] = k->least[c];
}

/* at: the next pair of the row that may be near. 0: there is none. */
static int find_in_row(rb_keeper *k, const rb_kept_row *row)
{
    const rb_model *m = k->m;
    rb_data *d = k->d;
    rb_kept_group *group = &d->cache->kept_group[row->group];
    const double *way = d->cache->kept_way + 4 * (ptrdiff_t)group->link[1] + 2 * group->rides;
    double first = way_of(m, d, m->meet[row->first].geom[0], group->rides);
    double reach = k->reach[group->link[0]] + k->reach[group->link[1]] + k->slack;
    double move = way[0], turn = way[1], least = group->next;
    int i = k->at, near = 0;
    for (; i < row->end && !near; i++) {
        double out = d->cache->kept_out[m->meet[i].geom[1]];
        double left = d->cache->kept[i].limit - (first + (move + turn * out));
        near = !(left > reach);
        if (!near) keep_least(&least, left);
    }
    group->next = least;
    k->at = near ? i - 1 : i;
    return near;
}

/* Takes the result of the last pair. */
static void count_asked(rb_keeper *k)
{
    rb_data *d = k->d;
    if (k->asked < 0) return;
    const rb_kept_row *row = &d->cache->kept_row[k->rows[k->row]];
    keep_least(&d->cache->kept_group[row->group].next, rb_kept_left(k->m, d, k->asked));
    k->asked = -1;
}

int rb_kept_next(rb_keeper *k)
{
    const rb_data *d = k->d;
    if (k->row < 0) {
        if (is_clear(k, d->cache->kept_left, 2.0 * k->reach_most + k->slack)) return -1;
        open_groups(k);
    }
    count_asked(k);
    for (int begins = k->row < 0;; begins = 1) {
        if (begins) {
            if (++k->row == k->nrow) break;
            k->at = d->cache->kept_row[k->rows[k->row]].first;
        }
        if (find_in_row(k, &d->cache->kept_row[k->rows[k->row]])) return k->asked = k->at++;
    }
    close_groups(k);
    return -1;
}

void rb_kept_note(rb_keeper *k, int pair, double gap, const double *n, int near)
{
    rb_kept_pair *kept = &k->d->cache->kept[pair];
    int link = k->m->geom_link[k->m->meet[pair].geom[0]];
    kept->near = (signed char)near;
    if (kept->kind == RB_KEPT_ALWAYS) return;
    kept->limit = rb_larger(kept->limit, gap + ways_of(k->m, k->d, pair));
    if (n) rb_rot_t(k->d->link_R + 9 * (ptrdiff_t)link, n, kept->n);
}

/* ---- moves that are known otherwise -----------------------------------------------------------
 */

static int pair_stays(const rb_model *m, const rb_data *d, int i, const double *way, double slack)
{
    const int *geom = m->meet[i].geom;
    int rides = d->cache->kept[i].rides;
    double move = way[2 * (ptrdiff_t)m->geom_link[geom[0]] + rides];
    move += way[2 * (ptrdiff_t)m->geom_link[geom[1]] + rides];
    return rb_kept_left(m, d, i) > move + slack;
}

/* Whether pairs of a group may touch while its links go by `ways` [m]. */
static int group_opens(const rb_data *d, const rb_kept_group *g, double ways)
{
    if (g->due - 2.0 * d->cache->kept_far[g->rides] > ways) return 0;
    return !(group_left(d, g) > ways);
}

/* Adds the pairs of a row whose gap is not more than `reach`. */
static int list_row(const rb_model *m, const rb_data *d, const rb_kept_row *row, double reach,
                    int *pairs)
{
    rb_cache *cache = d->cache;
    const rb_kept_group *g = &cache->kept_group[row->group];
    const double *way = cache->kept_way + 4 * (ptrdiff_t)g->link[1] + 2 * g->rides;
    double first = way_of(m, d, m->meet[row->first].geom[0], g->rides);
    int n = 0;
    for (int i = row->first; i < row->end; i++) {
        double out = cache->kept_out[m->meet[i].geom[1]];
        double left = cache->kept[i].limit - (first + (way[0] + way[1] * out));
        if (!(left > reach) || !is_convex(cache->kept[i].kind)) pairs[n++] = i;
    }
    return n;
}

int rb_kept_within(const rb_model *m, rb_data *d, const double *way, double slack, int *pairs)
{
    rb_cache *cache = d->cache;
    rb_mark mark = rb_arena_mark(d->arena);
    int n = 0, ngroup = 0, *group = rb_push(d->arena, int, 2 * (size_t)m->nmeet);
    if (!group) return -1;
    int *rows = group + m->nmeet;
    for (int i = 0; i < cache->kept_ngroup; i++) {
        rb_kept_group *g = &cache->kept_group[i];
        g->open = !g->convex || group_opens(d, g, way[g->link[0]] + way[g->link[1]] + slack);
        if (g->open) group[ngroup++] = i;
    }
    int nrow = list_open_rows(d, ngroup, group, rows);
    for (int r = 0; r < nrow; r++) {
        const rb_kept_row *row = &cache->kept_row[rows[r]];
        const int *link = cache->kept_group[row->group].link;
        n += list_row(m, d, row, way[link[0]] + way[link[1]] + slack, pairs + n);
    }
    rb_arena_reset(d->arena, mark);
    return n;
}

int rb_kept_stays(const rb_model *m, rb_data *d, const double *way, double slack)
{
    rb_cache *cache = d->cache;
    for (int i = 0; i < 2 * m->nlink; i++) {
        if (!(way[i] < INFINITY)) return 0;
    }
    for (int i = 0; i < cache->kept_ngroup; i++) {
        const rb_kept_group *g = &cache->kept_group[i];
        ptrdiff_t a = g->link[0], b = g->link[1];
        if (!group_opens(d, g, way[2 * a + g->rides] + way[2 * b + g->rides] + slack)) continue;
        for (int r = g->row; r >= 0; r = cache->kept_row[r].next) {
            for (int p = cache->kept_row[r].first; p < cache->kept_row[r].end; p++) {
                if (!pair_stays(m, d, p, way, slack)) return 0;
            }
        }
    }
    return 1;
}
