/* Geoms and sites. */
#include "io/mjcf.h"

#include <math.h>
#include <string.h>

#include "math/quat.h"
#include "model/solids.h"

/* ---- geoms: attributes ----------------------------------------------------------------------- */

#define GEOM(attr, member, type, least, most, words)                                               \
    {                                                                                              \
        attr, RB_MJCF_##type, offsetof(rb_mjcf_geom, member), least, most, words                   \
    }

static const rb_mjcf_field geom_fields[] = {
    GEOM("pos", def.pose.pos, NUMBERS, 3, 3, NULL),
    GEOM("size", def.size, NUMBERS, 1, 3, NULL),
    GEOM("mass", def.mass, NUMBERS, 1, 1, NULL),
    GEOM("density", def.density, NUMBERS, 1, 1, NULL),
    GEOM("fitscale", fitscale, NUMBERS, 1, 1, NULL),
    GEOM("contype", def.contype, INTS, 1, 1, NULL),
    GEOM("conaffinity", def.conaffinity, INTS, 1, 1, NULL),
    GEOM("surfacevel", def.surface_velocity, NUMBERS, 1, 6, NULL),
    GEOM("adhesion", def.adhesion, NUMBERS, 1, 1, NULL),
    GEOM("condim", def.condim, INTS, 1, 1, NULL),
    GEOM("fluidcoef", def.fluid_coef, NUMBERS, 1, 5, NULL),
    GEOM("fluidshape", def.fluid_ellipsoid, WORD, 0, 0, "none ellipsoid"),
    GEOM("priority", def.priority, INTS, 1, 1, NULL),
    GEOM("group", def.group, INTS, 1, 1, NULL),
    GEOM("shellinertia", def.shell, WORD, 0, 0, RB_MJCF_BOOL_WORDS),
    GEOM("mesh", mesh, TEXT, 0, 0, NULL),
    GEOM("hfield", hfield, TEXT, 0, 0, NULL),
    GEOM("material", material, TEXT, 0, 0, NULL),
    GEOM("rgba", rgba, NUMBERS, 4, 4, NULL),
    { NULL, RB_MJCF_TEXT, 0, 0, 0, NULL }
};

enum { SDF = RB_GEOM_MESH + 1 };

rb_status rb_mjcf_apply_geom(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_geom *geom = state;
    rb_geom_def *def = &geom->def;
    int type = geom->is_sdf ? SDF : (int)def->type, count;
    RB_TRY(rb_xml_word(node, "type", "plane hfield sphere capsule ellipsoid cylinder box mesh sdf",
                       &type, r->err));
    geom->is_sdf = type == SDF;
    def->type = geom->is_sdf ? RB_GEOM_MESH : (rb_geom_type)type;
    RB_TRY(rb_mjcf_fields(r, node, geom_fields, geom));

    double friction[3] = { def->material.friction, def->material.friction_torsion,
                           def->material.friction_roll };
    RB_TRY(rb_xml_numbers(node, "friction", 1, 3, friction, NULL, r->err));
    RB_TRY(rb_mjcf_at_least_zero(r, node, "friction", friction, 3));
    def->material.friction = friction[0];
    def->material.friction_torsion = friction[1];
    def->material.friction_roll = friction[2];

    RB_TRY(rb_xml_numbers(node, "fromto", 6, 6, geom->fromto, &count, r->err));
    if (count) geom->has_fromto = 1;
    return rb_mjcf_read_orient(r, node, &geom->orient);
}

/* ---- geoms: shape and place ------------------------------------------------------------------ */

static rb_status place_segment(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_geom *geom)
{
    rb_geom_def *def = &geom->def;
    if (def->type != RB_GEOM_CAPSULE && def->type != RB_GEOM_CYLINDER &&
        def->type != RB_GEOM_ELLIPSOID && def->type != RB_GEOM_BOX)
        return rb_xml_refuse(node, "fromto", r->err, RB_BAD_INPUT,
                             "is for a capsule, cylinder, ellipsoid or box");
    if (def->pose.pos[0] != 0.0 || def->pose.pos[1] != 0.0 || def->pose.pos[2] != 0.0)
        return rb_xml_refuse(node, "fromto", r->err, RB_BAD_INPUT,
                             "pos is given too; one of them is enough");
    if (geom->mesh)
        return rb_xml_refuse(node, "fromto", r->err, RB_BAD_INPUT, "cannot be used with a mesh");

    double half;
    RB_TRY(rb_mjcf_segment(r, node, geom->fromto, &def->pose, &half));
    int round = def->type == RB_GEOM_CAPSULE || def->type == RB_GEOM_CYLINDER;
    if (!round) {
        def->size[1] = def->size[0];
        def->size[2] = half;
    } else {
        def->size[1] = half;
    }
    return RB_OK;
}

