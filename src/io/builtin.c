#include "io/builtin.h"

#include <math.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

/* A mesh that grows; its arrays are as large as it will get. */
typedef struct draft {
    rb_io_mesh *mesh;
    const double *param;
    const char *reason;
} draft;

static rb_status make_room(draft *d, size_t nvert, size_t nface)
{
    rb_io_mesh *m = d->mesh;
    m->vert = m->alloc.alloc(m->alloc.ctx, 3 * nvert * sizeof *m->vert);
    m->face = m->alloc.alloc(m->alloc.ctx, 3 * nface * sizeof *m->face);
    if (m->vert && m->face) return RB_OK;
    d->reason = "out of memory for the mesh";
    return RB_NOMEM;
}

static void vertex(draft *d, double x, double y, double z)
{
    double *v = d->mesh->vert + 3 * (size_t)d->mesh->nvert++;
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

static void triangle(draft *d, int a, int b, int c)
{
    int *f = d->mesh->face + 3 * (size_t)d->mesh->nface++;
    f[0] = a;
    f[1] = b;
    f[2] = c;
}

static rb_status refuse(draft *d, const char *reason)
{
    d->reason = reason;
    return RB_BAD_INPUT;
}

/* A parameter as a whole number; it was checked to fit. */
static int whole(const draft *d, int i)
{
    return (int)d->param[i];
}

/* ---- sphere: an icosahedron whose triangles are quartered --------------------------------------
 */

/* The vertex on the sphere between a and b; edges are found again in the list. */
static int between(draft *d, int (*edge)[3], int *nedge, int a, int b)
{
    int lo = a < b ? a : b, hi = a < b ? b : a;
    for (int i = *nedge - 1; i >= 0; i--)
        if (edge[i][0] == lo && edge[i][1] == hi) return edge[i][2];
    const double *x = d->mesh->vert + 3 * (size_t)a, *y = d->mesh->vert + 3 * (size_t)b;
    double m[3];
    rb_add3(x, y, m);
    rb_normalize3(m);
    edge[*nedge][0] = lo;
    edge[*nedge][1] = hi;
    edge[*nedge][2] = d->mesh->nvert;
    vertex(d, m[0], m[1], m[2]);
    return edge[(*nedge)++][2];
}

static void quarter(draft *d, int (*edge)[3])
{
    int nface = d->mesh->nface, nedge = 0;
    for (int f = 0; f < nface; f++) {
        int *face = d->mesh->face + 3 * (size_t)f, mid[3];
        int corner[3] = { face[0], face[1], face[2] };
        for (int k = 0; k < 3; k++)
            mid[k] = between(d, edge, &nedge, corner[k], corner[(k + 1) % 3]);
        for (int k = 0; k < 3; k++) face[k] = mid[k];
        for (int k = 0; k < 3; k++) triangle(d, corner[k], mid[k], mid[(k + 2) % 3]);
    }
}

static rb_status sphere(draft *d)
{
    enum { MOST = 4 };
    static const int face[20][3] = { { 0, 11, 5 },  { 0, 5, 1 },  { 0, 1, 7 },  { 0, 7, 10 },
                                     { 0, 10, 11 }, { 1, 5, 9 },  { 5, 11, 4 }, { 11, 10, 2 },
                                     { 10, 7, 6 },  { 7, 1, 8 },  { 3, 9, 4 },  { 3, 4, 2 },
                                     { 3, 2, 6 },   { 3, 6, 8 },  { 3, 8, 9 },  { 4, 9, 5 },
                                     { 2, 4, 11 },  { 6, 2, 10 }, { 8, 6, 7 },  { 9, 8, 1 } };
    double golden = 0.5 * (1.0 + sqrt(5.0)), unit = 1.0 / sqrt(1.0 + golden * golden);
    int level = whole(d, 0);
    if (level < 0 || level > MOST) return refuse(d, "a sphere is divided 0 to 4 times");
    size_t nface = (size_t)20 << 2 * level, nvert = nface / 2 + 2;
    rb_status status = make_room(d, nvert, nface);
    if (status != RB_OK) return status;
    for (int i = 0; i < 12; i++) { /* three rectangles, in the planes xy, yz and zx */
        double at[3], near = i % 2 ? unit : -unit, far = golden * (i % 4 < 2 ? unit : -unit);
        int axis = i / 4;
        at[axis == 0 ? 0 : axis == 1 ? 1 : 2] = near;
        at[axis == 0 ? 1 : axis == 1 ? 2 : 0] = far;
        at[axis == 0 ? 2 : axis == 1 ? 0 : 1] = 0.0;
        vertex(d, at[0], at[1], at[2]);
    }
    for (int f = 0; f < 20; f++) triangle(d, face[f][0], face[f][1], face[f][2]);
    int(*edge)[3] = d->mesh->alloc.alloc(d->mesh->alloc.ctx, nvert * sizeof *edge);
    if (!edge) {
        d->reason = "out of memory for the mesh";
        return RB_NOMEM;
    }
    for (int k = 0; k < level; k++) quarter(d, edge);
    d->mesh->alloc.release(d->mesh->alloc.ctx, edge);
    return RB_OK;
}

/* ---- hemisphere: rings of 4, 8, 12, .. vertices around the pole
 * -----------------------------------
 */

/* Vertex k of ring i, of 4 i vertices; the pole is ring 0. */
static int on_ring(int i, int k)
{
    return i == 0 ? 0 : 1 + 2 * i * (i - 1) + k % (4 * i);
}

static rb_status hemisphere(draft *d)
{
    int nring = whole(d, 0) + 1;
    if (nring < 1 || nring > 11) return refuse(d, "the resolution of a hemisphere is 0 to 10");
    int nvert = 2 + 2 * nring * (nring + 1), last = 4 * nring;
    rb_status status = make_room(d, (size_t)nvert, 2 * (size_t)nvert);
    if (status != RB_OK) return status;
    vertex(d, 0.0, 0.0, 1.0);
    for (int i = 1; i <= nring; i++) { /* points of the faces of an octahedron, moved outward */
        for (int k = 0; k < 4 * i; k++) {
            int x = i - k % i, y = k % i, quadrant = k / i, z = nring - i;
            double scale = 1.0 / sqrt((double)(x * x + y * y + z * z));
            int across[4] = { x, -y, -x, y };
            vertex(d, scale * across[quadrant], scale * across[(quadrant + 3) % 4], scale * z);
        }
    }
    vertex(d, 0.0, 0.0, 0.0);
    for (int i = 0; i < nring; i++) {
        for (int q = 0; q < 4; q++) {
            for (int k = 0; k <= i; k++) {
                int inner = on_ring(i, q * i + k), outer = q * (i + 1) + k;
                triangle(d, inner, on_ring(i + 1, outer), on_ring(i + 1, outer + 1));
                if (k < i) triangle(d, inner, on_ring(i + 1, outer + 1), on_ring(i, q * i + k + 1));
            }
        }
    }
    for (int k = 0; k < last; k++) triangle(d, on_ring(nring, k), nvert - 1, on_ring(nring, k + 1));
    return RB_OK;
}

/* ---- cone: a pyramid on a regular polygon, cut where its upper radius is not 0
 * --------------------
 */

static rb_status cone(draft *d)
{
    int n = whole(d, 0), tip = d->param[1] == 0.0;
    double radius = d->param[1];
    if (n < 3 || n > 10000) return refuse(d, "a cone has 3 to 10000 sides");
    if (!(radius >= 0.0 && radius <= 1.0)) return refuse(d, "the upper radius is 0 to 1");
    rb_status status = make_room(d, 2 * (size_t)n, 4 * (size_t)n);
    if (status != RB_OK) return status;
    for (int ring = 0; ring < (tip ? 1 : 2); ring++) {
        for (int k = 0; k < n; k++) {
            double s, c, r = ring ? radius : 1.0;
            rb_sincos(2.0 * PI * k / n, &s, &c);
            vertex(d, r * c, r * s, ring ? 1.0 : -1.0);
        }
    }
    if (tip) vertex(d, 0.0, 0.0, 1.0);
    for (int k = 1; k + 1 < n; k++) {
        triangle(d, 0, k + 1, k);
        if (!tip) triangle(d, n, n + k, n + k + 1);
    }
    for (int k = 0; k < n; k++) {
        int next = (k + 1) % n;
        triangle(d, k, next, tip ? n : n + next);
        if (!tip) triangle(d, k, n + next, n + k);
    }
    return RB_OK;
}

/* ---- superquadrics: sines and cosines with exponents
 * ---------------------------------------------
 */

static double power(double x, double e)
{
    double y = pow(fabs(x), e);
    return x < 0.0 ? -y : x > 0.0 ? y : 0.0;
}

static rb_status supersphere(draft *d)
{
    int n = whole(d, 0);
    double e1 = d->param[1], e2 = d->param[2];
    if (n < 3 || n > 1000) return refuse(d, "the resolution of a supersphere is 3 to 1000");
    if (!(e1 >= 0.0 && e2 >= 0.0)) return refuse(d, "the exponents are not negative");
    rb_status status = make_room(d, 2 + (size_t)n * (size_t)(n - 1), 2 * (size_t)n * (size_t)n);
    if (status != RB_OK) return status;
    vertex(d, 0.0, 0.0, -1.0);
    for (int i = 1; i < n; i++) {
        double sv, cv, su, cu;
        rb_sincos(-0.5 * PI + PI * i / n, &sv, &cv);
        for (int k = 0; k < n; k++) {
            rb_sincos(-PI + 2.0 * PI * k / n, &su, &cu);
            double r = power(cv, e2);
            vertex(d, r * power(cu, e1), r * power(su, e1), power(sv, e2));
        }
    }
    int top = d->mesh->nvert;
    vertex(d, 0.0, 0.0, 1.0);
    for (int k = 0; k < n; k++) triangle(d, 0, 1 + (k + 1) % n, 1 + k);
    for (int i = 0; i + 2 < n; i++) {
        for (int k = 0; k < n; k++) {
            int a = 1 + i * n + k, b = 1 + i * n + (k + 1) % n;
            triangle(d, a, b, a + n);
            triangle(d, b, b + n, a + n);
        }
    }
    for (int k = 0; k < n; k++) triangle(d, top - n + k, top - n + (k + 1) % n, top);
    return RB_OK;
}

static rb_status supertorus(draft *d)
{
    int n = whole(d, 0);
    double radius = d->param[1], small = d->param[2], large = d->param[3];
    if (n < 3 || n > 1000) return refuse(d, "the resolution of a supertorus is 3 to 1000");
    if (!(radius > 0.0 && radius <= 1.0)) return refuse(d, "the radius is above 0, at most 1");
    if (!(small > 0.0 && large > 0.0)) return refuse(d, "the exponents are positive");
    rb_status status = make_room(d, (size_t)n * (size_t)n, 2 * (size_t)n * (size_t)n);
    if (status != RB_OK) return status;
    for (int i = 0; i < n; i++) {
        double su, cu, sv, cv;
        rb_sincos(2.0 * PI * i / n, &su, &cu);
        for (int j = 0; j < n; j++) {
            rb_sincos(2.0 * PI * j / n, &sv, &cv);
            double r = 1.0 + radius * power(cv, small);
            vertex(d, r * power(cu, large), r * power(su, large), radius * power(sv, small));
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int a = i * n + j, b = (i + 1) % n * n + j, c = i * n + (j + 1) % n;
            triangle(d, a, b, c);
            triangle(d, b, (i + 1) % n * n + (j + 1) % n, c);
        }
    }
    return RB_OK;
}

/* ---- wedge: directions within a field of view, about -z; without faces its hull counts
 * ---------------
 */

/* The middle of cell i of n between -1 and 1, whose borders are moved to the centre. */
static double cell(int i, int n, double gamma)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        double x = 2.0 * (i + side) / n - 1.0;
        sum += gamma * x * x * x * x * x + (1.0 - gamma) * x;
    }
    return 0.5 * sum;
}

