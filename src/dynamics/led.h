/* What the caller moves: mocap links, and the trees that hang on them. */
#ifndef RB_DYNAMICS_LED_H
#define RB_DYNAMICS_LED_H

#include "math/vec3.h"
#include "rattleback/model.h"

/* The mocap link that carries link k, or is it; 0: the world does. */
static inline int rb_led_link(const rb_model *m, int k)
{
    if (m->nmocap == 0 || k == 0) return 0;
    while (m->link_parent[k] > 0) k = m->link_parent[k];
    return m->link_tree[k] < 0 ? k : 0;
}

/* (w; v at x) that a point at x has by the motion of the mocap link alone, all joints still. */
static inline void rb_led_velocity(const rb_data *d, int led, const double x[3], double V[6])
{
    double r[3];
    rb_sub3(x, d->link_p + 3 * led, r);
    rb_copy3(d->link_w + 3 * led, V);
    rb_cross3(V, r, V + 3);
    rb_add3(V + 3, d->link_v + 3 * led, V + 3);
}

#endif
