/* The links between the world and a geom, from the world on, as rb_kinematics has them. */
#include "dynamics/branch.h"

#include <stddef.h>

#include "dynamics/kinematics_link.h"
#include "dynamics/place.h"
#include "math/trig.h"

static void place_link(const rb_model *m, rb_data *d, int k, const double *q, const double *v,
                       double h)
{
    for (int j = m->link_jntadr[k]; j < m->link_jntadr[k] + m->link_jntnum[k]; j++) {
        double *S = d->dof_S + 6 * (ptrdiff_t)m->jnt_dofadr[j];
        rb_integrate_joint(m, j, q, v, h, d->q);
        if (m->jnt_type[j] == RB_JOINT_HINGE)
            rb_sincos(d->q[m->jnt_qadr[j]] - m->jnt_ref[j], S, S + 1);
    }
    rb_place_link(m, d, k);
}

static void place_links(const rb_model *m, rb_data *d, int k, const double *q, const double *v,
                        double h)
{
    if (k == 0) return;
    place_links(m, d, m->link_parent[k], q, v, h);
    place_link(m, d, k, q, v, h);
}

void rb_branch_place(const rb_model *m, rb_data *d, int g, const double *q, const double *v,
                     double h)
{
    ptrdiff_t at = g;
    place_links(m, d, m->geom_link[g], q, v, h);
    rb_place(m, d, m->geom_body[g], m->geom_pos + 3 * at, m->geom_quat + 4 * at, d->geom_p + 3 * at,
             d->geom_R + 9 * at);
}
