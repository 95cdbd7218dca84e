/* Geoms, sites, meshes, hulls and height fields, copied to their arrays; the size of the model. */
#include "model/build.h"

#include <limits.h>

#include "base/constants.h"
#include "math/quat.h"

void rb_fill_geoms(rb_build *b)
{
    rb_model *m = b->m;
    for (int g = 0; g < m->ngeom; g++) {
        const rb_geom_def *def = RB_DEFS(b, geom, GEOM) + b->geoms.order[g];
        int asset = def->type == RB_GEOM_MESH || def->type == RB_GEOM_HFIELD;
        m->geom_type[g] = (int)def->type;
        m->geom_body[g] = def->body;
        m->geom_link[g] = b->body_link[def->body];
        m->geom_asset[g] = asset ? def->asset : -1;
        rb_copy3(def->size, m->geom_size + 3 * g);
        rb_fill_pose(&def->pose, m->geom_pos + 3 * g, m->geom_quat + 4 * g);
        m->geom_contype[g] = def->contype;
        m->geom_conaffinity[g] = def->conaffinity;
        m->geom_condim[g] = def->condim;
        m->geom_priority[g] = def->priority;
        m->geom_group[g] = def->group;
        m->geom_invisible[g] = def->invisible != 0;
        memcpy(m->geom_rgba + 4 * g, def->rgba, sizeof def->rgba);
        memcpy(m->geom_surface + 6 * g, def->surface_velocity, sizeof def->surface_velocity);
        m->geom_adhesion[g] = def->adhesion;
        m->nsticky += def->adhesion > 0.0;
        m->geom_material[g] = def->material;
    }
    for (int s = 0; s < m->nsite; s++) {
        const rb_site_def *def = RB_DEFS(b, site, SITE) + s;
        m->site_body[s] = def->body;
        rb_fill_pose(&def->pose, m->site_pos + 3 * s, m->site_quat + 4 * s);
        m->site_type[s] = (int)def->type;
        memcpy(m->site_size + 3 * s, def->size, sizeof def->size);
    }
}

/* ---- assets -----------------------------------------------------------------------------------
 */

/* *total += more, or 0 where int is too small. */
static int grow(int *total, int more)
{
    if (more > INT_MAX / 4 - *total) return 0;
    *total += more;
    return 1;
}

rb_status rb_size_assets(rb_build *b)
{
    rb_model *m = b->m;
    m->nmesh = b->spec->list[RB_KIND_MESH].count;
    m->nhfield = b->spec->list[RB_KIND_HFIELD].count;
    m->nsite = b->spec->list[RB_KIND_SITE].count;
    for (int i = 0; i < m->nmesh; i++) {
        const rb_mesh_def *def = RB_DEFS(b, mesh, MESH) + i;
        if (grow(&m->nmeshvert, def->nvert) && grow(&m->nmeshface, def->nface) &&
            grow(&m->nhullvert, def->hull.nvert) && grow(&m->nhullface, def->hull.nface) &&
            grow(&m->nhullloop, def->hull.nloop)) {
            continue;
        }
        return rb_fail(b->err, RB_TOO_LARGE, "the meshes have too many vertices or faces");
    }
    for (int i = 0; i < m->nhfield; i++) {
        const rb_hfield_def *def = RB_DEFS(b, hfield, HFIELD) + i;
        if (grow(&m->nelev, def->nrow * def->ncol)) continue;
        return rb_fail(b->err, RB_TOO_LARGE, "the height fields have too many points");
    }
    return RB_OK;
}

