/* Hulls of the meshes of a model.
 *
 * A mesh gets one where a geom that can touch something uses it, or where its inertia is that of
 * its hull. On bodies that do not move a mesh without volume, a piece of ground, is left without a
 * hull: its triangles collide. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"
#include "base/error.h"
#include "io/context.h"
#include "io/hull.h"
#include "io/mesh_flaws.h"
#include "math/vec3.h"
#include "model/spec.h"
#include "rattleback/load.h"

/* How the geoms use a mesh. */
enum { UNUSED = 0, STATIC = 1, MOVING = 2, INERTIA = 4, SURFACE = 8, WEIGHS = 16 };

/* Bodies that can move: with joints of their own or of a parent, and mocap bodies. */
static void find_moving(rb_spec *spec, unsigned char *moving, int nbody)
{
    memset(moving, 0, (size_t)nbody);
    for (int j = 0; j < rb_spec_count(spec, RB_KIND_JOINT); j++)
        moving[rb_spec_joint(spec, j)->body] = 1;
    for (int b = 1; b < nbody; b++) {
        const rb_body_def *body = rb_spec_body(spec, b);
        if (body->mocap || moving[body->parent]) moving[b] = 1;
    }
}

/* The mass of its body comes from the geoms, and it has some that its volume or shape decides. */
static int weighs(rb_spec *spec, const rb_geom_def *geom)
{
    const rb_body_def *body = rb_spec_body(spec, geom->body);
    int by_geoms = body->inertia_source == RB_INERTIA_FROM_GEOMS ||
                   (body->inertia_source == RB_INERTIA_AUTO && !(body->mass > 0.0));
    return by_geoms && !geom->shell && (isnan(geom->mass) ? geom->density > 0.0 : geom->mass > 0.0);
}

static void note_geom(rb_spec *spec, int g, int in_pair, const unsigned char *moving,
                      unsigned char *use)
{
    const rb_geom_def *geom = rb_spec_geom(spec, g);
    if (geom->type != RB_GEOM_MESH || geom->asset < 0) return;
    const rb_mesh_def *mesh = rb_spec_mesh(spec, geom->asset);
    if (mesh->inertia == RB_MESH_CONVEX) use[geom->asset] |= INERTIA;
    if (weighs(spec, geom) && moving[geom->body]) use[geom->asset] |= WEIGHS;
    if (!geom->contype && !geom->conaffinity && !in_pair) return;
    use[geom->asset] |= moving[geom->body] ? MOVING : geom->surface ? SURFACE : STATIC;
}

static void find_uses(rb_spec *spec, const unsigned char *moving, unsigned char *use)
{
    memset(use, UNUSED, (size_t)rb_spec_count(spec, RB_KIND_MESH));
    for (int g = 0; g < rb_spec_count(spec, RB_KIND_GEOM); g++) note_geom(spec, g, 0, moving, use);
    for (int p = 0; p < rb_spec_count(spec, RB_KIND_PAIR); p++) {
        const rb_pair_def *pair = rb_spec_pair(spec, p);
        note_geom(spec, pair->geom1, 1, moving, use);
        note_geom(spec, pair->geom2, 1, moving, use);
    }
}

/* Signed volume of the triangles from the first vertex [m^3]. */
static double mesh_volume(const rb_mesh_def *mesh)
{
    double sum = 0.0;
    for (int f = 0; f < mesh->nface; f++) {
        double corner[3][3], n[3];
        for (int i = 0; i < 3; i++)
            rb_sub3(mesh->vert + 3 * (size_t)mesh->face[3 * (size_t)f + (size_t)i], mesh->vert,
                    corner[i]);
        rb_cross3(corner[1], corner[2], n);
        sum += rb_dot3(corner[0], n);
    }
    return sum / 6.0;
}

/* A mesh that is not convex is replaced by its hull for contacts: said loudly. */
static rb_status warn_nonconvex(rb_spec *spec, const rb_mesh_def *mesh, const rb_hull_def *hull,
                                int use)
{
    double outer = rb_io_hull_volume(hull), inner = fabs(mesh_volume(mesh));
    if (mesh->nface == 0 || fabs(outer - inner) <= RB_CONVEX_SHARE * outer) return RB_OK;
    char text[320];
    snprintf(text, sizeof text,
             "mesh \"%.100s\" is not convex (%.3g %% of its hull is filled): its convex hull is "
             "used for contacts; %s where that matters",
             mesh->name ? mesh->name : "", 100.0 * inner / outer,
             use & MOVING ? "cut it into convex parts" : "rb.surface/GEOM takes its triangles");
    rb_warning warning = { .where = mesh->where, .element = "mesh", .text = text, .physics = 2 };
    return rb_spec_warn(spec, &warning);
}

/* A volume needs a closed surface: without one inertia "exact" is refused, and inertia as MuJoCo
 * has it gets a warning. */
