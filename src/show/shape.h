/* Geoms as triangles, in the frame of the geom. */
#ifndef RB_SHOW_SHAPE_H
#define RB_SHOW_SHAPE_H

#include <stdint.h>

#include "show/list.h"
#include "show/scene.h"

typedef struct shape {
    list point;  /* double x 3       */
    list corner; /* uint32_t, three for a triangle, counter-clockwise from outside */
} shape;

/* Half size of a plane that has no end, given by how far the scene reaches [m]. */
rb_status rb_show_shape_make(const scene *s, int geom, double endless, shape *out); /* RB_NOMEM */
void rb_show_shape_free(shape *s);

#endif
