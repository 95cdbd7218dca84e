/* Wavefront OBJ: vertices and faces; everything else is skipped.
 *
 *     o name, g name         the faces that follow belong to another object
 *     v x y z [w]            a vertex
 *     f a/ta/na b/tb/nb ...  a polygon; indices from 1, negative ones count back from the last
 *                            vertex so far
 *
 * A backslash at the end of a line continues it. */
#include <limits.h>
#include <string.h>

#include "io/mesh_build.h"
#include "io/xml.h"
#include "rattleback/load.h"

/* Corners of one polygon: more than any modelling program writes. */
enum { MOST_CORNERS = 65536 };

/* One statement, continuation lines included. */
typedef struct statement {
    const char *at, *end;
    int line;
} statement;

typedef struct reader {
    rb_io_soup *soup;
    const char *at, *end;
    int line; /* of `at` */
    int *corner;
    size_t room;
    int in_object; /* faces were met since the last o or g */
} reader;

static int is_space(const statement *s)
{
    char c = *s->at;
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\';
}

static void skip_space(statement *s)
{
    while (s->at < s->end && is_space(s)) s->at++;
}

/* Whether the line that ends at `newline` is continued on the next. */
static int is_continued(const char *begin, const char *newline)
{
    const char *last = newline;
    if (last > begin && last[-1] == '\r') last--;
    return last > begin && last[-1] == '\\';
}

static int next_statement(reader *r, statement *s)
{
    if (r->at >= r->end) return 0;
    *s = (statement){ r->at, r->end, r->line };
    for (;;) {
        const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        if (!newline) {
            r->at = r->end;
            return 1;
        }
        const char *begin = r->at;
        r->at = newline + 1;
        r->line++;
        s->end = newline;
        if (!is_continued(begin, newline)) return 1;
        s->end = r->end;
    }
}

static rb_status read_vertex(reader *r, statement *s)
{
    double v[3];
    for (int i = 0; i < 3; i++) {
        skip_space(s);
        const char *stop = s->at;
        while (stop < s->end && !strchr(" \t\r\n\\", *stop)) stop++;
        if (!rb_xml_scan_number(&s->at, stop, v + i))
            return rb_io_soup_refuse(r->soup, RB_BAD_INPUT, s->line,
                                     "OBJ: \"%.*s\", expected a finite coordinate",
                                     stop - s->at < 40 ? (int)(stop - s->at) : 40, s->at);
    }
    return rb_io_soup_vertex(r->soup, s->line, v);
}

/* The vertex of a corner "17", "17/4", "17//2", "-1/..." as an index from 0; -1: none such. */
static int read_corner(const reader *r, statement *s)
{
    int negative = 0;
    long long index = 0;
    if (*s->at == '-' || *s->at == '+') negative = *s->at++ == '-';
    if (s->at == s->end || *s->at < '0' || *s->at > '9') return -1;
    for (; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (index <= INT_MAX) index = 10 * index + (*s->at - '0');
    if (s->at < s->end && *s->at != '/' && !is_space(s)) return -1;
    while (s->at < s->end && !is_space(s)) s->at++;

    long long count = (long long)r->soup->nvert;
    long long vertex = negative ? count - index : index - 1;
    return index > 0 && vertex >= 0 && vertex < count ? (int)vertex : -1;
}

static rb_status keep_corner(reader *r, const statement *s, int n, int vertex)
{
    if (n >= MOST_CORNERS)
        return rb_io_soup_refuse(r->soup, RB_TOO_LARGE, s->line,
                                 "OBJ: a polygon of more than %d corners", (int)MOST_CORNERS);
    if ((size_t)n >= r->room) {
        size_t more = r->room ? 2 * r->room : 64;
        rb_alloc *alloc = &r->soup->alloc;
        int *block = alloc->resize(alloc->ctx, r->corner, more * sizeof *block);
        if (!block)
            return rb_io_soup_refuse(r->soup, RB_NOMEM, s->line, "out of memory for a polygon");
        r->corner = block;
        r->room = more;
    }
    r->corner[n] = vertex;
    return RB_OK;
}

static rb_status read_face(reader *r, statement *s)
{
    int n = 0;
    for (skip_space(s); s->at < s->end && *s->at != '#'; skip_space(s)) {
        const char *begin = s->at;
        int vertex = read_corner(r, s);
        if (vertex < 0) {
            while (s->at < s->end && !is_space(s)) s->at++;
            return rb_io_soup_refuse(r->soup, RB_BAD_INPUT, s->line,
                                     "OBJ: corner \"%.*s\", expected the number of one of the %zu "
                                     "vertices above, 1 for the first, -1 for the last",
                                     s->at - begin < 40 ? (int)(s->at - begin) : 40, begin,
                                     r->soup->nvert);
        }
        rb_status status = keep_corner(r, s, n++, vertex);
        if (status != RB_OK) return status;
    }
    if (n < 3)
        return rb_io_soup_refuse(r->soup, RB_BAD_INPUT, s->line,
                                 "OBJ: a face of %d corners, expected 3 or more", n);
    return rb_io_obj_polygon(r->soup, s->line, n, r->corner);
}

/* Counts the objects that have faces; those after the first may not be wanted. */
static rb_status read_object_face(reader *r, statement *s)
{
    if (!r->in_object) r->soup->nobject++;
    r->in_object = 1;
    if (r->soup->as_mujoco && r->soup->nobject > 1) return RB_OK;
    return read_face(r, s);
}

rb_status rb_io_obj_parse(rb_io_soup *soup, const char *bytes, size_t size)
{
    reader r = { .soup = soup, .at = bytes, .end = bytes + size, .line = 1 };
    statement s;
    rb_status status = RB_OK;
    while (status == RB_OK && next_statement(&r, &s)) {
        skip_space(&s);
        if (s.end - s.at < 2 || (s.at[1] != ' ' && s.at[1] != '\t')) continue;
        char keyword = *s.at++;
        if (keyword == 'v')
            status = read_vertex(&r, &s);
        else if (keyword == 'f')
            status = read_object_face(&r, &s);
        else if (keyword == 'o' || keyword == 'g')
            r.in_object = 0;
    }
    if (r.corner) soup->alloc.release(soup->alloc.ctx, r.corner);
    return status;
}
