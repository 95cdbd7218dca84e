/* Polygons of OBJ files as triangles.
 *
 * A polygon that is not flat encloses another volume with other diagonals, so the choice is mass.
 * It is the one of tinyobjloader, which MuJoCo and many others read OBJ with, in 32-bit numbers as
 * there: a quadrangle by its shorter diagonal; more corners by cutting off one after the other, in
 * a coordinate plane, the first that its two tests let pass. The first test compares the turn at
 * the corner with the side on which the origin of the plane lies, which says "convex" only by
 * chance. Where that folds a concave polygon or leaves a hole in it, the polygon is cut as in other
 * formats, unless the mass must be that of MuJoCo. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "io/mesh_build.h"

/* Point-in-triangle tests for all polygons of a mesh: about a second. Files of modelling programs
 * need a hundredth; what is left beyond is cut as in other formats. */
#define MOST_TESTS 100000000L

/* Share of the area of a polygon [1] that a reversed triangle may have and still count as
 * corners on a line, with coordinates of six digits. Smaller: flat polygons with corners on their
 * edges count as folded. */
#define FOLD_SHARE 1e-5

typedef struct outline {
    const rb_io_soup *soup;
    int across, up; /* axes of the plane */
    int n;
    int *corner;
    double area; /* twice that of the polygon in the plane, with sign */
} outline;

static float coordinate(const outline *o, int i, int axis)
{
    return (float)o->soup->vert[3 * (size_t)o->corner[i % o->n] + (size_t)axis];
}

/* The coordinate plane in which the first corner that is one is seen largest. */
static void choose_plane(outline *o)
{
    o->across = 1;
    o->up = 2;
    for (int i = 0; i < o->n; i++) {
        float a[3], b[3], turn[3];
        for (int k = 0; k < 3; k++) {
            a[k] = coordinate(o, i + 1, k) - coordinate(o, i, k);
            b[k] = coordinate(o, i + 2, k) - coordinate(o, i + 1, k);
        }
        for (int k = 0; k < 3; k++) {
            int l = (k + 1) % 3, m = (k + 2) % 3;
            turn[k] = fabsf(a[l] * b[m] - a[m] * b[l]);
        }
        if (!(turn[0] > FLT_EPSILON || turn[1] > FLT_EPSILON || turn[2] > FLT_EPSILON)) continue;
        if (turn[0] > turn[1] && turn[0] > turn[2]) return;
        o->across = 0;
        if (turn[2] > turn[0] && turn[2] > turn[1]) o->up = 1;
        return;
    }
}

static void measure(outline *o)
{
    o->area = 0.0;
    for (int i = 0; i < o->n; i++) {
        double x = (double)coordinate(o, i, o->across) - (double)coordinate(o, 0, o->across);
        double y = (double)coordinate(o, i, o->up) - (double)coordinate(o, 0, o->up);
        double next_x =
            (double)coordinate(o, i + 1, o->across) - (double)coordinate(o, 0, o->across);
        double next_y = (double)coordinate(o, i + 1, o->up) - (double)coordinate(o, 0, o->up);
        o->area += x * next_y - y * next_x;
    }
}

/* Whether a ray from the point in the direction of x crosses the triangle's border once. */
static int is_inside(const float x[3], const float y[3], float px, float py)
{
    int inside = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 2) % 3;
        if ((y[i] > py) == (y[j] > py)) continue;
        if (px < (x[j] - x[i]) * (py - y[i]) / (y[j] - y[i]) + x[i]) inside = !inside;
    }
    return inside;
}

typedef enum verdict { KEPT = 0, CUT_OFF, FOLDED } verdict;

