/* Links between one of the tree and another, from the first on, as rb_kinematics has them. */
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

int rb_branch_base(const rb_model *m, int k1, int k2)
{
    while (k1 != k2) {
        if (k1 > k2)
            k1 = m->link_parent[k1];
        else
            k2 = m->link_parent[k2];
    }
    return k1;
}

int rb_branch_links(const rb_model *m, int base, int k, int *links)
{
    int n = 0, i = 0;
    for (int up = k; up != base; up = m->link_parent[up]) n++;
    for (int up = k; up != base; up = m->link_parent[up]) links[n - ++i] = up;
    return n;
}

void rb_branch_place(const rb_model *m, rb_data *d, int n, const int *links, const double *q,
                     const double *v, double h)
{
    d->placed = 0;
    for (int i = 0; i < n; i++) place_link(m, d, links[i], q, v, h);
}

void rb_branch_place_geom(const rb_model *m, rb_data *d, int g)
{
    ptrdiff_t at = g;
    d->framed = 0;
    rb_place(m, d, m->geom_body[g], m->geom_pos + 3 * at, m->geom_quat + 4 * at, d->geom_p + 3 * at,
             d->geom_R + 9 * at);
}
