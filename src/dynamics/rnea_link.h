/* Wrenches of one link about its origin O, shared by the recursions. */
#ifndef RB_DYNAMICS_RNEA_LINK_H
#define RB_DYNAMICS_RNEA_LINK_H

#include "math/spatial.h"
#include "math/vector.h"
#include "rattleback/model.h"

/* Bias wrench of link k (D.5): the wrench that its velocity and gravity need,
 *     F = m (w x (w x c) - g),   b = (w x I w - m c x g ; F)   with I about O. */
RB_INLINE void rb_bias_wrench(const rb_model *m, const rb_data *d, int k, double b[6])
{
    const double *w = d->link_w + 3 * k, *c = d->link_c + 3 * k, *g = m->option.gravity;
    double mass = m->link_mass[k], x[3], weight[3];
    rb_scale3(mass, g, weight);
    rb_sym3_mul(d->link_I + 6 * k, w, x);
    rb_cross3(w, x, b);
    rb_cross3(c, weight, x);
    rb_sub3(b, x, b);
    rb_cross3(w, c, x);
    rb_cross3(w, x, x);
    for (int i = 0; i < 3; i++) b[3 + i] = mass * x[i] - weight[i];
}

/* f += (inertia of link k) alpha:  I a + m c x v' ; m (v' + a x c)  for alpha = (a; v'). */
RB_INLINE void rb_add_inertia_wrench(const rb_model *m, const rb_data *d, int k,
                                     const double alpha[6], double f[6])
{
    const double *c = d->link_c + 3 * k;
    double mass = m->link_mass[k], h[3], x[3];
    rb_scale3(mass, c, h);
    rb_sym3_mul(d->link_I + 6 * k, alpha, x);
    rb_add3(f, x, f);
    rb_cross3(h, alpha + 3, x);
    rb_add3(f, x, f);
    rb_cross3(alpha, h, x);
    for (int i = 0; i < 3; i++) f[3 + i] += mass * alpha[3 + i] + x[i];
}

#endif
