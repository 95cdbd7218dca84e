/* Convex hulls by Qhull [Barber 1996], checked afterwards.
 *
 * Qhull joins facets that are coplanar to rounding ("C-0", its default) and so gives polygons. Its
 * answer is taken when it is a closed surface of the sphere's kind, V - E + F = 2 with every edge
 * between two faces, and when its faces are planar. Where it fails by rounding (needles, many
 * nearly coplanar points) it is called again with joggled input, which gives triangles.
 *
 * Qhull has its own memory and returns by longjmp: the calls between build and free are in
 * functions that own nothing else. */
#include "io/hull.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/libqhull_r.h>
#include <libqhull_r/poly_r.h>
#include <libqhull_r/qset_r.h>
#include <libqhull_r/mem_r.h>

#include "base/error.h"
#include "math/vec3.h"

/* A body whose mean thickness 2 volume / area is below this share of its size [1] is flat, and a
 * needle of this width is a line: the rounding of coordinates stored as float makes 6e-8 out of a
 * rotated plane. Larger: thin sheets are refused. */
#define FLAT_SHARE 1e-7

/* Distance of a corner from the plane of its face, as a share of the size [1]: rounding makes
 * 1e-15 of it, joined facets several times that. Larger: contacts see a bent face. */
#define PLANAR_SHARE 1e-12

/* More points than this have indices and loops beyond int [1]. */
enum { MOST_POINTS = 1 << 26, SIMPLEX = 4 };

/* The points seen by Qhull: about the origin, size about 1. */
typedef struct cloud {
    int count;
    double *point; /* (count x 3) */
} cloud;

/* Centre and longest side of the bounding box. */
static double bounding_box(int nvert, const double *vert, double centre[3])
{
    double size = 0.0;
    for (int k = 0; k < 3; k++) {
        double lo = vert[k], hi = vert[k];
        for (int i = 1; i < nvert; i++) {
            lo = fmin(lo, vert[3 * (size_t)i + (size_t)k]);
            hi = fmax(hi, vert[3 * (size_t)i + (size_t)k]);
        }
        centre[k] = 0.5 * lo + 0.5 * hi;
        size = fmax(size, hi - lo);
    }
    return size;
}

/* Moves the centre of the bounding box to 0 and scales by a power of two. 0: no extent at all, or
 * one that is not finite. */
static int normalise(int nvert, const double *vert, double *point)
{
    double centre[3], size = bounding_box(nvert, vert, centre);
    if (!(size > 0.0) || size - size != 0.0) return 0;
    int exponent;
    frexp(size, &exponent);
    for (size_t i = 0; i < 3 * (size_t)nvert; i++)
        point[i] = ldexp(vert[i] - centre[i % 3], -exponent);
    return 1;
}

/* ---- Qhull ---- */

/* One run of Qhull. */
typedef struct run {
    qhT qh;
    FILE *silence; /* where its messages go */
    int failed;    /* exit code of Qhull    */
} run;

static void run_begin(run *r, const cloud *c, char *command)
{
    memset(&r->qh, 0, sizeof r->qh);
    qh_zero(&r->qh, r->silence);
    r->failed = qh_new_qhull(&r->qh, 3, c->count, c->point, 0, command, r->silence, r->silence);
}

static void run_end(run *r)
{
    int large, blocks;
    qh_freeqhull(&r->qh, !qh_ALL);
    qh_memfreeshort(&r->qh, &large, &blocks);
}

/* Facets and their corners. */
static size_t count_corners(run *r, size_t *nface)
{
    facetT *facet;
    qhT *qh = &r->qh;
    size_t corners = 0;
    *nface = 0;
    FORALLfacets
    {
        corners += (size_t)qh_setsize(qh, facet->vertices);
        ++*nface;
    }
    return corners;
}

/* Point indices of the corners of all facets into loop, in Qhull's orientation, and the first one
 * of each facet into start. 0: Qhull gave up, or a facet has not the corners it counts. */
