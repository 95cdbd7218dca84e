/* Jacobian, velocity and bias acceleration of a point fixed to a body, by walking from its link to
 * the root. */
#include "math/spatial.h"
#include "rattleback/dynamics.h"

void rb_jacobian(const rb_model *m, const rb_data *d, int body, const double point[3], double *J)
{
    ptrdiff_t nv = m->nv;
    for (ptrdiff_t i = 0; i < 6 * nv; i++) J[i] = 0.0;
    for (int k = m->body_link[body]; k > 0; k = m->link_parent[k]) {
        double r[3];
        rb_sub3(point, d->link_p + 3 * k, r);
        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int i = m->link_dofadr[k]; i < end; i++) {
            double column[6];
            rb_shift_motion(r, d->dof_S + 6 * i, column);
            for (int row = 0; row < 6; row++) J[row * nv + i] = column[row];
        }
    }
}

/* Each link adds its own bias acceleration, carried to the point; the point's own rotation about O
 * comes last. */
void rb_jacobian_bias(const rb_model *m, const rb_data *d, int body, const double point[3],
                      double a[6])
{
    int k = m->body_link[body];
    double r[3], x[3];
    rb_sub3(point, d->link_p + 3 * k, r);
    rb_zero6(a);
    rb_cross3(d->link_w + 3 * k, r, x);
    rb_cross3(d->link_w + 3 * k, x, a + 3);
    for (; k > 0; k = m->link_parent[k]) {
        double part[6];
        rb_sub3(point, d->link_p + 3 * k, r);
        rb_shift_motion(r, d->link_a + 6 * k, part);
        rb_axpy6(1.0, part, a);
    }
}

void rb_point_velocity(const rb_model *m, const rb_data *d, int body, const double point[3],
                       double v[6])
{
    int k = m->body_link[body];
    double r[3];
    rb_sub3(point, d->link_p + 3 * k, r);
    rb_copy3(d->link_w + 3 * k, v);
    rb_copy3(d->link_v + 3 * k, v + 3);
    rb_shift_motion(r, v, v);
}