/* The box, solid or hollow as the mesh, with the same inertia: half extents, centre and axes, the
 * longest extent along z. */
static rb_status inertia_box(rb_mjcf *r, const rb_xml_node *node, const rb_mesh_def *mesh,
                             double half[3], rb_pose *pose)
{
    rb_inertia solid;
    double w[3], V[9];
    const char *reason = rb_mesh_solid(mesh, mesh->inertia, &solid);
    if (reason)
        return rb_xml_refuse(node, "mesh", r->err, RB_BAD_INPUT, "cannot be fitted: %s", reason);
    rb_sym3_eigen(solid.I, w, V);

    /* moments in falling order */
    int order[3] = { 0, 1, 2 };
    for (int pass = 0; pass < 3; pass++) {
        int k = pass % 2, swap = order[k];
        if (w[order[k]] >= w[order[k + 1]]) continue;
        order[k] = order[k + 1];
        order[k + 1] = swap;
    }
    double R[9];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) R[3 * i + k] = V[3 * i + order[k]];
    if (rb_det3(R) < 0.0)
        for (int i = 0; i < 3; i++) R[3 * i + 2] = -R[3 * i + 2];

    double sum = 0.5 * (w[0] + w[1] + w[2]);
    for (int k = 0; k < 3; k++) half[k] = sqrt(fmax(0.0, 3.0 * (sum - w[order[k]]) / solid.mass));
    rb_copy3(solid.com, pose->pos);
    rb_quat_from_rot(R, pose->quat);
    return RB_OK;
}

