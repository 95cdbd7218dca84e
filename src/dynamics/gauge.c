/* Gauges (D.52): the measured coordinate of a joint between two free bodies.
 *
 * The chain of the joint is solved from the two frames (chain.c). With C the dual of the motion
 * vectors T of the joints without rotor,
 *
 *     rate = C.(V - V_2 - sum S_r v_r) = J v,      d rate/dt = J qdd + C.(alpha - ...)  at qdd = 0
 *
 * so that a force on the gauge acts as the wrench C on frame 1, its opposite on body 2 and -C.S_r
 * on the rotors. The angle of a hinge is known up to full turns: the one nearest to the angle at
 * the end of the last step is taken,
 *
 *     q = angle - 2 pi floor((angle - q_last) / 2 pi + 1/2)                              (D.53)
 *
 * so that turns are counted while it makes less than half of one in a step; at the
 * start, where q_last is not known, it is the middle of the range or the rest of the spring. */
#include "dynamics/gauge.h"

#include <math.h>
#include <string.h>

#include "dynamics/chain.h"
#include "math/quat.h"
#include "math/spatial.h"
#include "math/trig.h"

#define TWO_PI 6.283185307179586

static double centre(const rb_model *m, int j)
{
    const double *range = m->jnt_range + 2 * j;
    return m->jnt_limited[j] ? 0.5 * (range[0] + range[1]) : m->jnt_springref[j];
}

double rb_gauge_expected(const rb_model *m, const rb_data *d, int j)
{
    double at = d->gauge_at[m->jnt_dofadr[j] - m->nv];
    return isnan(at) ? centre(m, j) : at;
}

/* (D.53) */
static double angle_of(const rb_model *m, const rb_data *d, int j, int i, const double turn[4])
{
    double angle = 2.0 * rb_atan2(rb_dot3(turn + 1, m->chain_axis + 3 * i), turn[0]);
    double q = angle + m->chain_ref[i];
    return q - TWO_PI * floor((q - rb_gauge_expected(m, d, j)) / TWO_PI + 0.5);
}

static void set_coordinate(const rb_model *m, rb_data *d, int j, int i, int slot,
                           const rb_chain *chain)
{
    double *q = d->q + m->jnt_qadr[j];
    switch (m->jnt_type[j]) {
    case RB_JOINT_BALL:
        memcpy(q, chain->turn[slot], sizeof chain->turn[slot]);
        break;
    case RB_JOINT_SLIDE:
        q[0] = chain->shift[slot] + m->chain_ref[i];
        break;
    default:
        q[0] = angle_of(m, d, j, i, chain->turn[slot]);
        break;
    }
}

/* The wrench at O of a link of one that acts at p. */
static void at_link(const rb_data *d, int k, const double p[3], double sign, const double C[6],
                    double F[6])
{
    double arm[3], x[3];
    rb_sub3(p, d->link_p + 3 * k, arm);
    rb_cross3(arm, C + 3, x);
    for (int i = 0; i < 3; i++) {
        F[i] = sign * (C[i] + x[i]);
        F[3 + i] = sign * C[3 + i];
    }
}

/* The entries in the order of rb_model.gauge_entry (src/model/gauges.c). */
static void write_row(const rb_model *m, const rb_data *d, int e, const rb_chain *chain,
                      const double C[6], double *J)
{
    int k1 = m->body_link[m->eq_obj1[e]], k2 = m->body_link[m->eq_obj2[e]];
    double F1[6], F2[6];
    at_link(d, k1, chain->p, 1.0, C, F1);
    at_link(d, k2, chain->p, -1.0, C, F2);
    while (k1 != k2) {
        int *k = k1 > k2 ? &k1 : &k2;
        double *F = k1 > k2 ? F1 : F2;
        for (int n = m->link_dofnum[*k] - 1; n >= 0; n--)
            *J++ = rb_dot6(d->dof_S + 6 * (m->link_dofadr[*k] + n), F);
        rb_shift_wrench(d->link_l + 3 * *k, F, F);
        *k = m->link_parent[*k];
    }
    for (int r = 0; r < chain->nrotor; r++) *J++ = -rb_dot6(C, chain->S[r]);
}

void rb_gauges(const rb_model *m, rb_data *d)
{
    int placed = -1;
    rb_chain chain;
    for (int g = 0; g < m->ngauge; g++) {
        int j = m->njnt + g, e = m->gauge_eq[g], i = m->gauge_chain[g];
        int slot = i - m->eq_chainadr[e], dof = m->jnt_dofadr[j];
        if (e != placed) rb_chain_place(m, d, e, &chain);
        placed = e;
        set_coordinate(m, d, j, i, slot, &chain);
        for (int k = 0; k < chain.nopen; k++) {
            if (chain.open[k] != slot) continue;
            int row = dof - m->nv;
            d->v[dof++] = chain.rate[k];
            d->gauge_bias[row] = chain.open_bias[k];
            write_row(m, d, e, &chain, chain.C[k], d->gauge_J + m->gauge_rowadr[row]);
        }
    }
}

void rb_gauges_keep(const rb_model *m, rb_data *d)
{
    for (int j = m->njnt; j < m->njnt_all; j++) {
        if (m->jnt_type[j] == RB_JOINT_HINGE)
            d->gauge_at[m->jnt_dofadr[j] - m->nv] = d->q[m->jnt_qadr[j]];
    }
}

void rb_gauge_spread(const rb_model *m, const rb_data *d, double *tau)
{
    for (int row = 0; row < m->ngauge_dof; row++) {
        double force = tau[m->nv + row];
        int end = m->gauge_rowadr[row] + m->gauge_rownum[row];
        for (int i = m->gauge_rowadr[row]; i < end; i++)
            tau[m->gauge_entry[i]] += d->gauge_J[i] * force;
    }
}

void rb_gauge_spread_bound(const rb_model *m, const rb_data *d, double *k)
{
    for (int row = 0; row < m->ngauge_dof; row++) {
        int begin = m->gauge_rowadr[row], end = begin + m->gauge_rownum[row];
        double sum = 0.0;
        for (int i = begin; i < end; i++) sum += fabs(d->gauge_J[i]);
        for (int i = begin; i < end; i++)
            k[m->gauge_entry[i]] += fabs(d->gauge_J[i]) * sum * k[m->nv + row];
    }
}
