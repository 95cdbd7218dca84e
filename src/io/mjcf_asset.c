/* <asset>: meshes and height fields. Textures, materials and skins are ignored. */
#include "io/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/builtin.h"
#include "io/hull.h"
#include "io/mesh.h"
#include "io/png.h"
#include "math/quat.h"

/* Points of one height field. */
#define MAX_POINTS RB_LOAD_MAX_FACES

/* ---- files ----------------------------------------------------------------------------------- */

/* meshdir relative to a folder; "" is that folder. */
static rb_status from_folder(const rb_mjcf *r, const char *folder, char out[RB_IO_PATH_MAX])
{
    return rb_io_path_join(folder, r->compiler.meshdir, out);
}

/* As MuJoCo: from the folder of the main model, then from that of an included file. */
static rb_status find_asset(rb_mjcf *r, const rb_xml_node *node, const char *file,
                            char path[RB_IO_PATH_MAX])
{
    rb_where where = rb_mjcf_where(node);
    char folder[RB_IO_PATH_MAX], base[RB_IO_PATH_MAX];
    rb_error first = { 0 };
    if (!r->search.model) return rb_io_path_resolve(&r->search, NULL, file, &where, path, r->err);
    if (r->compiler.strippath) file = rb_io_path_name(file);

    if (rb_io_path_folder(r->search.model, folder) != RB_OK ||
        from_folder(r, folder, base) != RB_OK)
        return rb_xml_refuse(node, "file", r->err, RB_TOO_LARGE, "the path is too long");
    rb_status status = rb_io_path_resolve(&r->search, base, file, &where, path, &first);
    if (status == RB_OK) return RB_OK;

    if (node->file && rb_io_path_folder(node->file, folder) == RB_OK) {
        if (from_folder(r, folder, base) == RB_OK &&
            rb_io_path_resolve(&r->search, base, file, &where, path, r->err) == RB_OK)
            return RB_OK;
        if (rb_io_path_resolve(&r->search, folder, file, &where, path, r->err) == RB_OK)
            return RB_OK;
    }
    size_t used = strlen(first.text);
    if (first.status == RB_FILE && node->file && strcmp(folder, ".") != 0)
        snprintf(first.text + used, sizeof first.text - used, ", from the folder of %.100s as well",
                 node->file);
    *r->err = first;
    return status;
}

/* An asset without a name is called as its file, without folder and extension. */
static rb_status asset_name(rb_mjcf *r, const rb_xml_node *node, const char **out)
{
    const char *name = rb_xml_get(node, "name"), *file = rb_xml_get(node, "file");
    *out = name;
    if ((name && *name) || !file) return RB_OK;
    const char *begin = rb_io_path_name(file), *dot = strrchr(begin, '.');
    *out = rb_xml_copy(r->doc, begin, dot ? (size_t)(dot - begin) : strlen(begin));
    return *out ? RB_OK : rb_mjcf_nomem(r, node);
}

/* Whether another <attach> with the same prefix has made the asset. */
static rb_status is_there(rb_mjcf *r, const rb_xml_node *node, rb_kind kind, int *yes)
{
    const char *name;
    RB_TRY(asset_name(r, node, &name));
    *yes = r->parent && name && rb_mjcf_asset(r, kind, name) >= 0;
    return RB_OK;
}

static rb_status full_name(rb_mjcf *r, const rb_xml_node *node, const char **out)
{
    RB_TRY(asset_name(r, node, out));
    if (!*out || !**out) return RB_OK;
    *out = rb_mjcf_full_name(r, *out, "");
    return *out ? RB_OK : rb_mjcf_nomem(r, node);
}

/* An asset that cannot be read is not there: so are the geoms that need it, which say so where
 * that changes the motion. */
static rb_status leave_out(rb_mjcf *r, const rb_xml_node *node, int space, const char *reason)
{
    char text[sizeof r->err->text + 64];
    const char *name;
    snprintf(text, sizeof text, "left out, with the geoms that need it: %s", reason);
    RB_TRY(asset_name(r, node, &name));
    if (name && *name) RB_TRY(rb_mjcf_map_put(r, space, name, r));
    return rb_mjcf_warn(r, node, space == RB_MJCF_UNREAD_MESHES ? "asset/mesh" : "asset/hfield", 0,
                        text);
}

/* ---- meshes ---------------------------------------------------------------------------------- */