/* The smallest box with the axes of `pose` that holds the mesh: half extents and centre. */
static void bounding_box(const rb_mesh_def *mesh, double half[3], rb_pose *pose)
{
    double lo[3] = { INFINITY, INFINITY, INFINITY }, hi[3] = { -INFINITY, -INFINITY, -INFINITY };
    double back[4], centre[3];
    rb_quat_conj(pose->quat, back);
    for (int v = 0; v < mesh->nvert; v++) {
        double p[3];
        rb_sub3(mesh->vert + 3 * (ptrdiff_t)v, pose->pos, p);
        rb_quat_rotate(back, p, p);
        for (int k = 0; k < 3; k++) {
            lo[k] = fmin(lo[k], p[k]);
            hi[k] = fmax(hi[k], p[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.5 * (lo[k] + hi[k]);
        half[k] = hi[k] - centre[k];
    }
    rb_quat_rotate(pose->quat, centre, centre);
    rb_add3(pose->pos, centre, pose->pos);
}

/* A primitive takes its size and place from a mesh; rules as in MuJoCo, one for the box of equal
 * inertia, one for the bounding box. */
static rb_status fit_to_mesh(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_geom *geom, int asset)
{
    const rb_mesh_def *mesh = rb_spec_mesh(r->spec, asset);
    rb_geom_def *def = &geom->def;
    int tight = r->compiler.fitaabb;
    double half[3];
    rb_pose frame;
    RB_TRY(inertia_box(r, node, mesh, half, &frame));
    if (tight) bounding_box(mesh, half, &frame);

    switch (def->type) {
    case RB_GEOM_SPHERE:
        def->size[0] =
            tight ? fmax(fmax(half[0], half[1]), half[2]) : (half[0] + half[1] + half[2]) / 3.0;
        break;
    case RB_GEOM_CAPSULE:
        def->size[0] = tight ? fmax(half[0], half[1]) : 0.5 * (half[0] + half[1]);
        def->size[1] = tight ? half[2] - def->size[0] : fmax(0.0, half[2] - 0.5 * def->size[0]);
        break;
    case RB_GEOM_CYLINDER:
        def->size[0] = tight ? fmax(half[0], half[1]) : 0.5 * (half[0] + half[1]);
        def->size[1] = half[2];
        break;
    case RB_GEOM_ELLIPSOID:
    case RB_GEOM_BOX:
        rb_copy3(half, def->size);
        break;
    default:
        return rb_xml_refuse(node, "mesh", r->err, RB_BAD_INPUT, "a %s cannot be fitted to a mesh",
                             def->type == RB_GEOM_PLANE ? "plane" : "height field");
    }
    rb_scale3(geom->fitscale, def->size, def->size);
    rb_mjcf_compose(&def->pose, &frame, &def->pose);
    return RB_OK;
}

/* Whether the model moves otherwise without the geom. What <pair> says of it is not known yet. */
static int matters(rb_mjcf *r, const rb_geom_def *def, int body)
{
    int has_mass = def->mass > 0.0 || (isnan(def->mass) && def->density > 0.0);
    int counts = def->group >= r->compiler.inertiagroup[0] &&
                 def->group <= r->compiler.inertiagroup[1] && body > 0 &&
                 rb_spec_body(r->spec, body)->inertia_source == RB_INERTIA_FROM_GEOMS;
    return def->contype || def->conaffinity || (has_mass && counts);
}

/* The index of an asset; *left: it was not read, and the geom is left out. */
static rb_status find_asset(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_geom *geom, int body,
                            int *index, int *left)
{
    int is_field = geom->hfield != NULL;
    const char *name = is_field ? geom->hfield : geom->mesh;
    *index = rb_mjcf_asset(r, is_field ? RB_KIND_HFIELD : RB_KIND_MESH, name);
    if (*index >= 0) return RB_OK;
    if (!is_field && r->opts->skip_meshes) {
        *left = 1;
        return RB_OK;
    }
    if (rb_mjcf_map_get(r, is_field ? RB_MJCF_UNREAD_HFIELDS : RB_MJCF_UNREAD_MESHES, name)) {
        *left = 1;
        if (!matters(r, &geom->def, body)) return RB_OK;
        return rb_mjcf_warn(r, node, is_field ? "geom/hfield" : "geom/mesh", 1,
                            "touches or has mass, and is left out with its asset");
    }
    return rb_xml_refuse(node, is_field ? "hfield" : "mesh", r->err, RB_BAD_INPUT,
                         "there is no %s called \"%.80s\"", is_field ? "height field" : "mesh",
                         name);
}

/* Names of assets into indices. An asset that was not read leaves the geom out. */
static rb_status resolve_assets(rb_mjcf *r, const rb_xml_node *node, rb_mjcf_geom *geom, int body,
                                int *left)
{
    rb_geom_def *def = &geom->def;
    int needs_mesh = def->type == RB_GEOM_MESH, needs_hfield = def->type == RB_GEOM_HFIELD, asset;
    if (needs_mesh && !geom->mesh)
        return rb_xml_refuse(node, "mesh", r->err, RB_BAD_INPUT, "the name of a mesh is missing");
    if (needs_hfield != (geom->hfield != NULL))
        return rb_xml_refuse(node, "hfield", r->err, RB_BAD_INPUT,
                             needs_hfield ? "the name of a height field is missing"
                                          : "is for geoms of type hfield");
    if (!geom->mesh && !needs_hfield) return RB_OK;
    RB_TRY(find_asset(r, node, geom, body, &asset, left));
    if (*left) return RB_OK;
    if (!needs_mesh && !needs_hfield) return fit_to_mesh(r, node, geom, asset);
    def->asset = asset;
    if (def->shell && needs_mesh)
        return rb_xml_refuse(node, "shellinertia", r->err, RB_BAD_INPUT,
                             "a mesh says itself how its inertia is found: inertia=\"shell\" in "
                             "<mesh>");
    return RB_OK;
}

/* As many of the sizes as the type has must be positive. */
static rb_status check_size(const rb_mjcf *r, const rb_xml_node *node, const rb_geom_def *def)
{
    static const int used[] = {
        [RB_GEOM_SPHERE] = 1,   [RB_GEOM_CAPSULE] = 2, [RB_GEOM_ELLIPSOID] = 3,
        [RB_GEOM_CYLINDER] = 2, [RB_GEOM_BOX] = 3,     [RB_GEOM_MESH] = 0
    };
    if (def->type == RB_GEOM_PLANE && !(def->size[2] > 0.0))
        return rb_xml_refuse(node, "size", r->err, RB_BAD_INPUT,
                             "the third number of a plane must be positive, found %g",
                             def->size[2]);
    for (int k = 0; k < used[def->type]; k++)
        if (!(def->size[k] > 0.0))
            return rb_xml_refuse(node, "size", r->err, RB_BAD_INPUT,
                                 "number %d must be positive, found %g", k + 1, def->size[k]);
    return RB_OK;
}

static rb_status refuse_parts(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_geom *geom)
{
    if (node->child)
        return rb_xml_refuse(node->child, NULL, r->err, RB_UNSUPPORTED,
                             "plugins are not run; remove the element");
    if (geom->is_sdf)
        return rb_xml_refuse(node, "type", r->err, RB_UNSUPPORTED,
                             "signed distance fields come from plugins, which are not run; use a "
                             "mesh");
    return RB_OK;
}

/* The colour of its own that a geom has where it is not grey, which means none. */
static int has_colour(const rb_mjcf_geom *geom)
{
    static const double grey[4] = { 0.5, 0.5, 0.5, 1.0 };
    return memcmp(geom->rgba, grey, sizeof grey) != 0;
}

/* What is drawn fully transparent, by its material or else by its own colour, is not seen by rays,
 * as in MuJoCo. A material whose colour its class gives is taken as visible, and as white. */
static rb_status find_colour(rb_mjcf *r, rb_mjcf_geom *geom)
{
    double rgba[4] = { 1.0, 1.0, 1.0, 1.0 };
    memcpy(geom->def.rgba, geom->rgba, sizeof geom->rgba);
    geom->def.invisible = !geom->material && geom->rgba[3] == 0.0;
    if (!geom->material) return RB_OK;
    if (!has_colour(geom)) memcpy(geom->def.rgba, rgba, sizeof rgba);
    for (const rb_xml_node *a = rb_xml_child(r->doc->root, "asset"); a; a = rb_xml_next(a)) {
        for (const rb_xml_node *n = rb_xml_child(a, "material"); n; n = rb_xml_next(n)) {
            const char *name = rb_xml_get(n, "name");
            if (!name || strcmp(name, geom->material) != 0) continue;
            RB_TRY(rb_xml_numbers(n, "rgba", 4, 4, rgba, NULL, r->err));
            geom->def.invisible = rgba[3] == 0.0;
            if (!has_colour(geom)) memcpy(geom->def.rgba, rgba, sizeof rgba);
            return RB_OK;
        }
    }
    return RB_OK;
}

rb_status rb_mjcf_add_geom(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    rb_mjcf_geom geom;
    rb_geom_def *def = &geom.def;
    int left_out = 0;
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_GEOM, place->class, &geom));
    RB_TRY(refuse_parts(r, node, &geom));
    if (geom.has_fromto)
        RB_TRY(place_segment(r, node, &geom));
    else
        RB_TRY(rb_mjcf_resolve_orient(r, node, &geom.orient, def->pose.quat));
    RB_TRY(resolve_assets(r, node, &geom, place->body, &left_out));
    if (left_out) return RB_OK;
    if (def->fluid_ellipsoid && def->type == RB_GEOM_HFIELD) {
        def->fluid_ellipsoid = 0;
        RB_TRY(
            rb_mjcf_warn(r, node, "geom/fluidshape", r->option.density > 0.0,
                         "a height field has no ellipsoid: the fluid meets the box of its body"));
    }
    RB_TRY(check_size(r, node, def));
    RB_TRY(find_colour(r, &geom));
    rb_mjcf_compose(&place->frame, &def->pose, &def->pose);

    /* geoms of other groups do not count for the inertia of their body */
    if (def->group < r->compiler.inertiagroup[0] || def->group > r->compiler.inertiagroup[1])
        def->mass = 0.0;
    def->where = rb_mjcf_where(node);
    def->body = place->body;
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_GEOM, &def->name));
    return rb_mjcf_added(r, rb_spec_add_geom(r->spec, def, r->err));
}