static rb_status wedge(draft *d)
{
    const double *p = d->param;
    double degree = PI / 180.0, s_across, c_across, s_up, c_up;
    if (!(p[0] >= 1.0 && p[0] <= 1000.0 && p[1] >= 1.0 && p[1] <= 1000.0))
        return refuse(d, "the resolutions of a wedge are 1 to 1000");
    if (!(p[2] > 0.0 && p[2] <= 180.0 && p[3] > 0.0 && p[3] <= 90.0))
        return refuse(d, "the fields of view of a wedge are at most 180 and 90 degrees");
    if (!(p[4] >= 0.0 && p[4] <= 1.0)) return refuse(d, "the last number of a wedge is 0 to 1");
    int across = whole(d, 0), up = whole(d, 1);
    rb_status status = make_room(d, (size_t)across * (size_t)up, 1);
    for (int i = 0; i < across && status == RB_OK; i++) {
        rb_sincos(degree * p[2] * cell(i, across, p[4]), &s_across, &c_across);
        for (int j = 0; j < up; j++) {
            rb_sincos(degree * p[3] * cell(j, up, p[4]), &s_up, &c_up);
            vertex(d, c_up * s_across, s_up, -c_up * c_across);
        }
    }
    return status;
}

/* ---- all of them
 * ---------------------------------------------------------------------------------
 */