/* What happens to the triangle of three corners from `first` on. */
static verdict judge(const outline *o, int first, long *tests)
{
    float x[3], y[3];
    for (int k = 0; k < 3; k++) {
        x[k] = coordinate(o, first + k, o->across);
        y[k] = coordinate(o, first + k, o->up);
    }
    float turn = (x[1] - x[0]) * (y[2] - y[1]) - (y[1] - y[0]) * (x[2] - x[1]);
    float side = (x[0] * y[1] - y[0] * x[1]) * 0.5f;
    if (turn * side < 0.0f) return KEPT;
    for (int k = 3; k < o->n; k++) {
        ++*tests;
        if (is_inside(x, y, coordinate(o, first + k, o->across), coordinate(o, first + k, o->up)))
            return KEPT;
    }
    return (double)turn * o->area < -FOLD_SHARE * o->area * o->area ? FOLDED : CUT_OFF;
}

/* Cuts until a triangle is left, which is one of the polygon's, or until no corner can be cut. */
static rb_status cut(rb_io_soup *soup, int line, outline *o)
{
    int first = 0, failures = 1;
    rb_status status = RB_OK;
    while (o->n > 3 && failures <= o->n && soup->tests < MOST_TESTS && status == RB_OK) {
        first %= o->n;
        verdict what = judge(o, first, &soup->tests);
        if (what == FOLDED && !soup->as_mujoco) return RB_OK;
        if (what == KEPT) {
            first++;
            failures++;
            continue;
        }
        int second = (first + 1) % o->n;
        int last = failures >= o->n; /* its count of attempts is used up, cut or not */
        status = rb_io_soup_triangle(soup, line, o->corner[first], o->corner[second],
                                     o->corner[(first + 2) % o->n]);
        o->n--;
        memmove(o->corner + second, o->corner + second + 1,
                (size_t)(o->n - second) * sizeof *o->corner);
        failures = 0;
        if (last && soup->as_mujoco) break;
    }
    if (status != RB_OK || o->n > 3) return status;
    if (!soup->as_mujoco && judge(o, 0, &soup->tests) == FOLDED) return status;
    o->n = 0;
    return rb_io_soup_triangle(soup, line, o->corner[0], o->corner[1], o->corner[2]);
}

/* Cuts a copy of the corners; what came of it is taken back where it does not cover the polygon. */
static rb_status cut_or_leave(rb_io_soup *soup, int line, int n, const int *corner)
{
    size_t before = soup->nface, bytes = (size_t)n * sizeof *corner;
    outline o = { .soup = soup, .n = n };
    o.corner = soup->alloc.alloc(soup->alloc.ctx, bytes);
    if (!o.corner) return rb_io_soup_refuse(soup, RB_NOMEM, line, "out of memory for a polygon");
    memcpy(o.corner, corner, bytes);
    choose_plane(&o);
    measure(&o);
    rb_status status = cut(soup, line, &o);
    soup->alloc.release(soup->alloc.ctx, o.corner);
    int hole = soup->as_mujoco && soup->tests < MOST_TESTS;
    if (status != RB_OK || o.n == 0 || hole) return status;
    soup->nface = before;
    return rb_io_soup_polygon(soup, line, n, corner);
}

/* Of two diagonals of equal length the second. */
static int is_first_shorter(const outline *o)
{
    float first = 0.0f, second = 0.0f;
    for (int k = 0; k < 3; k++) {
        float a = coordinate(o, 2, k) - coordinate(o, 0, k);
        float b = coordinate(o, 3, k) - coordinate(o, 1, k);
        first += a * a;
        second += b * b;
    }
    return first < second;
}

rb_status rb_io_obj_polygon(rb_io_soup *soup, int line, int n, int *corner)
{
    if (n == 3) return rb_io_soup_triangle(soup, line, corner[0], corner[1], corner[2]);
    if (n > 4) return cut_or_leave(soup, line, n, corner);
    outline o = { .soup = soup, .n = n, .corner = corner };
    int a = corner[0], b = corner[1], c = corner[2], d = corner[3], first = is_first_shorter(&o);
    rb_status status = rb_io_soup_triangle(soup, line, a, b, first ? c : d);
    return status == RB_OK ? rb_io_soup_triangle(soup, line, first ? a : b, c, d) : status;
}
