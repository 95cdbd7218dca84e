/* Measures how much impulses changed the speed of points of bodies. A contact of one round of
 * repairs may be out of sight in the next one, because its own impulse opened it. So rows are
 * looked for as far as such changes reach, and the set of rows grows until none is missing. */
#include <math.h>
#include <string.h>

#include "collide/bounds.h"
#include "collide/shape.h"
#include "math/vec3.h"
#include "model/filter.h"
#include "step/stage.h"

/* |dv_O + dw x r| + |dw| arm of geom g [m/s]. */
static double geom_change(const rb_model *m, const rb_data *d, int g)
{
    int link = m->geom_link[g];
    if (link == 0) return 0.0;
    const double *w = d->link_w + 3 * (ptrdiff_t)link;
    rb_shape shape = rb_geom_shape(m, d, g);
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
    size_t bytes = 3 * (size_t)s->m->nlink * sizeof(double);
    for (int j = 0; j < s->m->nv; j++) d->v[j] = s->v_new[j] - s->v_free[j];
    rb_velocity(s->m, d);
    memcpy(s->link_dw, d->link_w, bytes);
    memcpy(s->link_dv, d->link_v, bytes);
    for (int g = 0; g < s->m->ngeom; g++) {
        if (!rb_geom_is_visual(s->m, g)) s->reach = fmax(s->reach, geom_change(s->m, d, g));
    }
}

/* Velocity at x of the link of geom g, added to v with the sign. */
static void add_velocity(const rb_stage *s, int g, const double *x, const double *w_all,
                         const double *v_all, double sign, double v[3])
{
    ptrdiff_t at = 3 * (ptrdiff_t)s->m->geom_link[g];
    double r[3], turn[3];
    rb_sub3(x, s->d->link_p + at, r);
    rb_cross3(w_all + at, r, turn);
    rb_axpy3(sign, turn, v);
    rb_axpy3(sign, v_all + at, v);
}

/* How much faster other points of geom g may be than the one that is closest [m/s]. */
static double turning(const rb_stage *s, int g)
{
    ptrdiff_t at = 3 * (ptrdiff_t)s->m->geom_link[g];
    rb_shape shape = rb_geom_shape(s->m, s->d, g);
    double w = rb_norm3(s->d->link_w + at) + 2.0 * rb_norm3(s->link_dw + at);
    return w > 0.0 ? 2.0 * w * rb_bounds_arm(&shape) : 0.0;
}

int rb_stage_in_reach(const rb_stage *s, const rb_contact *c)
{
    double v[3] = { 0.0, 0.0, 0.0 }, dv[3] = { 0.0, 0.0, 0.0 };
    const double *x1 = c->at.pos1, *x2 = c->at.pos2;
    add_velocity(s, c->geom1, x1, s->d->link_w, s->d->link_v, -1.0, v);
    add_velocity(s, c->geom2, x2, s->d->link_w, s->d->link_v, 1.0, v);
    add_velocity(s, c->geom1, x1, s->link_dw, s->link_dv, -1.0, dv);
    add_velocity(s, c->geom2, x2, s->link_dw, s->link_dv, 1.0, dv);
    double speed = rb_norm3(v) + 2.0 * rb_norm3(dv) + turning(s, c->geom1) + turning(s, c->geom2);
    return c->at.gap <= s->h * (speed + s->gravity * s->h);
}
