#include "io/mesh.h"

#include <stdio.h>
#include <string.h>

#include "io/context.h"
#include "io/hull.h"
#include "io/mesh_build.h"
#include "io/path.h"
#include "rattleback/load.h"

rb_io_mesh_format rb_io_mesh_format_of(const char *path)
{
    char extension[8];
    rb_io_path_extension(path, extension);
    if (!strcmp(extension, "stl")) return RB_IO_MESH_STL;
    if (!strcmp(extension, "obj")) return RB_IO_MESH_OBJ;
    if (!strcmp(extension, "dae")) return RB_IO_MESH_DAE;
    if (!strcmp(extension, "msh")) return RB_IO_MESH_MSH;
    return RB_IO_MESH_UNKNOWN;
}

/* A file with an unknown extension may begin like one of the formats. */
static rb_io_mesh_format format_by_content(const char *bytes, size_t size)
{
    size_t begin = 0;
    while (begin < size && strchr(" \t\r\n", bytes[begin])) begin++;
    if (size - begin >= 8 && !memcmp(bytes + begin, "<COLLADA", 8)) return RB_IO_MESH_DAE;
    if (size - begin >= 6 && !memcmp(bytes + begin, "solid ", 6)) return RB_IO_MESH_STL;
    return RB_IO_MESH_UNKNOWN;
}

/* Readers that other programs have and this one has not: no need to look into the file. */
static int is_known_foreign(const char *path)
{
    static const char *const foreign[] = { "gltf", "glb", "ply", "fbx", "3ds", "vtk",
                                           "usd",  "off", "x3d", "wrl", "step" };
    char extension[8];
    rb_io_path_extension(path, extension);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!strcmp(extension, foreign[i])) return 1;
    return 0;
}

static rb_status refuse_format(const char *path, const rb_where *where, rb_error *err)
{
    return rb_io_error_set(err, RB_UNSUPPORTED, where ? where->file : path, where ? where->line : 0,
                           "mesh file \"%.160s\": the format is not read; convert it to STL, OBJ "
                           "or COLLADA (.dae)",
                           path);
}

/* Points that no face joins. */
static rb_status faces_of_hull(rb_io_soup *soup)
{
    rb_io_hull hull = { 0 };
    rb_error err = { 0 };
    rb_status status = rb_io_hull_build((int)soup->nvert, soup->vert, &soup->alloc, &hull, &err);
    if (status != RB_OK)
        return rb_io_soup_refuse(soup, status, 0, "no faces, and no convex hull instead: %.300s",
                                 err.text);
    int count = rb_io_hull_triangle_count(&hull.def);
    int *face = soup->alloc.alloc(soup->alloc.ctx, 3 * (size_t)count * sizeof *face);
    if (!face) {
        rb_io_hull_free(&hull);
        return rb_io_soup_refuse(soup, RB_NOMEM, 0, "out of memory for the mesh");
    }
    rb_io_hull_triangles(&hull.def, face);
    memcpy(soup->vert, hull.def.vert, 3 * (size_t)hull.def.nvert * sizeof *soup->vert);
    soup->nvert = (size_t)hull.def.nvert;
    for (int f = 0; f < count && status == RB_OK; f++)
        status = rb_io_soup_triangle(soup, 0, face[3 * f], face[3 * f + 1], face[3 * f + 2]);
    soup->alloc.release(soup->alloc.ctx, face);
    rb_io_hull_free(&hull);
    return status;
}

/* A mesh file in memory. */
typedef struct content {
    rb_io_mesh_format format;
    const char *bytes;
    size_t size;
    const char *path; /* for messages */
    int as_mujoco;
} content;