rb_status rb_io_builtin(const char *word, const double *params, size_t nparam,
                        const rb_alloc *alloc, rb_io_mesh *out, const char **reason)
{
    static const struct {
        const char *word;
        size_t nparam;
        rb_status (*make)(draft *d);
        const char *wrong;
    } kinds[] = {
        { "sphere", 1, sphere, "a sphere has one parameter: how often it is divided" },
        { "hemisphere", 1, hemisphere, "a hemisphere has one parameter: its resolution" },
        { "cone", 2, cone, "a cone has two parameters: its sides, its upper radius" },
        { "supersphere", 3, supersphere, "a supersphere has three parameters: resolution, e, n" },
        { "supertorus", 4, supertorus,
          "a supertorus has four parameters: resolution, radius, s, t" },
        { "wedge", 5, wedge,
          "a wedge has five parameters: two resolutions, two fields of view, gamma" },
    };
    *out = (rb_io_mesh){ .alloc = alloc ? *alloc : rb_alloc_default() };
    draft d = { .mesh = out, .param = params, .reason = "" };
    rb_status status = RB_UNSUPPORTED;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(kinds[k].word, word) != 0) continue;
        int fits = nparam == kinds[k].nparam && fabs(params[0]) < 1e6;
        status = fits ? kinds[k].make(&d) : refuse(&d, kinds[k].wrong);
    }
    *reason = d.reason;
    if (status != RB_OK) rb_io_mesh_free(out);
    return status;
}
