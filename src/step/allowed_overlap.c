/* Overlap that steps may make, by their accuracy (S.17): a share of the size of the smaller moving
 * body of a pair, but more than the rounding of positions of the model. */
#include <math.h>

#include "base/constants.h"
#include "math/vec3.h"
#include "step/gaps.h"

/* What overlap of the model may grow by in a step, in units of the extent of the model [1]:
 * rounding. Larger: it is seen after an hour. Smaller: such overlap is repaired for rounding. */
#define GAP_GROW 1e-11

/* Least overlap that steps may make, in units of RB_GAP_ZERO [1]. Smaller: what is repaired for a
 * body of a thousandth of the model is rounding. */
#define DEEP_LEAST 10.0

/* Closure error of loops that a step may make, in units of the overlap that it may make anywhere
 * in the model [1]. Larger: mechanisms drift apart by this much in a step. Smaller: rounds
 * for digits of rounding. */
#define LOOP_OPEN 1e-2

rb_step_given rb_step_find_given(const rb_model *m, const rb_step_opts *o)
{
    double deep = rb_accuracy_overlap(o->accuracy) * m->extent;
    return (rb_step_given){ .h = o->h != 0.0 ? o->h : m->option.timestep,
                            .gravity = rb_norm3(m->option.gravity),
                            .size = m->extent,
                            .deep = deep,
                            .open_most = LOOP_OPEN * deep };
}

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
    double most =
        rb_accuracy_overlap(s->o->accuracy) * (extent < s->given->size ? extent : s->given->size);
    return rb_larger(most, DEEP_LEAST * RB_GAP_ZERO * s->given->size);
}

double rb_stage_deep(const rb_stage *s, const rb_touch_id *id)
{
    return id->kind == RB_CONSTRAINT_CONTACT ? rb_stage_pair_overlap(s, id->a, id->b)
                                             : s->given->deep;
}

double rb_stage_growth(const rb_stage *s)
{
    return GAP_GROW * s->given->size;
}

/* Overlap within what steps may make, within twice that (they made it, by rounding or where it
 * could not be mended), or of the model. */
double rb_stage_lowest(const rb_stage *s, double start, double deep)
{
    if (start >= -deep) return -deep;
    return start - (start >= -2.0 * deep ? RB_GAP_ZERO * s->given->size : rb_stage_growth(s));
}