static rb_status check_solid(rb_spec *spec, int m, rb_error *err)
{
    const rb_mesh_def *mesh = rb_spec_mesh(spec, m);
    const char *name = mesh->name ? mesh->name : "";
    rb_io_flaws flaws;
    char found[200], text[480];
    if (mesh->inertia == RB_MESH_CONVEX || mesh->inertia == RB_MESH_SHELL) return RB_OK;
    if (rb_io_mesh_flaws(mesh, &spec->alloc, &flaws) != RB_OK)
        return rb_fail(err, RB_NOMEM, "out of memory for the edges of a mesh");
    rb_io_flaws_text(&flaws, found, sizeof found);
    if (!*found) return RB_OK;
    if (mesh->inertia == RB_MESH_EXACT)
        return rb_io_error_set(err, RB_BAD_INPUT, mesh->where.file, mesh->where.line,
                               "mesh \"%.100s\" has %s: inertia \"exact\" needs a closed surface; "
                               "close it, or take that of its hull: inertia=\"convex\", in poses "
                               "--inertia convex",
                               name, found);
    snprintf(text, sizeof text,
             "mesh \"%.100s\" has %s: it bounds no solid, and its mass is a guess; "
             "inertia=\"convex\" takes that of its hull",
             name, found);
    rb_warning warning = {
        .where = mesh->where, .element = "mesh/open", .text = text, .physics = 2
    };
    return rb_spec_warn(spec, &warning);
}

/* Longer parts that move [m] are rather files in millimetres. */
#define LONG_PART 10.0

static rb_status hint_millimetres(rb_spec *spec, int m)
{
    const rb_mesh_def *mesh = rb_spec_mesh(spec, m);
    double longest = 0.0;
    for (int k = 0; k < 3; k++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int i = 0; i < mesh->nvert; i++) {
            lo = fmin(lo, mesh->vert[3 * (size_t)i + (size_t)k]);
            hi = fmax(hi, mesh->vert[3 * (size_t)i + (size_t)k]);
        }
        longest = fmax(longest, hi - lo);
    }
    if (!(longest > LONG_PART)) return RB_OK;
    char text[320];
    snprintf(text, sizeof text,
             "mesh \"%.100s\" is %.3g m long and moves: if its file is in millimetres, "
             "scale=\"0.001 0.001 0.001\" (poses: --scale 0.001) makes it metres",
             mesh->name ? mesh->name : "", longest);
    rb_warning warning = {
        .where = mesh->where, .element = "mesh/scale", .text = text, .physics = 2
    };
    return rb_spec_warn(spec, &warning);
}

static rb_status hull_of_mesh(rb_spec *spec, int m, int use, rb_error *err)
{
    rb_mesh_def *mesh = rb_spec_mesh(spec, m);
    rb_error reason = { 0 };
    rb_io_hull hull;
    rb_status status = rb_io_hull_build_most(mesh->nvert, mesh->vert, mesh->max_hull_vertices,
                                             &spec->alloc, &hull, &reason);
    if (status == RB_BAD_INPUT && !(use & (MOVING | INERTIA))) return RB_OK;
    if (status != RB_OK)
        return rb_io_error_set(err, status, mesh->where.file, mesh->where.line,
                               "mesh \"%.100s\": %.300s", mesh->name ? mesh->name : "",
                               reason.text);
    status = rb_spec_set_hull(spec, m, &hull.def);
    if (status == RB_OK && (use & (MOVING | STATIC)))
        status = warn_nonconvex(spec, mesh, &hull.def, use);
    rb_io_hull_free(&hull);
    if (status != RB_OK)
        rb_io_error_set(err, status, mesh->where.file, mesh->where.line,
                        "mesh \"%.100s\": its hull could not be stored: %s",
                        mesh->name ? mesh->name : "", rb_status_text(status));
    return status;
}

rb_status rb_spec_hulls(rb_spec *spec, rb_error *err)
{
    int nmesh = rb_spec_count(spec, RB_KIND_MESH), nbody = rb_spec_count(spec, RB_KIND_BODY);
    if (nmesh == 0) return RB_OK;
    rb_alloc *alloc = &spec->alloc;
    unsigned char *flags = alloc->alloc(alloc->ctx, (size_t)nmesh + (size_t)nbody);
    if (!flags) return rb_fail(err, RB_NOMEM, "out of memory for the hulls of %d meshes", nmesh);

    unsigned char *use = flags, *moving = flags + nmesh;
    find_moving(spec, moving, nbody);
    find_uses(spec, moving, use);
    rb_status status = RB_OK;
    for (int m = 0; m < nmesh && status == RB_OK; m++) {
        int first = !spec->meshes_seen; /* what was said once is not said again */
        if (first && (use[m] & WEIGHS)) status = check_solid(spec, m, err);
        if (status == RB_OK && first && (use[m] & (MOVING | WEIGHS)))
            status = hint_millimetres(spec, m);
        if (status == RB_OK && (use[m] & ~WEIGHS) && rb_spec_mesh(spec, m)->hull.nvert == 0)
            status = hull_of_mesh(spec, m, use[m], err);
    }
    if (status == RB_OK) spec->meshes_seen = 1;
    alloc->release(alloc->ctx, flags);
    return status;
}