static void copy_numbers(double *to, const double *from, ptrdiff_t n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

static void copy_ints(int *to, const int *from, ptrdiff_t n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* Where the next mesh goes. */
typedef struct cursor {
    int vert, face, hullvert, hullface, loop;
} cursor;

static void copy_hull(rb_model *m, int i, const rb_hull_def *hull, cursor *at)
{
    m->mesh_hullvertadr[i] = at->hullvert;
    m->mesh_hullvertnum[i] = hull->nvert;
    m->mesh_hullfaceadr[i] = at->hullface;
    m->mesh_hullfacenum[i] = hull->nface;
    copy_numbers(m->hull_vert + 3 * (ptrdiff_t)at->hullvert, hull->vert,
                 3 * (ptrdiff_t)hull->nvert);
    copy_ints(m->hull_loop + at->loop, hull->loop, hull->nloop);
    for (int f = 0; f < hull->nface; f++) {
        m->hull_loopadr[at->hullface + f] = at->loop + hull->start[f];
        m->hull_loopnum[at->hullface + f] = hull->start[f + 1] - hull->start[f];
    }
    at->hullvert += hull->nvert;
    at->hullface += hull->nface;
    at->loop += hull->nloop;
}

/* Half extents of the vertices about the frame of the mesh. */
static void fill_extents(rb_model *m, int i)
{
    const double *v = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[i];
    double *half = m->mesh_half + 3 * (ptrdiff_t)i;
    rb_zero3(half);
    for (int k = 0; k < 3 * m->mesh_vertnum[i]; k++) half[k % 3] = fmax(half[k % 3], fabs(v[k]));
}

/* Six times the volume of a fan of corners about x, seen from the origin. */
static double fan_volume(const double *vert, int n, const int *corner)
{
    double sum = 0.0;
    for (int i = 1; i + 1 < n; i++) {
        double w[3];
        rb_cross3(vert + 3 * (ptrdiff_t)corner[i], vert + 3 * (ptrdiff_t)corner[i + 1], w);
        sum += rb_dot3(vert + 3 * (ptrdiff_t)corner[0], w);
    }
    return sum;
}

/* Whether the hull is as good as the triangles. */
static int is_convex(const rb_model *m, int i)
{
    const double *hull_vert = m->hull_vert + 3 * (ptrdiff_t)m->mesh_hullvertadr[i];
    const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[i];
    double hull = 0.0, mesh = 0.0;
    if (m->mesh_hullvertnum[i] == 0) return 0;
    if (m->mesh_facenum[i] == 0) return 1;
    for (int f = m->mesh_hullfaceadr[i]; f < m->mesh_hullfaceadr[i] + m->mesh_hullfacenum[i]; f++) {
        hull += fan_volume(hull_vert, m->hull_loopnum[f], m->hull_loop + m->hull_loopadr[f]);
    }
    for (int f = m->mesh_faceadr[i]; f < m->mesh_faceadr[i] + m->mesh_facenum[i]; f++) {
        mesh += fan_volume(vert, 3, m->mesh_face + 3 * (ptrdiff_t)f);
    }
    return fabs(hull - fabs(mesh)) <= RB_CONVEX_SHARE * hull;
}

rb_status rb_fill_assets(rb_build *b)
{
    rb_model *m = b->m;
    cursor at = { 0 };
    for (int i = 0; i < m->nmesh; i++) {
        const rb_mesh_def *def = RB_DEFS(b, mesh, MESH) + i;
        m->mesh_vertadr[i] = at.vert;
        m->mesh_vertnum[i] = def->nvert;
        m->mesh_faceadr[i] = at.face;
        m->mesh_facenum[i] = def->nface;
        copy_numbers(m->mesh_vert + 3 * (ptrdiff_t)at.vert, def->vert, 3 * (ptrdiff_t)def->nvert);
        copy_ints(m->mesh_face + 3 * (ptrdiff_t)at.face, def->face, 3 * (ptrdiff_t)def->nface);
        at.vert += def->nvert;
        at.face += def->nface;
        fill_extents(m, i);
        int loop = at.loop;
        copy_hull(m, i, &def->hull, &at);
        rb_status status = rb_fill_hull(b, i, loop);
        if (status == RB_OK) status = rb_fill_surface(b, i);
        m->mesh_hullwhole[i] = def->hull.nvert > 0 && def->max_hull_vertices == 0;
        m->mesh_convex[i] = is_convex(m, i);
        if (status != RB_OK) return status;
    }
    int elev = 0;
    for (int i = 0; i < m->nhfield; i++) {
        const rb_hfield_def *def = RB_DEFS(b, hfield, HFIELD) + i;
        int count = def->nrow * def->ncol;
        m->hfield_nrow[i] = def->nrow;
        m->hfield_ncol[i] = def->ncol;
        m->hfield_adr[i] = elev;
        copy_numbers(m->hfield_size + 4 * i, def->size, 4);
        copy_numbers(m->hfield_elev + elev, def->elev, count);
        elev += count;
    }
    return RB_OK;
}

/* ---- the size of the model --------------------------------------------------------------------
 */

/* A box around everything, in the world. */
typedef struct bounds {
    double lo[3], hi[3];
} bounds;

static void include_ball(bounds *box, const double center[3], double radius)
{
    for (int i = 0; i < 3; i++) {
        box->lo[i] = fmin(box->lo[i], center[i] - radius);
        box->hi[i] = fmax(box->hi[i], center[i] + radius);
    }
}

/* Radius of a ball about the frame of a geom; that of a plane is not counted. */
static double geom_radius(const rb_model *m, int g)
{
    const double *s = m->geom_size + 3 * g;
    switch (m->geom_type[g]) {
    case RB_GEOM_SPHERE:
        return s[0];
    case RB_GEOM_CAPSULE:
        return s[0] + s[1];
    case RB_GEOM_CYLINDER:
        return sqrt(s[0] * s[0] + s[1] * s[1]);
    case RB_GEOM_ELLIPSOID:
        return fmax(s[0], fmax(s[1], s[2]));
    case RB_GEOM_BOX:
        return rb_norm3(s);
    case RB_GEOM_MESH: {
        double most = 0.0;
        int mesh = m->geom_asset[g];
        const double *vert = m->mesh_vert + 3 * (ptrdiff_t)m->mesh_vertadr[mesh];
        for (int i = 0; i < m->mesh_vertnum[mesh]; i++) {
            most = fmax(most, rb_dot3(vert + 3 * (ptrdiff_t)i, vert + 3 * (ptrdiff_t)i));
        }
        return sqrt(most);
    }
    case RB_GEOM_HFIELD: {
        const double *size = m->hfield_size + 4 * m->geom_asset[g];
        return rb_norm3(size);
    }
    default:
        return 0.0;
    }
}

static double half_diagonal(const bounds *box)
{
    double diagonal[3];
    rb_sub3(box->hi, box->lo, diagonal);
    double extent = 0.5 * rb_norm3(diagonal);
    return extent < INFINITY ? extent : 0.0;
}

static void include_geom(const rb_build *b, int g, bounds *box)
{
    const rb_model *m = b->m;
    double center[3];
    int k = m->geom_body[g];
    rb_rot(b->body_R + 9 * k, m->geom_pos + 3 * g, center);
    rb_add3(center, b->body_p + 3 * k, center);
    include_ball(box, center, geom_radius(m, g));
}

static const bounds nothing = { { INFINITY, INFINITY, INFINITY },
                                { -INFINITY, -INFINITY, -INFINITY } };

/* The same of each link by itself. */
static rb_status fill_link_extents(rb_build *b)
{
    rb_model *m = b->m;
    bounds *box = rb_push(b->scratch, bounds, m->nlink);
    if (!box) return rb_build_nomem(b);
    for (int k = 0; k < m->nlink; k++) box[k] = nothing;
    for (int g = 0; g < m->ngeom; g++) {
        if (m->geom_type[g] != RB_GEOM_PLANE) include_geom(b, g, &box[m->geom_link[g]]);
    }
    for (int k = 0; k < m->nlink; k++) m->link_extent[k] = half_diagonal(&box[k]);
    return RB_OK;
}

/* Half the diagonal of the box around all bodies but the world's frame, and their geoms, at the
 * reference configuration. A model without any size counts as one metre. */
rb_status rb_fill_extent(rb_build *b)
{
    rb_model *m = b->m;
    bounds box = nothing;
    for (int k = 1; k < m->nbody; k++) include_ball(&box, b->body_p + 3 * k, 0.0);
    for (int g = 0; g < m->ngeom; g++) {
        if (m->geom_type[g] != RB_GEOM_PLANE) include_geom(b, g, &box);
    }
    double extent = half_diagonal(&box);
    m->extent = extent > 0.0 ? extent : 1.0;
    return fill_link_extents(b);
}
