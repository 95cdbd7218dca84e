/* A geom of a model as a shape. */
#ifndef RB_COLLIDE_SHAPE_H
#define RB_COLLIDE_SHAPE_H

#include <stddef.h>

#include "collide/surface.h"
#include "rattleback/collide.h"

/* Where d has it. */
static inline rb_shape rb_geom_shape(const rb_model *m, const rb_data *d, int g)
{
    return (rb_shape){ .type = m->geom_type[g],
                       .size = m->geom_size + 3 * (ptrdiff_t)g,
                       .p = d->geom_p + 3 * (ptrdiff_t)g,
                       .R = d->geom_R + 9 * (ptrdiff_t)g,
                       .model = m,
                       .asset = m->geom_asset[g],
                       .surface = rb_geom_is_surface(m, g) };
}

#endif
