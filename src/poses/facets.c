/* The poses of a convex part on a plane: valleys of the height of its centre of mass.
 *
 *     h(d) = max over vertices x of d.(x - c),   d the direction that points down      (Q.1)
 *
 * Over the directions that a vertex supports, h is a cosine about the direction of that vertex
 * (Q.2): it falls towards the rim of its cell, and along the rim, which the edges support, towards
 * the facets or over a pass between them. So every valley has a facet at its bottom, and the lowest
 * path from one to another crosses edges alone (Q.3). The valleys are found by joining facets
 * over passes, the lowest first; one that is shallower than the merging depth belongs to what it
 * opens to, so that a finely cut cylinder has one pose on its side and not a hundred. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "poses/part.h"

/* Facets of a pose lie in one plane where their normals differ by less [rad]: rounding of meshes
 * stored as float makes 1e-6, chamfers of a degree are 0.017. */
#define SAME_PLANE 2e-3

/* A pose whose stable facets turn by more than this [rad] rolls. */
#define ROLLS 0.5

/* Normals that lie on one circle but for this [1] roll about its axis; a ball is off by 1. */
#define ONE_CIRCLE 0.05

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x;
    out[1] = y;
}

static double norm(const double a[3])
{
    return sqrt(dot(a, a));
}

/* ---- facets -------------------------------------------------------------------------------------
 */

static int loop_end(const rb_part *p, int f)
{
    return f + 1 < p->nface ? p->face[f + 1].start : p->nloop;
}

/* The entry after k in the loop of face f. */
static int next(const rb_part *p, int f, int k)
{
    return k + 1 < loop_end(p, f) ? k + 1 : p->face[f].start;
}

static const double *corner(const rb_part *p, int k)
{
    return p->vert + 3 * (size_t)p->loop[k];
}

/* Solid angle of a triangle from the origin, by its corners [sr]. */
static double triangle_angle(const double a[3], const double b[3], const double c[3])
{
    double n[3], la = norm(a), lb = norm(b), lc = norm(c);
    cross(b, c, n);
    return 2.0 *
           atan2(fabs(dot(a, n)), la * lb * lc + dot(a, b) * lc + dot(a, c) * lb + dot(b, c) * la);
}

static void measure_facet(rb_part *p, int f)
{
    rb_facet *face = &p->face[f];
    double sum[3] = { 0.0 }, angle = 0.0;
    const double *a = corner(p, face->start);
    for (int k = face->start + 1; k + 1 < loop_end(p, f); k++) {
        double u[3], v[3], n[3];
        const double *b = corner(p, k), *c = corner(p, k + 1);
        for (int i = 0; i < 3; i++) {
            u[i] = b[i] - a[i];
            v[i] = c[i] - a[i];
        }
        cross(u, v, n);
        for (int i = 0; i < 3; i++) sum[i] += 0.5 * n[i];
        angle += triangle_angle(a, b, c);
    }
    face->area = norm(sum);
    for (int i = 0; i < 3; i++) face->n[i] = face->area > 0.0 ? sum[i] / face->area : 0.0;
    face->height = dot(face->n, a);
    face->solid = angle / (4.0 * acos(-1.0));
}

/* How far the projection of the centre of mass lies beyond the edge that begins at k [m]. */
static double beyond(const rb_part *p, int f, int k)
{
    const double *a = corner(p, k), *b = corner(p, next(p, f, k));
    double e[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] }, out[3];
    cross(e, p->face[f].n, out);
    double length = norm(out);
    return length > 0.0 ? -dot(a, out) / length : 0.0;
}

/* The facet that the part rolls to from f: over the edge that is violated most (Q.5). */
static int roll(const rb_part *p, int f)
{
    double most = 0.0;
    int to = f;
    for (int k = p->face[f].start; k < loop_end(p, f); k++) {
        double violation = beyond(p, f, k);
        if (violation <= most || p->face[p->across[k]].height >= p->face[f].height) continue;
        most = violation;
        to = p->across[k];
    }
    return to;
}

typedef struct edge {
    int from, to, entry;
} edge;

static int by_ends(const void *x, const void *y)
{
    const edge *a = x, *b = y;
    return a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                              : (a->to > b->to) - (a->to < b->to);
}