static int copy_facets(run *r, size_t room, int *start, int *loop)
{
    facetT *facet;
    vertexT *vertex, **vertexp;
    qhT *qh = &r->qh;
    volatile size_t used = 0;
    volatile int face = 0, whole = 1;
    if (setjmp(qh->errexit) != 0) {
        qh->NOerrexit = True;
        return 0;
    }
    qh->NOerrexit = False;
    FORALLfacets
    {
        setT *corners = qh_facet3vertex(qh, facet);
        size_t count = (size_t)qh_setsize(qh, corners);
        whole = whole && count >= 3 && used + count <= room;
        start[face++] = (int)used;
        FOREACHvertex_(corners)
        {
            if (whole) loop[used++] = qh_pointid(qh, vertex->point);
        }
        qh_settempfree(qh, &corners);
    }
    qh->NOerrexit = True;
    start[face] = (int)used;
    return whole;
}

/* ---- from facets to a polyhedron ---- */

/* A polyhedron on its way: loops hold point indices first, vertex indices later. */
typedef struct draft {
    rb_alloc alloc;
    const cloud *points;
    int nvert, nface, nloop;
    int *start, *loop;
    int *place; /* point -> vertex, -1: none (count) */
    double *vert;
} draft;

static void *take(const rb_alloc *alloc, size_t count, size_t size)
{
    return alloc->alloc(alloc->ctx, count * size);
}

static void draft_free(draft *d)
{
    if (d->start) d->alloc.release(d->alloc.ctx, d->start);
    if (d->loop) d->alloc.release(d->alloc.ctx, d->loop);
    if (d->place) d->alloc.release(d->alloc.ctx, d->place);
    if (d->vert) d->alloc.release(d->alloc.ctx, d->vert);
    d->start = d->loop = d->place = NULL;
    d->vert = NULL;
}

/* Coordinates of the vertices among those of all points. */
static void copy_vertices(draft *d, const double *point)
{
    for (int i = 0; i < d->points->count; i++) {
        if (d->place[i] < 0) continue;
        memcpy(d->vert + 3 * (size_t)d->place[i], point + 3 * (size_t)i, 3 * sizeof *point);
    }
}

/* Vertices keep the order of the points. */
static rb_status number_vertices(draft *d)
{
    int count = d->points->count;
    d->place = take(&d->alloc, (size_t)count, sizeof *d->place);
    if (!d->place) return RB_NOMEM;
    for (int i = 0; i < count; i++) d->place[i] = -1;
    for (int i = 0; i < d->nloop; i++) d->place[d->loop[i]] = 0;
    d->nvert = 0;
    for (int i = 0; i < count; i++)
        if (d->place[i] == 0) d->place[i] = d->nvert++;
    for (int i = 0; i < d->nloop; i++) d->loop[i] = d->place[d->loop[i]];

    d->vert = take(&d->alloc, 3 * (size_t)d->nvert, sizeof *d->vert);
    if (!d->vert) return RB_NOMEM;
    copy_vertices(d, d->points->point);
    return RB_OK;
}

/* One face while faces are sorted. */
typedef struct polygon {
    int count;
    const int *corner;
} polygon;

