/* Whether the triangles of a mesh bound a solid. */
#ifndef RATTLEBACK_SRC_IO_MESH_FLAWS_H
#define RATTLEBACK_SRC_IO_MESH_FLAWS_H

#include "rattleback/base.h"
#include "rattleback/spec.h"

/* Edges by what is wrong with them; all 0: a closed surface with consistent orientation. */
typedef struct rb_io_flaws {
    int open;    /* of one triangle only                                   */
    int crowded; /* of more than two triangles                             */
    int turned;  /* of two triangles that run along them in the same sense */
} rb_io_flaws;

/* RB_NOMEM: out of memory. */
rb_status rb_io_mesh_flaws(const rb_mesh_def *mesh, const rb_alloc *alloc, rb_io_flaws *out);

/* "12 open edges, 3 edges of more than two triangles"; "" where there is none. */
void rb_io_flaws_text(const rb_io_flaws *flaws, char *text, size_t size);

#endif
