/* How much impulses changed the speed of the points of bodies. A contact that was there in one
 * round of repairs may be out of sight in the next, because an impulse of its own opened it: rows
 * are looked for as far as such changes reach, so that the set of rows grows until none is missing.
 */
#include <math.h>

#include "collide/bounds.h"
#include "math/vec3.h"
#include "step/stage.h"

/* |dv_O + dw x r| + |dw| arm of geom g [m/s]. */
static double geom_change(const rb_model *m, const rb_data *d, int g)
{
    int link = m->geom_link[g];
    if (link == 0) return 0.0;
    const double *w = d->link_w + 3 * (ptrdiff_t)link;
    rb_shape shape = { .type = m->geom_type[g],
                       .size = m->geom_size + 3 * (ptrdiff_t)g,
                       .p = d->geom_p + 3 * (ptrdiff_t)g,
                       .R = d->geom_R + 9 * (ptrdiff_t)g,
                       .model = m,
                       .asset = m->geom_asset[g] };
    double r[3], turn[3], v[3];
    rb_sub3(shape.p, d->link_p + 3 * (ptrdiff_t)link, r);
    rb_cross3(w, r, turn);
    rb_add3(d->link_v + 3 * (ptrdiff_t)link, turn, v);
    double speed = rb_norm3(w);
    return rb_norm3(v) + (speed > 0.0 ? speed * rb_bounds_arm(&shape) : 0.0);
}

void rb_stage_reach(rb_stage *s)
{
    rb_data *d = s->d;
    for (int j = 0; j < s->m->nv; j++) d->v[j] = s->v_new[j] - s->v_free[j];
    rb_velocity(s->m, d);
    for (int g = 0; g < s->m->ngeom; g++) s->reach = fmax(s->reach, geom_change(s->m, d, g));
}
