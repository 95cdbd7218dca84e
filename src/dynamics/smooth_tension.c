/* The iteration of the midpoint rule sees the rotation of a link only in the next round. In a chain
 * under tension that is slow: with f the force that a joint transmits and l the vector to it, a
 * link that rotates by theta is pulled back by (f.l) theta, and rounds contract by h^2/4 (f.l) / I
 * only. They end as quickly for long chains as for short ones where that pull is in the inertia,
 *
 *     (M + E + sum_k J_k' K_k J_k) dv_new = h F(q_m, v_m) + (E + sum_k J_k' K_k J_k) dv    (D.39)
 *     K_k = h^2/4 sum_j max(0, -f_j.l_j) (1 - u_j u_j'),     u_j = l_j / |l_j|
 *
 * over the joints j that link k carries, and its own weight at its centre of mass. The fixed point
 * is that of the rule for any K. J_k v is the angular velocity of the link. */
#include "dynamics/smooth_tension.h"

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "math/spatial.h"
#include "math/vec3.h"
#include "math/vector.h"

int rb_tension_push(const rb_model *m, rb_arena *arena, rb_tension *t)
{
    t->on = 0;
    t->K = rb_push(arena, double, 12 * (size_t)m->nlink);
    if (!t->K) return 0;
    t->alpha = t->K + 6 * (ptrdiff_t)m->nlink;
    t->force = t->alpha + 3 * (ptrdiff_t)m->nlink;
    return 1;
}

/* alpha of link k, with `scale` qdd as the rates of its dofs. */
RB_INLINE void turn_link(const rb_model *m, const rb_data *d, int k, double scale,
                         const double *qdd, const rb_tension *t)
{
    double *alpha = t->alpha + 3 * (ptrdiff_t)k;
    rb_add3(t->alpha + 3 * (ptrdiff_t)m->link_parent[k], d->link_a + 6 * (ptrdiff_t)k, alpha);
    for (int j = m->link_dofadr[k]; j < m->link_dofadr[k] + m->link_dofnum[k]; j++) {
        rb_axpy3(scale * qdd[j], d->dof_S + 6 * (ptrdiff_t)j, alpha);
    }
}

/* Acceleration of O of link k, from that of its parent; alpha of the parent is there. */
static void shift_link(const rb_model *m, const rb_data *d, int k, const double *qdd,
                       const rb_tension *t, double *a)
{
    int p = m->link_parent[k];
    double x[3], *a_k = a + 3 * (ptrdiff_t)k;
    rb_cross3(t->alpha + 3 * (ptrdiff_t)p, d->link_l + 3 * (ptrdiff_t)k, x);
    rb_add3(a + 3 * (ptrdiff_t)p, x, a_k);
    rb_add3(a_k, d->link_a + 6 * (ptrdiff_t)k + 3, a_k);
    for (int j = m->link_dofadr[k]; j < m->link_dofadr[k] + m->link_dofnum[k]; j++) {
        rb_axpy3(qdd[j], d->dof_S + 6 * (ptrdiff_t)j + 3, a_k);
    }
}

/* a := m (acceleration of the com - g), a that of O. */
static void needed_force(const rb_model *m, const rb_data *d, int k, const rb_tension *t, double *a)
{
    const double *w = d->link_w + 3 * (ptrdiff_t)k, *c = d->link_c + 3 * (ptrdiff_t)k;
    double x[3], y[3];
    rb_cross3(t->alpha + 3 * (ptrdiff_t)k, c, x);
    rb_cross3(w, c, y);
    rb_cross3(w, y, y);
    for (int i = 0; i < 3; i++)
        a[i] = m->link_mass[k] * (a[i] + x[i] + y[i] - m->option.gravity[i]);
}

/* K += share (1 - u u') where the force f of the joint at l pulls. */
static void add_pull(double share, const double l[3], const double f[3], double K[6])
{
    double pull = -share * rb_dot3(f, l), square = rb_dot3(l, l);
    if (!(pull > 0.0)) return;
    double over = pull / square;
    for (int i = 0; i < 3; i++) K[i] += pull - over * l[i] * l[i];
    K[3] -= over * l[0] * l[1];
    K[4] -= over * l[0] * l[2];
    K[5] -= over * l[1] * l[2];
}

