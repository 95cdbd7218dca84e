/* Meshes that MJCF names instead of giving their vertices. */
#ifndef RATTLEBACK_SRC_IO_BUILTIN_H
#define RATTLEBACK_SRC_IO_BUILTIN_H

#include "io/mesh.h"

/* "sphere", "hemisphere", "cone", "supersphere", "supertorus" with their params, as in MuJoCo: the
 * same vertices and triangles, about the origin, of size about 1. RB_BAD_INPUT: `reason` says which
 * number is wrong (it lives as long as the program); RB_UNSUPPORTED: another word. On refusal `out`
 * is empty. */
rb_status rb_io_builtin(const char *word, const double *params, size_t nparam,
                        const rb_alloc *alloc, rb_io_mesh *out, const char **reason);

#endif
