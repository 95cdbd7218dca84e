/* Recursive Newton-Euler (D.6): accelerations from the root to the tips, wrenches back.
 *
 *     alpha_k = phi' alpha_p + a_k + sum_j S_j qdd_j
 *     f_k     = I_k alpha_k + b_k + sum over children phi f
 *     tau_j   = S_j' f_k + armature_j qdd_j,    and the inertia of tendons (D.24)
 *
 * Gravity is in b, so that alpha is the acceleration that would be measured from the world. */
#include "dynamics/rnea_link.h"
#include "dynamics/tendon_inertia.h"
#include "rattleback/dynamics.h"

static void accelerate(const rb_model *m, const rb_data *d, const double *qdd, int k,
                       const double alpha_p[6], double alpha[6])
{
    rb_shift_motion(d->link_l + 3 * k, alpha_p, alpha);
    rb_axpy6(1.0, d->link_a + 6 * k, alpha);
    if (!qdd) return;
    int end = m->link_dofadr[k] + m->link_dofnum[k];
    for (int j = m->link_dofadr[k]; j < end; j++) rb_axpy6(qdd[j], d->dof_S + 6 * j, alpha);
}

static void add_tendons(const rb_model *m, rb_data *d, const double *qdd, double *tau)
{
    if (!rb_tendon_inertia_any(m)) return;
    rb_tendon_inertia_bias(m, d, tau);
    if (qdd) rb_tendon_inertia_multiply(m, d, qdd, tau);
}

void rb_inverse(const rb_model *m, rb_data *d, const double *qdd, double *tau)
{
    /* 12 numbers a link: acceleration, wrench */
    double *work = d->link_work;
    for (int i = 0; i < 12; i++) work[i] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        double *alpha = work + 12 * k, *f = alpha + 6;
        accelerate(m, d, qdd, k, work + 12 * m->link_parent[k], alpha);
        rb_bias_wrench(m, d, k, f);
        rb_add_inertia_wrench(m, d, k, alpha, f);
    }
    for (int k = m->nlink - 1; k > 0; k--) {
        const double *f = work + 12 * k + 6;
        double moved[6];
        int end = m->link_dofadr[k] + m->link_dofnum[k];
        for (int j = m->link_dofadr[k]; j < end; j++) {
            double inertial = qdd ? m->dof_armature[j] * qdd[j] : 0.0;
            tau[j] = rb_dot6(d->dof_S + 6 * j, f) + inertial;
        }
        rb_shift_wrench(d->link_l + 3 * k, f, moved);
        rb_axpy6(1.0, moved, work + 12 * m->link_parent[k] + 6);
    }
    add_tendons(m, d, qdd, tau);
}

void rb_bias(const rb_model *m, rb_data *d)
{
    rb_inverse(m, d, NULL, d->c);
}