void rb_tension_find(const rb_model *m, const rb_data *d, double h, const double *qdd,
                     rb_tension *t)
{
    double share = 0.25 * h * h, most = 0.0, *f = t->force;
    rb_zero3(t->alpha);
    rb_zero3(f);
    for (int k = 1; k < m->nlink; k++) {
        turn_link(m, d, k, 1.0, qdd, t);
        shift_link(m, d, k, qdd, t, f);
    }
    memset(t->K, 0, 6 * (size_t)m->nlink * sizeof *t->K);
    for (int k = 1; k < m->nlink; k++) needed_force(m, d, k, t, f + 3 * (ptrdiff_t)k);
    for (int k = m->nlink - 1; k > 0; k--) {
        int p = m->link_parent[k];
        double *f_k = f + 3 * (ptrdiff_t)k;
        const double *l = d->link_l + 3 * (ptrdiff_t)k;
        if (m->link_tree[p] < 0) continue;
        add_pull(share, l, f_k, t->K + 6 * (ptrdiff_t)p);
        rb_add3(f + 3 * (ptrdiff_t)p, f_k, f + 3 * (ptrdiff_t)p);
    }
    for (int k = 1; k < m->nlink; k++) {
        const double *K = t->K + 6 * (ptrdiff_t)k, *I = d->link_I + 6 * (ptrdiff_t)k;
        double pull = K[0] + K[1] + K[2], inertia = I[0] + I[1] + I[2];
        if (pull > most * inertia) most = pull / inertia;
    }
    t->on = most > RB_TENSION;
}

void rb_tension_force(const rb_model *m, const rb_data *d, double h, const double *dv,
                      const rb_tension *t, double *force)
{
    double *couple = t->force, per_h = 1.0 / h;
    rb_zero3(t->alpha);
    for (int k = 1; k < m->nlink; k++) {
        turn_link(m, d, k, per_h, dv, t);
        rb_sym3_mul(t->K + 6 * (ptrdiff_t)k, t->alpha + 3 * (ptrdiff_t)k,
                    couple + 3 * (ptrdiff_t)k);
    }
    for (int k = m->nlink - 1; k > 0; k--) {
        const double *c = couple + 3 * (ptrdiff_t)k;
        for (int j = m->link_dofadr[k]; j < m->link_dofadr[k] + m->link_dofnum[k]; j++) {
            force[j] += rb_dot3(d->dof_S + 6 * (ptrdiff_t)j, c);
        }
        double *above = couple + 3 * (ptrdiff_t)m->link_parent[k];
        if (m->link_parent[k] > 0) rb_add3(above, c, above);
    }
}

/* ---- in a plane -------------------------------------------------------------------------------
 */

void rb_tension_find_plane(const rb_model *m, double h, const double *qdd, rb_plane *x,
                           rb_tension *t)
{
    double share = 0.25 * h * h;
    int on = 0;
    rb_plane_accelerate(m, qdd, x);
    for (int k = 0; k < m->nlink; k++) {
        rb_plane_body *b = &x->body[k];
        double mass = m->plane_link[k].mass, square = b->w * b->w;
        t->K[k] = 0.0;
        b->f[0] = mass * b->b[0] + b->alpha * b->u[0] - square * b->u[1];
        b->f[1] = mass * b->b[1] + b->alpha * b->u[1] + square * b->u[0];
    }
    for (int k = m->nlink - 1; k > 0; k--) {
        const rb_plane_body *b = &x->body[k];
        int p = m->link_parent[k];
        double pull = -share * (b->f[0] * b->r[0] + b->f[1] * b->r[1]);
        if (p == 0) continue;
        if (pull > 0.0) t->K[p] += pull;
        x->body[p].f[0] += b->f[0];
        x->body[p].f[1] += b->f[1];
    }
    for (int k = 1; k < m->nlink; k++) on |= 2.0 * t->K[k] > RB_TENSION * m->plane_link[k].trace;
    t->on = on;
}

void rb_tension_couple_plane(const rb_model *m, double h, const double *dv, const rb_tension *t)
{
    double per_h = 1.0 / h, *alpha = t->force, *couple = t->alpha;
    alpha[0] = 0.0;
    for (int k = 1; k < m->nlink; k++) {
        alpha[k] = alpha[m->link_parent[k]] + m->plane_link[k].sign * (per_h * dv[k - 1]);
        couple[k] = t->K[k] * alpha[k];
    }
}
