#include "io/mesh.h"

#include <stdio.h>
#include <string.h>

#include "io/context.h"
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
    return RB_IO_MESH_UNKNOWN;
}

/* A file whose extension says nothing may still begin like one of the formats. */
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
    static const char *const foreign[] = { "gltf", "glb", "msh", "ply", "fbx", "3ds",
                                           "vtk",  "usd", "off", "x3d", "wrl", "step" };
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

rb_status rb_io_mesh_parse(rb_io_mesh_format format, const char *bytes, size_t size,
                           const char *path, const rb_alloc *alloc, rb_io_mesh *out, rb_error *err)
{
    rb_error unseen = { 0 };
    rb_io_soup soup = { .alloc = alloc ? *alloc : rb_alloc_default(), .path = path };
    soup.err = err ? err : &unseen;
    *out = (rb_io_mesh){ .alloc = soup.alloc };
    rb_status status = RB_UNSUPPORTED;
    switch (format) {
    case RB_IO_MESH_STL:
        status = rb_io_stl_parse(&soup, bytes, size);
        break;
    case RB_IO_MESH_OBJ:
        status = rb_io_obj_parse(&soup, bytes, size);
        break;
    case RB_IO_MESH_DAE:
        status = rb_io_dae_parse(&soup, bytes, size);
        break;
    case RB_IO_MESH_UNKNOWN:
        refuse_format(path, NULL, err);
        break;
    }
    if (status == RB_OK) status = rb_io_soup_finish(&soup, out);
    rb_io_soup_free(&soup);
    return status;
}

/* The place in the mesh file is in err already; the element that asked for it is added. */
static void add_element(rb_error *err, const rb_where *where)
{
    if (!err || !where || !where->file || !strcmp(err->file, where->file)) return;
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, " (mesh of %.200s:%d)", where->file,
             where->line);
}

rb_status rb_io_mesh_read(const char *path, const rb_where *where, const rb_alloc *alloc,
                          rb_io_mesh *out, rb_error *err)
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
        status = rb_io_mesh_parse(format, bytes, size, path, &memory, out, err);
        if (status != RB_OK) add_element(err, where);
    }
    memory.release(memory.ctx, bytes);
    return status;
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
