/* Inertia of a triangle mesh (D.50). Each triangle with the reference point spans a tetrahedron of
 * signed volume; with a closed mesh the sum does not depend on the point. LEGACY takes absolute
 * values, first seen from the centroid of the surface, then from the com so found: that is what
 * MuJoCo does with meshes that are not closed or not consistently oriented, and its masses are
 * those of many published robots. */
#include "model/solids.h"

#include <stddef.h>

#include "math/vec3.h"

/* A mesh seen as a list of triangles: its own, or the polygons of its hull cut into fans. */
typedef struct triangles {
    const double *vert;
    const int *face;         /* NULL: hull                       */
    const int *start, *loop; /* of the hull                      */
    int count;               /* triangles, or polygons           */
    int how;
} triangles;

/* Sums over triangles: the measure (volume or area), its first moment, its second moments. */
typedef struct moments {
    double size, first[3], second[6];
} moments;

/* One triangle with corners relative to `point`, weighted by its tetrahedron or its area. */
static void add_triangle(const triangles *t, const double point[3], const int corner[3],
                         moments *sum)
{
    double a[3], b[3], c[3], n[3], ab[3], ac[3], s[3];
    rb_sub3(t->vert + 3 * (ptrdiff_t)corner[0], point, a);
    rb_sub3(t->vert + 3 * (ptrdiff_t)corner[1], point, b);
    rb_sub3(t->vert + 3 * (ptrdiff_t)corner[2], point, c);
    rb_sub3(b, a, ab);
    rb_sub3(c, a, ac);
    rb_cross3(ab, ac, n);
    for (int i = 0; i < 3; i++) s[i] = a[i] + b[i] + c[i];

    int shell = t->how == RB_MESH_SHELL;
    double weight = shell ? 0.5 * rb_norm3(n) : rb_dot3(s, n) / 18.0;
    if (t->how == RB_MESH_LEGACY) weight = fabs(weight);

    /* a simplex with k corners: the mean of x is s / k, that of x x' is
     * (sum of corners a a' + s s') / (k (k + 1)); the fourth corner is the point itself, 0 */
    double k = shell ? 3.0 : 4.0, pairs = weight / (k * (k + 1.0));
    static const int row[6] = { 0, 1, 2, 0, 0, 1 }, col[6] = { 0, 1, 2, 1, 2, 2 };
    sum->size += weight;
    rb_axpy3(weight / k, s, sum->first);
    for (int i = 0; i < 6; i++) {
        int p = row[i], q = col[i];
        sum->second[i] += pairs * (a[p] * a[q] + b[p] * b[q] + c[p] * c[q] + s[p] * s[q]);
    }
}

static moments add_all(const triangles *t, const double point[3])
{
    moments sum = { 0 };
    for (int f = 0; f < t->count; f++) {
        if (t->face) {
            add_triangle(t, point, t->face + 3 * (ptrdiff_t)f, &sum);
            continue;
        }
        for (int i = t->start[f] + 1; i + 1 < t->start[f + 1]; i++) {
            int corner[3] = { t->loop[t->start[f]], t->loop[i], t->loop[i + 1] };
            add_triangle(t, point, corner, &sum);
        }
    }
    return sum;
}

/* The first moment relative to `point` becomes a centre. */
static void center_of(const moments *sum, const double point[3], double center[3])
{
    rb_copy3(point, center);
    rb_axpy3(1.0 / sum->size, sum->first, center);
}

const char *rb_mesh_solid(const rb_mesh_def *mesh, rb_mesh_inertia how, rb_inertia *out)
{
    triangles surface = {
        .vert = mesh->vert, .face = mesh->face, .count = mesh->nface, .how = RB_MESH_SHELL
    };
    triangles solid = surface;
    solid.how = (int)how;
    if (mesh->nface == 0) return "has no faces";
    if (how == RB_MESH_CONVEX) {
        if (mesh->hull.nvert == 0) return "has no hull; rb_spec_hulls makes one";
        solid = (triangles){ .vert = mesh->hull.vert,
                             .start = mesh->hull.start,
                             .loop = mesh->hull.loop,
                             .count = mesh->hull.nface,
                             .how = RB_MESH_CONVEX };
    }

    /* seen from the centroid of the surface, then from the com: small numbers, few cancellations */
    const double *origin = surface.vert + 3 * (ptrdiff_t)surface.face[0];
    double centroid[3], com[3];
    moments sum = add_all(&surface, origin);
    if (!(sum.size > 0.0)) return "has no surface";
    center_of(&sum, origin, centroid);
    sum = add_all(&solid, centroid);
    if (sum.size < 0.0) return "has negative volume: its triangles look inwards";
    if (!(sum.size > 0.0)) return "has no volume";
    center_of(&sum, centroid, com);
    sum = add_all(&solid, com);
    if (!(sum.size > 0.0)) return "has no volume";

    const double *x = sum.second;
    *out = (rb_inertia){ .mass = sum.size,
                         .com = { com[0], com[1], com[2] },
                         .I = { x[1] + x[2], x[0] + x[2], x[0] + x[1], -x[3], -x[4], -x[5] } };
    return NULL;
}
