/* Geometry of a URDF: collisions become geoms that touch, visuals, on request, geoms that do
 * not. A mesh used several times with the same scale is one asset; its name is what the file calls
 * it. */
#include <stdio.h>
#include <string.h>

#include "io/mesh.h"
#include "io/path.h"
#include "io/urdf_read.h"
#include "math/quat.h"

/* Group of visuals; collisions are in group 0. */
enum { VISUAL_GROUP = 1 };

/* Bytes of the name of a mesh asset. */
enum { ASSET_NAME_MAX = RB_IO_PATH_MAX + 128 };

/* What a shape is read into. */
typedef struct shape {
    rb_geom_def *geom;
    int is_visual;
    int is_left_out; /* a mesh that is not read */
} shape;

/* Positive numbers that must be there. */
static rb_status read_sizes(rb_urdf *r, const rb_xml_node *node, const char *attr, int count,
                            double *out)
{
    const char *text = NULL;
    RB_URDF_TRY(rb_xml_need(node, attr, &text, r->err));
    RB_URDF_TRY(rb_xml_numbers(node, attr, count, count, out, NULL, r->err));
    for (int i = 0; i < count; i++)
        if (!(out[i] > 0.0))
            return rb_xml_refuse(node, attr, r->err, RB_BAD_INPUT, "%g: expected %s numbers > 0",
                                 out[i], count == 3 ? "three" : "only");
    return RB_OK;
}

/* A sphere without radius is a point: corners of feet are given that way. */
static rb_status read_radius(rb_urdf *r, const rb_xml_node *node, double *radius)
{
    const char *text = NULL;
    RB_URDF_TRY(rb_xml_need(node, "radius", &text, r->err));
    RB_URDF_TRY(rb_xml_number(node, "radius", radius, r->err));
    if (*radius >= 0.0) return RB_OK;
    return rb_xml_refuse(node, "radius", r->err, RB_BAD_INPUT, "%g: expected a number >= 0",
                         *radius);
}

/* radius and length of a cylinder or capsule. */
static rb_status read_round(rb_urdf *r, const rb_xml_node *node, double size[3])
{
    RB_URDF_TRY(read_sizes(r, node, "radius", 1, size));
    RB_URDF_TRY(read_sizes(r, node, "length", 1, size + 1));
    size[1] *= 0.5;
    return RB_OK;
}

/* Bullet's plane: the geom's z is turned onto the normal. */
static rb_status read_plane(rb_urdf *r, const rb_xml_node *node, rb_geom_def *geom)
{
    double n[3] = { 0.0, 0.0, 1.0 };
    RB_URDF_TRY(rb_xml_numbers(node, "normal", 3, 3, n, NULL, r->err));
    if (rb_normalize3(n) == 0.0)
        return rb_xml_refuse(node, "normal", r->err, RB_BAD_INPUT,
                             "expected a normal that has a length");

    /* half way between z and n; any axis across z where they are opposite */
    double turn[4] = { 1.0 + n[2], -n[1], n[0], 0.0 };
    if (rb_quat_normalize(turn) == 0.0) turn[0] = 0.0, turn[1] = 1.0;
    rb_quat_mul(geom->pose.quat, turn, geom->pose.quat);
    geom->type = RB_GEOM_PLANE;
    geom->size[0] = geom->size[1] = geom->size[2] = 0.0;
    return RB_OK;
}

/* ---- meshes ---- */

static rb_status read_scale(rb_urdf *r, const rb_xml_node *node, double scale[3])
{
    int count = 0;
    scale[0] = scale[1] = scale[2] = 1.0;
    RB_URDF_TRY(rb_xml_numbers(node, "scale", 1, 3, scale, &count, r->err));
    if (count == 1) scale[1] = scale[2] = scale[0];
    if (count == 2 || scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0)
        return rb_xml_refuse(node, "scale", r->err, RB_BAD_INPUT,
                             "expected one or three numbers other than 0");
    return RB_OK;
}

