/* From what a file says to a mesh: growing arrays, polygons cut into triangles, equal vertices
 * joined by a hash table over their bits. */
#include "io/mesh_build.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/context.h"
#include "rattleback/load.h"

/* Corners up to which a concave polygon is cut by ears, a method of third order; larger ones are
 * taken as fans. */
enum { EAR_CORNERS = 64 };

rb_status rb_io_soup_refuse(rb_io_soup *soup, rb_status status, int line, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return rb_io_error_set(soup->err, status, soup->path, line, "%s", text);
}

/* Room for one more item of `size` bytes; the arrays double. */
static rb_status grow(rb_io_soup *soup, int line, void **items, size_t count, size_t *room,
                      size_t size)
{
    if (count < *room) return RB_OK;
    size_t more = *room ? 2 * *room : 256;
    void *block = soup->alloc.resize(soup->alloc.ctx, *items, more * size);
    if (!block) return rb_io_soup_refuse(soup, RB_NOMEM, line, "out of memory for the mesh");
    *items = block;
    *room = more;
    return RB_OK;
}

rb_status rb_io_soup_vertex(rb_io_soup *soup, int line, const double v[3])
{
    if (soup->nvert >= 3 * RB_LOAD_MAX_FACES)
        return rb_io_soup_refuse(soup, RB_TOO_LARGE, line, "more than %zu vertices",
                                 3 * RB_LOAD_MAX_FACES);
    void *items = soup->vert;
    rb_status status = grow(soup, line, &items, soup->nvert, &soup->vert_room, 3 * sizeof *v);
    soup->vert = items;
    if (status != RB_OK) return status;

    /* minus zero is zero: equal vertices have equal bits */
    double *place = soup->vert + 3 * soup->nvert++;
    for (int i = 0; i < 3; i++) place[i] = v[i] + 0.0;
    return RB_OK;
}

rb_status rb_io_soup_triangle(rb_io_soup *soup, int line, int a, int b, int c)
{
    if (soup->nface >= RB_LOAD_MAX_FACES)
        return rb_io_soup_refuse(soup, RB_TOO_LARGE, line, "more than %zu triangles",
                                 RB_LOAD_MAX_FACES);
    void *items = soup->face;
    rb_status status = grow(soup, line, &items, soup->nface, &soup->face_room, 3 * sizeof a);
    soup->face = items;
    if (status != RB_OK) return status;
    int *place = soup->face + 3 * soup->nface++;
    place[0] = a;
    place[1] = b;
    place[2] = c;
    return RB_OK;
}

/* ---- polygons ---- */

/* A polygon seen along its normal: corners in the plane of two coordinate axes. */
typedef struct outline {
    int n;
    int corner[EAR_CORNERS];
    double x[EAR_CORNERS], y[EAR_CORNERS];
} outline;

/* Newell's normal: twice the vector area, also for a polygon that is not quite flat. */
static void vector_area(const rb_io_soup *soup, int n, const int *corner, double normal[3])
{
    normal[0] = normal[1] = normal[2] = 0.0;
    for (int i = 0; i < n; i++) {
        const double *a = soup->vert + 3 * (size_t)corner[i];
        const double *b = soup->vert + 3 * (size_t)corner[(i + 1) % n];
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            normal[k] += (a[l] - b[l]) * (a[m] + b[m]);
        }
    }
}

/* The plane of the two axes across the largest entry of the normal keeps the order of corners. */
static void project(const rb_io_soup *soup, int n, const int *corner, outline *out)
{
    double normal[3];
    vector_area(soup, n, corner, normal);
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(normal[i]) > fabs(normal[k])) k = i;
    int across = (k + 1) % 3, up = (k + 2) % 3;
    double sign = normal[k] < 0.0 ? -1.0 : 1.0;
    out->n = n;
    for (int i = 0; i < n; i++) {
        const double *v = soup->vert + 3 * (size_t)corner[i];
        out->corner[i] = corner[i];
        out->x[i] = v[across];
        out->y[i] = sign * v[up];
    }
}

/* Twice the signed area of the triangle of three corners. */
static double turn(const outline *o, int a, int b, int c)
{
    return (o->x[b] - o->x[a]) * (o->y[c] - o->y[a]) - (o->x[c] - o->x[a]) * (o->y[b] - o->y[a]);
}

static int is_convex(const outline *o)
{
    for (int i = 0; i < o->n; i++)
        if (turn(o, i, (i + 1) % o->n, (i + 2) % o->n) < 0.0) return 0;
    return 1;
}

/* Whether corner i can be cut off: it turns left and no other corner lies in its triangle. */
static int is_ear(const outline *o, int i)
{
    int a = (i + o->n - 1) % o->n, c = (i + 1) % o->n;
    if (turn(o, a, i, c) <= 0.0) return 0;
    for (int p = 0; p < o->n; p++) {
        if (p == a || p == i || p == c) continue;
        if (turn(o, a, i, p) >= 0.0 && turn(o, i, c, p) >= 0.0 && turn(o, c, a, p) >= 0.0) return 0;
    }
    return 1;
}

static void remove_corner(outline *o, int i)
{
    o->n--;
    for (int p = i; p < o->n; p++) {
        o->corner[p] = o->corner[p + 1];
        o->x[p] = o->x[p + 1];
        o->y[p] = o->y[p + 1];
    }
}

