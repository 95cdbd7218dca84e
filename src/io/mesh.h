/* Triangle meshes from files: STL (binary and text), OBJ, COLLADA, MSH of MuJoCo. */
#ifndef RATTLEBACK_SRC_IO_MESH_H
#define RATTLEBACK_SRC_IO_MESH_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

/* A mesh as its file has it, in metres (COLLADA: unit and up axis applied), not scaled. Vertices
 * that are equal to the bit are one; all coordinates are finite; face entries are valid. Points
 * without faces (OBJ, MSH) mean their convex hull. */
typedef struct rb_io_mesh {
    rb_alloc alloc;
    int nvert, nface;
    double *vert; /* (nvert x 3) */
    int *face;    /* (nface x 3) */
    int turned;   /* COLLADA: z was not up in the file */
    int nobject;  /* OBJ: objects and groups that have faces */
} rb_io_mesh;

/* Formats by content type or extension. */
typedef enum rb_io_mesh_format {
    RB_IO_MESH_UNKNOWN = 0,
    RB_IO_MESH_STL,
    RB_IO_MESH_OBJ,
    RB_IO_MESH_DAE,
    RB_IO_MESH_MSH
} rb_io_mesh_format;

/* By the extension of the path; RB_IO_MESH_UNKNOWN: no reader. */
rb_io_mesh_format rb_io_mesh_format_of(const char *path);

/* Reads a mesh file found by rb_io_path_resolve. `where` is the element that names it: a refusal
 * has the mesh file and, where there are lines, the line in it; the sentence names the element.
 * RB_UNSUPPORTED: no reader for this format. On refusal `out` is empty. */
rb_status rb_io_mesh_read(const char *path, const rb_where *where, const rb_alloc *alloc,
                          rb_io_mesh *out, rb_error *err);

/* The same, but an OBJ file is what MuJoCo makes of it: the faces of the first object or group that
 * has any, all vertices, used or not (its hull has them all), and polygons of more than four
 * corners with the folds and holes of its reader, which count for the mass. */
rb_status rb_io_mesh_read_mujoco(const char *path, const rb_where *where, const rb_alloc *alloc,
                                 rb_io_mesh *out, rb_error *err);

/* rb_io_mesh_read for bytes in memory; `path` is for messages. */
rb_status rb_io_mesh_parse(rb_io_mesh_format format, const char *bytes, size_t size,
                           const char *path, const rb_alloc *alloc, rb_io_mesh *out, rb_error *err);

/* Multiplies the vertices; an odd number of negative factors reverses the faces. */
void rb_io_mesh_scale(rb_io_mesh *mesh, const double scale[3]);

void rb_io_mesh_free(rb_io_mesh *mesh); /* an empty one is fine */

#endif