static rb_status add_mesh(rb_urdf *r, const rb_xml_node *node, const char *reference,
                          const double scale[3], const char *name, int *index)
{
    char path[RB_IO_PATH_MAX];
    rb_where where = rb_urdf_where(node);
    rb_io_mesh mesh;
    RB_URDF_TRY(rb_io_path_resolve(&r->search, NULL, reference, &where, path, r->err));
    RB_URDF_TRY(rb_io_mesh_read(path, &where, &r->doc->alloc, &mesh, r->err));
    rb_io_mesh_scale(&mesh, scale);
    int turned = mesh.turned;

    rb_mesh_def def = rb_mesh_default();
    def.where = where;
    def.name = name;
    def.nvert = mesh.nvert;
    def.nface = mesh.nface;
    def.vert = mesh.vert;
    def.face = mesh.face;
    *index = rb_spec_add_mesh(r->spec, &def, r->err);
    rb_io_mesh_free(&mesh);
    RB_URDF_TRY(rb_urdf_added(r, *index));
    if (!turned) return RB_OK;
    return rb_urdf_warn(r, node, "mesh with another up axis", 0,
                        "the COLLADA file does not say Z_UP: it is turned so that z is up, as the "
                        "standard says; programs that ignore <up_axis> show it otherwise");
}

/* A visual that cannot be read is not an error. A collision in a format that is not read is an
 * error for simulation only. */
static rb_status forgive(rb_urdf *r, const rb_xml_node *node, shape *s, rb_status status)
{
    int harmless = status == RB_FILE || status == RB_BAD_INPUT;
    if (status != RB_UNSUPPORTED && !(s->is_visual && harmless)) return status;
    char text[sizeof r->err->text + 32];
    snprintf(text, sizeof text, "left out: %s", r->err->text);
    *r->err = (rb_error){ 0 };
    s->is_left_out = 1;
    return s->is_visual ? rb_urdf_warn(r, node, "visual mesh", 0, text)
                        : rb_urdf_warn(r, node, "collision mesh", 1, text);
}

static rb_status read_mesh(rb_urdf *r, const rb_xml_node *node, shape *s)
{
    const char *reference = NULL;
    double scale[3];
    s->geom->type = RB_GEOM_MESH;
    RB_URDF_TRY(rb_xml_need(node, "filename", &reference, r->err));
    RB_URDF_TRY(read_scale(r, node, scale));
    if (r->opts->skip_meshes) {
        s->is_left_out = 1;
        return s->is_visual ? RB_OK
                            : rb_urdf_warn(r, node, "mesh", 1,
                                           "meshes are skipped: geoms that need one are left out");
    }
    char name[ASSET_NAME_MAX];
    if (strlen(reference) >= RB_IO_PATH_MAX)
        return rb_xml_refuse(node, "filename", r->err, RB_TOO_LARGE, "longer than %d bytes",
                             RB_IO_PATH_MAX - 1);
    if (scale[0] == 1.0 && scale[1] == 1.0 && scale[2] == 1.0)
        snprintf(name, sizeof name, "%s", reference);
    else
        snprintf(name, sizeof name, "%s*%.17g,%.17g,%.17g", reference, scale[0], scale[1],
                 scale[2]);
    s->geom->asset = rb_spec_find(r->spec, RB_KIND_MESH, name);
    if (s->geom->asset >= 0) return RB_OK;
    rb_status status = add_mesh(r, node, reference, scale, name, &s->geom->asset);
    return status == RB_OK ? RB_OK : forgive(r, node, s, status);
}

/* ---- shapes ---- */