/* A polygon that crosses itself may have no ear: then some corner goes, so that it ends. */
static rb_status cut_ears(rb_io_soup *soup, int line, outline *o)
{
    while (o->n > 3) {
        int ear = 0;
        while (ear < o->n && !is_ear(o, ear)) ear++;
        if (ear == o->n) ear = 1;
        int before = o->corner[(ear + o->n - 1) % o->n], after = o->corner[(ear + 1) % o->n];
        rb_status status = rb_io_soup_triangle(soup, line, before, o->corner[ear], after);
        if (status != RB_OK) return status;
        remove_corner(o, ear);
    }
    return rb_io_soup_triangle(soup, line, o->corner[0], o->corner[1], o->corner[2]);
}

static rb_status fan(rb_io_soup *soup, int line, int n, const int *corner)
{
    rb_status status = RB_OK;
    for (int i = 1; i + 1 < n && status == RB_OK; i++)
        status = rb_io_soup_triangle(soup, line, corner[0], corner[i], corner[i + 1]);
    return status;
}

static double distance_squared(const rb_io_soup *soup, int a, int b)
{
    const double *u = soup->vert + 3 * (size_t)a, *v = soup->vert + 3 * (size_t)b;
    double x = u[0] - v[0], y = u[1] - v[1], z = u[2] - v[2];
    return x * x + y * y + z * z;
}

rb_status rb_io_soup_polygon(rb_io_soup *soup, int line, int n, const int *corner)
{
    if (n == 3) return rb_io_soup_triangle(soup, line, corner[0], corner[1], corner[2]);
    if (n > EAR_CORNERS) return fan(soup, line, n, corner);

    outline o;
    project(soup, n, corner, &o);
    if (!is_convex(&o)) return cut_ears(soup, line, &o);
    if (n == 4 && distance_squared(soup, corner[1], corner[3]) <=
                      distance_squared(soup, corner[0], corner[2])) {
        int turned[4] = { corner[1], corner[2], corner[3], corner[0] };
        return fan(soup, line, 4, turned);
    }
    return fan(soup, line, n, corner);
}

/* ---- joining equal vertices ---- */

static size_t bucket_of(const double *v, size_t buckets)
{
    uint64_t h = rb_hash(RB_HASH_INIT, v, 3 * sizeof *v);
    return (size_t)(h ^ h >> 29) & (buckets - 1);
}

/* Marks the vertices of faces (all of them where another object has its faces left out), then gives
 * them new numbers in the order of the file: place[i] is the number of vertex i, equal vertices
 * share one. Returns how many there are. */
static int number_vertices(const rb_io_soup *soup, int *place, int *bucket, size_t buckets)
{
    int count = 0, all = soup->as_mujoco && soup->nobject > 0;
    for (size_t i = 0; i < soup->nvert; i++) place[i] = all ? 0 : -1;
    for (size_t b = 0; b < buckets; b++) bucket[b] = -1;
    for (size_t i = 0; i < 3 * soup->nface; i++) place[soup->face[i]] = 0;

    for (size_t i = 0; i < soup->nvert; i++) {
        if (place[i] < 0) continue;
        const double *v = soup->vert + 3 * i;
        size_t b = bucket_of(v, buckets);
        while (bucket[b] >= 0 && memcmp(soup->vert + 3 * (size_t)bucket[b], v, 3 * sizeof *v) != 0)
            b = (b + 1) & (buckets - 1);
        if (bucket[b] < 0) {
            bucket[b] = (int)i;
            place[i] = count++;
        } else {
            place[i] = place[bucket[b]];
        }
    }
    return count;
}

/* Moves the vertices kept to the front and renames the corners of faces. A face with a repeated
 * corner has no area and goes. */
static void renumber(rb_io_soup *soup, const int *place)
{
    size_t kept = 0;
    int next = 0;
    for (size_t i = 0; i < soup->nvert; i++) {
        if (place[i] != next) continue;
        memmove(soup->vert + 3 * (size_t)next++, soup->vert + 3 * i, 3 * sizeof *soup->vert);
    }
    for (size_t f = 0; f < soup->nface; f++) {
        const int *old = soup->face + 3 * f;
        int a = place[old[0]], b = place[old[1]], c = place[old[2]];
        if (a == b || b == c || c == a) continue;
        int *face = soup->face + 3 * kept++;
        face[0] = a;
        face[1] = b;
        face[2] = c;
    }
    soup->nvert = (size_t)next;
    soup->nface = kept;
}

rb_status rb_io_soup_finish(rb_io_soup *soup, rb_io_mesh *out)
{
    size_t buckets = 16;
    while (buckets < 2 * soup->nvert) buckets *= 2;
    int *place = soup->alloc.alloc(soup->alloc.ctx, (soup->nvert + buckets) * sizeof *place);
    if (!place) return rb_io_soup_refuse(soup, RB_NOMEM, 0, "out of memory for the mesh");
    number_vertices(soup, place, place + soup->nvert, buckets);
    renumber(soup, place);
    soup->alloc.release(soup->alloc.ctx, place);
    if (soup->nface == 0)
        return rb_io_soup_refuse(soup, RB_BAD_INPUT, 0, "the mesh has no triangle with an area");

    *out = (rb_io_mesh){ soup->alloc, (int)soup->nvert, (int)soup->nface, soup->vert,
                         soup->face,  soup->turned,     soup->nobject };
    soup->vert = NULL;
    soup->face = NULL;
    soup->nvert = soup->nface = soup->vert_room = soup->face_room = 0;
    return RB_OK;
}

void rb_io_soup_free(rb_io_soup *soup)
{
    if (soup->vert) soup->alloc.release(soup->alloc.ctx, soup->vert);
    if (soup->face) soup->alloc.release(soup->alloc.ctx, soup->face);
    soup->vert = NULL;
    soup->face = NULL;
}
