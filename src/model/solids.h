/* Volume or surface of the shapes of geoms, as the inertia they have at density 1. */
#ifndef RB_MODEL_SOLIDS_H
#define RB_MODEL_SOLIDS_H

#include "model/inertia.h"
#include "rattleback/spec.h"

/* A primitive in its own frame; mass is its volume [m^3] or, with shell, its surface [m^2]. Planes
 * and height fields have none. (D.49) */
rb_inertia rb_solid(rb_geom_type type, const double size[3], int shell);

/* A mesh in the frame of its vertices (D.50). NULL, or why there is no such inertia. */
const char *rb_mesh_solid(const rb_mesh_def *mesh, rb_mesh_inertia how, rb_inertia *out);

#endif
