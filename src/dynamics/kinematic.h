/* What the caller moves: mocap links, and the trees that hang on them; surfaces that run. */
#ifndef RB_DYNAMICS_KINEMATIC_H
#define RB_DYNAMICS_KINEMATIC_H

#include <math.h>
#include <stddef.h>

#include "math/vec3.h"
#include "rattleback/model.h"

/* The mocap link that carries link k, or is it; 0: the world does. */
static inline int rb_kinematic_link(const rb_model *m, int k)
{
    if (m->nmocap == 0 || k == 0) return 0;
    while (m->link_parent[k] > 0) k = m->link_parent[k];
    return m->link_tree[k] < 0 ? k : 0;
}

/* (w; v at x) that a point at x has by the motion of the mocap link alone, all joints at rest. */
static inline void rb_kinematic_velocity(const rb_data *d, int led, const double x[3], double V[6])
{
    double r[3];
    rb_sub3(x, d->link_p + 3 * led, r);
    rb_copy3(d->link_w + 3 * led, V);
    rb_cross3(V, r, V + 3);
    rb_add3(V + 3, d->link_v + 3 * led, V + 3);
}

/* (w; v at x) of the moving surface of a geom with the pose p, R. 0: it does not move. */
static inline int rb_belt_velocity(const rb_model *m, int geom, const double R[9],
                                   const double p[3], const double x[3], double V[6])
{
    const double *own = m->geom_surface + 6 * (ptrdiff_t)geom;
    double sum = 0.0, r[3], turn[3];
    for (int i = 0; i < 6; i++) sum += fabs(own[i]);
    if (sum == 0.0) return 0;
    rb_rot(R, own, V + 3);
    rb_rot(R, own + 3, V);
    rb_sub3(x, p, r);
    rb_cross3(V, r, turn);
    rb_add3(V + 3, turn, V + 3);
    return 1;
}

#endif
