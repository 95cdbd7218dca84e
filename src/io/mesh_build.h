/* Vertices and faces collected while a mesh file is read, and the readers that fill them. */
#ifndef RATTLEBACK_SRC_IO_MESH_BUILD_H
#define RATTLEBACK_SRC_IO_MESH_BUILD_H

#include "io/mesh.h"

typedef struct rb_io_soup {
    rb_alloc alloc;
    const char *path; /* for messages */
    rb_error *err;    /* never NULL   */
    double *vert;     /* (nvert x 3) */
    int *face;        /* (nface x 3) */
    size_t nvert, vert_room, nface, face_room;
    int turned;    /* as in rb_io_mesh */
    int as_mujoco; /* OBJ: rb_io_mesh_read_mujoco */
    int nobject;   /* OBJ: objects and groups that have faces */
    long tests;    /* spent on polygons by rb_io_obj_polygon */
} rb_io_soup;

/* RB_OK, or RB_NOMEM and RB_TOO_LARGE said in err. `line` is that of the vertex or face. */
rb_status rb_io_soup_vertex(rb_io_soup *soup, int line, const double v[3]);
rb_status rb_io_soup_triangle(rb_io_soup *soup, int line, int a, int b, int c);

/* A polygon of n >= 3 valid vertices as triangles: a quadrangle by its shorter diagonal, a convex
 * polygon as a fan, another one by cutting ears. */
rb_status rb_io_soup_polygon(rb_io_soup *soup, int line, int n, const int *corner);

/* The same with the diagonals that readers of OBJ files choose. */
rb_status rb_io_obj_polygon(rb_io_soup *soup, int line, int n, int *corner);

/* Fills err with the mesh file and line. */
rb_status rb_io_soup_refuse(rb_io_soup *soup, rb_status status, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Equal vertices become one, unused ones and faces without area by repetition go; the soup is empty
 * afterwards. RB_BAD_INPUT: no face is left. */
rb_status rb_io_soup_finish(rb_io_soup *soup, rb_io_mesh *out);
void rb_io_soup_free(rb_io_soup *soup);

/* The formats. */
rb_status rb_io_stl_parse(rb_io_soup *soup, const char *bytes, size_t size);
rb_status rb_io_obj_parse(rb_io_soup *soup, const char *bytes, size_t size);
rb_status rb_io_msh_parse(rb_io_soup *soup, const char *bytes, size_t size);
rb_status rb_io_dae_parse(rb_io_soup *soup, const char *bytes, size_t size);

#endif