/* Fills across[]. 0: out of memory, or the hull is not closed. */
static int find_neighbours(rb_part *p)
{
    edge *edges = malloc((size_t)p->nloop * sizeof *edges);
    int *owner = malloc((size_t)p->nloop * sizeof *owner);
    int ok = edges && owner;
    for (int f = 0; f < p->nface && ok; f++) {
        for (int k = p->face[f].start; k < loop_end(p, f); k++) {
            edges[k] = (edge){ p->loop[k], p->loop[next(p, f, k)], k };
            owner[k] = f;
        }
    }
    if (ok) qsort(edges, (size_t)p->nloop, sizeof *edges, by_ends);
    for (int k = 0; k < p->nloop && ok; k++) {
        edge back = { edges[k].to, edges[k].from, 0 };
        const edge *twin = bsearch(&back, edges, (size_t)p->nloop, sizeof *edges, by_ends);
        if (!twin) ok = 0;
        if (ok) p->across[edges[k].entry] = owner[twin->entry];
    }
    free(edges);
    free(owner);
    return ok;
}

/* ---- passes and valleys -------------------------------------------------------------------------
 */

typedef struct pass {
    double height;
    int f, g;
} pass;

/* Both facets, then the indices, make the order unique. */
static int by_height(const void *x, const void *y)
{
    const pass *a = x, *b = y;
    if (a->height != b->height) return a->height < b->height ? -1 : 1;
    if (a->f != b->f) return a->f < b->f ? -1 : 1;
    return (a->g > b->g) - (a->g < b->g);
}

/* The highest point of the way from facet f to g over their edge (Q.3): the distance of the edge,
 * where the part has to climb over it, else the higher facet. */
static double pass_height(const rb_part *p, int f, int k)
{
    int g = p->across[k], j = p->face[g].start;
    int from = p->loop[k], to = p->loop[next(p, f, k)];
    double higher = fmax(p->face[f].height, p->face[g].height);
    while (j < loop_end(p, g) && (p->loop[j] != to || p->loop[next(p, g, j)] != from)) j++;
    if (beyond(p, f, k) >= 0.0 || j == loop_end(p, g) || beyond(p, g, j) >= 0.0) return higher;
    const double *a = corner(p, k), *b = p->vert + 3 * (size_t)to;
    double e[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] }, m[3], length = norm(e);
    cross(a, e, m);
    return length > 0.0 ? fmax(higher, norm(m) / length) : higher;
}

typedef struct valleys {
    int *above;      /* union-find over facets: connected below the present height (nface)    */
    int *same;       /* union-find over facets: one pose                           (nface)    */
    int *lowest;     /* of each connected set, at its root                         (nface)    */
    int *link;       /* next facet of the connected set, a ring                    (nface)    */
    double *barrier; /* of each pose, at the root of `same`; 0: not known          (nface)    */
} valleys;

static int root(int *above, int f)
{
    while (above[f] != f) f = above[f] = above[above[f]];
    return f;
}

/* A ring of facets whose poses have just found their way out. */
static void set_barriers(valleys *v, int f, double height)
{
    int k = f;
    do {
        int at = root(v->same, k);
        if (v->barrier[at] == 0.0) v->barrier[at] = height;
        k = v->link[k];
    } while (k != f);
}

static void join(const rb_part *p, valleys *v, const pass *over, double depth)
{
    int a = root(v->above, over->f), b = root(v->above, over->g);
    if (a == b) return;
    double floor_a = p->face[v->lowest[a]].height, floor_b = p->face[v->lowest[b]].height;
    int low = floor_a <= floor_b ? a : b, high = low == a ? b : a;
    int beside = low == a ? over->f : over->g; /* the facet on the side of the lower valley */
    if (over->height - fmax(floor_a, floor_b) < depth) {
        /* the elder rule: the shallow one belongs to where its water would run */
        v->same[root(v->same, v->lowest[high])] = root(v->same, p->face[beside].end);
    } else {
        set_barriers(v, a, over->height);
        set_barriers(v, b, over->height);
    }
    v->above[high] = low;
    int keep = v->link[a];
    v->link[a] = v->link[b];
    v->link[b] = keep;
}