rb_status rb_mjcf_apply_mesh(rb_mjcf *r, const rb_xml_node *node, void *state)
{
    static const rb_mesh_inertia how[] = { RB_MESH_CONVEX, RB_MESH_LEGACY, RB_MESH_EXACT,
                                           RB_MESH_SHELL };
    rb_mjcf_mesh *mesh = state;
    int word = -1;
    RB_TRY(rb_xml_numbers(node, "scale", 3, 3, mesh->scale, NULL, r->err));
    RB_TRY(rb_xml_word(node, "inertia", "convex legacy exact shell", &word, r->err));
    if (word >= 0) mesh->inertia = how[word];
    RB_TRY(rb_xml_int(node, "maxhullvert", &mesh->maxhullvert, r->err));
    if (mesh->maxhullvert != -1 && mesh->maxhullvert < 4)
        return rb_xml_refuse(node, "maxhullvert", r->err, RB_BAD_INPUT,
                             "expected 4 or more vertices, or -1 for all");
    return RB_OK;
}

/* Vertices of a file are stored as float by MuJoCo, and those written in the XML as well: what it
 * computes from them can be met to all digits only from the same numbers. */
static void round_to_float(double *x, size_t count)
{
    for (size_t k = 0; k < count; k++) x[k] = (double)(float)x[k];
}

static rb_status check_faces(const rb_mjcf *r, const rb_xml_node *node, const int *face,
                             size_t count, int nvert)
{
    if (count % 3)
        return rb_xml_refuse(node, "face", r->err, RB_BAD_INPUT,
                             "expected three vertices for each face, found %zu numbers", count);
    if (count / 3 > RB_LOAD_MAX_FACES)
        return rb_xml_refuse(node, "face", r->err, RB_TOO_LARGE, "more than %zu faces",
                             RB_LOAD_MAX_FACES);
    for (size_t k = 0; k < count; k++)
        if (face[k] < 0 || face[k] >= nvert)
            return rb_xml_refuse(node, "face", r->err, RB_BAD_INPUT,
                                 "vertex %d does not exist, there are %d", face[k], nvert);
    return RB_OK;
}

/* Points without faces mean their convex hull. */
static rb_status faces_of_hull(rb_mjcf *r, const rb_xml_node *node, rb_mesh_def *def)
{
    rb_io_hull hull = { 0 };
    rb_error err = { 0 };
    rb_status status = rb_io_hull_build(def->nvert, def->vert, &r->doc->alloc, &hull, &err);
    if (status != RB_OK) return rb_xml_refuse(node, "vertex", r->err, status, "%s", err.text);
    int nface = rb_io_hull_triangle_count(&hull.def);
    int *face = rb_xml_take(r->doc, 3 * (size_t)nface, sizeof *face);
    double *vert = rb_xml_take(r->doc, 3 * (size_t)hull.def.nvert, sizeof *vert);
    if (!face || !vert) {
        rb_io_hull_free(&hull);
        return rb_mjcf_nomem(r, node);
    }
    rb_io_hull_triangles(&hull.def, face);
    memcpy(vert, hull.def.vert, 3 * (size_t)hull.def.nvert * sizeof *vert);
    def->nvert = hull.def.nvert;
    def->nface = nface;
    def->vert = vert;
    def->face = face;
    rb_io_hull_free(&hull);
    return RB_OK;
}

/* refpos, refquat and scale, in this order. */
static rb_status move_vertices(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_mesh *mesh,
                               double *vert, int nvert)
{
    double refpos[3] = { 0.0, 0.0, 0.0 }, refquat[4] = { 1.0, 0.0, 0.0, 0.0 };
    RB_TRY(rb_xml_numbers(node, "refpos", 3, 3, refpos, NULL, r->err));
    RB_TRY(rb_xml_numbers(node, "refquat", 4, 4, refquat, NULL, r->err));
    if (!(rb_quat_normalize(refquat) > 0.0))
        return rb_xml_refuse(node, "refquat", r->err, RB_BAD_INPUT, "the quaternion is zero");
    rb_quat_conj(refquat, refquat);
    int turned = refquat[0] != 1.0;
    for (int v = 0; v < nvert; v++) {
        double *x = vert + 3 * (ptrdiff_t)v;
        rb_sub3(x, refpos, x);
        if (turned) rb_quat_rotate(refquat, x, x);
        for (int k = 0; k < 3; k++) x[k] *= mesh->scale[k];
        if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
            return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT,
                                 "vertex %d is too far away for a number of 32 bits", v);
    }
    return RB_OK;
}

/* An odd number of mirrors reverses the faces. */
static void turn_faces(const rb_mjcf_mesh *mesh, int *face, int nface)
{
    if (mesh->scale[0] * mesh->scale[1] * mesh->scale[2] >= 0.0) return;
    for (int f = 0; f < nface; f++) {
        int swap = face[3 * f + 1];
        face[3 * f + 1] = face[3 * f + 2];
        face[3 * f + 2] = swap;
    }
}