static rb_status read_shape(rb_urdf *r, const rb_xml_node *geometry, shape *s)
{
    static const char known[] = "box sphere cylinder capsule ellipsoid mesh plane";
    rb_geom_def *geom = s->geom;
    const rb_xml_node *node = geometry->child;
    while (node && !rb_xml_in(node->name, known) &&
           !(strncmp(node->name, "drake:", 6) == 0 && rb_xml_in(node->name + 6, known)))
        node = node->next;
    if (!node)
        return rb_xml_refuse(geometry, NULL, r->err, RB_UNSUPPORTED,
                             "%s%.60s%s: expected one of %s", geometry->child ? "<" : "",
                             geometry->child ? geometry->child->name : "empty",
                             geometry->child ? ">" : "", known);

    const char *name = strncmp(node->name, "drake:", 6) == 0 ? node->name + 6 : node->name;
    if (!strcmp(name, "box")) {
        geom->type = RB_GEOM_BOX;
        RB_URDF_TRY(read_sizes(r, node, "size", 3, geom->size));
        for (int i = 0; i < 3; i++) geom->size[i] *= 0.5;
    } else if (!strcmp(name, "sphere")) {
        geom->type = RB_GEOM_SPHERE;
        RB_URDF_TRY(read_radius(r, node, geom->size));
    } else if (!strcmp(name, "cylinder")) {
        geom->type = RB_GEOM_CYLINDER;
        RB_URDF_TRY(read_round(r, node, geom->size));
    } else if (!strcmp(name, "capsule")) {
        geom->type = RB_GEOM_CAPSULE;
        RB_URDF_TRY(read_round(r, node, geom->size));
    } else if (!strcmp(name, "ellipsoid")) {
        static const char *const axis[3] = { "a", "b", "c" };
        geom->type = RB_GEOM_ELLIPSOID;
        for (int i = 0; i < 3; i++) RB_URDF_TRY(read_sizes(r, node, axis[i], 1, geom->size + i));
    } else if (!strcmp(name, "plane")) {
        RB_URDF_TRY(read_plane(r, node, geom));
    } else {
        RB_URDF_TRY(read_mesh(r, node, s));
    }
    return RB_OK;
}

/* ---- colours ---- */

/* A material with a colour, or the one of its name among those of the robot. */
static const rb_xml_node *find_material(const rb_urdf *r, const rb_xml_node *node)
{
    const rb_xml_node *own = rb_xml_child(node, "material");
    const char *name = own ? rb_xml_get(own, "name") : NULL;
    if (!own || rb_xml_child(own, "color") || !name) return own;
    const rb_xml_node *m = rb_xml_child(r->doc->root, "material");
    for (; m; m = rb_xml_next(m)) {
        const char *other = rb_xml_get(m, "name");
        if (other && strcmp(other, name) == 0 && rb_xml_child(m, "color")) return m;
    }
    return own;
}

/* A colour that cannot be read is not worth an error. */
static void read_colour(const rb_urdf *r, const rb_xml_node *node, double rgba[4])
{
    rb_error ignored = { 0 };
    double found[4];
    int count = 0;
    const rb_xml_node *material = find_material(r, node);
    const rb_xml_node *color = material ? rb_xml_child(material, "color") : NULL;
    if (!color || rb_xml_numbers(color, "rgba", 4, 4, found, &count, &ignored) != RB_OK) return;
    if (count == 4) memcpy(rgba, found, sizeof found);
}

static rb_status add_geom(rb_urdf *r, const rb_urdf_link *link, const rb_xml_node *node,
                          int is_visual)
{
    rb_geom_def geom = rb_geom_default();
    shape s = { &geom, is_visual, 0 };
    const rb_xml_node *geometry = rb_xml_child(node, "geometry");
    if (!geometry)
        return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                             "link \"%.100s\": expected a <geometry>", link->name);
    geom.where = rb_urdf_where(node);
    geom.body = link->body;
    geom.material.friction = r->opts->friction;
    RB_URDF_TRY(rb_urdf_origin(r, node, &geom.pose));
    RB_URDF_TRY(read_shape(r, geometry, &s));
    if (s.is_left_out) return RB_OK;

    /* names of collisions need not be unique in a URDF: the first one has it */
    const char *name = rb_xml_get(node, "name");
    if (name && rb_spec_find(r->spec, RB_KIND_GEOM, name) < 0) geom.name = name;
    read_colour(r, node, geom.rgba);
    if (is_visual) {
        geom.contype = geom.conaffinity = 0;
        geom.group = VISUAL_GROUP;
    }
    return rb_urdf_added(r, rb_spec_add_geom(r->spec, &geom, r->err));
}

rb_status rb_urdf_add_geoms(rb_urdf *r, int l)
{
    const rb_urdf_link *link = r->link + l;
    const rb_xml_node *node = rb_xml_child(link->node, "collision");
    for (; node; node = rb_xml_next(node)) RB_URDF_TRY(add_geom(r, link, node, 0));
    if (!r->opts->visuals) return RB_OK;
    node = rb_xml_child(link->node, "visual");
    for (; node; node = rb_xml_next(node)) RB_URDF_TRY(add_geom(r, link, node, 1));
    return RB_OK;
}