static int flood(const rb_part *p, valleys *v, double depth)
{
    pass *passes = malloc((size_t)p->nloop * sizeof *passes);
    int n = 0;
    if (!passes) return 0;
    for (int f = 0; f < p->nface; f++) {
        v->above[f] = v->same[f] = v->lowest[f] = v->link[f] = f;
        for (int k = p->face[f].start; k < loop_end(p, f); k++)
            if (f < p->across[k]) passes[n++] = (pass){ pass_height(p, f, k), f, p->across[k] };
    }
    qsort(passes, (size_t)n, sizeof *passes, by_height);
    for (int i = 0; i < n; i++) join(p, v, &passes[i], depth);
    free(passes);
    return 1;
}

/* ---- poses --------------------------------------------------------------------------------------
 */

static int lower(const void *x, const void *y)
{
    const rb_rest_pose *a = x, *b = y;
    if (a->height != b->height) return a->height < b->height ? -1 : 1;
    return (a->facet > b->facet) - (a->facet < b->facet);
}

static double angle_between(const double a[3], const double b[3])
{
    double n[3];
    cross(a, b, n);
    return atan2(norm(n), dot(a, b));
}

/* The stable facet of pose k whose normal is farthest from the line through a and b, or from the
 * point a where b is NULL; -1: none. */
static int farthest(const rb_part *p, int k, const double *a, const double *b)
{
    double most = 0.0;
    int found = -1;
    for (int f = 0; f < p->nface; f++) {
        const double *n = p->face[f].n;
        if (p->face[f].pose != k || p->face[f].end != f) continue;
        double x[3], y[3], z[3];
        for (int i = 0; i < 3; i++) {
            x[i] = n[i] - a[i];
            y[i] = b ? b[i] - a[i] : 0.0;
        }
        cross(x, y, z);
        double distance = b ? norm(z) : norm(x);
        if (distance <= most) continue;
        most = distance;
        found = f;
    }
    return found;
}

/* Whether the stable facets of a pose go round an axis, or everywhere. Their normals are a circle
 * about it: a great one for a cylinder, a smaller one for a cone. */
static void find_rolling(const rb_part *p, int k)
{
    rb_rest_pose *at = &p->pose[k];
    const double *n0 = p->face[at->facet].n;
    int f1 = farthest(p, k, n0, NULL);
    if (f1 < 0 || angle_between(n0, p->face[f1].n) < ROLLS) return;
    at->rolling = 1;
    int f2 = farthest(p, k, n0, p->face[f1].n);
    if (f2 < 0) return;
    double x[3], y[3], axis[3], length;
    for (int i = 0; i < 3; i++) {
        x[i] = p->face[f1].n[i] - n0[i];
        y[i] = p->face[f2].n[i] - n0[i];
    }
    cross(x, y, axis);
    length = norm(axis);
    for (int i = 0; i < 3; i++) axis[i] /= length;
    for (int f = 0; f < p->nface; f++)
        if (p->face[f].pose == k && p->face[f].end == f &&
            fabs(dot(p->face[f].n, axis) - dot(n0, axis)) > ONE_CIRCLE)
            return;
    memcpy(at->axis, axis, sizeof axis);
}

static int count_poses(rb_part *p, valleys *v)
{
    int n = 0;
    for (int f = 0; f < p->nface; f++) n += p->face[f].end == f && root(v->same, f) == f;
    p->npose = n;
    p->pose = calloc((size_t)n + 1, sizeof *p->pose);
    return n > 0 && p->pose;
}

/* Names the poses by height, and every facet by the pose that it rolls to. */
static void name_poses(rb_part *p, valleys *v)
{
    int n = 0;
    for (int f = 0; f < p->nface; f++) {
        if (p->face[f].end != f || root(v->same, f) != f) continue;
        double barrier = v->barrier[f] > 0.0 ? v->barrier[f] : INFINITY;
        p->pose[n++] =
            (rb_rest_pose){ .facet = f, .height = p->face[f].height, .barrier = barrier };
    }
    qsort(p->pose, (size_t)n, sizeof *p->pose, lower);
    for (int k = 0; k < n; k++) v->lowest[p->pose[k].facet] = k;
    for (int f = 0; f < p->nface; f++) {
        rb_facet *face = &p->face[f];
        face->pose = v->lowest[root(v->same, face->end)];
        p->pose[face->pose].quasi_static += face->solid;
    }
    p->barrier_max = 0.0;
    for (int f = 0; f < p->nface; f++) {
        const rb_facet *face = &p->face[f];
        rb_rest_pose *at = &p->pose[face->pose];
        at->nfacet += face->end == f;
        if (angle_between(face->n, p->face[at->facet].n) < SAME_PLANE) at->area += face->area;
    }
    for (int k = 0; k < n; k++) {
        find_rolling(p, k);
        p->barrier_max = fmax(p->barrier_max, p->pose[k].barrier);
    }
}

