/* The steps of GJK that are needed to know whether two cores are farther apart than some distance:
 * its lower bound rises, the distance of its simplex falls, and one of both decides soon. */
#include "collide/surface_far.h"

#include <math.h>
#include <stddef.h>

#include "base/constants.h"
#include "math/vec3.h"

double rb_walk_far(const rb_walk *k)
{
    /* Share of the extent of the shape [1] by which it may overlap and still meet both sides of a
     * valley. Larger: more triangles are examined. */
    const double overlap = 0.02;
    const rb_core *core = &k->couple.core2;
    return k->reach + core->radius + overlap * (core->extent + core->radius);
}

int rb_walk_core_is_far(rb_walk *k, double far)
{
    enum { STEPS = 24 };
    rb_couple *c = &k->couple;
    rb_gjk g;
    double w[3];
    if (!(far < INFINITY)) return 0;
    rb_sub3(c->core2.c, c->core1.c, w);
    double scale = c->scale, limit = far + RB_GAP_TIE * (rb_norm3(w) + far);
    c->scale = fmax(rb_norm3(w), fmax(c->core1.extent, c->core2.extent));
    c->seen = 0;
    rb_gjk_begin(c, NULL, &g);
    for (int s = 2; s <= STEPS && g.lower <= limit && g.distance > limit && !g.overlap; s++) {
        rb_gjk_run(c, 0.0, s, &g);
        if (g.steps < s) break;
    }
    c->scale = scale;
    c->seen = 0;
    return g.lower > limit;
}

int rb_walk_box_is_far(rb_walk *k, const double lo[3], const double hi[3], double far)
{
    double half[3], centre[3];
    for (int i = 0; i < 3; i++) {
        half[i] = 0.5 * (hi[i] - lo[i]);
        centre[i] = 0.5 * (lo[i] + hi[i]);
    }
    rb_rot(k->surface->R, centre, centre);
    rb_add3(centre, k->surface->p, centre);
    rb_shape box = {
        .type = RB_GEOM_BOX, .size = half, .p = centre, .R = k->surface->R, .asset = -1
    };
    return rb_core_make(&box, k->surface->p, &k->couple.core1) && rb_walk_core_is_far(k, far);
}

int rb_walk_hull_is_far(rb_walk *k, double far)
{
    const rb_model *m = k->surface->model;
    if (!m->mesh_hullwhole[k->surface->asset]) return 0;
    rb_shape hull = *k->surface;
    hull.surface = 0;
    return rb_core_make(&hull, k->surface->p, &k->couple.core1) && rb_walk_core_is_far(k, far);
}
