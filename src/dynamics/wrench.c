#include "dynamics/wrench.h"

#include "math/spatial.h"
#include "rattleback/dynamics.h"

void rb_push_body(const rb_model *m, const rb_data *d, int body, const double force[3],
                  const double torque[3], double *tau)
{
    int k = m->body_link[body];
    double com[3], f[6]; /* com from O of the link, world axes; wrench at O */
    rb_rot(m->body_link_rot + 9 * body, m->body_com + 3 * body, com);
    rb_add3(com, m->body_link_pos + 3 * body, com);
    rb_rot(d->link_R + 9 * k, com, com);
    rb_cross3(com, force, f);
    rb_add3(f, torque, f);
    rb_copy3(force, f + 3);
    for (; k > 0; k = m->link_parent[k]) {
        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int j = m->link_dofadr[k]; j < end; j++) tau[j] += rb_dot6(d->dof_S + 6 * j, f);
        rb_shift_wrench(d->link_l + 3 * k, f, f);
    }
}

void rb_wrench_force(const rb_model *m, const rb_data *d, double *tau)
{
    for (int b = 1; b < m->nbody; b++) {
        const double *w = d->wrench + 6 * b;
        int none =
            w[0] == 0.0 && w[1] == 0.0 && w[2] == 0.0 && w[3] == 0.0 && w[4] == 0.0 && w[5] == 0.0;
        if (!none) rb_push_body(m, d, b, w, w + 3, tau);
    }
}
