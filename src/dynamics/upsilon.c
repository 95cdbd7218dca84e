/* Upsilon: the acceleration of the origin of each link per unit wrench at it, all joints of the
 * tree yielding (D.14). Base to tips, O(links); what is fixed to the world has none. */
#include "math/spatial.h"
#include "rattleback/dynamics.h"

/* Y := (I - S U'/D) Y (I - U S'/D) + S S'/D, multiplied out so that it is symmetric. */
static void add_dof(const double S[6], const double U[6], double D, double Y[RB_SYM6])
{
    double y[6];
    rb_sym6_mul(Y, U, y);
    for (int i = 0; i < 6; i++) y[i] /= D;
    rb_sym6_rank2(-2.0, S, y, Y);
    rb_sym6_rank1((rb_dot6(U, y) + 1.0) / D, S, Y);
}

void rb_upsilon(const rb_model *m, rb_data *d)
{
    rb_sym6_zero(d->Y);
    for (int k = 1; k < m->nlink; k++) {
        double *Y = d->Y + (size_t)RB_SYM6 * (size_t)k;
        const double *Y_p = d->Y + (size_t)RB_SYM6 * (size_t)m->link_parent[k];
        rb_sym6_shift_compliance(d->link_l + 3 * k, Y_p, Y);

        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int j = m->link_dofadr[k]; j < end; j++) {
            add_dof(d->dof_S + 6 * j, d->dof_U + 6 * j, d->dof_D[j], Y);
        }
    }
}
