/* Overlap that steps may make, by their accuracy (S.22): a share of the size of the smaller moving
 * body of a pair, but more than the rounding of positions of the model. */
#include <math.h>

#include "base/constants.h"
#include "math/vec3.h"
#include "step/stage.h"

/* Extent of the link of a geom where it moves by itself, INFINITY elsewhere [m]. */
static double moving_extent(const rb_model *m, int geom)
{
    int link = m->geom_link[geom];
    return m->link_tree[link] >= 0 ? m->link_extent[link] : INFINITY;
}

double rb_stage_pair_overlap(const rb_stage *s, int geom1, int geom2)
{
    double a = moving_extent(s->m, geom1), b = moving_extent(s->m, geom2);
    double extent = a < b ? a : b;
    double most = rb_accuracy_overlap(s->o->accuracy) * (extent < s->size ? extent : s->size);
    return rb_larger(most, RB_DEEP_LEAST * RB_GAP_ZERO * s->size);
}

double rb_stage_deep(const rb_stage *s, const rb_touch_id *id)
{
    return id->kind == RB_CONSTRAINT_CONTACT ? rb_stage_pair_overlap(s, id->a, id->b) : s->deep;
}

double rb_stage_growth(const rb_stage *s)
{
    return RB_GAP_GROW * s->size;
}

/* Overlap within what steps may make, within twice that (they made it, by rounding or where it
 * could not be mended), or of the model. */
double rb_stage_lowest(const rb_stage *s, double start, double deep)
{
    if (start >= -deep) return -deep;
    return start - (start >= -2.0 * deep ? RB_GAP_ZERO * s->size : rb_stage_growth(s));
}