static rb_status add_mesh(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_mesh *mesh,
                          rb_mesh_def *def)
{
    def->where = rb_mjcf_where(node);
    def->inertia = mesh->inertia;
    def->max_hull_vertices = mesh->maxhullvert < 0 ? 0 : mesh->maxhullvert;
    RB_TRY(full_name(r, node, &def->name));
    return rb_mjcf_added(r, rb_spec_add_mesh(r->spec, def, r->err));
}

static rb_status read_inline(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_mesh *mesh)
{
    rb_mesh_def def = rb_mesh_default();
    double *vert;
    int *face;
    size_t nnumber, nindex;
    RB_TRY(rb_xml_list(r->doc, node, "vertex", &vert, &nnumber, r->err));
    RB_TRY(rb_xml_int_list(r->doc, node, "face", &face, &nindex, r->err));
    if (nnumber % 3 || nnumber < 12 || nnumber / 3 > 3 * RB_LOAD_MAX_FACES)
        return rb_xml_refuse(node, "vertex", r->err, RB_BAD_INPUT,
                             "expected three numbers for each of at least four vertices, found "
                             "%zu numbers",
                             nnumber);
    def.nvert = (int)(nnumber / 3);
    RB_TRY(check_faces(r, node, face, nindex, def.nvert));
    def.nface = (int)(nindex / 3);
    round_to_float(vert, nnumber);
    RB_TRY(move_vertices(r, node, mesh, vert, def.nvert));
    turn_faces(mesh, face, def.nface);
    def.vert = vert;
    def.face = face;
    if (nindex == 0) RB_TRY(faces_of_hull(r, node, &def));
    return add_mesh(r, node, mesh, &def);
}

/* A mesh as a file has it, in 32 bits, moved and scaled. */
static rb_status take_mesh(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_mesh *mesh,
                           rb_io_mesh *read)
{
    rb_mesh_def def = rb_mesh_default();
    round_to_float(read->vert, 3 * (size_t)read->nvert);
    RB_TRY(move_vertices(r, node, mesh, read->vert, read->nvert));
    turn_faces(mesh, read->face, read->nface);
    def.nvert = read->nvert;
    def.nface = read->nface;
    def.vert = read->vert;
    def.face = read->face;
    if (def.nface == 0 && rb_xml_get(node, "builtin")) RB_TRY(faces_of_hull(r, node, &def));
    return add_mesh(r, node, mesh, &def);
}

static rb_status warn_objects(rb_mjcf *r, const rb_xml_node *node, const rb_io_mesh *mesh)
{
    char text[200];
    snprintf(text, sizeof text,
             "the OBJ file has %d objects: the first one is the mesh, as in MuJoCo; the hull has "
             "the vertices of all. Write one object to a file",
             mesh->nobject);
    return rb_mjcf_warn(r, node, "mesh/objects", 0, text);
}

static rb_status read_mesh_file(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_mesh *mesh,
                                const char *file)
{
    char path[RB_IO_PATH_MAX];
    rb_where where = rb_mjcf_where(node);
    rb_io_mesh read = { 0 };
    RB_TRY(find_asset(r, node, file, path));
    rb_status status = r->opts->all_objects
                           ? rb_io_mesh_read(path, &where, &r->doc->alloc, &read, r->err)
                           : rb_io_mesh_read_mujoco(path, &where, &r->doc->alloc, &read, r->err);
    if (status == RB_UNSUPPORTED) {
        rb_error reason = *r->err;
        *r->err = (rb_error){ 0 };
        return leave_out(r, node, RB_MJCF_UNREAD_MESHES, reason.text);
    }
    if (status != RB_OK) return status;
    if (read.nobject > 1 && !r->opts->all_objects) status = warn_objects(r, node, &read);
    if (status == RB_OK) status = take_mesh(r, node, mesh, &read);
    rb_io_mesh_free(&read);
    return status;
}

