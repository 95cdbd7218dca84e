/* Shapes that a surrounding fluid acts on: for bodies the box of the same inertia, for geoms with
 * fluid_ellipsoid the ellipsoid of their size, with its added mass (D.26). */
#include "model/build.h"

#include <math.h>

#include "base/constants.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "model/solids.h"

#define PI 3.14159265358979323846

/* ---- the box of a body -----------------------------------------------------------------------
 */

/* Sides of the solid box with these moments, in its principal axes (D.25). */
static void fill_box(rb_model *m, int body)
{
    double w[3], *box = m->fluid_box + 3 * body;
    rb_sym3_eigen(m->body_inertia + 6 * body, w, m->fluid_rot + 9 * body);
    for (int i = 0; i < 3; i++) {
        double twice = w[(i + 1) % 3] + w[(i + 2) % 3] - w[i];
        box[i] = sqrt(6.0 * fmax(RB_FLUID_MIN, twice) / m->body_mass[body]);
    }
}

/* ---- the ellipsoid of a geom ------------------------------------------------------------------
 */

static void semi_axes(const rb_model *m, int g, double a[3])
{
    const double *size = m->geom_size + 3 * g;
    int type = m->geom_type[g];
    a[0] = size[0];
    a[1] = type == RB_GEOM_ELLIPSOID || type == RB_GEOM_BOX ? size[1] : size[0];
    a[2] = type == RB_GEOM_SPHERE     ? size[0]
           : type == RB_GEOM_CAPSULE  ? size[0] + size[1]
           : type == RB_GEOM_CYLINDER ? size[1]
                                      : size[2];
}

/* The fifth root of x > 0, by Newton's method between powers of two. */
static double fifth_root(double x)
{
    int e;
    double a = frexp(x, &e); /* exact */
    int k = e >= 0 ? e / 5 : -((4 - e) / 5);
    a = ldexp(a, e - 5 * k);
    double y = a < 1.0 ? 1.0 : 2.0;
    for (int i = 0; i < 60; i++) {
        double y4 = y * y * y * y, next = 0.8 * y + 0.2 * a / y4;
        if (fabs(next - y) <= 1e-16 * y) break;
        y = next;
    }
    return ldexp(y, k);
}

/* kappa of (D.26) along the first axis: the integral over l from 0 to infinity by Kronrod's rule of
 * 15 points in x, l = s x^3 / (1 - x)^2. Nodes, weights and their eight digits are those of MuJoCo,
 * so that both carry the same mass of fluid. */
static double added_mass(double a, double b, double c)
{
    static const double node[8] = { 0.00427231, 0.02544604, 0.06756779, 0.12923441,
                                    0.20695638, 0.29707742, 0.39610752, 0.5 };
    static const double weight[8] = { 0.01146766, 0.03154605, 0.05239501, 0.07032663,
                                      0.08450236, 0.09517529, 0.10221647, 0.10474107 };
    double root = fifth_root(a * a * a * b * c), scale = root * root, kappa = 0.0;
    for (int i = 0; i < 15; i++) {
        int k = i < 8 ? i : 14 - i;
        double x = i < 8 ? node[k] : 1.0 - node[k], y = 1.0 - x;
        double l = scale * (x * x * x / (y * y)), dl = x * x * (3.0 - x) / (y * y * y);
        double A = 1.0 + l / (a * a), B = 1.0 + l / (b * b), C = 1.0 + l / (c * c);
        kappa += weight[k] * scale * dl / (A * sqrt(A * B * C));
    }
    return kappa / (a * a);
}

/* Added moment of inertia, over a fifth of the volume. */
static double added_moment(double b, double c, double kappa_b, double kappa_c)
{
    double dif = b * b - c * c, sum = b * b + c * c;
    double below = fabs(2.0 * dif + sum * (kappa_b - kappa_c));
    return dif * dif * fabs(kappa_c - kappa_b) / fmax(RB_FLUID_EPS, below);
}

/* Of a mesh: about its centre and along its principal axes, as far out as its vertices. */
static void mesh_ellipsoid(const rb_mesh_def *mesh, double axes[3], double pos[3], double rot[9])
{
    rb_inertia solid;
    double w[3];
    if (rb_mesh_solid(mesh, mesh->inertia, &solid) != NULL) return;
    rb_sym3_eigen(solid.I, w, rot);
    rb_copy3(solid.com, pos);
    for (int i = 0; i < mesh->nvert; i++) {
        double r[3];
        rb_sub3(mesh->vert + 3 * (ptrdiff_t)i, pos, r);
        rb_rot_t(rot, r, r);
        for (int a = 0; a < 3; a++) axes[a] = fmax(axes[a], fabs(r[a]));
    }
}

static void place_ellipsoid(const rb_build *b, int g, const rb_geom_def *def, rb_fluid_shape *f)
{
    const rb_model *m = b->m;
    double pos[3] = { 0.0 }, rot[9] = { 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 }, R[9];
    if (def->type == RB_GEOM_MESH)
        mesh_ellipsoid(RB_DEFS(b, mesh, MESH) + def->asset, f->axes, pos, rot);
    else
        semi_axes(m, g, f->axes);
    rb_quat_to_rot(m->geom_quat + 4 * g, R);
    rb_rot(R, pos, f->pos);
    rb_add3(f->pos, m->geom_pos + 3 * g, f->pos);
    rb_mul33(R, rot, f->rot);
}

static void fill_ellipsoid(const rb_build *b, int g, const rb_geom_def *def)
{
    rb_fluid_shape *f = b->m->geom_fluid + g;
    double kappa[3], *a = f->axes;
    place_ellipsoid(b, g, def, f);
    if (!(a[0] > 0.0 && a[1] > 0.0 && a[2] > 0.0)) return; /* a mesh without volume */
    f->on = 1;
    memcpy(f->coef, def->fluid_coef, sizeof f->coef);
    double volume = 4.0 / 3.0 * PI * a[0] * a[1] * a[2];
    for (int i = 0; i < 3; i++) kappa[i] = added_mass(a[i], a[(i + 1) % 3], a[(i + 2) % 3]);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        f->mass[i] = volume * kappa[i] / fmax(RB_FLUID_EPS, 2.0 - kappa[i]);
        f->moment[i] = volume / 5.0 * added_moment(a[j], a[k], kappa[j], kappa[k]);
    }
}

void rb_fill_fluid(rb_build *b)
{
    rb_model *m = b->m;
    m->fluid = m->option.density > 0.0 || m->option.viscosity > 0.0;
    for (int k = 1; k < m->nbody && m->fluid; k++)
        if (m->body_mass[k] >= RB_FLUID_MIN) fill_box(m, k);
    for (int g = 0; g < m->ngeom && m->fluid; g++) {
        const rb_geom_def *def = RB_DEFS(b, geom, GEOM) + b->geoms.order[g];
        if (def->fluid_ellipsoid) fill_ellipsoid(b, g, def);
    }
}
