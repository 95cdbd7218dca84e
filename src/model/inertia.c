#include "model/inertia.h"

#include "math/vec3.h"

void rb_inertia_move(const double p[3], const double R[9], rb_inertia *body)
{
    rb_rot(R, body->com, body->com);
    rb_add3(body->com, p, body->com);
    rb_sym3_rotate(R, body->I, body->I);
}

/* With c = c_b - c_a the common com is at c_a + m_b/m c, and the two masses add
 * m_a m_b / m (c'c 1 - c c'): no difference of large numbers. */
void rb_inertia_add(rb_inertia *a, const rb_inertia *b)
{
    double mass = a->mass + b->mass;
    for (int i = 0; i < 6; i++) a->I[i] += b->I[i];
    if (mass > 0.0) {
        double c[3];
        rb_sub3(b->com, a->com, c);
        double share = b->mass / mass;
        rb_sym3_steiner(a->mass * share, c, a->I);
        rb_axpy3(share, c, a->com);
    }
    a->mass = mass;
}

double rb_inertia_about(const rb_inertia *body, const double point[3], const double axis[3])
{
    double Iu[3], arm[3], across[3];
    rb_sym3_mul(body->I, axis, Iu);
    rb_sub3(body->com, point, arm);
    rb_cross3(axis, arm, across);
    return rb_dot3(axis, Iu) + body->mass * rb_dot3(across, across);
}