static rb_status read_builtin(rb_mjcf *r, const rb_xml_node *node, const rb_mjcf_mesh *mesh,
                              const char *word)
{
    double *params;
    size_t count;
    const char *reason;
    rb_io_mesh made = { 0 };
    RB_TRY(rb_xml_list(r->doc, node, "params", &params, &count, r->err));
    if (count == 0)
        return rb_xml_refuse(node, "params", r->err, RB_BAD_INPUT,
                             "expected the parameters of a %.40s", word);
    if (rb_xml_in(word, "plate"))
        return leave_out(r, node, RB_MJCF_UNREAD_MESHES,
                         "built-in plates are sheets without volume");
    rb_status status = rb_io_builtin(word, params, count, &r->doc->alloc, &made, &reason);
    if (status == RB_UNSUPPORTED)
        return rb_xml_refuse(node, "builtin", r->err, RB_BAD_INPUT,
                             "expected sphere, hemisphere, cone, supersphere, supertorus, wedge, "
                             "plate or none");
    if (status != RB_OK) return rb_xml_refuse(node, "params", r->err, status, "%s", reason);
    status = take_mesh(r, node, mesh, &made);
    rb_io_mesh_free(&made);
    return status;
}

static rb_status read_mesh(rb_mjcf *r, const rb_xml_node *node)
{
    rb_mjcf_mesh mesh;
    const char *file = rb_xml_get(node, "file");
    RB_TRY(rb_mjcf_state(r, node, RB_MJCF_MESH, NULL, &mesh));
    if (node->child)
        return rb_xml_refuse(node->child, NULL, r->err, RB_UNSUPPORTED,
                             "plugins are not run; remove the element");
    const char *builtin = rb_xml_get(node, "builtin");
    if (builtin && strcmp(builtin, "none") != 0) return read_builtin(r, node, &mesh, builtin);
    if (file && rb_xml_get(node, "vertex"))
        return rb_xml_refuse(node, "vertex", r->err, RB_BAD_INPUT,
                             "a file is given too; one of them is enough");
    if (file) return r->opts->skip_meshes ? RB_OK : read_mesh_file(r, node, &mesh, file);
    if (rb_xml_get(node, "vertex")) return read_inline(r, node, &mesh);
    return rb_xml_refuse(node, NULL, r->err, RB_BAD_INPUT, "has neither a file nor vertices");
}

/* ---- height fields --------------------------------------------------------------------------- */

/* Elevations become 0 .. 1; the height is given by size alone. */
static void normalise(double *elev, size_t count)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        lo = fmin(lo, elev[k]);
        hi = fmax(hi, elev[k]);
    }
    double span = hi - lo > RB_MJCF_TINY ? hi - lo : 1.0;
    for (size_t k = 0; k < count; k++) elev[k] = (elev[k] - lo) / span;
}

