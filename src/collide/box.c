#include "collide/box.h"

/* Outside, the differences x_k - h_k are exact to rounding of x itself, and so is the direction. */
static double outside(const double h[3], const double x[3], double q[3], double normal[3],
                      uint32_t *feature)
{
    int nclamped = 0, vertex = 0, free_axis = 0, clamped_axis = 0;
    for (int k = 0; k < 3; k++) {
        double s = rb_sign_of(x[k]), over = s * x[k] - h[k];
        if (over > 0.0) {
            normal[k] = s * over;
            q[k] = s * h[k];
            nclamped++;
            clamped_axis = k;
        } else {
            normal[k] = 0.0;
            q[k] = x[k];
            free_axis = k;
        }
        vertex |= (s > 0.0) << k;
    }
    if (nclamped == 3)
        *feature = rb_feature_half(RB_VERTEX, vertex);
    else if (nclamped == 2)
        *feature = rb_feature_half(RB_EDGE, rb_box_edge_of(free_axis, vertex));
    else
        *feature = rb_feature_half(RB_FACE, rb_box_face_of(clamped_axis, x[clamped_axis]));
    return rb_normalize3(normal);
}

double rb_box_point(const double h[3], const double x[3], double q[3], double normal[3],
                    uint32_t *feature)
{
    int axis = 0;
    double over = fabs(x[0]) - h[0];
    for (int k = 1; k < 3; k++) {
        double o = fabs(x[k]) - h[k];
        if (o > over) {
            over = o;
            axis = k;
        }
    }
    if (over > 0.0) return outside(h, x, q, normal, feature);

    /* inside: out through the nearest face */
    double s = rb_sign_of(x[axis]);
    rb_copy3(x, q);
    q[axis] = s * h[axis];
    rb_zero3(normal);
    normal[axis] = s;
    *feature = rb_feature_half(RB_FACE, rb_box_face_of(axis, s));
    return over;
}