static int compare_polygons(const void *left, const void *right)
{
    const polygon *a = left, *b = right;
    int n = a->count < b->count ? a->count : b->count;
    for (int i = 0; i < n; i++)
        if (a->corner[i] != b->corner[i]) return a->corner[i] < b->corner[i] ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

/* Every loop begins with its smallest vertex. */
static void rotate_loop(int *corner, int count, int *scratch)
{
    int first = 0;
    for (int i = 1; i < count; i++)
        if (corner[i] < corner[first]) first = i;
    for (int i = 0; i < count; i++) scratch[i] = corner[(first + i) % count];
    memcpy(corner, scratch, (size_t)count * sizeof *corner);
}

/* Faces in the order of their loops: the order does not depend on how Qhull came to them. */
static rb_status sort_faces(draft *d)
{
    polygon *faces = take(&d->alloc, (size_t)d->nface, sizeof *faces);
    int *loop = take(&d->alloc, (size_t)d->nloop, sizeof *loop);
    rb_status status = faces && loop ? RB_OK : RB_NOMEM;
    if (status == RB_OK) {
        for (int f = 0; f < d->nface; f++) {
            int *corner = d->loop + d->start[f], count = d->start[f + 1] - d->start[f];
            rotate_loop(corner, count, loop);
            faces[f] = (polygon){ count, corner };
        }
        qsort(faces, (size_t)d->nface, sizeof *faces, compare_polygons);
        int used = 0;
        for (int f = 0; f < d->nface; f++) {
            memcpy(loop + used, faces[f].corner, (size_t)faces[f].count * sizeof *loop);
            d->start[f] = used;
            used += faces[f].count;
        }
        memcpy(d->loop, loop, (size_t)d->nloop * sizeof *loop);
    }
    if (faces) d->alloc.release(d->alloc.ctx, faces);
    if (loop) d->alloc.release(d->alloc.ctx, loop);
    return status;
}

/* ---- checks ---- */

static int compare_keys(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Whether every edge runs once each way, V - E + F = 2, and three faces or more meet in every
 * vertex. */
static rb_status check_surface(const draft *d, int *closed)
{
    uint64_t *key = take(&d->alloc, (size_t)d->nloop, sizeof *key);
    int *uses = take(&d->alloc, (size_t)d->nvert, sizeof *uses);
    rb_status status = key && uses ? RB_OK : RB_NOMEM;
    *closed = status == RB_OK && d->nloop % 2 == 0 && d->nvert - d->nloop / 2 + d->nface == 2;
    if (*closed) {
        memset(uses, 0, (size_t)d->nvert * sizeof *uses);
        for (int f = 0; f < d->nface; f++) {
            for (int i = d->start[f]; i < d->start[f + 1]; i++) {
                int a = d->loop[i], b = d->loop[i + 1 < d->start[f + 1] ? i + 1 : d->start[f]];
                uint64_t lo = (uint64_t)(a < b ? a : b), hi = (uint64_t)(a < b ? b : a);
                key[i] = lo << 32 | hi << 1 | (uint64_t)(a < b);
                uses[a]++;
            }
        }
        qsort(key, (size_t)d->nloop, sizeof *key, compare_keys);
        for (int i = 0; i < d->nloop; i += 2)
            *closed = *closed && key[i] % 2 == 0 && key[i + 1] == key[i] + 1;
        for (int i = 0; i < d->nvert; i++) *closed = *closed && uses[i] >= 3;
    }
    if (key) d->alloc.release(d->alloc.ctx, key);
    if (uses) d->alloc.release(d->alloc.ctx, uses);
    return status;
}

/* Newell's normal of a face, its length twice the area, about the first corner. */
static void face_normal(const draft *d, int f, double normal[3])
{
    const double *origin = d->vert + 3 * (size_t)d->loop[d->start[f]];
    rb_zero3(normal);
    for (int i = d->start[f] + 1; i + 1 < d->start[f + 1]; i++) {
        double a[3], b[3], n[3];
        rb_sub3(d->vert + 3 * (size_t)d->loop[i], origin, a);
        rb_sub3(d->vert + 3 * (size_t)d->loop[i + 1], origin, b);
        rb_cross3(a, b, n);
        rb_add3(normal, n, normal);
    }
}

/* Largest distance of a corner from the plane through the mean of its face, and the surface. The
 * normal of a face whose area vanishes says nothing, its corners are as good as on a line. */
static double measure_faces(const draft *d, double *area)
{
    double worst = 0.0;
    *area = 0.0;
    for (int f = 0; f < d->nface; f++) {
        double normal[3], mean[3] = { 0 }, from[3];
        int count = d->start[f + 1] - d->start[f];
        face_normal(d, f, normal);
        *area += 0.5 * rb_norm3(normal);
        if (count == 3 || rb_normalize3(normal) == 0.0) continue;
        for (int i = d->start[f]; i < d->start[f + 1]; i++)
            rb_axpy3(1.0 / count, d->vert + 3 * (size_t)d->loop[i], mean);
        for (int i = d->start[f]; i < d->start[f + 1]; i++) {
            rb_sub3(d->vert + 3 * (size_t)d->loop[i], mean, from);
            worst = fmax(worst, fabs(rb_dot3(normal, from)));
        }
    }
    return worst;
}

static rb_hull_def draft_def(const draft *d)
{
    return (rb_hull_def){ d->nvert, d->nface, d->nloop, d->vert, d->start, d->loop };
}

/* Reverses all faces where the orientation of Qhull is the opposite one. */
static void orient(draft *d)
{
    rb_hull_def def = draft_def(d);
    if (rb_io_hull_volume(&def) >= 0.0) return;
    for (int f = 0; f < d->nface; f++) {
        for (int i = d->start[f], j = d->start[f + 1] - 1; i < j; i++, j--) {
            int other = d->loop[i];
            d->loop[i] = d->loop[j];
            d->loop[j] = other;
        }
    }
}

/* What became of one attempt. */
typedef enum verdict { GOOD, FLAT, BAD } verdict;

/* Planar faces, closed surface, volume. The volume of a needle drowns in rounding: it is compared
 * with that of a needle of FLAT_SHARE, too. */
static rb_status judge(const draft *d, verdict *out)
{
    int closed = 0;
    double area = 0.0, centre[3], size = bounding_box(d->nvert, d->vert, centre);
    rb_hull_def def = draft_def(d);
    rb_status status = check_surface(d, &closed);
    double bent = measure_faces(d, &area), volume = rb_io_hull_volume(&def);
    double needle = FLAT_SHARE * size * FLAT_SHARE * size * size;
    *out = GOOD;
    if (2.0 * volume <= FLAT_SHARE * size * area || volume <= needle) *out = FLAT;
    if (!closed || !(bent <= PLANAR_SHARE * size)) *out = BAD;
    return status;
}

/* Runs Qhull and copies its facets; *out BAD or FLAT where there is no polyhedron in `d`. Its
 * vertices are those of the cloud. */
static rb_status attempt(draft *d, FILE *silence, char *command, verdict *out)
{
    run *r = take(&d->alloc, 1, sizeof *r);
    if (!r) return RB_NOMEM;
    r->silence = silence;
    run_begin(r, d->points, command);

    size_t nface = 0, room = 0;
    rb_status status = r->failed == qh_ERRmem ? RB_NOMEM : RB_OK;
    *out = r->failed == qh_ERRsingular ? FLAT : BAD;
    int whole = !r->failed;
    if (whole) {
        room = count_corners(r, &nface);
        d->start = take(&d->alloc, nface + 1, sizeof *d->start);
        d->loop = take(&d->alloc, room + 1, sizeof *d->loop);
        status = d->start && d->loop ? RB_OK : RB_NOMEM;
        whole = status == RB_OK && copy_facets(r, room, d->start, d->loop);
    }
    run_end(r);
    d->alloc.release(d->alloc.ctx, r);
    if (status != RB_OK || !whole) return status;

    d->nface = (int)nface;
    d->nloop = d->start[nface];
    status = number_vertices(d);
    if (status == RB_OK) orient(d);
    if (status == RB_OK) status = sort_faces(d);
    return status == RB_OK ? judge(d, out) : status;
}

/* ---- the calls ---- */

static void accept(draft *d, const double *vert, rb_io_hull *out)
{
    copy_vertices(d, vert);
    out->vert = d->vert;
    out->start = d->start;
    out->loop = d->loop;
    out->def = draft_def(d);
    d->vert = NULL;
    d->start = d->loop = NULL;
}

/* Exact facets first, joggled ones where they are no polyhedron. */
static rb_status build(const cloud *c, const double *vert, int most, FILE *silence, rb_io_hull *out,
                       rb_error *err)
{
    char exact[40] = "qhull Pp", joggled[40] = "qhull QJ Pp";
    if (most >= SIMPLEX) { /* TA counts the points after the first simplex */
        snprintf(exact, sizeof exact, "qhull Pp TA%d", most - SIMPLEX);
        snprintf(joggled, sizeof joggled, "qhull QJ Pp TA%d", most - SIMPLEX);
    }
    char *commands[] = { exact, joggled };
    verdict result = BAD;
    rb_status status = RB_OK;
    for (int k = 0; k < 2 && status == RB_OK && result == BAD; k++) {
        draft d = { .alloc = out->alloc, .points = c };
        status = attempt(&d, silence, commands[k], &result);
        if (status == RB_OK && result == GOOD) accept(&d, vert, out);
        draft_free(&d);
    }
    if (status != RB_OK) return rb_fail(err, status, "out of memory for the convex hull");
    if (result == FLAT)
        return rb_fail(err, RB_BAD_INPUT, "the points lie in a plane: there is no volume");
    if (result == BAD)
        return rb_fail(err, RB_BAD_INPUT,
                       "no convex hull was found: the points are too close to "
                       "degenerate");
    return RB_OK;
}

rb_status rb_io_hull_build(int nvert, const double *vert, const rb_alloc *alloc, rb_io_hull *out,
                           rb_error *err)
{
    return rb_io_hull_build_most(nvert, vert, 0, alloc, out, err);
}

rb_status rb_io_hull_build_most(int nvert, const double *vert, int most, const rb_alloc *alloc,
                                rb_io_hull *out, rb_error *err)
{
    *out = (rb_io_hull){ .alloc = alloc ? *alloc : rb_alloc_default() };
    if (nvert < 4)
        return rb_fail(err, RB_BAD_INPUT, "%d points: four or more are needed for a volume", nvert);
    if (nvert > MOST_POINTS)
        return rb_fail(err, RB_TOO_LARGE, "more than %d points", (int)MOST_POINTS);

    cloud c = { .count = nvert };
    c.point = take(&out->alloc, 3 * (size_t)nvert, sizeof *c.point);
    if (!c.point) return rb_fail(err, RB_NOMEM, "out of memory for the convex hull");
    rb_status status = RB_OK;
    if (!normalise(nvert, vert, c.point)) {
        status = rb_fail(err, RB_BAD_INPUT, "the points have no extent, or one that is not finite");
    } else {
        /* Qhull always writes its messages to a FILE */
        FILE *silence = fopen("/dev/null", "w");
        if (!silence) silence = tmpfile();
        status = silence ? build(&c, vert, most, silence, out, err)
                         : rb_fail(err, RB_FILE, "no file for the messages of Qhull");
        if (silence) fclose(silence);
    }
    out->alloc.release(out->alloc.ctx, c.point);
    return status;
}

/* Sum of the tetrahedra over the fans of all faces, from the first vertex of the hull. */
double rb_io_hull_volume(const rb_hull_def *hull)
{
    double sum = 0.0;
    for (int f = 0; f < hull->nface; f++) {
        int begin = hull->start[f], end = hull->start[f + 1];
        double a[3], b[3], c[3], n[3];
        rb_sub3(hull->vert + 3 * (size_t)hull->loop[begin], hull->vert, a);
        for (int i = begin + 1; i + 1 < end; i++) {
            rb_sub3(hull->vert + 3 * (size_t)hull->loop[i], hull->vert, b);
            rb_sub3(hull->vert + 3 * (size_t)hull->loop[i + 1], hull->vert, c);
            rb_cross3(b, c, n);
            sum += rb_dot3(a, n);
        }
    }
    return sum / 6.0;
}

int rb_io_hull_triangle_count(const rb_hull_def *hull)
{
    return hull->nloop - 2 * hull->nface;
}

void rb_io_hull_triangles(const rb_hull_def *hull, int *face)
{
    for (int f = 0; f < hull->nface; f++) {
        int begin = hull->start[f], end = hull->start[f + 1];
        for (int i = begin + 1; i + 1 < end; i++) {
            *face++ = hull->loop[begin];
            *face++ = hull->loop[i];
            *face++ = hull->loop[i + 1];
        }
    }
}

void rb_io_hull_free(rb_io_hull *hull)
{
    if (hull->vert) hull->alloc.release(hull->alloc.ctx, hull->vert);
    if (hull->start) hull->alloc.release(hull->alloc.ctx, hull->start);
    if (hull->loop) hull->alloc.release(hull->alloc.ctx, hull->loop);
    hull->vert = NULL;
    hull->start = hull->loop = NULL;
    hull->def = (rb_hull_def){ 0 };
}
