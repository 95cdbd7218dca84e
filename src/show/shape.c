#include "show/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points around an axis, and rings from pole to pole of a sphere: it looks round [1]. */
enum { AROUND = 24, RINGS = 12 };

static const double pi = 3.14159265358979323846;

/* 1, or 0: out of memory. */
static int point(shape *s, double x, double y, double z)
{
    double *to = rb_show_list_add(&s->point, 1);
    if (!to) return 0;
    to[0] = x;
    to[1] = y;
    to[2] = z;
    return 1;
}

static int triangle(shape *s, size_t a, size_t b, size_t c)
{
    uint32_t *to = rb_show_list_add(&s->corner, 3);
    if (!to) return 0;
    to[0] = (uint32_t)a;
    to[1] = (uint32_t)b;
    to[2] = (uint32_t)c;
    return 1;
}

/* ---- round ones ---------------------------------------------------------------------------------
 */

static int ring(shape *s, double radius, double z)
{
    int good = 1;
    for (int k = 0; k < AROUND; k++) {
        double angle = 2.0 * pi * k / AROUND;
        good = good && point(s, radius * cos(angle), radius * sin(angle), z);
    }
    return good;
}

/* Rings of AROUND points from the lowest to the highest, with a point at either end. */
static int close_rings(shape *s, size_t nring, double lowest, double highest)
{
    size_t low = s->point.n, high = low + 1;
    int good = point(s, 0.0, 0.0, lowest) && point(s, 0.0, 0.0, highest);
    for (size_t k = 0; k < AROUND && good; k++) {
        size_t next = (k + 1) % AROUND, last = (nring - 1) * AROUND;
        good = triangle(s, low, next, k) && triangle(s, high, last + k, last + next);
        for (size_t r = 0; r + 1 < nring && good; r++) {
            size_t a = r * AROUND, b = a + AROUND;
            good = triangle(s, a + k, a + next, b + next) && triangle(s, a + k, b + next, b + k);
        }
    }
    return good;
}

/* A sphere whose upper half is moved up by half and the lower one down: a capsule. */
static int make_capsule(shape *s, double radius, double half)
{
    int good = 1;
    size_t n = 0;
    for (int r = 1; r < RINGS && good; r++) {
        double angle = pi * r / RINGS, z = -radius * cos(angle);
        if (2 * r <= RINGS) good = ring(s, radius * sin(angle), z - half), n++;
        if (2 * r >= RINGS && half > 0.0)
            good = good && ring(s, radius * sin(angle), z + half), n++;
        if (2 * r > RINGS && half <= 0.0) good = good && ring(s, radius * sin(angle), z), n++;
    }
    return good && close_rings(s, n, -radius - half, radius + half);
}

static int make_cylinder(shape *s, double radius, double half)
{
    return ring(s, radius, -half) && ring(s, radius, half) && close_rings(s, 2, -half, half);
}

/* ---- flat ones ----------------------------------------------------------------------------------
 */

static int make_box(shape *s, const double size[3])
{
    static const unsigned char face[6][4] = { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                              { 2, 6, 7, 3 }, { 0, 4, 6, 2 }, { 1, 3, 7, 5 } };
    int good = 1;
    for (int k = 0; k < 8; k++)
        good = good && point(s, k & 1 ? size[0] : -size[0], k & 2 ? size[1] : -size[1],
                             k & 4 ? size[2] : -size[2]);
    for (int f = 0; f < 6 && good; f++)
        good = triangle(s, face[f][0], face[f][1], face[f][2]) &&
               triangle(s, face[f][0], face[f][2], face[f][3]);
    return good;
}

static int make_plane(shape *s, const double size[3], double endless)
{
    double x = size[0] > 0.0 ? size[0] : endless, y = size[1] > 0.0 ? size[1] : endless;
    return point(s, -x, -y, 0.0) && point(s, x, -y, 0.0) && point(s, x, y, 0.0) &&
           point(s, -x, y, 0.0) && triangle(s, 0, 1, 2) && triangle(s, 0, 2, 3);
}

/* ---- assets -------------------------------------------------------------------------------------
 */

static int make_mesh(shape *s, const rb_model *m, int mesh)
{
    scene_mesh from;
    if (rb_show_scene_mesh_make(m, mesh, &from) != RB_OK) return 0;
    double *to = rb_show_list_add(&s->point, (size_t)from.nvert);
    uint32_t *corner = rb_show_list_add(&s->corner, 3 * (size_t)from.nface);
    int good = (to || from.nvert == 0) && (corner || from.nface == 0);
    if (good && from.nvert > 0) memcpy(to, from.vert, 3 * (size_t)from.nvert * sizeof *to);
    if (good && from.nface > 0) memcpy(corner, from.face, 3 * (size_t)from.nface * sizeof *corner);
    free(from.face);
    return good;
}

static int make_hfield(shape *s, const rb_model *m, int h)
{
    int nrow = m->hfield_nrow[h], ncol = m->hfield_ncol[h], good = 1;
    const double *size = m->hfield_size + 4 * h, *elev = m->hfield_elev + m->hfield_adr[h];
    for (int r = 0; r < nrow; r++)
        for (int c = 0; c < ncol; c++)
            good = good && point(s, size[0] * (2.0 * c / (ncol - 1) - 1.0),
                                 size[1] * (2.0 * r / (nrow - 1) - 1.0),
                                 size[2] * elev[(ptrdiff_t)r * ncol + c]);
    for (int r = 0; r + 1 < nrow; r++)
        for (int c = 0; c + 1 < ncol && good; c++) {
            size_t a = (size_t)r * (size_t)ncol + (size_t)c, b = a + (size_t)ncol;
            good = triangle(s, a, a + 1, b + 1) && triangle(s, a, b + 1, b);
        }
    return good;
}

rb_status rb_show_shape_make(const scene *sc, int geom, double endless, shape *out)
{
    const scene_geom *g = &sc->geom[geom];
    const double *size = g->m->geom_size + 3 * g->geom;
    int good = 0;
    *out = (shape){ .point.size = 3 * sizeof(double), .corner.size = sizeof(uint32_t) };
    switch (g->m->geom_type[g->geom]) {
    case RB_GEOM_PLANE:
        good = make_plane(out, size, endless);
        break;
    case RB_GEOM_SPHERE:
        good = make_capsule(out, size[0], 0.0);
        break;
    case RB_GEOM_ELLIPSOID:
        good = make_capsule(out, 1.0, 0.0);
        for (size_t i = 0; good && i < 3 * out->point.n; i++)
            ((double *)out->point.at)[i] *= size[i % 3];
        break;
    case RB_GEOM_CAPSULE:
        good = make_capsule(out, size[0], size[1]);
        break;
    case RB_GEOM_CYLINDER:
        good = make_cylinder(out, size[0], size[1]);
        break;
    case RB_GEOM_BOX:
        good = make_box(out, size);
        break;
    case RB_GEOM_MESH:
        good = make_mesh(out, sc->assets, g->asset);
        break;
    default:
        good = make_hfield(out, sc->assets, g->asset);
    }
    if (good) return RB_OK;
    rb_show_shape_free(out);
    return RB_NOMEM;
}

void rb_show_shape_free(shape *s)
{
    rb_show_list_free(&s->point);
    rb_show_list_free(&s->corner);
}