static rb_status parse(const content *c, const rb_alloc *alloc, rb_io_mesh *out, rb_error *err)
{
    rb_error unseen = { 0 };
    rb_io_mesh_format format = c->format;
    rb_io_soup soup = { .alloc = alloc ? *alloc : rb_alloc_default(), .path = c->path };
    soup.err = err ? err : &unseen;
    soup.as_mujoco = c->as_mujoco;
    *out = (rb_io_mesh){ .alloc = soup.alloc };
    rb_status status = RB_UNSUPPORTED;
    switch (format) {
    case RB_IO_MESH_STL:
        status = rb_io_stl_parse(&soup, c->bytes, c->size);
        break;
    case RB_IO_MESH_OBJ:
        status = rb_io_obj_parse(&soup, c->bytes, c->size);
        break;
    case RB_IO_MESH_DAE:
        status = rb_io_dae_parse(&soup, c->bytes, c->size);
        break;
    case RB_IO_MESH_MSH:
        status = rb_io_msh_parse(&soup, c->bytes, c->size);
        break;
    case RB_IO_MESH_UNKNOWN:
        refuse_format(c->path, NULL, err);
        break;
    }
    int has_points = format == RB_IO_MESH_OBJ || format == RB_IO_MESH_MSH;
    if (status == RB_OK && soup.nface == 0 && soup.nvert > 0 && has_points)
        status = faces_of_hull(&soup);
    if (status == RB_OK) status = rb_io_soup_finish(&soup, out);
    rb_io_soup_free(&soup);
    return status;
}

rb_status rb_io_mesh_parse(rb_io_mesh_format format, const char *bytes, size_t size,
                           const char *path, const rb_alloc *alloc, rb_io_mesh *out, rb_error *err)
{
    content c = { .format = format, .bytes = bytes, .size = size, .path = path };
    return parse(&c, alloc, out, err);
}

/* The place in the mesh file is in err already; the element that names it is added. */
static void add_element(rb_error *err, const rb_where *where)
{
    if (!err || !where || !where->file || !strcmp(err->file, where->file)) return;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, " (mesh of %.200s:%d)", where->file,
             where->line);
}

static rb_status read_file(const char *path, const rb_where *where, int as_mujoco,
                           const rb_alloc *alloc, rb_io_mesh *out, rb_error *err)
{
    rb_alloc memory = alloc ? *alloc : rb_alloc_default();
    *out = (rb_io_mesh){ .alloc = memory };
    rb_io_mesh_format format = rb_io_mesh_format_of(path);
    if (format == RB_IO_MESH_UNKNOWN && is_known_foreign(path))
        return refuse_format(path, where, err);

    char *bytes = NULL;
    size_t size = 0;
    rb_status status = rb_io_file_read(path, RB_LOAD_MAX_MESH, where, &memory, &bytes, &size, err);
    if (status != RB_OK) return status;
    if (format == RB_IO_MESH_UNKNOWN) format = format_by_content(bytes, size);
    if (format == RB_IO_MESH_UNKNOWN) {
        status = refuse_format(path, where, err);
    } else {
        content c = { format, bytes, size, path, as_mujoco };
        status = parse(&c, &memory, out, err);
        if (status != RB_OK) add_element(err, where);
    }
    memory.release(memory.ctx, bytes);
    return status;
}

rb_status rb_io_mesh_read(const char *path, const rb_where *where, const rb_alloc *alloc,
                          rb_io_mesh *out, rb_error *err)
{
    return read_file(path, where, 0, alloc, out, err);
}

rb_status rb_io_mesh_read_mujoco(const char *path, const rb_where *where, const rb_alloc *alloc,
                                 rb_io_mesh *out, rb_error *err)
{
    return read_file(path, where, 1, alloc, out, err);
}

void rb_io_mesh_scale(rb_io_mesh *mesh, const double scale[3])
{
    for (int i = 0; i < mesh->nvert; i++)
        for (int k = 0; k < 3; k++) mesh->vert[3 * (size_t)i + (size_t)k] *= scale[k];

    /* a mirror image has its inside out */
    int mirrored = (scale[0] < 0.0) ^ (scale[1] < 0.0) ^ (scale[2] < 0.0);
    for (int f = 0; mirrored && f < mesh->nface; f++) {
        int *face = mesh->face + 3 * (size_t)f;
        int second = face[1];
        face[1] = face[2];
        face[2] = second;
    }
}

void rb_io_mesh_free(rb_io_mesh *mesh)
{
    if (mesh->vert) mesh->alloc.release(mesh->alloc.ctx, mesh->vert);
    if (mesh->face) mesh->alloc.release(mesh->alloc.ctx, mesh->face);
    mesh->vert = NULL;
    mesh->face = NULL;
    mesh->nvert = mesh->nface = 0;
}