int rb_part_find_poses(rb_part *p, double merge)
{
    size_t n = (size_t)p->nface;
    for (int f = 0; f < p->nface; f++) measure_facet(p, f);
    valleys v = { .above = malloc(n * sizeof(int)),
                  .same = malloc(n * sizeof(int)),
                  .lowest = malloc(n * sizeof(int)),
                  .link = malloc(n * sizeof(int)),
                  .barrier = calloc(n, sizeof(double)) };
    int ok = v.above && v.same && v.lowest && v.link && v.barrier && find_neighbours(p);
    for (int f = 0; f < p->nface && ok; f++) {
        int at = f, to = roll(p, f);
        while (to != at) { /* the height falls with every turn: an end is reached */
            at = to;
            to = roll(p, at);
        }
        p->face[f].end = at;
    }
    ok = ok && flood(p, &v, merge * p->radius) && count_poses(p, &v);
    if (ok) name_poses(p, &v);
    free(v.above);
    free(v.same);
    free(v.lowest);
    free(v.link);
    free(v.barrier);
    return ok;
}

/* ---- from a direction to its valley -------------------------------------------------------------
 */

/* Down the cell of the vertex that supports d, away from the direction of the vertex, up to its
 * rim: entry of the loop whose edge is there, and the direction in at (Q.4). */
static int fall_to_rim(const rb_part *p, int vertex, const double d[3], double at[3])
{
    const double *x = p->vert + 3 * (size_t)vertex;
    double t[3], along = dot(x, d), first = INFINITY;
    for (int i = 0; i < 3; i++) t[i] = along * d[i] - x[i];
    double length = norm(t);
    int rim = -1;
    for (int f = 0; f < p->nface; f++) {
        for (int k = p->face[f].start; k < loop_end(p, f); k++) {
            if (p->loop[k] != vertex) continue;
            const double *y = corner(p, next(p, f, k));
            double e[3] = { x[0] - y[0], x[1] - y[1], x[2] - y[2] };
            double angle = atan2(fmax(0.0, dot(d, e)), length > 0.0 ? -dot(t, e) / length : 0.0);
            if (angle >= first) continue;
            first = angle;
            rim = k;
            for (int i = 0; i < 3; i++)
                at[i] = cos(first) * d[i] + (length > 0.0 ? sin(first) * t[i] / length : 0.0);
        }
    }
    return rim;
}

int rb_part_descend(const rb_part *p, const double d[3])
{
    int vertex = 0, f = 0;
    double best = -INFINITY, at[3] = { d[0], d[1], d[2] };
    for (int i = 0; i < p->nvert; i++) {
        double height = dot(d, p->vert + 3 * (size_t)i);
        if (height <= best) continue;
        best = height;
        vertex = i;
    }
    int k = fall_to_rim(p, vertex, d, at);
    while (k >= loop_end(p, f)) f++;

    /* along the rim, where h is a cosine about the foot of the centre of mass on the edge: to the
     * facet on the same side of it */
    int g = p->across[k];
    const double *x = corner(p, k), *y = corner(p, next(p, f, k));
    double e[3] = { y[0] - x[0], y[1] - x[1], y[2] - x[2] }, foot[3], axis[3], side[3];
    double along = dot(x, e) / dot(e, e);
    for (int i = 0; i < 3; i++) foot[i] = x[i] - along * e[i];
    cross(p->face[f].n, p->face[g].n, axis);
    cross(at, foot, side);
    return p->face[dot(side, axis) >= 0.0 ? f : g].pose;
}