/* ---- sites ----------------------------------------------------------------------------------- */

rb_status rb_mjcf_apply_site(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    rb_mjcf_site *site = state;
    int count;
    RB_TRY(rb_xml_numbers(node, "pos", 3, 3, site->pos, NULL, r->err));
    RB_TRY(rb_xml_numbers(node, "fromto", 6, 6, site->fromto, &count, r->err));
    if (count) site->has_fromto = 1;
    RB_TRY(rb_xml_word(node, "type", "sphere capsule ellipsoid cylinder box", &site->type, r->err));
    RB_TRY(rb_xml_numbers(node, "size", 1, 3, site->size, NULL, r->err));
    return rb_mjcf_read_orient(r, node, &site->orient);
}

rb_status rb_mjcf_add_site(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_place *place)
{
    rb_mjcf_site site;
    rb_site_def def = rb_site_default();
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_SITE, place->class, &site));
    rb_copy3(site.pos, def.pose.pos);
    def.type = (rb_geom_type)(RB_GEOM_SPHERE + site.type);
    rb_copy3(site.size, def.size);
    if (site.has_fromto) {
        double half;
        int flat = def.type == RB_GEOM_BOX || def.type == RB_GEOM_ELLIPSOID;
        RB_TRY(rb_mjcf_segment(r, node, site.fromto, &def.pose, &half));
        if (flat) def.size[1] = def.size[0];
        def.size[flat ? 2 : 1] = half;
    } else {
        RB_TRY(rb_mjcf_resolve_orient(r, node, &site.orient, def.pose.quat));
    }
    rb_mjcf_compose(&place->frame, &def.pose, &def.pose);
    def.where = rb_mjcf_where(node);
    def.body = place->body;
    RB_TRY(rb_mjcf_name(r, node, RB_KIND_SITE, &def.name));
    return rb_mjcf_added(r, rb_spec_add_site(r->spec, &def, r->err));
}