static int32_t little_endian(const unsigned char *b)
{
    uint32_t bits = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* MuJoCo's own format: number of rows and columns, then floats. */
static rb_status decode(rb_mjcf *r, const rb_xml_node *node, const unsigned char *bytes,
                        size_t size, rb_hfield_def *def, double **elev)
{
    int32_t nrow = size >= 8 ? little_endian(bytes) : 0;
    int32_t ncol = size >= 8 ? little_endian(bytes + 4) : 0;
    if (nrow < 1 || ncol < 1 || (size_t)nrow > MAX_POINTS / (size_t)ncol ||
        size != 8 + 4 * (size_t)nrow * (size_t)ncol)
        return rb_xml_refuse(node, "file", r->err, RB_BAD_INPUT,
                             "the file is no height field: expected rows, columns and one float "
                             "for each point");
    size_t count = (size_t)nrow * (size_t)ncol;
    *elev = rb_xml_take(r->doc, count, sizeof **elev);
    if (!*elev) return rb_mjcf_nomem(r, node);
    for (size_t k = 0; k < count; k++) {
        int32_t bits = little_endian(bytes + 8 + 4 * k);
        float x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            return rb_xml_refuse(node, "file", r->err, RB_BAD_INPUT, "point %zu is not finite", k);
        (*elev)[k] = (double)x;
    }
    def->nrow = nrow;
    def->ncol = ncol;
    return RB_OK;
}

/* Brightness is height; the upper row of the image is the farthest one. */
static rb_status decode_image(rb_mjcf *r, const rb_xml_node *node, const char *bytes, size_t size,
                              rb_hfield_def *def, double **elev)
{
    rb_io_image image;
    const char *reason;
    rb_status status = rb_io_png_read(bytes, size, MAX_POINTS, &r->doc->alloc, &image, &reason);
    if (status != RB_OK) return rb_xml_refuse(node, "file", r->err, status, "%s", reason);
    size_t nrow = (size_t)image.nrow, ncol = (size_t)image.ncol;
    *elev = rb_xml_take(r->doc, nrow * ncol, sizeof **elev);
    for (size_t k = 0; *elev && k < nrow * ncol; k++)
        (*elev)[(nrow - 1 - k / ncol) * ncol + k % ncol] = image.gray[k];
    def->nrow = image.nrow;
    def->ncol = image.ncol;
    rb_io_image_free(&image);
    return *elev ? RB_OK : rb_mjcf_nomem(r, node);
}

static int is_image(const rb_xml_node *node, const char *file)
{
    char extension[8] = "";
    const char *type = rb_xml_get(node, "content_type");
    if (type) return strcmp(type, "image/png") == 0;
    rb_io_path_extension(file, extension);
    return strcmp(extension, "png") == 0;
}

static rb_status read_hfield_file(rb_mjcf *r, const rb_xml_node *node, const char *file,
                                  rb_hfield_def *def, double **elev)
{
    char path[RB_IO_PATH_MAX];
    char *bytes = NULL;
    size_t size = 0;
    rb_where where = rb_mjcf_where(node);
    const rb_alloc *a = &r->doc->alloc;
    if (def->nrow || def->ncol || rb_xml_get(node, "elevation"))
        return rb_xml_refuse(node, "file", r->err, RB_BAD_INPUT,
                             "nrow, ncol or elevation is given too; the file says them");
    RB_TRY(find_asset(r, node, file, path));
    RB_TRY(rb_io_file_read(path, RB_LOAD_MAX_MESH, &where, a, &bytes, &size, r->err));
    rb_status status = is_image(node, file)
                           ? decode_image(r, node, bytes, size, def, elev)
                           : decode(r, node, (const unsigned char *)bytes, size, def, elev);
    a->release(a->ctx, bytes);
    return status;
}

/* The first row of the text is the farthest one, of the description the nearest. */
static rb_status read_elevation(rb_mjcf *r, const rb_xml_node *node, const rb_hfield_def *def,
                                double **elev)
{
    double *given;
    size_t count, ncol = (size_t)def->ncol, nrow = (size_t)def->nrow;
    if (def->nrow < 1 || def->ncol < 1 || nrow > MAX_POINTS / ncol)
        return rb_xml_refuse(node, "nrow", r->err, RB_BAD_INPUT,
                             "expected positive nrow and ncol and at most %zu points", MAX_POINTS);
    RB_TRY(rb_xml_list(r->doc, node, "elevation", &given, &count, r->err));
    if (given && count != nrow * ncol)
        return rb_xml_refuse(node, "elevation", r->err, RB_BAD_INPUT,
                             "expected nrow * ncol = %zu numbers, found %zu", nrow * ncol, count);
    *elev = rb_xml_take(r->doc, nrow * ncol, sizeof **elev);
    if (!*elev) return rb_mjcf_nomem(r, node);
    for (size_t row = 0; row < nrow; row++)
        for (size_t col = 0; col < ncol; col++)
            (*elev)[row * ncol + col] = given ? given[(nrow - 1 - row) * ncol + col] : 0.0;
    return RB_OK;
}

static rb_status read_hfield(rb_mjcf *r, const rb_xml_node *node)
{
    rb_hfield_def def = rb_hfield_default();
    const char *file = rb_xml_get(node, "file"), *given;
    double *elev = NULL;
    def.nrow = def.ncol = 0;
    RB_TRY(rb_xml_int(node, "nrow", &def.nrow, r->err));
    RB_TRY(rb_xml_int(node, "ncol", &def.ncol, r->err));
    RB_TRY(rb_xml_need(node, "size", &given, r->err));
    RB_TRY(rb_xml_numbers(node, "size", 4, 4, def.size, NULL, r->err));
    if (file)
        RB_TRY(read_hfield_file(r, node, file, &def, &elev));
    else
        RB_TRY(read_elevation(r, node, &def, &elev));
    normalise(elev, (size_t)def.nrow * (size_t)def.ncol);

    def.elev = elev;
    def.where = rb_mjcf_where(node);
    RB_TRY(full_name(r, node, &def.name));
    return rb_mjcf_added(r, rb_spec_add_hfield(r->spec, &def, r->err));
}

rb_status rb_mjcf_assets(rb_mjcf *r, const rb_xml_node *root)
{
    for (const rb_xml_node *n = rb_xml_child(root, "asset"); n; n = rb_xml_next(n)) {
        for (const rb_xml_node *child = n->child; child; child = child->next) {
            int mesh = rb_xml_is(child, "mesh"), hfield = rb_xml_is(child, "hfield"), done = 0;
            if (!mesh && !hfield) continue;
            RB_TRY(is_there(r, child, mesh ? RB_KIND_MESH : RB_KIND_HFIELD, &done));
            if (done) continue;
            RB_TRY(mesh ? read_mesh(r, child) : read_hfield(r, child));
        }
    }
    return RB_OK;
}
